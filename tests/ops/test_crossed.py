"""Cross products of vectors of two and three components, under all axes."""

from __future__ import annotations

import itertools
import re
import warnings

import numpy as np
import pytest

import tracejit

SHAPES = ((2,), (3,), (4, 2), (4, 3), (5, 4, 2), (5, 1, 3))


@pytest.mark.parametrize(("first", "second"), [*itertools.product(SHAPES, SHAPES)])
@pytest.mark.parametrize("dtype", [float, int, complex])
def test_products_and_pullbacks_are_numpys(first: tuple[int, ...], second: tuple[int, ...],
                                           dtype: type) -> None:
    draw = np.random.default_rng(1)
    a, b = ((4 * draw.normal(size=s)).astype(dtype) for s in (first, second))
    axes = {} if len(first) == 1 else {"axisa": 0}
    if axes:
        a = np.moveaxis(a, -1, 0).copy()

    def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.cross(a, b, **axes)

    with warnings.catch_warnings(), tracejit.config(disable_jit=True):
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            right = crossed(a, b)
        except ValueError as error:  # of two components, in newer NumPys
            with pytest.raises(ValueError, match=re.escape(str(error))):
                tracejit.jit(crossed)(a, b)
            return
        found = tracejit.jit(crossed)(a, b)
        assert found.dtype == right.dtype
        np.testing.assert_array_equal(found, right)
        if dtype is float:
            slope = tracejit.grad(lambda a: np.sum(crossed(a, b)))(a)
            for k in range(a.size):
                e = np.eye(1, a.size, k).reshape(a.shape)
                np.testing.assert_allclose(slope.flat[k], np.sum(crossed(e, b)), atol=1e-12)
