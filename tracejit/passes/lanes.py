"""Eight iterations of a loop side by side, one in each lane of a vector.

    for i in range(n):                        for each block of 8 iterations:
        c = x[i] - m                              c = x[8 rows].T - m[:, None]
        for j in range(d):                        for j in range(d):
            for k in range(j):           =>           for k in range(j):
                y[j] += l[j, k] * c[k]                    y[j, :] += l[j, k] * c[k, :]
        total += f(y)                             total += sum(f(y))
                                              for the other i: as it was

The loops inside are short, or their iterations wait for one another; on eight points at once each
of their operations is one on vectors, and what is the same for all points is read once for eight.
That is done before a program is differentiated, so that its way back is in lanes, too. Which loops
these are is said in `lane_loops.py`. Sums are added up in another order: `fp="strict"` leaves loops
as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Span, Value
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.dims import Dim, floor_div, maximum, substitute
from tracejit.ir.inductions import drop_inductions
from tracejit.ir.lowering import Alias, Contract, Effect, Pointwise, View, Write
from tracejit.ir.optable import find_op
from tracejit.ir.walk import (
    Env,
    copy_eqn,
    copy_param,
    copy_value,
    read_atom,
    replace_eqns,
    replace_graph,
    replace_regions,
)
from tracejit.passes.lane_loops import LaneLoop, NotInLanes, sliced_axis

__all__ = ["describe_lanes", "in_lanes"]

LANES = 8
"""How many iterations go side by side: the numbers of a vector of 512 bits."""


def in_lanes(graph: Graph) -> tuple[Graph, list[Eqn]]:
    """Return a graph whose loops do eight iterations at once where they may, and these loops."""
    found: list[Eqn] = []

    def in_block(block: Block) -> Block:
        return replace_eqns(block, change)

    def change(eqn: Eqn) -> Iterable[Eqn]:
        if region_kind(eqn) == "for":
            loop = LaneLoop(eqn)
            try:
                loop.find()
                made = _InLanes(loop).equations()
            except NotInLanes:
                return [replace_regions(eqn, in_block)]
            found.append(eqn)
            return made
        return [replace_regions(eqn, in_block)]

    if not any(region_kind(e) == "for" for e in graph.block.eqns):
        return graph, found
    plain = drop_inductions(drop_dead_code(graph))
    block = in_block(plain.block)
    return (drop_dead_code(replace_graph(plain, block)) if found else graph), found


def describe_lanes(loop: Eqn) -> str:
    """Return why a loop is in the program twice."""
    return f"{loop.site}: {LANES} iterations at a time, side by side in the lanes of vectors"


class _InLanes:
    """Writes the loop over blocks of eight iterations, and the loop over those that are left.

    env -- what stands for each value; for one that varies an array with a last axis of eight
    """

    def __init__(self, loop: LaneLoop) -> None:
        self.loop, self.builder = loop, Builder()
        self.first: Dim = 0

    def equations(self) -> list[Eqn]:
        """Return both loops."""
        eqn = self.loop.eqn
        lo, hi = bounds_of(eqn)
        count = maximum(floor_div(hi - lo, LANES), 0)
        region = self._block_of_eight(lo)
        blocks = replace(eqn, params={**eqn.params, "lo": 0, "hi": count}, regions=(region,),
                         outputs=tuple(copy_value(v, {}) for v in eqn.outputs))
        rest = replace(eqn, inputs=blocks.outputs,
                       params={**eqn.params, "lo": lo + LANES * count, "hi": hi})
        return [blocks, rest]

    def _block_of_eight(self, lo: Dim) -> Block:
        loop = LoopEqn(self.loop.eqn)
        env: Env = {}
        b = Value(loop.index.aval, loop.index.name)
        self.first = lo + LANES * b.dim
        with self.builder.block((b, *(copy_value(v, env) for v in loop.carried))) as scope:
            for role, v in zip(self.loop.roles, loop.carried, strict=True):
                if role == "last" and v in self.loop.varying:
                    env[v] = self._emit(
                        "full", [Literal(0, v.aval.dtype)],
                        shape=(*copy_param(v.aval.shape, env), LANES))
            self._block(loop.body, env)
            return scope.close([self._left(out, env) for out in loop.yielded])

    def _left(self, out: Atom, env: Env) -> Atom:
        """Return what eight iterations leave of a carried value."""
        if out not in self.loop.varying:
            return read_atom(env, out)
        at = (*(Span(0, d) for d in copy_param(out.aval.shape, env)), LANES - 1)
        return self._emit("index", [read_atom(env, out)], at=at)

    def _block(self, block: Block, env: Env) -> None:
        for eqn in block.eqns:
            if eqn in self.loop.links:
                self._link(eqn, env)
            elif region_kind(eqn) == "for":
                self._inner_loop(eqn, env)
            elif region_kind(eqn) == "if":
                self._branches(eqn, env)
            elif isinstance(eqn.op.lowering, Effect) and self.loop.i in eqn.uses():
                self._check(eqn, env)
            elif any(v in self.loop.varying or v in self.loop.rows for v in eqn.outputs):
                env[eqn.output] = made = self._varying(eqn, env)
                if made.origin is None:
                    made.origin = eqn.output
            else:
                self.builder.append(copy_eqn(eqn, env))

    def _inner_loop(self, eqn: Eqn, env: Env) -> None:
        """Write a loop inside, for all eight at once."""
        loop = LoopEqn(eqn)
        inside = dict(env)
        inputs, starts = [copy_value(loop.index, inside)], list[Atom]()
        for start, v in zip(loop.starts, loop.carried, strict=True):
            if v in self.loop.varying:
                starts.append(self._wide(start, env))
                inside[v] = wide = Value(starts[-1].aval, v.name)
                inputs.append(wide)
            else:
                starts.append(read_atom(env, start))
                inputs.append(copy_value(v, inside))
        with self.builder.block(inputs) as scope:
            self._block(loop.body, inside)
            outputs = [self._wide(out, inside) if v in self.loop.varying else read_atom(inside, out)
                       for v, out in zip(loop.carried, loop.yielded, strict=True)]
            region = scope.close(outputs)
        results = self.builder.emit(eqn.op, starts, _copied_params(eqn, env), (region,), eqn.site)
        env.update(zip(loop.results, results, strict=True))

    def _branches(self, eqn: Eqn, env: Env) -> None:
        """Write branches of which all eight take the same."""
        regions = []
        for branch in eqn.regions:
            inside = dict(env)
            with self.builder.block(()) as scope:
                self._block(branch, inside)
                regions.append(scope.close([
                    self._wide(out, inside) if v in self.loop.varying else read_atom(inside, out)
                    for v, out in zip(eqn.outputs, branch.outputs, strict=True)]))
        results = self.builder.emit(eqn.op, [read_atom(env, a) for a in eqn.inputs],
                                    _copied_params(eqn, env), regions, eqn.site)
        env.update(zip(eqn.outputs, results, strict=True))

    def _link(self, eqn: Eqn, env: Env) -> None:
        """Add what eight iterations add to a sum."""
        k = self.loop.links[eqn]
        operands = [read_atom(env, a) for a in eqn.inputs]
        added = operands[1 - k]
        operands[1 - k] = self._emit("reduce_sum", [added], axes=(added.aval.ndim - 1,))
        (env[eqn.output],) = self.builder.emit(eqn.op, operands, eqn.params, (), eqn.site)

    def _check(self, eqn: Eqn, env: Env) -> None:
        """Check the indices of eight iterations."""
        params = _copied_params(eqn, env)
        i, last = self.loop.i, self.first + LANES - 1
        self.builder.emit(eqn.op, (), {
            **params, "first": substitute(params["first"], {i: self.first}),
            "last": substitute(params["last"], {i: last}), "count": LANES * params["count"]},
            (), eqn.site)

    # --- what varies ----------------------------------------------------------------------------

    def _varying(self, eqn: Eqn, env: Env) -> Value:
        how = eqn.op.lowering
        if isinstance(how, Write):
            return self._write(eqn, env)
        if isinstance(how, View) and how.meaning == "index":
            return self._part(eqn, env)
        if isinstance(how, Contract):
            return self._dot(eqn, env)
        params = _copied_params(eqn, env)
        if isinstance(how, Pointwise):
            operands = [self._beside(a, env) for a in eqn.inputs]
        else:
            operands = [read_atom(env, a) for a in eqn.inputs]
            if isinstance(how, Alias) or "shape" in params:
                params["shape"] = (*params["shape"], LANES)
            if isinstance(how, View) and how.meaning == "transpose":
                params["axes"] = (*params["axes"], len(params["axes"]))
            if isinstance(how, View) and how.meaning == "full":
                return self._spread(operands[0], params["shape"])
        (made,) = self.builder.emit(eqn.op, operands, params, (), eqn.site)
        return made

    def _dot(self, eqn: Eqn, env: Env) -> Value:
        """Write the inner products of vectors."""
        terms = self._emit("mul", [self._beside(a, env) for a in eqn.inputs])
        return self._emit("reduce_sum", [terms], axes=(0,))

    def _part(self, eqn: Eqn, env: Env) -> Value:
        """Read a part of an array, or eight of its rows, which become the last axis."""
        (x,), at = eqn.inputs, copy_param(eqn.params["at"], env)
        if x in self.loop.varying:
            return self._emit("index", [read_atom(env, x)], at=(*at, Span(0, LANES)))
        axis = sliced_axis(at, self.loop.i)
        assert axis is not None
        made = self._emit("index", [read_atom(env, x)], at=self._eight(at, axis))
        place = sum(isinstance(d, Span) for d in at[:axis])
        order = (*(k for k in range(made.aval.ndim) if k != place), place)
        return made if order == tuple(range(len(order))) else self._emit(
            "transpose", [made], axes=order)

    def _eight(self, at: Sequence[Dim | Span], axis: int) -> tuple[Dim | Span, ...]:
        d = at[axis]
        assert not isinstance(d, Span)
        start = substitute(d, {self.loop.i: self.first})
        return (*at[:axis], Span(start, LANES), *at[axis + 1:])

    def _write(self, eqn: Eqn, env: Env) -> Value:
        """Write to a part of an array in each lane, or to eight rows of an array."""
        array, value = eqn.inputs
        at = copy_param(eqn.params["at"], env)
        wide = self._wide(value, env)
        if array not in self.loop.rows:
            (made,) = self.builder.emit(eqn.op, [self._wide(array, env), wide],
                                        {"at": (*at, Span(0, LANES))}, (), eqn.site)
            return made
        axis = sliced_axis(at, self.loop.i)
        assert axis is not None
        place, last = sum(isinstance(d, Span) for d in at[:axis]), wide.aval.ndim - 1
        if place != last:
            order = (*range(place), last, *range(place, last))
            wide = self._emit("transpose", [wide], axes=order)
        (made,) = self.builder.emit(eqn.op, [read_atom(env, array), wide],
                                    {"at": self._eight(at, axis)}, (), eqn.site)
        return made

    def _beside(self, a: Atom, env: Env) -> Atom:
        """Return an operand of an operation by element, with an axis of lanes or one of 1."""
        found = read_atom(env, a)
        if a in self.loop.varying or not a.aval.ndim:
            return found
        return self._emit("reshape", [found], shape=(*found.aval.shape, 1))

    def _wide(self, a: Atom, env: Env) -> Value:
        """Return an array with an axis of lanes, whether it varies or not."""
        found = read_atom(env, a)
        if a in self.loop.varying:
            assert isinstance(found, Value)
            return found
        shape = (*found.aval.shape, LANES)
        if not found.aval.ndim:
            return self._emit("full", [found], shape=shape)
        return self._emit("broadcast_to", [self._beside(a, env)], shape=shape)

    def _spread(self, lanes: Atom, shape: tuple[Dim, ...]) -> Value:
        """Return an array that is a number of its own in each lane."""
        flat = self._emit("reshape", [lanes], shape=(*(1 for _ in shape[:-1]), LANES))
        return self._emit("broadcast_to", [flat], shape=shape)

    def _emit(self, name: str, inputs: Sequence[Atom], **params: object) -> Value:
        (v,) = self.builder.emit(find_op(name), inputs, params, site=self.loop.eqn.site)
        return v


def _copied_params(eqn: Eqn, env: Env) -> dict[str, Any]:
    return {k: copy_param(p, env) for k, p in eqn.params.items()}
