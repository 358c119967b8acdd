"""The distributions of `scipy.stats`: SciPy's numbers and derivatives, inside, outside, at ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    "nbinom": (3.0, 0.4), "geom": (0.3,), "f": (3.0, 5.5), "chi": (2.4,), "gengamma": (1.3, 1.7),
    "nakagami": (1.4,), "erlang": (2.0,), "rice": (0.8,), "exponweib": (1.3, 1.7),
    "genpareto": (0.2,), "lomax": (2.3,), "gompertz": (0.7,), "burr12": (1.6, 2.1),
    "burr": (1.6, 2.1), "fisk": (1.6,), "invweibull": (1.6,), "betaprime": (1.4, 2.2),
    "fatiguelife": (0.8,), "foldnorm": (0.7,), "foldcauchy": (0.7,), "truncexpon": (2.5,),
    "kappa3": (1.3,), "loglaplace": (1.7,), "loguniform": (0.2, 2.5), "reciprocal": (0.2, 2.5),
    "powerlaw": (1.7,), "gennorm": (1.6,), "dgamma": (1.6,), "dweibull": (1.6,),
    "genextreme": (-0.2,), "weibull_max": (1.6,), "johnsonsu": (0.4, 1.3),
    "johnsonsb": (0.4, 1.3), "laplace_asymmetric": (1.4,), "skewnorm": (1.5,),
    "exponnorm": (1.3,), "genlogistic": (1.4,), "loggamma": (1.4,), "skewcauchy": (0.3,),
    "norminvgauss": (1.5, 0.4), "triang": (0.3,), "bradford": (1.4,), "truncnorm": (-1.1, 2.3),
    "powernorm": (1.7,), "powerlognorm": (1.7, 0.8), "exponpow": (1.4,), "halfgennorm": (1.6,),
    "mielke": (1.6, 2.1), "alpha": (1.4,), "genhalflogistic": (0.3,),
    "betabinom": (9.0, 1.4, 2.2), "betanbinom": (3.0, 2.4, 2.2), "randint": (0.0, 9.0),
    "argus": (1.3,), "rdist": (2.6,), "trapezoid": (0.25, 0.8), "truncpareto": (1.7, 4.3),
    "truncweibull_min": (1.6, 0.1, 2.9), "vonmises_line": (1.3,), "wrapcauchy": (0.4,),
    "crystalball": (1.1, 3.4), "dpareto_lognorm": (0.3, 0.8, 2.4, 1.7), "jf_skew_t": (2.4, 3.1),
    "kappa4": (0.1, -0.2), "pearson3": (0.7,), "genexpon": (0.9, 1.6, 0.7),
    "recipinvgauss": (1.2,), "rel_breitwigner": (1.4,),
    "hypergeom": (20.0, 12.0, 9.0), "nhypergeom": (20.0, 9.0, 5.0), "zipf": (3.6,),
    "nchypergeom_fisher": (20.0, 12.0, 9.0, 1.7), "zipfian": (1.3, 15.0), "yulesimon": (2.6,),
    "boltzmann": (0.4, 12.0), "ncx2": (2.4, 1.7), "ncf": (3.0, 5.5, 1.7),
    "geninvgauss": (0.7, 1.6), "tukeylambda": (0.3,),
    "gausshyper": (1.4, 2.2, 1.1, 0.7),
    "nchypergeom_wallenius": (20.0, 12.0, 9.0, 1.7), "irwinhall": (4.0,), "ksone": (7.0,),
    "kstwo": (7.0,), "nct": (4.0, 0.7), "genhyperbolic": (0.6, 1.5, 0.4),
    "planck": (0.6,), "dlaplace": (0.7,), "logser": (0.6,), "skellam": (1.3, 2.1)}
INSIDE: dict[str, np.ndarray] = {
    **dict.fromkeys(("norm", "logistic", "laplace", "cauchy", "gumbel_r", "gumbel_l", "t",
                     "vonmises", "gennorm", "dgamma", "dweibull", "genextreme", "johnsonsu",
                     "moyal", "hypsecant", "laplace_asymmetric", "skewnorm", "exponnorm",
                     "genlogistic", "loggamma", "skewcauchy", "norminvgauss", "cosine",
                     "truncnorm", "powernorm", "vonmises_line", "crystalball", "jf_skew_t",
                     "kappa4", "pearson3", "tukeylambda", "nct", "genhyperbolic", "landau"), X),
    **dict.fromkeys(("beta", "uniform", "powerlaw", "johnsonsb", "arcsine", "triang",
                     "bradford", "argus", "trapezoid", "gausshyper"), UNIT),
    "ksone": UNIT, "kstwo": 0.08 + 0.9 * UNIT, "pareto": np.abs(X) + 1.1,
    "weibull_max": -np.abs(X), "levy_l": -np.abs(X),
    "truncpareto": np.abs(X) + 1.1, "rdist": 0.4 * X, "semicircular": 0.4 * X, "anglit": 0.3 * X}
APART = ("poisson_binom", "studentized_range")
"""Which `test_further_distributions.py` has: events have an axis, double integrals take long."""
OF_VECTORS = ("multivariate_normal", "dirichlet", "wishart", "multinomial", "matrix_normal",
              "invwishart", "multivariate_t", "normal_inverse_gamma", "matrix_t",
              "dirichlet_multinomial", "vonmises_fisher",
              *APART)
OF_COUNTS = ("hypergeom", "nhypergeom", "nchypergeom_fisher", "nchypergeom_wallenius", "zipf",
             "zipfian", "yulesimon", "boltzmann", "poisson", "binom", "bernoulli", "nbinom", "geom",
             "betabinom", "betanbinom", "randint", "planck", "dlaplace", "logser", "skellam")
WHOLE = {"binom": (0,), "nbinom": (0,), "betabinom": (0,), "betanbinom": (0,), "randint": (0, 1),
         "hypergeom": (0, 1, 2), "nhypergeom": (0, 1, 2), "nchypergeom_fisher": (0, 1, 2),
         "nchypergeom_wallenius": (0, 1, 2),
         "zipfian": (1,), "boltzmann": (1,), "irwinhall": (0,), "ksone": (0,), "kstwo": (0,)}
"""Which of the shapes are whole numbers."""
OF_NUMBERS = ("norminvgauss",)
"""Of which SciPy looks at the first of several numbers alone where shapes are numbers."""
INTEGRATED = ("gausshyper", "norminvgauss", "geninvgauss", "kstwobign")
"""Of which SciPy's numbers are integrals with an error, or cut series."""
ROUGH = {(name, what) for name in ("kstwobign", "kstwo") for what in ("pdf", "logpdf")}
"""Of which SciPy's numbers have nine digits: differences are those of what is captured."""
OF_METHODS = ("mean", "var", "std", "entropy", "median", "interval", "stats")
"""The methods that are of no numbers: `test_moments.py` has them."""
CASES = [(name, what) for name, methods in DISTRIBUTIONS.items() for what in sorted(methods)
         if name not in OF_VECTORS and what not in (*OF_METHODS, "fit")]


