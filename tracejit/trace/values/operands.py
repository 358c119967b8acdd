"""Operators of traced numbers and arrays, and refusals of operations that no capture has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tracejit.trace.ground.context import refuse, refuse_outside
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.values.known_numbers import shown_text, text_or_marker

__all__ = ["TracedOperand", "inplace_operator", "ufunc_operator"]


def ufunc_operator(ufunc: np.ufunc, *, reflected: bool = False) -> Callable[..., Any]:
    def method(self: object, other: object) -> Any:
        if not reflected and ufunc in getattr(type(other), "operates_first", ()):
            return NotImplemented
        operands = (other, self) if reflected else (self, other)
        return ABOVE.apply_operator(ufunc, *operands)

    return method


def inplace_operator(ufunc: np.ufunc) -> Callable[..., Any]:
    def method(self: object, other: object) -> Any:
        return ABOVE.apply_inplace(ufunc, self, other)

    return method


def _unary(ufunc: np.ufunc) -> Callable[..., Any]:
    def method(self: object) -> Any:
        return ABOVE.apply_operator(ufunc, self)

    return method


class TracedOperand:
    """The base of tracers and symbolic ints: operators, and refusals of foreign protocols."""

    __slots__ = ()
    __array_priority__: float = 1000.0
    offers: frozenset[str] = frozenset()
    """The names that users find besides those of the class that it stands for: a variable's."""

    __add__: Any = ufunc_operator(np.add)
    __radd__: Any = ufunc_operator(np.add, reflected=True)
    __sub__: Any = ufunc_operator(np.subtract)
    __rsub__: Any = ufunc_operator(np.subtract, reflected=True)
    __mul__: Any = ufunc_operator(np.multiply)
    __rmul__: Any = ufunc_operator(np.multiply, reflected=True)
    __truediv__: Any = ufunc_operator(np.true_divide)
    __rtruediv__: Any = ufunc_operator(np.true_divide, reflected=True)
    __floordiv__: Any = ufunc_operator(np.floor_divide)
    __rfloordiv__: Any = ufunc_operator(np.floor_divide, reflected=True)
    __mod__: Any = ufunc_operator(np.remainder)
    __rmod__: Any = ufunc_operator(np.remainder, reflected=True)
    __pow__: Any = ufunc_operator(np.power)
    __rpow__: Any = ufunc_operator(np.power, reflected=True)
    __and__: Any = ufunc_operator(np.bitwise_and)
    __rand__: Any = ufunc_operator(np.bitwise_and, reflected=True)
    __or__: Any = ufunc_operator(np.bitwise_or)
    __ror__: Any = ufunc_operator(np.bitwise_or, reflected=True)
    __xor__: Any = ufunc_operator(np.bitwise_xor)
    __rxor__: Any = ufunc_operator(np.bitwise_xor, reflected=True)
    __lshift__: Any = ufunc_operator(np.left_shift)
    __rlshift__: Any = ufunc_operator(np.left_shift, reflected=True)
    __rshift__: Any = ufunc_operator(np.right_shift)
    __rrshift__: Any = ufunc_operator(np.right_shift, reflected=True)
    __matmul__: Any = ufunc_operator(np.matmul)
    __rmatmul__: Any = ufunc_operator(np.matmul, reflected=True)
    __lt__: Any = ufunc_operator(np.less)
    __le__: Any = ufunc_operator(np.less_equal)
    __gt__: Any = ufunc_operator(np.greater)
    __ge__: Any = ufunc_operator(np.greater_equal)
    __neg__: Any = _unary(np.negative)
    __invert__: Any = _unary(np.invert)
    __pos__: Any = _unary(np.positive)
    __abs__: Any = _unary(np.absolute)

    def __format__(self, spec: str) -> str:
        return shown_text(self, spec)

    def __str__(self) -> str:
        return shown_text(self, "", "s")

    def __repr__(self) -> str:
        return text_or_marker(self, "") or self._marker()

    def _marker(self) -> str:
        """Return the text that stands for the value where nobody looks at letters."""
        raise NotImplementedError

    def __hash__(self) -> int:
        raise refuse("a number that only the run knows, in a set, as a key of a dict or as an "
                     "argument of a function with a cache",
                     "Use lists, or a Python int argument for the key", "TJ111")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object,
                        **kwargs: object) -> Any:
        # NumPy hands on its scalars as arrays: `np.float64(0.0) >= x`
        inputs = tuple(x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs)
        return ABOVE.call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Callable[..., object], types: object, args: Any,
                           kwargs: Any) -> Any:
        capture = FUNCTIONS.get(func)
        if capture is None:
            raise refuse_outside(
                f"{public_name(func)} cannot be captured",
                "Write it with operations that are listed in docs/coverage.md, or make it an op "
                "with tracejit.register_op", "TJ201")
        return ABOVE.naming(capture)(*args, **kwargs)

    @staticmethod
    def joined_fields(kind: type, text: str, parts: Sequence[object]) -> Any:
        """Return the structured array of which something traced is a field (`tree.py`)."""
        return ABOVE.joined_fields(kind, text, parts)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise refuse_outside(
            "a traced value would leave the capture: something asked for its array",
            "Use NumPy functions and operators on it, or tracejit.register_op for foreign code",
            "TJ110")

    def __reduce__(self) -> NoReturn:
        raise refuse("a traced value cannot be pickled", "Return it instead", "TJ120")
