"""`sweep`: results are those of single calls, in order, on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import joblib
import numpy as np
import pytest

import tracejit

TIMES = np.linspace(0.0, 4.0, 50)


def misfit(k: Any, t: Any, shift: float = 0.0) -> Any:
    return np.sum((np.exp(-k * t) - np.exp(-t) - shift) ** 2)


GRADIENT = tracejit.value_and_grad(misfit)
RATES = [float(k) for k in np.linspace(0.1, 3.0, 23)]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as made:
        yield made


def test_results_are_those_of_calls_in_order(pool: ProcessPoolExecutor) -> None:
    expected = [GRADIENT(k, TIMES) for k in RATES]
    with ThreadPoolExecutor(3) as threads:
        for on in (None, threads, pool, joblib.Parallel(
                2, prefer="threads", return_as="generator_unordered")):
            for _ in range(3):
                assert tracejit.sweep(GRADIENT, RATES, on, common={"t": TIMES}) == expected


def test_dask_computes_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    asked = []
    with Client(processes=False, n_workers=1, threads_per_worker=2,
                dashboard_address=None) as client:
        submit = client.map
        monkeypatch.setattr(client, "map", lambda f, *calls, **options: asked.append(
            len(calls[1])) or submit(f, *calls, **options))
        found = tracejit.sweep(GRADIENT, RATES, client, common={"t": TIMES})
    assert found == [GRADIENT(k, TIMES) for k in RATES]
    assert asked == [8]  # and not 23


def test_sets_are_dicts_tuples_or_first_arguments() -> None:
    expected = [GRADIENT(k, TIMES, 0.5) for k in RATES[:3]]
    shared = {"t": TIMES, "shift": 0.5}
    assert tracejit.sweep(GRADIENT, RATES[:3], common=shared) == expected
    assert tracejit.sweep(GRADIENT, ({"k": k} for k in RATES[:3]), common=shared) == expected
    assert tracejit.sweep(GRADIENT, [(k, TIMES, 0.5) for k in RATES[:3]]) == expected
    assert tracejit.sweep(GRADIENT, [(k, TIMES) for k in RATES[:3]],
                          common={"shift": 0.5}) == expected
    assert tracejit.sweep(GRADIENT, []) == []


def test_sets_of_other_kinds_and_sizes_have_their_programs(pool: ProcessPoolExecutor) -> None:
    def f(x: Any, scale: float) -> Any:
        return {"sum": np.sum(x) * scale, "x": x * 2}

    sets = [np.ones(3), np.ones(5), np.ones((2, 2)), np.arange(4), np.zeros(0), 2.0]
    for on in (None, pool):
        found = tracejit.sweep(f, sets, on, common={"scale": 3.0})
        for x, r in zip(sets, found, strict=True):
            assert r["sum"] == np.sum(x) * 3.0
            np.testing.assert_array_equal(r["x"], x * 2)


def test_what_a_function_reads_is_as_it_is_now() -> None:
    rate = np.array([1.0, 2.0])
    g = tracejit.jit(lambda x: np.sum(x * rate))
    assert tracejit.sweep(g, [1.0, 2.0]) == [3.0, 6.0]
    rate[0] = 4.0
    assert tracejit.sweep(g, [1.0, 2.0]) == [6.0, 12.0]


def test_a_program_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracejit.runtime.stages import Lowered

    made = []
    compile_ = Lowered.compile
    monkeypatch.setattr(Lowered, "compile", lambda self: made.append(1) or compile_(self))
    g = tracejit.jit(lambda x: x * x + 1.0)
    for _ in range(3):
        assert tracejit.sweep(g, [1.0, 2.0]) == [2.0, 5.0]
        assert tracejit.sum_over(g, over="x")([np.ones(2), np.ones(2)]).tolist() == [4.0, 4.0]
    assert len(made) == 2


@pytest.mark.parametrize(("make", "why"), [
    (lambda: tracejit.sweep(GRADIENT, [{"k": 1.0}, {"k": 1.0, "shift": 0.0}],
                            common={"t": TIMES}), "set 1 of the parameters has k, shift"),
    (lambda: tracejit.sweep(GRADIENT, [{"k": 1.0, "t": TIMES}], common={"t": TIMES}),
     "t is common, and in set 0"),
    (lambda: tracejit.sweep(GRADIENT, [1.0]), "missing a required argument: 't'"),
    (lambda: tracejit.sweep(GRADIENT, [1.0], "threads", common={"t": TIMES}), "on= is a Dask"),
    (lambda: tracejit.sweep(5, [1.0]), "takes a function")])
def test_sets_that_do_not_fit_are_errors(make: Callable[[], Any], why: str) -> None:
    with pytest.raises(TypeError, match=why):
        make()


def test_the_error_is_that_of_the_first_set(pool: ProcessPoolExecutor) -> None:
    def f(a: Any) -> Any:
        return np.linalg.solve(a, np.ones(2))

    sets = [np.eye(2), np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))]
    for on in (None, pool):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            tracejit.sweep(f, sets, on)
        assert caught.value.__notes__[-1] == "in set 1 of 4 of the parameters"
