"""Classes with `__getattr__`, whose attributes are set and deleted where data decides.

The oracle is Python: values, how often the method ran, and derivatives against differences.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

METHODS = {
    "constant": "return 4.0", "own": "return self.base * 2.0",
    "of the class": "return self.shared * 3.0",
    "counting": "self.n = self.n + 1; return 3.0 * self.base",
    "delegating": "return getattr(self.inner, name)",
    "one name": "if name != 'k': raise AttributeError(name)\n        return self.base",
}
CHANGES = {
    "set": "o.k = x", "set by data": "if x > 0: o.k = x", "set in one": "if x > 0: o.k = x\n"
    "    else: o.j = x", "set by name": "if x > 0: setattr(o, 'k', x * x)",
    "deleted by data": "o.k = x\n    if x > 0: del o.k", "set in a loop": "for i in range(3):\n"
    "        if x > i: o.k = x * i", "nothing": "pass",
}
AFTER = {"base": "o.base = 7.0 * x", "class": "o.shared = x", "inner": "o.inner.k = x + 1.0",
         "nothing": "pass"}


def made(method: str, change: str, after: str) -> Callable[..., Any]:
    source = f"""class Inner:
    k = 5.0
class O:
    shared = 2.0
    def __init__(self):
        self.n = 0
        self.base = 1.5
        self.inner = Inner()
    def __getattr__(self, name):
        {METHODS[method]}
def f(x):
    o = O()
    {CHANGES[change]}
    {AFTER[after]}
    return o.k * x + 10.0 * o.n + x * getattr(o, 'k')
"""
    name = f"<getattr {method} {change} {after}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {}
    exec(compile(source, name, "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("change", CHANGES)
def test_an_attribute_that_is_not_set_is_computed_when_it_is_read(change: str, after: str) -> None:
    for method, x in itertools.product(METHODS, (1.5, -1.5)):
        function = made(method, change, after)
        with tracejit.config(disable_jit=True):
            value, slope = tracejit.value_and_grad(function)(x)
        assert value == function(x), (method, x)
        difference = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(slope, difference, rtol=1e-6, err_msg=method)


def test_a_default_beside_a_computed_attribute_is_refused() -> None:
    class Computed:
        def __getattr__(self, name: str) -> float:
            raise AttributeError(name)

    def f(x: float) -> float:
        o = Computed()
        if x > 0.0:
            o.k = x  # type: ignore[attr-defined]
        return x * float(getattr(o, "k", 2.0))

    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="__getattr__"):
        tracejit.grad(f)(-1.0)
