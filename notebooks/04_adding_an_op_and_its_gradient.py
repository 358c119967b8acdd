# %% [markdown]
# # How do I give an op a gradient of my own?
#
# By one decorated function. The example is Kepler's equation, E - e sin E = M, which gives the
# position of a planet on its ellipse. It is solved by iteration; its derivative is known in closed
# form.

# %%
import numba
import numpy as np

import tracejit

# %% [markdown]
# ## An op in one cell
#
# `register_op` makes an op type of a function, here one that Numba compiles: compiled programs call
# it as it is. `RegisterGradient` says what its gradient is. From E - e sin E = M follows dE/dM = 1
# / (1 - e cos E) and dE/de = sin E / (1 - e cos E).


# %%
@numba.njit
def solve_kepler(mean, e):
    low, high = mean - e, mean + e
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle - e * np.sin(middle) < mean:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


kepler = tracejit.register_op("Kepler", solve_kepler)


@tracejit.RegisterGradient("Kepler")
def kepler_grad(op, grad):
    _, e = op.inputs
    eccentric = op.outputs[0]
    by_mean = grad / (1.0 - e * np.cos(eccentric))
    return by_mean, by_mean * np.sin(eccentric)


# %%
round(kepler(1.0, 0.3), 12)

# %% [markdown]
# ## It is one operation
#
# The gradient pass does not look inside of it. Without the registration it would refuse, rather
# than differentiate sixty bisections, whose result depends on M and e through comparisons alone.


# %%
def distance(mean, e):
    """The distance from the sun, in units of the semi-major axis."""
    return 1.0 - e * np.cos(kepler(mean, e))


slope = tracejit.grad(distance, argnums=(0, 1))
print(slope.trace(1.0, 0.3).graph)

# %%
np.round(slope(1.0, 0.3), 10)

# %% [markdown]
# ## Is it right?
#
# The gradient is NumPy again, and has derivatives like everything else: `check_grads` compares the
# first two orders with differences.

# %%
tracejit.check_grads(distance, (1.0, 0.3), order=2, modes=("rev",))

# %% [markdown]
# A wrong sign is found:

# %% tags=["varies"]
wrong = tracejit.register_op("KeplerWrong", solve_kepler)
tracejit.RegisterGradient("KeplerWrong")(lambda op, grad: tuple(-g for g in kepler_grad(op, grad)))
try:
    tracejit.check_grads(lambda mean: wrong(mean, 0.3), (1.0,), modes=("rev",))
    found = False
except AssertionError as error:
    found = True
    print(str(error).splitlines()[0])

# %% [markdown]
# ## In loops
#
# An op is used like the function that it was made of. Here it fits the eccentricity of an orbit to
# distances at known times.


# %%
def misfit(e, means, distances):
    total = 0.0
    for k in range(len(means)):
        total += (distance(means[k], e) - distances[k]) ** 2
    return total / len(means)


means = np.linspace(0.1, 6.0, 25)
measured = np.array([distance(m, 0.2056) for m in means])  # Mercury's
step = tracejit.value_and_grad(misfit)
e = 0.05
for _ in range(100):
    value, by_e = step(e, means, measured)
    e -= 0.5 * by_e

print(f"e = {e:.4f}")

# %% [markdown]
# ## NumPy bodies, and no gradient at all
#
# Where the function is plain NumPy, its body is compiled with the rest after differentiation.
# `no_gradient` says that there is none to be had; `custom_gradient` needs no name.

# %%
nearest = tracejit.register_op("Nearest", lambda x: np.floor(x + 0.5))
tracejit.no_gradient("Nearest")


@tracejit.custom_gradient
def clipped_slope(x):
    return x * x, lambda ct: np.clip(2.0 * x * ct, -1.0, 1.0)


tracejit.grad(lambda x: x * nearest(x))(1.7), tracejit.grad(lambda x: clipped_slope(x))(3.0)

# %%
eccentric = kepler(1.0, 0.3)
assert np.isclose(eccentric - 0.3 * np.sin(eccentric), 1.0)
assert "Kepler(" in str(slope.trace(1.0, 0.3).graph)
assert found
assert np.isclose(e, 0.2056, atol=1e-4)
assert tracejit.grad(lambda x: clipped_slope(x))(3.0) == 1.0
