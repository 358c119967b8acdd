"""The way back of a loop that keeps snapshots of its state in place of every iteration's.

`go_back` is ordinary Python, captured like a user's function. Which iterations it takes snapshots
of is the binomial schedule: with s snapshots and each iteration computed again at most t times,
C(s + t, s) iterations can be gone back over.

Source: A. Griewank, Achieving logarithmic growth of temporal and spatial complexity in reverse
automatic differentiation, Optimization Methods and Software 1 (1992) 35-54.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.control import LoopEqn, carried_in
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import Dim, product
from tracejit.ir.walk import without_prints
from tracejit.ops.calls import inline_region
from tracejit.ops.cotangents import Cotangent
from tracejit.ops.modes import ReverseMode
from tracejit.trace.ground.context import current
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, emit
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import tracer_of

__all__ = ["replay_loop"]


def go_back(trips: int, snapshots: int, state: list[Any], cts: list[Any], saved: list[Any],
            advance: Callable[..., Any], pull_back: Callable[..., Any]) -> Any:
    """Return cotangents carried back over all iterations.

    state     -- the values that the first iteration begins with
    cts       -- cotangents of the last one's results, and accumulators
    saved     -- one buffer per item of the state, with room for the snapshots
    advance   -- (k, state) -> the state that iteration k + 1 begins with
    pull_back -- (k, state, cts) -> cotangents before iteration k, which begins with state
    """
    taken = np.zeros(snapshots, dtype=np.int64)
    for buffer, x in zip(saved, state, strict=True):
        buffer[0] = x
    top = 0
    left = trips
    while left > 0:
        first = taken[top]
        state = [buffer[top].copy() for buffer in saved]
        k = next_snapshot(first, left, snapshots - 1 - top)
        for i in range(first, k):
            state = advance(i, state)
        if k < left - 1:
            top += 1
            taken[top] = k
            for buffer, x in zip(saved, state, strict=True):
                buffer[top] = x
        else:
            cts = pull_back(k, state, cts)
            left = left - 1
            if first == left:
                top -= 1
    return cts


def next_snapshot(first: int, left: int, free: int) -> Any:
    """Return the iteration to go to from a snapshot: the last one, or where to take another.

    first -- the iteration that the snapshot is of
    left  -- how many iterations are still to be gone back over
    free  -- how many more snapshots there is room for
    """
    ahead = left - first
    k = left - 1
    if ahead > 1 and free > 0:
        count = free + 1
        repeats = 0
        reached = 1  # C(count + repeats, count): how far that many snapshots and repeats reach
        while reached < ahead:
            repeats += 1
            reached = reached * (count + repeats) // repeats
        before = reached * repeats // (count + repeats)  # with one repeat less
        after = before * count // (count + repeats - 1)  # with one snapshot less, too
        k = first + min(before, ahead - after)
    return k


def _way_back(sweep: ReverseMode, body: Block,
              cts: Sequence[Cotangent]) -> tuple[Block, list[Value], list[int]]:
    """Return the way back of one iteration, the outer values of its cotangents, and which carried
    values have a cotangent: in the end, or through another's an iteration later.
    """
    carried = carried_in(body)
    wanted = [k for k, v in enumerate(carried) if sweep.wants(v)]
    kept = [k for k in wanted if cts[k] is not None]
    while True:
        given = [k in kept for k in range(len(carried))]
        back, free, reached = sweep.pullback_of(body, [carried[k] for k in wanted],
                                                sweep.active_free(body), given)
        more = [k for k, r in zip(wanted, reached, strict=True) if r or k in kept]
        if more == kept == wanted:
            return back, free, kept
        if more == kept:
            wanted = kept
        kept = more


def replay_loop(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent], trips: Dim) -> list[Any]:
    """Return the cotangents of a loop's starts; the sweep's rule for loops with snapshots."""
    loop = LoopEqn(eqn)
    body = without_prints(loop.body)
    carried = carried_in(body)
    back, free, kept = _way_back(sweep, body, cts)
    first = [sweep.operand(a) for a in loop.starts]
    starts = [sweep.dense(cts[k], carried[k].aval) for k in kept]
    starts += [sweep.take_dense(v) for v in free]
    count = eqn.params["snapshots"]
    size = sum((product(v.aval.shape) * v.aval.dtype.itemsize for v in carried), start=0)
    current().note(f"{count} snapshots of what the loop carries are kept, {count * size} bytes; "
                   "its iterations are computed again from them", "TJ712", eqn.site)
    saved = [apply("empty", shape=(count, *v.aval.shape), dtype=v.aval.dtype) for v in carried]

    def index(k: object) -> Any:
        number = of_dim(loop.hi - 1) - k if loop.is_reversed else of_dim(loop.lo) + k
        return atom_of(number, np.dtype(np.int64))

    def advance(k: object, state: Sequence[object]) -> Any:
        results = inline_region(body, [index(k), *_atoms(state, carried)])
        return [tracer_of(_value(a)) for a in results]

    def pull_back(k: object, state: Sequence[object], cts: Sequence[object]) -> Any:
        types = [carried[j] for j in kept] + free
        results = inline_region(back, [index(k), *_atoms(state, carried), *_atoms(cts, types)])
        return [tracer_of(_value(a)) for a in results]

    results = call_function(go_back, (of_dim(trips), count, first, starts, saved, advance,
                                      pull_back), {})
    sweep.cts.update(zip(free, results[len(kept):], strict=True))
    by_place = dict(zip(kept, results, strict=False))
    return [by_place.get(k) for k in range(len(carried))]


def _atoms(items: Sequence[object], like: Sequence[Value]) -> list[Any]:
    return [atom_of(x, v.aval.dtype) for x, v in zip(items, like, strict=True)]


def _value(a: Atom) -> Value:
    if isinstance(a, Value):
        return a
    (v,) = emit("full", [a], {"shape": ()})
    return v
