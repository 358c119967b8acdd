"""Valid NumPy works: captured code gives the result that the interpreter of Python gives.

Each case is called as it is and under `jit`; results agree in structure, dtype, shape and elements,
and an error is of the type that NumPy raises. A refusal names the user's line; an error of
tracejit's own is never right.
"""

from __future__ import annotations

import linecache
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracles
import pytest

import tracejit
from tracejit.errors import CompileError, InternalError, IRError, Refusal

A = np.arange(12.0).reshape(3, 4)
B = np.arange(1.0, 5.0)
K = np.array([3, -1, 4, 1])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])
STACK = np.stack([S, 2.0 * S + np.eye(3)])
DEEP = np.stack([STACK, STACK + 0.1 * np.eye(3), 3.0 * STACK])
Z = np.array([1 + 2j, -0.5 + 0.25j, 1 - 1j, 1 + 2j])
MASK = np.array([True, False, True, True])
ROWS = np.array([True, False, True])
LABELS = np.array([2, 0, 2, 1])
PARENTS = [-1, 0, 0, 1]


def leaves(x: Any) -> list[Any]:
    if isinstance(x, (tuple, list)):
        return [y for part in x for y in leaves(part)]
    if isinstance(x, dict):
        return leaves(list(x.values()))
    return [x]


def outcome(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return oracles.outcome(fn, *args)


def difference(found: Any, expected: Any) -> str:
    """Return how an outcome differs from NumPy's, "" where it does not."""
    if isinstance(found, Exception):
        if isinstance(expected, Exception) and isinstance(found, type(expected)):
            return ""
        text = "".join(traceback.format_exception(found))
        return f"raises {text}, where NumPy gives {expected!r}"
    if isinstance(expected, Exception):
        return f"gives {found!r}, where NumPy raises {expected!r}"
    if len(leaves(found)) != len(leaves(expected)):
        return f"{found!r}, not {expected!r}"
    for ours, theirs in zip(leaves(found), leaves(expected), strict=True):
        x, y = np.asarray(ours), np.asarray(theirs)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return f"{x.dtype}{x.shape}, not {y.dtype}{y.shape}"
        if not np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True):
            return f"{x}, not {y}"
    return ""


def check(fn: Callable[..., Any], args: tuple[Any, ...], *, interpreted: bool = True) -> None:
    with tracejit.config(disable_jit=interpreted):
        found = outcome(tracejit.jit(fn), args)
    assert difference(found, outcome(fn, args)) == ""


Case = tuple[Any, ...]
FOUND: dict[str, Case] = {}
"""By name, the programs that found.md has: a function and its arguments."""


def found(*args: Any) -> Callable[[Any], Any]:
    def enter(fn: Any) -> Any:
        FOUND[fn.__name__] = (fn, *args)
        return fn

    return enter


FOUND |= {
    "inv of a stack": (np.linalg.inv, STACK), "det of a stack": (np.linalg.det, STACK),
    "slogdet of a stack": (lambda a: np.linalg.slogdet(a), STACK),
    "cholesky of a stack": (np.linalg.cholesky, STACK),
    "solve of a stack": (np.linalg.solve, STACK, np.ones((2, 3, 2))),
    "solve of a stack, one vector": (np.linalg.solve, STACK, np.arange(3.0)),
    "index by a range": (lambda w: w[range(len(w))], B),
    "index by a tuple": (lambda w: w[(0, 1),], B),
    "fftfreq": (lambda x: x * np.fft.fftfreq(len(x)), B),
    "len of a selection": (lambda x: len(x[x > 2]) * x[0], B),
    "cross": (lambda x, y: np.cross(x, y, axis=None), B[:3], B[1:]),
    "column_stack": (np.column_stack, np.ones(2)),
    "norm of order 0": (lambda v: np.linalg.norm(v, 0) * v[0], B),
    "logabsdet": (lambda a: np.linalg.slogdet(a).logabsdet * np.linalg.slogdet(a).sign, S),
    "uint64 == int64": (lambda x, y: x == y, np.array([1, 2**63, 3], np.uint64),
                        np.array([1, -(2**63), 3])),
    "uint64 >> uint64": (lambda x, y: x >> y, np.array([1, 2**63, 3], np.uint64),
                         np.array([1, 62, 64], np.uint64)),
    "complex expm1": (np.expm1, Z), "complex log1p": (np.log1p, Z), "complex sort": (np.sort, Z),
    "complex max": (np.max, Z), "complex maximum": (np.maximum, Z, Z[::-1].copy()),
    "complex >": (lambda x, y: x > y, Z, Z[::-1].copy()), "complex round": (np.round, Z * 1.7),
    "clip of uint16": (lambda x: np.clip(x, -1, 3), np.array([1, 2, 5], np.uint16)),
    "pow of three": (lambda a, b, c: pow(a, b, c), 7, 5, 11),
    "hypot of three": (lambda a, b, c: math.hypot(a, b, c), 2.0, 3.0, 4.0),
    "hash of an int": (lambda n, x: (hash(n) % 7) * x, 12, 2.0),
    "a global mask": (lambda x: np.where(MASK)[0] * x[0], B),
    "delete in a view": (lambda a, j: np.delete(a[1:], j, axis=1), A, 2),
}


