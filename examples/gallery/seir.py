"""An epidemic with a lockdown: fitting a SEIR model to counts of new cases.

Susceptible people become exposed, infectious and recovered: S' = -bSI/N, E' = bSI/N - aE, I' = aE
- cI (Anderson and May, "Infectious diseases of humans", 1991, chapter 6). b falls from one level
to another where contacts were restricted, along a logistic curve. Daily counts are
Poisson-distributed.

State is four Python floats in a loop, and `math` and `np` may be mixed. The inverse of the Hessian
at the optimum, by forward over reverse mode, gives standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Epidemiology"
PEOPLE = 1e6
HIDDEN = np.array([0.55, 0.12, 40.0, 0.2, 0.15, 30.0])
NAMES = ("contact before", "contact after", "day", "1 / latent", "1 / infectious", "first cases")


def new_cases(parameters: np.ndarray, days: int) -> np.ndarray:
    """Return the expected new cases of each day; ten steps of Heun's method a day."""
    before, after, day, a, c, first = parameters
    S, E, I = PEOPLE - first, 0.0, first
    h = 0.1
    expected = np.zeros(days)
    for t in range(days):
        for k in range(10):
            b = after + (before - after) / (1.0 + math.exp(t + h * k - day))
            dS, dE, dI = -b * S * I / PEOPLE, b * S * I / PEOPLE - a * E, a * E - c * I
            S1, E1, I1 = S + h * dS, E + h * dE, I + h * dI
            S += h / 2 * (dS - b * S1 * I1 / PEOPLE)
            I += h / 2 * (dI + a * E1 - c * I1)
            expected[t] += h / 2 * a * (E + E1)
            E += h / 2 * (dE + b * S1 * I1 / PEOPLE - a * E1)
    return expected


def minus_log_likelihood(scaled: np.ndarray, counts: np.ndarray) -> float:
    """Return it, less a constant; `scaled` are the logs of the parameters."""
    expected = new_cases(np.exp(scaled), len(counts))
    return np.sum(expected - counts * np.log(expected))


def problem(days: int = 120) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a first guess and counts that a known epidemic gave."""
    counts = np.random.default_rng(0).poisson(new_cases(HIDDEN, days)).astype(float)
    return minus_log_likelihood, (np.log([0.4, 0.2, 50.0, 0.25, 0.2, 10.0]), counts)


def main(days: int = 120) -> dict[str, Any]:
    """Fit the model, with standard errors."""
    loss, (start, counts) = problem(days)
    found = minimize(tracejit.value_and_grad(loss), start, counts, jac=True, method="BFGS",
                     options={"gtol": 1e-2})
    information = tracejit.hessian(loss)(found.x, counts)
    parameters = np.exp(found.x)
    errors = parameters * np.sqrt(np.diag(np.linalg.inv(information)))
    for name, value, error, truth in zip(NAMES, parameters, errors, HIDDEN):
        print(f"{name:15} {value:8.4f} ± {error:.4f}, was {truth:g}")
    return {"parameters": parameters, "errors": errors, "counts": counts,
            "expected": new_cases(parameters, days)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw counts and the fit."""
    axes.plot(result["counts"], ".", markersize=3, label="counted")
    axes.plot(result["expected"], label="model")
    axes.axvline(result["parameters"][2], linestyle=":", color="C2", label="restrictions")
    axes.set(xlabel="day", ylabel="new cases")
    axes.legend()
