"""The clock of instrumented kernels: C functions that add up times and counts in slots.

Slot 0 is the time of the last lap. There is one set of slots in a process, which is used under a
lock; only instrumented kernels know of it.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from typing import Any

import llvmlite.binding as llvm

from tracejit.codegen.ticks import LAP, TALLY

__all__ = ["LOCK", "SLOTS", "clear_ticks", "lap_cost", "prepare_ticks", "read_ticks"]

SLOTS = 1 << 16
LOCK = threading.RLock()

_SOURCE = """
@slots = internal global [SLOTS x i64] zeroinitializer

declare i32 @clock_gettime(i32, ptr)

define ptr @tracejit_slots() {
  ret ptr @slots
}

define internal i64 @now() {
  %time = alloca [2 x i64]
  %done = call i32 @clock_gettime(i32 CLOCK, ptr %time)
  %seconds = load i64, ptr %time
  %fraction = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %fraction
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %nanoseconds
  ret i64 %now
}

define void @tracejit_tally(i64 %slot, i64 %amount) {
  %place = getelementptr i64, ptr @slots, i64 %slot
  %before = load i64, ptr %place
  %after = add i64 %before, %amount
  store i64 %after, ptr %place
  ret void
}

define void @tracejit_lap(i64 %slot) {
  %now = call i64 @now()
  %last = load i64, ptr @slots
  %elapsed = sub i64 %now, %last
  call void @tracejit_tally(i64 %slot, i64 %elapsed)
  %behind = add i64 %slot, 1
  call void @tracejit_tally(i64 %behind, i64 1)
  store i64 %now, ptr @slots
  ret void
}

define void @tracejit_laps(i64 %count) {
start:
  br label %again
again:
  %k = phi i64 [0, %start], [%next, %again]
  call void @tracejit_lap(i64 1)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %again, label %done
done:
  ret void
}
"""


@functools.cache
def _engine() -> Any:
    from tracejit.codegen.machine import load_object, target_machine

    text = _SOURCE.replace("SLOTS", str(SLOTS)).replace("CLOCK", str(time.CLOCK_MONOTONIC))
    text = text.replace("tracejit_lap(", f"{LAP}(").replace("tracejit_tally(", f"{TALLY}(")
    return load_object(bytes(target_machine().emit_object(llvm.parse_assembly(text))))


@functools.cache
def _slots() -> Any:
    place = ctypes.CFUNCTYPE(ctypes.c_void_p)(_engine().get_function_address("tracejit_slots"))()
    return (ctypes.c_int64 * SLOTS).from_address(place)


def prepare_ticks() -> None:
    """Make the functions known to code that is loaded from now on."""
    _engine()


def clear_ticks(count: int) -> None:
    """Set the first slots to zero."""
    ctypes.memset(ctypes.addressof(_slots()), 0, 8 * count)


def read_ticks(count: int) -> list[int]:
    """Return the first slots."""
    return list(_slots()[:count])


def lap_cost() -> float:
    """Return the duration of a lap, in nanoseconds: the least of several measurements."""
    laps = ctypes.CFUNCTYPE(None, ctypes.c_int64)(_engine().get_function_address("tracejit_laps"))
    count = 2000
    with LOCK:
        found = []
        for _ in range(10):
            start = time.perf_counter_ns()
            laps(count)
            found.append((time.perf_counter_ns() - start) / count)
        clear_ticks(3)
    return min(found)