@found(S)
def diagonal_by_ranges(a: Any) -> Any:
    n = len(a)
    a[range(n), range(n)] = 0
    return a


@found(B)
def shape_assigned(x: Any) -> Any:
    y = x * 2.0
    y.shape = (2, 2)
    return y


@found(B)
def flat_assigned(x: Any) -> Any:
    y = np.outer(x, x)
    y.flat = 3.0
    y.flat[5] = x[0]
    return y


@found(B[:1])
def one_element_broadcast(y: Any) -> Any:
    z = np.zeros(4)
    z[:] = y
    return z


@dataclass
class Doubled:
    a: Any

    def __post_init__(self) -> None:
        self.c = self.a * 2.0


@found(Doubled(B))
def post_init(d: Any) -> Any:
    return d.a * d.c


@found(B)
def writes_behind_none(b: Any) -> Any:
    for i in range(3):
        b[None][0][i] = b[i] * 2.0
    return b[None][0] * 1.0


@found(B)
def arange_in_arange(x: Any) -> Any:
    total = 0.0
    for i in np.arange(3):
        total = total + np.sum(np.arange(0, i + 1) * x[i])
    return total


@found(B, PARENTS)
def appends_by_parents(x: Any, parents: Any) -> Any:
    out: list[Any] = []
    for i in range(len(parents)):
        if parents[i] == -1:
            out.append(x[i])
        else:
            out.append(out[parents[i]] * x[i])
    return sum(out)


@found(A)
def delete_in_a_loop(a: Any) -> Any:
    total = 0.0
    for j in range(4):
        total = total + np.sum(np.delete(a[1:], j, axis=1)) * (j + 1)
    return total


@found(np.ones((1,) * 32))
def thirty_two_axes(x: Any) -> Any:
    return np.sum(x * 2.0)


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_numpys(name: str, interpreted: bool) -> None:
    fn, *args = FOUND[name]
    check(fn, tuple(args), interpreted=interpreted)


# --- indices: every way of writing one, read and written ------------------------------------------

