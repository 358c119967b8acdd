"""Cases for functions of `scipy.special`: a function and arguments, where it is smooth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from function_cases import EDGES_OF_FUNCTIONS, FUNCTION_CASES, HEAVY_CASES
from scipy import special

__all__ = ["SPECIAL_CASES"]

RNG = np.random.default_rng(8)
SHAPES = RNG.uniform(0.4, 6.0, 4)
OTHERS = RNG.uniform(0.4, 6.0, 4)
SHARES = np.array([0.07, 0.35, 0.62, 0.93])
POSITIVE = np.array([0.3, 1.1, 2.6, 7.5])
SIGNED = np.array([-2.3, -0.4, 0.7, 3.1])
SINGLE = POSITIVE.astype(np.float32)

SPECIAL_CASES: dict[str, list[tuple[Any, ...]]] = {}


def _enter(cases: dict[str, Any]) -> None:
    for name, given in cases.items():
        function = getattr(special, name)
        SPECIAL_CASES.setdefault(name, []).extend(
            (lambda *xs, f=function: f(*xs), *args) for args in given)


def _of_orders(name: str, orders: tuple[Any, ...], *args: Any) -> None:
    function = getattr(special, name)
    SPECIAL_CASES.setdefault(name, []).extend(
        (lambda *xs, f=function, v=v: f(v, *xs), *args) for v in orders)


_enter({
    **{name: [(SHAPES, POSITIVE), (SHAPES, SINGLE)] for name in ("gammainc", "gammaincc")},
    **{name: [(SHAPES, SHARES)] for name in ("gammaincinv", "gammainccinv", "chdtri")},
    **{name: [(SHAPES, OTHERS, SHARES)] for name in (
        "betainc", "betaincc", "betaincinv", "betainccinv", "fdtri", "gdtrix")},
    **{name: [(SHAPES, POSITIVE)] for name in ("chdtr", "chdtrc")},
    **{name: [(SHAPES, OTHERS, POSITIVE)] for name in ("fdtr", "fdtrc", "gdtr", "gdtrc")},
    "stdtr": [(SHAPES, SIGNED)], "stdtrit": [(SHAPES, SHARES)],
    **{name: [(POSITIVE,), (SINGLE,)] for name in (
        "k0", "k1", "k0e", "k1e", "y0", "y1", "exp1", "expi", "zetac")},
    "zeta": [(POSITIVE + 1.0,), (SIGNED,), (SHAPES + 1.0, OTHERS)],
    **{name: [(SIGNED,)] for name in (
        "dawsn", "erfcx", "erfi", "sindg", "cosdg", "tandg", "cotdg", "cosm1", "softplus",
        "fresnel", "gammasgn")},
    **{name: [(SIGNED,)] for name in ("sici", "shichi")}, "spence": [(POSITIVE,)],
    "owens_t": [(0.5 * SIGNED, 0.2 * OTHERS)], "powm1": [(POSITIVE, SIGNED)],
    "radian": [(SIGNED, POSITIVE, POSITIVE)],
    **{name: [(SIGNED / 4.0,)] for name in ("ellipk", "ellipe")}, "ellipkm1": [(SHARES,)],
    **{name: [(SIGNED, SHARES)] for name in ("ellipkinc", "ellipeinc")},
    **{name: [(SHAPES, OTHERS, POSITIVE)] for name in ("elliprf", "elliprd")},
    "agm": [(SHAPES, OTHERS)], "binom": [(SHAPES + 3.0, OTHERS / 3.0)],
    "poch": [(SHAPES, OTHERS), (SIGNED, OTHERS)], "factorial": [(POSITIVE,)],
    "comb": [(SHAPES + 6.0, OTHERS)], "perm": [(SHAPES + 6.0, OTHERS)],
})
TURNED = SIGNED + 1j * np.array([0.3, -0.6, 1.2, 0.1])
_enter({
    "airy": [(SIGNED,), (SINGLE,), (0.0,)], "airye": [(POSITIVE,)],
    "wofz": [(TURNED,), (SIGNED,), (SINGLE,), (TURNED.astype(np.complex64),)],
    "voigt_profile": [(SIGNED, SHAPES, OTHERS), (SINGLE, 0.5, 0.3), (SINGLE, SINGLE, SINGLE),
                      (SIGNED, SHAPES, 0.0)],
    "lambertw": [(POSITIVE,), (SIGNED,), (TURNED,), (SINGLE,), (0.0,)],
})
SPECIAL_CASES["voigt_profile"].append((lambda x, g: special.voigt_profile(x, 0.0, g), SIGNED,
                                       OTHERS))
SPECIAL_CASES["lambertw"] += [(lambda z, k=k: special.lambertw(z, k), z) for k, z in (
    (-1, -0.3 * SHARES), (-1, TURNED), (1, SIGNED), (np.array([0, -1, 2, -2]), TURNED))]
SPECIAL_CASES["lambertw"].append((lambda z: special.lambertw(z).real, POSITIVE))
for _order, _degree in ((0, 0), (0, 3), (1, 1), (2, 3), (-1, 2), (1, -3), (3, 2)):
    SPECIAL_CASES.setdefault("lpmv", []).append(
        (lambda x, m=_order, v=_degree: special.lpmv(m, v, x), SIGNED / 4.0))
    SPECIAL_CASES.setdefault("sph_harm_y", []).append(
        (lambda t, p, n=_degree, m=_order: special.sph_harm_y(n, m, t, p), SHARES, SIGNED))
SPECIAL_CASES["lpmv"] += [(lambda x: special.lpmv(np.arange(3)[:, None], 2, x), SHARES),
                          (lambda x: special.lpmv(1, 2, x), SHARES.astype(np.float32))]
SPECIAL_CASES["sph_harm_y"].append((lambda t, p: special.sph_harm_y(
    np.array([2, 1, 3, 2]), np.array([[-1], [1]]), t, p), SHARES, SIGNED))
COUNTS = np.array([0.0, 1.0, 3.0, 4.0])
for _name in ("pdtr", "pdtrc"):
    _of_orders(_name, (COUNTS,), SHAPES)
for _name in ("bdtr", "bdtrc", "nbdtr", "nbdtrc"):
    SPECIAL_CASES[_name] = [(lambda p, name=_name: getattr(special, name)(COUNTS, 6, p), SHARES)]
for _name in ("jv", "yv", "iv", "ive", "kv", "kve"):
    _of_orders(_name, (0, 1, 2.5, -1, -0.5), POSITIVE)
for _name in ("yn", "kn"):
    _of_orders(_name, (0, 3), POSITIVE)
_of_orders("jv", (0, 1, -2), SIGNED)
_of_orders("struve", (0, 1.5, -1, -0.5, -2.5), POSITIVE)
_of_orders("struve", (0, 1, 4), SIGNED)
for _name, _parameters, _arguments in (
        ("hyp1f1", ((0.7, 1.4), (-1.3, 2.2), (2, 0.5), (-3, 1.5), (4.5, -0.5)), (SIGNED, SINGLE)),
        ("hyp2f1", ((0.7, 1.4, 2.3), (-1.3, 2.2, 0.8), (1, 2, 3), (0.5, 0.5, 1), (-3, 1.5, 2)),
         (0.3 * SIGNED, SHARES, -POSITIVE))):
    SPECIAL_CASES[_name] = [(lambda x, name=_name, ps=ps: getattr(special, name)(*ps, x), given)
                            for ps in _parameters for given in _arguments]
for _name in ("hankel1", "hankel2"):
    _of_orders(_name, (0, 1.5, -1, -0.4), POSITIVE)
    _of_orders(_name, (0, 1.5, -2.3), SIGNED)
    _of_orders(_name, (1,), SINGLE)
_of_orders("expn", (0, 1, 4), POSITIVE)
for _name in ("jvp", "yvp", "ivp", "kvp"):
    _of_orders(_name, (0, 1.5), POSITIVE)
    SPECIAL_CASES[_name].append((lambda x, name=_name: getattr(special, name)(1, x, 2), POSITIVE))
for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    _of_orders(_name, (0, 2), POSITIVE)
    SPECIAL_CASES[_name].append(
        (lambda x, name=_name: getattr(special, name)(1, x, True), POSITIVE))
SPECIAL_CASES["spherical_jn"] += [
    (lambda x: special.spherical_jn(1, x), SIGNED), (lambda x: special.spherical_jn(2, x), 0.0)]
SPECIAL_CASES["diric"] = [(lambda x, n=n: special.diric(x, n), SIGNED)
                          for n in (3, 4)]
for _name in ("eval_chebyc", "eval_chebys", "eval_sh_chebyt", "eval_sh_chebyu", "eval_sh_legendre"):
    _of_orders(_name, (0, 1, 4), SHARES)
for _name in ("eval_gegenbauer", "eval_genlaguerre"):
    _of_orders(_name, (0, 1, 3), SHAPES, SHARES)
_of_orders("eval_jacobi", (0, 1, 3), SHAPES, OTHERS, SHARES)
_of_orders("eval_sh_jacobi", (0, 1, 3), SHAPES + 6.0, OTHERS, SHARES)

for _name, _cases in (*FUNCTION_CASES.items(), *HEAVY_CASES.items()):
    SPECIAL_CASES.setdefault(_name, []).extend(_cases)


EDGES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (f, args) for name, *points in (
        ("gammainc", (0.0, 1.0), (0.0, 0.0), (np.inf, 1.0), (1.0, np.inf), (2.0, 0.0), (-1.0, 1.0),
         (1.0, -1.0), (np.nan, 1.0), (1e-3, 1.2), (1e5, 1.001e5), (200.0, 3.0)),
        ("gammaincc", (0.0, 1.0), (0.0, 0.0), (np.inf, 1.0), (1.0, np.inf), (2.0, 0.0),
         (1e5, 1.001e5), (3.0, 500.0)),
        ("betainc", (0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (0.0, 0.0, 0.5), (np.inf, 1.0, 0.5),
         (1.0, np.inf, 0.5), (1.0, 1.0, 0.0), (1.0, 1.0, 1.0), (1.0, 1.0, -0.1), (1.0, 1.0, 1.1),
         (-1.0, 1.0, 0.5), (1e4, 2e4, 0.33), (0.01, 0.02, 0.3)),
        ("gammaincinv", (2.0, 0.0), (2.0, 1.0), (-1.0, 0.5), (0.01, 0.3), (1e4, 1e-5), (3.0, 1.1)),
        ("betaincinv", (1.0, 2.0, 0.0), (2.0, 1.0, 1.0), (0.1, 0.2, 0.5), (1e3, 2e3, 1e-4)),
        ("bdtr", (5.0, 5.0, 0.3), (-1.0, 5.0, 0.3), (6.0, 5.0, 0.3), (2.0, 5.0, 0.0),
         (2.0, 5.0, 1.0)), ("bdtrc", (5.0, 5.0, 0.3), (-1.0, 5.0, 0.3)),
        ("pdtr", (-1.0, 2.0), (2.5, 2.0), (2.0, 0.0)), ("nbdtr", (-1.0, 5.0, 0.3),),
        ("stdtr", (0.0, 1.0), (np.inf, 1.0), (3.0, np.inf), (3.0, -np.inf), (1e7, -1.5),
         (0.1, -1e200), (2.0, 0.0)),
        ("fdtr", (1.0, 2.0, 0.0), (1.0, 2.0, np.inf), (1.0, 2.0, -1.0)),
        ("jv", (2.0, -1.0), (3.0, -1.0), (0.5, -1.0), (0.0, 0.0), (2.0, 0.0), (-0.5, 0.0),
         (1.0, 1e4), (50.0, 1.0), (-3.0, 2.0), (np.nan, 1.0)),
        ("yv", (0.0, -1.0), (0.0, 0.0), (-1.5, 2.0), (30.0, 2.0)),
        ("iv", (0.5, -1.0), (3.0, -1.0), (0.0, 0.0), (2.0, 300.0)),
        ("kv", (0.5, -1.0), (1.0, 0.0), (-2.5, 3.0), (0.0, 800.0)),
        ("exp1", (0.0,), (1e-10,), (50.0,), (800.0,)), ("expi", (0.0,), (-1.0,), (60.0,), (1e-5,)),
        ("expn", (2, -1.0), (0, 0.0), (1, 0.0), (3, 0.0)), ("spence", (0.0,), (1.0,), (-1.0,)),
        ("ellipk", (1.0,), (2.0,), (-1e5,), (0.0,)), ("ellipe", (1.0,), (2.0,), (-1e5,), (0.0,)),
        ("ellipkinc", (9.0, 0.5), (-3.0, 0.5), (0.0, 0.5)), ("agm", (-1.0, 1.0), (-2.0, -3.0)),
        ("zeta", (0.5,), (1.0,), (0.0,), (-1.0,), (-3.5,), (-20.0,), (2.0, 0.0), (2.0, -0.5),
         (2.5, -1.5), (0.5, 2.0), (40.0, 0.3)), ("owens_t", (1.0, 30.0), (0.0, 1.0), (5.0, -0.1)),
        ("binom", (5.0, 2.0), (3.0, 5.0), (-3.0, 2.0), (-2.5, 3.0), (300.0, 4.0)),
        ("poch", (-2.0, 2.0), (-2.5, 1.5), (200.0, 3.0)), ("rgamma", (-3.0,), (0.0,), (-200.0,)),
        ("comb", (5.0, 6.0), (-1.0, 2.0)), ("factorial", (-1.0,), (5.0,), (-0.5,)),
        ("gammasgn", (-0.5,), (-1.5,), (-1.0,), (0.0,), (2.0,)), ("sindg", (180.0,), (-90.0,)),
        ("cosdg", (90.0,), (270.0,), (60.0,)), ("tandg", (90.0,), (45.0,)),
        ("dawsn", (0.0,), (40.0,)),
        ("erfcx", (-30.0,), (1e9,)), ("fresnel", (0.0,), (-2.0,), (100.0,)),
        ("sici", (-2.0,), (0.0,)),
        ("airy", (0.0,), (np.inf,), (-np.inf,), (np.nan,), (-60.0,), (103.0,), (1.0,), (-1.0,)),
        ("airye", (0.0,), (np.inf,), (-np.inf,), (np.nan,), (-3.0,), (200.0,)),
        ("wofz", (0.0,), (np.inf,), (-np.inf,), (1e200,), (1e-200 + 1e-200j,), (1e9 - 1j,),
         (2.0 - 30.0j,), (1e-5j,), (20.0,), (6.0 + 1e-9j,), (-3.0 - 2.0j,)),
        ("voigt_profile", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.0),
         (1.0, 1.0, np.inf), (np.inf, 1.0, 1.0), (np.nan, 0.0, 0.0), (1.0, -1.0, 1.0),
         (1.0, 1.0, -1.0), (1e5, 0.1, 2.0)),
        ("lambertw", (0.0,), (np.inf,), (-np.inf,), (-0.36,), (-0.3678794,), (-1.0,), (1e300,),
         (1e-300,), (-1e-300,), (0.0, -1), (-1e-300, -1), (-0.3678794, -1), (-0.2, -1),
         (-0.2 - 1e-300j, 1), (-0.2 - 1e-3j, 1), (1.0 - 1e-9j, -1), (0.0, 3), (np.inf, -1),
         (-5.0, -1)),
        ("struve", (0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (-1.5, 0.0), (-2.0, 0.0), (2.0, -1.0),
         (2.5, -1.0), (np.nan, 1.0), (0.0, np.inf), (2.0, np.inf), (0.0, 200.0), (30.0, 5.0),
         (50.0, 40.0), (3.0, 39.0), (-3.5, 2.0)),
        ("hyp1f1", (1, -1, 0.5), (-1, -2, 0.5), (-2, -2, 0.5), (-3, -2, 0.5), (0, -2, 0.5),
         (1, 0, 1), (1, 2, np.inf), (1, 2, -np.inf), (np.nan, 1, 1), (1, 1, 800.0),
         (2, 3, -1e5), (1, 2, 0.0), (-1.5, 2, 800.0), (3.5, 2.5, -900.0), (-4.5, 0.5, 30.0)),
        ("hyp2f1", (1, 2, 4, 1.0), (1, 2, 3, 1.0), (-2, 2, 3, 1.5), (1, 2, -3, 0.5),
         (-2, 2, -3, 0.5), (-3, 2, -3, 0.5), (-4, 2, -3, 0.5), (0, 2, -3, 0.5), (1, 2, 3, np.nan),
         (1, 2, 3, -1e10), (1, 2, 3, -1.0), (0.5, 0.5, 1, 1.0), (1, 2, 0, 0.0), (1, 2, 0, 0.1),
         (3, -2, 1.0, 5.0), (0.5, 0.5, 1, 1 - 1e-9), (2, 3, 1.5, 0.99999), (1, 1, 2, -1e-9)),
        *((name, (0.0, 0.0), (1.0, 0.0), (0.0, np.inf), (1.0, -np.inf), (0.5, -2.0), (2.0, -1e-3))
          for name in ("hankel1", "hankel2")),
    ) for f in (getattr(special, name),) for args in points] + EDGES_OF_FUNCTIONS
"""Functions with arguments at the ends of where they are defined, and far out."""
