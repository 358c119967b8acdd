"""Statistics that leave NaN out: derivatives are differences, beside rows of nothing but NaN."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, numeric_gradient

import tracejit

NAN = np.nan
X = np.array([[0.5, NAN, -1.2, 0.7], [NAN, NAN, NAN, NAN], [2.0, 1.0, 3.5, -0.4],
              [NAN, 0.3, -0.9, NAN], [NAN, NAN, 1.5, NAN]])

STATISTICS: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax,
                               np.nanmin, np.nanmedian)},
    "of a sample": lambda x, **at: np.nanvar(x, ddof=1, **at),
    "quartile": lambda x, **at: np.nanquantile(x, 0.3, **at),
    "quartiles": lambda x, **at: np.nanpercentile(x, [0.0, 25.0, 80.0], **at),
    "lower": lambda x, **at: np.nanquantile(x, 0.3, method="lower", **at),
    "Weibull's": lambda x, **at: np.nanquantile(x, 0.6, method="weibull", **at),
}


@pytest.mark.parametrize("at", [{"axis": 1}, {"axis": 0}, {"axis": -1, "keepdims": True}, {},
                                {"axis": (0, 1)}], ids=str)
@pytest.mark.parametrize("name", STATISTICS)
def test_derivatives_are_differences(name: str, at: dict[str, Any]) -> None:
    def total(x: Any) -> Any:
        return np.sum(weights * np.where(known, STATISTICS[name](x, **at), 0.0))

    with tracejit.config(disable_jit=True), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of empty slices
        wanted = STATISTICS[name](X, **at)
        known = np.isfinite(wanted)
        weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
        np.testing.assert_allclose(tracejit.jit(STATISTICS[name])(X, **at), wanted, rtol=1e-13)
        assert_close(tracejit.grad(total)(X), numeric_gradient(total, [X], 0, 1e-6), 1e-6)
