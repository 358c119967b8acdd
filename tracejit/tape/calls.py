"""Calls as keys: two calls of one key have the same derivative graph, for any values.

A call is a function, a template with slots in the places of its operands, and the operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tracejit.classes import is_record
from tracejit.exact import token
from tracejit.runtime.function import WithStates
from tracejit.tape.values import Method, Operand, TapeValue
from tracejit.trace.ground.context import current
from tracejit.trace.python.calls import call_function
from tracejit.trace.state.paths import Path
from tracejit.trace.values.equations import lift
from tracejit.tree import flatten, unflatten

__all__ = ["OPERATORS", "SLOT", "Inlined", "ReadingCall", "StateRead", "Unrecorded", "describe",
           "fill", "invoke", "template_of"]

SLOT = object()
"""In the template of a call, the place of an operand."""

OPERATORS = frozenset(getattr(operator, name) for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
    "lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert",
    "getitem"))


class Unrecorded(Exception):
    """A call that cannot be captured, with the reason."""


class StateRead(tuple[Any, ...]):
    """The state that a call reads, beside its arguments: numbers in it are operands."""

    __slots__ = ()


def describe(x: Any, operands: list[Any], *, loose: bool = False) -> Any:
    """Return the description of an argument of a call, and collect its operands.

    Arrays are operands, known by dtype and shape; numbers and all other objects are part of the
    key, unless `loose`: then numbers are operands as well.
    """
    kind = type(x)
    if kind is TapeValue or kind is np.ndarray:
        data = x._data if kind is TapeValue else x
        operands.append(x)
        return (data.dtype, data.shape)
    if kind is float or kind is int or kind is complex:
        if loose:
            operands.append(x)
            return kind
        return (kind, x if x else repr(x))  # 0.0 and -0.0 are not the same call
    if kind is slice:
        return (slice, describe(x.start, operands, loose=loose),
                describe(x.stop, operands, loose=loose), describe(x.step, operands))
    if isinstance(x, (list, tuple)):
        loose = loose or kind is StateRead
        return (kind, *[describe(item, operands, loose=loose) for item in x])
    if isinstance(x, dict):
        return (kind, *[(k, describe(item, operands, loose=loose)) for k, item in x.items()])
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":
        if _is_known(x) and not loose:
            return (kind, int(x))
        operands.append(x)
        return (x.dtype, ())
    if is_record(x):
        leaves, structure = flatten(x)
        return (structure, *[describe(leaf, operands, loose=loose) for leaf in leaves])
    try:
        hash(x)
    except TypeError:
        raise Unrecorded(f"an argument is a {kind.__name__}") from None
    return (kind, token(x))


def _is_known(x: np.generic) -> bool:
    """Whether an argument is a whole number or truth value of NumPy's, an axis say."""
    return x.dtype.kind in "biu"


def template_of(x: Any, *, loose: bool = False) -> Any:
    """Return an argument with `SLOT` in the place of each operand."""
    kind = type(x)
    if isinstance(x, (TapeValue, np.ndarray)) or (
            isinstance(x, np.generic) and (loose or not _is_known(x))):
        return SLOT
    if loose and kind in (float, int, complex):
        return SLOT
    if kind is slice:
        return slice(template_of(x.start, loose=loose), template_of(x.stop, loose=loose),
                     template_of(x.step))
    if isinstance(x, (list, tuple)):
        items = [template_of(item, loose=loose or kind is StateRead) for item in x]
        return tuple.__new__(kind, items) if hasattr(x, "_fields") else kind(items)
    if isinstance(x, dict):
        return {k: template_of(item, loose=loose) for k, item in x.items()}
    if is_record(x):
        leaves, structure = flatten(x)
        return unflatten(structure, [template_of(leaf, loose=loose) for leaf in leaves])
    return x


def fill(template: Any, operands: Iterator[Any]) -> Any:
    """Return a template within a capture, with operands in its slots.

    What is left are objects, whose attributes are captured state.
    """
    if template is SLOT:
        return next(operands)
    kind = type(template)
    if kind is slice:
        return slice(*(fill(part, operands) for part in (template.start, template.stop,
                                                         template.step)))
    if isinstance(template, (list, tuple)):
        items = [fill(item, operands) for item in template]
        return tuple.__new__(kind, items) if hasattr(template, "_fields") else kind(items)
    if kind is dict:
        return {k: fill(item, operands) for k, item in template.items()}
    if is_record(template):
        leaves, structure = flatten(template)
        return unflatten(structure, [fill(leaf, operands) for leaf in leaves])
    return current().captured.static(template)


def invoke(function: Callable[..., object], args: tuple[object, ...],
           kwargs: dict[str, object]) -> Any:
    """Call a function within a capture."""
    if isinstance(function, (Method, Inlined, WithStates)) or function in OPERATORS:
        return function(*args, **kwargs)
    return call_function(function, args, kwargs)


class Inlined:
    """The base of functions that add their equations when they are called within a capture."""


class ReadingCall(Inlined):
    """A call that reads state, as a function of it as well: variables, numbers and arrays."""

    function: Any
    paths: tuple[Path, ...]
    __name__: Any | str

    def __init__(self, function: Callable[..., object], paths: tuple[Path, ...]) -> None:
        self.function, self.paths = function, paths
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def read(self) -> StateRead:
        """Return the state that it reads, as it is now."""
        found = [path.read() for path in self.paths]
        return StateRead([x._state_read() if isinstance(x, Operand) else x for x in found])

    def __call__(self, args: tuple[object, ...], kwargs: dict[str, object],
                 states: Sequence[object]) -> Any:
        """Make the call within a capture, the states given standing for what is read."""
        return invoke(self.function, args, kwargs)

    def expect(self, states: Sequence[object]) -> None:
        """Let the states given stand for what the capture will read at the paths."""
        captured = current().captured
        for path, state in zip(self.paths, states, strict=True):
            captured.give(path, lift(state) if isinstance(state, np.ndarray) else state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadingCall) and self.function == other.function and (
            [p.key for p in self.paths] == [p.key for p in other.paths])

    def __hash__(self) -> int:
        return hash((self.function, *[p.key for p in self.paths]))
