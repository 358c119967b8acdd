"""Branches and masks

A Python `if` sees a traced number; `where` computes both sides, and the side that nobody selected
sends back 0 times infinity, which is NaN.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import ca, jax, jnp, pt, torch
from benchmarks.gauntlet.program import program

X = np.array([-1.0, 0.25, 4.0])


def if_on_data(x):
    if x > 1.0:
        return x * x
    return 3.0 * x


def jax_if_on_data(x):
    return jax.lax.cond(x > 1.0, lambda x: x * x, lambda x: 3.0 * x, x)


def pytensor_if_on_data(x):
    return pt.switch(x > 1.0, x * x, 3.0 * x)


def casadi_if_on_data(x):
    return ca.if_else(x > 1.0, x * x, 3.0 * x)


def root_in_the_dead_branch(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def casadi_root_in_the_dead_branch(x):
    return ca.sum1(ca.if_else(x > 0.0, ca.sqrt(x), 0.0))


def quotient_in_the_dead_branch(x):
    return np.where(x == 0.0, 1.0, np.sin(x) / x)


def torch_quotient_in_the_dead_branch(x):
    return torch.where(x == 0.0, 1.0, torch.sin(x) / x)


def pytensor_quotient_in_the_dead_branch(x):
    return pt.switch(pt.eq(x, 0.0), 1.0, pt.sin(x) / x)


def casadi_quotient_in_the_dead_branch(x):
    return ca.if_else(x == 0.0, 1.0, ca.sin(x) / x)


def overflow_in_the_dead_branch(x):
    return np.where(x > 30.0, x, np.log(1.0 + np.exp(x)))


def casadi_overflow_in_the_dead_branch(x):
    return ca.if_else(x > 30.0, x, ca.log(1.0 + ca.exp(x)))


def logarithms_of_a_mask(x):
    return np.sum(np.log(x[x > 0.0]))


def jax_logarithms_of_a_mask(x):
    return jnp.sum(jnp.where(x > 0.0, jnp.log(x), 0.0))


def pytensor_logarithms_of_a_mask(x):
    return pt.sum(pt.log(x[(x > 0.0).nonzero()]))


def chained_comparison(x):
    if 0.0 < x < 1.0:
        return x * x
    return 1.0 - x


def jax_chained_comparison(x):
    return jnp.where((x > 0.0) & (x < 1.0), x * x, 1.0 - x)


def pytensor_chained_comparison(x):
    return pt.switch((x > 0.0) & (x < 1.0), x * x, 1.0 - x)


def casadi_chained_comparison(x):
    return ca.if_else(ca.logic_and(x > 0.0, x < 1.0), x * x, 1.0 - x)


def none_as_a_default(x, scale=None):
    if scale is None:
        scale = 3.0
    return scale * x * x


def special_case_at_a_point(x):
    if x == 0.0:
        return 0.0 * x
    return np.sin(x)


def jax_special_case_at_a_point(x):
    return jnp.where(x == 0.0, 0.0, jnp.sin(x))


def pytensor_special_case_at_a_point(x):
    return pt.switch(pt.eq(x, 0.0), 0.0, pt.sin(x))


def torch_special_case_at_a_point(x):
    if x == 0.0:
        return 0.0 * x
    return torch.sin(x)


def casadi_special_case_at_a_point(x):
    return ca.if_else(x == 0.0, 0.0, ca.sin(x))


PROGRAMS = [
    program("`if x > 1`", if_on_data, 2.0, JAX=jax_if_on_data, PyTensor=pytensor_if_on_data,
            CasADi=casadi_if_on_data),
    program("`if 0 < x < 1`", chained_comparison, 2.0, JAX=jax_chained_comparison,
            PyTensor=pytensor_chained_comparison, CasADi=casadi_chained_comparison),
    program("`0 if x == 0 else sin(x)` at 0: the side that runs is flat", special_case_at_a_point,
            0.0, right=1.0, JAX=jax_special_case_at_a_point,
            PyTorch=torch_special_case_at_a_point, PyTensor=pytensor_special_case_at_a_point,
            CasADi=casadi_special_case_at_a_point),
    program("`where(x > 0, sqrt(x), 0)` below 0", root_in_the_dead_branch, X,
            cites=("jax-ml/jax#347", "jax-ml/jax#1052", "casadi/casadi#1878",
                   "HIPS/autograd#396"),
            CasADi=casadi_root_in_the_dead_branch),
    program("`where(x == 0, 1, sin(x) / x)` at 0", quotient_in_the_dead_branch, 0.0, right=0.0,
            cites=("Theano/Theano#5333",), PyTorch=torch_quotient_in_the_dead_branch,
            PyTensor=pytensor_quotient_in_the_dead_branch,
            CasADi=casadi_quotient_in_the_dead_branch),
    program("`where(x > 30, x, log(1 + exp(x)))` at 1000", overflow_in_the_dead_branch, 1000.0,
            cites=("tensorflow/tensorflow#38349",), CasADi=casadi_overflow_in_the_dead_branch),
    program("a sum over `x[x > 0]`", logarithms_of_a_mask, X, JAX=jax_logarithms_of_a_mask,
            PyTensor=pytensor_logarithms_of_a_mask,
            CasADi="no arrays of a length that data decides"),
    program("`scale=None` as a default", none_as_a_default, 2.0),
]
