"""Every captured function of SciPy's other modules on arrays of every dtype and of edges.

Results have SciPy's values and dtypes, or SciPy's error, or are refused. `scipy.linalg` and
`scipy.special` are in `tests/capture/test_keywords.py`.
"""

from __future__ import annotations

import itertools
import operator
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.spatial.transform
import scipy.stats

import tracejit
import tracejit.api  # (fills the tables)
from tracejit.errors import IRError
from tracejit.trace.ground.dispatch import FOREIGN

V = np.array([0.5, -1.5, 2.5, 1.0, 0.3, -0.7, 1.9, 0.2, 0.85, -0.4, 0.6, 1.1])
W = np.abs(V) + 0.1
M = np.outer(V[:5], V[:5]) + np.diag([3.0, 4.0, 5.0, 6.0, 7.0])
LONG = np.tile(V, 10)
SOS = np.array([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1]])
STEPS = np.cumsum(W)
B, A = np.array([0.5, 0.2]), np.array([1.0, -0.3])
CLOUD = np.stack([np.cos(np.arange(12.0)) * W, np.sin(np.arange(12.0)) * W], axis=1)

EXEMPT = {"solve_ivp", "fixed_quad", "quad", "brentq", "bisect", "newton", "root_scalar",
          "fftfreq", "rfftfreq", "issparse", "eye", "eye_array", "identity", "boxcar", "hann",
          "hamming", "blackman", "nuttall", "blackmanharris", "bartlett", "cosine_window",
          "iirnotch", "iirpeak", "kaiser_beta", "kaiser_atten", "correlation_lags", "cheb1ap",
          "cheb2ap", "iircomb", "gammatone", "czt_points",
          "block_array", "bmat", "kronsum", "ridder", "brenth", "fixed_point", "sepfir2d",
          "siegelslopes", "concatenate", "root", "fsolve", "toms748", "minimize", "minimize_scalar",
          "least_squares", "curve_fit"}
"""The functions of functions, of sizes, of numbers, of blocks and of rotations; SciPy's `sepfir2d`
writes behind images that are smaller than its filters, and its `siegelslopes` of float32 that are
infinite does not end."""


