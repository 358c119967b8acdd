"""Every keyword of every captured function of NumPy and SciPy: NumPy's result, or a refusal.

The table is made from the signatures: a keyword that a new version adds is tested when it is there.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import tracejit
import tracejit.api  # (fills the tables)
import tracejit.trace.ground.keywords as keyword_module
from tracejit.trace.ground.dispatch import FOREIGN, FUNCTIONS

V = np.array([0.5, -1.5, 2.5, 1.0])
W = np.array([0.25, 0.5, 2.0, 3.0])
M = np.array([[2.0, 0.5, -1.0], [0.25, 3.0, 1.5], [1.0, -0.5, 4.0]])
P = M @ M.T + np.eye(3)
Q = P + np.triu(M, 1)  # its triangles differ
HOLES = np.array([[1.0, np.nan, 3.0], [np.inf, 5.0, -np.inf]])

SERIES = ("poly", "cheb", "leg", "herm", "herme", "lag")
OF_SERIES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("add", "sub", "mul", "div"), (V, W)), "pow": (V, 2), "der": (V,), "int": (V,),
    "vander2d": (V, W, (1, 2)), "vander3d": (V, W, V, (1, 0, 2)), "fit": (V, W, 1),
    **{f"{kind}{count}": given for kind in ("val", "grid") for count, given in (
        ("2d", (V, W, M)), ("3d", (V, W, V, M[:, :, None])))}}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{prefix + name: given for prefix in SERIES for name, given in OF_SERIES.items()},
    "fit": (V, W, 1), "fromroots": (V,), "poly1d": (V,), **dict.fromkeys((
        "Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"), (V,)),
    "quantile": (M, 0.3), "percentile": (M, 30.0), "sliding_window_view": (M, 2),
    **dict.fromkeys(("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp", "spherical_jn", "spherical_yn",
                     "spherical_in", "spherical_kn"), (1, np.abs(V) + 0.5)),
    "comb": (V + 5.0, V), "perm": (V + 5.0, V), "factorial": (V,), "zeta": (V + 2.0,),
    "where": (V > 0.0, V, W), "select": ([V > 0.9, V > 0.0], [V, W]), "clip": (V, -1.0, 1.0),
    "nan_to_num": (HOLES,), "array_equal": (V, V), "vander": (V, 2),
    "isclose": (HOLES, HOLES + 1e-9), "allclose": (HOLES, HOLES + 1e-9), "full": (3, V[0]),
    "zeros": (3,), "ones": (3,), "empty": (3,), "ndarray": (3,), "full_like": (V, V[0]),
    "copyto": (V, W), "fill_diagonal": (M, V[0]),
    "arange": (4,), "linspace": (V[0], 3.0), "eye": (3,), "identity": (3,), "tri": (3,),
    "indices": ((2, 3),), "fromfunction": (lambda i, j: i + 2 * j, (2, 3)), "meshgrid": (V, W),
    "reshape": (M, (9,)), "expand_dims": (V, 0), "squeeze": (M[:1],), "swapaxes": (M, 0, 1),
    "moveaxis": (M, 0, 1), "broadcast_to": (V, (2, 4)), "concatenate": ([M, P],),
    "stack": ([M, P],), "vstack": ([M, P],), "hstack": ([M, P],), "column_stack": ([V, W],),
    "append": (M, P), "split": (V, 2), "array_split": (V, 3), "roll": (M, 1), "pad": (V, 2),
    "tile": (V, 2), "repeat": (M, 2), "matmul": (M, P), "dot": (M, P), "vdot": (V, W),
    "inner": (V, W), "outer": (V, W), "tensordot": (M, P), "einsum": ("ij,jk->ik", M, P),
    "cross": (M, P), "kron": (M, P), "solve": (Q, M), "solve_triangular": (Q, M),
    "cholesky": (Q,), "inv": (P,), "slogdet": (P,), "det": (P,), "take": (M, np.array([0, 2, -1])),
    "nansum": (HOLES,), "nanmax": (HOLES,), "nanmin": (HOLES,), "nanmean": (HOLES,),
    "take_along_axis": (M, np.array([[0, 2, 1]])), "interp": (V, W, V), "searchsorted": (W, V),
    "xlogy": (W, W), "xlog1py": (W, W), "logit": (W / 4.0,), "entr": (W,), "logsumexp": (M,),
    "cho_factor": (Q,), "cho_solve": ((Q, False), M), "toeplitz": (V,),
    "circulant": (V,), "hankel": (V,), "vecdot": (M, P), "matvec": (M, P), "vecmat": (M, P),
    **dict.fromkeys(("betaln", "beta", "rel_entr", "kl_div", "huber", "pseudo_huber", "boxcox",
                     "boxcox1p", "inv_boxcox", "inv_boxcox1p"), (W, W[::-1].copy())),
    **dict.fromkeys(("legendre_p", "legendre_p_all"), (2, M)),
    **dict.fromkeys(("assoc_legendre_p", "assoc_legendre_p_all", "sph_legendre_p",
                     "sph_legendre_p_all"), (2, 1, M)),
    **dict.fromkeys(("sph_harm_y", "sph_harm_y_all"), (2, 1, M, M)),
    **dict.fromkeys(("eval_legendre", "eval_chebyt", "eval_chebyu", "eval_hermite", "polygamma",
                     "eval_hermitenorm", "eval_laguerre"), (2, W)), "multigammaln": (W + 2.0, 2),
    "convolve": (V, W), "correlate": (V, W), "polyder": (V,), "block": ([[M, P]],),
    "dstack": ([M, P],), "vsplit": (M, 3), "hsplit": (M, 3), "dsplit": (M[None], 3),
    "piecewise": (V, [V > 0.0], [np.sin, 2.0]), "unravel_index": (np.array([2, 3]), (2, 3)),
    "multi_dot": ([M, P, M],), "matrix_power": (M, 3),
    "tril_indices": (3,), "triu_indices": (3,), "diag_indices": (3,),
    "delete": (V, 1), "insert": (V, 1, 2.0), "extract": (np.array([True, False]), np.arange(2)),
    "intersect1d": ([1, 2], [2, 3]), "union1d": ([1, 2], [2, 3]), "setdiff1d": ([1, 2], [2, 3]),
    "setxor1d": ([1, 2], [2, 3]), "isin": (V, [2.0, 0.5]), "unique": ([2, 1, 2],),
    "trim_zeros": ([0, 1, 0],),
    "bincount": ([1, 2, 1],), "histogram": ([1.0, 2.0, 4.0],), "fftfreq": (4,), "rfftfreq": (4,),
    "histogram_bin_edges": ([1.0, 2.0, 4.0],), "compress": ([True, False, True], M),
    "unwrap": (9.0 * V,), "resize": (V, (2, 3)), "digitize": (V, np.sort(W)),
    "logspace": (0.5, 2.0),
    "geomspace": (0.5, 2.0), "partition": (V, 2), "argpartition": (V, 2), "choose": (
        np.array([0, 1, 0, 1]), [V, W]), "put": (V, np.array([1, 2]), W[:2]),
    "put_along_axis": (M, np.array([[0, 1, 2]]), W[:3], 0), "rollaxis": (M, 1),
    "ravel_multi_index": ((np.array([0, 1]), np.array([2, 1])), (2, 3)),
    "polyint": (V,), "lexsort": ((V, W),), "nanquantile": (HOLES[:1], 0.3),
    "nanpercentile": (HOLES[:1], 30.0), "putmask": (V, V > 0.6, W), "place": (V, V > 0.6, W),
    "apply_along_axis": (np.cumsum, 0, M), "apply_over_axes": (np.sum, M, (0,)),
    "poly": (V,), "polyadd": (V, W), "polysub": (V, W), "polymul": (V, W), "polydiv": (V, W),
    "kaiser": (5, 2.0), "histogram2d": (V, W), "array_equiv": (V, V),
    "atleast_1d": (V,), "atleast_2d": (V,), "gradient": (M,),
    "can_cast": (np.float32, np.float64), "fractional_matrix_power": (M, 0.5),
    "expm_frechet": (M, P), "orthogonal_procrustes": (M, P),
    "subspace_angles": (M[:, :1], P[:, :1]), "eigh_tridiagonal": (V, W[:-1]),
    "eigvalsh_tridiagonal": (V, W[:-1]), "funm": (Q, np.exp),
    **dict.fromkeys(("polyval", "chebval", "legval", "hermeval", "hermval", "lagval"), (V, W)),
    "eigvals_banded": (M,), "matmul_toeplitz": (V, V), "solve_circulant": (V, W),
    "solve_continuous_are": (M, P, M, P), "solve_discrete_are": (M, P, M, P),
    "qr_multiply": (M, P), "cho_solve_banded": ((Q, True), V), "convolution_matrix": (V, 4),
    "leslie": (V, W[:-1]), "fiedler_companion": (V,), "diagsvd": (V, 5, len(V)),
    "cdf2rdf": (V + 0j, M), "cholesky_banded": (Q,),
    "rsf2csf": scipy.linalg.schur(M),
}
"""What a function is called with; `(M,)` where it is not here."""

FLOAT32, BOOL = np.dtype(np.float32), np.dtype(bool)
VALUES: dict[str, list[Any]] = {
    "scl": [2.0], "tensor": [True, False],
    "axis": [0, 1, -1, (0, 1)], "keepdims": [True], "initial": [2.0], "dtype": [FLOAT32, int],
    "where": [M > 0.6, V > 0.6, HOLES > 2.0], "ddof": [1], "correction": [1],
    "mean": [np.mean(M, keepdims=True)], "order": ["F"], "copy": [True, False, None],
    "subok": [True], "shape": [(2, 3)], "device": ["cpu"], "like": [np.ones(2)],
    "m": [4], "ndim": [3], "buffer": [b"0" * 24], "strides": [(16,)],
    "decimals": [1, -1], "deg": [True], "nan": [7.0], "posinf": [8.0], "neginf": [9.0],
    "rtol": [0.5], "atol": [0.5], "equal_nan": [True], "a_min": [0.0], "a_max": [0.0],
    "min": [0.0], "max": [0.0], "ndmin": [3], "ndmax": [1], "casting": ["unsafe", "no"],
    "stop": [7], "step": [2], "num": [4], "endpoint": [False], "retstep": [True], "M": [4],
    "k": [1, -1], "sparse": [True], "indexing": ["ij"], "axes": [(1, 0), 1], "values": [V],
    "return_index": [True], "return_inverse": [True], "return_counts": [True], "sorted": [True],
    "assume_unique": [True], "return_indices": [True], "trim": ["f"], "minlength": [5],
    "bins": [3], "range": [(0.0, 5.0)], "density": [True], "d": [0.5],
    "offset": [1, -1], "axis1": [1], "axis2": [0], "ord": [1, 2, np.inf, "fro", "nuc"],
    "upper": [True], "axisa": [0], "axisb": [0], "axisc": [0], "weights": [M, V[:3]],
    "returned": [True], "y": [P], "rowvar": [False], "bias": [True], "fweights": [[1, 2, 3]],
    "aweights": [W[:3]], "n": [2], "prepend": [1.0, M[:, :1]], "append": [1.0, M[:, :1]],
    "x": [W[:3]], "dx": [0.5], "edge_order": [2], "mode": ["clip", "wrap", "edge", "reflect"],
    "kind": ["stable"], "stable": [True], "descending": [True],
    "overwrite_input": [False], "left": [5.0], "right": [6.0],
    "period": [1.5], "side": ["right"], "sorter": [np.argsort(W)], "ind": [1],
    "signature": ["dd->d"], "optimize": [True], "a": [M], "shift": [2],
    "method": ["linear", "lower", "weibull"],
    # of SciPy
    "lower": [True], "overwrite_a": [False], "overwrite_b": [False], "check_finite": [False],
    "conjugate": [True], "overwrite_c": [False],
    "assume_a": ["gen", "sym", "her", "pos", "diagonal", "upper triangular", "general"],
    "transposed": [True], "trans": [1, "T", 2, "C"], "unit_diagonal": [True], "b": [P],
    "return_sign": [True], "newshape": [(9,)], "start": [2], "discont": [4.0], "to_end": [1.0],
    "to_begin": [1.0], "r": [V], "include_initial": [True], "norm": ["ortho", True], "diff_n": [1],
    "branch_cut": [3],
    "UPLO": ["U"], "p": [-2, 1],
    "full_matrices": [False], "compute_uv": [False], "hermitian": [True], "s": [(2, 4)],
    "base": [2.0], "tol": [10], "interpolation": [None], "args": [()], "rcond": [0.3],
    "full": [True], "w": [W[:3]], "cov": [True, "unscaled"], "overwrite_ab": [False],
    "permute_l": [True], "p_indices": [True], "eigvals_only": [True], "type": [2],
    "subset_by_index": [[0, 1]], "subset_by_value": [[0.0, 9.0]], "driver": ["evd", "ev"],
    "lapack_driver": ["gelsd", "gelsy", "gesdd", "gesvd"], "homogeneous_eigvals": [True],
    "lwork": [99], "pivoting": [True], "return_rank": [True], "cond": [1e-4], "disp": [],
    "blocksize": [], "q": [P], "ab": [], "c_or_cr": [], "l_and_u": [],
}
EXTRA: dict[str, dict[str, list[Any]]] = {
    "isin": {"assume_unique": [True], "invert": [True], "kind": ["sort"]},
    "sliding_window_view": {"writeable": [False]},
    "vander": {"increasing": [True]}, "poly1d": {"variable": ["t"]},
    **{f"{prefix}{name}": extra for prefix in SERIES for name, extra in {
        "der": {"scl": [2.0]}, "int": {"lbnd": [0.5], "scl": [2.0], "k": [1.0, [2.0]]},
        "pow": {"maxpower": [3, 1]}}.items()},
    "cast": {"domain": [[0.0, 2.0]], "window": [[0.0, 3.0]]},
    **{name: {"domain": [[0.0, 2.0]], "window": [[0.0, 3.0]], "symbol": ["t"]} for name in (
        "Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre", "fit",
        "fromroots")},
    "pad": {"constant_values": [3.0, (1.0, 2.0)], "mode": [
        "edge", "reflect", "wrap", "mean", "linear_ramp"]},
    "clip": {"where": [V > 0.0], "dtype": [FLOAT32], "casting": ["unsafe"]},
    "einsum": {"dtype": [FLOAT32], "order": ["F"], "casting": ["unsafe"]},
    "reshape": {"shape": [(9,), (1, 9)]}, "logsumexp": {"b": [P, 2.0]},
    "select": {"default": [0, 1.5, V[0]]},
    **{name: {"n": [0, 2]} for name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp")},
    **{f"spherical_{kind}n": {"derivative": [True, False]} for kind in "jyik"},
    "zeta": {"q": [np.abs(V) + 0.5]}, "perm": {"exact": [False]},
    "comb": {"exact": [False], "repetition": [True]},
    "factorial": {"exact": [False], "extend": ["zero"]},
    "solve": {}, "copyto": {"where": [V > 0.6]}, "fill_diagonal": {"wrap": [True]},
    "average": {"weights": [M]}, "matmul_toeplitz": {"workers": [1]},
    "solve_circulant": {"singular": ["lstsq"], "tol": [1e-9], "caxis": [0], "baxis": [0],
                        "outaxis": [0]},
    "funm": {"disp": [False]},
    "expm_frechet": {"method": ["blockEnlarge"], "compute_expm": [False]},
    "eigvalsh_tridiagonal": {"select": ["i"], "select_range": [], "tol": [], "lapack_driver": []},
    "eigh_tridiagonal": {"select": ["i"], "select_range": [], "tol": [],
                         "lapack_driver": ["stemr", "stevd"]},
    "eigvals_banded": {"overwrite_a_band": [False], "select": [], "select_range": []},
    "eig_banded": {"overwrite_a_band": [False], "select": ["i"], "select_range": [], "max_ev": [2]},
    "schur": {"output": ["complex", "r"], "lwork": [99], "sort": ["lhp"]},
    "hessenberg": {"calc_q": [True]},
    **{name: {"tensor": [True, False]} for name in (
        "polyval", "chebval", "legval", "hermeval", "hermval", "lagval")},
    **{f"solve_{kind}_are": {"e": [], "s": [], "balanced": [False]}
       for kind in ("continuous", "discrete")},
}
WITHOUT_VALUES = {"out", "dst", "src", "xp", "fp", "object", "condition", "axes"}


def _scipy(public: str) -> Any:
    module, _, name = public.rpartition(".")
    return getattr(sys.modules[module], name)


def _is_numpys(f: Any) -> bool:
    return str(getattr(f, "__module__", "")).startswith("numpy")


CAPTURED = {f"np.{f.__name__}" if "linalg" not in f.__module__ else f"np.linalg.{f.__name__}": f
            for f in FUNCTIONS if _is_numpys(f) and "polynomial." not in f.__module__
            and f not in (np.nditer, np.broadcast)}  # loops, not functions of arrays
CAPTURED |= {f"{f.__module__}.{f.__name__}": f for f in FUNCTIONS
             if str(getattr(f, "__module__", "")).startswith("numpy.polynomial")}
CAPTURED |= {name: _scipy(name) for name in FOREIGN
             if name.startswith(("scipy.linalg.", "scipy.special."))}


def keywords(f: Any) -> Iterator[tuple[str, Any]]:
    """Yield each keyword of a function with values for it."""
    extra = EXTRA.get(f.__name__, {})
    parameters = inspect.signature(f).parameters if not isinstance(f, np.ufunc) else {
        "out": None, "where": None, "dtype": None, "casting": None}
    count = len(ARGUMENTS.get(f.__name__, (M,)))
    for place, name in enumerate([*parameters, *(extra.keys() - parameters.keys())]):
        if (place < count and name not in ("shape", "a", "x")) or name in (
                "args", "kw", "kwargs", "operands", "arrays", "tup", "arys", "xi", "varargs"):
            continue
        if name in WITHOUT_VALUES and name not in extra:
            continue
        if isinstance(f, np.ufunc) and name == "where":
            continue  # with some masks, calling SciPy's ufuncs corrupts the heap (NumPy 2.4)
        for value in extra.get(name, VALUES.get(name, [])):
            yield name, value
        assert name in VALUES or name in extra or place < count, f"{f.__name__}: {name}"


def leaves(x: Any) -> list[Any]:
    return [y for part in x for y in leaves(part)] if isinstance(x, (tuple, list)) else [x]


def plain(f: Any, args: tuple[Any, ...], name: str, value: Any) -> Any:
    """Call NumPy; return the result and the arguments after it, None where it is an error."""
    copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in args]
    try:
        result = f(*copies, **{name: value})
    except Exception:  # the combination means nothing
        return None
    return leaves(result), [x for x in copies if isinstance(x, np.ndarray)]


def captured(f: Any, args: tuple[Any, ...], name: str, value: Any) -> Any:
    """Call within a capture, arrays among the arguments traced."""
    copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in args]
    places = [k for k, x in enumerate(copies) if isinstance(x, (np.ndarray, np.generic))]
    given = [copies[k] for k in places]
    def call(*arrays: Any) -> Any:
        full = list(copies)
        for k, x in zip(places, arrays, strict=True):
            full[k] = x
        return f(*full, **{name: value})

    with tracejit.config(disable_jit=True):
        result = tracejit.jit(call)(*given)
    return leaves(result), [x for x in copies if isinstance(x, np.ndarray)]


def difference(found: Any, expected: Any) -> str:
    """Return how two outcomes differ, "" where they do not."""
    for ours, theirs in itertools.chain(*(zip(a, b, strict=True)
                                          for a, b in zip(found, expected, strict=True))):
        if ours is None and theirs is None:
            continue
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            return f"{ours.dtype}{ours.shape}, not {theirs.dtype}{theirs.shape}"
        if not np.allclose(ours, theirs, rtol=1e-6, atol=1e-12, equal_nan=True):
            return f"{ours}, not {theirs}"
    return ""


def wrongs(label: str) -> list[str]:
    """Return the keywords with which a captured function gives something else than NumPy."""
    f = CAPTURED[label]
    args = ARGUMENTS.get(f.__name__, (M,))
    wrong = []
    for name, value in keywords(f):
        expected = plain(f, args, name, value)
        if expected is None:
            continue
        try:
            found = captured(f, args, name, value)
        except tracejit.Refusal:
            continue
        except Exception as e:
            problem = repr(e)
        else:
            problem = difference(found, expected)
        if problem and not f.__name__.startswith(("empty", "ndarray")):
            wrong.append(f"{label}({name}={value!r}): {problem}")
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("label", CAPTURED)
def test_no_keyword_is_dropped(label: str) -> None:
    assert wrongs(label) == []


@pytest.mark.parametrize(("label", "name"), [
    ("np.nanmean", "where"),
    ("scipy.linalg.inv", "assume_a"),
])
def test_a_keyword_that_is_dropped_is_found(label: str, name: str, monkeypatch: Any) -> None:
    assert wrongs(label) == []
    monkeypatch.setattr(keyword_module, "HARMLESS", keyword_module.HARMLESS | {name})
    assert name in "".join(wrongs(label))


@pytest.mark.parametrize(("call", "text"), [
    (lambda x: np.nanmax(x, initial=0.0), "np.nanmax with initial= cannot be captured"),
    (lambda x: scipy.special.logsumexp(x, return_sign=True),
     "scipy.special.logsumexp with return_sign= cannot be captured"),
    (lambda x: scipy.special.erf(x, where=x > 0.0),
     "scipy.special.erf with where= cannot be captured"),
    (lambda x: np.add(x, x, where=x > 0.0), "np.add.__call__ with these arguments"),
    (lambda x: np.clip(x, 0, 1, casting="no"),
     "np.clip with casting= of several dtypes cannot be captured"),
])
def test_a_refusal_names_keyword_and_line(call: Any, text: str) -> None:
    with pytest.raises(tracejit.Refusal) as caught:
        tracejit.jit(call)(M)
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


NOT_GIVEN = [(label, name) for label, f in CAPTURED.items() if not isinstance(f, np.ufunc)
             for name, p in inspect.signature(f).parameters.items() if p.default is np._NoValue]
BY_PLACE: dict[str, Callable[..., Any]] = {
    "the last": lambda x: np.sum(x, 0, None, None, np._NoValue, np._NoValue, np._NoValue),
    "in the midst": lambda x: np.diff(x, 1, -1, np._NoValue, x[:, :1]),
    "two of some": lambda x: np.mean(x, 0, None, None, np._NoValue, where=np._NoValue),
    "by place and by name": lambda x: np.std(x, 0, None, None, 1, np._NoValue, mean=np._NoValue)}


@pytest.mark.parametrize(("label", "name"), NOT_GIVEN)
def test_what_is_no_value_is_not_given(label: str, name: str) -> None:
    f = CAPTURED[label]
    args = ARGUMENTS.get(f.__name__, (M,))
    expected = plain(f, args, name, np._NoValue)
    if expected is not None:  # the minimum of `np.clip` that is given by place, say
        assert difference(captured(f, args, name, np._NoValue), expected) == ""


@pytest.mark.parametrize("call", BY_PLACE.values(), ids=BY_PLACE)
def test_what_is_no_value_by_its_place_is_not_given(call: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(call)(M), call(M), rtol=1e-14)


def test_a_keyword_that_is_none_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"np\.sum\(\) got an unexpected keyword argument 'axes'"):
        tracejit.jit(lambda x: np.sum(x, axes=0))(M)


# --- what else was dropped ------------------------------------------------------------------------


def fills(x: Any) -> Any:
    np.nan_to_num(x, copy=False)
    return x.copy()


def as_is(make: Callable[..., Any]) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        y = make(x)
        y[0] = 9.0
        return x.copy()

    return f


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "nan_to_num in place": (fills, (HOLES,)),
    "nan_to_num of complex": (
        np.nan_to_num, (np.array([complex(np.nan, 1.0), complex(2.0, -np.inf), 3j]),)),
    "nan_to_num of ints": (np.nan_to_num, (np.arange(3),)),
    "median with NaN": (np.median, (HOLES,)),
    "quantile with NaN": (lambda x: np.quantile(x, (0.0, 0.4, 1.0), axis=0), (HOLES,)),
    "quantile of float32": (lambda x: np.quantile(x, 0.4), (HOLES[:, 0].astype(FLOAT32),)),
    "isclose of infinities": (lambda x: np.isclose(x, np.array([np.inf, 5.0, 1.0])), (HOLES[1],)),
    "linspace of ints": (lambda x: np.linspace(x, 2.5, 4, dtype=int), (-2.5,)),
    "linspace of float32": (lambda x: np.linspace(x, 2.5, 4), (np.float32(-2.5),)),
    "linspace of complex": (lambda x: np.linspace(x, 2.5, 4), (1j,)),
    "kron of vector and matrix": (np.kron, (V, M)), "kron of vectors": (np.kron, (V, W)),
    "upper factor of one triangle": (lambda a: scipy.linalg.cholesky(a), (np.triu(P),)),
    "solve from one triangle": (
        lambda a, b: scipy.linalg.solve(a, b, assume_a="pos", lower=True), (np.tril(P), V[:3])),
    **{f"{name} is no copy": (as_is(make), (V,)) for name, make in {
        "asarray": np.asarray, "asarray of floats": lambda x: np.asarray(x, dtype=float),
        "ascontiguousarray": np.ascontiguousarray, "asanyarray": np.asanyarray,
        "array(copy=False)": lambda x: np.array(x, copy=False), "conj()": lambda x: x.conj(),
        "astype(copy=False)": lambda x: x.astype(float, copy=False)}.items()},
    **{f"{name} is a copy": (as_is(make), (V,)) for name, make in {
        "array": np.array, "astype": lambda x: x.astype(float), "round": lambda x: np.round(x, 1),
        "clip": lambda x: np.clip(x, None, None), "sum": lambda x: np.sum(x, axis=()),
        "max": lambda x: np.max(x, axis=()), "asarray(copy=True)":
        lambda x: np.asarray(x, copy=True), "reshape(copy=True)":
        lambda x: np.reshape(x, (4,), copy=True)}.items()},
    "round of ints is a copy": (as_is(np.round), (np.arange(4),)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_made_of_a_call_is_numpys(name: str, interpreted: bool) -> None:
    f, args = CALLS[name]
    ours, theirs = ([np.array(x) if isinstance(x, np.ndarray) else x for x in args]
                    for _ in range(2))
    with tracejit.config(disable_jit=interpreted):
        found = tracejit.jit(lambda *xs: f(*xs))(*ours)
    problem = difference((leaves(found), ours), (leaves(f(*theirs)), theirs))
    assert not problem, problem


@pytest.mark.parametrize("call", [
    np.linalg.cholesky, np.linalg.inv, np.linalg.det, scipy.linalg.solve_triangular,
    scipy.linalg.solve, np.linalg.slogdet, scipy.linalg.cholesky])
def test_complex_matrices_are_factorized(call: Callable[..., Any]) -> None:
    turned = P + 1j * (np.triu(P, 1) - np.triu(P, 1).T)
    args = (turned, P) if "solve" in call.__name__ else (turned,)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda *xs: call(*xs))(*args)
    for x, y in zip(leaves(found), leaves(call(*args)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def test_parts_of_complex_numbers_cannot_be_written_to() -> None:
    for part in (np.real, np.imag):
        with pytest.raises(tracejit.Refusal, match="Work on a copy"):
            tracejit.jit(as_is(part))(V + 1j)
