"""`sparse_jacobian` and `sparse_hessian` are the dense matrices, in as few products as colours."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, sparse

import tracejit
from tracejit.transforms.colorings import color_columns, color_symmetric, is_alone


def brusselator(x: Any, n: Any, alpha: Any = 0.1) -> Any:
    u, v = x[:n * n].reshape(n, n), x[n * n:].reshape(n, n)
    uv = u * u * v
    lu = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u
    lv = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4.0 * v
    du = alpha * lu + 3.4 + uv - 2.0 * u
    return np.concatenate([du.ravel(), (alpha * lv + u - uv).ravel()])


def stepped(x: Any, steps: Any) -> Any:
    y = x.copy()
    for _ in range(steps):
        y[1:-1] += 0.1 * np.sin(y[2:] - 2.0 * y[1:-1] + y[:-2])
        if y[0] > 0.5:
            y[-1] = y[0] * y[-1]
    return y


def along_edges(x: Any, left: Any, right: Any) -> Any:
    flow = np.tanh(x[left] - x[right])
    out = np.zeros(len(x))
    np.add.at(out, left, flow)
    np.add.at(out, right, -flow)
    return out


def halves(x: Any) -> Any:
    return (x[:, ::2] * x[:, 1::2]).T


def arrow(x: Any) -> Any:
    return np.array([np.sum(x * x)])


LEFT, RIGHT = np.array([0, 1, 2, 2, 4]), np.array([1, 2, 3, 4, 0])

MAPS = [(brusselator, (18,), (3,)), (stepped, (6,), (3,)), (along_edges, (5,), (LEFT, RIGHT)),
        (halves, (3, 4), ()), (arrow, (4,), ()), (lambda x: x ** 2, (), ()),
        (lambda x: np.zeros(2), (3,), ()), (lambda x: x[:0], (3,), ()), (lambda x: x * x, (0,), ()),
        (lambda x: np.sum(x ** 3), (4,), ())]


@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize(("function", "shape", "args"), MAPS)
def test_it_is_the_jacobian(function: Any, shape: Any, args: Any, mode: Any) -> None:
    rng = np.random.default_rng(2)
    jac = tracejit.sparse_jacobian(function, mode=mode)
    for _ in range(2):
        x = rng.normal(size=shape)
        x = x if shape else float(x)
        found = jac(x, *args)
        assert isinstance(found, sparse.csr_array) and found.has_canonical_format
        dense = np.reshape(tracejit.jacrev(function)(x, *args), found.shape)
        np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-14)
    assert jac.mode == mode
    assert len(jac.colors) == found.shape[mode == "fwd"]
    assert (jac.sparsity.toarray() >= (dense != 0)).all()


def test_the_mode_is_the_one_of_fewer_colours() -> None:
    counts = []
    for function in (arrow, lambda x: x[0] * np.ones(5), lambda x: x[1:] - x[:-1]):
        jac = tracejit.sparse_jacobian(function)
        jac(np.ones(6))
        counts.append((jac.mode, jac.count))
    assert counts == [("rev", 1), ("fwd", 1), ("fwd", 2)]
    assert jac.why() == "10 elements of columns in 2 colours\nno line makes a row dense"


def test_the_brusselator_takes_twelve_products() -> None:
    jac = tracejit.sparse_jacobian(brusselator, mode="fwd")
    found = jac(np.random.default_rng(0).uniform(size=2048), 32)
    assert (jac.count, found.nnz) == (12, 2048 * 6)


def test_it_is_compiled_once_for_all_sizes() -> None:
    jac = tracejit.sparse_jacobian(stepped)
    for n in (4, 7, 12):
        for dtype in (np.float64, np.float32):
            x = np.linspace(0.0, 1.0, n).astype(dtype)
            found = jac(x, 2)
            assert found.dtype == dtype
            np.testing.assert_allclose(found.toarray(), tracejit.jacfwd(stepped)(x, 2), rtol=1e-5)
    assert len(jac._programs["fwd"]._table) == 2  # one for each dtype


def test_a_pattern_is_of_its_integers() -> None:
    left = LEFT.copy()
    jac, x = tracejit.sparse_jacobian(along_edges), np.arange(5.0)
    for k in range(3):
        left[0] = k
        np.testing.assert_allclose(jac(x, left, RIGHT).toarray(),
                                   tracejit.jacfwd(along_edges)(x, left, RIGHT), atol=1e-15)


OFFSETS = [1]
PLACES = np.array([0, 1])


def test_a_pattern_is_of_what_the_function_reads_from_outside() -> None:
    def shifted(x: Any) -> Any:
        return x * np.roll(x, OFFSETS[0]) + x[PLACES[1]]

    jac, x = tracejit.sparse_jacobian(shifted), np.arange(1.0, 6.0)
    for offset, place in ((1, 1), (2, 1), (2, 4)):
        OFFSETS[0], PLACES[1] = offset, place
        np.testing.assert_allclose(jac(x).toarray(), tracejit.jacfwd(shifted)(x), atol=1e-15)


def test_results_share_no_memory() -> None:
    jac = tracejit.sparse_jacobian(lambda x: x[1:] * x[:-1])
    first = jac(np.array([1.0, 0.0, 0.0, 2.0]))
    kept = first.toarray()
    second = jac(np.array([3.0, 1.0, 1.0, 2.0]))
    second.eliminate_zeros()
    second *= 2.0
    first.eliminate_zeros()
    np.testing.assert_array_equal(first.toarray(), kept)
    np.testing.assert_array_equal(jac(np.array([1.0, 0.0, 0.0, 2.0])).toarray(), kept)


def test_the_argument_stays_as_it_is() -> None:
    def doubled(x: Any) -> Any:
        x *= 2.0
        return x * x

    x = np.array([1.0, 2.0])
    for mode in ("fwd", "rev"):
        for pattern in (None, np.eye(2)):  # which is compared
            jac = tracejit.sparse_jacobian(doubled, 0, pattern, mode)  # type: ignore[arg-type]
            np.testing.assert_array_equal(jac(x).toarray(), np.diag([8.0, 16.0]))
    np.testing.assert_array_equal(x, [1.0, 2.0])


# --- patterns that are given --------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_pattern_that_misses_an_element_is_an_error(mode: Any) -> None:
    def coupled(x: Any) -> Any:
        return x * x[0]

    given = np.eye(4)
    for form in (given, sparse.csr_matrix(given), sparse.coo_array(given)):
        jac = tracejit.sparse_jacobian(coupled, sparsity=form, mode=mode)
        with pytest.raises(ValueError, match=r"misses element \(1, 0\) of the Jacobian of coupled"):
            jac(np.ones(4))
    given[:, 0] = 1.0
    found = tracejit.sparse_jacobian(coupled, sparsity=given, mode=mode)(np.arange(1.0, 5.0))
    np.testing.assert_allclose(found.toarray(), tracejit.jacfwd(coupled)(np.arange(1.0, 5.0)))


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_pattern_of_another_shape_is_an_error(mode: Any) -> None:
    with pytest.raises(ValueError, match="3 columns, and the argument 4 elements"):
        tracejit.sparse_jacobian(np.sin, sparsity=np.eye(3), mode=mode)(np.ones(4))
    with pytest.raises(ValueError, match="another size than its pattern"):
        tracejit.sparse_jacobian(np.sin, sparsity=np.ones((2, 4)), mode=mode)(np.ones(4))
    with pytest.raises(ValueError, match="two axes"):
        tracejit.sparse_jacobian(np.sin, sparsity=np.ones(4), mode=mode)
    with pytest.raises(ValueError, match='"auto"'):
        tracejit.sparse_jacobian(np.sin, mode="both")  # type: ignore[arg-type]


def test_in_verify_mode_a_pattern_that_was_found_is_compared() -> None:
    jac = tracejit.sparse_jacobian(lambda x: x * x[0])
    jac._detector.find = lambda args, kwargs: tracejit.sparse_jacobian(  # type: ignore
        np.sin, sparsity=np.eye(3))._given
    with tracejit.config(verify=False):
        jac(np.ones(3))
    jac._colored.clear()
    with tracejit.config(verify=True), pytest.raises(ValueError, match="misses element"):
        jac(np.ones(3))


def test_functions_with_a_pullback_alone_go_back() -> None:
    @tracejit.custom_gradient
    def turned(x: Any) -> Any:
        return np.round(x), lambda ct: 2.0 * ct[::-1]

    jac = tracejit.sparse_jacobian(lambda x: turned(x) * 3.0)
    with tracejit.config(verify=True):
        np.testing.assert_array_equal(jac(np.ones(3)).toarray(), 6.0 * np.eye(3)[::-1])
    assert jac.mode == "rev"
    with pytest.raises(ValueError, match=r"misses element \(0, 2\)"):
        tracejit.sparse_jacobian(turned, sparsity=np.eye(3), mode="rev")(np.ones(3))
    with pytest.raises(LookupError, match="reverse mode"):
        tracejit.sparse_jacobian(turned, mode="fwd")(np.ones(3))


def test_sparse_arrays_of_halves_are_refused() -> None:
    with pytest.raises(TypeError, match="float16"):
        tracejit.sparse_jacobian(np.sin)(np.ones(3, np.float16))


# --- colours ------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10 ** 6))
def test_columns_of_one_colour_have_no_row_in_common(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = rng.uniform(size=rng.integers(0, 9, size=2)) < rng.uniform()
    colors, count = color_columns(*np.nonzero(pattern), pattern.shape)
    for color in range(count):
        assert (pattern[:, colors == color].sum(axis=1) <= 1).all()
    assert len(colors) == pattern.shape[1]
    assert not pattern.any() or count == colors.max() + 1 >= pattern.sum(axis=1).max()


def test_colours_of_bands_are_the_fewest() -> None:
    for width in (1, 3, 5):
        matrix = sparse.diags_array([1.0] * width, offsets=range(-(width // 2), width // 2 + 1),
                                    shape=(50, 50)).tocoo()
        assert color_columns(matrix.row, matrix.col, matrix.shape)[1] == width


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10 ** 6))
def test_products_by_colours_of_a_symmetric_matrix_have_all_its_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 12))
    pattern = rng.uniform(size=(n, n)) < rng.uniform()
    rows, columns = np.nonzero(pattern | pattern.T)
    matrix = np.zeros((n, n))
    matrix[rows, columns] = rng.normal(size=(n, n))[rows, columns]
    matrix = matrix + matrix.T
    colors, count = color_symmetric(rows, columns, n)
    products = np.array([matrix @ (colors == k) for k in range(count)]).reshape(count, n)
    alone = is_alone(rows, colors[columns])
    found = np.where(alone, products[colors[columns], rows], products[colors[rows], columns])
    np.testing.assert_allclose(found, matrix[rows, columns], rtol=1e-12)


def test_symmetry_saves_colours() -> None:
    grid = sparse.kronsum(*[sparse.diags_array([1.0] * 3, offsets=[-1, 0, 1], shape=(9, 9))] * 2)
    grid = grid.tocoo()
    assert color_symmetric(grid.row, grid.col, 81)[1] < color_columns(
        grid.row, grid.col, grid.shape)[1]


# --- Hessians -----------------------------------------------------------------------------------


def rosenbrock(x: Any, a: Any = 1.0, b: Any = 100.0) -> Any:
    return np.sum(b * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


def by_elements(x: Any) -> Any:
    total = 0.0
    for i in range(1, len(x)):
        total += np.exp(x[i] * x[i - 1]) if x[i] > 0.0 else x[i] ** 3
    return total


def with_a_hub(x: Any) -> Any:
    return np.sum(np.sin(x[1:] * x[:-1]) * x[-1])


def of_a_list(x: Any) -> Any:
    _ = [v for k, v in enumerate(x) if k % 2 == 0]  # in a Log, which is read once
    return np.sum((x[::-1] * x[1]) ** 3)


def of_a_loop(x: Any) -> Any:
    return np.sum(stepped(x, 2) ** 3)


@pytest.mark.parametrize(("function", "args"), [
    (rosenbrock, (1.0, 50.0)), (by_elements, ()), (of_a_loop, ()), (of_a_list, ()),
    (with_a_hub, ()), (lambda x: np.sum(x), ())])
def test_it_is_the_hessian(function: Any, args: Any) -> None:
    hess = tracejit.sparse_hessian(function)
    for n in (2, 6):
        x = np.random.default_rng(n).normal(size=n)
        found = hess(x, *args).toarray()
        np.testing.assert_allclose(found, tracejit.hessian(function)(x, *args), rtol=1e-12,
                                   atol=1e-13)


def test_one_number_that_all_share_costs_one_product() -> None:
    hess, x = tracejit.sparse_hessian(with_a_hub), np.linspace(0.0, 1.0, 30)
    found = hess(x).toarray()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, tracejit.hessian(with_a_hub)(x), atol=1e-14)
    assert hess.count == 4 < np.count_nonzero(found[-1])


def test_the_hessian_of_a_chain_takes_three_products() -> None:
    hess = tracejit.sparse_hessian(rosenbrock)
    assert hess(np.ones(50)).nnz == 148 and hess.count == 3
    with pytest.raises(ValueError, match="square"):
        tracejit.sparse_hessian(rosenbrock, sparsity=np.ones((2, 3)))
    with pytest.raises(ValueError, match="misses element"):
        tracejit.sparse_hessian(rosenbrock, sparsity=np.eye(3))(np.ones(3))
    with pytest.raises(TypeError, match="scalar"):
        tracejit.sparse_hessian(np.sin)(np.ones(3))


# --- use ----------------------------------------------------------------------------------------


def test_it_goes_through_pickle() -> None:
    jac = pickle.loads(pickle.dumps(tracejit.sparse_jacobian(stepped, mode="rev")))
    x = np.linspace(0.0, 1.0, 5)
    np.testing.assert_allclose(jac(x, 2).toarray(), tracejit.jacfwd(stepped)(x, 2))


def test_captured_code_does_not_call_it() -> None:
    jac = tracejit.sparse_jacobian(lambda x: x * x)
    with pytest.raises(TypeError, match="outside of captured code"):
        tracejit.jit(lambda x: jac(x))(np.ones(3))
    with pytest.raises(AttributeError, match="before the first call"):
        len(jac.colors)


def heat(t: Any, y: Any, k: Any) -> Any:
    inside = np.concatenate([y[:1], y, y[-1:]])
    return k * (inside[2:] - 2.0 * y + inside[:-2]) - y ** 3


@pytest.mark.parametrize("method", ["BDF", "Radau"])
def test_stiff_solvers_take_the_jacobian(method: str) -> None:
    y, jac = np.sin(np.linspace(0.0, 3.0, 12)), tracejit.sparse_jacobian(heat, argnums=1)
    found, expected = (integrate.solve_ivp(heat, (0.0, 0.1), y, method=method, args=(50.0,), jac=j,
                                           rtol=1e-6, atol=1e-9) for j in (jac, None))
    np.testing.assert_allclose(found.y[:, -1], expected.y[:, -1], rtol=1e-4)
    assert jac.count == 3


def test_least_squares_takes_the_jacobian() -> None:
    def residuals(x: Any, b: Any) -> Any:
        return np.concatenate([b * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])

    found = optimize.least_squares(residuals, np.zeros(6), tracejit.sparse_jacobian(residuals),
                                   args=(10.0,), tr_solver="lsmr")
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-4)


@pytest.mark.parametrize("method", ["trust-constr", "Newton-CG"])
def test_minimisers_take_the_hessian(method: str) -> None:
    found = optimize.minimize(tracejit.value_and_grad(rosenbrock), np.zeros(6), args=(1.0, 10.0),
                              jac=True, hess=tracejit.sparse_hessian(rosenbrock), method=method,
                              tol=1e-9)
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-4)
