"""Gradients within a capture: the way back is appended to the program that is being made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from tracejit.autodiff.activity import find_active
from tracejit.autodiff.residuals import resolve_block
from tracejit.autodiff.reverse import ReverseSweep
from tracejit.ir.builder import BlockScope
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dtypes import is_half
from tracejit.ir.types import is_differentiable
from tracejit.ops.cotangents import Cotangent
from tracejit.trace.ground.context import Trace, current, refuse
from tracejit.trace.values.equations import apply

__all__ = ["append_gradients", "refuse_halves"]


def append_gradients(ys: Sequence[Value], cts: Sequence[Cotangent], xs: Sequence[Value], *,
                     group: str, stopped: frozenset[Value] = frozenset(),
                     sum_terms: Callable[[list[object]], object] | None = None,
                     ) -> list[Atom | None]:
    """Append equations for the cotangents of `xs`, and return these; None where there is none.

    cts       -- tracers of the cotangents of `ys`, None for ones
    group     -- the name of the group in the printed program
    stopped   -- values through which nothing flows back
    sum_terms -- how contributions to one cotangent are added up

    The forward equations lie in the open blocks, so `xs` may belong to blocks around the innermost
    one as long as no loop or branch that is finished lies between.
    """
    trace = current()
    builder = trace.builder
    top = builder.scope
    forward = list(top.eqns)
    around = [eqn for scope in builder.scopes[:-1] for eqn in scope.eqns]
    carried = _carried_past(xs)
    active = {*xs, *carried}
    find_active([*around, *forward], active, stopped)
    refuse_halves(active)
    sweep = ReverseSweep(trace, active, {}, {})
    sweep.kept, sweep.stopped, sweep.sum_terms = frozenset(xs), stopped, sum_terms
    with _under_rules(trace, group):
        _start(sweep, ys, cts)
        sweep.run(forward)
        if any(sweep.cts.get(v) is not None or v in sweep.terms for v in carried):
            raise refuse("a gradient inside of a loop, by something from outside that reaches "
                         "it also through what the loop carries on", _REMEDY, "TJ506")
        _go_further_back(sweep, around)
        found = _settled(sweep, xs)
    results = [a for a in found if a is not None]
    _resolve(top, len(forward), results, sweep)
    rest = iter(results)
    return [None if a is None else next(rest) for a in found]


def refuse_halves(active: Iterable[Value]) -> None:
    """Refuse to differentiate halves where they are: rules of ops would compute in them."""
    half = next((v.aval.dtype for v in active if is_half(v.aval.dtype)), None)
    if half is not None:
        raise refuse(f"a tape, or tracejit.gradients, over values of {half} cannot be captured",
                     "Use tracejit.grad, or convert them first: x.astype(np.float32)", "TJ512")


@contextmanager
def _under_rules(trace: Trace, group: str) -> Iterator[None]:
    """Let rules of ops write equations: nothing that they do has a name, or begins again."""
    builder = trace.builder
    before, builder.group = builder.group, group
    restarts, trace.restarts, trace.names = trace.restarts, False, False
    try:
        with builder.differentiating(None, None):
            yield
    finally:
        builder.group, trace.restarts, trace.names = before, restarts, True


def _start(sweep: ReverseSweep, ys: Sequence[Value], cts: Sequence[Cotangent]) -> None:
    """Give results their cotangents, ones where none are given."""
    for y, ct in zip(ys, cts, strict=True):
        if ct is None:
            ct = apply("full", y.aval.dtype.type(1), shape=y.aval.shape)
        sweep.add(y, ct)


def _settled(sweep: ReverseSweep, xs: Sequence[Value]) -> list[Atom | None]:
    """Return the cotangents that reached `xs`, added up; None where there is none."""
    for x in xs:
        sweep.settle(x)
    return [sweep.dense_of(x) if sweep.cts.get(x) is not None else None for x in xs]


_REMEDY = ("Ask for the gradient in the same block, or differentiate a function of its own with "
           "tracejit.grad or tracejit.vjp")


def _carried_past(xs: Sequence[Value]) -> set[Value]:
    """Return the carried values of open loops, inside of the block that each of `xs` belongs to."""
    found: set[Value] = set()
    left = set(xs)
    for scope in reversed(current().builder.scopes[1:]):
        left -= {*scope.inputs, *(v for eqn in scope.eqns for v in eqn.outputs)}
        if left:
            found.update(v for v in scope.inputs if is_differentiable(v.aval.dtype))
    return found


def _go_further_back(sweep: ReverseSweep, eqns: Sequence[Eqn]) -> None:
    """Go over the equations around the open block, none of which may be a loop or branch."""
    for eqn in reversed(eqns):
        if eqn.regions and any(sweep.cts.get(v) is not None or v in sweep.terms
                               for v in eqn.outputs):
            raise refuse("a gradient inside of a loop or branch, by something from before another "
                         "loop or branch outside of it", _REMEDY, "TJ506")
        sweep.step(eqn)


def _resolve(top: BlockScope, count: int, results: list[Atom], sweep: ReverseSweep) -> None:
    """Let the backward equations find the values that they read; `results` are replaced, too."""
    values = [v for eqn in top.eqns[:count] for v in eqn.outputs]
    block = resolve_block(Block(top.inputs, tuple(top.eqns), (*results, *values)), count,
                          sweep.links)
    results[:] = block.outputs[:len(results)]
    top.eqns[:] = block.eqns
    top.table.clear()
    for eqn in top.eqns:
        top.share(eqn)
