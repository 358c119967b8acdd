"""Derivatives at special points: kinks as docs/numerics.md says, branch cuts, zeros, None."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial
import scipy.special as sp
import scipy.stats

import tracejit

pytestmark = pytest.mark.filterwarnings("ignore")

KINKS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "arctan2": (np.arctan2, (0.0, 0.0), (0.0, 0.0)),
    "hypot": (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    "math.hypot": (lambda x, y: math.hypot(x, y), (0.0, 0.0), (0.0, 0.0)),
    "math.dist": (lambda x, y: math.dist([x, y], [0.0, 0.0]), (0.0, 0.0), (0.0, 0.0)),
    "norm": (np.linalg.norm, (np.zeros(3),), np.zeros(3)),
    "norm of a matrix": (np.linalg.norm, (np.zeros((2, 2)),), np.zeros((2, 2))),
    "norm of rows": (lambda x: np.sum(np.linalg.norm(x, axis=1)), (np.array([[0.0, 0.0],
                     [3.0, 4.0]]),), np.array([[0.0, 0.0], [0.6, 0.8]])),
    "std": (np.std, (np.ones(3),), np.zeros(3)), "var": (np.var, (np.ones(3),), np.zeros(3)),
    "std of one": (np.std, (np.ones(1),), np.zeros(1)),
    "abs of complex": (np.abs, (0j,), 0j), "angle": (np.angle, (0j,), 0j),
    "abs": (np.abs, (0.0,), 0.0), "sign": (np.sign, (0.0,), 0.0),
    "sqrt": (np.sqrt, (0.0,), math.inf), "cbrt": (np.cbrt, (0.0,), math.inf),
    "log": (np.log, (0.0,), math.inf), "entr": (lambda x: sp.entr(x), (0.0,), math.inf),
    "entr below": (lambda x: sp.entr(x), (-1.0,), 0.0),
    "xlogy": (lambda x, y: sp.xlogy(x, y), (0.0, 2.0), (math.log(2.0), 0.0)),
    "xlogy at 1": (lambda x, y: sp.xlogy(x, y), (0.0, 1.0), (0.0, 0.0)),
    "xlogy beyond": (lambda x, y: sp.xlogy(x, y), (0.0, -1.0), (0.0, 0.0)),
    "xlog1py": (lambda x, y: sp.xlog1py(x, y), (0.0, 2.0), (math.log(3.0), 0.0)),
    "x ** 2 at 0": (lambda x: x ** 2, (0.0,), 0.0), "x ** 1 at 0": (lambda x: x ** 1, (0.0,), 1.0),
    "x ** 0.5 at 0": (lambda x: x ** 0.5, (0.0,), math.inf),
    "prod with a zero": (np.prod, (np.array([2.0, 0.0, 3.0]),), np.array([0.0, 6.0, 0.0])),
    "prod with zeros": (np.prod, (np.array([0.0, 2.0, 0.0]),), np.zeros(3)),
    "sinc": (np.sinc, (0.0,), 0.0), "max of NaN": (np.max, (np.array([1.0, np.nan]),),
                                                   np.array([0.0, 1.0])),
    "interp at a node": (lambda x: np.interp(x, np.array([0.0, 1.0, 2.0]),
                                             np.array([0.0, 1.0, 4.0])), (1.0,), 3.0),
}


@pytest.mark.parametrize("name", KINKS)
def test_a_kink_has_the_derivative_that_the_page_says(name: str) -> None:
    fn, args, expected = KINKS[name]
    places = tuple(range(len(args))) if len(args) > 1 else 0
    gradient = tracejit.grad(functools.partial(_call, fn), argnums=places)
    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            found = gradient(*args)
        for f, e in zip(*((found, expected) if len(args) > 1 else ([found], [expected])),
                        strict=True):
            np.testing.assert_allclose(f, e, rtol=4e-16)


def _call(fn: Callable[..., Any], *args: Any) -> Any:
    return fn(*args)


# --- complex functions in all quadrants -----------------------------------------------------------

ANALYTIC = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "sin",
            "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh",
            "arccosh", "arctanh", "reciprocal"]
POINTS = np.array([complex(a, b) for a in (-3.0, -0.5, 0.3, 2.0) for b in (-2.5, -0.4, 0.7, 3.0)])


def complex_difference(fn: Callable[[Any], Any], z: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Return d/dx + i d/dy of a real function of each element, by central differences."""
    return (fn(z + h) - fn(z - h)) / (2 * h) + 1j * (fn(z + 1j * h) - fn(z - 1j * h)) / (2 * h)


