"""A writer of LLVM functions: loops, loads, stores and calls of CPython, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

__all__ = ["BYTE", "DOUBLE", "INT", "POINTER", "WORD", "EntryWriter"]

BYTE: Any = ir.IntType(8)
WORD: Any = ir.IntType(64)
INT: Any = ir.IntType(32)
DOUBLE: Any = ir.DoubleType()
POINTER: Any = BYTE.as_pointer()


class EntryWriter:
    """Writes small steps of C in LLVM."""

    def __init__(self) -> None:
        self.module = ir.Module("tracejit.entry")
        self.module.triple = llvm.get_process_triple()

    def external(self, name: str, result: ir.Type, *args: ir.Type) -> Any:
        signature = ir.FunctionType(result, args)
        return self.module.globals.get(name) or ir.Function(self.module, signature, name)

    def constant(self, b: ir.IRBuilder, name: str) -> Any:
        """Return the address that a symbol stands for."""
        known = self.module.globals.get(name) or ir.GlobalVariable(self.module, BYTE, name)
        return b.ptrtoint(known, WORD)

    def load(self, b: ir.IRBuilder, base: ir.Value, offset: ir.Value | int,
             kind: ir.Type = WORD) -> Any:
        """Return the word that lies `offset` bytes behind an address."""
        if isinstance(offset, int):
            offset = WORD(offset)
        return b.load(b.bitcast(b.gep(b.inttoptr(base, POINTER), [offset]), kind.as_pointer()))

    def address(self, b: ir.IRBuilder, pointer: ir.Value) -> Any:
        return b.ptrtoint(pointer, WORD)

    def call(self, b: ir.IRBuilder, name: str, *args: ir.Value, result: ir.Type = WORD) -> Any:
        """Call a C function on words."""
        return b.call(self.external(name, result, *(a.type for a in args)), args)

    def call_address(self, b: ir.IRBuilder, address: ir.Value, *args: ir.Value) -> Any:
        kind = ir.FunctionType(WORD, [a.type for a in args]).as_pointer()
        return b.call(b.inttoptr(address, kind), args)

    def loop(self, b: ir.IRBuilder, count: ir.Value, body: Callable[[ir.Value], None]) -> None:
        """Run `body(i)` for i from 0 to count - 1."""
        i = self.variable(b, WORD, WORD(0))
        head = b.append_basic_block("head")
        inside = b.append_basic_block("inside")
        done = b.append_basic_block("done")
        b.branch(head)
        b.position_at_end(head)
        b.cbranch(b.icmp_signed("<", b.load(i), count), inside, done)
        b.position_at_end(inside)
        body(b.load(i))
        b.store(b.add(b.load(i), WORD(1)), i)
        b.branch(head)
        b.position_at_end(done)

    def variable(self, b: ir.IRBuilder, kind: ir.Type, start: ir.Value | None = None,
                 size: int | None = None) -> Any:
        """Return stack memory, made at the function's start."""
        with b.goto_entry_block():
            place = b.alloca(kind, size=None if size is None else WORD(size))
        if start is not None:
            b.store(start, place)
        return place
