"""NumPy's and SciPy's functions where a formula's cases meet: their values, and differences.

At whole and half numbers, at 0, at wrong and infinite arguments a function has the value that SciPy
gives; its first and second derivatives are differences' wherever these tell that it is smooth.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.special as sp
from scipy import stats

import tracejit
import tracejit.scipy_api
from tracejit.trace.ground.dispatch import FOREIGN

pytestmark = pytest.mark.filterwarnings("ignore")

FAR = [np.inf, -np.inf]
GRIDS = {1: [np.nan, 1e-300, -1e-3, 1e3, -3.0, -2.5, -2.3, -2.0, -1.5, -1.2, -1.0, -0.75, -0.5,
             -0.25, -0.1, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0, 20.0],
         2: [np.nan, -1.3, -2.0, -1.0, -0.7, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 20.0],
         3: [np.nan, -1.0, 0.0, 0.3, 0.5, 1.0, 2.0, 5.0], 4: [-0.5, 0.0, 0.5, 1.0]}
OTHERS = ("eval_", "wofz", "hankel", "hyp", "lpmv")
"""Of constant degrees, complex, or known to some digits alone: other tests have them."""
ODD = {"cbrt": "infinite at 0", "voigt_profile": "second one by a width of 0 is 0",
                 "huber": "no second one where it bends",
                 "gammaincinv": "SciPy has a number for shares below 0"}
"""Functions of which derivatives and NaNs are not asked, with the reason."""

UNLIKE = ("cotdg", "powm1")
"""Of which SciPy has other infinities: next to 0, and of 0.5 to the power of minus infinity."""


def functions() -> list[str]:
    """Return the names of the functions of real numbers."""
    found = []
    for name in FOREIGN:
        function = getattr(sp, name.removeprefix("scipy.special."), None)
        if name.startswith("scipy.special.") and isinstance(function, np.ufunc) and (
                function.nout == 1 and function.nin <= 4):
            found.append(name.removeprefix("scipy.special."))
    return sorted(name for name in found if not name.startswith(OTHERS))


ASKED: dict[str, Callable[[np.ndarray], Any]] = {
    **dict.fromkeys(("obl_cv", "pro_cv"), lambda x: np.all(np.isfinite(x), axis=0)),
    **dict.fromkeys(("chndtr", "chndtrix"), lambda x: x[2] != np.inf),
    "itstruve0": lambda x: np.abs(x[0]) < 24.0, "nrdtrisd": lambda x: x[1] != 0.5}
"""Arguments at which SciPy has a value to compare with: at others the process ends, the function is
refused here, values are not the integral's (24.5 is where SciPy's series ends), there is a pole."""


def points(name: str) -> list[np.ndarray]:
    """Return arguments, each with each other; the last ones are infinite, too."""
    count = getattr(sp, name, getattr(np, name, None)).nin
    grid = GRIDS[count]
    found = np.array([*itertools.product(*[grid] * (count - 1), grid + FAR)]).T
    return [*(found[:, ASKED[name](found)] if name in ASKED else found)]


class Differences(NamedTuple):
    """A derivative by differences, where it is known, and how far off one may be."""

    value: np.ndarray
    known: np.ndarray
    tolerance: np.ndarray


def differences(f: Callable[..., Any], args: list[np.ndarray],
                place: int) -> tuple[Differences, Differences]:
    """Return the first and second derivative by an argument: known where both sides agree.

    The sides of a second derivative are its own: at a kink of the first one they differ. A larger
    step tells where a function is flat only next to the point, or bends too much for a step; where
    a slope has more digits than a number, the point is a pole that rounding has missed.
    """
    h = 1e-5 * np.maximum(1.0, np.abs(args[place]))

    def at(step: np.ndarray) -> Any:
        return f(*(x + step if k == place else x for k, x in enumerate(args)))

    here = at(0.0 * h)
    right = (-3.0 * here + 4.0 * at(h) - at(2.0 * h)) / (2.0 * h)
    left = (3.0 * here - 4.0 * at(-h) + at(-2.0 * h)) / (2.0 * h)
    wide = (at(30.0 * h) - at(-30.0 * h)) / (60.0 * h)
    near, far = ((at(s) - 2.0 * here + at(-s)) / s ** 2 for s in (20.0 * h, 40.0 * h))
    above, below = ((here - 2.0 * at(s) + at(2.0 * s)) / s ** 2 for s in (20.0 * h, -20.0 * h))
    size = np.maximum(np.maximum(np.abs(left), np.abs(right)), 1e-3 * np.maximum(np.abs(here), 1.0))
    smooth = np.isfinite(here) & (np.abs(left - right) <= 1e-5 * size) & (size < 1e12)
    smooth &= np.abs(wide - left) <= 1e-2 * np.abs(left) + 1e-7 * np.maximum(np.abs(here), 1.0)
    bend = np.maximum(np.abs(near), np.maximum(np.abs(here), 1e-2))
    bent = (np.abs(near - far) <= 1e-3 * bend) & (np.abs(above - below) <= 0.5 * bend)
    return (Differences(0.5 * (left + right), smooth, 1e-4 * size),
            Differences(near, smooth & bent, 1e-2 * bend))


@pytest.mark.parametrize("name", functions())
def test_values_are_scipys(name: str) -> None:
    function = getattr(sp, name)
    args = points(name)
    with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
        expected = function(*args)
        found = tracejit.jit(lambda *xs: function(*xs))(*args)
    alike = np.isclose(found, expected, rtol=1e-8, atol=1e-300, equal_nan=True)
    finite = np.all(np.isfinite(args), axis=0) & (name not in ODD)
    alike |= (name in UNLIKE) & (np.isinf(found) | np.isinf(expected))
    wrong = np.flatnonzero(~alike & (finite | ~np.isnan(found)))
    assert not [(*(x[k] for x in args), found[k], expected[k]) for k in wrong]


def assert_derivatives_are_differences(function: Any, args: list[np.ndarray]) -> None:
    """Compare the first and second derivatives by each argument with differences."""
    with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
        for place in range(len(args)):
            def total(*xs: Any) -> Any:
                return np.sum(function(*xs))

            def slopes(*xs: Any, total: Any = total, place: int = place) -> Any:
                return np.sum(tracejit.grad(total, argnums=place)(*xs))

            for f, known in zip((total, slopes), differences(function, args, place), strict=True):
                try:
                    found = tracejit.grad(f, argnums=place)(*args)
                except (tracejit.Refusal, np.linalg.LinAlgError):  # by an order; of a flat equation
                    break
                off = known.known & ~(np.abs(found - known.value) <= known.tolerance)
                off &= np.all(np.isfinite(args), axis=0) | ~np.isnan(found)
                assert not [(place, *(x[k] for x in args), found[k], known.value[k])
                            for k in np.flatnonzero(off)]


@pytest.mark.parametrize("name", [name for name in functions() if name not in (*ODD, *UNLIKE)])
def test_derivatives_are_differences(name: str) -> None:
    function = getattr(sp, name)
    assert_derivatives_are_differences(function, points(name))


NEAR = [np.array([c + sign * step for c in (0.0, 0.5, 1.0, -1.0, 2.0, 3.0) for sign in (1.0, -1.0)
                  for step in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)])]
"""Next to the places where formulas change, where a quotient's derivatives lose their digits."""


