"""`custom_root`, `custom_fixed_point` and `custom_linear_solve`: derivatives of solvers' results.

Numbers of threads in comments are those of other tools' trackers, where such a case was met.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse.linalg as sl

import tracejit
from tracejit import custom_fixed_point, custom_linear_solve, custom_root, pure_callback, spec
from tracejit.artifacts.fingerprints import fingerprint


def slopes(f: Callable[..., Any], x: Any, h: float = 1e-3) -> Any:
    """Return differences of a function of order six, by each number of x."""
    x = np.asarray(x, float)
    found = []
    for k in np.ndindex(x.shape):
        unit = np.zeros_like(x)
        unit[k] = h
        found.append(sum(w * (np.asarray(f(x + n * unit)) - np.asarray(f(x - n * unit)))
                         for n, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h)
    return np.reshape(np.stack(found, -1), (*np.shape(found[0]), *x.shape))


# --- twenty solvers' problems -------------------------------------------------------------------


def cubic(x, a):
    return x ** 3 + x - a[0] - a[1] * x * x


def bisected(x0, a):
    low, high = -10.0, 10.0
    while high - low > 1e-14 * 10:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if cubic(middle, a) < 0 else (low, middle)
    return 0.5 * (low + high)


def by_brentq(x0, a):
    return float(so.brentq(cubic, -10.0, 10.0, args=(a,), xtol=1e-14))


def by_newton_alone(x0, a):
    x = x0
    for _ in range(60):
        x = x - cubic(x, a) / (3 * x * x + 1 - 2 * a[1] * x)
    return x


def matrix(n: int) -> np.ndarray:
    return 4.0 * np.eye(n) + np.sin(np.arange(n * n, dtype=float)).reshape(n, n) / n


def balance(x, a):
    n = len(x)
    return matrix_of(n) @ x + a[0] * np.sin(x) + a[1] * x ** 3 - np.cos(np.arange(n) * a[0])


MATRICES = {n: matrix(n) for n in (1, 2, 10, 100)}


def matrix_of(n: int) -> Any:
    return MATRICES[n]


def by_root(method: str) -> Callable[..., Any]:
    return lambda x0, a: so.root(balance, x0, args=(a,), method=method, tol=1e-13).x


def by_newton(x0, a):
    x = x0.copy()
    for _ in range(40):
        j = matrix_of(len(x)) + np.diag(a[0] * np.cos(x) + 3 * a[1] * x * x)
        x = x - np.linalg.solve(j, balance(x, a))
    return x


def contracted(x, a):
    return np.cos(np.arange(len(x)) * a[0]) * 0.5 + 0.3 * np.tanh(a[1] * np.roll(x, 1))


def iterated(x0, a):
    x = x0
    for _ in range(200):
        x = contracted(x, a)
    return x


def energy(x, a):
    return 0.5 * x @ x + np.sum(np.logaddexp(0.0, a[0] * x)) + a[1] * np.sum(
        (x[1:] - x[:-1]) ** 2) - np.sum(x * np.sin(np.arange(len(x)) + a[1]))


slope_of_energy = tracejit.grad(energy)
value_and_slope, bend = tracejit.value_and_grad(energy), tracejit.hessian(energy)


def by_lbfgs(x0, a):
    found = so.minimize(value_and_slope, x0, args=(a,), jac=True,
                        method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-11}).x
    return found - np.linalg.solve(bend(found, a), slope_of_energy(found, a))


def system(x, a):
    n = len(x)
    k = np.arange(n)
    return (2.5 + a[0] ** 2) * x - np.append(x[1:], 0.0) - np.append(
        0.0, x[:-1]) - np.sin(k * a[1])


def by_conjugate_gradients(x0, a):
    n = len(x0)
    b = -system(np.zeros(n), a)
    product = sl.LinearOperator((n, n), matvec=lambda v: system(np.ravel(v), a) + b, dtype=float)
    return sl.cg(product, b, rtol=1e-14, maxiter=1000)[0]


PROBLEMS: list[tuple[str, Callable[..., Any], Callable[..., Any], Callable[..., Any], int]] = [
    ("bisection", custom_root, cubic, bisected, 0), ("brentq", custom_root, cubic, by_brentq, 0),
    ("Newton", custom_root, cubic, by_newton_alone, 0),
    *((f"{m} {n}", custom_root, balance, by_root(m), n) for m in ("hybr", "lm")
      for n in (1, 2, 10)), ("hybr 100", custom_root, balance, by_root("hybr"), 100),
    *((f"Newton {n}", custom_root, balance, by_newton, n) for n in (1, 2, 10)),
    *((f"fixed point {n}", custom_fixed_point, contracted, iterated, n) for n in (2, 10, 100)),
    *((f"L-BFGS-B {n}", custom_root, slope_of_energy, by_lbfgs, n) for n in (2, 10)),
    *((f"conjugate gradients {n}", custom_root, system, by_conjugate_gradients, n)
      for n in (1, 10, 100))]
A = np.array([0.7, 0.4])


@pytest.mark.parametrize(("rule", "f", "solver", "n"), [p[1:] for p in PROBLEMS],
                         ids=[p[0] for p in PROBLEMS])
def test_derivatives_are_those_of_differences(rule: Callable[..., Any], f: Callable[..., Any],
                                              solver: Callable[..., Any], n: int) -> None:
    solve = rule(f)(solver)
    start: Any = np.zeros(n) if n else 1.0

    def loss(a):
        x = solve(start, a)
        return np.sum(np.sin(x)) * (1.0 + a[0])

    gradient = tracejit.grad(loss)
    close: Any = {"rtol": 1e-6, "atol": 1e-6}
    assert np.allclose(tracejit.jit(loss)(A), loss(A), rtol=1e-14)
    assert np.allclose(gradient(A), slopes(loss, A), **close)
    assert np.allclose(tracejit.jacfwd(loss)(A), gradient(A), rtol=1e-10, atol=1e-12)
    hessian = slopes(gradient, A)
    assert np.allclose(tracejit.hessian(loss)(A), hessian, **close)


def test_third_derivatives_and_the_start() -> None:
    root = custom_root(lambda x, a: x ** 3 - a)(lambda x0, a: float(np.cbrt(a)))
    third = tracejit.grad(tracejit.grad(tracejit.grad(root, argnums=1), argnums=1), argnums=1)
    assert third(1.0, 8.0) == pytest.approx(10 / 27 * 8 ** (-8 / 3), rel=1e-9)
    # optimistix#54: by the point where a search begins there is none, exactly
    assert tracejit.grad(root, argnums=(0, 1))(1.0, 8.0)[0] == 0.0
    # torchopt#222: of one number, a Jacobian of one number
    single = custom_root(lambda x, a: x ** 3 - a)(lambda x0, a: np.cbrt(np.array([a])))
    assert tracejit.grad(lambda a: single(np.ones(1), a)[0])(8.0) == pytest.approx(1 / 12)


def test_what_a_residual_reads_around_it_counts() -> None:
    # jaxopt#111, jaxopt#31, pytensor#1466: parameters of closures, and no arguments at all
    def loss(a):
        def inner(b):
            found = custom_root(lambda x: x ** 3 - a * b)(FOUND[0])
            return found(1.0) * b
        return inner(a + 1.0)

    FOUND[:] = [lambda x0: float(np.cbrt(2.0 * 3.0))]
    a, b = 2.0, 3.0
    x = np.cbrt(a * b)
    expected = x + b * (a + b) / (3 * x * x)
    assert tracejit.grad(loss)(2.0) == pytest.approx(expected)
    # pytensor#1958: one array as two arguments
    twice = custom_root(lambda x, p, q: x - p * q)(lambda x0, p, q: p * q)
    found = tracejit.grad(lambda p: np.sum(twice(np.zeros(2), p, p)))(np.array([2.0, 5.0]))
    assert np.array_equal(found, [4.0, 10.0])

    def inside(a):
        @custom_root(lambda x: x - a)
        def solver(x0):
            return x0 + a
        return solver(0.0)

    with pytest.raises(tracejit.Refusal, match=r"custom_root of solver, which captured code makes"):
        tracejit.grad(inside)(2.0)


FOUND: list[Any] = []


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("how", [tracejit.jit, tracejit.grad])
def test_a_search_that_ends_early_is_an_error(seed: int, how: Callable[..., Any]) -> None:
    # vmex#367, theseus#425: derivatives of what is no solution, in silence
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    m = 4.0 * np.eye(n) + rng.normal(size=(n, n)) / n

    def residual(x, a):
        return m @ x + a * np.exp(x / 4.0) - 1.0

    @custom_root(residual)
    def stopped_early(x0, a):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return so.root(residual, x0, args=(a,), options={"maxfev": n + 1}).x + rng.normal(
                size=n) * 1e-3

    with pytest.raises(ArithmeticError, match=(
            r"is no solution: there \|F\| is [\d.e-]+, and Newton's correction [\d.e-]+")) as e:
        how(lambda a: np.sum(stopped_early(np.zeros(n), a)))(1.5)
    assert any("test_solutions.py:" in note for note in e.value.__notes__)


def _without_a_root(x0, a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return so.root(lambda x: x * x + a, x0).x


@pytest.mark.parametrize(("residual", "solver", "error"), [
    (lambda x, a: x * x + a, _without_a_root, ArithmeticError),
    (lambda x, a: x - a, lambda x0, a: x0 * np.nan, ArithmeticError),
    # lineax#18, lineax#108: a singular Jacobian
    (lambda x, a: np.sum(x) - a + 0.0 * x, lambda x0, a: np.array([a, 0.0]), np.linalg.LinAlgError),
    (lambda x, a: (x - a) ** 2, lambda x0, a: a + x0, np.linalg.LinAlgError),
    (lambda x, a: np.stack([x[0] + x[1] - a, (1 + 1e-16) * (x[0] + x[1] - a)]),
     lambda x0, a: np.array([a, 0.0]), np.linalg.LinAlgError)])
def test_without_a_solution_or_a_derivative_it_is_an_error(
        residual: Callable[..., Any], solver: Callable[..., Any], error: type[Exception]) -> None:
    solve = custom_root(residual)(solver)
    for how in (tracejit.grad, tracejit.jit):
        with pytest.raises(error):
            how(lambda a: np.sum(solve(np.zeros(2), a)))(1.0)
    # lineax#117, lineax#243: one switch, both ways
    lenient = custom_root(residual, unconverged="nan")(solver)
    value, slope = tracejit.value_and_grad(lambda a: np.sum(lenient(np.zeros(2), a)))(1.0)
    assert np.isnan(value) and np.isnan(slope)


def test_a_warning_goes_on_with_what_was_found() -> None:
    solve = custom_root(lambda x, a: x * x - a, unconverged="warn")(lambda x0, a: x0 + 1.5)
    with pytest.warns(RuntimeWarning, match=r"test_solutions.py:\d+: what a solver returns is no"):
        assert tracejit.grad(lambda a: solve(0.0, a))(2.0) == 1 / 3.0


@pytest.mark.parametrize(("f", "plain"), [
    (lambda t: cube(1.0, t) * t, lambda t: np.cbrt(t) * t),
    (lambda t: tracejit.vmap(cube, (None, 0))(1.0, t * np.ones(3))[2], np.cbrt),
    (lambda t: cube(1.0, t) if t > 1.0 else t, np.cbrt)], ids=["times", "vmap", "branch"])
def test_it_is_part_of_loops_branches_and_vmap(f: Callable[..., Any],
                                               plain: Callable[..., Any]) -> None:
    def looped(t, f, cube):
        for _ in range(3):
            t = cube(1.0, t) + f(t)
        return t

    expected = slopes(lambda t: looped(t, plain, lambda x0, t: np.cbrt(t)), 2.0)
    assert tracejit.grad(lambda t: looped(t, f, cube))(2.0) == pytest.approx(expected, rel=1e-8)


@custom_root(lambda x, a: x ** 3 - a)
def cube(x0, a):
    return float(np.cbrt(a))


def test_arguments_may_be_nests_and_results_pairs() -> None:
    @custom_root(lambda x, p, word: p["k"] * x - p["b"][0], argnums=1, has_aux=spec("int"))
    def solve(x0, p, word):
        assert word == "word"
        return p["b"][0] / p["k"], 3

    def f(p):
        x, count = solve(np.zeros(2), p, "word")
        return np.sum(x * count)

    p = {"k": 2.0, "b": (np.array([1.0, 4.0]), 7)}
    found = tracejit.grad(f)({"k": 2.0, "b": (np.array([1.0, 4.0]), 7.0)})
    assert f(p) == 7.5 and found["k"] == -3.75 and np.array_equal(found["b"][0], [1.5, 1.5])
    fixed = custom_root(lambda x, a, b: x - a * b, argnums=2)(lambda x0, a, b: a * b)
    assert tracejit.grad(fixed, argnums=(1, 2))(0.0, 2.0, 3.0) == (0.0, 2.0)


def test_single_precision_stays_single() -> None:
    solve = custom_root(lambda x, a: x * x - a, tol=1e-3)(lambda x0, a: np.sqrt(a))
    x = np.array([4.0, 9.0], np.float32)
    found = tracejit.grad(lambda a: np.sum(solve(np.ones(2, np.float32), a)))(x)
    assert found.dtype == np.float32 and np.allclose(found, [1 / 4, 1 / 6])
    other = custom_root(lambda x, a: x * x - a)(lambda x0, a: np.sqrt(a).astype(float))
    with pytest.raises(TypeError, match="array of float64, and its spec is an array of float32"):
        tracejit.jit(lambda a: other(np.ones(2, np.float32), a))(x)
    with pytest.raises(TypeError, match="begins with real floats, and x0 is of int64"):
        tracejit.jit(lambda a: solve(np.ones(2, int), a))(x)
    with pytest.raises(ValueError, match="there have to be as many equations"):
        tracejit.jit(lambda a: custom_root(lambda x, a: x[:1] - a[:1])(np.add)(a, a))(x)


@pytest.mark.parametrize("wrong", [
    {"argnums": 0}, {"argnums": "x"}, {"has_aux": True}, {"tol": -1.0}, {"unconverged": "ignore"}])
def test_settings_that_say_nothing_are_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        custom_root(lambda x: x, **wrong)
    with pytest.raises((TypeError, ValueError)):
        custom_fixed_point(lambda x: x, **wrong)


# --- linear systems -----------------------------------------------------------------------------

M = np.array([[3.0, 1.0, 0.2], [0.4, 2.5, -0.6], [0.1, 0.3, 2.0]])
B = np.array([1.0, -2.0, 0.5])


def richardson(matvec, b):
    x = np.zeros_like(b)
    for _ in range(150):
        x = x + 0.3 * (b - matvec(x))
    return x


def solved_outside(m: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(m, b)


def by_richardson(m, b):
    return custom_linear_solve(lambda x: m @ x, b, richardson, richardson)


def by_callback(m, b):
    return custom_linear_solve(lambda x: m @ x, b, lambda _, r: pure_callback(
        solved_outside, r, m, r), lambda _, r: pure_callback(solved_outside, r, m.T, r))


def by_symmetry(m, b):
    s = m + m.T
    return custom_linear_solve(lambda x: s @ x, b, lambda f, r: richardson(
        lambda x: 0.5 * f(x), 0.5 * r), symmetric=True)


def of_two(m, b):
    return np.linalg.solve(m + m.T, b)


@pytest.mark.parametrize(("f", "plain"), [
    (by_richardson, np.linalg.solve), (by_callback, np.linalg.solve), (by_symmetry, of_two)],
    ids=lambda f: f.__name__)
def test_linear_systems_have_their_derivatives(f: Callable[..., Any],
                                               plain: Callable[..., Any]) -> None:
    def loss(m, b):
        return np.sum(f(m, b) ** 3)

    def expected(m, b):
        return np.sum(plain(m, b) ** 3)

    close: Any = {"rtol": 1e-7, "atol": 1e-8}
    for k in (0, 1):
        found, right = (tracejit.grad(g, argnums=k)(M, B) for g in (loss, expected))
        assert np.allclose(found, right, **close)
        assert np.allclose(tracejit.jacfwd(loss, argnums=k)(M, B), right, **close)
        assert np.allclose(tracejit.hessian(loss, argnums=k)(M, B),
                           tracejit.hessian(expected, argnums=k)(M, B), rtol=1e-6, atol=1e-7)


def test_a_matrix_is_symmetric_only_where_it_is_said_and_is() -> None:
    # jax#1458, jax#23403, pytensor#1146
    def said(m):
        return np.sum(custom_linear_solve(lambda x: m @ x, B, richardson, symmetric=True))

    def not_said(m):
        return np.sum(custom_linear_solve(lambda x: m @ x, B, richardson))

    half = 0.5 * (M + M.T)
    assert tracejit.jit(said)(half) == pytest.approx(float(np.sum(richardson(
        lambda x: half @ x, B))))
    with pytest.raises(ValueError, match="symmetric is not: for two vectors"):
        tracejit.jit(said)(M)
    with pytest.raises(tracejit.Refusal, match="Give custom_linear_solve transpose_solve="):
        tracejit.grad(not_said)(M)
    assert tracejit.jvp(not_said, (M,), (M,))[1] == pytest.approx(-not_said(M))


def once(matvec: Any, b: Any) -> Any:
    return 0.2 * b


def test_a_linear_solver_that_finds_no_solution_is_an_error_both_ways() -> None:
    def solved(solve, transpose_solve, **policy):
        return lambda m: np.sum(custom_linear_solve(
            lambda x: m @ x, B, solve, transpose_solve, **policy) ** 2)

    wrong, late = solved(once, once), solved(richardson, once)
    for f in (wrong, tracejit.jit(wrong), tracejit.grad(wrong), tracejit.grad(late)):
        with pytest.raises(ArithmeticError, match="no solution of a linear system"):
            f(M)
    late(M), tracejit.jit(late)(M)
    for f in (solved(once, once, unconverged="warn"), tracejit.jit(solved(
            once, once, unconverged="warn"))):
        with pytest.warns(RuntimeWarning, match="no solution of a linear system"):
            assert np.isfinite(f(M))
    for f in (solved(once, once, unconverged="nan"), tracejit.jit(solved(
            once, once, unconverged="nan"))):
        assert np.isnan(f(M))
    assert np.all(np.isnan(tracejit.grad(solved(richardson, once, unconverged="nan"))(M)))
    assert np.isfinite(tracejit.jit(lambda m: custom_linear_solve(
        lambda x: m @ x, B, once, tol=1.0))(M)).all()
    with pytest.raises(tracejit.Refusal, match="custom_linear_solve with a tol="):
        tracejit.jit(solved(once, once, tol=1.0))(M)


def test_a_solver_is_judged_outside_of_captured_code_too() -> None:
    def made(**policy: Any) -> Any:
        return custom_root(lambda x, a: x * x - a, **policy)(lambda x0, a: x0 + 0.1)

    with pytest.raises(ArithmeticError, match="what a solver returns is no solution"):
        made()(1.0, 4.0)
    with pytest.warns(RuntimeWarning, match="what a solver returns is no solution"):
        assert made(unconverged="warn")(1.0, 4.0) == 1.1
    assert np.isnan(made(unconverged="nan")(1.0, 4.0))
    right = made()
    assert right(1.9, 4.0) == 2.0
    found = right(np.array([1.9, 2.9]), np.array([4.0, 9.0]))
    assert found.tolist() == [2.0, 3.0]


def test_a_user_solves_with_the_jacobian() -> None:
    def residual(x, a):
        return M @ x + a * x ** 3 - B

    def solver(x0, a):
        return so.root(residual, x0, args=(a,), tol=1e-13).x

    by_hand, by_factors = (custom_root(residual, solve=s)(solver) for s in (richardson, None))
    for transform in (tracejit.grad, tracejit.jacfwd, tracejit.hessian):
        one, other = (transform(lambda a, s=s: np.sum(np.sin(s(np.zeros(3), a))))(0.3)
                      for s in (by_hand, by_factors))
        assert one == pytest.approx(other, rel=1e-8)
    early = custom_root(residual, solve=richardson)(lambda x0, a: x0 + 0.1)
    with pytest.raises(ArithmeticError, match="is no solution"):
        tracejit.jit(lambda a: early(np.zeros(3), a))(0.3)


@tracejit.custom_gradient
def cubed(x):
    y = pure_callback(np.power, x, x, 3)
    return y, lambda dy: dy * 3.0 * x * x


def test_a_residual_may_have_a_gradient_of_its_own() -> None:
    solve = custom_root(lambda x, a: cubed(x) + x - a)(lambda x0, a: so.root(
        lambda x: x ** 3 + x - a, x0, tol=1e-13).x)
    found = tracejit.grad(lambda a: np.sum(solve(np.zeros(2), a) * a))(np.array([1.0, 10.0]))
    x = solve(np.zeros(2), np.array([1.0, 10.0]))
    assert np.allclose(found, x + np.array([1.0, 10.0]) / (3.0 * x * x + 1.0))


class Spring:
    """A model with its equation and its solver."""

    def __init__(self, k: float) -> None:
        self.k = k

    def force(self, x, a):
        return self.k * x - a

    def place(self, x0, a):
        return a / self.k

    def __call__(self, x, a):
        return self.force(x, a)


@pytest.mark.parametrize("equation", [
    lambda s: s.force, lambda s: s, lambda s: functools.partial(Spring.force, s)],
    ids=["method", "object", "partial"])
def test_methods_and_objects_are_read_at_each_call(equation: Callable[..., Any]) -> None:
    spring = Spring(2.0)
    solve = custom_root(equation(spring))(lambda x0, a: a / spring.k)
    slope = tracejit.grad(lambda a: solve(0.0, a))
    settled = custom_fixed_point(lambda x, a: x - 0.1 * equation(spring)(x, a))(
        lambda x0, a: a / spring.k)
    other = tracejit.grad(lambda a: settled(0.0, a))
    bound = custom_root(equation(spring))(functools.partial(Spring.place, spring))
    third = tracejit.grad(lambda a: bound(0.0, a))
    for k in (2.0, 4.0):
        spring.k = k
        assert third(3.0) == pytest.approx(1.0 / k)
        assert slope(3.0) == pytest.approx(1.0 / k) == other(3.0)

    def inside(a):
        made = Spring(2.0 * a)
        return custom_root(made.force)(made.place)(0.0, a)

    with pytest.raises(tracejit.Refusal, match="Make it outside, and pass as arguments"):
        tracejit.grad(inside)(3.0)


def test_other_transforms_take_solutions() -> None:
    solve = custom_root(balance)(by_newton)

    def f(a):
        return solve(np.zeros(3), a)

    MATRICES[3] = matrix(3)
    slope = tracejit.jacobian(f)(A)
    assert np.allclose(tracejit.sparse_jacobian(f)(A).toarray(), slope)
    assert np.allclose(tracejit.linear_operator(f, A) @ A, slope @ A)
    assert np.allclose(tracejit.linear_operator(f, A).T @ np.ones(3), slope.T @ np.ones(3))
    kept = tracejit.checkpoint(lambda a: np.sum(f(a) * f(a)))
    assert np.allclose(tracejit.grad(kept)(A), 2.0 * f(A) @ slope)


# --- elsewhere ----------------------------------------------------------------------------------


def test_a_tape_has_the_gradient() -> None:
    with tracejit.GradientTape() as tape:
        a = tracejit.constant(8.0)
        tape.watch(a)
        y = cube(1.0, a) * 2.0
    assert tape.gradient(y, a) == pytest.approx(1 / 6)


def test_solvers_of_other_settings_have_other_fingerprints() -> None:
    def made(**settings: Any) -> str:
        return fingerprint(custom_root(cubic, **settings)(by_brentq))

    others = [{}, {"tol": 1e-3}, {"unconverged": "nan"}, {"argnums": 1}, {"argnums": (1, 2)},
              {"has_aux": spec("int")}, {"solve": richardson}]
    assert len({made(**settings) for settings in others}) == len(others) and made() == made()


STORED = """
import logging, sys
import numpy as np, tracejit
@tracejit.custom_root(lambda x, a: x * x - a, tol=TOL)
def root(x0, a):
    return np.sqrt(a) + 1e-4
logging.basicConfig(level=logging.DEBUG, format="%(message)s", stream=sys.stdout)
try:
    print(tracejit.grad(root, argnums=1)(1.0, np.float64(4.0)))
except ArithmeticError as e:
    print(e)
"""


def test_later_processes_find_it_by_its_settings(tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path / "store"))
    script, shown = tmp_path / "stored.py", []
    for tol in ("1e-2", "1e-2", "1e-6"):
        script.write_text(STORED.replace("TOL", tol))
        shown.append(subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                                    check=True).stdout)
    assert "0.2499" in shown[0] and "0.2499" in shown[1] and "is no solution" in shown[2]
    assert "found in the store" in shown[1] and "found in the store" not in shown[2]
