"""A counted loop with carried scalars."""
import numpy as np
import tracejit


def g(a, x, n):
    for i in range(n):
        x = x + 0.1 * a * np.sin(x)
    return x


program = tracejit.value_and_grad(g, argnums=(0, 1))
arguments = ("float", "float", "int")
