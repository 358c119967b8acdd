"""A Hessian times a vector: forward mode over reverse mode."""
import numpy as np
import tracejit


def energy(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def hessian_vector(x, v):
    return tracejit.jvp(tracejit.grad(energy), (x,), (v,))[1]


program = tracejit.jit(hessian_vector)
arguments = ("f64[n]", "f64[n]")