class Fixed:
    """An argument that is no data, and stays as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _sparse(name: str) -> Callable[..., Any]:
    solve = getattr(scipy.sparse.linalg, name)
    return lambda a, b: solve(scipy.sparse.csr_array(a), b)


def _made(name: str, method: str = "__call__") -> Callable[..., Any]:
    make = getattr(scipy.interpolate, name)
    return lambda *xs: getattr(make(*xs[:-1]), method)(xs[-1])


CALLS: dict[str, tuple[Any, ...]] = {
    "from_quat": (V[:4],), **dict.fromkeys(("from_rotvec", "from_mrp"), (V[:3],)),
    "from_matrix": (np.eye(3),), "from_euler": ("xyz", V[:3]),
    **dict.fromkeys(("convolve", "correlate", "fftconvolve", "oaconvolve", "convolve1d",
                     "correlate1d"), (V, V[:3])),
    **dict.fromkeys(("convolve2d", "correlate2d"), (M, M[:2, :2])),
    "lfilter": (B, A, V), "lfilter_zi": (B, A), "sosfilt": (SOS, V), "filtfilt": (B, A, V),
    "savgol_filter": (V, 5, 2), "resample": (V, 8), "upfirdn": (V[:3], V),
    "resample_poly": (V, 2, 3), "decimate": (LONG, 2), "sosfiltfilt": (Fixed(SOS), LONG),
    "chirp": (W, 1.0, 2.0, 3.0), "csd": (V, V[::-1].copy()), "coherence": (V, V[::-1].copy()),
    "freqz": (V[:3],), "freqz_sos": (SOS,), "sosfreqz": (SOS,), "gaussian_filter1d": (V, 1.0),
    "gaussian_filter": (M, 1.0), "uniform_filter1d": (V, 3), "convolve of ndimage": (M, M[:2, :2]),
    **dict.fromkeys(("sobel", "prewitt", "laplace", "uniform_filter", "center_of_mass", "pdist"),
                    (M,)),
    **dict.fromkeys(("gaussian_laplace", "gaussian_gradient_magnitude"), (M, 1.0)),
    **dict.fromkeys(("maximum_filter", "minimum_filter", "median_filter"), (M, 3)),
    **dict.fromkeys(("maximum_filter1d", "minimum_filter1d"), (V, 3)),
    "map_coordinates": (M, Fixed(np.array([[0.5, 1.5], [1.0, 2.0]])), None, 1),
    "shift": (V, 1.0, None, 1), "zoom": (M, Fixed(1.7)), "rotate": (M, 25.0, (1, 0), False),
    "affine_transform": (M, Fixed(np.array([[0.9, 0.1], [0.2, 1.1]]))),
    "Slerp": (Fixed(np.array([0.0, 1.0])), Fixed(scipy.spatial.transform.Rotation.from_rotvec(
        M[:2, :3])), W[:3] / 9.0),
    **dict.fromkeys(("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation",
                     "minkowski", "canberra", "braycurtis", "pearsonr", "linregress", "ttest_rel",
                     "ttest_ind", "zmap", "wasserstein_distance", "energy_distance",
                     "gaussian_kde"), (V, W)),
    **dict.fromkeys(("bilinear", "tf2zpk", "tf2ss", "normalize"), (B, A)),
    "zpk2tf": (V[:2], V[:3], 2.0), "bilinear_zpk": (V[:2], V[:3], 2.0, 3.0),
    "mahalanobis": (V[:5], W[:5], M), "seuclidean": (V, W, W), "cdist": (M, M + 1.0),
    "romb": (V[:9],), "simpson": (V[:9],), "pmean": (W, 2.0), "moment": (V, 2),
    "trim_mean": (V, 0.1), "ttest_1samp": (V, 0.1), "boxcox": (W, 0.5), "boxcox_llf": (0.5, W),
    **dict.fromkeys(("gmean", "hmean", "variation", "gstd", "chisquare", "gzscore", "entropy"),
                    (W,)),
    **{f"{kind}fft{rank}": (M,) for kind in ("", "i", "r", "ir", "h", "ih") for rank in "2n"},
    **dict.fromkeys(("dctn", "idctn", "dstn", "idstn"), (M,)),
    "splev": (W, Fixed(scipy.interpolate.splrep(STEPS, V))),
    "interp1d": (STEPS, V, STEPS[:-1] + 0.05),
    "pchip_interpolate": (STEPS, V, W), "krogh_interpolate": (STEPS[:4], V[:4], W),
    "barycentric_interpolate": (STEPS[:4], V[:4], W),
    "interpn": (Fixed((np.arange(5.0), np.arange(5.0))), M, Fixed(np.array([[1.5, 2.5]]))),
    "BSpline": (Fixed(np.arange(16.0)), V, Fixed(3), Fixed(np.array([3.5, 4.5]))),
    "RegularGridInterpolator": (Fixed((np.arange(5.0), np.arange(5.0))), M,
                                Fixed(np.array([[1.5, 2.5]]))),
    "CubicHermiteSpline": (STEPS, V, V, W), "InterpolatedUnivariateSpline": (STEPS, V, W),
    "UnivariateSpline": (STEPS, V, W),
    **dict.fromkeys(("PPoly", "BPoly"), (np.outer(V[:3], V[:11]), STEPS, W)),
    "from_spline": (Fixed(scipy.interpolate.splrep(STEPS, V)), W),
    "from_derivatives": (STEPS, np.outer(V, V[:2]), W),
    "splder": (Fixed(scipy.interpolate.splrep(STEPS, V)),),
    "splantider": (Fixed(scipy.interpolate.splrep(STEPS, V)),),
    "splint": (0.3, W[:2].sum(), Fixed(scipy.interpolate.splrep(STEPS, V))),
    "RectBivariateSpline": (STEPS[:5], STEPS[:5], M, W),
    **dict.fromkeys(("LinearNDInterpolator", "NearestNDInterpolator"), (
        Fixed(CLOUD), V, 0.3 * CLOUD[:3])),
    "griddata": (Fixed(CLOUD), V, 0.3 * CLOUD[:3]), "RBFInterpolator": (CLOUD, V, CLOUD[:3]),
    "splrep": (STEPS, V), "KroghInterpolator": (STEPS[:4], V[:4], W),
    "BarycentricInterpolator": (STEPS[:4], V[:4], W),
    "diags": ([V[:3]], [0]), "diags_array": (V[:3],), "kron": (M, M), "vstack": ([M, M],),
    "hstack": ([M, M],), "block_diag": ([M, M],),
    **dict.fromkeys(("spsolve", "cg", "gmres", "bicgstab", "splu", "factorized"), (
        M + M.T, V[:5])),
    "istft": (M,), "deconvolve": (V, A), "order_filter": (V, Fixed(np.ones(3)), 1),
    "ttest_ind_from_stats": (V, W, 6, V[::-1].copy(), W, 8), "pointbiserialr": (V, W),
    **dict.fromkeys(("power_divergence", "combine_pvalues"), (W / 3.0,)),
    "chi2_contingency": (M + 3.0,), "directional_stats": (M,),
    **dict.fromkeys(("bartlett", "levene", "fligner", "alexandergovern", "tukey_hsd"), (V, W)),
    **dict.fromkeys(("trim1", "trimboth"), (V, 0.2)), "scoreatpercentile": (V, 30),
    **dict.fromkeys(("boxcox_normplot", "yeojohnson_normplot"), (W, 0.5, 1.5, None, 3)),
    "ppcc_plot": (V, 0.1, 0.4, "tukeylambda", None, 3),
    **dict.fromkeys(("ks_1samp", "kstest"), (V, Fixed(np.arctan))),
    "binned_statistic": (V, W), "binned_statistic_2d": (V, W, V[::-1].copy(), "mean", 3),
    "binned_statistic_dd": (CLOUD, V, "mean", 3),
    "false_discovery_control": (W / 3.0,), "quantile": (V, 0.3),
    **dict.fromkeys(("f_oneway", "spearmanr", "kendalltau"), (V, W[::-1].copy())),
    "theilslopes": (V, STEPS), "yeojohnson": (V, 0.7), "yeojohnson_llf": (0.7, V),
    "lombscargle": (STEPS, V, W), "jensenshannon": (W, W[::-1].copy()), "vq": (M, M[:2]),
    "whiten": (M,),
    **{f"{form}_{kind}": (M,) for form in ("csr", "csc", "coo") for kind in ("array", "matrix")},
    **dict.fromkeys(("lp2lp", "lp2hp", "lp2bp", "lp2bs", "lfiltic", "findfreqs"), (B, A, 4)),
    "lfiltic": (B, A, V), **{f"lp2{band}_zpk": (V[:2], V[:3], 2.0) for band in (
        "lp", "hp", "bp", "bs")},
    "freqs": (B, A, W), "freqs_zpk": (V[:2], V[:3], 2.0, Fixed(W)), "zpk2ss": (V[:2], V[:3], 2.0),
    "freqz_zpk": (V[:2], V[:3], 2.0, Fixed(W)), "group_delay": ([B, A], Fixed(W)),
    **dict.fromkeys(("freqresp", "bode"), ([B, A], Fixed(W))),
    **dict.fromkeys(("dfreqresp", "dbode"), ([B, A, 0.5], Fixed(W))),
    "ss2zpk": (M, M[:, :1], M[:1], M[:1, :1]), "abcd_normalize": (M, M[:, :1], M[:1], M[:1, :1]),
    "lsim": ([B, A], V[:5], Fixed(np.arange(5.0))),
    **dict.fromkeys(("impulse", "step"), ([B, A], None, Fixed(np.arange(5.0)))),
    "dlsim": ([B, A, 0.5], V), **dict.fromkeys(("dimpulse", "dstep"), ([B, A, 0.5], None, None, 4)),
    **dict.fromkeys(("peak_prominences", "peak_widths"), (V, Fixed(np.array([2, 6])))),
    **dict.fromkeys(("cspline2d", "qspline2d"), (np.tile(M, (3, 3)), 0.0, 0.1)),
    "symiirorder1": (V, 0.4, 0.1, 1e-3),
    "symiirorder2": (LONG, 0.2, 0.7, 0.01), "gauss_spline": (V, 3),
    "sweep_poly": (V, B), "vectorstrength": (W, 0.7),
    "sosfilt_zi": (SOS,), **dict.fromkeys(("medfilt2d", "hilbert2"), (M,)),
    **dict.fromkeys(("cspline1d_eval", "qspline1d_eval"), (V, W)), "zoom_fft": (V, 0.7),
    **dict.fromkeys(("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum",
                     "maximum", "median"), (M, Fixed(np.arange(5) % 3), Fixed([1, 2]))),
    **dict.fromkeys(("grey_dilation", "grey_erosion", "grey_closing", "grey_opening",
                     "morphological_gradient", "morphological_laplace", "white_tophat",
                     "black_tophat"), (M, 3)), "percentile_filter": (M, 30, 3),
    "rank_filter": (M, 2, 3), "spline_filter": (M,), "spline_filter1d": (V,),
    **dict.fromkeys(("fourier_gaussian", "fourier_uniform", "fourier_shift"), (M, 0.7)),
    "rosen_hess": (V,), "rosen_hess_prod": (V, W), **dict.fromkeys(("fht", "ifht"), (V, 0.2, 0.5)),
    "spsolve_triangular": (np.tril(M), V[:5]), "expm_multiply": (M / 9.0, V[:5]),
    "spalde": (Fixed(0.7), Fixed(scipy.interpolate.splrep(STEPS, V))),
    "firls": (5, Fixed(np.array([0.0, 0.3, 0.5, 1.0])), W[:4]),
    "firwin2": (5, Fixed(np.array([0.0, 0.3, 1.0])), W[:3]), "minimum_phase": (W[:5],),
}
"""What a function is called with; `(V,)` where it is not here."""
TWO_D = {"scipy.ndimage.convolve", "scipy.ndimage.correlate"}
SPLINES = ("BSpline", "RegularGridInterpolator", "CubicSpline", "PchipInterpolator",
           "Akima1DInterpolator", "make_interp_spline", "InterpolatedUnivariateSpline",
           "UnivariateSpline", "CubicHermiteSpline", "BarycentricInterpolator",
           "KroghInterpolator", "interp1d", "PPoly", "BPoly", "LinearNDInterpolator",
           "NearestNDInterpolator", "RBFInterpolator")

DTYPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "bool": lambda x: x > 0.4, "int8": lambda x: (x * 40).astype(np.int8),
    "uint8": lambda x: (np.abs(x) * 40).astype(np.uint8),
    "int32": lambda x: (x * 40).astype(np.int32), "int64": lambda x: (x * 40).astype(np.int64),
    "float32": lambda x: x.astype(np.float32), "float64": lambda x: x.copy(),
    "complex64": lambda x: (x + 1j * x[::-1]).astype(np.complex64),
    "complex128": lambda x: x + 1j * x[::-1]}

ITERATIVE = (".cg", ".gmres", ".bicgstab")
SINGLE = ("bool", "int8", "uint8", "float32", "complex64")


def _with(number: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(x: np.ndarray) -> np.ndarray:
        x.flat[min(1, x.size - 1)] = number
        return x

    return change


CONTENTS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "ordinary": ("biufc", lambda x: x), "empty": ("biufc", lambda x: x[:0]),
    "one": ("biufc", lambda x: x[:1]), "nan": ("fc", _with(np.nan)), "inf": ("fc", _with(np.inf)),
    "zero": ("biufc", lambda x: x * 0), "huge": ("d", lambda x: x * 1e200),
    "tiny": ("dD", lambda x: x * 1e-310)}

NO_TUPLES = {"alexandergovern": ("statistic", "pvalue"), "tukey_hsd": ("statistic", "pvalue"),
             "directional_stats": ("mean_direction", "mean_resultant_length")}
"""The functions whose results are objects, and what these have."""


def called(label: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function with the arguments to call it with."""
    module, _, name = label.rpartition(".")
    f, args = pkgutil.resolve_name(label), CALLS.get(name, (V,))
    if module.endswith("Poly"):
        return lambda *xs: f(*xs[:-1])(xs[-1]), args
    if module.endswith(".Rotation"):
        return lambda *xs: f(*xs).as_quat(), args
    if label in TWO_D:
        args = (M, M[:2, :2])
    if module == "scipy.sparse.linalg":
        return {"splu": lambda a, b: f(scipy.sparse.csc_array(a)).solve(b),
                "factorized": lambda a, b: f(scipy.sparse.csc_array(a))(b)}.get(
                    name, _sparse(name)), args
    if name in ("kron", "vstack", "hstack", "block_diag"):
        return lambda *xs: f(*([list(map(scipy.sparse.csr_array, x)) if isinstance(x, list) else
                                scipy.sparse.csr_array(x) for x in xs])), args
    if name in ("tf2zpk", "ss2zpk"):  # data decides whether SciPy's are complex
        return lambda *xs: [x.astype(complex) for x in f(*xs)[:2]], args
    if name == "gaussian_kde":
        return lambda data, at: f(data)(at), args
    if name in ("trim1", "trimboth"):  # in no order
        return lambda *xs: np.sort(f(*xs)), args
    if name in NO_TUPLES:
        return lambda *xs: operator.attrgetter(*NO_TUPLES[name])(f(*xs)), args
    if name == "UnivariateSpline":
        return lambda x, y, at: f(x, y, s=0)(at), args
    if name == "Slerp":
        return lambda *xs: f(*xs[:2])(xs[2]).as_quat(), args
    if name == "lagrange":
        return lambda x, y, at: f(x, y)(at), (STEPS[:4], V[:4], W)
    if name == "RectBivariateSpline":
        return lambda x, y, z, at: f(x, y, z).ev(at, at), args
    if name in SPLINES:
        return _made(name), CALLS.get(name, (STEPS, V, W))
    return f, args


