"""A `while` with a `break`: a Log."""
import numpy as np
import tracejit


def kepler(e, m):
    x = m
    while True:
        d = (x - e * np.sin(x) - m) / (1 - e * np.cos(x))
        x = x - d
        if abs(d) < 1e-10:
            break
    return x


program = tracejit.value_and_grad(kepler, argnums=(0, 1))
arguments = ("float", "float")
