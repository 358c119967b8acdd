"""Loop IR to LLVM: each operation as Numba carries it out, without Numba's front end.

The emitted source is Python for Numba, and would be compiled to the same operations: the types of
operands decide, by Numba's rules, which function an operator or a call is, and that function emits
its instructions. Bytecode, inference of types and lowering of whole functions, which took half of a
first call, are left out, as Loop IR is typed and in order.

    for i in range(n):              entry:     branch 0 < n, loop, behind
        out[i] = exp(x[i])          loop:      i = phi [0, entry], [next, loop]
                                               store(exp(load x, i), out, i); next = i + 1
                                               branch next < n, loop, behind
"""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import CompilerError
from numba.core.extending import _Intrinsic
from numba.core.typing.templates import fold_arguments, signature

from tracejit.codegen.arithmetic import operate
from tracejit.codegen.checked import CheckedPtr, checked_getitem, checked_setitem
from tracejit.codegen.expression_edits import every, known_integer, split_sum
from tracejit.codegen.halves import Half
from tracejit.codegen.line_tables import LineTables
from tracejit.codegen.loop_expressions import (
    ONE,
    ZERO,
    All,
    Array,
    Bin,
    Call,
    Cast,
    Const,
    Expression,
    Extent,
    InRange,
    Load,
    Select,
    Unary,
    Var,
    Word,
    cast_name,
)
from tracejit.codegen.loop_hints import mark_vectors, vectors_at_once
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    loops_in,
)
from tracejit.codegen.pointers import NUMBA_TYPES, opaque, ptr_getitem, ptr_setitem
from tracejit.codegen.scalar_intrinsics import QUICK
from tracejit.codegen.vector_math import align_stack

__all__ = ["Translator"]

Typed = tuple[types.Type, Any]
"""A value with its Numba type."""

WORD = ir.IntType(64)

_OPERATORS: dict[str, Callable[..., object]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "~": operator.invert}
LONG_OFFSET = 3
"""From how many terms of sizes on an element's place in an array begins with a pointer."""

_IMPLEMENTATIONS: dict[tuple[object, ...], tuple[Any, Any]] = {}
"""The signature and the implementation of functions of scalars, by the types of operands."""


