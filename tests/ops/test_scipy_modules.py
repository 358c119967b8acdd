"""SciPy's modules besides `special`, `linalg` and `stats`: its values, types and derivatives."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial.distance
import scipy.stats
from design_cases import DESIGN_CASES
from kernel_cases import KERNEL_CASES
from rank_cases import RANK_CASES
from signal_cases import SIGNAL_CASES
from test_further_functions import FURTHER_CASES
from test_numpy_cases import check_case

import tracejit
from tracejit.trace.ground.dispatch import FOREIGN

RNG = np.random.default_rng(12)
X = RNG.standard_normal(9)
Y = RNG.standard_normal(4)
A = RNG.standard_normal((4, 6))
K = RNG.standard_normal((2, 3))
Z = X + 1j * RNG.standard_normal(9)
SINGLE = X.astype(np.float32)
B3, A3 = np.array([0.2, 0.3, 0.1]), np.array([1.4, -0.6, 0.2])
SOS = scipy.signal.butter(4, 0.3, output="sos")
LONG = RNG.standard_normal(17)

CASES: dict[str, list[tuple[Any, ...]]] = {}


def _enter(module: str, cases: dict[str, list[tuple[Any, ...]]]) -> None:
    """Enter cases: of each the arguments and, if the last is a dict, keywords."""
    for name, given in cases.items():
        function = getattr(importlib.import_module(module), name)
        for args in given:
            keywords = args[-1] if isinstance(args[-1], dict) else {}
            plain = args[:-1] if keywords else args
            CASES.setdefault(f"{module}.{name}", []).append(
                (lambda *xs, f=function, keywords=keywords: f(*xs, **keywords), *plain))


_NORMS: tuple[Any, ...] = (None, "ortho", "forward")
_enter("scipy.fft", {
    **{name: [(X,), (Z,), (A, {"axis": 0, "norm": "ortho"}), (X, {"n": 6})]
       for name in ("fft", "ifft", "hfft", "irfft")},
    **{name: [(X,), (A, {"axis": 0, "norm": "forward"}), (SINGLE,)] for name in ("rfft", "ihfft")},
    **{name: [(A,), (A, {"s": (3, 5)})] for name in (
        "fftn", "ifftn", "rfftn", "fft2", "ifft2", "rfft2", "hfftn", "hfft2", "ihfftn", "ihfft2")},
    **{name: [(A + 1j * A[::-1],)] for name in ("irfftn", "irfft2")},
    **{name: [(X,), (A, {"axes": 0})] for name in ("fftshift", "ifftshift")},
    **{name: [*((X, {"type": t, "norm": norm}) for t in (1, 2, 3, 4) for norm in _NORMS),
              (A, {"axis": 0, "n": 5}), (SINGLE,), (Z,), (X, {"type": 3, "orthogonalize": True})]
       for name in ("dct", "idct", "dst", "idst")},
    **{name: [(A,), (A, {"type": 3, "norm": "ortho", "axes": (1,)})]
       for name in ("dctn", "idctn", "dstn", "idstn")},
})
CASES["scipy.fft.fftfreq"] = [(lambda x: x * scipy.fft.fftfreq(len(x), 0.5), X)]
CASES["scipy.fft.rfftfreq"] = [(lambda x: np.sum(x) * scipy.fft.rfftfreq(len(x)), X)]
_enter("scipy.signal", {
    **{name: [(X, Y), (X, Y, {"mode": "same"}), (X, Y, {"mode": "valid"}),
              (Y, X, {"mode": "valid"}), (A, K), (A, K, {"mode": "same"}), (Z, Y),
              (A[:, :, None], K[:, :, None])] for name in ("convolve", "fftconvolve", "oaconvolve",
                                                           "correlate")},
    **{name: [(A, K, {"mode": mode, "boundary": boundary}) for mode in ("full", "same", "valid")
              for boundary in ("fill", "wrap", "symm")] for name in ("convolve2d", "correlate2d")},
    "lfilter": [(B3, A3, X), (B3, A3[:2], A, {"axis": 0}), (B3, [1.0], X), ([0.5], A3, A),
                (B3, A3, X, {"zi": np.array([0.1, 0.2])}), (B3, A3, Z)],
    "lfilter_zi": [(B3, A3), (B3, A3[:2])],
    "filtfilt": [(B3, A3, LONG), (B3, A3, LONG, {"padtype": "even", "padlen": 5}),
                 (B3, A3, LONG, {"padtype": None})],
    "savgol_filter": [(LONG, {"window_length": 5, "polyorder": 2, "deriv": d, "mode": m})
                      for d in (0, 1) for m in ("interp", "nearest", "mirror", "constant", "wrap")],
    "detrend": [(X,), (A, {"axis": 0}), (A, {"type": "constant"})],
    "hilbert": [(X,), (A, {"axis": 0}), (X, {"N": 6})],
})
CASES["scipy.signal.lfilter"] += [(lambda x: scipy.signal.lfilter(*scipy.signal.butter(
    3, 0.4), x), X)]
CASES["scipy.signal.filtfilt"] += [(lambda x: scipy.signal.filtfilt(*scipy.signal.butter(
    2, 0.4), x), LONG)]
CASES["scipy.signal.lfilter_zi"] = [(lambda b, a: scipy.signal.lfilter_zi(b / a[0], a / a[0]), B3,
                                     A3)]
CASES["scipy.signal.sosfilt"] = [(lambda x: scipy.signal.sosfilt(SOS, x), LONG),
                                 (lambda x: scipy.signal.sosfilt(SOS, x, axis=0), A)]
for _name in ("boxcar", "hann", "hamming", "blackman", "nuttall", "blackmanharris", "bartlett",
              "cosine"):
    CASES[f"scipy.signal.windows.{_name}"] = [
        (lambda x, name=_name, sym=sym: x * getattr(scipy.signal.windows, name)(len(x), sym), X)
        for sym in (True, False)]
_MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
_enter("scipy.ndimage", {
    "uniform_filter1d": [(A, {"size": n, "axis": 0}) for n in (2, 3)],
})
CASES["scipy.ndimage.gaussian_filter1d"] = [
    (lambda x, mode=mode: scipy.ndimage.gaussian_filter1d(x, 0.8, mode=mode), X)
    for mode in _MODES]
CASES["scipy.ndimage.gaussian_filter1d"].append(
    (lambda x, s: scipy.ndimage.gaussian_filter1d(x, s, radius=3), X, 0.9))
CASES["scipy.ndimage.gaussian_filter"] = [
    (lambda x: scipy.ndimage.gaussian_filter(x, 0.6), A),
    (lambda x: scipy.ndimage.gaussian_filter(x, (0.6, 0.0)), A)]
for _name in ("convolve1d", "correlate1d"):
    CASES[f"scipy.ndimage.{_name}"] = [
        (lambda x, name=_name, n=n, mode=mode: getattr(scipy.ndimage, name)(x, Y[:n], mode=mode), X)
        for n in (3, 4) for mode in _MODES]


# --- interpolation, distances, rules ------------------------------------------------------------

PLACES = np.array([0.0, 0.4, 1.1, 1.5, 2.4, 3.0])
VALUES = np.array([0.3, 1.2, 0.9, -0.4, 0.2, 1.7])
AT = np.array([[0.2, 0.7], [1.3, 2.9]])
TWO = RNG.standard_normal((6, 2))
SPLINE = scipy.interpolate.CubicSpline(PLACES, VALUES)
MONOTONE = scipy.interpolate.PchipInterpolator(PLACES, TWO)


def _interpolated(make: Any, **keywords: Any) -> list[tuple[Any, ...]]:
    return [(lambda x, y, t: make(x, y, **keywords)(t), PLACES, VALUES, AT),
            (lambda y, t: make(PLACES, y, **keywords)(t), TWO, AT[0]),
            (lambda y, t: make(PLACES, y, **keywords)(t, 1), VALUES, AT),
            (lambda y, t: make(PLACES, y, **keywords).derivative()(t), VALUES, AT),
            (lambda y, t: make(PLACES, y, **keywords).antiderivative()(t), VALUES, AT),
            (lambda y, a: make(PLACES, y, **keywords).integrate(a, 2.0) * 1.0, TWO, 0.3)]


CASES["scipy.interpolate.CubicSpline"] = [
    *_interpolated(scipy.interpolate.CubicSpline),
    *_interpolated(lambda x, y: scipy.interpolate.CubicSpline(x, y, bc_type="natural"))[:2],
    *_interpolated(lambda x, y: scipy.interpolate.CubicSpline(x, y, bc_type="clamped"))[:2],
    *_interpolated(lambda x, y: scipy.interpolate.CubicSpline(
        x, y, bc_type=((1, 0.5), (2, -0.3))))[:1],
    (lambda x, y, t: scipy.interpolate.CubicSpline(x[:3], y[:3])(t), PLACES, VALUES, AT),
    (lambda t: SPLINE(t) + SPLINE(t, 2), AT), (lambda t: MONOTONE(t), AT),
    (lambda t: SPLINE.integrate(t, 1.0) * 1.0, 0.4)]
CASES["scipy.interpolate.PchipInterpolator"] = _interpolated(scipy.interpolate.PchipInterpolator)
CASES["scipy.interpolate.Akima1DInterpolator"] = _interpolated(
    scipy.interpolate.Akima1DInterpolator)
CASES["scipy.interpolate.interp1d"] = [
    (lambda x, y, t, kind=kind: scipy.interpolate.interp1d(x, y, kind=kind)(t), PLACES, VALUES, AT)
    for kind in ("linear", "cubic")]
CASES["scipy.interpolate.interp1d"].append((lambda y, t: scipy.interpolate.interp1d(
    PLACES, y, fill_value="extrapolate")(t), VALUES, 2.1 * AT))
_enter("scipy.spatial.distance", {
    **{name: [(X[:4], Y)] for name in (
        "euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation",
        "minkowski", "canberra", "braycurtis")},
    "seuclidean": [(X[:4], Y, np.abs(LONG[:4]))], "mahalanobis": [(X[:2], Y[:2], np.eye(2) + 0.1)],
    "cdist": [(A, 1.3 * A[:3] + 0.3), *((A, 1.3 * A[:3] + 0.3, {"metric": m}) for m in (
        "sqeuclidean", "cityblock", "cosine", "chebyshev", "correlation")), *((
            A, np.vstack([A[0], 1.3 * A[1] + 0.3]), {"metric": m, "w": np.arange(A.shape[1]) + 0.0})
            for m in ("sqeuclidean", "cityblock", "euclidean", "minkowski"))],
    "pdist": [(A,), (A, {"metric": "cityblock"})]})
_enter("scipy.spatial.distance", {
    "jensenshannon": [(p + 0.1, q + 0.2, words) for p, q in ((X ** 2, np.abs(X)), (
        A ** 2, np.abs(A)), (SINGLE ** 2, np.abs(SINGLE))) for words in (
            {"axis": -1}, {"base": 2.5, "keepdims": True})]})
_enter("scipy.spatial.distance", {
    **{name: [(X[:4] ** 2, Y ** 2), (X[:4] ** 2, Y ** 2, A[0, :4] ** 2), (X[:4] > 0.0, Y > -0.5)]
       for name in ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")},
    **{name: [(X[:4] > 0.0, Y > 0.0), (X[:4] > 0.0, Y > 0.0, A[0, :4] ** 2), (X[:4], Y)]
       for name in ("hamming", "jaccard")},
    "squareform": [(X[:6] ** 2,), (X[:1],), (A[:4, :4], {"checks": False})],
    "directed_hausdorff": [(A[:, :2], K.T)]})
_enter("scipy.cluster.vq", {
    "vq": [(A, 0.5 * A[:2]), (X, Y), (SINGLE, Y), (A, np.eye(6), {"check_finite": False})],
    "whiten": [(A,), (SINGLE,)]})
_enter("scipy.integrate", {
    "cumulative_simpson": [
        *((LONG[:n],) for n in (1, 2, 3, 4, 5)), (SINGLE, {"initial": 0}), (A, {
            "axis": 0, "dx": 0.3, "initial": 1.0}), (A, {"x": np.cumsum(X[:6] ** 2)}),
        (A, {"x": np.cumsum(A ** 2, axis=0), "axis": 0, "initial": A[:1]}),
        (A, {"dx": X[:4, None] ** 2})],
    "trapezoid": [(X,), (A, {"axis": 0})], "simpson": [
        (X[:n], *x) for n in (2, 4, 6, len(X)) for x in (
            (), (np.cumsum(np.abs(X) + 0.1)[:n],))],
    "cumulative_trapezoid": [(X,), (A, {"axis": 0, "initial": 0}),
                             (X, np.cumsum(np.abs(X) + 0.1))]})
ABOVE = np.abs(A) + 0.2
_enter("scipy.stats", {
    **{name: [(ABOVE,), (ABOVE, {"axis": (0, 1)}), (ABOVE, 1, {"weights": ABOVE[::-1]})
              if name == "gmean" else (ABOVE, 1), (ABOVE, {"axis": None, "keepdims": True}),
              (ABOVE.astype(np.float32),)] for name in ("gmean", "hmean")},
    "pmean": [(ABOVE, {"p": 3}), (ABOVE, {"p": -0.5, "axis": 1}), (ABOVE, {"p": 0}),
              (ABOVE[0], {"p": 2, "weights": ABOVE[1]})],
    "zscore": [(A,), (A, {"axis": 1, "ddof": 1}), (A, {"axis": None}),
               (np.ones((3, 2), np.int64),), (SINGLE,)],
    "zmap": [(A, ABOVE), (A, ABOVE, {"axis": 1, "ddof": 1})], "gzscore": [(ABOVE,)],
    **{name: [(A,), (A, {"axis": None}), (A, 1, False), (A, {"axis": (0, 1), "keepdims": True}),
              (np.ones(4, np.int64),), (SINGLE,)] for name in ("skew", "kurtosis")},
    "moment": [(A, {"order": 3}), (A, {"order": 2, "axis": 1, "center": 0.3}), (A,),
               (A, {"order": 0})],
    "variation": [(ABOVE,), (ABOVE, {"ddof": 1, "axis": 1})],
    "sem": [(A,), (A, {"axis": None, "ddof": 0})],
    "gstd": [(ABOVE,)],
    "iqr": [(A,), (A, 1), (A, {"rng": (20, 90), "scale": "normal", "keepdims": True})],
    "median_abs_deviation": [(X,), (A, 1), (A, {"axis": None, "scale": "normal"})],
    "trim_mean": [(X, {"proportiontocut": 0.15}), (A, {"proportiontocut": 0.2, "axis": 1}),
                  (A, {"proportiontocut": 0.1, "axis": None})],
    "entropy": [(ABOVE,), (ABOVE, ABOVE[::-1]), (ABOVE, {"base": 2, "axis": 1}),
                (ABOVE, ABOVE[:, :1] * np.ones((4, 1)), {"axis": 1})],
    **{name: [(X,), (A, {"axis": 1}), (X, 3.0, -1.0)] for name in (
        "circmean", "circvar", "circstd")},
    "boxcox": [(ABOVE[0], 0.3)], "boxcox_llf": [(0.3, ABOVE[0]), (0.0, ABOVE)],
})


def _all_of(name: str, *words: dict[str, Any]) -> list[Any]:
    function = getattr(scipy.stats, name)
    return [lambda *xs, w=w: tuple(function(*xs, **w)) for w in words]


for _name, _arrays, _words in (
        ("pearsonr", (A, ABOVE), ({"axis": 1}, {"axis": None})),
        ("linregress", (X, LONG[:9]), ({},)),
        ("ttest_1samp", (A, 0.1), ({"axis": 1}, {})), ("ttest_rel", (X, LONG[:9]), ({},)),
        ("ttest_ind", (X, LONG), ({}, {"equal_var": False})),
        ("chisquare", (ABOVE,), ({}, {"axis": None})),
        ("chisquare", (ABOVE[0], ABOVE[1]), ({"sum_check": False},))):
    CASES.setdefault(f"scipy.stats.{_name}", []).extend(
        (f, *_arrays) for f in _all_of(_name, *_words))
CASES["scipy.stats.linregress"].append((
    lambda x, y: scipy.stats.linregress(x, y).intercept_stderr, X, LONG[:9]))
_enter("scipy.optimize", {"rosen": [(Y,)], "rosen_der": [(Y,)]})
CASES.update({f"scipy.signal.{name}": given for name, given in DESIGN_CASES.items()})
CASES.update({f"scipy.stats.{name}": given for name, given in KERNEL_CASES.items()})
for _name, _given in SIGNAL_CASES.items():
    CASES.setdefault(_name, []).extend(_given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("fn", "args"), [
    pytest.param(fn, args, id=f"{name}-{k}") for name, cases in CASES.items()
    for k, (fn, *args) in enumerate(cases)])
def test_values_types_and_derivatives_are_scipys(fn: Any, args: list[Any]) -> None:
    with tracejit.config(disable_jit=True):
        check_case(fn, tuple(args))


MADE_OUTSIDE = [f"scipy.interpolate.{name}" for name in (
    "BSpline", "RegularGridInterpolator", "interpn", "splev")]
"""Functions with cases in `test_interpolators_made_outside.py`."""


OF_FUNCTIONS = [f"scipy.integrate.{name}" for name in ("solve_ivp", "odeint", "fixed_quad", "romb")]
"""Functions with cases in `test_odes.py` and `test_stiff_odes.py`."""


OF_INTEGRALS = [f"scipy.integrate.{name}" for name in ("quad", "dblquad", "tplquad", "nquad")]
"""Functions with cases in `test_quadrature.py` and `test_repeated_integrals.py`."""


OF_SPLINES = [f"scipy.interpolate.{name}" for name in (
    "make_interp_spline", "splrep", "InterpolatedUnivariateSpline", "UnivariateSpline",
    "CubicHermiteSpline", "BarycentricInterpolator", "KroghInterpolator", "krogh_interpolate",
    "barycentric_interpolate", "pchip_interpolate", "lagrange")]
"""Functions with cases in `test_splines.py`."""


OF_PIECES = [f"scipy.interpolate.{name}" for name in (
    "PPoly", "PPoly.from_spline", "BPoly", "BPoly.from_derivatives", "splder", "splantider",
    "splint")]
"""Functions with cases in `test_pieces.py`."""


OF_RANKS = [f"scipy.stats.{name}" for name in RANK_CASES]
"""Functions with cases in `test_ranks.py`."""


OF_SCATTERED = [f"scipy.interpolate.{name}" for name in (
    "RectBivariateSpline", "LinearNDInterpolator", "NearestNDInterpolator", "griddata",
    "RBFInterpolator")]
"""Functions with cases in `test_surfaces.py`."""


OF_SEARCHES = [f"scipy.optimize.{name}" for name in (  # test_searches.py, test_assignments.py
    "root", "fsolve", "toms748", "minimize_scalar", "minimize", "least_squares", "curve_fit",
    "linear_sum_assignment", "nnls")]
OF_ROOTS = [f"scipy.optimize.{name}" for name in ("brentq", "bisect", "newton", "root_scalar")]
"""Functions with cases in `test_roots.py`."""


def test_every_function_captured_has_a_case() -> None:
    elsewhere = (*OF_ROOTS, *OF_SEARCHES, *OF_INTEGRALS, *MADE_OUTSIDE, *OF_FUNCTIONS, *OF_SPLINES,
                 *OF_PIECES, *OF_RANKS, *OF_SCATTERED, *FURTHER_CASES)
    others = [name for name in FOREIGN if name not in elsewhere and not name.startswith((
        "scipy.special.", "scipy.linalg.", "scipy.sparse.", "scipy.spatial.transform."))]
    assert [name for name in others if not CASES.get(name)] == []


@pytest.mark.parametrize("fn", [
    lambda x: scipy.signal.lfilter(B3, A3, x), lambda x: scipy.fft.dct(x, norm="ortho"),
    lambda x: scipy.signal.convolve2d(x[:, None] * x, K, "same")])
def test_kernels_have_the_interpreters_values(fn: Any) -> None:
    def loss(x: Any) -> Any:
        return np.sum(fn(x) ** 2)

    value, gradient = tracejit.value_and_grad(loss)(X)
    with tracejit.config(disable_jit=True):
        expected = tracejit.value_and_grad(loss)(X)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-12)


PROGRAM = """
import numpy as np
import tracejit
from scipy import special, stats
from scipy.interpolate import CubicSpline

