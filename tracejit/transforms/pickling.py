"""Transformed functions in other processes: by name where they have one, else made again."""

from __future__ import annotations

import linecache
import pickle
import sys
import threading
from types import CodeType, FunctionType
from typing import Any

from tracejit.runtime.function import Function

__all__ = ["find_cloudpickle", "reduce_function"]

Origin = tuple[FunctionType, str, str]
"""A function that goes by value, the name of its file, and the text of the file."""


class _Open(threading.local):
    """The state of a thread: looking for functions that go by value, or pickling some of them."""

    searches = False

    def __init__(self) -> None:
        self.functions: list[Function] = []


_OPEN = _Open()


def reduce_function(function: Function, transform: Any) -> Any:
    """Return the result of `__reduce__` for a transformed function.

    One that decorates a module's function is found by name. A script's or a notebook's own module
    is another one in a worker, so from there it goes by value as well, where `cloudpickle` is
    installed; joblib and Dask have it.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    parts = (type(transform), transform.name, transform.home, transform.fn, transform.settings,
             transform.options)
    found = _find(module, name) is function
    if found and module != "__main__":
        return name
    if not found or _OPEN.searches or any(f is function for f in _OPEN.functions):
        return _make_again, (_origins(parts), *parts)
    _OPEN.functions.append(function)
    try:
        return _find_or_make, (module, name, _by_value(parts))
    finally:
        _OPEN.functions.pop()


def _find(module: str | None, name: str) -> Any:
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def find_cloudpickle() -> Any:
    """Return the module of cloudpickle, also joblib's copy of it; None where there is none."""
    for home in ("cloudpickle", "joblib.externals.cloudpickle"):
        try:
            return __import__(home, fromlist=["CloudPickler"])
        except ImportError:
            continue
    return None


def _by_value(parts: tuple[object, ...]) -> bytes | None:
    cloudpickle = find_cloudpickle()
    if cloudpickle is None:
        return None
    text: bytes = cloudpickle.dumps((_origins(parts), *parts))
    return text


# --- files of code that goes by value ------------------------------------------------------------


def _origins(parts: tuple[object, ...]) -> tuple[Origin, ...]:
    """Return the functions that go by value with a transform, each with its file and text.

    cloudpickle leaves the name of a code object's file out from version 3.1.3 on, and a notebook's
    cell has no file that another process could read. The functions are found by pickling once into
    nothing; a transformed function that is met then is pickled without its origins.
    """
    cloudpickle = find_cloudpickle()
    if cloudpickle is None or _OPEN.searches:
        return ()
    found: dict[int, FunctionType] = {}
    pickler: Any = cloudpickle.CloudPickler

    class FunctionFinder(pickler):  # type: ignore[misc]
        def reducer_override(self, x: object) -> Any:
            reduced = super().reducer_override(x)
            if isinstance(x, FunctionType) and reduced is not NotImplemented:
                found[id(x)] = x
            return reduced

    _OPEN.searches = True
    try:
        FunctionFinder(_Nowhere(), protocol=5, buffer_callback=lambda _: False).dump(parts)
    except Exception:
        return ()  # the same error is raised when the parts are pickled
    finally:
        _OPEN.searches = False
    names = {f.__code__.co_filename for f in found.values()}
    texts = {name: "".join(linecache.getlines(name)) for name in names}
    return tuple((f, f.__code__.co_filename, texts[f.__code__.co_filename])
                 for f in found.values())


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: object) -> int:
        return 0


def _name_file(f: FunctionType, name: str, text: str) -> None:
    """Give a function's code the name of its file, and the file its text where there is none."""
    if text and not linecache.getlines(name):
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    if f.__code__.co_filename != name:
        f.__code__ = _named(f.__code__, name)


def _named(code: CodeType, name: str) -> CodeType:
    constants = tuple(_named(c, name) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=constants)


# --- in the other process ------------------------------------------------------------------------


def _make_again(origins: tuple[Origin, ...], kind: type, *parts: object) -> Function:
    for origin in origins:
        _name_file(*origin)
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
    if isinstance(here, parts[1]) and _is_same(here, again.transform):
        return found
    return again


def _is_same(a: Any, b: Any) -> bool:
    """Whether two transforms do the same, as far as code, defaults and settings tell."""
    settings = [(t.home, t.settings, t.options, getattr(t.fn, "__defaults__", None),
                 getattr(t.fn, "__kwdefaults__", None)) for t in (a, b)]
    closed = any(getattr(t.fn, "__closure__", None) for t in (a, b))
    codes = [getattr(t.fn, "__code__", None) for t in (a, b)]
    return settings[0] == settings[1] and codes[0] == codes[1] and not closed
