"""Two arrays that exchange places in every iteration."""
import numpy as np
import tracejit


def waves(now, before, steps):
    now, before = now.copy(), before.copy()
    for t in range(steps):
        before[1:-1] = 2.0 * now[1:-1] - before[1:-1] + 0.1 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        now, before = before, now
    return np.sum(now ** 2)


program = tracejit.grad(waves, argnums=(0, 1))
arguments = ("f64[n]", "f64[n]", "int")
