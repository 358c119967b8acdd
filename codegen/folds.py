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
from tracejit.codegen.emitter import Emitter, literal_text
from tracejit.codegen.loop_ir import Assign, If, Let, Store, filled, grouped
from tracejit.codegen.statements import Statement
from tracejit.ir.core import Literal, Value
from tracejit.ir.dtypes import dtype_name

__all__ = ["StatementEmitter", "is_float_sum"]


def identity_of(combine: str, dtype: np.dtype) -> str:
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
    return literal_text(Literal(value, dtype))


def combined(combine: str, dtype: np.dtype, a: str, b: str) -> str:
    """Return one step of a fold as source."""
    name = "f32" if dtype == np.float32 else ""
    texts = {"add": f"radd({a}, {b})" if dtype.kind in "fc" else filled("{0} + {1}", (a, b)),
             "mul": filled("{0} * {1}", (a, b)),
             "max": f"maximum({a}, {b})", "min": f"minimum({a}, {b})", "and": f"{a} & {grouped(b)}",
             "or": f"{a} | {grouped(b)}"}
    text = texts[combine]
    if dtype.kind in "iu" and dtype != np.int64:
        return f"{dtype_name(dtype)}({text})"
    return text if name == "" or combine != "mul" else f"f32({text})"


_WIDE = {np.dtype(np.float32): np.dtype(np.float64),
         np.dtype(np.complex64): np.dtype(np.complex128)}


COPIED = "a copy: "
"""How the comment of a line begins that copies an element, before the reason."""


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
        self.folds: dict[Statement, str] = {}

    def statement(self, s: Statement) -> None:
        """Lower one assignment under the loops that are open."""
        comment = self.comment(s.eqn)
        if "why" in s.extra:
            comment = f"%{self.labels.get(s.target, '?')}, {COPIED}{s.extra['why']}"
        if s.kind == "put":
            a, index = s.operands[0]
            text = self.element_to_store(a, index) if s.makes_operand else self._product(s)
            assert s.buffer is not None
            place = self.place(s.index, s.target_shape)
            self.nodes.append(Store(s.buffer.name, place, text, comment))
            if s.eqn is not None:  # a copy to what a loop carries holds for one iteration only
                self.remember(s.target, s.index, text)
        elif s.kind == "fill":
            assert s.buffer is not None
            self.nodes.append(Store(s.buffer.name, self.place(s.index, s.target_shape),
                                    identity_of(s.combine, s.target.aval.dtype), comment))
        elif s.kind == "add":
            self._add(s, comment)
        elif s.kind == "fold":
            self._fold(s, comment)
        elif s.kind == "argument":
            self._argument(s, comment)
        elif s.kind == "running":
            (a, index), = s.operands
            name = self.folds[s]
            total = filled("{0} + {1}", (name, self.element(a, index)))
            self.nodes.append(Assign(name, total, comment))
            assert s.buffer is not None
            place = self.place(s.index, s.target_shape)
            self.nodes.append(Store(s.buffer.name, place, name))
        else:
            self._scatter(s, comment)

    def _product(self, s: Statement) -> str:
        """Return the operand of a statement; of a contraction, the product of two."""
        texts = [self.element(a, index) for a, index in s.operands]
        return texts[0] if len(texts) == 1 else filled("{0} * {1}", texts)

    def _add(self, s: Statement, comment: str) -> None:
        assert s.buffer is not None
        place = self.place(s.index, s.target_shape)
        old = f"{s.buffer.name}[{place}]"
        dtype = s.target.aval.dtype
        value = self._product(s)
        if s.combine == "add":
            text = filled("{0} + {1}", (old, value))
        else:
            text = combined(s.combine, dtype, old, value)
        self.nodes.append(Store(s.buffer.name, place, text, comment))

    def _argument(self, s: Statement, comment: str) -> None:
        """The first largest element, or the first NaN, as NumPy's argmax."""
        (a, index), = s.operands
        best = self.folds[s]
        place = s.extra["place"]
        text = self.element(a, index)
        if not text.isidentifier():
            name = self.fresh("e")
            self.nodes.append(Let(name, text))
            text = name
        sign = ">" if s.combine == "max" else "<"
        test = f"{text} {sign} {best}"
        if a.aval.dtype.kind == "f":
            test = f"({test}) | (({text} != {text}) & ({best} == {best}))"
        self.nodes.append(If(test, [Assign(best, text), Assign(f"{best}_at", self.dim(place))],  # type: ignore
                             comment=comment))

    def _scatter(self, s: Statement, comment: str) -> None:
        place, value = self._scattered(s)
        assert s.buffer is not None
        text = value if s.combine == "set" else filled(
            "{0} + {1}", (f"{s.buffer.name}[{place}]", value))
        self.nodes.append(Store(s.buffer.name, place, text, comment))

    def _scattered(self, s: Statement) -> tuple[str, str]:
        """Return where a scatter writes and what, as source."""
        (part, index), *places = s.operands
        axes: tuple[int, ...] = s.extra["axes"]  # type: ignore[assignment]
        found = iter([self.data_index(a, at) for a, at in places])
        target = tuple(next(found) if k in axes else i for k, i in enumerate(s.index))
        place = self.place(target, s.target_shape)
        return place, self.element(part, index)

    # --- folds ----------------------------------------------------------------------------------

    def begin_fold(self, s: Statement) -> None:
        """Set up the register that a fold is kept in."""
        name = self.fresh("s" + self.labels.get(s.target, ""))
        self.folds[s] = name
        dtype = register_dtype(s)
        combine = "add" if s.kind == "running" else s.combine
        self.nodes.append(Assign(name, identity_of(combine, dtype)))
        if s.kind == "argument":
            self.nodes.append(Assign(f"{name}_at", "0"))

    def _fold(self, s: Statement, comment: str) -> None:
        dtype = register_dtype(s)
        text = self._product(s)
        if dtype != s.target.aval.dtype:
            text = f"{dtype_name(dtype)}({text})"
        name = self.folds[s]
        self.nodes.append(Assign(name, combined(s.combine, dtype, name, text), comment))

    def end_fold(self, s: Statement) -> None:
        """Put the result of a fold where it belongs."""
        name = self.folds.pop(s)
        if s.kind == "running":
            return
        text = f"{name}_at" if s.kind == "argument" else name
        if s.kind == "fold" and register_dtype(s) != s.target.aval.dtype:
            text = f"{dtype_name(s.target.aval.dtype)}({name})"
        if s.buffer is None:
            self.names[s.target] = self.scalar_name(s, text)
            return
        place = self.place(s.index, s.target_shape)
        self.nodes.append(Store(s.buffer.name, place, text))
        self.remember(s.target, s.index, text)

    def scalar_name(self, s: Statement, text: str) -> str:
        """Return the name of a scalar result."""
        if text.isidentifier():
            return text
        name = self.fresh(self.label(s.target))
        self.nodes.append(Let(name, text, self.comment(s.eqn)))
        return name

    @contextmanager
    def subtotals(self, sums: Sequence[Statement]) -> Iterator[None]:
        """Keep sums in registers of their own, and add those to the totals afterwards."""
        totals = {s: self.folds[s] for s in sums}
        for s, total in totals.items():
            self.folds[s] = self.fresh(f"{total}_part")
            self.nodes.append(Assign(self.folds[s], identity_of("add", register_dtype(s))))
        yield
        for s, total in totals.items():
            text = combined("add", register_dtype(s), total, self.folds[s])
            self.nodes.append(Assign(total, text))
        self.folds.update(totals)
