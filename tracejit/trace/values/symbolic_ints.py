"""Python ints whose number is not known yet: a `SymInt` is a dim, as are its sums and products."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, Expr, floor_div, is_nonneg, mod
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand, ufunc_operator

__all__ = ["SymInt", "known_int", "of_dim", "python_dims"]


@above
class SymInt(TracedOperand):
    """A Python int that is not known yet; sums and products of them stay exact dims."""

    dim: Expr

    __slots__ = ("dim",)

    def __hash__(self) -> int:
        return hash(need_int(self.dim, "a set or the key of a dict"))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'int' object is not iterable")

    def __init__(self, dim: Expr) -> None:
        self.dim = dim

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(int, name):
            raise AttributeError(f"'int' object has no attribute {name!r}")
        return getattr(need_int(self.dim, f"the attribute {name!r} of an int"), name)

    def _arith(self, other: object, fn: Callable[[Dim, Dim], Dim], ufunc: np.ufunc,
               reflected: bool) -> Any:
        if isinstance(other, (int, SymInt)) and not isinstance(other, bool):
            d: Dim = other.dim if isinstance(other, SymInt) else other
            if isinstance(d, int) and not -1 << 63 <= d < 1 << 63:
                raise refuse(f"the int {d} does not fit into 64 bits",
                             "Make it a float, if it need not be exact", "TJ303")
            return _fitted(fn(d, self.dim) if reflected else fn(self.dim, d))
        return ufunc_operator(ufunc, reflected=reflected)(self, other)

    def _divide(self, other: object, fn: Callable[[Dim, Dim], Dim], ufunc: np.ufunc,
                reflected: bool) -> Any:
        if isinstance(other, (int, SymInt)) and not isinstance(other, bool):
            x, y = (other, self) if reflected else (self, other)
            ABOVE.require_divisor(ufunc, x, y)
            if fn is floor_div and isinstance(x, SymInt) and not (isinstance(y, int) and y != -1):
                ABOVE.require_negatable(x.dim, y != -1)
        return self._arith(other, fn, ufunc, reflected)

    def __add__(self, other: object) -> Any:
        return self._arith(other, operator.add, np.add, False)

    def __radd__(self, other: object) -> Any:
        return self._arith(other, operator.add, np.add, True)

    def __sub__(self, other: object) -> Any:
        return self._arith(other, operator.sub, np.subtract, False)

    def __rsub__(self, other: object) -> Any:
        return self._arith(other, operator.sub, np.subtract, True)

    def __mul__(self, other: object) -> Any:
        if isinstance(other, (list, tuple, str)):
            return other * need_int(self.dim, f"repeating a {type(other).__name__}")
        return self._arith(other, operator.mul, np.multiply, False)

    def __rmul__(self, other: object) -> Any:
        if isinstance(other, (list, tuple, str)):
            return other * need_int(self.dim, f"repeating a {type(other).__name__}")
        return self._arith(other, operator.mul, np.multiply, True)

    def __floordiv__(self, other: object) -> Any:
        return self._divide(other, floor_div, np.floor_divide, False)

    def __rfloordiv__(self, other: object) -> Any:
        return self._divide(other, floor_div, np.floor_divide, True)

    def __mod__(self, other: object) -> Any:
        return self._divide(other, mod, np.remainder, False)

    def __rmod__(self, other: object) -> Any:
        return self._divide(other, mod, np.remainder, True)

    def __pow__(self, other: object) -> Any:
        if isinstance(other, int) and 0 <= other <= 8:
            result: Dim = 1
            for _ in range(other):
                result = result * self.dim
            return _fitted(result)
        return ufunc_operator(np.power)(self, other)

    def __neg__(self) -> Any:
        ABOVE.require_negatable(self.dim)
        return of_dim(-self.dim)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        from tracejit.ir.dims import maximum

        ABOVE.require_negatable(self.dim)
        return of_dim(maximum(self.dim, -self.dim, current().builder.known))

    def _compare(self, other: Any, relation: str, flip: bool, ufunc: np.ufunc) -> Any:
        fits = isinstance(other, SymInt) or (
            isinstance(other, int) and -1 << 63 <= other < 1 << 63)
        if fits:
            d: Dim = other.dim if isinstance(other, SymInt) else int(other)
            trace = current()
            difference = trace.canonical(d - self.dim if flip else self.dim - d)
            known = _prove(difference, relation)
            if known is None:
                known = trace.decide(difference, relation)
            if known is not None:
                return known
        return ufunc_operator(ufunc)(self, other)

    def __lt__(self, other: object) -> Any:
        return self._compare(other, "<", False, np.less)

    def __le__(self, other: object) -> Any:
        return self._compare(other, "<=", False, np.less_equal)

    def __gt__(self, other: object) -> Any:
        return self._compare(other, "<", True, np.greater)

    def __ge__(self, other: object) -> Any:
        return self._compare(other, "<=", True, np.greater_equal)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return False
        return self._compare(other, "==", False, np.equal)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return True
        return self._compare(other, "!=", False, np.not_equal)

    def __index__(self) -> int:
        return need_int(self.dim, "a Python int")

    __int__ = __index__

    def __bool__(self) -> bool:
        nonzero = self != 0
        if isinstance(nonzero, bool):
            return nonzero
        raise refuse("a Python decision depends on a traced int where it cannot be captured",
                     "Use `if` or `while` in a function whose source tracejit can see", "TJ109")

    def __float__(self) -> float:
        return float(need_int(self.dim, "float() of a size"))

    @property
    def shape(self) -> tuple[()]:
        """Return the shape of a scalar."""
        return ()

    @property
    def ndim(self) -> int:
        """Return 0."""
        return 0

    @property
    def dtype(self) -> np.dtype:
        """Return int64."""
        return np.dtype(np.int64)

    def bit_length(self) -> int:
        """Return the number of bits of the int, which must be known."""
        return need_int(self.dim, "bit_length()").bit_length()

    def _marker(self) -> str:
        """Return the text that stands for the int where nobody looks at letters."""
        return repr(self.dim)


def _fitted(d: Dim) -> Any:
    """Return a dim as an int, checked to fit into 64 bits where it may not."""
    return ABOVE.fitted(d)


def _prove(difference: Dim, relation: str) -> bool | None:
    """Decide `difference relation 0` from the ranges of sizes and loop indices; None if unknown."""
    ranges = current().builder.known
    if isinstance(difference, int):
        return {"<": difference < 0, "<=": difference <= 0, "==": difference == 0,
                "!=": difference != 0}[relation]
    if relation in ("==", "!="):
        if is_nonneg(difference - 1, ranges) or is_nonneg(-difference - 1, ranges):
            return relation == "!="
        return None
    strict = relation == "<"
    if is_nonneg(-difference - (1 if strict else 0), ranges):
        return True
    if is_nonneg(difference - (0 if strict else 1), ranges):
        return False
    return None


def of_dim(d: Dim) -> Any:
    """Return a dim as a Python int, or as a symbolic int where it is not known."""
    d = current().canonical(d)
    return d if isinstance(d, int) else SymInt(d)


def known_int(x: object, why: str) -> Any:
    """Return an int of the call as a number that the program is made for; all else as it is."""
    return need_int(x.dim, why) if isinstance(x, SymInt) else x


def python_dims(dims: tuple[Dim, ...]) -> tuple[Any, ...]:
    """Return a shape as users see it."""
    return tuple(d if isinstance(d, int) else SymInt(d) for d in dims)
