"""The check of SciPy's functions of matrices that no element is infinite or NaN."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require

__all__ = ["checks_finite", "require_finite"]

_MATRICES = frozenset({
    "A", "B", "E", "a", "a_band", "ab", "b", "c_or_cr", "c_and_lower", "d", "e"})
"""The parameters whose elements SciPy looks at."""


def checks_finite(function: Callable[..., object]) -> Callable[..., Any]:
    """Return a capture that raises SciPy's error of an infinity or NaN, unless told not to."""
    signature = inspect.signature(function)
    check = inspect.Parameter("check_finite", inspect.Parameter.KEYWORD_ONLY, default=True)

    @functools.wraps(function)
    def capture(*args: object, check_finite: object = True, **kwargs: object) -> Any:
        if isinstance(check_finite, TracedOperand):
            raise refuse("check_finite= that is traced cannot be captured", "Pass True or False",
                         "TJ205")
        if check_finite:
            for name, x in signature.bind(*args, **kwargs).arguments.items():
                if name in _MATRICES:
                    require_finite(x)
        return function(*args, **kwargs)

    named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    setattr(capture, "__signature__", inspect.Signature([*named, check]))  # noqa: B010
    return capture


def require_finite(x: object) -> None:
    """Require of an array, of each in a tuple, or of None, that no number is infinite or NaN."""
    for part in x if isinstance(x, tuple) else (x,):
        values = None if part is None else as_tracer(part)
        if values is not None and values.dtype.kind in "fc":
            require(np.all(np.isfinite(values)), ValueError,
                    "array must not contain infs or NaNs")
