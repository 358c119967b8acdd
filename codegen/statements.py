"""The statements of loop nests, with their loops, the elements they read and their places.

A statement says: for all values of its loop variables, evaluate operands at indices, and put, add
or fold the result. Its loops are in the order in which memory is walked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tracejit.codegen.buffers import Buffer, Buffers, loop_vars, write_index
from tracejit.codegen.elements import Elements, Idx, is_array
from tracejit.ir.core import Atom, Eqn, Span, Value
from tracejit.ir.dims import Dim, dim_values, floor_div, mod, product, substitute
from tracejit.ir.lowering import (
    Alias,
    Argument,
    Contract,
    Effect,
    LogOp,
    Pieces,
    Reduce,
    Running,
    Write,
    axis_labels,
)
from tracejit.ir.types import scalar

__all__ = ["Access", "Statement", "copy_statement", "statements_of"]

MOST_LOOPS = 10
"""Of one statement: Python nests no more than 20 blocks, users' loops included."""


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of an element of a buffer; the index is None where it is data.

    Additions to one buffer may change places.
    """

    buffer: Buffer
    shape: tuple[Dim, ...]
    index: Idx | None
    is_write: bool
    is_add: bool = False


@dataclass(eq=False, slots=True)
class Statement:
    """One assignment under loops.

    kind     -- "put", "add" (to memory), "fold" (into a register), "argument", "running", "scatter"
    vars     -- loop variables, outermost first, with their extents
    operands -- the values that are evaluated, each at an index
    target   -- the array or scalar that gets the result, at `index`
    combine  -- how a fold combines
    folded   -- how many of the innermost loops a fold runs over
    """

    eqn: Eqn | None
    kind: str
    vars: list[Value]
    extents: list[Dim]
    operands: list[tuple[Atom, Idx]]
    target: Value
    index: Idx
    combine: str = ""
    folded: int = 0
    buffer: Buffer | None = None
    extra: dict[str, object] = field(default_factory=dict)
    shape: tuple[Dim, ...] | None = None
    """The shape through which the target is indexed, where it is not the target's own."""
    found: tuple[int, list[Access]] | None = field(default=None, init=False, repr=False)
    """Its reads and writes, and the number of stored arrays when they were found."""

    @property
    def makes_operand(self) -> bool:
        """Return whether the operand is the target itself, computed to be stored."""
        return self.kind == "put" and self.eqn is not None and self.operands[0][0] is self.target

    @property
    def target_shape(self) -> tuple[Dim, ...]:
        """Return the shape through which the target is indexed."""
        return self.target.aval.shape if self.shape is None else self.shape

    def rename(self, mapping: dict[Value, Value]) -> None:
        """Use other loop variables."""
        self.vars = [mapping.get(v, v) for v in self.vars]
        self._substitute({v: w.dim for v, w in mapping.items()})

    def at(self, var: Value, k: int) -> Statement:
        """Return the statement for one value of one of its loop variables."""
        place = self.vars.index(var)
        folded = self.folded - (place >= len(self.vars) - self.folded)
        one = replace(self, vars=[v for v in self.vars if v is not var],
                      extents=[d for j, d in enumerate(self.extents) if j != place], folded=folded)
        one._substitute({var: k})
        return one

    def drop_unit_loops(self) -> None:
        """Leave out loops that run once; loops that fold or search stay."""
        kept = len(self.vars) - self.folded
        units = [k for k, d in enumerate(self.extents[:kept]) if d == 1]
        self._substitute({self.vars[k]: 0 for k in units})
        for k in reversed(units):
            del self.vars[k], self.extents[k]
        if self.kind in ("put", "add", "fold") and len(self.vars) > MOST_LOOPS:
            kept = len(self.vars) - self.folded
            self.folded = len(self._merge_loops(kept, len(self.vars)))
            self._merge_loops(0, kept)

    def _merge_loops(self, first: int, end: int) -> list[Value]:
        """Replace some loops, all but the last ones, by one; return the variables left."""
        inner = end - MOST_LOOPS // 2
        if inner > first + 1:
            merged = Value(scalar(np.int64), self.vars[first].name)
            parts: dict[Value, Dim] = {}
            rest: Dim = merged.dim
            for k in reversed(range(first + 1, inner)):
                v, d = self.vars[k], self.extents[k]
                parts[v], rest = mod(rest, d), floor_div(rest, d)
            self._substitute({**parts, self.vars[first]: rest})
            self.extents[first:inner] = [product(tuple(self.extents[first:inner]))]
            self.vars[first:inner] = [merged]
            end -= inner - first - 1
        return self.vars[first:end]

    def _substitute(self, dims: dict[Value, Dim]) -> None:
        self.operands = [(a, tuple(substitute(i, dims) for i in index))
                         for a, index in self.operands]
        self.index = tuple(substitute(i, dims) for i in self.index)
        self.found = None

    def accesses(self, elements: Elements, buffers: Buffers) -> list[Access]:
        """Return the elements of buffers that one execution reads and writes."""
        stored = len(buffers.of) + len(elements.stored)  # both grow, and only grow
        if self.found is None or self.found[0] != stored:
            self.found = stored, self._find_accesses(elements, buffers)
        return self.found[1]

    def _find_accesses(self, elements: Elements, buffers: Buffers) -> list[Access]:
        find = elements.loads_of if self.makes_operand else elements.loads
        found = [Access(buffers.of[v], v.aval.shape, at, False)
                 for a, index in self.operands
                 for v, at in find(a, index) if v in buffers.of]  # type: ignore[arg-type]
        if self.buffer is not None:
            data = self.kind in ("scatter", "running")
            found.append(Access(self.buffer, self.target_shape, None if data else self.index, True,
                                self.kind == "add" and self.combine == "add"))
        return found

    def has_call(self, elements: Elements) -> bool:
        """Return whether it calls functions that have vector variants."""
        asks = elements.makes_call if self.makes_operand else elements.has_call
        return any(asks(a) for a, _ in self.operands)  # type: ignore[arg-type]

    def scalars(self, elements: Elements) -> set[Value]:
        """Return the scalars that it reads, sizes and indices among them."""
        found = {v for a, _ in self.operands
                 for v in (elements.made_of(a) if self.makes_operand and isinstance(a, Value)
                           else elements.leaves(a))
                 if not is_array(v)}
        room = () if self.buffer is None else (self.buffer.size, *(self.shape or ()))
        for d in (*self.extents, *self.index, *room,
                  *(i for _, index in self.operands for i in index)):
            found.update(dim_values(d))
        return found - set(self.vars)


