"""NumPy's numbers before an operator and an object of a user's class: who answers, with what."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.tracer import Tracer

__all__ = ["as_a_users_class_sees"]
_OF_KIND = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_ARRAYS = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")
"""Attributes of classes by which NumPy makes arrays of their objects."""


_NO_OPERATORS = {"__matmul__": "biufc", "__floordiv__": "c", "__mod__": "c", "__divmod__": "c"}
"""Methods, and the kinds of NumPy's numbers that have none of their own."""


def as_a_users_class_sees(number: object, method: str, x: object) -> object:
    """Return the left operand of `method` as the reflected method of a user's object gets it.

    NumPy leaves an operator to objects with `__array_ufunc__ = None` or an `__array_priority__`.
    Of others it makes an array, where they are like one, which is refused; else it calls the
    method with one of Python's numbers: `np.float64(2) * x` is `x.__rmul__(2.0)`, of a float.
    """
    if isinstance(number, Merged) or np.ndim(number) or not (  # type: ignore[arg-type]
            isinstance(number, (np.generic, np.ndarray)) or (
                isinstance(number, Tracer) and not number.weak)):
        return number
    if number.dtype.kind in _NO_OPERATORS.get(method, "") and type_of(number) is not np.ndarray:
        return number
    cls: Any = type_of(x)
    if _has(cls, "__array_ufunc__"):
        yields = cls.__array_ufunc__ is None
    else:
        yields = _has(cls, "__array_priority__")
    if yields:
        return number
    if any(_has(cls, name) for name in ("__array_ufunc__", *_ARRAYS)) or (
            _has(cls, "__len__") and _has(cls, "__getitem__") and not issubclass(cls, dict)):
        raise refuse(f"a number of NumPy before an operator and a {cls.__name__}, of which NumPy "
                     "makes an array", "Write the object first, float(number), or __array_ufunc__ "
                     "= None in the class, which leaves the operator to its methods", "TJ123")
    kind = _OF_KIND.get(number.dtype.kind)
    return number if kind is None else ABOVE.call_function(kind, (number,), {})


def _has(cls: type, name: str) -> bool:
    """Return whether a class has an attribute, which is guarded."""
    current().captured.entry_of(cls, name)
    return hasattr(cls, name)
