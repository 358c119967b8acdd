"""Indices

NumPy raises where an index is out of bounds, wraps negative ones, and lets the last of several
writes to one element win. Where hardware decides, reads are clamped, and writes dropped or added.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import ca, jnp, pt, torch
from benchmarks.gauntlet.program import Raises, program

X = np.array([1.0, 2.0, 4.0])
OUT = Raises(IndexError, "out of bounds")
TWICE = np.array([0, 0, 1])
WEIGHTS = np.array([1.0, 10.0, 100.0])


def read_out_of_bounds(x, i):
    return x[i] ** 2


def jax_write_out_of_bounds(x, i):
    y = jnp.zeros(3)
    y = y.at[i].set(x[0])
    return jnp.sum(y)


def write_out_of_bounds(x, i):
    y = np.zeros(3)
    y[i] = x[0]
    return np.sum(y)


def torch_write_out_of_bounds(x, i):
    y = torch.zeros(3, dtype=torch.float64)
    y[i] = x[0]
    return torch.sum(y)


def pytensor_write_out_of_bounds(x, i):
    y = pt.set_subtensor(pt.zeros(3)[i], x[0])
    return pt.sum(y)


def casadi_write_out_of_bounds(x, i):
    y = ca.SX.zeros(3)
    y[i] = x[0]
    return ca.sum1(y)


def gather_out_of_bounds(x, where):
    return np.sum(x[where] ** 2)


def jax_gather_out_of_bounds(x, where):
    return jnp.sum(x[where] ** 2)


def torch_gather_out_of_bounds(x, where):
    return torch.sum(x[torch.as_tensor(where)] ** 2)


def casadi_gather_out_of_bounds(x, where):
    return ca.sumsqr(x[where.tolist()])


def negative_index(x, i):
    return x[i] * x[-1]


def read_twice(x, where):
    return np.sum(x[where] * WEIGHTS)


def torch_read_twice(x, where):
    return torch.sum(x[where] * torch.tensor(WEIGHTS))


def casadi_read_twice(x, where):
    return ca.dot(x[where.tolist()], WEIGHTS)


def written_twice(x, where):
    y = np.zeros(2)
    y[where] = x
    return np.sum(y)


def jax_written_twice(x, where):
    y = jnp.zeros(2)
    y = y.at[where].set(x)
    return jnp.sum(y)


def torch_written_twice(x, where):
    y = torch.zeros(2, dtype=torch.float64)
    y[torch.as_tensor(where)] = x
    return torch.sum(y)


def pytensor_written_twice(x, where):
    y = pt.set_subtensor(pt.zeros(2)[where], x)
    return pt.sum(y)


def casadi_written_twice(x, where):
    y = ca.SX.zeros(2)
    y[where.tolist()] = x
    return ca.sum1(y)


def added_twice_by_ufunc(x, where):
    y = np.zeros(2)
    np.add.at(y, where, x)
    return np.sum(y * y)


def jax_added_twice_by_ufunc(x, where):
    y = jnp.zeros(2)
    y = y.at[where].add(x)
    return jnp.sum(y * y)


def torch_added_twice_by_ufunc(x, where):
    y = torch.zeros(2, dtype=torch.float64)
    y = y.index_add(0, torch.as_tensor(where), x)
    return torch.sum(y * y)


def pytensor_added_twice_by_ufunc(x, where):
    y = pt.inc_subtensor(pt.zeros(2)[where], x)
    return pt.sum(y * y)


def casadi_added_twice_by_ufunc(x, where):
    y = ca.SX.zeros(2)
    for k, i in enumerate(where.tolist()):
        y[i] += x[k]
    return ca.sumsqr(y)


NO_WRITES = "arrays of autograd take no writes"

PROGRAMS = [
    program("`x[5]` of three elements, the index an argument", read_out_of_bounds, X, 5, right=OUT,
            cites=("jax-ml/jax#4383",)),
    program("`y[5] = x[0]` of three elements", write_out_of_bounds, X, 5,
            right=OUT, JAX=jax_write_out_of_bounds, autograd=NO_WRITES,
            PyTorch=torch_write_out_of_bounds, PyTensor=pytensor_write_out_of_bounds,
            CasADi=casadi_write_out_of_bounds),
    program("`x[[0, 7]]` of three elements", gather_out_of_bounds, X, np.array([0, 7]),
            right=OUT, cites=("jax-ml/jax#278",), JAX=jax_gather_out_of_bounds,
            PyTorch=torch_gather_out_of_bounds, CasADi=casadi_gather_out_of_bounds),
    program("`x[i] * x[-1]` with i = -2", negative_index, X, -2),
    program("a weighted sum of `x[[0, 0, 1]]`", read_twice, X, TWICE, PyTorch=torch_read_twice,
            CasADi=casadi_read_twice, cites=("pytorch/pytorch#1528",)),
    program("`y[[0, 0, 1]] = x`: the last write wins", written_twice, X, TWICE,
            JAX=jax_written_twice, PyTorch=torch_written_twice, autograd=NO_WRITES,
            PyTensor=pytensor_written_twice, CasADi=casadi_written_twice,
            cites=("pytorch/pytorch#146299",)),
    program("`np.add.at(y, [0, 0, 1], x)`", added_twice_by_ufunc, X, TWICE,
            JAX=jax_added_twice_by_ufunc, PyTorch=torch_added_twice_by_ufunc,
            autograd=NO_WRITES, PyTensor=pytensor_added_twice_by_ufunc,
            CasADi=casadi_added_twice_by_ufunc),
]
