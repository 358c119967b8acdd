"""The questions of running kernels: whether a signal handler (Ctrl-C) has raised an exception.

A C function, since kernels run without the GIL. It looks at most 50 times a second.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NoReturn

import llvmlite.binding as llvm

from tracejit.store.store import shared_object

__all__ = ["poll_address", "raise_kept"]

_SOURCE = """
@polled = internal global i64 0
@kept = internal global [3 x ptr] zeroinitializer

declare i32 @clock_gettime(i32, ptr)
declare i32 @PyGILState_Ensure()
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyGILState_Release(i32)

define i32 @tracejit_poll() {
  %raised = call i32 @look(i1 false)
  ret i32 %raised
}

define i32 @tracejit_poll_and_keep() {
  %raised = call i32 @look(i1 true)
  ret i32 %raised
}

define i32 @tracejit_raise_kept() {
  %kind = load ptr, ptr @kept
  %place1 = getelementptr ptr, ptr @kept, i64 1
  %value = load ptr, ptr %place1
  %place2 = getelementptr ptr, ptr @kept, i64 2
  %trace = load ptr, ptr %place2
  store [3 x ptr] zeroinitializer, ptr @kept
  call void @PyErr_Restore(ptr %kind, ptr %value, ptr %trace)
  ret i32 0
}

define internal i32 @look(i1 %keeps) {
start:
  %time = alloca [2 x i64]
  %done = call i32 @clock_gettime(i32 CLOCK, ptr %time)
  %seconds = load i64, ptr %time
  %fraction = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %fraction
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %nanoseconds
  %last = load i64, ptr @polled
  %elapsed = sub i64 %now, %last
  %soon = icmp slt i64 %elapsed, 20000000
  br i1 %soon, label %no, label %ask
no:
  ret i32 0
ask:
  store i64 %now, ptr @polled
  %state = call i32 @PyGILState_Ensure()
  %raised = call i32 @PyErr_CheckSignals()
  %failed = icmp ne i32 %raised, 0
  %aside = and i1 %failed, %keeps
  br i1 %aside, label %keep, label %leave
keep:
  %place1 = getelementptr ptr, ptr @kept, i64 1
  %place2 = getelementptr ptr, ptr @kept, i64 2
  call void @PyErr_Fetch(ptr @kept, ptr %place1, ptr %place2)
  br label %leave
leave:
  call void @PyGILState_Release(i32 %state)
  ret i32 %raised
}
"""
_CLOCK = 6
"""A monotonic clock that is quick to read: CLOCK_MONOTONIC_COARSE in Linux, elsewhere the usual."""


@functools.cache
def poll_address(*, keeps: bool) -> int:
    """Return the address of a C function `int poll()`, -1 where a signal handler raised.

    keeps -- whether the exception is kept aside for `raise_kept`; else it stays set in the thread,
             which ctypes takes for a fault of the function that it has called
    """
    name = "tracejit_poll_and_keep" if keeps else "tracejit_poll"
    return int(_engine().get_function_address(name))


def raise_kept() -> NoReturn:
    """Raise a signal handler's error from during a kernel; only one thread runs handlers."""
    address = _engine().get_function_address("tracejit_raise_kept")
    ctypes.PYFUNCTYPE(ctypes.c_int)(address)()
    raise AssertionError


@functools.cache
def _engine() -> Any:
    from tracejit.codegen.machine import load_object

    return load_object(shared_object("interrupts", _compile))


def _compile() -> bytes:
    from tracejit.codegen.machine import target_machine

    module = llvm.parse_assembly(_SOURCE.replace("CLOCK", str(_CLOCK)))
    return bytes(target_machine().emit_object(module))