@pytest.mark.parametrize("name", [name for name in functions() if name not in (*ODD, *UNLIKE)
                                  and getattr(sp, name).nin == 1])
def test_derivatives_next_to_seams_are_differences(name: str) -> None:
    assert_derivatives_are_differences(getattr(sp, name), NEAR)


NUMPYS = [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)
          and {"d->d", "dd->d"} & set(getattr(np, name).types)
          and getattr(np, name).nin + getattr(np, name).nout < 4 and getattr(np, name).nout == 1
          and getattr(np, name).signature is None and name not in (
              "arctan2", "atan2", "cbrt", "heaviside", "sign", "nextafter", "spacing")]
"""NumPy's functions of real numbers, but for those of a kink that differences do not see."""


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_derivatives_are_differences(name: str) -> None:
    function = getattr(np, name)
    args = points(name)
    if function.nin == 2:  # next to a multiple of the divisor differences take two branches
        args = [x[np.abs(args[1]) > 0.2] for x in args]
    assert_derivatives_are_differences(function, args)
    if function.nin == 1:
        assert_derivatives_are_differences(function, NEAR)


@pytest.mark.parametrize("function", [
    lambda x: np.sinc(x), lambda x: np.i0(x), lambda x: sp.spherical_jn(1, x),
    lambda x: sp.spherical_in(2, x), lambda x: sp.polygamma(1, x), lambda x: sp.sici(x)[0],
    lambda x: sp.shichi(x)[0], lambda x: sp.fresnel(x)[1], lambda x: sp.diric(x, 4)])
