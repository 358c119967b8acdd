"""Functions of `scipy.special` whose values SciPy's own C functions compute.

Their derivatives are those of the ops, or of a formula of other captured functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tracejit.numpy_api.special import in_double
from tracejit.numpy_api.special_kinds import double_of_real, of_complex, of_floats
from tracejit.ops.calls import stop_gradient
from tracejit.ops.incomplete import student_by_df
from tracejit.ops.roots import root_of
from tracejit.ops.scipy_functions import Formula, special
from tracejit.scipy_api.carlson import like
from tracejit.scipy_api.probability import beta_tails, gamma_tails
from tracejit.trace.ground.dispatch import DISTRIBUTIONS, FOREIGN, scipy_captures
from tracejit.trace.values.equations import apply

__all__: list[str] = []

_PLAIN = ("ber", "bei", "ker", "kei", "berp", "beip", "kerp", "keip", "hyp0f1", "hyperu", "jve",
          "yve", "modstruve", "besselpoly", "it2struve0", "itstruve0", "itmodstruve0",
          "wrightomega", "ndtri_exp", "wright_bessel", "log_wright_bessel", "mathieu_a",
          "mathieu_b", "chndtridf", "chndtrinc", "ncfdtridfd", "ncfdtridfn", "ncfdtrinc",
          "nctdtridf", "nctdtrinc", "obl_cv", "pro_cv")
_SEVERAL = {"it2i0k0": 2, "it2j0y0": 2, "itairy": 4, "iti0k0": 2, "itj0y0": 2, "pbdv": 2,
            "pbvv": 2, "pbwa": 2, **{f"mathieu_{name}": 2 for name in (
                "cem", "sem", "modcem1", "modcem2", "modsem1", "modsem2")},
            **{f"{shape}_{kind}{how}": 2 for shape in ("obl", "pro")
               for kind in ("ang1", "rad1", "rad2") for how in ("", "_cv")}}


def _spared(function: Formula, *operands: np.ndarray) -> Any:
    """Return NaN of a size or an order for which SciPy's own function ends the process."""
    fine = np.isfinite(operands[0]) & np.isfinite(operands[1]) & np.isfinite(operands[2])
    return np.where(fine, function(*[np.where(fine, x, 1.0) for x in operands[:3]], *operands[3:]),
                    np.nan)


def _call(name: str) -> Callable[..., Any]:
    """Return SciPy's C function; of spheroidal ones that of numbers for which SciPy has a value."""
    def function(*operands: object) -> Any:
        return special(name, *operands)

    return partial(_spared, function) if name.startswith(("obl_", "pro_")) else function


def _plain(name: str) -> Callable[..., Any]:
    return in_double(name, _call(name))


def _several(name: str, count: int) -> Callable[..., Any]:
    """Return a function of reals with several results."""
    parts = [in_double(name, _call(f"{name}_{k}")) for k in range(count)]
    return lambda *operands: tuple([part(*operands) for part in parts])


def _kelvin(x: object) -> Any:
    """Return the functions of x and of their derivatives, two and two, as complex numbers."""
    given = double_of_real(x, "scipy.special.kelvin")
    pairs = (("ber", "bei"), ("ker", "kei"), ("berp", "beip"), ("kerp", "keip"))
    return tuple([apply("complex", special(a, given), special(b, given)) for a, b in pairs])


# --- distribution functions, and what they are solved for -----------------------------------------


def _cdf(distribution: str, what: str, *operands: np.ndarray) -> Any:
    return DISTRIBUTIONS[distribution][what](*operands)


def _whole(k: np.ndarray) -> Any:
    """Return a number as SciPy passes it to a C function of ints."""
    return stop_gradient(np.trunc(k))


def _poisson_mean(k: np.ndarray, y: np.ndarray) -> Any:
    known = (_whole(k) >= 0.0) & (y >= 0.0) & (y < 1.0)
    return np.where(known, FOREIGN["scipy.special.gammainccinv"](
        np.where(known, _whole(k), 0.0) + 1.0, np.where(known, y, 0.5)), np.nan)


def _negative_binomial_chance(k: np.ndarray, n: np.ndarray, y: np.ndarray) -> Any:
    ends = (_whole(k) >= 0.0) & ((y == 0.0) | (y == 1.0)) & (n == n)
    return np.where(ends, y, FOREIGN["scipy.special.betaincinv"](
        _whole(n), _whole(k) + 1.0, np.where(ends, 0.5, y)))