def copy_statement(source: Atom, target: Value, buffer: Buffer, why: str) -> Statement:
    """Return the statement that copies an array, element by element, to a buffer."""
    shape = source.aval.shape
    variables = loop_vars(shape)
    index = tuple(v.dim for v in variables)
    statement = Statement(None, "put", list(variables), list(shape), [(source, index)], target,
                          index, buffer=buffer, shape=shape,  # the target's may not be known yet
                          extra={"why": why})
    statement.drop_unit_loops()
    return statement


def statements_of(eqn: Eqn, elements: Elements, buffers: Buffers, *,
                  in_registers: bool = False) -> Iterator[Statement]:
    """Yield the statements that carry out an equation that makes an array or folds one.

    in_registers -- whether the folded axes become innermost loops, at the cost of larger strides
    """
    for statement in _statements_of(eqn, elements, buffers, in_registers):
        statement.drop_unit_loops()
        yield statement


def _statements_of(eqn: Eqn, elements: Elements, buffers: Buffers,
                   in_registers: bool) -> Iterator[Statement]:
    how = eqn.op.lowering
    out = eqn.outputs[0]
    buffer = buffers.of.get(out)
    if isinstance(how, Alias) and buffers.shares(eqn.inputs[0], out):
        return
    if elements.is_virtual_kind(eqn):
        variables = loop_vars(out.aval.shape)
        index = tuple(v.dim for v in variables)
        yield Statement(eqn, "put", list(variables), list(out.aval.shape), [(out, index)], out,
                        index, buffer=buffer)
    elif isinstance(how, Alias):
        yield copy_statement(eqn.inputs[0], out, buffers.of[out], "it has another shape here")
    elif isinstance(how, Write):
        yield from _write(eqn, elements, buffers)
    elif isinstance(how, Reduce):
        yield from _reduce(eqn, buffer, in_registers)
    elif isinstance(how, Contract):
        yield from _contract(eqn, buffer, in_registers)
    elif isinstance(how, Argument):
        yield _argument(eqn, buffer)
    elif isinstance(how, Running):
        yield _running(eqn, buffer)
    elif isinstance(how, Pieces):
        yield from _pieces(eqn, buffer)
    else:
        assert isinstance(how, (Effect, LogOp)), eqn.op


