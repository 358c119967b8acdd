"""Every program of the gallery under nested transforms: derivatives are the same as taken alone.

Also with the operands of its sums and products exchanged, whose sizes are met in another order.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import programs
import pytest
from exchanged import exchanged
from programs.derivatives import direction_like, is_floating
from programs.program import PROGRAMS, Program

import tracejit
from tracejit.tree import flatten, unflatten

for _module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(_module.name)

TOLERANCE = 1e-9
"""Relative error allowed between a derivative alone and the same one nested."""

STEP = 1e-5

DIFFERENCES = 2e-5
"""Relative error allowed between a second derivative and a difference of order 4 of first ones."""

FINER = {"root_finding.bisection": 1e-8, "iterative.conjugate_gradient": 3e-10,
         "iterative.power_iteration": 1e-6}
"""The steps of programs that take another branch within a larger step."""


def run_alone(program: Program, function: Callable[..., Any], args: Any) -> list[np.ndarray]:
    """Return the leaves of the gradient, taken alone."""
    return [np.asarray(g) for g in flatten(tracejit.grad(function, argnums=program.argnums)(
        *_copied(args)))[0]]


def _copied(args: Any) -> Any:
    leaves, structure = flatten(args)
    return unflatten(structure, [x.copy() if isinstance(x, np.ndarray) else x for x in leaves])


def _moved(program: Program, args: Any, directions: Any, t: float) -> Any:
    """Return the arguments, the differentiated ones moved along directions."""
    moved = list(args)
    for k, direction in zip(program.argnums, directions, strict=True):
        leaves, structure = flatten(args[k])
        moved[k] = unflatten(structure, [
            (x + t * v).astype(x.dtype) if isinstance(x, np.ndarray) and is_floating(x)
            else type(x)(x + t * v) if is_floating(x) else x
            for x, v in zip(leaves, flatten(direction)[0], strict=True)])
    return tuple(moved)


def _directions(program: Program, args: Any) -> list[Any]:
    rng = np.random.default_rng(11)
    return [direction_like(rng, args[k]) for k in program.argnums]


def _of_chosen(program: Program, function: Callable[..., Any], args: Any) -> Callable[..., Any]:
    """Return the function of the arguments that are differentiated by."""
    def of_chosen(*active: Any) -> Any:
        given = [active[program.argnums.index(k)] if k in program.argnums else x
                 for k, x in enumerate(args)]
        return function(*given)

    return of_chosen


# --- the nested transforms, each with what it is to be ------------------------------------------


def jit_of_grad(program: Program, function: Callable[..., Any], args: Any) -> Any:
    """Return the gradient within `jit`, and alone."""
    nested = tracejit.jit(tracejit.grad(function, argnums=program.argnums))(*_copied(args))
    return flatten(nested)[0], run_alone(program, program.function, args), TOLERANCE


def vmap_of_grad(program: Program, function: Callable[..., Any], args: Any) -> Any:
    """Return gradients mapped over two points, and one after the other."""
    points = [args, _moved(program, args, _directions(program, args), 1e-3)]
    axes, mapped = [], []
    for k, (a, b) in enumerate(zip(*points, strict=True)):
        leaves, structure = flatten(a)
        varies = k in program.argnums and all(map(is_floating, leaves))
        axes.append(0 if varies else None)
        mapped.append(unflatten(structure, [
            np.stack([x, y]) for x, y in zip(leaves, flatten(b)[0], strict=True)])
            if varies else a)
    points[1] = tuple(b if axis == 0 else a for a, b, axis in zip(*points, axes, strict=True))
    nested = tracejit.vmap(tracejit.grad(function, argnums=program.argnums), in_axes=tuple(axes))(
        *_copied(mapped))
    alone = zip(*(run_alone(program, program.function, p) for p in points), strict=True)
    return flatten(nested)[0], [np.stack(pair) for pair in alone], TOLERANCE


def _curvature(program: Program, args: Any, directions: Any) -> tuple[list[np.ndarray], float]:
    """Return the Hessian along directions, by differences of order 4 of the gradient alone."""
    step = FINER.get(str(program), STEP)

    def at(t: float) -> list[np.ndarray]:
        return run_alone(program, program.function, _moved(program, args, directions, t))

    near = zip(at(step), at(-step), strict=True)
    far = zip(at(2.0 * step), at(-2.0 * step), strict=True)
    return [(8.0 * (a - b) - (c - d)) / (12.0 * step)
            for (a, b), (c, d) in zip(near, far, strict=True)], DIFFERENCES


def hessian_product(program: Program, function: Callable[..., Any], args: Any) -> Any:
    """Return a Hessian along directions in forward over reverse mode, and by differences."""
    directions = _directions(program, args)
    nested = tracejit.hvp(_of_chosen(program, function, args),
                          tuple(_copied(args)[k] for k in program.argnums), tuple(directions))
    return flatten(nested)[0], *_curvature(program, args, directions)


def reverse_over_reverse(program: Program, function: Callable[..., Any], args: Any) -> Any:
    """Return a Hessian along directions as the gradient of an inner product, and by differences."""
    directions = _directions(program, args)
    along = [v for d, k in zip(directions, program.argnums, strict=True)
             for v, x in zip(flatten(d)[0], flatten(args[k])[0], strict=True) if is_floating(x)]
    numbers = tuple(range(len(program.argnums)))
    of_chosen = _of_chosen(program, function, args)

    def inner(*active: Any) -> Any:
        slope = tracejit.grad(of_chosen, argnums=numbers)(*active)
        total = 0.0
        for g, v in zip(flatten(slope)[0], along, strict=True):
            total = total + np.sum(g * v)
        return total

    nested = tracejit.grad(inner, argnums=numbers)(*(_copied(args)[k] for k in program.argnums))
    return flatten(nested)[0], *_curvature(program, args, directions)


TRANSFORMS = {"jit(grad)": jit_of_grad, "vmap(grad)": vmap_of_grad, "hvp": hessian_product,
              "grad(grad @ v)": reverse_over_reverse}

def check(program: Program, how: str, exchange: bool = False, size: int = 0) -> None:
    """Assert that nested derivatives of a program are the same as taken alone."""
    args = program.arguments(program.sizes[size])
    function = exchanged(program) if exchange else program.function
    actual, expected, tolerance = TRANSFORMS[how](program, function, args)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert np.shape(a) == np.shape(e)
        if np.asarray(e).dtype == np.float32 or np.asarray(a).dtype == np.float32:
            tolerance = max(tolerance, 2e-2 if how in ("hvp", "grad(grad @ v)") else 2e-5)
        scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
        np.testing.assert_allclose(a, e, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("how", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_program_nested_has_the_derivatives_of_the_program(program: Program, how: str) -> None:
    with tracejit.config(disable_jit=True, verify=True):
        check(program, how)


@pytest.mark.parametrize("how", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_operands_exchanged_make_no_difference(program: Program, how: str) -> None:
    with tracejit.config(disable_jit=True, verify=True):
        check(program, how, exchange=True, size=1 % len(program.sizes))


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_program_exchanged_is_the_same_function(program: Program) -> None:
    n = program.sizes[0]
    np.testing.assert_allclose(exchanged(program)(*program.arguments(n)),
                               program.function(*program.arguments(n)), rtol=2e-5)


@pytest.mark.parametrize(("name", "how"), [
    ("iterative.conjugate_gradient", "jit(grad)"), ("recurrent_nets.lstm", "vmap(grad)"),
    ("filters.kalman", "hvp")])
def test_a_program_nested_is_right_compiled(name: str, how: str) -> None:
    program = next(p for p in PROGRAMS if str(p).startswith(name))
    check(program, how)


def test_a_second_derivative_wrong_by_a_thousandth_is_caught() -> None:
    @tracejit.custom_gradient
    def wrong(x: Any) -> Any:
        return np.sum(np.sin(x)), lambda ct: ct * np.cos(1.0005 * x)

    program = Program(lambda x: np.sum(np.sin(x)), lambda n, rng: (rng.normal(size=n),), (0,), None,
                      (3,), 1, "", "")
    with tracejit.config(disable_jit=True):
        check(program, "grad(grad @ v)")
        args = program.arguments(3)
        actual, expected, tolerance = reverse_over_reverse(program, wrong, args)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