def test_derivatives_of_composed_functions_are_differences(function: Any) -> None:
    assert_derivatives_are_differences(function, NEAR)
    assert_derivatives_are_differences(function, [np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 2.0, 7.0])])


@pytest.mark.parametrize("power", [-2.0, -0.5, 0.0, 1e-9, 0.5, 1.0, 3.0])
def test_derivatives_of_boxcox_are_powers(power: float) -> None:
    x = np.logspace(-40.0, 40.0, 33)
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(lambda x, p: np.sum(sp.boxcox(x, p)))(x, power)
        shifted = tracejit.grad(lambda x, p: np.sum(sp.boxcox1p(x, p)))(x, power)
    np.testing.assert_allclose(found, x ** (power - 1.0), rtol=1e-11)
    np.testing.assert_allclose(shifted, (1.0 + x) ** (power - 1.0), rtol=1e-11)


def test_derivatives_far_away_are_numbers() -> None:
    far = np.array([1e50, 1e200, -1e200, 1e-300, 0.0])
    with tracejit.config(disable_jit=True):
        for f in (lambda x: np.sinc(x), lambda x: sp.rgamma(np.abs(x)), lambda x: sp.expit(x),
                  lambda x: np.logaddexp2(x, 0.0), lambda x: stats.logistic.logpdf(x),
                  lambda x: stats.gamma.pdf(x, 2.0)):
            assert not np.any(np.isnan(tracejit.grad(lambda x, f=f: np.sum(f(x)))(far)))


def test_a_share_of_zero_leaves_the_slopes_of_entropy_by_the_others() -> None:
    x = np.array([0.0, 1.0, 0.0, 3.0])
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(lambda x: stats.entropy(x))(x)
    total = np.sum(x)
    inside = -(np.log(x[1::2] / total) + stats.entropy(x)) / total
    np.testing.assert_allclose(found, [np.inf, inside[0], np.inf, inside[1]], rtol=1e-12)


@pytest.mark.parametrize("cone", [
    lambda x: np.hypot(x, 2.0 * x), lambda x: np.abs(x * (1.0 + 2.0j)), lambda x: np.abs(x),
    lambda x: np.linalg.norm(np.array([x, 2.0 * x])), lambda x: np.abs(x * (3.0 - 1.0j)) ** 2])
def test_at_its_tip_a_cone_has_derivatives_of_zero(cone: Any) -> None:
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(lambda x: cone(x))
        bend = tracejit.grad(slope)
        assert slope(0.0) == bend(0.0) == tracejit.grad(bend)(0.0) == 0.0
        assert tracejit.jvp(slope, (0.0,), (1.0,))[1] == 0.0
        assert np.isclose(slope(2.0), (cone(2.001) - cone(1.999)) / 0.002)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("name", ["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"])
def test_spherical_functions_at_infinity_are_scipys(name: str, n: int) -> None:
    function, ends = getattr(sp, name), np.array([np.inf, -np.inf])
    with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
        value = tracejit.jit(lambda x: function(n, x))(ends)
        slope = tracejit.jit(lambda x: function(n, x, derivative=True))(ends)
        expected = function(n, ends, derivative=True)
        known = ~np.isnan(expected)  # SciPy subtracts infinities
        np.testing.assert_array_equal(value, function(n, ends))
        np.testing.assert_array_equal(slope[known], expected[known])
        if name in ("spherical_jn", "spherical_in"):
            found = tracejit.grad(lambda x: np.sum(function(n, x)))(ends)
            np.testing.assert_array_equal(found[known], expected[known])