def outcome(f: Callable[..., Any], args: tuple[Any, ...], captured: bool) -> Any:
    """Return the result of a call, data among its arguments traced, or its error."""
    data = [x for x in args if isinstance(x, np.ndarray)] + [
        y for x in args if isinstance(x, list) for y in x if isinstance(y, np.ndarray)]

    def call(*arrays: np.ndarray) -> Any:
        given = iter(arrays)
        full = [next(given) if isinstance(x, np.ndarray) else x for x in args]
        full = [[next(given) if isinstance(y, np.ndarray) else y for y in x]
                if isinstance(x, list) else x.value if isinstance(x, Fixed) else x for x in full]
        found = f(*full)
        return found.toarray() if hasattr(found, "toarray") else found

    try:
        with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
            return (tracejit.jit(call) if captured else call)(*map(np.copy, data))
    except Exception as e:
        return e


def leaves(x: Any) -> list[Any]:
    return [y for part in x for y in leaves(part)] if isinstance(x, (tuple, list)) else [x]


def difference(found: Any, expected: Any, is_single: bool = False, ordinary: float = 0.0) -> str:
    """Return how an outcome differs from SciPy's, "" where it does not or is refused."""
    if isinstance(found, tracejit.Refusal):
        return ""
    if isinstance(found, IRError):
        return str(found)
    if isinstance(found, Exception) or isinstance(expected, Exception):
        both = isinstance(found, Exception) and isinstance(expected, Exception)
        return "" if both and (isinstance(found, type(expected)) or isinstance(
            expected, type(found))) else f"{found!r}, not {expected!r}"
    ours, theirs = leaves(found), leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    for x, y in zip(map(np.asarray, ours), map(np.asarray, theirs), strict=True):
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return f"{x.dtype}{x.shape}, not {y.dtype}{y.shape}"
        size = np.max(np.abs(y[np.isfinite(y)]), initial=0.0) if y.size else 0.0
        finite = np.isfinite(x) & np.isfinite(y)
        if not np.array_equal(np.isfinite(x), np.isfinite(y)) or not np.allclose(
                x[finite], y[finite], rtol=1e-3 if is_single else 1e-6,
                atol=size * (1e-4 if is_single else 1e-9) + ordinary * (1e6 if is_single else 1.0)):
            return f"{x}, not {y}"
    return ""


