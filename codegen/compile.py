"""Kernels to machine code: `translation.py`, then LLVM once, into an engine of our own.

The object code, and the optimised bitcode that it came from, stay available.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack

from tracejit.codegen.blas_threads import limit_small_calls
from tracejit.codegen.halves import half_functions
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.libraries import load_libmvec
from tracejit.codegen.line_tables import LineTables
from tracejit.codegen.loop_expressions import Array
from tracejit.codegen.loop_hints import chooses_inside
from tracejit.codegen.loop_ir import depth_of, loops_in
from tracejit.codegen.machine import load_object, target_machine
from tracejit.codegen.numba_contexts import contexts, plain_flags
from tracejit.codegen.parallel_calls import add_part
from tracejit.codegen.pointers import NUMBA_TYPES, Ptr
from tracejit.codegen.python_source import write
from tracejit.codegen.slots import arena_nodes
from tracejit.codegen.translation import Translator
from tracejit.codegen.vector_math import align_stack
from tracejit.configuration import settings

__all__ = ["Functions", "MachineCode", "assembly_of", "compile_kernel", "optimised_kernel",
           "signature_of"]

_LOCK = threading.RLock()


@dataclass(slots=True)
class MachineCode:
    """A compiled module: its optimised IR, its object code, and the engine that holds it.

    The IR is bitcode from before code was generated, which changes a module.
    """

    bitcode: bytes
    object_code: bytes
    engine: Any
    times: dict[str, float]

    def address(self, symbol: str) -> int:
        """Return the address of a function."""
        return int(self.engine.get_function_address(symbol))

    @property
    def llvm(self) -> str:
        """Return the optimised LLVM IR."""
        return str(llvm.parse_bitcode(self.bitcode))


class _Library(JITCodeLibrary):
    """A code library that only parses the modules it is given; LLVM's passes run once, later."""

    def add_ir_module(self, ir_module: object) -> None:
        self.parsed = llvm.parse_assembly(str(ir_module))


def signature_of(kernel: Kernel) -> tuple[Any, ...]:
    """Return the Numba types of a kernel's parameters; every pointer has a scope of its own."""
    pointers = [Ptr(NUMBA_TYPES[b.dtype], k)
                for k, b in enumerate((*kernel.inputs, *kernel.outputs))]
    arena = [types.CPointer(types.uint8)] if kernel.arena else []
    return (types.CPointer(types.int64), *pointers, *arena,
            *(types.int64,) * len(kernel.graph.sizes))


@dataclass(frozen=True, slots=True)
class Functions:
    """A kernel, with the functions that its source calls.

    names -- the functions that it calls, by name
    path  -- the file that has its source
    """

    kernel: Kernel
    names: Mapping[str, Any]
    path: str


def _scopes(kernel: Kernel) -> dict[str, Ptr]:
    """Return the Numba type of each buffer, by its name; buffers in one slot have one scope."""
    given = (*kernel.inputs, *kernel.outputs)
    numbers = {b.name: k for k, b in enumerate(given)}
    numbers |= {b.name: len(given) + b.number for b in kernel.arena}
    return {b.name: Ptr(NUMBA_TYPES[b.dtype], numbers[b.name]) for b in kernel.buffers}


def compile_kernel(functions: Functions, symbol: str, beside: Sequence[str] = ()) -> MachineCode:
    """Compile a kernel and an entry `symbol(ctx, pointers, sizes)` that takes its arguments from
    tables; `beside` is LLVM text to go with it, whose functions stay visible.
    """
    with _undisturbed():
        return _compile(functions, symbol, beside)


def optimised_kernel(functions: Functions, symbol: str, machine: llvm.TargetMachine) -> Any:
    """Return the optimised module of a kernel and its entry, made for a target machine."""
    with _undisturbed():
        return _optimise(_translate(functions, symbol, machine), machine, functions.kernel)


