"""The order in which an Einstein sum of many operands multiplies them, two at a time.

    ijk,kl,jl->i     kl,jl->jk, then ijk,jk->i: n³ products twice, in place of n⁴ and n³

The order is the cheapest of all, by the products of numbers and the numbers of results that are
kept in memory in between. A program is for every size, so that a size which is only known at a
call counts as one assumed number; of orders that cost the same the one from the left is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

__all__ = ["ASSUMED", "Order", "ProductOfTwo", "cheapest_order", "path_of", "result_labels"]


@dataclass(frozen=True, slots=True)
class ProductOfTwo:
    """The product of two operands, or products."""

    left: Order
    right: Order


Order = int | ProductOfTwo
"""An operand by its place, or a product of two."""

ASSUMED = 64
"""What a size counts as that is not known before a call."""

RESULT = 8
"""What a number costs that is written to memory and read again, in products of numbers."""

MOST = 8
"""Operands of whose orders all are compared; more are multiplied from the left."""


def kept_labels(labels: str, needed: str) -> str:
    """Return the labels that are still needed behind a product, each once, in order."""
    return "".join(dict.fromkeys(c for c in labels if c in needed))


def result_labels(left: str, right: str, needed: str, reader: str) -> str:
    """Return the labels of a product of two operands, in the order in which its reader has them.

    The last axis is never one that both operands have: it is the batch of products of matrices.
    """
    kept = kept_labels(left + right, needed)
    wanted = iter(kept_labels(reader, kept))
    found = "".join(next(wanted) if c in reader else c for c in kept)
    return kept if found and found[-1] in left and found[-1] in right else found


def cheapest_order(operands: Sequence[str], output: str,
                   sizes: Mapping[str, int | None]) -> Order:
    """Return the cheapest order of products of operands with some labels.

    sizes -- the size of each label, None where it is known at a call only
    """
    everything = (1 << len(operands)) - 1
    best: dict[int, tuple[int, Order]] = {}
    if len(operands) > MOST:
        found: Order = 0
        for k in range(1, len(operands)):
            found = ProductOfTwo(found, k)
        return found

    def kept(group: int) -> frozenset[str]:
        own, others = ("".join(x for k, x in enumerate(operands) if (group >> k & 1) == side)
                       for side in (1, 0))
        return frozenset(kept_labels(own, others + output))

    def size(labels: frozenset[str]) -> int:
        return prod(sizes[c] or ASSUMED for c in labels)

    for group in range(1, everything + 1):
        if group & (group - 1) == 0:
            best[group] = 0, group.bit_length() - 1
            continue
        own = RESULT * size(kept(group))
        best[group] = min(
            ((best[a][0] + best[b][0] + size(kept(a) | kept(b)) + own,
              ProductOfTwo(best[a][1], best[b][1])) for a, b in _parts(group)),
            key=lambda found: found[0])
    return best[everything][1]


def _parts(group: int) -> Iterator[tuple[int, int]]:
    """Yield the ways to part a group in two, the last operand against all others before the rest.

    The part that has the first operand comes first in each.
    """
    first = group & -group
    rest = group ^ first
    taken = 1 << (rest.bit_length() - 1)
    others = [taken]
    part = rest
    while part:
        if part != taken:
            others.append(part)
        part = (part - 1) & rest
    for b in others:
        yield group ^ b, b


def path_of(optimize: object) -> list[tuple[int, ...]] | None:
    """Return the order that an argument `optimize` of NumPy spells out, or None if it does not."""
    if not isinstance(optimize, (list, tuple)) or not optimize or optimize[0] != "einsum_path":
        return None
    return [tuple(step) for step in optimize[1:]]