def converted(x: Any, dtype: str, content: str) -> Any:
    if isinstance(x, list):
        return [converted(y, dtype, content) for y in x]
    return CONTENTS[content][1](DTYPES[dtype](x)) if isinstance(x, np.ndarray) else x


EDGES: dict[str, tuple[str, ...]] = {
    # where a transform or a recursion takes a number that is not finite, and sums in parts
    **{name: ("nan", "inf") for name in ("oaconvolve", "irfft2", "irfftn")},
    # SciPy's kernels: they multiply zeros that are put in, or leave out weights below 1e-16
    **{name: ("nan", "inf") for name in ("convolve2d", "correlate2d")},
    **{name: ("nan", "tiny") for name in ("convolve", "correlate")},
    **{name: ("tiny",) for name in ("convolve1d", "correlate1d")},
    # of a NaN the order of comparisons decides
    **{name: ("nan",) for name in ("maximum_filter", "minimum_filter", "median_filter", "medfilt",
                                   "maximum_filter1d", "minimum_filter1d")},
    # dtypes and errors of empty samples, which SciPy decides apart, and of float32 that is NaN
    **{name: ("empty",) for name in ("euclidean", "minkowski", "iqr", "ttest_rel")},
    # slopes overflow in one formula and not in the other; equal or infinite points; garbage there
    **{name: ("huge", "tiny") for name in ("CubicSpline", "PchipInterpolator",
                                           "Akima1DInterpolator", "pchip_interpolate")},
    "vq": ("huge",),  # it multiplies squares out
    # quotients that overflow on the way; steps of an exponential that are counted
    "spsolve_triangular": ("tiny",), "expm_multiply": ("huge",),
    # a function that calls itself for each mirror
    **dict.fromkeys(("cspline1d_eval", "qspline1d_eval"), ("huge",)),
    "CubicHermiteSpline": ("huge",), "make_interp_spline": ("tiny",),
    **{name: ("zero", "huge") for name in ("KroghInterpolator", "krogh_interpolate")},
    **{name: ("zero", "huge", "tiny") for name in ("BarycentricInterpolator",
                                                   "barycentric_interpolate")},
    "RectBivariateSpline": ("tiny",), "lagrange": ("huge",),
    "splrep": ("zero", "nan", "inf", "tiny", "one"),
    **{name: ("tiny", "one") for name in ("InterpolatedUnivariateSpline", "UnivariateSpline")},
    # a float64 for factors in float32 is an error here at first; iterations are at their limit
    **{name: ("zero", "nan", "inf") for name in ("splu", "factorized")},
    "gmres": ("huge", "tiny"),
    "kron": ("empty", "zero"),
    "linregress": ("empty", "one", "nan", "tiny"), "boxcox_llf": ("tiny",),
    "alexandergovern": ("huge",),  # whose squares overflow
    **dict.fromkeys(("probplot", "yeojohnson_normplot", "binned_statistic", "binned_statistic_2d",
                     "binned_statistic_dd"), ("tiny",)),  # squares and scales underflow
    "fligner": ("zero",),  # of equal scores rounding decides
}
"""The contents of which SciPy's result is its algorithm's, and is not compared."""
LABELS = [label for label in FOREIGN
          if not label.startswith(("scipy.linalg.", "scipy.special.", "scipy.signal.windows."))
          and label.rpartition(".")[2] not in EXEMPT]
