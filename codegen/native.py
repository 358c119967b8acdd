"""Users' `@njit` functions in kernels: each called as it is, through a C function of its own.

A call goes through one table of 64-bit words: of each operand and result its address, followed by
the sizes of an array. The C function returns 0, 1 where the user's function raised, or 2 where an
array that it returned has another shape than was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import carray, cfunc
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.pointers import Ptr
from tracejit.ir.types import Aval
from tracejit.ir.user_text import identifier

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["bind_native", "kinds_of_words", "native_names", "pointer_or_word", "table_of"]

WORD = ir.IntType(64)
_BOUND: dict[tuple[Any, ...], tuple[str, Any]] = {}
"""The symbol of each function for each types, and the C function, which must be kept."""


def bind_native(name: str, fn: Callable[..., object], operands: Sequence[Aval],
                results: Sequence[Aval]) -> str:
    """Return the symbol under which compiled code finds a function for operands of these types."""
    key = (fn, *((a.dtype, a.ndim) for a in operands), "->", *((a.dtype, a.ndim) for a in results))
    if key not in _BOUND:
        names: dict[str, Any] = {"fn": fn, "carray": carray, "at": _at, "np": np}
        source = _wrapper_source(operands, results)
        exec(compile(source, f"<tracejit's call of {identifier(name)}>", "exec"), names)
        made = cfunc(types.int64(types.CPointer(types.int64)))(names["call"])
        symbol = f"tracejit_native_{identifier(name)}_{len(_BOUND)}"
        llvm.add_symbol(symbol, made.address)
        _BOUND[key] = symbol, made
    return _BOUND[key][0]


def _wrapper_source(operands: Sequence[Aval], results: Sequence[Aval]) -> str:
    """Return the Python source of the C function."""
    place = 0

    def array(a: Aval) -> str:
        nonlocal place
        shape = "".join(f"w[{place + 1 + k}], " for k in range(a.ndim)) or "1,"
        text = f"carray(at(w[{place}]), ({shape}), np.{a.dtype.name})"
        place += 1 + a.ndim
        return text

    arguments = [array(a) if a.ndim else f"{array(a)}[0]" for a in operands]
    stores = []
    for k, a in enumerate(results):
        part = "result" if len(results) == 1 else f"result[{k}]"
        stores.append(f"out{k} = {array(a)}")
        if a.ndim:
            stores += [f"if {part}.shape != out{k}.shape:", "    return 2", f"out{k}[...] = {part}"]
        else:
            stores.append(f"out{k}[0] = {part}")
    body = [f"w = carray(words, ({place},))", "try:", f"    result = fn({', '.join(arguments)})",
            "except Exception:", "    return 1", *stores, "return 0"]
    return "def call(words):\n" + "\n".join(f"    {line}" for line in body)


@intrinsic
def _at(typingctx: TypingContext, address: types.Type) -> Any:
    """An address as a pointer."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


@intrinsic
def _slot(typingctx: TypingContext, x: types.Type) -> Any:
    """The address of a scalar, put into memory for the length of a call."""
    kind = types.unliteral(x)

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        data = context.data_model_manager[kind].as_data(builder, args[0])
        with builder.goto_entry_block():
            place = builder.alloca(data.type)
        builder.store(data, place)
        return builder.ptrtoint(place, WORD)

    return types.int64(kind), generate


def pointer_or_word(kind: types.Type) -> Any:
    """Return the type in which a pointer or a number is given for a table."""
    return kind if isinstance(kind, Ptr) else types.int64


def table_of(builder: ir.IRBuilder, words: Sequence[ir.Value]) -> Any:
    """Return a table of words and pointers, in memory for the length of a call."""
    with builder.goto_entry_block():
        table = builder.alloca(WORD, size=WORD(max(len(words), 1)))
    for k, word in enumerate(words):
        if isinstance(word.type, ir.LiteralStructType):  # a pointer of verify mode
            word = builder.extract_value(word, 0)
        if isinstance(word.type, ir.PointerType):
            word = builder.ptrtoint(word, WORD)
        builder.store(word, builder.gep(table, [WORD(k)]))
    return table


def kinds_of_words(words: Sequence[types.Type]) -> Any:
    """Return the type of the words of a call: each a pointer or an int."""
    given = words[0].types if len(words) == 1 and isinstance(words[0], types.BaseTuple) else words
    return types.StarArgTuple.from_types(tuple(map(pointer_or_word, given)))


@intrinsic(prefer_literal=True)
def _call_native(typingctx: TypingContext, symbol: types.Type, *words: types.Type) -> Any:
    """Call a user's function: the words of its operands, then the words of its results."""
    kinds = kinds_of_words(words)

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        table = table_of(builder, [builder.extract_value(args[1], k) for k in range(len(kinds))])
        name = symbol.literal_value
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(WORD, [WORD.as_pointer()]), name)
        return builder.call(function, [table])

    return types.int64(symbol, kinds), generate


def native_names() -> dict[str, Any]:
    """Return the functions that emitted source calls, by name."""
    return {"call_native": _call_native, "slot": _slot}
