"""Floats that a dtype of integers does not hold, sums that wrap around: NumPy's bits, compiled too.

NumPy's own results for uint32 differ with the length of an array outside of 33 bits, so that there
is no law for them.
"""

from __future__ import annotations

import itertools
import platform
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

INTS = [np.dtype(f"{kind}{8 * size}") for kind in ("int", "uint") for size in (1, 2, 4, 8)]
NARROW = [d for d in INTS if d.itemsize < 8]
FLOATS = [np.dtype(kind) for kind in (np.float32, np.float64, np.complex64, np.complex128)]

INSIDE = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, -5.5, 127.9, 128.0, -128.9, -129.0, 255.5, 256.0,
          300.7, -200.0, 32768.0, -32769.0, 65536.5, -70000.0, 2.0 ** 24,
          -2.0 ** 24 - 2.0, 2.0 ** 31 - 128.0, -2.0 ** 31]
"""Floats that fit into 32 bits with a sign."""

OUTSIDE = [3e9, -3e9, 5e9 + 3.0, -5e9 - 3.0, 2.0 ** 31, 2.0 ** 32 + 512.0,
           2.0 ** 40 + 2.0 ** 17, 1e19, -1e19, 2.0 ** 63, -2.0 ** 63, 1e30, -1e30,
           np.inf, -np.inf, np.nan]

WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "astype": lambda x, y: x.astype(y.dtype), "written": lambda x, y: _written(x.real, y.copy()),
    "in a loop": lambda x, y: _in_a_loop(x.real, y.copy()),
    "computed": lambda x, y: (x + 0).astype(y.dtype) + y,
    "compared": lambda x, y: x.astype(y.dtype) > 100}


def _written(x: Any, y: Any) -> Any:
    y[:] = x
    return y


def _in_a_loop(x: Any, y: Any) -> Any:
    for i in range(len(y)):
        y[i:i + 1] = x[i:i + 1]
    return y


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"),
                    reason="C leaves these results open, so NumPy's are the machine's")
@pytest.mark.parametrize(("source", "target"), [*itertools.product(FLOATS, INTS)], ids=str)
def test_floats_become_the_integers_that_they_are_in_numpy(source: np.dtype,
                                                           target: np.dtype) -> None:
    floats = np.array([*INSIDE, *(() if target == np.uint32 else OUTSIDE)])
    with np.errstate(all="ignore"):
        x = np.tile(floats, 3).astype(source)
    for way, f in WAYS.items():
        convert = tracejit.jit(f)
        for count in (1, 2, 7, len(x)):  # vector code and what is left over
            part, y = x[:count], np.ones(count, target)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the imaginary part is dropped
                expected = f(part, y)
            np.testing.assert_array_equal(convert(part, y), expected, f"{way}, {count}",
                                          strict=True)


SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda x, t: np.cumsum(x, dtype=t.dtype),
    "cumsum along": lambda x, t: np.cumsum(x, axis=0, dtype=t.dtype),
    "cumsum within": lambda x, t: np.cumsum(x, axis=1, dtype=t.dtype) // 3,
    "cumprod": lambda x, t: np.cumprod(x, axis=1, dtype=t.dtype) > 5,
    "sum": lambda x, t: np.sum(x, axis=0, dtype=t.dtype) / 3,
    "whole sum": lambda x, t: np.sum(x, dtype=t.dtype) > 5,
    "prod": lambda x, t: np.prod(x, axis=1, dtype=t.dtype) // 3,
    "dot": lambda x, t: x.astype(t.dtype) @ x.T.astype(t.dtype) > 5,
    "outer": lambda x, t: np.outer(x.astype(t.dtype), x.astype(t.dtype)).sum()}


@pytest.mark.parametrize("target", NARROW, ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_narrow_integers_wrap_around_as_in_numpy(name: str, target: np.dtype) -> None:
    f = SUMS[name]
    compute = tracejit.jit(f)
    for rows in (1, 3, 70):
        x = np.arange(rows * 4).reshape(rows, 4) * (2 ** (8 * target.itemsize) // 5) - 7
        y = np.ones(1, target)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(compute(x, y), f(x, y), strict=True)


NOTHING: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: x[:, 0:0] * 2 + 1, "copy": lambda x: x[:, 3:].copy(),
    "exp": lambda x: np.exp(x[:, 0:0]), "sum": lambda x: (x[:, 0:0] * 2).sum(axis=1),
    "sum along": lambda x: x[:, 0:0].sum(axis=0),
    "planes": lambda x: x[:, None, 0:0] * x[None, :, 0:0],
    "empty": lambda x: np.zeros((len(x), 0)) + 1,
    "middle": lambda x: np.ones((len(x), 0, len(x))) * 2,
    "joined": lambda x: np.concatenate([x[:, 0:0], x * 2], axis=1),
    "matrix": lambda x: x[:, 0:0] @ np.ones((0, 2)),
    "where": lambda x: np.where(x[:, 0:0] > 0, 1.0, 2.0),
    "running": lambda x: np.cumsum(x[:, 0:0], axis=0), "rows": lambda x: x[0:0] * 2 + 1}


@pytest.mark.parametrize("name", NOTHING)
def test_arrays_that_have_rows_and_no_columns(name: str) -> None:
    f = NOTHING[name]
    compute = tracejit.jit(f)
    for rows in (0, 1, 4, 40):
        x = np.arange(rows * 3.0).reshape(rows, 3)
        np.testing.assert_array_equal(compute(x), f(x), strict=True)
        slope = tracejit.grad(lambda x: np.sum(f(x)))(x)
        expected = np.full_like(x, 2.0 if name == "joined" else 0.0)
        np.testing.assert_array_equal(slope, expected)


QUOTIENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "loop": lambda x, n, m: sum(x * i for i in range(n // m)),
    "size": lambda x, n, m: np.ones(n // m).sum() * x,
    "remainder": lambda x, n, m: np.ones(n % m).sum() * x,
    "test": lambda x, n, m: x if n // m > 2 else -x,
    "both": lambda x, n, m: np.zeros((n // m, n % m + 1)).sum() + x}


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_sizes_that_are_quotients_of_nothing_where_nobody_asks(name: str,
                                                               interpreted: bool) -> None:
    of = QUOTIENTS[name]

    def f(x: Any, n: Any, m: Any) -> Any:
        y = x * 2.0
        if x > 0:
            y = y + of(x, n, m)
        return y

    with tracejit.config(disable_jit=interpreted):
        compute, slope = tracejit.jit(f), tracejit.grad(f)
        for m in (2, 0, 3, -2, 0):
            assert compute(-1.5, 7, m) == -3.0
            assert slope(-1.5, 7, m) == 2.0
            if m > 0:
                assert compute(1.5, 7, m) == f(1.5, 7, m)
            elif m == 0:
                for function in (compute, slope):
                    with pytest.raises(ZeroDivisionError):
                        function(1.5, 7, m)
