"""`check_grads`: derivatives against central differences, in both modes, to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.draws import is_generator
from tracejit.ir.dtypes import is_half
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.trace.ground.context import is_tracing
from tracejit.trace.python.calls import call_function
from tracejit.trace.regions.choosing import in_one_dtype
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.public import jvp, vjp
from tracejit.tree import flatten, unflatten

__all__ = ["check_grads"]


@hiding_frames
def check_grads(f: Callable[..., object], args: tuple[object, ...], order: int = 1,
                modes: Sequence[str] | str = ("fwd", "rev"), *, atol: float | None = None,
                rtol: float | None = None, eps: float = 1e-6) -> None:
    """Check a function's derivatives against central differences at a point.

    f     -- a function of arrays, numbers and nests of them, with a result of the same kind, of
             which the floating arrays and floats are looked at
    args  -- where to check; the floating arrays and floats in it are varied
    order -- how many times to differentiate
    modes -- "fwd" (`jvp`), "rev" (`vjp`) or both
    atol, rtol -- tolerances; by default 1e-5 for float64, 1e-2 for float32
    eps   -- the step of the differences; for float32 at least 1e-2

    A direction v is drawn at random (always the same ones). Forward mode must give
    (f(x + eps v) - f(x - eps v)) / (2 eps), reverse mode <w, Jv> = <J'w, v> for a random w.

    Raises `AssertionError` that shows modes and numbers ("rev of fwd" is the second derivative in
    reverse mode of the first one in forward mode); `TypeError` where there is nothing to vary or
    no float comes out; `ValueError` for another mode, order or step.

    >>> import numpy as np, tracejit
    >>> tracejit.check_grads(lambda x: np.sum(np.sin(x) ** 2), (np.array([0.3, 1.0]),), order=2)
    """
    if not callable(f):
        raise TypeError(f"check_grads takes a function, not {f!r}")
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    if not chosen or any(m not in ("fwd", "rev") for m in chosen):
        raise ValueError(f"modes are 'fwd' and 'rev', not {modes!r}")
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"order must be an int, 1 or more, not {order!r}")
    if not eps > 0.0:
        raise ValueError(f"eps must be positive, not {eps!r}")
    if not isinstance(args, tuple):
        raise TypeError(f"args is the tuple of the function's arguments, not {args!r}")
    if any(map(is_generator, flatten(args)[0])):
        raise TypeError("check_grads calls a function many times, and a Generator would give other "
                        "numbers each time: check_grads(lambda x: f(x, np.random.default_rng(0)), "
                        "(x,))")
    _refuse_halves(flatten(args)[0])
    _check(f, args, order, chosen, atol, rtol, eps, "")


def _check(f: Callable[..., object], args: tuple[object, ...], order: int, modes: tuple[str, ...],
           atol: float | None, rtol: float | None, eps: float, what: str) -> None:
    leaves, structure = flatten(args)
    varied = [k for k, x in enumerate(leaves) if _is_varied(x)]
    if not varied:
        raise TypeError("none of the arguments is a float or an array of floats")
    rng = np.random.default_rng(0)
    points = [np.asarray(leaves[k]) for k in varied]
    direction = [_normal(rng, x) for x in points]

    def of(*xs: object) -> tuple[Any, ...]:
        full = list(leaves)
        for k, x in zip(varied, xs, strict=True):
            full[k] = x
        inner = unflatten(structure, iter(full))
        result = in_one_dtype(call_function(f, inner, {})) if is_tracing() else f(*inner)
        return tuple(y for y in flatten(result)[0] if _is_varied(y))

    def moved(h: float) -> list[np.ndarray]:
        result = of(*(_like(x + h * v, x) for x, v in zip(points, direction, strict=True)))
        return [np.asarray(y) for y in result]

    single = any(x.dtype in (np.float32, np.complex64) for x in [*points, *moved(0.0)])
    step = max(eps, 1e-2) if single else eps
    tolerance = 1e-2 if single else 1e-5
    at = tolerance if atol is None else atol
    rt = tolerance if rtol is None else rtol
    below, above = moved(-step), moved(step)
    if not above:
        raise TypeError("none of what the function returns is a float or an array of floats")
    numeric = [(b - a) / (2 * step) for a, b in zip(below, above, strict=True)]
    weights = [_like(_normal(rng, y), y) for y in above]
    expected = _inner(weights, numeric)
    point = tuple(_like(x, x) for x in points)
    for mode, derived, other in _modes(of, points, direction, weights):
        if mode in modes:
            found = _inner(other, [np.asarray(y) for y in derived(*point)])
            _compare(found, expected, at, rt, f"{what}{mode}")
            if order > 1:
                _check(derived, point, order - 1, modes, atol, rtol, eps, f"{what}{mode} of ")


def _refuse_halves(leaves: Sequence[object]) -> None:
    dtypes = [x.dtype for x in leaves if isinstance(x, (np.ndarray, np.generic))]
    half = next(filter(is_half, dtypes), None)
    if half is not None:
        raise TypeError(f"check_grads of {half}, whose differences are too coarse to tell. Pass "
                        "x.astype(np.float32)")


Mode = tuple[str, Callable[..., Any], list[np.ndarray]]


def _modes(of: Callable[..., object], points: list[np.ndarray], direction: list[np.ndarray],
           weights: list[np.ndarray]) -> tuple[Mode, Mode]:
    """Return both modes: the derivative along one side, and the vector on the other side."""
    tangents = tuple(_like(v, x) for v, x in zip(direction, points, strict=True))

    def forward(*xs: object) -> Any:
        return jvp(of, xs, tangents)[1]

    def backward(*xs: object) -> Any:
        return vjp(of, *xs)[1](tuple(weights))

    return ("fwd", forward, weights), ("rev", backward, direction)


def _is_varied(x: object) -> bool:
    if isinstance(x, Tracer):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex, np.ndarray, np.generic)) and (
        np.asarray(x).dtype.kind in "fc")


def _normal(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    v = rng.normal(size=x.shape)
    return v + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else np.asarray(v)


def _like(v: object, x: np.ndarray) -> Any:
    """Return numbers as an array of `x`'s dtype, or as a scalar where it is one."""
    return np.asarray(v, x.dtype)[()]


def _inner(a: Sequence[object], b: Sequence[np.ndarray]) -> float:
    """Return the real inner product of two lists of arrays."""
    return float(sum(np.real(np.vdot(x, y)) for x, y in zip(a, b, strict=True)))


def _compare(found: float, expected: float, atol: float, rtol: float, what: str) -> None:
    if not abs(found - expected) <= atol + rtol * abs(expected):
        raise AssertionError(f"{what}: the derivative along a random direction is {found!r}, but "
                             f"central differences give {expected!r}")
