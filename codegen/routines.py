"""Equations that are neither element-wise nor loops: checks, library routines, users' functions."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from tracejit.codegen.buffers import loop_vars
from tracejit.codegen.elements import is_array
from tracejit.codegen.emitter import literal_text
from tracejit.codegen.logs import LOG_OPS
from tracejit.codegen.loop_ir import Assign, Do, Let, Loop, Store
from tracejit.codegen.native import bind_native
from tracejit.codegen.printing import lower_print
from tracejit.ir.core import Atom, Eqn, Literal, Value
from tracejit.ir.dims import product
from tracejit.ir.lowering import Effect, Library, LogOp, Native
from tracejit.ir.types import Aval

if TYPE_CHECKING:
    from tracejit.codegen.lower import _Lowerer

__all__ = ["lower"]


def lower(self: _Lowerer, eqn: Eqn) -> None:
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


def _check(self: _Lowerer, eqn: Eqn) -> None:
    condition, *values = eqn.inputs
    text = self.atom(condition)
    self.fail(f"not {text}", eqn.params["error"], eqn.params["message"],
              [self.atom(a) for a in values], eqn)


def _check_bounds(self: _Lowerer, eqn: Eqn) -> None:
    p = eqn.params
    first, last, size = self.dim(p["first"]), self.dim(p["last"]), self.dim(p["size"])
    message = f"index {{0:.0f}} is out of bounds for axis {p['axis']} with size {{1:.0f}}"
    if p["first"] == p["last"]:
        is_number = isinstance(p["first"], int) and p["first"] >= 0
        condition = f"not {first} < {size}" if is_number else f"not 0 <= {first} < {size}"
        self.fail(condition, "IndexError", message, [first, size], eqn)
        return
    count = self.dim(p["count"])
    low, high = f"imin({first}, {last})", f"imax({first}, {last})"
    self.fail(f"{count} > 0 and ({low} < 0 or {high} >= {size})", "IndexError", message,
              [f"select({low} < 0, {low}, {size})", size], eqn)


def _wrap_index(self: _Lowerer, eqn: Eqn) -> None:
    """An index that counts from the end where it is negative; of an array, one after another."""
    (index,), out = eqn.inputs, eqn.output
    if not is_array(out):
        self.names[out] = _wrapped(self, self.atom(index), eqn)
        return
    variables = loop_vars(out.aval.shape)
    with ExitStack() as loops:
        for v, d in zip(variables, out.aval.shape, strict=True):
            loop = Loop(loops.enter_context(self.loop_name(v)), "0", self.dim(d))
            loops.callback(self.nodes.append, loop)  # after what its body puts before it
            loops.enter_context(self.scope(loop.body, [v]))
        at = tuple(v.dim for v in variables)
        name = _wrapped(self, self.element(index, at), eqn)
        self.nodes.append(Store(self.buffers.of[out].name, self.place(at, out.aval.shape), name))


def _wrapped(self: _Lowerer, index: str, eqn: Eqn) -> str:
    size = self.dim(eqn.params["size"])
    name = self.fresh(self.label(eqn.output))
    self.nodes.append(Let(name, f"select({index} < 0, {index} + {size}, {index})",
                          self.comment(eqn)))
    message = (f"index {{0:.0f}} is out of bounds for axis {eqn.params['axis']} "
               "with size {1:.0f}")
    self.fail(f"not 0 <= {name} < {size}", "IndexError", message, [index, size], eqn)
    return name


def _empty(self: _Lowerer, eqn: Eqn) -> None:
    """Storage that is filled later: nothing to do."""
    if not is_array(eqn.output):
        self.names[eqn.output] = literal_text(Literal(0, eqn.output.aval.dtype))


EFFECTS = {"check": _check, "check_bounds": _check_bounds, "empty": _empty, "print": lower_print,
           "wrap_index": _wrap_index}


# --- users' compiled functions ------------------------------------------------------------------


def _native(self: _Lowerer, eqn: Eqn) -> None:
    """Call a function with the addresses of its operands and results."""
    how = eqn.op.lowering
    assert isinstance(how, Native)
    words = [f'"{bind_native(eqn.op.name, how.function, *_types(eqn))}"']
    for a in eqn.inputs:
        if is_array(a):
            name, sizes = _place_of(self, a)
            words += [name, *sizes]
        else:
            words.append(f"slot({self.atom(a)})")
    scalars: list[tuple[Value, str]] = []
    for v in eqn.outputs:
        if is_array(v):
            name, sizes = _place_of(self, v)
            words += [name, *sizes]
        else:
            buffer = self.buffers.make_inner(Value(v.aval.with_shape((1,))))
            buffer.name = self.fresh(f"r{self.labels.get(v, '')}")
            scalars.append((v, buffer.name))
            words.append(buffer.name)
    status = self.fresh("status")
    self.nodes.append(Assign(status, f"call_native({', '.join(words)})", self.comment(eqn)))
    op_name = repr(eqn.op.name).replace("{", "{{").replace("}", "}}")
    self.fail(f"{status} == 1", "RuntimeError", f"the function of op {op_name} raised an "
              "exception; call it by itself to see which", [], eqn)
    self.fail(f"{status} == 2", "ValueError", f"op {op_name} returned an array of another "
              "shape than its first array argument of that rank", [], eqn)
    for v, name in scalars:
        self.names[v] = self.fresh(self.label(v))
        self.nodes.append(Let(self.names[v], f"{name}[0]"))


def _types(eqn: Eqn) -> tuple[list[Aval], list[Aval]]:
    return [a.aval for a in eqn.inputs], [v.aval for v in eqn.outputs]


# --- library routines ---------------------------------------------------------------------------


def _place_of(self: _Lowerer, a: Atom) -> tuple[str, list[str]]:
    """Return the name of an array's buffer and its sizes as factors of products."""
    assert isinstance(a, Value)
    return self.buffers.of[a].name, [self.factor(d) for d in a.aval.shape]