def broken_of(name: str) -> tuple[float, ...]:
    """Return the shapes that need not be whole numbers."""
    return tuple(s for k, s in enumerate(SHAPES.get(name, ())) if k not in WHOLE.get(name, ()))


def with_whole(name: str, broken: Sequence[Any]) -> list[Any]:
    """Return all shapes, of those that need not be whole numbers."""
    rest = iter(broken)
    return [s if k in WHOLE.get(name, ()) else next(rest) for k, s in enumerate(
        SHAPES.get(name, ()))]


def with_moved(name: str, args: Sequence[Any]) -> list[Any]:
    """Return what a distribution is moved by, of arguments, but for whole shapes."""
    return [x for k, x in enumerate(args) if k not in WHOLE.get(name, ())]


def of_broken(name: str, what: str) -> Callable[..., Any]:
    """Return a method as a function of its number and all arguments but for whole shapes."""
    count, method = len(broken_of(name)), getattr(getattr(stats, name), what)
    return lambda x, *args: method(x, *with_whole(name, args[:count]), *args[count:])


def _method(name: str, what: str) -> Callable[..., Any]:
    return lambda x, *args: getattr(getattr(stats, name), what)(x, *args)


def points_of(name: str, what: str) -> np.ndarray:
    if name in OF_COUNTS and what not in ("ppf", "isf"):
        if name == "bernoulli" and what == "logsf":
            return np.zeros(5, int)
        first = int(name in ("geom", "logser", "zipf", "zipfian", "yulesimon", "hypergeom",
                             "nchypergeom_fisher", "nchypergeom_wallenius"))
        return np.array([0, 1, 1, 0, 1]) if name == "bernoulli" else COUNTS + first
    return UNIT if what in ("ppf", "isf") else INSIDE.get(name, np.abs(X))


