"""Sizes that two captures name are one where NumPy needs them to be: nested transforms and tapes.

A loss whose operands have to agree in size is differentiated by itself, which central differences
check, and nested in every way there is, which differences of its own gradient check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, numeric_gradient

import tracejit
from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Graph, Literal, Value
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, scalar
from tracejit.ir.verifier import verify_graph

RNG = np.random.default_rng(7)
W, X, Y, B = RNG.normal(size=3), RNG.normal(size=(4, 3)), RNG.normal(size=4), RNG.normal(size=2)
M = RNG.normal(size=(3, 3))
S = M @ M.T + 3.0 * np.eye(3)

LOSSES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "y - X @ w": (lambda w, X, y: np.sum((y - X @ w) ** 2), (W, X, Y)),
    "X @ w - y": (lambda w, X, y: np.sum((X @ w - y) ** 2), (W, X, Y)),
    "y * (X @ w)": (lambda w, X, y: np.mean(np.log1p(np.exp(-y * (X @ w)))), (W, X, Y)),
    "(X @ w) * y": (lambda w, X, y: np.mean(np.log1p(np.exp(-(X @ w) * y))), (W, X, Y)),
    "w @ X.T": (lambda w, X, y: np.sum(np.exp(0.1 * (y + w @ X.T))), (W, X, Y)),
    "dot": (lambda w, X, y: np.sum((y - np.dot(X, w)) ** 3), (W, X, Y)),
    "einsum": (lambda w, X, y: np.sum((y - np.einsum("ij,j->i", X, w)) ** 3), (W, X, Y)),
    "tensordot": (lambda w, X, y: np.sum((y - np.tensordot(X, w, 1)) ** 3), (W, X, Y)),
    "inner": (lambda w, X, y: np.sum((y - np.inner(X, w)) ** 3), (W, X, Y)),
    "rows": (lambda w, X, y: np.sum((w * X) ** 3) * np.sum(y), (W, X, Y)),
    "rows, exchanged": (lambda w, X, y: np.sum((X * w) ** 3) * np.sum(y), (W, X, Y)),
    "where": (lambda w, X, y: np.sum(np.where(y > 0.0, (X @ w) ** 2, (X @ w) ** 3)), (W, X, Y)),
    "a sum": (lambda w, c: np.sum(np.sin(c + w) * c), (W, W + 1.0)),
    "a sum, exchanged": (lambda w, c: np.sum(np.sin(w + c) * c), (W, W + 1.0)),
    "three operands": (lambda w, c, d: np.sum((d * c - w) ** 3), (W, W + 1.0, W - 1.0)),
    "concatenate": (lambda w, b: np.sum(np.concatenate((b, w)) ** 3), (W, B)),
    "concatenate, minus": (lambda w, b, v: np.sum((v - np.concatenate((b, w))) ** 3),
                           (W, B, RNG.normal(size=5))),
    "vstack": (lambda w, X: np.sum(np.vstack((X, w)) ** 3), (W, X)),
    "stack": (lambda w, c: np.sum(np.stack((c, w)) ** 3), (W, W + 1.0)),
    "hstack": (lambda w, b: np.sum(np.hstack((w, b, w)) ** 3), (W, B)),
    "solve": (lambda w, A: np.sum(np.linalg.solve(A, w) ** 3), (W, S)),
    "quadratic form": (lambda w, A: (w @ A @ w) ** 2, (W, S)),
    "outer": (lambda w, X: np.sum((X - np.outer(np.ones(len(X)), w)) ** 3), (W, X)),
    "a write": (lambda w, c: _written(w, c), (W, W + 1.0)),
    "a loop": (lambda w, X, y: _looped(w, X, y), (W, X, Y)),
    "a scan over data": (lambda w, X, y: _scanned(w, X, y), (W, X, Y)),
    "a branch": (lambda w, X, y: _branched(w, X, y), (W, X, Y)),
    "pad": (lambda w, k: np.sum(np.pad(w, k.shape[0] // 2) ** 3), (W, np.ones(4))),
    "broadcast_to": (lambda w, X: np.sum((np.broadcast_to(w, X.shape) - X) ** 3), (W, X)),
    "clip": (lambda w, c: np.sum(np.clip(c * w, c - 2.0, c + 2.0) ** 3), (W, W + 1.0)),
}


def _written(w: Any, c: Any) -> Any:
    out = np.zeros(len(c))
    out[:] = c * w
    out[1:] += w[:-1] ** 2
    return np.sum(out ** 2)


def _looped(w: Any, X: Any, y: Any) -> Any:
    total = 0.0
    for i in range(len(y)):
        total = total + (y[i] - X[i] @ w) ** 3
    return total


def _scanned(w: Any, X: Any, y: Any) -> Any:
    state = w * 1.0
    for row, target in zip(X, y, strict=True):
        state = state + 0.1 * row * np.tanh(target - row @ state)
    return np.sum(state ** 2)


def _branched(w: Any, X: Any, y: Any) -> Any:
    r = y - X @ w
    if np.sum(r) > 0.0:
        r = r * np.mean(y)
    return np.sum(r ** 3)


def _fixed(f: Callable[..., Any], args: Any) -> Callable[[Any], Any]:
    return lambda w: f(w, *args[1:])


def _slope(f: Callable[..., Any], args: Any) -> Any:
    return tracejit.grad(f)(*args)


def _curvature(f: Callable[..., Any], args: Any, step: float = 1e-5) -> np.ndarray:
    """Return the Hessian by the first argument, by differences of the gradient by itself."""
    columns = []
    for k in range(len(args[0])):
        e = step * np.eye(len(args[0]))[k]
        columns.append((_slope(f, (args[0] + e, *args[1:])) - _slope(f, (args[0] - e, *args[1:])))
                       / (2.0 * step))
    return np.stack(columns, axis=-1)


def _descended(f: Callable[..., Any], args: Any) -> Any:
    w = args[0]
    for _ in range(2):
        w = w - 0.01 * tracejit.grad(f)(w, *args[1:])
    return np.sum(w ** 2)


def _unnested_descent(f: Callable[..., Any], args: Any) -> Any:
    """Return the gradient of `_descended`, by the chain rule on gradients taken by themselves."""
    w0 = args[0]
    w1 = w0 - 0.01 * _slope(f, args)
    w2 = w1 - 0.01 * _slope(f, (w1, *args[1:]))
    eye = np.eye(len(w0))
    first = eye - 0.01 * _curvature(f, args)
    second = eye - 0.01 * _curvature(f, (w1, *args[1:]))
    return first.T @ (second.T @ (2.0 * w2))


def _tape_in_jit(f: Callable[..., Any], args: Any) -> Any:
    @tracejit.jit
    def slope(*args: Any) -> Any:
        with tracejit.GradientTape() as tape:
            tape.watch(args[0])
            y = f(*args)
        return tape.gradient(y, args[0])

    return slope(*args)


def _eager_tapes(f: Callable[..., Any], args: Any) -> Any:
    w, *rest = map(tracejit.constant, args)
    with tracejit.GradientTape() as outer:
        outer.watch(w)
        with tracejit.GradientTape() as inner:
            inner.watch(w)
            y = f(w, *rest)
        slope = inner.gradient(y, w)
    return np.asarray(outer.jacobian(slope, w))


def _symbolic(f: Callable[..., Any], args: Any) -> Any:
    return tracejit.jit(lambda *args: tracejit.gradients(f(*args), [args[0]])[0])(*args)


V = np.array([0.3, -1.2, 0.7])

NESTED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "jit(grad)": (lambda f, a: tracejit.jit(tracejit.grad(f))(*a), _slope),
    "jit(value_and_grad)": (lambda f, a: tracejit.jit(tracejit.value_and_grad(f))(*a)[1], _slope),
    "jit(vjp)": (lambda f, a: tracejit.jit(lambda *a: tracejit.vjp(f, *a)[1](1.0))(*a)[0], _slope),
    "jit(jvp)": (lambda f, a: tracejit.jit(lambda w, v: tracejit.jvp(_fixed(f, a), (w,), (v,)))(
        a[0], V)[1], lambda f, a: _slope(f, a) @ V),
    "gradients": (_symbolic, _slope),
    "a tape in jit": (_tape_in_jit, _slope),
    "vmap(grad)": (lambda f, a: tracejit.vmap(tracejit.grad(f), in_axes=(0, *(None,) * (len(a) - 1))
                                              )(np.stack([a[0], a[0] + 0.1]), *a[1:]),
                   lambda f, a: np.stack([_slope(f, a), _slope(f, (a[0] + 0.1, *a[1:]))])),
    "hessian": (lambda f, a: tracejit.hessian(f)(*a), _curvature),
    "hessian of a closure": (lambda f, a: tracejit.hessian(_fixed(f, a))(a[0]), _curvature),
    "jacfwd(grad)": (lambda f, a: tracejit.jacfwd(tracejit.grad(f))(*a), _curvature),
    "jacrev(grad)": (lambda f, a: tracejit.jacrev(tracejit.grad(f))(*a), _curvature),
    "jvp(grad)": (lambda f, a: tracejit.jvp(tracejit.grad(_fixed(f, a)), (a[0],), (V,))[1],
                  lambda f, a: _curvature(f, a) @ V),
    "hvp": (lambda f, a: tracejit.hvp(_fixed(f, a), (a[0],), (V,)),
            lambda f, a: _curvature(f, a) @ V),
    "grad(grad @ v)": (lambda f, a: tracejit.grad(lambda *b: tracejit.grad(f)(*b) @ V)(*a),
                       lambda f, a: V @ _curvature(f, a)),
    "grad(descent)": (lambda f, a: tracejit.grad(lambda *b: _descended(f, b))(*a),
                      _unnested_descent),
    "grad(checkpoint)": (lambda f, a: tracejit.grad(tracejit.checkpoint(f))(*a), _slope),
    "hessian(checkpoint)": (lambda f, a: tracejit.hessian(tracejit.checkpoint(f))(*a), _curvature),
    "eager tapes": (_eager_tapes, _curvature),
}


def check(name: str, how: str) -> None:
    """Assert that a nested derivative agrees with the loss's derivative."""
    f, args = LOSSES[name]
    nested, oracle = NESTED[how]
    assert_close(np.asarray(nested(f, args)), np.asarray(oracle(f, args)), 2e-6, f"{how} of {name}")


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_differentiated_by_itself_is_right(name: str) -> None:
    f, args = LOSSES[name]
    with tracejit.config(disable_jit=True, verify=True):
        assert_close(np.asarray(_slope(f, args)), numeric_gradient(f, args, 0))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("how", NESTED)
