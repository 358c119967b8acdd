"""Values, their types, and the sizes that the shapes of these types are made of.

A size, a `Dim`, is a Python int or an `Expr`, a polynomial with integer coefficients over *atoms*:
integer SSA values and the calls `max`, `min`, `//` and `%`. Two expressions that are equal as
polynomials are equal as Python objects, so shapes are compared with `==`. A value has a type whose
sizes are made of values: that is why they are in one file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Union, cast

import numpy as np

from tracejit.ir.dtypes import dtype_name

__all__ = ["Aval", "IntegerCall", "Dim", "Expr", "LogType", "Monomial", "Type", "Value", "atom",
           "atom_key", "bare_value", "dim_key", "dim_values", "format_dim", "format_terms",
           "polynomial", "values_of"]

Dim = Union[int, "Expr"]
Factor = Union["Value", "IntegerCall"]
Monomial = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class IntegerCall:
    """A non-polynomial atom: `max`, `min`, `floordiv` or `mod` of two dims."""

    fn: str
    args: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Expr:
    """A polynomial `sum(coefficient * product(monomial)) + const`, its terms in canonical order."""

    terms: tuple[tuple[Monomial, int], ...]
    const: int

    def __add__(self, other: Dim) -> Dim:
        return _sum(self, other, 1)

    def __sub__(self, other: Dim) -> Dim:
        return _sum(self, other, -1)

    def __mul__(self, other: Dim) -> Dim:
        return _product(self, other)

    def __neg__(self) -> Dim:
        return _product(self, -1)

    def __rsub__(self, other: int) -> Dim:
        return _sum(_product(self, -1), other, 1)

    __radd__ = __add__
    __rmul__ = __mul__

    def factor_of(self, v: Value) -> int | None:
        """Return the factor of a value that occurs in one linear term alone, else None."""
        found = [(m, c) for m, c in self.terms if any(v in values_of(a) for a in m)]
        return found[0][1] if [m for m, _ in found] == [(v,)] else None

    @property
    def bare(self) -> Factor | None:
        """Return the value, or the extreme, quotient or remainder, that this is; else None."""
        if self.const or len(self.terms) != 1:
            return None
        (monomial, c), = self.terms
        return monomial[0] if c == 1 and len(monomial) == 1 else None

    def __repr__(self) -> str:
        return format_dim(self)


def atom_key(a: Factor) -> tuple[object, ...]:
    if isinstance(a, IntegerCall):
        return (1, a.fn, tuple(dim_key(d) for d in a.args))
    return (0, a.uid)


def dim_key(d: Dim) -> tuple[object, ...]:
    if isinstance(d, int):
        return (0, d)
    terms = tuple((tuple(map(atom_key, m)), c) for m, c in d.terms)
    return (1, terms, d.const)


def _parts(d: Dim) -> tuple[dict[Monomial, int], int]:
    return ({}, d) if isinstance(d, int) else (dict(d.terms), d.const)


def polynomial(terms: dict[Monomial, int], const: int) -> Dim:
    kept = [(m, c) for m, c in terms.items() if c]
    if not kept:
        return const
    kept.sort(key=lambda term: (-len(term[0]), tuple(map(atom_key, term[0]))))
    return Expr(tuple(kept), const)


def _sum(a: Dim, b: Dim, sign: int) -> Dim:
    (terms, const), (others, other_const) = _parts(a), _parts(b)
    for m, c in others.items():
        terms[m] = terms.get(m, 0) + sign * c
    pair = _opposite_extremes(terms)
    if pair is not None:
        (largest, smallest), both = pair
        return _sum(polynomial({m: c - (m in (largest, smallest)) * terms[largest]
                           for m, c in terms.items()}, const + sign * other_const),
                    _product(both, terms[largest]), 1)
    return polynomial(terms, const + sign * other_const)


def _opposite_extremes(terms: Mapping[Monomial, int]) -> tuple[tuple[Monomial, Monomial],
                                                               Dim] | None:
    """Find max(a, b) and min(a + t, b + t), equally often: their sum is a + b + t.

    So the parts x[1:] and x[:1], of sizes max(n - 1, 0) and min(n, 1), have n elements together.
    """
    extremes = [(m, m[0]) for m, c in terms.items()
                if c and len(m) == 1 and isinstance(m[0], IntegerCall)
                and m[0].fn in ("max", "min")]
    for m, largest in extremes:
        for k, smallest in extremes:
            if (largest.fn, smallest.fn, terms[m]) != ("max", "min", terms[k]):
                continue
            (a, b), (c, d) = largest.args, smallest.args
            for shifted in (c - a,) if c - a == d - b else (c - b,) if c - b == d - a else ():
                return (m, k), a + b + shifted
    return None


def _product(a: Dim, b: Dim) -> Dim:
    (left, left_const), (right, right_const) = _parts(a), _parts(b)
    left[()] = left_const
    right[()] = right_const
    terms: dict[Monomial, int] = {}
    for m, c in left.items():
        for k, d in right.items():
            key = tuple(sorted(m + k, key=atom_key))
            terms[key] = terms.get(key, 0) + c * d
    return polynomial(terms, terms.pop((), 0))


def atom(value: Factor) -> Expr:
    """Return the dim that is one integer SSA value."""
    return Expr((((value,), 1),), 0)


def bare_value(d: Dim) -> Value | None:
    """Return the value that a dim is, or None if it is anything more."""
    bare = d.bare if isinstance(d, Expr) else None
    return bare if isinstance(bare, Value) else None


def dim_values(d: Dim) -> Iterator[Value]:
    """Yield the SSA values that a dim is made of."""
    if isinstance(d, Expr):
        for monomial, _ in d.terms:
            for a in monomial:
                if isinstance(a, IntegerCall):
                    for arg in a.args:
                        yield from dim_values(arg)
                else:
                    yield a


def values_of(a: Factor) -> tuple[Value, ...]:
    if not isinstance(a, IntegerCall):
        return (a,)
    return tuple(v for arg in a.args for v in dim_values(arg))


def _name_of(v: Value) -> str:
    return v.name or f"v{v.uid}"


def format_dim(d: Dim, name: Callable[[Value], str] = _name_of) -> str:
    """Return the text of a dim: `n - 2`, `max(n - 2, 0)`, `2*n*m + 1`."""
    return format_terms(d, lambda monomial, c: [
        _format_atom(a, name, alone=c == 1 and len(monomial) == 1) for a in monomial])


def format_terms(d: Dim, factors_of: Callable[[tuple[Factor, ...], int], list[str]]) -> str:
    """Return the text of a dim, given the texts of the factors of a monomial and its number."""
    if isinstance(d, int):
        return str(d)
    text = ""
    for monomial, c in d.terms:
        sign = " - " if c < 0 else " + "
        factors = factors_of(monomial, c)
        if abs(c) != 1:
            factors.insert(0, str(abs(c)))
        text += (sign if text else sign.strip().replace("+", "")) + "*".join(factors)
    if d.const:
        text += f" {'-' if d.const < 0 else '+'} {abs(d.const)}"
    return text


EXTREMES = ("max", "min")


def _format_atom(a: Factor, name: Callable[[Value], str], *, alone: bool) -> str:
    """Return the text of a factor; beside others a quotient or remainder has parentheses."""
    if not isinstance(a, IntegerCall):
        return name(a)
    if a.fn in EXTREMES:
        return f"{a.fn}({', '.join(format_dim(arg, name) for arg in a.args)})"
    left, right = (_format_operand(arg, name) for arg in a.args)
    text = f"{left} {'//' if a.fn == 'floordiv' else '%'} {right}"
    return text if alone else f"({text})"


def _format_operand(d: Dim, name: Callable[[Value], str]) -> str:
    """Return the text of a dividend or divisor: a name or a number is bare."""
    bare = d.bare if isinstance(d, Expr) else None
    is_word = d >= 0 if isinstance(d, int) else isinstance(bare, Value) or (
        bare is not None and bare.fn in EXTREMES)
    return format_dim(d, name) if is_word else f"({format_dim(d, name)})"


# --- types and values ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aval:
    """An abstract array: its dtype and its shape, whose dims may be expressions."""

    dtype: np.dtype
    shape: tuple[Dim, ...] = ()

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Return whether every dim is a plain int."""
        return not any(isinstance(d, Expr) for d in self.shape)

    def with_shape(self, shape: tuple[Dim, ...]) -> Aval:
        """Return the same dtype with another shape."""
        return Aval(self.dtype, shape)

    def with_dtype(self, dtype: np.dtype) -> Aval:
        """Return the same shape with another dtype."""
        return Aval(dtype, self.shape)

    def __str__(self) -> str:
        return f"{dtype_name(self.dtype)}[{', '.join(format_dim(d) for d in self.shape)}]"


