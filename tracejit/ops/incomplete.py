"""Parts of the gamma, beta and Student's distributions, with all derivatives, and quantiles.

The derivative of a part by a shape is the part with one more power of the centred logarithm;
centring makes its own derivatives, of the lower powers, out of trigamma functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir import counts, incomplete
from tracejit.ops.cotangents import Primal
from tracejit.ops.gamma import digamma, trigamma
from tracejit.ops.kinds import elementwise
from tracejit.trace.values.equations import apply, cast

__all__ = ["of_numbers", "student_by_df"]


def of_numbers(function: Callable[..., float]) -> Callable[..., Any]:
    """Return a scalar function as one of arrays: infinity and NaN where Python's `math` raises."""

    def quietly(*xs: float) -> float:
        try:
            return function(*map(float, xs))
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    whole = np.vectorize(quietly, otypes=[np.float64])
    return lambda *xs: whole(*xs).astype(np.asarray(xs[0]).dtype)


def _double(x: object) -> Any:
    return cast(x, np.float64)


# --- the gamma distribution ---------------------------------------------------------------------


def _log_away(a: Primal, x: Primal) -> Any:
    """Return how far log(x) is from its mean, 0 at x = 0."""
    return np.where(x > 0.0, np.log(np.where(x > 0.0, x, 1.0)), 0.0) - digamma(a)


def _density_partials(z: Primal, a: Primal, x: Primal) -> tuple[Any, Any]:
    slope = np.where(a == 1.0, 0.0, (a - 1.0) / np.where(x == 0.0, 1.0, x)) - 1.0
    return np.where(x == 0.0, 0.0, z * _log_away(a, x)), z * slope


def _power(x: object, k: object) -> Any:
    """Return a small whole power, which is a constant."""
    result: Any = 1.0
    for _ in range(int(k)):  # type: ignore[call-overload]
        result = result * x
    return result


def _gamma_part_partials(z: Primal, a: Primal, x: Primal, k: Primal) -> tuple[Any, Any, None]:
    by_a = apply("gamma_part", a, x, k + 1.0)
    if k:
        by_a = by_a - k * trigamma(a) * apply("gamma_part", a, x, k - 1.0)
    return by_a, apply("gamma_density", a, x) * _power(_log_away(a, x), k), None


def _gamma_quantile_partials(z: Primal, a: Primal, p: Primal, q: Primal) -> tuple[Any, Any, None]:
    density = apply("gamma_density", a, z)
    return -apply("gamma_part", a, z, 1.0) / density, 1.0 / density, None


def _positive(*ts: np.ndarray) -> list[Any]:
    return [np.exp(_double(t)) for t in ts]


def _share(t: np.ndarray) -> tuple[Any, Any]:
    """Return a number between 0 and 1, and its difference to 1."""
    x: Any = _double(t)
    return 0.5 + 0.2 * x, 0.5 - 0.2 * x


elementwise("gamma_density", None, "gamma_density({0}, {1})", _density_partials, cost=60.0,
            reference=of_numbers(incomplete.gamma_density), domain=(0.5, 3.0))
elementwise("gamma_part", None, "gamma_part({0}, {1}, {2})", _gamma_part_partials, cost=3000.0,
            reference=of_numbers(incomplete.gamma_part), samples=lambda n: [
                ((n,), (n,), lambda t, u: apply("gamma_part", *_positive(t, u), 0.0)),
                ((2,), (2,), lambda t, u: apply("gamma_part", *_positive(t, u), 1.0))])
elementwise("gamma_quantile", None, "gamma_quantile({0}, {1}, {2})", _gamma_quantile_partials,
            cost=20000.0, reference=of_numbers(incomplete.gamma_quantile), samples=lambda n: [
                ((n,), (n,), lambda t, u: apply("gamma_quantile", *_positive(t), *_share(u)))])


# --- the beta distribution ----------------------------------------------------------------------


def _logs_away(a: Primal, b: Primal, x: Primal, y: Primal) -> tuple[Any, Any]:
    """Return how far log(x) and log(y) are from their means, from 0 at 0."""
    of_s = digamma(a + b)
    return tuple(np.where(v > 0.0, np.log(np.where(v > 0.0, v, 1.0)), 0.0) - digamma(s) + of_s
                 for v, s in ((x, a), (y, b)))


def _beta_density_partials(z: Primal, a: Primal, b: Primal, x: Primal,
                           y: Primal) -> tuple[Any, Any, Any, None]:
    by_a, by_b = _logs_away(a, b, x, y)
    end = (x == 0.0) | (y == 0.0)
    slope = (a - 1.0) / np.where(x == 0.0, 1.0, x) - (b - 1.0) / np.where(y == 0.0, 1.0, y)
    return np.where(end, 0.0, z * by_a), np.where(end, 0.0, z * by_b), z * slope, None


