"""Complex numbers

For a real loss of a complex z, some tools return ∂/∂x + i ∂/∂y, the direction of ascent, and others
its conjugate, on purpose: a step against the latter goes down in x and up in y.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import jnp, pt, torch
from benchmarks.gauntlet.program import asked, program

NO_COMPLEX = "no complex numbers"


def loss(z):
    return np.abs(z - 1.0) ** 2 + 2.0 * np.real(1j * z)


def step_against_the_gradient(tool):
    def f(z):
        d = z - 1.0
        return tool.np.real(d * tool.np.conj(d)) + 2.0 * tool.np.real(1j * z)

    z = 3.0 + 4.0j
    moved = z - 0.1 * complex(tool.grad(f)(z))
    return loss(moved)


def pytensor_step_against_the_gradient(tool):
    def f(z):
        d = z - 1.0
        return pt.real(d * pt.conj(d)) + 2.0 * pt.real(1j * z)

    z = 3.0 + 4.0j
    moved = z - 0.1 * complex(tool.grad(f)(z))
    return loss(moved)


def right_step() -> float:
    """Return the loss after a step against (∂/∂x, ∂/∂y), by differences."""
    h, z = 1e-6, 3.0 + 4.0j
    ascent = ((loss(z + h) - loss(z - h)) + 1j * (loss(z + 1j * h) - loss(z - 1j * h))) / (2 * h)
    return float(loss(z - 0.1 * ascent))


def real_through_complex(x):
    z = (x + 1j) ** 3 * np.exp(2j * x)
    return np.real(z) + np.imag(z)


def jax_real_through_complex(x):
    z = (x + 1j) ** 3 * jnp.exp(2j * x)
    return jnp.real(z) + jnp.imag(z)


def modulus_at_zero(x):
    return np.abs(x * (1.0 + 1.0j)) ** 2


def product_of_complex(x):
    z = x * np.array([1.0 + 1.0j, 2.0 - 1.0j, 1.0j])
    return np.abs(np.prod(z))


def torch_product_of_complex(x):
    z = x * torch.tensor([1.0 + 1.0j, 2.0 - 1.0j, 1.0j], dtype=torch.complex128)
    return torch.abs(torch.prod(z))


PROGRAMS = [
    asked("the loss |z - 1|² + 2 Re(iz) after a step of 0.1 against the gradient",
          step_against_the_gradient, right_step(),
          PyTensor=pytensor_step_against_the_gradient, CasADi=NO_COMPLEX),
    program("Re and Im of (x + i)³ exp(2ix), x real", real_through_complex, 0.7,
            JAX=jax_real_through_complex, CasADi=NO_COMPLEX),
    program("|x (1 + i)|² at 0, by the modulus", modulus_at_zero, 0.0, right=0.0,
            CasADi=NO_COMPLEX),
    program("the modulus of a product of three complex numbers", product_of_complex, 0.7,
            PyTorch=torch_product_of_complex, PyTensor="no product of complex arrays",
            CasADi=NO_COMPLEX),
]
