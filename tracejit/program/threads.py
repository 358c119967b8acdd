"""The pool of threads that loops of kernels are shared among.

One C function, `tracejit_parallel_for`, hands out stretches of a loop: the thread that calls it
takes some, and so do threads of the pool, which wait for the next loop in between, a little while
awake and then asleep. The stretches do not depend on the number of threads. One loop is shared at a
time; where another thread's is, the caller does all stretches itself, and so never waits for
others. A child that was forked makes threads of its own.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
from typing import Any

import llvmlite.binding as llvm

from tracejit.store.store import shared_object

__all__ = ["parallel_for_address"]

_SOURCE = """
%lock = type [8 x i64]

@mutex = internal global %lock zeroinitializer, align 16
@work = internal global %lock zeroinitializer, align 16
@done = internal global %lock zeroinitializer, align 16
@busy = internal global i64 0
@owner = internal global i64 0
@forks = internal global i64 0
@workers = internal global i64 0
@loops = internal global i64 0
@seats = internal global i64 0
@active = internal global i64 0
@part = internal global ptr null
@table = internal global ptr null
@next = internal global i64 0, align 64
@end = internal global i64 0
@grain = internal global i64 0
@left = internal global i64 0

declare i64 @pthread_self()
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare void @llvm.x86.sse2.pause()

; At the beginning, and in a forked child. Who forks may be within a loop of its own: a signal
; handler, which the poll runs. It goes on with the stretches that nobody has taken.
define void @tracejit_begin_threads() {
  %made_mutex = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %made_work = call i32 @pthread_cond_init(ptr @work, ptr null)
  %made_done = call i32 @pthread_cond_init(ptr @done, ptr null)
  %self = call i64 @pthread_self()
  %owner = load i64, ptr @owner
  %is_mine = icmp eq i64 %owner, %self
  %busy = zext i1 %is_mine to i64
  %still = select i1 %is_mine, i64 %self, i64 0
  store i64 %still, ptr @owner
  store i64 %busy, ptr @busy
  store i64 0, ptr @workers
  store i64 0, ptr @seats
  store i64 0, ptr @active
  store atomic i64 0, ptr @forks monotonic, align 8
  ret void
}