def test_a_nested_derivative_is_that_of_the_function(name: str, how: str) -> None:
    with tracejit.config(disable_jit=True, verify=True):
        if (name, how) == ("a write", "eager tapes"):  # docs/design.md: tape values are not written
            with pytest.raises(TypeError, match="cannot be written to"):
                check(name, how)
        else:
            check(name, how)


@pytest.mark.parametrize(("name", "how"), [
    ("y - X @ w", "hessian"), ("y * (X @ w)", "grad(descent)"), ("concatenate", "eager tapes"),
    ("vstack", "hessian of a closure"), ("solve", "eager tapes"), ("a loop", "vmap(grad)")])
def test_a_nested_derivative_is_right_compiled(name: str, how: str) -> None:
    check(name, how)


# --- one program for all sizes --------------------------------------------------------------------


@pytest.mark.parametrize("how", ["hessian", "jit(grad)", "jvp(grad)"])
def test_one_program_holds_for_all_sizes(how: str) -> None:
    nested = {"hessian": tracejit.hessian, "jit(grad)": lambda f: tracejit.jit(tracejit.grad(f)),
              "jvp(grad)": lambda f: tracejit.jacfwd(tracejit.grad(f))}[how](
                  LOSSES["y - X @ w"][0])
    with tracejit.config(disable_jit=True, verify=True):
        for n, m in ((3, 4), (2, 7), (5, 2), (3, 1)):
            rng = np.random.default_rng([n, m])
            args = rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m)
            oracle = _slope if how == "jit(grad)" else _curvature
            assert_close(nested(*args), oracle(LOSSES["y - X @ w"][0], args), 2e-6)
        with pytest.raises(ValueError, match="4"):
            nested(np.ones(3), np.ones((4, 3)), np.ones(5))