@pytest.mark.parametrize("part", [np.real, np.imag], ids=["real", "imag"])
@pytest.mark.parametrize("name", ANALYTIC)
def test_a_complex_function_is_right_in_every_quadrant(name: str, part: Any) -> None:
    ufunc = getattr(np, name)
    value = tracejit.jit(functools.partial(_call, ufunc))
    gradient = tracejit.grad(functools.partial(_sum_of_part, part, ufunc))
    np.testing.assert_allclose(value(POINTS), ufunc(POINTS), rtol=1e-13)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(gradient(POINTS), complex_difference(
            lambda z: part(ufunc(z)), POINTS), rtol=2e-7, atol=2e-8)


def _sum_of_part(part: Any, ufunc: Any, z: Any) -> Any:
    return np.sum(part(ufunc(z)))


CUTS = np.array([complex(a, b) for a in (-2.0, -0.5, 0.5, 2.0) for b in (0.0, -0.0)])


@pytest.mark.parametrize("name", [n for n in ANALYTIC if n != "reciprocal"])
def test_a_complex_function_takes_numpys_side_of_a_cut(name: str) -> None:
    ufunc = getattr(np, name)
    found, expected = tracejit.jit(functools.partial(_call, ufunc))(CUTS), ufunc(CUTS)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)


