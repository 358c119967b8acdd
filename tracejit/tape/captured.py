"""A tape within a capture: it follows equations, and its gradients are appended to them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.activity import find_active
from tracejit.autodiff.inplace import append_gradients
from tracejit.ir.core import Eqn, Value
from tracejit.ir.types import is_differentiable
from tracejit.ops.cotangents import Cotangent, zeros
from tracejit.tape.given import match
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.values.eager import Recorded
from tracejit.trace.values.equations import cast
from tracejit.trace.values.identities import rename, require_names
from tracejit.trace.values.states import StateTracer
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.nested import conforming, tracer_of_atom
from tracejit.tree import flatten, unflatten

__all__ = ["CapturedTape", "in_capture"]


class CapturedTape:
    """The part of the capture that a tape has recorded, and the values that it watches."""

    def __init__(self, watch_accessed: bool) -> None:
        require_names()
        current().tapes.append(self)
        self.watch_accessed = watch_accessed
        self.watched: dict[Value, None] = {}
        self.recorded: set[Value] = set()
        self.before: set[Value] = set()
        self.states: dict[int, tuple[StateTracer, dict[Value, None]]] = {}
        self.assigned: set[int] = set()
        """The cells of variables that were given what is followed, by their ids."""

    # --- recording ------------------------------------------------------------------------------

    def start(self) -> None:
        """Record from here on."""
        trace = current()
        self.before |= {v for eqn in _equations() for v in eqn.outputs}
        _share_no_more()
        trace.watchers.append(self)

    def mark(self) -> None:
        """Note the calls recorded so far, if the tape is recording."""
        if self not in current().watchers:
            return
        self.recorded.update(v for eqn in _equations() for v in eqn.outputs
                             if v not in self.before)

    def stop(self) -> None:
        """Do not record the equations from here on."""
        self.mark()
        current().watchers.remove(self)
        _share_no_more()

    def watch(self, x: Tracer) -> None:
        """Follow the values that are computed from a traced value."""
        if isinstance(x, StateTracer):
            self._follow(x, x.cell.value)
        else:
            self._watch(x, x.value)

    def note_state(self, state: StateTracer, value: Value) -> None:
        """Follow a variable that is read."""
        if id(state.cell) in self.assigned:
            raise refuse(f"reading the variable {state.name!r}, which was given a value that a "
                         "tape follows while it records: outside, gradients end where a variable "
                         "is assigned to", "Give that value a name and compute with it, or assign "
                         "it after the tape's block", "TJ507")
        if (self.watch_accessed and state.trainable) or id(state.cell) in self.states:
            self._follow(state, value)

    def note_assigned(self, state: StateTracer, value: Value) -> None:
        """Note whether a variable is given a value that is followed."""
        self.mark()
        self.assigned.discard(id(state.cell))
        if value in self._active()[0]:
            self.assigned.add(id(state.cell))

    def _follow(self, state: StateTracer, value: Value) -> None:
        if is_differentiable(value.aval.dtype):
            self._watch(state, value)
            self.states.setdefault(id(state.cell), (state, {}))[1][value] = None

    def _watch(self, x: Tracer, value: Value) -> None:
        """Follow the computations from a value from here on; earlier ones are not followed."""
        self.mark()
        if value in self._active()[0]:
            return
        following = [tape for tape in current().tapes if value in tape._active()[0]]
        if rename(x):
            value = x.value
            for tape in following:
                tape.recorded.add(value)
        else:
            unseen = {v for eqn in _equations() for v in eqn.outputs} - self._active()[0]
            self.before |= unseen
            self.recorded -= unseen
        self.watched[value] = None
        _share_no_more()

    def _active(self) -> tuple[set[Value], frozenset[Value]]:
        """Return the values that are followed, and the values at which following ends."""
        eqns = _equations()
        stopped = frozenset(v for eqn in eqns for v in eqn.outputs
                            if v not in self.recorded and v not in self.watched)
        active = set(self.watched)
        find_active(eqns, active, stopped)
        return active, stopped

    def values_of(self, x: Tracer) -> list[Value]:
        """Return the values of a source while the tape recorded."""
        if isinstance(x, StateTracer):
            return list(self.states.get(id(x.cell), (x, {x.cell.value: None}))[1])
        found, active = [x.value], self._active()[0]
        while (v := current().renamed.get(found[-1])) is not None:
            found.append(v)
        return [v for v in found if v in active][-1:]

    # --- gradients ------------------------------------------------------------------------------

    def gradient_of(self, target: object, sources: object, given: object, fill: bool) -> Any:
        """Return the gradient of the sum of all targets by each source, as tracers."""
        ys = [in_capture(y) for y in flatten(target)[0]]
        found, structure = flatten(sources)
        xs = [in_capture(x) for x in found]
        cts: list[Any] = []
        if given is None:
            cts = [None] * len(ys)
        else:
            match(target, given, cts)
        pairs = [(y.value, None if ct is None else conforming("cotangent", ct, y))
                 for y, ct in zip(ys, cts, strict=True) if is_differentiable(y.dtype)]
        groups = self.gradient([y for y, _ in pairs], [ct for _, ct in pairs], xs)
        return unflatten(structure, iter([_summed(group, x, fill)
                                          for group, x in zip(groups, xs, strict=True)]))

    def gradient(self, ys: Sequence[Value], cts: Sequence[Cotangent],
                 sources: Sequence[Tracer]) -> list[list[Any]]:
        """Append the cotangents of the sources, and return a list of them for each source."""
        self.mark()
        active, stopped = self._active()
        groups = [[v for v in self.values_of(x) if v in active] for x in sources]
        xs = list(dict.fromkeys(v for group in groups for v in group))
        found = dict(zip(xs, append_gradients(ys, cts, xs, group="gradient", stopped=stopped),
                         strict=True))
        return [[a for v in group if (a := found[v]) is not None] for group in groups]


def in_capture(x: object) -> Tracer:
    """Return a traced array, number or variable as a tracer; `TypeError` for anything else."""
    if isinstance(x, Recorded):
        x = current().captured.recorded_value(x)
    if isinstance(x, SymInt):
        return cast(x, np.int64)
    if isinstance(x, Tracer):
        return x
    raise TypeError(f"a tape within a captured function follows traced values and variables, not "
                    f"the {type(x).__name__} {x!r}")


def _summed(group: list[Any], x: Tracer, fill: bool) -> Any:
    """Return the sum of the cotangents of all values of a source; None or zeros of none."""
    if not group:
        return zeros(x.aval) if fill else None
    return functools.reduce(operator.add, [tracer_of_atom(a, False) for a in group])


def _share_no_more() -> None:
    """Let later equations be new ones: earlier equal ones are not taken for them."""
    for scope in current().builder.scopes:
        scope.table.clear()


def _equations() -> list[Eqn]:
    return [eqn for scope in current().builder.scopes for eqn in scope.eqns]
