"""Numbers that leave the tool

`float(x)`, `math.sin(x)`, `np.array([x])`: a conversion that succeeds takes a number out of what is
recorded, and the gradient loses a term. PyTorch documents that `item` and `float` do so.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.gauntlet.lazily import ca, jax, jnp, pt, torch
from benchmarks.gauntlet.program import Between, Raises, program


def float_of_a_number(x):
    return float(x) * x


def item_of_an_array(x):
    y = x[1] * 2.0
    return y.item() * x[0]


def function_of_math(x):
    return x * math.sin(x)


def array_of_numbers(x):
    y = np.array([x, x * x, 3.0])
    return np.sum(y * y) + x


def torch_array_of_numbers(x):
    y = torch.tensor([x, x * x, 3.0], dtype=torch.float64)
    return torch.sum(y * y) + x


def pytensor_array_of_numbers(x):
    y = pt.stack([x, x * x, 3.0])
    return pt.sum(y * y) + x


def casadi_array_of_numbers(x):
    return ca.sumsqr(ca.vertcat(x, x * x, 3.0)) + x


def asks_for_its_type(x):
    if isinstance(x, np.ndarray):
        return np.sum(x * x)
    return 10.0 * np.sum(x)


def jax_asks_for_its_type(x):
    if isinstance(x, jax.Array):
        return jnp.sum(x * x)
    return 10.0 * jnp.sum(x)


def torch_asks_for_its_type(x):
    if isinstance(x, torch.Tensor):
        return torch.sum(x * x)
    return 10.0 * torch.sum(x)


def asks_whether_float(x):
    if isinstance(x, float):
        return x * x
    return 10.0 * x


def int_as_an_index(t):
    return WEIGHTS[int(t)] * t


WEIGHTS = np.array([1.0, 10.0, 100.0])


def torch_int_as_an_index(t):
    return torch.tensor(WEIGHTS)[int(t)] * t


def jax_int_as_an_index(t):
    return jnp.asarray(WEIGHTS)[t.astype(int)] * t


def pytensor_int_as_an_index(t):
    return pt.as_tensor(WEIGHTS)[t.astype("int64")] * t


def int_of_a_number(x):
    return int(x) * x


def no_error_at_a_good_number(x):
    if x < 0.0:
        raise ValueError("negative")
    return np.sqrt(x)


def error_at_a_bad_number(x):
    if x < 0.0:
        raise ValueError("negative")
    return np.sqrt(x)


def division_that_is_caught(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 5.0 * x


def number_as_text(x):
    return x * len(f"{x:.3f}")


def maximum_of_python(x):
    return max(x[0], x[1]) * min(x)


def jax_maximum_of_python(x):
    return jnp.maximum(x[0], x[1]) * jnp.min(x)


def pytensor_maximum_of_python(x):
    return pt.maximum(x[0], x[1]) * pt.min(x)


def casadi_maximum_of_python(x):
    return ca.fmax(x[0], x[1]) * ca.mmin(x)


NO_NUMBER = "what is symbolic has no number"

PROGRAMS = [
    program("`float(x) * x`", float_of_a_number, 1.5, PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`int(x) * x`", int_of_a_number, 2.5, PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`(2 * x[1]).item() * x[0]`", item_of_an_array, np.array([1.5, 2.0]),
            PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`x * math.sin(x)`", function_of_math, 1.5),
    program("`np.array([x, x * x, 3])`, squares, plus x", array_of_numbers, 1.5,
            PyTorch=torch_array_of_numbers, PyTensor=pytensor_array_of_numbers,
            CasADi=casadi_array_of_numbers),
    program("`isinstance(x, np.ndarray)` chooses a formula", asks_for_its_type,
            np.array([1.5, 2.0]), JAX=jax_asks_for_its_type, PyTorch=torch_asks_for_its_type,
            PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`isinstance(x, float)` chooses a formula", asks_whether_float, 1.5,
            PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`W[int(t)] * t`", int_as_an_index, 1.5, JAX=jax_int_as_an_index,
            PyTorch=torch_int_as_an_index, PyTensor=pytensor_int_as_an_index,
            CasADi="no index that is data"),
    program("`max(x[0], x[1]) * min(x)`, Python's", maximum_of_python, np.array([1.5, 2.0]),
            JAX=jax_maximum_of_python, PyTensor=pytensor_maximum_of_python,
            CasADi=casadi_maximum_of_python),
    program("`raise ValueError` for x < 0, at 4", no_error_at_a_good_number, 4.0,
            PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("the same at -4", error_at_a_bad_number, -4.0, right=Raises(ValueError, "negative"),
            PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`1 / x` at 0.0 with `except ZeroDivisionError`", division_that_is_caught, 0.0,
            right=Between(5.0, 5.0), PyTensor=NO_NUMBER, CasADi=NO_NUMBER),
    program("`x * len(f\"{x:.3f}\")`", number_as_text, 12.5, PyTensor=NO_NUMBER,
            CasADi=NO_NUMBER),
]
