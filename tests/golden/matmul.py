"""A product of matrices, of any size and of a small known one."""
import numpy as np
import tracejit


def f(a, b, c):
    return np.sum(np.tanh(a @ b) @ c)


program = tracejit.grad(f, argnums=(0, 1, 2))
arguments = ("f64[n, k]", "f64[k, 2]", "f64[2, 2]")
