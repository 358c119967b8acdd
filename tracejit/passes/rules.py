"""Exact local rewrites: each leaves every bit of every result as it was.

`x + 0.0` is not among them, since -0.0 + 0.0 is 0.0; nor is `x * 0.0`, since inf * 0.0 is NaN. Of
products of arrays the sign of a zero is no promise: sums of no or one term may begin at 0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from tracejit.ir.control import IfEqn, LoopEqn, carried_in, keep_carried
from tracejit.ir.core import Atom, Eqn, Graph, Literal, Params, Span, Value
from tracejit.ir.lowering import axis_labels
from tracejit.ir.places import are_apart
from tracejit.ir.types import Aval
from tracejit.ir.walk import copy_block
from tracejit.passes.rewriting import Context, Rule, rewrite_graph

__all__ = ["simplify"]


def simplify(graph: Graph) -> Graph:
    """Return the graph after the rewrites of the table below."""
    return rewrite_graph(graph, RULES)


# --- moves of elements --------------------------------------------------------------------------


def _same_shape(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """reshape(x) = x, broadcast_to(x) = x where the shape stays."""
    return xs[0] if xs[0].aval.shape == p["shape"] else None


def _full_scalar(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """full(a){shape=()} = a."""
    return xs[0] if p["shape"] == () else None


def _move_of_full(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """move(full(a)) = full(a) in the new shape."""
    full = c.maker(xs[0], "full")
    if full is None:
        return None
    shape = p.get("shape", e.output.aval.shape)
    if any(isinstance(d, Value) for d in shape):
        return None
    return c.emit("full", full.inputs[0], shape=shape) if shape else full.inputs[0]


def _of_scalar(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """broadcast_to(scalar) = full(scalar)."""
    return c.emit("full", xs[0], shape=p["shape"]) if xs[0].aval.shape == () else None


def _reshape_of_reshape(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """reshape(reshape(x)) = reshape(x)."""
    inner = c.maker(xs[0], "reshape")
    return c.emit("reshape", inner.inputs[0], shape=p["shape"]) if inner is not None else None


def _broadcast_of_scalar_reshape(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """broadcast_to(reshape(scalar)) = full(scalar)."""
    inner = c.maker(xs[0], "reshape")
    if inner is None or inner.inputs[0].aval.shape != ():
        return None
    return c.emit("full", inner.inputs[0], shape=p["shape"])


def _transpose_of_transpose(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """transpose(transpose(x)) = transpose(x)."""
    if p["axes"] == tuple(range(len(p["axes"]))):
        return xs[0]
    inner = c.maker(xs[0], "transpose")
    if inner is None:
        return None
    axes = tuple(inner.params["axes"][k] for k in p["axes"])
    if axes == tuple(range(len(axes))):
        return inner.inputs[0]
    return c.emit("transpose", inner.inputs[0], axes=axes)


def _dot_of_transpose(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """dot(transpose(x), y){ij,..} = dot(x, y){ji,..}."""
    *labels, output = axis_labels(p["spec"])
    operands = list(xs)
    for k in range(2):
        inner = c.maker(xs[k], "transpose")
        if inner is not None:
            operands[k] = inner.inputs[0]
            axes = inner.params["axes"]
            labels[k] = "".join(labels[k][axes.index(j)] for j in range(len(axes)))
    if all(a is b for a, b in zip(operands, xs, strict=True)):
        return None
    return c.emit("dot", *operands, spec=f"{labels[0]},{labels[1]}->{output}")


def _dot_without_sum(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """dot(a, b){i,j->ij} = a[:, None] * b: each element is one product, made where it is read."""
    *sides, output = axis_labels(p["spec"])
    if any(len({*side}) < len(side) or not {*side} <= {*output} for side in sides):
        return None
    return c.emit("mul", *(_along(c, x, side, output, e.output.aval)
                           for x, side in zip(xs, sides, strict=True)))


def _along(c: Context, x: Atom, labels: str, output: str, aval: Aval) -> Atom:
    """Return an operand with its axes where a product has them, and axes of 1 for the others."""
    if not labels:
        return c.emit("full", x, shape=aval.shape)
    order = sorted(range(len(labels)), key=lambda k: output.index(labels[k]))
    if order != list(range(len(labels))):
        x = c.emit("transpose", x, axes=tuple(order))
    shape = tuple(d if label in labels else 1
                  for label, d in zip(output, aval.shape, strict=True))
    return x if x.aval.shape == shape else c.emit("reshape", x, shape=shape)


def _is_whole(at: Iterable[object], aval: Aval) -> bool:
    return all(isinstance(s, Span) and s.start == 0 and s.size == d  # so its step is 1
               for s, d in zip(at, aval.shape, strict=True))


def _index_of_all(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x[:] = x."""
    return xs[0] if _is_whole(p["at"], xs[0].aval) else None


