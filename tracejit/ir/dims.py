"""Canonical integer expressions: sizes of arrays, trip counts and affine indices.

A `Dim` is a Python int or an `Expr`, a polynomial with integer coefficients over *atoms*: integer
SSA values and the calls `max`, `min`, `//` and `%`. Two expressions that are equal as polynomials
are equal as Python objects, so shapes are compared with `==`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from tracejit.ir.core import Value

__all__ = ["Call", "Dim", "Expr", "atom", "ceil_div", "clamps", "dim_values", "evaluate",
           "floor_div", "format_dim", "is_nonneg", "lower_bound", "map_dim", "maximum", "minimum",
           "mod", "product", "substitute", "upper_bound"]

Dim = Union[int, "Expr"]
Atom = Union["Value", "Call"]
Monomial = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Call:
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
        found = [(m, c) for m, c in self.terms if any(v in _values_of(a) for a in m)]
        return found[0][1] if [m for m, _ in found] == [(v,)] else None

    def __repr__(self) -> str:
        return format_dim(self)


def _atom_key(a: Atom) -> tuple[object, ...]:
    if isinstance(a, Call):
        return (1, a.fn, tuple(_dim_key(d) for d in a.args))
    return (0, a.uid)


def _dim_key(d: Dim) -> tuple[object, ...]:
    if isinstance(d, int):
        return (0, d)
    terms = tuple((tuple(map(_atom_key, m)), c) for m, c in d.terms)
    return (1, terms, d.const)


def _parts(d: Dim) -> tuple[dict[Monomial, int], int]:
    return ({}, d) if isinstance(d, int) else (dict(d.terms), d.const)


def _make(terms: dict[Monomial, int], const: int) -> Dim:
    kept = [(m, c) for m, c in terms.items() if c]
    if not kept:
        return const
    kept.sort(key=lambda term: (-len(term[0]), tuple(map(_atom_key, term[0]))))
    return Expr(tuple(kept), const)


def _sum(a: Dim, b: Dim, sign: int) -> Dim:
    (terms, const), (others, other_const) = _parts(a), _parts(b)
    for m, c in others.items():
        terms[m] = terms.get(m, 0) + sign * c
    pair = _opposite_extremes(terms)
    if pair is not None:
        (largest, smallest), both = pair
        return _sum(_make({m: c - (m in (largest, smallest)) * terms[largest]
                           for m, c in terms.items()}, const + sign * other_const),
                    _product(both, terms[largest]), 1)
    return _make(terms, const + sign * other_const)


def _opposite_extremes(terms: Mapping[Monomial, int]) -> tuple[tuple[Monomial, Monomial],
                                                               Dim] | None:
    """Find max(a, b) and min(a + t, b + t), equally often: their sum is a + b + t.

    So the parts x[1:] and x[:1], of sizes max(n - 1, 0) and min(n, 1), have n elements together.
    """
    extremes = [(m, m[0]) for m, c in terms.items()
                if c and len(m) == 1 and isinstance(m[0], Call) and m[0].fn in ("max", "min")]
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
            key = tuple(sorted(m + k, key=_atom_key))
            terms[key] = terms.get(key, 0) + c * d
    return _make(terms, terms.pop((), 0))


def atom(value: Atom) -> Expr:
    """Return the dim that is one integer SSA value."""
    return Expr((((value,), 1),), 0)


def product(dims: tuple[Dim, ...]) -> Dim:
    """Return the number of elements of a shape."""
    result: Dim = 1
    for d in dims:
        result = result * d
    return result


def maximum(a: Dim, b: Dim, ranges: Ranges | None = None) -> Dim:
    """Return `max(a, b)`, decided where the difference has a known sign under `ranges`."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    if is_nonneg(a - b, ranges):
        return a
    if is_nonneg(b - a, ranges):
        return b
    return atom(Call("max", _ordered(a, b)))


