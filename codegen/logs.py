"""Logs: memory that grows, which loops push residuals onto and pop them from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.elements import is_array
from tracejit.codegen.loop_ir import Assign, If, Let, Loop, Node, Return, Store
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import product
from tracejit.ir.lowering import LogOp, Region
from tracejit.ir.walk import all_eqns

if TYPE_CHECKING:
    from tracejit.codegen.lower import _Lowerer

__all__ = ["LOG_OPS", "group_logs", "log_base", "reserve"]


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


def _log_names(number: int) -> tuple[str, str, str]:
    return f"log{number}", f"top{number}", f"cap{number}"


def log_base(number: int) -> str:
    """Return the source of a Log's memory as an array."""
    return f"log_base(ctx, {number}, scope_log{number})"


def reserve(self: _Lowerer, number: int, count: str, eqn: Eqn | None) -> None:
    """Make sure that a Log has room for some elements."""
    itemsize = self.logs[number].itemsize
    status = self.failure("MemoryError", "an array made here does not fit into memory",
                          None if eqn is None else eqn.site)
    self.nodes.append(If(f"{count} > log_capacity(ctx, {number})", [
        If(f"log_grow(ctx, {number}, {count}, {itemsize}) != 0",
           [Return(f"fail(ctx, {status}, 0, 0)")])]))


def _log_new(self: _Lowerer, eqn: Eqn) -> None:
    number = self.log_of.setdefault(self.log_groups[eqn.output], len(self.logs))
    if number == len(self.logs):
        self.logs.append(eqn.params["dtype"])
    base, top, cap = _log_names(number)
    self.nodes.append(Assign(base, log_base(number)))
    self.nodes.append(Assign(top, "0", self.comment(eqn)))
    self.nodes.append(Assign(cap, "0"))


def _number_of(self: _Lowerer, log: Atom) -> int:
    return self.log_of[self.log_groups[log]]  # type: ignore[index]


def _log_push(self: _Lowerer, eqn: Eqn) -> None:
    log, *values = eqn.inputs
    number = _number_of(self, log)
    base, top, cap = _log_names(number)
    sizes = [product(a.aval.shape) for a in values]
    total = self.dim(sum(sizes, start=0))
    status = self.failure(
        "MemoryError", "what this loop stores for its way back does not fit into memory; "
        "tracejit.checkpoint stores less", eqn.site)
    grow: list[Node] = [
        If(f"log_grow(ctx, {number}, {top} + {total}, {self.logs[number].itemsize}) != 0",
           [Return(f"fail(ctx, {status}, 0, 0)")]),
        Assign(base, log_base(number)),
        Assign(cap, f"log_capacity(ctx, {number})")]
    self.nodes.append(If(f"{top} + {total} > {cap}", grow, comment=self.comment(eqn)))
    for a, size in zip(values, sizes, strict=True):
        if is_array(a):
            room = self.fresh("room")
            self.nodes.append(Assign(room, f"advance({base}, {top})"))
            self.copy(a, a, Buffer("log", a.aval.dtype, size, [], room),
                      "it is stored for the way back")
        else:
            self.nodes.append(Store(base, top, self.atom(a)))
        self.nodes.append(Assign(top, f"{top} + {self.dim(size)}"))


def _log_pop(self: _Lowerer, eqn: Eqn) -> None:
    (log,) = eqn.inputs
    number = _number_of(self, log)
    base, top, _ = _log_names(number)
    for v in reversed(eqn.outputs[1:]):
        size = product(v.aval.shape)
        self.nodes.append(Assign(top, f"{top} - {self.factor(size)}"))
        if is_array(v):
            buffer = self.buffers.of[v]
            buffer.name = self.fresh(f"t{self.labels.get(v, '')}")
            text = f"advance({base}, {top})"
            self.nodes.append(Assign(buffer.name, text, self.comment(eqn)))
            continue
        name = self.fresh(self.label(v))
        self.names[v] = name
        self.nodes.append(Let(name, f"{base}[{top}]", self.comment(eqn)))


# --- Logs that hold the items of lists ----------------------------------------------------------


def _log_of(self: _Lowerer, eqn: Eqn) -> None:
    """Begin a Log with the elements of an array."""
    (x,) = eqn.inputs
    number = self.log_of.setdefault(self.log_groups[eqn.output], len(self.logs))
    if number == len(self.logs):
        self.logs.append(x.aval.dtype)
    base, top, cap = _log_names(number)
    size = self.dim(product(x.aval.shape))
    reserve(self, number, size, eqn)
    self.nodes.append(Assign(base, log_base(number), self.comment(eqn)))
    self.nodes.append(Assign(top, size))
    self.nodes.append(Assign(cap, f"log_capacity(ctx, {number})"))
    self.copy(x, x, Buffer("log", x.aval.dtype, product(x.aval.shape), [], base),
              "a list begins with it")


def _part_of_log(self: _Lowerer, v: Value, place: str) -> Buffer:
    """Return a part of a Log, as large as an array, as a buffer."""
    name = self.fresh("part")
    self.nodes.append(Assign(name, place))
    return Buffer("log", v.aval.dtype, product(v.aval.shape), [], name)


def _copy_out(self: _Lowerer, part: Buffer, v: Value) -> None:
    k = self.fresh("k")
    self.nodes.append(Loop(k, "0", self.dim(part.size), [
        Store(self.buffers.of[v].name, k, f"{part.name}[{k}]")]))


def _log_array(self: _Lowerer, eqn: Eqn) -> None:
    """Copy all elements of a Log to an array."""
    base, _, _ = _log_names(_number_of(self, eqn.inputs[0]))
    _copy_out(self, _part_of_log(self, eqn.output, base), eqn.output)


def _place_in_log(self: _Lowerer, eqn: Eqn) -> tuple[str, str]:
    """Return a Log's memory, and which of its elements an equation begins at."""
    base, _, _ = _log_names(_number_of(self, eqn.inputs[0]))
    return base, self.dim(eqn.params["at"][0])


def _log_read(self: _Lowerer, eqn: Eqn) -> None:
    base, place = _place_in_log(self, eqn)
    _, v = eqn.outputs
    if is_array(v):
        _copy_out(self, _part_of_log(self, v, f"advance({base}, {place})"), v)
        return
    self.names[v] = self.fresh(self.label(v))
    self.nodes.append(Assign(self.names[v], f"{base}[{place}]", self.comment(eqn)))


def _log_add(self: _Lowerer, eqn: Eqn) -> None:
    base, place = _place_in_log(self, eqn)
    x = eqn.inputs[1]
    if not is_array(x):
        at = self.fresh("at")
        self.nodes.append(Assign(at, place))
        self.nodes.append(Store(base, at, f"{base}[{at}] + {self.atom(x)}", self.comment(eqn)))
        return
    part, k = _part_of_log(self, x, f"advance({base}, {place})"), self.fresh("k")
    self.nodes.append(Loop(k, "0", self.dim(part.size), [
        Store(part.name, k, f"{part.name}[{k}] + {self.buffers.of[x].name}[{k}]")]))


def _log_write(self: _Lowerer, eqn: Eqn) -> None:
    base, place = _place_in_log(self, eqn)
    x = eqn.inputs[1]
    if is_array(x):
        self.copy(x, x, _part_of_log(self, x, f"advance({base}, {place})"), "a list gets it")
    else:
        self.nodes.append(Store(base, place, self.atom(x), self.comment(eqn)))


LOG_OPS = {"new": _log_new, "push": _log_push, "pop": _log_pop, "of": _log_of,
           "array": _log_array, "read": _log_read, "add": _log_add, "write": _log_write}
