"""LaneCode of LLVM on vectors of eight doubles, written as arithmetic in Python.

The vectors are eight numbers wide on every machine, which LLVM makes registers of: one, two or
four. So results have the same bits everywhere, and LLVM's own vectoriser has nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Union

from llvmlite import ir

from tracejit.codegen.loop_hints import mark_scalar
from tracejit.codegen.vector_math import align_stack

__all__ = ["DOUBLE", "LANES", "POINTER", "VECTOR", "WORD", "LaneCode", "LaneValue", "Register",
           "known"]

LANES = 8
WORD, DOUBLE = ir.IntType(64), ir.DoubleType()
VECTOR, POINTER = ir.VectorType(DOUBLE, LANES), DOUBLE.as_pointer()

Given = Union["LaneValue", int, float]


class LaneValue:
    """A value of LLVM, a number or a vector, with Python's operators."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder, self.value = builder, value

    def _like(self, x: Given) -> ir.Value:
        """Return an operand in the type of this number."""
        if isinstance(x, LaneValue):
            return x.value
        kind = self.value.type
        return kind([kind.element(float(x))] * kind.count) if kind == VECTOR else kind(x)

    def _made(self, operation: str, x: Given, is_second: bool = False) -> LaneValue:
        name = operation if isinstance(self.value.type, ir.IntType) else f"f{operation}"
        operands = (self.value, self._like(x))
        emit = getattr(self.builder, name)
        return LaneValue(self.builder, emit(*(operands[::-1] if is_second else operands)))

    def __add__(self, x: Given) -> LaneValue:
        return self._made("add", x)

    def __sub__(self, x: Given) -> LaneValue:
        return self._made("sub", x)

    def __rsub__(self, x: Given) -> LaneValue:
        return self._made("sub", x, True)

    def __mul__(self, x: Given) -> LaneValue:
        return self._made("mul", x)

    def __truediv__(self, x: Given) -> LaneValue:
        return self._made("div", x)

    def __floordiv__(self, x: Given) -> LaneValue:
        return LaneValue(self.builder, self.builder.udiv(self.value, self._like(x)))

    def __mod__(self, x: Given) -> LaneValue:
        return LaneValue(self.builder, self.builder.urem(self.value, self._like(x)))

    def __and__(self, x: Given) -> LaneValue:
        return LaneValue(self.builder, self.builder.and_(self.value, self._like(x)))

    def __or__(self, x: Given) -> LaneValue:
        return LaneValue(self.builder, self.builder.or_(self.value, self._like(x)))

    def __neg__(self) -> LaneValue:
        return LaneValue(self.builder, self.builder.fneg(self.value))

    def __lt__(self, x: Given) -> LaneValue:
        return self._compared("<", x)

    def __le__(self, x: Given) -> LaneValue:
        return self._compared("<=", x)

    def __gt__(self, x: Given) -> LaneValue:
        return self._compared(">", x)

    def __ge__(self, x: Given) -> LaneValue:
        return self._compared(">=", x)

    def equals(self, x: Given) -> LaneValue:
        """Return whether two whole numbers are equal."""
        return self._compared("==", x)

    def _compared(self, order: str, x: Given) -> LaneValue:
        compare = (self.builder.icmp_signed if isinstance(self.value.type, ir.IntType) else
                   self.builder.fcmp_ordered)
        return LaneValue(self.builder, compare(order, self.value, self._like(x)))

    def choose(self, a: LaneValue, b: Given) -> LaneValue:
        """Return the first number where this condition holds, else the second."""
        return LaneValue(self.builder, self.builder.select(self.value, a.value, a._like(b)))


class Register:
    """A whole number or a pointer that changes."""

    def __init__(self, code: LaneCode, value: LaneValue) -> None:
        self.code = code
        with code.builder.goto_entry_block():
            self.place = code.builder.alloca(value.value.type)
        self.set(value)

    def set(self, value: LaneValue) -> None:
        """Give it another value."""
        self.code.builder.store(value.value, self.place)

    def get(self) -> LaneValue:
        """Return the value that it has."""
        return LaneValue(self.code.builder, self.code.builder.load(self.place))


