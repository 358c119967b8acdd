"""Calls of compiled programs in `@njit` code: a function in Numba's calling convention for each.

It takes arguments apart, asks the plan, makes results by Numba's runtime, runs the kernel, and
raises what the kernel reports. Numba links it into its callers and may inline it. Kernels of a few
numbers go along with it; all others are called where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core import ir as numba_ir
from numba.core.funcdesc import FunctionDescriptor
from numba.np.arrayobj import make_array, populate_array

from tracejit.codegen.context import LOGS, POLL
from tracejit.codegen.intrinsics import NUMBA_TYPES
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.njit_errors import raise_formatted
from tracejit.codegen.plan import plan_dims

__all__ = ["Machine", "NjitCall", "Raises", "emit_call"]

WORD, BYTE = ir.IntType(64), ir.IntType(8)
POINTER = BYTE.as_pointer()
STACK_ARENA = 4096
"""The bytes of the largest workspace that lies on the stack."""
ALIGNMENT = 64
MOST_INSTRUCTIONS = 500
"""The size of the largest kernel that goes along with its callers."""


@dataclass(frozen=True, slots=True)
class Raises:
    """An exception with its message, perhaps with fields for two numbers, and its place."""

    kind: type[Exception]
    message: str
    file: str | None = None
    line: int = 0
    function: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiled program: its kernel, where it and its plan are, and what each status raises.

    llvm     -- the optimised module
    is_fixed -- whether the plan is the same for all arguments
    misfit   -- what is raised where the plan refuses the arguments
    no_room  -- what is raised where there is no memory; its field is the bytes
    """

    kernel: Kernel
    symbol: str
    entry: int
    plan: int
    llvm: str
    is_fixed: bool
    failures: tuple[Raises, ...]
    misfit: Raises
    no_room: Raises


@dataclass(eq=False, slots=True)
class NjitCall:
    """A call for arguments of certain Numba types.

    args      -- these types
    result    -- the Numba type of the result
    constants -- per leaf of the result: None where an output of the kernel, else (the object,)
    sources   -- per input of the kernel: the number of the argument's leaf, or what was frozen
    compile   -- makes the machine code, when Numba lowers the first caller
    """

    args: tuple[Any, ...]
    result: Any
    constants: Sequence[tuple[Any] | None]
    sources: Sequence[int | np.generic | np.ndarray]
    compile: Callable[[], Machine]
    built: tuple[Any, Any] | None = field(default=None)


def emit_call(context: Any, builder: Any, call: NjitCall, args: Sequence[Any]) -> Any:
    """Emit a call into a function that Numba compiles."""
    if call.built is None:
        call.built = _build(context, call)
    descriptor, library = call.built
    context.active_code_library.add_linking_library(library)
    return context.call_internal(builder, descriptor, descriptor_signature(call), args)


def descriptor_signature(call: NjitCall) -> Any:
    """Return Numba's signature of a call."""
    return call.result(*call.args)


def _build(context: Any, call: NjitCall) -> tuple[Any, Any]:
    """Return the description of a call's function, and the code library that has it."""
    machine = call.compile()
    name = f"{machine.symbol}_njit"
    names = [f"arg{k}" for k in range(len(call.args))]
    inlined = _goes_along(machine)
    descriptor = FunctionDescriptor(True, "tracejit", name, name, "", {}, call.result, {}, names,
                                    (), argtypes=call.args)
    library = context.codegen().create_library(name)
    module = library.create_ir_module(name)
    function = context.declare_function(module, descriptor)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    values = context.call_conv.decode_arguments(builder, call.args, function)
    with context.push_code_library(library):
        _Body(context, builder, call, machine, inlined).emit(values)
    _forbid_caching(module, name)
    library.add_ir_module(module)
    if inlined:
        library.add_llvm_module(_linkable(machine))
    library.finalize()
    return descriptor, library


