"""Calls and results of a step at the client: arguments as workers see them, what results are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.artifacts.snapshots import read_snapshot
from tracejit.scale.holders import StepRequest
from tracejit.scale.programs import Shipped
from tracejit.trace.ground.active import is_tracing
from tracejit.trace.values.eager import Recorded
from tracejit.trace.values.specs import spec_of_leaf
from tracejit.tree import Structure, flatten, unflatten

__all__ = ["are_finite", "of_no_rows", "plain_call", "require_outside",
           "require_sum_of_halves", "structure_of"]


def require_outside(what: str) -> None:
    """Refuse a call within a capture: what workers do is no part of a program."""
    if is_tracing():
        from tracejit.trace.ground.context import refuse

        raise refuse(f"{what} within a function that is captured", "Call it outside: chunks have "
                     "their gradients, and these add up, with g = value_and_grad(f)", "TJ513")


def plain_call(call: object) -> Any:
    """Return the arguments of a call with arrays as they would be in another process."""
    leaves, structure = flatten(call)
    if any(isinstance(x, Recorded) for x in leaves):
        raise TypeError("a variable or tape value is among the parameters, and tapes record "
                        "nothing of workers. Pass its value, x.numpy()")
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


def require_sum_of_halves(name: str, whole: Any, first: Any, second: Any,
                          largest: float) -> None:
    """Raise `ValueError` where results of the halves of a chunk do not add up to that of all of it.

    Nothing is said of results that are rounding errors, which are no sums of anything.
    """
    if np.shape(whole) != np.shape(first) or not are_finite([whole, first, second, largest]):
        return
    scale = np.max(np.abs(whole)) + np.max(np.abs(first)) + np.max(np.abs(second))
    precise = np.asarray(whole).dtype.itemsize >= 8
    error = np.max(np.abs(whole - (first + second)))
    if scale > 1e-10 * max(1.0, largest ** 2) and error > (1e-5 if precise else 1e-2) * scale:
        raise ValueError(
            f"{name} of a chunk is {whole}, and of its halves {first} and {second}: it is no sum "
            "over rows. Pass a list of chunks where each chunk is something whole")


def structure_of(used: Sequence[Shipped]) -> Structure:
    """Return how results are put together, which programs for other sizes have to agree on."""
    found: list[Structure] = [x.compiled.interface.structure for x in used]
    if any(s != found[0] for s in found):
        raise TypeError("results of chunks are of different structures, and do not add up")
    return found[0]
