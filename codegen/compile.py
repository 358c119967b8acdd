"""Emitted source to machine code: Numba's front end, then LLVM once, into an engine of our own.

Numba's pipeline is cut down to the passes that flat scalar code needs, and its two rounds of LLVM
passes are replaced by one. The object code, and the optimised bitcode that it came from, stay
available.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import (
    compiler,
    compiler_machinery,
    lowering,
    typed_passes,
    types,
    typing,
    untyped_passes,
)
from numba.core import ir as numba_ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import CompilerError
from numba.core.registry import cpu_target

from tracejit.codegen import pointers
from tracejit.codegen.halves import half_functions
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.libraries import load_libmvec
from tracejit.codegen.line_tables import LineTables
from tracejit.codegen.loop_expressions import Array
from tracejit.codegen.loop_hints import mark_single_vectors, single_vector_loops
from tracejit.codegen.machine import load_object, target_machine
from tracejit.codegen.parallel_calls import part_text
from tracejit.codegen.pointers import NUMBA_TYPES, Ptr

__all__ = ["Functions", "MachineCode", "assembly_of", "compile_kernel", "functions_of",
           "optimised_kernel", "signature_of"]

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


_OPERATORS: dict[Any, Any] = {}


class _Lower(lowering.Lower):
    """Numba's lowering, remembering the implementations of operators.

    `CompilerError` where a name is given a value of another type than it has elsewhere.
    """

    def init(self) -> None:
        super().init()
        self.single_vectors = single_vector_loops(self.blocks)
        if self.flags.dbg_directives_only:
            self.debuginfo = LineTables(self.module, self.func_ir.loc.filename)

    def post_block(self, block: object) -> None:
        super().post_block(block)
        if block in self.single_vectors:
            mark_single_vectors(self.module, self.builder.block.terminator)

    def lower_assign(self, ty: object, inst: numba_ir.Assign) -> Any:
        value, given = inst.value, ty
        if isinstance(value, numba_ir.Var):
            given = self.typeof(value.name)
        elif isinstance(value, (numba_ir.Const, numba_ir.Global)):
            given = self.context.typing_context.resolve_value_type(value.value)
        elif value in self.fndesc.calltypes:
            given = self.fndesc.calltypes[value].return_type
        if types.unliteral(given) != types.unliteral(ty):
            raise CompilerError(f"{inst.target.name} is of type {ty}, and given a {given}")
        return super().lower_assign(ty, inst)

    def lower_binop(self, resty: object, expr: numba_ir.Expr, op: object) -> Any:
        signature = self.fndesc.calltypes[expr]
        key = (op, signature.args)
        if key not in _OPERATORS:
            function = self.context.typing_context.resolve_value_type(op)
            sig = function.get_call_type(self.context.typing_context, signature.args, {})
            _OPERATORS[key] = self.context.get_function(function, sig)
        operands = [self.context.cast(self.builder, self.loadvar(v.name), self.typeof(v.name), t)
                    for v, t in zip((expr.lhs, expr.rhs), signature.args, strict=True)]
        result = _OPERATORS[key](self.builder, operands)
        return self.context.cast(self.builder, result, signature.return_type, resty)


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _NativeLowering(typed_passes.BaseNativeLowering):
    _name = "tracejit_native_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lower

    def run_pass(self, state: Any) -> bool:
        codegen = state.targetctx.codegen()
        state.library = _Library(codegen, state.func_id.func_qualname)
        return bool(super().run_pass(state))


class _Pipeline(compiler.CompilerBase):
    """The part of Numba's pipeline that flat scalar code needs.

    A name has one type everywhere, so types need no SSA form, which takes time that grows with the
    square of the code; LLVM makes its own. Nothing is counted, so nothing needs to be deleted.
    """

    def define_pipelines(self) -> list[Any]:
        pm = compiler_machinery.PassManager("tracejit")
        pm.add_pass(untyped_passes.TranslateByteCode, "analyzing bytecode")
        pm.add_pass(untyped_passes.FixupArgs, "fix up args")
        pm.add_pass(untyped_passes.IRProcessing, "processing IR")
        pm.add_pass(typed_passes.NopythonTypeInference, "nopython frontend")
        pm.add_pass(typed_passes.AnnotateTypes, "annotate types")
        pm.add_pass(_NativeLowering, "native lowering")
        pm.add_pass(typed_passes.NoPythonBackend, "nopython mode backend")
        pm.finalize()
        return [pm]


def _flags(with_lines: bool) -> Any:
    flags = compiler.Flags()
    flags.dbg_directives_only = with_lines
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.nrt = False
    flags.error_model = "numpy"
    flags.enable_pyobject = False
    flags.enable_ssa = False
    return flags


class _TypingContext(typing.Context):
    """Numba's typing context, remembering how operators and functions on scalars resolve.

    Numba asks every overload of `+` anew at every addition, which is most of its time on such code.
    """

    def __init__(self, shared: typing.Context) -> None:
        self.__dict__ = shared.__dict__
        self.__dict__.setdefault("_tj_resolved", {})

    def resolve_function_type(self, func: Callable[..., object], args: Sequence[types.Type],
                              kws: object) -> Any:
        if kws or not all(isinstance(t, (types.Number, types.Boolean, Ptr)) for t in args):
            return super().resolve_function_type(func, args, kws)
        key = (func, tuple(args))
        resolved = self._tj_resolved
        if key not in resolved:
            resolved[key] = super().resolve_function_type(func, args, kws)
        return resolved[key]

    def resolve_setitem(self, target: object, index: object, value: object) -> Any:
        key = ("setitem", target, index, value)
        resolved = self._tj_resolved
        if key not in resolved:
            resolved[key] = super().resolve_setitem(target, index, value)
        return resolved[key]


_CONTEXTS: list[Any] = []


def _contexts() -> tuple[Any, Any]:
    """Return Numba's typing and target contexts, with our functions in them."""
    if not _CONTEXTS:
        shared, target_context = cpu_target.typing_context, cpu_target.target_context
        shared.refresh()
        target_context.refresh()
        shared.install_registry(pointers.typing)
        target_context.install_registry(pointers.lowering)
        _CONTEXTS.extend((_TypingContext(shared), target_context))
    typing_context, target_context = _CONTEXTS
    return typing_context, target_context


