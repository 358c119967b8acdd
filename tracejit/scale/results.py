"""Calls and results of a step at the client: arguments as workers see them, what results are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.artifacts.snapshots import read_snapshot
from tracejit.scale.holders import StepRequest
from tracejit.scale.programs import Shipped
from tracejit.trace.values.specs import spec_of_leaf
from tracejit.tree import Structure, flatten, unflatten

__all__ = ["are_finite", "of_no_rows", "plain_call", "structure_of"]


def plain_call(call: object) -> Any:
    """Return the arguments of a call with arrays as they would be in another process."""
    leaves, structure = flatten(call)
    return unflatten(structure, [
        np.asarray(x, spec_of_leaf(x).dtype, order="C") if isinstance(x, np.ndarray) else x
        for x in leaves])


def of_no_rows(program: Shipped, parts: Sequence[tuple[tuple[int, ...], np.dtype]],
               request: StepRequest) -> list[Any]:
    """Return the leaves of g's result for a chunk without rows; none where it is not for such."""
    call = request.of_chunk([np.zeros((0, *shape[1:]), dtype) for shape, dtype in parts])
    try:
        with warnings.catch_warnings(action="ignore"):
            result = read_snapshot(program.data, "a program").attempt(*call)
    except Exception:  # the user's, as for an extremum of nothing
        return []
    return [] if result is NotImplemented else flatten(result)[0]


def are_finite(leaves: Sequence[Any]) -> bool:
    """Return whether a result has neither infinities nor NaN."""
    return all(np.all(np.isfinite(x)) for x in leaves)


def structure_of(used: Sequence[Shipped]) -> Structure:
    """Return how results are put together, which programs for other sizes have to agree on."""
    found: list[Structure] = [x.compiled.interface.structure for x in used]
    if any(s != found[0] for s in found):
        raise TypeError("results of chunks are of different structures, and do not add up")
    return found[0]
