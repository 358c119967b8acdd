"""The functions that C calls, as LLVM text: they check sizes and lay out the kernel's arguments.

The kernel itself is `i64 kernel(ctx, pointers, sizes)`, compiled before and left as it is, so that
its results equal the same kernel's, called from Python, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from tracejit.codegen.c_interface import (
    FIRST_CONDITION,
    NEGATIVE,
    NO_WORKSPACE,
    TOO_LARGE,
    CInterface,
    CParameter,
)
from tracejit.codegen.context import ALLOCATOR, LOGS
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.plan import DimCode, Overflowing
from tracejit.codegen.slots import ALIGNMENT, arena_size
from tracejit.ir.core import Value

__all__ = ["call_kernel", "kernel_type", "release_logs", "resize", "wrapper_text"]

WORD, BYTE, BIT = ir.IntType(64), ir.IntType(8), ir.IntType(1)
POINTER = BYTE.as_pointer()
_SCALARS = {("f", 8): ir.DoubleType(), ("f", 4): ir.FloatType()}


# --- calling a kernel -----------------------------------------------------------------------------


def kernel_type() -> Any:
    """Return the type of a kernel's entry."""
    return ir.FunctionType(WORD, [POINTER, POINTER.as_pointer(), WORD.as_pointer()])


def call_kernel(builder: ir.IRBuilder, kernel: Kernel, entry: ir.Value,
                pointers: Sequence[ir.Value], sizes: Sequence[ir.Value],
                allocator: object = None) -> tuple[Any, Any]:
    """Emit a call of a kernel with a context of its own; return status and context.

    Its poll is 0: nobody is asked whether to leave.
    """
    count = LOGS + 2 * len(kernel.logs)
    ctx = builder.alloca(ir.ArrayType(WORD, count))
    builder.store(ir.Constant(ctx.type.pointee, None), ctx)
    ctx = builder.bitcast(ctx, WORD.as_pointer())
    if allocator is not None:
        builder.store(builder.ptrtoint(allocator, WORD), builder.gep(ctx, [WORD(ALLOCATOR)]))
    table = _table(builder, POINTER, [builder.bitcast(p, POINTER) for p in pointers])
    status = builder.call(entry, [builder.bitcast(ctx, POINTER), table,
                                  _table(builder, WORD, sizes)])
    return status, ctx


def _table(builder: ir.IRBuilder, kind: ir.Type, values: Sequence[ir.Value]) -> Any:
    table = builder.alloca(kind, size=WORD(max(len(values), 1)))
    for k, value in enumerate(values):
        builder.store(value, builder.gep(table, [WORD(k)]))
    return table


def release_logs(builder: ir.IRBuilder, kernel: Kernel, ctx: ir.Value,
                 free: Callable[[object, object], None]) -> None:
    """Emit the release of the Logs' memory of a kernel; `free` is given a block and its bytes."""
    for k, dtype in enumerate(kernel.logs):
        base, room = (builder.load(builder.gep(ctx, [WORD(LOGS + 2 * k + j)])) for j in (0, 1))
        with builder.if_then(builder.icmp_unsigned("!=", base, WORD(0))):
            free(builder.inttoptr(base, POINTER), builder.mul(room, WORD(dtype.itemsize)))


_RESIZE = "tracejit_resize"


def resize(builder: ir.IRBuilder, ctx: ir.Value, block: ir.Value, old_bytes: ir.Value,
           new_bytes: ir.Value) -> Any:
    """Emit a call that resizes a block by the caller's allocator."""
    function = builder.module.globals.get(_RESIZE)
    if function is None:
        function = ir.Function(builder.module, _resize_type(), _RESIZE)
        function.return_value.add_attribute("noalias")
        for attribute in ("nounwind", "memory(argmem: readwrite, inaccessiblemem: readwrite)"):
            set.add(function.attributes, attribute)  # the attributes of realloc in LLVM
    return builder.call(function, [builder.bitcast(ctx, POINTER), block, old_bytes, new_bytes])


def _resize_type() -> Any:
    return ir.FunctionType(POINTER, [POINTER, POINTER, WORD, WORD])


def _define_resize(module: ir.Module) -> None:
    """`tracejit_resize(ctx, block, old bytes, new bytes)`: NULL where there is no allocator."""
    function = ir.Function(module, _resize_type(), _RESIZE)
    b = ir.IRBuilder(function.append_basic_block())
    ctx, *rest = function.args
    words = b.bitcast(ctx, WORD.as_pointer())
    given = b.load(b.gep(words, [WORD(ALLOCATOR)]))
    with b.if_then(b.icmp_unsigned("==", given, WORD(0))):
        b.ret(ir.Constant(POINTER, None))
    fields = b.inttoptr(given, WORD.as_pointer())
    call, user = (b.load(b.gep(fields, [WORD(k)])) for k in range(2))
    with b.if_then(b.icmp_unsigned("==", call, WORD(0))):
        b.ret(ir.Constant(POINTER, None))
    target = b.inttoptr(call, _resize_type().as_pointer())
    b.ret(b.call(target, [b.inttoptr(user, POINTER), *rest]))


# --- the functions that C calls -----------------------------------------------------------------


