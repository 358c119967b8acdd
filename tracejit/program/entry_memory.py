"""The memory of a call's outputs, as the fast entry makes it: kept blocks and new arrays."""

from __future__ import annotations

from llvmlite import ir

from tracejit.program.entry_writer import INT, WORD, EntryWriter

__all__ = ["MAX_KEPT", "build_memory", "build_new_array"]

MAX_KEPT = 1 << 28
"""The bytes of the largest block of memory that is kept from one call to the next; there is one."""


def build_memory(w: EntryWriter) -> None:
    """Memory: `tracejit_take(bytes)`, 0 where there is none, and `tracejit_give(block)`.

    One block is kept for the next call, unless it is very large; `tracejit_release()` frees it.
    """
    kept = ir.GlobalVariable(w.module, WORD, "tracejit_kept")
    kept.initializer, kept.linkage = WORD(0), "internal"
    take = w.external("tracejit_take", WORD, WORD)
    b = ir.IRBuilder(take.append_basic_block())
    block = b.atomic_rmw("xchg", kept, WORD(0), "acq_rel")
    with b.if_then(b.icmp_unsigned("!=", block, WORD(0))):
        size = w.load(b, block, -64)
        with b.if_then(b.icmp_unsigned(">=", size, take.args[0])):
            b.ret(block)
        w.call(b, "free", b.sub(block, WORD(64)), result=ir.VoidType())
    place = w.variable(b, WORD)
    size = b.add(take.args[0], WORD(64))
    failed = w.call(b, "posix_memalign", w.address(b, place), WORD(64), size, result=INT)
    with b.if_then(b.icmp_unsigned("!=", failed, INT(0))):
        b.ret(WORD(0))
    made = b.load(place)
    b.store(take.args[0], b.inttoptr(made, WORD.as_pointer()))
    b.ret(b.add(made, WORD(64)))
    give = w.external("tracejit_give", ir.VoidType(), WORD)
    b = ir.IRBuilder(give.append_basic_block())
    with b.if_then(b.icmp_unsigned(">", w.load(b, give.args[0], -64), WORD(MAX_KEPT))):
        w.call(b, "free", b.sub(give.args[0], WORD(64)), result=ir.VoidType())
        b.ret_void()
    old = b.atomic_rmw("xchg", kept, give.args[0], "acq_rel")
    with b.if_then(b.icmp_unsigned("!=", old, WORD(0))):
        w.call(b, "free", b.sub(old, WORD(64)), result=ir.VoidType())
    b.ret_void()
    release = w.external("tracejit_release", ir.VoidType())
    b = ir.IRBuilder(release.append_basic_block())
    old = b.atomic_rmw("xchg", kept, WORD(0), "acq_rel")
    with b.if_then(b.icmp_unsigned("!=", old, WORD(0))):
        w.call(b, "free", b.sub(old, WORD(64)), result=ir.VoidType())
    b.ret_void()


def build_new_array(w: EntryWriter) -> None:
    """`tracejit_new_array(descr, ndim, dims)`: a C-contiguous array."""
    new = w.external("tracejit_new_array", WORD, WORD, WORD, WORD)
    b = ir.IRBuilder(new.append_basic_block())
    descr, ndim, dims = new.args
    w.call(b, "Py_IncRef", descr, result=ir.VoidType())  # the call below takes it over
    zero = WORD(0)
    b.ret(w.call(b, "tracejit_numpy_new", w.constant(b, "tracejit_array_type"), descr,
                 b.trunc(ndim, INT), dims, zero, zero, INT(0), zero))
