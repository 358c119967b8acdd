"""The distributions of `scipy.stats` where a formula's cases meet: medians, centres, ends.

Values are SciPy's there, and derivatives are differences' wherever these tell that a function is
smooth: `test_special_at_seams.py` has the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from test_distributions import OF_COUNTS, OF_METHODS, OF_VECTORS, SHAPES
from test_special_at_seams import differences

import tracejit
from tracejit.trace.ground.dispatch import DISTRIBUTIONS

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = [(name, what) for name, methods in DISTRIBUTIONS.items() for what in methods
         if name not in (*OF_VECTORS, *OF_COUNTS) and what not in (*OF_METHODS, "fit")]
SHARES = [0.05, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 0.95]
PLACES = [-2.0, -1.0, -0.7, -0.5, -0.25, 0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0, 1.3, 2.0, 3.0]
POINTED = {"dgamma", "dweibull", "gennorm"}
"""Of which a derivative at the centre is infinite, or differences of a pointed density are off."""
JUMPS: dict[str, Callable[..., Any]] = {
    "ksone": lambda x, n: x * n == 1.0, "kstwo": lambda x, n: (x == 0.5) & (n <= 2.0)}
"""Where a density jumps, at a place and a shape: SciPy has either side there."""
INTEGRATED = {"gausshyper"}
"""Of which SciPy's shares are quadratures, too rough to be subtracted; see the last test."""
NAN_IN_SCIPY = {"mielke", "genhalflogistic"}
"""Of which SciPy has NaN at an end, where there is a density."""

ABOUT = {"ppf": 1e-13, "isf": 1e-13}
"""How far off numbers next to 0 may be: SciPy finds some quantiles as roots, within 1e-14."""


def arguments(name: str, what: str) -> list[np.ndarray]:
    """Return the numbers of a method, each with usual shapes and with 1, 2 and 0.5 for them."""
    usual = SHAPES.get(name, ())
    shapes = {usual, *(tuple(v for _ in usual) for v in (1.0, 2.0, 0.5))}
    at = SHARES if what in ("ppf", "isf") else PLACES
    return [np.array(x) for x in zip(*((y, *s) for s in sorted(shapes) for y in at), strict=True)]


@pytest.mark.parametrize(("name", "what"), CASES)
def test_values_and_derivatives_are_scipys(name: str, what: str) -> None:
    method, args = getattr(getattr(stats, name), what), arguments(name, what)

    def total(*xs: Any) -> Any:
        return np.sum(method(*xs))

    with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
        expected, found = method(*args), tracejit.jit(lambda *xs: method(*xs))(*args)
        alike = np.isclose(found, expected, rtol=1e-8, atol=ABOUT.get(what, 1e-15),
                           equal_nan=True)
        unlike = (args[0] == 0.0) & ((name, what) == ("ncx2", "logpdf"))  # SciPy's pdf is 0
        if name in JUMPS and what in ("pdf", "logpdf"):
            alike |= JUMPS[name](*args[:2])
        alike |= unlike
        wrong = np.flatnonzero(~alike & ~(np.isnan(expected) & (name in NAN_IN_SCIPY)))
        assert not [(*(x[k] for x in args), found[k], expected[k]) for k in wrong]
        for place in range(len(args) if name not in INTEGRATED or "pdf" in what else 0):
            known, _ = differences(lambda *xs: method(*xs), args, place)
            slopes = tracejit.grad(total, argnums=place)(*args)
            off = known.known & ~unlike & ~(np.abs(slopes - known.value) <= known.tolerance)
            off &= (args[0] != (0.5 if what in ("ppf", "isf") else 0.0)) | (name not in POINTED)
            assert not [(place, *(x[k] for x in args), slopes[k], known.value[k])
                        for k in np.flatnonzero(off)]


@pytest.mark.parametrize("what", ["cdf", "logcdf", "ppf", "isf"])
def test_at_its_centre_a_pointed_density_has_the_slope_of_its_quantiles(what: str) -> None:
    for shape in (1.0, 1.6, 2.0):
        with tracejit.config(disable_jit=True):
            slope = tracejit.grad(lambda x, b: getattr(stats.gennorm, what)(x, b))(
                0.5 if what in ("ppf", "isf") else 0.0, shape)
        density = stats.gennorm.pdf(0.0, shape)
        expected = {"cdf": density, "logcdf": 2.0 * density, "ppf": 1.0 / density,
                    "isf": -1.0 / density}[what]
        assert np.isclose(slope, expected, rtol=1e-12)


SHAPES_OF_GAUSSHYPER = [(1.0, 1.0, 1.0, 1.0), (2.0, 2.0, 2.0, 2.0), (2.0, 1.0, 1.5, 1.0),
                        (2.0, 2.5, 1.0, 0.5)]


def _share(x: float, a: float, b: float, c: float, z: float) -> float:
    """Return the share of gausshyper's density below a place, by two quadratures."""
    def density(t: float) -> Any:
        return t ** (a - 1.0) * (1.0 - t) ** (b - 1.0) * (1.0 + z * t) ** -c

    below, whole = (quad(density, 0.0, end, epsabs=1e-14, epsrel=1e-13)[0] for end in (x, 1.0))
    return float(below / whole)


@pytest.mark.parametrize("shapes", SHAPES_OF_GAUSSHYPER)
@pytest.mark.parametrize("x", [0.1, 0.3, 0.75])
def test_slopes_of_gausshyper_are_differences_of_quadratures(
        x: float, shapes: tuple[float, ...]) -> None:
    at, h = np.array([x, *shapes]), 1e-4
    every = tuple(range(5))
    with tracejit.config(disable_jit=True):
        slopes = np.array(tracejit.grad(lambda *v: stats.gausshyper.cdf(*v), every)(*at))
        above = np.array(tracejit.grad(lambda *v: stats.gausshyper.sf(*v), every)(*at))
        p = _share(*at)
        quantile = tracejit.grad(lambda *v: stats.gausshyper.ppf(*v), every)(p, *shapes)
    step = h * np.eye(5)
    expected = np.array([(8.0 * (_share(*at + e) - _share(*at - e)) - _share(*at + 2.0 * e)
                          + _share(*at - 2.0 * e)) / (12.0 * h) for e in step])
    assert np.allclose(slopes, expected, rtol=1e-9, atol=1e-10)
    assert np.allclose(above, -expected, rtol=1e-9, atol=1e-10)
    along = np.array([1.0, *-expected[1:]]) / expected[0]  # x moves so that the share stays
    assert np.allclose(quantile, along, rtol=1e-8, atol=1e-9)
