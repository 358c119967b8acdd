"""Fitting a model by its compiled gradient, and what that gradient costs and is worth.

The three examples call `minimise`; `python -m examples` prints what `measure` finds.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import approx_fprime, minimize

import tracejit

__all__ = ["Fit", "gradient_error", "measure", "minimise", "r_squared"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model.

    loss        -- what was minimised, as a function of the parameters and `data`
    start       -- the parameters at which the search began
    objective   -- the compiled function of the same arguments that returns loss and gradient
    first_call  -- seconds that the first call of `objective` took, compilation included
    parameters  -- the parameters at the minimum
    value       -- the loss there
    evaluations -- how many times the search called `objective`
    quality     -- measures of how well the model describes its data, by name
    """

    loss: Callable[..., Any]
    start: Array
    data: tuple[Array, ...]
    objective: Any
    first_call: float
    parameters: Array
    value: float
    evaluations: int
    quality: dict[str, float] = field(default_factory=dict)


def minimise(loss: Callable[..., Any], start: Array, *data: Array) -> Fit:
    """Minimise `loss(parameters, *data)` over the parameters, from `start`, by L-BFGS-B.

    Raises `RuntimeError` where the search does not converge.
    """
    objective = tracejit.value_and_grad(loss)
    begin = perf_counter()
    objective(start, *data)
    first_call = perf_counter() - begin
    found = minimize(objective, start, args=data, jac=True, method="L-BFGS-B",
                     options={"maxiter": 1000})
    if not found.success:
        raise RuntimeError(f"no minimum found: {found.message}")
    return Fit(loss, start, data, objective, first_call, found.x, float(found.fun), found.nfev)


def gradient_error(fit: Fit) -> float:
    """Return how far the compiled gradient is from central differences at the start of the search.

    It is the largest difference as a fraction of the largest element. The step is the cube root of
    the machine epsilon, where the errors of truncation and rounding are about equal.
    """
    gradient = fit.objective(fit.start, *fit.data)[1]
    step = np.cbrt(np.finfo(float).eps)
    slopes = [(fit.loss(fit.start + h, *fit.data) - fit.loss(fit.start - h, *fit.data)) / (2 * step)
              for h in step * np.eye(fit.start.size)]
    return float(np.max(np.abs(gradient - slopes)) / np.max(np.abs(slopes)))


def r_squared(actual: Array, predicted: Array) -> float:
    """Return the fraction of the variance of `actual` that `predicted` explains."""
    return float(1 - np.sum((actual - predicted) ** 2) / np.sum((actual - np.mean(actual)) ** 2))


def measure(fit: Fit) -> dict[str, float]:
    """Return the seconds of the first call, of later ones, and of SciPy's finite differences."""

    def by_differences() -> None:
        fit.loss(fit.start, *fit.data)
        approx_fprime(fit.start, fit.loss, np.sqrt(np.finfo(float).eps), *fit.data)

    return {"first call": fit.first_call,
            "compiled": _seconds(lambda: fit.objective(fit.start, *fit.data)),
            "differences": _seconds(by_differences)}


def _seconds(call: Callable[[], object]) -> float:
    """Return the time of a call, the best of five runs of about a tenth of a second each."""
    number = max(1, int(0.1 / timeit.timeit(call, number=1)))
    return min(timeit.repeat(call, number=number, repeat=5)) / number
