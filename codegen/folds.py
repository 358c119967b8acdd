"""Statements: what one iteration of a loop nest does, and folds into registers.

Sums of floats are kept loop by loop, and in blocks where a loop is long, so that rounding errors
grow with the lengths of the loops and not with their product; those of float32 are kept in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tracejit.codegen.buffers import Buffers
from tracejit.codegen.elements import Elements
from tracejit.codegen.emitter import Emitter
from tracejit.codegen.loop_expressions import (
    I64,
    ZERO,
    Bin,
    Cast,
    Expression,
    Load,
    Var,
    call,
    is_name,
    literal,
)
from tracejit.codegen.loop_ir import Assign, If, Let, Origin, Store
from tracejit.codegen.statements import Statement
from tracejit.ir.core import Literal, Value
from tracejit.ir.dims import Dim

__all__ = ["StatementEmitter", "is_float_sum"]


def identity_of(combine: str, dtype: np.dtype) -> Expression:
    """Return what a fold starts with."""
    if combine in ("max", "min"):
        if dtype.kind == "f":
            value = -np.inf if combine == "max" else np.inf
        elif dtype.kind == "b":
            value = combine == "min"
        else:
            info = np.iinfo(dtype)
            value = info.min if combine == "max" else info.max
    else:
        value = {"add": 0, "mul": 1, "and": 1, "or": 0}[combine]
    return literal(Literal(value, dtype))


_STEPS = {"mul": "*", "and": "&", "or": "|"}


def combined(combine: str, dtype: np.dtype, a: Expression, b: Expression) -> Expression:
    """Return one step of a fold."""
    if combine in ("max", "min"):
        made: Expression = call(f"{combine}imum", a, b)
    elif combine == "add":
        made = call("radd", a, b) if dtype.kind in "fc" else Bin("+", a, b)
    else:
        made = Bin(_STEPS[combine], a, b)
    is_narrow = dtype.kind in "iu" and dtype != np.int64
    return Cast(dtype, made) if is_narrow or (combine == "mul" and dtype == np.float32) else made


_WIDE = {np.dtype(np.float32): np.dtype(np.float64),
         np.dtype(np.complex64): np.dtype(np.complex128)}


def register_dtype(s: Statement) -> np.dtype:
    """Return the dtype in which a fold is kept."""
    dtype = s.operands[0][0].aval.dtype
    return _WIDE.get(dtype, dtype) if is_float_sum(s) else dtype


def is_float_sum(s: Statement) -> bool:
    """Return whether a statement sums floating-point numbers in a register."""
    return s.kind == "fold" and s.combine == "add" and s.target.aval.dtype.kind in "fc"


class StatementEmitter(Emitter):
    """Emits statements under the loops that are open."""

    def __init__(self, elements: Elements, buffers: Buffers, labels: dict[Value, str]) -> None:
        super().__init__(elements, buffers, labels)
        self.folds: dict[Statement, Var] = {}

    def statement(self, s: Statement) -> None:
        """Lower one assignment under the loops that are open."""
        origin = self.origin(s.eqn)
        if "why" in s.extra:
            origin = Origin((self.labels.get(s.target, "?"),), None, str(s.extra["why"]))
        if s.kind == "put":
            a, index = s.operands[0]
            made = self.element_to_store(a, index) if s.makes_operand else self._product(s)
            assert s.buffer is not None
            place = self.place(s.index, s.target_shape)
            self.nodes.append(Store(s.buffer.name, place, made, origin))
            if s.eqn is not None:  # a copy to what a loop carries holds for one iteration only
                self.remember(s.target, s.index, made)
        elif s.kind == "fill":
            assert s.buffer is not None
            self.nodes.append(Store(s.buffer.name, self.place(s.index, s.target_shape),
                                    identity_of(s.combine, s.target.aval.dtype), origin))
        elif s.kind == "add":
            self._add(s, origin)
        elif s.kind == "fold":
            self._fold(s, origin)
        elif s.kind == "argument":
            self._argument(s, origin)
        elif s.kind == "running":
            (a, index), = s.operands
            register = self.folds[s]
            total = Bin("+", register, self.element(a, index))
            self.nodes.append(Assign(register.name, total, origin))
            assert s.buffer is not None
            place = self.place(s.index, s.target_shape)
            self.nodes.append(Store(s.buffer.name, place, register))
        else:
            self._scatter(s, origin)

    def _product(self, s: Statement) -> Expression:
        """Return the operand of a statement; of a contraction, the product of two."""
        operands = [self.element(a, index) for a, index in s.operands]
        return operands[0] if len(operands) == 1 else Bin("*", *operands)

    def _add(self, s: Statement, origin: Origin) -> None:
        assert s.buffer is not None
        place = self.place(s.index, s.target_shape)
        old = Load(s.buffer.name, place, s.buffer.dtype)
        value = self._product(s)
        if s.combine == "add":
            made: Expression = Bin("+", old, value)
        else:
            made = combined(s.combine, s.target.aval.dtype, old, value)
        self.nodes.append(Store(s.buffer.name, place, made, origin))

    def _argument(self, s: Statement, origin: Origin) -> None:
        """The first largest element, or the first NaN, as NumPy's argmax."""
        (a, index), = s.operands
        best = self.folds[s]
        place: Dim = s.extra["place"]  # type: ignore[assignment]
        x = self.element(a, index)
        if not is_name(x):
            name = self.fresh("e")
            self.nodes.append(Let(name, x))
            x = Var(name, x.dtype)
        test: Expression = Bin(">" if s.combine == "max" else "<", x, best)
        if a.aval.dtype.kind == "f":
            is_first_nan = Bin("&", Bin("!=", x, x), Bin("==", best, best))
            test = Bin("|", test, is_first_nan)
        self.nodes.append(If(test, [Assign(best.name, x),
                                    Assign(f"{best.name}_at", self.dim(place))], origin=origin))

    def _scatter(self, s: Statement, origin: Origin) -> None:
        place, value = self._scattered(s)
        assert s.buffer is not None
        made = value if s.combine == "set" else Bin(
            "+", Load(s.buffer.name, place, s.buffer.dtype), value)
        self.nodes.append(Store(s.buffer.name, place, made, origin))

    def _scattered(self, s: Statement) -> tuple[Expression, Expression]:
        """Return where a scatter writes, and what."""
        (part, index), *places = s.operands
        axes: tuple[int, ...] = s.extra["axes"]  # type: ignore[assignment]
        found = iter([self.data_index(a, at) for a, at in places])
        target = tuple(next(found) if k in axes else i for k, i in enumerate(s.index))
        place = self.place(target, s.target_shape)
        return place, self.element(part, index)

    # --- folds ----------------------------------------------------------------------------------

    def begin_fold(self, s: Statement) -> None:
        """Set up the register that a fold is kept in."""
        register = self._register("s" + self.labels.get(s.target, ""), s)
        combine = "add" if s.kind == "running" else s.combine
        self.nodes.append(Assign(register.name, identity_of(combine, register.dtype)))
        if s.kind == "argument":
            self.nodes.append(Assign(f"{register.name}_at", ZERO))

    def _register(self, stem: str, s: Statement) -> Var:
        self.folds[s] = Var(self.fresh(stem), register_dtype(s))
        return self.folds[s]

    def _fold(self, s: Statement, origin: Origin) -> None:
        register = self.folds[s]
        term = self._product(s)
        if register.dtype != s.target.aval.dtype:
            term = Cast(register.dtype, term)
        step = combined(s.combine, register.dtype, register, term)
        self.nodes.append(Assign(register.name, step, origin))

    def end_fold(self, s: Statement) -> None:
        """Put the result of a fold where it belongs."""
        register = self.folds.pop(s)
        if s.kind == "running":
            return
        result: Expression = register
        if s.kind == "argument":
            result = Var(f"{register.name}_at", I64)
        elif s.kind == "fold" and register.dtype != s.target.aval.dtype:
            result = Cast(s.target.aval.dtype, register)
        if s.buffer is None:
            self.names[s.target] = self.named(s, result)
            return
        place = self.place(s.index, s.target_shape)
        self.nodes.append(Store(s.buffer.name, place, result))
        self.remember(s.target, s.index, result)

    def named(self, s: Statement, result: Expression) -> Expression:
        """Return a scalar result as one that has a name."""
        if is_name(result):
            return result
        name = self.fresh(self.label(s.target))
        self.nodes.append(Let(name, result, self.origin(s.eqn)))
        return Var(name, result.dtype)

    @contextmanager
    def subtotals(self, sums: Sequence[Statement]) -> Iterator[None]:
        """Keep sums in registers of their own, and add those to the totals afterwards."""
        totals = {s: self.folds[s] for s in sums}
        for s, total in totals.items():
            part = self._register(f"{total.name}_part", s)
            self.nodes.append(Assign(part.name, identity_of("add", part.dtype)))
        yield
        for s, total in totals.items():
            self.nodes.append(Assign(total.name, combined("add", total.dtype, total,
                                                          self.folds[s])))
        self.folds.update(totals)
