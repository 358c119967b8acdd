"""Residuals: give backward regions the forward regions' values that they read.

The reverse sweep lets a backward loop read the values of the forward loop's same iteration as if
they were in scope. Here each such value becomes available: stored on the way forward, in an array
with one element per iteration or, where the iterations cannot be counted beforehand, in a Log; or
computed again on the way back from stored values.

In `for _ in range(n): a = np.sqrt(a * a)` the rule of `sqrt` divides by its result, and the rule of
the product multiplies by `a`, both of the iteration that is gone back over:

    the way back reads the values at the start and at the end of each iteration
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = mul(%a, %a)
            %2: f64[] = sqrt(%1)
            yield %2
          }
        ]
        return %0
    becomes
        %0: f64[n + 1] = empty() {shape=(n + 1,), dtype=f64}
        %1: f64[], %2: f64[n + 1] = for_(%x, %0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %3: f64[n + 1]) {
            %4: f64[n + 1] = update(%3, %a) {at=(%i,)}
            %5: f64[] = mul(%a, %a)
            %6: f64[] = sqrt(%5)
            yield %6, %4
          }
        ]
        %7: f64[n + 1] = update(%2, %1) {at=(n,)}
        %8: f64[] = full(1.0) {shape=()}
        %9: f64[] = for_(%8) {lo=0, hi=n, reversed=True} [
          (%i_: i64[], %10: f64[]) {
            %11: f64[] = index(%7) {at=(%i_,)}
            %12: f64[] = index(%7) {at=(%i_ + 1,)}
            %13: f64[] = div(0.5, %12)
            %14: f64[] = mul(%10, %13)
            %15: f64[] = mul(%14, %11)
            %16: f64[] = add(%15, %15)
            yield %16
          }
        ]
        return %1, %9

The chosen plan stores one of the two: `a`, which the loop overwrites (%4). The result of `sqrt` is
the next iteration's `a`, so it is read one place further on (%12), and for the sake of
the last iteration the array has n + 1 elements (%7). The quotient is computed again (%13). More
cases, as text in and text out, are in `tests/autodiff/test_residuals.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tracejit.autodiff.adoption import Adopter
from tracejit.autodiff.keeping import describe_plan
from tracejit.autodiff.nests import ForwardNest, forward_region
from tracejit.autodiff.plans import ResidualPlan, ResidualStore, make_plan
from tracejit.autodiff.storing import ForwardRewriter, place_of
from tracejit.ir.builder import Builder
from tracejit.ir.control import region_kind
from tracejit.ir.core import Atom, Block, Eqn, Span, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.dims import Dim
from tracejit.ir.optable import find_op
from tracejit.ir.walk import Env, all_eqns, block_uses, copy_dim, copy_eqn, copy_type, read_atom
from tracejit.trace.ground.context import current

__all__ = ["resolve_block"]


def resolve_block(block: Block, forward_count: int, links: Mapping[Value, Eqn]) -> Block:
    """Return a block whose backward equations, from number `forward_count` on, are in scope."""
    forward = block.eqns[:forward_count]
    backward = prune_block(Block((), block.eqns[forward_count:], block.outputs))
    given = frozenset(block.inputs)
    nests = _nests_of(forward)
    by_inner = {e: nest for nest in nests.values() for h in nest.homes.values() for e, _ in h.path}
    adopter = Adopter(links, by_inner)
    adopter.bound.update(v for e in backward.eqns for v in e.outputs)
    backward = Block((), tuple(map(adopter.strip, backward.eqns)), backward.outputs)
    reads = set(block_uses(backward))
    eqns: list[Eqn] = []
    plans: dict[Eqn, ResidualPlan] = {}
    for eqn in forward:
        nest = nests.get(eqn)
        ghosts = {v for v in reads if nest is not None and nest.contains(v)}
        if nest is None or not ghosts:
            eqns.append(eqn)
            continue
        plan = make_plan(nest, ghosts, given)
        plans.update(dict.fromkeys([e for e, n in by_inner.items() if n is nest], plan))
        eqns += ForwardRewriter(plan).rewrite_top(eqn)
    chosen = list({id(p): p for p in plans.values()}.values())
    readers = _readers(backward, chosen)
    for plan in chosen:
        current().note_object(describe_plan(plan, readers))
    env: Env = {}
    rewriter = _BackwardRewriter(links, plans)
    eqns += [rewriter.rewrite(eqn, env) for eqn in backward.eqns]
    outputs = tuple(read_atom(env, a) for a in block.outputs)
    return prune_block(Block(block.inputs, tuple(eqns), outputs))


def _nests_of(eqns: Sequence[Eqn]) -> dict[Eqn, ForwardNest]:
    """Return the equations with regions among some, as nests, in order."""
    late: set[Value] = set()
    found: dict[Eqn, ForwardNest] = {}
    for eqn in reversed(eqns):
        late.update(eqn.outputs)
        if region_kind(eqn):
            found[eqn] = ForwardNest(eqn, frozenset(late))
    return dict(reversed(found.items()))


def _readers(backward: Block, plans: Iterable[ResidualPlan]) -> dict[Value, list[Eqn]]:
    """Return which equations of the way back read each value."""
    found: dict[Value, list[Eqn]] = {}
    again = [plan.maker(v) for plan in plans for v in sorted(plan.recomputed, key=lambda v: v.uid)]
    for eqn in (*all_eqns(backward), *(e for e in again if e is not None)):
        for v in eqn.uses():
            found.setdefault(v, []).append(eqn)
    return found


# --- the way back -------------------------------------------------------------------------------


class _BackwardRewriter:
    """Fetch or compute again, at the head of backward regions, their reads of forward regions."""

    def __init__(self, links: Mapping[Value, Eqn], plans: Mapping[Eqn, ResidualPlan]) -> None:
        self.links = links
        self.plans = plans

    def rewrite(self, eqn: Eqn, env: Env) -> Eqn:
        """Return a backward equation with nothing out of scope, its results bound in env."""
        forward = next((self.links[v] for v in eqn.outputs if v in self.links), None)
        plan = None if forward is None else self.plans.get(forward)
        if forward is None or plan is None:
            return self._copy(eqn, env)
        logs = list(dict.fromkeys(plan.handles[s] for s in plan.inside(forward) if s.is_log))
        is_loop = region_kind(eqn) == "for"
        regions = []
        for k, region in enumerate(eqn.regions):
            source = forward_region(eqn, k, forward)
            regions.append(self._rewrite_block(region, source, plan, logs, env, is_loop))
        inputs = [read_atom(env, a) for a in eqn.inputs]
        if is_loop:
            inputs += [read_atom(env, v) for v in logs]
        params = {k: copy_dim(p, env) if k in ("lo", "hi") else p for k, p in eqn.params.items()}
        outputs = []
        for v in eqn.outputs:
            new = Value(copy_type(v.aval, env), v.name)
            env[v] = new
            outputs.append(new)
        for v in logs:
            new = Value(v.aval)
            env[v] = new
            outputs.append(new)
        of = env.get(eqn.of, eqn.of) if eqn.of is not None else None
        return eqn.with_parts(tuple(inputs), params, tuple(outputs), tuple(regions),
                              of if isinstance(of, Value) else None)

    def _copy(self, eqn: Eqn, env: Env) -> Eqn:
        """Copy an unlinked equation, whose regions may hold linked ones."""
        regions = []
        for region in eqn.regions:
            inner = dict(env)
            inputs = tuple(_fresh(v, inner) for v in region.inputs)
            eqns = tuple(self.rewrite(e, inner) for e in region.eqns)
            regions.append(Block(inputs, eqns, tuple(read_atom(inner, a) for a in region.outputs)))
        return copy_eqn(eqn, env, tuple(regions))

    def _rewrite_block(self, region: Block, source: Block, plan: ResidualPlan, logs: list[Value],
                       outer: Env, is_loop: bool) -> Block:
        env = dict(outer)
        inputs = [_fresh(v, env) for v in region.inputs]
        if is_loop:
            env[source.inputs[0]] = inputs[0]
            inputs += [_fresh(v, env) for v in logs]
        again = plan.again(source)
        eqns = self._fetch(source, plan, env, again)
        eqns += [_as_backward(copy_eqn(e, env), e) for e in again]
        eqns += [self.rewrite(e, env) for e in region.eqns]
        outputs: list[Atom] = [read_atom(env, a) for a in region.outputs]
        outputs += [read_atom(env, v) for v in logs]
        return Block(tuple(inputs), tuple(eqns), tuple(outputs))

    def _fetch(self, source: Block, plan: ResidualPlan, env: Env, again: list[Eqn]) -> list[Eqn]:
        """Fetch the stored values, and the recomputed values that their sizes need."""
        builder = Builder()
        here = plan.at(source)

        def unknown(store: ResidualStore) -> set[Value]:
            return {w for v in store.values for w in plan.nest.inner_dims(v.aval) if w not in env}

        for store in here:
            if not store.is_log:
                v = store.values[0]
                nexts = [w for w, first in plan.ahead.items() if first is v]
                for target, ahead in ((v, 0), *((w, 1) for w in nexts)):
                    at = tuple(_copy_place(p, env) for p in place_of(store, ahead))
                    (env[target],) = builder.emit(find_op("index"), [plan.handles[store]],
                                                  {"at": at}, site=plan.nest.top.site)
        def turn(store: ResidualStore) -> tuple[int, bool]:
            sized = any(True for v in store.values for _ in plan.nest.inner_dims(v.aval))
            return len(unknown(store)), sized

        for store in sorted((s for s in here if s.is_log), key=turn):
            needed = unknown(store)
            for eqn in reversed(again):
                if any(v in needed for v in eqn.outputs):
                    needed.update(eqn.uses())
            for eqn in [e for e in again if any(v in needed for v in e.outputs)]:
                again.remove(eqn)
                builder.append(copy_eqn(eqn, env))
            handle = plan.handles[store]
            shapes = tuple(tuple(copy_dim(d, env) for d in v.aval.shape) for v in store.values)
            log, *values = builder.emit(find_op("pop"), [read_atom(env, handle)],
                                        {"shapes": shapes}, site=plan.nest.top.site)
            env[handle] = log
            env.update(zip(store.values, values, strict=True))
        return [_as_backward(e, e) for e in builder.scope.eqns]


def _copy_place(p: Dim | Span, env: Env) -> Dim | Span:
    if isinstance(p, Span):
        return Span(copy_dim(p.start, env), copy_dim(p.size, env), p.step)
    return copy_dim(p, env)


def _as_backward(eqn: Eqn, source: Eqn) -> Eqn:
    """Mark an equation as part of the way back."""
    of = source.outputs[0] if source.outputs else None
    return replace(eqn, site=source.site, of=of)


def _fresh(v: Value, env: Env) -> Value:
    new = Value(copy_type(v.aval, env), v.name)
    env[v] = new
    return new
