"""Which arrays SciPy's functions are captured of: of which dtypes, and none that is empty."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.emptiness import is_nothing, require_items
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import dims_of, dtype_of
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__ = ["captures_of_finite", "captures_of_some", "constant_of", "of_finite"]


REMEDY = "Return something else where the size is 0"


def captures_of_some(module: str, captures: dict[str, Callable[..., object]],
                     kinds: str = "biufc", least: int = 1) -> None:
    """Enter captures of functions that refuse empty arrays, and arrays of other dtypes.

    kinds, least -- the kinds of dtypes, and the bytes of an element
    """
    scipy_captures(module, {name: _checked(f"{module}.{name}", capture, kinds, least)
                            for name, capture in captures.items()})


def captures_of_finite(module: str, captures: dict[str, Callable[..., object]],
                       kinds: str = "f") -> None:
    """Enter captures of functions of arrays in double precision, lists of them in depth, whose
    numbers are all finite."""
    scipy_captures(module, {name: _of_finite_alone(f"{module}.{name}", capture, kinds)
                            for name, capture in captures.items()})


def _of_finite_alone(label: str, capture: Callable[..., object], kinds: str) -> Callable[..., Any]:
    @functools.wraps(capture)
    def checked(*args: object, **kwargs: object) -> Any:
        for x in _arrays((*args, *kwargs.values())):
            _check(label, x, kinds, {"f": 8, "c": 16}.get(dtype_of(x).kind, 1))
            if isinstance(x, Tracer) and dtype_of(x).kind in "fc":
                of_finite(label, x)  # type: ignore[arg-type]
        return capture(*args, **kwargs)

    return checked


def constant_of(x: object, label: str) -> Any:
    """Return a number that no argument comes into, or refuse one that does."""
    if not isinstance(x, TracedOperand):
        return x
    known = known_array(x, f"{label} is computed with it while the function is captured")
    if known is None:
        raise refuse(f"{label} of a traced parameter cannot be captured", "Use a constant", "TJ205")
    return known.item()


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
            if isinstance(x, (Tracer, np.ndarray)):
                _check(label, x, kinds, least)
        return capture(*args, **kwargs)

    return checked


def _check(label: str, x: Tracer | np.ndarray, kinds: str, least: int) -> None:
    if (kind := dtype_of(x)).kind not in kinds or kind.itemsize < least:
        raise refuse(f"{label} of an array of {kind} cannot be captured",
                     "Convert it with .astype(float)", "TJ206")
    if any(map(is_nothing, dims_of(x))):
        raise refuse(f"{label} of an empty array cannot be captured", REMEDY, "TJ213")
    for d in dims_of(x):
        require_items(d, NotCaptured, f"{label} of an empty array cannot be captured. {REMEDY}")


def _arrays(given: Iterable[object]) -> Iterator[Tracer | np.ndarray]:
    """Yield the arrays among arguments, lists and tuples in depth."""
    for x in given:
        if isinstance(x, (list, tuple)):
            yield from _arrays(x)
        elif isinstance(x, (Tracer, np.ndarray)):
            yield x
