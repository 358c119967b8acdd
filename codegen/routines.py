"""Equations that are neither element-wise nor loops: checks, library routines, users' functions."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from tracejit.codegen.buffers import loop_vars
from tracejit.codegen.elements import is_array
from tracejit.codegen.frame import KernelEmitter
from tracejit.codegen.logs import LOG_OPS
from tracejit.codegen.loop_expressions import (
    I64,
    ONE,
    ZERO,
    Array,
    Bin,
    Call,
    Expression,
    InRange,
    Load,
    Select,
    Unary,
    Var,
    Word,
    call,
    integer,
    literal,
    plus,
    times,
)
from tracejit.codegen.loop_ir import NOWHERE, Assign, Do, Let, Loop, Store
from tracejit.codegen.native import bind_native
from tracejit.codegen.prints import lower_print
from tracejit.ir.core import Atom, Eqn, Literal, Value
from tracejit.ir.dims import product
from tracejit.ir.lowering import Effect, Library, LogOp, Native
from tracejit.ir.types import Aval

__all__ = ["lower"]


def lower(self: KernelEmitter, eqn: Eqn) -> None:
    """Lower an equation by its kind."""
    how = eqn.op.lowering
    if isinstance(how, Effect):
        EFFECTS[how.action](self, eqn)
    elif isinstance(how, LogOp):
        LOG_OPS[how.action](self, eqn)
    elif isinstance(how, Native):
        _native(self, eqn)
    else:
        assert isinstance(how, Library)
        ROUTINES[how.routine](self, eqn)


# --- checks -------------------------------------------------------------------------------------


def _check(self: KernelEmitter, eqn: Eqn) -> None:
    condition, *values = eqn.inputs
    self.fail(Unary("not", self.atom(condition)), eqn.params["error"], eqn.params["message"],
              [self.atom(a) for a in values], eqn)


def _check_bounds(self: KernelEmitter, eqn: Eqn) -> None:
    p = eqn.params
    first, last, size = self.dim(p["first"]), self.dim(p["last"]), self.dim(p["size"])
    message = f"index {{0:.0f}} is out of bounds for axis {p['axis']} with size {{1:.0f}}"
    if p["first"] == p["last"]:
        is_number = isinstance(p["first"], int) and p["first"] >= 0
        inside = InRange(None if is_number else ZERO, first, size)
        self.fail(Unary("not", inside), "IndexError", message, [first, size], eqn)
        return
    count = self.dim(p["count"])
    low, high = call("imin", first, last), call("imax", first, last)
    is_below = Bin("<", low, ZERO)
    is_outside = Bin("or", is_below, Bin(">=", high, size))
    self.fail(Bin("and", Bin(">", count, ZERO), is_outside), "IndexError", message,
              [Select(is_below, low, size), size], eqn)


def _wrap_index(self: KernelEmitter, eqn: Eqn) -> None:
    """An index that counts from the end where it is negative; of an array, one after another."""
    (index,), out = eqn.inputs, eqn.output
    if not is_array(out):
        self.names[out] = _wrapped(self, self.atom(index), eqn)
        return
    variables = loop_vars(out.aval.shape)
    with ExitStack() as loops:
        for v, d in zip(variables, out.aval.shape, strict=True):
            loop = Loop(loops.enter_context(self.loop_name(v)), ZERO, self.dim(d))
            loops.callback(self.nodes.append, loop)  # after what its body puts before it
            loops.enter_context(self.scope(loop.body, [v]))
        at = tuple(v.dim for v in variables)
        place = _wrapped(self, self.element(index, at), eqn)
        self.nodes.append(Store(self.buffers.of[out].name, self.place(at, out.aval.shape), place))


def _wrapped(self: KernelEmitter, index: Expression, eqn: Eqn) -> Var:
    size = self.dim(eqn.params["size"])
    place = Var(self.fresh(self.label(eqn.output)), I64)
    from_start = Select(Bin("<", index, ZERO), plus(index, size), index)
    self.nodes.append(Let(place.name, from_start, self.origin(eqn)))
    message = (f"index {{0:.0f}} is out of bounds for axis {eqn.params['axis']} "
               "with size {1:.0f}")
    self.fail(Unary("not", InRange(ZERO, place, size)), "IndexError", message, [index, size], eqn)
    return place


def _empty(self: KernelEmitter, eqn: Eqn) -> None:
    """Storage that is filled later: nothing to do."""
    if not is_array(eqn.output):
        self.names[eqn.output] = literal(Literal(0, eqn.output.aval.dtype))


EFFECTS = {"check": _check, "check_bounds": _check_bounds, "empty": _empty, "print": lower_print,
           "wrap_index": _wrap_index}


# --- users' compiled functions ------------------------------------------------------------------


def _native(self: KernelEmitter, eqn: Eqn) -> None:
    """Call a function with the addresses of its operands and results."""
    how = eqn.op.lowering
    assert isinstance(how, Native)
    words: list[Expression] = [Word(bind_native(eqn.op.name, how.function, *_types(eqn)))]
    for a in eqn.inputs:
        if is_array(a):
            array, sizes = _place_of(self, a)
            words += [array, *sizes]
        else:
            words.append(call("slot", self.atom(a)))
    scalars: list[tuple[Value, Array]] = []
    for v in eqn.outputs:
        if is_array(v):
            array, sizes = _place_of(self, v)
            words += [array, *sizes]
        else:
            buffer = self.buffers.make_inner(Value(v.aval.with_shape((1,))))
            buffer.name = self.fresh(f"r{self.labels.get(v, '')}")
            scalars.append((v, Array(buffer.name, buffer.dtype)))
            words.append(scalars[-1][1])
    status = Var(self.fresh("status"), I64)
    self.nodes.append(Assign(status.name, call("call_native", *words), self.origin(eqn)))
    op_name = repr(eqn.op.name).replace("{", "{{").replace("}", "}}")
    self.fail(Bin("==", status, ONE), "RuntimeError", f"the function of op {op_name} raised an "
              "exception; call it by itself to see which", [], eqn)
    self.fail(Bin("==", status, integer(2)), "ValueError", f"op {op_name} returned an array of "
              "another shape than its first array argument of that rank", [], eqn)
    for v, array in scalars:
        result = Var(self.fresh(self.label(v)), array.dtype)
        self.names[v] = result
        self.nodes.append(Let(result.name, Load(array.name, ZERO, array.dtype)))


def _types(eqn: Eqn) -> tuple[list[Aval], list[Aval]]:
    return [a.aval for a in eqn.inputs], [v.aval for v in eqn.outputs]


# --- library routines ---------------------------------------------------------------------------


def _place_of(self: KernelEmitter, a: Atom) -> tuple[Array, list[Expression]]:
    """Return an array's buffer and its sizes."""
    assert isinstance(a, Value)
    buffer = self.buffers.of[a]
    return Array(buffer.name, buffer.dtype), [self.dim(d) for d in a.aval.shape]


