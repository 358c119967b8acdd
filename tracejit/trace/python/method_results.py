"""What Python asks of the results of `__bool__`, `__len__`, `__float__` and `__int__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.trace.containers.places import Choice, MaybeUnset, Poison
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.values.equations import dtype_of
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.python_numbers import python_int, require

__all__ = ["with_pythons_result"]


def _name(kind: type) -> str:
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def _of_bool(x: object, result: object, kind: type) -> Any:
    if kind is not bool:
        raise TypeError(f"__bool__ should return bool, returned {_name(kind)}")
    return result


def _of_len(x: object, result: object, kind: type) -> Any:
    if not (issubclass(kind, (int, np.integer)) or hasattr(kind, "__index__")) or (
            kind is np.ndarray and dtype_of(result).kind not in "iu"):
        raise TypeError(f"'{_name(kind)}' object cannot be interpreted as an integer")
    if issubclass(kind, (int, np.integer)):
        count: Any = result if kind is int else python_int(result)
        require(count >= 0, ValueError, "__len__() should return >= 0")
        return count
    return result


def _of_float(x: object, result: object, kind: type) -> Any:
    if not issubclass(kind, float):
        raise TypeError(f"{type_of(x).__name__}.__float__ returned non-float (type {_name(kind)})")
    return result


def _of_int(x: object, result: object, kind: type) -> Any:
    if not issubclass(kind, int):
        raise TypeError(f"__int__ returned non-int (type {_name(kind)})")
    return python_int(result) if kind is bool else result


_RESULTS: dict[str, Callable[[object, object, type], Any]] = {
    "__bool__": _of_bool, "__len__": _of_len, "__float__": _of_float, "__int__": _of_int}

_UNDECIDED = (Choice, MaybeUnset, Poison, Merged)
"""Results whose type data decides; whoever uses them asks for it."""


def with_pythons_result(x: object, name: str, method: Callable[..., object]) -> Callable[..., Any]:
    """Return a special method that raises Python's error where its result is none for Python."""
    check = _RESULTS.get(name)
    if check is None:
        return method

    def call(*args: object, **kwargs: object) -> Any:
        result = method(*args, **kwargs)
        return result if isinstance(result, _UNDECIDED) else check(x, result, type_of(result))

    return call
