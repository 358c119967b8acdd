"""`pure_callback`: compiled code calls Python functions, and checks what they return."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import tracejit
from tracejit import pure_callback, spec
from tracejit.errors import ExportError

X = np.array([3.0, 1.0, 2.0])
FACTOR = 2.0


def ordered(x: np.ndarray) -> np.ndarray:
    return np.sort(x) * FACTOR


def nested(pair: Any, word: str, k: int) -> Any:
    assert word == "word" and type(k) is int and type(pair["a"]) is np.ndarray
    assert type(pair["b"]) is float
    return {"s": float(pair["a"].sum()) * k, "t": (pair["a"][:2] + pair["b"], np.int32(k))}


def of_array(x):
    return np.sum(pure_callback(ordered, x, x) * x)


def of_nests(x):
    given = {"s": spec("float"), "t": (x[:2], spec("i32[]"))}
    found = pure_callback(nested, given, {"a": x, "b": 0.5}, "word", len(x))
    return found["s"] * found["t"][0] + found["t"][1]


def in_a_loop(x):
    total = 0.0
    for k in range(len(x)):
        if x[k] > 1.5:
            total = total + pure_callback(math.gamma, spec("float"), x[k]) * k
    return total


def in_a_while(x):
    y, n = x, 0
    while y[0] > 0.5 and n < 5:
        y = pure_callback(halved, np.empty(len(x)), y)
        n += 1
    return y * n


def halved(x: np.ndarray) -> np.ndarray:
    x *= 0.5  # its own copy
    return x


def of_a_size(x):
    return pure_callback(padded, np.empty((len(x) + 1, 2)), x) @ np.ones(2)


def padded(x: np.ndarray) -> np.ndarray:
    return np.column_stack([np.append(x, 7.0)] * 2)


def of_kinds(x):
    c = pure_callback(conjugated, x * 1j, x * 1j)
    return pure_callback(counted, spec("i64[]"), x > 1.5) + np.imag(c).astype(np.float32)


def conjugated(z: np.ndarray) -> np.ndarray:
    return np.conj(z)


def counted(mask: np.ndarray) -> int:
    return int(mask.sum())


PROGRAMS: list[Callable[..., Any]] = [of_array, of_nests, in_a_loop, in_a_while, of_a_size,
                                      of_kinds]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X[:1], np.array([0.25, 9.0])], ids=["3", "1", "2"])
@pytest.mark.parametrize("mode", [{}, {"verify": True}, {"disable_jit": True}], ids=str)
def test_compiled_code_calls_as_python_does(f: Callable[..., Any], x: np.ndarray,
                                            mode: dict[str, Any]) -> None:
    with tracejit.config(**mode):
        staged = tracejit.jit(f)
        for _ in range(2):
            found, expected = staged(x), f(x)
            assert np.array_equal(found, expected) and np.asarray(found).dtype == np.asarray(
                expected).dtype


def test_a_function_sees_its_own_state_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = tracejit.jit(of_array)
    first = staged(X)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert staged(X) == of_array(X) == 2.5 * first
    monkeypatch.setitem(globals(), "ordered", lambda x: -x)
    assert staged(X) == -X @ X


def test_vmap_calls_once_for_each_element() -> None:
    seen = []

    def noted(x: np.ndarray) -> np.ndarray:
        seen.append(x.copy())
        return x[::-1]

    found = tracejit.vmap(lambda x: pure_callback(noted, x, x))(np.arange(6.0).reshape(3, 2))
    assert np.array_equal(found, np.arange(6.0).reshape(3, 2)[:, ::-1])
    assert np.array_equal(seen, np.arange(6.0).reshape(3, 2))


def single(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32)


def shorter(x: np.ndarray) -> np.ndarray:
    return x[:-1]


def as_list(x: np.ndarray) -> Any:
    return x.tolist()


def masked(x: np.ndarray) -> Any:
    return np.ma.masked_array(x, x > 1)


def whole(x: np.ndarray) -> Any:
    return x.astype(np.int64)


def failing(x: np.ndarray) -> Any:
    raise KeyError("mine")


@pytest.mark.parametrize(("f", "error", "text"), [
    (single, TypeError, "array of float32, and its spec is an array of float64"),
    (shorter, ValueError, r"shape \(2,\), and its spec has shape \(3,\)"),
    (as_list, TypeError, "another nest"), (masked, TypeError, "spec is an array of float64"),
    (whole, TypeError, "array of int64"), (failing, KeyError, "mine")],
    ids=lambda x: getattr(x, "__name__", ""))
def test_a_result_is_never_cast(f: Callable[..., Any], error: type[Exception], text: str) -> None:
    def program(x):
        return pure_callback(f, x, x) * 2.0

    for call in (program, tracejit.jit(program), tracejit.jit(in_loops(f))):
        for _ in range(2):
            with pytest.raises(error, match=text):
                call(X)


def in_loops(f: Callable[..., Any]) -> Callable[..., Any]:
    def program(x):
        total = x * 0.0
        for _ in range(len(x)):
            total = total + pure_callback(f, x, x)
        return total

    return program


@pytest.mark.parametrize(("given", "value"), [
    ("float", np.float32(1.0)), ("float", 1), ("int", 1.0), ("f64[]", 1), ("f32[]", 1.0),
    ("i32[]", 3), ("bool[]", np.int8(1))])
def test_a_number_of_another_kind_is_an_error(given: str, value: Any) -> None:
    def program(x):
        return pure_callback(constant, spec(given), x)

    constant = _Constant(value)
    with pytest.raises(TypeError, match="its spec is"):
        tracejit.jit(program)(1.0)


class _Constant:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, x: float) -> Any:
        return self.value


def test_what_a_program_cannot_know_is_refused() -> None:
    def made_inside(x):
        def inner(y):
            return x * y
        return pure_callback(inner, x, x)

    def bound(x):
        return pure_callback(x.dot, spec("f64[]"), x)

    def of_named_size(x):
        return pure_callback(ordered, spec("f64[n]"), x)

    with pytest.raises(tracejit.Refusal, match=r"which captured code makes.*Define it outside"):
        tracejit.jit(made_inside)(X)
    with pytest.raises((tracejit.Refusal, TypeError)):
        tracejit.jit(bound)(X)
    with pytest.raises(ValueError, match="no number for the size 'n'"):
        tracejit.jit(of_named_size)(X)
    with pytest.raises(TypeError, match="takes a function, not a float"):
        pure_callback(1.0, spec("float"))  # type: ignore[arg-type]


@pytest.mark.parametrize("transform", [
    tracejit.grad, lambda f: lambda x: tracejit.jvp(f, (x,), (x,)),
    lambda f: tracejit.grad(lambda x: tracejit.vmap(f)(np.ones((2, 3)) * x)[0])])
def test_a_derivative_without_a_rule_is_refused(transform: Callable[..., Any]) -> None:
    with pytest.raises(tracejit.Refusal, match=(
            r"test_pure_callback.py:\d+: the derivative of ordered.* is not known. "
            "Give it one by tracejit.custom_gradient")):
        transform(of_array)(X)


def test_custom_gradient_and_stop_gradient_give_derivatives() -> None:
    @tracejit.custom_gradient
    def gamma(x):
        y = pure_callback(math.gamma, spec("float"), x)
        h = 1e-6
        slope = (pure_callback(math.gamma, spec("float"), x + h)
                 - pure_callback(math.gamma, spec("float"), x - h)) / (2.0 * h)
        return y, lambda dy: dy * slope

    found = tracejit.grad(lambda x: gamma(x) * x)(3.0)
    assert abs(found - (math.gamma(3.0) + 3.0 * 2.0 * 0.9227843350984671)) < 1e-6
    held = tracejit.grad(lambda x: np.sum(x * pure_callback(ordered, x, tracejit.stop_gradient(x))))
    assert np.array_equal(held(X), ordered(X))


def test_a_loop_on_the_way_back_keeps_what_was_called() -> None:
    calls = itertools.count()

    def noted(x: float) -> float:
        next(calls)
        return math.sin(x)

    def f(x):
        total = 0.0
        for _ in range(5):
            total = total + x * x * pure_callback(noted, spec("float"), tracejit.stop_gradient(x))
        return total

    assert tracejit.grad(f)(0.5) == pytest.approx(5 * math.sin(0.5))
    assert next(calls) <= 5


def test_threads_call_at_once() -> None:
    staged, found = tracejit.jit(of_array), []

    def work(k: int) -> None:
        for n in range(200):
            x = np.arange(3.0 + k) + n
            found.append(staged(x) == np.sum(np.sort(x) * FACTOR * x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 800 and all(found)


def test_a_program_that_calls_itself_through_python_works() -> None:
    def depth(n: float) -> float:
        return 0.0 if n == 0.0 else staged(n - 1.0) + 1.0

    staged = tracejit.jit(lambda n: pure_callback(depth, spec("float"), n))
    assert staged(5.0) == 5.0


def test_where_there_is_no_python_it_is_refused(tmp_path: Path) -> None:
    staged = tracejit.jit(of_array)
    compiled = staged.trace(X).lower().compile()
    with pytest.raises(ExportError, match=r"calls ordered, a Python function\. Call it outside"):
        compiled.export(tmp_path / "f.o")
    with pytest.raises(ExportError, match="calls ordered, a Python function"):
        staged.trace(X).lower().to_numba(tmp_path / "f.py")
    with pytest.raises(Exception, match="calls ordered, a Python function, which it can from"):
        numba.njit(lambda x: staged(x))(X)


def test_it_runs_in_a_tape() -> None:
    with tracejit.GradientTape() as tape:
        x = tracejit.constant(X)
        tape.watch(x)
        y = np.sum(x * x) + np.sum(pure_callback(ordered, X, X))
    assert np.array_equal(tape.gradient(y, x), 2.0 * X)


STORED = """
import logging, sys
import numpy as np, tracejit
def outer(x, k):
    return np.sort(x) * k
def make(c):
    def inner(x):
        return x * c
    return tracejit.jit(lambda x: tracejit.pure_callback(inner, x, x))
f = tracejit.jit(lambda x: tracejit.pure_callback(outer, x, x, 3))
g = make(5.0)
logging.basicConfig(level=logging.DEBUG, format="%(message)s", stream=sys.stdout)
print(f(np.array([3.0, 1.0])), g(np.array([3.0, 1.0])))
"""


def test_a_later_process_finds_the_function_again(tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path / "store"))
    script = tmp_path / "stored.py"
    script.write_text(STORED)
    first, second = (subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                                    check=True).stdout for _ in range(2))
    assert "[3. 9.] [15.  5.]" in first and "[3. 9.] [15.  5.]" in second
    assert second.count("was found in the store") == 2 and "found in the store" not in first
    script.write_text(STORED.replace("* k", "* k + 1.0"))
    third = subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                           check=True).stdout
    assert "[ 4. 10.] [15.  5.]" in third