INDICES = """
0 | -1 | 5 | -9 | None | ... | (0,) | (0, 1) | (0, 1, 2) | [0, 1] | [[0, 1]] | [0, 9] | [] | ()
(..., 0) | (0, ...) | (None, 0) | (0, None) | (..., None) | (None, ..., None) | (..., ...)
slice(1, 3) | slice(None, None, -1) | slice(3, 0, -2) | slice(-2, None) | slice(0, 100)
slice(2, 1) | slice(None, None, 0) | (slice(None), 0) | (slice(None), None, 0) | ([0, 1], 0)
(0, [0, 1]) | ([0, 1], slice(None)) | (slice(None), [0, 1]) | ([0, 1], [1, 0]) | ([0, 1], None)
(None, [0, 1]) | ([0, 1], None, [1, 0]) | (slice(None), None, [0, 1]) | (..., [0, 1])
([0, 1], ...) | np.array(1) | np.array([1, 0]) | np.array([[1, 0], [0, 0]]) | ROWS | MASK
[True, False, True] | [True, False, True, True] | (ROWS, 0) | (0, MASK) | (slice(None), MASK)
np.ix_([0, 1], [1, 2]) | np.ix_(ROWS, [0]) | range(2) | (range(2),) | (range(2), range(2))
range(1, 0, -1) | np.int64(1) | np.uint8(1) | np.newaxis | (np.newaxis, slice(1, 2)) | 'a' | {}
np.nonzero(ROWS) | np.where(LABELS == 2)[0] | np.flatnonzero(MASK) | LABELS | LABELS[LABELS < 2]
np.s_[1:2] | np.s_[..., ::2] | (slice(None),) * 3 | len(x) - 1 | slice(0, len(x))
slice(len(x), None, -1) | np.arange(2) | np.arange(len(x)) | range(len(x)) | (range(len(x)), 0)
(np.arange(2)[:, None], [0, 1]) | np.unique(LABELS) | np.argsort(LABELS[:2]) | 1.5 | [0.5]
"""
KEYS = [key.strip() for line in INDICES.strip().splitlines() for key in line.split("|")]


def compiled(source: str, *names: str) -> Callable[..., Any]:
    """Return a function of a text, under a file name of its own, so that it has a source."""
    text = f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in source.split("\n"))
    file = f"<valid numpy {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = dict(globals())
    exec(compile(text, file, "exec"), space)
    fn: Callable[..., Any] = space["f"]
    return fn


def check_text(source: str, args: dict[str, Any], *, may_refuse: bool = True) -> None:
    fn = compiled(source, *args)
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(fn), tuple(args.values()))
    if isinstance(found, Refusal) and may_refuse:
        return
    assert not isinstance(found, (CompileError, InternalError, IRError)), found
    assert difference(found, outcome(fn, tuple(args.values()))) == "", source


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("x", [A, B], ids=["matrix", "vector"])
def test_an_index_reads_what_numpy_reads(key: str, x: Any) -> None:
    check_text(f"return x[{key}]", {"x": x})


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("x", [A, B], ids=["matrix", "vector"])
def test_an_index_writes_what_numpy_writes(key: str, x: Any) -> None:
    check_text(f"y = x * 1.0\ny[{key}] = 7.0\nreturn y", {"x": x})


def test_few_indices_are_refused() -> None:
    refused = set()
    for key in KEYS:
        with tracejit.config(disable_jit=True):
            if isinstance(outcome(tracejit.jit(compiled(f"return x[{key}]", "x")), (A,)), Refusal):
                refused.add(key)
    assert refused == set()


# --- forms of calls: every keyword and argument, valid or not -------------------------------------

REDUCTIONS = ("sum", "prod", "mean", "var", "std", "max", "min", "ptp", "argmax", "argmin", "all",
              "any", "count_nonzero", "nansum", "nanmean", "nanmax", "nanmin", "median", "cumsum",
              "cumprod", "sort", "average", "diff", "flip", "squeeze", "roll")
FORMS = ("", "axis=0", "axis=1", "axis=-1", "axis=5", "axis=-7", "axis=None", "axis=(0, 1)",
         "axis=(0, 0)", "axis=1.0", "axis='x'", "keepdims=True",
         "axis=0, keepdims=True", "dtype=np.float32", "dtype=int", "dtype='bad'", "initial=1.0",
         "ddof=1", "ddof=9", "foo=1")
OPERANDS = {"matrix": A, "vector": B, "ints": K, "bools": MASK, "empty": np.zeros((0, 3)),
            "cube": np.arange(24.0).reshape(2, 3, 4)}
SHIFTS = ("1", "(1, 2), (1, 0)", "(1, 2), 0", "1, (0, 1)", "[1, 2], [0, 1]", "1.5", "-9",
          "(1, 2, 3)", "1, 5", "K, 0")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_form_of_a_call_gives_what_numpy_gives(name: str, form: str) -> None:
    for x in OPERANDS.values():
        if name in ("median", "average") and x.size == 0:
            continue  # NaN and a warning; refused, or an error
        arguments = ", ".join(filter(None, ("x", "1" if name == "roll" else "", form)))
        check_text(f"return np.{name}({arguments})", {"x": x})


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_roll_goes_along_the_axes_that_are_named(shift: str) -> None:
    check_text(f"return np.roll(x, {shift})", {"x": A}, may_refuse=False)


