"""Op types with every kind of parameter: captured calls bind arguments as Python does.

The oracle is the function that the op type was made of.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tracejit

_NAMES = itertools.count()

FUNCTIONS = {
    "plain": lambda x, y=2.0: x * y + 1.0,
    "keyword": lambda x, *, y=2.0: x * y,
    "keyword without default": lambda x, *, y: x * y,
    "two keywords": lambda x, *, y=2.0, mode="a": x * y if mode == "a" else x + y,
    "positional alone": lambda x, y=3.0, /: x * y,
    "several": lambda x, *ys: x * (1.0 + len(ys)) + sum(ys),
    "several and a keyword": lambda x, *ys, y=2.0: x * y * (1.0 + len(ys)),
    "any keywords": lambda x, **k: x * (1.0 + len(k)) + sum(k.values()),
    "several and any keywords": lambda x, *ys, **k: x * (1.0 + len(ys) + 10.0 * len(k)),
    "all": lambda a, /, x=1.0, *ys, y=2.0, **k: a * x * y + sum(ys) * sum(k.values()),
}
CALLS = {
    "one": lambda f, x: f(x), "two": lambda f, x: f(x, 3.0), "three": lambda f, x: f(x, 3.0, x),
    "by name": lambda f, x: f(x, y=3.0), "traced by name": lambda f, x: f(x, y=x * 2.0),
    "others by name": lambda f, x: f(x, u=3.0, v=x), "a text": lambda f, x: f(x, mode="b"),
    "both": lambda f, x: f(x, 2.0, 4.0, y=5.0, w=x),
}


@pytest.mark.parametrize(("function", "call"), [*itertools.product(FUNCTIONS, CALLS)])
def test_a_captured_call_of_an_op_binds_as_the_function_does(function, call):
    f, ask = FUNCTIONS[function], CALLS[call]
    op = tracejit.register_op(f"BoundAsCalled{next(_NAMES)}", f)
    try:
        expected = ask(f, 1.5)
    except TypeError:
        with pytest.raises(TypeError), tracejit.config(disable_jit=True):
            tracejit.jit(lambda x: ask(op, x))(1.5)
        return
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(lambda x: ask(op, x))(1.5) == expected
        assert np.array_equal(tracejit.vmap(lambda x: ask(op, x))(np.array([1.5, 2.0])),
                              [expected, ask(f, 2.0)])
    assert ask(op, 1.5) == expected
