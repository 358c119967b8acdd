"""`sum_over` in this process and in pools: sums, their bits, what is seen and what is refused."""

from __future__ import annotations

import itertools
import pickle
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.optimize

import tracejit
from tracejit.scale.cutting import digest_of
from tracejit.scale.results import require_sum_of_halves
from tracejit.scale.trees import TreeSum


def loss(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return np.sum(np.maximum(z, 0.0) - z * y + np.log1p(np.exp(-np.abs(z))))


GRADIENT = tracejit.value_and_grad(loss)
RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(230, 3)), (RNG.random(230) < 0.5) * 1.0, RNG.normal(size=3)


def bits(result: Any) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in result]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
        yield pool


# --- the tree -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_a_tree_has_the_same_bits_for_all_orders_and_parts(count: int) -> None:
    terms = [[float(x), np.array([x, -x])] for x in RNG.normal(size=count) * 10.0 ** RNG.integers(
        -8, 8, count)]
    found = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        whole, order = TreeSum(count), rng.permutation(count)
        parts = [TreeSum(count) for _ in range(3)]
        for n in order:
            parts[rng.integers(3)].add(int(n), terms[n])
        branches = [b for part in parts for b in part.branches()]
        for k in rng.permutation(len(branches)):
            whole.add_branch(branches[k])
        found.add(b"".join(bits(whole.total())))
    assert len(found) == 1
    np.testing.assert_allclose(whole.total()[0], sum(t[0] for t in terms), rtol=1e-12, atol=1e-9)


def test_a_sum_of_some_chunks_is_an_error() -> None:
    total = TreeSum(5)
    for n in (0, 1, 2, 4):
        total.add(n, [1.0])
    with pytest.raises(AssertionError, match="4 of 5"):
        total.total()
    with pytest.raises(AssertionError, match="twice"):
        total.add(4, [1.0])
    total.add(3, [1.0])
    assert total.total() == [5.0]
    total.add(0, [1.0])
    with pytest.raises(AssertionError, match="6 of 5"):
        total.total()


# --- sums ---------------------------------------------------------------------------------------


def test_the_sum_is_that_of_all_rows_and_minimize_takes_it() -> None:
    total = tracejit.sum_over(GRADIENT, rows=50)
    for found, whole in zip(total(W, X, Y), GRADIENT(W, X, Y), strict=True):
        np.testing.assert_allclose(found, whole, rtol=1e-12)
        assert type(found) is type(whole)
    fit = scipy.optimize.minimize(total, np.zeros(3), args=(X, Y), jac=True)
    newton = scipy.optimize.minimize(total, np.zeros(3), args=(X, Y), jac=True,
                                     method="trust-ncg", hessp=total.hessp)
    whole = scipy.optimize.minimize(GRADIENT, np.zeros(3), args=(X, Y), jac=True)
    np.testing.assert_allclose(fit.x, whole.x, atol=1e-4)
    np.testing.assert_allclose(newton.x, whole.x, atol=1e-4)


@pytest.mark.parametrize("f", [
    lambda w, x: (w[0] * x.sum(), len(x), np.sum(x, axis=0)), lambda w, x: np.sum(x) * 1j,
    lambda w, x: {"a": np.sum(x ** 2), "b": [x.astype(np.float32).sum()]},
    lambda w, x: np.sum(x[x > w[0]]), lambda w, x: np.array(np.sum(x))])
def test_other_results_add_up(f: Callable[..., Any]) -> None:
    total = tracejit.sum_over(f, over="x", rows=64)(W, X)
    whole = tracejit.jit(f)(W, X)
    kinds = [[type(leaf) for leaf in _leaves(r)] for r in (total, whole)]
    assert kinds[0] == kinds[1]
    for a, b in zip(_leaves(total), _leaves(whole), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4 if np.asarray(b).dtype == np.float32 else 1e-12)


def _leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return [leaf for k in x for leaf in _leaves(x[k])]
    return [leaf for y in x for leaf in _leaves(y)] if isinstance(x, (tuple, list)) else [x]


def test_the_sum_of_gradients_is_the_gradient_of_the_sum() -> None:
    """Neither local nor scaled by the number of workers: jax#3970, jax#36886."""
    with ThreadPoolExecutor(3) as threads:
        for on, rows in itertools.product((None, threads), (230, 100, 7)):
            _, slope = tracejit.sum_over(GRADIENT, on=on, rows=rows)(W, X, Y)
            differences = scipy.optimize.approx_fprime(W, lambda w: loss(w, X, Y))
            np.testing.assert_allclose(slope, differences, rtol=1e-5)


