"""Expressions of Loop IR: trees of operations on scalars, each of which knows its dtype.

    expression = Const(value, dtype)             a number, or a bool
               | Var(name, dtype)                a scalar
               | Load(buffer, index, dtype)      an element of a buffer
               | Array(name, dtype)              a buffer as a whole, for routines
               | Slice(array, start, step)      the part of a buffer from an element on
               | Word(text)                      a constant of a routine: "N", or a symbol
               | Unary(op, a)                    op: - ~ not
               | Bin(op, a, b)                   op: + - * / < <= > >= == != & | ^ and or
               | All(tests)                      every one of some tests holds
               | InRange(lo, x, hi)              lo <= x < hi; without lo, x < hi
               | Extent(lo, hi)                  how many integers there are from lo up to hi
               | Select(c, a, b)                 a where c, else b; both are computed
               | Cast(dtype, a)
               | Call(fn, args)                  fn: a row of `SCALARS`

Trees are values: they are compared by content, and changed by making others. Text is made of
them in `spelling.py` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.codegen.scalars import Scalar
from tracejit.ir.dtypes import DTYPES, dtype_name

__all__ = ["BOOL", "F64", "I64", "NONE", "ONE", "ZERO", "All", "Array", "Bin", "Call", "Cast",
           "Const", "Expression", "Extent", "InRange", "Load", "Select", "Slice", "Unary", "Var",
           "Word", "cast_name", "promoted"]

if TYPE_CHECKING:
    from functools import cached_property
else:
    class cached_property:
        """A property of a tree, computed once: `functools.cached_property` without its lock."""

        def __init__(self, find: Callable[[object], object]) -> None:
            self.find, self.name, self.__doc__ = find, find.__name__, find.__doc__

        def __get__(self, tree: object, kind: object = None) -> Any:
            if tree is None:
                return self
            tree.__dict__[self.name] = found = self.find(tree)
            return found

I64, F64, BOOL = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_)
PLAIN = tuple(map(np.dtype, (np.float64, np.int64, np.bool_)))
"""The dtypes of Python's own numbers."""
NONE = np.dtype("V")
"""The dtype of words and of calls of routines, which have no value."""

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or")


def cast_name(dtype: np.dtype) -> str:
    """Return the name of the cast to a dtype."""
    return "bool_" if dtype == np.bool_ else dtype_name(dtype)


def promoted(*kinds: np.dtype) -> np.dtype:
    """Return the dtype that operands of some dtypes are computed in, by Numba's rules."""
    first = kinds[0]
    return first if all(k is first for k in kinds) else np.result_type(*kinds)


class Expression:
    """A tree; its parts are its operands, in the order in which they are written."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the operands."""
        return ()

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return the same operation on other operands."""
        return self

    @cached_property
    def mentions(self) -> tuple[str, ...]:
        """Return the names of scalars and buffers, as often as they are read."""
        return tuple(name for part in self.parts for name in part.mentions)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Return the names of scalars and buffers that are read."""
        return frozenset(self.mentions)

    @cached_property
    def calls(self) -> frozenset[str]:
        """Return the names of the functions that are called, conversions among them."""
        return frozenset().union(*(part.calls for part in self.parts))

    if TYPE_CHECKING:
        @property
        def dtype(self) -> np.dtype:
            """Return the dtype of its value."""

    def __str__(self) -> str:
        return TEXT_OF[0](self)


TEXT_OF: list[Callable[[Expression], str]] = []
"""The function that writes an expression as text; `spelling.py` puts it here."""


@dataclass(frozen=True, eq=False)
class Const(Expression):
    """A number of a dtype, or a bool."""

    value: bool | int | float | complex
    dtype: np.dtype = I64

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[str, str]:
        return repr(self.value), self.dtype.str  # 0.0 is not -0.0

    @cached_property
    def calls(self) -> frozenset[str]:
        """Return the conversion that a dtype of few bits takes."""
        return frozenset() if self.dtype in PLAIN else frozenset({cast_name(self.dtype)})


@dataclass(frozen=True)
class Var(Expression):
    """A scalar that has a name."""

    name: str
    dtype: np.dtype

    @cached_property
    def mentions(self) -> tuple[str, ...]:
        """Return its name."""
        return (self.name,)


@dataclass(frozen=True)
class Array(Expression):
    """A buffer as a whole."""

    name: str
    dtype: np.dtype

    @cached_property
    def mentions(self) -> tuple[str, ...]:
        """Return its name."""
        return (self.name,)


