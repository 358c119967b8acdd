"""Formulas in sizes: dims that are added up over loops, compared, and written for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from tracejit.ir.core import Value
from tracejit.ir.dims import (
    Dim,
    Expr,
    IntegerCall,
    atom,
    dim_values,
    floor_div,
    is_nonneg,
    map_dim,
    maximum,
    substitute,
)
from tracejit.ir.values import format_terms

__all__ = ["format_formula", "larger", "smaller", "summed"]


def larger(a: Dim, b: Dim) -> Dim:
    """Return `max(a, b)`, decided where it is the same one for all sizes of 1 and more."""
    return a if _is_at_least(a, b) else b if _is_at_least(b, a) else maximum(a, b)


def smaller(a: Dim, b: Dim) -> Dim:
    """Return `b` where it is no more than `a` for all sizes of 1 and more, else `a`."""
    return b if _is_at_least(a, b) else a


def _is_at_least(a: Dim, b: Dim) -> bool:
    difference = a - b
    if isinstance(difference, int):
        return difference >= 0
    return is_nonneg(map_dim(difference, lambda v: atom(v) + 1 if v.is_size else atom(v)))


def summed(d: Dim, index: Value, lo: Dim, hi: Dim) -> tuple[Dim, bool]:
    """Return the sum of a dim over an index from lo to hi - 1, and whether it is exact.

    Sums of powers up to the second have closed forms; of all else, the last term is multiplied.
    """
    parts: dict[int, Dim] = {}
    rest: Dim = d.const if isinstance(d, Expr) else d
    for monomial, c in d.terms if isinstance(d, Expr) else ():
        power = sum(a is index for a in monomial)
        others = tuple(a for a in monomial if a is not index)
        if power > 2 or any(isinstance(a, IntegerCall) and index in dim_values(atom(a))
                            for a in others):
            return substitute(d, {index: hi - 1}) * (hi - lo), False
        parts[power] = parts.get(power, 0) + Expr(((others, c),), 0) if others else (
            parts.get(power, 0) + c)
    six: Dim = 0
    for power, part in {**parts, 0: parts.get(0, 0) + rest}.items():
        six = six + part * (_six_sums(power, hi) - _six_sums(power, lo))
    return _divided(six, 6), True


def _six_sums(power: int, hi: Dim) -> Dim:
    """Return six times the sum of the powers of 0 to hi - 1."""
    if power == 0:
        return 6 * hi
    return 3 * hi * (hi - 1) if power == 1 else hi * (hi - 1) * (2 * hi - 1)


def _divided(d: Dim, by: int) -> Dim:
    """Return an exact quotient, with as small a divisor as there is."""
    if isinstance(d, int):
        return d // by
    common = math.gcd(by, d.const, *(c for _, c in d.terms))
    return floor_div(floor_div(d, common), by // common)


# --- text ---------------------------------------------------------------------------------------


def format_formula(d: Dim, names: Mapping[Value, str]) -> str:
    """Return a formula as text, powers as such: `2*n**2*m + 3*n`."""
    def factors_of(monomial: tuple[Value | IntegerCall, ...], c: int) -> list[str]:
        powers = Counter(_format_atom(a, names, alone=len(monomial) == 1 and abs(c) == 1)
                         for a in monomial)
        return [f"{a}**{p}" if p > 1 else a for a, p in powers.items()]

    return format_terms(d, factors_of)


def _format_atom(a: Value | IntegerCall, names: Mapping[Value, str], *, alone: bool) -> str:
    if not isinstance(a, IntegerCall):
        return names[a]
    left, right = (format_formula(arg, names) for arg in a.args)
    if a.fn in ("max", "min"):
        return f"{a.fn}({left}, {right})"
    left, right = (f"({text})" if " " in text else text for text in (left, right))
    text = f"{left}{'//' if a.fn == 'floordiv' else '%'}{right}"
    return text if alone and text[0] != "-" else f"({text})"
