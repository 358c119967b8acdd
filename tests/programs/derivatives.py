"""Directional derivatives of the gallery's programs, computed by Python and NumPy alone."""

from __future__ import annotations

import cmath
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from oracles import directional

from programs.program import Program
from tracejit.tree import flatten, unflatten

__all__ = ["derivative_along", "direction_like", "is_floating"]

STEP = 1e-30
"""The imaginary step: so small that its square is nothing."""


def _complex(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a maker of arrays that makes complex ones where it would make floating ones."""
    def made(*args: Any, **keywords: Any) -> Any:
        array = make(*args, **keywords)
        return array.astype(complex) if array.dtype.kind == "f" else array

    return made


class ComplexNumPy:
    """NumPy where new arrays are complex, and functions that are not holomorphic follow Re x."""

    pi = np.pi
    zeros, ones, full, empty, eye, identity, array, asarray, linspace = (
        staticmethod(_complex(make)) for make in (
            np.zeros, np.ones, np.full, np.empty, np.eye, np.identity, np.array, np.asarray,
            np.linspace))
    zeros_like, ones_like, full_like, empty_like = (
        staticmethod(_complex(make))
        for make in (np.zeros_like, np.ones_like, np.full_like, np.empty_like))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def abs(x: Any) -> Any:
        """Return x or -x, by the sign of the real part."""
        return np.where(np.real(x) >= 0, x, -np.asarray(x))[()]

    @staticmethod
    def sign(x: Any) -> Any:
        """Return the sign of the real part."""
        return np.sign(np.real(x))


def complex_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function's code in its module's names, with arrays made complex."""
    module = vars(sys.modules[function.__module__])
    names = {**module, "np": ComplexNumPy(), "math": cmath, "abs": ComplexNumPy.abs}
    for name, helper in module.items():
        if isinstance(helper, FunctionType) and helper.__globals__ is module:
            names[name] = FunctionType(helper.__code__, names, name, helper.__defaults__,
                                       helper.__closure__)
            names[name].__kwdefaults__ = helper.__kwdefaults__
    return names[function.__name__]


def is_floating(leaf: Any) -> bool:
    """Return whether a leaf of an argument has a tangent."""
    return isinstance(leaf, (float, np.ndarray, np.floating)) and np.asarray(leaf).dtype.kind == "f"


def direction_like(rng: np.random.Generator, arg: Any) -> Any:
    """Return a random tangent of an argument, a nest of arrays and numbers."""
    leaves, structure = flatten(arg)
    return unflatten(structure, [_tangent(rng, x) for x in leaves])


def _tangent(rng: np.random.Generator, leaf: Any) -> Any:
    if not is_floating(leaf):
        return leaf
    v = rng.standard_normal(np.shape(leaf))
    return v.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else float(v)


def derivative_along(program: Program, args: Sequence[Any], k: int, direction: Any) -> float:
    """Return the derivative of a program's result as its k-th argument moves along a direction."""
    leaves, structure = flatten(tuple(args))
    along = [direction if j == k else None for j in range(len(args))]
    tangents = [v if j == k and is_floating(x) else None
                for j, (arg, given) in enumerate(zip(args, along, strict=True))
                for x, v in zip(*_matched(arg, given), strict=True)]
    if program.differences is None:
        twin = complex_twin(program.function)
        moved = [_moved(x, v) for x, v in zip(leaves, tangents, strict=True)]
        return float(np.imag(twin(*unflatten(structure, moved))) / STEP)

    def function(*leaves: Any) -> Any:
        copies = [x.copy() if isinstance(x, np.ndarray) else x for x in leaves]
        return program.function(*unflatten(structure, copies))

    (result,) = directional(function, leaves, tangents, step=1e-4)
    return float(result)


def _matched(arg: Any, direction: Any) -> tuple[list[Any], list[Any]]:
    leaves = flatten(arg)[0]
    return leaves, [None] * len(leaves) if direction is None else flatten(direction)[0]


def _moved(leaf: Any, tangent: Any) -> Any:
    """Return a leaf as a complex number or array, moved along its tangent by the step."""
    if not is_floating(leaf):
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf
    x = np.array(leaf, complex)
    if tangent is not None:
        x += 1j * STEP * np.asarray(tangent, float)
    return x[()] if x.ndim == 0 else x
