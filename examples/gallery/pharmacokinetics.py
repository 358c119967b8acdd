"""A drug in the body: doses, two compartments, and a patient's parameters.

Tablets dissolve into the blood, from which the drug goes to tissue and back and is cleared:
Gibaldi and Perrier, "Pharmacokinetics" (1982), chapter 2. An injection and two doses come at their
times, between which `scipy.integrate.solve_ivp` integrates; concentrations are measured with an
error of three percent.

An adaptive solver of SciPy's is within a Python loop over doses. The gradient is that of its
steps, and the Hessian gives standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import tracejit

FIELD = "Biology"
HIDDEN = np.array([1.1, 0.25, 0.5, 0.3, 12.0])
NAMES = ("absorption 1/h", "clearance 1/h", "to tissue 1/h", "from tissue 1/h", "volume l")
DOSES = [(0.0, 250.0, "vein"), (8.0, 500.0, "tablet"), (18.0, 500.0, "tablet")]


def flow(t: float, amounts: np.ndarray, ka: float, ke: float, k12: float,
         k21: float) -> np.ndarray:
    """Return the change per hour of the amounts in gut, blood and tissue."""
    gut, blood, tissue = amounts
    return np.array([-ka * gut, ka * gut - (ke + k12) * blood + k21 * tissue,
                     k12 * blood - k21 * tissue])


def concentrations(parameters: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the concentration in the blood, at as many times after each dose: [doses, times]."""
    ka, ke, k12, k21, volume = parameters
    amounts = np.zeros(3)
    found = []
    for k, (start, dose, route) in enumerate(DOSES):
        end = DOSES[k + 1][0] if k + 1 < len(DOSES) else 30.0
        amounts[0 if route == "tablet" else 1] += dose
        points = np.append(start + times * (end - start), end)
        path = solve_ivp(flow, (start, end), amounts, t_eval=points, args=(ka, ke, k12, k21),
                         rtol=1e-8, atol=1e-8).y
        found.append(path[1, :-1] / volume)
        amounts = path[:, -1].copy()
    return np.array(found)


def misfit(log_parameters: np.ndarray, times: np.ndarray, seen: np.ndarray) -> float:
    """Return half the squared errors of logarithms, in units of three percent."""
    expected = concentrations(np.exp(log_parameters), times)
    return 0.5 * np.sum((np.log(expected / seen) / 0.03) ** 2)


def problem(samples: int = 10) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: textbook values, times after doses, and measurements."""
    times = np.geomspace(0.01, 0.95, samples)
    clean = concentrations(HIDDEN, times)
    seen = clean * np.exp(0.03 * np.random.default_rng(0).normal(size=clean.shape))
    return misfit, (np.log([0.7, 0.15, 0.3, 0.3, 20.0]), times, seen)


def main(samples: int = 10) -> dict[str, Any]:
    """Fit the patient's parameters."""
    loss, (start, times, seen) = problem(samples)
    found = minimize(tracejit.value_and_grad(loss), start, (times, seen), jac=True, method="BFGS",
                     options={"gtol": 1e-4})
    information = tracejit.hessian(loss)(found.x, times, seen)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    for name, value, error, truth in zip(NAMES, np.exp(found.x), errors, HIDDEN):
        print(f"{name:16} {value:7.3f} ± {100 * error:.0f} %, was {truth:g}")
    return {"parameters": found.x, "errors": errors, "times": times, "seen": seen,
            "value": found.fun}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw concentrations."""
    fine = np.linspace(0.0, 0.99, 60)
    curve = concentrations(np.exp(result["parameters"]), fine)
    ends = [start for start, _, _ in DOSES[1:]] + [30.0]
    for k, ((start, _, _), end) in enumerate(zip(DOSES, ends)):
        axes.plot(start + fine * (end - start), curve[k], color="C0")
        axes.plot(start + result["times"] * (end - start), result["seen"][k], "o", color="C1",
                  markersize=4)
    axes.set(xlabel="hours", ylabel="mg/l, measured and fitted")