KINDS = [(dtype, content) for dtype, (content, (codes, _)) in itertools.product(
    DTYPES, CONTENTS.items()) if np.dtype(dtype).kind in codes or np.dtype(dtype).char in codes]


def wrongs(label: str, dtype: str, content: str) -> list[str]:
    f, args = called(label)
    found = []
    data = [k for k, x in enumerate(args) if isinstance(x, (np.ndarray, list))]
    for which in {(*data,), (*data[:1],), (*data[-1:],)}:
        given = tuple(converted(x, dtype, content) if k in which else x
                      for k, x in enumerate(args))
        ours = outcome(f, given, True)
        if (dtype, content) == ("float64", "ordinary") and isinstance(ours, tracejit.Refusal):
            found.append(f"{label} is refused: {ours}")
        text = difference(ours, outcome(f, given, False),
                          (dtype in SINGLE and (dtype[0] in "fc" or "signal" in label
                                                or "spsolve" in label))  # int8 in float32, too
                          or label.endswith(ITERATIVE),
                          1e-9 if content != "tiny" else 0.0)
        if text:
            found.append(f"{label} of {dtype}, {content}, at {which}: {text}")
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("label", LABELS)
def test_results_are_scipys_whatever_the_arrays_are(label: str, dtype: str) -> None:
    assert [text for kind, content in KINDS if kind == dtype
            and content not in EDGES.get(label.rpartition(".")[2], ())
            for text in wrongs(label, dtype, content)] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "content"), [
    (name, content) for name in EDGES for content in EDGES[name]])
