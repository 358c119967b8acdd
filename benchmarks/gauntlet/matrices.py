"""Factors of matrices

Eigenvectors of equal eigenvalues may be turned, and have no derivative; functions of all of them
together have one. A determinant has a derivative where the inverse does not exist.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import anp, ca, jnp, pt, torch
from benchmarks.gauntlet.program import program

TWO = 2.0 * np.eye(2)
NO_FACTORS = "no such factors of what is symbolic"


def eigenvalues_squared(a):
    return np.sum(np.linalg.eigh(a)[0] ** 2)


def pytensor_eigenvalues_squared(a):
    return pt.sum(pt.linalg.eigh(a)[0] ** 2)


def square_by_eigenvectors(a):
    w, v = np.linalg.eigh(a)
    return np.sum((v * w ** 2) @ v.T * WEIGHTS)


def torch_square_by_eigenvectors(a):
    w, v = torch.linalg.eigh(a)
    return torch.sum((v * w ** 2) @ v.T * torch.tensor(WEIGHTS))


def pytensor_square_by_eigenvectors(a):
    w, v = pt.linalg.eigh(a)
    return pt.sum((v * w ** 2) @ v.T * WEIGHTS)


WEIGHTS = np.array([[1.0, 2.0], [2.0, 5.0]])


def singular_values(a):
    return np.sum(np.linalg.svd(a)[1])


def torch_singular_values(a):
    return torch.sum(torch.linalg.svd(a)[1])


def autograd_singular_values(a):
    return anp.sum(anp.linalg.svd(a, full_matrices=False)[1])


def pytensor_singular_values(a):
    return pt.sum(pt.linalg.svd(a, full_matrices=False)[1])


def singular_values_alone(a):
    return np.sum(np.linalg.svd(a, compute_uv=False))


def jax_singular_values_alone(a):
    return jnp.sum(jnp.linalg.svd(a, compute_uv=False))


def torch_singular_values_alone(a):
    return torch.sum(torch.linalg.svdvals(a))


def pytensor_singular_values_alone(a):
    return pt.sum(pt.linalg.svd(a, compute_uv=False))


def determinant(a):
    return np.linalg.det(a)


def pytensor_determinant(a):
    return pt.linalg.det(a)


def casadi_determinant(a):
    return ca.det(a)


def determinant_of_rank_one(a):
    return np.linalg.det(a)


PROGRAMS = [
    program("Σ w² of eigenvalues w at 2 I", eigenvalues_squared, TWO, right=2.0 * TWO,
            PyTensor=pytensor_eigenvalues_squared, CasADi=NO_FACTORS),
    program("V w² Vᵀ at 2 I, weighted by a symmetric matrix: A² by eigenvectors",
            square_by_eigenvectors, TWO, right=4.0 * WEIGHTS,
            PyTorch=torch_square_by_eigenvectors, PyTensor=pytensor_square_by_eigenvectors,
            CasADi=NO_FACTORS),
    program("Σ s of singular values at 2 I, from `svd`", singular_values, TWO, right=np.eye(2),
            PyTorch=torch_singular_values, autograd=autograd_singular_values,
            PyTensor=pytensor_singular_values, CasADi=NO_FACTORS),
    program("the same without vectors", singular_values_alone, TWO, right=np.eye(2),
            JAX=jax_singular_values_alone, PyTorch=torch_singular_values_alone,
            PyTensor=pytensor_singular_values_alone, CasADi=NO_FACTORS),
    program("det of a singular matrix: its cofactors", determinant,
            np.array([[1.0, 2.0], [2.0, 4.0]]), right=[[4.0, -2.0], [-2.0, 1.0]],
            cites=("pytorch/pytorch#104675",),
            PyTensor=pytensor_determinant, CasADi=casadi_determinant),
    program("det of a 3 x 3 matrix of rank one: 0", determinant_of_rank_one,
            np.ones((3, 3)), right=np.zeros((3, 3)),
            PyTensor=pytensor_determinant, CasADi=casadi_determinant),
]
