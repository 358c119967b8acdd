"""Arrays of which data decides how long they are: NumPy itself is the oracle."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([0.5, 1.5, 2.5, -0.7, 3.3, 0.1])
A = np.arange(12.0).reshape(3, 4) * 0.37 - 1.0


def later_write(x: Any) -> Any:
    """A selection is a copy: a later write to x does not change it."""
    x = x.copy()
    y = x[x > 0.2]
    x[1] = 9.0
    return y.sum() + x.sum()


def written_selection(x: Any) -> Any:
    y = x[x > 0.2]
    y[0] = 5.0 * y[1]
    y[y > 2.0] = 0.25
    y[1:] *= 2.0
    return y @ y + x.sum()


def loop_over(x: Any) -> Any:
    y, s = np.sqrt(x[x > 0.2]), 0.0
    for i in range(len(y)):
        s += y[i] * (i + 1)
    return s


def masked_writes(x: Any) -> Any:
    y = np.zeros(x.shape)
    y[x > 0.2] = x[x > 0.2] * 2.0
    y[x <= 0.2] = np.arange(np.sum(x <= 0.2))
    y[x > 1.0] += x[x > 1.0][::-1]
    return np.sum(y * np.arange(len(x)))


def sorted_in_place(x: Any) -> Any:
    y = x.copy()
    y[x > 0.2] = np.sort(x[x > 0.2])
    return np.sum(y * np.arange(len(x)))


def in_a_loop(x: Any) -> Any:
    s = 0.0
    for t in range(4):
        y = x[x > t * 0.5]
        s += (y @ y) * len(y)
        x = x * 1.1
    return s


def in_a_while(x: Any) -> Any:
    y = x[x > 0.2]
    while y.sum() > 1.0:
        y = y * 0.5
    return y @ y


def in_a_branch(x: Any) -> Any:
    y = x[x > 0.2]
    if x.sum() > 0.0:
        y = y * 2.0
    return y @ y


def joined(x: Any) -> Any:
    y = x[x > 0.2]
    return np.sum(np.concatenate([y, x, y]) * np.arange(2 * len(y) + len(x)))


def root_of_nothing(x: Any) -> Any:
    """An element that a mask leaves out has an infinite derivative, which is never multiplied."""
    root = np.sqrt(np.maximum(x, 0.0))
    kept = root[x > 0.0]
    return kept @ kept[::-1]


VECTORS: dict[str, Callable[[Any], Any]] = {
    "a later write": later_write, "a write to it": written_selection, "a loop over it": loop_over,
    "writes by masks": masked_writes, "sorted in place": sorted_in_place,
    "in a loop": in_a_loop, "in a while": in_a_while, "in a branch": in_a_branch,
    "joined": joined, "a root of nothing": root_of_nothing,
    "sum": lambda x: np.sum(np.sqrt(x[x > 0.2])),
    "dot": lambda x: np.dot(x[x > 0.2], x[x > 0.2][::-1]),
    "outer": lambda x: np.sum(x[x > 0.2][:, None] * np.sin(x[x > 0.2]) * x[-1]),
    "nonzero": lambda x: np.sum(x[np.nonzero(x > 0.2)] ** 2 * np.arange(np.count_nonzero(x > 0.2))),
    "where": lambda x: np.sum(x[np.where(x > 0.2)[0]] * np.where(x > 0.2)[0]),
    "indices": lambda x: np.sum(np.arange(len(x))[x > 0.2] * x[x > 0.2]),
    "mean and std": lambda x: np.sum(x[x > -9.0] - x[x > -9.0].mean()) + np.std(x[x > -9.0]),
    "cumsum": lambda x: np.sum(np.cumsum(x[x > 0.2])[::2]),
    "two masks": lambda x: np.sum(x[x > 0.2] * x[~(x <= 0.2)]),
    "of a selection": lambda x: np.sum(x[x > 0.2][x[x > 0.2] > 1.0] ** 2),
    "size and shape": lambda x: x[x > 0.2].size * x.sum() + x[x > 0.2].shape[0],
    "a comprehension": lambda x: np.sum(np.array([v * v for v in x[x > 0.2]])),
    "all": lambda x: np.sum(x[x > -9.0] * x),
    "none": lambda x: np.sum(x[x > 99.0] ** 2) + x.sum(),
    "a prefix": lambda x: np.sum(x[:np.sum(x > 0.2)] ** 2),
    "a span": lambda x: np.sum(x[np.sum(x < 0.0):np.sum(x > 0.2)] ** 2),
    "zeros": lambda x: np.sum((np.zeros(np.sum(x > 0.2)) + x.sum()) ** 2),
}

MATRICES: dict[str, Callable[[Any], Any]] = {
    "all axes": lambda x: np.sum(x[x > 0.2] ** 2 * np.arange(np.sum(x > 0.2))),
    "rows": lambda x: np.sum(x[x[:, 0] > -0.5] @ x.T),
    "rows, then a column": lambda x: np.sum(x[x[:, 1] > -0.5, 1] ** 2),
    "columns": lambda x: np.sum(x[:, x[0] > -0.5] ** 2 * x[:, :1]),
    "nonzero": lambda x: np.sum(x[np.nonzero(x > 0.2)] * np.nonzero(x > 0.2)[1]),
    "sum of rows": lambda x: np.sum(np.sum(x[x[:, 0] > -0.5], axis=1) ** 2),
    "transposed": lambda x: np.sum(x.T[x.T > 0.2] * np.arange(np.sum(x > 0.2))),
    "a column of it": lambda x: np.sum(x[:, 1][x[:, 1] > -0.5] ** 2),
    "max of rows": lambda x: np.sum(np.max(x[x[:, 0] > -9.0], axis=0)),
}

SIZES = {"n": X, "one, kept": X[1:2], "one, left out": X[3:4], "none": X[:0],
         "long": np.concatenate([X + 0.0137 * k for k in range(7)])}


def value_of(f: Callable[..., Any], x: np.ndarray) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
            return f(x.copy())
    except (ValueError, IndexError) as e:
        return type(e)


def differences(f: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    found = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        h = np.zeros(x.shape)
        h[i] = 1e-6
        found[i] = (value_of(f, x + h) - value_of(f, x - h)) / 2e-6
    return found


def check(f: Callable[..., Any], x: np.ndarray, g: Any = None) -> None:
    """Compare value and gradient with NumPy's and with differences."""
    g = g or tracejit.value_and_grad(f)
    expected = value_of(f, x)
    if isinstance(expected, type):
        with pytest.raises(expected):
            g(x.copy())
        return
    value, gradient = g(x.copy())
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("jit", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", VECTORS)
def test_one_program_is_right_for_all_sizes(name: str, jit: bool) -> None:
    f = VECTORS[name]
    with tracejit.config(disable_jit=not jit):
        g = tracejit.value_and_grad(f)
        for x in SIZES.values():
            check(f, x, g)


@pytest.mark.parametrize("name", MATRICES)
def test_masks_of_matrices(name: str) -> None:
    with tracejit.config(disable_jit=True):
        check(MATRICES[name], A)


def test_masks_of_matrices_compiled() -> None:
    check(lambda x: sum(f(x) for f in MATRICES.values()), A)


def test_sizes_that_data_decides_make_no_other_program() -> None:
    g = tracejit.value_and_grad(VECTORS["dot"])
    with tracejit.config(disable_jit=True):
        for x in (X, X * 0.1, X * 10.0, -X, np.tile(X, 3)):
            g(x)
    assert sum(map(len, g._table.values())) == 1


@pytest.mark.parametrize("fold", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("jit", [False, True], ids=["interpreted", "compiled"])
def test_a_fold_of_nothing_raises_numpys_error(fold: str, jit: bool) -> None:
    for f in (lambda x: getattr(np, fold)(x[x > 99.0]),
              lambda x: getattr(np, fold)(x[:np.sum(x > 99.0)])):
        with pytest.raises(ValueError) as theirs:
            f(X)
        with tracejit.config(disable_jit=not jit), pytest.raises(ValueError) as ours:
            tracejit.jit(f)(X)
        assert str(ours.value).endswith(str(theirs.value))


# --- results ------------------------------------------------------------------------------------


def chosen_by_data(x: Any) -> Any:
    return x[x > 0.2] if np.sum(x) > 0.0 else x[x < 0.2]


def filled(x: Any) -> Any:
    y = x[x > 0.2]
    for i in range(len(y)):
        y[i] *= i
    return y


def one_in_several_places(x: Any) -> Any:
    y = x[x > 0.2]
    return y, y, y[::-1], y.reshape(-1, 1), y.size


RESULTS: dict[str, Callable[[Any], Any]] = {
    "chosen by data": chosen_by_data, "filled": filled, "several": one_in_several_places,
    "a selection": lambda x: x[x > 0.2],
    "beside others": lambda x: (x[x > 0.2] * 2.0, x + 1.0, x[x > 0.2].sum()),
    "nonzero": lambda x: np.nonzero(x > 0.2), "where": lambda x: np.where(x > 0.2)[0],
    "in a dict": lambda x: {"a": x[:np.sum(x > 0.2)], "n": len(x[x > 0.2])},
    "in a list": lambda x: [x[x > 0.2][:, None] * x, x[x > 0.2][:, None] * x[x > 0.2]],
    "sorted": lambda x: (np.sort(x[x > 0.2]), np.cumsum(x[x > 0.2])),
    "dtypes": lambda x: (x[x > 0.2].astype(np.float32), x[x > 0.2] > 1.0, x[x > 0.2] + 1j),
    "joined": lambda x: np.concatenate([x[x > 0.2], x[x <= 0.2]]),
    "a part": lambda x: x[x > 0.2][1:3], "none": lambda x: x[x > 99.0],
    "of a selection": lambda x: x[x > 0.2][x[x > 0.2] > 1.0],
    "zeros": lambda x: np.zeros(np.sum(x > 0.2)), "indices": lambda x: np.arange(np.sum(x > 0.2)),
}


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return same(list(found.items()), list(expected.items()))
    if isinstance(expected, (tuple, list)):
        return type(found) is type(expected) and len(found) == len(expected) and all(
            map(same, found, expected))
    return type(found) is type(expected) and (
        not isinstance(expected, np.ndarray) or found.dtype == expected.dtype) and (
        np.shape(found) == np.shape(expected)) and (
        found == expected if isinstance(expected, str) else np.allclose(found, expected, 1e-12))


@pytest.mark.parametrize("mode", ["interpreted", "compiled", "verified"])
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_numpys_for_all_sizes(name: str, mode: str) -> None:
    f = RESULTS[name]
    with tracejit.config(disable_jit=mode == "interpreted", verify=mode == "verified"):
        compiled = tracejit.jit(f)
        for x in (*SIZES.values(), -X, 0.01 * X):
            assert same(compiled(x.copy()), f(x.copy()))


def roots(x: Any) -> Any:
    return np.sqrt(x[x > 0.2]) * np.sum(x)


def slopes_of_roots(x: np.ndarray) -> np.ndarray:
    kept = x > 0.2
    root = np.sqrt(x[kept])
    return np.diag(0.5 * x.sum() / np.sqrt(np.abs(x)))[kept] + root[:, None]


@pytest.mark.parametrize("jit", [False, True], ids=["interpreted", "compiled"])
def test_pullbacks_and_tangents_of_results(jit: bool) -> None:
    with tracejit.config(disable_jit=not jit):
        for x in (X, X[:2], X[3:4], X[:0]):
            slopes, k = slopes_of_roots(x), int(np.sum(x > 0.2))
            value, pullback = tracejit.vjp(roots, x)
            np.testing.assert_allclose(value, roots(x))
            ct = np.arange(k) + 1.0
            np.testing.assert_allclose(pullback(ct)[0], ct @ slopes)
            value, tangent = tracejit.jvp(roots, (x,), (np.arange(x.size) * 1.0,))
            np.testing.assert_allclose(tangent, slopes @ np.arange(x.size))
        with pytest.raises(ValueError, match="the cotangent of the result has shape"):
            pullback(np.ones(3))

        def within(x: Any, ct: Any) -> Any:
            value, pullback = tracejit.vjp(roots, x)
            return value, pullback(ct)[0], pullback(value)[0]

        ct = np.arange(4.0)
        value, by_ct, by_value = tracejit.jit(within)(X, ct)
        np.testing.assert_allclose(by_ct, ct @ slopes_of_roots(X))
        np.testing.assert_allclose(by_value, roots(X) @ slopes_of_roots(X))
        np.testing.assert_allclose(tracejit.jacobian(roots)(X), slopes_of_roots(X))


def cubes(x: Any) -> Any:
    y = x[x > 0.2]
    return y ** 3 @ y[::-1]


def test_second_derivatives() -> None:
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(cubes)
        steps = 1e-6 * np.eye(6)
        expected = [(slope(X + h) - slope(X - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(tracejit.hessian(cubes)(X), expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(tracejit.jvp(slope, (X,), (X,))[1], np.array(expected) @ X,
                                   rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("jit", [False, True], ids=["interpreted", "compiled"])
def test_each_element_of_a_vmap_has_sizes_of_its_own_within(jit: bool) -> None:
    with tracejit.config(disable_jit=not jit):
        rows = np.array([cubes(x) for x in A])
        np.testing.assert_allclose(tracejit.vmap(cubes)(A), rows)
        slopes = np.array([tracejit.grad(cubes)(x) for x in A])
        np.testing.assert_allclose(tracejit.vmap(tracejit.grad(cubes))(A), slopes)
        np.testing.assert_allclose(
            tracejit.grad(lambda a: np.sum(tracejit.vmap(cubes)(a)))(A), slopes)
        with pytest.raises(tracejit.Refusal, match=r"test_sizes_by_data\.py.* sizes that differ"):
            tracejit.vmap(lambda x: x[x > 0.2])(A)


def test_who_makes_room_beforehand_refuses_results_of_unknown_sizes(tmp_path: Any) -> None:
    numba = pytest.importorskip("numba")
    compiled = tracejit.jit(roots)
    with pytest.raises(tracejit.Refusal, match="exported code cannot return"):
        compiled.trace(X).lower().compile().export(tmp_path / "roots.o")

    @numba.njit
    def calls(x: Any) -> Any:
        return compiled(x)

    with pytest.raises(numba.TypingError, match="@njit code cannot return"):
        calls(X)
    slope = tracejit.grad(cubes)

    @numba.njit
    def asks(x: Any) -> Any:
        return slope(x)

    np.testing.assert_allclose(asks(X), slope(X))
    slope.trace(X).lower().compile().export(tmp_path / "slope.o")
