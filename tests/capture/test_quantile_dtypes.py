"""Quantiles by each method, of elements and fractions of each precision, have NumPy's dtypes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tracejit

METHODS = ["linear", "lower", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
           "median_unbiased"]
DATA = np.random.default_rng(0).normal(size=(4, 3))
HOLED = np.where(np.eye(4, 3) > 0.0, np.nan, DATA)
FRACTIONS = [0.3, np.float32(0.3), np.float64(0.3), np.array([0.1, 0.8], np.float32),
             np.array([0.1, 0.8])]


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_have_numpys_dtypes(method: str) -> None:
    functions = [(np.quantile, DATA, 1), (np.nanquantile, HOLED, 1),
                 (np.percentile, DATA, 100), (np.nanpercentile, HOLED, 100)]
    for (function, data, scale), kind, q in itertools.product(
            functions, (np.float64, np.float32), FRACTIONS):
        given = q * scale

        def of_rows(x: Any, q: Any, function: Any = function) -> Any:
            return function(x, q, axis=0, method=method)

        x = data.astype(kind)
        expected = np.asarray(of_rows(x, given))
        with tracejit.config(disable_jit=True):
            found = np.asarray(tracejit.jit(of_rows)(x, given))
        assert found.dtype == expected.dtype, (function, kind, given)
        np.testing.assert_allclose(found, expected, 1e-5 if kind == np.float32 else 1e-12)
