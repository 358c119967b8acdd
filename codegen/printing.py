"""Prints from kernels: a call back to whoever runs them, with the addresses of what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.context import INTERRUPTED, PRINT
from tracejit.codegen.elements import is_array
from tracejit.codegen.loop_expressions import (
    I64,
    ZERO,
    Array,
    Bin,
    Expression,
    Var,
    call,
    integer,
)
from tracejit.codegen.loop_ir import Assign, If, Return
from tracejit.codegen.native import pointer_or_word, table_of
from tracejit.ir.core import Eqn, Value

if TYPE_CHECKING:
    from tracejit.codegen.lower import _Lowerer

__all__ = ["lower_print", "show"]

WORD = ir.IntType(64)


def lower_print(self: _Lowerer, eqn: Eqn) -> None:
    """Show operands, and leave the kernel if that is asked for."""
    words: list[Expression] = []
    for a in eqn.inputs:
        if is_array(a) and isinstance(a, Value):
            buffer = self.buffers.of[a]
            words += [Array(buffer.name, buffer.dtype), *map(self.dim, a.aval.shape)]
        else:
            words.append(call("slot", self.atom(a)))
    kinds = tuple((a.aval.dtype, len(a.aval.shape)) for a in eqn.inputs)
    self.prints.append((eqn.params["format"], kinds))
    status = Var(self.fresh("status"), I64)
    shown = call("show", integer(len(self.prints) - 1), *words)
    self.nodes.append(Assign(status.name, shown, self.origin(eqn)))
    self.nodes.append(If(Bin("!=", status, ZERO), [Return(integer(INTERRUPTED))]))


@intrinsic
def show(typingctx: Any, ctx: Any, number: Any, *words: Any) -> Any:
    """Call the function that prints, if there is one."""
    given = words[0].types if len(words) == 1 and isinstance(words[0], types.BaseTuple) else words
    kinds = types.StarArgTuple.from_types(tuple(map(pointer_or_word, given)))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        table = table_of(builder, [builder.extract_value(args[2], k) for k in range(len(kinds))])
        address = builder.load(builder.gep(args[0], [WORD(PRINT)]))
        with builder.goto_entry_block():
            result = builder.alloca(WORD)
        builder.store(WORD(0), result)
        with builder.if_then(builder.icmp_unsigned("!=", address, WORD(0))):
            kind = ir.FunctionType(WORD, [WORD, WORD.as_pointer()])
            function = builder.inttoptr(address, kind.as_pointer())
            builder.store(builder.call(function, [args[1], table]), result)
        return builder.load(result)

    return types.int64(ctx, types.int64, kinds), generate
