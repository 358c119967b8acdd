"""Loops whose length data decides

`while`, `break`, recursion. JAX's `while_loop` has no reverse mode and says so; PyTensor and CasADi
have loops of their own for lengths that are known, or none.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from benchmarks.gauntlet.lazily import ca, jax, jnp, pt, pytensor, torch
from benchmarks.gauntlet.program import program

NO_LOOP = "a graph has no loop that data ends"


def newton_until_converged(x):
    y = x
    while abs(y * y - x) > 1e-12:
        y = 0.5 * (y + x / y)
    return y


def jax_newton_until_converged(x):
    return jax.lax.while_loop(
        lambda y: jnp.abs(y * y - x) > 1e-12, lambda y: 0.5 * (y + x / y), x)


def stops_at_a_break(x):
    total = 0.0
    for k in range(1, 50):
        total = total + x ** k
        if total > 5.0:
            break
    return total


def skips_by_continue(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        total = total + x[i] ** 2
    return total


def jax_skips_by_continue(x):
    total = 0.0
    for i in range(len(x)):
        total = total + jnp.where(x[i] < 0.0, 0.0, x[i] ** 2)
    return total


def pytensor_skips_by_continue(x):
    return pt.sum(pt.switch(x < 0.0, 0.0, x ** 2))


def casadi_skips_by_continue(x):
    return ca.sum1(ca.if_else(x < 0.0, 0.0, x ** 2))


def trips_as_an_argument(x, n):
    y = x
    for _ in range(n):
        y = y * x
    return y


def no_trip_at_all(x, n):
    y = 3.0 * x
    for _ in range(n):
        y = y * x
    return y


def halves_by_recursion(x):
    if x < 1.0:
        return x * x
    return 3.0 * halves_by_recursion(0.5 * x)


def root_by_scipy(x):
    root = optimize.brentq(lambda y: y ** 3 + y - x, 0.0, 10.0)
    return root * root


def pytensor_root_by_scipy(x):
    y = pt.dscalar("y")
    root, _ = pt.optimize.root_scalar(y ** 3 + y - x, y, method="newton", jac=True)
    root = pytensor.graph.replace.graph_replace(root, {y: pt.constant(np.float64(1.0))})
    return root * root


def casadi_root_by_scipy(x):
    y, p = ca.MX.sym("y"), ca.MX.sym("p")
    solve = ca.rootfinder("solve", "newton", {"x": y, "p": p, "g": y ** 3 + y - p})
    return solve(1.0, x) ** 2


casadi_root_by_scipy.casadi = "MX"


def list_until_full(x):
    values = [x]
    while sum(values) < 10.0:
        values.append(values[-1] * x)
    return values[-1]


def torch_list_until_full(x):
    values = [x]
    while torch.stack(values).sum() < 10.0:
        values.append(values[-1] * x)
    return values[-1]


def slope_of_the_squared_root() -> float:
    """Return 2 y / (3 y² + 1), the derivative by the implicit function theorem, at x = 2."""
    y = optimize.brentq(lambda y: y ** 3 + y - 2.0, 0.0, 10.0, xtol=1e-15)
    return 2.0 * y / (3.0 * y * y + 1.0)


PROGRAMS = [
    program("Newton's square root, `while` it is not converged", newton_until_converged, 3.0,
            right=0.5 / np.sqrt(3.0), JAX=jax_newton_until_converged,
            cites=("jax-ml/jax#2469",), PyTensor=NO_LOOP, CasADi=NO_LOOP),
    program("a sum of powers that a `break` ends", stops_at_a_break, 1.2, PyTensor=NO_LOOP,
            CasADi=NO_LOOP),
    program("`continue` for negative elements", skips_by_continue, np.array([1.0, -2.0, 3.0]),
            JAX=jax_skips_by_continue, PyTensor=pytensor_skips_by_continue,
            CasADi=casadi_skips_by_continue),
    program("`for _ in range(n)` with n = 3 as an argument", trips_as_an_argument, 1.5, 3,
            static=(1,)),
    program("the same with n = 0", no_trip_at_all, 1.5, 0, static=(1,)),
    program("recursion until x < 1", halves_by_recursion, 5.0,
            right=9.0 ** 1.5 * 2.0 * 5.0 / 64.0, PyTensor=NO_LOOP, CasADi=NO_LOOP),
    program("a list that grows until its sum is 10", list_until_full, 1.5,
            PyTorch=torch_list_until_full, PyTensor=NO_LOOP, CasADi=NO_LOOP),
    program("y² for the root y of y³ + y = x that `scipy.optimize.brentq` finds", root_by_scipy,
            2.0, right=slope_of_the_squared_root(), PyTensor=pytensor_root_by_scipy,
            CasADi=casadi_root_by_scipy),
]