@pytest.mark.filterwarnings("ignore:The shape parameter of the erlang")
@pytest.mark.parametrize(("name", "what"), CASES)
def test_inside_values_and_derivatives_are_scipys(name: str, what: str) -> None:
    shapes, points = SHAPES.get(name, ()), points_of(name, what)
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
            whole = WHOLE.get(name, ())
            if len(whole) == len(given):
                with tracejit.config(disable_jit=True):
                    found = tracejit.jit(_method(name, what))(at, *args)
                np.testing.assert_allclose(found, _method(name, what)(at, *args), rtol=1e-12)
                continue
            with tracejit.config(disable_jit=True):
                check_case(lambda *ps, at=at, args=args, given=given: getattr(
                    getattr(stats, name), what)(at, *with_whole(name, ps), *args[len(given):]),
                           broken_of(name))
            continue
        x = points if args == shapes or what in ("ppf", "isf") else points * 1.7 - 0.5
        with tracejit.config(disable_jit=True):
            given = (np.clip(x, None, 0.9999) if what in ("ppf", "isf") else x, *with_moved(
                name, args))
            f = of_broken(name, what)
            if (name, what) in ROUGH:
                np.testing.assert_allclose(tracejit.jit(f)(*given), f(*given), rtol=1e-8)
                f = tracejit.jit(f)
            check_case(f, given)


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


def _off_in_scipy(name: str, what: str, args: tuple[Any, ...], expected: np.ndarray) -> Any:
    """Return where SciPy is wrong: shares of ncf for nc = 0, Rice's upper shares, 1 less lower."""
    if name == "ncf":
        return np.broadcast_to(args[3], expected.shape) == 0.0
    return (name == "rice") & (what in ("sf", "logsf")) & (
        expected < (1e-4 if what == "sf" else -25.0))


@pytest.mark.parametrize(("of", "central"), [
    (stats.ncf, lambda x, *s: stats.f(*s).cdf(x)),
    (stats.ncx2, lambda x, *s: stats.chi2(*s).cdf(x))])
def test_not_shifted_a_noncentral_distribution_is_the_central_one(of: Any, central: Any) -> None:
    shapes = (3.0, 5.5)[:of.numargs - 1]
    x = np.array([0.2, 1.4, 3.0])
    with tracejit.config(disable_jit=True):
        found, slope = tracejit.jvp(lambda x, nc: of.cdf(x, *shapes, nc), (x, 0.0), (0.0 * x, 1.0))
        near = tracejit.jit(lambda x: of.cdf(x, *shapes, 1e-5))(x)
    np.testing.assert_allclose(found, central(x, *shapes), rtol=1e-12)
    np.testing.assert_allclose(slope, (near - found) / 1e-5, rtol=1e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "what"), CASES)
def test_outside_and_of_wrong_parameters_values_are_scipys(name: str, what: str) -> None:
    for args in _outside(name):
        of_scipy = getattr(getattr(stats, name), what)
        expected = (np.vectorize(of_scipy) if name in OF_NUMBERS else of_scipy)(*args)
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(_method(name, what))(*args)
        known = ~np.isinf(np.broadcast_to(args[0], expected.shape))  # SciPy has inf - inf there
        known &= ~_off_in_scipy(name, what, args, expected)
        np.testing.assert_allclose(found[known], expected[known], atol=1e-13,
                                   rtol=1e-7 if name in INTEGRATED else 1e-11)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("what", ["logpdf", "cdf", "logsf", "ppf"])
@pytest.mark.parametrize("name", ["genpareto", "genextreme"])
def test_where_a_formula_is_a_limit_derivatives_by_the_shape_are_differences(
        name: str, what: str) -> None:
    with tracejit.config(disable_jit=True):
        check_case(_method(name, what), (UNIT, 0.0))


def test_at_infinity_a_density_is_zero() -> None:
    for name, methods in DISTRIBUTIONS.items():
        if "logpdf" in methods and name not in (*OF_VECTORS, "vonmises"):
            with tracejit.config(disable_jit=True):
                found = tracejit.jit(_method(name, "logpdf"))(np.array([np.inf, -np.inf]),
                                                              *SHAPES.get(name, ()))
            assert np.all(found == -np.inf), name


