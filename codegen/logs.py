"""Logs: memory that grows, which loops push residuals onto and pop them from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.elements import is_array
from tracejit.codegen.frame import KernelEmitter
from tracejit.codegen.loop_expressions import (
    I64,
    ZERO,
    Array,
    Bin,
    Call,
    Expression,
    Load,
    Var,
    Word,
    call,
    integer,
    known_integer,
    plus,
)
from tracejit.codegen.loop_ir import Assign, If, Let, Loop, Node, Return, Store, every_node
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import product
from tracejit.ir.dtypes import dtype_name
from tracejit.ir.lowering import LogOp, Region
from tracejit.ir.walk import all_eqns

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel

__all__ = ["LOG_OPS", "bind_scopes", "group_logs", "log_base", "reserve"]


def group_logs(block: Block) -> dict[Value, Value]:
    """Return, per Log, one that stands for all that are the same memory.

    Pushes, pops, loops and branches hand a Log on; where each branch makes one of its own, they are
    one, since only one of the branches runs.
    """
    leader: dict[Value, Value] = {}

    def find(v: Value) -> Value:
        while leader.setdefault(v, v) is not v:
            v = leader[v]
        return v

    def join(a: Atom, b: Atom) -> None:
        if isinstance(a, Value) and isinstance(b, Value) and a.is_log and b.is_log:
            leader[find(a)] = find(b)

    for eqn in all_eqns(block):
        how = eqn.op.lowering
        for v in eqn.outputs:
            join(v, v)
        if isinstance(how, LogOp) and eqn.inputs:
            join(eqn.inputs[0], eqn.outputs[0])
        elif isinstance(how, Region) and how.kind == "if":
            for region in eqn.regions:
                for a, v in zip(region.outputs, eqn.outputs, strict=True):
                    join(a, v)
        elif isinstance(how, Region):
            results = eqn.outputs[len(eqn.outputs) - len(eqn.inputs):]
            for region in eqn.regions:
                for a, v in zip(eqn.inputs, region.inputs[1:], strict=True):
                    join(a, v)
            for a, v in zip(eqn.regions[-1].outputs, results, strict=False):
                join(a, v)
            for a, v in zip(eqn.inputs, results, strict=True):
                join(a, v)
    return {v: find(v) for v in leader}


@dataclass(frozen=True, slots=True)
class _Log:
    """What a kernel calls a Log: its memory, how many elements it has, and room for how many."""

    base: Array
    top: Var
    cap: Var


def _log_names(self: KernelEmitter, number: int) -> _Log:
    return _Log(Array(f"log{number}", self.logs[number]), Var(f"top{number}", I64),
                Var(f"cap{number}", I64))


def bind_scopes(kernel: Kernel) -> None:
    """Tell the routine that finds a Log's memory its dtype and alias scope: those of Logs follow
    those of the buffers.
    """
    slots = len({b.number for b in kernel.arena})
    first = len(kernel.inputs) + len(kernel.outputs) + slots
    for node in every_node(kernel.nodes):
        if isinstance(node, Assign) and isinstance(node.expression, Call) and (
                node.expression.fn.name == "log_base"):
            number = known_integer(node.expression.args[0])
            assert number is not None
            scope = Word(f"{dtype_name(kernel.logs[number])}:{first + number}")
            node.expression = node.expression.with_parts((integer(number), scope))


def log_base(self: KernelEmitter, number: int) -> Call:
    """Return a Log's memory as an array."""
    return call("log_base", integer(number), of=self.logs[number])


def _grow(self: KernelEmitter, number: int, count: Expression, status: int) -> Node:
    """Return the branch that makes room, or leaves the kernel where there is none."""
    grown = call("log_grow", integer(number), count, integer(self.logs[number].itemsize))
    left = Return(call("fail", integer(status), ZERO, ZERO))
    return If(Bin("!=", grown, ZERO), [left])


def reserve(self: KernelEmitter, number: int, count: Expression, eqn: Eqn | None) -> None:
    """Make sure that a Log has room for some elements."""
    status = self.failure("MemoryError", "an array made here does not fit into memory",
                          None if eqn is None else eqn.site)
    room = call("log_capacity", integer(number))
    self.nodes.append(If(Bin(">", count, room), [_grow(self, number, count, status)]))


def _log_new(self: KernelEmitter, eqn: Eqn) -> None:
    number = self.log_of.setdefault(self.log_groups[eqn.output], len(self.logs))
    if number == len(self.logs):
        self.logs.append(eqn.params["dtype"])
    log = _log_names(self, number)
    self.nodes.append(Assign(log.base.name, log_base(self, number)))
    self.nodes.append(Assign(log.top.name, ZERO, self.origin(eqn)))
    self.nodes.append(Assign(log.cap.name, ZERO))


def _number_of(self: KernelEmitter, log: Atom) -> int:
    return self.log_of[self.log_groups[log]]  # type: ignore[index]


def _log_push(self: KernelEmitter, eqn: Eqn) -> None:
    log, *values = eqn.inputs
    number = _number_of(self, log)
    names = _log_names(self, number)
    base, top, cap = names.base, names.top, names.cap
    sizes = [product(a.aval.shape) for a in values]
    needed = plus(top, self.dim(sum(sizes, start=0)))
    status = self.failure(
        "MemoryError", "what this loop stores for its way back does not fit into memory; "
        "tracejit.checkpoint stores less", eqn.site)
    grow: list[Node] = [_grow(self, number, needed, status),
                        Assign(base.name, log_base(self, number)),
                        Assign(cap.name, call("log_capacity", integer(number)))]
    self.nodes.append(If(Bin(">", needed, cap), grow, origin=self.origin(eqn)))
    for a, size in zip(values, sizes, strict=True):
        if is_array(a):
            room = self.fresh("room")
            self.nodes.append(Assign(room, call("advance", base, top)))
            self.copy(a, a, Buffer("log", a.aval.dtype, size, [], room),
                      "it is stored for the way back")
        else:
            self.nodes.append(Store(base.name, top, self.atom(a)))
        self.nodes.append(Assign(top.name, plus(top, self.dim(size))))