@dataclass(frozen=True)
class Slice(Expression):
    """A buffer from some element on, in steps."""

    array: Expression
    start: Expression
    step: Expression | None = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the buffer, and where it begins."""
        return (self.array, self.start) if self.step is None else (
            self.array, self.start, self.step)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return another part of a buffer."""
        return Slice(*parts)

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype of the buffer."""
        return self.array.dtype


@dataclass(frozen=True)
class Load(Expression):
    """An element of a buffer."""

    buffer: str
    index: Expression
    dtype: np.dtype

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the index."""
        return (self.index,)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return an element at another index."""
        return Load(self.buffer, parts[0], self.dtype)

    @cached_property
    def mentions(self) -> tuple[str, ...]:
        """Return the names of the buffer and of the reads of the index."""
        return (self.buffer, *self.index.mentions)


@dataclass(frozen=True)
class Word(Expression):
    """A constant text that a routine is told."""

    text: str
    dtype: np.dtype = NONE


@dataclass(frozen=True)
class Unary(Expression):
    """A sign, the complement of an integer's bits, or `not`."""

    op: str
    a: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the operand."""
        return (self.a,)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return the same operation on another operand."""
        return Unary(self.op, *parts)

    @cached_property
    def dtype(self) -> np.dtype:
        """Return the operand's dtype; bool for "not"."""
        return BOOL if self.op == "not" else self.a.dtype


@dataclass(frozen=True)
class Bin(Expression):
    """An operator between two operands."""

    op: str
    a: Expression
    b: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return both operands."""
        return self.a, self.b

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return the same operation on other operands."""
        return Bin(self.op, *parts)

    @cached_property
    def dtype(self) -> np.dtype:
        """Return the dtype to which operands promote; a quotient of integers is a float."""
        if self.op in COMPARISONS:
            return BOOL
        kind = promoted(self.a.dtype, self.b.dtype)
        return F64 if self.op == "/" and kind.kind in "iub" else kind


@dataclass(frozen=True)
class All(Expression):
    """Tests that all hold, each of which is computed."""

    tests: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the tests."""
        return self.tests

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return other tests."""
        return All(parts)

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype of bools."""
        return BOOL


@dataclass(frozen=True)
class InRange(Expression):
    """`lo <= x < hi`, or `x < hi` of an x that is not negative."""

    lo: Expression | None
    x: Expression
    hi: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the operands that there are."""
        return (self.x, self.hi) if self.lo is None else (self.lo, self.x, self.hi)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return the test of other operands."""
        return InRange(None, *parts) if self.lo is None else InRange(*parts)

    @cached_property
    def dtype(self) -> np.dtype:
        """Return the dtype of bools."""
        return BOOL


@dataclass(frozen=True)
class Extent(Expression):
    """How many integers there are from `lo` up to `hi`."""

    lo: Expression
    hi: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the ends, the upper one first."""
        return (self.hi,) if self.lo == ZERO else (self.hi, self.lo)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return the extent between other ends."""
        return Extent(ZERO if len(parts) == 1 else parts[1], parts[0])

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype of sizes."""
        return I64


@dataclass(frozen=True)
class Select(Expression):
    """One of two values, both of which are computed."""

    c: Expression
    a: Expression
    b: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the condition and the values."""
        return self.c, self.a, self.b

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return a choice between others."""
        return Select(*parts)

    @cached_property
    def dtype(self) -> np.dtype:
        """Return the dtype to which the values promote."""
        return promoted(self.a.dtype, self.b.dtype)

    @cached_property
    def calls(self) -> frozenset[str]:
        """Return the functions of the operands, and its own name."""
        return frozenset({"select"}).union(*(part.calls for part in self.parts))


@dataclass(frozen=True)
class Cast(Expression):
    """A value in another dtype."""

    dtype: np.dtype
    a: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the operand."""
        return (self.a,)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return another value in the dtype."""
        return Cast(self.dtype, *parts)

    @cached_property
    def calls(self) -> frozenset[str]:
        """Return the functions of the operand, and the cast."""
        return self.a.calls | {cast_name(self.dtype)}


@dataclass(frozen=True)
class Call(Expression):
    """A function or routine of its operands."""

    fn: Scalar
    args: tuple[Expression, ...]
    of: np.dtype | None = None
    """The dtype of the result, where the operands do not say it: that of a Log's elements."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the operands."""
        return self.args

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return a call on other operands."""
        return Call(self.fn, parts, self.of)

    @cached_property
    def calls(self) -> frozenset[str]:
        """Return the names of the function and of the functions that the operands call."""
        return frozenset({self.fn.name}).union(*(part.calls for part in self.parts))

    @cached_property
    def dtype(self) -> np.dtype:
        """Return the dtype of the result, as the function's row says it."""
        if self.of is not None:
            return self.of
        rule = self.fn.result
        if rule == "operands":
            return promoted(*(a.dtype for a in self.args)) if self.args else I64
        if rule == "array":
            return self.args[0].dtype
        if rule == "part":
            return F64 if self.args[0].dtype.itemsize == 16 else np.dtype(np.float32)
        return DTYPES[rule] if rule else NONE


ZERO, ONE = Const(0), Const(1)