NORMAL = stats.multivariate_normal
Y = np.random.default_rng(3).standard_normal((5, 3))
TRIALS = np.array([[1, 2, 1], [4, 0, 0], [2, 2, 1]])
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
    (lambda c, v: stats.invwishart.logpdf(c @ c.T, v, COVARIANCE), (COVARIANCE, 4.5)),
    (lambda c: stats.invwishart(4.5, c @ c.T).pdf(COVARIANCE), (COVARIANCE,)),
    (lambda x, m, c, v: stats.multivariate_t.logpdf(x, m, c @ c.T, v), (
        Y, 0.3 * Y[0], COVARIANCE, 3.5)),
    (lambda x, c: stats.multivariate_t(None, c, np.inf).pdf(x), (Y[0], COVARIANCE)),
    (lambda x, c, v: stats.multivariate_t.logpdf(x, 0.3, c, v), (X, 2.0, 1.5)),
    (lambda x, m, c, d: stats.matrix_normal.logpdf(x, m, c @ c.T, d), (
        Y[:3, :2], Y[2:, 1:], COVARIANCE, np.array([1.2, 0.7]))),
    (lambda x, c: stats.matrix_normal(None, 1.5 * np.eye(2), c).pdf(x), (Y[:2], COVARIANCE)),
    (lambda p: stats.multinomial.logpmf(TRIALS[:2], 4, p / np.sum(p)), (
        np.array([0.2, 0.5, 0.4]),)),
    (lambda p: stats.multinomial(4, p / np.sum(p, axis=1, keepdims=True)).pmf(TRIALS[0]), (
        np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]),)),
    (lambda a: stats.dirichlet_multinomial.logpmf(TRIALS[0], a, 4), (np.array([1.2, 2.0, 0.7]),)),
    (lambda a: stats.dirichlet_multinomial.pmf(TRIALS, a, [4, 4, 9]), (
        np.array([1.2, 2.0, 0.7]),)),
    (lambda x, m, k: stats.vonmises_fisher.logpdf(x / np.sqrt(np.sum(
        x * x, axis=-1, keepdims=True)), m / np.sqrt(m @ m), k), (
        Y[:2], np.array([0.2, 0.5, 0.4]), 1.7)),
    (lambda c: NORMAL.entropy(cov=c) * 1.0, (COVARIANCE,)),
    (lambda m, c: NORMAL.entropy(m, c) * 1.0, (Y[0], 2.5)),
    (lambda x, m, c, d, v: stats.matrix_t.logpdf(x, m, c @ c.T, d, v) * 1.0, (
        Y[:3, :2], Y[2:, 1:], COVARIANCE, np.array([1.2, 0.7]), 3.5)),
    (lambda x, c: stats.matrix_t.pdf(x, None, 1.5 * np.eye(2), c, 2.0) * 1.0, (
        Y[:2], COVARIANCE)),
    (lambda *xs: stats.normal_inverse_gamma.logpdf(*xs), (
        Y[0], Y[1] ** 2 + 0.1, 0.3, 1.2, 2.5, 0.7)),
    (lambda *xs: stats.normal_inverse_gamma.pdf(*xs), (Y[0], 0.8)),
    (lambda *xs: stats.normal_inverse_gamma.mean(*xs), (0.3, 1.2, 2.5, 0.7)),
    (lambda *xs: stats.normal_inverse_gamma.var(*xs), (0.3, 1.2, 2.5, 0.7)),
])
def test_densities_of_vectors_are_scipys(function: Callable[..., Any], args: Any) -> None:
    with tracejit.config(disable_jit=True):
        check_case(function, args)


@pytest.mark.parametrize("share", [1.0, 1e-3, 1e-8, 3e-10, 2e-10, 1e-14, 0.0])
def test_a_covariance_is_singular_where_it_is_for_scipy(share: float) -> None:
    turn = np.linalg.qr(Y[:, :3].T @ Y)[0]
    c = turn @ np.diag([1.0, 1.0, share]) @ turn.T
    c = 0.5 * (c + c.T)
    for law in (lambda c: NORMAL.logpdf(Y[0], cov=c), lambda c: NORMAL.entropy(cov=c)):
        with tracejit.config(disable_jit=True):
            if share < 2.1e-10:
                with pytest.raises(np.linalg.LinAlgError):
                    tracejit.jit(law)(c)  # SciPy has an entropy of the directions that are left
            else:
                np.testing.assert_allclose(tracejit.jit(law)(c), law(c), rtol=1e-5)
    if share < 2.1e-10:
        with pytest.raises(np.linalg.LinAlgError):
            NORMAL.logpdf(Y[0], cov=c)


@pytest.mark.filterwarnings("ignore")
def test_of_wrong_parameters_a_mean_and_a_variance_are_scipys() -> None:
    law = stats.normal_inverse_gamma
    a, b, v = (np.array(x) for x in ([0.5, 1.0, 1.5, 3.0], [1.0, -1.0, 2.0, 3.0],
                                     [1.0, 1.0, -1.0, 0.0]))
    for f in (lambda a, b: law.mean(1.0, 2.0, a, b), lambda a, b: law.var(1.0, 2.0, a, b),
              lambda a, b: law.logpdf(0.3, v, 0.1, b, a), lambda a, b: law.pdf(0.3, v, 0.1, a, b)):
        with tracejit.config(disable_jit=True):
            np.testing.assert_allclose(tracejit.jit(f)(a, b), f(a, b), rtol=1e-13)