def minimum(a: Dim, b: Dim, ranges: Ranges | None = None) -> Dim:
    """Return `min(a, b)`, decided where the difference has a known sign under `ranges`."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if is_nonneg(a - b, ranges):
        return b
    if is_nonneg(b - a, ranges):
        return a
    return atom(Call("min", _ordered(a, b)))


def _ordered(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Expressions first, constants last, so that max(n, 0) has one form."""
    first, second = sorted((a, b), key=lambda d: (isinstance(d, int), _dim_key(d)))
    return first, second


def floor_div(a: Dim, b: Dim) -> Dim:
    """Return `a // b` with Python's rounding; exact where every coefficient is divisible."""
    if isinstance(a, int) and isinstance(b, int) and b:
        return a // b
    if isinstance(a, Expr) and isinstance(b, int) and b:
        if all(c % b == 0 for _, c in a.terms):
            return _make({m: c // b for m, c in a.terms}, a.const // b)
    elif a == b:
        return 1
    return atom(Call("floordiv", (a, b)))


def ceil_div(a: Dim, b: Dim) -> Dim:
    """Return `a / b` rounded up."""
    return -floor_div(-a, b)


def mod(a: Dim, b: Dim) -> Dim:
    """Return `a % b` with Python's sign."""
    if isinstance(a, int) and isinstance(b, int) and b:
        return a % b
    if isinstance(a, Expr) and isinstance(b, int) and b and all(c % b == 0 for _, c in a.terms):
        return a.const % b
    return atom(Call("mod", (a, b)))


def dim_values(d: Dim) -> Iterator[Value]:
    """Yield the SSA values that a dim is made of."""
    if isinstance(d, Expr):
        for monomial, _ in d.terms:
            for a in monomial:
                if isinstance(a, Call):
                    for arg in a.args:
                        yield from dim_values(arg)
                else:
                    yield a


def clamps(d: Dim) -> Iterator[tuple[Value, int]]:
    """Yield values and numbers such that a `max` or `min` in a dim asks which is greater."""
    for monomial, _ in d.terms if isinstance(d, Expr) else ():
        for a in monomial:
            if isinstance(a, Call):
                left, right = a.args
                if a.fn in ("max", "min") and isinstance(left, Expr) and isinstance(right, int):
                    moved = left - left.const
                    (*values,) = set(dim_values(moved))
                    if len(values) == 1 and moved == atom(values[0]):
                        yield values[0], right - left.const
                for arg in a.args:
                    yield from clamps(arg)


_CALLS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "max": maximum, "min": minimum, "floordiv": floor_div, "mod": mod,
}


def map_dim(d: Dim, fn: Callable[[Value], Dim]) -> Dim:
    """Rebuild a dim with every value replaced by `fn(value)`."""
    if isinstance(d, int):
        return d
    result: Dim = d.const
    for monomial, coefficient in d.terms:
        term: Dim = coefficient
        for a in monomial:
            if isinstance(a, Call):
                left, right = (map_dim(arg, fn) for arg in a.args)
                term = term * _CALLS[a.fn](left, right)
            else:
                term = term * fn(a)
        result = result + term
    return result


def substitute(d: Dim, mapping: Mapping[Value, Dim]) -> Dim:
    """Replace values by dims; those not in the mapping stay."""
    if isinstance(d, int) or not any(v in mapping for v in dim_values(d)):
        return d
    return map_dim(d, lambda v: mapping[v] if v in mapping else atom(v))


def evaluate(d: Dim, env: Callable[[Value], int]) -> int:
    """Return the number that a dim stands for when every value has one."""
    result = map_dim(d, env)
    assert isinstance(result, int)
    return result


# --- ranges -------------------------------------------------------------------------------------

Ranges = Mapping["Value", tuple["Dim | None", "Dim | None"]]
"""Inclusive bounds that are known of a value: sizes from 0, loop indices from their loops."""


def lower_bound(d: Dim, ranges: Ranges) -> Dim | None:
    """Return a bound from below made of values without ranges, or None where there is none."""
    return _bound(d, ranges, 0)


def upper_bound(d: Dim, ranges: Ranges) -> Dim | None:
    """Return a bound from above made of values without ranges, or None where there is none."""
    return _bound(d, ranges, 1)


def _bound(d: Dim, ranges: Ranges, side: int) -> Dim | None:
    """Replace one ranged value at a time, the innermost (latest) first, by the end that bounds."""
    for _ in range(16):
        bounded = [v for v in dim_values(d) if v in ranges and ranges[v] != (0, None)]
        if isinstance(d, int) or not bounded:
            return d
        v = max(bounded, key=lambda w: w.uid)
        coefficient = 0
        for monomial, c in d.terms:
            if any(a is not v and v in _values_of(a) for a in monomial):
                return None
            if v in monomial:
                if len(monomial) > 1:
                    return None
                coefficient = c
        end = ranges[v][side if coefficient > 0 else 1 - side]
        if end is None:
            return None
        d = substitute(d, {v: end})
    return None


def _values_of(a: Atom) -> tuple[Value, ...]:
    return tuple(v for arg in a.args for v in dim_values(arg)) if isinstance(a, Call) else (a,)


CASES = 256
"""How many cases of `max` and `min` one proof may look at: with many, they are too many."""


def is_nonneg(d: Dim, ranges: Ranges | None = None, cases: list[int] | None = None) -> bool:
    """Return whether `d >= 0` can be proved; False means only that it cannot.

    cases -- how many cases the proof may still look at, where it is part of another
    """
    cases = [CASES] if cases is None else cases
    if isinstance(d, int):
        return d >= 0
    ranges = ranges or {}
    low = lower_bound(d, ranges)
    if low is None:
        return False
    if isinstance(low, int):
        return low >= 0
    return (low.const >= 0 and all(
        c >= 0 and all(_atom_nonneg(a, ranges, cases) for a in m) for m, c in low.terms
    )) or _drop_max(low, ranges, cases)


def _drop_max(d: Expr, ranges: Ranges, cases: list[int]) -> bool:
    """Prove `d >= 0` by bounding a `max` below or a `min` above by one of its arguments."""
    for monomial, c in d.terms:
        if len(monomial) == 1 and isinstance(monomial[0], Call):
            call = monomial[0]
            cases[0] -= 1
            if cases[0] < 0:
                return False
            if (call.fn, c > 0) in (("max", True), ("min", False)):
                rest = d - c * atom(call)
                if any(is_nonneg(rest + c * arg, ranges, cases) for arg in call.args):
                    return True
            if (call.fn, c > 0) in (("max", False), ("min", True)):
                rest = d - c * atom(call)
                if all(is_nonneg(rest + c * arg, ranges, cases) for arg in call.args):
                    return True
    return False


def _atom_nonneg(a: Atom, ranges: Ranges, cases: list[int]) -> bool:
    if not isinstance(a, Call):
        low = ranges.get(a, (None, None))[0]
        return (low is not None and low == 0) or getattr(a, "is_size", False)
    if a.fn == "max":
        return any(is_nonneg(arg, ranges, cases) for arg in a.args)
    if a.fn == "mod":
        return is_nonneg(a.args[1], ranges, cases)
    return all(is_nonneg(arg, ranges, cases) for arg in a.args)


# --- text ---------------------------------------------------------------------------------------


def _name_of(v: Value) -> str:
    return v.name or f"v{v.uid}"


def format_dim(d: Dim, name: Callable[[Value], str] = _name_of) -> str:
    """Return the text of a dim: `n - 2`, `max(n - 2, 0)`, `2*n*m + 1`."""
    if isinstance(d, int):
        return str(d)
    text = ""
    for monomial, c in d.terms:
        sign = " - " if c < 0 else " + "
        factors = [_format_atom(a, name) for a in monomial]
        if abs(c) != 1:
            factors.insert(0, str(abs(c)))
        text += (sign if text else sign.strip().replace("+", "")) + "*".join(factors)
    if d.const:
        text += f" {'-' if d.const < 0 else '+'} {abs(d.const)}"
    return text


def _format_atom(a: Atom, name: Callable[[Value], str]) -> str:
    if not isinstance(a, Call):
        return name(a)
    left, right = (format_dim(arg, name) for arg in a.args)
    if a.fn in ("max", "min"):
        return f"{a.fn}({left}, {right})"
    return f"({left}) {'//' if a.fn == 'floordiv' else '%'} ({right})"
