"""Infinities and cancellation

`logsumexp` with a term of minus infinity, sums of exponentials that overflow, and differences of
nearly equal numbers.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from benchmarks.gauntlet.lazily import ca, jnp, pt, torch
from benchmarks.gauntlet.program import program

MASK = np.array([True, False, True])
WITH_INFINITY = np.array([0.0, -np.inf, 1.0])


def logsumexp_of_minus_infinity(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def casadi_logsumexp_of_minus_infinity(x):
    return ca.logsumexp(x)


def softmax_weights() -> list[float]:
    """Return the gradient of logsumexp, in fifty digits."""
    with localcontext(prec=50):
        e = Decimal(1).exp()
        return [float(1 / (1 + e)), 0.0, float(e / (1 + e))]


def masked_by_minus_infinity(x):
    y = np.where(MASK, x, -np.inf)
    return np.logaddexp(np.logaddexp(y[0], y[1]), y[2])


def jax_masked_by_minus_infinity(x):
    y = jnp.where(MASK, x, -np.inf)
    return jnp.logaddexp(jnp.logaddexp(y[0], y[1]), y[2])


def pytensor_masked_by_minus_infinity(x):
    y = pt.where(MASK, x, -np.inf)
    return pt.logaddexp(pt.logaddexp(y[0], y[1]), y[2])


def torch_masked_by_minus_infinity(x):
    y = torch.where(torch.tensor(MASK), x, -np.inf)
    return torch.logaddexp(torch.logaddexp(y[0], y[1]), y[2])


def two_masked_numbers(x):
    return np.logaddexp(np.logaddexp(x * 0.0 - np.inf, x * 0.0 - np.inf), x)


def softplus_of_a_large_number(x):
    return np.logaddexp(0.0, x)


def torch_softplus_of_a_large_number(x):
    return torch.logaddexp(torch.zeros((), dtype=torch.float64), x)


def casadi_softplus_of_a_large_number(x):
    return ca.logsumexp(ca.vertcat(0.0, x))


def softplus_that_overflows(x):
    return np.log(1.0 + np.exp(x))


def small_growth(x):
    return np.log1p(np.expm1(x) * 1e20)


def exact_growth() -> float:
    """Return 1e20 eˣ / (1 + 1e20 (eˣ - 1)) at 1e-20, in fifty digits."""
    with localcontext(prec=50):
        large, e = Decimal(10) ** 20, (1 / Decimal(10) ** 20).exp()
        return float(large * e / (1 + large * (e - 1)))


def root_far_out(x):
    return np.sqrt(1.0 + x * x) - x


def exact_far_out() -> float:
    """Return x / sqrt(1 + x²) - 1 at 1e6, in fifty digits."""
    with localcontext(prec=50):
        x = Decimal(10) ** 6
        return float(x / (1 + x * x).sqrt() - 1)


def hypotenuse_of_large_numbers(x):
    return np.hypot(x, 1e200)


def casadi_hypotenuse_of_large_numbers(x):
    return ca.hypot(x, 1e200)


def torch_hypotenuse_of_large_numbers(x):
    return torch.hypot(x, torch.tensor(1e200, dtype=torch.float64))


PROGRAMS = [
    program("logsumexp of (0, -∞, 1), shifted by its maximum", logsumexp_of_minus_infinity,
            WITH_INFINITY, right=softmax_weights(), CasADi=casadi_logsumexp_of_minus_infinity),
    program("`logaddexp` over numbers of which `where` makes one -∞", masked_by_minus_infinity,
            np.array([0.0, 0.5, 1.0]), right=softmax_weights(),
            JAX=jax_masked_by_minus_infinity, PyTorch=torch_masked_by_minus_infinity,
            PyTensor=pytensor_masked_by_minus_infinity,
            CasADi="no logaddexp of infinities"),
    program("`logaddexp(logaddexp(-∞, -∞), x)`", two_masked_numbers, 2.0, right=1.0,
            CasADi="no logaddexp of infinities"),
    program("`logaddexp(0, x)` at 1000", softplus_of_a_large_number, 1000.0, right=1.0,
            PyTorch=torch_softplus_of_a_large_number,
            CasADi=casadi_softplus_of_a_large_number),
    program("log(1 + eˣ) at 1000, where eˣ overflows", softplus_that_overflows, 1000.0,
            right=1.0),
    program("log1p(1e20 expm1(x)) at 1e-20", small_growth, 1e-20, right=exact_growth()),
    program("√(1 + x²) - x at 1e6: close to 0", root_far_out, 1e6, right=exact_far_out()),
    program("hypot(x, 1e200) at 1e200, whose squares overflow", hypotenuse_of_large_numbers,
            1e200, right=0.5 ** 0.5, PyTorch=torch_hypotenuse_of_large_numbers,
            PyTensor="no hypot",
            CasADi=casadi_hypotenuse_of_large_numbers),
]
