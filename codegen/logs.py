"""Logs: memory that grows, which loops push residuals onto and pop them from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.elements import is_array
from tracejit.codegen.expression_edits import call, integer, known_integer, plus
from tracejit.codegen.frame import KernelFrame
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
)
from tracejit.codegen.loop_ir import Assign, If, Loop, Node, Return, Store, every_node
from tracejit.codegen.nests import Nests
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.control import LoopEqn, carried_in, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import product
from tracejit.ir.dtypes import dtype_name
from tracejit.ir.lowering import LogOp
from tracejit.ir.walk import all_eqns

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel

__all__ = ["Logs", "bind_scopes", "group_logs"]


def group_logs(block: Block) -> dict[Value, Value]:
    """Return, per Log, one that stands for all Logs in the same memory.

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
        elif region_kind(eqn) == "if":
            for region in eqn.regions:
                for a, v in zip(region.outputs, eqn.outputs, strict=True):
                    join(a, v)
        elif region_kind(eqn) in ("for", "while"):
            loop = LoopEqn(eqn)
            for others in (*map(carried_in, eqn.regions), loop.yielded, loop.results):
                for a, b in zip(loop.starts, others, strict=True):
                    join(a, b)
    return {v: find(v) for v in leader}


def bind_scopes(kernel: Kernel) -> None:
    """Tell the routine that finds a Log's memory its dtype and alias scope.

    The scopes of Logs follow the scopes of the buffers.
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


@dataclass(frozen=True, slots=True)
class _Log:
    """The names of a Log in a kernel: its memory, its number of elements, its capacity."""

    base: Array
    top: Var
    cap: Var


class Logs:
    """Writes equations on Logs.

    dtypes -- of the elements of each Log of the kernel, by its number
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode, nests: Nests) -> None:
        self.frame, self.code, self.nests = frame, code, nests
        self.dtypes: list[np.dtype] = []
        self._groups = group_logs(frame.carried_out.block)
        """For each Log, the one that stands for all Logs in its memory."""
        self._numbers: dict[Value, int] = {}

    def lower(self, eqn: Eqn, how: LogOp) -> None:
        """Lower an equation on a Log."""
        _ACTIONS[how.action](self, eqn)

    def number_of_memory(self, dtype: np.dtype) -> int:
        """Return the number of a further Log, whose memory an array has."""
        self.dtypes.append(dtype)
        return len(self.dtypes) - 1

    def _names(self, number: int) -> _Log:
        return _Log(Array(f"log{number}", self.dtypes[number]), Var(f"top{number}", I64),
                    Var(f"cap{number}", I64))

    def base(self, number: int) -> Call:
        """Return a Log's memory as an array."""
        return call("log_base", integer(number), of=self.dtypes[number])

    def _grow(self, number: int, count: Expression, status: int) -> Node:
        """Return the branch that makes room, or leaves the kernel where there is none."""
        grown = call("log_grow", integer(number), count, integer(self.dtypes[number].itemsize))
        left = Return(call("fail", integer(status), ZERO, ZERO))
        return If(Bin("!=", grown, ZERO), [left])

    def reserve(self, number: int, count: Expression, eqn: Eqn | None) -> None:
        """Make sure that a Log has room for some elements."""
        status = self.frame.failure("MemoryError", "an array made here does not fit into memory",
                                    None if eqn is None else eqn.site)
        room = call("log_capacity", integer(number))
        self.frame.add(If(Bin(">", count, room), [self._grow(number, count, status)]))

    def new(self, eqn: Eqn) -> None:
        """Begin an empty Log."""
        number = self._number_for(eqn.output, eqn.params["dtype"])
        log = self._names(number)
        self.frame.add(Assign(log.base.name, self.base(number)),
                       Assign(log.top.name, ZERO, self.frame.origin(eqn)),
                       Assign(log.cap.name, ZERO))

    def _number_for(self, log: Value, dtype: np.dtype) -> int:
        """Return the number of a Log that begins here; branches may each begin it."""
        number = self._numbers.setdefault(self._groups[log], len(self.dtypes))
        if number == len(self.dtypes):
            self.dtypes.append(dtype)
        return number

    def _number_of(self, log: Atom) -> int:
        return self._numbers[self._groups[log]]  # type: ignore[index]

    def push(self, eqn: Eqn) -> None:
        """Put values on top."""
        log, *values = eqn.inputs
        number = self._number_of(log)
        names = self._names(number)
        base, top, cap = names.base, names.top, names.cap
        sizes = [product(a.aval.shape) for a in values]
        needed = plus(top, self.code.dim(sum(sizes, start=0)))
        status = self.frame.failure(
            "MemoryError", "what this loop stores for its way back does not fit into memory; "
            "tracejit.checkpoint stores less", eqn.site)
        grow: list[Node] = [self._grow(number, needed, status),
                            Assign(base.name, self.base(number)),
                            Assign(cap.name, call("log_capacity", integer(number)))]
        self.frame.add(If(Bin(">", needed, cap), grow, origin=self.frame.origin(eqn)))
        for a, size in zip(values, sizes, strict=True):
            behind = Assign(top.name, plus(top, self.code.dim(size)))
            if is_array(a):
                room = self.frame.fresh("room")
                self.frame.add(Assign(room, call("advance", base, top)), behind)
                self.nests.copy(a, a, Buffer("log", a.aval.dtype, size, [], room),
                                "it is stored for the way back")
            else:
                self.frame.add(Store(base.name, top, self.code.atom(a)), behind)

    def pop(self, eqn: Eqn) -> None:
        """Take values off the top."""
        (log,) = eqn.inputs
        names = self._names(self._number_of(log))
        base, top = names.base, names.top
        for v in reversed(eqn.outputs[1:]):
            size = product(v.aval.shape)
            self.frame.add(Assign(top.name, Bin("-", top, self.code.dim(size))))
            if is_array(v):
                buffer = self.frame.buffers.of[v]
                if buffer.kind != "log":
                    self._copy_out(self._part(v, call("advance", base, top)), v)
                    continue
                buffer.name = self.frame.fresh(f"t{self.frame.labels[v]}")
                self.frame.add(Assign(buffer.name, call("advance", base, top),
                                      self.frame.origin(eqn)))
                continue
            self.frame.set_scalar(v, Load(base.name, top, base.dtype), self.frame.origin(eqn))

    # --- Logs that hold the items of lists ------------------------------------------------------

    def of(self, eqn: Eqn) -> None:
        """Begin a Log with the elements of an array."""
        (x,) = eqn.inputs
        assert isinstance(x, Value)
        number = self._number_for(eqn.output, x.aval.dtype)
        log = self._names(number)
        size = self.code.dim(product(x.aval.shape))
        self.reserve(number, size, eqn)
        self.frame.add(Assign(log.base.name, self.base(number), self.frame.origin(eqn)),
                       Assign(log.top.name, size),
                       Assign(log.cap.name, call("log_capacity", integer(number))))
        begin = Buffer("log", x.aval.dtype, product(x.aval.shape), [], log.base.name)
        self.nests.copy(x, x, begin, "a list begins with it")

    def _part(self, v: Value, part: Expression) -> Buffer:
        """Return a part of a Log, as large as an array, as a buffer."""
        name = self.frame.fresh("part")
        self.frame.add(Assign(name, part))
        return Buffer("log", v.aval.dtype, product(v.aval.shape), [], name)

    def _copy_out(self, part: Buffer, v: Value) -> None:
        k = self.frame.variable("k")
        self.frame.add(Loop(k.name, ZERO, self.code.dim(part.size), [
            Store(self.frame.buffers.of[v].name, k, Load(part.name, k, part.dtype))]))

    def array(self, eqn: Eqn) -> None:
        """Copy all elements of a Log to an array."""
        log = self._names(self._number_of(eqn.inputs[0]))
        self._copy_out(self._part(eqn.output, log.base), eqn.output)

    def _place(self, eqn: Eqn) -> tuple[Array, Expression]:
        """Return a Log's memory, and which of its elements an equation begins at."""
        log = self._names(self._number_of(eqn.inputs[0]))
        return log.base, self.code.dim(eqn.params["at"][0])

    def read(self, eqn: Eqn) -> None:
        """Read an item."""
        base, place = self._place(eqn)
        _, v = eqn.outputs
        if is_array(v):
            self._copy_out(self._part(v, call("advance", base, place)), v)
            return
        found = self.frame.scalar_of(v, base.dtype)
        self.frame.add(Assign(found.name, Load(base.name, place, base.dtype),
                              self.frame.origin(eqn)))

    def add(self, eqn: Eqn) -> None:
        """Add to an item."""
        base, place = self._place(eqn)
        x = eqn.inputs[1]
        if not is_array(x):
            at = self.frame.variable("at")
            self.frame.add(Assign(at.name, place))
            total = Bin("+", Load(base.name, at, base.dtype), self.code.atom(x))
            self.frame.add(Store(base.name, at, total, self.frame.origin(eqn)))
            return
        part = self._part(x, call("advance", base, place))
        k, term = self.frame.variable("k"), self.frame.buffers.of[x]
        total = Bin("+", Load(part.name, k, part.dtype), Load(term.name, k, term.dtype))
        self.frame.add(Loop(k.name, ZERO, self.code.dim(part.size), [Store(part.name, k, total)]))

    def write(self, eqn: Eqn) -> None:
        """Write an item."""
        base, place = self._place(eqn)
        x = eqn.inputs[1]
        if is_array(x):
            part = self._part(x, call("advance", base, place))
            self.nests.copy(x, x, part, "a list gets it")
        else:
            self.frame.add(Store(base.name, place, self.code.atom(x), self.frame.origin(eqn)))


_ACTIONS: Mapping[str, Callable[[Logs, Eqn], None]] = {
    "new": Logs.new, "push": Logs.push, "pop": Logs.pop, "of": Logs.of,
    "array": Logs.array, "read": Logs.read, "add": Logs.add, "write": Logs.write}