def _element(array: Array, place: Expression) -> Load:
    return Load(array.name, place, array.dtype)


def _copied(self: KernelEmitter, a: Atom, v: Value) -> Array:
    """Copy an operand to a result, for a routine that overwrites; return the result's buffer."""
    if not self.buffers.shares(a, v):
        self.copy(a, v, self.buffers.of[v], "a library routine overwrites it")
    return _place_of(self, v)[0]


def _counter(self: KernelEmitter, stem: str) -> Var:
    return Var(self.fresh(stem), I64)


def _cholesky(self: KernelEmitter, eqn: Eqn) -> None:
    factor = _copied(self, eqn.inputs[0], eqn.output)
    n = self.dim(eqn.output.aval.shape[0])
    self.fail(Bin("!=", call("potrf", n, factor), ZERO), "LinAlgError",
              "Matrix is not positive definite", [], eqn)
    row, column = _counter(self, "row"), _counter(self, "column")
    place = Bin("+", times(row, n), column)
    zero = literal(Literal(0.0, np.float64))
    self.nodes.append(Loop(row.name, ZERO, n, [Loop(column.name, Bin("+", row, ONE), n, [
        Store(factor.name, place, zero)])]))


def _triangular_solve(self: KernelEmitter, eqn: Eqn) -> None:
    a, _ = _place_of(self, eqn.inputs[0])
    x = _copied(self, eqn.inputs[1], eqn.output)
    n, m = (self.dim(d) for d in eqn.output.aval.shape)
    triangle = "L" if eqn.params["lower"] else "U"
    solve = _trsm(triangle, eqn.params["transposed"], "N", n, m, a, x)
    self.nodes.append(Do(solve, self.origin(eqn)))


