"""The level of the Nile: variances of a local level model by the Kalman filter.

The yearly flow at Aswan, 1871 to 1970, is a level that wanders, plus noise. The filter gives the
likelihood; it is largest at variances of 15099 for the noise and 1469.1 for the steps of the
level: Durbin and Koopman, "Time series analysis by state space methods" (2012), sections 2.2 and
2.10.

The likelihood is a loop of scalars. `grad` of it costs about 2 µs; with the Hessian, also
compiled, SciPy's Newton method converges in a dozen steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Statistics"
FLOW = np.array([
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845,
    864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649,
    846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815,
    1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740], float)


def filtered(log_variances: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log-likelihood given the first year, and means and variances of the level."""
    noise, step = np.exp(log_variances[0]), np.exp(log_variances[1])
    means, variances = np.empty(len(y)), np.empty(len(y))
    level, P = y[0], noise
    means[0], variances[0] = level, P
    total = -0.5 * (len(y) - 1) * np.log(2 * np.pi)
    for t in range(1, len(y)):
        P = P + step
        F = P + noise
        v = y[t] - level
        total -= 0.5 * (np.log(F) + v ** 2 / F)
        level += P / F * v
        P *= noise / F
        means[t], variances[t] = level, P
    return total, means, variances


def minus_log_likelihood(log_variances: np.ndarray, y: np.ndarray) -> float:
    """Return what is minimised."""
    return -filtered(log_variances, y)[0]


def problem() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: logs of the variances, and the flow."""
    return minus_log_likelihood, (np.log([1e4, 1e4]), FLOW)


def main() -> dict[str, Any]:
    """Estimate the variances."""
    loss, (start, y) = problem()
    found = minimize(tracejit.value_and_grad(loss), start, (y,), jac=True,
                     hess=tracejit.hessian(loss), method="trust-exact", options={"gtol": 1e-8})
    noise, step = np.exp(found.x)
    print(f"variances {noise:.0f} and {step:.1f} after {found.nit} steps; "
          f"log-likelihood {-found.fun:.3f}")
    _, means, variances = filtered(found.x, y)
    return {"noise": noise, "step": step, "means": means, "variances": variances}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw flow and level."""
    years = np.arange(1871, 1971)
    spread = 1.645 * np.sqrt(result["variances"])
    axes.plot(years, FLOW, ".", markersize=4, label="flow")
    axes.plot(years, result["means"], label="level")
    axes.plot(years, result["means"] - spread, ":", color="C1", linewidth=1)
    axes.plot(years, result["means"] + spread, ":", color="C1", linewidth=1, label="90 %")
    axes.set(xlabel="year", ylabel="10⁸ m³")
    axes.legend()
