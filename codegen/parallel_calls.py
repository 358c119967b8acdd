"""The call by which a kernel shares a loop among threads, and the C functions of its parts.

A part is called as `void part(table, lo, hi)`; the table has its arguments, 16 bytes for each. Who
calls the kernel says in its context by which function parts are shared; where there is none, the
kernel calls the part itself, stretch by stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tracejit.codegen.context import PARALLEL, POLL, THREADS
from tracejit.codegen.vector_math import align_stack

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["add_part", "parallel_names"]

WORD, BYTE = ir.IntType(64), ir.IntType(8)
TABLE = BYTE.as_pointer()
ROOM = 16
"""The bytes that an argument has in the table: as many as the largest scalar takes."""

_PART = ir.FunctionType(ir.VoidType(), [TABLE, WORD, WORD])
_SHARES = ir.FunctionType(WORD, [_PART.as_pointer(), TABLE, *(WORD,) * 5])
"""`i64 parallel_for(part, table, lo, hi, grain, threads, poll)`: nonzero where the user left."""


@intrinsic(prefer_literal=True)
def _parallel_for(typingctx: TypingContext, ctx: types.Type, part: types.Type, lo: types.Type,
                  hi: types.Type, grain: types.Type, *words: types.Type) -> Any:
    """Do the iterations from `lo` up to `hi`, `grain` at a time; nonzero where the user left."""
    given = words[0].types if len(words) == 1 and isinstance(words[0], types.BaseTuple) else words
    kinds = types.StarArgTuple.from_types(tuple(map(types.unliteral, given)))

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        base, bounds = args[0], args[2:5]
        values = [builder.extract_value(args[5], k) for k in range(len(kinds))]
        table = _table(context, builder, kinds.types, values)
        function = builder.module.globals.get(part.literal_value) or ir.Function(
            builder.module, _PART, part.literal_value)
        address, threads, poll = (builder.load(builder.gep(base, [WORD(k)]))
                                  for k in (PARALLEL, THREADS, POLL))
        status = cgutils.alloca_once_value(builder, WORD(0))
        is_shared = builder.icmp_unsigned("!=", address, WORD(0))
        with builder.if_else(is_shared) as (shared, alone):
            with shared:
                shares = builder.inttoptr(address, _SHARES.as_pointer())
                builder.store(builder.call(shares, [function, table, *bounds, threads, poll]),
                              status)
            with alone:
                _one_by_one(builder, function, table, *bounds)
        return builder.load(status)

    return types.int64(ctx, part, types.int64, types.int64, types.int64, kinds), generate


def _table(context: TargetContext, builder: ir.IRBuilder, kinds: Sequence[types.Type],
           values: Sequence[ir.Value]) -> Any:
    with builder.goto_entry_block():
        table = builder.alloca(BYTE, size=WORD(ROOM * max(1, len(values))))
        table.align = ROOM
    for k, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        data = context.data_model_manager[kind].as_data(builder, value)
        place = builder.bitcast(builder.gep(table, [WORD(ROOM * k)]), data.type.as_pointer())
        builder.store(data, place)
    return table


def _one_by_one(builder: ir.IRBuilder, function: ir.Function, table: ir.Value, lo: ir.Value,
                hi: ir.Value, grain: ir.Value) -> None:
    place = cgutils.alloca_once(builder, WORD)
    builder.store(lo, place)
    head, body, done = (builder.append_basic_block(n) for n in ("stretches", "stretch", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    first = builder.load(place)
    builder.cbranch(builder.icmp_signed("<", first, hi), body, done)
    builder.position_at_end(body)
    following = builder.add(first, grain)
    is_last = builder.icmp_signed(">", following, hi)
    builder.call(function, [table, first, builder.select(is_last, hi, following)])
    builder.store(following, place)
    builder.branch(head)
    builder.position_at_end(done)


def add_part(context: TargetContext, made: ir.Function, signature: Sequence[types.Type],
             name: str) -> None:
    """Add `void name(table, lo, hi)`, which calls the function of a part, to its module.

    signature -- the types of its parameters, the bounds first
    """
    function = ir.Function(made.module, _PART, name)
    function.attributes.add("noinline")  # it is one code for all who call it
    align_stack(function)
    builder = ir.IRBuilder(function.append_basic_block())
    table, lo, hi = function.args
    values = [lo, hi]
    for k, kind in enumerate(signature[2:]):
        model = context.data_model_manager[kind]
        place = builder.bitcast(builder.gep(table, [WORD(ROOM * k)]),
                                model.get_data_type().as_pointer())
        values.append(model.from_data(builder, builder.load(place)))
    context.call_conv.call_function(builder, made, types.int64, signature, values)
    builder.ret_void()


def parallel_names() -> dict[str, Any]:
    """Return the functions that emitted source calls, by name."""
    return {"parallel_for": _parallel_for}
