"""`scipy.spatial.transform.Rotation` of traced data: unit quaternions, one or a stack of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.turns import (
    angles_of,
    averaged,
    canonical,
    composed,
    matrix_of,
    of_angles,
    of_matrix,
    of_vector,
    orthogonal,
    vector_of,
)
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS, scipy_captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.values.equations import cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require, require_ours
from tracejit.trace.values.tracer import Tracer

__all__ = ["Turning", "is_scipys", "quaternions"]

_HOME = "scipy.spatial.transform.Rotation"
_OF_OTHERS = frozenset(("align_vectors", "approx_equal", "as_davenport", "reduce", "random",
                        "create_group", "concatenate", "from_davenport"))
"""Attributes of SciPy's rotations that one made by a capture has not."""


def _numbers(x: object) -> Any:
    """Return an operand in double precision."""
    given: Any = as_tracer(x)
    if given.dtype.kind == "c":
        raise refuse("a rotation of complex numbers cannot be captured", "Give real ones, x.real",
                     "TJ206")
    return cast(given, np.float64)


def _require_axes(x: Tracer, name: str, behind: tuple[int, ...]) -> None:
    """Require that an array is one item, or a stack of items, with these last axes."""
    n = len(behind)
    sizes = tuple(need_int(d, "the components of a rotation") for d in x.dims[len(x.dims) - n:])
    if sizes != behind:
        raise ValueError(f"Expected `{name}` to have shape {behind} or (N, "
                         f"{', '.join(map(str, behind))}), got {x.shape}")
    if len(x.dims) > n + 1:
        raise refuse("a stack of rotations with more than one axis cannot be captured",
                     "Reshape it to one axis", "TJ207")


class Turning(Made):
    """A rotation, or a stack of rotations, that captured code made.

    quat -- unit quaternions, the real part last
    """

    has_captured_operators = True
    scipys = _HOME

    def __init__(self, quat: np.ndarray) -> None:
        self.quat: Any = quat

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_OTHERS:
            raise AttributeError(name)
        raise refuse(f"`{name}` of a Rotation of traced data cannot be captured",
                     "Write it with as_matrix, as_quat or as_rotvec", "TJ209")

    def as_leaf(self) -> NoReturn:
        """Refuse to be an argument or a result."""
        raise refuse("a Rotation that captured code made, as a result",
                     "Return its .as_quat() or .as_matrix()", "TJ210")

    @property
    def single(self) -> bool:
        """Whether it is one rotation and no stack."""
        return len(self.quat.dims) == 1

    # --- forms ----------------------------------------------------------------------------------

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        """Return quaternions."""
        found = _canonical(self.quat) if canonical else self.quat.copy()
        return np.roll(found, 1, axis=-1) if scalar_first else found

    def as_matrix(self) -> Any:
        """Return matrices."""
        return matrix_of(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Return vectors along the axes, as long as the angles."""
        found = vector_of(self.quat)
        return np.rad2deg(found) if degrees else found

    def as_mrp(self) -> Any:
        """Return the modified Rodrigues parameters."""
        v, w = self.quat[..., :3], self.quat[..., 3:]
        turned: Any = np.where(w < 0.0, -1.0, 1.0)
        return turned * v / (1.0 + turned * w)

    def as_euler(self, seq: str, degrees: bool = False, **others: object) -> Any:
        """Return Euler's angles, and refuse those in gimbal lock."""
        if others.keys() - {"suppress_warnings"}:
            raise TypeError("Rotation.as_euler() got an unexpected keyword argument")
        if not isinstance(seq, str) or len(seq) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        found = angles_of(self.quat, seq)
        return np.rad2deg(found) if degrees else found

    # --- what rotations do ----------------------------------------------------------------------

    def apply(self, vectors: object, inverse: bool = False) -> Any:
        """Return vectors turned, or turned back."""
        v = _numbers(vectors)
        _require_axes(v, "vectors", (3,))
        matrix = matrix_of(self.quat)
        if inverse:
            matrix = np.swapaxes(matrix, -1, -2)
        return np.sum(matrix * v[..., None, :], axis=-1)

    def inv(self) -> Turning:
        """Return the inverse."""
        return Turning(self.quat * np.array([-1.0, -1.0, -1.0, 1.0]))

    def mean(self, weights: object = None, axis: None = None) -> Turning:
        """Return the mean, weighted or not."""
        if axis is not None:
            raise refuse("the mean of rotations with axis= cannot be captured", "Leave it out",
                         "TJ207")
        q: Any = self.quat[None] if self.single else self.quat
        return Turning(averaged(q, None if weights is None else _numbers(weights)))

    def magnitude(self) -> Any:
        """Return the angles."""
        return 2.0 * np.arctan2(np.linalg.norm(self.quat[..., :3], axis=-1),
                                np.abs(self.quat[..., 3]))

    def __mul__(self, other: object) -> Any:
        if not isinstance(other, Turning) and not is_scipys(other):
            return NotImplemented
        return Turning(composed(self.quat, quaternions(other)))

    def __rmul__(self, other: object) -> Any:
        """Follow a rotation from outside: that of an older SciPy leaves no operator to others."""
        return Turning(composed(quaternions(other), self.quat)) if is_scipys(other) else (
            NotImplemented)

    def __pow__(self, n: object, modulus: None = None) -> Turning:
        if modulus is not None or holds_traced(n) or not isinstance(n, (int, float)):
            raise refuse("a power of a Rotation with a traced exponent, or a modulus, cannot be "
                         "captured", "Use Rotation.from_rotvec(n * r.as_rotvec())", "TJ205")
        if n in (1, -1):
            return Turning(self.quat.copy()) if n == 1 else self.inv()
        return Turning(of_vector(float(n) * vector_of(self.quat)))

    # --- stacks ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        size: int = self.quat.shape[0]
        return size

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: object) -> Turning:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        found = self.quat[key]
        if found.ndim not in (1, 2) or isinstance(key, tuple):
            raise refuse("a stack of rotations indexed by several axes cannot be captured",
                         "Index it by a number, a slice or a vector", "TJ207")
        return Turning(found)

    def __iter__(self) -> Iterator[Turning]:
        if self.single:
            raise TypeError("Single rotation is not iterable.")
        return iter([self[k] for k in range(need_int(self.quat.dims[0], "a stack of rotations"))])

    def _changed(self, *others: object) -> NoReturn:
        """Refuse a change in place."""
        raise refuse("a change in place of a Rotation that captured code made",
                     "Make another one, with from_quat", "TJ211")

    __setitem__ = __delitem__ = _changed
    __eq__ = object.__eq__
    __hash__ = object.__hash__


