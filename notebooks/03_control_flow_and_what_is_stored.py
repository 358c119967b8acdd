# %% [markdown]
# # What does a loop cost on the way back?
#
# The way back of a loop needs values of the way forward. This notebook shows what is stored, what
# is computed again instead, and how to bound the memory of a loop of any length.

# %%
import math

import numpy as np

import tracejit


def pendulum(angle, steps):
    speed = 0.0
    for _ in range(steps):
        speed = speed - 0.01 * math.sin(angle)
        angle = angle + 0.01 * speed
    return angle


slope = tracejit.grad(pendulum)
f"{slope(1.0, 1000):.6f}"

# %% [markdown]
# ## What is stored
#
# A report says what the loop keeps, why, and how many bytes it takes, as a formula in the sizes and
# ints. `.why()` is the same as plain lines.

# %%
traced = slope.trace(1.0, "int")
traced.report()["stored"]

# %% [markdown]
# One number per step: not the angle, nor the speed, but the cosine of which the derivative is made.
# A minimum cut through the loop chooses between storing and computing again.

# %%
traced.report()["ir"]

# %% [markdown]
# With arguments in place of texts, `explain` says what that will be:

# %%
tracejit.explain(slope, 1.0, 1000)

# %% [markdown]
# ## Linear loops store nothing
#
# Where the derivative needs no values of the loop, there is nothing to keep.


# %%
def averaged(x):
    y = x.copy()
    for _ in range(100):
        y[1:-1] = 0.25 * y[:-2] + 0.5 * y[1:-1] + 0.25 * y[2:]
    return np.sum(y)


tracejit.grad(averaged).trace("f64[n]").report()["stored"]

# %% [markdown]
# ## `while`: a trip count that data decides
#
# The values go onto a log that grows as the loop runs, and is read from its end on the way back.


# %%
def square_root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


newton = tracejit.grad(square_root).trace("float")
newton.report()["ir"]

# %%
tracejit.value_and_grad(square_root)(9.0)

# %% [markdown]
# ## Branches and writes
#
# A branch on data is decided at every call; what was decided is stored, or found again from stored
# bits. This is one step of a sandpile: an element that is too high gives to its neighbours.


# %%
def sandpile(heights, limit):
    piles = heights.copy()
    for _ in range(20):
        for i in range(1, len(piles) - 1):
            if piles[i] > limit:
                excess = piles[i] - limit
                piles[i] = limit
                piles[i - 1] += 0.5 * excess
                piles[i + 1] += 0.5 * excess
    return np.sum(piles ** 2)


heights = np.array([0.0, 1.0, 5.0, 0.5, 0.0, 0.2])
topple = tracejit.value_and_grad(sandpile, argnums=(0, 1))
value, (by_heights, by_limit) = topple(heights, 1.2)
print(round(value, 6), by_heights.round(6), round(by_limit, 6))

# %%
topple.trace("f64[n]", "float").report()["stored"]

# %% [markdown]
# ## Less memory: `checkpoint`
#
# With `snapshots=` a loop keeps that many of its states, and computes the rest again between them
# on the way back. The gradient is the same; the memory does not grow with the number of steps.


# %%
def checkpointed(angle, steps):
    speed = 0.0
    for _ in tracejit.checkpoint(range(steps), snapshots=10):
        speed = speed - 0.01 * math.sin(angle)
        angle = angle + 0.01 * speed
    return angle


print(tracejit.grad(checkpointed).trace(1.0, "int").why())

# %% [markdown]
# With s snapshots and every step run at most r more times a loop may have C(s + r, s) steps:

# %%
{again: math.comb(10 + again, 10) for again in (1, 2, 4, 8)}

# %%
tracejit.check_grads(sandpile, (heights, 1.2))
kept, recomputed = slope(1.0, 10_000), tracejit.grad(checkpointed)(1.0, 10_000)
assert "8*max(steps, 0) bytes" in traced.why()
assert "nothing is stored" in tracejit.grad(averaged).trace("f64[n]").why()
assert "push" in str(newton.graph) and "pop" in str(newton.graph)
assert np.isclose(tracejit.grad(square_root)(9.0), 1 / 6)
assert np.isclose(kept, recomputed, rtol=1e-12)
