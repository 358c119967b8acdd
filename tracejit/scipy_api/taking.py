"""Which arrays SciPy's functions are captured of: of which dtypes, and none that is empty."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.emptiness import is_nothing, require_items
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import dims_of, dtype_of
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__ = ["captures_of_some", "of_finite"]


REMEDY = "Return something else where the size is 0"


def captures_of_some(module: str, captures: dict[str, Callable[..., object]],
                     kinds: str = "biufc", least: int = 1) -> None:
    """Enter captures of functions that refuse empty arrays, and arrays of other dtypes.

    kinds, least -- the kinds of dtypes, and the bytes of an element
    """
    scipy_captures(module, {name: _checked(f"{module}.{name}", capture, kinds, least)
                            for name, capture in captures.items()})


def of_finite(label: str, *arrays: np.ndarray) -> None:
    """Refuse in the run numbers that are infinite or NaN, of which SciPy's result is another."""
    for x in arrays:
        require_ours(np.all(np.isfinite(x)), NotCaptured, f"{label} of numbers that are infinite "
                     "or NaN cannot be captured. Leave them out, or call it outside")


def _checked(label: str, capture: Callable[..., object], kinds: str,
             least: int) -> Callable[..., Any]:
    @functools.wraps(capture)
    def checked(*args: object, **kwargs: object) -> Any:
        for x in (*args, *kwargs.values()):
            if not isinstance(x, (Tracer, np.ndarray)):
                continue
            if (kind := dtype_of(x)).kind not in kinds or kind.itemsize < least:
                raise refuse(f"{label} of an array of {kind} cannot be captured",
                             "Convert it with .astype(float)")
            if any(map(is_nothing, dims_of(x))):
                raise refuse(f"{label} of an empty array cannot be captured", REMEDY)
            for d in dims_of(x):
                require_items(d, NotCaptured, f"{label} of an empty array cannot be captured. "
                              f"{REMEDY}")
        return capture(*args, **kwargs)

    return checked
