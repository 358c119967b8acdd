"""Control flow as regions: `if_`, `for_`, `while_`, `map_`, in both directions.

| op       | operands      | regions                       | results                   |
|----------|---------------|-------------------------------|---------------------------|
| `if_`    | condition     | then(), else()                | the taken branch's yields |
| `for_`   | first carries | body(i, *carries)             | last carries              |
| `while_` | first carries | cond(i, *carries), body(same) | trip count, last carries  |
| `map_`   |               | body(i)                       | stacked along a new axis  |

`for_` runs i over lo..hi-1, backwards where `reversed`; a loop with `snapshots` keeps that many for
its way back. Regions read enclosing values freely; the cotangents of these are carried through the
backward region as accumulators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress, repeat
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.control import IfEqn, LoopEqn, MapEqn, carried_in
from tracejit.ir.core import Atom, Block, Eqn, Params, Span, Value
from tracejit.ir.dims import maximum
from tracejit.ir.lowering import Region
from tracejit.ir.types import Aval, Type
from tracejit.ops.cotangents import Cotangent, Masked, Tangent, Unread
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import atom_of, lift

__all__ = ["branches_jvp", "leave_out_untouched"]


# --- shape rules and meaning --------------------------------------------------------------------


def _if_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    then, other = regions
    if len(then.outputs) != len(other.outputs):
        raise IRError("the branches yield different numbers of values")
    for a, b in zip(then.outputs, other.outputs, strict=True):
        if a.aval != b.aval and not _same_rank(a.aval, b.aval):
            raise IRError(f"the branches yield {a.aval} and {b.aval}")
    return tuple(a.aval for a in then.outputs)


def _same_rank(a: object, b: object) -> bool:
    return isinstance(a, Aval) and isinstance(b, Aval) and a.dtype == b.dtype and a.ndim == b.ndim


def _if_reference(condition: object, regions: Sequence[Callable[..., object]]) -> Any:
    return regions[0 if condition else 1]()


def _loop_infer(trips: int) -> Any:
    def infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
        body = regions[-1]
        for a, v, out in zip(avals, carried_in(body), body.outputs, strict=True):
            if not v.aval == a == out.aval:
                raise IRError(f"a carried value begins as {a}, enters the body as {v.aval} and "
                              f"leaves it as {out.aval}")
        return (*(Aval(np.dtype(np.int64)),) * trips, *avals)

    return infer


def _for_reference(*carries: object, lo: int, hi: int, reversed: bool,
                   regions: Sequence[Callable[..., tuple[object, ...]]], snapshots: int = 0) -> Any:
    for i in range(hi - 1, lo - 1, -1) if reversed else range(lo, hi):
        carries = regions[0](np.int64(i), *carries)
    return tuple(carries)


def _while_reference(*carries: object, regions: Sequence[Callable[..., tuple[object, ...]]],
                     snapshots: int = 0) -> Any:
    trips = 0
    while regions[0](np.int64(trips), *carries)[0]:
        carries = regions[1](np.int64(trips), *carries)
        trips += 1
    return (np.int64(trips), *carries)


def _map_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    return only(*(a.aval.with_shape((params["size"], *a.aval.shape)) for a in regions[0].outputs))


def _map_reference(size: int, regions: Sequence[Callable[..., object]]) -> Any:
    results = [regions[0](np.int64(i)) for i in range(size)]
    return tuple(np.stack(column) for column in zip(*results, strict=True)) if results else ()


# --- reverse ------------------------------------------------------------------------------------


def _loop_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """Carry cotangents of the carried values, and of the body's reads from outside, backwards.

    Which carried values have a cotangent is a fixed point: one may get its own only through
    another's an iteration later.
    """
    loop = LoopEqn(eqn)
    body, carried, cts = loop.body, loop.carried, cts[loop.trips:]
    if "snapshots" in eqn.params and not any(v.is_log for v in carried):
        return [*sweep.replay(eqn, cts, maximum(loop.hi - loop.lo, 0))]
    free = sweep.active_free(body)
    has = [not (ct is None or isinstance(ct, Unread)) and sweep.wants(v)
           for ct, v in zip(cts, carried, strict=True)]
    while True:
        kept = [k for k, h in enumerate(has) if h]
        avals = [carried[k].aval for k in kept] + [v.aval for v in free]
        inputs = sweep.region_inputs(loop.index, avals)
        with sweep.open_region(inputs, loop.lo, loop.hi) as (inner, scope):
            tracers = [sweep.operand(v) for v in inputs[1:]]
            before = tracers[len(kept):]
            inner.cts.update(zip(free, before, strict=True))
            for k, t in zip(kept, tracers, strict=False):
                inner.add(loop.yielded[k], t)
            inner.run(body.eqns)
            found = [inner.cts.get(v) is not None for v in carried]
            more = [h or (f and sweep.wants(v))
                    for h, f, v in zip(has, found, carried, strict=True)]
            if more == has:
                outputs = [inner.dense_of(carried[k]) for k in kept]
                outputs += [inner.dense_of(v) for v in free]
                region, free = leave_out_untouched(scope.close(outputs), free, before, inner)
                break
        has = more
    starts = [sweep.dense(cts[k], carried[k].aval) for k in kept]
    starts += [sweep.take_dense(v) for v in free]
    params = {"lo": loop.lo, "hi": loop.hi, "reversed": not loop.is_reversed}
    results = sweep.emit_linked("for_", starts, params, [region], eqn)
    sweep.cts.update(zip(free, results[len(kept):], strict=True))
    by_place = dict(zip(kept, results, strict=False))
    return [by_place.get(k) for k in range(len(carried))]


def leave_out_untouched(region: Block, free: Sequence[Value], before: Sequence[object],
                         inner: ReverseMode) -> tuple[Block, list[Value]]:
    """Drop the accumulators, a region's last inputs, to which it adds nothing.

    Their values stay unconnected: a cotangent of zeros would be multiplied further on, and
    0 * inf is NaN.
    """
    touched = [inner.cts.get(v) is not ct for v, ct in zip(free, before, strict=True)]
    if all(touched):
        return region, list(free)
    ins, outs = len(region.inputs) - len(free), len(region.outputs) - len(free)
    inputs = (*region.inputs[:ins], *compress(region.inputs[ins:], touched))
    outputs = (*region.outputs[:outs], *compress(region.outputs[outs:], touched))
    return Block(inputs, region.eqns, outputs), list(compress(free, touched))


def _if_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """Carry cotangents into the branches, and out of them the cotangents of their outside reads.

    A value that the branch taken does not read has no cotangent, which is not a zero: its cotangent
    is masked by which branch was taken. Contributions to arrays are added to the cotangent so far,
    as only a part of an array may get one; contributions to numbers are by themselves.
    """
    free = list(dict.fromkeys(v for r in eqn.regions for v in sweep.active_free(r)))
    before = [None if _is_number(v) else sweep.take(v) for v in free]
    cts = [None if ct is None else sweep.dense(ct, v.aval)
           for ct, v in zip(cts, eqn.outputs, strict=True)]
    regions, (then, other) = zip(*(
        _branch_vjp(sweep, branch, cts, free, before) for branch in eqn.regions), strict=True)
    condition = sweep.operand(IfEqn(eqn).condition)
    touched = [not (a is False is b) for a, b in zip(then, other, strict=True)]
    asked = [t and not (isinstance(a, bool) and isinstance(b, bool))
             for a, b, t in zip(then, other, touched, strict=True)]
    found = [Block((), r.eqns, tuple(compress(r.outputs, touched + asked))) for r in regions]
    results = sweep.emit_linked("if_", [condition], {}, found, eqn)
    values, masks = iter(results[:sum(touched)]), iter(results[sum(touched):])
    for v, ct, t, m, a, b in zip(free, before, touched, asked, then, other, strict=True):
        is_all = ct is None and isinstance(v.aval, Aval)  # the branches give the whole cotangent
        if t:
            ct = next(values)
        if m:
            ct = Masked(((next(masks), True),), ct, is_zero=True)
        elif t and is_all and a is not b:
            ct = Masked(((condition, a),), ct, is_zero=True)
        if _is_number(v):
            sweep.add(v, ct)
        else:
            sweep.cts[v] = ct
    return [None]


def _branch_vjp(sweep: ReverseMode, branch: Block, cts: Sequence[Cotangent], free: Sequence[Value],
                before: Sequence[Cotangent]) -> tuple[Block, list[Any]]:
    """Return the way back of a branch, and which cotangents of free values it adds to, or when."""
    with sweep.open_region(()) as (inner, scope):
        inner.cts.update(zip(free, before, strict=True))
        for a, ct in zip(branch.outputs, cts, strict=True):
            if ct is not None:
                inner.add(a, _of_size_here(inner, a, ct))
        inner.run(branch.eqns)
        reached = [_reach(inner.cts.get(v), ct) for v, ct in zip(free, before, strict=True)]
        found = [inner.dense_of(v) for v in free]
        return scope.close([*found, *(atom_of(lift(m)) for m in reached)]), reached


def _is_number(v: Value) -> bool:
    return isinstance(v.aval, Aval) and not v.aval.ndim


def _reach(ct: Cotangent, before: Cotangent) -> Any:
    """Return whether a branch adds to a cotangent, or the condition under which it does."""
    if ct is before:
        return False
    if before is None and isinstance(ct, Masked) and not ct.mask.ndim:
        return ct.mask
    return True


def _of_size_here(sweep: ReverseMode, a: Atom, ct: Any) -> Any:
    """Return the cotangent of a branch's result, where only the branch knows the result's size."""
    if not isinstance(a.aval, Aval) or a.aval.shape == ct.aval.shape or not all(
            isinstance(d, int) for d in a.aval.shape):
        return ct
    (part,) = sweep.emit("index", [ct], {"at": tuple(Span(0, d) for d in a.aval.shape)})
    return part


def _map_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Any]) -> list[Any]:
    """The elements are independent: each adds its part to the cotangents of its operands."""
    view = MapEqn(eqn)
    body = view.body
    free = sweep.active_free(body)
    cts = [None if ct is None else sweep.dense(ct, v.aval)
           for ct, v in zip(cts, eqn.outputs, strict=True)]
    inputs = sweep.region_inputs(view.index, [v.aval for v in free])
    with sweep.open_region(inputs, 0, view.size) as (inner, scope):
        before = [sweep.operand(t) for t in inputs[1:]]
        inner.cts.update(zip(free, before, strict=True))
        for a, ct in zip(body.outputs, cts, strict=True):
            if ct is not None:
                inner.add(a, ct[inner.index])
        inner.run(body.eqns)
        region = scope.close([inner.dense_of(v) for v in free])
        region, free = leave_out_untouched(region, free, before, inner)
    starts = [sweep.take_dense(v) for v in free]
    params = {"lo": 0, "hi": view.size, "reversed": True}
    results = sweep.emit_linked("for_", starts, params, [region], eqn)
    sweep.cts.update(zip(free, results, strict=True))
    return []


# --- forward ------------------------------------------------------------------------------------


def _loop_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    """Carry tangents beside the carried values; which have one is a fixed point, as in reverse."""
    loop = LoopEqn(eqn)
    trips, carried = loop.trips, loop.carried
    has = [t is not None or h for t, h in zip(
        tangents, sweep.active.get(eqn, repeat(False)), strict=False)]
    while True:
        kept = [k for k, h in enumerate(has) if h]
        regions = []
        for region in eqn.regions:
            with sweep.copy_region(region, [carried[k].aval for k in kept]) as (inner, scope, dots):
                for k, t in zip(kept, dots, strict=True):
                    inner.tangents[carried_in(region)[k]] = t
                inner.run(region.eqns)
                outputs = [inner.read(a) for a in region.outputs]
                if region is loop.body:
                    more = [h or inner.has(a)
                            for h, a in zip(has, region.outputs, strict=True)]
                    outputs += [inner.dense_of(region.outputs[k]) for k in kept]
                regions.append(scope.close(outputs))
        if more == has:
            break
        has = sweep.active[eqn] = more
    starts = [sweep.read(a) for a in loop.starts]
    starts += [sweep.dense(tangents[k], carried[k].aval) for k in kept]
    results = sweep.replace(eqn, starts, regions)
    by_place = dict(zip(kept, results[trips + len(carried):], strict=True))
    return [None] * trips + [by_place.get(k) for k in range(len(carried))]


def branches_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    """Return the tangents of results, which all branches have where one of them has one."""
    has = sweep.active.get(eqn, [False] * len(eqn.outputs))
    while True:
        more, regions = has, []
        for region in eqn.regions:
            with sweep.copy_region(region, []) as (inner, scope, _):
                inner.run(region.eqns)
                more = [h or inner.has(a) for h, a in zip(more, region.outputs, strict=True)]
                outputs = [inner.read(a) for a in region.outputs]
                outputs += [inner.dense_of(a)
                            for a, h in zip(region.outputs, has, strict=True) if h]
                regions.append(scope.close(outputs))
        if more == has:
            break
        has = sweep.active[eqn] = more
    dotted = [v for v, h in zip(eqn.outputs, has, strict=True) if h]
    results = sweep.replace(eqn, [sweep.read(a) for a in eqn.inputs], regions, dotted)
    dots = iter(results[len(eqn.outputs):])
    return [next(dots) if h else None for h in has]


structural("if_", _if_reference, _if_infer, Region("if"), _if_vjp, branches_jvp)
structural("for_", _for_reference, _loop_infer(0), Region("for"), _loop_vjp, _loop_jvp)
structural("while_", _while_reference, _loop_infer(1), Region("while"), _loop_vjp, _loop_jvp)
structural("map_", _map_reference, _map_infer, Region("map"), _map_vjp, branches_jvp)