def test_the_gradient_of_a_complex_product_is_conjugated() -> None:
    z = np.array([1 + 2j, 0.5 - 1j, 2 + 0.3j])
    for part in (np.real, np.imag):
        found = tracejit.grad(functools.partial(_sum_of_part, part, np.prod))(z)
        expected = [complex_difference(lambda v, k=k: part(np.prod(np.where(
            np.arange(3) == k, v, z))), z[k]) for k in range(3)]
        np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_division_is_numpys_at_zeros_and_extremes(dtype: str) -> None:
    values = np.array([1 + 1j, 0j, complex(math.inf, 1.0), 1e30 + 1e30j, complex(math.nan, 1.0),
                       1 + 0j, 1e-38 + 1e-38j, complex(0.0, -2.0), 5e-324 + 5e-324j]).astype(dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    found, expected = tracejit.jit(lambda x, y: x / y)(x, y), x / y
    np.testing.assert_array_equal(found, expected)
    for f, e in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_array_equal(np.signbit(f[e == 0]), np.signbit(e[e == 0]))


@pytest.mark.parametrize("name", ["expit", "logit", "exp2", "entr",
                                  "log_expit", "cbrt"])
def test_what_scipy_has_for_reals_only_is_refused_of_complex_numbers(name: str) -> None:
    function = getattr(sp, name)
    with pytest.raises(TypeError, match=name):
        tracejit.jit(functools.partial(_call, function))(0.5 + 1j)


# --- linear algebra -------------------------------------------------------------------------------


def test_cholesky_reads_the_lower_triangle_and_so_does_its_gradient() -> None:
    a = np.array([[4.0, 1.0, -7.0], [2.0, 5.0, 9.0], [0.5, 1.0, 6.0]])
    weight = np.arange(9.0).reshape(3, 3)

    def f(a: Any) -> Any:
        return np.sum(weight * np.linalg.cholesky(a))

    difference = np.zeros((3, 3))
    for i, j in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[i, j] = 1e-6
        difference[i, j] = (f(a + step) - f(a - step)) / 2e-6
    np.testing.assert_allclose(tracejit.grad(f)(a), difference, atol=1e-7)
    direction = np.arange(9.0)[::-1].reshape(3, 3)
    _, tangent = tracejit.jvp(f, (a,), (direction,))
    assert tangent == pytest.approx(np.sum(difference * direction), abs=1e-6)


# --- users' own gradients -------------------------------------------------------------------------


@tracejit.custom_gradient
def half_known(x: Any, y: Any) -> Any:
    def gradient(upstream: Any) -> Any:
        return upstream * y, None

    return x * y, gradient


def test_none_of_a_custom_gradient_is_none() -> None:
    def f(a: float) -> Any:
        x, y = a * 1.0, a * 2.0
        return tracejit.gradients(half_known(x, y), [x, y])

    assert tracejit.jit(f)(3.0) == [6.0, None]


class Layer:
    def __init__(self) -> None:
        self.weight = 3.0

    @tracejit.custom_gradient
    def scaled(self, x: Any) -> Any:
        weight = self.weight

        def gradient(upstream: Any) -> Any:
            return upstream * weight * 10.0

        return x * weight, gradient


def test_a_method_has_a_custom_gradient() -> None:
    layer = Layer()
    assert layer.scaled(2.0) == 6.0
    assert tracejit.grad(lambda x: layer.scaled(x))(2.0) == 30.0
    assert tracejit.grad(layer.scaled)(2.0) == 30.0


NO_RULE = tracejit.register_op("EdgesWithoutRule", lambda x: x * 2.0)


def test_the_op_that_makes_x_is_not_asked() -> None:
    def by_gradients(c: float) -> Any:
        x = NO_RULE(c)
        return tracejit.gradients(x * x, [x])[0]

    def by_tape(c: float) -> Any:
        with tracejit.GradientTape() as tape:
            x = NO_RULE(c)
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert tracejit.jit(by_gradients)(2.0) == 8.0
    assert tracejit.jit(by_tape)(2.0) == 8.0
    with pytest.raises(LookupError, match="EdgesWithoutRule"):
        tracejit.grad(lambda c: NO_RULE(c))(2.0)


# --- special values of functions that are no ufuncs -----------------------------------------------

INF, NAN = math.inf, math.nan
VALUES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "nanmax": (np.nanmax, (np.array([NAN]),)), "nanmin": (np.nanmin, (np.array([NAN, 1.0]),)),
    "nanmax of rows": (lambda a: np.nanmax(a, axis=1), (np.array([[NAN, NAN], [1.0, NAN]]),)),
    "nansum": (np.nansum, (np.array([NAN]),)), "nanmean": (np.nanmean, (np.array([NAN, 2.0]),)),
    "median": (np.median, (np.array([1.7e308, 1.7e308]),)),
    "median of NaN": (np.median, (np.array([1.0, NAN, 2.0]),)),
    "median of infinities": (np.median, (np.array([INF, INF, 1.0]),)),
    "mean": (np.mean, (np.array([1.7e308, 1.7e308]),)),
    "searchsorted": (np.searchsorted, (np.array([1.0, 2.0, NAN]), np.array([NAN, 0.0, 3.0, 2.0]))),
    "searchsorted right": (lambda a, v: np.searchsorted(a, v, side="right"),
                           (np.array([1.0, 2.0, NAN]), np.array([NAN, 0.0, 3.0, 2.0]))),
    "searchsorted NaN": (np.searchsorted, (np.array([1.0, 2.0]), NAN)),
    "interp inf": (np.interp, (np.array([0.5, 1.5, -1.0, 3.0, NAN, INF, -INF, 1.0, 0.0]),
                               np.array([0.0, 1.0, 2.0]), np.array([0.0, INF, 2.0]))),
    "interp to inf": (np.interp, (np.array([0.5, 1.5, INF]), np.array([0.0, 1.0, INF]),
                                  np.array([0.0, 1.0, 2.0]))),
    "interp from -inf": (np.interp, (np.array([0.5, 0.0, -INF]), np.array([-INF, 0.0, 1.0]),
                                     np.array([0.0, 1.0, 2.0]))),
    "sign": (np.sign, (np.array([-0.0, 0.0, NAN, -INF]),)),
    "max": (np.max, (np.array([1.0, NAN]),)), "argmax": (np.argmax, (np.array([1.0, NAN, 2.0]),)),
    "sort": (np.sort, (np.array([3.0, NAN, INF, -INF, -0.0]),)),
    "clip": (lambda a: np.clip(a, NAN, 1.0), (np.array([1.0, 2.0]),)),
    "clip crossed": (lambda a: np.clip(a, 2.0, 1.0), (np.array([1.0, 2.0]),)),
    "nan_to_num": (np.nan_to_num, (np.array([INF, -INF, NAN]),)),
    "x ** 0.5": (lambda x: x ** 0.5, (np.float64(-INF),)),
    "x ** 0.5 of -0.0": (lambda x: x ** 0.5, (np.float64(-0.0),)),
    "array ** 0.5": (lambda x: x ** 0.5, (np.array([-INF, -0.0, 4.0]),)),
    "array ** -0.5": (lambda x: x ** -0.5, (np.array([-INF, -0.0, 4.0]),)),
    "split": (lambda x: np.split(x, 2), (np.arange(5.0),)),
    "split evenly": (lambda x: np.split(x, 2), (np.arange(6.0),)),
    "average": (lambda a, w: np.average(a, weights=w), (np.ones(2), np.zeros(2))),
    "ceil of a power": (lambda x: np.ceil((x > 0.0) ** 2), (np.ones(2),)),
    "entr": (lambda x: sp.entr(x), (np.array([-1.0, 0.0, 1.0, NAN]),)),
    "xlogy": (lambda x, y: sp.xlogy(x, y), (np.array([0.0, 0.0, 0.0, 1.0]),
                                            np.array([NAN, 0.0, -1.0, 2.0])))}


