"""`scipy.optimize`'s searches in captured code: SciPy's own, called back, with derivatives.

Where a search ends has the derivatives that its equations imply: of a root those of the function,
of a minimum and of least squares that the gradient is 0, or pushes against a bound.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit.transforms.linear_fits  # noqa: F401  (enters their captures)
from tracejit.autodiff.solutions import Equations, closed, pushed_forward, value_of
from tracejit.autodiff.transforms import gradient_block
from tracejit.ir.core import Block, Value
from tracejit.ir.dead_code import prune_block
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region
from tracejit.scipy_api.equations import Policy, with_derivatives
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.tracer import Tracer, scalar_of
from tracejit.transforms.bounds import Bounded, bounds_of_pairs, bounds_of_two
from tracejit.transforms.searches import (
    REAL,
    Optimum,
    as_tuple,
    block_of,
    gradient_of,
    like_unknown,
    one_number,
    refuse_settings,
    searched,
    start_of,
    value_at,
    with_jacobian,
)

__all__: list[str] = []

# --- roots --------------------------------------------------------------------------------------

_ROOT = "of which a root is looked for"


def root(fun: Callable[..., object], x0: object, args: object = (), method: str = "hybr",
         jac: object = None, tol: object = None, callback: object = None,
         options: object = None) -> Any:
    """Return a root of several equations."""
    refuse_settings("root", callback=callback)
    start, given = start_of(x0, "root"), as_tuple(args)
    blocks = with_jacobian("root", fun, jac, start, given, like_unknown, _ROOT)
    settings = {"method": method, "tol": tol, "options": options}
    x, count = searched("root", blocks, [start], settings, "array", start.dims)
    found = with_derivatives(closed(blocks[:1])[0], x, Policy())
    return Optimum(found, count, value_at(blocks[0], found))


def fsolve(func: Callable[..., object], x0: object, args: object = (), fprime: object = None,
           full_output: object = 0, col_deriv: object = 0, xtol: object = 1.49012e-08,
           maxfev: object = 0, band: object = None, epsfcn: object = None, factor: object = 100,
           diag: object = None) -> Any:
    """Return a root of several equations, as an array."""
    refuse_settings("fsolve", full_output=full_output or None, col_deriv=col_deriv or None,
                    band=band)
    start, given = start_of(x0, "fsolve"), as_tuple(args)
    blocks = with_jacobian("fsolve", func, fprime, start, given, like_unknown, _ROOT)
    settings = {"xtol": xtol, "maxfev": maxfev, "epsfcn": epsfcn, "factor": factor, "diag": diag}
    x, _ = searched("fsolve", blocks, [start], settings, "array", start.dims)
    return with_derivatives(closed(blocks[:1])[0], x, Policy())


def toms748(f: Callable[..., object], a: object, b: object, args: object = (), k: object = 1,
            xtol: object = 2e-12, rtol: object = 4.0 * np.finfo(float).eps,
            maxiter: object = 100, full_output: object = False, disp: object = True) -> Any:
    """Return a root of a function of one number between two others."""
    refuse_settings("toms748", full_output=full_output or None, disp=None if disp else "False")
    number = cast(as_tracer(0.0), REAL)
    block = block_of(f, number, as_tuple(args), _ROOT, one_number)
    ends = [scalar_of(cast(as_tracer(x), REAL).value, weak=True) for x in (a, b)]
    settings = {"k": k, "xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    x, _ = searched("toms748", [block], ends, settings, "float", ())
    return _weak(with_derivatives(closed([block])[0], x, Policy()))


def _weak(x: Tracer) -> Any:
    return scalar_of(x.value, weak=True)


# --- minima -------------------------------------------------------------------------------------

_MINIMUM = "which is minimised"
_NEAR, _FAR = Policy(1e-4), Policy(1e-3)
"""Minima are found less exactly than roots: SciPy looks at the gradient, or at the value alone."""


def minimize_scalar(fun: Callable[..., object], bracket: object = None, bounds: object = None,
                    args: object = (), method: object = None, tol: object = None,
                    options: object = None) -> Any:
    """Return where a function of one number is least."""
    number = cast(as_tracer(0.0), REAL)
    block = block_of(fun, number, as_tuple(args), _MINIMUM, one_number)
    settings = {"bracket": bracket, "bounds": bounds, "method": method, "tol": tol,
                "options": options}
    x, count = searched("minimize_scalar", [block], [], settings, "scalar", ())
    found = with_derivatives(gradient_of(block), x, _NEAR)
    return Optimum(found, count, value_at(block, found))


def minimize(fun: Callable[..., object], x0: object, args: object = (), method: object = None,
             jac: object = None, hess: object = None, hessp: object = None, bounds: object = None,
             constraints: object = (), tol: object = None, callback: object = None,
             options: object = None) -> Any:
    """Return where a function is least, between bounds or anywhere."""
    refuse_settings("minimize", constraints=constraints, hess=hess, hessp=hessp, callback=callback)
    start, given = start_of(x0, "minimize"), as_tuple(args)
    dtype = as_tracer(x0).dtype
    if dtype.kind == "f" and dtype != REAL:
        raise refuse(f"scipy.optimize.minimize from a point of {dtype}, which SciPy's methods keep "
                     "or not, cannot be captured", "Pass x0.astype(float)", "TJ206")
    blocks = with_jacobian("minimize", fun, jac, start, given, one_number, _MINIMUM)
    settings = {"method": method, "tol": tol, "options": options}
    if isinstance(jac, str):
        settings["jac"] = jac
    ends = bounds_of_pairs(bounds, start)
    settings |= {} if ends is None else {"bounds": ends.as_setting()}
    x, count = searched("minimize", blocks, [start], settings, "array", start.dims)
    found = _between(ends, gradient_of(blocks[0]), x, _FAR)
    return Optimum(found, count, value_at(blocks[0], found))


# --- least squares ------------------------------------------------------------------------------

_SQUARES = "of which the squares are minimised"


def _vector(y: Tracer, x: object) -> Tracer:
    """Return the residuals, an array with one axis."""
    if y.dtype.kind == "c" or len(y.dims) > 1:
        raise refuse("least squares of residuals that are complex or no array with one axis cannot "
                     "be captured", "Return np.ravel of real ones", "TJ214")
    return cast(apply("reshape", y, shape=(1,)) if not y.dims else y, REAL)


def _squares(block: Block) -> Equations:
    """Return the equations that the gradient of half the sum of squares is 0."""
    (own,) = closed([block])
    inputs = [Value(v.aval, v.name) for v in own.block.inputs]
    with current().builder.block(inputs) as scope:
        r: Any = value_of(inline_region(own.block, inputs)[0])
        half: Any = np.float64(0.5) * np.sum(r * r)
        both = gradient_block(scope.close([atom_of(half)]), [0], [0])
    return Equations(prune_block(Block(both.inputs, both.eqns, both.outputs[1:])), own.given)


def _between(ends: Bounded | None, equations: Equations, x: Tracer, policy: Policy) -> Tracer:
    """Return a solution with derivatives, between bounds if there are some."""
    if ends is None:
        return with_derivatives(equations, x, policy)
    return ends.with_derivatives(equations, x, policy)


def least_squares(fun: Callable[..., object], x0: object, jac: object = "2-point",
                  bounds: object = (-np.inf, np.inf), method: object = "trf",
                  ftol: object = 1e-8, xtol: object = 1e-8, gtol: object = 1e-8,
                  x_scale: object = None, loss: object = "linear", f_scale: object = 1.0,
                  diff_step: object = None, tr_solver: object = None, tr_options: object = None,
                  jac_sparsity: object = None, max_nfev: object = None, verbose: object = 0,
                  args: object = (), kwargs: object = None, callback: object = None,
                  workers: object = None) -> Any:
    """Return where the sum of squares of several numbers is least."""
    refuse_settings("least_squares", loss=None if loss == "linear" else loss,
                    jac_sparsity=jac_sparsity, verbose=verbose or None, kwargs=kwargs or None,
                    callback=callback, workers=workers)
    start, given = start_of(x0, "least_squares"), as_tuple(args)
    blocks = with_jacobian("least_squares", fun, jac, start, given, _vector, _SQUARES)
    settings = {"method": method, "ftol": ftol, "xtol": xtol, "gtol": gtol, "max_nfev": max_nfev,
                "diff_step": diff_step, "tr_solver": tr_solver}
    settings |= {} if x_scale is None else {"x_scale": x_scale}
    settings |= {} if tr_options is None else {"tr_options": tr_options}
    settings |= {"jac": jac} if isinstance(jac, str) else {}
    ends = bounds_of_two(bounds, start)
    settings |= {} if ends is None else {"bounds": ends.as_setting()}
    x, count = searched("least_squares", blocks, [start], settings, "array", start.dims)
    found = _between(ends, _squares(blocks[0]), x, _NEAR)
    r: Any = value_at(blocks[0], found)
    return Optimum(found, count, r, cost=0.5 * np.sum(r * r))


def _parameters(f: Callable[..., object], p0: object) -> Any:
    """Return the parameters that a fit begins with."""
    if p0 is not None:
        return p0
    names = inspect.signature(f).parameters.values()
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in names) - 1
    if count < 1 or any(p.kind is p.VAR_POSITIONAL for p in names):
        raise ValueError("Unable to determine number of fit parameters.")
    return [1.0] * count


def curve_fit(f: Callable[..., object], xdata: object, ydata: object, p0: object = None,
              sigma: object = None, absolute_sigma: object = False, check_finite: object = None,
              bounds: object = (-np.inf, np.inf), method: object = None, jac: object = None, *,
              full_output: object = False, nan_policy: object = None, **kwargs: object) -> Any:
    """Return the parameters of a curve nearest to data, and their covariances."""
    refuse_settings("curve_fit", jac=jac, full_output=full_output or None, nan_policy=nan_policy)
    start = start_of(_parameters(f, p0), "curve_fit")
    ends = bounds_of_two(bounds, start)
    if ends is not None and p0 is None:
        start = as_tracer(ends.middle())
    count = need_int(start.dims[0], "unpacking the parameters of a curve")
    y, weight = as_tracer(ydata), None if sigma is None else as_tracer(sigma)
    if len(y.dims) != 1 or (weight is not None and len(weight.dims) != 1):
        raise refuse("scipy.optimize.curve_fit of data with several axes, or with covariances, "
                     "cannot be captured", "Use scipy.optimize.least_squares of the residuals",
                     "TJ206")

    def model(p: Tracer) -> Any:
        return call_function(f, (xdata, *(p[k] for k in range(count))), {})

    def residual(p: Tracer) -> Any:
        away = model(p) - y
        return away if weight is None else away / weight

    run = block_of(model, start, (), _SQUARES, _vector)
    block = block_of(residual, start, (), _SQUARES, _vector)
    settings = {"sigma": weight, "absolute_sigma": absolute_sigma, "method": method, **kwargs}
    settings |= {} if check_finite is None else {"check_finite": check_finite}
    settings |= {} if ends is None else {"bounds": ends.as_setting()}
    x, _ = searched("curve_fit", [run], [start, cast(y, REAL)], settings, "array", start.dims)
    found = _between(ends, _squares(block), x, _NEAR)
    return found, _covariances(block, found, count, bool(absolute_sigma))


def _covariances(block: Block, x: Tracer, count: int, is_absolute: bool) -> Any:
    """Return the covariances of parameters, by the Jacobian of the residuals."""
    (own,) = closed([block])
    atoms = [atom_of(x), *own.given]
    place = apply("iota", size=count)
    columns = [pushed_forward(own.block, atoms, [0], [atom_of(cast(place == k, REAL))])
               for k in range(count)]
    jacobian: Any = np.stack(columns, axis=1)
    found: Any = np.linalg.inv(jacobian.T @ jacobian)
    if is_absolute:
        return found
    r: Any = value_of(inline_region(own.block, atoms)[0])
    left: Any = np.sum(np.ones_like(r)) - count
    return found * np.where(left > 0, np.sum(r * r) / np.where(left > 0, left, 1.0), np.inf)


_CAPTURES: dict[str, Callable[..., Any]] = {
    "root": root, "fsolve": fsolve, "toms748": toms748, "minimize_scalar": minimize_scalar,
    "minimize": minimize, "least_squares": least_squares, "curve_fit": curve_fit}
scipy_captures("scipy.optimize", {
    name: calling_back(capture) for name, capture in _CAPTURES.items()})
