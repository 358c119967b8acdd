"""Arguments that share memory: values are NumPy's on that very memory, or the call is refused."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

Pair = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

PAIRS: dict[str, Pair] = {
    "apart": lambda b: (b[:4], b[8:12]),
    "one object": lambda b: (b, b),
    "one memory": lambda b: (b[:], b[:]),
    "shifted": lambda b: (b[1:], b[:-1]),
    "shifted back": lambda b: (b[:-1], b[1:]),
    "interleaved": lambda b: (b[::2], b[1::2]),
    "interleaved, overlapping": lambda b: (b[::2], b[:8]),
    "halves": lambda b: (b[:8], b[8:]),
    "reversed": lambda b: (b, b[::-1]),
    "an object and its copy": lambda b: (b, b.copy()),
    "column and row": lambda b: (b.reshape(4, 4)[:, 1], b.reshape(4, 4)[1]),
    "two columns": lambda b: (b.reshape(4, 4)[:, 1], b.reshape(4, 4)[:, 2]),
    "transposed": lambda b: (b.reshape(4, 4), b.reshape(4, 4).T),
    "squares": lambda b: (b.reshape(4, 4)[:2, :2], b.reshape(4, 4)[1:3, 1:3]),
    "squares apart": lambda b: (b.reshape(4, 4)[:2, :2], b.reshape(4, 4)[2:, 2:]),
    "rows": lambda b: (b.reshape(4, 4)[:2], b.reshape(4, 4)[2:]),
    "one empty": lambda b: (b[:0], b[:0]),
    "one element": lambda b: (b[3:4], b[3:4]),
    "strided, one": lambda b: (b[::3], b[::3]),
}
"""What is made of 16 numbers that lie one after the other."""


def doubles_first(x: Any, y: Any) -> Any:
    x *= 2.0
    return np.sum(y**2)


def doubles_second(x: Any, y: Any) -> Any:
    y *= 2.0
    return np.sum(x**2 * y)


def writes_elements(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] * 0.5 + y[i]
    return np.sum(x * y)


def writes_to_both(x: Any, y: Any) -> Any:
    x[:1] = 3.0 * y[:1]
    y[-1:] *= x[:1]
    return np.sum(x * y)


def writes_on_data(x: Any, y: Any) -> Any:
    if np.sum(x) > 1.0:
        x *= 0.5
    else:
        x += 1.0
    return np.sum(y**2)


def writes_through_a_view(x: Any, y: Any) -> Any:
    v = x[1:]
    v += 1.0
    return np.sum(x * y)


def reads_only(x: Any, y: Any) -> Any:
    return np.sum(x * y**2)


def writes_to_a_copy(x: Any, y: Any) -> Any:
    x = x.copy()
    x *= 2.0
    return np.sum(x * y**2)


def writes_second_alone(x: Any, y: Any) -> Any:
    y *= 2.0
    return np.sum(y**2)


def writes_first_and_reads_its_length_alone(x: Any, y: Any) -> Any:
    x[:1] = 3.0 * x[-1:]
    return np.sum(x**2) * len(y)


PROGRAMS = (doubles_first, doubles_second, writes_elements, writes_to_both, writes_on_data,
            writes_through_a_view, reads_only, writes_to_a_copy, writes_second_alone,
            writes_first_and_reads_its_length_alone)
PURE = (reads_only, writes_to_a_copy)


def memory() -> np.ndarray:
    """Return the 16 numbers."""
    return np.random.default_rng(3).uniform(0.3, 0.9, 16)


def slope(f: Callable[..., Any], pair: Pair, k: int) -> np.ndarray:
    """Return the derivative by an argument: of the memory that it names, where f writes to one."""
    shape, step = pair(memory())[k].shape, 1e-6
    found = np.zeros(shape)
    for at in np.ndindex(*shape):
        values = []
        for h in (step, -step):
            args = pair(memory())
            if f in PURE:
                args = (args[0].copy(), args[1].copy())
            args[k][at] += h
            values.append(f(*args))
        found[at] = (values[0] - values[1]) / (2 * step)
    return found


def by_jit(f: Any, pair: Pair) -> None:
    ours, theirs = memory(), memory()
    np.testing.assert_allclose(tracejit.jit(f)(*pair(ours)), f(*pair(theirs)))
    np.testing.assert_allclose(ours, theirs)


def by_value_and_grad(f: Any, pair: Pair) -> None:
    for argnums in (0, 1, (0, 1)):
        b = memory()
        compute = tracejit.value_and_grad(f, argnums=argnums)
        for _ in range(2):  # the second call equals the first
            value, grads = compute(*pair(b))
            np.testing.assert_allclose(value, f(*pair(memory())))
            both = grads if isinstance(argnums, tuple) else (grads,)
            for k, g in zip((0, 1) if isinstance(argnums, tuple) else (argnums,), both,
                            strict=True):
                np.testing.assert_allclose(g, slope(f, pair, k), rtol=1e-5, atol=1e-7)
            assert np.array_equal(b, memory())


def by_vjp(f: Any, pair: Pair) -> None:
    b = memory()
    value, pullback = tracejit.vjp(f, *pair(b))
    np.testing.assert_allclose(value, f(*pair(memory())))
    first = pullback(1.0)
    b[:] = 7.0  # what it was called with counts
    for k, g in enumerate(pullback(1.0)):
        np.testing.assert_allclose(g, slope(f, pair, k), rtol=1e-5, atol=1e-7)
        assert np.array_equal(g, first[k])


def tangents_of_first(f: Any, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tangents that move the first argument, and the second if the two are one array."""
    where = [(a.ctypes.data, a.shape, a.strides) for a in (x, y)]
    is_one = where[0] == where[1] and f not in PURE
    return np.ones_like(x), np.ones_like(y) if is_one else np.zeros_like(y)


