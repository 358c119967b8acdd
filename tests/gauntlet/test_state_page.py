"""docs/state.md is true: every row of its table is tried, and programs are counted."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tracejit

PAGE = Path(__file__).parents[2] / "docs" / "state.md"
ROWS = re.findall(r"^\| (.+?) \| `(.+?)` \| (\w+) \|$", PAGE.read_text(encoding="utf-8"), re.M)

SETUP = """
import contextvars, functools, inspect, itertools, os, pathlib, random, tempfile, types, weakref
import calendar, datetime, logging, time
from collections import defaultdict, deque
import numpy as np
import scipy.interpolate
import scipy.signal
K, N, TEXT = 2.0, 2, "ab"
W, V = np.array([1.0, 2.0]), np.array([1.0, 2.0])
LIST, SET, BYTES = [2.0, 2], {1, 2}, bytearray(b"ab")
DICT = {"n": 2}
PROXY = types.MappingProxyType(DICT)
class Base:
    def method(self):
        return 2.0
class O(Base):
    k, n = 2.0, 2
    def method(self):
        return super().method() + 1.0
    @property
    def size(self):
        return 2
    def kind(self):
        return 2.0
class Other(O):
    def kind(self):
        return 3.0
o = O()
ref = weakref.ref(o)
def function(k=2):
    return k
def maker():
    k = 2.0
    return lambda: k
closure = maker()
part = functools.partial(lambda k: k, 2.0)
def imported():
    from state_imported import N
    return N
VAR = contextvars.ContextVar("VAR", default=2.0)
@functools.cache
def cached():
    return N
@functools.singledispatch
def single(k):
    return 2.0
FOLDER = tempfile.mkdtemp()
FILE = FOLDER + "/file"
pathlib.Path(FILE).write_text("2.0")
ufunc = np.frompyfunc(lambda k: k * N, 1, 1)
COUNT = itertools.count()
LOGGER = logging.getLogger("tracejit.page")
DEFAULT = defaultdict(lambda: 2)
PIECES = scipy.interpolate.PPoly(np.array([[1.0], [2.0]]), np.array([0.0, 9.0]))
def f(x):
    return x * {expression}
"""

CHANGES = {
    "K": "K = 3.0", "np.sum(W)": "W = np.array([1.0, 2.0, 3.0])",
    "np.sum(V)": "V = np.array([[1, 2]])", "N": "N = 3", "len(TEXT)": "TEXT = 'abc'",
    "LIST[0]": "LIST[0] = 3.0", "LIST[1]": "LIST[1] = 3", "len(SET)": "SET.add(3)",
    "PROXY['n']": "DICT['n'] = 3", "o.k": "O.k = 3.0", "o.n": "o.n = 3",
    "o.method()": "Base.method = lambda self: 5.0",
    "o.size": "O.size = property(lambda self: 3)", "o.kind()": "o.__class__ = Other",
    "function()": "function.__defaults__ = (3,)",
    "closure()": "closure.__closure__[0].cell_contents = 3.0",
    "part()": "part = functools.partial(part.func, 3.0)",
    'getattr(o, "absent", 2.0)': "o.absent = 3.0", "len([1, 2])": "len = lambda x: 5",
    "imported()": "__import__('sys').modules['state_imported'].N = 3",
    'globals()["N"]': "N = 3", "VAR.get()": "VAR.set(3.0)",
    'len(os.environ["STATE"])': "os.environ['STATE'] = 'abc'",
    "len(os.getcwd())": "os.chdir('/')", "ref().n": "o.n = 3",
    "cached()": "N = 3\ncached.cache_clear()",
    "single(1.0)": "single.register(float, lambda k: 3.0)",
    "len(bytes(BYTES))": "BYTES.append(1)",
    "scipy.signal.find_peaks(W)[0].size": "W[:] = [3.0, 1.0]",
    "float(pathlib.Path(FILE).read_text())": "pathlib.Path(FILE).write_text('3.0')",
    "len(os.listdir(FOLDER))": "pathlib.Path(FOLDER, 'b').write_text('')", "ufunc(2.0)": "N = 3",
    'eval("N", {"N": N})': "N = 3", 'eval("N")': "N = 3", "random.random()": "pass",
    "next(COUNT)": "pass", "callable(o)": "O.__call__ = lambda self: 2.0",
    "LOGGER.getEffectiveLevel()": "LOGGER.setLevel(10)",
    "calendar.firstweekday()": "calendar.setfirstweekday(3)",
    "datetime.datetime.fromtimestamp(0).hour": "os.environ['TZ'] = 'XXX-5'\ntime.tzset()",
    'DEFAULT.copy()["absent"]': "DEFAULT.default_factory = lambda: 3",
    "PIECES(x)": "PIECES.c = np.array([[1.0], [2.0], [3.0]])",
    "len(inspect.signature(function).parameters)": "function.__code__ = (lambda: 2).__code__",
}
WAYS = {"read": 1, "guarded": 2, "asked": 2, "anew": 0}
"""How many programs are kept after a change."""


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("state_imported")
    vars(module)["N"] = 2
    monkeypatch.setitem(sys.modules, "state_imported", module)
    monkeypatch.setenv("STATE", "ab")
    monkeypatch.chdir(".")
    monkeypatch.setenv("TZ", "UTC")


def test_every_row_has_a_change() -> None:
    assert {example for _, example, _ in ROWS} == set(CHANGES)


@pytest.mark.parametrize(("example", "way"), [row[1:] for row in ROWS])
def test_a_row_is_true(example: str, way: str, tmp_path: Path) -> None:
    path = tmp_path / "state_row.py"
    path.write_text(SETUP.replace("{expression}", example))
    spec = importlib.util.spec_from_file_location("state_row", path)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["state_row"] = module
    spec.loader.exec_module(module)
    g = tracejit.jit(module.f)
    with tracejit.config(disable_jit=True):
        if way == "refused":
            with pytest.raises(tracejit.Refusal, match=r"state_row\.py:\d+: "):
                g(2.0)
            return
        np.testing.assert_array_equal(g(2.0), module.f(2.0))
        assert ("captured anew at every call" in g.trace(2.0).why()) is (way == "anew")
        exec(CHANGES[example], vars(module))
        for _ in range(2):
            np.testing.assert_array_equal(g(2.0), module.f(2.0))
    assert sum(map(len, g._table.values())) == WAYS[way]