def _index_of_update(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """update(x, v){at}[at] = v, of an element, or where nothing else reads the update.

    A slice that is written is in memory: read from there, the value needs none of its own.
    """
    inner = c.maker(xs[0], "update")
    if inner is None or inner.params["at"] != p["at"]:
        return None
    return inner.inputs[1] if not e.output.aval.shape or c.is_only_use(e.inputs[0]) else None


def _index_beside_write(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """update(x, v){at}[p] = x[p], accumulate likewise, where at and p have no element in common.

    Only if nothing else reads what is written: otherwise both versions would be needed at once.
    """
    x = xs[0]
    while (inner := c.maker(x, "update") or c.maker(x, "accumulate")) is not None and (
            c.is_only_use(x) and are_apart(inner.params["at"], p["at"], c.ranges)):
        x = inner.inputs[0]
    return None if x is xs[0] else c.emit("index", x, at=p["at"])


def _update_of_all(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """update(x, v){at=everything} = v."""
    return xs[1] if _is_whole(p["at"], xs[0].aval) else None


def _accumulate_of_all(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """accumulate(x, v){at=everything} = x + v."""
    return c.emit("add", *xs) if _is_whole(p["at"], xs[0].aval) else None


def _update_of_update(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """update(update(x, v){at}, w){at} = update(x, w){at}, if nothing else reads the first update.

    Otherwise both versions would be needed at once, and one of them be a copy.
    """
    inner = c.maker(xs[0], "update")
    if inner is None or inner.params["at"] != p["at"] or not c.is_only_use(e.inputs[0]):
        return None
    return c.emit("update", inner.inputs[0], xs[1], at=p["at"])


def _concatenate_one(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """concatenate(x) = x."""
    return xs[0] if len(xs) == 1 else None


# --- arithmetic ---------------------------------------------------------------------------------


def _keeps(e: Eqn, x: Atom) -> bool:
    return x.aval == e.output.aval


def _times_one(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x * 1 = x and x * -1 = -x; not of complex x, where -0j * 1 is 0j and infj * 1 has NaN."""
    if e.output.aval.dtype.kind == "c":
        return None
    for x, y in (xs, reversed(xs)):
        k = c.constant(y)
        if k is not None and _keeps(e, x):
            if k == 1:
                return x
            if k == -1 and x.aval.dtype.kind == "f":
                return c.emit("neg", x)
    return None


def _by_one(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x / 1 = x; not of complex numbers, where infj / 1 has NaN."""
    if e.output.aval.dtype.kind == "c":
        return None
    return xs[0] if c.constant(xs[1]) == 1 and _keeps(e, xs[0]) else None


def _plus_zero(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x + 0 = x of ints."""
    for x, y in (xs, reversed(xs)):
        if e.output.aval.dtype.kind in "iu" and _keeps(e, x) and c.constant(y) == 0:
            return x
    return None


def _minus_zero(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x - 0 = x, where no part of 0 is -0.0."""
    k = c.constant(xs[1])
    is_plus = k == 0 and not np.signbit(np.real(k)) and not np.signbit(np.imag(k))
    return xs[0] if is_plus and _keeps(e, xs[0]) else None


def _negated_twice(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """-(-x) = x."""
    inner = c.maker(xs[0], "neg")
    return inner.inputs[0] if inner is not None else None


def _plus_negated(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x + -y = x - y."""
    inner = c.maker(xs[1], "neg")
    return c.emit("sub", xs[0], inner.inputs[0]) if inner is not None else None


def _minus_negated(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """x - -y = x + y."""
    inner = c.maker(xs[1], "neg")
    return c.emit("add", xs[0], inner.inputs[0]) if inner is not None else None


def _fold(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """Compute an equation on constants now."""
    numbers = [c.constant(x) for x in xs]
    if e.op.effect or any(x is None for x in numbers):
        return None
    aval = e.output.aval
    with np.errstate(all="ignore"):
        result = e.op.reference(*numbers, **p)
    number = Literal(np.asarray(result)[()], aval.dtype)
    return c.emit("full", number, shape=aval.shape) if aval.shape else number


def _same_dtype(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """cast(x) = x where the dtype stays."""
    return xs[0] if xs[0].aval.dtype == p["dtype"] else None


# --- decisions ----------------------------------------------------------------------------------


def _is(a: Atom, truth: bool) -> bool:
    return isinstance(a, Literal) and a.aval.dtype == np.bool_ and bool(a.val) is truth


def _select(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """select(c, x, x) = x; selections among truth values are logic."""
    return _selected(c, e.output.aval, *xs)


def _selected(c: Context, aval: Aval, test: Atom, x: Atom, y: Atom) -> Atom | None:
    """Return the simpler equation that a selection of some type is; None where there is none."""
    if x is y and x.aval == aval:
        return x
    if isinstance(test, Literal) and (x if test.val else y).aval == aval:
        return x if test.val else y
    if aval.dtype != np.bool_ or test.aval != aval:
        return None
    if _is(x, True):
        return test if _is(y, False) or y is test else c.emit("logical_or", test, y)
    if _is(y, False):
        return test if x is test else c.emit("logical_and", test, x)
    if _is(x, False):
        inverse = c.emit("logical_not", test)
        return inverse if _is(y, True) else c.emit("logical_and", inverse, y)
    return c.emit("logical_or", c.emit("logical_not", test), x) if _is(y, True) else None


def _negated_decision(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """not not c = c."""
    inner = c.maker(xs[0], "logical_not")
    return inner.inputs[0] if inner is not None else None


def _idempotent(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> Atom | None:
    """c and c = c; c or c = c; max(x, x) = x."""
    return xs[0] if xs[0] is xs[1] else None


def _empty_branches(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> list[Atom] | None:
    """An `if_` that computes nothing, on scalars, is a selection."""
    then, other = e.regions
    if then.eqns or other.eqns or any(v.is_log or v.aval.shape for v in e.outputs):
        return None
    results: list[Atom] = []
    for a, b in zip(then.outputs, other.outputs, strict=True):
        chosen = _selected(c, a.aval, xs[0], a, b)
        results.append(chosen if chosen is not None else c.emit("select", xs[0], a, b))
    return results


def _known_condition(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> list[Atom] | None:
    """An `if_` on a constant with nothing in its branch is the branch's outputs."""
    if not isinstance(xs[0], Literal):
        return None
    region = IfEqn(e).branch(xs[0].val)
    return list(region.outputs) if not region.eqns else None


# --- loops --------------------------------------------------------------------------------------


def _unchanged_carry(c: Context, e: Eqn, xs: Sequence[Atom], p: Params) -> list[Atom] | None:
    """A carried value that no iteration changes is its first one."""
    loop = LoopEqn(e)
    keep = [a is not v for a, v in zip(loop.yielded, loop.carried, strict=True)]
    if all(keep):
        return None
    env: dict[Value, Any] = {}
    regions = []
    for region in e.regions:
        env.update((v, x) for v, x, k in zip(carried_in(region), xs, keep, strict=True) if not k)
    for region in e.regions:
        shrunk = keep_carried(region, keep)
        if region is loop.body:
            shrunk = replace(shrunk, outputs=tuple(compress(loop.yielded, keep)))
        regions.append(copy_block(shrunk, env))
    results = iter(c.builder.emit(e.op, [*compress(xs, keep)], p, regions, site=e.site))
    made = c.builder.scope.eqns[-1]
    c.makers.update((v, made) for v in made.outputs)
    head = [next(results) for _ in range(loop.trips)]
    return head + [next(results) if k else x for x, k in zip(xs, keep, strict=True)]


RULES: dict[str, Sequence[Rule]] = {
    "reshape": (_same_shape, _move_of_full, _reshape_of_reshape),
    "broadcast_to": (_same_shape, _move_of_full, _of_scalar, _broadcast_of_scalar_reshape),
    "transpose": (_move_of_full, _transpose_of_transpose),
    "index": (_index_of_all, _move_of_full, _index_of_update, _index_beside_write),
    "update": (_update_of_all, _update_of_update),
    "accumulate": (_accumulate_of_all,),
    "concatenate": (_concatenate_one,),
    "full": (_full_scalar,),
    "dot": (_dot_of_transpose, _dot_without_sum),
    "mul": (_fold, _times_one),
    "div": (_fold, _by_one),
    "add": (_fold, _plus_zero, _plus_negated),
    "sub": (_fold, _minus_zero, _minus_negated),
    "neg": (_fold, _negated_twice),
    "cast": (_fold, _same_dtype),
    "select": (_select,),
    "logical_not": (_fold, _negated_decision),
    "logical_and": (_fold, _idempotent),
    "logical_or": (_fold, _idempotent),
    "maximum": (_idempotent,),
    "minimum": (_idempotent,),
    "if_": (_known_condition, _empty_branches),
    "for_": (_unchanged_carry,),
    "while_": (_unchanged_carry,),
}
"""The rules of each op, tried in order; a rule's docstring is the equation that it applies."""
