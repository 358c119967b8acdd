"""Calling compiled code through ctypes: the slower path, which verify mode watches."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.codegen.context import (
    BAD_BUFFER,
    CALLBACK,
    FAILED_OUTSIDE,
    INTERRUPTED,
    LOGS,
    PARALLEL,
    POLL,
    PRINT,
    THREADS,
)
from tracejit.configuration import Threads, thread_count
from tracejit.errors import IRError
from tracejit.ir.showing import show
from tracejit.program.calling_back import CallingBack
from tracejit.program.failures import raise_at
from tracejit.program.interface import Interface
from tracejit.program.interrupts import poll_address, raise_kept
from tracejit.program.threads import parallel_for_address
from tracejit.trace.ground.callbacks import raise_kept_error

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel, Shown

__all__ = ["Invocation"]

_I64 = ctypes.c_int64
_KERNEL = ctypes.CFUNCTYPE(_I64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_PLAN = ctypes.CFUNCTYPE(_I64, ctypes.c_void_p, ctypes.c_void_p)
_PRINT = ctypes.CFUNCTYPE(_I64, _I64, ctypes.c_void_p)
_MARGIN, _UNSET, _ZONE = 64, 0xFF, 0xA5
"""In verify mode: bytes around buffers; fills of fresh memory (NaN as floats) and of zones."""


class Invocation:
    """How to call one compiled kernel."""

    interface: Interface
    addresses: tuple[int, int]
    checked: Kernel | None
    plan_words: int

    def __init__(self, interface: Interface, addresses: tuple[int, int],
                 checked: Kernel | None = None) -> None:
        self.interface, self.addresses, self.checked = interface, addresses, checked
        entry, plan = addresses
        self._kernel, self._plan = _KERNEL(entry), _PLAN(plan)
        self._calling = CallingBack(interface.callbacks) if interface.callbacks else None
        self.callback_address = 0 if self._calling is None else self._calling.address
        self.threads: Threads = None
        """How many threads share loops; None for the setting."""
        self.plan_words = interface.sizes + sum(ndim for _, ndim in interface.outputs) + 1

    def fits(self, values: Sequence[object]) -> bool:
        """Return whether shapes, sizes and ints are such that the program holds for them."""
        return self.plan(values) is not None

    def plan(self, values: Sequence[Any]) -> list[int] | None:
        """Return sizes, result shapes and arena bytes; None where the arguments do not fit."""
        dims: list[int] = []
        for (dtype, ndim), x in zip(self.interface.inputs, values, strict=True):
            if ndim:
                dims += np.shape(x)
            elif dtype == np.int64:
                dims.append(int(x))
        given = (_I64 * max(1, len(dims)))(*dims)
        made = (_I64 * self.plan_words)()
        fits = not self._plan(ctypes.addressof(given), ctypes.addressof(made))
        return list(made) if fits else None

    def run(self, values: Sequence[object]) -> list[Any]:
        """Call the kernel on the graph's inputs, which fit, and return its outputs."""
        plan = self.plan(values)
        assert plan is not None
        inputs = [np.require(np.asarray(x), dtype, ["C", "A"])
                  for (dtype, _), x in zip(self.interface.inputs, values, strict=True)]
        memory = _Memory() if self.checked is not None else None
        if memory is not None:
            inputs = [memory.copy(x) for x in inputs]
        sizes, shapes = plan[:self.interface.sizes], plan[self.interface.sizes:]
        outputs = self._empty_outputs(shapes, np.empty if memory is None else memory.array)
        arena = np.empty(plan[-1] + 64, np.uint8)
        if memory is not None:
            arena.fill(_UNSET)
        pointers = [x.ctypes.data for x in (*inputs, *outputs)]
        pointers.append(arena.ctypes.data + -arena.ctypes.data % 64)
        logs = self.interface.logs
        ctx = self._context()
        printing = _Printing(self.interface.prints) if self.interface.prints else None
        if printing is not None:
            ctx[PRINT] = printing.address
        table = (ctypes.c_void_p * len(pointers))(*pointers)
        dims = (_I64 * max(1, len(sizes)))(*sizes)
        status = self._kernel(ctypes.addressof(ctx), ctypes.addressof(table),
                              ctypes.addressof(dims))
        if not status:
            for k, (dtype, _), number in self.interface.found:
                outputs[k] = _copy_of(ctx[LOGS + 2 * number], tuple(outputs[k].tolist()), dtype)
        for k in range(logs):
            _free(ctx[LOGS + 2 * k])
        if printing is not None and printing.error is not None:
            raise printing.error
        if status == INTERRUPTED:
            raise_kept()
        if memory is not None:
            self._require_clean(ctx, memory)
        if status:
            self.fail(status, *(ctypes.c_double * 2).from_buffer(ctx, 8))
        return [x[()] if x.ndim == 0 else x for x in outputs]

    def _context(self) -> ctypes.Array[ctypes.c_int64]:
        """Return a context for a run of the kernel."""
        ctx = (_I64 * (LOGS + 8 + 2 * self.interface.logs))()
        ctx[POLL] = poll_address(keeps=True)
        ctx[CALLBACK] = self.callback_address
        if self.interface.parallel:
            ctx[PARALLEL], ctx[THREADS] = parallel_for_address(), thread_count(self.threads)
        return ctx

    def _empty_outputs(self, shapes: list[int], empty: Callable[[tuple[int, ...], np.dtype],
                                                                np.ndarray]) -> list[Any]:
        """Return fresh arrays for the results, whose shapes stand one after another."""
        outputs: list[Any] = []
        for dtype, ndim in self.interface.outputs:
            outputs.append(empty(tuple(shapes[:ndim]), dtype))
            shapes = shapes[ndim:]
        return outputs

    def fail(self, status: int, *numbers: float) -> None:
        """Raise the error that a status of the kernel stands for; 0: no memory to begin with."""
        if status == FAILED_OUTSIDE:
            raise_kept_error()
        if status == 0:
            raise MemoryError(f"{self.interface.name} needs {int(numbers[0])} bytes for arrays and "
                              "for what its loops store. tracejit.checkpoint stores less")
        failure = self.interface.failures[status - 1]
        raise_at(failure.error, failure.message, numbers, failure.site)

    def _require_clean(self, ctx: ctypes.Array[ctypes.c_int64], memory: _Memory) -> None:
        """Raise `IRError` where the kernel left the bounds of a buffer."""
        number, index = ctx[BAD_BUFFER], ctx[BAD_BUFFER + 1]
        if number:
            assert self.checked is not None
            buffer = self.checked.buffers[number - 1]
            raise IRError(f"the kernel of {self.interface.name} reads or writes "
                          f"{buffer.name}[{index}], which has {buffer.size} elements")
        if not memory.is_clean():
            raise IRError(f"the kernel of {self.interface.name} writes outside of its buffers")