def _log_pop(self: KernelEmitter, eqn: Eqn) -> None:
    (log,) = eqn.inputs
    names = _log_names(self, _number_of(self, log))
    base, top = names.base, names.top
    for v in reversed(eqn.outputs[1:]):
        size = product(v.aval.shape)
        self.nodes.append(Assign(top.name, Bin("-", top, self.dim(size))))
        if is_array(v):
            buffer = self.buffers.of[v]
            if buffer.kind != "log":
                _copy_out(self, _part_of_log(self, v, call("advance", base, top)), v)
                continue
            buffer.name = self.fresh(f"t{self.labels.get(v, '')}")
            self.nodes.append(Assign(buffer.name, call("advance", base, top), self.origin(eqn)))
            continue
        found = Var(self.fresh(self.label(v)), base.dtype)
        self.names[v] = found
        self.nodes.append(Let(found.name, Load(base.name, top, base.dtype), self.origin(eqn)))


# --- Logs that hold the items of lists ----------------------------------------------------------


def _log_of(self: KernelEmitter, eqn: Eqn) -> None:
    """Begin a Log with the elements of an array."""
    (x,) = eqn.inputs
    assert isinstance(x, Value)
    number = self.log_of.setdefault(self.log_groups[eqn.output], len(self.logs))
    if number == len(self.logs):
        self.logs.append(x.aval.dtype)
    log = _log_names(self, number)
    size = self.dim(product(x.aval.shape))
    reserve(self, number, size, eqn)
    self.nodes.append(Assign(log.base.name, log_base(self, number), self.origin(eqn)))
    self.nodes.append(Assign(log.top.name, size))
    self.nodes.append(Assign(log.cap.name, call("log_capacity", integer(number))))
    self.copy(x, x, Buffer("log", x.aval.dtype, product(x.aval.shape), [], log.base.name),
              "a list begins with it")


def _part_of_log(self: KernelEmitter, v: Value, part: Expression) -> Buffer:
    """Return a part of a Log, as large as an array, as a buffer."""
    name = self.fresh("part")
    self.nodes.append(Assign(name, part))
    return Buffer("log", v.aval.dtype, product(v.aval.shape), [], name)


def _copy_out(self: KernelEmitter, part: Buffer, v: Value) -> None:
    k = Var(self.fresh("k"), I64)
    self.nodes.append(Loop(k.name, ZERO, self.dim(part.size), [
        Store(self.buffers.of[v].name, k, Load(part.name, k, part.dtype))]))


def _log_array(self: KernelEmitter, eqn: Eqn) -> None:
    """Copy all elements of a Log to an array."""
    log = _log_names(self, _number_of(self, eqn.inputs[0]))
    _copy_out(self, _part_of_log(self, eqn.output, log.base), eqn.output)


def _place_in_log(self: KernelEmitter, eqn: Eqn) -> tuple[Array, Expression]:
    """Return a Log's memory, and which of its elements an equation begins at."""
    log = _log_names(self, _number_of(self, eqn.inputs[0]))
    return log.base, self.dim(eqn.params["at"][0])


def _log_read(self: KernelEmitter, eqn: Eqn) -> None:
    base, place = _place_in_log(self, eqn)
    _, v = eqn.outputs
    if is_array(v):
        _copy_out(self, _part_of_log(self, v, call("advance", base, place)), v)
        return
    found = Var(self.fresh(self.label(v)), base.dtype)
    self.names[v] = found
    self.nodes.append(Assign(found.name, Load(base.name, place, base.dtype), self.origin(eqn)))


def _log_add(self: KernelEmitter, eqn: Eqn) -> None:
    base, place = _place_in_log(self, eqn)
    x = eqn.inputs[1]
    if not is_array(x):
        at = Var(self.fresh("at"), I64)
        self.nodes.append(Assign(at.name, place))
        total = Bin("+", Load(base.name, at, base.dtype), self.atom(x))
        self.nodes.append(Store(base.name, at, total, self.origin(eqn)))
        return
    part = _part_of_log(self, x, call("advance", base, place))
    k, term = Var(self.fresh("k"), I64), self.buffers.of[x]
    total = Bin("+", Load(part.name, k, part.dtype), Load(term.name, k, term.dtype))
    self.nodes.append(Loop(k.name, ZERO, self.dim(part.size), [Store(part.name, k, total)]))


def _log_write(self: KernelEmitter, eqn: Eqn) -> None:
    base, place = _place_in_log(self, eqn)
    x = eqn.inputs[1]
    if is_array(x):
        part = _part_of_log(self, x, call("advance", base, place))
        self.copy(x, x, part, "a list gets it")
    else:
        self.nodes.append(Store(base.name, place, self.atom(x), self.origin(eqn)))


LOG_OPS = {"new": _log_new, "push": _log_push, "pop": _log_pop, "of": _log_of,
           "array": _log_array, "read": _log_read, "add": _log_add, "write": _log_write}
