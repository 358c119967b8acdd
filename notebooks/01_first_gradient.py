# %% [markdown]
# # What does it take to get a gradient?
#
# One function, as you would write it for NumPy, and one call. This notebook goes from there to a
# fit, a loop with writes, and a function that is refused.

# %%
import numpy as np

import tracejit


def loss(w, x, y):
    """How far a line of slope and intercept w is from the points."""
    return np.mean((w[0] * x + w[1] - y) ** 2)


x = np.array([0.0, 1.0, 2.0, 3.0])
y = np.array([1.0, 2.9, 5.1, 7.0])
loss(np.zeros(2), x, y)

# %% [markdown]
# `tracejit.grad(loss)` is the function that computes the gradient by the first argument.

# %%
slope = tracejit.grad(loss)
slope(np.zeros(2), x, y)

# %% [markdown]
# Is it right? Central differences say so, and `check_grads` makes the comparison for us, here of
# the second derivatives as well. It raises where they differ.

# %%
step = 1e-6
differences = [(loss(h, x, y) - loss(-h, x, y)) / (2 * step) for h in step * np.eye(2)]
tracejit.check_grads(loss, (np.zeros(2), x, y), order=2)
np.round(differences, 6)

# %% [markdown]
# `value_and_grad` gives both in one pass. That is all a descent needs.

# %%
step = tracejit.value_and_grad(loss)
w = np.zeros(2)
for _ in range(500):
    value, g = step(w, x, y)
    w -= 0.1 * g

print(f"loss {value:.4f} at slope {w[0]:.3f}, intercept {w[1]:.3f}")

# %% [markdown]
# ## Loops and writes
#
# A gradient goes through `for`, `while`, `if` and writes to elements. Nothing has to be rewritten,
# and a loop with a million trips compiles as fast as one with ten.


# %%
def damped(x, rate):
    """An exponential moving average, element by element."""
    smooth = x.copy()
    for i in range(1, len(x)):
        smooth[i] = rate * x[i] + (1.0 - rate) * smooth[i - 1]
        if smooth[i] > 2.0:
            smooth[i] = 2.0
    return np.sum(smooth)


by_rate = tracejit.grad(damped, argnums="rate")
by_rate(np.array([1.0, 0.5, 3.0, 4.0]), 0.5)

# %% [markdown]
# The same compiled program serves arrays of every size.

# %%
signal = np.linspace(-1.0, 1.0, 100_000)
f"{by_rate(signal, 0.5):.6f}"

# %% [markdown]
# ## Nested arguments
#
# A gradient has the structure of its argument.


# %%
def network(params, x):
    for layer in params:
        x = np.tanh(layer["w"] @ x + layer["b"])
    return np.sum(x)


params = [{"w": np.full((3, 2), 0.1), "b": np.zeros(3)}, {"w": np.ones((1, 3)), "b": np.zeros(1)}]
gradients = tracejit.grad(network)(params, np.array([1.0, -0.5]))
[{name: array.shape for name, array in layer.items()} for layer in gradients]

# %% [markdown]
# ## What it cannot do, it says
#
# A function is never guessed at. What cannot be captured is refused, with the line and what to
# write instead.


# %%
def rows(x):
    return np.sum(np.unique(x.reshape(-1, 2), axis=0))


try:
    tracejit.grad(rows)(x)
except tracejit.Refusal as refusal:
    message = str(refusal)

print(message)

# %% [markdown]
# So: one function and one call. What was made of it is the next notebook's question,
# [reading the IR](02_reading_the_ir.ipynb).

# %%
assert np.allclose(slope(np.zeros(2), x, y), differences)
assert np.allclose(w, np.polyfit(x, y, 1), atol=1e-4)
assert np.isclose(by_rate(signal, 0.5),
                  (damped(signal, 0.5 + 1e-6) - damped(signal, 0.5 - 1e-6)) / 2e-6, rtol=1e-4)
assert gradients[0]["w"].shape == params[0]["w"].shape
assert "Give each row a number" in message
