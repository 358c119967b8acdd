"""Lists whose length data decides, and the rows of arrays, joined by NumPy's functions.

NumPy's own result is the oracle of values, central differences of gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from list_laws import require_values_and_derivatives

import tracejit

JOINS: dict[str, Callable[[Any], Any]] = {
    "stack": np.stack, "stack axis 1": lambda xs: np.stack(xs, axis=1),
    "stack last axis": lambda xs: np.stack(xs, axis=-1), "vstack": np.vstack, "hstack": np.hstack,
    "column_stack": np.column_stack, "concatenate": np.concatenate,
    "concatenate flat": lambda xs: np.concatenate(xs, axis=None),
    "concatenate last axis": lambda xs: np.concatenate(xs, axis=-1),
}


def _grown(x: Any, item: Callable[[Any], Any]) -> Any:
    items, s = [], abs(x[0]) + 0.5
    while s < 6.0:
        items.append(item(x) * s)
        s = s * 1.4 + 0.1
    return items


SOURCES: dict[str, Callable[[Any], Any]] = {
    "a list of vectors": lambda x: _grown(x, lambda v: v),
    "a list of matrices": lambda x: _grown(x, lambda v: np.outer(v, v[:2])),
    "rows": lambda x: np.outer(x, x) * 2.0,
    "a comprehension": lambda x: [x * v for v in x],
}
XS = [np.array([0.31, 1.27, 0.83]), np.array([1.1, -0.4, 0.77, 1.93])]


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("source", SOURCES)
def test_joins_are_numpys(join: str, source: str) -> None:
    def f(x: Any) -> Any:
        found = JOINS[join](SOURCES[source](x))
        return np.sum(np.sin(found + 0.1 * np.arange(found.size).reshape(found.shape)))

    require_values_and_derivatives(f, XS)


def test_what_is_joined_is_a_copy() -> None:
    def f(x: Any) -> Any:
        rows = np.outer(x, x)
        stacked, below = np.stack(rows), np.vstack(rows)
        stacked[0] += 5.0
        below[0] = 0.0
        return np.sum(rows) * np.sum(stacked) * np.sum(below)

    require_values_and_derivatives(f, XS)


def test_nothing_is_joined_to_an_error() -> None:
    def f(x: Any) -> Any:
        items = []
        while x < 1.0:
            items.append(np.ones(2) * x)
            x = x * 2.0
        return np.sum(np.stack(items))

    with tracejit.config(disable_jit=True):
        f_jit = tracejit.jit(f)
        assert f_jit(0.3) == f(0.3)
        for g in (f, f_jit):
            with pytest.raises(ValueError, match="need at least one array to stack"):
                g(2.0)
