"""The operators of Python: in syntax trees, as methods, as ufuncs, and as they are written."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["BINARY", "COMPARISONS", "OF_UFUNC", "UNARY", "Operator"]


class Operator(NamedTuple):
    """An operator.

    name           -- in the module `operator`
    ufunc          -- that carries it out on arrays
    sign           -- how users write it
    reflected_name -- of the method of the right operand, where it is not the name after an "r"
    """

    name: str
    ufunc: Any
    sign: str
    reflected_name: str = ""

    @property
    def plain(self) -> Callable[..., Any]:
        """Return the function that carries it out on anything."""
        fn: Callable[..., Any] = getattr(operator, self.name)
        return fn

    @property
    def plain_inplace(self) -> Callable[[Any, Any], Any]:
        """Return the function that carries out its augmented assignment."""
        fn: Callable[[Any, Any], Any] = getattr(operator, f"i{self.name.rstrip('_')}")
        return fn

    @property
    def method(self) -> str:
        """Return the method of the left operand."""
        return f"__{self.name.rstrip('_')}__"

    @property
    def reflected(self) -> str:
        """Return the method of the right operand."""
        return f"__{self.reflected_name or 'r' + self.name.rstrip('_')}__"

    @property
    def inplace(self) -> str:
        """Return the method of the target of an augmented assignment."""
        return f"__i{self.name.rstrip('_')}__"


BINARY = {
    "Add": Operator("add", np.add, "+"), "Sub": Operator("sub", np.subtract, "-"),
    "Mult": Operator("mul", np.multiply, "*"), "Div": Operator("truediv", np.true_divide, "/"),
    "FloorDiv": Operator("floordiv", np.floor_divide, "//"),
    "Mod": Operator("mod", np.remainder, "%"), "Pow": Operator("pow", np.power, "**"),
    "MatMult": Operator("matmul", np.matmul, "@"),
    "BitAnd": Operator("and_", np.bitwise_and, "&"), "BitOr": Operator("or_", np.bitwise_or, "|"),
    "BitXor": Operator("xor", np.bitwise_xor, "^"),
    "LShift": Operator("lshift", np.left_shift, "<<"),
    "RShift": Operator("rshift", np.right_shift, ">>"),
}
COMPARISONS = {
    "Eq": Operator("eq", np.equal, "==", "eq"), "NotEq": Operator("ne", np.not_equal, "!=", "ne"),
    "Lt": Operator("lt", np.less, "<", "gt"), "LtE": Operator("le", np.less_equal, "<=", "ge"),
    "Gt": Operator("gt", np.greater, ">", "lt"),
    "GtE": Operator("ge", np.greater_equal, ">=", "le"),
}
UNARY = {
    "USub": Operator("neg", np.negative, "-"), "UAdd": Operator("pos", np.positive, "+"),
    "Invert": Operator("invert", np.invert, "~"), "abs": Operator("abs", np.absolute, "abs"),
}
"""By the names of nodes of syntax trees; `abs` has none."""

OF_UFUNC = {o.ufunc: o for o in (*BINARY.values(), *COMPARISONS.values(), *UNARY.values())}
