"""A stencil: slices read and written in a loop."""
import numpy as np
import tracejit


def jacobi(a, steps):
    for t in range(steps):
        b = a.copy()
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a = b
    return np.sum(a * a)


program = tracejit.grad(jacobi)
arguments = ("f64[n, m]", "int")
