"""An array without axes, given an axis: for some functions of NumPy it has one, for others none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "argmax": lambda x, axis: np.argmax(x, axis=axis),
    "argmax, axes kept": lambda x, axis: np.argmax(x, axis=axis, keepdims=True),
    "argmin": lambda x, axis: np.argmin(x, axis=axis),
    "nanargmax": lambda x, axis: np.nanargmax(x, axis=axis),
    "sort": lambda x, axis: np.sort(x, axis=axis),
    "argsort": lambda x, axis: np.argsort(x, axis=axis),
    "partition": lambda x, axis: np.partition(x, 0, axis=axis),
    "argpartition": lambda x, axis: np.argpartition(x, 0, axis=axis),
    "cumsum": lambda x, axis: np.cumsum(x, axis=axis),
    "method cumsum": lambda x, axis: x.cumsum(axis),
    "cumprod": lambda x, axis: np.cumprod(x, axis=axis),
    "nancumsum": lambda x, axis: np.nancumsum(x, axis=axis),
    "take": lambda x, axis: np.take(x, 0, axis=axis),
    "repeat": lambda x, axis: np.repeat(x, 2, axis=axis),
    "compress": lambda x, axis: np.compress([True], x, axis=axis),
    "flip": lambda x, axis: np.flip(x, axis=axis),
    "roll": lambda x, axis: np.roll(x, 1, axis=axis),
    "sum": lambda x, axis: np.sum(x, axis=axis),
    "mean": lambda x, axis: np.mean(x, axis=axis),
    "median": lambda x, axis: np.median(x, axis=axis),
    "max": lambda x, axis: np.max(x, axis=axis),
    "all": lambda x, axis: np.all(x, axis=axis),
    "count_nonzero": lambda x, axis: np.count_nonzero(x, axis=axis),
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "diff of no order": lambda x, axis: np.diff(x, 0, axis=axis),
    "squeeze": lambda x, axis: np.squeeze(x, axis=axis),
    "expand_dims": lambda x, axis: np.expand_dims(x, axis),
}


def outcome(function: Callable[[], Any]) -> Any:
    """Return a result's elements, shape and kind, or the type of the error in its place."""
    try:
        result = np.asarray(function())
    except (ValueError, TypeError, IndexError) as error:
        return "refused" if isinstance(error, tracejit.Refusal) else type(error)
    return result.tolist(), result.shape, result.dtype


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_a_number_has_the_axes_that_it_has_for_numpy(name: str) -> None:
    function = FUNCTIONS[name]
    for x in (np.array(1.5), np.array(2.0 - 1.0j), np.array(3)):
        for axis in (0, -1, None, 1):
            with tracejit.config(disable_jit=True):
                found = outcome(lambda x=x, axis=axis: tracejit.jit(
                    lambda x: function(x, axis))(x))
            expected = outcome(lambda x=x, axis=axis: function(x, axis))
            assert found in ("refused", expected), (x, axis, expected)


@pytest.mark.parametrize("x", [1.5, 2.0 - 1.0j, 3], ids=["float", "complex", "int"])
def test_what_has_no_axis_can_be_a_number_of_python(x: Any) -> None:
    for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d, np.flip, np.ravel, np.argsort,
                     np.cumsum, np.squeeze):
        with tracejit.config(disable_jit=True):
            found = np.asarray(tracejit.jit(lambda x, f=function: f(x))(x))
        expected = np.asarray(function(x))
        assert (found.tolist(), found.shape) == (expected.tolist(), expected.shape), function
