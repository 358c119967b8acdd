"""Kinks where the derivative exists

`abs`, `sqrt`, `norm` and `max` have points without a derivative. In these programs the function as
a whole has one there all the same, and it is that which is asked for.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import ca, jnp, pt, torch
from benchmarks.gauntlet.program import Between, program

WEIGHTS = np.array([1.0, 2.0, 3.0])


def absolute_value(x):
    return np.abs(x)


def number_by_its_absolute_value(x):
    return x * np.abs(x)


def norm_squared(x):
    return np.linalg.norm(x) ** 2


def pytensor_norm_squared(x):
    return pt.linalg.norm(x) ** 2


def casadi_norm_squared(x):
    return ca.norm_2(x) ** 2


def norm_at_zero(x):
    return np.linalg.norm(x)


def casadi_norm_at_zero(x):
    return ca.norm_2(x)


def pairwise_distances(x):
    apart = x[:, None] - x[None, :]
    return np.sum(np.abs(apart))


def casadi_pairwise_distances(x):
    return sum(ca.fabs(x[i] - x[j]) for i in range(3) for j in range(3))


def root_of_a_square_squared(x):
    return np.sqrt(x * x + 0.0) ** 2


def maximum_of_itself(x):
    return np.maximum(x, x) ** 2


def casadi_maximum_of_itself(x):
    return ca.fmax(x, x) ** 2


def largest_of_equals(x):
    return np.max(x * np.ones(3))


def jax_largest_of_equals(x):
    return jnp.max(x * jnp.ones(3))


def torch_largest_of_equals(x):
    return torch.max(x * torch.ones(3, dtype=torch.float64))


def casadi_largest_of_equals(x):
    return ca.mmax(x * ca.SX.ones(3))


def median_of_equals(x):
    return np.median(x * np.ones(4))


def torch_median_of_equals(x):
    return torch.median(x * torch.ones(4, dtype=torch.float64))


def sum_of_sorted_equals(x):
    return np.sum(np.sort(x * np.ones(3)) * WEIGHTS)


def torch_sum_of_sorted_equals(x):
    y = torch.sort(x * torch.ones(3, dtype=torch.float64)).values
    return torch.sum(y * torch.tensor(WEIGHTS))


def clipped_at_its_end(x):
    return np.clip(x, 0.0, 1.0)


def torch_clipped_at_its_end(x):
    return torch.clamp(x, 0.0, 1.0)


def casadi_clipped_at_its_end(x):
    return ca.fmin(ca.fmax(x, 0.0), 1.0)


def positive_less_negative_part(x):
    return np.maximum(x, 0.0) - np.maximum(-x, 0.0)


def torch_positive_less_negative_part(x):
    return torch.relu(x) - torch.relu(-x)


def casadi_positive_less_negative_part(x):
    return ca.fmax(x, 0.0) - ca.fmax(-x, 0.0)


def logistic_loss(z, y):
    return np.maximum(z, 0.0) - z * y + np.log1p(np.exp(-np.abs(z)))


def torch_logistic_loss(z, y):
    above = torch.maximum(z, torch.zeros_like(z))
    return above - z * y + torch.log1p(torch.exp(-torch.abs(z)))


def casadi_logistic_loss(z, y):
    return ca.fmax(z, 0.0) - z * y + ca.log1p(ca.exp(-ca.fabs(z)))


def payoff_and_its_opposite(x):
    return max(x, 0.0) - max(-x, 0.0)


def jax_payoff_and_its_opposite(x):
    return jnp.maximum(x, 0.0) - jnp.maximum(-x, 0.0)


def pytensor_payoff_and_its_opposite(x):
    return pt.maximum(x, 0.0) - pt.maximum(-x, 0.0)


def largest_less_largest(x):
    return np.max(np.array([x, 0.0])) - np.max(np.array([-x, 0.0]))


def torch_largest_less_largest(x):
    return torch.stack([x, 0.0 * x]).amax() - torch.stack([-x, 0.0 * x]).amax()


def pytensor_largest_less_largest(x):
    return pt.max(pt.stack([x, 0.0])) - pt.max(pt.stack([-x, 0.0]))


def casadi_largest_less_largest(x):
    return ca.mmax(ca.vertcat(x, 0.0)) - ca.mmax(ca.vertcat(-x, 0.0))


def spread_of_equals(x):
    return np.std(x) ** 2


def torch_spread_of_equals(x):
    return torch.std(x, unbiased=False) ** 2


def casadi_spread_of_equals(x):
    return ca.sqrt(ca.sumsqr(x - ca.sum1(x) / 3.0) / 3.0) ** 2


PROGRAMS = [
    program("|x| at 0: any slope of the kink", absolute_value, 0.0, right=Between(-1.0, 1.0),
            CasADi=lambda x: ca.fabs(x)),
    program("x |x| at 0", number_by_its_absolute_value, 0.0, right=0.0,
            CasADi=lambda x: x * ca.fabs(x)),
    program("‖x‖ at 0: any slope of the cone", norm_at_zero, np.zeros(2),
            cites=("jax-ml/jax#3058", "HIPS/autograd#151"),
            right=Between([-1.0, -1.0], [1.0, 1.0]), CasADi=casadi_norm_at_zero),
    program("‖x‖² at 0, by the norm", norm_squared, np.zeros(2), right=[0.0, 0.0],
            cites=("jax-ml/jax#21723", "HIPS/autograd#183"),
            PyTensor=pytensor_norm_squared, CasADi=casadi_norm_squared),
    program("(√(x²))² at 0", root_of_a_square_squared, 0.0, right=0.0),
    program("Σ |xᵢ - xⱼ| over all pairs, those with i = j too", pairwise_distances,
            np.array([1.0, 2.0, 4.0]), right=[-4.0, 0.0, 4.0], CasADi=casadi_pairwise_distances),
    program("std(x)² of equal numbers", spread_of_equals, np.ones(3), right=[0.0, 0.0, 0.0],
            PyTorch=torch_spread_of_equals, CasADi=casadi_spread_of_equals),
    program("max(x, x)²", maximum_of_itself, 1.5, CasADi=casadi_maximum_of_itself),
    program("the maximum of (x, x, x)", largest_of_equals, 2.0, JAX=jax_largest_of_equals,
            PyTorch=torch_largest_of_equals, CasADi=casadi_largest_of_equals),
    program("the median of (x, x, x, x)", median_of_equals, 2.0,
            PyTorch=torch_median_of_equals, autograd="no median",
            PyTensor="no median", CasADi="no median"),
    program("Σ k · sort((x, x, x))ₖ", sum_of_sorted_equals, 2.0,
            PyTorch=torch_sum_of_sorted_equals, CasADi="no sort of what is symbolic"),
    program("clip(x, 0, 1) at 1: any slope of the kink", clipped_at_its_end, 1.0,
            right=Between(0.0, 1.0), PyTorch=torch_clipped_at_its_end,
            CasADi=casadi_clipped_at_its_end),
    program("max(x, 0) - max(-x, 0) at 0, which is x", positive_less_negative_part, 0.0,
            right=1.0, PyTorch=torch_positive_less_negative_part,
            CasADi=casadi_positive_less_negative_part),
    program("the same by Python's `max`", payoff_and_its_opposite, 0.0, right=1.0,
            JAX=jax_payoff_and_its_opposite, PyTensor=pytensor_payoff_and_its_opposite,
            CasADi=casadi_positive_less_negative_part),
    program("the same by `np.max` of two elements", largest_less_largest, 0.0, right=1.0,
            PyTorch=torch_largest_less_largest, PyTensor=pytensor_largest_less_largest,
            CasADi=casadi_largest_less_largest),
    program("max(z, 0) - z y + log1p(exp(-|z|)) at z = 0, y = 0.8: a logistic loss",
            logistic_loss, 0.0, 0.8, right=-0.3, PyTorch=torch_logistic_loss,
            CasADi=casadi_logistic_loss),
]
