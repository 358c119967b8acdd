"""Arrays that no argument comes into: their elements are looked at during capture, under a guard.

`np.where(LABELS == 2)[0]` has a size that depends on the elements of a global. The ops' references
compute values that rest on captured arrays, sizes and numbers alone; a later call compares the
captured arrays, and sizes that come into such a value are fixed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tracejit.ir.core import Atom, Eqn, Literal, Value
from tracejit.ir.dims import dim_values, evaluate
from tracejit.ir.interpreter import Env, run_eqn
from tracejit.ir.walk import eqn_uses
from tracejit.trace.ground.context import current
from tracejit.trace.state.guards import Guarded, HeldElements
from tracejit.trace.state.paths import Leaf
from tracejit.trace.values.equations import atom_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["constant_copy", "fix_ints", "known_array", "rests_on_data"]


def known_array(x: Any, why: str, *, fixing: bool = True) -> np.ndarray | None:
    """Return the contents of an array at every call that this capture is for; None if data decides.

    why    -- the reason that `.why()` tells where a size is fixed for it
    fixing -- whether sizes may be fixed for it
    """
    if not isinstance(x, TracedOperand):
        return np.asarray(x)
    atom = atom_of(x)
    search = _Search()
    if not search.is_known(atom) or not (fixing or search.has_sizes_of_its_own()):
        return None
    env = search.numbers(why)
    for eqn in search.order:
        with np.errstate(all="ignore"):
            env.update(zip(eqn.outputs, run_eqn(eqn, env), strict=True))
    captured = current().captured
    for leaf in search.leaves:
        captured.guards.append(Guarded(leaf.path, HeldElements.of(leaf.content)))
    return np.asarray(atom.val if isinstance(atom, Literal) else env[atom])


def fix_ints(x: Tracer) -> None:
    """Begin the capture again with int arguments fixed, where only ints come into a value."""
    search = _Search()
    if search.is_known(atom_of(x)) and not search.leaves:
        for v in search.ints:
            if v in current().actual and not v.is_size:
                need_int(v.dim, "a branch, which cannot be captured as one on data,")


def rests_on_data(x: Tracer) -> bool:
    """Return whether a value rests on more than sizes, int arguments and counted loops' indices."""
    search = _Search()
    if not search.is_known(atom_of(x)):
        return True
    trace = current()
    known = {f.index for f in trace.frames if f.kind == "loop" and not f.by_data}
    return any(not v.is_size and v not in trace.actual and v not in known for v in search.ints)


def constant_copy(x: np.ndarray) -> Tracer:
    """Return an array that was computed during capture, as one that may be written to."""
    copy = tracer_of(current().captured.constant(np.array(x)).value)
    copy.cell.is_array = True
    return copy


class _Search:
    """The equations that a value rests on, in order, with the captured arrays and sizes."""

    def __init__(self) -> None:
        trace = current()
        self.inputs = trace.captured.known_inputs() if trace.captured is not None else {}
        self.makers = {v: e for scope in trace.builder.scopes for e in scope.eqns
                       for v in e.outputs}
        self.order: list[Eqn] = []
        self.leaves: list[Leaf] = []
        self.ints: list[Value] = []
        """The sizes, int arguments and loop indices that are read."""
        self.seen: set[Value] = set()

    def is_known(self, atom: Atom) -> bool:
        """Return whether only captured arrays and ints come into a value."""
        if isinstance(atom, Literal) or atom in self.seen:
            return True
        self.seen.add(atom)
        trace = current()
        if atom in self.inputs:
            self.leaves.append(self.inputs[atom])
            return True
        if atom.is_size or atom in trace.actual or atom in trace.carried:
            self.ints.append(atom)
            return True
        eqn = self.makers.get(atom)
        if eqn is None or atom.is_log or eqn.op.kind == "opaque" or not self._are_known(
                eqn_uses(eqn)):  # one by one: regions are not gone through where data is an operand
            return False
        self.order.append(eqn)
        self.seen.update(eqn.outputs)
        return True

    def _are_known(self, values: Iterable[Value]) -> bool:
        return all(self.is_known(v) for v in values)

    def has_sizes_of_its_own(self) -> bool:
        """Return whether the captured arrays' shapes give all ints that are read."""
        own = {v for leaf in self.leaves for d in leaf.value.aval.shape for v in dim_values(d)
               if v.dim == d}
        return all(w in own for v in self.ints for w in dim_values(current().canonical(v.dim)))

    def numbers(self, why: str) -> Env:
        """Return the contents of captured arrays and ints; fix ints that no array's shape gives."""
        env: Env = {leaf.value: leaf.content for leaf in self.leaves}
        sizes: dict[Value, int] = {}
        for leaf in self.leaves:
            for d, n in zip(leaf.value.aval.shape, np.shape(leaf.content), strict=True):
                sizes.update((v, n) for v in dim_values(d) if v.dim == d)
        for v in self.ints:
            d = current().canonical(v.dim)
            own = all(w in sizes for w in dim_values(d))
            env[v] = evaluate(d, sizes.__getitem__) if own else need_int(d, why)
        return env
