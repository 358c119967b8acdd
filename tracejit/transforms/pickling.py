"""Transformed functions in other processes: by name where they have one, else made again."""

from __future__ import annotations

import pickle
import sys
from typing import Any

from tracejit.runtime.function import Function

__all__ = ["reduce_function"]


def reduce_function(function: Function, transform: Any) -> Any:
    """Return what `__reduce__` is to return for a transformed function.

    One that decorates a module's function is found by name. A script's or a notebook's own module
    is another one in a worker, so from there it goes by value as well, where `cloudpickle` is
    installed; joblib and Dask have it.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    parts = (type(transform), transform.name, transform.home, transform.fn, transform.settings,
             transform.options)
    if _find(module, name) is not function:
        return _make_again, parts
    if module != "__main__":
        return name
    return _find_or_make, (module, name, _by_value(parts))


def _find(module: str | None, name: str) -> Any:
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _by_value(parts: object) -> bytes | None:
    for home in ("cloudpickle", "joblib.externals.cloudpickle"):
        try:
            dumps = __import__(home, fromlist=["dumps"]).dumps
        except ImportError:
            continue
        text: bytes = dumps(parts)
        return text
    return None


def _make_again(kind: Any, *parts: Any) -> Function:
    made: Function = kind(*parts).function()
    return made


def _find_or_make(module: str, name: str, by_value: bytes | None) -> Any:
    found = _find(module, name)
    if by_value is None:
        if found is None:
            raise pickle.UnpicklingError(
                f"{name} was defined in a script, which this process has not run. Define it in a "
                "module, or install cloudpickle")
        return found
    parts = pickle.loads(by_value)
    again = _make_again(*parts)
    here = getattr(found, "transform", None)
    if isinstance(here, parts[0]) and _is_same(here, again.transform):
        return found
    return again


def _is_same(a: Any, b: Any) -> bool:
    """Whether two transforms do the same, as far as code, defaults and settings tell."""
    settings = [(t.home, t.settings, t.options, getattr(t.fn, "__defaults__", None),
                 getattr(t.fn, "__kwdefaults__", None)) for t in (a, b)]
    closed = any(getattr(t.fn, "__closure__", None) for t in (a, b))
    codes = [getattr(t.fn, "__code__", None) for t in (a, b)]
    return settings[0] == settings[1] and codes[0] == codes[1] and not closed