def _forbid_caching(module: Any, name: str) -> None:
    """Let Numba refuse `cache=True` in callers: reloaded, they would have the gradient of old.

    Numba looks for names that begin so; a weak variable stays although nothing uses it.
    """
    variable = ir.GlobalVariable(module, BYTE, f"numba.dynamic.globals.{name}")
    variable.linkage, variable.initializer = "weak", BYTE(0)


# --- small kernels -------------------------------------------------------------------------------


def _goes_along(machine: Machine) -> bool:
    """Whether a kernel is small and of numbers alone, so that callers may inline it.

    Of arrays it may not: its accesses say that buffers do not alias, which inlined twice would be
    said of one call's result and the next one's argument. Neither where additions may be
    reordered: they have to be in the order in which a call from Python adds.
    """
    kernel = machine.kernel
    atoms = (*kernel.graph.inputs, *kernel.graph.outputs)
    workspace = plan_dims(kernel)[-1]
    return (not kernel.logs and not any(a.aval.shape for a in atoms)
            and isinstance(workspace, int) and workspace <= STACK_ARENA
            and not re.search(r"\breassoc\b", machine.llvm)
            and machine.llvm.count("\n  ") <= MOST_INSTRUCTIONS)


_ANNOTATIONS = re.compile(r', !(?:alias\.scope|noalias) !\d+|"vector-function-abi-variant"="[^"]*"'
                          r"|^@llvm\.compiler\.used = .*$", re.M)
"""What is dropped from a kernel that callers inline: without, they compute the bits it computes."""


def _linkable(machine: Machine) -> Any:
    """Return a kernel's module for linking: any number of modules may have it."""
    module = llvm.parse_assembly(_ANNOTATIONS.sub("", machine.llvm))
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "linkonce_odr"
    return module


# --- the function ---------------------------------------------------------------------------------


