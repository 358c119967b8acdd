"""Programs whose pruned equations and residuals are known by hand, for the tests of reports.

Lines count from the `def`; formulas are in the sizes of the program's specs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tracejit

__all__ = ["REPORTED", "Expected"]

OVERWRITTEN = "the loop overwrites it"
CHEAPER = "storing it costs less than computing it again"
UNREACHED = "not reached from any x"
UNUSED = "does not reach any y"


def no_gradient(op: str) -> str:
    return f"no_gradient: {op} is not differentiable"


@dataclass(frozen=True)
class Expected:
    """A program and the expected notes on its gradient.

    pruned -- (op, line, why there is no backward part), in any order
    stored -- (the value, line, bytes, whether in a Log, why), in any order
    """

    fn: Callable[..., Any]
    specs: tuple[str, ...]
    pruned: tuple[tuple[str, int, str], ...] = ()
    stored: tuple[tuple[str, int, str, bool, str], ...] = ()


def elementwise(x, a):
    return np.sum(np.sin(x) * a)


def masked(x):
    big = x > 1.0
    return np.sum(np.where(big, x * x, 3.0))


def stopped(x):
    weight = tracejit.stop_gradient(np.exp(x))
    return np.sum(weight * x)


def counted(x):
    s = 1.0
    for i in range(len(x)):
        s = s * x[i]
    return s


def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


def branch(x):
    if np.sum(x) > 0.0:
        y = np.exp(x)
    else:
        y = x * x
    return np.sum(y)


def mean(x):
    return np.mean(x ** 2)


def summing(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * 2.0
    return total


def picked(x):
    k = np.argmax(x)
    unused = np.cos(x)  # noqa: F841
    return x[k] * 2.0


def checked(x):
    assert np.all(x > 0.0), "x is positive"
    return np.sum(np.log(x))


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def rows(A):
    total = 0.0
    for i in range(A.shape[0]):
        p = 1.0
        for j in range(A.shape[1]):
            p = p * A[i, j]
        total = total + p
    return total


def recurrent(W, x):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h = np.tanh(W @ h + x[t])
    return np.sum(h)


REPORTED = [
    Expected(elementwise, ("f64[n]", "float")),
    Expected(masked, ("f64[n]",), (("greater", 1, no_gradient("greater")),)),
    Expected(stopped, ("f64[n]",), (("stop_gradient", 1, "stop_gradient"), ("exp", 1, UNUSED))),
    # the derivative of s * x[i] by x[i] is what s was; x[i] is read again
    Expected(counted, ("f64[n]",), (), (("s", 2, "8*n", False, OVERWRITTEN),)),
    # nobody knows how often it runs: a Log; the condition is compared, not differentiated
    Expected(newton, ("float",), (("not_equal", 3, no_gradient("not_equal")),
                                  ("check", 3, "a check, not a value")),
             (("x", 2, "8", True, OVERWRITTEN),)),
    Expected(branch, ("f64[n]",), (("reduce_sum", 1, UNUSED),
                                   ("greater", 1, no_gradient("greater")))),
    Expected(mean, ("f64[n]",), (("size", 1, "integer or bool"), ("cast", 1, UNREACHED))),
    Expected(summing, ("f64[n]",)),
    Expected(picked, ("f64[n]",), (
        ("reshape", 1, UNUSED), ("argmax", 1, no_gradient("argmax")), ("cos", 2, UNUSED),
        ("wrap_index", 3, "a check, not a value"))),
    Expected(checked, ("f64[n]",), (
        ("greater", 1, no_gradient("greater")), ("reduce_and", 1, "integer or bool"),
        ("check", 1, "a check, not a value"))),
    Expected(heat, ("f64[n]", "int")),  # linear: its way back reads nothing of the way forward
    Expected(rows, ("f64[n, m]",), (), (("p", 4, "8*n*m", False, OVERWRITTEN),)),
    # W @ h needs h, and tanh its derivative 1 - tanh**2
    Expected(recurrent, ("f64[n, n]", "f64[k]"),
             (("full", 1, UNREACHED), ("index", 3, UNREACHED)),
             (("h", 2, "8*n*k", False, OVERWRITTEN), ("sub", 3, "8*n*k", False, CHEAPER))),
]
