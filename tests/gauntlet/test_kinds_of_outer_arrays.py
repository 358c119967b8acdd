"""Arrays from outside that are of classes of their own: another dtype or rank is another program.

The oracle is NumPy at every call.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tracejit


class Own(np.ndarray):
    """A class that adds nothing to arrays."""


CLASSES = {"ndarray": np.ndarray, "own": Own, "memmap": np.memmap}
CONTENTS = {
    "floats": np.array([1.0, 2.5, -3.0]), "ints": np.array([4, 5, 6]),
    "singles": np.array([1.25, 2.0, 3.0], np.float32), "bools": np.array([True, False, True]),
    "a matrix": np.arange(6.0).reshape(2, 3), "a row": np.array([[1.0, 2.0, 3.0]]),
    "a number": np.array(2.5), "complex": np.array([1.0, 2.0j, 3.0]),
    "other bytes": np.array([1.0, 2.0, 4.0], ">f8"),
}
OUTER = None


def f(x):
    return np.sum(x * OUTER)


def made(kind: str, content: str, folder) -> np.ndarray:
    """Return an array of a class."""
    x = CONTENTS[content]
    if kind == "memmap":
        shown = np.memmap(folder / content, x.dtype, "w+", shape=x.shape or (1,))
        shown[...] = x
        return shown.reshape(x.shape)
    return x.view(CLASSES[kind])


@pytest.mark.parametrize(("kind", "first"), [*itertools.product(CLASSES, CONTENTS)])
@pytest.mark.parametrize("compiled", [False, True])
def test_each_call_is_of_the_array_that_is_there(kind, first, compiled, tmp_path, monkeypatch):
    g = tracejit.jit(f)
    x = np.array([0.5, 0.25, 2.0])
    contents = [first, *CONTENTS, first] if not compiled else [first, "floats", "a matrix", first]
    with tracejit.config(disable_jit=not compiled):
        for content in contents:
            monkeypatch.setitem(globals(), "OUTER", made(kind, content, tmp_path))
            np.testing.assert_allclose(g(x), f(x), rtol=1e-6, err_msg=content)