def test_each_edge_that_is_not_compared_differs(name: str, content: str) -> None:
    labels = [label for label in LABELS if label.rpartition(".")[2] == name]
    assert any(wrongs(label, dtype, content)
               for label in labels for dtype, kind in KINDS if kind == content)


NONE, LINE, SQUARE = np.zeros(0), np.arange(15.0), np.zeros((0, 3))
PROGRAMS: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "median of none": (np.median, NONE), "nanmedian of none": (np.nanmedian, NONE),
    "medians of none": (lambda x: np.median(x, axis=0), SQUARE),
    "none of medians": (lambda x: np.median(x, axis=1, keepdims=True), SQUARE),
    "nanquantile of none": (lambda x: np.nanquantile(x, [0.3, 0.4], axis=0), SQUARE),
    "quantile of none": (lambda x: np.quantile(x, 0.3), NONE), "cov of none": (np.cov, NONE),
    "bins too near": (lambda x: np.histogram(x, 20)[0], np.array([1e16 - 4.0, 1e16 + 4.0])),
    "bins near": (lambda x: np.histogram(x, 3)[1], np.array([1e16 - 4.0, 1e16 + 4.0])),
    **{f"{name} of no weight": (lambda x, name=name: getattr(scipy.stats, name)(
        x, weights=np.zeros(15)), LINE + 1.0) for name in ("gmean", "hmean")},
    "iqr of infinities": (scipy.stats.iqr, np.array([1.0, 2.0, 3.0, np.inf, np.inf])),
    "window of one": (lambda x: scipy.signal.savgol_filter(x, 1, 0), LINE),
    "savgol, reflect": (lambda x: scipy.signal.savgol_filter(x, 5, 2, mode="reflect"), LINE),
    "no width": (lambda x: scipy.ndimage.gaussian_filter1d(x, 0.0), LINE),
    **{f"initial={initial}": (lambda x, initial=initial: scipy.integrate.cumulative_trapezoid(
        x, initial=initial), LINE) for initial in (0, 1.0, None)},
    **{f"{name}, {method}": (lambda x, name=name, method=method: getattr(scipy.signal, name)(
        x, x, method=method), LINE) for name in ("convolve", "correlate")
       for method in ("direct", "fft", "best")},
    "fft of ints": (lambda x: scipy.signal.convolve(x, x, method="fft"), np.arange(5)),
    **{f"padtype={kind}": (lambda x, kind=kind: scipy.signal.filtfilt(
        B, A, x, padtype=kind), LINE) for kind in ("odd", "even", "constant", None, "edge")},
    "sections, edge": (lambda x: scipy.signal.sosfiltfilt(SOS, x, padtype="edge"), LONG),
    "list with a place": (lambda x: scipy.sparse.diags_array([x], offsets=1).toarray(), LINE),
    "array with a place": (lambda x: scipy.sparse.diags_array(x, offsets=1).toarray(), LINE),
    "norm of 1e200": (scipy.linalg.norm, LINE * 1e200),
    "norm of 1e-310": (scipy.linalg.norm, LINE * 1e-310),
    **{f"simpson at {x.dtype}": (lambda y, x=x: scipy.integrate.simpson(y, x), np.arange(1.0, 4.0))
       for x in (np.int8([-100, 0, 100]), np.uint8([200, 100, 0]), np.int16([0, 300, 600]),
                 np.float32([0.0, 1e25, 2e25]))},
    **{f"iqr between {rng}": (lambda x, rng=rng: scipy.stats.iqr(x, rng=rng), LINE)
       for rng in ((-5, 50), (5, 150), (0, 100))},
    **{f"median of nothing, {axis}": (lambda x, axis=axis: np.median(x, axis, keepdims=True),
                                      np.zeros((2, 0))) for axis in (None, 0, 1)},
    "deviation of nothing": (lambda x: scipy.stats.median_abs_deviation(x, 1), np.zeros((2, 0))),
    **{f"pearsonr along {axis}": (lambda x, axis=axis: scipy.stats.pearsonr(x, x[0], axis=axis)[0],
                                  M) for axis in (0, 1)},
    "pearsonr of columns": (lambda x: scipy.stats.pearsonr(x, x[:, 0], axis=0)[0], M[:, :3]),
    "nearly singular circulant": (lambda x: scipy.linalg.solve_circulant(x, x), np.ones(4)),
    "circulant": (lambda x: scipy.linalg.solve_circulant(x, x), LINE[:4] ** 2),
    "norm with its axis": (lambda x: scipy.linalg.norm(x, keepdims=True), LINE),
    "distance of a large power": (lambda x: scipy.spatial.distance.minkowski(x, -x, 7), LINE),
    "distance of negative power": (lambda x: scipy.spatial.distance.minkowski(x, -x, -1), LINE),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_edges_are_the_librarys(name: str) -> None:
    f, x = PROGRAMS[name]
    ours, theirs = (outcome(f, (x,), captured) for captured in (True, False))
    assert difference(ours, theirs, False, 1e-12 if "1e-310" not in name else 0.0) == ""
    assert not isinstance(ours, tracejit.Refusal)