def test_the_hessian_times_a_direction() -> None:
    total, p = tracejit.sum_over(GRADIENT, rows=50), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(total.hessp(W, p, X, Y), tracejit.hessp(loss)(W, p, X, Y),
                               rtol=1e-12)
    alone = tracejit.sum_over(lambda w, p, x, y: tracejit.hessp(loss)(w, p, x, y), rows=50)
    np.testing.assert_allclose(alone(W, p, X, Y), total.hessp(W, p, X, Y), rtol=1e-12)


# --- chunks -------------------------------------------------------------------------------------

CUTS = [0, 10, 10, 11, 120, 230]
PIECES = [(X[a:b], Y[a:b]) for a, b in itertools.pairwise(CUTS)]


def test_chunks_of_all_sizes_have_one_program() -> None:
    """No size compiles anew, so that no worker is late for it: netket#654, mpi4jax#2."""
    total = tracejit.sum_over(GRADIENT)
    found = total(W, [x for x, _ in PIECES], [y for _, y in PIECES])
    np.testing.assert_allclose(found[1], GRADIENT(W, X, Y)[1], rtol=1e-12)
    assert len(total._programs["value"].current()) == 1


def test_arrays_of_each_layout_are_chunks() -> None:
    expected = tracejit.sum_over(GRADIENT, rows=60)(W, X, Y)
    wide = np.zeros((230, 6))
    wide[:, ::2] = X
    total = tracejit.sum_over(GRADIENT, rows=60)
    for x in (np.asfortranarray(X), wide[:, ::2], X.astype(">f8"), X[::-1][::-1]):
        assert bits(total(W, x, Y)) == bits(expected)
        assert bits(total(W[::-1].copy()[::-1], x, Y)) == bits(expected)
    assert len(total._programs["value"].current()) == 1


def test_no_rows_at_all() -> None:
    value, slope = tracejit.sum_over(GRADIENT)(W, X[:0], Y[:0])
    assert value == 0.0
    assert slope.tolist() == [0.0, 0.0, 0.0]


def test_a_function_makes_its_chunk_at_each_step_and_it_is_dropped() -> None:
    made: list[weakref.ref[Any]] = []
    alive = []

    def chunk(k: int) -> Any:
        alive.append(sum(r() is not None for r in made))
        x = PIECES[k][0].copy()
        made.append(weakref.ref(x))
        return x

    makers = [lambda k=k: chunk(k) for k in range(len(PIECES))]
    total = tracejit.sum_over(GRADIENT)
    labels = [y for _, y in PIECES]
    first = total(W, makers, labels)
    number = len(made)
    assert bits(total(W, makers, labels)) == bits(first)
    assert len(made) == number + len(PIECES)
    assert max(alive) <= 1
    np.testing.assert_allclose(first[1], GRADIENT(W, X, Y)[1], rtol=1e-12)


def test_chunks_of_dask_arrays_also_with_columns_in_pieces() -> None:
    import dask.array as da

    with ThreadPoolExecutor(2) as on:
        x, y = da.from_array(X, chunks=(50, 2)), da.from_array(Y, chunks=50)
        expected = tracejit.sum_over(GRADIENT, rows=50)(W, X, Y)
        assert bits(tracejit.sum_over(GRADIENT, on=on)(W, x, y)) == bits(expected)
        assert bits(tracejit.sum_over(GRADIENT, on=on)(W, x, Y)) == bits(expected)
        few = x[x[:, 0] > 5.0], y[x[:, 0] > 5.0]  # chunks of sizes that are not known, and 0
        assert tracejit.sum_over(GRADIENT)(W, *few)[0] == 0.0


def test_dask_guesses_the_type_of_a_compiled_function_by_an_array_of_size_0() -> None:
    """xarray#3168, xarray#3574, dask#7668."""
    import dask.array as da

    f = tracejit.jit(lambda x: np.sin(x) * x[:, :1])
    found = da.map_blocks(f, da.from_array(X, chunks=(100, 3)))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.compute(scheduler="sync"), np.sin(X) * X[:, :1], rtol=1e-12)


def test_sums_keep_the_shape_of_results() -> None:
    """`map_blocks(drop_axis=)` puts results in a row: dask#8830, dask#8637."""
    import dask.array as da

    outer = tracejit.sum_over(lambda x: x.T @ x, over="x")
    np.testing.assert_allclose(outer(da.from_array(X, chunks=(50, 3))), X.T @ X, rtol=1e-12)


