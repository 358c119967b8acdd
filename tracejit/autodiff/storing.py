"""The way forward: thread storage through the loops of a nest, and fill it as a plan says."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from tracejit.autodiff.plans import ResidualPlan, ResidualStore
from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, MapEqn, bounds_of, region_kind, trip_count
from tracejit.ir.core import Atom, Block, Eqn, Span, Value
from tracejit.ir.dims import Dim
from tracejit.ir.optable import find_op
from tracejit.ir.types import LogType

__all__ = ["ForwardRewriter", "place_of"]


class ForwardRewriter:
    """Thread the stores through the loops and fill them."""

    def __init__(self, plan: ResidualPlan) -> None:
        self.plan = plan

    def rewrite_top(self, eqn: Eqn) -> list[Eqn]:
        """Return the equations that take the place of the nest."""
        builder = Builder()
        handles: dict[ResidualStore, Value] = {}
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
        handles = self.rewrite(builder, eqn, handles)
        self.plan.handles.update(self._save_last(builder, eqn, handles))
        return builder.scope.eqns

    def rewrite(self, builder: Builder, eqn: Eqn,
                handles: dict[ResidualStore, Value]) -> dict[ResidualStore, Value]:
        """Emit an equation that takes and returns the handles of the stores inside it."""
        inside = self.plan.inside(eqn)
        if not inside:
            builder.append(eqn)
            return handles
        kind = region_kind(eqn)
        carried = list(dict.fromkeys(handles[s] for s in inside))
        starts = self._empty_results(builder, eqn) if kind == "map" else []
        regions = []
        for k, region in enumerate(eqn.regions):
            inputs = [Value(v.aval) for v in carried] if kind != "if" else carried
            names = dict(zip(carried, inputs, strict=True))
            inner = {s: names[handles[s]] for s in inside}
            is_body = kind == "if" or k == len(eqn.regions) - 1
            block, last = self._rewrite_block(region, inner) if is_body else (region, inner)
            new_inputs = (*region.inputs, *inputs) if kind != "if" else region.inputs
            if kind == "map":
                parts = [Value(v.aval) for v in starts]
                new_inputs = (*region.inputs, *parts, *inputs)
                block = _filling(block, MapEqn(eqn).index, parts, eqn)
            outputs = list(block.outputs)
            if is_body:
                ends = {handles[s]: last[s] for s in inside}
                outputs += [ends[v] for v in carried]
            regions.append(Block(new_inputs, block.eqns, tuple(outputs)))
        results = [Value(v.aval) for v in carried]
        operands = (*eqn.inputs, *starts, *carried) if kind != "if" else eqn.inputs
        op, params = (eqn.op, eqn.params) if kind != "map" else (
            find_op("for_"), {"lo": 0, "hi": MapEqn(eqn).size, "reversed": False})
        builder.append(replace(eqn, op=op, inputs=operands, params=params,
                               outputs=(*eqn.outputs, *results), regions=tuple(regions)))
        ends = dict(zip(carried, results, strict=True))
        return {s: ends.get(handle, handle) for s, handle in handles.items()}

    def _empty_results(self, builder: Builder, eqn: Eqn) -> list[Value]:
        """Return buffers for the results of a map, which becomes a loop where it stores."""
        return [builder.emit(find_op("empty"), [], {"shape": v.aval.shape, "dtype": v.aval.dtype},
                             site=eqn.site)[0] for v in eqn.outputs]

    def _save_last(self, builder: Builder, loop: Eqn,
                   handles: dict[ResidualStore, Value]) -> dict[ResidualStore, Value]:
        """Store carried values as the last iteration leaves them, where the way back reads them."""
        handles = dict(handles)
        for store in self.plan.stores:
            if store.has_last and store.home.path[-1][0] is loop:
                k = LoopEqn(loop).carried.index(store.values[0])
                *outer, _ = place_of(store, 0)[:len(store.home.loops)]
                at = (*outer, trip_count(loop), *_whole(store.values[0]))
                operands = [handles[store], LoopEqn(loop).results[k]]
                (handles[store],) = builder.emit(find_op("update"), operands, {"at": at},
                                                 site=loop.site)
        return handles

    def _rewrite_block(self, region: Block, handles: dict[ResidualStore, Value]
                       ) -> tuple[Block, dict[ResidualStore, Value]]:
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
                                                     {"at": place_of(store)}, site=site)

        logs = [s for s in here if s.is_log]
        save(region.inputs, None)
        if not any(map(self.plan.inside, region.eqns)):  # which would push in between
            begun = [*itertools.takewhile(lambda s: {*s.values} <= {*region.inputs}, logs)]
            logs = logs[len(begun):]
            self._push(builder, begun, handles)
        extras = self._stored_extras(region)
        defined: set[Value] = set(region.inputs)
        for eqn in (None, *region.eqns):
            if eqn is not None:
                handles = self.rewrite(builder, eqn, handles)
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
        self._push(builder, logs, handles)
        return builder.scope.close(region.outputs), handles

    def _push(self, builder: Builder, stores: Sequence[ResidualStore],
              handles: dict[ResidualStore, Value]) -> None:
        """Put the present values of some stores on their Logs."""
        for store in stores:
            old = handles[store]
            (log,) = builder.emit(find_op("push"), [old, *store.values],
                                  site=self.plan.nest.top.site)
            handles.update({s: log for s in handles if handles[s] is old})

    def _stored_extras(self, region: Block) -> list[Eqn]:
        """Return the adopted equations of a region that its stored values need."""
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


def _filling(block: Block, index: Value, parts: Sequence[Value], eqn: Eqn) -> Block:
    """Return the body of a map as a loop's body, which writes each result to its place."""
    builder = Builder()
    for e in block.eqns:
        builder.append(e)
    outputs = [builder.emit(find_op("update"), [part, a], {"at": (index.dim, *_whole(a))},
                            site=eqn.site)[0]
               for part, a in zip(parts, block.outputs, strict=True)]
    return Block(block.inputs, tuple(builder.scope.eqns), tuple(outputs))


def place_of(store: ResidualStore, ahead: int = 0) -> tuple[Dim | Span, ...]:
    """Return where a stack keeps the value of the present iteration, or of the next one."""
    places: list[Dim] = []
    for loop in store.home.loops:
        index = store.home.index_of(loop).dim
        places.append(index - bounds_of(loop)[0])
    if ahead:
        places[-1] = places[-1] + ahead
    return (*places, *_whole(store.values[0]))


def _whole(v: Atom) -> tuple[Span, ...]:
    return tuple(Span(0, d) for d in v.aval.shape)