class Translator:
    """Translates the functions of one module.

    contexts -- Numba's typing context and target context
    names    -- the functions that Loop IR calls, by name
    lines    -- the line of the source that each node is on, by the node's identity; none for a
                module without a table of lines
    scalars  -- the buffers that hold a number each, of which sizes are made
    """

    def __init__(self, contexts: tuple[Any, Any], module: ir.Module, names: Mapping[str, Any],
                 lines: Mapping[int, int], tables: LineTables | None,
                 scalars: Set[str] = frozenset()) -> None:
        self.typing, self.context = contexts
        self.module, self.names, self.lines, self.tables = module, names, lines, tables
        self.builder = ir.IRBuilder()
        self.values: dict[str, Typed] = {}
        self.places: dict[str, Typed] = {}
        """Of scalars that change, the memory, which LLVM makes registers of."""
        self.vectors: dict[int, int] = {}
        self.sizes: set[str] = set()
        self.scalars = scalars
        self.data: set[str] = set()
        """The scalars that are made of elements of arrays."""
        self.moved: dict[tuple[object, ...], ir.Value] = {}
        """Pointers to elements that have a long offset in their buffer, and the sizes in it."""
        self.status: Any = None
        """The phi of the status with which a function is left; None until it is."""

    def function(self, name: str, parameters: Sequence[tuple[str, types.Type]],
                 nodes: Sequence[Node], line: int = 1) -> ir.Function:
        """Translate the body of a function of Numba's calling convention that returns an int64."""
        kinds = tuple(kind for _, kind in parameters)
        called = self.context.call_conv.get_function_type(types.int64, kinds)
        made = ir.Function(self.module, called, name)
        if any(loops_in(nodes)):
            align_stack(made)
        labels = [f"_{n}" for n, _ in parameters]
        self.context.call_conv.decorate_function(made, labels, kinds, noalias=False)
        self.builder = ir.IRBuilder(made.append_basic_block("entry"))
        given = self.context.call_conv.decode_arguments(self.builder, kinds, made)
        self.values = {n: (kind, value) for (n, kind), value in
                       zip(parameters, given, strict=True)}
        self.places, self.moved, self.data, self.status = {}, {}, set(), None
        self.sizes = {n for n, kind in parameters if kind == types.int64}
        self.vectors = vectors_at_once(nodes)
        if self.tables is not None:
            self.tables.mark_subprogram(made, name, line=line)
            self.tables.mark_location(self.builder, line)
        self.block(nodes)
        if not self.builder.block.is_terminated:
            self._return(WORD(0))
        return made

    def _return(self, value: ir.Value) -> None:
        """Leave the function, by a block that all its ways out share."""
        builder = self.builder
        before, function = builder.block, builder.function
        if self.status is None:
            builder.position_at_end(function.append_basic_block("leave"))
            self.status = builder.phi(WORD)
            self.context.call_conv.return_value(builder, self.status)
            builder.position_at_end(before)
        self.status.add_incoming(value, before)
        builder.branch(self.status.parent)

    # --- nodes ----------------------------------------------------------------------------------

    def block(self, nodes: Sequence[Node]) -> None:
        """Translate nodes in order."""
        for node in nodes:
            if self.tables is not None and id(node) in self.lines:
                self.tables.mark_location(self.builder, self.lines[id(node)])
            _NODES[type(node)](self, node)

    def let(self, node: Let) -> None:
        """Keep a value that is set once."""
        kind, value = self.expression(node.expression)
        plain = types.unliteral(kind)
        self._note(node)
        self.values[node.name] = plain, self._cast((kind, value), plain)

    def assign(self, node: Assign) -> None:
        """Put a value to the place of a scalar that changes."""
        kind, value = self.expression(node.expression)
        plain = types.unliteral(kind)
        self._note(node)
        if node.name not in self.places:
            place = cgutils.alloca_once(self.builder, self.context.get_value_type(plain))
            self.places[node.name] = plain, place
        wanted, place = self.places[node.name]
        if wanted != plain:
            raise CompilerError(f"{node.name} is of type {wanted}, and given a {plain}")
        self.builder.store(self._cast((kind, value), plain), place)

    def _note(self, node: Let | Assign) -> None:
        """Note a scalar that is made of elements of arrays."""
        if self._is_data(node.expression):
            self.data.add(node.name)

    def store(self, node: Store) -> None:
        """Store an element."""
        kind, base, index = self._element(node.buffer, node.index)
        value = self._cast(self.expression(node.expression), kind.dtype)
        how = checked_setitem if isinstance(kind, CheckedPtr) else ptr_setitem
        how(self.context, self.builder, signature(types.none, kind, types.int64, kind.dtype),
            (base, index, value))

    def loop(self, node: Loop) -> None:
        """Translate a loop over integers, with the loops that are all that it does.

        One test says whether they run at all, so that the inner ones need none. It holds a nest's
        bounds ahead of it, which are the same in all iterations.
        """
        builder, nest = self.builder, [node]
        while (inner := self._all_it_does(nest[-1], {outer.var for outer in nest})) is not None:
            nest.append(inner)
        bounds = [tuple(map(self._integer, (n.lo, n.hi, n.step))) for n in nest]
        some = functools.reduce(builder.and_, map(self._has_some, nest, bounds))
        blocks = [builder.append_basic_block(n) for n in ("loop", "behind")]
        self._counted(nest, bounds, blocks, some)

    def _all_it_does(self, node: Loop, around: set[str]) -> Loop | None:
        """Return the loop that is all that a loop does, if its bounds are the same each time."""
        inner = node.body[0] if len(node.body) == 1 else None
        if not isinstance(inner, Loop):
            return None
        known = self.values.keys() - self.places.keys() - around
        is_same = all(e.reads <= known and _may_be_computed(e)
                      for e in (inner.lo, inner.hi, inner.step))
        return inner if is_same else None

    def _has_some(self, node: Loop, bounds: Sequence[ir.Value]) -> Any:
        """Return whether a loop has any iteration.

        Bounds may be next to the ends of int64: the test asks how far they are apart.
        """
        lo, hi, _ = bounds
        if known_integer(node.lo) is None:
            return self.builder.icmp_signed(">", self.builder.sub(hi, lo), WORD(0))
        return self.builder.icmp_signed("<", lo, hi)

    def _counted(self, nest: Sequence[Loop], bounds: Sequence[Sequence[ir.Value]],
                 blocks: Sequence[ir.Block], some: ir.Value | None) -> None:
        """Write a nest of loops, whose variables are phis.

        blocks -- that of an iteration, and the one behind the nest
        some   -- whether it has iterations; None where that is known
        """
        builder, node, (lo, hi, _), (body, behind) = self.builder, nest[0], bounds[0], blocks
        before, first = builder.block, builder.sub(hi, WORD(1)) if node.reverse else lo
        builder.branch(body) if some is None else builder.cbranch(some, body, behind)
        builder.position_at_end(body)
        if self.tables is not None and id(node) in self.lines:
            self.tables.mark_location(builder, self.lines[id(node)])
        i = builder.phi(WORD, node.var)
        i.add_incoming(first, before)
        if node.var in self.values:
            raise CompilerError(f"{node.var} is set already, and the variable of a loop")
        self.values[node.var] = types.int64, i
        if len(nest) > 1:
            inner = [builder.append_basic_block(n) for n in ("loop", "behind")]
            self._counted(nest[1:], bounds[1:], inner, None)
        else:
            self.block(node.body)
        del self.values[node.var]
        if not builder.block.is_terminated:
            following, goes_on = self._next(node, i, bounds[0])
            i.add_incoming(following, builder.block)
            jump = builder.cbranch(goes_on, body, behind)
            if id(node) in self.vectors:
                mark_vectors(self.module, jump, self.vectors[id(node)])
        builder.position_at_end(behind)

    def _next(self, node: Loop, i: ir.Value, bounds: Sequence[ir.Value]) -> tuple[Any, Any]:
        """Return the number of the next iteration, and whether there is one.

        The upper bound may be just beyond int64: the test is made before the number is.
        """
        builder, (lo, hi, step) = self.builder, bounds
        if node.reverse:
            return builder.sub(i, WORD(1), flags=("nsw",)), builder.icmp_signed(">", i, lo)
        following = builder.add(i, step, flags=("nsw",))
        if node.step != ONE:
            return following, builder.icmp_unsigned(">", builder.sub(hi, i), step)
        if known_integer(node.lo) is None:
            return following, builder.icmp_signed("!=", i, builder.sub(hi, WORD(1)))
        return following, builder.icmp_signed("<", following, hi)

    def while_loop(self, node: While) -> None:
        """Translate a loop that ends when its condition is false."""
        builder = self.builder
        head, body, behind = (builder.append_basic_block(n) for n in ("while", "body", "behind"))
        builder.branch(head)
        builder.position_at_end(head)
        self.block(node.head)
        builder.cbranch(self._truth(node.condition), body, behind)
        builder.position_at_end(body)
        self.block(node.body)
        if not builder.block.is_terminated:
            builder.branch(head)
        builder.position_at_end(behind)

    def branch(self, node: If) -> None:
        """Translate a choice between two blocks."""
        builder = self.builder
        test = self._truth(node.condition)
        then = builder.append_basic_block("then")
        other = builder.append_basic_block("else") if node.other else None
        behind = builder.append_basic_block("behind")
        builder.cbranch(test, then, other or behind)
        for start, nodes in ((then, node.then), (other, node.other)):
            if start is not None:
                builder.position_at_end(start)
                self.block(nodes)
                if not builder.block.is_terminated:
                    builder.branch(behind)
        builder.position_at_end(behind)  # which nothing reaches where both return

    def do(self, node: Do) -> None:
        """Call a routine."""
        self.expression(node.call)

    def leave(self, node: Return) -> None:
        """Return a status."""
        self._return(self._integer(node.status or ZERO))

    # --- expressions ----------------------------------------------------------------------------

    def expression(self, e: Expression) -> Typed:
        """Return the value of an expression, with its type."""
        return _EXPRESSIONS[type(e)](self, e)

    def name(self, name: str) -> Typed:
        """Return a scalar or a buffer by its name."""
        if name in self.places:
            kind, place = self.places[name]
            return kind, self.builder.load(place)
        return self.values[name]

    def const(self, e: Const) -> Typed:
        """Return a number; a Python int is known to calls that ask for it."""
        kind = NUMBA_TYPES[e.dtype]
        value = np.array(e.value).astype(e.dtype) if e.dtype.kind == "c" else e.dtype.type(e.value)
        form = self.context.get_value_type(kind)
        if e.dtype.kind == "c":
            return kind, form([float(value.real), float(value.imag)])
        if isinstance(kind, Half):
            return kind, form(int(value.view(np.uint16)))
        if e.dtype.kind == "f":
            return kind, form(float(value))
        return types.literal(int(value)) if e.dtype == np.int64 else kind, form(int(value))

    def load(self, e: Load) -> Typed:
        """Load an element."""
        kind, base, index = self._element(e.buffer, e.index)
        how = checked_getitem if isinstance(kind, CheckedPtr) else ptr_getitem
        return kind.dtype, how(self.context, self.builder,
                               signature(kind.dtype, kind, types.int64), (base, index))

    def _element(self, buffer: str, index: Expression) -> tuple[types.Type, ir.Value, ir.Value]:
        """Return a buffer's type, a pointer into it, and how far from there an element is.

        As arrays that are put together lie one behind the other, an offset may be a sum of as many
        sizes as there are arrays. Loop strength reduction compares such sums, term by term, for
        every access of every loop: so they are added to the pointer, once.
        """
        kind, base = self.name(buffer)
        terms, rest = split_sum(index, self.sizes)
        entry = self.builder.function.entry_basic_block
        is_early = isinstance(base, ir.Argument) or getattr(base, "parent", None) is entry
        if len(terms) < LONG_OFFSET or isinstance(kind, CheckedPtr) or not is_early:
            return kind, base, self._integer(index)
        key = (buffer, *map(str, terms))
        if key not in self.moved:
            with self.builder.goto_entry_block():
                offset = functools.reduce(self.builder.add, map(self._integer, terms))
                self.moved[key] = opaque(self.builder, self.builder.gep(base, [offset]))
        return kind, self.moved[key], self._integer(rest)

    def unary(self, e: Unary) -> Typed:
        """Apply a sign, a complement or `not`."""
        if e.op == "not":
            return types.boolean, self.builder.not_(self._truth(e.a))
        return self.call(operator.neg if e.op == "-" else _OPERATORS[e.op], [self.expression(e.a)])

    def binary(self, e: Bin) -> Typed:
        """Apply an operator to two operands."""
        if e.op in ("and", "or"):
            return types.boolean, self._both(self._truth(e.a), e.b, lambda: self._truth(e.b),
                                             e.op == "and")
        operands = [self.expression(e.a), self.expression(e.b)]
        if e.op == "*" and any(isinstance(kind, types.Complex) for kind, _ in operands):
            return self._complex_product(operands)
        wraps = types.unliteral(operands[0][0]) == types.int64 and self._is_data(e)
        return operate(self.builder, e.op, operands, wraps=wraps) or self.call(
            _OPERATORS[e.op], operands)

    def _is_data(self, e: Expression) -> bool:
        """Whether an expression has elements of arrays as operands, or scalars made of such."""
        if isinstance(e, Load):
            return e.buffer not in self.scalars
        return (isinstance(e, Var) and e.name in self.data) or any(map(self._is_data, e.parts))

    def _complex_product(self, operands: Sequence[Typed]) -> Typed:
        """Multiply complex numbers as NumPy does, which Numba no longer does under Python 3.14."""
        kinds = tuple(types.unliteral(kind) for kind, _ in operands)
        kind = self._implementation(operator.mul, kinds)[0].return_type
        builder = self.builder
        (a, b), (c, d) = ([builder.extract_value(self._cast(x, kind), k) for k in range(2)]
                          for x in operands)
        parts = (builder.fsub(builder.fmul(a, c), builder.fmul(b, d)),
                 builder.fadd(builder.fmul(a, d), builder.fmul(b, c)))
        made = self.context.get_value_type(kind)(ir.Undefined)
        for k, part in enumerate(parts):
            made = builder.insert_value(made, part, k)
        return kind, made

    def all(self, e: All) -> Typed:
        """Return whether all tests hold, each of which is computed."""
        found = self._truth(e.tests[0])
        for test in e.tests[1:]:
            found = self.builder.and_(found, self._truth(test))
        return types.boolean, found

    def in_range(self, e: InRange) -> Typed:
        """Return whether a number is in a range; the upper end is asked for if the lower one holds.
        """
        x = self.expression(e.x)
        if e.lo is None:
            return self.call(operator.lt, [x, self.expression(e.hi)])
        above = self.call(operator.le, [self.expression(e.lo), x])[1]
        return types.boolean, self._both(
            above, e.hi, lambda: self.call(operator.lt, [x, self.expression(e.hi)])[1], True)

    def extent(self, e: Extent) -> Typed:
        """Return how many integers there are between two."""
        return types.int64, self.builder.sub(self._integer(e.hi), self._integer(e.lo))

    def select(self, e: Select) -> Typed:
        """Choose one of two values."""
        return self.call(self.names["select"], [self.expression(x) for x in (e.c, e.a, e.b)])

    def cast(self, e: Cast) -> Typed:
        """Convert to a dtype."""
        return self.call(self.names[cast_name(e.dtype)], [self.expression(e.a)])

    def called(self, e: Call) -> Typed:
        """Call a function by its name."""
        part = _PARTS.get(e.fn.name)
        args = [self.values["ctx"]] if e.fn.context else []
        args += [self.expression(a) for a in e.args]
        if part is not None:
            return part(self, args[0])
        name = e.fn.name
        return self.call(self.names[name] if name in self.names else getattr(builtins, name), args)

    def word(self, e: Word) -> Typed:
        """Return a constant text, which has a type alone."""
        return types.literal(e.text), self.context.get_value_type(types.unicode_type)(ir.Undefined)

    def part(self, x: Typed, k: int) -> Typed:
        """Return the real part or the imaginary part of a number."""
        kind, value = types.unliteral(x[0]), x[1]
        if isinstance(kind, types.Complex):
            return kind.underlying_float, self.builder.extract_value(value, k)
        return kind, value if k == 0 else value.type(0)

    def conjugate(self, x: Typed) -> Typed:
        """Return the conjugate of a number."""
        kind, value = types.unliteral(x[0]), x[1]
        if not isinstance(kind, types.Complex):
            return kind, value
        return kind, self.builder.insert_value(
            value, self.builder.fneg(self.builder.extract_value(value, 1)), 1)

    # --- functions ------------------------------------------------------------------------------

    def call(self, function: Any, args: list[Typed]) -> Typed:
        """Call a function as Numba does for operands of these types."""
        if not isinstance(function, _Intrinsic) or not function._prefer_literal:
            args = [(types.unliteral(kind), value) for kind, value in args]
        kinds = tuple(kind for kind, _ in args)
        if isinstance(function, _Intrinsic) and _takes_as_many(function, len(args)):
            return self._intrinsic(function, kinds, args)
        sig, emit = self._implementation(function, kinds)
        values: Sequence[ir.Value]
        if sig.pysig is not None:
            values = fold_arguments(sig.pysig, args, {}, lambda k, _, x: self._cast(x, sig.args[k]),
                                    _no_default, lambda k, _, xs: self._tuple(xs, sig.args[k]))
        else:
            values = [self._cast(x, kind) for x, kind in zip(args, sig.args, strict=True)]
        return sig.return_type, emit(self.builder, values)

    def _intrinsic(self, function: Any, kinds: tuple[types.Type, ...], args: list[Typed]) -> Typed:
        """Call an intrinsic by its definition, of which Numba would make templates first."""
        found = function._defn(self.typing, *kinds)
        if found is None:
            raise CompilerError(f"{function} takes no {kinds}")
        sig, emit = found
        values = [self._cast(x, kind) for x, kind in zip(args, sig.args, strict=True)]
        return sig.return_type, emit(self.context, self.builder, sig, values)

    def _implementation(self, function: Any, kinds: tuple[types.Type, ...]) -> tuple[Any, Any]:
        key = (function, kinds)
        found = _IMPLEMENTATIONS.get(key)
        if found is None:
            known = self.typing.resolve_value_type(function)
            sig = known.get_call_type(self.typing, kinds, {})
            if sig is None:
                raise CompilerError(f"{function} takes no {kinds}")
            found = sig, self.context.get_function(known, sig)
            if all(isinstance(t, (types.Number, types.Boolean)) and not isinstance(t, types.Literal)
                   for t in kinds):
                _IMPLEMENTATIONS[key] = found
        return found

    def _tuple(self, args: Sequence[Typed], kind: Any) -> Any:
        return cgutils.make_anonymous_struct(
            self.builder, [self._cast(x, wanted) for x, wanted in zip(args, kind, strict=True)])

    def _cast(self, x: Typed, wanted: types.Type) -> Any:
        kind, value = x
        if kind == wanted or isinstance(wanted, types.StringLiteral):
            return value
        return self.context.cast(self.builder, value, kind, wanted)

    def _integer(self, e: Expression) -> Any:
        return self._cast(self.expression(e), types.int64)

    # --- conditions -----------------------------------------------------------------------------

    def _truth(self, e: Expression) -> Any:
        kind, value = self.expression(e)
        if kind == types.boolean:
            return value
        return self.context.is_true(self.builder, types.unliteral(kind), value)

    def _both(self, first: ir.Value, second: Expression, find: Callable[[], Any],
              is_and: bool) -> Any:
        """Return `first and second`, or `or`; the second is not computed where it might not be.

        find -- computes it
        """
        if _may_be_computed(second):
            return (self.builder.and_ if is_and else self.builder.or_)(first, find())
        builder, start = self.builder, self.builder.block
        more, behind = (builder.append_basic_block(n) for n in ("more", "behind"))
        builder.cbranch(first, *((more, behind) if is_and else (behind, more)))
        builder.position_at_end(more)
        found = find()
        end = builder.block
        builder.branch(behind)
        builder.position_at_end(behind)
        result = builder.phi(ir.IntType(1))
        result.add_incoming(ir.IntType(1)(not is_and), start)
        result.add_incoming(found, end)
        return result


