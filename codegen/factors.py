"""The factors of products as BLAS reads them: arrays in memory, or parts of them where they lie.

A factor is a matrix whose rows are equally far apart, and whose elements lie next to one another in
each. Slices, transposes and added axes of an array with storage are such matrices, as long as the
elements along one group of axes stay neighbours: nobody has to copy them.

    y = A[i:, :k].T @ B     A's elements from i * n on; its rows are n apart, k of each are read
    y = A[:, ::2] @ B       is no such matrix: its elements have others in between
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tracejit.codegen.buffers import loop_vars
from tracejit.codegen.elements import Elements, Idx, is_array
from tracejit.codegen.products import as_product, sizes_of
from tracejit.ir.core import Atom, Eqn, Value
from tracejit.ir.dims import Dim, Expr, dim_values, product
from tracejit.ir.lowering import axis_labels

__all__ = ["Factor", "factors_of"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A matrix in memory, or one for each place along the axes of a batch.

    array -- the array with storage that has its elements
    kind  -- "N", or "T" where the elements along the first of its axes lie next to one another
    apart -- how many elements its rows in memory are apart
    start -- the place of its first element
    steps -- how many elements the places along each axis of the batch are apart, by label
    whole -- whether its rows follow one another from the array's first element on
    """

    array: Value
    kind: str
    apart: Dim
    start: Dim
    steps: Mapping[str, Dim]
    whole: bool


def factors_of(eqn: Eqn, elements: Elements) -> tuple[Factor | None, Factor | None]:
    """Return the operands of a product of matrices as its factors, in the equation's order.

    None is one that has to be copied first, or computed.
    """
    spec = eqn.params["spec"]
    found = as_product(spec)
    assert found is not None
    sizes = sizes_of(spec, *(x.aval.shape for x in eqn.inputs))
    left, right, _ = axis_labels(spec)
    groups = (found.rows, found.summed), (found.summed, found.columns)
    a, b = (_factor(x, labels, of, sizes, elements) for x, labels, of in zip(
        eqn.inputs, (left, right), groups[::-1] if found.swapped else groups, strict=True))
    return a, b


def _factor(a: Atom, labels: str, groups: tuple[str, str], sizes: Mapping[str, Dim],
            elements: Elements) -> Factor | None:
    """Return an operand as a matrix whose rows and columns are two groups of its axes."""
    part = _part_of(a, elements)
    if part is None:
        return None
    places = dict(zip(labels, part.places, strict=True))
    rows, columns = ([places[c] for c in group if sizes[c] != 1] for group in groups)
    steps = {c: places[c].step for c in labels if c not in "".join(groups)}
    kinds = [("N", rows, columns, groups[1]), ("T", columns, rows, groups[0])]
    for kind, far, near, across in sorted(kinds, key=lambda k: labels[-1] not in k[-1]):
        if _follow(far) and _follow(near) and _are_rows(far, near):
            length = product(tuple(sizes[c] for c in across))
            apart = far[-1].step if far else length
            whole = part.start == 0 and (part.array is a or apart == length)
            return Factor(part.array, kind, apart, part.start, steps, whole)
    return None


@dataclass(frozen=True, slots=True)
class _Along:
    """An axis of a part of an array: how an index along it moves in the array.

    size -- how many indices there are
    axis -- the axis of the array along which they move; -1: along none
    step -- how many elements one is from the next
    """

    size: Dim
    axis: int
    step: Dim


def _follow(places: Sequence[_Along]) -> bool:
    """Whether the indices along some axes are those along one axis."""
    return all(p.step == q.size * q.step for p, q in pairwise(places))


def _are_rows(far: Sequence[_Along], near: Sequence[_Along]) -> bool:
    """Whether neighbours along some axes are neighbours in memory, in rows that do not overlap."""
    return not near or (near[-1].step == 1 and near[-1].axis >= 0
                        and all(-1 < p.axis < near[0].axis for p in far))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an array with storage: where it begins, and its axes."""

    array: Value
    start: Dim
    places: Sequence[_Along]


def _part_of(a: Atom, elements: Elements) -> _Part | None:
    """Return an operand as a part of an array, if its elements are elements of one."""
    if not is_array(a) or elements.computes(a):
        return None
    moving = dict(zip(loop_vars(a.aval.shape), a.aval.shape, strict=True))
    index: Idx = tuple(v.dim for v in moving)
    while a not in elements.stored:
        reads = elements.known_reads(a, index)
        if len(reads) != 1 or not is_array(reads[0].operand):
            return None  # one number everywhere
        a, index = reads[0].operand, reads[0].index
    places = {v: _Along(size, -1, 0) for v, size in moving.items()}
    start: Dim = 0
    for axis, i in enumerate(index):
        apart = product(a.aval.shape[axis + 1:])
        for v in set(dim_values(i)) & {*moving}:
            factor = i.factor_of(v) if isinstance(i, Expr) else None
            if factor is None or factor < 0 or places[v].axis >= 0:
                return None  # no straight line, backwards, or along a diagonal
            places[v] = _Along(moving[v], axis, factor * apart)
            i -= factor * v.dim
        start += i * apart
    return _Part(a, start, tuple(places.values()))
