"""Powers, remainders and roundings

The rule n xⁿ⁻¹ is 0 times infinity at x = 0 and n = 0, and the rule by the exponent has log 0.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import ca, jnp, torch
from benchmarks.gauntlet.program import Between, program


def power_zero_of_zero(x, n):
    return x ** n


def zero_to_the_power(n, x):
    return x ** n


def square_of_zero_by_a_number(x, n):
    return np.sum(x ** n)


def casadi_square_of_zero_by_a_number(x, n):
    return ca.sum1(x ** n)


def cube_of_a_negative(x, n):
    return x ** n


def root_cubed(x):
    return (x * x) ** 1.5


def remainder_by_the_divisor(y, x):
    return x % y


def casadi_remainder_by_the_divisor(y, x):
    return ca.fmod(x, y)


def negative_remainder(x):
    return (x % 2.0) ** 2


def fraction_by_floor(x):
    return (x - np.floor(x)) ** 2


def rounded(x):
    return np.round(4.0 * x) / 4.0


def torch_rounded(x):
    return torch.round(4.0 * x) / 4.0


def gradient_by_an_int(x):
    return x * x


def many_factors_with_a_zero(x):
    return np.prod(x)


def casadi_many_factors_with_a_zero(x):
    return x[0] * x[1] * x[2]


def two_zeros_in_cumulated_products(x):
    return np.sum(np.cumprod(x))


def torch_two_zeros_in_cumulated_products(x):
    return torch.sum(torch.cumprod(x, 0))


def jax_two_zeros_in_cumulated_products(x):
    return jnp.sum(jnp.cumprod(x))


PROGRAMS = [
    program("x⁰ at 0, with the exponent as an argument", power_zero_of_zero, 0.0, 0.0, right=0.0),
    program("0ⁿ by n at 2", zero_to_the_power, 2.0, 0.0, right=0.0),
    program("Σ x² at 0, with the exponent as an argument", square_of_zero_by_a_number,
            np.array([0.0, 2.0]), 2.0, right=[0.0, 4.0],
            CasADi=casadi_square_of_zero_by_a_number),
    program("x³ at -2, with the exponent 3.0 as an argument", cube_of_a_negative, -2.0, 3.0),
    program("(x²)^1.5 at 0: its derivative is 3 x |x|", root_cubed, 0.0, right=0.0),
    program("7.5 % y by y at 2", remainder_by_the_divisor, 2.0, 7.5,
            CasADi=casadi_remainder_by_the_divisor),
    program("(x % 2)² at -7.5, where the remainder is 0.5", negative_remainder, -7.5,
            CasADi="`fmod` has the sign of x"),
    program("(x - floor(x))²", fraction_by_floor, -1.25),
    program("round(4x) / 4 between its steps", rounded, 0.3, right=0.0, PyTorch=torch_rounded,
            CasADi="no rounding"),
    program("the gradient by an int, 3: an error, or 6", gradient_by_an_int, 3,
            right=Between(6.0, 6.0),
            Enzyme="`vjp` by an int gives what JAX calls float0"),
    program("the product of (2, 0, 3)", many_factors_with_a_zero, np.array([2.0, 0.0, 3.0]),
            CasADi=casadi_many_factors_with_a_zero),
    program("the sum of cumulated products of (2, 0, 0, 3)", two_zeros_in_cumulated_products,
            np.array([2.0, 0.0, 0.0, 3.0]), JAX=jax_two_zeros_in_cumulated_products,
            PyTorch=torch_two_zeros_in_cumulated_products, autograd="no cumprod",
            CasADi="no cumprod"),
]
