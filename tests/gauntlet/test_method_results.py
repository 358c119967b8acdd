"""What `__bool__`, `__len__`, `__float__` and `__int__` give: Python's result, or its error."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import tracejit

CLASS = """
class Thing:
    def __init__(self, v):
        self.v = v
    def {method}(self):
        return {given}
"""
USES = {
    "__bool__": ("1.0 if t else 2.0", "not t", "bool(t)", "any([t])", "all([t])"),
    "__len__": ("len(t)", "1.0 if t else 2.0", "bool(t)"),
    "__float__": ("float(t)",),
    "__int__": ("int(t)",),
}
GIVEN = ("self.v", "self.v > 0", "-self.v", "self.v / 2", "np.float64(self.v)", "self.v > 0.5",
         "True", "3", "2.5", "None", "'a'", "np.sum(np.ones(2) * self.v) > 1")


def outcome(f: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's, of results of a subclass
        try:
            return f(*args)
        except tracejit.Refusal:
            raise
        except Exception as error:
            return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("method", USES)
def test_results_of_special_methods_are_pythons(method: str) -> None:
    for k, (use, given) in enumerate((u, g) for u in USES[method] for g in GIVEN):
        text = CLASS.format(method=method, given=given) + (
            f"def f(v):\n    t = Thing(v)\n    return {use}\n")
        name = f"<{method} {k}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        names: dict[str, Any] = {"np": np}
        exec(compile(text, name, "exec"), names)
        with tracejit.config(disable_jit=True):
            for v in (2, -1, 0, 0.75, -2.0, np.float64(0.75), np.int64(-3), True):
                found = outcome(tracejit.jit(names["f"]), v)
                expected = outcome(names["f"], v)
                assert found == expected, (use, given, v)
                assert type(found) is type(expected) or (
                    {type(found), type(expected)} <= {int, np.int64}
                    or {type(found), type(expected)} <= {float, np.float64}), (use, given, v)
