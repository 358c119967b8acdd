"""The effect of each kind of op on the inputs that elements depend on, by lowering descriptor.

| descriptor                          | the set of an element of the result                        |
|-------------------------------------|------------------------------------------------------------|
| Pointwise                           | union of the operands' elements at its place; if a mask is |
|                                     | known that selects, the one selected                       |
| Alias, View, Pieces, Gather, Inline | that of the element that the op's NumPy code puts there    |
| Write                               | the same; where it adds, the union of both                 |
| Reduce, Running, Contract           | union along axes, of all before it, along summed labels    |
| LogOp                               | the same as of arrays, while the Log's items are known     |
| Region                              | `dependence_regions.py`                                    |
| any other                           | union of all elements of all operands                      |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.dependence_regions import run_region
from tracejit.autodiff.dependences import Dependences, Reach, Rule
from tracejit.autodiff.input_sets import EMPTY
from tracejit.ir.core import Eqn, Value
from tracejit.ir.lowering import (
    Alias,
    Contract,
    Gather,
    Inline,
    LogOp,
    Pieces,
    Pointwise,
    Reduce,
    Region,
    Running,
    View,
    Write,
    axis_labels,
)
from tracejit.ir.optable import OPS

__all__ = ["RULES"]

Params = dict[str, Any] | None
_BY_DATA = "data decides an index or a size, so any element counts"


def _pointwise(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    found: Any = EMPTY
    if eqn.op.meaning == "select" and ins[0].known is not None:
        found = np.where(ins[0].known, ins[1].sets, ins[2].sets)
        found = found if found.ndim else int(found)
    else:
        for r in ins:
            found = run.sets.union(found, r.sets)
    if isinstance(found, int):
        return [Reach(None, found)]
    shape = run.shape(eqn.output.aval)
    if found.shape != shape:
        if shape is None:
            return run.everywhere(eqn, ins, _BY_DATA)
        found = np.broadcast_to(found, shape)
    return [Reach(None, found)]


def _spread(run: Dependences, r: Reach, a: Any) -> np.ndarray | None:
    """Return the sets of a value as an array of its shape; None where data decides the shape."""
    if isinstance(r.sets, np.ndarray):
        return r.sets
    shape = run.shape(a.aval)
    if shape is None:
        return None
    return np.broadcast_to(np.asarray(r.sets, np.int64), shape)


def _moved(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params,
           count: int) -> np.ndarray | None:
    """Let the op's NumPy code move the sets of its first operands; None where something is unknown.

    Code that would be wrong for an index out of bounds never runs with it: a check is before it.
    """
    parts = [_spread(run, r, a) for r, a in zip(ins[:count], eqn.inputs, strict=False)]
    places = [r.known for r in ins[count:]]
    shape = run.shape(eqn.outputs[0].aval)
    if params is None or shape is None or any(p is None for p in (*parts, *places)):
        return None
    try:
        found = np.asarray(eqn.op.reference(*parts, *places, **params))
    except (IndexError, ValueError):
        return None
    return found if found.shape == shape else None


def _moving(count: int | None) -> Rule:
    """Return the rule of ops that move elements of their first operands; None: of all."""
    def rule(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
        moved = _moved(run, eqn, ins, params, len(ins) if count is None else count)
        if moved is None:
            return run.everywhere(eqn, ins[:count], _BY_DATA)
        return [Reach(None, moved if moved.ndim else int(moved))]

    return rule


def _same(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    """An op that stands for its first operands."""
    return [Reach(None, r.sets) for r in ins[:len(eqn.outputs)]]


def _write(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    x, v = (_spread(run, r, a) for r, a in zip(ins[:2], eqn.inputs, strict=False))
    if x is None or v is None:
        return run.everywhere(eqn, ins[:2], _BY_DATA)
    lowering = eqn.op.lowering
    adds = isinstance(lowering, Write) and lowering.combine != "set"
    if adds and isinstance(lowering, Write) and lowering.gathered:
        moved = _added(run, eqn, x, v, [r.known for r in ins[2:]], params)
    else:
        base = Reach(None, np.zeros_like(x) if adds else x)
        moved = _moved(run, eqn, [base, *ins[1:]], params, 2)
        if adds and moved is not None:
            moved = np.asarray(run.sets.union(x, moved))
    if moved is None:  # anywhere
        run.note(eqn, _BY_DATA)
        moved = np.asarray(run.sets.union(x, run.sets.union_of(v)))
    return [Reach(None, moved if moved.ndim else int(moved))]


def _added(run: Dependences, eqn: Eqn, x: np.ndarray, v: np.ndarray, places: Sequence[Any],
           params: Params) -> np.ndarray | None:
    """Join sets to those at places in index arrays; None where these are unknown."""
    if params is None or any(p is None for p in places):
        return None
    numbers = np.arange(x.size).reshape(x.shape)
    try:
        at = OPS["gather"].reference(numbers, *places, **params)  # its transpose
    except IndexError:
        return None
    return run.sets.put(x, at, v)


def _reduce(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    x = _spread(run, ins[0], eqn.inputs[0])
    if x is None or params is None:
        return run.everywhere(eqn, ins, _BY_DATA)
    found = run.sets.folded(x, params["axes"])
    return [Reach(None, found)]


def _running(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    x = _spread(run, ins[0], eqn.inputs[0])
    if x is None or params is None:
        return run.everywhere(eqn, ins, _BY_DATA)
    return [Reach(None, run.sets.running(x, params["axis"],
                                         backwards=params.get("reverse", False)))]


def _contract(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    """A label that the result lacks is summed over: in each operand by itself, as any may count."""
    shape = run.shape(eqn.output.aval)
    parts = [_spread(run, r, a) for r, a in zip(ins, eqn.inputs, strict=True)]
    if shape is None or params is None or any(p is None for p in parts):
        return run.everywhere(eqn, ins, _BY_DATA)
    left, right, output = axis_labels(params["spec"])
    found: Any = EMPTY
    for labels, part in zip((left, right), parts, strict=True):
        assert part is not None
        kept = [label for label in labels if label in output]
        folded = run.sets.folded(part, [k for k, c in enumerate(labels) if c not in output])
        order = [kept.index(label) for label in output if label in kept]
        lies = np.transpose(np.asarray(folded), order)
        sizes = [n if c in kept else 1 for c, n in zip(output, shape, strict=True)]
        found = run.sets.union(found, lies.reshape(sizes))
    found = np.broadcast_to(np.asarray(found), shape)
    return [Reach(None, found if shape else int(found))]


def _log(run: Dependences, eqn: Eqn, ins: list[Reach], params: Params) -> list[Reach]:
    """A Log of sets, by the code for Logs of numbers, while all that comes into it is known."""
    lowering = eqn.op.lowering
    action = lowering.action if isinstance(lowering, LogOp) else ""
    if action == "new":
        return [Reach(None, eqn.op.reference(dtype=np.int64))]
    parts = [r.sets if isinstance(a, Value) and a.is_log else _spread(run, r, a)
             for r, a in zip(ins, eqn.inputs, strict=True)]
    if params is None or action == "add" or any(p is None or isinstance(p, int) for p in parts):
        return run.everywhere(eqn, ins, _BY_DATA)
    try:
        found = eqn.op.reference(*parts, **params)
    except Exception:  # of a place that is not in it
        return run.everywhere(eqn, ins, _BY_DATA)
    results = found if isinstance(found, tuple) else (found,)
    return [Reach(None, x if v.is_log or np.ndim(x) else int(x))
            for x, v in zip(results, eqn.outputs, strict=True)]


RULES: dict[type, Rule] = {
    Pointwise: _pointwise, Alias: _moving(1), View: _moving(1), Gather: _moving(1),
    Pieces: _moving(None), Inline: _same, Write: _write, Reduce: _reduce, Running: _running,
    Contract: _contract, LogOp: _log, Region: run_region,
}