def _trsm(triangle: str, is_transposed: bool, diagonal: str, *operands: Expression) -> Call:
    """Return a call that solves with the triangle "L" or "U"; "U" is a diagonal of ones."""
    words = map(Word, (triangle, "T" if is_transposed else "N", diagonal))
    return call("trsm", *words, *operands)


def _lu(self: KernelEmitter, eqn: Eqn) -> None:
    factors = _copied(self, eqn.inputs[0], eqn.outputs[0])
    pivots, (n,) = _place_of(self, eqn.outputs[1])
    self.fail(Bin("!=", call("getrf", n, factors, pivots), ZERO), "LinAlgError",
              "Singular matrix", [], eqn)


def _swaps(self: KernelEmitter, x: Array, pivots: Array, n: Expression, m: Expression,
           reverse: bool) -> Loop:
    """Exchange rows as the pivots say."""
    k, j, held = _counter(self, "k"), _counter(self, "j"), Var(self.fresh("held"), x.dtype)
    here = Bin("+", times(k, m), j)
    other = Bin("+", times(Bin("-", _element(pivots, k), ONE), m), j)
    return Loop(k.name, ZERO, n, [Loop(j.name, ZERO, m, [
        Let(held.name, _element(x, here)), Store(x.name, here, _element(x, other)),
        Store(x.name, other, held)])], reverse=reverse)


def _solve(self: KernelEmitter, eqn: Eqn) -> None:
    """With the factors of a' = P L U: solve with two triangles and exchange rows."""
    lu, _ = _place_of(self, eqn.inputs[2])
    pivots, _ = _place_of(self, eqn.inputs[3])
    x = _copied(self, eqn.inputs[1], eqn.output)
    n, m = (self.dim(d) for d in eqn.output.aval.shape)
    is_transposed = eqn.params["transposed"]
    upper = Do(_trsm("L", is_transposed, "N", n, m, lu, x), self.origin(eqn))
    lower = Do(_trsm("U", is_transposed, "U", n, m, lu, x), NOWHERE)
    if is_transposed:
        self.nodes.extend([_swaps(self, x, pivots, n, m, False), lower, upper])
    else:
        self.nodes.extend([upper, lower, _swaps(self, x, pivots, n, m, True)])


def _slogdet(self: KernelEmitter, eqn: Eqn) -> None:
    """The product of the diagonal of U, and a change of sign for every exchange."""
    lu, _ = _place_of(self, eqn.inputs[1])
    pivots, (n,) = _place_of(self, eqn.inputs[2])
    dtype = eqn.outputs[0].aval.dtype
    sign, total = (Var(self.fresh(self.label(v)), dtype) for v in eqn.outputs)
    k, d = _counter(self, "k"), Var(self.fresh("d"), lu.dtype)
    zero, one = (literal(Literal(x, dtype)) for x in (0, 1))

    def negated_where(test: Expression) -> Assign:
        return Assign(sign.name, Select(test, Unary("-", sign), sign))

    self.nodes.extend([Assign(sign.name, one), Assign(total.name, zero), Loop(k.name, ZERO, n, [
        Let(d.name, _element(lu, Bin("+", times(k, n), k))),
        Assign(total.name, Bin("+", total, call("log", call("fabs", d)))),
        negated_where(Bin("<", d, zero)),
        negated_where(Bin("!=", _element(pivots, k), Bin("+", k, ONE)))])])
    self.names.update(zip(eqn.outputs, (sign, total), strict=True))


def _argsort(self: KernelEmitter, eqn: Eqn) -> None:
    x, sizes = _place_of(self, eqn.inputs[0])
    order, work = (_place_of(self, v)[0] for v in eqn.outputs)
    rows = self.dim(product(eqn.inputs[0].aval.shape[:-1]))
    n, row = sizes[-1], _counter(self, "row")
    self.nodes.append(Loop(row.name, ZERO, rows, [
        Do(call("argsort", x, order, work, times(row, n), n), self.origin(eqn))]))


ROUTINES = {"cholesky": _cholesky, "triangular_solve": _triangular_solve, "lu": _lu,
            "solve": _solve, "slogdet": _slogdet, "argsort": _argsort}