# --- constants that decide sizes ------------------------------------------------------------------


def test_a_mask_that_changes_is_looked_at_again() -> None:
    mask = np.array([True, False, True, True])
    f = tracejit.jit(lambda x: x[mask] * 2.0)
    with tracejit.config(disable_jit=True):
        for k in range(4):
            np.testing.assert_array_equal(f(B), B[mask] * 2.0)
            mask[k] = not mask[k]


def test_a_selection_that_data_decides_is_counted() -> None:
    f = tracejit.jit(lambda x: (len(x[x > 2.0]), x[x > 2.0].shape[0], x[x > 2.0].size))
    for x in (B, -B, B * 3.0):
        assert [int(n) for n in f(x)] == [np.sum(x > 2.0)] * 3


@pytest.mark.parametrize("name", ["std", "var", "mean", "sum", "max"])
def test_a_fold_of_a_selection_is_numpys(name: str) -> None:
    check_text(f"return np.{name}(x[x > 1.5])", {"x": B}, may_refuse=False)
    check_text(f"return x[x > 1.5].{name}()", {"x": B}, may_refuse=False)


# --- stacks of matrices ---------------------------------------------------------------------------

STACKS = {"np.linalg.inv(a)": 2, "np.linalg.det(a)": 2, "np.linalg.slogdet(a)[1]": 2,
          "np.linalg.cholesky(a)": 2, "np.linalg.solve(a, a * 0.5 + 1.0)": 2,
          "np.linalg.solve(a, np.ones(3))": 2, "np.linalg.matrix_power(a, 3)": 2,
          "np.linalg.matrix_power(a, -1)": 2, "np.linalg.norm(a, axis=(1, 2))": 3,
          "np.linalg.norm(a, 1, axis=(-2, -1))": 2, "np.linalg.norm(a, -np.inf, axis=(-1, -2))": 2}


@pytest.mark.parametrize("source", STACKS)
@pytest.mark.parametrize("a", [S, STACK, DEEP, STACK[:1]], ids=["matrix", "stack", "deep", "one"])
def test_linear_algebra_of_stacks_is_numpys(source: str, a: Any) -> None:
    check_text(f"return {source}", {"a": a}, may_refuse=False)
    if a.ndim < STACKS[source] or isinstance(outcome(compiled(f"return {source}", "a"), (a,)),
                                             Exception):
        return
    f = compiled(f"return np.sum(np.sin(0.01 * {source}))", "a")
    direction = np.cos(np.arange(a.size)).reshape(a.shape)
    direction = direction + np.swapaxes(direction, -1, -2)
    with tracejit.config(disable_jit=True):
        slope = np.sum(tracejit.grad(f)(a) * direction)
    h = 1e-6
    assert slope == pytest.approx((f(a + h * direction) - f(a - h * direction)) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("args", [(2, 3), (3,), (2, 3, 4)])
@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky"])
def test_what_is_no_square_is_an_error_as_in_numpy(name: str, args: tuple[int, ...]) -> None:
    check_text(f"return np.linalg.{name}(a)", {"a": np.ones(args)}, may_refuse=False)


# --- complex numbers ------------------------------------------------------------------------------

PARTS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan)
GRID = np.array([complex(a, b) for a in PARTS for b in PARTS])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "maximum",
                                  "minimum", "fmax", "fmin"])
def test_complex_numbers_are_ordered_as_by_numpy(name: str) -> None:
    check_text(f"return np.{name}(x[:, None], x)", {"x": GRID}, may_refuse=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", ["np.rint(x)", "np.max(x)", "np.min(x[:20])", "np.argmax(x)",
                                    "np.argmin(x[:20])", "np.max(x.reshape(7, 7), axis=1)",
                                    "np.sort(x[::3])", "np.max(x.reshape(7, 7), (0, 1))"])
def test_complex_numbers_are_folded_as_by_numpy(source: str) -> None:
    check_text(f"return {source}", {"x": GRID}, may_refuse=False)
