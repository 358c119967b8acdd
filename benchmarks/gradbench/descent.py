"""The descent of GradBench's `particle` and `saddle`: a step that doubles and halves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["argmax", "argmin"]

SMALL = 1e-5
"""Lengths of gradients and steps at which the descent ends; also the first step's factor."""


def argmin(f: Callable[[Any], Any], gradient: Callable[[Any], Any], x: Any) -> Any:
    value, slope = f(x), gradient(x)
    factor = SMALL
    accepted = 0
    while np.sqrt(np.sum(slope * slope)) > SMALL:
        if accepted == 10:
            factor = factor * 2.0
            accepted = 0
        else:
            tried = x - factor * slope
            step = x - tried
            if np.sqrt(np.sum(step * step)) <= SMALL:
                break
            at = f(tried)
            if at < value:
                x, value, slope = tried, at, gradient(tried)
                accepted = accepted + 1
            else:
                factor = factor / 2.0
                accepted = 0
    return x


def argmax(f: Callable[[Any], Any], gradient: Callable[[Any], Any], x: Any) -> Any:
    return argmin(lambda y: -f(y), lambda y: -gradient(y), x)