@pytest.mark.parametrize("name", VALUES)
def test_a_function_of_special_values_is_numpys(name: str) -> None:
    fn, args = VALUES[name]
    captured = tracejit.jit(functools.partial(_call, fn))
    try:
        expected = fn(*args)
    except Exception as error:
        with pytest.raises(type(error)):
            captured(*args)
        return
    for f, e in zip(*((x if isinstance(x, list) else [x]) for x in (captured(*args), expected)),
                    strict=True):
        assert np.asarray(f).dtype == np.asarray(e).dtype
        np.testing.assert_array_equal(f, e)
        if np.asarray(e).dtype.kind == "f":
            zeros = np.asarray(e) == 0
            np.testing.assert_array_equal(np.signbit(f)[zeros], np.signbit(e)[zeros])


def _root_and_branch(x: Any) -> Any:
    root = np.sqrt(x)
    return root * x if x > 0.0 else x * 3.0


def _root_in_one_of_three(x: Any) -> Any:
    root = np.sqrt(x)
    if x < 0.0:
        y = root * 2.0
    elif x == 0.0:
        y = 5.0 * x
    else:
        y = root
    return y + x


def _root_behind_an_inner_branch(x: Any) -> Any:
    root, log = np.sqrt(x), np.log(x)
    y = x
    if x >= 0.0:
        if root > 0.0:
            y = y + root + log
        else:
            y = y * 4.0
    else:
        y = y + root
    return y


def _returned_early(x: Any) -> Any:
    norm = np.sqrt(x * x)
    if norm == 0.0:
        return 2.0 * x
    return x / norm


def _left_by_continue(x: Any) -> Any:
    total = x
    for k in range(15):
        root = np.sqrt(x * k)
        if root == 0.0:
            continue
        total = total + root
    return total


def _pairs(x: Any) -> Any:
    points = np.stack([x, x + 1.0, x + 3.0])
    total = 0.0
    for i in range(3):
        for j in range(3):
            r = np.sqrt((points[i] - points[j]) ** 2)
            if i != j:
                total += 1.0 / r
    return total + x


def _array_in_a_branch(x: Any) -> Any:
    roots = np.sqrt(np.stack([x, x]))
    return np.sum(roots) if x > 0.0 else np.sum(roots * 0.0 + 1.0) if x < 0.0 else 7.0 * x


def _dropped_and_masked(x: Any) -> Any:
    root = np.sqrt(x)
    y = np.where(x > 0.0, root, 2.0 * x)
    return y + root if x > 1.0 else y


def _array_in_a_branch_and_after_it(x: Any) -> Any:
    roots = np.sqrt(np.stack([x, x]) + 1.0)
    y = np.sum(roots * x) if x > 0.0 else 3.0 * x
    return y + np.sum(roots)


def _number_in_a_branch_and_after_it(x: Any) -> Any:
    root = np.sqrt(x + 1.0)
    y = root * x if x > 0.0 else 3.0 * x
    return y + root * 2.0


