"""Reverse mode: run over a block's equations backwards and append equations on cotangents.

    y = op(x)   =>   x_bar += vjp[op](x, y, y_bar)

The backward regions that this emits read values of the forward regions directly, as if they were
in scope; `tracejit.autodiff.residuals` then decides which are stored and which computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracejit.autodiff.activity import find_active
from tracejit.autodiff.residuals import resolve_block
from tracejit.autodiff.snapshots import replay_loop
from tracejit.autodiff.sweep import Sweep
from tracejit.ir.builder import BlockScope
from tracejit.ir.core import Atom, Block, Eqn, Params, Value
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Effect, Inline, LogOp
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, Type, is_differentiable, scalar
from tracejit.ir.walk import free_values
from tracejit.ops import cotangents
from tracejit.ops.calls import find_gradient
from tracejit.ops.control import leave_out_untouched
from tracejit.trace.ground.context import Trace, current
from tracejit.trace.ground.source import describe_line
from tracejit.trace.values.equations import apply, atom_of
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["ReverseSweep", "reverse_block"]


class ReverseSweep(Sweep):
    """The cotangents found so far, and the questions and steps by which rules of ops find more."""

    def __init__(self, trace: Trace, active: set[Value], links: dict[Value, Eqn],
                 reasons: dict[Eqn, str]) -> None:
        super().__init__(trace)
        self.active = active
        self.links = links
        self.reasons = reasons
        self.cts: dict[Value, Any] = {}
        self.kept: frozenset[Value] = frozenset()
        self.stopped: frozenset[Value] = frozenset()
        self.index: Any = None
        self.sum_terms: Callable[[list[Any]], Any] | None = None
        """How contributions to one cotangent are added, if not each as soon as it is there."""
        self.terms: dict[Value, list[Any]] = {}
        self.ended: dict[Value, Value] = {}
        """The Logs of cotangents of lists that begin with numbers of no derivative."""

    # --- cotangents -----------------------------------------------------------------------------

    def wants(self, a: Atom) -> bool:
        """Return whether a cotangent of this operand is of use."""
        return isinstance(a, Value) and a in self.active

    def add(self, a: Atom, ct: Any) -> None:
        """Add a contribution to the cotangent of an operand, if that is of use."""
        if ct is None or not self.wants(a):
            if isinstance(a, Value) and a.is_log and isinstance(ct, Value):
                self.ended[a] = ct
            return
        assert isinstance(a, Value)
        if a.is_log:
            self.cts[a] = ct
            return
        if isinstance(ct, Tracer) and ct.aval.shape != a.aval.shape:
            ct = apply("reshape", ct, shape=a.aval.shape)
        if self.sum_terms is not None:
            self.terms.setdefault(a, []).append(ct)
        else:
            self.cts[a] = cotangents.add_cotangents(self.cts.get(a), ct)

    def settle(self, v: Value) -> None:
        """Add up the contributions to a cotangent that were kept apart."""
        terms = self.terms.pop(v, None)
        if terms is not None and self.sum_terms is not None:
            before = self.cts.get(v)
            self.cts[v] = self.sum_terms(terms if before is None else [before, *terms])

    def dense(self, ct: Any, t: Type) -> Any:
        """Return a cotangent as an array (or Log) of this type; zeros where there is none."""
        if ct is None:
            return self.zeros(t)
        if isinstance(ct, cotangents.Unread):
            return self.emit("log_of", [self.zeros(ct.aval)])[0]
        if isinstance(ct, Value) or not isinstance(t, Aval):
            return ct
        ct = cotangents.dense(ct)
        return ct if ct.aval.shape == t.shape else apply("reshape", ct, shape=t.shape)

    def dense_of(self, a: Atom) -> Atom:
        """Return the cotangent of an operand as a value."""
        if isinstance(a, Value):
            self.settle(a)
        ct = self.dense(self.cts.get(a), a.aval) if isinstance(a, Value) else self.zeros(a.aval)
        return ct if isinstance(ct, Value) else atom_of(ct)

    def take(self, v: Value) -> Any:
        """Return the cotangent so far of a value as an array; None where there is none."""
        self.settle(v)
        ct = self.cts.pop(v, None)
        return None if ct is None else self.dense(ct, v.aval)

    def take_dense(self, v: Value) -> Any:
        """Return the cotangent so far of a value, for a region to accumulate on."""
        self.settle(v)
        return self.dense(self.cts.pop(v, None), v.aval)

    # --- regions --------------------------------------------------------------------------------

    def active_free(self, block: Block) -> list[Value]:
        """Return the active values that a block reads from outside."""
        return [v for v in free_values(block) if v in self.active]

    def region_inputs(self, index: Value, types: Sequence[Type]) -> tuple[Value, ...]:
        """Return inputs for a backward loop body: its index and its carried values."""
        return (Value(scalar(np.int64), index.name), *(Value(t) for t in types))

    @contextmanager
    def open_region(self, inputs: tuple[Value, ...], lo: Dim = 0,
                    hi: Dim = 0) -> Iterator[tuple[ReverseSweep, BlockScope]]:
        """Open a backward region with a sweep of its own."""
        inner = ReverseSweep(self.trace, self.active, self.links, self.reasons)
        if inputs:
            self.builder.assume(inputs[0], lo, hi - 1)
            inner.index = tracer_of(inputs[0])
        with self.builder.block(inputs) as scope:
            yield inner, scope

    def emit_linked(self, op: str, operands: Sequence[object], params: Params,
                    regions: Sequence[Block], forward: Eqn) -> list[Any]:
        """Emit a backward region and note which forward equation's inside it reads."""
        atoms = [a if isinstance(a, Value) else atom_of(a) for a in operands]
        outputs = self.builder.emit(find_op(op), atoms, params, regions)
        self.links.update((v, forward) for v in outputs)
        return [self.operand(v) for v in outputs]

    def pullback_of(self, block: Block, wrt: Sequence[Value], free: Sequence[Value],
                    given: Sequence[bool]) -> tuple[Block, list[Value], list[bool]]:
        """Return the way back of a block, as a block that recomputes the forward values it needs.

        Its inputs are the block's, a cotangent of each output that is `given` one, and the
        cotangents so far of the values of `free`, read by the block from outside, to which it adds
        something. Its outputs are the cotangents of `wrt` and of these. Returned with it are these
        values of `free`, and which of `wrt` have a cotangent at all.
        """
        sweeps: list[ReverseSweep] = []
        cts = [Value(a.aval) for a, g in zip(block.outputs, given, strict=True) if g]
        before = [Value(v.aval) for v in free]
        accumulators: list[Any] = []

        def start(inner: ReverseSweep) -> list[Any]:
            sweeps.append(inner)
            accumulators.extend(map(inner.operand, before))
            inner.cts.update(zip(free, accumulators, strict=True))
            rest = iter(cts)
            return [inner.operand(next(rest)) if g else None for g in given]

        def finish(inner: ReverseSweep) -> list[Atom]:
            return [inner.dense_of(v) for v in (*wrt, *free)]

        whole = reverse_block(block, [*wrt, *free], start, finish, (*cts, *before))
        reached = [sweeps[0].cts.get(v) is not None for v in wrt]
        return *leave_out_untouched(whole, free, accumulators, sweeps[0]), reached

    def replay(self, eqn: Eqn, cts: Sequence[Any], trips: Dim) -> list[Any]:
        """Return the cotangents of the starts of a loop with snapshots."""
        return replay_loop(self, eqn, cts, trips)

    # --- the sweep ------------------------------------------------------------------------------

    def run(self, eqns: Sequence[Eqn]) -> None:
        """Go over equations backwards."""
        for eqn in reversed(eqns):
            self.step(eqn)

    def step(self, eqn: Eqn) -> None:
        """Send the cotangents of one equation's results to its operands."""
        for v in eqn.outputs if self.terms else ():
            self.settle(v)
        cts = [self.cts.get(v) if v in self.kept else self.cts.pop(v, None) for v in eqn.outputs]
        if self.stopped:
            cts = [None if v in self.stopped else ct
                   for v, ct in zip(eqn.outputs, cts, strict=True)]
        if all(ct is None for ct in cts) and self._begins_log(eqn):
            cts = [self.zeros(eqn.output.aval)]
        if eqn.op.lowering == LogOp("of") and eqn.output in self.ended:
            self._end_log(eqn, self.ended.pop(eqn.output))
        if all(ct is None or isinstance(ct, cotangents.Unread) for ct in cts):
            self.reasons.setdefault(eqn, self._why_not(eqn))
            return
        operands = (*eqn.inputs, *(v for r in eqn.regions for v in free_values(r)))
        if not any(map(self.wants, operands)):
            self.reasons.setdefault(eqn, "not reached from any x")  # it makes one of them
            return
        rule = find_gradient(eqn.op)
        if rule is None:
            where = describe_line(eqn.site)
            raise LookupError(
                f"{where}: op {eqn.op.name!r} has no gradient. Register one with "
                f"tracejit.RegisterGradient({eqn.op.name!r}), or say that it has none with "
                f"tracejit.no_gradient({eqn.op.name!r})")
        self.reasons.pop(eqn, None)
        with self.builder.differentiating(eqn.outputs[0], eqn.site):
            cts = [cotangents.dense(ct) if isinstance(ct, cotangents.Scattered) else ct
                   for ct in cts]
            for a, ct in zip(eqn.inputs, rule(self, eqn, cts), strict=False):
                self.add(a, ct)

    def _end_log(self, eqn: Eqn, ct: Value) -> None:
        """Use up the Log of cotangents of a list that begins with numbers of no derivative.

        The way back of the way back has to know how long it is.
        """
        rule = find_gradient(eqn.op)
        assert rule is not None
        with self.builder.differentiating(eqn.output, eqn.site):
            rule(self, eqn, [ct])

    def _begins_log(self, eqn: Eqn) -> bool:
        """Return whether the way back of a list begins here, though nothing reads the list.

        A Log of cotangents has to be as long as the list's own. Of the last use, it is made where
        it turns out to matter.
        """
        if eqn.op.lowering != LogOp("array") or not self.wants(eqn.inputs[0]):
            return False
        if eqn.params["last"]:
            assert isinstance(eqn.output.aval, Aval)
            self.cts[eqn.inputs[0]] = cotangents.Unread(eqn.output.aval)  # type: ignore[index]
        return not eqn.params["last"]

    def _why_not(self, eqn: Eqn) -> str:
        """Return why an equation gets no backward part."""
        if eqn.op.effect:
            shows = isinstance(eqn.op.lowering, Effect) and eqn.op.lowering.shows
            return "a print, not a value" if shows else "a check, not a value"
        if eqn.op.marked and isinstance(eqn.op.lowering, Inline):
            return eqn.op.name
        if eqn.op.marked and any(self.wants(a) for a in eqn.inputs):
            return f"no_gradient: {eqn.op.name} is not differentiable"
        if not any(is_differentiable(v.aval.dtype) for v in eqn.outputs):
            return "integer or bool"
        if not any(v in self.active for v in eqn.outputs):
            return "not reached from any x"
        return "does not reach any y"


def reverse_block(block: Block, wrt: Sequence[Value],
                  start: Callable[[ReverseSweep], Sequence[object]],
                  finish: Callable[[ReverseSweep], Sequence[Atom]],
                  extra_inputs: Sequence[Value] = (),
                  reasons: dict[Eqn, str] | None = None) -> Block:
    """Return a block followed by its backward part.

    start  -- gives one cotangent (or None) per output of the block
    finish -- gives the outputs of the whole, once the cotangents are known
    """
    trace = current()
    active = set(wrt)
    find_active(block.eqns, active)
    with trace.builder.block((*block.inputs, *extra_inputs)) as scope:
        for eqn in block.eqns:
            trace.builder.append(eqn)
        sweep = ReverseSweep(trace, active, {}, {} if reasons is None else reasons)
        sweep.kept = frozenset(wrt)
        with trace.builder.differentiating(None, None):
            for a, ct in zip(block.outputs, start(sweep), strict=True):
                sweep.add(a, ct)
            sweep.run(block.eqns)
            whole = scope.close(finish(sweep))
    return resolve_block(whole, len(block.eqns), sweep.links)