class _Body:
    """The body of a call's function, emitted in the order in which it runs."""

    def __init__(self, context: Any, builder: Any, call: NjitCall, machine: Machine,
                 inlined: bool) -> None:
        self.context, self.builder, self.call, self.machine = context, builder, call, machine
        self.inlined, self.kernel = inlined, machine.kernel
        self.scratch: list[Any] = []
        """Memory to be freed at the end."""
        self.failed: list[Any] = []
        """Conditions under which there was no memory."""
        self.results: list[tuple[Any, Any]] = []
        """Per output, its Numba type, and the array or the place of the number."""

    def emit(self, args: Sequence[Any]) -> None:
        """Emit everything from the arguments to the result."""
        leaves = [leaf for kind, value in zip(self.call.args, args, strict=True)
                  for leaf in self._leaves(kind, value)]
        pointers, dims = self._inputs(leaves)
        plan = self._plan(dims)
        sizes = self.kernel.graph.sizes
        pointers += self._outputs(plan[len(sizes):])
        if self.kernel.arena:
            pointers.append(self._arena(plan[-1]))
        needed = plan[-1]
        with self._unlikely(self._any(self.failed)):
            self._leave(self.machine.no_room, [self.builder.sitofp(needed, ir.DoubleType())])
        ctx, status = self._run(pointers, plan[:len(sizes)])
        self._free()
        failed = self.builder.icmp_unsigned("!=", status, WORD(0))
        with self._unlikely(failed):
            self._fail(ctx, status)
        self.context.call_conv.return_value(self.builder, self._result())

    # --- arguments ------------------------------------------------------------------------------

    def _leaves(self, kind: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind.types):
                yield from self._leaves(part, self.builder.extract_value(value, k))
        elif not isinstance(kind, types.NoneType):
            yield types.unliteral(kind), value

    def _inputs(self, leaves: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
        """Return the addresses of the kernel's inputs, and the dims that the plan is made from."""
        pointers, dims = [], []
        for v, source in zip(self.kernel.graph.inputs, self.call.sources, strict=True):
            kind, value = leaves[source] if isinstance(source, int) else self._frozen(source)
            if isinstance(kind, types.Array):
                array = make_array(kind)(self.context, self.builder, value)
                pointer = self._data(kind, array)
                if kind.ndim == 0 and v.aval.dtype == np.int64:
                    dims.append(self.builder.load(self.builder.bitcast(
                        pointer, WORD.as_pointer())))
                dims += cgutils.unpack_tuple(self.builder, array.shape, kind.ndim)
            else:
                wanted = NUMBA_TYPES[v.aval.dtype]
                value = self.context.cast(self.builder, value, kind, wanted)
                pointer = self._place(wanted, value)
                if v.aval.dtype == np.int64:
                    dims.append(value)
            pointers.append(self.builder.bitcast(pointer, POINTER))
        return pointers, dims

    def _frozen(self, content: np.generic | np.ndarray) -> tuple[Any, Any]:
        """Return a number from outside as it is now, or an array, whose elements are read."""
        dtype = NUMBA_TYPES[content.dtype]
        if not isinstance(content, np.ndarray):
            return dtype, self.context.get_constant_generic(self.builder, dtype, content.item())
        layout = "C" if content.flags.c_contiguous and content.flags.aligned else "A"
        kind = types.Array(dtype, content.ndim, layout)
        array = make_array(kind)(self.context, self.builder)
        data = self.context.get_data_type(dtype).as_pointer()
        populate_array(array, WORD(content.ctypes.data).inttoptr(data),
                       [WORD(n) for n in content.shape], [WORD(n) for n in content.strides],
                       content.itemsize, None)
        return kind, array._getvalue()

    def _place(self, kind: Any, value: Any) -> Any:
        """Return stack memory with a number in it."""
        data = self.context.data_model_manager[kind].as_data(self.builder, value)
        place = cgutils.alloca_once(self.builder, data.type)
        self.builder.store(data, place)
        return place

    def _data(self, kind: Any, array: Any) -> Any:
        """Return the elements of an array, one after the other; of a copy where they are not so."""
        if kind.layout == "C" and kind.aligned:
            return array.data
        b = self.builder
        shape = cgutils.unpack_tuple(b, array.shape, kind.ndim)
        element = array.data.type.pointee
        count = self._product(shape)
        size = self.context.get_abi_sizeof(element)
        copy = b.bitcast(self._memory(b.mul(count, WORD(size))), element.as_pointer())
        place = cgutils.alloca_once_value(b, WORD(0))
        with b.if_then(b.not_(self.failed[-1])), cgutils.loop_nest(b, shape, WORD) as indices:
            strides = cgutils.unpack_tuple(b, array.strides, kind.ndim)
            item = cgutils.get_item_pointer2(self.context, b, array.data, shape, strides, "A",
                                             indices)
            k = b.load(place)
            b.store(b.load(item, align=1), b.gep(copy, [k]))
            b.store(b.add(k, WORD(1)), place)
        return copy

    # --- the plan, results and workspace --------------------------------------------------------

    def _plan(self, dims: Sequence[Any]) -> list[Any]:
        """Return sizes, the shapes of results and the bytes of the workspace."""
        planned = plan_dims(self.kernel)
        if self.machine.is_fixed:
            return [WORD(d) for d in planned]
        b = self.builder
        given, made = self._table(dims), self._words(len(planned))
        misfit = self._call_address(self.machine.plan, given, made)
        with self._unlikely(b.icmp_unsigned("!=", misfit, WORD(0))):
            self._leave(self.machine.misfit, [])
        return [b.load(b.gep(made, [WORD(k)])) for k in range(len(planned))]

    def _outputs(self, shapes: Sequence[Any]) -> list[Any]:
        """Make the results; return their addresses."""
        pointers = []
        for a in self.kernel.graph.outputs:
            dtype = NUMBA_TYPES[a.aval.dtype]
            ndim = len(a.aval.shape)
            if ndim:
                kind = types.Array(dtype, ndim, "C")
                array = self._new_array(kind, shapes[:ndim])
                self.results.append((kind, array._getvalue()))
                pointers.append(array.data)
            else:
                place = cgutils.alloca_once(self.builder, self.context.get_data_type(dtype))
                self.results.append((dtype, place))
                pointers.append(place)
            shapes = shapes[ndim:]
        return [self.builder.bitcast(p, POINTER) for p in pointers]

    def _new_array(self, kind: Any, shape: Sequence[Any]) -> Any:
        b, nrt = self.builder, self.context.nrt
        data = self.context.get_data_type(kind.dtype)
        size = self.context.get_abi_sizeof(data)
        total = b.mul(self._product(shape), WORD(size))
        meminfo = nrt.meminfo_alloc_aligned_unchecked(b, total, ir.IntType(32)(ALIGNMENT))
        self.failed.append(cgutils.is_null(b, meminfo))
        strides = [b.mul(self._product(shape[k + 1:]), WORD(size)) for k in range(len(shape))]
        array = make_array(kind)(self.context, b)
        address = cgutils.alloca_once_value(b, ir.Constant(data.as_pointer(), None))
        with b.if_then(b.not_(self.failed[-1])):
            b.store(b.bitcast(nrt.meminfo_data(b, meminfo), data.as_pointer()), address)
        populate_array(array, b.load(address), list(shape), strides, size, meminfo)
        return array

    def _arena(self, needed: Any) -> Any:
        """Return the workspace: on the stack if it is small."""
        b = self.builder
        known = plan_dims(self.kernel)[-1]
        if isinstance(known, int) and known <= STACK_ARENA:
            place = cgutils.alloca_once(b, BYTE, size=known)
            place.align = ALIGNMENT
            return place
        place = cgutils.alloca_once(b, BYTE, size=STACK_ARENA + ALIGNMENT)
        start = b.and_(b.add(b.ptrtoint(place, WORD), WORD(ALIGNMENT - 1)), WORD(-ALIGNMENT))
        chosen = cgutils.alloca_once_value(b, b.inttoptr(start, POINTER))
        block = cgutils.alloca_once_value(b, ir.Constant(POINTER, None))
        missing = cgutils.alloca_once_value(b, cgutils.false_bit)
        with b.if_then(b.icmp_signed(">", needed, WORD(STACK_ARENA)), likely=False):
            made = self._memory(needed)
            b.store(made, chosen)
            b.store(made, block)
            b.store(self.failed.pop(), missing)
        self.scratch[-1:] = [b.load(block)]
        self.failed.append(b.load(missing))
        return b.load(chosen)

    def _memory(self, size: Any) -> Any:
        """Return memory that is freed when the kernel has run."""
        b = self.builder
        place = cgutils.alloca_once_value(b, ir.Constant(POINTER, None))
        made = self._c("posix_memalign", ir.IntType(32), place, WORD(ALIGNMENT), size)
        self.failed.append(b.icmp_unsigned("!=", made, made.type(0)))
        self.scratch.append(b.load(place))
        return self.scratch[-1]

    # --- the kernel -----------------------------------------------------------------------------

    def _run(self, pointers: Sequence[Any], sizes: Sequence[Any]) -> tuple[Any, Any]:
        """Call the kernel; return its context and status."""
        b, logs = self.builder, len(self.kernel.logs)
        ctx = self._words(LOGS + 2 * logs)
        for k in (POLL, *range(LOGS, LOGS + 2 * logs)):
            b.store(WORD(0), b.gep(ctx, [WORD(k)]))
        arguments = [b.bitcast(p, POINTER) for p in (ctx, self._table(pointers),
                                                     self._table(sizes))]
        if self.inlined:
            kind = ir.FunctionType(WORD, [POINTER] * 3)
            kernel = cgutils.get_or_insert_function(b.module, kind, self.machine.symbol)
            status = b.call(kernel, arguments)
        else:
            status = self._call_address(self.machine.entry, *arguments)
        for k in range(logs):
            word = b.load(b.gep(ctx, [WORD(LOGS + 2 * k)]))
            self.scratch.append(b.inttoptr(word, POINTER))
        return ctx, status

    def _fail(self, ctx: Any, status: Any) -> None:
        """Raise what a status means."""
        b = self.builder
        numbers = b.bitcast(ctx, ir.DoubleType().as_pointer())
        found = [b.load(b.gep(numbers, [WORD(k)])) for k in (1, 2)]
        for k, raises in enumerate(self.machine.failures[:-1]):
            with b.if_then(b.icmp_unsigned("==", status, WORD(k + 1))):
                self._leave(raises, found)
        self._leave(self.machine.failures[-1] if self.machine.failures else self.machine.misfit,
                    found)

    def _leave(self, raises: Raises, numbers: Sequence[Any]) -> None:
        """Give back all memory and return with an exception."""
        self._free()
        for kind, value in self.results:
            if isinstance(kind, types.Array):
                self.context.nrt.decref(self.builder, kind, value)
        where = None if raises.file is None else numba_ir.Loc(raises.file, raises.line)
        text = raises.message.format(*(0.0 for _ in numbers))
        if text == raises.message.format(*(1.0 for _ in numbers)):
            self.context.call_conv.return_user_exc(self.builder, raises.kind, (text,), where,
                                                   raises.function)
        else:
            raise_formatted(self.context, self.builder, raises.kind, raises.message, numbers,
                            where, raises.function)

    def _free(self) -> None:
        for block in self.scratch:
            self._c("free", ir.VoidType(), block)

    # --- the result -----------------------------------------------------------------------------

    def _result(self) -> Any:
        results, constants = iter(self.results), iter(self.call.constants)

        def value_of(kind: Any) -> Any:
            if isinstance(kind, types.BaseTuple):
                parts = [value_of(part) for part in kind.types]
                return self.context.make_tuple(self.builder, kind, parts)
            if isinstance(kind, types.NoneType):
                return self.context.get_dummy_value()
            constant = next(constants)
            if constant is not None:
                return self.context.get_constant_generic(self.builder, kind, constant[0])
            found, value = next(results)
            if isinstance(found, types.Array):
                return value
            return self.context.data_model_manager[found].load_from_data_pointer(
                self.builder, value)

        return value_of(self.call.result)

    # --- small steps ----------------------------------------------------------------------------

    @contextmanager
    def _unlikely(self, condition: Any) -> Iterator[None]:
        """Emit what runs under a condition, and does not come back."""
        with cgutils.if_unlikely(self.builder, condition):
            yield

    def _any(self, conditions: Sequence[Any]) -> Any:
        result = cgutils.false_bit
        for condition in conditions:
            result = self.builder.or_(result, condition)
        return result

    def _product(self, sizes: Sequence[Any]) -> Any:
        result = WORD(1)
        for n in sizes:
            result = self.builder.mul(result, n)
        return result

    def _words(self, count: int) -> Any:
        return cgutils.alloca_once(self.builder, WORD, size=max(1, count))

    def _table(self, values: Sequence[Any]) -> Any:
        """Return stack memory with words or pointers in it."""
        kind = values[0].type if values else WORD
        table = cgutils.alloca_once(self.builder, kind, size=max(1, len(values)))
        for k, value in enumerate(values):
            self.builder.store(value, self.builder.gep(table, [WORD(k)]))
        return table

    def _call_address(self, address: int, *args: Any) -> Any:
        kind = ir.FunctionType(WORD, [a.type for a in args]).as_pointer()
        return self.builder.call(self.builder.inttoptr(WORD(address), kind), args)

    def _c(self, name: str, result: Any, *args: Any) -> Any:
        """Call a C function."""
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.builder.call(
            cgutils.get_or_insert_function(self.builder.module, kind, name), args)
