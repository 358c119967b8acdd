"""Functions of scripts in other processes: the store serves them where code and names agree."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
import cloudpickle
import numpy as np
import tracejit

COUNT = 3
RATE = 0.5
TABLE = [1.0, {"a": 2.0}]

def helper(x):
    return np.tanh(x) * RATE

@tracejit.value_and_grad
def loss(x):
    total = 0.0
    for k in range(COUNT):
        total += np.sum(helper(x) ** (k + 1)) * TABLE[1]["a"]
    return total

if __name__ == "__main__":
    loss(np.ones(3))
    with open("loss.pickle", "wb") as f:
        cloudpickle.dump({what}, f)
"""
WORKER = """
import json, pickle, sys
import numpy as np
COUNT, RATE, TABLE = 7, 7.0, [7.0, {{"a": 7.0}}]  # of this script, and not of the other one
def helper(x):
    return x
with open("loss.pickle", "rb") as f:
    found = pickle.load(f)
loss = found[0] if isinstance(found, tuple) else found
{change}
value, slope = loss(np.ones(3))
print(json.dumps([value.hex(), slope.tobytes().hex(), "numba" in sys.modules]))
"""


class Project:
    """A folder with scripts and a store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "TRACEJIT_CACHE": "1", "PYTHONPATH": str(ROOT),
                            "TRACEJIT_CACHE_DIR": str(folder / "cache")}

    def run(self, script: str, name: str) -> str:
        (self.folder / name).write_text(script)
        done = subprocess.run([sys.executable, name], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pickled(self, script: str = SCRIPT, what: str = "loss") -> None:
        self.run(script.replace("{what}", what), "script.py")

    def worker(self, change: str = "") -> list[Any]:
        found: list[Any] = json.loads(self.run(WORKER.format(change=change), "worker.py"))
        return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize("what", ["loss", "(loss, helper)", "(loss, COUNT)"])
def test_a_worker_finds_what_the_script_has_compiled(project: Project, what: str) -> None:
    project.pickled(what=what)
    *result, compiled = project.worker()
    assert not compiled
    project.environment["TRACEJIT_CACHE"] = "0"
    assert project.worker() == [*result, True]


def test_the_script_finds_what_a_worker_has_compiled(project: Project) -> None:
    project.environment["TRACEJIT_CACHE"] = "0"
    project.pickled()
    project.environment["TRACEJIT_CACHE"] = "1"
    first, second = project.worker(), project.worker()
    assert first[2]
    assert second == [*first[:2], False]
    script = SCRIPT.replace("{what}", "loss") + '\n    print("numba" in sys.modules)\n'
    assert project.run(script, "script.py") == "False\n"


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "an int": ("COUNT = 3", lambda old: "COUNT = 4"),
    "a helper": ("np.tanh(x)", lambda old: "np.sin(x)"),
    "the code": ("total = 0.0", lambda old: "total = 1.0"),
    "a structure": ('{"a": 2.0}]', lambda old: '{"a": 2.0}, 5]'),
}


@pytest.mark.parametrize("what", CHANGES)
def test_another_script_of_equal_names_is_another_one(project: Project, what: str) -> None:
    old, new = CHANGES[what]
    project.pickled()
    project.environment["TRACEJIT_CACHE"] = "0"
    project.pickled(SCRIPT.replace(old, new(old)))
    *expected, _ = project.worker()
    project.environment["TRACEJIT_CACHE"] = "1"
    *found, compiled = project.worker()
    assert compiled
    assert found == expected
    assert project.worker() == [*expected, False]


@pytest.mark.parametrize("change", [
    "loss.__wrapped__.__globals__['COUNT'] = 5", "loss.__wrapped__.__globals__['RATE'] = 2.0",
    "loss.__wrapped__.__globals__['helper'] = helper",
    "loss.__wrapped__.__globals__['TABLE'][1]['a'] = 9.0",
    "loss.__wrapped__.__globals__['range'] = lambda n: [0]"])
def test_a_change_in_a_worker_is_seen(project: Project, change: str) -> None:
    """The names are the function's, and not the worker's own script's."""
    project.pickled()
    *stored, _ = project.worker()
    *found, _ = project.worker(change)
    project.environment["TRACEJIT_CACHE"] = "0"
    *expected, _ = project.worker(change)
    assert found == expected
    assert found != stored


SPAWNED = """
import json, multiprocessing, sys
import numpy as np
import tracejit

RATE = 3.0

@tracejit.grad
def slope(x):
    return np.sum(x ** 3) * RATE

def work(g, x):
    return g(x).tolist(), "numba" in sys.modules

if __name__ == "__main__":
    slope(np.arange(3.0))
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(json.dumps(pool.starmap(work, [(slope, np.arange(3.0))] * 2)))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_import_the_script_by_another_name(project: Project, method: str) -> None:
    found = json.loads(project.run(SPAWNED.format(method=method), "script.py"))
    assert found == [[[0.0, 9.0, 36.0], False]] * 2


def test_the_example_on_a_cluster_compiles_in_no_worker(project: Project) -> None:
    done = subprocess.run([sys.executable, "-m", "examples.dask_gradient", "150000"], cwd=ROOT,
                          env=project.environment, capture_output=True, text=True, timeout=300,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"(\d+) chunks in processes with Numba", done.stdout) == ["0"] * 5


CELLS = """
import linecache, sys
import cloudpickle
import numpy as np
import tracejit

TEXT = '''
def near(x):
    total = x[0]
    while total > 1.0:
        total = total * 0.5 * RATE
    return total

loss = tracejit.value_and_grad(lambda x: near(x) * x.sum())
'''
RATE = 0.9
linecache.cache["<cell 1>"] = len(TEXT), None, TEXT.splitlines(True), "<cell 1>"
exec(compile(TEXT, "<cell 1>", "exec"))
if __name__ == "__main__":
    with open("loss.pickle", "wb") as f:
        cloudpickle.dump(loss, f)
    value, slope = loss(np.array([3.0, 1.0, 2.0]))
    print(repr(float(value)), slope.tolist())
"""
READER = """
import pickle, sys
import numpy as np
with open("loss.pickle", "rb") as f:
    loss = pickle.load(f)
value, slope = loss(np.array([3.0, 1.0, 2.0]))
print(repr(float(value)), slope.tolist())
"""


def test_the_text_of_a_cell_goes_with_its_functions(project: Project) -> None:
    """A worker has no file of a notebook's cell; loops on data are read from the text."""
    project.environment["TRACEJIT_CACHE"] = "0"
    expected = project.run(CELLS, "script.py")
    assert project.run(READER, "reader.py") == expected


CYCLE = """
import pickle
import cloudpickle
import numpy as np
import tracejit

def small(x):
    return large.__wrapped__(x[:1]) if x.size > 1 else x.sum()

@tracejit.jit
def large(x):
    return small(x) * 2.0

class Model:
    def __init__(self):
        self.rate = 3.0
        self.slope = tracejit.grad(lambda x: self.rate * x.sum())

if __name__ == "__main__":
    print(pickle.loads(cloudpickle.dumps(large))(np.ones(2)))
    model, slope = pickle.loads(cloudpickle.dumps((lambda m: (m, m.slope))(Model())))
    model.rate = 5.0
    print(model.slope is slope, slope(np.ones(2)).tolist())
"""


def test_functions_and_objects_that_name_each_other_stay_so(project: Project) -> None:
    assert project.run(CYCLE, "cycle.py") == "4.0\nTrue [5.0, 5.0]\n"
