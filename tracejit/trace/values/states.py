"""Variables within a capture: inputs that can be assigned to, and are written back after a call."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tracejit.ir.core import Value
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, PROPERTIES, Changing
from tracejit.trace.ground.upward import above
from tracejit.trace.values.equations import (
    apply_operator,
    atom_of,
    cast,
    dtype_of,
    emit_value,
    lift,
)
from tracejit.trace.values.identities import apart
from tracejit.trace.values.indexing import write_cell
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["StateTracer"]


@above
class StateTracer(Tracer, Changing):
    """The stand-in of a variable; two of one variable share its cell."""

    variable: Any
    offers = frozenset(("value", "name", "trainable", "read_value", "assign", "assign_add",
                        "assign_sub", "numpy"))

    __slots__ = ("variable",)

    def __init__(self, tracer: Tracer, variable: object) -> None:
        super().__init__(tracer.cell)
        self.variable = variable

    @property
    def value(self) -> Value:
        """Return the present value, of which the tapes of this capture take note."""
        value = self.cell.value
        for watcher in current().watchers:
            watcher.note_state(self, value)
        return value

    @property
    def name(self) -> str:
        """Return the variable's name."""
        name: str = self.variable.name
        return name

    @property
    def trainable(self) -> bool:
        """Return whether tapes watch the variable of themselves."""
        trainable: bool = self.variable.trainable
        return trainable

    def read_value(self) -> Tracer:
        """Return the present value; it does not change when the variable does."""
        tracer = tracer_of(self.value)
        tracer.cell.constant = f"writing to the value of the variable {self.name!r}"
        return tracer

    def assign(self, value: Any) -> StateTracer:
        """Give the variable another value of its shape; it has it after the call."""
        new = lift(value)
        if not np.can_cast(dtype_of(new), self.dtype, casting="same_kind"):
            raise TypeError(f"a value of dtype {dtype_of(new)} is assigned to {self.name!r}, which "
                            f"has dtype {self.dtype}. Convert it with .astype")
        tracer = cast(new, self.dtype)
        if len(tracer.dims) != len(self.dims) or tracer.shape != self.shape:
            raise ValueError(f"a value of shape {tracer.shape} is assigned to {self.name!r}, which "
                             f"has shape {self.shape}")
        atom = atom_of(tracer)
        value = atom if isinstance(atom, Value) else emit_value("full", [atom], {"shape": ()})
        value = apart(value)
        write_cell(self, lambda base, at: value, None)
        for watcher in current().watchers:
            watcher.note_assigned(self, value)
        return self

    def assign_add(self, delta: object) -> StateTracer:
        """Add to the variable."""
        return self.assign(apply_operator(np.add, self, delta))

    def assign_sub(self, delta: object) -> StateTracer:
        """Subtract from the variable."""
        return self.assign(apply_operator(np.subtract, self, delta))

    def __getattr__(self, name: str) -> Any:
        if name in PROPERTIES or name in METHODS:
            return getattr(self.read_value(), name)
        return super().__getattr__(name)

    def __getitem__(self, key: object) -> Any:
        return self.read_value()[key]

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise refuse(f"writing to elements of the variable {self.name!r}",
                     "Assign a whole new value: v.assign(np.where(...))", "TJ507")

    def numpy(self) -> NoReturn:
        """Refuse: there is no NumPy value yet."""
        raise refuse("the NumPy value of a variable within a capture",
                     "Compute with the variable itself", "TJ507")
