"""Places that are said to be apart have no element in common, whatever the numbers in them are."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tracejit.ir.core import Span, Value
from tracejit.ir.dims import Dim, evaluate, maximum
from tracejit.ir.places import are_apart
from tracejit.ir.types import scalar

N, M = Value(scalar("int64"), "n", is_size=True), Value(scalar("int64"), "m", is_size=True)
J, K = Value(scalar("int64"), "j"), Value(scalar("int64"), "k")
RANGES = {J: (0, N.dim - 1)}
"""Of j the bounds are known: it is the number of an iteration."""

NUMBERS = [dict(zip((N, M, J, K), numbers, strict=True))
           for numbers in product(range(6), range(3), range(5), range(-2, 4))
           if numbers[2] < numbers[0]]


def elements(place: Dim | Span, numbers: dict[Value, int]) -> set[int]:
    """Return the indices that one axis of a place names."""
    def number(d: Dim) -> int:
        return evaluate(d, numbers.__getitem__)

    if not isinstance(place, Span):
        return {number(place)}
    start = number(place.start)
    return {start + place.step * j for j in range(number(place.size))}


def random_dim(draw: random.Random) -> Dim:
    """Return a linear function of one or two numbers."""
    d: Dim = draw.randrange(-3, 5)
    for v in draw.sample((N, M, J, K), draw.choice((0, 1, 1, 2))):
        d = d + draw.choice((-2, -1, 1, 1, 1, 2, 3)) * v.dim
    return d


def random_place(draw: random.Random) -> Dim | Span:
    """Return an index or a slice of an axis."""
    if draw.random() < 0.4:
        return random_dim(draw)
    step = draw.choice((-3, -2, -1, 1, 1, 2, 4))
    return Span(random_dim(draw), maximum(random_dim(draw), 0), step)


@pytest.mark.parametrize("seed", range(10))
def test_places_apart_have_no_element_in_common(seed: int) -> None:
    draw, found = random.Random(seed), 0
    for _ in range(400):
        p, q = random_place(draw), random_place(draw)
        if are_apart((p,), (q,), RANGES):
            found += 1
            for numbers in NUMBERS:
                assert not elements(p, numbers) & elements(q, numbers), (p, q, numbers)
    assert found > 20


def span(start: Dim, stop: Dim, step: int = 1) -> Span:
    return Span(start, maximum(stop - start, 0), step)


APART = [
    (0, 1), (J.dim, J.dim + 1), (K.dim - 1, K.dim), (0, span(1, N.dim)), (N.dim - 1, N.dim - 2),
    (span(0, 2), span(2, N.dim)), (span(J.dim + 1, N.dim), J.dim), (N.dim, J.dim),
    (Span(0, J.dim), span(J.dim, N.dim)), (Span(0, N.dim, 2), Span(1, N.dim, 2)),
    (Span(N.dim - 1, N.dim, -1), N.dim), (2 * K.dim, 2 * J.dim + 1), (4 * K.dim, Span(2, N.dim, 4)),
]
MAY_MEET = [
    (0, N.dim - 1), (J.dim, K.dim), (0, K.dim), (span(1, N.dim), J.dim), (K.dim, -1 * K.dim - 2),
    (Span(0, N.dim, 2), Span(1, N.dim, 3)), (span(0, 2), span(1, N.dim)), (J.dim, J.dim),
    (2 * K.dim, 4 * J.dim + 2), (N.dim - 1, J.dim), (Span(4, N.dim, -1), 4),
]


@pytest.mark.parametrize(("p", "q"), APART)
def test_places_that_are_told_apart(p: Dim | Span, q: Dim | Span) -> None:
    assert are_apart((p,), (q,), RANGES) and are_apart((q,), (p,), RANGES)
    assert are_apart((K.dim, p), (K.dim, q), RANGES)


@pytest.mark.parametrize(("p", "q"), MAY_MEET)
def test_places_that_may_meet(p: Dim | Span, q: Dim | Span) -> None:
    assert not are_apart((p,), (q,), RANGES) and not are_apart((q,), (p,), RANGES)