# --- the rows that were found ---------------------------------------------------------------------


def test_a_cotangent_given_to_a_tape_in_jit_has_the_size_of_its_target() -> None:
    @tracejit.jit
    def slope(x: Any, u: Any) -> Any:
        with tracejit.GradientTape() as tape:
            tape.watch(x)
            z = x ** 2
        return tape.gradient(z, x, output_gradients=u)

    @tracejit.jit
    def symbolic(x: Any, u: Any) -> Any:
        return tracejit.gradients(x ** 2, [x], grad_ys=[u])[0]

    with tracejit.config(disable_jit=True):
        for f in (slope, symbolic):
            np.testing.assert_array_equal(f(W, W + 1.0), 2.0 * W * (W + 1.0))
            with pytest.raises(ValueError, match="cotangent"):
                f(W, np.ones(5))


@pytest.mark.parametrize(("left", "right"), [
    ((1, 4, 3), (2, 3, 5)), ((2, 4, 3), (1, 3, 5)), ((6, 1, 4, 3), (2, 3, 5)), ((4, 3), (2, 3, 5)),
    ((1, 1, 4, 3), (6, 2, 3, 5)), ((1, 4, 3), (1, 3, 5)), ((2, 4, 3), (3,)), ((3,), (1, 3, 5))])
