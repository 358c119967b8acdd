"""Distributions that are integrals and recursions here: numbers that mpmath has, and own laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_numpy_cases import check_case

import tracejit

EVENTS = np.array([[[0.3, 0.81, 0.05, 0.5, 0.66]], [[0.9, 0.12, 0.4, 0.4, 0.7]]])
COUNTS = np.arange(-1, 8)
METHODS = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")

VALUES: dict[str, list[tuple[str, tuple[float, ...], float]]] = {
    "nct": [("cdf", (-8.0, 30.0, 2.0), 7.964037938297343e-14),
            ("sf", (5.0, 5.0, -3.0), 1.4200930747361475e-07),
            ("pdf", (5.0, 5.0, -3.0), 1.3456154593682466e-07),
            ("cdf", (-4.0, 6.5, 1.5), 4.370339688604741e-05),
            ("sf", (40.0, 0.7, 3.0), 0.12504529797398814)],
    "genhyperbolic": [("cdf", (-9.0, -3.0, 0.4, 0.39), 1.495234749987962e-09),
                      ("sf", (20.0, 0.5, 1.5, 0.7), 4.780790235336568e-08),
                      ("pdf", (5.0, 10.0, 2.0, 1.9), 1.3793209117151332e-08),
                      ("sf", (9.0, -1.3, 2.0, -1.1), 3.44337471134903e-15)],
    "landau": [("pdf", (-2.5,), 1.4919567911088711e-05), ("cdf", (-2.5,), 7.688158940160772e-07),
               ("pdf", (0.7,), 0.19186220521636063), ("sf", (0.7,), 0.47535750168652036),
               ("pdf", (3.0,), 0.05863948833803618), ("sf", (3.0,), 0.2207033266411316)],
    "ksone": [("cdf", (0.0079, 1000.0), 0.12195731410239424),
              ("pdf", (0.0079, 1000.0), 28.326072084789025),
              ("cdf", (0.05, 100.0), 0.4128546619194663),
              ("pdf", (0.12, 40.0), 5.817088141532491)],
}
"""Methods and arguments, with the values at forty digits: some where SciPy has eight."""


@pytest.mark.parametrize(("name", "what", "args", "value"), [
    (name, *row) for name, rows in VALUES.items() for row in rows])
def test_values_are_mpmaths(name: str, what: str, args: tuple[float, ...], value: float) -> None:
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda *xs: getattr(getattr(stats, name), what)(*xs))(*args)
    np.testing.assert_allclose(found, value, rtol=5e-12 if args[-1] == 1000.0 else 1e-13)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", METHODS)
def test_counts_of_events_are_scipys(what: str) -> None:
    method = getattr(stats.poisson_binom, what)
    x: Any = np.linspace(0.0, 1.0, 9) if what in ("ppf", "isf") else COUNTS
    wrong = np.where(EVENTS > 0.85, 1.1, EVENTS)
    for args in ((x, EVENTS[0, 0]), (x, EVENTS), (x[3], EVENTS[0, 0], 1), (x, wrong),
                 (x, [0.0, 0.5, 1.0]), (x, EVENTS, 2)):
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(lambda *xs: method(*xs))(*args)
        expected = method(*args)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert type(found) is type(expected)
    if what not in ("ppf", "isf"):
        with tracejit.config(disable_jit=True):
            check_case(lambda p: method(np.arange(5), p), (EVENTS,))
            check_case(lambda p: method(np.array([1, 2, 4]), 0.4 * p, 1), (EVENTS[0, 0],))


def test_one_program_is_of_any_number_of_events() -> None:
    compiled = tracejit.jit(lambda p: stats.poisson_binom(p, loc=1).cdf(k=3) + stats.poisson_binom.
                            pmf(k=2, p=p))
    for p in (EVENTS[0, 0], EVENTS[1, 0, :3]):
        np.testing.assert_allclose(compiled(p), stats.poisson_binom.cdf(
            2, p) + stats.poisson_binom.pmf(2, p), rtol=1e-13)


def test_at_shares_of_0_and_1_a_probability_has_a_derivative() -> None:
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(lambda p: stats.poisson_binom.pmf(1, p))(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(slope, [-1.0, -1.0, 1.0])


RANGES = (np.array([3.0, 0.5, 8.0, 1.2, 0.05]), np.array([3.0, 3.5, 5.0, 10.0, 2.0]),
          np.array([10.0, 10.0, 4.5, 20.0, 5.0]))


@pytest.mark.parametrize("what", ["pdf", "cdf", "sf", "logsf", "ppf"])
def test_studentized_ranges_are_scipys(what: str) -> None:
    """SciPy's numbers have an absolute error of 1e-11, and its quantiles one of 1e-8."""
    q = np.array([0.4, 0.05, 0.9, 0.5, 0.8]) if what == "ppf" else RANGES[0]
    method = getattr(stats.studentized_range, what)

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(lambda *xs: method(*xs))
        found = compiled(q, *RANGES[1:])
        slopes = tracejit.grad(lambda *xs: np.sum(method(*xs)), argnums=(0, 1, 2))(q, *RANGES[1:])
        for place, slope in enumerate(slopes):
            args = (q, *RANGES[1:])
            size = 1e-3 * args[place]
            ahead, back = (compiled(*(x + sign * size * (k == place) for k, x in enumerate(args)))
                           for sign in (1.0, -1.0))
            np.testing.assert_allclose(slope, (ahead - back) / (2.0 * size), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(found, method(q, *RANGES[1:]), rtol=2e-8, atol=2e-11)


@pytest.mark.parametrize("name", ["ksone", "kstwo", "irwinhall"])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 120])
def test_densities_are_the_slopes_of_shares(name: str, n: int) -> None:
    high = n if name == "irwinhall" else 1.0
    low = 0.5 / n if name == "kstwo" else 0.0
    x = low + (high - low) * np.array([0.013, 0.049, 0.111, 0.27, 0.53, 0.77, 0.94])
    of = getattr(stats, name)
    with tracejit.config(disable_jit=True):
        below, slope = tracejit.jvp(lambda x: of.cdf(x, n), (x,), (np.ones(7),))
        above, fall = tracejit.jvp(lambda x: of.sf(x, n), (x,), (np.ones(7),))
        density = tracejit.jit(lambda x: of.pdf(x, n))(x)
    np.testing.assert_allclose(below + above, 1.0, rtol=1e-14)
    np.testing.assert_allclose(slope, density, rtol=1e-10, atol=1e-200)
    np.testing.assert_allclose(-fall, density, rtol=1e-9, atol=1e-200)


def test_what_has_too_many_numbers_is_refused() -> None:
    for of, most, *rest in ((stats.kstwo, 256), (stats.irwinhall, 127),
                            (stats.studentized_range, 50, 5.0)):
        compiled = tracejit.jit(lambda n, of=of, rest=rest: of.cdf(0.06, n, *rest))
        with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="more than"):
            compiled(most + 1.0)


def test_stable_distributions_are_refused_with_the_reason_and_constants_are_scipys() -> None:
    with tracejit.config(disable_jit=True):
        with pytest.raises(tracejit.Refusal, match="no method with a known error"):
            tracejit.grad(lambda x: stats.levy_stable.logpdf(x, 1.5, 0.3))(0.2)
        found = tracejit.jit(lambda x: x * stats.levy_stable.pdf(0.2, 1.5, 0.3))(2.0)
    assert found == 2.0 * stats.levy_stable.pdf(0.2, 1.5, 0.3)