def _write(eqn: Eqn, elements: Elements, buffers: Buffers) -> Iterator[Statement]:
    base, part, *indices = eqn.inputs
    out = eqn.output
    buffer = buffers.of[out]
    if not buffers.shares(base, out):
        yield copy_statement(base, out, buffer, elements.why_copied(
            base, "what it was before this write is still read"))
    combine = eqn.op.lowering.combine  # type: ignore[union-attr]
    variables = loop_vars(part.aval.shape)
    index = tuple(v.dim for v in variables)
    if not indices:
        kind = "put" if combine == "set" else "add"
        yield Statement(eqn, kind, list(variables), list(part.aval.shape), [(part, index)], out,
                        write_index(eqn.params["at"], index), combine="add", buffer=buffer)
        return
    position, rank = eqn.params["position"], len(indices[0].aval.shape)
    places = index[position:position + rank]
    rest = iter((*index[:position], *index[position + rank:]))
    target = tuple(0 if k in eqn.params["axes"] else next(rest)
                   for k in range(len(out.aval.shape)))
    operands: list[tuple[Atom, Idx]] = [(part, index), *((i, places) for i in indices)]
    yield Statement(eqn, "scatter", list(variables), list(part.aval.shape), operands, out, target,
                    combine=combine, buffer=buffer, extra={"axes": eqn.params["axes"]})


def _reduce(eqn: Eqn, buffer: Buffer | None, in_registers: bool) -> Iterator[Statement]:
    """Fold in a register where the folded axes are innermost, else in memory, filled before."""
    (a,) = eqn.inputs
    axes = eqn.params["axes"]
    variables = loop_vars(a.aval.shape)
    index = tuple(v.dim for v in variables)
    kept = tuple(i for k, i in enumerate(index) if k not in axes)
    combine = eqn.op.lowering.combine  # type: ignore[union-attr]
    ndim = len(a.aval.shape)
    yield from _fold(eqn, buffer, list(variables), list(a.aval.shape), [(a, index)], kept, combine,
                     [k in axes for k in range(ndim)], in_registers)


def _fold(eqn: Eqn, buffer: Buffer | None, variables: list[Value], extents: list[Dim],
          operands: list[tuple[Atom, Idx]], kept: Idx, combine: str,
          is_folded: list[bool], in_registers: bool) -> Iterator[Statement]:
    out = eqn.output
    count = sum(is_folded)
    if in_registers:
        order = sorted(range(len(variables)), key=is_folded.__getitem__)
        variables, extents, is_folded = ([xs[k] for k in order]  # type: ignore[assignment]
                                         for xs in (variables, extents, is_folded))
    if not count:
        assert buffer is not None
        yield Statement(eqn, "put", variables, extents, operands, out, kept, buffer=buffer)
        return
    innermost = all(is_folded[len(is_folded) - count:])
    if innermost or buffer is None:
        yield Statement(eqn, "fold", variables, extents, operands, out, kept, combine, count,
                        buffer)
        return
    fill = loop_vars(out.aval.shape)
    index = tuple(v.dim for v in fill)
    yield Statement(eqn, "fill", list(fill), list(out.aval.shape), [], out, index, combine,
                    buffer=buffer)
    yield Statement(eqn, "add", variables, extents, operands, out, kept, combine, buffer=buffer)


