"""Programs of scalars as C functions in this process: for SciPy, and where a `cfunc` is expected.

The functions take no lock and know nothing of Python, so they may be called from any thread.
"""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from tracejit.codegen.c_wrapper import call_kernel, kernel_type, release_logs
from tracejit.codegen.machine import load_object, target_machine
from tracejit.codegen.slots import ALIGNMENT, arena_size
from tracejit.errors import ExportError
from tracejit.runtime.export import require_silent

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel
    from tracejit.runtime.program import Program

__all__ = ["CFunction", "make_cfunction"]

DOUBLE: Any = ir.DoubleType()
WORD: Any = ir.IntType(64)
INT: Any = ir.IntType(32)
POINTER: Any = ir.IntType(8).as_pointer()
LARGEST_ARENA = 1 << 16
"""The bytes that such a function may need on the stack."""

_FORMS: dict[str, tuple[list[Any], list[Any]]] = {
    "double (double)": ([DOUBLE], [ctypes.c_double]),
    "double (double, void *)": ([DOUBLE, POINTER], [ctypes.c_double, ctypes.c_void_p]),
    "double (int, double *)": ([INT, DOUBLE.as_pointer()],
                               [ctypes.c_int, ctypes.POINTER(ctypes.c_double)]),
    "double (int, double *, void *)": (
        [INT, DOUBLE.as_pointer(), POINTER],
        [ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p]),
}
_COUNTER = itertools.count()


@dataclass(frozen=True, slots=True)
class CFunction:
    """A C function: its address, the same for ctypes, and its name.

    It lives as long as the process does. `scipy.LowLevelCallable` takes its `ctypes`.
    """

    address: int
    ctypes: Any
    native_name: str


def make_cfunction(program: Program, kernel: Kernel, entry: int, prefix: str,
                   signature: str | None) -> CFunction:
    """Return a C function; see `Compiled.cfunc`.

    entry  -- the address of the kernel
    prefix -- of its symbol
    """
    name, count = kernel.graph.name, len(kernel.graph.inputs)
    _require_scalars(kernel, name)
    require_silent(program, kernel)
    if signature is not None and signature not in _FORMS:
        raise ValueError(f"{signature!r} is not one of {', '.join(map(repr, _FORMS))}")
    form = ([DOUBLE] * count, [ctypes.c_double] * count)
    types, given = form if signature is None else _FORMS[signature]
    if DOUBLE in types and types.count(DOUBLE) != count:
        raise ExportError(f"{name} takes {count} numbers, which a function of signature "
                          f"{signature!r} does not. Use 'double (int, double *)'")
    symbol = f"{prefix}{next(_COUNTER)}"
    module = llvm.parse_assembly(_text(kernel, entry, symbol, types))
    module.verify()
    machine = target_machine()
    manager = llvm.create_new_module_pass_manager()
    manager.add_sroa_pass()
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    address = int(load_object(machine.emit_object(module)).get_function_address(symbol))
    return CFunction(address, ctypes.CFUNCTYPE(ctypes.c_double, *given)(address), symbol)


def _require_scalars(kernel: Kernel, name: str) -> None:
    graph = kernel.graph
    types = [x.aval for x in (*graph.inputs, *graph.outputs)]
    if len(graph.outputs) != 1 or any(t.shape or t.dtype != np.float64 for t in types):
        raise ExportError(f"{name} is no function of float64 numbers with one such result; "
                          ".export() writes programs of any kind as C functions")
    arena = arena_size(kernel)
    if not isinstance(arena, int) or arena > LARGEST_ARENA:
        raise ExportError(f"{name} needs {arena} bytes of workspace, too many for the stack; "
                          ".export() writes a function that is given its workspace")


def _text(kernel: Kernel, entry: int, symbol: str, types: list[object]) -> str:
    """Return LLVM text of the C function."""
    module = ir.Module()
    module.triple = llvm.get_process_triple()
    function = ir.Function(module, ir.FunctionType(DOUBLE, types), symbol)
    b = ir.IRBuilder(function.append_basic_block())
    count = len(kernel.graph.inputs)
    if types[:1] == [INT]:
        other = b.icmp_signed("!=", function.args[0], INT(count))
        with b.if_then(other, likely=False):
            b.ret(DOUBLE(float("nan")))
        pointers = [b.gep(function.args[1], [WORD(k)]) for k in range(count)]
    else:
        pointers = []
        for x in function.args[:count]:
            pointers.append(b.alloca(DOUBLE))
            b.store(x, pointers[-1])
    result = b.alloca(DOUBLE)
    pointers.append(result)
    arena = arena_size(kernel)
    if kernel.arena:
        block = b.alloca(ir.IntType(8), size=WORD(arena))
        block.align = ALIGNMENT
        pointers.append(block)
    kernel_pointer = b.inttoptr(WORD(entry), kernel_type().as_pointer())
    status, ctx = call_kernel(b, kernel, kernel_pointer, pointers, [])
    free = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER]), "free")
    release_logs(b, kernel, ctx, lambda block, _: b.call(free, [block]))
    failed = b.icmp_unsigned("!=", status, WORD(0))
    b.ret(b.select(failed, DOUBLE(float("nan")), b.load(result)))
    return str(module)