def loss(y):
    spline = CubicSpline(np.arange(4.0), y)
    return spline(1.5) + special.jv(0, y[0]) + stats.gamma.cdf(y[1], 2.0)

print(tracejit.grad(loss)(np.array([0.5, 1.0, 2.0, 1.5])).shape)
print(tracejit.vjp(special.expi, 0.5)[1](1.0)[0] > 0.0)
"""


def test_a_program_that_imports_tracejit_alone_has_all_of_it(tmp_path: Path) -> None:
    """Tests import `tracejit.api`, which fills all tables; programs need not."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False,
                          env={**os.environ, "TRACEJIT_DISABLE_JIT": "1"}, timeout=300)
    assert done.stdout == "(4,)\nTrue\n", done.stderr


@pytest.mark.parametrize("count", range(3, 9))
def test_simpson_of_points_in_one_place_is_scipys(count: int) -> None:
    x, y = np.arange(count) // 2 * 1.0, np.linspace(1.0, 3.0, count) ** 2
    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(scipy.integrate.simpson)(y, x)
    np.testing.assert_allclose(value, scipy.integrate.simpson(y, x), rtol=1e-13)
    right = [scipy.integrate.simpson(e, x) for e in np.eye(count)]  # it is linear
    np.testing.assert_allclose(slope, right, rtol=1e-13, atol=1e-14)
