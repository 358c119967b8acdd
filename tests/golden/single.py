"""Single precision, an index array with repeated places, a mask."""
import numpy as np
import tracejit


def f(table, rows, w):
    x = table[rows] * w
    return np.sum(np.where(x > 0, x, 0.01 * x))


program = tracejit.grad(f, argnums=(0, 2))
arguments = ("f32[n, d]", "i64[k]", "f32[d]")
