"""A mixed model by maximum likelihood: laboratories that differ, and by how much.

Measurements y_ij = m + b_i + e_ij of sample j in laboratory i, with variances s² of b and t² of e.
The likelihood of each laboratory is that of a normal vector with covariance t² I + s² 11' (Laird
and Ware, Biometrics 38, 1982). Where all laboratories have as many samples the maximum is known: m
is the mean, t² the mean square within, t² + n s² the sum of squares between over the number of
laboratories.

Measurements are one array, and `ends` says where each laboratory's are: a slice of another length
in each turn of a loop, and the factorisation of a matrix of that size. A list of arrays would do
as well, but a list's items are part of the program: thirty of them are thirty times the code to
compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

import tracejit

FIELD = "Statistics"


def minus_log_likelihood(theta: np.ndarray, y: np.ndarray, ends: np.ndarray) -> float:
    """Return it.

    theta -- the mean, and the logs of both standard deviations, between and within
    y     -- the measurements, laboratory after laboratory
    ends  -- where those of each begin, and the end of the last
    """
    mean, between, within = theta[0], np.exp(2 * theta[1]), np.exp(2 * theta[2])
    total = 0.0
    for i in range(len(ends) - 1):
        residual = y[ends[i]:ends[i + 1]] - mean
        n = len(residual)
        factor = cho_factor(within * np.eye(n) + between * np.ones((n, n)), lower=True)
        total += 0.5 * residual @ cho_solve(factor, residual)
        total += np.sum(np.log(np.diag(factor[0]))) + 0.5 * n * np.log(2 * np.pi)
    return total


def problem(laboratories: int = 30, samples: int = 8,
            missing: bool = True) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments; where some are missing laboratories differ in size."""
    rng = np.random.default_rng(2)
    groups = [5.0 + rng.normal(0.0, 0.8) + rng.normal(0.0, 0.5, samples)
              for _ in range(laboratories)]
    if missing:
        groups = [y[:rng.integers(2, samples + 1)] for y in groups]
    ends = np.cumsum([0, *map(len, groups)])
    return minus_log_likelihood, (np.array([4.0, 0.0, 0.0]), np.concatenate(groups), ends)


def fitted(start: np.ndarray, *data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimates and their standard errors, by the observed information."""
    found = minimize(tracejit.value_and_grad(minus_log_likelihood), start, data, jac=True,
                     method="BFGS", options={"gtol": 1e-8})
    information = tracejit.hessian(minus_log_likelihood)(found.x, *data)
    return found.x, np.sqrt(np.diag(np.linalg.inv(information)))


def main(laboratories: int = 30, samples: int = 8) -> dict[str, Any]:
    """Fit laboratories of equal sizes, where the answer is known, and of different ones."""
    _, arguments = problem(laboratories, samples, missing=False)
    balanced, _ = fitted(*arguments)
    y = arguments[1].reshape(laboratories, samples)
    within = np.sum((y - y.mean(axis=1)[:, None]) ** 2) / (laboratories * (samples - 1))
    between = (samples * np.sum((y.mean(axis=1) - y.mean()) ** 2) / laboratories - within) / samples
    known = np.array([y.mean(), 0.5 * np.log(between), 0.5 * np.log(within)])
    _, arguments = problem(laboratories, samples)
    theta, errors = fitted(*arguments)
    print(f"equal sizes: off by {np.abs(balanced - known).max():.1e} from the closed form")
    print(f"mean {theta[0]:.3f} ± {errors[0]:.3f}, between {np.exp(theta[1]):.3f}, "
          f"within {np.exp(theta[2]):.3f}")
    return {"balanced": balanced, "known": known, "theta": theta, "errors": errors,
            "groups": np.split(arguments[1], arguments[2][1:-1])}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw measurements by laboratory and the means that the model shrinks."""
    mean, between, within = result["theta"][0], *np.exp(2 * result["theta"][1:])
    for i, y in enumerate(sorted(result["groups"], key=np.mean)):
        shrunk = between / (between + within / len(y))
        axes.plot(np.full(len(y), i), y, ".", color="C7", markersize=3)
        axes.plot(i, mean + shrunk * (y.mean() - mean), "o", color="C0", markersize=4)
    axes.axhline(mean, color="C1", linewidth=1)
    axes.set(xlabel="laboratory", ylabel="measured, and predicted means")