def _beta_part_partials(z: Primal, a: Primal, b: Primal, x: Primal, y: Primal, j: Primal,
                        k: Primal) -> tuple[Any, ...]:
    by_a = apply("beta_part", a, b, x, y, j + 1.0, k)
    by_b = apply("beta_part", a, b, x, y, j, k + 1.0)
    if j or k:
        of_s = trigamma(a + b)
    if j:
        lower = j * apply("beta_part", a, b, x, y, j - 1.0, k)
        by_a, by_b = by_a - (trigamma(a) - of_s) * lower, by_b + of_s * lower
    if k:
        lower = k * apply("beta_part", a, b, x, y, j, k - 1.0)
        by_a, by_b = by_a + of_s * lower, by_b - (trigamma(b) - of_s) * lower
    of_x, of_y = _logs_away(a, b, x, y) if j or k else (1.0, 1.0)
    by_x = apply("beta_density", a, b, x, y) * _power(of_x, j) * _power(of_y, k)
    return by_a, by_b, by_x, None, None, None


def _beta_quantile_partials(z: Primal, a: Primal, b: Primal, p: Primal,
                            q: Primal) -> tuple[Any, Any, Any, None]:
    rest = 1.0 - z
    density = apply("beta_density", a, b, z, rest)
    by_a = apply("beta_part", a, b, z, rest, 1.0, 0.0)
    by_b = apply("beta_part", a, b, z, rest, 0.0, 1.0)
    return -by_a / density, -by_b / density, 1.0 / density, None


elementwise("beta_density", None, "beta_density({0}, {1}, {2}, {3})", _beta_density_partials,
            cost=80.0, reference=of_numbers(incomplete.beta_density), samples=lambda n: [
                ((n,), (n,), (n,), lambda t, u, v: apply(
                    "beta_density", *_positive(t, u), *_share(v)))])
elementwise("beta_part", None, "beta_part({0}, {1}, {2}, {3}, {4}, {5})", _beta_part_partials,
            cost=4000.0, reference=of_numbers(incomplete.beta_part), samples=lambda n: [
                ((n,), (n,), (n,), lambda t, u, v: apply(
                    "beta_part", *_positive(t, u), *_share(v), 0.0, 0.0)),
                ((2,), (2,), (2,), lambda t, u, v: apply(
                    "beta_part", *_positive(t, u), *_share(v), 1.0, 1.0))])
elementwise("beta_quantile", None, "beta_quantile({0}, {1}, {2}, {3})", _beta_quantile_partials,
            cost=30000.0, reference=of_numbers(incomplete.beta_quantile), samples=lambda n: [
                ((n,), (n,), (n,), lambda t, u, v: apply(
                    "beta_quantile", *_positive(t, u), *_share(v)))])


# --- Student's distribution ---------------------------------------------------------------------


def _student_density(y: Primal, df: Primal) -> Any:
    """Return the density of Student's distribution; of an infinite `df` the normal one."""
    far = np.isinf(df)
    r = np.where(far, 1.0, df)
    half = 0.5 * r
    top, rest = half / (half + 0.5), 0.5 / (half + 0.5)
    of_beta = apply("beta_density", half, _double(0.5), top, rest) * np.sqrt(rest)
    near = of_beta / np.sqrt(r) * np.exp((half - 1.0) * np.log1p(0.5 / half) - (
        half + 0.5) * np.log1p(y * y / r))
    return np.where(far, np.exp(-0.5 * y * y) / math.sqrt(2.0 * math.pi), near)


def student_by_df(y: Primal, df: Primal) -> Any:
    """Return the derivative of Student's distribution function by its degrees of freedom."""
    middle = y == 0.0
    t: Any = np.where(middle, 1.0, y)
    square = t * t
    part = apply("beta_part", 0.5 * df, _double(0.5), df / (df + square), square / (df + square),
                 1.0, 0.0)
    off = -0.25 * np.sign(t) * part - 0.5 * t * _student_density(t, df) / df
    slope = 0.5 * (digamma(0.5 * df + 0.5) - digamma(0.5 * df) - 1.0 / df)
    return np.where(middle, y * slope * _student_density(y, df), off)


elementwise("student_t", None, "student_t({0}, {1})",
            lambda z, y, df: (_student_density(y, df), student_by_df(y, df)), cost=4000.0,
            reference=of_numbers(incomplete.student_t), samples=lambda n: [
                ((n,), (n,), lambda t, u: apply("student_t", _double(t), *_positive(u)))])
elementwise("student_t_quantile", None, "student_t_quantile({0}, {1}, {2})",
            lambda z, p, q, df: (1.0 / _student_density(z, df), None, -student_by_df(
                z, df) / _student_density(z, df)), cost=60000.0,
            reference=of_numbers(incomplete.student_t_quantile), samples=lambda n: [
                ((n,), (n,), lambda t, u: apply(
                    "student_t_quantile", *_share(t), *_positive(u)))])

# --- counts -------------------------------------------------------------------------------------

elementwise("count_quantile", None, "count_quantile({0}, {1}, {2}, {3})", cost=50000.0,
            reference=of_numbers(counts.count_quantile), samples=lambda n: [
                ((n,), (n,), lambda t, u: apply(
                    "count_quantile", 0.0, _share(t)[0], *_positive(u), 0.0))])