def wrapper_text(interface: CInterface, symbol: str, entry: str, triple: str) -> str:
    """Return LLVM text of the function, of `_workspace` and of `_message`, around a kernel."""
    module = ir.Module()
    module.triple = triple
    kernel = ir.Function(module, kernel_type(), entry)
    if interface.kernel.logs:
        _define_resize(module)
    _define_main(module, interface, symbol, kernel)
    _define_workspace(module, interface, f"{symbol}_workspace")
    _define_message(module, interface, f"{symbol}_message")
    return str(module)


def _type_of(p: CParameter) -> Any:
    if p.kind == "size":
        return WORD
    if p.kind != "scalar":
        return POINTER
    assert isinstance(p.value, Value)
    dtype = p.value.aval.dtype
    return _SCALARS.get((dtype.kind, dtype.itemsize)) or ir.IntType(8 * dtype.itemsize)


def _define_main(module: ir.Module, interface: CInterface, symbol: str, entry: ir.Value) -> None:
    kernel, parameters = interface.kernel, interface.parameters
    function = ir.Function(module, ir.FunctionType(WORD, [_type_of(p) for p in parameters]), symbol)
    b = ir.IRBuilder(function.append_basic_block())
    given = dict(zip(parameters, function.args, strict=True))
    place = {p.value: _in_memory(b, x) if p.kind == "scalar" else x for p, x in given.items()}
    needed = _check_sizes(b, interface, {p.value: x for p, x in given.items()})
    (workspace,) = (x for p, x in given.items() if p.kind == "workspace")
    address = b.ptrtoint(workspace, WORD)
    missing = b.and_(b.icmp_unsigned("==", address, WORD(0)),
                     b.icmp_signed(">", needed, WORD(0)))
    _return_if(b, missing, NO_WORKSPACE)
    pointers = [place[v] for v in kernel.graph.inputs]
    pointers += [place[k] for k in range(len(kernel.outputs))]
    if kernel.arena:
        aligned = b.and_(b.add(address, WORD(ALIGNMENT - 1)), WORD(-ALIGNMENT))
        pointers.append(b.inttoptr(aligned, POINTER))
    allocator = next((x for p, x in given.items() if p.kind == "allocator"), None)
    sizes = [place[v] for v in kernel.graph.sizes]
    status, ctx = call_kernel(b, kernel, entry, pointers, sizes, allocator)
    release_logs(b, kernel, ctx, lambda block, size: resize(b, ctx, block, size, WORD(0)))
    b.ret(status)


def _in_memory(b: ir.IRBuilder, value: ir.Value) -> Any:
    place = b.alloca(value.type)
    b.store(value, place)
    return place


def _return_if(b: ir.IRBuilder, condition: ir.Value, code: int) -> None:
    with b.if_then(condition, likely=False):
        b.ret(WORD(code))


def _check_sizes(b: ir.IRBuilder, interface: CInterface, known: Mapping[Any, object]) -> Any:
    """Return from the function with a code where sizes do not fit; else give the workspace's bytes.

    Where it needs any, there are some more for aligning it.
    """
    kernel = interface.kernel
    negative = BIT(0)
    for v in kernel.graph.sizes:
        negative = b.or_(negative, b.icmp_signed("<", known[v], WORD(0)))
    _return_if(b, negative, NEGATIVE)
    checked = Overflowing(b)
    number = DimCode(checked, known.__getitem__).of
    tests = []
    for (d, relation, truth), _ in interface.conditions:
        holds = b.icmp_signed(relation, number(d), WORD(0))
        tests.append(b.not_(holds) if truth else holds)
    shapes = [number(d) for a in kernel.graph.outputs for d in a.aval.shape]
    arena = number(arena_size(kernel))
    room = b.select(b.icmp_signed(">", arena, WORD(0)),
                    checked.add(arena, WORD(ALIGNMENT - 1)), WORD(0))
    _return_if(b, checked.overflow, TOO_LARGE)
    for k, test in enumerate(tests):
        _return_if(b, test, FIRST_CONDITION - k)
    for size in shapes:
        _return_if(b, b.icmp_signed("<", size, WORD(0)), NEGATIVE)
    return room


def _define_workspace(module: ir.Module, interface: CInterface, symbol: str) -> None:
    kind = ir.FunctionType(WORD, [WORD] * len(interface.sizing))
    function = ir.Function(module, kind, symbol)
    b = ir.IRBuilder(function.append_basic_block())
    known = {p.value: x for p, x in zip(interface.sizing, function.args, strict=True)}
    b.ret(_check_sizes(b, interface, known))


def _define_message(module: ir.Module, interface: CInterface, symbol: str) -> None:
    function = ir.Function(module, ir.FunctionType(POINTER, [WORD]), symbol)
    b = ir.IRBuilder(function.append_basic_block())

    def returns(block: ir.Block, text: str) -> None:
        content = ir.Constant(ir.ArrayType(BYTE, len(text.encode()) + 1),
                              bytearray(text.encode() + b"\0"))
        held = ir.GlobalVariable(module, content.type, module.get_unique_name("text"))
        held.initializer, held.global_constant, held.linkage = content, True, "private"
        inside = ir.IRBuilder(block)
        inside.ret(inside.bitcast(held, POINTER))

    unknown = b.append_basic_block()
    choice = b.switch(function.args[0], unknown)
    returns(unknown, "unknown error code")
    for code, text in ((0, "success"), *interface.messages()):
        block = b.append_basic_block()
        choice.add_case(WORD(code), block)
        returns(block, text)
