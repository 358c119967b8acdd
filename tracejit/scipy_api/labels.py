"""Numbers of the regions of an image that labels name, of `scipy.ndimage`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.python_numbers import require_ours

__all__: list[str] = []

_Question = Callable[[np.ndarray, np.ndarray], Any]


def _asked(name: str, question: _Question, may_be_empty: bool) -> Callable[..., Any]:
    """Return the capture of a function of the numbers of each region.

    question     -- (numbers, whether each is of the region), both of one axis, to a number
    may_be_empty -- whether SciPy has a number for a region of no points
    """
    def capture(input: object, labels: object = None, index: object = None) -> Any:
        x: Any = as_tracer(input)
        if x.dtype.kind != "f":
            raise refuse(f"scipy.ndimage.{name} of an image of {x.dtype} cannot be captured",
                         "Convert it with .astype(float)", "TJ206")
        if labels is None:
            return question(np.ravel(x), np.ravel(x) == np.ravel(x))
        given: Any = as_tracer(labels)
        if given.dtype.kind not in "biu":
            raise refuse(f"scipy.ndimage.{name} of labels that are not ints cannot be captured",
                         "Make them ints", "TJ206")
        x, given = np.broadcast_arrays(x, given)
        values, names = np.ravel(x), np.ravel(given)
        if index is None:
            return one(values, names > 0)
        which: Any = as_tracer(index)
        if which.dtype.kind not in "biu" or which.ndim > 1:
            raise refuse(f"scipy.ndimage.{name} of an index= that is no int or list of ints cannot "
                         "be captured", "Pass a list of ints", "TJ205")
        if not which.ndim:
            return one(values, names == which)
        count = known_length(which, "how many regions are asked for")
        if not count:
            raise refuse(f"scipy.ndimage.{name} of no regions cannot be captured",
                         "Return something else where there are none", "TJ213")
        return np.stack([one(values, names == which[k]) for k in range(count)])

    def one(values: np.ndarray, inside: np.ndarray) -> Any:
        if not may_be_empty:
            require_ours(np.any(inside), NotCaptured, f"scipy.ndimage.{name} of a region of no "
                         "points cannot be captured")
        return question(values, inside)

    return capture


def _total(x: np.ndarray, inside: np.ndarray) -> Any:
    return np.sum(np.where(inside, x, 0.0))


def _mean(x: np.ndarray, inside: np.ndarray) -> Any:
    return _total(x, inside) / np.sum(inside)


def _variance(x: np.ndarray, inside: np.ndarray) -> Any:
    away = np.where(inside, x - _mean(x, inside), 0.0)
    return np.sum(away * away) / np.sum(inside)


def _least(x: np.ndarray, inside: np.ndarray) -> Any:
    return np.min(np.where(inside, x, np.inf))


def _most(x: np.ndarray, inside: np.ndarray) -> Any:
    return np.max(np.where(inside, x, -np.inf))


def _median(x: np.ndarray, inside: np.ndarray) -> Any:
    ordered = np.sort(np.where(inside, x, np.inf))
    count = np.sum(inside)
    return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2.0


_QUESTIONS: dict[str, tuple[_Question, bool]] = {
    "sum": (_total, True), "sum_labels": (_total, True), "mean": (_mean, False),
    "variance": (_variance, False),
    "standard_deviation": (lambda x, inside: np.sqrt(_variance(x, inside)), False),
    "minimum": (_least, False), "maximum": (_most, False), "median": (_median, False)}

captures_of_finite("scipy.ndimage", {
    name: _asked(name, *row) for name, row in _QUESTIONS.items()}, "biuf")
