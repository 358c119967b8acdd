# %% [markdown]
# # What did tracejit make of my function?
#
# A function becomes a graph of operations; the gradient appends its own; the whole becomes loops.
# All of it can be read, and every line of it names yours. The objects show themselves: write their
# name at the end of a cell.

# %%
import numpy as np

import tracejit


def loss(w, x, y):
    """Logistic regression."""
    score = x @ w
    return np.mean(np.logaddexp(0.0, -y * score))


gradient = tracejit.value_and_grad(loss)

# %% [markdown]
# ## All of it
#
# `trace` captures without compiling. A text such as `"f64[m, n]"` stands for an argument that is
# not there: its dtype, and a name for each size. Sizes that NumPy needs to agree become one.

# %%
traced = gradient.trace("f64[n]", "f64[m, n]", "f64[m]")
traced

# %% [markdown]
# `In[1]:9` is your line: line 9 of the cell that was run first. In a file it would be `model.py:9`.
#
# ## In sentences
#
# `tracejit.explain` says it in words: what the function has become, and where its time and memory
# will go. With arguments it has numbers; with texts for them it has formulas in their sizes.

# %%
tracejit.explain(gradient, "f64[n]", "f64[m, n]", "f64[m]")

# %% [markdown]
# ## As text
#
# The printed graph is the whole program. An equation is a line: results and their types, the
# operation, its operands and parameters. What follows `-- backward` is what the gradient added; `of
# %3` is the equation whose derivative it belongs to.

# %%
print(traced.graph)

# %% [markdown]
# ## One part of it
#
# A report has parts, which can be shown alone: here each operation of the function beside what the
# way back makes of it.

# %%
traced.report()["adjoints"]

# %% [markdown]
# Three operations have no backward part, each for a reason. The mean divides by a size, and no
# gradient flows through sizes; `y` was not asked for.
#
# ## A picture
#
# Forward at the left, downwards; backward at the right, upwards. The heavy edges are what the
# derivatives read of the way forward. `graph.to_svg(path)` writes it to a file.

# %%
traced.report()["picture"]

# %% [markdown]
# ## Beside your source
#
# `lower` emits the loops. Now your lines, the IR and the emitted code stand side by side.

# %%
lowered = traced.lower()
lowered.report()["lines"]

# %%
lowered.report()["source"]

# %% [markdown]
# Between the two products there is one loop: loss, and cotangents of the scores. Only two of all
# those arrays get memory:

# %%
lowered.report()["memory"]

# %% [markdown]
# ## Loops and writes
#
# Loops and branches are equations with blocks of their own. A write to an element is a new value of
# the array; on the way back it takes the element's cotangent and clears it.


# %%
def filtered(x, a):
    y, total = 0.0, 0.0
    for i in range(1, len(x)):
        y = a * y + np.tanh(x[i])
        total += y * y
    return total


loop = tracejit.grad(filtered, argnums=(0, 1)).trace("f64[n]", "float")
loop.report()["ir"]

# %% [markdown]
# What the loop has to keep for its way back, why, and how many bytes of it:

# %%
loop.report()["stored"]

# %% [markdown]
# ## The passes
#
# Between gradient and codegen run exact rewrites, which leave every bit of every result as it was.
# The report shows those that changed something.

# %%
traced.report()["passes"]

# %% [markdown]
# Next: [what a loop costs](03_control_flow_and_what_is_stored.ipynb), and
# [what becomes of it below the source](05_from_numpy_to_machine_code.ipynb).

# %%
from tracejit.ir.parser import parse_graph


def equations(graph):
    """The lines of a graph without the comments behind them."""
    lines = [line.partition("  # ")[0].rstrip() for line in str(graph).splitlines()]
    return [line for line in lines if line != "  -- backward"]


assert equations(parse_graph(str(loop.graph))) == equations(loop.graph)  # it is read back
assert str(traced.graph).count("-- backward") == 1
assert traced.why().count("has no backward part") == 3
assert "reversed=True" in str(loop.graph) and "is stored," in loop.why()
assert "(2 arrays beside arguments and results)" in str(lowered.report()["memory"])