def _copied(self: _Lowerer, a: Atom, v: Value) -> str:
    """Copy an operand to a result, for a routine that overwrites; return the result's buffer."""
    if not self.buffers.shares(a, v):
        self.copy(a, v, self.buffers.of[v], "a library routine overwrites it")
    return self.buffers.of[v].name


def _cholesky(self: _Lowerer, eqn: Eqn) -> None:
    factor = _copied(self, eqn.inputs[0], eqn.output)
    n = self.factor(eqn.output.aval.shape[0])
    self.fail(f"potrf({n}, {factor}) != 0", "LinAlgError", "Matrix is not positive definite", [],
              eqn)
    row, column = self.fresh("row"), self.fresh("column")
    self.nodes.append(Loop(row, "0", n, [Loop(column, f"{row} + 1", n, [
        Store(factor, f"{row} * {n} + {column}", "0.0")])]))


def _triangular_solve(self: _Lowerer, eqn: Eqn) -> None:
    a, _ = _place_of(self, eqn.inputs[0])
    x = _copied(self, eqn.inputs[1], eqn.output)
    n, m = (self.factor(d) for d in eqn.output.aval.shape)
    triangle = "L" if eqn.params["lower"] else "U"
    transposed = "T" if eqn.params["transposed"] else "N"
    self.nodes.append(Do(f'trsm("{triangle}", "{transposed}", "N", {n}, {m}, {a}, {x})',
                         self.comment(eqn)))


def _lu(self: _Lowerer, eqn: Eqn) -> None:
    factors = _copied(self, eqn.inputs[0], eqn.outputs[0])
    pivots, (n,) = _place_of(self, eqn.outputs[1])
    self.fail(f"getrf({n}, {factors}, {pivots}) != 0", "LinAlgError", "Singular matrix", [], eqn)


def _swaps(self: _Lowerer, x: str, pivots: str, n: str, m: str, reverse: bool) -> Loop:
    """Exchange rows as the pivots say."""
    k, j, held = self.fresh("k"), self.fresh("j"), self.fresh("held")
    other = f"({pivots}[{k}] - 1) * {m} + {j}"
    return Loop(k, "0", n, [Loop(j, "0", m, [
        Let(held, f"{x}[{k} * {m} + {j}]"), Store(x, f"{k} * {m} + {j}", f"{x}[{other}]"),
        Store(x, other, held)])], reverse=reverse)


def _solve(self: _Lowerer, eqn: Eqn) -> None:
    """With the factors of a' = P L U: solve with two triangles and exchange rows."""
    lu, _ = _place_of(self, eqn.inputs[2])
    pivots, _ = _place_of(self, eqn.inputs[3])
    x = _copied(self, eqn.inputs[1], eqn.output)
    n, m = (self.factor(d) for d in eqn.output.aval.shape)
    upper = Do(f'trsm("L", "{{}}", "N", {n}, {m}, {lu}, {x})', self.comment(eqn))
    lower = Do(f'trsm("U", "{{}}", "U", {n}, {m}, {lu}, {x})', "")
    if eqn.params["transposed"]:
        lower.call, upper.call = lower.call.format("T"), upper.call.format("T")
        self.nodes.extend([_swaps(self, x, pivots, n, m, False), lower, upper])
    else:
        lower.call, upper.call = lower.call.format("N"), upper.call.format("N")
        self.nodes.extend([upper, lower, _swaps(self, x, pivots, n, m, True)])


def _slogdet(self: _Lowerer, eqn: Eqn) -> None:
    """The product of the diagonal of U, and a change of sign for every exchange."""
    lu, _ = _place_of(self, eqn.inputs[1])
    pivots, (n,) = _place_of(self, eqn.inputs[2])
    sign, total = (self.fresh(self.label(v)) for v in eqn.outputs)
    k, d = self.fresh("k"), self.fresh("d")
    dtype = eqn.outputs[0].aval.dtype
    zero, one = (literal_text(Literal(x, dtype)) for x in (0, 1))
    self.nodes.extend([Assign(sign, one), Assign(total, zero), Loop(k, "0", n, [
        Let(d, f"{lu}[{k} * {n} + {k}]"), Assign(total, f"{total} + log(fabs({d}))"),
        Assign(sign, f"select({d} < {zero}, -{sign}, {sign})"),
        Assign(sign, f"select({pivots}[{k}] != {k} + 1, -{sign}, {sign})")])])
    self.names.update(zip(eqn.outputs, (sign, total), strict=True))


def _argsort(self: _Lowerer, eqn: Eqn) -> None:
    x, sizes = _place_of(self, eqn.inputs[0])
    order, work = (self.buffers.of[v].name for v in eqn.outputs)
    rows = self.dim(product(eqn.inputs[0].aval.shape[:-1]))
    n, row = sizes[-1], self.fresh("row")
    self.nodes.append(Loop(row, "0", rows, [
        Do(f"argsort({x}, {order}, {work}, {row} * {n}, {n})", self.comment(eqn))]))


ROUTINES = {"cholesky": _cholesky, "triangular_solve": _triangular_solve, "lu": _lu,
            "solve": _solve, "slogdet": _slogdet, "argsort": _argsort}
