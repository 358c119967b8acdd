"""Objects with `__del__` that captured code makes: it runs where Python runs it, or is refused."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import tracejit

CLASSES = {
    "of an object": "class D:\n    def __init__(self, out): self.out = out\n"
                    "    def __del__(self): self.out.append(1.0)\n",
    "inherited": "class B:\n    def __del__(self): self.out.append(1.0)\n"
                 "class D(B):\n    def __init__(self, out): self.out = out\n",
    "without __init__": "class D:\n    def __new__(cls, out):\n"
                        "        self = object.__new__(cls)\n"
                        "        self.out = out\n        return self\n"
                        "    def __del__(self): self.out.append(1.0)\n",
    "with slots": "class D:\n    __slots__ = ('out',)\n"
                  "    def __init__(self, out): self.out = out\n"
                  "    def __del__(self): self.out.append(1.0)\n"}
"""What a class is like: an object that ends adds an item to a list."""

PROGRAMS = {
    "deleted": "d = D(out); del d", "bound anew": "d = D(out); d = D(out)", "nameless": "D(out)",
    "in a branch": "if x > 0.0:\n        d = D(out); del d; t += len(out)",
    "left by a branch": "if x > 0.0:\n        d = D(out)\n    t += len(out); d = None",
    "in a loop": "for k in range(3):\n        d = D(out); d = None; t += len(out)",
    "in a long loop": "for k in range(40):\n        d = D(out); d = None; t += len(out)",
    "in a while": "k = 0.0\n    while k < x:\n        d = D(out); del d; k += 0.5; t += len(out)",
    "popped": "ds = [D(out), D(out)]; ds.pop()", "list deleted": "ds = [D(out)]; del ds",
    "list cleared": "ds = [D(out), D(out)]; ds.clear()",
    "appended": "ds = []; ds.append(D(out)); ds = 1",
    "dict": "m = {'a': D(out)}; m['a'] = 1", "dict deleted": "m = {'a': D(out)}; del m",
    "tuple": "p = (D(out), 1.0); del p", "set": "s = {D(out)}; s.clear()",
    "attribute": "h = H(); h.d = D(out); h.d = None", "holder": "h = H(); h.d = D(out); del h",
    "closure": "d = D(out); g = lambda: d\n    del g\n    t += len(out); d = None",
    "argument": "g = lambda d: x * 2.0\n    t += g(D(out))",
    "of a function": "t += made(out)", "generator": "t += sum(yields(out))",
    "unpacked": "a, b = D(out), D(out); del a",
    "error": "try:\n        d = D(out); raise ValueError\n"
             "    except ValueError:\n        pass\n    del d",
    "sorted": "ds = sorted([D(out), D(out)], key=id2)[:1]",
    "compared": "t += (D(out) == D(out)) * 1.0",
    "shown": "t += len(str(D(out))) * 0.0", "asked": "t += isinstance(D(out), D) * 1.0",
    "still there": "d = D(out)", "comprehension": "t += sum([len(out) for d in [D(out), D(out)]])"}

SIMPLE = ("deleted", "bound anew", "nameless", "tuple", "attribute", "of a function")
"""The programs that are captured, but of objects that no weak reference is to."""

REST = """class H:
    pass
def id2(d):
    return 0.0
def made(out):
    d = D(out)
    return 2.0
def yields(out):
    d = D(out)
    yield 1.0
    yield 2.0
def f(x):
    out, t = [], 0.0
    {}
    return t * x + 10.0 * len(out) * x
"""


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("cls", CLASSES)
def test_an_object_ends_where_it_does_in_python_or_is_refused(cls: str, name: str) -> None:
    source = CLASSES[cls] + REST.format(PROGRAMS[name])
    file = f"<ends {cls} {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(source, file, "exec"), space)
    f = space["f"]
    with tracejit.config(disable_jit=True):
        captured = tracejit.jit(f)
        for x in (1.5, -1.5, 2.5):
            refused = ""
            try:
                found = captured(x)
            except tracejit.Refusal as e:
                refused, found = str(e), f(x)
            assert found == f(x)
            assert not refused or file in refused
            assert not refused or cls == "with slots" or name not in SIMPLE
