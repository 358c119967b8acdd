"""Indices of one array are checked once, as long as the first check is sure to come first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit


def _twice(x: Any, i: Any) -> Any:
    return np.sum(np.sin(x[i]) * x[i])


def _after_a_branch(x: Any, i: Any, s: float) -> Any:
    total = 0.0
    if s > 0.0:
        total = np.sum(x[i])
    return total + np.sum(x[i] * x[i])


X = np.array([0.5, -1.0, 2.0])
INDICES = (np.array([0, 2, -1]), np.array([0, -4]), np.array([3]))


@pytest.mark.parametrize("disabled", [True, False])
@pytest.mark.parametrize(("program", "checks", "rest"), [
    (_twice, 1, ()), (_after_a_branch, 2, (1.0,)), (_after_a_branch, 2, (-1.0,))])
def test_a_check_is_made_once_and_never_left_out(program: Any, checks: int, rest: Any,
                                                 disabled: bool) -> None:
    found = tracejit.value_and_grad(program)
    graph = str(found.trace(X, INDICES[0], *rest).graph)
    assert graph.count("= wrap_index(") == checks
    with tracejit.config(disable_jit=disabled):
        value, slope = found(X, INDICES[0], *rest)
        assert value == pytest.approx(program(X, INDICES[0], *rest), rel=1e-14)
        for k in range(3):
            step = 1e-20j * (np.arange(3) == k)
            assert slope[k] == pytest.approx(program(X + step, INDICES[0], *rest).imag * 1e20)
        for wrong in INDICES[1:]:
            for call in (program, found):
                with pytest.raises(IndexError):
                    call(X, wrong, *rest)
