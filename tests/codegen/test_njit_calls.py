"""Transformed functions called from `@njit` code: as from Python, to the last bit, or refused."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import textwrap
import traceback
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import njit, prange
from numba.core.runtime import _nrt_python, rtsys

import tracejit

RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 1.0, 7)


def same(found: Any, expected: Any) -> None:
    """Require results that are equal to the last bit, in nests of one structure."""
    if isinstance(expected, tuple):
        assert type(found) is type(expected)
        for f, e in zip(found, expected, strict=True):
            same(f, e)
        return
    assert np.shape(found) == np.shape(expected)
    assert not isinstance(expected, np.ndarray) or found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def forwarding(g: Any, count: int) -> Any:
    """Return `@njit` code that calls a function with its arguments."""
    return {1: njit(lambda x: g(x)), 2: njit(lambda x, y: g(x, y)),
            3: njit(lambda x, y, z: g(x, y, z))}[count]


# --- the functions under test -------------------------------------------------------------------

Pair = namedtuple("Pair", "scale values")


def wave(x: Any) -> Any:
    return math.exp(-x) * np.sin(x) + abs(x)


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def steps(a: Any) -> Any:
    x = a
    for _ in range(5):
        x = 0.5 * (x + a / x)
    return x


def branches(x: Any, n: Any) -> Any:
    total = 0.0
    for k in range(n):
        if x > k:
            total += x * k
        else:
            total -= x ** k
    return total


def dots(x: Any, y: Any) -> Any:
    return np.sum(np.exp(x) * y) + x @ y


def recurrence(x: Any, y: Any) -> Any:
    state = 0.0
    for i in range(len(x)):
        state = math.tanh(state + x[i] * y)
    return state


def of_pair(p: Any, weights: Any) -> Any:
    return p.scale * np.sum(p.values ** 2) * weights[0] + weights[1][0]


def matrix(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b) ** 2)


def checked(x: Any, i: Any) -> Any:
    if x[0] < 0.0:
        raise ValueError(f"{x[0]:.1f} is negative")
    return np.sum(np.cumsum(x)) * x[i]


CALLS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "scalar": (tracejit.grad(wave), (0.7,)),
    "float32": (tracejit.grad(lambda x, s: np.sum(x * x) * s, argnums=(0, 1)),
                (X.astype(np.float32), np.float32(2.0))),
    "complex": (tracejit.grad(lambda z: np.real(1j * z * z)), (1 + 2j,)),
    "while": (tracejit.value_and_grad(newton), (2.0,)),
    "loop of numbers": (tracejit.grad(steps), (2.0,)),
    "sum of numbers": (tracejit.grad(lambda x: np.sum(np.sin(np.arange(50) * x))), (0.3,)),
    "branches": (tracejit.value_and_grad(branches), (2.5, 6)),
    "arrays": (tracejit.value_and_grad(dots, argnums=(0, 1)), (X, X[::-1].copy())),
    "recurrence": (tracejit.grad(recurrence, argnums=(0, 1)), (X, 0.3)),
    "nests": (tracejit.value_and_grad(of_pair, argnums=(0, 1)),
              (Pair(2.0, X), (3.0, (4.0, None)))),
    "lapack": (tracejit.grad(matrix, argnums=(0, 1)), (np.diag(X) + 0.1, np.ones(7))),
    "auxiliary": (tracejit.value_and_grad(lambda x: (np.sum(x * x), (x[0], 3)), has_aux=True),
                  (X,)),
    "jit": (tracejit.jit(lambda x, n: (np.outer(x, x), np.zeros(n), x > 0.5, len(x), None)),
            (X, 3)),
    "hessian": (tracejit.hessian(lambda x: np.sum(x ** 3) * x[0]), (X,)),
    "jacobian": (tracejit.jacobian(lambda x: x[0] * np.sin(x)), (X,)),
    "vmap": (tracejit.vmap(tracejit.grad(wave)), (X,)),
    "bool": (tracejit.grad(lambda x, flag: x * x if flag else x), (3.0, True)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_it_gives_in_python(name: str) -> None:
    g, args = CALLS[name]
    same(forwarding(g, len(args))(*args), g(*args))


def test_results_of_numpy_functions_and_of_njit_functions() -> None:
    of_ufunc, of_njit = tracejit.grad(np.sin), tracejit.grad(njit(wave))

    @njit
    def both(x: Any) -> Any:
        return of_ufunc(x), of_njit(x)

    same(both(0.3), (of_ufunc(0.3), of_njit(0.3)))


# --- arrays -------------------------------------------------------------------------------------


def test_one_compilation_serves_all_sizes() -> None:
    g = tracejit.value_and_grad(dots, argnums=(0, 1))
    call = forwarding(g, 2)
    for n in (0, 1, 2, 3, 1000):
        x, y = RNG.normal(size=(2, n))
        same(call(x, y), g(x, y))
    assert len(call.signatures) == 1
    assert len(g._numba_type_.calls) == 1


def test_arrays_of_any_layout_are_taken() -> None:
    g = tracejit.grad(lambda x: np.sum(np.exp(x) * x[0]))

    @njit
    def layouts(x: Any) -> Any:
        return g(x), g(x.T), g(x[:, ::2]), g(x[::-1]), g(x[:, 1:1])

    a = RNG.normal(size=(4, 5))
    for x in (a, np.asfortranarray(a), RNG.normal(size=(8, 10))[::2, ::-2]):
        found = layouts(x)
        same(found, (g(x), g(x.T), g(x[:, ::2]), g(x[::-1]), g(x[:, 1:1])))
        assert all(f.flags.c_contiguous for f in found)


def test_results_belong_to_the_caller() -> None:
    g = tracejit.grad(lambda x: np.sum(x * x))
    call = forwarding(g, 1)
    first, second = call(X), call(X)
    first[:] = 0.0
    same(second, 2.0 * X)
    same(call(X), 2.0 * X)


def test_large_workspaces() -> None:
    g = tracejit.grad(recurrence)
    x = RNG.normal(size=20_000)
    same(forwarding(g, 2)(x, 0.3), g(x, 0.3))


def test_sizes_that_do_not_fit_are_an_error() -> None:
    call = forwarding(tracejit.grad(dots), 2)
    with pytest.raises(ValueError, match=r"grad\[dots\] was compiled for \(x: f64\[n\], y: f64\[n"):
        call(X, X[:1])


# --- in loops -----------------------------------------------------------------------------------


def test_calls_in_loops_and_prange() -> None:
    rows, root = tracejit.grad(recurrence), tracejit.value_and_grad(newton)

    @njit(parallel=True)
    def spread(x: Any, out: Any) -> Any:
        total = 0.0
        for k in prange(len(x)):
            out[k] = rows(x[k], 0.3)
            value, slope = root(1.0 + x[k, 0] ** 2)
            total += value * slope
        return total

    @njit
    def serial(x: Any, out: Any) -> Any:
        for k in range(len(x)):
            out[k] = rows(x[k], 0.3)

    x = RNG.normal(size=(40, 6))
    one, other = np.empty_like(x), np.empty_like(x)
    total = spread(x, one)
    serial(x, other)
    expected = np.array([rows(row, 0.3) for row in x])
    same(one, expected)
    same(other, expected)
    values = [root(1.0 + row[0] ** 2) for row in x]
    np.testing.assert_allclose(total, sum(v * s for v, s in values), rtol=1e-12)


def test_an_array_that_one_call_makes_and_the_next_takes() -> None:
    g = tracejit.grad(lambda x: np.sum(np.sin(x) * x))

    @njit
    def descent(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x - 0.1 * g(g(x))
        return x

    x = X
    for _ in range(20):
        x = x - 0.1 * g(g(x))
    same(descent(X, 20), x)


def test_calls_that_llvm_may_vectorise_have_the_same_bits() -> None:
    g = tracejit.grad(wave)

    @njit(fastmath=True)
    def each(x: Any) -> Any:
        out = np.empty_like(x)
        for i in range(len(x)):
            out[i] = g(x[i])
        return out

    x = np.linspace(-3.0, 3.0, 1001)
    same(each(x), np.array([g(float(v)) for v in x]))


# --- how it is called ---------------------------------------------------------------------------


def test_names_defaults_and_tuples_of_arguments() -> None:
    def fn(x: Any, y: Any = 3.0, *, z: Any = 1.0) -> Any:
        return x * x * y * z

    g = tracejit.grad(fn)

    @njit
    def calls(x: Any, rest: Any, w: Any = 5.0) -> Any:
        return g(x), g(x, 2.0), g(x, y=4.0), g(x, z=5.0, y=2.0), g(x=x), g(x, *rest), g(x, y=w)

    same(calls(1.5, (7.0,)), (g(1.5), g(1.5, 2.0), g(1.5, y=4.0), g(1.5, z=5.0, y=2.0), g(x=1.5),
                              g(1.5, 7.0), g(1.5, y=5.0)))


def test_as_an_argument_and_in_a_ufunc() -> None:
    g, h = tracejit.grad(wave), tracejit.jit(wave)

    @njit
    def apply(f: Any, x: Any) -> Any:
        return f(x)

    same((apply(g, 0.3), apply(h, 0.3)), (g(0.3), h(0.3)))
    same(numba.vectorize(["float64(float64)"])(lambda x: g(x))(X),
         np.array([g(float(x)) for x in X]))


def test_ints_that_are_written_out_are_known() -> None:
    g = tracejit.grad(lambda x, n: math.factorial(n) * x[0] * x[1])

    @njit
    def twice(x: Any) -> Any:
        return g(x, 2), g(x, 3)

    same(twice(X), (g(X, 2), g(X, 3)))
    with pytest.raises(numba.TypingError, match="an int that is written out in the call is"):
        forwarding(g, 2)(X, 2)


# --- state from outside -------------------------------------------------------------------------

SCALE = 2.0


def test_numbers_from_outside_are_frozen_as_numbas_are() -> None:
    global SCALE
    weights, offset = np.arange(7.0)[::-1], 0.5

    def fn(x: Any) -> Any:
        return SCALE * (weights @ x) ** 2 + offset * x[0]

    g = tracejit.grad(fn)
    first = forwarding(g, 1)
    old = g(X)
    same(first(X), old)
    try:
        SCALE = 3.0
        same(first(X), old)
        same(forwarding(g, 1)(X), g(X))
    finally:
        SCALE = 2.0
    weights[0] = 100.0  # elements of arrays are read
    same(first(X), g(X))
    assert not np.array_equal(g(X), old)


# --- errors -------------------------------------------------------------------------------------


def test_errors_on_data_are_those_of_python() -> None:
    g = tracejit.grad(checked)
    call = forwarding(g, 2)
    same(call(X, 1), g(X, 1))
    for args in ((X, 9), (X, -8), (-X, 1)):
        with pytest.raises((IndexError, ValueError)) as expected:
            g(*args)
        with pytest.raises(expected.type) as found:
            call(*args)
        assert str(found.value) == str(expected.value)
        frame = traceback.extract_tb(found.tb)[-1]
        assert (frame.filename, frame.name) == (__file__, "checked")
        assert frame.lineno == traceback.extract_tb(expected.tb)[-1].lineno
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        forwarding(tracejit.grad(matrix), 2)(np.zeros((2, 2)), np.ones(2))


def test_errors_can_be_caught_in_njit_code() -> None:
    g = tracejit.grad(checked)

    @njit
    def careful(x: Any, i: Any) -> Any:
        try:
            return g(x, i)[0]
        except Exception:
            return -1.0

    assert careful(X, 9) == -1.0
    assert careful(X, 1) == g(X, 1)[0]


def refused(g: Any, *args: Any) -> str:
    """Return the text of Numba's error for a call, having required the caller's line."""
    call = forwarding(g, len(args))
    with pytest.raises(numba.TypingError) as caught:
        call(*args)
    text = str(caught.value)
    assert f"typing of call at {__file__}" in text
    return text


def test_what_cannot_be_captured_is_a_typing_error() -> None:
    def fn(x: Any) -> Any:
        return np.sum(np.packbits(x))

    assert re.search(rf"{__file__}:{fn.__code__.co_firstlineno + 1}: .*packbits",
                     refused(tracejit.grad(fn), X))
    assert "needs a function with a real scalar result" in refused(tracejit.grad(np.sin), X)
    assert "needs floats to differentiate by" in refused(tracejit.grad(wave), 3)


def test_what_njit_code_cannot_pass_or_hold_is_a_typing_error() -> None:
    assert "returns a dict" in refused(tracejit.jit(lambda x: {"x": x}), X)
    assert "returns a list" in refused(tracejit.jit(lambda x: [x]), X)
    numbers = numba.typed.List([1.0])
    assert "Pass arrays, numbers and tuples" in refused(tracejit.grad(wave), numbers)


def test_writes_and_variables_are_typing_errors() -> None:
    v = tracejit.Variable(3.0, name="v")

    def scribble(x: Any) -> None:
        x[0] = 1.0

    def assign(x: Any) -> Any:
        v.assign(x)
        return x

    assert "writes to its arguments" in refused(tracejit.jit(scribble), X)
    assert "reads or assigns v, a variable" in refused(tracejit.grad(lambda x: x * v), 1.0)
    assert "reads or assigns v, a variable" in refused(tracejit.jit(assign), 1.0)


# --- memory -------------------------------------------------------------------------------------


@pytest.fixture
def _counted() -> Iterator[None]:
    njit(lambda: np.empty(1))()  # Numba's runtime begins
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.mark.usefixtures("_counted")
def test_nothing_is_left_over() -> None:
    g = tracejit.value_and_grad(dots, argnums=(0, 1))
    root, h = tracejit.grad(newton), tracejit.hessian(lambda x: np.sum(x ** 3) * x[0])

    @njit
    def run(x: Any, y: Any, n: int) -> Any:
        total, errors = 0.0, 0
        for _ in range(n):
            value, (a, b) = g(x, y)
            total += value + a[0] + b[0] + root(2.0) + g(x[::2], y[::2])[0] + h(x[:3])[0, 0]
            try:
                g(x, y[:5])
            except Exception:
                errors += 1
        return total, errors

    x, y = RNG.normal(size=(2, 2000))
    run(x, y, 10)
    before, pages = rtsys.get_allocation_stats(), _resident_pages()
    assert run(x, y, 10_000)[1] == 10_000
    after = rtsys.get_allocation_stats()
    assert after.mi_alloc - before.mi_alloc >= 50_000
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
    assert after.alloc - before.alloc == after.free - before.free
    assert _resident_pages() - pages < 2000  # Logs, workspaces and copies, too


def _resident_pages() -> int:
    path = Path("/proc/self/statm")
    return int(path.read_text().split()[1]) if path.exists() else 0


# --- caching ------------------------------------------------------------------------------------

CALLER = """
import numba, numpy as np
from model import g, h

