"""`vmap`, Jacobians, Hessians and the structured primitives, against NumPy and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.tree import flatten

RNG = np.random.default_rng(7)
X, W, B = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=4)
POINT = np.array([0.3, 0.7, 1.1, -0.2])


@pytest.fixture(params=[True, False], ids=["interpreter", "kernel"], autouse=True)
def _mode(request: pytest.FixtureRequest) -> Any:
    with tracejit.config(disable_jit=request.param, verify=True):
        yield


def differences(f: Callable[..., Any], x: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Return the Jacobian of f by central differences, of shape f(x).shape + x.shape."""
    columns = []
    for index in np.ndindex(*x.shape):
        d = np.zeros_like(x)
        d[index] = h
        columns.append((np.asarray(f(x + d)) - np.asarray(f(x - d))) / (2 * h))
    return np.stack(columns, axis=-1).reshape(np.shape(columns[0]) + x.shape)


# --- vmap ---------------------------------------------------------------------------------------


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


def scores(row: Any) -> Any:
    total = 0.0
    for k in range(len(row)):
        if row[k] > 0.1:
            total += row[k] ** 2
        else:
            total -= np.cos(row[k])
    return total, row * 2.0


def clipped(x: Any) -> Any:
    x[x < 0.0] = 0.0
    x[0] = 1.0
    return x


def layer(x: Any, w: Any, b: Any) -> Any:
    return np.tanh(x @ w + b)


@pytest.mark.parametrize(("mapped", "args", "expected"), [
    (lambda: tracejit.vmap(layer, in_axes=(0, None, None)), (X, W, B), np.tanh(X @ W + B)),
    (lambda: tracejit.vmap(layer, in_axes=(1, None, None), out_axes=1), (X.T.copy(), W, B),
     np.tanh(X @ W + B).T),
    (lambda: tracejit.vmap(layer, in_axes=(None, -1, 0), out_axes=-1), (X, W, B),
     np.tanh(X @ W + B)),
    (lambda: tracejit.vmap(newton), (np.array([2.0, 3.0, 0.5]),), np.sqrt([2.0, 3.0, 0.5])),
    (lambda: tracejit.vmap(tracejit.grad(newton)), (np.array([2.0, 3.0]),),
     0.5 / np.sqrt([2.0, 3.0])),
    (lambda: tracejit.vmap(scores), (X,), tuple(map(np.stack, zip(*map(scores, X), strict=True)))),
    (lambda: tracejit.vmap(clipped), (X,), np.stack([clipped(x.copy()) for x in X])),
    (lambda: tracejit.vmap(tracejit.vmap(lambda x, y: np.sum((x - y) ** 2), in_axes=(None, 0)),
                           in_axes=(0, None)), (X, X), ((X[:, None] - X) ** 2).sum(-1)),
    (lambda: tracejit.vmap(lambda p, x: p["w"] * x + p["c"], in_axes=({"w": 0, "c": None}, 0)),
     ({"w": X, "c": 2.0}, X), X * X + 2.0),
    (lambda: tracejit.vmap(lambda x: (x, W[0, 0]), out_axes=(0, None)), (X,), (X, W[0, 0])),
    (lambda: tracejit.vmap(lambda x: x * 2.0), (np.zeros((0, 3)),), np.zeros((0, 3))),
], ids=["shared", "columns", "last axis", "while", "gradient", "branches", "writes", "nested",
        "nests", "no axis", "empty"])
def test_vmap_is_a_loop_over_elements(mapped: Any, args: Any, expected: Any) -> None:
    copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    result = mapped()(*args)
    for a, e in zip(flatten(result)[0], flatten(expected)[0], strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-12)
    for a, c in zip(args, copies, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, c)


def root_sum(x: Any) -> Any:
    return np.sum(tracejit.vmap(newton)(x + 1.0) * x)


def row_sums(x: Any) -> Any:
    total, doubled = tracejit.vmap(scores)(np.outer(x, x))
    return np.sum(total * x) + np.sum(doubled ** 2)


def kernel_matrix(x: Any) -> Any:
    inner = tracejit.vmap(lambda a, b: np.exp(-(a - b) ** 2), in_axes=(None, 0))
    return np.sum(tracejit.vmap(inner, in_axes=(0, None))(x, x) * np.outer(x, x))