def signature_of(kernel: Kernel) -> tuple[Any, ...]:
    """Return the Numba types of a kernel's parameters; every pointer has a scope of its own."""
    pointers = [Ptr(NUMBA_TYPES[b.dtype], k)
                for k, b in enumerate((*kernel.inputs, *kernel.outputs))]
    arena = [types.CPointer(types.uint8)] if kernel.arena else []
    return (types.CPointer(types.int64), *pointers, *arena,
            *(types.int64,) * len(kernel.graph.sizes))


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of emitted source, with the Numba types of their parameters.

    parts -- by name, the functions of the kernel's parts
    """

    kernel: FunctionType
    signature: tuple[types.Type, ...]
    parts: dict[str, tuple[FunctionType, tuple[types.Type, ...]]]


def functions_of(kernel: Kernel, names: Mapping[str, Any]) -> Functions:
    """Return the functions of a kernel's emitted source, which are among some names."""
    scopes = _scopes(kernel)
    parts = {part.name: (names[part.name], tuple(
        scopes[a.name] if isinstance(a, Array) else NUMBA_TYPES[a.dtype] for a in part.parameters))
        for part in kernel.parts}
    return Functions(names["kernel"], signature_of(kernel), parts)


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
        return _optimise(_translate(functions, symbol, machine), machine)


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
        return str(machine.emit_assembly(_optimise(_linked(module, beside), machine)))


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
    module = _translate(functions, symbol, machine)
    front = perf_counter()
    optimised = _optimise(_linked(module, beside), machine)
    bitcode = optimised.as_bitcode()
    middle = perf_counter()
    object_code = machine.emit_object(optimised)
    engine = load_object(object_code)
    end = perf_counter()
    times = {"numba": front - start, "llvm": middle - front, "object": end - middle}
    return MachineCode(bitcode, object_code, engine, times)


