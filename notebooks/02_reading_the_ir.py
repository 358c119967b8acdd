# %% [markdown]
# # What did tracejit make of my function?
#
# A function becomes a graph of operations, the gradient appends its own, and the whole becomes one
# loop. Every step can be read, and every line of it names yours.

# %%
import numpy as np

import tracejit


def loss(w, x, y):
    score = x @ w
    return np.mean(np.logaddexp(0.0, -y * score))


gradient = tracejit.value_and_grad(loss)

# %% [markdown]
# ## The graph
#
# `trace` captures without compiling. A `spec` stands for an argument that is not there: its dtype, and
# a name for each size. Sizes that NumPy needs to agree become one.

# %%
traced = gradient.trace("f64[n]", "f64[m, n]", "f64[m]")
print(traced.graph)

# %% [markdown]
# How to read it:
#
# - a line is an equation: results and their types, the operation, its operands, its parameters;
# - behind `-- backward` stands what the gradient added; `of %3` is the equation that it belongs to;
# - `In[1]:7` is your line, here line 7 of the cell numbered 1; in a file it is `model.py:7`.
#
# A graph is data: equations can be counted and asked.

# %%
graph = traced.graph
{eqn.op.name: str(eqn.outputs[0].aval) for eqn in graph.eqns[:4]}

# %% [markdown]
# ## Why has this no gradient?
#
# Every operation without a backward part has a reason.

# %%
print(traced.why())

# %% [markdown]
# ## From the graph to the loop
#
# The emitted source is Python for Numba. Its lines name equations (`%3`) and your lines. Between the
# two matrix products there is one loop: the forward part, the loss and the cotangents of the scores
# need no arrays of their own but those that the products read.

# %%
lowered = traced.lower()
print(lowered.source[lowered.source.index("def kernel"):])

# %% [markdown]
# ## Regions
#
# Loops and branches are equations with blocks of their own. A write to an element is a new value of the
# array, `update(x, v) {at=(i,)}`; on the way back it takes that element's cotangent and clears it.


# %%
def filtered(x, a):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + x[i]
    return np.sum(y * y)


loop = tracejit.grad(filtered).trace("f64[n]", "float")
print(loop.graph)

# %% [markdown]
# The backward loop runs `reversed=True`, and reads what it needs by its index. By `x` alone nothing of
# the loop has to be stored, since it is linear. By `a` its states are needed, and `.why()` says so:

# %%
by_both = tracejit.grad(filtered, argnums=(0, 1)).trace("f64[n]", "float")
print(by_both.why())

# %% [markdown]
# ## The passes
#
# Between capture and codegen run exact rewrites: dead code goes, constants are folded, bodies of op types
# are put in place. They leave every bit of every result as it was.

# %%
before = tracejit.grad(filtered).trace("f64[n]", "float").program.graph
len(str(before).splitlines()), len(str(loop.graph).splitlines())

# %% [markdown]
# ## A graph is text
#
# What is printed can be read back, and a graph can be run in an interpreter on NumPy: it is what the
# program means, and what compiled code is tested against.

# %%
with tracejit.config(disable_jit=True):
    interpreted = tracejit.grad(filtered)(np.array([1.0, 2.0, 3.0]), 0.5)
interpreted

# %% [markdown]
# [Control flow](03_control_flow_and_what_is_stored.ipynb) has more loops,
# [from NumPy to machine code](05_from_numpy_to_machine_code.ipynb) goes on below the source.

# %%
compiled = tracejit.grad(filtered)(np.array([1.0, 2.0, 3.0]), 0.5)
assert np.array_equal(interpreted, compiled)
assert str(graph).count("-- backward") == 1
assert "for_(" in str(loop.graph) and "reversed=True" in str(loop.graph)
assert "is stored," in by_both.why() and "is stored," not in loop.why()
assert len(str(loop.graph)) <= len(str(before))
