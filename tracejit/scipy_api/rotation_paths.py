"""Several rotations: `scipy.spatial.transform.Slerp` between them, and all in one stack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.rotations import Turning, is_scipys, quaternions
from tracejit.scipy_api.turns import composed, of_vector, vector_of
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import OBJECTS, scipy_captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

_HOME = "scipy.spatial.transform.Slerp"


class Slerping(Made):
    """Rotations at times, with turns at constant speed between them.

    times -- when the rotations are
    quat, turns -- the quaternions where turns begin, and the vectors of the turns
    """

    has_captured_operators = True
    scipys = _HOME

    def __init__(self, times: np.ndarray, quat: np.ndarray, turns: np.ndarray) -> None:
        self.times, self.quat, self.turns = times, quat, turns

    def as_leaf(self) -> NoReturn:
        """Refuse to be an argument or a result."""
        raise refuse("a Slerp that captured code made, as a result", "Call it", "TJ210")

    def __call__(self, times: object) -> Turning:
        """Return the rotations at times."""
        given: Any = cast(as_tracer(times), np.float64)
        if given.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        at: Any = np.reshape(given, (-1,))
        require(np.all((at >= self.times[0]) & (at <= self.times[-1])), ValueError,
                "Interpolation times must be within the range of the times given, both inclusive.")
        k = np.maximum(np.searchsorted(self.times, at) - 1, 0)
        share = (at - self.times[k]) / (self.times[k + 1] - self.times[k])
        found = composed(self.quat[k], of_vector(self.turns[k] * share[:, None]))
        return Turning(found if given.ndim else found[0])


def slerp(times: object, rotations: object) -> Slerping:
    """Return the turns between rotations."""
    if type_of(rotations).__name__ != "Rotation":
        raise TypeError("`rotations` must be a `Rotation` instance.")
    quat = as_tracer(quaternions(rotations))
    at: Any = cast(as_tracer(times), np.float64)
    if len(quat.dims) < 2 or current().decide(
            quat.dims[0] - 2, "<", "how many rotations there are") is not False:
        raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
    if at.ndim != 1:
        raise ValueError("Expected times to be specified in a 1 dimensional array, got "
                         f"{at.ndim} dimensions.")
    if not same_dim(at.dims[0], quat.dims[0]):
        raise ValueError("Expected number of rotations to be equal to number of timestamps given")
    require(np.all(at[1:] > at[:-1]), ValueError, "Times must be in strictly increasing order.")
    back = quat[:-1] * np.array([-1.0, -1.0, -1.0, 1.0])
    return Slerping(at, quat[:-1], vector_of(composed(back, quat[1:])))


def _of_object(x: object, times: object) -> Turning:
    """Carry out `Slerp.__call__` of one from outside."""
    at, turns = (as_tracer(read_attribute(x, name)) for name in ("times", "rotvecs"))
    quat = quaternions(read_attribute(x, "rotations"))
    return Slerping(at, quat, turns)(times)  # type: ignore[arg-type]


def concatenate(rotations: Iterable[object]) -> Turning:
    """Return one stack of several rotations and stacks."""
    if type(rotations) is Turning or is_scipys(rotations):
        return Turning(quaternions(rotations))
    given = list(rotations)
    if not all(type(x) is Turning or is_scipys(x) for x in given):
        raise TypeError("input must contain Rotation objects only")
    quats = map(quaternions, given)
    return Turning(np.concatenate([q if len(q.dims) == 2 else q[None] for q in quats]))


OBJECTS[_HOME] = {"__call__": _of_object}
scipy_captures("scipy.spatial.transform", {"Slerp": slerp})
scipy_captures("scipy.spatial.transform.Rotation", {"concatenate": concatenate})
