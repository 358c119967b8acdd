"""The distributions of `scipy.stats`: SciPy's numbers and derivatives, inside, outside, at ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_numpy_cases import check_case

import tracejit
from tracejit.trace.ground.dispatch import DISTRIBUTIONS

X = np.array([0.3, 1.4, 2.0, -0.7, 0.9])
UNIT = np.array([0.12, 0.45, 0.9, 0.2, 0.75])
COUNTS = np.array([0, 1, 4, 2, 7])
ENDS = np.array([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, 0.5, -1e-3, 9.0])

SHAPES: dict[str, tuple[float, ...]] = {
    "t": (4.0,), "vonmises": (1.3,), "gamma": (2.3,), "invgamma": (2.3,), "chi2": (3.0,),
    "beta": (1.4, 2.2), "invgauss": (1.2,), "weibull_min": (1.7,), "pareto": (2.5,),
    "lognorm": (0.8,), "poisson": (2.3,), "binom": (9.0, 0.3), "bernoulli": (0.3,),
    "nbinom": (3.0, 0.4), "geom": (0.3,), "f": (3.0, 5.5)}
INSIDE: dict[str, np.ndarray] = {
    **dict.fromkeys(("norm", "logistic", "laplace", "cauchy", "gumbel_r", "gumbel_l", "t",
                     "vonmises"), X),
    "beta": UNIT, "uniform": UNIT, "pareto": np.abs(X) + 1.1}
OF_VECTORS = ("multivariate_normal", "dirichlet", "wishart")
OF_COUNTS = ("poisson", "binom", "bernoulli", "nbinom", "geom")
CASES = [(name, what) for name, methods in DISTRIBUTIONS.items() for what in sorted(methods)
         if name not in OF_VECTORS]


def _method(name: str, what: str) -> Callable[..., Any]:
    return lambda x, *args: getattr(getattr(stats, name), what)(x, *args)


def _points(name: str, what: str) -> np.ndarray:
    if name in OF_COUNTS and what not in ("ppf", "isf"):
        if name == "bernoulli" and what == "logsf":
            return np.zeros(5, int)
        return np.array([0, 1, 1, 0, 1]) if name == "bernoulli" else COUNTS + (name == "geom")
    return UNIT if what in ("ppf", "isf") else INSIDE.get(name, np.abs(X))


@pytest.mark.parametrize(("name", "what"), CASES)
def test_inside_values_and_derivatives_are_scipys(name: str, what: str) -> None:
    shapes, points = SHAPES.get(name, ()), _points(name, what)
    discrete = name in OF_COUNTS
    if discrete and what in ("ppf", "isf"):
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(_method(name, what))(points, *shapes)
        np.testing.assert_array_equal(found, _method(name, what)(points, *shapes))
        return
    moved = (shapes, (*shapes, 1)) if discrete else (shapes, (*shapes, -0.5, 1.7))
    for args in moved:
        if discrete:
            at = points + (len(args) > len(shapes))
            given = args[:len(shapes)]
            whole = 1 if name in ("binom", "nbinom") else 0
            with tracejit.config(disable_jit=True):
                check_case(lambda p, at=at, args=args, given=given, whole=whole: getattr(
                    getattr(stats, name), what)(at, *given[:whole], p, *args[len(given):]),
                           (given[-1],))
            continue
        x = points if args == shapes or what in ("ppf", "isf") else points * 1.7 - 0.5
        with tracejit.config(disable_jit=True):
            check_case(_method(name, what), (np.clip(x, None, 0.9999) if what in (
                "ppf", "isf") else x, *args))


def _outside(name: str) -> Iterator[tuple[Any, ...]]:
    shapes = SHAPES.get(name, ())
    yield (ENDS, *shapes)
    for k in range(len(shapes)):
        wrong = [np.array([-1.0, 0.0, np.nan, s, s]) if j == k else s for j, s in enumerate(shapes)]
        yield (X, *wrong)
    if name in OF_COUNTS:
        return
    yield (X, *shapes, np.array([0.1, 0.0, np.nan, 0.2, 0.0]),
           np.array([1.0, 0.0, 1.0, -1.0, 2.0]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "what"), CASES)
def test_outside_and_of_wrong_parameters_values_are_scipys(name: str, what: str) -> None:
    for args in _outside(name):
        expected = getattr(getattr(stats, name), what)(*args)
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(_method(name, what))(*args)
        known = ~np.isinf(np.broadcast_to(args[0], expected.shape))  # SciPy has inf - inf there
        np.testing.assert_allclose(found[known], expected[known], rtol=1e-11, atol=1e-13)
        assert found.dtype == expected.dtype


def test_at_infinity_a_density_is_zero() -> None:
    for name, methods in DISTRIBUTIONS.items():
        if "logpdf" in methods and name not in (*OF_VECTORS, "vonmises"):
            found = tracejit.jit(_method(name, "logpdf"))(np.array([np.inf, -np.inf]),
                                                          *SHAPES.get(name, ()))
            assert np.all(found == -np.inf), name


NORMAL = stats.multivariate_normal
Y = np.random.default_rng(3).standard_normal((5, 3))
COVARIANCE = np.array([[1.5, 0.3, 0.1], [0.3, 2.0, -0.2], [0.1, -0.2, 1.0]])


@pytest.mark.parametrize(("function", "args"), [
    (lambda x, m, c: NORMAL.logpdf(x, m, c), (Y, 0.3 * Y[0], COVARIANCE)),
    (lambda x, m, c: NORMAL.logpdf(x, m, c), (Y[0], 0.3 * Y[1], COVARIANCE)),
    (lambda x, c: NORMAL.logpdf(x, cov=c), (Y[:, None], COVARIANCE)),
    (lambda x, c: NORMAL.pdf(x, np.zeros(3), c), (Y, 2.5)),
    (lambda x, c: NORMAL.logpdf(x, np.zeros(3), c), (Y, np.array([1.0, 2.0, 0.5]))),
    (lambda x: NORMAL.logpdf(x, 0.3, 2.0), (X,)),
    (lambda a: stats.dirichlet.logpdf([0.2, 0.5, 0.3], a), (np.array([1.2, 2.0, 0.7]),)),
    (lambda a: stats.dirichlet.pdf([0.2, 0.5, 0.3], a), (np.array([1.2, 2.0, 0.7]),)),
    (lambda c, v: stats.wishart.logpdf(c @ c.T, v, COVARIANCE), (COVARIANCE, 4.5)),
    (lambda c: stats.wishart.pdf(COVARIANCE, 4.5, c @ c.T), (COVARIANCE,)),
])
def test_densities_of_vectors_are_scipys(function: Callable[..., Any], args: Any) -> None:
    check_case(function, args)


def test_a_frozen_distribution_is_the_one_with_its_parameters() -> None:
    check_case(lambda x, m, s: stats.norm(m, s).logpdf(x) + stats.norm(loc=m, scale=s).cdf(x),
               (X, 0.3, 1.4))
    check_case(lambda x: stats.norm(0.0, 2.0).mean() + stats.gamma(1.5).logpdf(x), (np.abs(X),))


@pytest.mark.parametrize(("call", "error"), [
    (lambda x: stats.gamma.logpdf(x), TypeError), (lambda x: stats.norm.pdf(x, 0, 1, 2), TypeError),
    (lambda x: stats.norm.logpdf(x, df=2), TypeError),
    (lambda x: stats.norm.logpdf(x, 0, loc=1), TypeError),
    (lambda x: NORMAL.logpdf(x, np.zeros(3), np.eye(2)), ValueError),
    (lambda x: stats.dirichlet.logpdf(x, -x), ValueError),
])
def test_wrong_calls_raise_what_scipy_raises(call: Callable[..., Any], error: Any) -> None:
    for f in (call, tracejit.jit(call)):
        with pytest.raises(error):
            f(np.array([0.2, 0.5, 0.3]))


def test_what_is_no_distribution_of_scipy_is_its_own() -> None:
    class Normal(type(stats.norm)):  # type: ignore[misc]
        def logpdf(self, x: Any, *args: Any) -> Any:
            return 3.0 * x

    own = Normal(name="own")
    assert tracejit.jit(lambda x: own.logpdf(x))(2.0) == 6.0
