"""Residuals: give backward regions what they read of the forward regions.

The reverse sweep lets a backward loop read the values of the forward loop's same iteration as if
they were in scope. Here each of those becomes available: stored on the way forward, in an array
with one element per iteration or, where the iterations cannot be counted beforehand, in a Log; or
computed again on the way back from what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tracejit.autodiff.mincut import INFINITE, Node, choose_stored
from tracejit.autodiff.nests import Home, Nest, region_kind, trip_count
from tracejit.ir.builder import Builder, equation_key
from tracejit.ir.core import Atom, Block, Eqn, Span, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.dims import Dim
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, LogType, Type
from tracejit.ir.walk import Env, block_uses, copy_dim, copy_eqn, copy_param, copy_type, read_atom

__all__ = ["Plan", "resolve_block"]

UNKNOWN_SIZE = 100.0
"""What a symbolic size, or the trip count of one loop, counts in the weighing of costs."""

RECOMPUTE_WEIGHT = 0.04
"""What one addition computed again costs, in stores of eight bytes."""

LOAD_COST = 2.0
"""What a load costs, in additions."""


@dataclass(eq=False, slots=True)
class Store:
    """Storage for residuals: a stack of one value, or a Log of several of one region and dtype."""

    type: Type
    home: Home
    values: tuple[Value, ...]
    has_last: bool = False
    """Whether a stack of a carried value ends with its last one, after the last iteration."""

    @property
    def is_log(self) -> bool:
        """Return whether it is a Log."""
        return isinstance(self.type, LogType)


@dataclass(slots=True)
class Plan:
    """For one nest: what is stored, and what is computed again in which region."""

    nest: Nest
    stored: set[Value] = field(default_factory=set)
    recomputed: set[Value] = field(default_factory=set)
    ahead: dict[Value, Value] = field(default_factory=dict)
    """What an iteration hands to the next, which has it on the stack of the carried value."""
    stores: list[Store] = field(default_factory=list)
    handles: dict[Store, Value] = field(default_factory=dict)

    def inside(self, eqn: Eqn) -> list[Store]:
        """Return the stores whose values are defined inside an equation."""
        return [s for s in self.stores if any(e is eqn for e, _ in s.home.path)]

    def at(self, block: Block) -> list[Store]:
        """Return the stores whose values are defined in a region itself."""
        return [s for s in self.stores if s.home.block is block]


def resolve_block(block: Block, forward_count: int, links: Mapping[Value, Eqn]) -> Block:
    """Return a block whose backward equations, those from `forward_count` on, are in scope."""
    forward = block.eqns[:forward_count]
    backward = prune_block(Block((), block.eqns[forward_count:], block.outputs))
    nests = {eqn: Nest(eqn) for eqn in forward if region_kind(eqn)}
    by_inner = {e: nest for nest in nests.values() for h in nest.homes.values() for e, _ in h.path}
    adopter = _Adopter(links, by_inner)
    adopter.bound.update(v for e in backward.eqns for v in e.outputs)
    backward = Block((), tuple(map(adopter.strip, backward.eqns)), backward.outputs)
    reads = set(block_uses(backward))
    eqns: list[Eqn] = []
    plans: dict[Eqn, Plan] = {}
    for eqn in forward:
        nest = nests.get(eqn)
        ghosts = {v for v in reads if nest is not None and nest.contains(v)}
        if nest is None or not ghosts:
            eqns.append(eqn)
            continue
        plan = make_plan(nest, ghosts)
        plans.update(dict.fromkeys([e for e, n in by_inner.items() if n is nest], plan))
        eqns += _ForwardRewriter(plan).rewrite_top(eqn)
    env: Env = {}
    rewriter = _BackwardRewriter(links, plans)
    eqns += [rewriter.rewrite(eqn, env) for eqn in backward.eqns]
    outputs = tuple(read_atom(env, a) for a in block.outputs)
    return prune_block(Block(block.inputs, tuple(eqns), outputs))


class _Adopter:
    """Offers what the way back computes from primal values alone to the way forward.

    Derivatives, weights and masks of an iteration depend on its primal values only. Whether they
    are stored, or computed again from something smaller, is then one choice.
    """

    def __init__(self, links: Mapping[Value, Eqn], nests: Mapping[Eqn, Nest]) -> None:
        self.links, self.nests = links, nests
        self.bound: set[Value] = set()

    def strip(self, eqn: Eqn) -> Eqn:
        """Return a top-level backward equation without what the forward nest adopts of it."""
        return self._strip(eqn, self.bound, {})

    def _strip(self, eqn: Eqn, bound: set[Value], env: Env) -> Eqn:
        forward = next((self.links[v] for v in eqn.outputs if v in self.links), None)
        nest = None if forward is None else self.nests.get(forward)
        if forward is None or nest is None:
            return eqn
        regions = []
        for k, region in enumerate(eqn.regions):
            source = forward.regions[-1] if region_kind(eqn) == "for" else forward.regions[k]
            regions.append(self._strip_block(region, source, nest, set(bound), dict(env)))
        outputs = eqn.outputs
        return Eqn(eqn.op, eqn.inputs, eqn.params, outputs, tuple(regions), eqn.site, eqn.of)

    def _strip_block(self, region: Block, source: Block, nest: Nest, bound: set[Value],
                     env: Env) -> Block:
        """Move what can be moved; `bound` are the values that only the way back has."""
        known = {equation_key(e.op, e.inputs, e.params): e.outputs for e in source.eqns
                 if not e.regions and not e.op.unique and not e.op.effect}
        bound.update(region.inputs)
        kept = []
        for eqn in region.eqns:
            eqn = _rename(eqn, env)
            movable = not (eqn.regions or eqn.op.unique or eqn.op.effect)
            if not movable or any(v in bound for v in eqn.uses()):
                bound.update(eqn.outputs)
                kept.append(self._strip(eqn, bound, env) if eqn.regions else eqn)
                continue
            key = equation_key(eqn.op, eqn.inputs, eqn.params)
            if key in known:
                env.update(zip(eqn.outputs, known[key], strict=True))
            else:
                nest.adopt(eqn, source)
                known[key] = eqn.outputs
        outputs = tuple(read_atom(env, a) for a in region.outputs)
        return Block(region.inputs, tuple(kept), outputs)


def _rename(eqn: Eqn, env: Env) -> Eqn:
    """Return an equation with its operands renamed and its results as they are."""
    if not env or not any(v in env for v in block_uses(Block((), (eqn,), ()))):
        return eqn
    inputs = tuple(read_atom(env, a) for a in eqn.inputs)
    params = {k: copy_param(p, env) for k, p in eqn.params.items()}
    regions = tuple(Block(r.inputs, tuple(_rename(e, env) for e in r.eqns),
                          tuple(read_atom(env, a) for a in r.outputs)) for r in eqn.regions)
    return Eqn(eqn.op, inputs, params, eqn.outputs, regions, eqn.site, eqn.of)


# --- choosing -----------------------------------------------------------------------------------


def make_plan(nest: Nest, ghosts: Iterable[Value]) -> Plan:
    """Choose what to store of a nest so that `ghosts` can be had on the way back."""
    needed = {v for v in ghosts if not nest.is_loop_index(v)}
    while True:
        nodes = _nodes(nest, needed)
        stored = choose_stored(nodes, needed)
        dims = {w for v in stored for w in nest.inner_dims(v.aval) if not nest.is_loop_index(w)}
        if dims <= needed:
            break
        needed |= dims  # what is popped from a Log needs its shape
    plan = Plan(nest, stored)
    for v in sorted(stored, key=lambda v: v.uid):  # decisions that cost nothing to repeat exactly
        if v.aval.dtype.kind in "biu" and v in nest.maker and _is_exact(nest, v, stored - {v}):
            plan.stored.discard(v)
    plan.recomputed = _recomputed(nest, plan.stored, needed)
    _read_ahead(plan, needed)
    _make_stores(plan)
    return plan


def _recomputed(nest: Nest, given: set[Value], needed: set[Value]) -> set[Value]:
    """Return what has to be computed again where some values are given."""
    found: set[Value] = set()
    pending = list(needed)
    while pending:
        v = pending.pop()
        if v in given or v in found or v not in nest.maker:
            continue
        found.add(v)
        pending += [w for w in nest.maker[v].uses()
                    if nest.contains(w) and not nest.is_loop_index(w)]
    return found


def _read_ahead(plan: Plan, needed: set[Value]) -> None:
    """Take what an iteration yields from the stack of what the next one began with."""
    nest = plan.nest
    for block, home in nest.homes.items():
        loop = home.path[-1][0]
        if region_kind(loop) != "for" or loop.params["reversed"]:
            continue
        for v, w in zip(block.inputs[1:], block.outputs, strict=True):
            if v not in plan.stored or not nest.is_rectangular(v) or w not in nest.maker or (
                    w in plan.ahead or nest.home[w].block is not block):
                continue
            given = plan.stored | set(plan.ahead) | {w}
            rest = _recomputed(nest, given, needed)
            saved = sum(nest.maker[u].op.cost for u in plan.recomputed - rest)
            if w in plan.stored or saved >= LOAD_COST:
                plan.stored.discard(w)
                plan.ahead[w] = v
                plan.recomputed = rest


def _nodes(nest: Nest, needed: set[Value]) -> dict[Value, Node[Value]]:
    nodes: dict[Value, Node[Value]] = {}
    pending = list(needed)
    while pending:
        v = pending.pop()
        if v in nodes:
            continue
        weight = UNKNOWN_SIZE ** len(nest.home[v].loops) * _elements(v.aval)
        maker = nest.maker.get(v)
        operands = () if maker is None else tuple(
            w for w in maker.uses() if nest.contains(w) and not nest.is_loop_index(w))
        recompute = INFINITE
        if maker is not None and _is_repeatable(maker):
            recompute = RECOMPUTE_WEIGHT * maker.op.cost * weight
        store = INFINITE if v.is_log else weight * v.aval.dtype.itemsize / 8
        nodes[v] = Node(store, recompute, operands if recompute < INFINITE else ())
        pending += nodes[v].operands
    return nodes


def _elements(t: Type) -> float:
    count = 1.0
    for d in t.shape if isinstance(t, Aval) else ():
        count *= d if isinstance(d, int) else UNKNOWN_SIZE
    return count


def _is_repeatable(eqn: Eqn) -> bool:
    """Whether computing an equation again gives the same: no control flow, Logs or fresh storage.

    A decision taken on floats (a comparison, an argmax, a cast to int) is data: the operands
    computed again may differ in the last bit, and the decision with them.
    """
    if region_kind(eqn) or eqn.op.unique:
        return False
    if eqn.op.effect and not eqn.op.exact:
        return False
    decides = any(v.aval.dtype.kind in "biu" for v in eqn.outputs)
    return not (decides and any(a.aval.dtype.kind in "fc" for a in eqn.inputs))


def _is_exact(nest: Nest, v: Value, stored: set[Value]) -> bool:
    """Whether a value can be computed again bit for bit from what is stored."""
    if not nest.contains(v) or nest.is_loop_index(v) or v in stored:
        return True
    maker = nest.maker.get(v)
    if maker is None or not maker.op.exact or region_kind(maker):
        return False
    return all(_is_exact(nest, w, stored) for w in maker.uses())


def _make_stores(plan: Plan) -> None:
    logs: dict[tuple[Block, np.dtype], list[Value]] = {}
    for v in sorted(plan.stored, key=lambda v: v.uid):
        home = plan.nest.home[v]
        if plan.nest.is_rectangular(v):
            trips = [trip_count(e) for e in home.loops]  # none for a branch outside of all loops
            has_last = v in plan.ahead.values()
            if has_last:
                trips[-1] = trips[-1] + 1
            shape = (*trips, *v.aval.shape)
            plan.stores.append(Store(Aval(v.aval.dtype, shape), home, (v,), has_last))
        else:
            logs.setdefault((home.block, v.aval.dtype), []).append(v)
    for (block, dtype), values in logs.items():
        plan.stores.append(Store(LogType(dtype), plan.nest.homes[block], tuple(values)))


# --- the way forward ----------------------------------------------------------------------------


class _ForwardRewriter:
    """Thread the stores through the loops and fill them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def rewrite_top(self, eqn: Eqn) -> list[Eqn]:
        """Return the equations that take the place of the nest."""
        builder = Builder()
        handles: dict[Store, Value] = {}
        for store in self.plan.stores:
            if isinstance(store.type, LogType):
                continue
            (handles[store],) = builder.emit(
                find_op("empty"), [], {"shape": store.type.shape, "dtype": store.type.dtype},
                site=eqn.site)
        for dtype in dict.fromkeys(s.type.dtype for s in self.plan.stores if s.is_log):
            group = [s for s in self.plan.stores if s.is_log and s.type.dtype == dtype]
            (log,) = builder.emit(find_op("log_new"), [], {"dtype": dtype}, site=eqn.site)
            handles.update(dict.fromkeys(group, log))
        new, handles = self.rewrite(eqn, handles)
        builder.append(new)
        self.plan.handles.update(self._save_last(builder, eqn, handles))
        return builder.scope.eqns

    def rewrite(self, eqn: Eqn, handles: dict[Store, Value]) -> tuple[Eqn, dict[Store, Value]]:
        """Return an equation that takes and returns the handles of the stores inside it."""
        inside = self.plan.inside(eqn)
        if not inside:
            return eqn, handles
        carried = list(dict.fromkeys(handles[s] for s in inside))
        is_loop = region_kind(eqn) in ("for", "while")
        regions = []
        for k, region in enumerate(eqn.regions):
            inputs = [Value(v.aval) for v in carried] if is_loop else carried
            names = dict(zip(carried, inputs, strict=True))
            inner = {s: names[handles[s]] for s in inside}
            is_body = region_kind(eqn) == "if" or k == len(eqn.regions) - 1
            block, last = self._rewrite_block(region, inner) if is_body else (region, inner)
            outputs = list(block.outputs)
            if is_body:
                ends = {handles[s]: last[s] for s in inside}
                outputs += [ends[v] for v in carried]
            new_inputs = (*region.inputs, *inputs) if is_loop else region.inputs
            regions.append(Block(new_inputs, block.eqns, tuple(outputs)))
        results = [Value(v.aval) for v in carried]
        new = Eqn(eqn.op, (*eqn.inputs, *carried) if is_loop else eqn.inputs, eqn.params,
                  (*eqn.outputs, *results), tuple(regions), eqn.site, eqn.of)
        ends = dict(zip(carried, results, strict=True))
        return new, {s: ends.get(handle, handle) for s, handle in handles.items()}

    def _save_last(self, builder: Builder, loop: Eqn,
                   handles: dict[Store, Value]) -> dict[Store, Value]:
        """Store what carried values are after the last iteration, where the way back reads that."""
        handles = dict(handles)
        for store in self.plan.stores:
            if store.has_last and store.home.path[-1][0] is loop:
                k = loop.regions[-1].inputs.index(store.values[0]) - 1
                *outer, _ = _place_of(store, 0)[:len(store.home.loops)]
                at = (*outer, trip_count(loop), *_whole(store.values[0]))
                operands = [handles[store], loop.outputs[k]]
                (handles[store],) = builder.emit(find_op("update"), operands, {"at": at},
                                                 site=loop.site)
        return handles

    def _rewrite_block(self, region: Block,
                       handles: dict[Store, Value]) -> tuple[Block, dict[Store, Value]]:
        builder = Builder()
        here = self.plan.at(region)
        stacks = {s.values[0]: s for s in here if not s.is_log}
        handles = dict(handles)

        def save(values: Sequence[Value], eqn: Eqn | None) -> None:
            for v in values:
                if v in stacks:
                    store = stacks[v]
                    site = eqn.site if eqn is not None else self.plan.nest.top.site
                    (handles[store],) = builder.emit(find_op("update"), [handles[store], v],
                                                     {"at": _place_of(store)}, site=site)

        save(region.inputs, None)
        extras = self._stored_extras(region)
        defined: set[Value] = set(region.inputs)
        for eqn in (None, *region.eqns):
            if eqn is not None:
                new, handles = self.rewrite(eqn, handles)
                builder.append(new)
                handles = self._save_last(builder, eqn, handles)
                defined.update(eqn.outputs)
                save(eqn.outputs, eqn)
            for extra in list(extras):
                if not self._is_ready(extra, region, defined):
                    continue
                extras.remove(extra)
                builder.append(extra)
                defined.update(extra.outputs)
                save(extra.outputs, extra)
        assert not extras, f"operands of {extras[0].op} are missing"
        for store in here:
            if store.is_log:
                old = handles[store]
                (log,) = builder.emit(find_op("push"), [old, *store.values],
                                      site=self.plan.nest.top.site)
                handles.update({s: log for s in handles if handles[s] is old})
        return builder.scope.close(region.outputs), handles

    def _stored_extras(self, region: Block) -> list[Eqn]:
        """Return the adopted equations of a region that what is stored needs."""
        extras = self.plan.nest.extra.get(region, [])
        needed = set(self.plan.stored)
        found: list[Eqn] = []
        for eqn in reversed(extras):
            if any(v in needed for v in eqn.outputs):
                needed.update(eqn.uses())
                found.append(eqn)
        return found[::-1]

    def _is_ready(self, eqn: Eqn, region: Block, defined: set[Value]) -> bool:
        """Whether the operands that the region itself defines are there."""
        home = self.plan.nest.home
        return all(v in defined for v in eqn.uses() if v in home and home[v].block is region)