def shared_parameter(x: Any) -> Any:
    def body(row: Any) -> Any:
        s = row
        for k in range(3):
            s = np.sin(s) * x[0] + x[k]
        return s

    return np.sum(tracejit.vmap(body)(x))


def scanned(x: Any) -> Any:
    carry, ys = tracejit.scan(lambda s, v: (np.sin(s) + v, s * v), 0.0, x)
    return carry * np.sum(ys ** 2)


def scanned_back(x: Any) -> Any:
    carry, ys = tracejit.scan(lambda s, v: (s + v[0] * v[1], {"s": s, "v": v[0]}), 1, (x, x ** 2),
                              reverse=True)
    return carry + np.sum(ys["s"] * x) + ys["v"][0]


def counted(x: Any) -> Any:
    carry, nothing = tracejit.scan(lambda s, _: (s * 1.1 + x[0], None), x[1], length=5)
    assert nothing is None
    return carry * tracejit.fori_loop(0, len(x), lambda i, v: np.sin(v) + x[i], 1.0)


def chosen(x: Any) -> Any:
    a, b = tracejit.while_loop(lambda v: v[0] < 9.0,
                               lambda v: (v[0] * 1.5 + x[0], v[1] * np.sin(v[0])), (x[1], 1))
    return tracejit.cond(x[0] > 0.2, lambda y: y * y, lambda y: 3.0 * y, a) + b


def rows(x: Any) -> Any:
    def powers(v: Any) -> Any:
        return v ** 2 * x[1], v[0] * v[1]

    squares, products = tracejit.map(powers, np.outer(x, x))
    return np.sum(squares) + np.sum(products * x)


PROGRAMS = [root_sum, row_sums, kernel_matrix, shared_parameter, scanned, scanned_back, counted,
            chosen, rows]
STRUCTURED = [scanned, scanned_back, counted, chosen, rows]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_through_mapped_and_structured_programs(f: Any) -> None:
    """Reverse, forward and second order agree with differences of the plain function."""
    value, gradient = tracejit.value_and_grad(f)(POINT)
    if f in STRUCTURED:  # which run in Python as they are
        np.testing.assert_allclose(value, f(POINT), rtol=1e-12)
    slope = differences(tracejit.jit(f), POINT)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)
    direction = np.array([0.4, -1.0, 0.2, 0.7])
    _, tangent = tracejit.jvp(f, (POINT,), (direction,))
    np.testing.assert_allclose(tangent, slope @ direction, rtol=1e-6, atol=1e-8)
    curvature = differences(tracejit.grad(f), POINT) @ direction
    np.testing.assert_allclose(tracejit.hvp(f, (POINT,), (direction,)), curvature, rtol=1e-5,
                               atol=1e-6)


# --- Jacobians ----------------------------------------------------------------------------------


def curve(x: Any) -> Any:
    y = np.zeros((2, 3))
    for i in range(3):
        y[0, i] = x[i] * x[i + 1]
        y[1, i] = np.sin(x[i]) if x[i] > 0.5 else x[i] ** 2
    return y


def until(x: Any) -> Any:
    s = x * 1.0
    while np.sum(s) < 20.0:
        s = s * 1.3 + x[::-1] ** 2
    return s


@pytest.mark.parametrize("f", [curve, until, np.cumsum, lambda x: x[0] * x[1],
                               lambda x: np.outer(x, np.exp(x))[1:]],
                         ids=["loop", "while", "cumsum", "scalar", "outer"])
