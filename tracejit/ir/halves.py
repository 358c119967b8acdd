"""Programs over floats of two bytes, written as programs over float32: `widened`.

    %1: f16[n] = mul(%x, %x)          %x_: f32[n] = cast(%x)        {dtype=f32}
    %2: f16[n] = add(%1, %x)          %1:  f32[n] = mul(%x_, %x_)
    return %2                   =>    %2:  f32[n] = round_f16(%1)
                                      %3:  f32[n] = add(%2, %x_)
                                      %4:  f32[n] = round_f16(%3)
                                      %5:  f16[n] = cast(%4)        {dtype=f16}
                                      return %5

Every value of a half has a float32 in its place that is such a half, so an op that does not round
(a view, a comparison, a branch) is as it was, and one that rounds is followed by the op that
rounds to the half, whose name is in `HALVES`. Programs are written so before they are
differentiated, which keeps cotangents in float32 until they are an argument's, and before they
are lowered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracejit.ir.builder import Builder
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Op, Params, Value
from tracejit.ir.dtypes import HALVES, is_half
from tracejit.ir.lowering import Callback, Effect, Inline, Native, Write
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, LogType, Type
from tracejit.ir.walk import all_eqns, copy_block, free_values, replace_graph

__all__ = ["in_float32", "widened", "widened_block"]

F32 = np.dtype(np.float32)


def widened(graph: Graph) -> Graph:
    """x: f16 = round_f16(x: f32), in which it is computed."""
    block = widened_block(graph.block)
    return graph if block is graph.block else replace_graph(graph, block)


def widened_block(block: Block) -> Block:
    """Return a block that computes its halves in float32, of the same inputs and types.

    A block without any is returned as it is.
    """
    if not any(map(_is_narrow, all_eqns(block))):
        return block
    return _Widening().whole(block)


def _is_narrow(eqn: Eqn) -> bool:
    """Return whether an equation does more with halves than take them from or to float32."""
    if not _has_halves(eqn):
        return False
    if eqn.op.meaning != "cast":
        return not _is_opaque(eqn)
    return {eqn.inputs[0].aval.dtype, eqn.output.aval.dtype} - HALVES.keys() != {F32}


def _has_halves(eqn: Eqn) -> bool:
    """Return whether an equation itself has an operand, a result or a parameter of a half."""
    return any(is_half(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs)) or any(
        isinstance(p, np.dtype) and is_half(p) for p in eqn.params.values()) or any(
        is_half(v.aval.dtype) for r in eqn.regions for v in (*r.inputs, *r.outputs))


def _is_opaque(eqn: Eqn) -> bool:
    """Return whether an equation takes halves as they are: it is a user's, or shows them."""
    how = eqn.op.lowering
    if isinstance(how, Inline):
        return bool(eqn.regions) and (how.what == "operands" or eqn.op.vjp is None)
    return isinstance(how, (Native, Callback)) or (isinstance(how, Effect) and how.shows)


def _wide_type(t: Type) -> Type:
    if not is_half(t.dtype):
        return t
    return t.with_dtype(F32) if isinstance(t, Aval) else LogType(F32)