@numba.njit(cache=True)
def one(x): return g(x)

@numba.njit
def between(x): return h(x)

@numba.njit(cache=True)
def two(x): return between(x)

@numba.njit(cache=True, parallel=True)
def three(x):
    out = np.empty_like(x)
    for k in numba.prange(len(x)):
        out[k] = g(x[k])
    return out

print(one(2.0), two(np.array([2.0]))[0], three(np.array([2.0]))[0])
"""
MODEL = """
import numpy as np, tracejit
g = tracejit.grad(lambda x: {0})
h = tracejit.grad(lambda x: np.sum({0}))
"""


def test_a_callers_own_cache_is_never_stale(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER)
    root = str(Path(__file__).parents[2])

    def run(body: str) -> tuple[str, str]:
        (tmp_path / "model.py").write_text(textwrap.dedent(MODEL.format(body)))
        done = subprocess.run(
            [sys.executable, "caller.py"], capture_output=True, text=True, check=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"})
        return done.stdout.strip(), done.stderr

    for body, expected in (("x * x", "4.0 4.0 4.0"), ("x * x * x", "12.0 12.0 12.0")):
        printed, warnings = run(body)
        assert printed == expected
        for name in ("one", "two", "three"):
            assert f'NumbaWarning: Cannot cache compiled function "{name}"' in warnings