def _place_of(store: Store, ahead: int = 0) -> tuple[Dim | Span, ...]:
    """Return where a stack keeps the value of the present iteration, or of the next one."""
    places: list[Dim] = []
    for loop in store.home.loops:
        index = store.home.index_of(loop).dim
        places.append(index - loop.params.get("lo", 0))
    if ahead:
        places[-1] = places[-1] + ahead
    return (*places, *_whole(store.values[0]))


def _whole(v: Value) -> tuple[Span, ...]:
    return tuple(Span(0, d) for d in v.aval.shape)


# --- the way back -------------------------------------------------------------------------------


class _BackwardRewriter:
    """Fetch or compute again, at the head of each backward region, what it reads of its forward."""

    def __init__(self, links: Mapping[Value, Eqn], plans: Mapping[Eqn, Plan]) -> None:
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
            source = forward.regions[-1] if is_loop else forward.regions[k]
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
        return Eqn(eqn.op, tuple(inputs), params, tuple(outputs), tuple(regions), eqn.site,
                   of if isinstance(of, Value) else None)

    def _copy(self, eqn: Eqn, env: Env) -> Eqn:
        """Copy an equation that is linked to nothing, but may hold some that are."""
        regions = []
        for region in eqn.regions:
            inner = dict(env)
            inputs = tuple(_fresh(v, inner) for v in region.inputs)
            eqns = tuple(self.rewrite(e, inner) for e in region.eqns)
            regions.append(Block(inputs, eqns, tuple(read_atom(inner, a) for a in region.outputs)))
        return copy_eqn(eqn, env, tuple(regions))

    def _rewrite_block(self, region: Block, source: Block, plan: Plan, logs: list[Value],
                       outer: Env, is_loop: bool) -> Block:
        env = dict(outer)
        inputs = [_fresh(v, env) for v in region.inputs]
        if is_loop:
            env[source.inputs[0]] = inputs[0]
            inputs += [_fresh(v, env) for v in logs]
        eqns = self._fetch(source, plan, env)
        for eqn in (*source.eqns, *plan.nest.extra.get(source, ())):
            if any(v in plan.recomputed for v in eqn.outputs):
                eqns.append(_as_backward(copy_eqn(eqn, env), eqn))
        eqns += [self.rewrite(e, env) for e in region.eqns]
        outputs: list[Atom] = [read_atom(env, a) for a in region.outputs]
        outputs += [read_atom(env, v) for v in logs]
        return Block(tuple(inputs), tuple(eqns), tuple(outputs))

    def _fetch(self, source: Block, plan: Plan, env: Env) -> list[Eqn]:
        builder = Builder()
        here = plan.at(source)
        for store in reversed([s for s in here if s.is_log]):
            handle = plan.handles[store]
            shapes = tuple(tuple(copy_dim(d, env) for d in v.aval.shape) for v in store.values)
            log, *values = builder.emit(find_op("pop"), [read_atom(env, handle)],
                                        {"shapes": shapes}, site=plan.nest.top.site)
            env[handle] = log
            env.update(zip(store.values, values, strict=True))
        for store in here:
            if not store.is_log:
                v = store.values[0]
                nexts = [w for w, first in plan.ahead.items() if first is v]
                for target, ahead in ((v, 0), *((w, 1) for w in nexts)):
                    at = tuple(_copy_place(p, env) for p in _place_of(store, ahead))
                    (env[target],) = builder.emit(find_op("index"), [plan.handles[store]],
                                                  {"at": at}, site=plan.nest.top.site)
        return [_as_backward(e, e) for e in builder.scope.eqns]


def _copy_place(p: Dim | Span, env: Env) -> Dim | Span:
    if isinstance(p, Span):
        return Span(copy_dim(p.start, env), copy_dim(p.size, env), p.step)
    return copy_dim(p, env)


def _as_backward(eqn: Eqn, source: Eqn) -> Eqn:
    """Mark an equation as part of the way back."""
    of = source.outputs[0] if source.outputs else None
    return Eqn(eqn.op, eqn.inputs, eqn.params, eqn.outputs, eqn.regions, source.site, of)


def _fresh(v: Value, env: Env) -> Value:
    new = Value(copy_type(v.aval, env), v.name)
    env[v] = new
    return new


