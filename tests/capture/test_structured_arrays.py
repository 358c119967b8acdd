"""Structured arrays: fields, rows and records are NumPy's, and a gradient has the array's dtype."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.structured_dtypes import dtype_of_text, text_of_dtype

PLAIN = np.dtype([("x", float), ("n", int), ("v", float, (3,))])
DTYPES = {
    "plain": PLAIN,
    "packed": np.dtype([("flag", np.int8), ("x", float), ("n", np.int32), ("v", float, (2,))]),
    "aligned": np.dtype([("flag", np.int8), ("x", float), ("n", np.int16), ("v", float, (2,))],
                        align=True),
    "nested": np.dtype([("p", [("x", float), ("q", np.int8)]), ("x", float), ("n", int),
                        ("v", float, (2,)), ("cells", [("w", float)], (2,))]),
    "swapped": np.dtype([("x", ">f8"), ("n", ">i4"), ("v", ">f8", (2,))]),
    "record": np.dtype((np.record, PLAIN)),
    "with gaps": np.dtype({"names": ["v", "x", "n"], "formats": [(float, (2,)), float, np.uint8],
                           "offsets": [3, 24, 40], "itemsize": 64}),
}
GLOBAL = np.ones(4, PLAIN)
RECORD = GLOBAL[1]
CHANGED = GLOBAL


def example(name: str, count: int = 4) -> Any:
    rng = np.random.default_rng(3)
    a = np.zeros(count, DTYPES[name])
    a["x"], a["n"] = rng.uniform(0.5, 2.0, count), np.arange(count)
    a["v"] = rng.normal(size=a["v"].shape)
    return a.view(np.recarray) if name == "record" else a


def text(x: Any) -> str:
    """Return all that records hold, but for what lies between fields."""
    return repr(x.tolist())


READS: dict[str, Callable[[Any], Any]] = {}
WRITES: dict[str, Callable[[Any], Any]] = {}


def reads(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    READS[fn.__name__] = fn
    return fn


def writes(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    WRITES[fn.__name__] = fn
    return fn


@reads
def fields(a: Any) -> Any:
    return np.sum(a["x"] ** 2 * a["n"]) + np.sum(a["v"] ** 2)


@reads
def rows(a: Any) -> Any:
    s = 0.0
    for row in a:
        if row["n"] > 1:
            s += row["x"] ** 2 + row["v"][0]
    for k, (row, other) in enumerate(zip(a, a[::-1], strict=True)):
        s += k * row["x"] * other["x"]
    for i in range(len(a)):
        s += a[i]["x"] * a[-1]["x"] * a["x"][i - 1]
    return s


@reads
def parts(a: Any) -> Any:
    some = a[["x", "n"]]
    return (np.sum(a[1:]["x"] * a["x"][:-1]) + np.sum(a[::-2]["v"] ** 3) + a[..., 0]["x"]
            + np.sum(a[[0, 2, 2]]["x"] * np.arange(3.0)) + np.sum(some["x"] * some["n"])
            + len(some.dtype.names) * a[np.argmax(a["x"])]["x"] + a[None][0, 1]["x"]
            + np.sum(a[a["n"] > 1]["x"]) + np.sum(a[..., 1]["v"] ** 2))


@reads
def kinds(a: Any) -> Any:
    x, n = a[1][["x", "n"]]
    if isinstance(a, np.ndarray) and isinstance(a[0], np.void) and not isinstance(a["x"], np.void):
        x = x * a.shape[0] * a.ndim * a.size * a.itemsize * len(a[0])
    return x + n


@reads
def copies(a: Any) -> Any:
    b, c, d = a.copy(), np.zeros_like(a), np.zeros((2, len(a)), PLAIN)
    b["x"] *= 2.0
    c["x"][1:] = b["x"][:-1]
    d["x"][1] = a["x"]
    d[0, 0] = (a["x"][0], 1, (1.0, 2.0, 3.0))
    e = np.array([(a["x"][0], 2, (1.0, 2.0, a["x"][1])), (1.0, 3, (0.0, 0.0, 1.0))], dtype=PLAIN)
    return np.sum(b["x"] * c["x"]) + np.sum(d["x"] * d["v"][..., 1]) + e[0]["x"] * e["v"][0, 2]


@reads
def outside(a: Any) -> Any:
    return np.sum(GLOBAL["x"] * GLOBAL["n"]) * a["x"][0] + RECORD["x"] * GLOBAL[2]["v"][1]


@reads
def chosen(a: Any) -> Any:
    best = a[0]
    for row in a:
        if row["x"] > best["x"]:
            best = row
    b = a if best["x"] > 1.0 else a[::-1]
    return b["x"][0] * best["x"] ** 2


@writes
def whole_fields(a: Any) -> None:
    a["x"] = a["x"] * 2.0
    a["x"][1] += 3.0
    a["n"] *= 2
    a["v"][..., 0] = a["x"]
    a["x"][a["n"] > 1] = 0.0
    np.add(a["x"], 1.0, out=a["x"])


@writes
def views(a: Any) -> None:
    x, row, rest = a["x"], a[1], a[::-1]
    x[0] = 5.0
    row["x"] = x[0] + 1.0
    rest["x"][0] = row["x"]
    rest[1]["n"] = 7
    a["x"][0] = 2.0 * a[0]["x"] + x[1]


@writes
def whole_rows(a: Any) -> None:
    a[0] = a[1]
    a[1:3] = a[0:2]
    a[0], a[3] = a[3], a[0]  # two views of one array: both are the last one afterwards
    for i in range(1, len(a)):
        a[i]["x"] += a[i - 1]["x"]
    for row in a:
        row["n"] = row["n"] + 1


@writes
def names(a: Any) -> None:
    a[["x", "n"]] = a[["n", "x"]]
    a[a["n"] > 1] = a[0]
    a[-1] = 1


def test_fields_and_rows_are_numpys_and_gradients_are_differences() -> None:
    with tracejit.config(disable_jit=True):
        for name, fn in itertools.product(DTYPES, READS.values()):
            if (name, fn) == ("swapped", copies):  # a new array has the machine's byte order
                continue
            a = example(name)
            value, grad = tracejit.value_and_grad(fn)(a)
            np.testing.assert_allclose(value, fn(a), rtol=1e-14, err_msg=f"{name} {fn.__name__}")
            assert grad.dtype == a.dtype and type(grad) is type(a) and not grad["n"].any()
            for field in ("x", "v"):
                place = np.unravel_index(int(np.argmax(np.abs(grad[field]))), grad[field].shape)
                for at in (place, tuple(0 for _ in place)):
                    up, down = a.copy(), a.copy()
                    up[field][at] += 1e-6
                    down[field][at] -= 1e-6
                    slope = (fn(up) - fn(down)) / 2e-6
                    np.testing.assert_allclose(grad[field][at], slope, rtol=1e-6, atol=1e-6,
                                               err_msg=f"{name} {fn.__name__} {field}{at}")


def test_writes_go_to_the_callers_records() -> None:
    with tracejit.config(disable_jit=True):
        for name, fn in itertools.product(DTYPES, WRITES.values()):
            for part in (slice(None), slice(None, None, -2)):
                ours, theirs = example(name, 8), example(name, 8)
                tracejit.jit(fn)(ours[part])
                fn(theirs[part])
                assert text(ours) == text(theirs), (name, fn.__name__)


def test_compiled_programs_are_the_interpreted_ones() -> None:
    ours, theirs = example("packed"), example("packed")
    step = tracejit.jit(views)
    step(ours)
    views(theirs)
    assert text(ours) == text(theirs)
    for name in ("record", "nested"):
        a = example(name)
        with tracejit.config(disable_jit=True):
            expected = tracejit.grad(rows)(a)
        np.testing.assert_allclose(tracejit.grad(rows)(a)["x"], expected["x"], rtol=1e-14)


def of_row(row: Any) -> Any:
    return row["x"] ** 2 * row["n"] + np.sum(row["v"] ** 2)


def two(a: Any, b: Any) -> Any:
    a["x"] *= 2.0
    return np.sum(a["x"] * b["x"])


def moved(a: Any) -> Any:
    a["x"] += 1.0
    return a


def squares(a: Any) -> Any:
    made = np.zeros(len(a), PLAIN)
    made["x"] = a["x"] ** 2
    return made


def squares_of_fields(a: Any) -> Any:
    return np.sum(a["x"] ** 2 * a["n"]) + np.sum(a["v"] ** 3)


def test_transforms_of_structured_arrays() -> None:
    a = example("plain")
    with tracejit.config(disable_jit=True):
        by_row = tracejit.vmap(tracejit.grad(of_row))(a)
        assert by_row.dtype == PLAIN and text(by_row) == text(np.array(
            [tracejit.grad(of_row)(row) for row in a]))
        assert isinstance(tracejit.grad(of_row)(a[1]), np.void)
        for jacobian in (tracejit.jacrev, tracejit.jacfwd):
            rows_of_jacobian = jacobian(lambda a: a["x"] * a["v"][:, 1])(a)
            assert text(np.diagonal(rows_of_jacobian["x"])) == text(a["v"][:, 1])
            assert text(np.diagonal(rows_of_jacobian["v"][..., 1])) == text(a["x"])
        value, pullback = tracejit.vjp(squares, a)
        (back,) = pullback(np.ones(len(a), PLAIN))
        assert text(back["x"]) == text(2 * a["x"]) and text(value) == text(squares(a))
        _, along = tracejit.jvp(squares, (a,), (value,))
        assert text(along["x"]) == text(2 * a["x"] ** 3)
        twice = tracejit.grad(two)(a, a)["x"]  # one memory: both names see the write
        assert text(twice) == text(8 * a["x"]) and text(tracejit.grad(two)(a, a.copy())["x"]) == (
            text(2 * a["x"]))
        tracejit.check_grads(squares_of_fields, (a,), order=2)
        zero_d = a[:1].reshape(())
        assert tracejit.grad(of_row)(zero_d).shape == ()
        nest = tracejit.grad(lambda p: np.sum(p["a"]["x"]) * p["k"])({"a": a, "k": 2.0})
        assert nest["a"]["x"].tolist() == [2.0] * 4 and nest["k"] == np.sum(a["x"])


def test_an_argument_that_is_returned_has_its_memory() -> None:
    for name in ("plain", "record"):
        a = example(name)
        with tracejit.config(disable_jit=True):
            result = tracejit.jit(moved)(a)
        assert type(result) is type(a) and np.shares_memory(result, a) and text(result) == text(a)


def test_state_outside_is_read_at_every_call() -> None:
    call = tracejit.jit(outside)
    a = example("plain")
    before = GLOBAL["x"].copy()
    for new in (2.0, 3.0):
        GLOBAL["x"] = new
        assert call(a) == outside(a)
    GLOBAL["x"] = before


def test_state_of_another_dtype_is_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    for names in (["x", "n", "v"], ["n", "x", "v"]):
        monkeypatch.setitem(globals(), "CHANGED", GLOBAL[names])
        assert first_name(1.0) == names[0]


@tracejit.jit
def first_name(a: Any) -> Any:
    return CHANGED.dtype.names[0]


def test_fields_have_one_size() -> None:
    graph = str(tracejit.jit(fields).trace(example("plain")).graph)
    assert graph.startswith("graph fields(%a__x: f64[n], %a__n: i64[n], %a__v: f64[n, 3]) -> f64")


def test_dtypes_and_texts_are_one_to_one() -> None:
    for dtype in DTYPES.values():
        written = text_of_dtype(dtype)
        assert written is not None
        made = dtype_of_text(written)
        assert made == dtype and made.type is dtype.type and made.alignment == dtype.alignment
        assert made.isalignedstruct == dtype.isalignedstruct
    one_place = np.dtype({"names": ["x", "y"], "formats": [float, float], "offsets": [0, 4]})
    assert text_of_dtype(one_place) is None and text_of_dtype(np.dtype([("s", "U3")])) is None


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sum": (lambda a: np.sum(a), "numpy.sum of a structured array cannot be captured. Use its"),
    "sort": (lambda a: np.sort(a, order="x"), "numpy.sort of a structured array"),
    "join": (lambda a: np.concatenate([a, a]), "a structured array or record cannot be an operand"),
    "operator": (lambda a: a + 1, "an operation on a structured array or record as a whole"),
    "comparison": (lambda a: a == a, "an operation on a structured array or record as a whole"),
    "method": (lambda a: a.tolist(), "the attribute 'tolist' of a structured array"),
    "view": (lambda a: a.view(float), "a view of a structured array as something else"),
    "truth as index": (lambda a: a[True], "a structured array indexed by a bool"),
    "made": (lambda a: np.array(a[0], dtype=a.dtype), "a structured array made so"),
    "texts": (lambda a: np.zeros(3, [("s", "U3")]), "an array of dtype [('s', '<U3')]"),
    "hessian": (lambda a: tracejit.hessian(lambda b: np.sum(b["x"] ** 2))(a),
                "the derivative of a structured array by a structured array"),
}


def test_refusals_say_what_to_write_instead() -> None:
    for name, (fn, message) in REFUSED.items():
        with pytest.raises(tracejit.Refusal) as caught:
            tracejit.jit(fn)(example("plain"))
        line = f"{__file__}:{fn.__code__.co_firstlineno}"
        assert message in str(caught.value), name
        assert name == "hessian" or line in str(caught.value), name
    named = np.zeros(3, [("s", "U3"), ("x", float)])
    with tracejit.config(disable_jit=True):
        assert tracejit.grad(lambda a: np.sum(a["x"] ** 2))(named).dtype == named.dtype
        with pytest.raises(tracejit.Refusal, match="the field 's' of a structured array is of"):
            tracejit.jit(lambda a: a["s"])(named)
        with pytest.raises(tracejit.Refusal, match="writing to a record that is an argument"):
            tracejit.jit(moved)(named[0])
        for fn, error in ((lambda a: a["y"], ValueError), (lambda a: a[0, 0], IndexError),
                          (lambda a: a.x, AttributeError), (lambda a: a[0][9], IndexError)):
            with pytest.raises(error) as ours:
                tracejit.jit(fn)(example("plain"))
            with pytest.raises(error) as theirs:
                fn(example("plain"))
            assert str(ours.value).splitlines()[0] == str(theirs.value)