class LaneCode:
    """Writes functions into a module, one after the other."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.builder = ir.IRBuilder()

    def function(self, name: str, kinds: Sequence[ir.Type],
                 result: ir.Type | None = None) -> tuple[ir.Function, list[LaneValue]]:
        """Begin a function, and return it with its parameters."""
        made = ir.Function(self.module, ir.FunctionType(result or ir.VoidType(), kinds), name)
        made.linkage = "internal"
        for attribute in ("nounwind", "noinline"):
            made.attributes.add(attribute)
        align_stack(made)
        self.builder = ir.IRBuilder(made.append_basic_block("entry"))
        return made, [LaneValue(self.builder, a) for a in made.args]

    def call(self, function: ir.Function, *args: LaneValue) -> LaneValue:
        """Call a function."""
        return LaneValue(self.builder, self.builder.call(function, [a.value for a in args]))

    def leave(self, x: LaneValue | None = None) -> None:
        """End the function."""
        if x is None:
            self.builder.ret_void()
        else:
            self.builder.ret(x.value)

    # --- control --------------------------------------------------------------------------------

    @contextmanager
    def loop(self, end: LaneValue, first: int = 0, step: int = 1) -> Iterator[LaneValue]:
        """Write the body of a loop over whole numbers below an end."""
        builder = self.builder
        before = builder.block
        body, behind = (builder.append_basic_block(n) for n in ("loop", "behind"))
        builder.cbranch((end > first).value, body, behind)
        builder.position_at_end(body)
        i = builder.phi(WORD)
        i.add_incoming(WORD(first), before)
        yield LaneValue(builder, i)
        following = builder.add(i, WORD(step), flags=("nsw",))
        i.add_incoming(following, builder.block)
        jump = builder.cbranch(builder.icmp_signed("<", following, end.value), body, behind)
        mark_scalar(self.module, jump)
        builder.position_at_end(behind)

    @contextmanager
    def loop_while(self, test: Callable[[], LaneValue]) -> Iterator[None]:
        """Write the body of a loop that goes on while a condition holds."""
        builder = self.builder
        head, body, behind = (builder.append_basic_block(n) for n in ("while", "body", "behind"))
        builder.branch(head)
        builder.position_at_end(head)
        builder.cbranch(test().value, body, behind)
        builder.position_at_end(body)
        yield
        builder.branch(head)
        builder.position_at_end(behind)

    @contextmanager
    def when(self, test: LaneValue) -> Iterator[None]:
        """Write the code that runs where a condition holds."""
        with self.builder.if_then(test.value):
            yield

    def by_case(self, x: LaneValue, cases: Mapping[int | None, Callable[[], object]]) -> None:
        """Write the code for each value of a whole number; None is any other."""
        builder = self.builder
        blocks = {key: builder.append_basic_block(f"case{key}") for key in cases}
        behind = builder.append_basic_block("behind")
        switch = builder.switch(x.value, blocks[None])
        for key, write in cases.items():
            if key is not None:
                switch.add_case(WORD(key), blocks[key])
            builder.position_at_end(blocks[key])
            write()
            builder.branch(behind)
        builder.position_at_end(behind)

    # --- memory ---------------------------------------------------------------------------------

    def at(self, pointer: LaneValue, i: LaneValue | int) -> LaneValue:
        """Return the pointer to an element."""
        place = i.value if isinstance(i, LaneValue) else WORD(i)
        return LaneValue(self.builder, self.builder.gep(pointer.value, [place], inbounds=True))

    def load(self, pointer: LaneValue, i: LaneValue | int = 0) -> LaneValue:
        """Load a number."""
        return LaneValue(self.builder, self.builder.load(self.at(pointer, i).value))

    def store(self, x: LaneValue, pointer: LaneValue, i: LaneValue | int = 0) -> None:
        """Store a number."""
        self.builder.store(x.value, self.at(pointer, i).value)

    def vector(self, pointer: LaneValue, i: LaneValue | int = 0) -> LaneValue:
        """Load a vector."""
        place = self.builder.bitcast(self.at(pointer, i).value, VECTOR.as_pointer())
        return LaneValue(self.builder, self.builder.load(place, align=8))

    def put(self, x: LaneValue, pointer: LaneValue, i: LaneValue | int = 0) -> None:
        """Store a vector."""
        place = self.builder.bitcast(self.at(pointer, i).value, VECTOR.as_pointer())
        self.builder.store(x.value, place, align=8)

    # --- numbers --------------------------------------------------------------------------------

    def word(self, x: int) -> LaneValue:
        """Return a whole number."""
        return LaneValue(self.builder, WORD(x))

    def number(self, x: float) -> LaneValue:
        """Return a double."""
        return LaneValue(self.builder, DOUBLE(x))

    def double(self, x: LaneValue) -> LaneValue:
        """Return a whole number as a double."""
        return LaneValue(self.builder, self.builder.sitofp(x.value, DOUBLE))

    def spread(self, x: LaneValue) -> LaneValue:
        """Return the vector of eight times a double."""
        empty = VECTOR(ir.Undefined)
        first = LaneValue(self.builder, self.builder.insert_element(empty, x.value, WORD(0)))
        return self.shuffled(first, first, [0] * LANES)

    def counting(self, first: LaneValue) -> LaneValue:
        """Return the vector of eight whole numbers that follow one another, as doubles."""
        return self.spread(self.double(first)) + known(self.builder, range(LANES))

    def shuffled(self, a: LaneValue, b: LaneValue, places: Sequence[int]) -> LaneValue:
        """Return a vector of elements of two, those of the second counted from eight on."""
        mask = ir.VectorType(ir.IntType(32), LANES)(list(places))
        return LaneValue(self.builder, self.builder.shuffle_vector(a.value, b.value, mask))

    def reversed(self, x: LaneValue) -> LaneValue:
        """Return a vector from its last element to the first."""
        return self.shuffled(x, x, range(LANES - 1, -1, -1))

    def transposed(self, rows: Sequence[LaneValue]) -> list[LaneValue]:
        """Return the columns of eight rows of eight numbers."""
        found, step = list(rows), 1
        while step < LANES:
            before = tuple(found)
            low = [k if not k & step else LANES + k - step for k in range(LANES)]
            for i in range(LANES):
                if not i & step:
                    pair = before[i], before[i + step]
                    found[i] = self.shuffled(*pair, low)
                    found[i + step] = self.shuffled(*pair, [k + step for k in low])
            step *= 2
        return found


def known(builder: ir.IRBuilder, numbers: Sequence[float]) -> LaneValue:
    """Return a vector of numbers that are known."""
    return LaneValue(builder, VECTOR([DOUBLE(float(x)) for x in numbers]))
