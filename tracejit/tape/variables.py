"""`Variable`: state that trains; `Module`: an object that knows its variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.tape.noting import ACTIVE, note_event
from tracejit.tape.values import Operand, TapeValue, constant, unwrap
from tracejit.trace.ground.context import current, is_tracing, refuse
from tracejit.trace.values.eager import State

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Module", "Variable"]


class Variable(Operand, State):
    """A number or array that can be assigned to, and that tapes watch when it is read.

    value     -- an array, a number, or nested lists of numbers; it is copied
    trainable -- whether tapes watch it of themselves
    name      -- its name in messages; "Variable" if None
    dtype     -- if it is not to be NumPy's own choice

    It acts like an array; shape and dtype never change.

    >>> import tracejit
    >>> v = tracejit.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0])
    <Variable 'v' float64(2,): array([2., 3.])>
    >>> (v * 2.0).numpy()
    array([4., 6.])
    """

    __slots__ = ("__weakref__", "_name", "_state", "_trainable")

    def __init__(self, value: object, trainable: bool = True, name: str | None = None,
                 dtype: npt.DTypeLike | None = None) -> None:
        if is_tracing():
            raise refuse("a variable made inside of a captured function",
                         "Make it outside, once, and assign to it inside", "TJ507")
        if callable(value):
            value = value()
        self._state = constant(value, dtype)
        self._trainable = bool(trainable)
        self._name = name

    @property
    def name(self) -> str:
        """Return the name."""
        return self._name or "Variable"

    @property
    def trainable(self) -> bool:
        """Return whether tapes watch it of themselves."""
        return self._trainable

    # --- reading --------------------------------------------------------------------------------

    @property
    def _data(self) -> Any:
        return self._state._data

    def _leave(self) -> Any:
        return self._state_read()._leave()

    def _state_read(self) -> TapeValue:
        state = self._state
        for tape in ACTIVE.tapes:
            if (self._trainable and tape._watch_accessed) or id(self) in tape._variables:
                tape._read_variable(self, state)
        return state

    def read_value(self) -> TapeValue:
        """Return the present value; it does not change when the variable does."""
        return self._traced().read_value() if is_tracing() else self._state_read()

    def _traced(self) -> Any:
        """Return the stand-in of the variable in the present capture."""
        return current().captured.recorded_value(self)

    value = read_value

    # --- writing --------------------------------------------------------------------------------

    def assign(self, value: object) -> Variable:
        """Give the variable another value of its shape, and return it.

        Raises `ValueError` for another shape, `TypeError` for a dtype that does not fit.
        """
        if is_tracing():
            self._traced().assign(value)
        else:
            self._replace(value, "assigned to")
        return self

    def assign_add(self, delta: object) -> Variable:
        """Add to the variable, and return it."""
        if is_tracing():
            self._traced().assign_add(delta)
        else:
            self._replace(self._state._data + np.asarray(_noted(self, delta)), "added to")
        return self

    def assign_sub(self, delta: object) -> Variable:
        """Subtract from the variable, and return it."""
        if is_tracing():
            self._traced().assign_sub(delta)
        else:
            self._replace(self._state._data - np.asarray(_noted(self, delta)), "subtracted from")
        return self

    def _replace(self, value: object, how: str) -> None:
        data = np.asarray(_noted(self, value))
        if data.shape != self.shape:
            raise ValueError(f"a value of shape {data.shape} is {how} {self.name!r}, which has "
                             f"shape {self.shape}")
        if not np.can_cast(data.dtype, self.dtype, casting="same_kind"):
            raise TypeError(f"a value of dtype {data.dtype} is {how} {self.name!r}, which has "
                            f"dtype {self.dtype}. Convert it with .astype")
        self._accept(data)

    def _accept(self, data: object) -> None:
        self._state = TapeValue(np.array(data, self.dtype)[()])

    def __repr__(self) -> str:
        return (f"<Variable {self.name!r} {self.dtype}{self.shape}: "
                f"{np.asarray(self._state._data)!r}>")

    def __reduce__(self) -> Any:
        return (Variable, (self._state._data, self._trainable, self._name))

    def __copy__(self) -> Variable:
        return Variable(self._state._data, self._trainable, self._name)

    def __deepcopy__(self, memo: object) -> Variable:
        return self.__copy__()


def _noted(variable: Variable, value: object) -> Any:
    """Return the NumPy value of an assignment; tapes note that the value's history ends here."""
    if isinstance(value, Operand):
        note_event(value._state_read(), f"it was assigned to the variable {variable.name!r}, "
                                        "whose state ends gradients")
    return unwrap(value)


class Module:
    """An object that knows its variables: its attributes', and the variables of modules in them.

    >>> import numpy as np, tracejit
    >>> class Dense(tracejit.Module):
    ...     def __init__(self, n, m):
    ...         self.w = tracejit.Variable(np.ones((n, m)), name="w")
    ...         self.b = tracejit.Variable(np.zeros(m), name="b")
    ...     def __call__(self, x):
    ...         return np.maximum(x @ self.w + self.b, 0.0)
    >>> [v.name for v in Dense(3, 2).trainable_variables]
    ['w', 'b']
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Return all variables, each once, in the order of attributes."""
        return tuple(_variables_in(self, set()))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Return the variables that tapes watch of themselves."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """Return the modules among the attributes, and the modules in these."""
        return tuple(m for m in _modules_in(self, set()) if m is not self)


def _nodes(x: object, seen: set[int]) -> Iterator[Any]:
    """Yield modules and variables in an object, each once."""
    if id(x) in seen:
        return
    if isinstance(x, (Variable, Module)):
        seen.add(id(x))
        yield x
    parts: Any = ()
    if isinstance(x, Module):
        parts = vars(x).values()
    elif isinstance(x, (list, tuple)):
        parts = x
    elif isinstance(x, dict):
        parts = x.values()
    for part in parts:
        yield from _nodes(part, seen)


def _variables_in(x: object, seen: set[int]) -> Iterator[Variable]:
    return (v for v in _nodes(x, seen) if isinstance(v, Variable))


def _modules_in(x: object, seen: set[int]) -> Iterator[Module]:
    return (m for m in _nodes(x, seen) if isinstance(m, Module))
