"""`out=`, `where=`, `dtype=`, `casting=` and the like of all ufuncs and folds: NumPy's, or refused.

Each form is called as it is and within `jit`; value, dtype, shape, the class of an error, the
arguments afterwards, and whether the result is the array that was given, are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit
import tracejit.api  # (fills the tables)
from tracejit.errors import CompileError, InternalError, IRError, Refusal
from tracejit.trace.ground import dispatch
from tracejit.trace.values.equations import COMPOSITES

UFUNCS = {f.__name__: f for f in (getattr(np, name) for name in dir(np))
          if isinstance(f, np.ufunc) and (f in dispatch.UFUNCS or f in COMPOSITES)
          and f.signature is None}
VECTORS = {"float64": np.array([0.5, -1.5, 2.5, 1.0]), "int64": np.array([3, -1, 4, 1]),
           "bool": np.array([True, False, True, True]),
           "float32": np.array([0.5, -1.5, 2.5, 1.0], np.float32),
           "complex": np.array([1 + 2j, -0.5, 1 - 1j, 2])}
TARGETS = {"float64": np.full(4, 7.0), "float32": np.full(4, 7.0, np.float32),
           "int32": np.full(4, 7, np.int32), "bool": np.zeros(4, bool), "complex": np.full(4, 7j),
           "two rows": np.full((2, 4), 7.0), "one": np.full(1, 7.0), "three": np.full(3, 7.0)}
MASK = np.array([True, False, False, True])

Call = tuple[str, Callable[..., Any], tuple[Any, ...]]


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in args)


def outcome(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    args = copies(args)
    try:
        with np.errstate(all="ignore"):
            result = fn(*args)
    except Exception as e:
        return e, []
    parts = list(result) if isinstance(result, tuple) else [result]
    return parts, [x for x in args if isinstance(x, np.ndarray)]


def differs(ours: Any, theirs: Any, eps: float) -> str:
    x, y = np.asarray(ours), np.asarray(theirs)
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return f"{x.dtype}{x.shape}, not {y.dtype}{y.shape}"
    rtol = eps if x.dtype.kind in "fc" else 0.0
    return "" if np.allclose(x, y, rtol=rtol, atol=0.0, equal_nan=True) else f"{x!r}, not {y!r}"


def difference(fn: Callable[..., Any], args: tuple[Any, ...], label: str = "") -> str:
    """Return how a captured call differs from the call itself, "" where it does not."""
    eps = 60.0 * np.finfo(np.float32 if "float32" in label or "f4" in label else float).eps
    expected, theirs = outcome(fn, args)
    with tracejit.config(disable_jit=True):
        found, ours = outcome(tracejit.jit(fn), args)
    if isinstance(found, Refusal):
        return ""
    if isinstance(found, Exception):
        internal = isinstance(found, (IRError, InternalError, CompileError))
        right = isinstance(expected, Exception) and not internal and (
            isinstance(found, type(expected)) or isinstance(expected, type(found)))
        return "" if right else f"raises {found!r}, where NumPy gives {expected!r}"
    if isinstance(expected, Exception):
        return f"gives {found!r}, where NumPy raises {expected!r}"
    return next(filter(None, (differs(x, y, eps) for x, y in zip(
        [*found, *ours], [*expected, *theirs], strict=True))), "")


# --- ufuncs --------------------------------------------------------------------------------------


def with_out(f: Any, **kwargs: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        result = f(*args[:-1], out=args[-1], **kwargs)
        return result, result is args[-1]

    return call


def with_mask(f: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        result = f(*args[:-2], out=args[-2], where=args[-1])
        return result, result is args[-2]

    return call


def onto_itself(f: Any) -> Callable[..., Any]:
    def call(*xs: Any) -> Any:
        result = f(*xs, out=(xs[0],))
        return result, result is xs[0]

    return call


def by_place(f: Any) -> Callable[..., Any]:
    def call(*xs: Any) -> Any:
        result = f(*xs, xs[0])
        return result, result is xs[0]

    return call


def onto_a_shifted_view(f: Any) -> Callable[..., Any]:
    return lambda *xs: f(*(x[:-1] for x in xs), out=xs[0][1:])


def onto_itself_reversed(f: Any) -> Callable[..., Any]:
    return lambda *xs: f(*xs, out=xs[0][::-1])


def plain_keywords(f: Any, **kwargs: Any) -> Callable[..., Any]:
    return lambda *xs: f(*xs, **kwargs)


KEYWORDS: list[dict[str, Any]] = [
    {"out": None}, {"where": True}, {"axis": 0}, {"bogus": 1},
    *({"dtype": t} for t in (np.float32, np.float64, int, bool, np.int32, complex, None, "f4")),
    *({"dtype": t, "casting": "unsafe"} for t in (np.float32, int, bool, complex)),
    *({"order": x} for x in ("C", "F", "K", "A", "k", "Z")),
    *({"casting": x} for x in ("no", "equiv", "safe", "same_kind", "unsafe", "bogus")),
    {"subok": True}, {"subok": False}, {"subok": "yes"}]


def calls_of(f: Any) -> Iterator[Call]:
    for label, x in VECTORS.items():
        xs = (x, x[::-1].copy())[:f.nin]
        if isinstance(outcome(f, xs)[0], Exception) and label != "float64":
            continue
        for name, target in TARGETS.items():
            if f.nout == 1:
                yield f"{label} to {name}", with_out(f), (*xs, target)
                yield f"{label} to {name}, unsafe", with_out(f, casting="unsafe"), (*xs, target)
                if name in (label, "two rows", "one"):
                    yield f"{label} to {name}, masked", with_mask(f), (*xs, target, MASK)
        forms = (onto_itself, by_place, onto_a_shifted_view, onto_itself_reversed)
        for form in forms if f.nout == 1 else ():
            yield f"{label} {form.__name__}", form(f), xs
        for kwargs in KEYWORDS:
            yield f"{label} {kwargs}", plain_keywords(f, **kwargs), xs
        if f.nin == 2 and f.nout == 1:
            for kwargs in ({}, {"dtype": np.float32}, {"order": "F"}, {"where": MASK}):
                yield f"{label} outer {kwargs}", plain_keywords(f.outer, **kwargs), xs


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_take_their_arguments_as_numpys(name: str) -> None:
    wrong = [f"{label}: {text}" for label, fn, args in calls_of(UFUNCS[name])
             if (text := difference(fn, args, label))]
    assert wrong == []


@pytest.mark.parametrize("name", ["modf", "divmod"])
def test_ufuncs_of_two_results_write_to_a_pair(name: str) -> None:
    f = UFUNCS[name]

    def both(*args: Any) -> Any:
        *xs, p, q = args
        r, s = f(*xs, out=(p, q))
        return r, s, r is p, s is q

    def one(*args: Any) -> Any:
        *xs, p, _ = args
        r, s = f(*xs, out=(p, None))
        return r, s, r is p

    def place(*args: Any) -> Any:
        *xs, p, _ = args
        return f(*xs, p)

    def no_tuple(*args: Any) -> Any:
        *xs, p, _ = args
        return f(*xs, out=p)

    for fn in (both, one, place, no_tuple):
        for x in VECTORS.values():
            xs = (x, x[::-1].copy())[:f.nin]
            assert difference(fn, (*xs, np.zeros(4), np.ones(4))) == ""


def test_where_without_out_is_refused() -> None:
    with pytest.raises(Refusal, match="memory that nobody has written to"):
        tracejit.jit(lambda x: np.add(x, x, where=x > 0.0))(VECTORS["float64"])


# --- folds ---------------------------------------------------------------------------------------

CUBE = np.arange(24.0).reshape(2, 3, 4) * 0.37 - 3.0
CUBES = {"float64": CUBE, "float32": CUBE.astype(np.float32), "int64": (CUBE * 3).astype(int),
         "bool": CUBE > 0.0, "complex": CUBE + 1j * CUBE[::-1],
         "uint8": (CUBE + 9).astype(np.uint8)}
FOLDS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in (
        "sum", "prod", "max", "min", "all", "any", "mean", "var", "std", "argmax", "argmin",
        "cumsum", "cumprod", "ptp", "nansum", "nanmax", "nanmin", "nanmean", "count_nonzero")}
FOLDS |= {f"{name} method": (lambda name: lambda a, *args, **kwargs: getattr(a, name)(
    *args, **kwargs))(name) for name in (
        "sum", "prod", "max", "min", "all", "any", "mean", "var", "argmax", "cumsum")}
FOLDS |= {f"{u.__name__}.reduce": u.reduce for u in (
    np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or)}
FOLDS |= {f"{u.__name__}.accumulate": u.accumulate for u in (np.add, np.multiply)}
SELECT = np.array([True, False, True, True])
FOLD_KEYWORDS: list[dict[str, Any]] = [
    *({"axis": a, "keepdims": k} for a in (None, 0, -1, (0, 2), (0, -1), (), (0, 0), 3, 1.0, True)
      for k in (False, True)),
    *({"axis": a} for a in (None, 0, 1, -2, (0, 2), 3, np.int64(1))),
    *({"axis": 1, "initial": i} for i in (0, 2, True, -7)),
    *({"axis": 1, "where": w, **more} for more in ({}, {"initial": 1}) for w in (
        True, SELECT, SELECT[None, :], SELECT.tolist(), np.bool_(True), SELECT.astype(int))),
    *({"axis": 1, "dtype": t} for t in (np.float32, float, complex, int, None)),
    *({"axis": 1, "ddof": d} for d in (1, 2, 0.5)), {"axis": 1, "bogus": 1}]


def fold_calls(f: Callable[..., Any]) -> Iterator[Call]:
    for label, x in CUBES.items():
        for kwargs in FOLD_KEYWORDS:
            yield f"{label} {kwargs}", plain_keywords(f, **kwargs), (x,)
        for name, target in CUBES.items():
            for shape in ((2, 4), (2, 3, 4)):
                out = np.zeros(shape, target.dtype)
                yield f"{label} to {name}{shape}", with_out(f, axis=1), (x, out)
        for shape in ((4,), (1, 2, 4), (2, 1, 4), (2, 3), (1, 4)):
            yield f"{label} to {shape}", with_out(f, axis=1), (x, np.zeros(shape, x.dtype))
            yield f"{label} kept to {shape}", with_out(f, axis=1, keepdims=True), (
                x, np.zeros(shape, x.dtype))
        yield f"{label} onto a part", lambda a: (f(a, axis=1, out=a[:, 0]), a), (x,)
        yield f"{label} by place", lambda a: f(a, 1, None), (x,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FOLDS)
def test_folds_take_their_arguments_as_numpys(name: str) -> None:
    wrong = [f"{label}: {text}" for label, fn, args in fold_calls(FOLDS[name])
             if (text := difference(fn, args, label))]
    assert wrong == []


# --- gradients -----------------------------------------------------------------------------------

GRADIENTS: dict[str, Callable[[Any], Any]] = {}


def differentiated(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    GRADIENTS[fn.__name__] = fn
    return fn


@differentiated
def masked_out(x: Any) -> Any:
    out = x * 2.0
    np.multiply(x, x, out=out, where=x > 0.6)
    return np.sum(out * x)


@differentiated
def out_is_an_input(x: Any) -> Any:
    y = x + 0.0
    np.exp(y, out=y)
    np.multiply(y, x, y)
    return np.sum(y)


@differentiated
def out_overlaps(x: Any) -> Any:
    y = x * 1.0
    np.multiply(y[:-1], y[1:], out=y[1:])
    return np.sum(y * x)


@differentiated
def fold_to_out(x: Any) -> Any:
    out = np.zeros(2)
    np.sum(x.reshape(2, 2) ** 2, axis=1, out=out, where=np.array([True, False]), initial=0.5)
    return out[0] * out[1]


@differentiated
def pair_of_results(x: Any) -> Any:
    whole, rest = np.zeros(4), np.zeros(4)
    np.modf(x * x, out=(rest, whole))
    return np.sum(rest * x) + np.sum(whole)


@differentiated
def outer_in_place(x: Any) -> Any:
    out = np.empty((4, 4))
    np.multiply.outer(x, x * x, out=out)
    return np.sum(np.cumsum(out, axis=0, out=out)[1:] * x)


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_pass_through_what_is_written(name: str, interpreted: bool) -> None:
    f, x, h = GRADIENTS[name], np.array([0.5, 1.3, 2.1, 0.9]), 1e-6
    with tracejit.config(disable_jit=interpreted):
        value, found = tracejit.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-13)
    steps = np.eye(4) * h
    assert found == pytest.approx(
        np.array([(f(x + d) - f(x - d)) / (2 * h) for d in steps]), rel=1e-6)
