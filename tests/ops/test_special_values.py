"""Special functions and two derivatives against mpmath's numbers, in interpreter and kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special
from special_values import PATH, points

import tracejit

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "airy_ai": lambda x: special.airy(x)[0], "airy_bi": lambda x: special.airy(x)[2],
    "lambertw_0": lambda x: special.lambertw(x).real,
    "lambertw_-1": lambda x: special.lambertw(x, -1).real,
    "voigt_profile": lambda s, g, x: special.voigt_profile(x, s, g), "struve": special.struve,
    "hyp1f1": special.hyp1f1, "hyp2f1": special.hyp2f1,
    "voigt_width": lambda x, g, s: special.voigt_profile(x, s, g),
    "voigt_flank": lambda x, s, g: special.voigt_profile(x, s, g),
    **{name: lambda x, name=name: getattr(special, name)(x) for name in (
        "dawsn", "erfcx", "j1", "i1", "i1e", "rgamma")}}
TABLE = json.loads(PATH.read_text(encoding="utf-8"))
FLOOR = {"airy_ai": 1.0, "airy_bi": 1.0, "struve": 1.0, "voigt_flank": 1e-3, "rgamma": 1e-9}
"""Below which size errors are absolute: of functions that have zeros."""


def _columns(name: str) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
    rows = TABLE[name]
    parameters = [np.array([row[0][k] for row in rows]) for k in range(len(rows[0][0]))]
    return parameters, np.array([r[1] for r in rows]), [
        np.array([r[n] for r in rows]) for n in (2, 3, 4)]


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_two_derivatives_are_mpmaths(name: str, interpreted: bool) -> None:
    parameters, x, (value, first, second) = _columns(name)
    function = FUNCTIONS[name]

    def total(t: Any, *args: Any) -> Any:
        return np.sum(function(*args, t))

    def slopes(t: Any, *args: Any) -> Any:
        return np.sum(tracejit.grad(total)(t, *args))

    with tracejit.config(disable_jit=interpreted):
        found = (tracejit.jit(lambda t, *args: function(*args, t))(x, *parameters),
                 tracejit.grad(total)(x, *parameters), tracejit.grad(slopes)(x, *parameters))
    for got, wanted in zip(found, (value, first, second), strict=True):
        floor = FLOOR.get(name, 0.0)
        error = np.abs(got - wanted) / np.maximum(np.abs(wanted), floor)
        assert np.all(error < 2e-11), (name, x[np.argmax(error)], np.max(error))


@pytest.mark.parametrize("interpreted", [True, False])
def test_a_line_without_width_has_the_second_derivative_of_its_limit(interpreted: bool) -> None:
    def slope(s: float, x: float, g: float) -> Any:
        return tracejit.grad(lambda s: special.voigt_profile(x, s, g))(s)

    with tracejit.config(disable_jit=interpreted):
        both = tracejit.jit(lambda s, x, g: (slope(s, x, g), tracejit.grad(slope)(s, x, g)))
        for s in (0.0, 1e-300, 1e-30, 1e-9):
            for x, g in ((0.7, 0.3), (-0.7, 0.3), (0.0, 0.2), (0.4, 0.0), (1e3, 1.0)):
                second = 2.0 * (1j / (np.pi * (x + 1j * g) ** 3)).real
                np.testing.assert_allclose(both(s, x, g), (s * second, second), rtol=1e-10)


@pytest.mark.parametrize(("function", "degree"), [
    (special.elliprg, 0.5), (special.elliprf, -0.5), (special.elliprj, -1.5),
    (special.elliprd, -1.5), (special.elliprc, -0.5)])
def test_carlsons_integrals_of_equal_numbers_have_eulers_derivatives(
        function: Any, degree: float) -> None:
    def f(x: Any) -> Any:
        return function(*[x[k] for k in range(function.nin)])

    with tracejit.config(disable_jit=True):
        for x in np.full(function.nin, 0.7), np.array([0.3, 0.3, 0.9, 0.9])[:function.nin]:
            slope, bend = tracejit.grad(f)(x), tracejit.hessian(f)(x)
            np.testing.assert_allclose(slope @ x, degree * f(x), rtol=1e-12)
            np.testing.assert_allclose(bend @ x, (degree - 1.0) * slope, rtol=1e-10)
            np.testing.assert_allclose(slope[0], slope[1], rtol=1e-12 if function.nin > 2 else 9.0)


def test_the_table_has_the_points_that_are_asked_for() -> None:
    asked = {name: [[args, x] for args, x in given] for name, given in points().items()}
    assert {name: [row[:2] for row in rows] for name, rows in TABLE.items()} == asked
    assert set(asked) == set(FUNCTIONS)


def test_what_is_not_known_well_enough_is_refused() -> None:
    def f(z: Any) -> Any:
        return special.hyp2f1(1.0, 2.0, 3.0, z)

    with pytest.raises(tracejit.Refusal, match="is not known here to 1e-11"):
        tracejit.jit(f)(1.5)
    with pytest.raises(tracejit.Refusal, match="is not known here to 1e-11"):
        tracejit.grad(lambda x: special.hyp1f1(-60.5, 0.5, x))(80.0)
    with pytest.raises(tracejit.Refusal, match="a parameter of a hypergeometric function"):
        tracejit.grad(lambda a: special.hyp1f1(a, 0.5, 1.0))(0.5)


EXTREMES: dict[str, tuple[Callable[..., Any], tuple[tuple[float, float], ...]]] = {
    "gammainccinv": (lambda a, q: special.gammainccinv(a, q), ((-2.0, 3.0), (-307.0, 0.0))),
    "gammaincinv": (lambda a, p: special.gammaincinv(a, p), ((-2.0, 3.0), (-307.0, 0.0))),
    "chdtri": (lambda v, q: special.chdtri(v, q), ((-1.0, 3.0), (-307.0, 0.0))),
    "ellipk": (lambda m: special.ellipk(-m), ((-3.0, 307.0),)),
    "ellipe": (lambda m: special.ellipe(-m), ((-3.0, 307.0),)),
    "zeta": (lambda s: special.zeta(s), ((0.01, 308.0),)),
    "zetac": (lambda s: special.zetac(s), ((0.01, 308.0),)),
    "pseudo_huber": (lambda r: special.pseudo_huber(1.0, r), ((-100.0, 308.0),))}


@pytest.mark.parametrize("name", EXTREMES)
def test_values_at_extremes_are_scipys(name: str) -> None:
    """Numbers of all sizes, by which series and iterations must not be driven too far."""
    function, spans = EXTREMES[name]
    rng = np.random.default_rng(4)
    args = [10.0 ** rng.uniform(*span, 400) for span in spans]
    with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
        found, wanted = tracejit.jit(function)(*args), function(*args)
    representable = ~(np.abs(wanted) < 1e-290)
    np.testing.assert_allclose(found[representable], wanted[representable], rtol=2e-12)
