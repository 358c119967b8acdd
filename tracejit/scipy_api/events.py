"""`scipy.stats.poisson_binom`, the number of independent events with probabilities of their own.

All probabilities of counts come from one recursion that adds positive numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.distributions import double, method_of
from tracejit.scipy_api.formulas import Distribution, Formula, zero
from tracejit.scipy_api.plain_sums import chances_of_counts
from tracejit.scipy_api.quantiles import before_zero, counted_by, of_tails
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import as_operand, cast

__all__: list[str] = []

_NAME = "poisson_binom"


def _of_events(p: np.ndarray) -> Distribution:
    """Return the distribution of the number of events; the last axis of p is that of the events."""
    valid: Any = np.all((p >= 0.0) & (p <= 1.0), axis=-1)
    count = as_tracer(p).dims[-1]
    places: Any = cast(iota(count + 1), np.float64)
    last = cast(as_operand(count), np.float64) + np.where(valid, 0.0, 0.0)
    chances = call_function(chances_of_counts, (np.where(np.expand_dims(valid, -1), p, 0.5),
                                                places), {})

    def share(where: Formula, k: np.ndarray) -> Any:
        return np.sum(np.where(where(places, np.expand_dims(k, -1)), chances, 0.0), axis=-1)

    def tails(k: np.ndarray) -> tuple[Any, Any]:
        return share(np.less_equal, k), share(np.greater, k)

    return Distribution({
        "pmf": partial(share, np.equal), "logpmf": lambda k: np.log(share(np.equal, k)),
        **of_tails(tails, counted_by(tails, before_zero, lambda: last))}, (), lambda: valid, zero,
        lambda: last, 0.0, True)


def _method(what: str) -> Callable[..., Any]:
    first = "q" if what in ("ppf", "isf") else "k"

    def capture(*own: object, **kwargs: object) -> Any:
        missing = [name for name in (first, "p")[len(own):] if name not in kwargs]
        if missing:
            raise TypeError(f"{what}() missing {len(missing)} required positional argument(s): "
                            f"{missing}")
        x, *rest = own or (kwargs.pop(first),)
        p, *loc = rest or (kwargs.pop("p"),)
        return method_of(_NAME, _of_events(double(p)), what)(x, *loc, **kwargs)

    return capture


DISTRIBUTIONS[_NAME] = {what: _method(what) for what in (
    "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")}