def test_densities_of_vectors_are_compiled() -> None:
    def f(x: Any, m: Any, c: Any) -> Any:
        return NORMAL.logpdf(x, m, c) - stats.multivariate_t.logpdf(x, m, c, 3.5)

    check_case(f, (Y, 0.3 * Y[0], COVARIANCE))


@pytest.mark.filterwarnings("ignore")
def test_of_wrong_counts_and_shares_logarithms_are_scipys() -> None:
    for x, n, p in ((TRIALS, 4, [0.2, 0.5, 0.3]), (TRIALS - 1, 1, [[0.2, 0.5, 0.3]] * 3),
                    (TRIALS[0], -1, [0.2, 0.5, 0.3]), (TRIALS[0], 4, [1.1, -0.3, 0.2]),
                    (TRIALS[0], 4, [0.2, 0.5, 0.4]), (TRIALS[0], 4, [0.0, 0.5, 0.5]),
                    (TRIALS, 4, [[0.2, 0.5, 0.3], [0.1, 0.8, 0.2], [0.9, 0.3, -0.2]])):
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(lambda x, n, p: stats.multinomial.logpmf(x, n, p))(
                x, n, np.array(p))
        np.testing.assert_allclose(found, stats.multinomial.logpmf(x, n, p), rtol=1e-13)


@pytest.mark.parametrize(("function", "args"), [
    (lambda x: stats.norm.fit(x), (Y[0],)), (lambda x: stats.norm.fit(Y, floc=x), (0.3,)),
    (lambda x: stats.norm.fit(x, fscale=2.0), (Y,)), (lambda x: stats.expon.fit(x), (Y,)),
    (lambda x, m: stats.expon.fit(x, floc=m), (Y[0], -5.0)),
    (lambda x, s: stats.expon.fit(x, fscale=s), (Y[0], 1.5)),
    (lambda x: stats.uniform.fit(x), (Y,)), (lambda x: stats.uniform.fit(x, floc=-5.0), (Y[0],)),
    (lambda x, s: stats.uniform.fit(x, fscale=s), (Y[0], 9.5)),
    (lambda x: stats.norm.fit(x), (Y[0].astype(np.float32),)),
])
def test_fits_with_a_closed_form_are_scipys(function: Callable[..., Any], args: Any) -> None:
    with tracejit.config(disable_jit=True):
        check_case(function, args)


@pytest.mark.parametrize("call", [
    lambda x: stats.norm.fit(x, floc=0.0, fscale=1.0), lambda x: stats.expon.fit(x, floc=0.3),
    lambda x: stats.uniform.fit(x, floc=0.3), lambda x: stats.uniform.fit(x, fscale=0.1),
    lambda x: stats.norm.fit(x / (x - 0.2)), lambda x: stats.vonmises_fisher.logpdf(x, x, 1.0),
    lambda x: stats.dirichlet_multinomial.logpmf([1, 2, 1], -x, 4),
    lambda x: stats.dirichlet_multinomial.logpmf([1, 2, 1.5], x, 4),
    lambda x: stats.invwishart.logpdf(COVARIANCE, x[0], COVARIANCE),
    lambda x: stats.multivariate_t.logpdf(x, None, COVARIANCE, -x[0]),
])
@pytest.mark.filterwarnings("ignore")
def test_wrong_data_of_fits_and_vectors_are_value_errors(call: Callable[..., Any]) -> None:
    for f in (call, tracejit.jit(call)):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError, match=r"\w"):
            f(np.array([0.2, 0.5, 0.3]))


def test_a_frozen_distribution_is_the_one_with_its_parameters() -> None:
    check_case(lambda x, m, s: stats.norm(m, s).logpdf(x) + stats.norm(loc=m, scale=s).cdf(x),
               (X, 0.3, 1.4))
    check_case(lambda x: stats.norm(0.0, 2.0).expect() + stats.gamma(1.5).logpdf(x), (np.abs(X),))


def test_numbers_may_have_scipys_names() -> None:
    def f(m: float) -> Any:
        return (stats.norm.pdf(x=0.3, loc=m) + stats.poisson.pmf(k=2, mu=m) + stats.norm.ppf(q=m)
                + stats.poisson(m).pmf(k=1) + stats.norm(m).isf(q=0.2) + stats.gamma(m).cdf(x=0.7))

    check_case(f, (0.4,))


@pytest.mark.parametrize(("call", "error"), [
    (lambda x: stats.norm.pdf(loc=x), TypeError), (lambda x: stats.norm.pdf(x, x=0.5), TypeError),
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