@functools.cache
def _takes_as_many(function: Any, count: int) -> bool:
    """Return whether an intrinsic is given all of its parameters, one by one."""
    parameters = [*inspect.signature(function._defn).parameters.values()][1:]
    return len(parameters) == count and not any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _no_default(k: int, parameter: object, default: object) -> Any:
    raise CompilerError(f"{parameter} is not given")


def _may_be_computed(e: Expression) -> bool:
    """Whether an expression may be computed where Python would leave it out."""
    return e.calls <= QUICK and not any(isinstance(x, Load) for x in every(e))


_NODES: dict[type, Callable[[Translator, Any], None]] = {
    Let: Translator.let, Assign: Translator.assign, Store: Translator.store, Loop: Translator.loop,
    While: Translator.while_loop, If: Translator.branch, Do: Translator.do,
    Return: Translator.leave}
_EXPRESSIONS: dict[type, Callable[[Translator, Any], Typed]] = {
    Const: Translator.const, Var: lambda t, e: t.name(e.name),
    Array: lambda t, e: t.name(e.name), Word: Translator.word, Load: Translator.load,
    Unary: Translator.unary, Bin: Translator.binary, All: Translator.all,
    InRange: Translator.in_range, Extent: Translator.extent, Select: Translator.select,
    Cast: Translator.cast, Call: Translator.called}
_PARTS: dict[str, Callable[[Translator, Typed], Typed]] = {
    "real": lambda t, x: t.part(x, 0), "imag": lambda t, x: t.part(x, 1),
    "conjugate": Translator.conjugate}