def assembly_of(functions: Functions, symbol: str, beside: Sequence[str] = (), *,
                with_lines: bool = False) -> str:
    """Return the assembly of the code that `compile_kernel` makes, by compiling again.

    Made from its bitcode it would be other code, as bitcode does not keep all facts by which LLVM
    chooses registers.

    with_lines -- whether `.loc` directives say which line of the source an instruction comes from
    """
    machine = target_machine()
    with _undisturbed():
        module = _translate(functions, symbol, machine, with_lines)
        return str(machine.emit_assembly(_optimise(_linked(module, beside), machine,
                                                   functions.kernel)))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let one thread compile at a time, without collecting garbage meanwhile."""
    with global_compiler_lock, _LOCK:  # in this order: callers in `@njit` code hold the first
        collecting = gc.isenabled()
        gc.disable()  # a collection in the middle of it costs as much as the compilation
        try:
            yield
        finally:
            if collecting:
                gc.enable()


def _compile(functions: Functions, symbol: str, beside: Sequence[str]) -> MachineCode:
    start = perf_counter()
    machine = target_machine()
    module = _translate(functions, symbol, machine, settings().debug_info)
    front = perf_counter()
    optimised = _optimise(_linked(module, beside), machine, functions.kernel)
    bitcode = optimised.as_bitcode()
    middle = perf_counter()
    object_code = machine.emit_object(optimised)
    limit_small_calls(f.name for f in optimised.functions if f.is_declaration)
    engine = load_object(object_code)
    end = perf_counter()
    times = {"translation": front - start, "llvm": middle - front, "object": end - middle}
    return MachineCode(bitcode, object_code, engine, times)


def _linked(module: llvm.ModuleRef, beside: Sequence[str]) -> Any:
    for text in beside:
        module.link_in(llvm.parse_assembly(text))
    return module


def _translate(functions: Functions, symbol: str, machine: llvm.TargetMachine,
               with_lines: bool = False) -> Any:
    """Return the module of a kernel, its parts and its entry."""
    load_libmvec()
    typing_context, target_context = contexts()
    library = _Library(target_context.codegen(), symbol)
    module = library.create_ir_module(symbol)
    module.data_layout = str(machine.target_data)
    with ConfigStack().enter(plain_flags()), target_context.push_code_library(library):
        _emit(functions, symbol, (typing_context, target_context), module, with_lines)
    parsed = llvm.parse_assembly(str(module))
    for linked in library._linking_libraries:
        parsed.link_in(linked._get_module_for_linking(), preserve=True)
    halves = half_functions(parsed, machine)
    if halves:
        parsed.link_in(llvm.parse_assembly(halves))
    _internalize(parsed, symbol)
    return parsed


def _emit(functions: Functions, symbol: str, contexts: tuple[Any, Any], module: ir.Module,
          with_lines: bool) -> None:
    kernel = functions.kernel
    tables = LineTables(module, functions.path) if with_lines else None
    places = write(kernel).places if with_lines else ()
    lines = {id(place.node): place.first for place in places}
    scalars = {b.name for b in kernel.inputs if not b.values[0].aval.shape}
    translator = Translator(contexts, module, functions.names, lines, tables, scalars)
    scopes = _scopes(kernel)
    for part in kernel.parts:
        kinds = [scopes[a.name] if isinstance(a, Array) else NUMBA_TYPES[a.dtype]
                 for a in part.parameters]
        names = [a.name for a in part.parameters]
        made = translator.function(f"{symbol}.{part.name}", list(zip(names, kinds, strict=True)),
                                   [part.loop], lines.get(id(part.loop), 1))
        add_part(contexts[1], made, kinds, part.name)
    signature = signature_of(kernel)
    nodes = [*kernel.head, *arena_nodes(kernel), *kernel.nodes]
    made = translator.function(f"{symbol}.kernel", list(zip(kernel.parameters, signature,
                                                            strict=True)), nodes)
    _add_entry(made, signature, symbol, tables)
    if any(loops_in(nodes)):
        align_stack(module.get_global(symbol))
    if tables is not None:
        tables.finalize()


def _internalize(module: llvm.ModuleRef, symbol: str) -> None:
    """Make the entry the only function that is visible from outside."""
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = "internal"


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, kernel: Kernel) -> Any:
    builder = llvm.create_pass_builder(machine, _tuning(module, kernel))
    builder.getModulePassManager().run(module, builder)
    return module


LARGE, DEEP = 450, 25_000
"""How many basic blocks a module has at most whose loops are copied for conditions in them, and how
many instructions, times the depth of its nests.

Where innermost loops have no conditions, LLVM makes copies of nests all the same, in which an inner
loop has no iteration: conv2d_bias was optimised in 0.22 s with them and 0.12 s without, gemver in
62 ms and 50. Small loops of a program's own run up to 4 % faster with them.

The copies take time that grows faster than the module: NPBench's residual block was optimised in
1.8 s with them and 0.7 s without, and runs as fast within a tenth. Each loop around is gone over
anew: lenet, in nests of seven loops, has its first gradient after 1.9 s with them and 1.2 s
without, scattering_self_energies, of eleven, after 2.4 s and 1.5 s; both run as fast.
"""

DEEP_NEST = 5
"""From how many loops on, one in another, copies for loops without iterations are not made."""


def _tuning(module: llvm.ModuleRef, kernel: Kernel) -> Any:
    """Return which of LLVM's passes run on a module."""
    nodes = [*kernel.nodes, *(part.loop for part in kernel.parts)]
    depth = depth_of(nodes)
    has_choices = chooses_inside(nodes) or (
        depth < DEEP_NEST and any(loop.blocks for loop in loops_in(nodes)))
    options = llvm.create_pipeline_tuning_options(
        speed_level=3 if has_choices and not _is_large(module, depth) else 2)
    options.loop_vectorization, options.slp_vectorization = kernel.vectorises, False
    options.loop_unrolling = False  # it doubles the time of the stages that follow
    return options


def _is_large(module: llvm.ModuleRef, depth: int) -> bool:
    blocks = [block for function in module.functions for block in function.blocks]
    instructions = sum(1 for block in blocks for _ in block.instructions)
    return len(blocks) > LARGE or instructions * depth > DEEP


def _add_entry(kernel: ir.Function, signature: tuple[types.Type, ...], symbol: str,
               tables: LineTables | None) -> None:
    """Add `i64 symbol(ctx, pointers, sizes)`, which calls the kernel, to its module.

    Functions of Numba's calling convention take a place for their result and one for exceptions
    before their arguments.
    """
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    count = sum(isinstance(t, (Ptr, types.CPointer)) for t in signature) - 1
    entry = ir.Function(kernel.module, ir.FunctionType(word, [
        byte, byte.as_pointer(), word.as_pointer()]), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    if tables is not None:
        tables.mark_subprogram(entry, symbol)
        tables.mark_location(builder, 1)
    status, exception = builder.alloca(word), builder.alloca(byte)
    builder.store(word(0), status)
    ctx, pointers, sizes = entry.args
    values = [status, exception, ctx]
    values += [builder.load(builder.gep(pointers, [word(k)])) for k in range(count)]
    values += [builder.load(builder.gep(sizes, [word(k)]))
               for k in range(len(signature) - count - 1)]
    builder.call(kernel, [value if value.type == given.type else builder.bitcast(value, given.type)
                          for value, given in zip(values, kernel.args, strict=True)])
    builder.ret(builder.load(status))