@dataclass(frozen=True, slots=True)
class LogType:
    """A linear stack of scalars of one dtype: pushed to going forward, popped from going back."""

    dtype: np.dtype

    def __str__(self) -> str:
        return f"log<{dtype_name(self.dtype)}>"


Type = Aval | LogType


_UIDS = itertools.count()


class Value:
    """A result: an equation's, a block's input, or a size. Compared by identity.

    Its `aval` is declared as an array's, which rules and codegen handle; the few that meet Logs ask
    `is_log` first, and a Log's is its `LogType`.
    """

    aval: Aval
    is_size: bool
    name: str | None
    uid: int

    __slots__ = ("__weakref__", "aval", "is_size", "name", "origin", "uid")

    def __init__(self, aval: Type, name: str | None = None, *, is_size: bool = False) -> None:
        self.retype(aval)
        self.name = name
        self.is_size = is_size
        self.origin: Value | None = None
        """The value that this one stands for since a pass has rebuilt the graph."""
        self.uid = next(_UIDS)

    def retype(self, aval: Type) -> None:
        """Give a value its type late, as a parser must where types name one another's values."""
        self.aval = cast(Aval, aval)

    @property
    def is_log(self) -> bool:
        """Return whether this is a Log, which has a dtype but no shape."""
        return isinstance(self.aval, LogType)

    @property
    def dim(self) -> Expr:
        """Return this integer scalar as a dim."""
        return atom(self)

    def __repr__(self) -> str:
        return f"%{self.name or f'v{self.uid}'}: {self.aval}"
