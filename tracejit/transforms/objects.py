"""Objects that a transform differentiates by: their leaves that are no floats, and what these hide.

A gradient has such leaves as the object has them. So none may hold numbers that the function reads
through it, as they would be taken for parts of the gradient, or left out of it.
"""

from __future__ import annotations

import functools
import gc
import sys
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.ir.draws import is_generator
from tracejit.tree import Structure, is_object

__all__ = ["hides_numbers", "kinds_of_objects", "require_no_tangent"]

_MOST = 1000
"""The most things that are looked at; what holds more is taken to hide some."""

_LOOKED_INTO = {"builtins", "collections", "functools", "types", "numpy", "scipy"}
"""Of the libraries with a version the modules whose objects may hold a user's numbers."""


def kinds_of_objects(structure: Structure) -> set[type]:
    """Return the classes of the objects in a structure that are no containers of Python's."""
    kind: Any = structure.kind
    own = {kind} if is_object(kind) else set()
    return own.union(*map(kinds_of_objects, structure.parts))


def hides_numbers(x: object, kinds: set[type]) -> bool:
    """Return whether a leaf that is no number leads to numbers, or to an object of some classes.

    Of a function what counts is the objects that it is bound to, or closes over.
    """
    is_function = isinstance(x, (FunctionType, MethodType, functools.partial))
    seen: dict[int, object] = {}
    rest = [x]
    while rest:
        y = rest.pop()
        if id(y) in seen:
            continue
        seen[id(y)] = y
        if type(y) in kinds or len(seen) > _MOST:
            return True
        if isinstance(y, (float, complex, np.inexact, np.ndarray)) and not is_function:
            return True
        rest += _parts_of(y)
    return False


def require_no_tangent(name: str, x: object, t: object) -> None:
    """Raise `TypeError` where something that is no float has a tangent, which would count as 0.

    name -- of the argument
    x, t -- its content, and the tangent: 0, or x itself where that is no object with numbers
    """
    if isinstance(x, (float, complex, bool)):
        return
    dtype = np.dtype(int) if isinstance(x, int) else getattr(x, "dtype", None)
    if dtype is None:
        if not (isinstance(x, (FunctionType, type, ModuleType)) or is_generator(x)) and (
                hides_numbers(x, set()) and (not isinstance(t, (int, float)) or t != 0)):
            raise TypeError(f"{name} is an object of {type(x).__name__}, by which jvp and hvp do "
                            "not differentiate: its tangent would count as 0. Pass 0.0 as its "
                            "tangent, or make it a dataclass, or tracejit.register_structure it")
    elif dtype.kind in "iu" and t is not x and _may_count(x, t):
        raise TypeError(f"{name} is of {dtype}, which has no derivative: its tangent would count "
                        "as 0. Pass 0 as its tangent, or the argument as a float")


def _may_count(x: object, t: Any) -> bool:
    """Return whether a tangent of an int is neither 0 nor the int itself, or is a traced float."""
    if isinstance(t, (np.ndarray, np.generic, int, float, complex)):
        given = np.asarray(t)
        known = isinstance(x, (np.ndarray, np.generic, int))
        return bool(((given != 0) & (given != np.asarray(x) if known else True)).any())
    return getattr(t, "dtype", np.dtype(int)).kind in "fc"


def _parts_of(x: Any) -> list[object]:
    """Return the things that an object leads to, as far as they are a user's."""
    if isinstance(x, (type, ModuleType, np.ufunc, np.dtype, str, bytes, int)):
        return []
    if isinstance(x, FunctionType):
        cells = [c.cell_contents for c in x.__closure__ or () if c != _EMPTY]
        return [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    home = type(x).__module__.partition(".")[0]
    if home in sys.stdlib_module_names and home not in _LOOKED_INTO:
        return []
    return gc.get_referents(x)


_EMPTY = type((lambda x: lambda: x)(0).__closure__[0])()  # type: ignore[index]
