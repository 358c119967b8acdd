# %% [markdown]
# # What becomes of a line of NumPy, down to the instructions?
#
# One expression, followed through all stages: graph, loop, LLVM, assembly. Each is an attribute of
# the staged objects.

# %%
import re

import numpy as np

import tracejit


def f(x, k):
    return np.sum(np.exp(-k * x * x))


gradient = tracejit.grad(f)
specs = "f64[n]", "float"

# %% [markdown]
# ## The graph: what is computed
#
# Arrays of n elements, one operation per line. NumPy would make an array for each of them.

# %%
traced = gradient.trace(*specs)
traced.report()["ir"]

# %% [markdown]
# ## The source: in which loops
#
# Codegen gives memory only to what needs it. All arrays of this program are virtual, computed per
# element where they are used. What is left is one loop with one read and one write.

# %%
lowered = traced.lower()
lowered.report()["source"]

# %% [markdown]
# This is Python for Numba, over typed pointers, and kept as a file, so that a debugger or profiler
# can show it.
#
# ## LLVM: what the compiler sees
#
# Numba's front end types the source, then LLVM optimises it, once. The loop's body works on
# vectors, whose length depends on the processor.

# %% tags=["varies"]
compiled = lowered.compile()
vectors = [line.strip() for line in compiled.llvm.splitlines()
           if re.search(r"= .*<\d+ x double>", line)]
print("\n".join(line[:100] for line in vectors[-10:]))

# %% [markdown]
# ## The assembly: what runs
#
# The call of `exp` has become one of glibc's vector library: `_ZGVdN4v_exp` takes four numbers at
# once, `_ZGVeN8v_exp` eight.

# %% tags=["varies"]
calls = sorted(set(re.findall(r"_ZGV\w+", compiled.asm)))
print(calls)
lines = compiled.asm.splitlines()
first = next(k for k, line in enumerate(lines) if "_ZGV" in line)
print("\n".join(lines[first:first + 16]))

# %% [markdown]
# ## Was it vectorised?
#
# A report reads it from the assembly, loop by loop.

# %% tags=["varies"]
compiled.report()["vectors"]

# %% [markdown]
# ## `fp="strict"`
#
# Vector functions differ from the scalar ones by up to 4 units in the last place. `fp="strict"`
# leaves them out, and adds up sums in the order of the program.

# %%
strict = tracejit.grad(f, fp="strict").trace(*specs).lower().compile()
re.findall(r"_ZGV\w+", strict.asm)

# %%
x = np.linspace(-2.0, 2.0, 1001)
fast, exact = gradient(x, 1.5), tracejit.grad(f, fp="strict")(x, 1.5)
worst = np.max(np.abs(fast - exact) / np.maximum(np.spacing(np.abs(exact)), np.finfo(float).tiny))
bool(worst <= 8.0)  # units in the last place

# %% [markdown]
# ## When one loop is not enough
#
# What needs a finished sum has to wait for it. Here the mean comes first, then the exponentials and
# a sum for the mean's own gradient, then the result: three loops, and the report says why. Long sums
# are taken in blocks of 4096 terms.


# %%
def spread(x):
    return np.sum(np.exp(x - np.mean(x)))


three = tracejit.grad(spread).trace("f64[n]").lower()
three.report()["loops", "source"]

# %% [markdown]
# Where the time of a call goes, [a profile](../docs/profile.md) measures, loop by loop.

# %%
kernel = lowered.source[lowered.source.index("def kernel"):]
assert kernel.count("for ") == 1 and "out0[i]" in kernel
assert "(3 nests)" in str(three.report()["loops"])
assert "define" in compiled.llvm and "ret" in compiled.asm
assert calls and all(name.endswith("exp") for name in calls)
assert re.findall(r"_ZGV\w+", strict.asm) == []
assert worst <= 8.0
assert np.allclose(fast, -3.0 * x * np.exp(-1.5 * x * x))
