"""The common parts of distributions' formulas: their form, ends, and parts of the normal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.trace.values.equations import apply

__all__ = ["HALF_LOG_2_PI", "LOG_2", "LOG_PI", "ROOT_HALF", "Distribution", "Formula", "below",
           "beyond", "expit", "log_expit", "log_of_rest", "ndtr", "of_log_sf", "one",
           "positive", "size", "symmetric", "zero"]

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Distribution:
    """A distribution without location and scale.

    formulas -- from a method's name to its formula, of a number and the shapes
    shapes   -- the names of the shapes
    valid    -- whether shapes are right
    low, high -- the ends of the numbers of positive density, of the shapes
    inner    -- a number between them, for all valid shapes
    discrete -- whether its numbers are whole
    harmless -- what stands for shapes that are wrong, for all or for each of them
    nothing_at_ends -- whether the density is 0 at both ends, where its formula has no value
    """

    formulas: dict[str, Formula]
    shapes: tuple[str, ...] = ()
    valid: Formula = lambda: True
    low: Formula = lambda *shapes: -np.inf
    high: Formula = lambda *shapes: np.inf
    inner: float = 0.5
    discrete: bool = False
    nothing_at_ends: bool = False
    harmless: float | tuple[float, ...] = 1.0

    def safe(self, valid: np.ndarray, shapes: Sequence[np.ndarray]) -> list[Any]:
        """Return shapes, and harmless ones where they are wrong."""
        each = self.harmless if isinstance(self.harmless, tuple) else (self.harmless,) * len(shapes)
        return [np.where(valid, s, other) for s, other in zip(shapes, each, strict=True)]


HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
LOG_2, LOG_PI, ROOT_HALF = math.log(2.0), math.log(math.pi), math.sqrt(0.5)


def ndtr(y: np.ndarray) -> Any:
    return 0.5 * apply("erfc", -ROOT_HALF * y)


def positive(*shapes: np.ndarray) -> Any:
    valid: Any = True
    for s in shapes:
        valid = valid & (s > 0.0)
    return valid


def zero(*shapes: object) -> float:
    return 0.0


def one(*shapes: object) -> float:
    return 1.0


def below(*shapes: object) -> float:
    return -np.inf


def beyond(*shapes: object) -> float:
    return np.inf


def log_expit(y: np.ndarray) -> Any:
    return -np.logaddexp(0.0, -y)


def size(y: np.ndarray) -> Any:
    """Return |y|, whose derivative at 0 is that from below, for formulas by cases on y > 0.

    The derivative of `np.abs` at 0 is 0, which belongs to neither of the cases.
    """
    return np.where(y > 0.0, y, -y)


def expit(y: np.ndarray) -> Any:
    e = np.exp(-size(y))
    return np.where(y > 0.0, 1.0 / (1.0 + e), e / (1.0 + e))


def log_of_rest(log: np.ndarray) -> Any:
    """Return log(1 - exp(log)) of a negative number."""
    far = log < -LOG_2
    return np.where(far, np.log1p(-np.exp(np.where(far, log, -1.0))),
                    np.log(-np.expm1(np.where(far, -1.0, log))))


def of_log_sf(log_sf: Formula, log_pdf: Formula, quantile: Formula) -> dict[str, Formula]:
    """Return the formulas of a distribution whose survival function is simple.

    quantile -- of the negative logarithm of the survival function
    """
    return {"logpdf": log_pdf, "logsf": log_sf, "sf": lambda y, *s: np.exp(log_sf(y, *s)),
            "cdf": lambda y, *s: -np.expm1(log_sf(y, *s)),
            "logcdf": lambda y, *s: log_of_rest(log_sf(y, *s)),
            "ppf": lambda q, *s: quantile(-np.log1p(-q), *s),
            "isf": lambda q, *s: quantile(-np.log(q), *s)}


def symmetric(log_pdf: Formula, cdf: Formula, log_cdf: Formula,
               ppf: Formula) -> dict[str, Formula]:
    return {"logpdf": log_pdf, "cdf": cdf, "sf": lambda y: cdf(-y), "logcdf": log_cdf,
            "logsf": lambda y: log_cdf(-y), "ppf": ppf, "isf": lambda q: -ppf(q)}
