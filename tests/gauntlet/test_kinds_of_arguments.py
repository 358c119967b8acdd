"""Every captured function, with each of its keywords, on arrays of other dtypes than float64.

The calls are from `tests/capture/test_keywords.py`; results have NumPy's and SciPy's dtypes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import test_keywords as keywords

import tracejit

KINDS = ("float32", "int64", "bool", "complex", "uint8")
AS_THEY_ARE = ("empty", "ndarray", "log_softmax", "logsumexp", "softmax")
"""Of memory that nobody wrote to, and of sums that SciPy adds up in another order."""
BY_ROUNDING = ("eig", "eigvals", "logm", "fractional_matrix_power")
"""Of real matrices: data decides, by rounding too, whether NumPy's and SciPy's results are real."""
OF_NOTHING = {("np.linalg.svd", "bool")}
"""Of a singular matrix: the vectors of a value of 0 are those of a value that was rounded."""


def converted(x: Any, kind: str) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(converted(y, kind) for y in x)
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return x
    whole = np.nan_to_num(np.round(2.0 * x), posinf=9, neginf=3)
    return {"float32": lambda: x.astype(np.float32), "int64": lambda: whole.astype(int),
            "bool": lambda: x > 0.6, "complex": lambda: x + 0.5j * x[::-1],
            "uint8": lambda: np.abs(whole).astype(np.uint8)}[kind]()


def outcome(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, captured: bool) -> Any:
    places = [k for k, x in enumerate(args) if isinstance(x, (np.ndarray, np.generic))]

    def call(*arrays: Any) -> Any:
        full = list(args)
        for k, x in zip(places, arrays, strict=True):
            full[k] = x
        return f(*full, **kwargs)

    try:
        with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
            return (tracejit.jit(call) if captured else call)(
                *(np.array(args[k]) for k in places))
    except Exception as e:
        return e


def difference(found: Any, expected: Any, single: bool, label: str) -> str:
    """Return how results differ: elements of matrix functions in units of the largest of them."""
    of_matrices = label.startswith(("scipy.linalg.", "np.linalg.", "numpy.linalg."))
    by_rounding = of_matrices and label.rpartition(".")[2] in BY_ROUNDING
    if isinstance(found, tracejit.Refusal):
        return ""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        both = isinstance(found, Exception) and isinstance(expected, Exception)
        return "" if both else f"{found!r}, not {expected!r}"
    for ours, theirs in zip(*map(keywords.leaves, (found, expected)), strict=True):
        if ours is None and theirs is None:
            continue
        if isinstance(theirs, np.dtype):
            if ours != theirs:
                return f"{ours}, not {theirs}"
            continue
        x, y = np.asarray(ours), np.asarray(theirs)
        if by_rounding and "c" in (x.dtype.kind, y.dtype.kind):
            x, y = x.astype(complex), y.astype(complex)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return f"{x.dtype}{x.shape}, not {y.dtype}{y.shape}"
        tolerance = 1e-5 if single else 1e-11
        least = 1e-7 if single else 1e-14  # where terms cancel
        if of_matrices and y.dtype.kind in "fc":
            least = tolerance * np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
        if not np.allclose(x, y, tolerance, least, equal_nan=True):
            return f"{x}, not {y}"
    return ""


def wrongs(label: str, kind: str) -> list[str]:
    f = keywords.CAPTURED[label]
    given = keywords.ARGUMENTS.get(f.__name__, (keywords.M,))
    args = converted(given, kind)
    if f.__name__.startswith("take"):
        args = (args[0], *given[1:])
    wrong = []
    for name, value in [("", None), *keywords.keywords(f)]:
        kwargs = {name: value} if name else {}
        text = difference(outcome(f, args, kwargs, captured=True),
                          outcome(f, args, kwargs, captured=False), kind == "float32" or any(
                              np.dtype(np.float32) is v for v in kwargs.values()), label)
        if text:
            wrong.append(f"{label} of {kind} {kwargs}: {text}")
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", [
    name for name, f in keywords.CAPTURED.items() if not f.__name__.startswith(AS_THEY_ARE)])
def test_results_have_the_kinds_that_numpy_gives(label: str, kind: str) -> None:
    if (label, kind) not in OF_NOTHING:
        assert wrongs(label, kind) == []


@pytest.mark.parametrize(("f", "x", "dtype"), [
    (np.var, np.ones(3, np.float32), np.float32), (np.std, np.ones(3, np.float32), np.float32),
    (lambda x: np.mean(x, where=x > 0), np.ones(3, np.float32), np.float32),
    (np.cov, np.eye(3, dtype=np.float32), np.float64),
    (lambda x: np.interp(x, x, x), np.arange(3, dtype=np.float32), np.float64),
    (lambda x: np.quantile(x, 0.3, axis=0), np.eye(3, dtype=np.float32), np.float32),
    (scipy.linalg.det, np.eye(3, dtype=np.float32), np.float64),
    (scipy.special.entr, np.array([1, 2], np.uint8), np.float32),
])
def test_what_was_found_of_small_kinds(f: Any, x: Any, dtype: Any) -> None:
    found = tracejit.jit(lambda x: f(x))(x)
    assert found.dtype == dtype == np.asarray(f(x)).dtype


def test_uint8_does_not_wrap_in_differences() -> None:
    x = np.array([9, 1, 4, 250], np.uint8)
    assert np.array_equal(tracejit.jit(lambda x: np.gradient(x))(x), np.gradient(x))
    assert tracejit.jit(lambda x: scipy.special.ndtr(x))(x) == pytest.approx(scipy.special.ndtr(x))


@pytest.mark.parametrize(("call", "error"), [
    (lambda x: np.array(x, dtype=int, copy=False), ValueError),
    (lambda x: np.array([x[0]], copy=False), ValueError),
    (lambda x: x.ravel(kind="stable"), TypeError), (lambda x: x.round(order="F"), TypeError),
    (lambda x: x.swapaxes(0, 1, order="F"), TypeError), (lambda x: np.max(x, dtype=int), TypeError),
    (lambda x: np.clip(x, 0, 1, min=0), ValueError), (lambda x: np.sum(x, 0, None, None, 0, 0, True,
                                                                       1), TypeError),
])
def test_what_numpy_does_not_take_is_its_error(call: Any, error: type[Exception]) -> None:
    x = np.ones((2, 2))
    with pytest.raises(error):
        call(x)
    with pytest.raises(error):
        tracejit.jit(lambda x: call(x))(x)


@pytest.mark.parametrize("method", ["sum", "max", "any", "mean", "var", "argmax", "cumsum", "take"])
def test_arguments_of_methods_by_place_are_numpys(method: str) -> None:
    x = np.arange(6.0).reshape(2, 3)
    places = {"sum": (1, np.float32, None, True), "max": (1, None, True), "any": (1, None, None, 1),
              "mean": (1, np.float32), "var": (1, None, None, 1), "argmax": (1, None),
              "cumsum": (1, np.float32), "take": ([0, 1], 1)}[method]
    expected = getattr(x, method)(*places)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda x: getattr(x, method)(*places))(x)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.allclose(found, expected)