def test_jacobians_by_both_modes(f: Any) -> None:
    expected = differences(f, POINT)
    np.testing.assert_allclose(tracejit.jacrev(f)(POINT), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(tracejit.jacfwd(f)(POINT), expected, rtol=1e-6, atol=1e-7)
    matrix = np.outer(POINT, POINT[:2])

    def of_matrix(a: Any) -> Any:
        return f(a[:, 0] + a[:, 1] ** 2)

    expected = differences(of_matrix, matrix)
    np.testing.assert_allclose(tracejit.jacobian(of_matrix)(matrix), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [lambda x: np.sum(curve(x) ** 3), lambda x: np.prod(until(x) * 0.1)],
                         ids=["loop", "while"])
def test_hessians(f: Any) -> None:
    expected = differences(tracejit.grad(f), POINT, 1e-5)
    hessian = tracejit.hessian(f)(POINT)
    np.testing.assert_allclose(hessian, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tracejit.jacrev(tracejit.jacfwd(f))(POINT), hessian, rtol=1e-9)
    np.testing.assert_allclose(tracejit.hvp(f, (POINT,), (POINT,)), hessian @ POINT, rtol=1e-9)


def test_jacobians_of_nests() -> None:
    def f(p: Any, x: Any) -> Any:
        return {"a": p["w"] * x, "b": np.sum(p["w"]) * p["c"]}

    p, x = {"w": POINT, "c": 2.0}, POINT[::-1].copy()
    for transform in (tracejit.jacrev, tracejit.jacfwd):
        (by_p, by_x) = transform(f, argnums=(0, "x"))(p, x=x)["a"]
        np.testing.assert_allclose(by_p["w"], np.diag(x))
        np.testing.assert_allclose(by_p["c"], np.zeros(4))
        np.testing.assert_allclose(by_x, np.diag(POINT))
        by_p, by_x = transform(f, argnums=(0, 1))(p, x)["b"]
        np.testing.assert_allclose(by_p["w"], np.full(4, 2.0))
        np.testing.assert_allclose(by_p["c"], np.sum(POINT))
        np.testing.assert_allclose(by_x, np.zeros(4))
        jacobian, aux = transform(lambda x: (x ** 2, "aux"), has_aux=True)(x)
        np.testing.assert_allclose(jacobian, np.diag(2 * x))
        assert aux == "aux"
    second = tracejit.hessian(lambda x, y: x * x * y, argnums=(0, 1))(2.0, 3.0)
    assert second == ((6.0, 4.0), (4.0, 0.0))
    assert tracejit.hvp(lambda x, y: x * x * y, (2.0, 3.0), (1.0, 0.0)) == (6.0, 4.0)


def test_structured_primitives_without_a_capture() -> None:
    """They run in Python, and have the same results as compiled."""
    for f in STRUCTURED:
        np.testing.assert_allclose(tracejit.jit(f)(POINT), f(POINT), rtol=1e-12)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: tracejit.vmap(lambda x: x)(1.0), ValueError, "argument 0, which is no array"),
    (lambda: tracejit.vmap(lambda x, y: x)(X, B), ValueError,
     "axes of different sizes: argument 0 has 5, argument 1 has 4"),
    (lambda: tracejit.vmap(lambda x: x, in_axes=2)(X), ValueError, "which has 2 axes"),
    (lambda: tracejit.vmap(lambda x: x, in_axes=None)(X), ValueError, "every axis is None"),
    (lambda: tracejit.vmap(lambda x: x, in_axes=(0, 0))(X), ValueError, "does not fit"),
    (lambda: tracejit.vmap(lambda x: x, out_axes=None)(X), ValueError, "differs from element"),
    (lambda: tracejit.vmap(lambda x: x, out_axes=3)(X), ValueError, "2 axes"),
    (lambda: tracejit.vmap(3), TypeError, "takes a function"),
    (lambda: tracejit.jacrev(lambda x: x)(np.arange(3)), TypeError, "argument 'x' is of dtype"),
    (lambda: tracejit.jacfwd(lambda x: x)(1j), TypeError, "real floats"),
    (lambda: tracejit.jacfwd(lambda x: np.argmax(x))(POINT), TypeError, "has_aux=True"),
    (lambda: tracejit.jacrev(lambda x: "no")(POINT), TypeError, "has_aux=True"),
    (lambda: tracejit.hessian(lambda x: x)(POINT), TypeError, "scalar result"),
    (lambda: tracejit.hvp(lambda x: x[0], POINT, POINT), TypeError, "as two tuples"),
    (lambda: tracejit.hvp(lambda x: x[0])(POINT, POINT), TypeError, "hvp takes .* as two tuples"),
    (lambda: tracejit.jvp(lambda x: x[0])(POINT, POINT), TypeError, "jvp takes .* as two tuples"),
    (lambda: tracejit.jit(lambda x: tracejit.scan(lambda c, v: c, 0.0, x))(POINT), TypeError,
     "returns a pair"),
    (lambda: tracejit.scan(lambda c, x: (c, x), 0.0), ValueError, "as length"),
    (lambda: tracejit.scan(lambda c, x: (c, c), 0.0, (POINT, B[:2])), ValueError, "of one size"),
])
def test_what_cannot_be_mapped(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text.replace("(", r"\(")):
        call()


