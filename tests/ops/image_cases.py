"""Cases for regions and shapes in images of `scipy.ndimage`: a function and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

__all__ = ["IMAGE_CASES"]

RNG = np.random.default_rng(4)
LINE, IMAGE = RNG.standard_normal(9), RNG.standard_normal((5, 6))
LABELS = np.array([[0, 1, 1, 2, 2, 0], [1, 1, 0, 2, 0, 3], [0, 3, 3, 3, 0, 0], [2, 2, 0, 0, 1, 1],
                   [0, 0, 0, 3, 0, 0]])
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
BUMP = np.array([[0.1, 0.4, 0.2], [0.3, 0.8, 0.5], [0.0, 0.2, 0.6]])
SPECTRUM = np.fft.fft2(IMAGE)


def _of(name: str, *keys: Any, **words: Any) -> Any:
    return lambda *xs: getattr(ndimage, name)(*xs, *keys, **words)


_SHAPES = ("grey_dilation", "grey_erosion", "grey_closing", "grey_opening",
           "morphological_gradient", "morphological_laplace", "white_tophat", "black_tophat")
_CASES: dict[str, list[tuple[Any, ...]]] = {
    **{name: [(_of(name), IMAGE), (_of(name, LABELS), IMAGE), (_of(name, LABELS, 2), IMAGE),
              (_of(name, LABELS, [3, 1]), IMAGE), (_of(name, np.arange(6) % 3, [1, 2]), IMAGE)]
       for name in ("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum",
                    "maximum", "median")},
    **{name: [(_of(name, size=3), IMAGE), (_of(name, footprint=CROSS, mode="nearest"), IMAGE),
              (_of(name, structure=BUMP), IMAGE), (_of(name, size=5, mode="constant"), LINE)]
       for name in _SHAPES},
    "rank_filter": [(_of("rank_filter", 2, 3), IMAGE), (_of("rank_filter", -2, footprint=CROSS),
                                                        IMAGE), (_of("rank_filter", 0, 3), LINE)],
    "percentile_filter": [(_of("percentile_filter", p, 3), IMAGE) for p in (20, -30, 100)],
    "spline_filter": [(_of("spline_filter", order), IMAGE) for order in (2, 3, 5)] + [
        (_of("spline_filter", mode="reflect"), IMAGE)],
    "spline_filter1d": [(_of("spline_filter1d", order, axis=0), IMAGE) for order in (1, 3, 4)],
    **{name: [(_of(name), SPECTRUM, 0.7), (_of(name), SPECTRUM, np.array([0.6, 1.3])),
              (_of(name, n=6), np.fft.rfft2(IMAGE), 0.7)]
       for name in ("fourier_gaussian", "fourier_uniform", "fourier_shift")},
}
IMAGE_CASES = {f"scipy.ndimage.{name}": cases for name, cases in _CASES.items()}
