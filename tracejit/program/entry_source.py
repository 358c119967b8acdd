"""The LLVM text of the fast entry; `entry.py` describes the entry and the layout of its table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tracejit.codegen import context
from tracejit.program import layout
from tracejit.program.entry_memory import build_memory, build_new_array
from tracejit.program.entry_words import MAX_LEAVES, MAX_LOGS, MAX_WORDS, Words
from tracejit.program.entry_writer import BYTE, DOUBLE, INT, POINTER, WORD, EntryWriter

__all__ = ["entry_text"]

STACK_ARENA = 4096


def entry_text() -> str:
    """Return LLVM text of `PyObject *entry(PyObject *words, PyObject **args, n, kwnames)`."""
    w = EntryWriter()
    function = ir.Function(w.module, ir.FunctionType(WORD, [WORD] * 4), "tracejit_entry")
    b = ir.IRBuilder(function.append_basic_block("start"))
    self_, args, nargs, kwnames = function.args
    words = w.load(b, self_, layout.ARRAY_DATA)
    slow = function.append_basic_block("slow")
    state = _State(w, b, words, args, slow)

    good = b.and_(b.icmp_signed("==", nargs, state.word(Words.ARGS)),
                  b.icmp_unsigned("==", kwnames, WORD(0)))
    state.require(good)
    _check_guards(state)
    _read_leaves(state)
    _check_pairs(state)
    plan = w.call_address(b, state.word(Words.PLAN), w.address(b, state.dims),
                          w.address(b, state.plan))
    state.require(b.icmp_unsigned("==", plan, WORD(0)))
    _make_outputs(state)
    _run(state)

    b.position_at_end(slow)  # the next entry, or Python
    b.ret(w.call(b, "PyObject_Vectorcall", state.word(Words.NEXT), args, nargs, kwnames))
    build_memory(w)
    build_new_array(w)
    return str(w.module)


class _State:
    """The state that the parts of the entry share."""

    def __init__(self, w: EntryWriter, b: ir.IRBuilder, words: ir.Value, args: ir.Value,
                 slow: ir.Block) -> None:
        self.w, self.b, self.words, self.args, self.slow = w, b, words, args, slow
        self.dims = w.variable(b, WORD, size=MAX_WORDS)
        self.plan = w.variable(b, WORD, size=MAX_WORDS)
        self.pointers = w.variable(b, WORD, size=2 * MAX_LEAVES + 1)
        self.ends = w.variable(b, WORD, size=MAX_LEAVES)
        self.objects = w.variable(b, WORD, size=MAX_LEAVES)
        self.inputs = w.variable(b, WORD, size=MAX_LEAVES)
        self.scalars = w.variable(b, WORD, size=4 * MAX_LEAVES)
        self.ctx = w.variable(b, WORD, size=context.LOGS + 2 * MAX_LOGS)
        self.arena = w.variable(b, BYTE, size=STACK_ARENA + 64)
        self.position = w.variable(b, WORD, WORD(0))
        """In a dict of which the keys are looked at."""
        self.next_dim = w.variable(b, WORD, WORD(0))
        self.next_output = w.variable(b, WORD, WORD(0))

    def word(self, k: ir.Value | int) -> Any:
        """Return a word of the table."""
        k = WORD(k) if isinstance(k, int) else k
        return self.w.load(self.b, self.words, self.b.mul(k, WORD(8)))

    def record(self, first: ir.Value, i: ir.Value, field: int) -> Any:
        """Return a field of the i-th record from `first` on."""
        place = self.b.add(self.b.mul(self.b.add(first, i), WORD(Words.RECORD)),
                           WORD(Words.HEAD + field))
        return self.word(place)

    def set_field(self, i: ir.Value, field: int, value: ir.Value) -> None:
        """Set a field of the i-th record."""
        b = self.b
        place = b.add(b.mul(i, WORD(8 * Words.RECORD)), WORD(8 * (Words.HEAD + field)))
        b.store(value, b.bitcast(b.gep(b.inttoptr(self.words, POINTER), [place]),
                                 WORD.as_pointer()))

    def require(self, condition: ir.Value) -> None:
        """Go the slow way unless a condition holds."""
        going = self.b.append_basic_block("going")
        self.b.cbranch(condition, going, self.slow)
        self.b.position_at_end(going)

    def put(self, table: ir.Value, k: ir.Value, value: ir.Value) -> None:
        """Set a word of a table."""
        self.b.store(value, self.b.gep(table, [k]))

    def push_dim(self, value: ir.Value) -> None:
        """Append to the dims that the plan is made from."""
        k = self.b.load(self.next_dim)
        self.put(self.dims, k, value)
        self.b.store(self.b.add(k, WORD(1)), self.next_dim)

    def source(self, first: ir.Value, i: ir.Value, *, may_be_absent: bool = False) -> Any:
        """Return the object that a record names: an argument, a closure cell's, a global.

        may_be_absent -- whether 0 stands for nothing there; the slow way is gone otherwise
        """
        b = self.b
        kind, a = (self.record(first, i, f) for f in (Words.SOURCE, Words.A))
        result = self.w.variable(b, WORD, WORD(0))
        done = b.append_basic_block("read")
        choice = b.switch(kind, self.slow)
        for number, read in _SOURCES.items():
            block = b.append_basic_block(f"source_{number}")
            choice.add_case(WORD(number), block)
            b.position_at_end(block)
            b.store(read(self, a, lambda: self.record(first, i, Words.B)), result)
            b.branch(done)
        b.position_at_end(done)
        found = b.load(result)
        if not may_be_absent:
            self.require(b.icmp_unsigned("!=", found, WORD(0)))
        return found


def _from_dict(s: _State, a: ir.Value, key: ir.Value) -> Any:
    """Look a text up, by the hash that it has noted."""
    b, w = s.b, s.w
    found = w.variable(b, WORD)
    text = key()
    b.store(w.call(b, "_PyDict_GetItem_KnownHash", a, text,
                   w.load(b, text, layout.STR_HASH)), found)
    with b.if_then(b.icmp_unsigned("==", b.load(found), WORD(0))):
        w.call(b, "PyErr_Clear", result=ir.VoidType())
    return b.load(found)


def _from_list(s: _State, a: ir.Value, index: ir.Value) -> Any:
    """Return an item, 0 behind the end."""
    b, w = s.b, s.w
    found = w.variable(b, WORD)
    b.store(WORD(0), found)
    k = index()
    with b.if_then(b.icmp_signed("<", k, w.load(b, a, layout.LIST_SIZE))):
        b.store(w.load(b, w.load(b, a, layout.LIST_ITEMS), b.mul(k, WORD(8))), found)
    return b.load(found)


def _next_key(s: _State, a: ir.Value, number: ir.Value) -> Any:
    """Return the next key of a dict, the first for number 0; 0 behind the last."""
    b, w = s.b, s.w
    key = w.variable(b, WORD)
    b.store(WORD(0), key)
    with b.if_then(b.icmp_signed("==", number(), WORD(0))):
        b.store(WORD(0), s.position)
    w.call(b, "PyDict_Next", a, w.address(b, s.position), w.address(b, key), WORD(0), result=INT)
    return b.load(key)


def _from_place(s: _State, a: ir.Value, key: ir.Value) -> Any:
    """Return the value of an entry of a dict, 0 if the entry has another key."""
    b, w = s.b, s.w
    same = b.icmp_unsigned("==", w.load(b, a, layout.CELL_CONTENT - 8), key())
    return b.select(same, w.load(b, a, layout.CELL_CONTENT), WORD(0))


def _from_call(s: _State, a: ir.Value, _: object) -> Any:
    """Return the result of a function of Python, True or False; its exceptions end the call."""
    b, w = s.b, s.w
    w.call(b, "Py_IncRef", a, result=ir.VoidType())
    found = w.call(b, "PyObject_CallNoArgs", a)
    w.call(b, "Py_DecRef", a, result=ir.VoidType())
    with b.if_then(b.icmp_unsigned("==", found, WORD(0))):
        b.ret(WORD(0))
    w.call(b, "Py_DecRef", found, result=ir.VoidType())
    return found


_SOURCES: dict[int, Callable[[_State, Any, Callable[[], Any]], Any]] = {
    Words.FROM_ARGUMENT: lambda s, a, _: s.w.load(s.b, s.args, s.b.mul(a, WORD(8))),
    Words.FROM_CELL: lambda s, a, _: s.w.load(s.b, a, layout.CELL_CONTENT),
    Words.FROM_DICT: _from_dict, Words.FROM_LIST: _from_list,
    Words.FROM_CONSTANT: lambda s, a, _: a, Words.NEXT_KEY: _next_key,
    Words.FROM_PLACE: _from_place, Words.FROM_CALL: _from_call,
}
"""How the object that a record names is read, of its fields a and b."""


def _check_guards(s: _State) -> None:
    """The objects of guards must be the same, or be absent still."""
    b, w = s.b, s.w
    i, seen = w.variable(b, WORD, WORD(0)), w.variable(b, WORD, WORD(0))
    head, inside, one, done = (b.append_basic_block(n) for n in ("guards", "guard", "one", "held"))
    known, other, word = (b.append_basic_block(n) for n in ("version", "versions", "word"))
    b.branch(head)
    b.position_at_end(head)
    b.cbranch(b.icmp_signed("<", b.load(i), s.word(Words.GUARDS)), inside, done)
    b.position_at_end(inside)
    k = b.load(i)
    kind, a, expected = (s.record(WORD(0), k, f) for f in (Words.SOURCE, Words.A, Words.EXPECTED))
    choice = b.switch(kind, one)
    choice.add_case(WORD(Words.FROM_VERSION), known)
    choice.add_case(WORD(Words.TO_VERSION), other)
    choice.add_case(WORD(Words.FROM_CELL), word)

    b.position_at_end(known)
    _skip_what_is_known(s, k, a, expected, i, seen, head)

    b.position_at_end(other)
    s.set_field(b.sub(k, a), Words.B, b.load(seen))
    b.store(b.add(k, WORD(1)), i)
    b.branch(head)

    b.position_at_end(word)  # most records: a word in memory
    b.store(b.add(k, WORD(1)), i)
    b.cbranch(b.icmp_unsigned("==", w.load(b, a, layout.CELL_CONTENT), expected), head, s.slow)

    b.position_at_end(one)
    found = s.source(WORD(0), k, may_be_absent=True)
    s.require(b.icmp_unsigned("==", found, expected))
    b.store(b.add(k, WORD(1)), i)
    b.branch(head)
    b.position_at_end(done)


def _skip_what_is_known(s: _State, k: ir.Value, a: ir.Value, expected: ir.Value, i: ir.Value,
                        seen: ir.Value, head: ir.Block) -> None:
    """Go on behind the guards of a dict, which hold while its version is the same."""
    b = s.b
    now = s.w.load(b, a, 0)
    b.store(now, seen)
    same, differs = b.append_basic_block("same"), b.append_basic_block("differs")
    b.cbranch(b.icmp_unsigned("==", now, s.record(WORD(0), k, Words.B)), same, differs).set_weights(
        [10_000, 1])  # a branch is predicted, a selection would wait for the word
    b.position_at_end(same)
    b.store(b.add(b.add(k, expected), WORD(2)), i)
    b.branch(head)
    b.position_at_end(differs)
    b.store(b.add(k, WORD(1)), i)
    b.branch(head)


def _read_leaves(s: _State) -> None:
    """Check arguments and captured state; note data pointers, shapes and numbers."""
    b, w = s.b, s.w
    first = s.word(Words.GUARDS)

    def read(i: ir.Value) -> None:
        found = s.source(first, i)
        s.put(s.inputs, i, found)
        kind = s.record(first, i, Words.KIND)
        type_ = w.load(b, found, layout.OBJECT_TYPE)
        is_number = b.icmp_signed("==", kind, WORD(Words.IS_NUMBER))
        is_array = b.or_(is_number, b.icmp_signed("==", kind, WORD(Words.IS_ARRAY)))
        with b.if_else(is_array) as (array, number):
            with array:
                _read_array(s, found, type_, first, i)
                with b.if_then(is_number):
                    s.push_dim(w.load(b, w.load(b, found, layout.ARRAY_DATA), 0))
            with number:
                s.require(b.icmp_unsigned("==", type_, s.record(first, i, Words.EXPECTED)))
                place = b.mul(i, WORD(2))
                with b.if_else(b.icmp_signed("==", kind, WORD(Words.IS_INT))) as (whole, real):
                    with whole:
                        value = w.call(b, "PyLong_AsLongLong", found)
                        failed = w.call(b, "PyErr_Occurred")
                        with b.if_then(b.icmp_unsigned("!=", failed, WORD(0))):
                            w.call(b, "PyErr_Clear", result=ir.VoidType())
                            b.branch(s.slow)
                        s.put(s.scalars, place, value)
                        s.push_dim(value)
                    with real:
                        s.put(s.scalars, place, w.load(b, found, layout.SCALAR_VALUE))
                        with b.if_then(b.icmp_signed("==", kind, WORD(Words.IS_COMPLEX))):
                            s.put(s.scalars, b.add(place, WORD(1)),
                                  w.load(b, found, layout.SCALAR_VALUE + 8))
                s.put(s.pointers, i, w.address(b, b.gep(s.scalars, [place])))

    w.loop(b, s.word(Words.LEAVES), read)


def _read_array(s: _State, found: ir.Value, type_: ir.Value, first: ir.Value, i: ir.Value) -> None:
    b, w = s.b, s.w
    ndim = w.load(b, found, layout.ARRAY_NDIM, INT)
    flags = w.load(b, found, layout.ARRAY_FLAGS, INT)
    s.require(b.icmp_unsigned("==", type_, w.constant(b, "tracejit_array_type")))
    descr = w.load(b, found, layout.ARRAY_DESCR)
    good = b.and_(b.icmp_unsigned("==", descr, s.record(first, i, Words.EXPECTED)),
                  b.icmp_signed("==", b.sext(ndim, WORD), s.record(first, i, Words.NDIM)))
    needed = b.trunc(s.record(first, i, Words.FLAGS), INT)
    s.require(b.and_(good, b.icmp_signed("==", b.and_(flags, needed), needed)))
    s.put(s.pointers, i, w.load(b, found, layout.ARRAY_DATA))
    shape = w.load(b, found, layout.ARRAY_DIMS)
    w.loop(b, b.sext(ndim, WORD),
           lambda k: s.push_dim(w.load(b, shape, b.mul(k, WORD(8)))))
    item = s.record(first, i, Words.ITEM)
    with b.if_then(b.icmp_signed("!=", item, WORD(0))):
        end = w.variable(b, WORD)
        b.store(item, end)
        w.loop(b, b.sext(ndim, WORD), lambda k: b.store(
            b.mul(b.load(end), w.load(b, shape, b.mul(k, WORD(8)))), end))
        s.put(s.ends, i, b.add(b.load(end), w.load(b, found, layout.ARRAY_DATA)))


def _check_pairs(s: _State) -> None:
    """Arrays that the program takes to be apart must not share memory."""
    b = s.b
    first = b.add(b.add(s.word(Words.GUARDS), s.word(Words.LEAVES)), s.word(Words.OUTPUTS))

    def check(i: ir.Value) -> None:
        x, y = (s.record(first, i, field) for field in (Words.A, Words.B))
        begins = [b.load(b.gep(s.pointers, [k])) for k in (x, y)]
        ends = [b.load(b.gep(s.ends, [k])) for k in (x, y)]
        s.require(b.or_(b.icmp_unsigned("<=", ends[0], begins[1]),
                        b.icmp_unsigned("<=", ends[1], begins[0])))

    s.w.loop(b, s.word(Words.PAIRS), check)


def _make_outputs(s: _State) -> None:
    """Make the result arrays; scalars, and shapes that are not known yet, get places on the stack.

    The arguments' shapes were read there, which nobody asks for again.
    """
    b, w = s.b, s.w
    first = b.add(s.word(Words.GUARDS), s.word(Words.LEAVES))
    leaves = s.word(Words.LEAVES)
    b.store(s.word(Words.SIZES), s.next_output)
    b.store(WORD(0), s.next_dim)

    def make(i: ir.Value) -> None:
        place = b.add(leaves, i)
        kind = s.record(first, i, Words.KIND)
        with b.if_else(b.icmp_signed("==", kind, WORD(Words.AS_ARRAY))) as (array, scalar):
            with array:
                dims = b.gep(s.plan, [b.load(s.next_output)])
                ndim = s.record(first, i, Words.NDIM)
                made = w.call(b, "tracejit_new_array", s.record(first, i, Words.EXPECTED), ndim,
                              w.address(b, dims))
                with b.if_then(b.icmp_unsigned("==", made, WORD(0))):
                    w.loop(b, i, lambda k: w.call(b, "Py_DecRef", b.load(b.gep(s.objects, [k])),
                                                  result=ir.VoidType()))
                    b.ret(WORD(0))
                s.put(s.objects, i, made)
                s.put(s.pointers, place, w.load(b, made, layout.ARRAY_DATA))
                b.store(b.add(b.load(s.next_output), ndim), s.next_output)
            with scalar:
                s.put(s.objects, i, WORD(0))
                s.put(s.pointers, place, w.address(b, b.gep(s.scalars, [b.mul(place, WORD(2))])))
                with b.if_then(b.icmp_signed("==", kind, WORD(Words.AS_FOUND))):
                    taken = b.load(s.next_dim)
                    s.put(s.pointers, place, w.address(b, b.gep(s.dims, [taken])))
                    b.store(b.add(taken, s.record(first, i, Words.NDIM)), s.next_dim)
                    b.store(b.add(b.load(s.next_output), WORD(1)), s.next_output)

    w.loop(b, s.word(Words.OUTPUTS), make)


def _copy_found(s: _State, lacks: ir.Value) -> None:
    """Copy the results that the kernel has left in Logs to arrays; note if there is no memory."""
    b, w = s.b, s.w
    first = b.add(s.word(Words.GUARDS), s.word(Words.LEAVES))
    leaves = s.word(Words.LEAVES)

    def copy(i: ir.Value) -> None:
        with b.if_then(b.icmp_signed("==", s.record(first, i, Words.KIND), WORD(Words.AS_FOUND))):
            dims, ndim = b.load(b.gep(s.pointers, [b.add(leaves, i)])), s.record(
                first, i, Words.NDIM)
            made = w.call(b, "tracejit_new_array", s.record(first, i, Words.EXPECTED), ndim, dims)
            s.put(s.objects, i, made)
            with b.if_else(b.icmp_unsigned("==", made, WORD(0))) as (failed, done):
                with failed:
                    b.store(WORD(1), lacks)
                with done:
                    size = w.variable(b, WORD)
                    b.store(s.record(first, i, Words.ITEM), size)
                    w.loop(b, ndim, lambda k: b.store(b.mul(b.load(size), b.load(b.gep(
                        b.inttoptr(dims, WORD.as_pointer()), [k]))), size))
                    number = b.mul(s.record(first, i, Words.FLAGS), WORD(2))
                    base = b.load(b.gep(s.ctx, [b.add(number, WORD(context.LOGS))]))
                    w.call(b, "memcpy", w.load(b, made, layout.ARRAY_DATA), base, b.load(size))

    w.loop(b, s.word(Words.OUTPUTS), copy)


def _run(s: _State) -> None:
    """Give the kernel its arena, run it, and return the results or raise."""
    b, w, void = s.b, s.w, ir.VoidType()
    outputs = s.word(Words.OUTPUTS)
    needed = b.load(b.gep(s.plan, [b.load(s.next_output)]))
    small = b.icmp_signed("<=", needed, WORD(STACK_ARENA))
    arena = w.variable(b, WORD)
    with b.if_else(small) as (then, other):
        with then:
            start = b.add(w.address(b, s.arena), WORD(63))
            b.store(b.and_(start, WORD(-64)), arena)
        with other:
            taken = w.call(b, "tracejit_take", needed)
            with b.if_then(b.icmp_unsigned("==", taken, WORD(0))):
                _drop(s, outputs)
                _fail(s, WORD(0), b.sitofp(needed, DOUBLE), DOUBLE(0.0))
            b.store(taken, arena)
    s.put(s.pointers, b.add(s.word(Words.LEAVES), outputs), b.load(arena))
    for k in range(4):
        s.put(s.ctx, WORD(k), WORD(0))
    logs = s.word(Words.LOGS)
    s.put(s.ctx, WORD(context.POLL), w.constant(b, "tracejit_poll"))
    for place, word in ((context.PARALLEL, Words.PARALLEL), (context.THREADS, Words.THREADS),
                        (context.CALLBACK, Words.CALLBACK)):
        s.put(s.ctx, WORD(place), s.word(word))
    w.loop(b, b.mul(logs, WORD(2)), lambda k: s.put(
        s.ctx, b.add(k, WORD(context.LOGS)), WORD(0)))
    thread = w.variable(b, WORD, WORD(0))
    release = b.icmp_unsigned("!=", s.word(Words.RELEASE), WORD(0))
    with b.if_then(release):
        _for_inputs(s, "Py_IncRef")  # another thread may let go of captured state meanwhile
        b.store(w.call(b, "PyEval_SaveThread"), thread)
    status = w.call_address(b, s.word(Words.KERNEL), w.address(b, s.ctx), w.address(b, s.pointers),
                            w.address(b, s.plan))
    with b.if_then(release):
        w.call(b, "PyEval_RestoreThread", b.load(thread), result=void)
        _for_inputs(s, "Py_DecRef")
    with b.if_then(b.not_(small)):
        w.call(b, "tracejit_give", b.load(arena), result=void)
    _end(s, outputs, status, logs)


def _end(s: _State, outputs: ir.Value, status: ir.Value, logs: ir.Value) -> None:
    """Copy the results that the kernel found out of its Logs, free these, and return or raise."""
    b, w = s.b, s.w
    lacks = w.variable(b, WORD, WORD(0))
    has_found = b.and_(b.icmp_signed("==", status, WORD(0)),
                       b.icmp_unsigned("!=", s.word(Words.FOUND), WORD(0)))
    with b.if_then(has_found):
        _copy_found(s, lacks)
    w.loop(b, logs, lambda k: w.call(
        b, "free", b.load(b.gep(s.ctx, [b.add(b.mul(k, WORD(2)), WORD(context.LOGS))])),
        result=ir.VoidType()))
    with b.if_then(b.icmp_unsigned("!=", b.load(lacks), WORD(0))):
        _drop(s, outputs)
        b.ret(WORD(0))
    with b.if_then(b.icmp_unsigned("!=", status, WORD(0))):
        _drop(s, outputs)
        with b.if_then(b.icmp_signed("==", status, WORD(context.INTERRUPTED))):
            b.ret(WORD(0))  # with the exception that the poll has set
        _fail(s, status, *(b.load(b.bitcast(b.gep(s.ctx, [WORD(k)]), DOUBLE.as_pointer()))
                           for k in context.NUMBERS))
    _return(s, outputs)


def _for_inputs(s: _State, function: str) -> None:
    """Call a function of Python's on each object that the kernel reads."""
    s.w.loop(s.b, s.word(Words.LEAVES), lambda k: s.w.call(
        s.b, function, s.b.load(s.b.gep(s.inputs, [k])), result=ir.VoidType()))