def test_what_mapped_functions_must_not_do_is_refused() -> None:
    total = np.zeros(3)

    def writes(x: Any) -> Any:
        total[0] += x[0]
        return x

    def ragged(x: Any, n: Any) -> Any:
        return tracejit.vmap(lambda k: x[:k] * 1.0)(np.arange(3))

    with pytest.raises(tracejit.Refusal):
        tracejit.vmap(writes)(X)
    with pytest.raises((tracejit.Refusal, TypeError)):
        tracejit.jit(ragged)(POINT, 3)

    def inner_write(x: Any) -> Any:
        s = np.zeros(3)

        def body(row: Any) -> Any:
            s[0] += row[0]
            return row

        tracejit.vmap(body)(x)
        return s

    with pytest.raises(tracejit.Refusal, match="in no order"):
        tracejit.jit(inner_write)(X)

    def grows(x: Any) -> Any:
        rows = []

        def body(row: Any) -> Any:
            rows.append(row)
            return row

        tracejit.vmap(body)(x)
        return rows[0]

    def scan_grows(x: Any) -> Any:
        rows = []

        def body(c: Any, row: Any) -> Any:
            rows.append(row)
            return c, row

        tracejit.scan(body, 0.0, x)
        return rows[0]

    for f in (grows, scan_grows):
        with pytest.raises(tracejit.Refusal, match="calls for all elements at once"):
            tracejit.jit(f)(X)


def test_one_compilation_for_all_sizes(caplog: pytest.LogCaptureFixture) -> None:
    mapped = tracejit.vmap(layer, in_axes=(0, None, None))
    shapes = [mapped(X[:k], W, B).shape for k in (1, 2, 3, 5)]
    assert shapes == [(1, 4), (2, 4), (3, 4), (5, 4)]
    assert len(mapped._table) == 1
    assert len(next(iter(mapped._table.values()))) == 1


def _subtracted(x: Any, a: Any) -> Any:
    s = a
    s -= np.cos(a)
    return a + s * x[0]


def _added_up(x: Any, a: Any) -> Any:
    s = a
    for _ in range(3):
        s += a
    return a * s * x[1]


@pytest.mark.parametrize("f", [_subtracted, _added_up])
@pytest.mark.parametrize("around", [lambda f: f, tracejit.jit], ids=["vmap", "jit"])
def test_a_number_out_of_a_mapped_array_is_no_array(f: Any, around: Any) -> None:
    """So that `s -= 1` gives the name another number, and the array keeps its own."""
    xs, ys = np.arange(6.0).reshape(3, 2), np.array([0.3, 0.7, -0.2])
    with tracejit.config(disable_jit=True):
        found = around(lambda xs, ys: tracejit.vmap(f)(xs, ys))(xs, ys)
        np.testing.assert_allclose(found, [f(x, y) for x, y in zip(xs, ys, strict=True)])
        slopes = around(lambda xs, ys: tracejit.vmap(tracejit.grad(f, argnums=1))(xs, ys))(xs, ys)
        wanted = [(f(x, y + 1e-6) - f(x, y - 1e-6)) / 2e-6 for x, y in zip(xs, ys, strict=True)]
        np.testing.assert_allclose(slopes, wanted, rtol=1e-6)


def test_one_size_written_in_two_ways_stays_a_size() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        wide = np.concatenate([2.0 * x[:1] - x[1:16][::-1], x])
        part = x[4:4 + len(x) // 3]
        return np.sum(wide[15:].reshape(x.shape)) + np.sum(np.cos(np.arange(part.size)) * part)

    with tracejit.config(disable_jit=True):
        for n in (40, 64):
            np.testing.assert_allclose(tracejit.jit(f)(np.arange(float(n))), f(np.arange(float(n))))
