"""The array API standard: its names, and namespaces of traced arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tracejit
import tracejit.numpy as tnp

X = np.array([[0.3, 1.2, -0.7], [2.0, 0.1, 0.5]])


def test_every_name_is_numpys() -> None:
    assert {name for name in tnp.__all__ if getattr(tnp, name) is not getattr(np, name)} == set()


def test_the_functions_that_numpy_says_the_standard_has_are_there() -> None:
    info = tnp.__array_namespace_info__()
    for name in (*info.dtypes(), "asarray", "concat", "unique_values", "vecdot", "take_along_axis",
                 "isdtype", "count_nonzero", "nextafter", "linalg", "fft", "newaxis", "e"):
        assert name in tnp.__all__
    assert tnp.__array_api_version__ == np.__array_api_version__
    assert "trapezoid" not in tnp.__all__


PROGRAMS: list[Any] = [
    lambda x: x.__array_namespace__().sin(x),
    lambda x: x.__array_namespace__(api_version="2024.12").linalg.vector_norm(x, axis=-1),
    lambda x: tnp.vecdot(x, x) + tnp.cumulative_sum(x, axis=1)[:, -1],
    lambda x: tnp.astype(x, tnp.float32) * 2.0,
    lambda x: x.to_device(x.device) * x.nbytes,
    lambda x: tnp.zeros(np.broadcast_shapes(x.shape, (1, 1))) + x,
    lambda x: tnp.asarray(x, dtype=tnp.result_type(x, tnp.complex64)),
    lambda x: x * (1.0 if tnp.can_cast(x.dtype, tnp.float32) else 2.0),
    lambda x: x * (1.0 if tnp.isdtype(x.dtype, "real floating") else 2.0),
    lambda x: x * (1.0 if np.iterable(x[0, 0]) else 2.0),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_captured_programs_of_the_standard_are_numpys(f: Any) -> None:
    expected = f(X)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(f)(X)
        single = tracejit.jit(f)(X.astype(np.float32))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found.dtype == expected.dtype
    assert single.dtype == f(X.astype(np.float32)).dtype


def _outcome(f: Any, *args: Any) -> Any:
    try:
        return f(*args)
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize("given", [np.array(2), np.int8(2), np.array([2]), np.array(True), 2.0,
                                   np.float32(2), True])
def test_an_index_is_an_int_of_python_where_python_has_one(given: Any) -> None:
    with tracejit.config(disable_jit=True):
        found = _outcome(tracejit.jit(lambda x: operator.index(x)), given)
    expected = _outcome(operator.index, given)
    if given is not True:
        assert type(found) is type(expected)
    assert found == expected or (isinstance(given, np.ndarray) and given.dtype == bool
                                 and found[0] is expected[0])  # in NumPy's words for its numbers


@pytest.mark.parametrize("given", [X, np.array(2.0), 2.0, np.float32(2.0), [1.0]])
@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}, {"device": "cpu"},
                                     {"device": "gpu"}])
def test_what_is_exchanged_is_a_view_of_an_array(given: Any, options: Any) -> None:
    def exchanged(x: Any) -> Any:
        y = np.from_dlpack(x, **options)
        y[...] = 2.0 * y
        return x, y * 1.0

    def of_a_copy(x: Any) -> Any:
        return exchanged(x.copy() if isinstance(x, np.ndarray) else x)

    with tracejit.config(disable_jit=True):
        found = _outcome(tracejit.jit(exchanged), np.copy(given) if isinstance(
            given, np.ndarray) else given)
    expected = _outcome(of_a_copy, given)
    assert type(found) is type(expected)
    if isinstance(expected[0], type):
        assert found == expected
    else:
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_derivative_of_the_next_number_is_one_by_the_first() -> None:
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(lambda x, y: np.sum(np.nextafter(x, y) * x), argnums=(0, 1))(X, -X)
    np.testing.assert_allclose(found[0], 2.0 * X, rtol=1e-14)
    np.testing.assert_array_equal(found[1], 0.0)


@pytest.mark.parametrize("mode", ["ALWAYS", "IF_NEEDED", "NEVER"])
@pytest.mark.parametrize("dtype", [None, np.float64, np.float32])
def test_modes_of_copying_mean_what_they_mean_in_numpy(mode: str, dtype: Any) -> None:
    copy: Any = getattr(np._CopyMode, mode)  # type: ignore[attr-defined]  # as libraries pass it

    def f(x: Any) -> Any:
        y = x * 1.0
        z = np.array(y, dtype, copy=copy)
        z[0] = 5.0
        return y, z

    with tracejit.config(disable_jit=True):
        found = _outcome(tracejit.jit(f), X)
    for a, b in zip(found, _outcome(f, X), strict=True):
        if isinstance(b, np.ndarray):
            np.testing.assert_array_equal(a, b)
        else:  # an error's type, and its words, to which NumPy adds advice
            assert a is b or b.startswith(a)


def test_clip_takes_a_casting_rule_for_one_dtype() -> None:
    def f(x: Any, y: Any, casting: Any = "no") -> Any:
        out = np.empty(x.shape)
        np.clip(x, y, y + 1.0, out=out, casting=casting)
        return out[()]

    with tracejit.config(disable_jit=True):
        np.testing.assert_array_equal(tracejit.jit(f)(X, X[:, ::-1]), f(X, X[:, ::-1]))
        with pytest.raises(tracejit.Refusal, match="casting= of several dtypes"):
            tracejit.jit(f)(X, X.astype(np.float32))


def test_wrong_devices_and_versions_raise_numpys_errors() -> None:
    with tracejit.config(disable_jit=True):
        with pytest.raises(ValueError):
            tracejit.jit(lambda x: x.to_device("gpu"))(X)
        with pytest.raises(ValueError):
            tracejit.jit(lambda x: x.__array_namespace__(api_version="1.0"))(X)