def test_products_of_stacks_repeat_axes_of_one_element(left: Any, right: Any) -> None:
    a, b = RNG.normal(size=left), RNG.normal(size=right)
    with tracejit.config(disable_jit=True, verify=True):
        for product in (lambda a, b: a @ b, np.matmul,
                        lambda a, b: np.einsum("...ij,...jk->...ik", a, b)
                        if min(a.ndim, b.ndim) > 1 else a @ b):
            np.testing.assert_allclose(tracejit.jit(product)(a, b), product(a, b), rtol=1e-12)
            for k in (0, 1):
                loss = (lambda p: lambda a, b: np.sum(p(a, b) ** 2))(product)
                assert_close(tracejit.grad(loss, argnums=k)(a, b),
                             numeric_gradient(loss, (a, b), k))


@pytest.mark.parametrize(("spec", "left", "right"), [
    ("Bij,Bjk->Bik", (1, 4, 3), (2, 3, 5)), ("ij,jk->ik", (4, 1), (3, 5)), ("i,i->", (1,), (3,)),
    ("ij,ij->ij", (4, 1), (1, 3)), ("ij,ij->i", (1, 3), (4, 1)), ("i,i->i", (3,), (1,)),
    ("ij,j->", (4, 3), (1,))])
def test_einsum_repeats_axes_of_one_element(spec: str, left: Any, right: Any) -> None:
    a, b = RNG.normal(size=left), RNG.normal(size=right)
    with tracejit.config(disable_jit=True, verify=True):
        f = lambda a, b: np.einsum(spec, a, b)  # noqa: E731
        np.testing.assert_allclose(tracejit.jit(f)(a, b), f(a, b), rtol=1e-12)
        loss = lambda a, b: np.sum(f(a, b) ** 3)  # noqa: E731
        for k in (0, 1):
            assert_close(tracejit.grad(loss, argnums=k)(a, b), numeric_gradient(loss, (a, b), k))


def test_sizes_of_a_loop_that_no_data_decides_leave_an_array_what_it_is() -> None:
    def swapped(y: Any) -> Any:
        for i in range(3):
            y[:] = np.reshape(np.transpose(np.reshape(y, (2 ** i, 2, 2 ** (2 - i))), (1, 0, 2)),
                              (8,))
        return np.sum(y * np.arange(8.0))

    y = np.arange(8.0) + 0.5
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(swapped)(y.copy()) == swapped(y.copy())
        assert_close(tracejit.grad(swapped)(y.copy()),
                     numeric_gradient(lambda y: swapped(y.copy()), (y,), 0))


def test_a_user_rule_that_needs_sizes_to_agree_is_checked_when_it_runs() -> None:
    op = tracejit.register_op("NestedSizesRule", lambda x, y: 2.0 * x + np.sum(y))

    @tracejit.RegisterGradient("NestedSizesRule")
    def rule(op: Any, g: Any) -> Any:
        return g * op.inputs[1], None

    slope = tracejit.grad(lambda x, y: np.sum(op(x, y)))
    for disable in (True, False):
        with tracejit.config(disable_jit=disable):
            np.testing.assert_array_equal(slope(W, W + 1.0), W + 1.0)
            with pytest.raises(ValueError, match="different sizes 8 and 5"):
                slope(np.ones(8), np.ones(5))


def test_the_verifier_finds_a_size_that_no_input_says() -> None:
    graph = tracejit.jit(lambda x: x * 2.0).trace(tracejit.spec("f64[n]")).graph
    other = Value(scalar(np.int64), "m", is_size=True)
    full = Value(Aval(np.dtype(np.float64), (other.dim,)))
    eqn = Eqn(find_op("full"), (Literal(1.0, np.float64),), {"shape": (other.dim,)}, (full,))
    block = Block(graph.inputs, (*graph.eqns, eqn), graph.outputs)
    with pytest.raises(IRError, match="is read before it is defined"):
        verify_graph(Graph("f", graph.sizes, block))
    with pytest.raises(IRError, match="no input's shape says what the size m is"):
        verify_graph(Graph("f", (*graph.sizes, other), block))
