"""The few ways in which codegen can treat an op: the vocabulary of the registry's last column.

An op's entry names one of these; codegen tells ops apart by them and never by name. Passes and
derivatives that are about one kind of equation ask for its `meaning`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tracejit.ir.dims import Dim

__all__ = ["CALL_COST", "Alias", "Argument", "Callback", "Contract", "Effect", "Gather", "Index",
           "Inline", "Library", "LogOp", "Lowering", "Native", "Pieces", "Pointwise",
           "Reduce", "Region", "Running", "Ties", "View", "Write", "axis_labels", "turns_rows"]

CALL_COST = 10.0
"""The cost, in additions, of the cheapest function that has a vector variant."""


@dataclass(frozen=True, slots=True)
class Pointwise:
    """One scalar expression per element: `"{0} * {1}"`, its operands broadcast."""

    expression: str
    integer: str | None = None
    """The expression for integer dtypes where it differs."""
    meaning: str = ""
    """One of "add", "mul", "and", "or" (the folds of two elements), "select", "cast"."""
    half: np.dtype | None = None
    """The dtype of two bytes that the result is rounded to, where it is."""
    function: bool = False
    """Whether the param `function` says which of SciPy's C functions is called on the operands; the
    expression is one of these calls."""

    def written(self, params: Mapping[str, Any], arity: int) -> str:
        """Return the expression of an application with these params."""
        if not self.function:
            return self.expression
        return f"c_{params['function']}({', '.join(f'{{{k}}}' for k in range(arity))})"


@dataclass(frozen=True, slots=True)
class View:
    """Elements of operand 0 at other indices: (params, index, operand shape) -> operand index."""

    index_map: Callable[..., Any]
    meaning: str = ""
    """One of "index" (a part, by the param `at`), "transpose" (by the param `axes`), "full"."""


@dataclass(frozen=True, slots=True)
class Alias:
    """Operand 0 with the same elements in the same order under another shape."""


@dataclass(frozen=True, slots=True)
class Index:
    """A dim as an element: (params, index) -> dim."""

    element: Callable[..., Dim]


@dataclass(frozen=True, slots=True)
class Gather:
    """Elements of operand 0 at indices held in the other operands."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """Fold along `axes` with a combining expression: "add", "mul", "max", "min", "and" or "or"."""

    combine: str


@dataclass(frozen=True, slots=True)
class Argument:
    """The index along `axis` of the first largest or smallest element."""

    combine: str


@dataclass(frozen=True, slots=True)
class Ties:
    """Whether an element is as large, or as small, as the extremum along `axes`.

    It is lowered as a fold and a comparison: `passes/searching.py`.
    """

    combine: str


@dataclass(frozen=True, slots=True)
class Running:
    """The running fold along `axis`."""

    combine: str


@dataclass(frozen=True, slots=True)
class Contract:
    """A sum of products over the labels that the output lacks."""


@dataclass(frozen=True, slots=True)
class Write:
    """Operand 0 with part of it replaced by ("set") or increased by ("add") operand 1."""

    combine: str
    gathered: bool = False
    """Whether the place is given by index arrays (the other operands) rather than by params."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Operands side by side along `axis`."""


@dataclass(frozen=True, slots=True)
class Library:
    """A routine that reads and writes whole arrays: (codegen's name for it)."""

    routine: str


@dataclass(frozen=True, slots=True)
class Native:
    """A function that Numba compiles for itself, called as it is: (the function)."""

    function: Any

    OTHER_SHAPE: ClassVar[str] = ("op {} returned an array of another shape than its first array "
                                  "argument of that rank")


@dataclass(frozen=True, slots=True)
class Callback:
    """A Python function, called while the program runs: the parameter `callee`."""


@dataclass(frozen=True, slots=True)
class Region:
    """Control flow: "if", "for", "while" or "map"."""

    kind: str


@dataclass(frozen=True, slots=True)
class Inline:
    """Gone before codegen: "operands" stands for its first operand, "region" for its body."""

    what: str
    meaning: str = ""
    """One of "read_where" (only what a mask selects is read), "checkpointed" (is run again)."""


@dataclass(frozen=True, slots=True)
class LogOp:
    """An operation on a Log: "new", "push" or "pop", and to one that holds a list "of" (made of an
    array), "array" (made an array), "read", "add" or "write" (at some place)."""

    action: str


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect, not a computation: "check", "check_bounds", "wrap_index", "empty" or "print"."""

    action: str
    shows: bool = False
    """Whether it shows whole operands to the user, once: where they are computed again, it does
    not."""


Lowering = (Pointwise | View | Alias | Index | Gather | Reduce | Argument | Ties | Running
            | Contract | Write | Pieces | Library | Native | Callback | Region | Inline | LogOp
            | Effect)


def axis_labels(spec: str) -> tuple[str, str, str]:
    """Return the labels of the axes of both operands and of the result of `"ij,jk->ik"`."""
    inputs, output = spec.split("->")
    left, right = inputs.split(",")
    return left, right, output


def turns_rows(axes: Sequence[int]) -> bool:
    """Return whether rows of the result of a transposition are no rows of its operand."""
    return axes[-1] != len(axes) - 1