def _linked(module: llvm.ModuleRef, beside: Sequence[str]) -> Any:
    for text in beside:
        module.link_in(llvm.parse_assembly(text))
    return module


def _translate(functions: Functions, symbol: str, machine: llvm.TargetMachine,
               with_lines: bool = False) -> Any:
    """Return the module of a kernel, its parts and its entry, as Numba's front end makes it."""
    load_libmvec()
    signature = functions.signature
    descriptor, module = _front_end(functions.kernel, signature, with_lines)
    module.data_layout = str(machine.target_data)
    for name, (fn, kinds) in functions.parts.items():
        made, part = _front_end(fn, kinds, with_lines)
        text = part_text(_contexts()[1], made, kinds, name, module.triple)
        module.link_in(part)
        module.link_in(llvm.parse_assembly(text))
    halves = half_functions(module, machine)
    if halves:
        module.link_in(llvm.parse_assembly(halves))
    entry = _entry(descriptor, signature, symbol, module.triple, with_lines)
    module.link_in(llvm.parse_assembly(entry))
    _internalize(module, symbol)
    return module


def _front_end(fn: FunctionType, signature: tuple[types.Type, ...],
               with_lines: bool) -> tuple[Any, llvm.ModuleRef]:
    """Return Numba's description of a function, and its module."""
    typing_context, target_context = _contexts()
    result = compiler.compile_extra(typing_context, target_context, fn, signature, types.int64,
                                    _flags(with_lines), {}, pipeline_class=_Pipeline)
    module = result.library.parsed
    for linked in result.library._linking_libraries:
        module.link_in(linked._get_module_for_linking(), preserve=True)
    return result.fndesc, module


def _internalize(module: llvm.ModuleRef, symbol: str) -> None:
    """Make the entry the only function that is visible from outside."""
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = "internal"


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> Any:
    builder = llvm.create_pass_builder(machine, _tuning())
    builder.getModulePassManager().run(module, builder)
    return module


def _tuning() -> Any:
    """Return which of LLVM's passes run."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    options.loop_unrolling = False  # it doubles the time of the stages that follow
    return options


def _entry(fndesc: Any, signature: tuple[types.Type, ...], symbol: str, triple: str,
           with_lines: bool) -> str:
    """Return LLVM text of `i64 symbol(ctx, pointers, sizes)`, which calls the kernel.

    Numba's functions take a place for their result and one for exceptions before their arguments.
    """
    module = ir.Module()
    module.triple = triple
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    count = sum(isinstance(t, (Ptr, types.CPointer)) for t in signature) - 1
    args = [byte] * (3 + count) + [word] * (len(signature) - count - 1)
    kernel = ir.Function(module, ir.FunctionType(ir.IntType(32), args), fndesc.llvm_func_name)
    table = byte.as_pointer()
    entry = ir.Function(module, ir.FunctionType(word, [byte, table, word.as_pointer()]), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    if with_lines:
        tables = LineTables(module, "entry")
        tables.mark_subprogram(entry, symbol)
        tables.mark_location(builder, 1)
        tables.finalize()
    status, exception = builder.alloca(word), builder.alloca(byte)
    builder.store(word(0), status)
    ctx, pointers, sizes = entry.args
    values = [builder.bitcast(status, byte), builder.bitcast(exception, byte), ctx]
    values += [builder.load(builder.gep(pointers, [word(k)])) for k in range(count)]
    values += [builder.load(builder.gep(sizes, [word(k)]))
               for k in range(len(signature) - count - 1)]
    builder.call(kernel, values)
    builder.ret(builder.load(status))
    return str(module)
