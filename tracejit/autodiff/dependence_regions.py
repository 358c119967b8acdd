"""Branches and loops, as far as inputs that elements depend on go.

A branch that data decides goes both ways. Iterations of a loop run one by one, while sizes and
integers say how many there may be, or until they change nothing; else any number of them is taken
together, the index unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.dependences import NOTHING, Dependences, Reach, UnknownNumber
from tracejit.autodiff.input_sets import ALL, EMPTY
from tracejit.ir.control import IfEqn, LoopEqn, MapEqn, region_kind
from tracejit.ir.core import Block, Eqn, Value
from tracejit.ir.walk import free_values

__all__ = ["run_region"]

_TOGETHER = "its iterations are taken together, as data decides how many there are"
_TOO_MANY = "its iterations are taken together, as there are too many to go through"
_PATIENCE = 200
"""How many iterations may change sets before all elements of a value get one; and how many may
change none, each perhaps the last, before they are taken together."""


def run_region(run: Dependences, eqn: Eqn, ins: list[Reach],
               params: dict[str, Any] | None) -> list[Reach]:
    """Return the facts about the results of an equation of control flow."""
    kind = region_kind(eqn)
    if kind == "if":
        return _branches(run, eqn, ins)
    if kind == "map":
        return _mapped(run, eqn)
    return _loop(run, eqn, ins)


def _branches(run: Dependences, eqn: Eqn, ins: list[Reach]) -> list[Reach]:
    (condition,) = ins
    if condition.known is not None:
        return run.run(IfEqn(eqn).branch(condition.known), [])
    left, right = (_branch(run, eqn, truth) for truth in (True, False))
    return _all_joined(run, left, right)


def _branch(run: Dependences, eqn: Eqn, truth: bool) -> list[Reach]:
    """Run a branch, in which the condition is known."""
    decides = IfEqn(eqn)
    condition = decides.condition
    if isinstance(condition, Value):
        before, run.env[condition] = run.env[condition], Reach(np.bool_(truth))
    found = run.run(decides.branch(truth), [])
    if isinstance(condition, Value):
        run.env[condition] = before
    return found


def _joined(run: Dependences, a: Reach, b: Reach) -> Reach:
    """Return the facts about a value that is one of two."""
    if a is b:
        return a
    both = a.known is not None and b.known is not None and np.array_equal(a.known, b.known)
    known = a.known if both else None
    xs, ys = a.sets, b.sets
    if isinstance(xs, (int, np.ndarray)) and isinstance(ys, (int, np.ndarray)) and (
            isinstance(xs, int) or isinstance(ys, int) or xs.shape == ys.shape):
        return Reach(known, run.sets.union(xs, ys))
    if hasattr(xs, "elements") and hasattr(ys, "elements") and len(xs) == len(ys):
        pair = (np.array(x.elements[:len(x)], np.int64) for x in (xs, ys))
        return Reach(None, type(xs)(np.asarray(run.sets.union(*pair))))
    return Reach(known, run.all_of([a, b]))


def _is_same(a: Reach, b: Reach) -> bool:
    """Return whether an iteration has left as much as it found."""
    if (a.known is None) != (b.known is None):
        return False
    if a.known is not None and not np.array_equal(a.known, b.known):
        return False
    return _has_same_sets(a, b)


def _has_same_sets(a: Reach, b: Reach) -> bool:
    xs, ys = a.sets, b.sets
    if hasattr(xs, "elements") or hasattr(ys, "elements"):
        return xs is ys or (type(xs) is type(ys) and len(xs) == len(ys) and
                            xs.elements[:len(xs)] == ys.elements[:len(ys)])
    return bool(np.array_equal(xs, ys))


def _loop(run: Dependences, eqn: Eqn, ins: list[Reach]) -> list[Reach]:
    loop = LoopEqn(eqn)
    reads_index = loop.index in free_values(Block((), loop.body.eqns, loop.body.outputs))
    if loop.test is not None:
        return _while(run, loop, ins)
    try:
        lo, hi = run.dim(loop.lo), run.dim(loop.hi)
    except UnknownNumber:
        run.note(eqn, _TOGETHER)
        return _until_same(run, loop, ins)
    numbers = range(hi - 1, lo - 1, -1) if loop.is_reversed else range(lo, hi)
    for i in numbers:
        before = ins
        if run.budget < 0:
            run.note(eqn, _TOO_MANY)
            return _until_same(run, loop, ins)
        ins = run.run(loop.body, [Reach(np.int64(i)), *before])
        if not reads_index and all(map(_is_same, before, ins)):
            break
    return ins


def _while(run: Dependences, loop: LoopEqn, ins: list[Reach]) -> list[Reach]:
    """Run iterations one by one; `left` has the values of those that may be the last."""
    assert loop.test is not None
    reads_index = any(region.inputs[0] in free_values(Block((), region.eqns, region.outputs))
                      for region in (loop.test, loop.body))
    left: list[Reach] | None = None
    trips = idle = 0
    while run.budget >= 0 and idle < _PATIENCE:
        (goes_on,) = run.run(loop.test, [Reach(np.int64(trips)), *ins])
        if goes_on.known is None or not goes_on.known:
            more = ins if left is None else _all_joined(run, left, ins)
            if goes_on.known is not None:
                return [Reach(np.int64(trips)) if left is None else NOTHING, *more]
            is_new = left is None or not all(map(_has_same_sets, left, more))
            left, idle = more, 0 if is_new else idle + 1
        before, ins = ins, run.run(loop.body, [Reach(np.int64(trips)), *ins])
        if left is not None and not reads_index and all(map(_is_same, before, ins)):
            return [NOTHING, *_all_joined(run, left, ins)]
        trips += 1
    run.note(loop.eqn, _TOGETHER if run.budget >= 0 else _TOO_MANY)
    return [NOTHING, *_until_same(run, loop, ins if left is None else _all_joined(run, left, ins))]


def _all_joined(run: Dependences, xs: list[Reach], ys: list[Reach]) -> list[Reach]:
    return [_joined(run, a, b) for a, b in zip(xs, ys, strict=True)]


def _until_same(run: Dependences, loop: LoopEqn, ins: list[Reach]) -> list[Reach]:
    """Run a loop's body on all that its iterations may find, until they find nothing new."""
    budget, run.budget = run.budget, max(run.budget, 1)
    for turn in range(3 * _PATIENCE):
        left = run.run(loop.body, [NOTHING, *ins])
        found = _all_joined(run, ins, left)
        if all(map(_is_same, ins, found)):
            run.budget = budget
            return found
        ins = found if turn < _PATIENCE else [
            b if _is_same(a, b) else Reach(None, run.flat_union(b))
            for a, b in zip(ins, found, strict=True)]
    run.budget = budget
    return [Reach(None, ALL)] * len(ins)


def _mapped(run: Dependences, eqn: Eqn) -> list[Reach]:
    view = MapEqn(eqn)
    try:
        size = run.dim(view.size)
    except UnknownNumber:
        size = -1
    if size < 0 or run.budget - size * len(view.body.eqns) < 0:
        run.note(eqn, _TOGETHER if size < 0 else _TOO_MANY)
        return [Reach(None, run.flat_union(r)) for r in run.run(view.body, [NOTHING])]
    rows = [run.run(view.body, [Reach(np.int64(i))]) for i in range(size)]
    return [_stacked(run, [row[k] for row in rows], a) for k, a in enumerate(view.body.outputs)]


def _stacked(run: Dependences, rows: Sequence[Reach], a: Any) -> Reach:
    """Return the facts about values side by side along a new axis."""
    shape = run.shape(a.aval) if isinstance(a, Value) else ()
    if shape is None:
        return Reach(None, run.all_of(rows))
    if rows and all(r.known is not None for r in rows):
        return Reach(np.stack([np.asarray(r.known) for r in rows]))
    sets = np.array([np.broadcast_to(np.asarray(r.sets, np.int64), shape) for r in rows], np.int64)
    return Reach(None, sets if rows else EMPTY)
