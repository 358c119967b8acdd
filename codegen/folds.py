"""Folds: registers in which loops gather sums, products, the largest element and its place.

Sums of floats are kept loop by loop, and in blocks where a loop is long, so that rounding errors
grow with the lengths of the loops and not with their product; sums of float32 are kept in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tracejit.codegen.expression_edits import call, is_name, literal
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import I64, ZERO, Bin, Cast, Expression, Var
from tracejit.codegen.loop_ir import Assign, If, Let, Origin
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.statements import Statement
from tracejit.ir.core import Literal
from tracejit.ir.dims import Dim

__all__ = ["FOLDED", "Folds", "combined", "identity_of", "is_exact", "is_float_sum"]

FOLDED = ("fold", "argument", "running")
"""The kinds of statements that are kept in registers."""


def identity_of(combine: str, dtype: np.dtype) -> Expression:
    """Return the value that a fold starts with."""
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
    return Cast(dtype, made) if combine == "mul" and dtype == np.float32 else _kept(dtype, made)


def _kept(dtype: np.dtype, made: Expression) -> Expression:
    """Return a number as a register of a dtype has it: operators make int64 of narrow integers."""
    return Cast(dtype, made) if dtype.kind in "iu" and dtype != np.int64 else made


_WIDE = {np.dtype(np.float32): np.dtype(np.float64),
         np.dtype(np.complex64): np.dtype(np.complex128)}


def register_dtype(s: Statement) -> np.dtype:
    """Return the dtype in which a fold is kept."""
    dtype = s.operands[0][0].aval.dtype
    return _WIDE.get(dtype, dtype) if is_float_sum(s) else dtype


def is_float_sum(s: Statement) -> bool:
    """Return whether a statement sums floating-point numbers in a register."""
    return s.kind == "fold" and s.combine == "add" and s.target.aval.dtype.kind in "fc"


def is_exact(s: Statement) -> bool:
    """Return whether a statement folds numbers into a register, in any order."""
    is_integer = s.target.aval.dtype.kind in "iub"
    return s.kind == "fold" and (s.combine in ("max", "min", "and", "or") or is_integer)


class Folds:
    """Writes the folds of the open loops.

    registers -- the register of each fold that has begun and not ended
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.code = frame, code
        self.registers: dict[Statement, Var] = {}

    def begin(self, s: Statement) -> None:
        """Set up the register that a fold is kept in."""
        register = self._register("s" + self.frame.labels[s.target], s)
        if s.kind == "running":  # of -0.0, which keeps the sign of zeros
            dtype = register.dtype
            start: Expression = literal(Literal(dtype.type(
                0 if dtype.kind in "iu" else -0.0 if dtype.kind == "f" else complex(-0.0, -0.0)),
                dtype))
        else:
            start = identity_of(s.combine, register.dtype)
        self.frame.add(Assign(register.name, start))
        if s.kind == "argument":
            self.frame.add(Assign(_place_of(register).name, ZERO))

    def _register(self, stem: str, s: Statement) -> Var:
        self.registers[s] = register = self.frame.variable(stem, register_dtype(s))
        return register

    def step(self, s: Statement, origin: Origin) -> None:
        """Fold one more term into a register."""
        if s.kind == "argument":
            self._compare(s, origin)
            return
        register = self.registers[s]
        term = self.code.product(s.operands)
        if s.kind == "running":
            step = _kept(register.dtype, Bin("+", register, term))
        else:
            if register.dtype != s.target.aval.dtype:
                term = Cast(register.dtype, term)
            step = combined(s.combine, register.dtype, register, term)
        self.frame.add(Assign(register.name, step, origin))
        if s.kind == "running":
            assert s.buffer is not None
            self.code.store(s.buffer, s.index, s.target_shape, register)

    def _compare(self, s: Statement, origin: Origin) -> None:
        """The first largest element, or the first NaN, as NumPy's argmax."""
        (a, index), = s.operands
        best = self.registers[s]
        place: Dim = s.extra["place"]  # type: ignore[assignment]
        x = self.code.element(a, index)
        if not is_name(x):
            name = self.frame.fresh("e")
            self.frame.add(Let(name, x))
            x = Var(name, x.dtype)
        test: Expression = Bin(">" if s.combine == "max" else "<", x, best)
        if a.aval.dtype.kind == "f":
            is_first_nan = Bin("&", Bin("!=", x, x), Bin("==", best, best))
            test = Bin("|", test, is_first_nan)
        found = [Assign(best.name, x), Assign(_place_of(best).name, self.code.dim(place))]
        self.frame.add(If(test, [*found], origin=origin))

    def end(self, s: Statement) -> None:
        """Store the result of a fold in its target."""
        register = self.registers.pop(s)
        if s.kind == "running":
            return
        result: Expression = register
        if s.kind == "argument":
            result = _place_of(register)
        elif s.kind == "fold" and register.dtype != s.target.aval.dtype:
            result = Cast(s.target.aval.dtype, register)
        if s.buffer is None:
            self.frame.set_scalar(s.target, result, self.frame.origin(s.eqn))
            return
        self.code.store(s.buffer, s.index, s.target_shape, result)
        self.frame.remember(s.target, s.index, result)

    @contextmanager
    def subtotals(self, sums: Sequence[Statement]) -> Iterator[None]:
        """Keep subtotals in registers of their own, and fold them into the totals afterwards."""
        totals = {s: self.registers[s] for s in sums}
        for s, total in totals.items():
            part = self._register(f"{total.name}_part", s)
            self.frame.add(Assign(part.name, identity_of(s.combine, part.dtype)))
        yield
        for s, total in totals.items():
            self.frame.add(Assign(total.name, combined(s.combine, total.dtype, total,
                                                       self.registers[s])))
        self.registers.update(totals)


def _place_of(register: Var) -> Var:
    """Return the register with the place of the element that another one has."""
    return Var(f"{register.name}_at", I64)
