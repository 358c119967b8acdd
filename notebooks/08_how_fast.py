# %% [markdown]
# # How fast is it, beside its peers?
#
# This notebook times nothing. It draws what `make bench-full` has measured, from the file that it
# writes, [benchmarks/results.md](../benchmarks/results.md), which says how: value and gradient,
# float64, one thread, every gradient checked before it was timed.

# %%
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

text = (Path("..") / "benchmarks" / "results.md").read_text()
rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
        if line.startswith("|")]
head, _, *body = rows[:next(k for k, row in enumerate(rows) if row[0] == "measure")]
len(body), head[:7]

# %%
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds(cell):
    """The time in a cell, or NaN where there is none; of two, the better."""
    found = re.findall(r"([\d.]+) (ns|µs|ms|s)\b", cell)
    times = [float(number) * UNITS[unit] for number, unit in found]
    return min(times, default=np.nan)


PEERS = ["by hand", "JAX", "PyTorch", "autograd"]
names = [row[0] for row in body]
times = {name: np.array([seconds(row[head.index(name)]) for row in body])
         for name in ["tracejit", *PEERS]}
machine = next(line for line in text.splitlines() if "numba" in line and "jax" in line)
print(machine)

# %% [markdown]
# ## Times as multiples of tracejit's
#
# A bar to the right of 1 is slower, one to the left is faster. `by hand` is an adjoint that was
# written by hand in Numba, which is what one can hope to reach; where it was also measured with
# vector mathematics, that is the one shown.

# %%
COLOURS = {"by hand": "0.6", "JAX": "tab:blue", "PyTorch": "tab:orange", "autograd": "tab:green"}
figure, axes = plt.subplots(figsize=(8, 7))
places = np.arange(len(names))[::-1]
for k, peer in enumerate(PEERS):
    ratio = times[peer] / times["tracejit"]
    axes.barh(places + 0.3 - 0.2 * k, ratio - 1.0, 0.18, left=1.0, color=COLOURS[peer], label=peer)
axes.axvline(1.0, color="black", lw=1)
axes.set(xscale="log", yticks=places, yticklabels=names, xlabel="time, relative to tracejit",
         xlim=(0.3, None))
axes.legend(loc="lower right")
figure.tight_layout();

# %%
print(f"{'':<36}" + "".join(f"{peer:>10}" for peer in PEERS))
for k, name in enumerate(names):
    ratios = [times[peer][k] / times["tracejit"][k] for peer in PEERS]
    print(f"{name:<36}" + "".join(f"{ratio:>10.3g}" for ratio in ratios))

# %% [markdown]
# Where it gains most: small calls and loops, where others pay for each operation. Where it gains
# least: large matrix products and long vector expressions, which are bound by the same library or
# memory for all.
#
# ## First calls
#
# The time from a function to its first gradient, in a fresh process with an empty store.

# %%
first = np.array([seconds(row[head.index("first call")]) for row in body])
first_jax = np.array([seconds(row[head.index("of JAX")]) for row in body])
there = ~np.isnan(first)
figure, axes = plt.subplots(figsize=(8, 3.4))
rank = np.arange(there.sum())[::-1]
axes.barh(rank + 0.2, 1e3 * first[there], 0.35, color="black", label="tracejit")
axes.barh(rank - 0.2, 1e3 * first_jax[there], 0.35, color=COLOURS["JAX"], label="JAX")
axes.set(yticks=rank, yticklabels=np.array(names)[there], xlabel="first call, ms")
axes.legend()
figure.tight_layout();

# %% [markdown]
# Not every aim is met. The file has a target for each, and says where it was missed:

# %%
missed = [row[0] for row in rows if "**no**" in row]
print("\n".join(missed))

# %%
for peer in PEERS[1:]:
    ratio = times[peer] / times["tracejit"]
    assert np.nanmedian(ratio) > 1.0, peer
assert np.nanmedian(times["by hand"] / times["tracejit"]) > 0.8
assert not np.isnan(times["tracejit"]).any()