; Threads leave the loop that is open, each behind its stretch, so that no stretch is lost in a
; child, and join none until the parent goes on; for good where Python ends. No lock is held
; meanwhile: other hooks run Python.
define void @tracejit_before_fork() {
start:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %forks = load i64, ptr @forks
  %more = add i64 %forks, 1
  store atomic i64 %more, ptr @forks monotonic, align 8
  store i64 0, ptr @seats
  br label %wait
wait:
  %are = load i64, ptr @active
  %is_over = icmp eq i64 %are, 0
  br i1 %is_over, label %over, label %sleep
sleep:
  %slept = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %wait
over:
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

define void @tracejit_after_fork() {
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %forks = load i64, ptr @forks
  %fewer = sub i64 %forks, 1
  store atomic i64 %fewer, ptr @forks monotonic, align 8
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

; The stretches that a thread takes, of the loop that is open; its caller asks whether to leave.
; Others leave where the process forks.
define internal void @take(i64 %poll, i1 %is_caller) {
start:
  %part = load ptr, ptr @part
  %table = load ptr, ptr @table
  %end = load i64, ptr @end
  %grain = load i64, ptr @grain
  %asks = icmp ne i64 %poll, 0
  %question = inttoptr i64 %poll to ptr
  br label %again
again:
  %first = atomicrmw add ptr @next, i64 %grain acq_rel
  %is_over = icmp sge i64 %first, %end
  br i1 %is_over, label %over, label %stretch
stretch:
  %following = add i64 %first, %grain
  %is_last = icmp sgt i64 %following, %end
  %last = select i1 %is_last, i64 %end, i64 %following
  call void %part(ptr %table, i64 %first, i64 %last)
  br i1 %is_caller, label %stay, label %other
other:
  %forks = load atomic i64, ptr @forks monotonic, align 8
  %goes_on = icmp eq i64 %forks, 0
  br i1 %goes_on, label %again, label %over
stay:
  br i1 %asks, label %ask, label %again
ask:
  %answer = call i32 %question()
  %leaves = icmp ne i32 %answer, 0
  br i1 %leaves, label %leave, label %again
leave:
  store atomic i64 1, ptr @left release, align 8
  store atomic i64 %end, ptr @next release, align 8
  ret void
over:
  ret void
}

define internal ptr @worker(ptr %seen_) {
start:
  %before = ptrtoint ptr %seen_ to i64
  br label %spin
spin:
  %seen = phi i64 [ %before, %start ], [ %loop, %finished ]
  br label %look
look:
  %looks = phi i64 [ 0, %spin ], [ %more, %pause ]
  %now = load atomic i64, ptr @loops monotonic, align 8
  %is_new = icmp ne i64 %now, %seen
  %more = add i64 %looks, 1
  %is_enough = icmp sgt i64 %more, 2000
  %stops = or i1 %is_new, %is_enough
  br i1 %stops, label %enter, label %pause
pause:
  PAUSE
  br label %look
enter:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  br label %wait
wait:
  %known = phi i64 [ %seen, %enter ], [ %loop, %sleep ]
  %loop = load i64, ptr @loops
  %seats = load i64, ptr @seats
  %is_open = icmp sgt i64 %seats, 0
  %is_other = icmp ne i64 %loop, %known
  %joins = and i1 %is_open, %is_other
  br i1 %joins, label %join, label %sleep
sleep:
  %slept = call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %wait
join:
  %fewer = sub i64 %seats, 1
  store i64 %fewer, ptr @seats
  %were = load i64, ptr @active
  %are = add i64 %were, 1
  store atomic i64 %are, ptr @active monotonic, align 8
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @take(i64 0, i1 false)
  %locked_again = call i32 @pthread_mutex_lock(ptr @mutex)
  %active = load i64, ptr @active
  %others = sub i64 %active, 1
  store atomic i64 %others, ptr @active release, align 8
  %is_last = icmp eq i64 %others, 0
  br i1 %is_last, label %tell, label %finished_
tell:
  %told = call i32 @pthread_cond_broadcast(ptr @done)
  br label %finished_
finished_:
  br label %finished
finished:
  %unlocked_again = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %spin
}

; The mutex is held. A new thread takes no signals: these are for the thread that runs Python.
define internal void @hire(i64 %wanted) {
start:
  %thread = alloca i64
  %all = alloca [32 x i64]
  %old = alloca [32 x i64]
  br label %check
check:
  %count = load i64, ptr @workers
  %lacks = icmp slt i64 %count, %wanted
  br i1 %lacks, label %make, label %enough
make:
  %filled = call i32 @sigfillset(ptr %all)
  %masked = call i32 @pthread_sigmask(i32 SETMASK, ptr %all, ptr %old)
  %loops = load i64, ptr @loops
  %seen = inttoptr i64 %loops to ptr
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %seen)
  %restored = call i32 @pthread_sigmask(i32 SETMASK, ptr %old, ptr null)
  %is_made = icmp eq i32 %failed, 0
  br i1 %is_made, label %made, label %enough
made:
  %made_thread = load i64, ptr %thread
  %detached = call i32 @pthread_detach(i64 %made_thread)
  %more = add i64 %count, 1
  store i64 %more, ptr @workers
  br label %check
enough:
  ret void
}

define internal i64 @alone(ptr %part, ptr %table, i64 %lo, i64 %hi, i64 %grain, i64 %poll) {
start:
  %asks = icmp ne i64 %poll, 0
  %question = inttoptr i64 %poll to ptr
  br label %again
again:
  %first = phi i64 [ %lo, %start ], [ %following, %on ]
  %is_over = icmp sge i64 %first, %hi
  br i1 %is_over, label %over, label %stretch
stretch:
  %following = add i64 %first, %grain
  %is_last = icmp sgt i64 %following, %hi
  %last = select i1 %is_last, i64 %hi, i64 %following
  call void %part(ptr %table, i64 %first, i64 %last)
  br i1 %asks, label %ask, label %on
ask:
  %answer = call i32 %question()
  %leaves = icmp ne i32 %answer, 0
  br i1 %leaves, label %leave, label %on
on:
  br label %again
leave:
  ret i64 1
over:
  ret i64 0
}

define i64 @tracejit_parallel_for(ptr %part, ptr %table, i64 %lo, i64 %hi, i64 %grain,
                                  i64 %threads, i64 %poll) {
start:
  %length = sub i64 %hi, %lo
  %is_short = icmp sle i64 %length, %grain
  %is_one = icmp sle i64 %threads, 1
  %stays = or i1 %is_short, %is_one
  br i1 %stays, label %by_itself, label %ask
ask:
  %taken = cmpxchg ptr @busy, i64 0, i64 1 acq_rel monotonic
  %is_free = extractvalue { i64, i1 } %taken, 1
  br i1 %is_free, label %share, label %by_itself
by_itself:
  %status = call i64 @alone(ptr %part, ptr %table, i64 %lo, i64 %hi, i64 %grain, i64 %poll)
  ret i64 %status
share:
  %rounded = add i64 %length, %grain
  %rounded_ = sub i64 %rounded, 1
  %stretches = sdiv i64 %rounded_, %grain
  %are_few = icmp slt i64 %stretches, %threads
  %useful = select i1 %are_few, i64 %stretches, i64 %threads
  %helpers = sub i64 %useful, 1
  %self = call i64 @pthread_self()
  store i64 %self, ptr @owner
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %forks = load i64, ptr @forks
  %is_quiet = icmp eq i64 %forks, 0
  %wanted = select i1 %is_quiet, i64 %helpers, i64 0
  call void @hire(i64 %wanted)
  store ptr %part, ptr @part
  store ptr %table, ptr @table
  store i64 %hi, ptr @end
  store i64 %grain, ptr @grain
  store atomic i64 0, ptr @left monotonic, align 8
  store atomic i64 %lo, ptr @next monotonic, align 8
  store i64 %wanted, ptr @seats
  %loops = load i64, ptr @loops
  %following = add i64 %loops, 1
  store atomic i64 %following, ptr @loops release, align 8
  %called = call i32 @pthread_cond_broadcast(ptr @work)
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @take(i64 %poll, i1 true)
  br label %look
look:
  %looks = phi i64 [ 0, %share ], [ %more, %pause ]
  %active = load atomic i64, ptr @active acquire, align 8
  %is_idle = icmp eq i64 %active, 0
  %more = add i64 %looks, 1
  %is_enough = icmp sgt i64 %more, 2000
  %stops = or i1 %is_idle, %is_enough
  br i1 %stops, label %close, label %pause
pause:
  PAUSE
  br label %look
close:
  %locked_again = call i32 @pthread_mutex_lock(ptr @mutex)
  store i64 0, ptr @seats
  br label %wait
wait:
  %are = load i64, ptr @active
  %is_over = icmp eq i64 %are, 0
  br i1 %is_over, label %over, label %sleep
sleep:
  %slept = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %wait
over:
  %unlocked_again = call i32 @pthread_mutex_unlock(ptr @mutex)
  %left = load atomic i64, ptr @left monotonic, align 8
  store i64 0, ptr @owner
  store atomic i64 0, ptr @busy release, align 8
  ret i64 %left
}
"""
_SETMASK = 3 if sys.platform == "darwin" else 2
"""POSIX's SIG_SETMASK."""


def _pause() -> str:
    """Return the instruction by which a thread that looks again and again lets others go ahead."""
    is_x86 = llvm.get_process_triple().startswith(("x86_64", "i686"))
    return "call void @llvm.x86.sse2.pause()" if is_x86 else "fence acquire"


@functools.cache
def parallel_for_address() -> int:
    """Return the address of the C function that shares a loop among threads.

    `i64 f(part, table, lo, hi, grain, threads, poll)` calls `part(table, first, last)` for all
    stretches; 1 where the poll says that the user wants to leave.
    """
    return int(_engine().get_function_address("tracejit_parallel_for"))


@functools.cache
def _engine() -> Any:
    from tracejit.codegen.machine import load_object

    engine = load_object(shared_object("threads", _compile))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))  # threads are in its code until the end
    begin, before, after = (ctypes.PYFUNCTYPE(None)(engine.get_function_address(f"tracejit_{name}"))
                            for name in ("begin_threads", "before_fork", "after_fork"))
    begin()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=begin)
    atexit.register(before)  # daemons end within their loops, and the tables of these with them
    return engine


def _compile() -> bytes:
    from tracejit.codegen.machine import target_machine

    text = _SOURCE.replace("SETMASK", str(_SETMASK)).replace("PAUSE", _pause())
    return bytes(target_machine().emit_object(llvm.parse_assembly(text)))
