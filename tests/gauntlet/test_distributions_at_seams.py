"""The distributions of `scipy.stats` where a formula's cases meet: medians, centres, ends.

Values are SciPy's there, and derivatives are differences' wherever these tell that a function is
smooth: `test_special_at_seams.py` has the way.
"""

from __future__ import annotations

import math
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
    "ksone": lambda x, n: (x * n == 1.0) & (n > 1.0), "kstwo": lambda x, n: (x == 0.5) & (n <= 2.0)}
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


P = np.polynomial.Polynomial([0.0, 1.0])
MASSES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    **{f"binom {k}": (lambda p, k=k: stats.binom.pmf(k, 5, p),
                      math.comb(5, k) * P ** k * (1.0 - P) ** (5 - k)) for k in range(6)},
    "bernoulli 0": (lambda p: stats.bernoulli.pmf(0, p), 1.0 - P),
    "bernoulli 1": (lambda p: stats.bernoulli.pmf(1, p), P),
    "poisson 1": (lambda m: stats.poisson.pmf(1, m), P * (1.0 - P + P ** 2 / 2)),
    "poisson 2": (lambda m: stats.poisson.pmf(2, m), P ** 2 * (1.0 - P) / 2.0),
    "multinomial 1": (lambda p: stats.multinomial.pmf([1, 2], 3, np.array([p, 1.0 - p])),
                      3.0 * P * (1.0 - P) ** 2),
    "multinomial 0": (lambda p: stats.multinomial.pmf([0, 3], 3, np.array([p, 1.0 - p])),
                      (1.0 - P) ** 3),
    **{f"geom {k}": (lambda p, k=k: stats.geom.pmf(k, p), P * (1.0 - P) ** (k - 1))
       for k in (1, 2, 3, 6)},
    "geom cdf": (lambda p: stats.geom.cdf(2, p), 1.0 - (1.0 - P) ** 2),
    **{f"nbinom {k}": (lambda p, k=k: stats.nbinom.pmf(k, 2, p),
                       (k + 1.0) * P ** 2 * (1.0 - P) ** k) for k in (0, 1, 2, 5)}}
"""Probabilities, and the polynomials that they are (of Poisson's, the first terms)."""


@pytest.mark.parametrize("disable_jit", [True, False])
@pytest.mark.parametrize("name", MASSES)
def test_masses_are_polynomials_up_to_the_ends_of_their_shares(name: str,
                                                               disable_jit: bool) -> None:
    mass, polynomial = MASSES[name]
    if not disable_jit and name not in ("binom 1", "multinomial 1", "geom cdf"):
        pytest.skip("compiled, three of them tell")
    ends = {"poisson": (0.0,), "geom": (1.0,), "nbinom": (1.0,)}.get(name.split()[0], (0.0, 1.0))
    with tracejit.config(disable_jit=disable_jit):
        slope = tracejit.grad(mass)
        both = tracejit.jit(lambda p: (mass(p), slope(p), tracejit.grad(slope)(p)))
        for end in ends:
            for p in (end, abs(end - 1e-9)):
                expected = [polynomial.deriv(k)(p) if k else polynomial(p) for k in range(3)]
                np.testing.assert_allclose(both(p), expected, rtol=1e-7, atol=1e-13)


SMOOTH_AT_ENDS = {"gamma": (2.0, 3.0), "erlang": (2.0,), "chi2": (4.0,), "beta": ((2.0, 3.0),),
                  "rayleigh": ((),), "maxwell": ((),), "chi": (2.0, 3.0), "nakagami": (1.0,),
                  "weibull_min": (2.0, 3.0), "powerlaw": (2.0, 3.0),
                  "burr12": ((2.0, 2.0),), "exponpow": (2.0,), "f": ((4.0, 3.0),)}
"""Densities that are powers of a place next to an end at 0, and some of their shapes."""


@pytest.mark.parametrize("name", SMOOTH_AT_ENDS)
def test_densities_have_the_slopes_of_their_side_at_an_end(name: str) -> None:
    for shapes in SMOOTH_AT_ENDS[name]:
        args = shapes if isinstance(shapes, tuple) else (shapes,)

        def density(x: Any, args: Any = args) -> Any:
            return np.sum(getattr(stats, name).pdf(x, *args))

        slope = tracejit.grad(density)
        with tracejit.config(disable_jit=True):
            for x in (0.0, 1e-200, 1e-9):
                first, second = slope(x), tracejit.grad(slope)(x)
                h = 1e-4
                near = [getattr(stats, name).pdf(x + k * h, *args) for k in range(4)]
                rise = (-11.0 * near[0] + 18.0 * near[1] - 9.0 * near[2] + 2.0 * near[3]) / (6 * h)
                bend = (2.0 * near[0] - 5.0 * near[1] + 4.0 * near[2] - near[3]) / h ** 2
                np.testing.assert_allclose((first, second), (rise, bend), rtol=1e-4, atol=1e-4)
