"""Small products and factorisations on one thread of OpenBLAS, for kernels in this process.

OpenBLAS shares a product of more than 64 ** 3 multiplications among all cores. Where these have
other work its threads wait for each other, spinning: a Cholesky factor of 100 rows takes 28 ms
instead of 0.1 ms on a busy machine, a product of 1000 x 64 and 64 x 64 numbers 10 ms instead of
0.15. A shim in front of each routine keeps OpenBLAS to one thread while a small call runs, or one
of a block of rows, which a thread of ours does (`matmul.py`): it has small letters where others
have capitals. The results of both have the same bits for any number of threads.

OpenBLAS has one number of threads for the whole process, so the shims count the calls that are
under way: the first one sets it, and the last one sets it back. They hold a lock for a few
instructions; a call that waits long for it goes on as if it had it, since after a fork the holder
may not exist.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm

from tracejit.codegen.libraries import ROUTINES, find_blas, threads_of_blas
from tracejit.codegen.machine import load_object, target_machine

__all__ = ["limit_small_calls"]

SMALL = 1 << 24
"""Below how many multiplications, about, a call has one thread: some 0.2 ms of one core."""

_FORMS: dict[str, tuple[int, tuple[int, int, int]]] = {
    "gemm": (13, (2, 3, 4)), "trsm": (11, (4, 5, 5)), "potrf": (5, (1, 1, 1)),
    "getrf": (6, (0, 1, 1)), "sgesdd": (14, (1, 2, 2)), "dgesdd": (14, (1, 2, 2)),
    "gesdd": (15, (1, 2, 2)), "geqrf": (8, (0, 1, 1)), "geev": (14, (2, 2, 2)),
    "gees": (15, (3, 3, 3)), "trsyl": (13, (3, 4, 4)), "gbsv": (10, (0, 1, 1)),
    "sbevd": (14, (2, 2, 2)), "syevd": (11, (2, 2, 2)), "syevr": (21, (3, 3, 3)),
    "orgqr": (9, (0, 1, 2)), "hbevd": (16, (2, 2, 2)), "heevd": (13, (2, 2, 2)),
    "heevr": (23, (3, 3, 3)), "ungqr": (9, (0, 1, 2)),
}
"""How many arguments a routine has, and which three of them, multiplied, are about its work."""


def limit_small_calls(symbols: Iterable[str]) -> None:
    """Put shims in front of the routines among some symbols.

    There are none if BLAS is not NumPy's, or cannot be told how many threads it has.
    """
    open_ = {*symbols} - _LIMITED
    routines = [r for r in ROUTINES if f"tracejit_{r}" in open_]
    if not routines or find_blas()[1] != 64 or not _count_calls():
        return
    engine = _engine("\n".join([
        "declare void @tracejit_enter_small()", "declare void @tracejit_leave_small()",
        *(_shim(r, llvm.address_of_symbol(f"tracejit_{r}")) for r in routines)]))
    for r in routines:
        llvm.add_symbol(f"tracejit_{r}", int(engine.get_function_address(f"tracejit_small_{r}")))
        _LIMITED.add(f"tracejit_{r}")


_LIMITED: set[str] = set()
"""The symbols of the routines that have a shim."""


@functools.cache
def _count_calls() -> bool:
    """Make the functions that count calls, which all shims share; return whether it can be done."""
    functions = threads_of_blas()
    if functions is None:
        return False
    engine = _engine(_COUNTING.format(*functions))
    for name in ("tracejit_enter_small", "tracejit_leave_small"):
        llvm.add_symbol(name, int(engine.get_function_address(name)))
    return True


def _engine(text: str) -> Any:
    """Return the engine that holds functions, which take too long to optimise."""
    machine = target_machine(effort=0)
    return load_object(machine.emit_object(llvm.parse_assembly(text)))


def _shim(routine: str, address: int) -> str:
    """Return the function that calls a routine, on one thread if its work is small."""
    count, places = _FORMS.get(routine) or _FORMS[routine[1:]]
    kinds, names = ["ptr"] * count, [f"%x{k}" for k in range(count)]
    given = ", ".join(f"{kind} {name}" for kind, name in zip(kinds, names, strict=True))
    a, b, c = (names[k] for k in places)
    call = f"call void inttoptr (i64 {address} to ptr)({given})"
    return f"""
define void @tracejit_small_{routine}({given}) nounwind {{
  %a = load i64, ptr {a}
  %b = load i64, ptr {b}
  %c = load i64, ptr {c}
  %ab = mul i64 %a, %b
  %work = mul i64 %ab, %c
  %letter = load i8, ptr %x0
  %is_block = icmp uge i8 %letter, 97
  %is_below = icmp ult i64 %work, {SMALL}
  %is_small = or i1 %is_below, {"%is_block" if routine[1:] == "gemm" else "false"}
  br i1 %is_small, label %small, label %large
small:
  call void @tracejit_enter_small()
  {call}
  call void @tracejit_leave_small()
  ret void
large:
  {call}
  ret void
}}"""


_COUNTING = """
@held = internal global i32 0
@calls = internal global i64 0
@before = internal global i32 0

define internal void @take() nounwind {{
  br label %try
try:
  %k = phi i32 [0, %0], [%next, %try]
  %next = add i32 %k, 1
  %pair = cmpxchg ptr @held, i32 0, i32 1 acquire monotonic
  %has = extractvalue {{i32, i1}} %pair, 1
  %ends = icmp eq i32 %next, 1000000
  %done = or i1 %has, %ends
  br i1 %done, label %taken, label %try
taken:
  ret void
}}

define void @tracejit_enter_small() nounwind {{
  call void @take()
  %n = load i64, ptr @calls
  %more = add i64 %n, 1
  store i64 %more, ptr @calls
  %is_first = icmp eq i64 %n, 0
  br i1 %is_first, label %set, label %leave
set:
  %threads = call i32 inttoptr (i64 {0} to ptr)()
  store i32 %threads, ptr @before
  call void inttoptr (i64 {1} to ptr)(i32 1)
  br label %leave
leave:
  store atomic i32 0, ptr @held release, align 4
  ret void
}}

define void @tracejit_leave_small() nounwind {{
  call void @take()
  %n = load i64, ptr @calls
  %less = sub i64 %n, 1
  store i64 %less, ptr @calls
  %is_last = icmp eq i64 %less, 0
  br i1 %is_last, label %set, label %leave
set:
  %threads = load i32, ptr @before
  call void inttoptr (i64 {1} to ptr)(i32 %threads)
  br label %leave
leave:
  store atomic i32 0, ptr @held release, align 4
  ret void
}}
"""
"""LLVM text: the number of threads, set to one from the first small call to the end of the last.

The fields are the addresses of the functions of OpenBLAS that tell and set the number of threads.
"""
