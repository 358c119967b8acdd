# %% [markdown]
# # Do hares and lynxes follow Lotka and Volterra?
#
# For twenty-one years the Hudson's Bay Company counted pelts of snowshoe hares and of the lynxes
# that live on them. We fit the equations of predator and prey to the counts, by the gradient of a
# loss that runs a Runge-Kutta solver. [Where the data are from](../examples/data/README.md).

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import tracejit

table = np.loadtxt(Path("..") / "examples" / "data" / "lynx_hare.csv", delimiter=",", skiprows=2)
years, counts = table[:, 0], table[:, [2, 1]]  # hares, lynxes
NAMES, COLOURS = ("hares", "lynxes"), ("tab:blue", "tab:red")


def draw_counts(axes):
    for k, (name, colour) in enumerate(zip(NAMES, COLOURS)):
        axes.plot(years, counts[:, k], "o", color=colour, label=f"{name}, counted")
    axes.set(xlabel="year", ylabel="pelts, thousands", xticks=years[::5],
             ylim=(0, 100))


figure, axes = plt.subplots(figsize=(8, 3.2))
draw_counts(axes)
axes.legend(ncols=2);

# %% [markdown]
# ## The model
#
# Hares multiply, and are eaten in proportion to both numbers; lynxes multiply by eating, and die.
# The loss compares logarithms: a count is off by a factor, not by an amount. It is ordinary NumPy,
# with loops and writes.

# %%
STEPS = 20


def growth(state, rates):
    hares, lynxes = state
    births, kills, deaths, feeds = rates
    return np.array([(births - kills * lynxes) * hares, (feeds * hares - deaths) * lynxes])


def simulate(parameters, years):
    rates, state = parameters[:4], parameters[4:]
    h = 1.0 / STEPS
    path = np.empty((years, 2))
    for year in range(years):
        path[year] = state
        for _ in range(STEPS):
            k1 = growth(state, rates)
            k2 = growth(state + h / 2 * k1, rates)
            k3 = growth(state + h / 2 * k2, rates)
            k4 = growth(state + h * k3, rates)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def loss(logs, counts):
    path = simulate(np.exp(logs), len(counts))
    return np.sum((np.log(path) - np.log(counts)) ** 2)


# %% [markdown]
# ## The fit
#
# `value_and_grad` of the loss is what the optimiser asks for.

# %%
start = np.log([0.5, 0.02, 0.7, 0.02, *counts[0]])
objective = tracejit.value_and_grad(loss)
found = minimize(objective, start, args=(counts,), jac=True, method="L-BFGS-B")
fitted = np.exp(found.x)
rates = ("hare births", "kills by a lynx", "lynx deaths", "lynx births by a hare")
for name, value in zip(rates, fitted):
    print(f"{name:<22} {value:.3f} a year")

# %%
fine = np.arange(0.0, len(years) - 1 + 0.05, 0.05)


def path_at(parameters, times):
    """The model at times that are a twentieth of a year apart."""
    rates, state = parameters[:4], parameters[4:]
    path = [state]
    for _ in times[1:]:
        h = times[1]
        k1 = growth(state, rates)
        k2 = growth(state + h / 2 * k1, rates)
        k3 = growth(state + h / 2 * k2, rates)
        k4 = growth(state + h * k3, rates)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    return np.array(path)


figure, axes = plt.subplots(figsize=(8, 3.2))
draw_counts(axes)
for curve, name, colour in zip(path_at(fitted, fine).T, NAMES, COLOURS):
    axes.plot(years[0] + fine, curve, color=colour, label=f"{name}, fitted")
axes.legend(ncols=2);

# %% [markdown]
# ## How sure are the rates?
#
# The Hessian of the loss says how sharply it is curved at its minimum. With the variance of the
# residuals it gives standard errors; in logarithms these are relative errors.

# %%
hessian = tracejit.hessian(loss)(found.x, counts)
variance = found.fun / (counts.size - len(found.x))
errors = np.sqrt(np.diag(np.linalg.inv(hessian / 2.0)) * variance)
print("relative errors of the rates:", ", ".join(f"{100 * e:.0f} %" for e in errors[:4]))

# %% [markdown]
# ## What does a rate do?
#
# `jacfwd` of the whole path: how the numbers of each year respond to a rate that is one per cent
# larger. The effect of hare births grows with time, since it shifts the cycles.

# %%
sensitivity = tracejit.jacfwd(lambda logs: simulate(np.exp(logs), 21))(found.x)
figure, axes = plt.subplots(figsize=(8, 3.2))
for k, (name, colour) in enumerate(zip(NAMES, COLOURS)):
    axes.plot(years, 0.01 * sensitivity[:, k, 0], "o-", color=colour, label=name)
axes.axhline(0.0, color="grey", lw=0.8)
axes.set(xlabel="year", ylabel="thousands, for 1 % more births", xticks=years[::5])
axes.legend();

# %% [markdown]
# ## The answer
#
# The two equations explain more than nine tenths of the variance of the logarithms, with rates that
# are known to about an eighth. [Carpenter
# (2018)](https://mc-stan.org/users/documentation/case-studies/lotka-volterra-predator-prey.html)
# finds the same by sampling from a posterior: 0.55, 0.028, 0.80 and 0.024.

# %%
residuals = np.log(simulate(fitted, 21)) - np.log(counts)
explained = 1.0 - np.sum(residuals ** 2) / np.sum((np.log(counts) - np.log(counts).mean()) ** 2)
assert found.success
assert explained > 0.9
assert np.allclose(fitted[:4], [0.55, 0.028, 0.80, 0.024], rtol=0.06)
assert np.all(np.linalg.eigvalsh(hessian) > 0.0)
step = 1e-6 * np.eye(len(start))
differences = [(loss(start + h, counts) - loss(start - h, counts)) / 2e-6 for h in step]
assert np.allclose(objective(start, counts)[1], differences, rtol=1e-6)