def by_jvp(f: Any, pair: Pair) -> None:
    b = memory()
    xs = pair(b)
    value, dot = tracejit.jvp(f, xs, tangents_of_first(f, *xs))
    np.testing.assert_allclose(value, f(*pair(memory())))
    np.testing.assert_allclose(dot, np.sum(slope(f, pair, 0)), rtol=1e-5, atol=1e-7)
    assert np.array_equal(b, memory())


def by_jacobians(f: Any, pair: Pair) -> None:
    for transform in (tracejit.jacrev, tracejit.jacfwd):
        b = memory()
        found = transform(f)(*pair(b))
        np.testing.assert_allclose(found, slope(f, pair, 0), rtol=1e-5, atol=1e-7)
        assert np.array_equal(b, memory())


def by_second_derivatives(f: Any, pair: Pair) -> None:
    b = memory()
    x, y = pair(b)
    second = tracejit.hessian(f)(x, y)
    product = tracejit.hvp(lambda x, y: f(x, y), (x, y), tangents_of_first(f, x, y))[0]
    step = 1e-5
    for at in np.ndindex(*x.shape):
        shifted = []
        for h in (step, -step):
            def moved(b: np.ndarray, h: float = h, at: Any = at) -> Any:
                x, y = pair(b)
                if f in PURE:
                    x, y = x.copy(), y.copy()
                x[at] += h
                return x, y
            shifted.append(slope(f, moved, 0))
        rows = (shifted[0] - shifted[1]) / (2 * step)
        np.testing.assert_allclose(second[at], rows, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(product[at], np.sum(rows), rtol=1e-3, atol=1e-3)
    assert np.array_equal(b, memory())


def by_grad_in_jit(f: Any, pair: Pair) -> None:
    b = memory()
    compute = tracejit.value_and_grad(f, argnums=(0, 1))
    value, grads = tracejit.jit(lambda x, y: compute(x, y))(*pair(b))
    np.testing.assert_allclose(value, f(*pair(memory())))
    for k, g in enumerate(grads):
        np.testing.assert_allclose(g, slope(f, pair, k), rtol=1e-5, atol=1e-7)


def by_list(f: Any, pair: Pair) -> None:
    b = memory()
    compute = tracejit.value_and_grad(lambda xs: f(xs[0], xs[1]))
    value, grads = compute(list(pair(b)))
    np.testing.assert_allclose(value, f(*pair(memory())))
    for k, g in enumerate(grads):
        np.testing.assert_allclose(g, slope(f, pair, k), rtol=1e-5, atol=1e-7)


def by_dict(f: Any, pair: Pair) -> None:
    x, y = pair(memory())
    value = tracejit.jit(lambda d: f(d["x"], d["y"][0]))({"x": x, "y": (y,)})
    np.testing.assert_allclose(value, f(*pair(memory())))


def by_captured_array(f: Any, pair: Pair) -> None:
    x, other = pair(memory())
    theirs, their_other = pair(memory())
    np.testing.assert_allclose(tracejit.value_and_grad(lambda x: f(x, other))(x)[0],
                               f(theirs, their_other))


WAYS = (by_jit, by_value_and_grad, by_vjp, by_jvp, by_jacobians, by_second_derivatives,
        by_grad_in_jit, by_list, by_dict, by_captured_array)

def test_read_only_arguments_raise_where_numpy_does() -> None:
    def on_data(x: Any, c: Any) -> Any:
        if c > 0:
            x[0] = 5.0
        return np.sum(x)

    def in_a_loop(x: Any, n: Any) -> Any:
        for i in range(n):
            x[i] = 2.0
        return np.sum(x)

    frozen = memory()
    frozen.flags.writeable = False
    repeated = np.broadcast_to(frozen[:1], (3,))
    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            for transform in (tracejit.jit, tracejit.grad):
                for x in (frozen, repeated):
                    for f, reached, not_reached in ((on_data, 1.0, -1.0), (in_a_loop, 2, 0)):
                        compute = transform(f)
                        for _ in range(2):
                            compute(x, not_reached)
                            with pytest.raises(ValueError, match="destination is read-only"):
                                compute(x, reached)
                        compute(memory(), reached)
                    with pytest.raises(ValueError, match="destination is read-only"):
                        transform(doubles_first)(x, x)


def test_what_overlaps_itself_is_refused_where_it_is_written() -> None:
    def f(x: Any) -> Any:
        x[0] = 5.0
        return np.sum(x)

    b = memory()
    windows = np.lib.stride_tricks.as_strided(b, (3, 4), (8, 8))
    rows = np.lib.stride_tricks.as_strided(b, (3, 4), (32, 8))
    far = np.lib.stride_tricks.as_strided(b, (2, 3), (8, 16))
    for transform in (tracejit.jit, tracejit.grad, tracejit.jacfwd):
        with tracejit.config(disable_jit=True):
            with pytest.raises(tracejit.Refusal, match="several elements at one place"):
                transform(f)(windows)
            transform(f)(rows)
            transform(f)(far)
            assert np.sum(tracejit.grad(lambda x: np.sum(x))(windows)) == 12.0


def test_one_array_as_compiled_and_the_next_call_with_two() -> None:
    compute, step = tracejit.value_and_grad(doubles_first), tracejit.jit(doubles_first)
    b = memory()
    for x, y in ((b, b), (b, memory()), (b[:5], b[5:10]), (b[:], b), (memory(), b)):
        value, slope_ = compute(x, y)
        expected = doubles_first(*([x.copy()] * 2 if x.base is b or x is y else (x.copy(), y)))
        if x.size == 5:
            expected = doubles_first(x.copy(), y)
        np.testing.assert_allclose(value, expected)
        assert np.array_equal(b, memory())
        assert np.any(slope_) == (x.size == 16 and np.shares_memory(x, y))
    theirs, ours = memory(), memory()
    assert step(ours, ours) == doubles_first(theirs, theirs)
    assert np.array_equal(ours, theirs)
    with pytest.raises(tracejit.Refusal, match=r"argument 'x'.*argument 'y'"):
        compute(b[1:], b[:-1])
    assert "share no memory" in compute.trace(b, memory()).why()


def test_the_rows_of_found() -> None:
    b = np.arange(1.0, 5.0)
    with tracejit.config(disable_jit=True):
        assert tracejit.value_and_grad(doubles_first)(b, b)[0] == 120.0
        assert tracejit.value_and_grad(lambda xs: doubles_first(xs[0], xs[1]))([b, b])[0] == 120.0
        with pytest.raises(tracejit.Refusal, match="the array 'b'"):
            tracejit.value_and_grad(lambda x: doubles_first(x, b))(b)
        with pytest.raises(tracejit.Refusal, match="argument 'y'"):
            tracejit.value_and_grad(doubles_first)(b[1:], b[:-1])


RIGHT = {"apart", "interleaved", "halves", "an object and its copy", "two columns", "squares apart",
         "rows", "one empty"}
"""Pairs that share no element: never refused."""

UNITED = {"one object", "one memory", "one element", "strided, one"}
"""Pairs that are one array: these ways are right about them."""

RIGHT_OF_ONE = (by_jit, by_value_and_grad, by_vjp, by_list, by_dict)


def outcome(f: Any, pair: Pair, way: Any) -> str:
    """Return "right" or "refused"; an assertion fails where a number is not NumPy's."""
    try:
        f(*pair(memory()))
    except (ValueError, IndexError):
        return "none"
    try:
        way(f, pair)
    except tracejit.Refusal as e:
        return "refused" if "test_shared_memory.py:" in str(e) else f"refused without a line: {e}"
    return "right"


@pytest.mark.parametrize(("name", "way"), list(itertools.product(PAIRS, WAYS)),
                         ids=lambda x: getattr(x, "__name__", x))
def test_every_pair_in_every_way(name: str, way: Any) -> None:
    with tracejit.config(disable_jit=True):
        for f in PROGRAMS:
            found = outcome(f, PAIRS[name], way)
            assert found in ("right", "refused", "none")
            if f in PURE or name in RIGHT or (name in UNITED and way in RIGHT_OF_ONE):
                if not (way is by_captured_array and f not in PURE):
                    assert found in ("right", "none"), (f.__name__, found)


# --- the line of the write ------------------------------------------------------------------------

REBOUND = {
    "swapped": "z = y * 1.0\nfor _ in range(n):\n    z, x = x, z\n    z[0] += 1.0",
    "swapped, then left": "z = y * 1.0\nfor _ in range(n):\n    z, x = x, z\n    z[0] += 1.0\n"
                          "    if z[0] > a:\n        break",
    "swapped by data": "for _ in range(n):\n    if x[0] > a:\n        x, y = y, x\n"
                       "    x[0] += 1.0",
    "in a while": "while x[0] < a:\n    x[0] += 1.0\n    x, y = y, x",
    "bound anew": "while x[0] < a:\n    x[0] += 1.0\n    x = x + 1.0",
    "bound to another": "z = y * 1.0\nfor _ in range(n):\n    z[0] += 1.0\n    z = x",
    "in two loops": "for _ in range(n):\n    for _ in range(n):\n        x[0] += a\n"
                    "        x = x * 1.0",
    "chosen": "z = x if a > 0.2 else y.copy()\nz[0] = 2.0",
    "of an object": "class O:\n    pass\no = O()\no.v = y\nfor _ in range(n):\n    o.v[0] += 1.0\n"
                    "    o.v = x",
}


@pytest.mark.parametrize("a", [0.5, 5.0])
@pytest.mark.parametrize("transform", [tracejit.jit, tracejit.grad])
@pytest.mark.parametrize("around", ["", "if a > 0.0:\n", "for _ in range(n):\n"])
@pytest.mark.parametrize("name", REBOUND)
def test_an_overlap_names_the_line_of_the_write(name: str, around: str, transform: Any,
                                                a: float) -> None:
    body = textwrap.indent(REBOUND[name], "    " if around else "")
    text = "def f(x, y, a, n):\n" + textwrap.indent(
        f"{around}{body}\nreturn (x * y).sum()\n", "    ")
    file = f"<{name} in {around!r}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    memory = np.array([0.5, 1.5, -0.3, 0.2])
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal) as caught:
        transform(names["f"])(memory[:3], memory[1:], a, 2)
    assert str(caught.value).startswith(f"{file}:")


def test_windows_are_views_of_an_array_or_refused() -> None:
    windows = np.lib.stride_tricks.sliding_window_view

    def read_before(x):
        y = x * 1.0
        sums = windows(y, 3).sum(axis=-1)
        y[2] = 7.0
        return sums, y

    def read_after(x):
        y = x * 1.0
        seen = windows(y, 3)
        y[2] = 7.0
        return seen * 1.0

    def copied(x):
        y = x * 1.0
        seen = windows(y, 3).copy()
        y[2] = 7.0
        seen[0, 0] = 5.0
        return seen, y

    def written(x):
        seen = windows(x * 1.0, 3)
        seen[0, 0] = 5.0
        return seen

    x = np.linspace(0.0, 1.0, 6)
    with tracejit.config(disable_jit=True):
        for f in (read_before, copied):
            for found, expected in zip(tracejit.jit(f)(x), f(x), strict=True):
                np.testing.assert_array_equal(found, expected)
        for f in (read_after, written):
            with pytest.raises(tracejit.Refusal):
                tracejit.jit(f)(x)
        for size, message in ((7, "larger than input"), (-1, "negative values")):
            for g in (windows, tracejit.jit(windows)):
                with pytest.raises(ValueError, match=message):
                    g(x, size)