@pytest.mark.parametrize("shape", [(5,), (20_000, 3), (3, 4096, 2), (0, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.complex64])
def test_a_digest_tells_each_change(shape: tuple[int, ...], dtype: Any) -> None:
    """Of one element, and each exchange of two, wherever they are."""
    x = (np.random.default_rng(1).normal(size=shape) * 50).astype(dtype)
    flat, known = x.reshape(-1), digest_of(x)
    assert digest_of(x.copy()) == known
    rng, changes = np.random.default_rng(2), 0
    for k in range(60 if x.size else 0):
        i, j = rng.integers(0, x.size, 2) if k else (0, x.size - 1)
        if k % 3 == 0:
            j = (i + 4096 * int(rng.integers(1, 6))) % x.size  # sums by columns do not tell these
        before = flat.copy()
        flat[[i, j]] = flat[[j, i]]
        if k % 2:
            flat[i] += 1
        if not np.array_equal(flat, before):
            changes += 1
            assert digest_of(x) != known
            flat[:] = before
    assert changes > 20 or not x.size
    assert digest_of(x[..., None]) != digest_of(x)


def test_rounding_errors_are_no_sums_of_anything() -> None:
    require_sum_of_halves("f", 3e-31, 2e-31, 2e-31, 1.0)
    require_sum_of_halves("f", 3e-15, 2e-15, 2e-15, 1e8)
    require_sum_of_halves("f", np.float32(1.0), np.float32(0.5), np.float32(0.501), 1.0)
    for whole, first in ((3.0, 2.0), (np.array([1.0, 3.0]), np.array([0.5, 2.0])), (1.0, 0.501)):
        with pytest.raises(ValueError, match="f of a chunk"):
            require_sum_of_halves("f", whole, first, first, 1.0)


# --- pools --------------------------------------------------------------------------------------


def test_pools_have_the_bits_of_one_thread(processes: ProcessPoolExecutor) -> None:
    expected = bits(tracejit.sum_over(GRADIENT, rows=20)(W, X, Y))
    with ThreadPoolExecutor(3) as threads:
        for on in (threads, processes, joblib.Parallel(2, prefer="threads"),
                   joblib.Parallel(2, return_as="generator_unordered", prefer="threads")):
            total = tracejit.sum_over(GRADIENT, on=on, rows=20)
            assert {tuple(bits(total(W, X, Y))) for _ in range(10)} == {tuple(expected)}


RATE = 1.0


def test_pools_run_closures_and_see_what_changes(processes: ProcessPoolExecutor) -> None:
    """Programs go there as machine code: no name has to lead to a function."""
    global RATE
    scale, shift = np.array([1.0, 2.0, 3.0]), 0.5

    def f(w: Any, x: Any) -> Any:
        return np.sum((x * scale * RATE - shift) @ w)

    def expected() -> Any:
        return np.sum((x * scale * RATE - shift) @ W)

    x = X.copy()
    for on in (None, processes):
        total = tracejit.sum_over(f, over="x", on=on, rows=100)
        np.testing.assert_allclose(total(W, x), expected(), rtol=1e-12)
        scale[0] += 1.0
        np.testing.assert_allclose(total(W, x), expected(), rtol=1e-12)
        shift += 1.0
        RATE += 1.0
        np.testing.assert_allclose(total(W, x), expected(), rtol=1e-12)
        x[7, 1] += 1.0
        np.testing.assert_allclose(total(W, x), expected(), rtol=1e-12)
        x[[3, 4]] = x[[4, 3]]
        x[100:150, 0] = x[100:150, 0][::-1].copy()
        np.testing.assert_allclose(total(W, x), expected(), rtol=1e-12)
    RATE = 1.0


def _made(k: int) -> Any:
    return PIECES[k][0]


def test_pools_take_functions_that_make_chunks(processes: ProcessPoolExecutor) -> None:
    makers = [lambda k=k: _made(k) for k in range(len(PIECES))]
    labels = [y for _, y in PIECES]
    total = tracejit.sum_over(GRADIENT, on=processes)
    assert bits(total(W, makers, labels)) == bits(tracejit.sum_over(GRADIENT)(W, makers, labels))


def _ends() -> Any:
    import os

    os._exit(1)


def test_a_process_that_ends_is_an_error() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool:
        total = tracejit.sum_over(lambda w, x: np.sum(x) * w, over="x", on=pool)
        with pytest.raises(Exception, match="terminated abruptly"):
            total(1.0, [X, _ends])


def test_chunks_are_let_go(processes: ProcessPoolExecutor) -> None:
    import os

    total = tracejit.sum_over(GRADIENT, on=processes)
    first = total(W, X, Y)
    folder = total._placed.engine.folder  # type: ignore[union-attr]
    assert os.path.isdir(folder)
    total.close()
    assert not os.path.isdir(folder)
    assert bits(total(W, X, Y)) == bits(first)
    total.close()


# --- refusals -----------------------------------------------------------------------------------


def test_what_is_no_sum_over_rows_is_an_error() -> None:
    def penalised(w: Any, x: Any, y: Any) -> Any:
        return loss(w, x, y) + 0.1 * w @ w

    def mean(w: Any, x: Any, y: Any) -> Any:
        return np.mean((x @ w - y) ** 2)

    for f in (penalised, mean, lambda w, x, y: x @ w - y):
        g = f if f.__name__ == "<lambda>" else tracejit.value_and_grad(f)
        total = tracejit.sum_over(g, rows=115)
        for _ in range(2):
            with pytest.raises(ValueError, match="no sum over rows"):
                total(W, X, Y)
    for f in (lambda x: np.max(x), lambda x: np.sqrt(np.sum(x ** 2)),
              lambda x: np.sum(np.diff(x, axis=0) ** 2), lambda x: (len(x) + 1, x[0])):
        with pytest.raises(ValueError, match="no sum over rows"):
            tracejit.sum_over(f, over="x", rows=115)(X)
    near = X @ W  # of a fit without residuals there are rounding errors alone
    residuals = tracejit.sum_over(lambda w, x, y: np.sum((x @ w - y) ** 2), rows=115)
    for scale in (1.0, 1e8):
        assert residuals(W, X * scale, near * scale)[()] < 1e-20 * scale ** 2
    in_pieces = tracejit.sum_over(tracejit.value_and_grad(penalised))  # a term for each, meant so
    assert in_pieces(W, [X, X], [Y, Y])[0] == pytest.approx(2.0 * penalised(W, X, Y))


def _writes(w: Any, x: Any) -> Any:
    x[0] = 0.0
    return np.sum(x) * w


def _reads_a_file(w: Any, x: Any) -> Any:
    return np.sum(x) * w * len(Path(__file__).read_bytes())


@pytest.mark.parametrize(("f", "why"), [
    (_writes, "writes to its arguments"), (_reads_a_file, "reads state that may differ"),
    (lambda w, x: np.any(x > w), "bool"), (lambda w, x: (np.sum(x), "text"), "do not add up")])
def test_what_workers_cannot_do_is_refused(f: Callable[..., Any], why: str) -> None:
    with pytest.raises(TypeError, match=why):
        tracejit.sum_over(f, over="x")(1.0, X)


VARIABLE = tracejit.Variable(2.0)


@pytest.mark.parametrize(("call", "why"), [
    (lambda total: tracejit.grad(lambda w: total(w, X, Y)[0])(W), "within a function that is capt"),
    (lambda total: total(tracejit.Variable(W), X, Y), "Pass its value"),
    (lambda total: pickle.dumps(total), "Make it where it is called"),
    (lambda total: tracejit.sum_over(lambda k, x: np.sum(x) if k else 0.0, over="x")("a", X),
     "takes 'a'"),
    (lambda total: tracejit.sum_over(lambda x: np.sum(x) * VARIABLE, over="x")(X), "variable"),
])
def test_what_stays_in_this_process_is_refused(call: Callable[[Any], Any], why: str) -> None:
    with pytest.raises((TypeError, tracejit.Refusal), match=why):
        call(tracejit.sum_over(GRADIENT))


def test_nan_is_an_error_where_it_is_asked_for() -> None:
    total, bad = tracejit.sum_over(GRADIENT, rows=100), X.copy()
    bad[200, 0] = np.nan
    assert np.isnan(total(W, bad, Y)[0])
    with tracejit.config(debug_nans=True), pytest.raises(FloatingPointError, match="loss"):
        total(W, bad, Y)


def test_a_dask_array_that_was_written_to_is_another_one() -> None:
    import dask.array as da

    x, total = da.from_array(X.copy(), chunks=(100, 3)), tracejit.sum_over(GRADIENT)
    total(W, x, Y)
    x[0] = 5.0
    np.testing.assert_allclose(total(W, x, Y)[0], loss(W, x.compute(scheduler="sync"), Y))


def test_threads_of_this_process_may_call_at_once() -> None:
    total, found = tracejit.sum_over(GRADIENT, rows=50), []
    with ThreadPoolExecutor(4) as threads:
        for k in range(24):
            found.append((k, threads.submit(total, W * k, X, Y)))
    for k, future in found:
        assert future.result()[0] == pytest.approx(loss(W * k, X, Y), rel=1e-12)


def test_rows_of_results_do_not_add_up() -> None:
    with pytest.raises(ValueError, match="do not add up"):
        tracejit.sum_over(lambda w, x: x * w, over="x")(1.0, [X[:3], X[:4]])


@pytest.mark.parametrize(("make", "why"), [
    (lambda: tracejit.sum_over(GRADIENT, over="z"), "over= names 'z'"),
    (lambda: tracejit.sum_over(GRADIENT, over=("x", 1)), "each once"),
    (lambda: tracejit.sum_over(GRADIENT, rows=0), "from 1 on"),
    (lambda: tracejit.sum_over(tracejit.value_and_grad(loss, argnums=(0, 1))), "by x, which is sp"),
    (lambda: tracejit.sum_over(tracejit.grad(loss, argnums="y")), "by y, which is split"),
    (lambda: tracejit.sum_over(GRADIENT)(W, X, Y[:5]), "different numbers of rows"),
    (lambda: tracejit.sum_over(GRADIENT)(W, [X], [Y, Y]), "different numbers of chunks"),
    (lambda: tracejit.sum_over(GRADIENT)(W, [X], Y[:5]), "other lengths"),
    (lambda: tracejit.sum_over(GRADIENT)(W, [], []), "no chunks"),
    (lambda: tracejit.sum_over(GRADIENT)(W, np.array(1.0), Y), "no axis"),
])
def test_arguments_that_cannot_be_split(make: Callable[[], Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


@pytest.mark.parametrize(("make", "why"), [
    (lambda: tracejit.sum_over(GRADIENT, on="threads"), "on= is a Dask Client"),
    (lambda: tracejit.sum_over(3), "takes a function"),
    (lambda: tracejit.sum_over(GRADIENT)(W, X), "missing"),
    (lambda: tracejit.sum_over(GRADIENT)(W, {1: X}, Y), "is a dict"),
    (lambda: tracejit.sum_over(GRADIENT)(W, [np.ma.masked_array(X)], [Y]), "MaskedArray"),
    (lambda: tracejit.sum_over(GRADIENT)(W, [[1.0]], [Y]), "is a list"),
    (lambda: tracejit.sum_over(tracejit.grad(loss)).hessp(W, W, X, Y), "hessp needs"),
    (lambda: tracejit.sum_over(tracejit.jit(loss, target="cuda")), "runs on CPUs"),
])
def test_other_arguments_are_errors_of_type(make: Callable[[], Any], why: str) -> None:
    with pytest.raises((TypeError, tracejit.Refusal), match=why):
        make()


def test_the_error_is_that_of_the_first_chunk(processes: ProcessPoolExecutor) -> None:
    with ThreadPoolExecutor(2) as threads:
        for on in (None, threads, processes):
            total = tracejit.sum_over(GRADIENT, on=on)
            bad = [X, X[:, :2], X, X[:, :1]]
            with pytest.raises(ValueError) as caught:
                total(W, bad, [Y] * 4)
            assert caught.value.__notes__[-1] == "in chunk 1 of 4"
            assert total(W, [X] * 4, [Y] * 4)[0] == pytest.approx(4 * loss(W, X, Y))


def test_progress_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    total = tracejit.sum_over(GRADIENT, rows=100, progress=True)
    total(W, X, Y)
    total(W, X, Y)
    assert "loss: step 2, 3 of 3 chunks" in capsys.readouterr().err


def test_the_example_of_streamed_rows_is_the_gradient_by_hand(
        monkeypatch: pytest.MonkeyPatch) -> None:
    from examples import billion_rows as example

    monkeypatch.setattr(example, "CHUNK", 100)
    makers = example.chunks_of("250")
    rows = np.concatenate([make() for make in makers], axis=1)
    total = tracejit.sum_over(tracejit.value_and_grad(example.loss), over="rows")
    assert [make().shape for make in makers] == [(5, 100), (5, 100), (5, 50)]
    for found, expected in zip(total(example.TRUE, makers), example.by_hand(example.TRUE, rows),
                               strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
