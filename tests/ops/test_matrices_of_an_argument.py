"""Matrices that are as large as an int argument says meet others of the same size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from oracles import assert_close, numeric_gradient

import tracejit

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "inv": np.linalg.inv, "det": np.linalg.det, "solve": lambda a: np.linalg.solve(a, a + 1.0),
    "solve eye": lambda a: np.linalg.solve(a, np.eye(len(a))), "pinv": np.linalg.pinv,
    "eigvalsh": np.linalg.eigvalsh, "qr": lambda a: np.linalg.qr(a)[1] ** 2,
    "svd": lambda a: np.linalg.svd(a, compute_uv=False), "norm": lambda a: np.linalg.norm(a, 2),
    "power": lambda a: np.linalg.matrix_power(a, 3), "expm": lambda a: scipy.linalg.expm(a / 9.0),
    "cholesky": lambda a: np.linalg.cholesky(a @ a.T), "rows": lambda a: a[1:, None] - a[:-1],
    "columns": lambda a: a[:, :2] @ a[:2], "sorted": lambda a: np.sort(a, axis=0)[::-1],
    "lu": lambda a: scipy.linalg.lu(a)[2], "triangle": lambda a: np.tril(a) @ np.triu(a),
    "roll": lambda a: np.roll(a, 1, axis=0) * a, "cumsum": lambda a: np.cumsum(a, axis=1)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name: str) -> None:
    function = FUNCTIONS[name]

    def f(n: int, ds: Any, h: Any) -> Any:
        p = 0.0
        for d in ds:
            t = np.zeros((n, n))
            t += d * h
            p = p + np.sum(function(t))
        return p

    gradient = tracejit.value_and_grad(f, argnums=2)
    for n in (3, 4):
        h = np.cos(np.arange(n * n) ** 1.3).reshape(n, n) + 3.0 * np.eye(n)
        h = h + h.T
        with tracejit.config(disable_jit=True):
            value, slope = gradient(n, np.array([1.0, 1.5]), h)
        assert_close(value, f(n, np.array([1.0, 1.5]), h), 1e-10)
        expected = numeric_gradient(f, [n, np.array([1.0, 1.5]), h], 2)
        assert_close(slope, expected, 1e-5)
