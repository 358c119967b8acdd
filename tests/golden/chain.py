"""One loop, forward and backward."""
import numpy as np
import tracejit


def f(x, k):
    return np.sum(np.exp(-k * x * x))


program = tracejit.value_and_grad(f, argnums=(0, 1))
arguments = ("f64[n]", "float")
