"""Dtypes of results are NumPy's, for statements on arrays of every dtype."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

DTYPES = ("np.float64", "np.float32", "np.int64", "np.int32", "bool", "complex", "np.uint8",
          "np.int8")

STATEMENTS = (
    "u[:] = x", "u[0] = x[0]", "u[1] = 2.7", "u[1] = 3", "u += 1", "u += 1.5", "u += x", "u *= 2",
    "u *= x", "u /= 2", "u //= 2", "u %= 2", "u **= 2", "u -= k", "u |= 1", "u &= m", "u[m] = 5",
    "u[k] += 1", "u = u + x", "u = u * 2", "u = u / 3", "u = u + 1", "u = u + k", "u = -u",
    "u = abs(u)", "u = u ** 2", "u = u // 2.5", "u = np.sin(u)", "u = u > 0", "u = u.astype(int)",
    "u = np.where(m, u, x)", "u = np.where(m, u, 1)", "u = np.maximum(u, 1)",
    "u = np.concatenate([u, k])", "u = np.cumsum(u)", "u = np.cumprod(u)",
    "u = np.add(u, 1, dtype=float)", "u = np.sum(u) * u", "u = np.mean(u) + u",
    "u = u.sum(dtype=np.float32) * u", "u = np.prod(u) * u", "u = u @ u + u",
    "u = np.dot(u, x) * u", "u = np.stack([u, x])", "u = np.full(3, u[0])",
    "u = np.array([u[0], 1.5])", "u = np.array([u[0], 1])", "u = np.zeros_like(u) + x",
    "u = u[::-1] + u[0]", "u = u + np.float32(1)", "u = u + np.int8(1)", "u = u * True",
    "u = u + (1 if u[0] == 0 else 2)", "u = np.sqrt(u)", "u = np.floor(u)", "u = np.round(u)",
    "u = np.clip(u, 0, 1)", "u = np.sign(u)", "u = ~u", "u = u << 1", "u = np.bitwise_xor(u, 1)",
    "u = np.isfinite(u)", "u = np.real(u)", "u = np.conj(u)", "u = np.exp(u)",
    "u = np.arctan2(u, 1)", "u = u.mean()", "u = u.var()", "u = np.median(u)",
    "u = np.linalg.norm(u)", "u = np.outer(u, u)", "u = np.trace(np.outer(u, u))",
    "u = np.arange(3, dtype=u.dtype) + u", "u = np.power(u, 2)", "u = np.power(2, u)",
    "u = np.square(u)", "u = np.true_divide(u, 2)", "u = np.floor_divide(u, 2)",
    "u = np.argmax(u)", "u = np.sort(u)", "u = np.diff(u)", "u = u.max() - u.min()",
    "u = np.any(u) + 1", "u = np.all(u) * 1.5", "u = np.count_nonzero(u)", "u = int(u[0]) + 1",
    "u = float(np.real(u[0]))", "u = bool(u[0])", "u = u[0] + 1", "u = u[0] / 2", "u = u[0] // 2",
    "u = u[0] * x[0]", "u = u[0] ** -1", "u = max(u[0], 1)", "u = sum(u)", "u = sum(u * 100)",
    "u = np.cumsum(u * 100)", "u = np.median(u * 100)", "u = divmod(u[0], 2)[1]",
    "u = np.int32(u[1]) + u[0]", "u = np.float32(x[0]) * u", "u = 1j * u",
    "u = [a * 2 for a in u][0]", "u = functools.reduce(lambda s, v: s + v, u, 0)",
    "for v in x: u = u + v", "for v in x: u[0] += 1", "s = 0\n    for v in u: s += v\n    u = s",
    "s = 1\n    for v in x:\n        if v > 0.5: s = s * 2\n        else: s = s + 1\n    u = s * u")

UNUSUAL = {("bool", "u = u ** 2"), ("bool", "u = np.round(u)"), ("bool", "u = np.diff(u)"),
           ("bool", "u = max(u[0], 1)"), ("bool", "u = np.arange(3, dtype=u.dtype) + u")}
"""Where bools are int8, float16 or differ by `!=` in NumPy, or are no numbers."""


def outcome(f: Callable[..., Any], args: list[Any]) -> Any:
    """Return a call's result, or the kind of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*[a.copy() for a in args])
        except tracejit.Refusal:
            return tracejit.Refusal
        except (TypeError, ValueError, ArithmeticError):
            return Exception


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_have_numpys_dtype(dtype: str) -> None:
    refused = 0
    for statement in STATEMENTS:
        source = (f"def f(x, k):\n    m = x > 0.5\n    u = np.ones(3, {dtype})\n"
                  f"    {statement}\n    return u\n")
        if (dtype, statement) in UNUSUAL:
            continue
        file = f"<dtype {dtype} {statement}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        namespace: dict[str, Any] = {"np": np, "functools": __import__("functools")}
        exec(compile(source, file, "exec"), namespace)
        args = [np.array([0.3, 0.9, 0.6]), np.array([2, 0, 1])]
        expected = outcome(namespace["f"], args)
        with tracejit.config(disable_jit=True):
            found = outcome(tracejit.jit(namespace["f"]), args)
        refused += found is tracejit.Refusal
        if found is tracejit.Refusal or expected is Exception:
            assert found in (tracejit.Refusal, Exception), source
            continue
        assert type(found) is type(expected), source
        assert np.asarray(found).dtype == np.asarray(expected).dtype, source
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=source)
    assert refused <= 0.05 * len(STATEMENTS)


@pytest.mark.parametrize("make", [
    lambda: np.empty(3, np.longdouble), lambda: np.full(3, 0.1, "g"),
    lambda: np.zeros(3, "U5"), lambda: np.zeros(2, "M8[D]"), lambda: np.empty(2, object)])
def test_arrays_of_other_dtypes_are_refused_where_they_are_made(make: Any) -> None:
    def f(x: Any) -> Any:
        y = make()
        y[0] = x[0]
        return y

    for quick in (True, False):
        with tracejit.config(disable_jit=quick), pytest.raises(
                tracejit.Refusal, match=r"test_dtypes.py:\d+: dtype .* cannot be captured"):
            tracejit.jit(f)(np.ones(3))