_FORMULAS: dict[str, Callable[..., Any]] = {
    "kolmogorov": lambda y: _cdf("kstwobign", "sf", y),
    "smirnov": lambda n, d: _cdf("ksone", "sf", d, _whole(n)),
    "tklmbda": lambda x, lam: _cdf("tukeylambda", "cdf", x, lam),
    "chndtr": lambda x, df, nc: _cdf("ncx2", "cdf", x, df, nc),
    "ncfdtr": lambda dfn, dfd, nc, f: _cdf("ncf", "cdf", f, dfn, dfd, nc),
    "nctdtr": lambda df, nc, t: _cdf("nct", "cdf", t, df, nc),
    "nrdtrimn": lambda p, std, x: x - std * _cdf("norm", "ppf", p),
    "nrdtrisd": lambda mn, p, x: (x - mn) / _cdf("norm", "ppf", p),
}
"""Formulas that have the derivatives of functions."""

_OF_INVERSES: dict[str, Callable[..., Any]] = {
    "pdtri": _poisson_mean,
    "bdtri": lambda k, n, y: 1.0 - FOREIGN["scipy.special.betaincinv"](
        _whole(n) - _whole(k), _whole(k) + 1.0, y),
    "nbdtri": _negative_binomial_chance,
}
"""Of whole numbers, for which SciPy's own functions of doubles warn."""

Equation = tuple[Any, Any, Any]
Solved = Callable[..., Equation]
"""(what was solved for, *operands) -> the function that was solved, its derivative by what it was
solved for, and the number that it ought to be."""


def _beta(a: np.ndarray, b: np.ndarray, x: np.ndarray, by: tuple[float, float]) -> Any:
    rest = 1.0 - x
    return apply("beta_part", a, b, x, rest, *by) if any(by) else beta_tails(a, b, x, rest)[0]


def _of_first(a: np.ndarray, b: np.ndarray, x: np.ndarray, p: np.ndarray) -> Equation:
    return _beta(a, b, x, (0.0, 0.0)), _beta(a, b, x, (1.0, 0.0)), p


def _of_second(a: np.ndarray, b: np.ndarray, x: np.ndarray, p: np.ndarray) -> Equation:
    return _beta(a, b, x, (0.0, 0.0)), _beta(a, b, x, (0.0, 1.0)), p


def _gamma(a: np.ndarray, x: np.ndarray, k: float) -> Any:
    return apply("gamma_part", a, x, k) if k else gamma_tails(a, x)[0]


def _of_shape(a: np.ndarray, x: np.ndarray, p: np.ndarray, scale: float = 1.0) -> Equation:
    return _gamma(a, x, 0.0), scale * _gamma(a, x, 1.0), p


def _both(parts: Equation, other: Equation, share: float) -> Equation:
    """Return a function of which both parameters depend on what is solved for."""
    return parts[0], share * (parts[1] - other[1]), parts[2]


def _binomial_k(k: np.ndarray, y: np.ndarray, n: np.ndarray, p: np.ndarray) -> Equation:
    first = _of_first(k + 1.0, n - k, p, 1.0 - y)
    return _both(first, _of_second(k + 1.0, n - k, p, 1.0 - y), 1.0)


def _fisher(dfd: np.ndarray, dfn: np.ndarray, p: np.ndarray, x: np.ndarray) -> Equation:
    a, b, whole = 0.5 * dfn, 0.5 * dfd, dfn * x + dfd
    y = dfn * x / whole
    density = apply("beta_density", a, b, y, dfd / whole)
    return _beta(a, b, y, (0.0, 0.0)), 0.5 * _beta(a, b, y, (0.0, 1.0)) - density * y / whole, p


def _below(name: str, x: np.ndarray, p: np.ndarray, *shapes: np.ndarray) -> Equation:
    return _cdf(name, "cdf", x, *shapes), _cdf(name, "pdf", x, *shapes), p


def _above(name: str, x: np.ndarray, p: np.ndarray, *shapes: np.ndarray) -> Equation:
    return _cdf(name, "sf", x, *shapes), -_cdf(name, "pdf", x, *shapes), p


