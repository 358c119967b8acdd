"""Attributes of arrays: assignable ones, `flat`, and attributes of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.dims import product
from tracejit.ir.values import Dim
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.overlaps import require_apart
from tracejit.numpy_api.shapes import filled_in
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, PROPERTIES, SETTERS
from tracejit.trace.ground.views import ReshapeStep
from tracejit.trace.values.equations import as_operand, cast, same_dim
from tracejit.trace.values.indexing import as_element, view
from tracejit.trace.values.reshapes import reshaped
from tracejit.trace.values.tracer import Tracer

__all__ = ["values_in_turn"]


class Flat(Tracer):
    """`x.flat`: a write goes through to the array, and a read gives a copy."""

    __slots__ = ()

    def __getitem__(self, key: object) -> Any:
        found = super().__getitem__(key)
        return found.copy() if isinstance(found, Tracer) and found.dims else found

    def __setitem__(self, key: object, content: object) -> None:
        part = Tracer(self.cell, self.steps)
        require_apart(part, key, what="assigning to x.flat")
        target = part[key]
        if not target.dims:
            part[key] = content
            return
        values = values_in_turn(content, part, target.dims[0], "assigning to x.flat")
        if values is not None:
            part[key] = values


def values_in_turn(content: object, target: Tracer, size: Dim, what: str) -> Tracer | None:
    """Return values for the places of an array that NumPy writes to one after the other.

    None where there are no values, of which NumPy writes nothing.

    There are `size` places, and the values begin again at their end.

    what -- the write, for refusals
    """
    require_apart(target, content, what=what)
    given = cast(as_element(content, target.dtype, True), target.dtype)
    if not given.dims:
        return given
    values: Tracer = given.reshape(-1)
    count = values.dims[0]
    if is_nothing(count):
        return None
    return values if _are_equal(count, size) else values[iota(size) % as_operand(count)]


def _are_equal(a: Any, b: Any) -> bool:
    """Return whether two sizes are one in this call; refuse where data decides."""
    trace = current()
    a, b = trace.canonical(a), trace.canonical(b)
    if a != b and not (trace.is_known(a) and trace.is_known(b)):
        raise refuse("assigning to x.flat, or to a diagonal, as many elements as data decides",
                     "Assign a number, or x[...] = values.reshape(x.shape)", "TJ212")
    return bool(same_dim(a, b))


def _flat(a: Tracer) -> Flat:
    flattened = view(a, ReshapeStep((product(a.dims),), a.aval.shape))
    return Flat(flattened.cell, flattened.steps)


PROPERTIES["flat"] = _flat


def _set_flat(a: Tracer, content: object) -> None:
    _flat(a)[:] = content


def _set_shape(a: Tracer, shape: object) -> None:
    """Give an array another shape in place: this handle shows it, other views stay as they are."""
    trace = current()
    made = {v for scope in trace.builder.scopes for eqn in scope.eqns for v in eqn.outputs
            if not eqn.regions}  # a result of a loop or branch may have two names, of two handles
    if a.cell.depth != trace.depth or a.cell.first not in made:
        raise refuse("assigning to the shape of an argument, or of what was made outside of this "
                     "loop or branch, or by one", "Give it another name: y = x.reshape(shape)",
                     "TJ402")
    result = reshaped(a, filled_in(a.dims, shape))
    if result.cell is not a.cell:
        raise refuse("assigning to the shape of an array that is not contiguous, or may not be",
                     "Give it another name: y = x.reshape(shape)", "TJ402")
    a.steps = result.steps


def _set_part(name: str) -> Any:
    def assign(a: Tracer, content: Any) -> None:
        if a.dtype.kind != "c":
            if name == "imag":
                raise TypeError("array does not have imaginary part to set")
            a[...] = content
            return
        part = np.broadcast_to(content, a.shape)
        a[...] = part + 1j * np.imag(a) if name == "real" else np.real(a) + 1j * part

    return assign


def _namespace(a: Tracer, *, api_version: object = None) -> Any:
    """Return NumPy, whose main namespace implements the array API standard."""
    any_array: Any = np.empty(0)
    return any_array.__array_namespace__(api_version=api_version)


def _to_device(a: Tracer, device: str, *, stream: None = None) -> Tracer:
    """Return the array, which is on the only device that NumPy has."""
    np.empty(0).to_device(device, stream=stream)  # type: ignore[arg-type]
    return a


def _nbytes(a: Tracer) -> Any:
    return as_operand(product(a.dims)) * a.dtype.itemsize


METHODS.update({"__array_namespace__": _namespace, "to_device": _to_device})
PROPERTIES.update({"device": lambda a: "cpu", "nbytes": _nbytes})
SETTERS.update({"flat": _set_flat, "shape": _set_shape, "real": _set_part("real"),
                "imag": _set_part("imag")})