def _contract(eqn: Eqn, buffer: Buffer | None, in_registers: bool) -> Iterator[Statement]:
    """Order the loops so that the innermost walks along memory in as many operands as can be."""
    left, right, output = axis_labels(eqn.params["spec"])
    dims = dict(zip(left + right, (*eqn.inputs[0].aval.shape, *eqn.inputs[1].aval.shape),
                    strict=True))
    labels = list(dict.fromkeys(output + left + right))
    order = min(itertools.permutations(labels), key=lambda p: (
        _stride_cost(p, (left, right, output)), [labels.index(c) for c in p]))
    variables = dict(zip(order, loop_vars(tuple(dims[c] for c in order)), strict=True))

    def index(names: str) -> Idx:
        return tuple(variables[c].dim for c in names)

    operands = [(eqn.inputs[0], index(left)), (eqn.inputs[1], index(right))]
    yield from _fold(eqn, buffer, [variables[c] for c in order], [dims[c] for c in order], operands,
                     index(output), "add", [c not in output for c in order], in_registers)


def _stride_cost(order: tuple[str, ...], operands: tuple[str, str, str]) -> int:
    """Count, weighing inner loops more, the operands through which a loop jumps."""
    cost = 0
    for depth, c in enumerate(order):
        for names in operands:
            if c in names:
                cost += (len(names) - 1 - names.index(c)) * 4 ** depth
        if c not in operands[2]:
            cost -= depth == len(order) - 1  # a fold innermost needs no memory
    return cost


def _argument(eqn: Eqn, buffer: Buffer | None) -> Statement:
    """The searched axis is innermost, at the cost of larger strides."""
    (a,) = eqn.inputs
    axis = eqn.params["axis"]
    variables = loop_vars(a.aval.shape)
    index = tuple(v.dim for v in variables)
    order = [k for k in range(len(index)) if k != axis] + [axis]
    return Statement(eqn, "argument", [variables[k] for k in order],
                     [a.aval.shape[k] for k in order], [(a, index)], eqn.output,
                     tuple(index[k] for k in order[:-1]), eqn.op.lowering.combine,  # type: ignore[union-attr]
                     1, buffer, {"place": index[axis]})


def _running(eqn: Eqn, buffer: Buffer | None) -> Statement:
    """The axis is innermost; backwards where it runs in reverse."""
    (a,) = eqn.inputs
    axis = eqn.params["axis"]
    variables = loop_vars(a.aval.shape)
    order = [k for k in range(len(variables)) if k != axis] + [axis]
    index = tuple(
        a.aval.shape[axis] - 1 - v.dim if k == axis and eqn.params["reverse"] else v.dim
        for k, v in enumerate(variables))
    return Statement(eqn, "running", [variables[k] for k in order],
                     [a.aval.shape[k] for k in order], [(a, index)], eqn.output, index, "add", 1,
                     buffer)


def _pieces(eqn: Eqn, buffer: Buffer | None) -> Iterator[Statement]:
    axis = eqn.params["axis"]
    start: Dim = 0
    for a in eqn.inputs:
        variables = loop_vars(a.aval.shape)
        index = tuple(v.dim for v in variables)
        at = tuple(Span(start if k == axis else 0, d) for k, d in enumerate(a.aval.shape))
        yield Statement(eqn, "put", list(variables), list(a.aval.shape), [(a, index)], eqn.output,
                        write_index(at, index), buffer=buffer)
        start = start + a.aval.shape[axis]