_SOLVED: dict[str, Solved] = {
    "btdtria": lambda a, p, b, x: _of_first(a, b, x, p),
    "btdtrib": lambda b, a, p, x: _of_second(a, b, x, p),
    "bdtrik": _binomial_k,
    "bdtrin": lambda n, k, y, p: _of_second(k + 1.0, n - k, p, 1.0 - y),
    "nbdtrik": lambda k, y, n, p: _of_second(n, k + 1.0, p, y),
    "nbdtrin": lambda n, k, y, p: _of_first(n, k + 1.0, p, y),
    "fdtridfd": _fisher,
    "chdtriv": lambda v, p, x: _of_shape(0.5 * v, 0.5 * x, p, 0.5),
    "gdtria": lambda a, p, b, x: (_gamma(b, a * x, 0.0), x * apply(
        "gamma_density", b, a * x), p),
    "gdtrib": lambda b, a, p, x: _of_shape(b, a * x, p),
    "pdtrik": lambda k, p, m: _of_shape(k + 1.0, m, 1.0 - p),
    "kolmogi": lambda y, p: _above("kstwobign", y, p),
    "smirnovi": lambda d, n, p: _above("ksone", d, p, _whole(n)),
    "chndtrix": lambda x, p, df, nc: _below("ncx2", x, p, df, nc),
    "ncfdtri": lambda f, dfn, dfd, nc, p: _below("ncf", f, p, dfn, dfd, nc),
    "nctdtrit": lambda t, df, nc, p: _below("nct", t, p, df, nc),
    "stdtridf": lambda df, p, t: (apply("student_t", t, df), student_by_df(t, df), p),
}

_OF_BOTH_SIGNS = ("nctdtrit",)
"""Whose solutions may be 0; for others 0 says that there is none."""


def _solved(name: str) -> Callable[..., Any]:
    """Return the number that solves an equation, with the derivatives that the equation implies.

    Two steps of Newton's method from it, which change no value, have its derivatives.
    """
    equation, least = _SOLVED[name], -1.0 if name in _OF_BOTH_SIGNS else 1e-200

    def solution(*operands: np.ndarray) -> Any:
        given = [stop_gradient(x) for x in operands]
        found = special(name, *(np.trunc(x) if k == 0 and name == "smirnovi" else x
                                for k, x in enumerate(given)))
        known = (np.abs(found) > least) & (np.abs(found) < 1e80)  # else there is no solution
        near = np.where(known, found, 1.0)
        for _ in range(2):
            value, slope, wanted = equation(near, *operands)
            fine = (slope != 0.0) & (np.abs(slope) < np.inf)
            near = near + np.where(fine, (wanted - value) / np.where(fine, slope, 1.0), 0.0)
        return root_of(found, np.where(known, near, found), np.where(
            known & (slope == slope), slope, 1.0))

    return in_double(name, solution)


def _with_formula(name: str) -> Callable[..., Any]:
    formula, whole = _FORMULAS[name], name == "smirnov"

    def function(*operands: np.ndarray) -> Any:
        given = [stop_gradient(x) for x in operands]
        first = np.trunc(given[0]) if whole else given[0]
        return like(special(name, first, *given[1:]), formula(*operands))

    return in_double(name, function)


# --- complex numbers ------------------------------------------------------------------------------


def _hankel_scaled(name: str) -> Callable[..., Any]:
    return of_floats(name, lambda v, z: of_complex(name, (v, z)))


def _modified_fresnel(name: str, sign: float) -> Callable[..., Any]:
    """Return the integral of exp(sign 1j t * t) from x on, and the same times a phase."""
    def capture(x: object) -> Any:
        given: Any = double_of_real(x, f"scipy.special.{name}")
        sine, cosine = FOREIGN["scipy.special.fresnel"](given * math.sqrt(2.0 / math.pi))
        known = stop_gradient(given)
        scale = -math.sqrt(0.5 * math.pi)
        formula = scale * cosine, sign * scale * sine

        def integral(found: np.ndarray) -> Any:
            return apply("complex", like(np.real(found), formula[0]), like(
                np.imag(found), formula[1]))

        def phase(x: np.ndarray) -> Any:
            angle = -sign * (x * x + 0.25 * math.pi)
            return apply("complex", np.cos(angle), np.sin(angle)) / math.sqrt(math.pi)

        whole = integral(special(f"{name}_1_z", known) / phase(known))
        above = integral(special(f"{name}_0_z", known))  # of x below 0 SciPy's is no integral
        return np.where(given < 0.0, whole, above), whole * phase(given)

    return of_floats(name, capture)


scipy_captures("scipy.special", {
    **{name: _plain(name) for name in _PLAIN},
    **{name: _several(name, count) for name, count in _SEVERAL.items()},
    **{name: _with_formula(name) for name in _FORMULAS},
    **{name: in_double(name, formula) for name, formula in _OF_INVERSES.items()},
    **{name: _solved(name) for name in _SOLVED},
    **{name: _hankel_scaled(name) for name in ("hankel1e", "hankel2e")},
    "modfresnelp": _modified_fresnel("modfresnelp", 1.0),
    "modfresnelm": _modified_fresnel("modfresnelm", -1.0),
    "kelvin": of_floats("kelvin", _kelvin)})
