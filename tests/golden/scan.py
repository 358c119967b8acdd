"""A scan over rows with a `break`: a vector as state, trip counts that depend on data."""
import numpy as np
import tracejit


def scan(w, rows):
    h = np.zeros(len(w))
    for row in rows:
        h = np.tanh(w * h + row)
        if np.sum(h * h) > 4.0:
            break
    return np.sum(h)


program = tracejit.value_and_grad(scan)
arguments = ("f64[n]", "f64[t, n]")
