"""Transformed functions in other processes: pickles, forks, joblib, a cluster of Dask."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import tracejit

ROOT = Path(__file__).parents[2]
X = np.array([0.3, 0.5, 0.9])


@tracejit.grad
def decorated(x: Any) -> Any:
    return np.sum(x ** 3)


def cubes(x: Any) -> Any:
    return np.sum(x ** 3)


def plain(x: Any, k: Any = 2.0) -> Any:
    return np.sum(np.sin(x)) * k


class Model:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    @tracejit.grad
    def slope(x: Any, self: Any) -> Any:
        return np.sum(x * x) * self.rate

    def loss(self, x: Any) -> Any:
        return np.sum(x * x) * self.rate


FUNCTIONS = {
    "decorated": decorated, "transformed": tracejit.value_and_grad(plain),
    "settings": tracejit.grad(plain, argnums=(0, 1), fp="strict"),
    "nested": tracejit.jit(tracejit.grad(plain)), "method": tracejit.grad(Model(2.0).loss),
    "partial": tracejit.grad(functools.partial(plain, k=3.0)), "in a class": Model.slope,
}


def call(g: Any) -> Any:
    args = (X, 2.0) if g.transform.settings[:1] == ((0, 1),) else (
        (X, Model(3.0)) if "slope" in g.__repr__() else (X,))
    with tracejit.config(disable_jit=True):
        return g(*args)


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_pickles(name: str, dumps: Any) -> None:
    g = FUNCTIONS[name]
    again = pickle.loads(dumps(g))
    assert repr(call(again)) == repr(call(g))
    assert (again is g) == (name in ("decorated", "in a class"))


def test_lambdas_go_by_value() -> None:
    k = 3.0
    g = tracejit.grad(lambda x: np.sum(x * x) * k)
    with tracejit.config(disable_jit=True):
        np.testing.assert_array_equal(pickle.loads(cloudpickle.dumps(g))(X), 6.0 * X)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(g)


def test_what_belongs_to_a_process_says_so() -> None:
    x = tracejit.Variable(X)
    with tracejit.GradientTape() as tape:
        y = np.sum(x * x)
    assert tape.gradient(y, x) is not None
    from tracejit.runtime.function import make_function
    from tracejit.runtime.graphs import NativeKernel

    function = make_function(NativeKernel(tape.graph(y, x)))
    with pytest.raises(TypeError, match="belongs to this process"):
        pickle.dumps(function)


# --- workers ------------------------------------------------------------------------------------


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: Any) -> Iterator[None]:
    """Switch a store on, here and in the processes that are started."""
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(ROOT / "tests"))))
    with tracejit.config(cache=True, cache_dir=str(tmp_path)):
        yield


def in_worker(g: Any, x: Any) -> tuple[Any, bool]:
    with tracejit.config(cache=True, cache_dir=os.environ["TRACEJIT_CACHE_DIR"]):
        return g(x), "numba" in sys.modules


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str) -> None:
    slope_of_cubes = tracejit.grad(cubes)
    expected = [slope_of_cubes(k * X) for k in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.starmap(in_worker, [(slope_of_cubes, k * X) for k in range(4)])
    for (slope, _), known in zip(found, expected, strict=True):
        np.testing.assert_array_equal(slope, known)
    assert method == "fork" or not any(numba for _, numba in found)


SCRIPT = """
import sys
import numpy as np
import tracejit

@tracejit.grad
def slope(x):
    return np.sum(x ** 3)

def work(g, x):
    return g(x).tolist(), "numba" in sys.modules

if __name__ == "__main__":
    import json, multiprocessing, joblib
    x = np.arange(3.0)
    slope(x)
    found = [tuple(joblib.Parallel(2)(joblib.delayed(work)(slope, x) for _ in range(2))[0])]
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            found += pool.starmap(work, [(slope, x)])
    print(json.dumps(found))
"""


@pytest.mark.usefixtures("cached")
def test_functions_of_a_script(tmp_path: Path) -> None:
    """A decorated function of `__main__` goes to joblib's workers, to forks and spawned ones."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    by_joblib, by_fork, by_spawn = json.loads(done.stdout.splitlines()[-1])
    for slope, _ in (by_joblib, by_fork, by_spawn):
        assert slope == [0.0, 3.0, 12.0]


@pytest.mark.usefixtures("cached")
def test_a_gradient_over_chunks_is_that_of_the_whole(tmp_path: Path) -> None:
    """On a cluster of processes that compile nothing, since the store has it."""
    script = """
import json
import numpy as np
from distributed import Client, LocalCluster
from examples import dask_gradient as example

if __name__ == "__main__":
    example.CHUNK = 500
    w = np.linspace(-0.5, 0.5, example.COLUMNS)
    data = [example.chunk(k, min(500, 2200 - 500 * k)) for k in range(5)]
    value, slope = example.loss(w, *(np.concatenate(z) for z in zip(*data)))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        found, slopes, compiled = example.total(client, w, 2200)
    print(json.dumps([value, slope.tolist(), found, slopes.tolist(), compiled]))
"""
    (tmp_path / "cluster.py").write_text(script)
    done = subprocess.run([sys.executable, "cluster.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    value, slope, found, slopes, compiled = json.loads(done.stdout.splitlines()[-1])
    np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(slopes, slope, rtol=1e-10)
    assert compiled == 0