DROPPED: dict[Callable[..., Any], float] = {
    _root_and_branch: 3.0, _root_in_one_of_three: 6.0, _root_behind_an_inner_branch: 4.0,
    _returned_early: 2.0, _left_by_continue: 1.0, _pairs: 1.0, _array_in_a_branch: 7.0,
    _dropped_and_masked: 2.0, _array_in_a_branch_and_after_it: 4.0,
    _number_in_a_branch_and_after_it: 4.0}


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("f", DROPPED)
def test_what_the_branch_taken_does_not_read_is_multiplied_by_nothing(
        f: Callable[..., Any], interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        value, slope = tracejit.value_and_grad(f)(0.0)
        assert (value, slope) == (f(0.0), DROPPED[f])
        inside = tracejit.jit(lambda x: tracejit.grad(f)(x) * 2.0)(0.0)
        assert inside == 2.0 * DROPPED[f]
        h = 1e-6
        np.testing.assert_allclose(tracejit.grad(f)(2.0), (f(2.0 + h) - f(2.0 - h)) / (2.0 * h),
                                   rtol=1e-8)
        assert np.all(np.isfinite(tracejit.vmap(tracejit.grad(f))(np.array([0.0, 2.0]))))
        if f not in (_pairs, _array_in_a_branch_and_after_it, _number_in_a_branch_and_after_it):
            assert tracejit.grad(tracejit.grad(lambda x: f(x) + x ** 2))(0.0) == 2.0


RESTS = {
    "np.remainder": (np.remainder, math.floor), "np.fmod": (np.fmod, math.trunc),
    "%": (lambda x, y: x % y, math.floor), "divmod": (lambda x, y: divmod(x, y)[1], math.floor),
    "np.divmod": (lambda x, y: np.divmod(x, y)[1], math.floor),
    "math.fmod": (math.fmod, math.trunc), "math.remainder": (math.remainder, round),
}


@pytest.mark.parametrize("name", RESTS)
def test_a_rest_falls_by_the_whole_quotient_where_the_quotient_rounds_to_a_whole_number(name):
    """The oracle is Python's fractions: 1.0 over 0.1 is below 10, and rounds to it."""
    function, whole = RESTS[name]
    numbers = [k / 10 for k in (-43, -20, -11, 3, 6, 7, 10, 12, 21, 49)] + [2.5, -0.75]
    divisors = [k / 10 for k in (1, 2, 3, 7, 11)] + [-0.1, -0.3, 1 / 3]
    by_divisor = tracejit.grad(lambda y, x: function(x, y))
    forward = tracejit.jvp(function)
    with tracejit.config(disable_jit=True):
        for x, y in itertools.product(numbers, divisors):
            expected = -whole(Fraction(x) / Fraction(y))
            assert by_divisor(y, x) == expected, (x, y)
            assert forward((x, y), (0.0, 1.0))[1] == expected, (x, y)


NEAR = 1.0 - 1.3e-9


def away(x: float) -> float:
    """Return 1 - x**2, rounded once."""
    return float(1 - Fraction(x) ** 2)


FAR = {
    "arctan2 by y": (lambda t: np.arctan2(t, 1e200), 1e200, 0.5e-200),
    "arctan2 by x": (lambda t: np.arctan2(1e200, t), 1e200, -0.5e-200),
    "arctan2 of little": (lambda t: np.arctan2(t, 1e-200), 1e-200, 0.5e200),
    "math.atan2": (lambda t: math.atan2(t, 3e180), -4e180, 0.12e-180),
    "arcsinh": (np.arcsinh, 1e200, 1e-200), "arcsinh below": (np.arcsinh, -1e170, 1e-170),
    "math.asinh": (math.asinh, 1e200, 1e-200), "arccosh": (np.arccosh, 1e200, 1e-200),
    "arccosh near 1": (np.arccosh, NEAR + 2e-9, 1.0 / math.sqrt(-away(NEAR + 2e-9))),
    "arcsin near 1": (np.arcsin, NEAR, 1.0 / math.sqrt(away(NEAR))),
    "arccos near -1": (np.arccos, -NEAR, -1.0 / math.sqrt(away(NEAR))),
    "arctanh near 1": (np.arctanh, NEAR, 1.0 / away(NEAR)),
    "arctanh near -1": (np.arctanh, -NEAR, 1.0 / away(NEAR)),
}


@pytest.mark.parametrize("least", [1e200, 1e-200, 1e-310, 5e-324, np.float32(1e-40)])
def test_a_norm_has_its_derivative_where_squares_leave_the_numbers(least):
    x = np.array([least, 0.0], np.asarray(least).dtype)
    with tracejit.config(disable_jit=True):
        for f in (scipy.linalg.norm, lambda v: scipy.spatial.distance.euclidean(v, 0 * v)):
            np.testing.assert_array_equal(tracejit.grad(f)(x), [1.0, 0.0])


@pytest.mark.parametrize("f", [
    scipy.spatial.distance.cosine, scipy.spatial.distance.correlation,
    lambda u, v: scipy.stats.pearsonr(u, v)[0]])
def test_second_derivatives_stay_where_rounding_leaves_the_bounds(f):
    rng, eps = np.random.default_rng(3), 1e-5
    with tracejit.config(disable_jit=True):
        slope, second = tracejit.jit(tracejit.grad(f)), tracejit.jit(tracejit.hessian(f))
        for _ in range(20):
            u = rng.standard_normal(4)
            v = rng.uniform(0.5, 3.0) * u
            turned = u + eps * rng.standard_normal(4)
            expected = slope(turned, v) - slope(2 * u - turned, v)
            np.testing.assert_allclose(second(u, v) @ (2 * (turned - u)), expected, atol=1e-9)


@pytest.mark.parametrize("name", FAR)
def test_a_derivative_is_right_where_squares_leave_the_numbers_or_cancel(name):
    function, x, expected = FAR[name]
    with tracejit.config(disable_jit=True):
        for found in (tracejit.grad(function)(x), tracejit.jvp(function, (x,), (1.0,))[1]):
            assert found == pytest.approx(expected, rel=1e-14, abs=0.0)
