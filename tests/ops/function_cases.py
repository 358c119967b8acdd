"""Cases for functions of `scipy.special` whose values SciPy's own C functions compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

__all__ = ["EDGES_OF_FUNCTIONS", "FUNCTION_CASES", "HEAVY_CASES"]

POSITIVE = np.array([0.3, 1.1, 2.6, 7.5])
SIGNED = np.array([-2.3, -0.4, 0.7, 3.1])
SHARES = np.array([0.07, 0.35, 0.62, 0.93])
A, B = np.array([1.7, 0.6, 3.3, 2.4]), np.array([0.9, 2.2, 1.3, 4.1])
Z = SIGNED + 1j * np.array([0.3, -0.6, 1.2, 0.1])
SINGLE = POSITIVE.astype(np.float32)

FUNCTION_CASES: dict[str, list[tuple[Any, ...]]] = {}
HEAVY_CASES: dict[str, list[tuple[Any, ...]]] = {}
"""Those whose second derivatives take seconds to compile."""


def _enter(names: str, *args: Any, fixed: tuple[Any, ...] = (),
           to: dict[str, list[tuple[Any, ...]]] = FUNCTION_CASES) -> None:
    """Enter a case of each name; parameters without a derivative are `fixed`, and come first."""
    for name in names.split():
        function = getattr(special, name)
        to.setdefault(name, []).append((lambda *xs, f=function: f(*fixed, *xs), *args))


_enter("ber bei berp beip ker kei kerp keip itstruve0 itmodstruve0 it2struve0 it2i0k0 it2j0y0 "
       "iti0k0 itj0y0 kelvin", POSITIVE)
_enter("ber beip wrightomega", SIGNED)
_enter("itairy", SHARES)
_enter("ker ndtri_exp", SINGLE)
_enter("ndtri_exp", -POSITIVE)
_enter("hyp0f1", SIGNED, fixed=(A,))
_enter("jve yve modstruve hankel1e hankel2e", POSITIVE, fixed=(A,))
_enter("pbdv pbvv pbwa", SIGNED, fixed=(A,))
_enter("hyperu wright_bessel log_wright_bessel", POSITIVE, fixed=(A, B))
_enter("mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modsem2", SHARES, fixed=(2.0, A))
for _name in ("besselpoly",):
    FUNCTION_CASES[_name] = [(lambda a: special.besselpoly(a, A, B), POSITIVE)]
_enter("kolmogorov", SHARES)
_enter("smirnov", SHARES, fixed=(5,))
_enter("pdtri", SHARES, fixed=(3,))
_enter("bdtri nbdtri", SHARES, fixed=(2, 5))
_enter("nrdtrimn", SHARES, A, SIGNED)
_enter("elliprc", POSITIVE, A)
_enter("gamma loggamma rgamma psi erf erfc erfi erfcx dawsn ndtr log_ndtr expi exp1 sici shichi "
       "fresnel spence airy wrightomega", Z)
_enter("jv yv iv kv kve jve yve ive hankel1 hankel2 hankel1e hankel2e hyp0f1", Z, fixed=(A,))
_enter("erf", Z.astype(np.complex64))
_enter("hyp1f1", Z, fixed=(A, B))
_enter("hyp2f1", Z / 5.0, fixed=(A, B, A + B + 0.3))

_enter("ellipj", SIGNED, SHARES, to=HEAVY_CASES)
_enter("elliprg", POSITIVE, A, B, to=HEAVY_CASES)
_enter("elliprj", POSITIVE[:2], A[:2], B[:2], A[2:], to=HEAVY_CASES)
_enter("kolmogi", SHARES, to=HEAVY_CASES)
_enter("nrdtrisd", 0.3, SHARES, np.where(SHARES > 0.5, A, -A), to=HEAVY_CASES)
_enter("chndtrix", SHARES[:2], A[:2], B[:2], to=HEAVY_CASES)
HEAVY_CASES["nctdtrit"] = [(lambda df, nc, p: special.nctdtrit(df, nc, p), A[:2], B[:2] / 3.0,
                            SHARES[:2])]
_enter("ncfdtri", A[:2], B[:2], POSITIVE[:2], SHARES[:2], to=HEAVY_CASES)
_enter("tklmbda", SIGNED / 9.0, A / 3.0, to=HEAVY_CASES)
_enter("chndtr", POSITIVE, A, B, to=HEAVY_CASES)
_enter("ncfdtr", A, B, POSITIVE, POSITIVE[::-1], to=HEAVY_CASES)
_enter("nctdtr", A, POSITIVE / 3.0, SIGNED, to=HEAVY_CASES)
_enter("smirnovi", SHARES, fixed=(5,), to=HEAVY_CASES)
_enter("btdtria", SHARES, A, SHARES[::-1], to=HEAVY_CASES)
_enter("btdtrib", A, SHARES, SHARES[::-1], to=HEAVY_CASES)
_enter("bdtrik", SHARES, A + 8.0, SHARES[::-1] / 2.0 + 0.2, to=HEAVY_CASES)
_enter("bdtrin", np.arange(1.0, 5.0), SHARES, SHARES[::-1] / 2.0 + 0.2, to=HEAVY_CASES)
_enter("nbdtrik", SHARES, A + 3.0, SHARES[::-1] / 2.0 + 0.1, to=HEAVY_CASES)
_enter("nbdtrin", np.arange(1.0, 5.0), SHARES, SHARES[::-1] / 2.0 + 0.2, to=HEAVY_CASES)
_enter("fdtridfd", A, special.fdtr(A, B, POSITIVE), POSITIVE, to=HEAVY_CASES)
_enter("chdtriv", SHARES, POSITIVE, to=HEAVY_CASES)
_enter("gdtria", SHARES, A, POSITIVE, to=HEAVY_CASES)
_enter("gdtrib", A, SHARES, POSITIVE, to=HEAVY_CASES)
_enter("pdtrik", SHARES, A + 6.0, to=HEAVY_CASES)
_enter("stdtridf", special.stdtr(A, POSITIVE), POSITIVE, to=HEAVY_CASES)

_enter("mathieu_modcem2 mathieu_modsem1", SHARES, fixed=(2.0, A))
_enter("modfresnelp modfresnelm", POSITIVE)
_enter("round", SIGNED + 0.2)
_enter("riccati_jn riccati_yn", 0.7, fixed=(3,))
FUNCTION_CASES["pbdv_seq"] = [(lambda x: special.pbdv_seq(2.3, x), 0.7)]
FUNCTION_CASES["pbvv_seq"] = [(lambda x: special.pbvv_seq(2.3, x), 0.7)]
_enter("h1vp h2vp", POSITIVE, fixed=(1.5,))
_enter("legendre_p legendre_p_all", SHARES, fixed=(3,))
_enter("assoc_legendre_p assoc_legendre_p_all sph_legendre_p sph_legendre_p_all", SHARES,
       fixed=(3, 2))
_enter("assoc_legendre_p assoc_legendre_p_all", A, fixed=(3, 0))
_enter("binom", np.array([-2.5, -0.3, -40.4, -290.4]), np.array([300.0, 150.5, 90.0, -137.8]))
_enter("sph_harm_y_all", SHARES, SIGNED, fixed=(2, 1))
_enter("obl_ang1 pro_ang1", SHARES, fixed=(1, 2, 0.8))
_enter("obl_rad1", SHARES, fixed=(1, 2, 0.8))
_enter("pro_rad1", SHARES + 1.1, fixed=(1, 2, 0.8))
FUNCTION_CASES["assoc_laguerre"] = [(lambda x: special.assoc_laguerre(x, 3, 1.5), SHARES)]
for _shape, _more in (("obl", 0.0), ("pro", 1.1)):
    _value = getattr(special, f"{_shape}_cv")(1, 2, 0.8)
    for _kind, _at in (("ang1", SHARES), ("rad1", SHARES + _more)):
        _enter(f"{_shape}_{_kind}_cv", _at, fixed=(1, 2, 0.8, _value))
FUNCTION_CASES["legendre_p"] += [(lambda x, p=p: p(x), SHARES) for p in (
    special.legendre(3), special.jacobi(3, 0.5, 1.0), special.hermite(2, monic=True), 2.0 *
    special.chebyt(4))]
TENTHS = np.array([3, 5])
"""Ints, by which no function has a derivative."""
for _name, _of in {
        **{name: lambda f, k: f(2, k / 10) for name in ("mathieu_a", "mathieu_b")},
        "chndtridf": lambda f, k: f(3.0, k / 10, 0.5),
        "chndtrinc": lambda f, k: f(3.0, 2.0, k / 10),
        "ncfdtridfd": lambda f, k: f(2.0, k / 10, 0.5, 1.5),
        "ncfdtridfn": lambda f, k: f(k / 10, 3.0, 0.5, 1.5),
        "ncfdtrinc": lambda f, k: f(2.0, 3.0, k / 10, 1.5),
        "nctdtridf": lambda f, k: f(k / 10, 0.5, 1.2),
        "nctdtrinc": lambda f, k: f(3.0, k / 10, 1.2),
        **{f"{shape}_cv": lambda f, k: f(1, 2, k / 10) for shape in ("obl", "pro")},
        "obl_rad2": lambda f, k: f(1, 2, 0.8, k / 10),
        "pro_rad2": lambda f, k: f(1, 2, 0.8, 1.0 + k / 10),
        "obl_rad2_cv": lambda f, k: f(1, 2, 0.8, 5.5, k / 10),
        "pro_rad2_cv": lambda f, k: f(1, 2, 0.8, 6.3, 1.0 + k / 10)}.items():
    _function = getattr(special, _name)
    FUNCTION_CASES[_name] = [(lambda k, f=_function, of=_of: of(f, k), TENTHS)]

_ENDS = (0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-300, 30.0)
EDGES_OF_FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (getattr(special, name), (*before, x)) for names, before in (
        ("ber bei ker kei berp beip kerp keip it2struve0 itstruve0 itmodstruve0 iti0k0 "
         "wrightomega ndtri_exp kolmogorov kolmogi gamma erf", ()),
        ("hyp0f1 jve yve modstruve pbdv pbvv elliprc chdtriv stdtridf", (0.7,)),
        ("hyperu wright_bessel gdtria bdtrik elliprg", (0.7, 1.5)))
    for name in names.split() for x in _ENDS]
"""Functions with arguments at the ends of where they are defined, and far out."""
