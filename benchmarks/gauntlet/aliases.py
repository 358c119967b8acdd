"""Writes in place, and the names that see them.

In NumPy a slice is a view, `y *= 2` changes the array that all its names share, and a value may be
overwritten before the way back needs it. Where arrays cannot be changed, `v *= 2` only gives `v`
another value, and the program goes on with the old `y`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import ca, jnp, pt, torch
from benchmarks.gauntlet.program import program

X = np.array([0.5, 1.5, 2.5])
NO_WRITES = "arrays of autograd take no writes"
COPIES = "what `reshape` gives is a copy by its definition"


def scaled_view(x):
    y = x * 1.0
    v = y[1:]
    v *= 3.0
    return np.sum(y * y)


def casadi_scaled_view(x):
    y = x * 1.0
    v = y[1:]
    v *= 3.0
    return ca.sum1(y * y)


def second_name(x):
    y = x * 1.0
    old = y
    y += 1.0
    return np.sum(old * y)


def casadi_second_name(x):
    y = x * 1.0
    old = y
    y += 1.0
    return ca.sum1(old * y)


def argument_changed(x):
    x += 1.0
    return np.sum(x ** 3)


def casadi_argument_changed(x):
    x += 1.0
    return ca.sum1(x ** 3)


def caller_sees(x):
    y = x * 1.0
    doubled(y)
    return np.sum(y * y)


def doubled(y):
    y *= 2.0


def casadi_caller_sees(x):
    y = x * 1.0
    doubled(y)
    return ca.sum1(y * y)


def written_through_reshape(x):
    y = x * 1.0
    flat = y.reshape(-1)
    flat[1] = 7.0
    return np.sum(y * y)


def overwritten_too_early(x):
    y = np.exp(x)
    z = y * y
    y[0] = 0.0
    return np.sum(z) + np.sum(y)


def jax_overwritten_too_early(x):
    y = jnp.exp(x)
    z = y * y
    y = y.at[0].set(0.0)
    return jnp.sum(z) + jnp.sum(y)


def pytensor_overwritten_too_early(x):
    y = pt.exp(x)
    z = y * y
    y = pt.set_subtensor(y[0], 0.0)
    return pt.sum(z) + pt.sum(y)


def casadi_overwritten_too_early(x):
    y = ca.exp(x)
    z = y * y
    y[0] = 0.0
    return ca.sum1(z) + ca.sum1(y)


def overlapping_halves(x):
    y = x * 1.0
    y[1:] += y[:-1]
    return np.sum(y ** 2)


def jax_overlapping_halves(x):
    y = x * 1.0
    y = y.at[1:].add(y[:-1])
    return jnp.sum(y ** 2)


def pytensor_overlapping_halves(x):
    y = x * 1.0
    y = pt.inc_subtensor(y[1:], y[:-1])
    return pt.sum(y ** 2)


def casadi_overlapping_halves(x):
    y = x * 1.0
    y[1:] += y[:-1]
    return ca.sum1(y ** 2)


def recurrence_in_place(x):
    y = x * 1.0
    for i in range(1, 3):
        y[i] = y[i] * y[i - 1]
    return y[2] + y[1]


def jax_recurrence_in_place(x):
    y = x * 1.0
    for i in range(1, 3):
        y = y.at[i].set(y[i] * y[i - 1])
    return y[2] + y[1]


def pytensor_recurrence_in_place(x):
    y = x * 1.0
    for i in range(1, 3):
        y = pt.set_subtensor(y[i], y[i] * y[i - 1])
    return y[2] + y[1]


def given_out(x):
    y = np.zeros(3)
    np.multiply(x, x, out=y)
    return np.sum(y) * x[0]


def torch_given_out(x):
    y = torch.zeros(3, dtype=torch.float64)
    torch.multiply(x, x, out=y)
    return torch.sum(y) * x[0]


def sorted_in_place(x):
    y = x * -1.0
    y.sort()
    return np.sum(y * y * np.arange(3.0))


def jax_sorted_in_place(x):
    y = x * -1.0
    y = jnp.sort(y)
    return jnp.sum(y * y * jnp.arange(3.0))


def torch_sorted_in_place(x):
    y = x * -1.0
    y, _ = torch.sort(y)
    return torch.sum(y * y * torch.arange(3.0, dtype=torch.float64))


def list_with_two_names(x):
    best = current = [x, 1.0]
    current[0] = 3.0 * x * x
    return best[0] * best[1]


PROGRAMS = [
    program("`v = y[1:]; v *= 3`, then a sum over y", scaled_view, X,
            CasADi=casadi_scaled_view),
    program("`old = y; y += 1`, then a product of both names", second_name, X,
            CasADi=casadi_second_name),
    program("`x += 1` of the argument, then its cubes", argument_changed, X,
            CasADi=casadi_argument_changed),
    program("a helper does `y *= 2`; its caller goes on with y", caller_sees, X,
            CasADi=casadi_caller_sees),
    program("a write through `y.reshape(-1)`", written_through_reshape, X,
            JAX=COPIES, autograd=NO_WRITES, PyTensor=COPIES,
            CasADi=COPIES),
    program("`z = y * y`, then `y[0] = 0`", overwritten_too_early, X,
            JAX=jax_overwritten_too_early, autograd=NO_WRITES,
            PyTensor=pytensor_overwritten_too_early, CasADi=casadi_overwritten_too_early),
    program("`y[1:] += y[:-1]`, which reads all before it writes", overlapping_halves, X,
            JAX=jax_overlapping_halves, autograd=NO_WRITES,
            PyTensor=pytensor_overlapping_halves, CasADi=casadi_overlapping_halves),
    program("`y[i] = y[i] * y[i - 1]` in a loop", recurrence_in_place, X,
            JAX=jax_recurrence_in_place, autograd=NO_WRITES,
            PyTensor=pytensor_recurrence_in_place, cites=("HIPS/autograd#177",)),
    program("`np.multiply(x, x, out=y)`, then y", given_out, X,
            JAX="functions have no `out=`", PyTorch=torch_given_out,
            PyTensor="functions have no `out=`", CasADi="functions have no `out=`"),
    program("`y.sort()` in place, then weights", sorted_in_place, X,
            JAX=jax_sorted_in_place, PyTorch=torch_sorted_in_place, autograd=NO_WRITES,
            PyTensor="no sort in place", CasADi="no sort of what is symbolic"),
    program("a list with two names is changed by one", list_with_two_names, 2.0),
]
