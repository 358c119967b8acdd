"""The function that a call in `@njit` code goes through: from Numba's values to a kernel and back.

It takes arguments apart, asks the plan, makes results by Numba's runtime, runs the kernel, and
raises the error that the kernel reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.ir import Loc
from numba.np.arrayobj import make_array, populate_array

from tracejit.codegen.context import LOGS, PARALLEL, POLL
from tracejit.codegen.njit_call import Machine, NjitCall, Raises
from tracejit.codegen.njit_errors import raise_formatted
from tracejit.codegen.njit_memory import NjitMemory
from tracejit.codegen.plan import plan_dims
from tracejit.codegen.pointers import NUMBA_TYPES

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext

__all__ = ["Body"]

WORD = ir.IntType(64)
POINTER = ir.IntType(8).as_pointer()


class _Place(Loc):
    """A line of a function, for Numba's tracebacks."""

    def __init__(self, raises: Raises) -> None:
        super().__init__(raises.file, raises.line)
        self.function = raises.function

    def _raw_function_name(self) -> str:
        return self.function


class Body:
    """The body of a call's function, emitted in the order in which it runs."""

    def __init__(self, context: TargetContext, builder: ir.IRBuilder, call: NjitCall,
                 machine: Machine, inlined: bool) -> None:
        self.context, self.builder, self.call, self.machine = context, builder, call, machine
        self.inlined, self.kernel = inlined, machine.kernel
        self.memory = NjitMemory(context, builder)
        self.results: list[tuple[Any, Any]] = []
        """Per output, its Numba type, and the array or the place of the number."""
        self.arrays: dict[int, Any] = {}
        """The inputs that are arrays, by their numbers."""

    def emit(self, args: Sequence[ir.Value]) -> None:
        """Emit the code from the arguments to the result."""
        leaves = [leaf for kind, value in zip(self.call.args, args, strict=True)
                  for leaf in self._leaves(kind, value)]
        pointers, dims = self._inputs(leaves)
        for k, j, raises in self.call.apart:
            self._require_apart(k, j, raises)
        plan = self._plan(dims)
        sizes = self.kernel.graph.sizes
        pointers += self._outputs(plan[len(sizes):])
        needed, known = plan[-1], plan_dims(self.kernel)[-1]
        if self.kernel.arena:
            pointers.append(self.memory.arena(needed, known if isinstance(known, int) else None))
        no_room = self.memory.has_failed()
        if not (self.kernel.arena or self.machine.is_fixed):  # then the plan says 0 or TOO_MUCH
            no_room = self.builder.or_(no_room, self.builder.icmp_signed("!=", needed, WORD(0)))
        with cgutils.if_unlikely(self.builder, no_room):
            self._leave(self.machine.no_room, [self.builder.sitofp(needed, ir.DoubleType())])
        ctx, status = self._run(pointers, plan[:len(sizes)])
        self.memory.free()
        self.memory.blocks.clear()
        failed = self.builder.icmp_unsigned("!=", status, WORD(0))
        with cgutils.if_unlikely(self.builder, failed):
            self._fail(ctx, status)
        self.context.call_conv.return_value(self.builder, self._result())

    # --- arguments ------------------------------------------------------------------------------

    def _leaves(self, kind: types.Type, value: ir.Value) -> Iterator[tuple[Any, Any]]:
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind.types):
                yield from self._leaves(part, self.builder.extract_value(value, k))
        elif not isinstance(kind, types.NoneType):
            yield types.unliteral(kind), value

    def _inputs(self, leaves: Sequence[tuple[object, object]]) -> tuple[list[Any], list[Any]]:
        """Return the addresses of the kernel's inputs, and the dims that the plan is made from."""
        pointers: list[Any] = []
        dims: list[Any] = []
        for v, source in zip(self.kernel.graph.inputs, self.call.sources, strict=True):
            kind, value = leaves[source] if isinstance(source, int) else self._frozen(source)
            if isinstance(kind, types.Array):
                array = make_array(kind)(self.context, self.builder, value)
                pointer = self.memory.contiguous(kind, array)
                self.arrays[len(pointers)] = array
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

    def _require_apart(self, k: int, j: int, raises: Raises) -> None:
        """Raise where two contiguous inputs share memory."""
        b = self.builder
        (start, end), (other, stop) = (
            (begin, b.add(begin, b.mul(array.nitems, array.itemsize)))
            for array in (self.arrays[k], self.arrays[j])
            for begin in [b.ptrtoint(array.data, WORD)])
        shared = b.and_(b.icmp_unsigned("<", start, stop), b.icmp_unsigned("<", other, end))
        with cgutils.if_unlikely(b, shared):
            self._leave(raises, [])

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

    def _place(self, kind: types.Type, value: ir.Value) -> Any:
        """Return stack memory with a number in it."""
        data = self.context.data_model_manager[kind].as_data(self.builder, value)
        place = cgutils.alloca_once(self.builder, data.type)
        self.builder.store(data, place)
        return place

    # --- the plan, results and workspace --------------------------------------------------------

    def _plan(self, dims: Sequence[ir.Value]) -> list[Any]:
        """Return sizes, the shapes of results and the bytes of the workspace."""
        planned = plan_dims(self.kernel)
        if self.machine.is_fixed:
            return [WORD(d) for d in planned]
        b = self.builder
        given, made = self._table(dims), self._words(len(planned))
        misfit = self._call_address(self.machine.plan, given, made)
        with cgutils.if_unlikely(self.builder, b.icmp_unsigned("!=", misfit, WORD(0))):
            self._leave(self.machine.misfit, [])
        return [b.load(b.gep(made, [WORD(k)])) for k in range(len(planned))]

    def _outputs(self, shapes: Sequence[ir.Value]) -> list[Any]:
        """Make the results; return their addresses."""
        pointers = []
        for a in self.kernel.graph.outputs:
            dtype = NUMBA_TYPES[a.aval.dtype]
            ndim = len(a.aval.shape)
            if ndim:
                kind = types.Array(dtype, ndim, "C")
                array = self.memory.new_array(kind, shapes[:ndim])
                self.results.append((kind, array._getvalue()))
                pointers.append(array.data)
            else:
                place = cgutils.alloca_once(self.builder, self.context.get_data_type(dtype))
                self.results.append((dtype, place))
                pointers.append(place)
            shapes = shapes[ndim:]
        return [self.builder.bitcast(p, POINTER) for p in pointers]

    # --- the kernel -----------------------------------------------------------------------------

    def _run(self, pointers: Sequence[ir.Value], sizes: Sequence[ir.Value]) -> tuple[Any, Any]:
        """Call the kernel; return its context and status."""
        b, logs = self.builder, len(self.kernel.logs)
        ctx = self._words(LOGS + 2 * logs)
        for k in (POLL, PARALLEL, *range(LOGS, LOGS + 2 * logs)):
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
            self.memory.blocks.append(b.inttoptr(word, POINTER))
        return ctx, status

    def _fail(self, ctx: ir.Value, status: ir.Value) -> None:
        """Raise the error that a status stands for."""
        b = self.builder
        numbers = b.bitcast(ctx, ir.DoubleType().as_pointer())
        found = [b.load(b.gep(numbers, [WORD(k)])) for k in (1, 2)]
        for k, raises in enumerate(self.machine.failures[:-1]):
            with b.if_then(b.icmp_unsigned("==", status, WORD(k + 1))):
                self._leave(raises, found)
        self._leave(self.machine.failures[-1] if self.machine.failures else self.machine.misfit,
                    found)

    def _leave(self, raises: Raises, numbers: Sequence[ir.Value]) -> None:
        """Give back all memory and return with an exception."""
        self.memory.free()
        for kind, value in self.results:
            if isinstance(kind, types.Array):
                self.context.nrt.decref(self.builder, kind, value)
        where = None if raises.file is None else _Place(raises)
        text = raises.message.format(*(0.0 for _ in numbers))
        if text == raises.message.format(*(1.0 for _ in numbers)):
            self.context.call_conv.return_user_exc(self.builder, raises.kind, (text,), where,
                                                   raises.function)
        else:
            raise_formatted(self.context, self.builder, raises.kind, raises.message, numbers,
                            where, raises.function)

    # --- the result -----------------------------------------------------------------------------

    def _result(self) -> Any:
        results, constants = iter(self.results), iter(self.call.constants)

        def value_of(kind: types.Type) -> Any:
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

    def _words(self, count: int) -> Any:
        return cgutils.alloca_once(self.builder, WORD, size=max(1, count))

    def _table(self, values: Sequence[ir.Value]) -> Any:
        """Return stack memory with words or pointers in it."""
        kind = values[0].type if values else WORD
        table = cgutils.alloca_once(self.builder, kind, size=max(1, len(values)))
        for k, value in enumerate(values):
            self.builder.store(value, self.builder.gep(table, [WORD(k)]))
        return table

    def _call_address(self, address: int, *args: ir.Value) -> Any:
        kind = ir.FunctionType(WORD, [a.type for a in args]).as_pointer()
        return self.builder.call(self.builder.inttoptr(WORD(address), kind), args)