class _Widening:
    """The block that is being made, and the stand-ins of values of halves in it."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.wide: dict[Value, Value] = {}
        self.given: set[Value] = set()
        """The values of halves that are there themselves: inputs, results of opaque equations."""
        self.eqn: Eqn | None = None

    def whole(self, block: Block) -> Block:
        """Return a block with the same inputs, and outputs of the same types."""
        with self.builder.block(block.inputs) as scope:
            for v in (*block.inputs, *free_values(block)):
                if is_half(v.aval.dtype):
                    self._take(v)
            for eqn in block.eqns:
                self._rewrite(eqn)
            self.eqn = None
            return scope.close([self._narrow(a) for a in block.outputs])

    def _region(self, region: Block) -> Block:
        inputs = [self._stand_in(v) if is_half(v.aval.dtype) else v for v in region.inputs]
        with self.builder.block(inputs) as scope:
            for eqn in region.eqns:
                self._rewrite(eqn)
            return scope.close([self._read(a) for a in region.outputs])

    # --- values -----------------------------------------------------------------------------------

    def _stand_in(self, v: Value) -> Value:
        """Return a new float32 in the place of a half."""
        new = Value(_wide_type(v.aval), v.name)
        new.origin = v
        self.wide[v] = new
        return new

    def _take(self, v: Value) -> None:
        """Let a half that is there be read as a float32."""
        self.given.add(v)
        if not v.is_log:
            (self.wide[v],) = self._emit("cast", [v], {"dtype": F32})

    def _read(self, a: Atom) -> Atom:
        """Return the stand-in of an operand."""
        if isinstance(a, Literal):
            return Literal(np.float32(a.val), F32) if is_half(a.aval.dtype) else a
        return self.wide.get(a, a)

    def _narrow(self, a: Atom) -> Atom:
        """Return an operand as it is outside: one of a half as such."""
        if isinstance(a, Literal) or a not in self.wide or a in self.given:
            return a
        if not is_half(a.aval.dtype):
            return self.wide[a]
        return self._emit("cast", [self.wide[a]], {"dtype": a.aval.dtype})[0]

    # --- equations --------------------------------------------------------------------------------

    def _emit(self, op: Op | str, inputs: Sequence[Atom],
              params: Params | None = None) -> tuple[Value, ...]:
        """Append an equation in the place of the one that is rewritten."""
        op, builder, eqn = find_op(op) if isinstance(op, str) else op, self.builder, self.eqn
        if eqn is None:
            return builder.emit(op, inputs, params)
        builder.of, builder.group = self._of(eqn), eqn.group
        made = builder.emit(op, inputs, params, site=eqn.site)
        builder.of = builder.group = None
        return made

    def _rewrite(self, eqn: Eqn) -> None:
        self.eqn = eqn
        if _is_opaque(eqn):
            self._keep(eqn)
        elif eqn.op.meaning == "cast" and _has_halves(eqn):
            self._convert(eqn)
        elif not _has_halves(eqn) and not eqn.regions and self.wide.keys().isdisjoint(eqn.inputs):
            self.builder.append(eqn)
        elif isinstance(eqn.op.lowering, Write) and eqn.op.lowering.combine == "add" and is_half(
                eqn.output.aval.dtype):
            self._add(eqn)
        else:
            self._compute(eqn)

    def _keep(self, eqn: Eqn) -> None:
        """Let an equation have its halves: cast to them before it, and from them after it."""
        free = {v: self._narrow(v) for r in eqn.regions for v in free_values(r)
                if v in self.wide and v not in self.given}
        regions = tuple([copy_block(r, free) for r in eqn.regions]) if free else eqn.regions
        inputs = tuple(map(self._narrow, eqn.inputs))
        self.builder.append(eqn.with_parts(inputs, eqn.params, eqn.outputs, regions, eqn.of))
        for v in eqn.outputs:
            if is_half(v.aval.dtype):
                self._take(v)

    def _convert(self, eqn: Eqn) -> None:
        """Replace a cast from a half or to one."""
        (a,), target = eqn.inputs, eqn.params["dtype"]
        x = self._read(a)
        if is_half(target) and target != a.aval.dtype:
            if x.aval.dtype.kind == "c":
                (x,) = self._emit("real", [x])
            self._name(eqn.output, self._emit(HALVES[target], [x])[0])
        elif isinstance(x, Value) and x.aval.dtype == _wide_type(eqn.output.aval).dtype:
            self.wide[eqn.output] = x
        else:
            made = self._emit("cast", [x], {"dtype": F32 if is_half(target) else target})
            self.wide[eqn.output] = made[0]

    def _add(self, eqn: Eqn) -> None:
        """Add to a part of an array, and round this part alone."""
        x, y, *where = map(self._read, eqn.inputs)
        half, how = eqn.output.aval.dtype, eqn.op.lowering
        gathered = isinstance(how, Write) and how.gathered
        (sums,) = self._emit(eqn.op, [x, y, *where], eqn.params)
        reads, writes = ("gather", "scatter") if gathered else ("index", "update")
        (part,) = self._emit(reads, [sums, *where], eqn.params)
        (part,) = self._emit(HALVES[half], [part])
        self._name(eqn.output, self._emit(writes, [sums, part, *where], eqn.params)[0])

    def _compute(self, eqn: Eqn) -> None:
        """Compute in float32, and round each result that may need it."""
        inputs = tuple(map(self._read, eqn.inputs))
        params = {k: F32 if isinstance(p, np.dtype) and is_half(p) else p
                  for k, p in eqn.params.items()}
        regions = tuple(map(self._region, eqn.regions))
        outputs = tuple([self._stand_in(v) if is_half(v.aval.dtype) else v for v in eqn.outputs])
        self.builder.append(eqn.with_parts(inputs, params, outputs, regions, self._of(eqn)))
        for v in eqn.outputs:
            if is_half(v.aval.dtype) and _rounds(eqn):
                self.wide[v] = self._emit(HALVES[v.aval.dtype], [self.wide[v]])[0]

    def _of(self, eqn: Eqn) -> Value | None:
        return None if eqn.of is None else self.wide.get(eqn.of, eqn.of)

    def _name(self, v: Value, made: Value) -> None:
        made.name, made.origin = v.name, v
        self.wide[v] = made


def _rounds(eqn: Eqn) -> bool:
    """Return whether results computed in float32 may be no halves, though the operands are."""
    return not (eqn.op.exact or eqn.regions or any(v.is_log for v in eqn.outputs))


def in_float32(eqn: Eqn) -> bool:
    """Return whether an equation on halves is its op's reference on float32, rounded."""
    return _rounds(eqn) and not isinstance(
        eqn.op.lowering, (Native, Callback, Effect, Inline)) and any(
        is_half(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs))
