"""Arithmetic of sizes: products, extremes, quotients, substitution, bounds and proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tracejit.ir.values import (
    Dim,
    Expr,
    IntegerCall,
    Value,
    atom,
    bare_value,
    dim_key,
    dim_values,
    format_dim,
    polynomial,
    values_of,
)

__all__ = ["IntegerCall", "Dim", "Expr", "atom", "bare_value", "ceil_div", "clamps", "dim_values",
           "evaluate", "floor_div", "format_dim", "is_nonneg", "lower_bound", "map_dim", "maximum",
           "minimum", "mod", "product", "substitute"]


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
    return atom(IntegerCall("max", _ordered(a, b)))


def minimum(a: Dim, b: Dim, ranges: Ranges | None = None) -> Dim:
    """Return `min(a, b)`, decided where the difference has a known sign under `ranges`."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if is_nonneg(a - b, ranges):
        return b
    if is_nonneg(b - a, ranges):
        return a
    return atom(IntegerCall("min", _ordered(a, b)))


def _ordered(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Expressions first, constants last, so that max(n, 0) has one form."""
    first, second = sorted((a, b), key=lambda d: (isinstance(d, int), dim_key(d)))
    return first, second


def floor_div(a: Dim, b: Dim) -> Dim:
    """Return `a // b` with Python's rounding; exact where every coefficient is divisible.

    Of numbers it is 0 where b is 0, as in a kernel: a check before it raises the error, where the
    division is carried out at all.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b else 0
    if isinstance(a, Expr) and isinstance(b, int) and b:
        if all(c % b == 0 for _, c in a.terms):
            return polynomial({m: c // b for m, c in a.terms}, a.const // b)
    elif a == b:
        return 1
    return atom(IntegerCall("floordiv", (a, b)))


def ceil_div(a: Dim, b: Dim) -> Dim:
    """Return `a / b` rounded up."""
    return -floor_div(-a, b)


def mod(a: Dim, b: Dim) -> Dim:
    """Return `a % b` with Python's sign; of numbers 0 where b is 0, see `floor_div`."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b if b else 0
    if isinstance(a, Expr) and isinstance(b, int) and b and all(c % b == 0 for _, c in a.terms):
        return a.const % b
    return atom(IntegerCall("mod", (a, b)))


def clamps(d: Dim) -> Iterator[tuple[Value, int]]:
    """Yield values and numbers such that a `max` or `min` in a dim asks which is greater."""
    for monomial, _ in d.terms if isinstance(d, Expr) else ():
        for a in monomial:
            if isinstance(a, IntegerCall):
                left, right = a.args
                if a.fn in ("max", "min") and isinstance(left, Expr) and isinstance(right, int):
                    value = bare_value(left - left.const)
                    if value is not None:
                        yield value, right - left.const
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
            if isinstance(a, IntegerCall):
                left, right = (map_dim(arg, fn) for arg in a.args)
                term = term * _CALLS[a.fn](left, right)
            else:
                term = term * fn(a)
        result = result + term
    return result


def substitute(d: Dim, mapping: Mapping[Value, Dim]) -> Dim:
    """Replace values by dims; values outside the mapping stay."""
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
    """Return a bound from below made of values without ranges, or None where there is none.

    One value with a range at a time is replaced by the end that bounds, the innermost (latest)
    first.
    """
    for _ in range(16):
        bounded = [v for v in dim_values(d) if v in ranges and ranges[v] != (0, None)]
        if isinstance(d, int) or not bounded:
            return d
        v = max(bounded, key=lambda w: w.uid)
        coefficient = 0
        for monomial, c in d.terms:
            if any(a is not v and v in values_of(a) for a in monomial):
                return None
            if v in monomial:
                if len(monomial) > 1:
                    return None
                coefficient = c
        end = ranges[v][0 if coefficient > 0 else 1]
        if end is None:
            return None
        d = substitute(d, {v: end})
    return None


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
    )) or _drop_call(low, ranges, cases)


def _drop_call(d: Expr, ranges: Ranges, cases: list[int]) -> bool:
    """Prove `d >= 0` by bounds of a `max`, a `min`, a quotient or a remainder in it."""
    for monomial, c in d.terms:
        if len(monomial) == 1 and isinstance(monomial[0], IntegerCall):
            call = monomial[0]
            cases[0] -= 1
            if cases[0] < 0:
                return False
            rest = d - c * atom(call)
            if (call.fn, c > 0) in (("max", False), ("min", True)):
                if all(is_nonneg(rest + c * arg, ranges, cases) for arg in call.args):
                    return True
            elif any(is_nonneg(x, ranges, cases) for x in _one_enough(rest, c, call, ranges)):
                return True
    return False


def _one_enough(rest: Dim, c: int, call: IntegerCall, ranges: Ranges) -> Iterator[Dim]:
    """Yield dims such that `rest + c * call` is not negative where one of them is not.

    An integer is not negative where b times it is greater than -b.
    """
    a, b = call.args
    if call.fn in ("max", "min"):
        yield from (rest + c * a, rest + c * b)
    elif isinstance(b, int) and b > 0 and call.fn == "floordiv":
        yield b * rest + c * (a if c < 0 else a - (b - 1)) + b - 1
    elif isinstance(b, int) and b > 0:  # a remainder, from 0 to b - 1
        yield rest + (c * (b - 1) if c < 0 else 0)
        if c < 0 and is_nonneg(a, ranges):
            yield rest + c * a


def _atom_nonneg(a: Value | IntegerCall, ranges: Ranges, cases: list[int]) -> bool:
    if not isinstance(a, IntegerCall):
        low = ranges.get(a, (None, None))[0]
        return (low is not None and low == 0) or getattr(a, "is_size", False)
    if a.fn == "max":
        return any(is_nonneg(arg, ranges, cases) for arg in a.args)
    if a.fn == "mod":
        return is_nonneg(a.args[1], ranges, cases)
    return all(is_nonneg(arg, ranges, cases) for arg in a.args)