_canonical = canonical


# --- making ---------------------------------------------------------------------------------------


def from_quat(quat: object, *, scalar_first: bool = False) -> Turning:
    """Return the rotations of quaternions, which need not be of length 1."""
    q = _numbers(quat)
    _require_axes(q, "quat", (4,))
    size = np.sum(q * q, axis=-1, keepdims=True)
    require(np.all(size > 0.0), ValueError,  # NaN is no length either
            "Found zero norm quaternions in `quat`.")
    unit = q / np.sqrt(size)
    return Turning(np.roll(unit, -1, axis=-1) if scalar_first else unit)


def from_matrix(matrix: object) -> Turning:
    """Return the rotations next to matrices."""
    m = _numbers(matrix)
    _require_axes(m, "matrix", (3, 3))
    require(np.logical_not(np.any(np.linalg.det(m) <= 0.0)), ValueError,
            "Non-positive determinant (left-handed or null coordinate frame) in rotation matrix")
    nearest, right = orthogonal(m)
    require_ours(np.all(right), NotCaptured, "Rotation.from_matrix of a matrix that is no rotation "
                 "cannot be captured. Make it orthogonal before, by np.linalg.svd")
    return Turning(of_matrix(nearest))


def from_rotvec(rotvec: object, degrees: bool = False) -> Turning:
    """Return the rotations about vectors, which are as long as the angles."""
    v = _numbers(rotvec)
    _require_axes(v, "rot_vec", (3,))
    return Turning(of_vector(np.deg2rad(v) if degrees else v))


def from_mrp(mrp: object) -> Turning:
    """Return the rotations of modified Rodrigues parameters."""
    v = _numbers(mrp)
    _require_axes(v, "mrp", (3,))
    size = np.sum(v * v, axis=-1, keepdims=True)
    return Turning(np.concatenate([2.0 * v, 1.0 - size], axis=-1) / (1.0 + size))


def from_euler(seq: str, angles: object, degrees: bool = False) -> Turning:
    """Return the rotations of angles about axes."""
    if not isinstance(seq, str):
        raise refuse("Rotation.from_euler with axes that are no text", "Give a text like 'xyz'",
                     "TJ203")
    a = _numbers(angles)
    if not a.dims and len(seq) == 1:
        a = a[None]
    elif len(seq) == 1 and len(a.dims) == 1:
        raise refuse("Rotation.from_euler of a vector of angles about one axis cannot be captured",
                     "Give angles of shape (N, 1)", "TJ207")
    if len(seq) in (1, 2, 3):
        _require_axes(a, "angles", (len(seq),))
    return Turning(of_angles(np.deg2rad(a) if degrees else a, seq))


scipy_captures(_HOME, {"from_quat": from_quat, "from_matrix": from_matrix,
                       "from_rotvec": from_rotvec, "from_mrp": from_mrp, "from_euler": from_euler})


# --- rotations that SciPy made --------------------------------------------------------------------


def is_scipys(x: object) -> bool:
    """Return whether an object is a rotation from outside."""
    return type(x).__name__ == "Rotation" and type(x).__module__.startswith("scipy.spatial.")


def quaternions(x: object) -> Any:
    """Return the quaternions of a rotation; those of SciPy's are read as captured code reads them.
    """
    if type(x) is Turning:
        return x.quat
    return _numbers(call_function(read_attribute(x, "as_quat"), (), {}))


def _applied(rotation: object, vectors: object, inverse: bool = False) -> Any:
    """Carry out `apply` of a rotation from outside."""
    if not holds_traced(vectors):
        return call_function(vars(type(rotation))["apply"], (rotation, vectors, inverse), {})
    return Turning(quaternions(rotation)).apply(vectors, inverse)


def _multiplied(rotation: object, other: object) -> Any:
    """Carry out the product of a rotation from outside and another one."""
    if type(other) is not Turning:
        return call_function(vars(type(rotation))["__mul__"], (rotation, other), {})
    return Turning(composed(quaternions(rotation), other.quat))


_METHODS: dict[str, Callable[..., Any]] = {"apply": _applied, "__mul__": _multiplied}
OBJECTS[_HOME] = _METHODS
