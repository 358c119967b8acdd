"""The byte order of arrays that NumPy makes of others, as `dtype` shows it.

A capture computes in the machine's byte order. NumPy keeps that of an array whose elements are
moved (`x.copy()`, `np.zeros_like(x)`), so the question is refused where an argument has another.
"""

from __future__ import annotations

import numpy as np

from tracejit.ir.core import Value
from tracejit.ir.lowering import Callback, Contract, Native, Pointwise, Running
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.values.tracer import Tracer

__all__ = ["shown_dtype"]

_COMPUTES = (Callback, Contract, Native, Pointwise, Running)
"""How ops are lowered whose results are of the machine's byte order in NumPy, too."""


def shown_dtype(x: Tracer) -> np.dtype:
    """Return the dtype of an array as users see it; refuse it where its byte order is unknown."""
    memory = current().memory
    number = memory.cells.get(x.cell)
    if number is not None:
        found: np.dtype = memory.dtype_of_input(number, x.dtype)
        return found
    is_computed = all(map(_is_computed, _elements_behind(x.cell.value)))
    for k, given in memory.inputs.items():
        dtype = given.cell.first.aval.dtype
        has_parts = dtype.kind == "c" and x.dtype in (dtype, np.zeros(0, dtype).real.dtype)
        may_be_moved = has_parts or (dtype == x.dtype and not is_computed)
        if given.is_argument and may_be_moved and memory.dtype_of_input(k, dtype) != dtype:
            raise refuse(f"the dtype of an array that may have the byte order of {given.name}, "
                         f"{given.content.dtype.str!r}, is asked for",
                         "Convert the argument before the call, or name the dtype", "TJ310")
    return x.dtype


def _elements_behind(value: Value) -> set[Value]:
    """Return the elements whose memory a value may be in, itself included."""
    found, left = {value}, [value]
    while left:
        new = current().memory.memories.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _is_computed(value: Value) -> bool:
    """Return whether an op that computes made a value, other than by moving elements."""
    for scope in reversed(current().builder.scopes):
        for eqn in reversed(scope.eqns):
            if value in eqn.outputs:
                return isinstance(eqn.op.lowering, _COMPUTES)
    return False
