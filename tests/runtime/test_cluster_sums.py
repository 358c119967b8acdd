"""`sum_over` on a cluster of processes, which `on_a_cluster.py` starts: the laws of its sums."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent), "TRACEJIT_CACHE": "0"}
    done = subprocess.run([sys.executable, str(TESTS / "on_a_cluster.py")], env=environment,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_bits_depend_neither_on_workers_nor_on_the_order_of_completion(found: Any) -> None:
    """20 runs by each of 1, 2 and 3 workers; sums as completed have others at every run."""
    assert found["often"] == [[found["serial"]]] * 3


def test_the_sum_is_that_of_all_rows(found: Any) -> None:
    sums = np.frombuffer(bytes.fromhex(found["serial"]))
    np.testing.assert_allclose(sums, [found["whole"][0], *found["whole"][1]], rtol=1e-12)


def test_bits_do_not_depend_on_where_chunks_come_from(found: Any) -> None:
    assert {*found["kinds"].values()} == {found["serial"]}
    assert len(found["kinds"]) == 6


def test_functions_of_the_script_run_there_as_they_are_here(found: Any) -> None:
    """A script's functions, lambdas and closures, after changes of what they read, too."""
    assert set(found["functions"]) == {"lambda", "changed", "written", "empty", "hessp"}
    for there, here in found["functions"].values():
        assert there == pytest.approx(here, rel=1e-11)


def test_the_error_names_the_first_chunk_and_the_next_step_works(found: Any) -> None:
    kind, note, value = found["errors"]
    assert (kind, note) == ("ValueError", "in chunk 2 of 4")
    assert value == pytest.approx(found["whole"][0], rel=1e-12)


def test_parameters_are_not_put_into_the_schedulers_graph(found: Any) -> None:
    """dask-glm#80: a vector of 55 MB in a graph choked the scheduler."""
    before, after = found["tasks"]
    assert 0 < after <= before


def test_workers_have_as_many_threads_as_the_engine_grants(found: Any) -> None:
    """distributed#9075: numbers of threads multiply by the number of workers."""
    assert len(found["threads"]) == 3
    assert all(before == after for before, after in found["threads"])


def test_no_worker_compiles(found: Any) -> None:
    """Nor races for a cache: datashader#684, numba#3026, numba#4807, numba#10128."""
    assert found["numba"] == [False] * 3


@pytest.mark.parametrize("when", ["between", "dask", "within"])
def test_a_killed_worker_is_made_good(found: Any, when: str) -> None:
    assert len(found["killed"][when]) >= 2
    assert len({*found["killed"][when]}) == 1


def test_chunks_of_which_no_copy_is_left_are_an_error(found: Any) -> None:
    assert found["lost"] == ["FuturesCancelledError"] * 2
