"""`scipy.optimize`'s roots of functions of one number, with derivatives by the functions' operands.

A root is found with no derivative. Two steps of Newton's method from it, which change no value,
have the root's derivatives up to the third, by the implicit function theorem; further ones are
refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.autodiff.transforms import gradient_block
from tracejit.ir.core import Literal, Value
from tracejit.ir.types import scalar
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region
from tracejit.ops.roots import root_of
from tracejit.scipy_api.objectives import computed_again
from tracejit.scipy_api.plain_roots import (
    bisected,
    by_newton,
    by_secants,
    fixed,
    hyperbolic,
    ridden,
    trial,
    zeroed,
)
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import atom_of, cast, is_weak
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__: list[str] = []

_LEAST = 4.0 * np.finfo(float).eps


class Root:
    """The result of `root_scalar`, and of other functions with full_output=True.

    root, iterations, function_calls, converged -- as SciPy names them
    """

    def __init__(self, found: tuple[object, ...], method: str) -> None:
        self.root, self.iterations, self.function_calls, self.converged = found
        self.method = method

    def __getattr__(self, name: str) -> Any:
        if name not in ("flag", "keys", "items", "values", "get"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a root cannot be captured", "Use `root` and `converged`",
                     "TJ209")


def _implied(f: Callable[..., object], found: object, args: tuple[object, ...]) -> Any:
    """Return a root with the derivatives that the equation f(root) = 0 implies."""
    if not isinstance(found, TracedOperand):
        return found  # the function reads nothing traced
    root = cast(as_tracer(found), np.float64)
    v = Value(scalar(np.float64), "root")

    def left() -> Any:
        y = as_tracer(call_function(f, (scalar_of(v, weak=is_weak(found)), *args), {}))
        if y.dims or y.dtype.kind == "c":
            raise refuse("a root of a function that does not return a real number cannot be "
                         "captured", "Use a loop over the elements", "TJ214")
        return cast(y, np.float64)

    block = computed_again((f, args), (v,), left, "of which a root is looked for")
    with_slope = gradient_block(block, [0], [0])
    near: Any = root
    slopes: list[Any] = []
    for _ in range(2):
        value, slope = map(tracer_of, map(_value, inline_region(with_slope, [atom_of(near)])))
        fine = slope != 0.0
        near = near - np.where(fine, value / np.where(fine, slope, 1.0), 0.0)
        slopes.append(slope)
    # Newton's step to a multiple root leaves half of the slope, or less; to a simple root all of it
    is_simple = np.abs(slopes[1]) >= 0.75 * np.abs(slopes[0])
    result = cast(root_of(root, near, np.where(is_simple, slope, 0.0)), as_tracer(found).dtype)
    return scalar_of(result.value, weak=is_weak(found))


def _value(a: Value | Literal) -> Value:
    value: Value = a if isinstance(a, Value) else cast(a.val, a.aval.dtype).value
    return value


def _given(f: Callable[..., object], found: tuple[object, ...], args: tuple[object, ...],
           method: str, full_output: bool, disp: bool, most: int) -> Any:
    root, count, calls, done = found
    if disp:
        require(done, RuntimeError, f"Failed to converge after {most} iterations.")
    x = _implied(f, root, args)
    return (x, Root((x, count, calls, done), method)) if full_output else x


def _bracketed(name: str, search: Callable[..., object], *more: object) -> Callable[..., Any]:
    def capture(f: Callable[..., object], a: object, b: object, args: object = (),
                xtol: float = 2e-12, rtol: float = _LEAST, maxiter: int = 100,
                full_output: bool = False, disp: bool = True) -> Any:
        given, most = args if isinstance(args, tuple) else (args,), operator.index(maxiter)
        require(xtol > 0, ValueError, "xtol too small")
        require(rtol >= _LEAST, ValueError, "rtol too small")
        if most < 0:
            raise ValueError("maxiter must be >= 0")
        found = call_function(search, (f, a, b, xtol, rtol, most, given, *more), {})
        return _given(f, found, given, name, full_output, disp, most)

    return capture


def newton(func: Callable[..., object], x0: object, fprime: Callable[..., object] | None = None,
           args: tuple[object, ...] = (), tol: float = 1.48e-08, maxiter: int = 50,
           fprime2: Callable[..., object] | None = None, x1: object = None, rtol: float = 0.0,
           full_output: bool = False, disp: bool = True) -> Any:
    """Return a root near x0 by Newton's, Halley's or the secant method."""
    require(tol > 0, ValueError, "tol too small")
    most = operator.index(maxiter)
    if most < 1:
        raise ValueError("maxiter must be greater than 0")
    start: Any = as_tracer(x0)
    if start.dims or start.dtype.kind == "c":
        raise refuse("scipy.optimize.newton of several or complex numbers cannot be captured",
                     "Use a loop, or write the iteration", "TJ214")
    x = cast(start, np.float64 if start.dtype.kind != "f" else start.dtype)
    x = scalar_of(x.value)
    if fprime is not None:
        found = call_function(by_newton, (func, x, fprime, fprime2 or None, tol, rtol, most,
                                          bool(disp), args), {})
        return _given(func, found, args, "halley" if fprime2 else "newton", full_output, disp,
                      most)
    if x1 is None:
        moved: Any = x * (1 + 1e-4)
        second = moved + np.where(moved >= 0, 1e-4, -1e-4)
    else:
        second = scalar_of(cast(as_tracer(x1), x.dtype).value)
        require(second != x, ValueError, "x1 and x0 must be different")
    found = call_function(by_secants, (func, x, second, tol, rtol, most, bool(disp), args), {})
    return _given(func, found, args, "secant", full_output, disp, most)


def fixed_point(func: Callable[..., object], x0: object, args: tuple[object, ...] = (),
                xtol: float = 1e-8, maxiter: int = 500, method: str = "del2") -> Any:
    """Return where a function of one number is its argument."""
    start = as_tracer(x0)
    if start.dims or start.dtype.kind == "c":
        raise refuse("scipy.optimize.fixed_point of several or complex numbers cannot be captured",
                     "Use a loop over the elements, or write the iteration", "TJ214")
    accelerated = {"del2": True, "iteration": False}[method]
    found = call_function(fixed, (func, x0, xtol, operator.index(maxiter), accelerated, args), {})

    def away(x: float, *rest: object) -> Any:
        return call_function(func, (x, *rest), {}) - x

    point: Any = np.float64(1.0) * _implied(away, found, args)
    if accelerated and isinstance(point, Tracer):
        point.cell.is_array = True  # of no axes, as SciPy's
    return point


_BRACKETED = {
    "brentq": _bracketed("brentq", zeroed, trial), "bisect": _bracketed("bisect", bisected),
    "brenth": _bracketed("brenth", zeroed, hyperbolic), "ridder": _bracketed("ridder", ridden)}


def root_scalar(f: Callable[..., object], args: object = (), method: str | None = None,
                bracket: object = None, fprime: Callable[..., object] | None = None,
                fprime2: Callable[..., object] | None = None, x0: object = None,
                x1: object = None, xtol: float | None = None, rtol: float | None = None,
                maxiter: int | None = None, options: dict[str, object] | None = None) -> Any:
    """Return a root, by a method that the arguments may choose."""
    given = args if isinstance(args, tuple) else (args,)
    kind = method or ("brentq" if bracket is not None else None if x0 is None else "halley" if (
        fprime and fprime2) else "secant" if x1 is not None and not fprime else "newton")
    if kind is None:
        raise ValueError("Unable to select a solver as neither bracket nor starting point "
                         "provided.")
    kind = str(kind).lower()
    words: dict[str, Any] = {key: x for key, x in (
        ("xtol", xtol), ("rtol", rtol), ("maxiter", maxiter)) if x is not None}
    words |= (options or {}) | {"full_output": True, "disp": False}
    if kind in _BRACKETED:
        if not isinstance(bracket, (list, tuple)):
            raise refuse("scipy.optimize.root_scalar with a bracket that is no list or tuple "
                         "cannot be captured", "Pass bracket=[a, b]", "TJ203")
        return _BRACKETED[kind](f, *bracket[:2], given, **words)[1]
    slopes: dict[str, tuple[object, ...]] = {
        "newton": (fprime,), "halley": (fprime, fprime2), "secant": ()}
    if kind not in slopes or not all(map(callable, slopes[kind])):
        raise refuse(f"scipy.optimize.root_scalar with method={kind!r}, or without derivatives "
                     "that are functions, cannot be captured",
                     "Use 'brentq', 'bisect' or 'secant', or pass fprime= and fprime2=", "TJ203")
    if "xtol" in words:
        words["tol"] = words.pop("xtol")
    if kind == "secant":
        return newton(f, x0, args=given, x1=x1, **words)[1]
    return newton(f, x0, fprime, given, fprime2=fprime2 if kind == "halley" else None, **words)[1]


_CAPTURES: dict[str, Callable[..., Any]] = {
    **_BRACKETED, "newton": newton, "fixed_point": fixed_point, "root_scalar": root_scalar}
scipy_captures("scipy.optimize", {
    name: calling_back(capture) for name, capture in _CAPTURES.items()})
