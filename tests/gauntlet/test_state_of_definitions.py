"""State that definitions hold: annotations, fields of data classes, and reducers of copies.

Each program is called, its state is changed, and it is called again. The oracle is Python's result
at every call. The programs of annotations are run with annotations that are texts as well.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from state_sequences import load

import tracejit

HEAD = """\
import copy, copyreg, dataclasses, functools, inspect, types, typing
import numpy as np
"""
_NUMBERS = itertools.count()

ANNOTATED = HEAD + """
A = float
DTYPES = {"a": float}
def outer(a: A):
    return a
class Outer:
    a: A = 1.0
def kind(x):
    return 2.0 if x is float else 3.0 if x is int else 5.0 if x == "A" else 7.0
def change():
    global A
    A = int if A is float else float
    DTYPES["a"] = outer.__annotations__["a"] = Outer.__annotations__["a"] = A
def f(x):
DEFINED
    return x * RESULT
"""
FUNCTION = """\
    def g(a: A, *b: "A", c: DTYPES["a"] = 1) -> A | None:
        return a
"""
CLASS = """\
    class Inner:
        a: A = 1.0
        n: typing.ClassVar[int] = 3
        def method(self, b: A):
            return b
"""
DATA_CLASS = """\
    @dataclasses.dataclass
    class Data:
        a: A = 1.0
        n: typing.ClassVar[int] = 3
"""
ANNOTATIONS = [
    "kind(g.__annotations__['a'])", "kind(g.__annotations__['b'])", "kind(g.__annotations__['c'])",
    "len(g.__annotations__)", "kind(getattr(g, '__annotations__')['a'])",
    "kind(inspect.signature(g).parameters['a'].annotation)",
    "kind(typing.get_type_hints(g)['a'])", "kind(typing.get_type_hints(g)['b'])",
    "kind(inspect.get_annotations(g)['a'])", "kind(Inner.__annotations__['a'])",
    "kind(Inner.method.__annotations__['b'])", "kind(typing.get_type_hints(Inner.method)['b'])",
    "kind(dataclasses.fields(Data)[0].type)", "len(dataclasses.fields(Data))",
    "kind(outer.__annotations__['a'])", "kind(Outer.__annotations__['a'])",
    "kind(inspect.signature(outer).parameters['a'].annotation)",
]

FIELDS = HEAD + """
@dataclasses.dataclass
class D:
    a: float = 1.0
    b: int = dataclasses.field(default=3, metadata={"k": 2})
FIRST, SECOND = ALL = dataclasses.fields(D)
CHANGES = [lambda: setattr(FIRST, "default", 7.0), lambda: setattr(SECOND, "default", 4),
           lambda: setattr(SECOND, "metadata", types.MappingProxyType({"k": 5})),
           lambda: setattr(FIRST, "name", "abc"), lambda: setattr(FIRST, "name", "a"),
           lambda: setattr(FIRST, "repr", False), lambda: setattr(D, "a", 3.0),
           lambda: D.__dataclass_fields__.pop("b")]
def change():
    CHANGES.pop(0)() if CHANGES else None
def f(x):
    return x * RESULT
"""
READ = [
    "dataclasses.fields(D)[0].default", "sum([f.default for f in dataclasses.fields(D)])",
    "dataclasses.fields(D(2.0))[-1].metadata.get('k', 1)", "len(dataclasses.fields(D)[0].name)",
    "getattr(dataclasses.fields(D)[0], 'default')", "D.__dataclass_fields__['a'].default",
    "(2.0 if dataclasses.fields(D)[0].repr else 3.0)", "D().a", "D.a", "FIRST.default",
    "ALL[1].metadata['k']", "len(dataclasses.fields(D))", "len(repr(D(1.0)))",
    "{f.name: f.default for f in dataclasses.fields(D)}.get('a', 11.0)",
]

COPIED = HEAD + """
class C:
    def __init__(self, v, w=0.0):
        self.v, self.w = v, w
class Inner(C):
    def __mul__(self, other):
        return Inner(self.v * other)
    def __add__(self, other):
        return self.v + other
@dataclasses.dataclass
class D:
    v: float
    w: float = 0.0
class Items(list):
    v = w = 1.0
K, HELD = 10.0, C(2.0)
def reduced(c):
    return type(c), (c.v * K, 1.0)
def of_items(c):
    return Items, ([x * K for x in c],)
def register():
    copyreg.pickle(Items, of_items)
    for cls in (C, Inner, D):
        copyreg.pickle(cls, reduced)
def forget():
    for cls in (C, Inner, D, Items):
        copyreg.dispatch_table.pop(cls, None)
def smaller():
    global K
    K = 5.0
def with_method():
    C.__copy__ = lambda self: type(self)(self.v * 3.0)
CHANGES = [register, smaller, forget, register, forget, with_method]
def change():
    CHANGES.pop(0)() if CHANGES else None
def f(x):
    c = RESULT
    return c.v + c.w
"""
COPIES = [
    "copy.copy(C(x))", "copy.copy(x=C(x))", "copy.deepcopy(C(x))", "copy.copy(D(x))",
    "copy.deepcopy([C(x)])[0]", "copy.deepcopy({'a': (D(x), 1)})['a'][0]",
    "copy.deepcopy(C(Inner(x)))", "copy.deepcopy((1, [Inner(x)]))[1][0]",
    "C(x * copy.copy(HELD).v)", "C(x * copy.deepcopy([HELD])[0].v)",
    "C(copy.copy(Items([x]))[0])", "C(copy.deepcopy(Items([x]))[0])",
    "[copy.copy(c) for c in [C(x), C(2.0 * x)]][1]", "(lambda cs: copy.copy(cs[1]))([1, C(x)])",
]

def _defined(result: str) -> str:
    return FUNCTION if "(g" in result else (
        CLASS if "Inner" in result else DATA_CLASS)


PROGRAMS = {f"{how}{result}": f"{before}{text}".replace("RESULT", result).replace(
                "DEFINED", _defined(result))
            for how, before, text, results in [
                ("", "", ANNOTATED, ANNOTATIONS),
                ("texts: ", "from __future__ import annotations\n", ANNOTATED, ANNOTATIONS),
                ("", "", FIELDS, READ), ("", "", COPIED, COPIES)] for result in results}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_call_is_pythons_after_a_change(name: str, tmp_path: Path) -> None:
    number = next(_NUMBERS)
    modules = [load(PROGRAMS[name], tmp_path, f"definitions_{number}_{k}") for k in range(2)]
    theirs, ours = modules  # a change of the one is none of the other
    call = tracejit.jit(ours.f)
    try:
        with tracejit.config(disable_jit=True):
            for _ in range(8):
                np.testing.assert_allclose(call(1.5), theirs.f(1.5), rtol=1e-12)
                for module in modules:
                    module.change()
    finally:
        for module in modules:
            sys.modules.pop(module.__name__, None)
            for cls in [c for c in vars(module).values() if isinstance(c, type)]:
                if cls.__module__ == module.__name__:
                    sys.modules["copyreg"].dispatch_table.pop(cls, None)