def _fail(s: _State, status: ir.Value, *numbers: ir.Value) -> None:
    """Return from the entry with the exception that a status and two numbers mean."""
    b, w = s.b, s.w
    items = [w.call(b, "PyLong_FromLongLong", status),
             *(w.call(b, "PyFloat_FromDouble", x) for x in numbers)]
    values = w.call(b, "PyTuple_New", WORD(len(items)))
    for k, item in enumerate(items):  # which the tuple takes over
        w.call(b, "PyTuple_SetItem", values, WORD(k), item, result=INT)
    raised = w.call(b, "PyObject_CallObject", s.word(Words.FAIL), values)
    w.call(b, "Py_DecRef", values, result=ir.VoidType())
    b.ret(raised)


def _drop(s: _State, count: ir.Value) -> None:
    s.w.loop(s.b, count, lambda k: s.w.call(s.b, "Py_DecRef", s.b.load(s.b.gep(s.objects, [k])),
                                            result=ir.VoidType()))


def _return(s: _State, outputs: ir.Value) -> None:
    """Box scalars, and put results into tuples."""
    b, w = s.b, s.w
    first = b.add(s.word(Words.GUARDS), s.word(Words.LEAVES))
    leaves = s.word(Words.LEAVES)

    def box(i: ir.Value) -> None:
        kind = s.record(first, i, Words.KIND)
        data = b.load(b.gep(s.pointers, [b.add(leaves, i)]))
        for known, boxed in _BOXED.items():
            with b.if_then(b.icmp_signed("==", kind, WORD(known))):
                s.put(s.objects, i, boxed(s, data, lambda: s.record(first, i, Words.EXPECTED)))

    w.loop(b, outputs, box)
    grouping = s.word(Words.GROUPING)
    with b.if_then(b.icmp_signed("==", grouping, WORD(Words.ONE))):
        b.ret(b.load(s.objects))
    nested = b.icmp_signed("==", grouping, WORD(Words.FIRST_AND_REST))
    start = b.select(nested, WORD(1), WORD(0))
    group = w.call(b, "PyTuple_New", b.sub(outputs, start))
    w.loop(b, b.sub(outputs, start), lambda k: w.call(
        b, "PyTuple_SetItem", group, k, b.load(b.gep(s.objects, [b.add(k, start)])), result=INT))
    with b.if_then(b.not_(nested)):
        b.ret(group)
    pair = w.call(b, "PyTuple_New", WORD(2))
    w.call(b, "PyTuple_SetItem", pair, WORD(0), b.load(s.objects), result=INT)
    w.call(b, "PyTuple_SetItem", pair, WORD(1), group, result=INT)
    b.ret(pair)