class _Printing:
    """The printing of a running kernel; an exception in it waits for the kernel's end."""

    def __init__(self, prints: Sequence[Shown]) -> None:
        self.prints = prints
        self.error: BaseException | None = None
        self.callback = _PRINT(self._print)
        self.address = ctypes.cast(self.callback, ctypes.c_void_p).value or 0

    def _print(self, number: int, words: int) -> int:
        """Show the operands whose addresses and sizes are in a table."""
        try:
            template, kinds, stream = self.prints[number]
            table = ctypes.cast(words, ctypes.POINTER(_I64))
            values, place = [], 0
            for dtype, ndim in kinds:
                shape = tuple(table[place + 1 + k] for k in range(ndim))
                size = math.prod(shape) * dtype.itemsize
                data = ctypes.string_at(table[place], size)
                values.append(np.frombuffer(data, dtype).reshape(shape)[()])
                place += 1 + ndim
            show(template, values, stream)
        except BaseException as e:  # Ctrl-C among them: C code cannot pass it on
            self.error = e
            return 1
        return 0


class _Memory:
    """Arrays with zones around them that nothing may write to."""

    def __init__(self) -> None:
        self.zones: list[np.ndarray] = []

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return an array that holds NaN, between zones."""
        size = int(np.prod(shape)) * dtype.itemsize
        block = np.full(size + 3 * _MARGIN, _ZONE, np.uint8)
        start = _MARGIN + -(block.ctypes.data + _MARGIN) % _MARGIN
        self.zones += [block[:start], block[start + size:]]
        array = block[start:start + size]
        array[:] = _UNSET
        return array.view(dtype).reshape(shape)

    def copy(self, x: np.ndarray) -> np.ndarray:
        """Return a copy of an array, between zones."""
        result = self.array(x.shape, x.dtype)
        result[...] = x
        return result

    def is_clean(self) -> bool:
        """Return whether all zones are as they were."""
        return all(np.all(zone == _ZONE) for zone in self.zones)


def _copy_of(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a copy of an array that a kernel has left in a Log."""
    result = np.empty(shape, dtype)
    ctypes.memmove(result.ctypes.data, address, result.nbytes)
    return result


def _free(address: int) -> None:
    if address:
        free = ctypes.CDLL(None).free
        free.argtypes, free.restype = [ctypes.c_void_p], None
        free(address)
