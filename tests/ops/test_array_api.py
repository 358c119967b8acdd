"""The array API standard: its names, and namespaces of traced arrays."""

from __future__ import annotations

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


def test_wrong_devices_and_versions_raise_numpys_errors() -> None:
    with tracejit.config(disable_jit=True):
        with pytest.raises(ValueError):
            tracejit.jit(lambda x: x.to_device("gpu"))(X)
        with pytest.raises(ValueError):
            tracejit.jit(lambda x: x.__array_namespace__(api_version="1.0"))(X)
