"""Functions of users that a derivative computes again: what they may not do."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from types import CellType, FunctionType, MethodType, ModuleType

import numpy as np

from tracejit.ir.core import Block, Value
from tracejit.ir.walk import without_prints
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.regions.draws import refuse_draws
from tracejit.trace.values.equations import atom_of
from tracejit.trace.values.leaks import refuse_leaks_into
from tracejit.trace.values.operands import TracedOperand

__all__ = ["computed_again"]


def _held(*roots: object) -> list[tuple[int, ...]]:
    """Return the ids of containers and of their items, for all that functions and arguments hold.

    Only objects made in the capture can change: a write to one from outside is refused.
    """
    left, found = list(roots), []
    seen: set[int] = set()
    while left and len(seen) < 100_000:
        x = left.pop()
        if id(x) in seen or isinstance(x, (TracedOperand, np.ndarray, np.generic, type, str)):
            continue
        seen.add(id(x))
        inside: list[object] = []
        if isinstance(x, (list, tuple, set, frozenset, deque)):
            inside = list(x)
        elif isinstance(x, dict):
            inside = [*x.keys(), *x.values()]
        elif isinstance(x, FunctionType):
            inside = [x.__defaults__, x.__kwdefaults__, *(
                c.cell_contents for c in x.__closure__ or () if c != CellType())]
        elif isinstance(x, (MethodType, functools.partial)):
            inside = [getattr(x, "__self__", None), *getattr(x, "args", ()), getattr(
                x, "keywords", None), getattr(x, "__func__", None), getattr(x, "func", None)]
        elif type(x).__module__ == "tracejit" and callable(x):  # whose programs may become more
            inside = [getattr(x, "__wrapped__", None)]
        elif not isinstance(x, ModuleType) and hasattr(x, "__dict__"):
            inside = [*vars(x).keys(), *vars(x).values()]
        found.append((id(x), *map(id, inside)))
        left += inside
    return found


def computed_again(holders: tuple[object, ...], inputs: tuple[Value, ...],
                   value: Callable[[], object], role: str, shows: bool = False) -> Block:
    """Return the block of a value, or of several, that a derivative computes again.

    holders -- the user's function and its arguments: nothing that they hold may change in it
    inputs -- the block's inputs
    role -- how a refusal describes the function, "of which a root is looked for" say
    shows -- whether it prints what the function prints

    Raises: Refusal where the function changes something outside of it, or draws random numbers
    """
    before = _held(*holders)
    with current().region("call", inputs) as (frame, scope):
        y = value()
        if frame.written or _held(*holders) != before:
            raise refuse(f"a function that changes something outside of it, and {role}, cannot be "
                         "captured", "Return what it finds instead", "TJ510")
        block = scope.close([*map(atom_of, y if isinstance(y, tuple) else (y,))])
        block = block if shows else without_prints(block)
    refuse_leaks_into(block)
    refuse_draws(block, f"a function {role}, and which its derivative computes again")
    return block
