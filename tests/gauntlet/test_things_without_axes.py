"""Numbers, and arrays without axes: which of the two NumPy gives, type by type.

Each expression is applied to a number of each kind of Python's and NumPy's and to arrays with one
element and with more; NumPy itself is the oracle of type, dtype, shape and numbers.
"""

from __future__ import annotations

import copy
import itertools
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_sequences import load

import tracejit

VALUES: list[Any] = [
    np.float64(1.5), np.float32(1.5), np.int32(3), np.bool_(True), np.complex128(1 + 2j), 1.5, 3,
    1 + 2j, True, np.array(1.5), np.array(1 + 2j), np.array(3), np.array([1.5]),
    np.array([-0.5, 1.5, 2.0]), [1.5, 2.5], np.float32([1, 2]), np.array([[1.0, 2], [0.5, 1]]),
    np.array([2 - 1j, 0.5])]
EXPRESSIONS = """
x.real; x.imag; np.real(x); np.imag(x); x.T; x.conj(); np.conj(x); x.copy(); x.squeeze()
x.reshape(()); np.reshape(x, ()); x.reshape(1); x.item(); x.sum(); x.mean(); x.round(); x.view()
np.squeeze(x); np.transpose(x); np.ravel(x); np.atleast_1d(x); np.broadcast_to(x, ())
np.asarray(x).real; np.asarray(x).imag; np.asarray(x).T; np.asarray(x).squeeze()
np.asarray(x).reshape(()); np.asarray(x).copy(); np.asarray(x)[()]; np.asarray(x)[...]
np.real(np.asarray(x)); np.imag(np.asarray(x)); np.asarray(x) + 1; np.squeeze(np.asarray(x))
np.isreal(x); np.iscomplex(x); np.isin(x, x); np.isin(x, 0); np.unique_inverse(x)
np.unique_all(x); np.i0(x); np.fft.fftn(x); np.fft.ifftn(x); np.cross([x, x], [0, 1])
np.tensordot(x, x, 0); np.tensordot([x, 1], [2, x], 1); np.linalg.tensordot([x, 1], [2, x], axes=1)
np.where(True, x, x); np.roll(x, 1); np.select([True], [x]); np.copy(x); np.positive(np.asarray(x))
np.sinc(x); np.geomspace(x, 2 * np.asarray(x), 3); np.geomspace(1, x, 3, axis=-1)
np.quantile(x, 0); np.quantile(x, 1); np.quantile(x, [0, 1]); np.quantile(x, 0.5)
np.percentile(x, 100); np.union1d(x, 0); np.union1d(x, 0.5)
np.append(x, 0); np.append(x, 0.5); np.append([1], x)
np.append(0.5, x)
np.concatenate((x, 0), axis=None); np.concatenate((0.5, x, [1]), axis=None)
np.insert(x, 0, 1); np.diff(x, 0)
np.transpose(x, 0); np.diag_indices(3, 2); float(x); int(x); complex(x); len(x); list(x); sum(x)
x.dot(x); x.partition(0); x.is_integer(); iter(x); [v for v in x]; np.float32(x); np.int64(x)
"""
_NUMBERS = itertools.count()


def same(found: Any, expected: Any) -> bool:
    """Return whether two results are of one type, dtype and shape, with equal numbers."""
    if type(found) is not type(expected) or expected is None:
        return found is expected
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    a, b = np.asarray(found), np.asarray(expected)
    close = 1e-6 if b.dtype in (np.float32, np.complex64) else 1e-13
    return a.dtype == b.dtype and a.shape == b.shape and bool(
        np.allclose(a, b, rtol=close, atol=0, equal_nan=True))


def _outcome(call: Any, x: Any) -> Any:
    try:
        return call(copy.deepcopy(x))
    except tracejit.Refusal as e:
        return e
    except (TypeError, AttributeError, ValueError, np.linalg.LinAlgError) as e:
        return e if isinstance(e, np.exceptions.AxisError) else type(e)


@pytest.mark.parametrize("text", [
    t.strip() for t in EXPRESSIONS.replace("\n", ";").split(";") if t.strip()])
def test_results_are_of_numpys_type(text: str, tmp_path: Path) -> None:
    module = load(f"import numpy as np\n\ndef f(x):\n    return {text}\n", tmp_path,
                  f"without_axes_{next(_NUMBERS)}")
    try:
        with tracejit.config(disable_jit=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for x in VALUES:
                expected, found = _outcome(module.f, x), _outcome(tracejit.jit(module.f), x)
                if isinstance(found, tracejit.Refusal):
                    continue
                if isinstance(expected, type) or isinstance(found, type):
                    assert isinstance(found, type) and isinstance(expected, type), (x, expected)
                    assert issubclass(expected, found), (x, expected, found)
                elif isinstance(expected, Exception):
                    assert type(found) is type(expected), x
                elif not hasattr(expected, "__next__"):
                    assert same(found, expected), (x, expected, found)
    finally:
        sys.modules.pop(module.__name__, None)


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_numbers_have_derivatives(part: str) -> None:
    def f(z: Any) -> Any:
        return getattr(z, part) ** 2 + getattr(np, part)(z) * 3.0 + getattr(np, part)(2.0)

    def g(x: Any) -> Any:
        return f(x * (1.0 + 0.5j)) + f(x)

    h = 1e-6
    with tracejit.config(disable_jit=True):
        for x in (0.7, np.float64(0.7)):
            expected = (g(x + h) - g(x - h)) / (2 * h)
            np.testing.assert_allclose(tracejit.grad(g)(x), expected, rtol=1e-7)


def test_a_written_array_without_axes_is_seen_by_its_views() -> None:
    def f(x: Any) -> Any:
        y = np.array(x)
        views = [np.squeeze(y), np.transpose(y), y.reshape(()), np.reshape(y, ()), y.view(), y.real]
        y += 1.0
        return [v * 2.0 for v in views]

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(1.5) == f(1.5)
