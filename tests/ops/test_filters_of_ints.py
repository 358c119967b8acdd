"""Filters of `scipy.ndimage` of images of ints, whose sums are cut off: SciPy's, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage as nd

import tracejit

FILTERS = {
    "gaussian": lambda a: nd.gaussian_filter(a, sigma=1),
    "slope": lambda a: nd.gaussian_filter(a, 0.7, order=1),
    "one axis": lambda a: nd.gaussian_filter1d(a, 1.3, 0, 2),
    "symmetric": lambda a: nd.correlate1d(a, [0.25, 0.5, 0.25]),
    "even": lambda a: nd.correlate1d(a, [1, 2, 3, 4], 0),
    "of neither": lambda a: nd.convolve1d(a, [0.3, 0.2, -0.1]),
    "antisymmetric": lambda a: nd.correlate1d(a, [-0.5, 0, 0.5], 1, mode="wrap"),
    "uniform": lambda a: nd.uniform_filter1d(a, 4), "sobel": nd.sobel, "laplace": nd.laplace}


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8])
@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_ints_are_scipys(name: str, dtype: Any) -> None:
    draw, compute = np.random.default_rng(3), FILTERS[name]

    def f(a: Any) -> Any:
        return compute(a)

    with tracejit.config(disable_jit=True):
        filtered = tracejit.jit(f)
        for image in (np.arange(0, 50, 2).reshape(5, 5), draw.integers(0, 50, (9, 8)),
                      draw.integers(0, 9, (12, 7))):
            right = compute(image.astype(dtype))
            found = filtered(image.astype(dtype))
            assert found.dtype == right.dtype
            np.testing.assert_array_equal(found, right)


def test_compiled_filters_are_scipys() -> None:
    image = np.arange(0, 50, 2).reshape(5, 5)
    found = tracejit.jit(lambda a: nd.gaussian_filter(a, sigma=1))(image)
    np.testing.assert_array_equal(found, nd.gaussian_filter(image, sigma=1))
