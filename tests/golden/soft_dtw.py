"""Writes to elements."""
import numpy as np
import tracejit


def soft_dtw(x, y):
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = r[i-1, j-1], r[i-1, j], r[i, j-1]
            lo = min(a, b, c)
            r[i, j] = (x[i-1] - y[j-1])**2 + lo - np.log(
                np.exp(lo - a) + np.exp(lo - b) + np.exp(lo - c))
    return r[n, m]


program = tracejit.value_and_grad(soft_dtw, argnums=(0, 1))
arguments = ("f64[n]", "f64[m]")
