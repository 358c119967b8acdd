# %% [markdown]
# # How does a compiled gradient leave the process?
#
# In four ways: it is kept for later processes by itself; it is saved to a file; it is exported for
# C; it is a C function for libraries in this process.

# %%
import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tracejit

folder = Path(tempfile.mkdtemp())
(folder / "model.py").write_text('''
import numpy as np

POWER = 3

def loss(w, x):
    return np.sum(np.tanh(x @ w) ** POWER)
''')
sys.path.insert(0, str(folder))
import model

# %% [markdown]
# ## The store
#
# A program that was compiled once is found by every later process, in the user's cache directory by
# default. It is found only as long as all that it was made from is what it was: code, guards,
# versions, processor.

# %%
x = np.array([[1.0, 0.5], [-0.5, 2.0]])
gradient = tracejit.grad(model.loss)
with tracejit.config(cache=True, cache_dir=str(folder / "cache")):
    slope = gradient(np.array([0.1, 0.2]), x)
    count = tracejit.cache.info().count

count

# %% [markdown]
# Another process finds it. It loads machine code, and imports neither Numba nor the tracer.

# %%
program = '''
import sys
import numpy as np
import tracejit
import model

x = np.array([[1.0, 0.5], [-0.5, 2.0]])
print(tracejit.grad(model.loss)(np.array([0.1, 0.2]), x).tobytes().hex())
print("numba imported:", "numba" in sys.modules,
      "tracer imported:", "tracejit.trace.values.tracer" in sys.modules)
'''
places = [folder, Path(tracejit.__file__).parents[1]]
environment = {"TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(folder / "cache"),
               "PYTHONPATH": ":".join(map(str, places))}
done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True,
                      text=True, check=True)
bits, imported = done.stdout.splitlines()
imported

# %% [markdown]
# When the function changes, or what it reads, the program is not found, and `explain` says why.

# %%
with tracejit.config(cache=True, cache_dir=str(folder / "cache")):
    print(tracejit.cache.explain(tracejit.grad(model.loss), slope, x).partition(" ")[2])
    model.POWER = 4
    why = tracejit.cache.explain(tracejit.grad(model.loss), slope, x).partition(" ")[2]
    model.POWER = 3

print(why)

# %% [markdown]
# `python -m tracejit cache ls` lists what is kept; `python -m tracejit compile model:loss --spec
# ...` fills the store ahead of time.
#
# ## A file
#
# `save` writes one program, with what it read from outside as it is now; `load` needs neither its
# source nor Numba.

# %%
compiled = gradient.trace("f64[n]", "f64[m, n]").lower().compile()
path = compiled.save(folder / "slope.tracejit")
loaded = tracejit.load(path)
loaded(np.array([0.1, 0.2]), x)

# %% [markdown]
# ## C
#
# `export` writes a header, an object, a static archive and a shared library; here only the first
# two, which need no C compiler. The memory is the caller's, errors are codes.

# %%
written = compiled.export(folder / "slope.o", name="slope")
[path.name for path in written]

# %%
header = (folder / "slope.h").read_text()
print(header[:header.index(" * The function keeps")])

# %% [markdown]
# [The guide](../docs/export.md) has a C program that descends by such a gradient.
#
# ## A C function in this process
#
# A program of numbers is a C function for `scipy.LowLevelCallable`, for Numba, for anything that
# takes a pointer.


# %%
def bump(x):
    return np.exp(-x * x)


program = tracejit.grad(bump).trace(1.0).lower().compile().cfunc()
pointer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(program.address)
pointer(0.5)

# %%
assert count == 1
assert bits == slope.tobytes().hex()  # the same bits in the other process
assert imported == "numba imported: False tracer imported: False"
assert why == "does not: POWER has changed"
assert np.array_equal(loaded(np.array([0.1, 0.2]), x), slope)
assert [path.name for path in written] == ["slope.h", "slope.o"]
assert np.isclose(pointer(0.5), -np.exp(-0.25))
