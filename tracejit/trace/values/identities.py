"""Values that users can name have an identity of their own, once a use tells values apart.

Equal expressions share one equation, `b` and `c` in `b = 2 * a; c = 2 * a`. Nothing shows it but a
gradient by `b`, a tape, or `stop_gradients=[b]`. A capture that meets such a use begins again, with
names: each result of an operation is then `named`, an equation that gradients go through and that
is gone before code is made, while the operations themselves share equations as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracejit.ir.core import Value
from tracejit.ir.optable import find_op
from tracejit.ir.types import is_differentiable
from tracejit.trace.ground.context import Cell, current
from tracejit.trace.ground.dispatch import Changing
from tracejit.trace.ground.restarts import NeedNames
from tracejit.trace.ground.upward import above
from tracejit.trace.values.tracer import Tracer

__all__ = ["apart", "named", "naming", "rename", "require_names"]


def require_names() -> None:
    """Let results have names from here on; a capture that can begins again with names."""
    trace = current()
    if trace.names:
        return
    if trace.restarts:
        raise NeedNames
    trace.names = True


@above
def named(x: object, operands: object = ()) -> Any:
    """Return the result of an operation as a value of its own, if it is not one of its operands."""
    if not current().names:
        return x
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        for item in x:
            named(item, operands)
        return x  # which may be a list of the user's own, and is the very one
    if not isinstance(x, Tracer) or isinstance(x, Changing) or x.steps or not is_differentiable(
            x.dtype) or x.cell.depth != current().depth or x.cell in _cells(operands):
        return x
    value = x.cell.value
    (own,) = current().builder.emit(find_op("named"), [value])
    _put(x.cell, value, own)
    return x


def rename(x: Tracer) -> bool:
    """Give the elements of a handle another identity from here on; return False if impossible.

    An array from around the open block keeps its identity: a new one would end with the block.
    """
    trace = current()
    if isinstance(x, Changing) or (x.shown_as is None and (x.steps or x.cell.depth != trace.depth)):
        return False
    value = x.value
    (own,) = trace.builder.emit(find_op("named"), [value])
    trace.renamed[own] = value
    if x.shown_as is not None:
        x.shown_as.scope, x.shown_as.shown = trace.builder.scope, own
        return True
    _put(x.cell, value, own)
    return True


def apart(value: Value) -> Value:
    """Return a value as one of its own: what a variable is given, beside what it was before."""
    trace = current()
    if not trace.names:
        return value
    (own,) = trace.builder.emit(find_op("named"), [value])
    trace.unnamed[own] = trace.unnamed.get(value, value)
    return own


def _put(cell: Cell, value: Value, own: Value) -> None:
    unnamed = current().unnamed
    unnamed[own] = unnamed.get(value, value)
    cell.value = own


def _cells(operands: Any) -> set[Cell]:
    found: set[Cell] = set()
    for x in operands:
        if isinstance(x, Tracer):
            found.add(x.cell)
        elif isinstance(x, (list, tuple)):
            found |= _cells(x)
    return found


@above
def naming(capture: Callable[..., object]) -> Callable[..., Any]:
    """Return a capture of a function whose results are named."""

    def call(*args: object, **kwargs: object) -> Any:
        return named(capture(*args, **kwargs), (*args, *kwargs.values()))

    return call
