"""`gradients(ys, xs)` and `Graph`; one graph whichever way the gradient is asked for."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit import AggregationMethod, gradients

POINT = np.array([0.3, 0.7, 1.1, -0.2])


@pytest.fixture(autouse=True)
def _interpreted() -> Any:
    with tracejit.config(disable_jit=True):
        yield


def looped(x: Any) -> Any:
    s = 1.0
    for i in range(len(x)):
        if x[i] > 0.0:
            s = s + np.sin(s * x[i]) * x[i]
    return s


# --- the reference page's cases -----------------------------------------------------------------


def test_total_and_partial_derivatives() -> None:
    @tracejit.jit
    def both(a: Any) -> Any:
        b = 2 * a
        total = gradients(a + b, [a, b])
        partial = gradients(a + b, [a, b], stop_gradients=[a, b])
        return [*total, *partial]

    assert both(0.0) == [3.0, 1.0, 1.0, 1.0]

    @tracejit.jit
    def by_stop_gradient(a: Any) -> Any:
        a = tracejit.stop_gradient(a)
        b = tracejit.stop_gradient(2 * a)
        return gradients(a + b, [a, b])

    assert by_stop_gradient(0.0) == [1.0, 1.0]


def test_what_comes_first_stops() -> None:
    @tracejit.jit
    def f(a: Any) -> Any:
        b = tracejit.stop_gradient(3 * a) * a
        c = b * b
        return gradients(c, [a, b], stop_gradients=[b])

    assert f(2.0) == [None, 24.0]


def test_weights_of_several_results() -> None:
    @tracejit.jit
    def f(x: Any) -> Any:
        ys = [x * x, np.sum(x)]
        return [gradients(ys, x)[0], gradients(ys, x, grad_ys=[2.0 * x, None])[0],
                gradients(ys, [x], grad_ys=[None, 10.0])[0]]

    plain, weighted, other = f(POINT)
    np.testing.assert_allclose(plain, 2 * POINT + 1)
    np.testing.assert_allclose(weighted, 4 * POINT ** 2 + 1)
    np.testing.assert_allclose(other, 2 * POINT + 10)


def test_the_new_equations_have_a_heading() -> None:
    @tracejit.jit
    def f(x: Any) -> Any:
        return gradients(np.sum(np.sin(x)), x, name="slope")[0]

    text = str(f.trace(POINT).graph)
    assert "\n  -- slope\n" in text
    assert text.index("-- slope") < text.index("cos(")


# --- anywhere in a program ------------------------------------------------------------------------


def test_through_loops_and_branches_and_second_order() -> None:
    @tracejit.jit
    def slope(x: Any) -> Any:
        return gradients(looped(x), x)[0]

    @tracejit.grad
    def squared(x: Any) -> Any:
        return np.sum(gradients(looped(x), x)[0] ** 2)

    expected = tracejit.grad(looped)(POINT)
    np.testing.assert_allclose(slope(POINT), expected, rtol=1e-12)
    np.testing.assert_allclose(squared(POINT), 2 * tracejit.hessian(looped)(POINT) @ expected,
                               rtol=1e-10)

    @tracejit.jit
    def second(x: Any) -> Any:
        (d,) = gradients(looped(x), x)
        return gradients(d, x)[0]

    np.testing.assert_allclose(second(POINT), tracejit.hessian(looped)(POINT).sum(0), rtol=1e-10)


def test_inside_of_loops() -> None:
    @tracejit.jit
    def descend(w: Any, n: Any) -> Any:
        for _ in range(n):
            y = np.sum((w - 3.0) ** 2)
            w = w - 0.1 * gradients(y, w)[0]
        return w

    np.testing.assert_allclose(descend(np.zeros(2), 5), 3 * (1 - 0.8 ** 5) * np.ones(2))

    @tracejit.jit
    def by_what_is_outside(w: Any, n: Any) -> Any:
        total, v = 0.0, w * 2
        for k in range(n):
            total = total + gradients(np.sum(v ** 2) * k, w)[0][0]
        return total

    assert by_what_is_outside(np.ones(2), 3) == 24.0

    @tracejit.jit
    def across_a_loop(w: Any, n: Any) -> Any:
        start = v = w * 1.0
        for _ in range(n):
            v = v * 2.0
        for k in range(n):
            w = w + gradients(np.sum(v ** 2) * k, start)[0]
        return w

    @tracejit.jit
    def through_what_is_carried(w: Any, n: Any) -> Any:
        v = w * 2.0
        for k in range(n):
            v = v + gradients(np.sum(v ** 2) * k, w)[0]
        return v

    with pytest.raises(tracejit.Refusal, match="before another loop or branch"):
        across_a_loop(np.ones(2), 3)
    with pytest.raises(tracejit.Refusal, match="through what the loop carries"):
        through_what_is_carried(np.ones(2), 3)


def test_compiled_too() -> None:
    @tracejit.jit
    def f(x: Any) -> Any:
        y = looped(x)
        return y, gradients(y, x)[0]

    with tracejit.config(disable_jit=False, verify=True):
        y, d = f(POINT)
    assert y == pytest.approx(looped(POINT), rel=1e-12)
    np.testing.assert_allclose(d, tracejit.grad(looped)(POINT), rtol=1e-12)


# --- one graph ------------------------------------------------------------------------------------


def straight(x: Any, y: Any) -> Any:
    a = np.sin(x) * y
    b = np.exp(a - x) + 2.0 * y ** 2
    return np.sum(b * b[0]) + np.max(x)


def products(x: Any, y: Any) -> Any:
    m = np.outer(x, y) + x[:, None]
    return np.mean(np.tanh(m @ y) / (1.0 + y ** 2)) - np.dot(x, y) * 0.5


def pieces(x: Any, y: Any) -> Any:
    z = np.concatenate([x[1:], y[:-1]])
    w = np.where(z > 0.5, z ** 3, np.sqrt(np.abs(z) + 1.0))
    return np.sum(np.clip(w, 0.0, 2.0)) + np.maximum(x, y).prod() - x.std()


def shared(x: Any, y: Any) -> Any:
    a = np.log(x * x + 1.0)
    b = a * y + a / (y + 3.0)
    return np.sum(np.cumsum(b) * a) + tracejit.stop_gradient(np.sum(b)) * x[0]


@pytest.mark.parametrize("f", [straight, products, pieces, shared], ids=lambda f: f.__name__)
def test_tape_gradients_and_grad_give_one_graph(f: Any) -> None:
    """The printed graphs are the same, headings apart."""
    x, y = POINT, np.array([1.0, 2.0, 0.5, 0.25])

    def symbolic(x: Any, y: Any) -> Any:
        return tuple(gradients(f(x, y), [x, y]))

    vx, vy = tracejit.Variable(x, name="x"), tracejit.Variable(y, name="y")
    with tracejit.GradientTape() as tape:
        result = f(vx, vy)
    graphs = [tracejit.grad(f, argnums=(0, 1)).trace(x, y).graph,
              tracejit.jit(symbolic).trace(x, y).graph, tape.graph(result, [vx, vy])]
    printed = [[line.replace("-- gradients", "-- backward") for line in str(g).splitlines()[1:]]
               for g in graphs]
    for other in printed[1:]:
        difference = list(difflib.unified_diff(printed[0], other, lineterm="", n=0))
        assert difference == []
    assert any("-- backward" in line for line in printed[0])


def test_with_loops_the_numbers_are_the_same() -> None:
    x = tracejit.Variable(POINT)
    with tracejit.GradientTape() as tape:
        y = looped(x)
    slope = tape.gradient(y, x)
    symbolic = tracejit.jit(lambda x: gradients(looped(x), x)[0])(POINT)
    expected = tracejit.grad(looped)(POINT)
    np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(symbolic, expected, rtol=1e-12)


# --- how terms are added --------------------------------------------------------------------------


def many(x: Any, method: Any) -> Any:
    terms = [x * (float(k % 7 - 3) * 10.0 ** (k % 8)) for k in range(64)]
    y = terms[0]
    for t in terms[1:]:
        y = y + t
    return gradients(y, x, aggregation_method=method)[0]


def test_aggregation_methods_differ_in_memory_and_rounding() -> None:
    x = np.array([0.1], np.float32)
    exact = sum(float(k % 7 - 3) * 10.0 ** (k % 8) for k in range(64))
    results, lives = {}, {}
    for method in AggregationMethod:
        f = tracejit.jit(lambda x, method=method: many(x, method))
        results[method] = float(f(x)[0])
        lives[method] = _most_alive(f.trace(x).program.graph)
        np.testing.assert_allclose(results[method], exact, atol=100.0)
    add_n, tree, accumulate = (AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE,
                               AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
    assert results[tree] != results[add_n]
    assert lives[add_n] > lives[accumulate] + 30
    assert lives[tree] > lives[accumulate] + 30
    default = tracejit.jit(lambda x: many(x, None))
    assert float(default(x)[0]) == results[AggregationMethod.DEFAULT]


def _most_alive(graph: Any) -> int:
    """Return how many results of the backward part are alive at once, in the order of the graph."""
    backward = [eqn for eqn in graph.eqns if eqn.group is not None]
    last = {a: k for k, eqn in enumerate(backward) for a in eqn.uses()}
    alive = most = 0
    ends: dict[int, int] = {}
    for k, eqn in enumerate(backward):
        alive += len(eqn.outputs)
        for v in eqn.outputs:
            ends[last.get(v, len(backward))] = ends.get(last.get(v, len(backward)), 0) + 1
        most = max(most, alive)
        alive -= ends.pop(k, 0)
    return most


# --- bad input ------------------------------------------------------------------------------------


def test_outside_of_a_capture() -> None:
    with pytest.raises(RuntimeError, match="GradientTape"):
        gradients(1.0, 2.0)


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda x: gradients([x, x], x, grad_ys=[x]), ValueError, "1 items, but there are 2 ys"),
    (lambda x: gradients(x * x, x, grad_ys=np.ones(3)), ValueError, "shape"),
    (lambda x: gradients(x * x, x, grad_ys=x.astype(np.float32)), ValueError, "float32"),
    (lambda x: gradients(x * x, x, grad_ys=1j), ValueError, "complex"),
    (lambda x: gradients(x * x, 3.0), TypeError, "constant 3.0"),
    (lambda x: gradients("y", x), TypeError, "str"),
    (lambda x: gradients(x, x, aggregation_method=17), ValueError, "17"),
], ids=range(7))
def test_bad_arguments(make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        tracejit.jit(lambda x: make(x)[0])(POINT)


def test_an_op_without_gradient() -> None:
    blur = tracejit.register_op("SymbolicBlur", lambda x: x * 0.5)
    with pytest.raises(LookupError, match=r"test_symbolic\.py:\d+: op 'SymbolicBlur'"):
        tracejit.jit(lambda x: gradients(blur(x), x)[0])(POINT)
    with pytest.raises(TypeError, match="gate_gradients"):
        gradients(1.0, 2.0, gate_gradients=True)


def test_unconnected() -> None:
    @tracejit.jit
    def f(x: Any, y: Any) -> Any:
        (none,) = gradients(x * x, y)
        (zeros,) = gradients(x * x, y, unconnected_gradients="zero")
        return none, zeros

    none, zeros = f(POINT, POINT)
    assert none is None
    assert zeros.tolist() == [0.0] * 4


# --- graphs ---------------------------------------------------------------------------------------


def test_a_graph_built_line_by_line() -> None:
    with tracejit.Graph() as graph:
        x = graph.placeholder(np.ones((2, 3)), "x")
        scale = tracejit.constant(2.0)
        y = np.sum(np.sin(x) ** 2) * scale
        dx, none = gradients(y, [x, graph.placeholder(1.0, "other")], name="dx")
    point = np.arange(6.0).reshape(2, 3)
    value, slope, nothing = graph.run((y, dx, none), {"x": point})
    np.testing.assert_allclose(value, 2 * np.sum(np.sin(point) ** 2))
    np.testing.assert_allclose(slope, 2 * np.sin(2 * point))
    assert nothing is None
    np.testing.assert_allclose(graph.run(dx), np.full((2, 3), 2 * np.sin(2.0)))
    assert "-- dx" in str(graph)
    with pytest.raises(KeyError, match="no placeholder is called 'z'"):
        graph.run(y, {"z": 1.0})