def _new_float64(s: _State, data: ir.Value, expected: Callable[[], ir.Value]) -> ir.Value:
    """Return a new `np.float64`, filled in place."""
    made = s.w.call(s.b, "PyType_GenericAlloc", expected(), WORD(0))
    place = s.b.inttoptr(s.b.add(made, WORD(layout.SCALAR_VALUE)), WORD.as_pointer())
    s.b.store(s.w.load(s.b, data, 0), place)
    return made


_BOXED: dict[int, Callable[[_State, ir.Value, Callable[[], ir.Value]], ir.Value]] = {
    Words.AS_FLOAT64: _new_float64,
    Words.AS_SCALAR: lambda s, data, expected: s.w.call(
        s.b, "tracejit_scalar", data, expected(), WORD(0)),
    Words.AS_FLOAT: lambda s, data, _: s.w.call(
        s.b, "PyFloat_FromDouble", s.w.load(s.b, data, 0, DOUBLE)),
    Words.AS_COMPLEX: lambda s, data, _: s.w.call(
        s.b, "PyComplex_FromDoubles", *(s.w.load(s.b, data, k, DOUBLE) for k in (0, 8))),
    Words.AS_INT: lambda s, data, _: s.w.call(
        s.b, "PyLong_FromLongLong", s.w.load(s.b, data, 0)),
    Words.AS_BOOL: lambda s, data, _: s.w.call(
        s.b, "PyBool_FromLong", s.b.zext(s.w.load(s.b, data, 0, BYTE), WORD)),
}
"""How an object is made of a scalar result, by its kind: of the address of its data, and its type.
"""


