"""Users' callables, given to code that keeps them or calls them back: the same, never stale.

Each way to call something back is crossed with each kind of thing that can be called, and each
reads a global that changes between calls. Python is the oracle: of values, of which object a
container or a `functools.partial` holds, and of modules whose class changes between calls.
"""

from __future__ import annotations

import bisect
import collections
import copy
import functools
import heapq
import inspect
import itertools
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

K = 2.0
VALUES = 2.0, 0.5, 4.0


def scaled(x: Any, y: Any = 0.0) -> Any:
    return (x + y) * K


def scaled_of_three(_: object, x: Any, y: Any = 0.0) -> Any:
    return (x + y) * K


class Scaled:
    def __call__(self, x: Any, y: Any = 0.0) -> Any:
        return (x + y) * K

    def method(self, x: Any, y: Any = 0.0) -> Any:
        return (x + y) * K

    @classmethod
    def of_class(cls, x: Any, y: Any = 0.0) -> Any:
        return (x + y) * K


class Made(float):
    def __new__(cls, x: Any, y: Any = 0.0) -> Made:
        return super().__new__(cls, (x + y) * 3)


CALLED: dict[str, Any] = {
    "function": scaled, "lambda": lambda x, y=0.0: (x + y) * K, "object": Scaled(),
    "method": Scaled().method, "class method": Scaled.of_class,
    "partial": functools.partial(scaled_of_three, None),
    "partial of a method": functools.partial(Scaled().method),
    "partial of a partial": functools.partial(functools.partial(scaled_of_three), None),
    "partial of an object": functools.partial(Scaled())}

NUMBERS = [1.0, -2.0, 3.0]


def total(items: Any) -> Any:
    found: Any = 0.0
    for x in items:
        found = found + (x[0] if isinstance(x, tuple) else x)
    return found


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "reduce": lambda a, f: functools.reduce(f, [a, a * 2, a * 3]),
    "accumulate": lambda a, f: total(itertools.accumulate([a, a * 2], f)),
    "accumulate by name": lambda a, f: total(itertools.accumulate(NUMBERS, func=f)) * a,
    "starmap": lambda a, f: total(itertools.starmap(f, [(a, 2.0), (3.0, a)])),
    "starmap of numbers": lambda a, f: total(itertools.starmap(f, [(1.0, 2.0)])) * a,
    "groupby": lambda a, f: total(itertools.groupby(NUMBERS, f)) * a,
    "groupby by name": lambda a, f: total(itertools.groupby(NUMBERS, key=f)) * a,
    "takewhile": lambda a, f: total(itertools.takewhile(f, [1.0, 3.0])) * a,
    "dropwhile": lambda a, f: total(itertools.dropwhile(f, [1.0, 3.0])) * a,
    "filterfalse": lambda a, f: total(itertools.filterfalse(f, [1.0, 3.0])) * a,
    "filter": lambda a, f: total(filter(f, [1.0, 3.0])) * a,
    "map": lambda a, f: total(map(f, [a, 3.0])),
    "map of two": lambda a, f: total(map(f, [a, 3.0], [1.0, a])),
    "iter": lambda a, f: total(itertools.islice(iter(functools.partial(f, 1.0), -1.0), 2)) * a,
    "sorted": lambda a, f: sorted(NUMBERS, key=f)[0] * a,
    "min": lambda a, f: min(NUMBERS, key=f) * a,
    "max of traced": lambda a, f: max([a, 1.0, 2.0], key=f) * a,
    "nlargest": lambda a, f: heapq.nlargest(1, NUMBERS, key=f)[0] * a,
    "bisect": lambda a, f: bisect.bisect_left([1.0, 2.0, 3.0, 4.0, 5.0], 4.0, key=f) * a,
    "fromfunction": lambda a, f: np.fromfunction(f, (2, 3)).sum() * a,
    "vectorize": lambda a, f: np.vectorize(f)(np.array(NUMBERS)).sum() * a,
    "along an axis": lambda a, f: np.sum(np.apply_along_axis(f, 0, np.array(NUMBERS))) * a,
    "piecewise": lambda a, f: np.piecewise(
        np.array(NUMBERS), [np.array(NUMBERS) > 0], [f, 0.0]).sum() * a,
    "fromiter": lambda a, f: np.fromiter(map(f, NUMBERS), float).sum() * a,
    "defaultdict": lambda a, f: collections.defaultdict(functools.partial(f, 2.0))["q"] * a,
    "kept in a list": lambda a, f: [f][0](a), "kept in a partial": lambda a, f: (
        functools.partial(f, a)(1.0)),
    "appended": lambda a, f: appended(f)[0](a), "in a dict": lambda a, f: dict(f=f)["f"](a),
    "in a namespace": lambda a, f: types.SimpleNamespace(f=f).f(a)}


def appended(f: Any) -> list[Any]:
    found: list[Any] = []
    found.append(f)
    return found


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return float(f(*args))
    except Exception as e:
        return e


def require_as_python(f: Callable[[Any], Any], at: float, what: str) -> bool:
    """Assert that a compiled function is right now, or refused; return whether it is right."""
    expected, found = outcome(f, at), outcome(f.jit, at)  # type: ignore[attr-defined]
    if isinstance(found, tracejit.Refusal):
        assert __file__ in str(found), what
        return False
    assert type(found) is type(expected), (what, found, expected)
    assert isinstance(found, Exception) or found == pytest.approx(expected, rel=1e-12), what
    return True


@pytest.mark.parametrize("way", WAYS)
def test_what_is_called_back_reads_the_present_state(
        way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = 0
    for name, called in CALLED.items():
        def program(a: Any, called: Any = called) -> Any:
            return WAYS[way](a, called)

        program.jit = tracejit.jit(program)  # type: ignore[attr-defined]
        with tracejit.config(disable_jit=True):
            for value in VALUES:
                monkeypatch.setitem(globals(), "K", value)
                right += require_as_python(program, 3.0, f"{way} of a {name} with {value}")
    assert right or way in REFUSED, f"{way} is refused"


REFUSED = {"takewhile", "dropwhile", "filterfalse", "filter", "iter", "groupby", "groupby by name",
           "nlargest", "bisect"}
"""Ways in which Python asks what is called back for the value of a traced number."""


HELD: dict[str, Callable[[Any], Any]] = {
    "append": lambda f: appended(f)[0], "list": lambda f: [f][0],
    "insert": lambda f: (lambda xs: (xs.insert(0, f), xs[0]))([1])[1],
    "index": lambda f: [0, f].index(f) == 1 and f, "count": lambda f: [f, f].count(f) == 2 and f,
    "setdefault": lambda f: {}.setdefault("f", f), "dict": lambda f: dict(f=f)["f"],
    "fromkeys": lambda f: next(iter(dict.fromkeys([f]))), "get": lambda f: {f: f}.get(f),
    "default": lambda f: {}.get("f", f), "add": lambda f: (lambda s: (s.add(f), f in s))(
        set())[1] and f,
    "partial": lambda f: functools.partial(f, 1).func,
    "argument of a partial": lambda f: functools.partial(max, f).args[0],
    "keyword of a partial": lambda f: functools.partial(max, key=f).keywords["key"],
    "partial of a partial": lambda f: functools.partial(functools.partial(f, 1), 2).func,
    "partialmethod": lambda f: functools.partialmethod(f, 1).func,
    "method": lambda f: types.MethodType(f, 1).__func__,
    "namespace": lambda f: types.SimpleNamespace(f=f).f, "copy": lambda f: copy.copy(f),
    "repeat": lambda f: next(itertools.repeat(f)), "deque": lambda f: collections.deque([f])[0],
    "appendleft": lambda f: (lambda d: (d.appendleft(f), d[0]))(collections.deque())[1],
    "zip": lambda f: next(zip([f], [1], strict=True))[0], "tuple": lambda f: (f,)[0]}


@pytest.mark.parametrize("how", HELD)
def test_what_holds_a_function_holds_that_function(how: str) -> None:
    for f in scaled, CALLED["lambda"], CALLED["partial"], CALLED["object"], Made:
        def program(a: Any, f: Any = f) -> Any:
            return a * (HELD[how](f) is f)

        with tracejit.config(disable_jit=True):
            assert tracejit.jit(program)(3.0) == program(3.0), f"{how} of {f}"


def of_other_arguments(a: Any, b: Any, c: Any = 3) -> Any:
    return a


SHOWN = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
                           for name in "zq"])


def parameters_of_a_partial(a: Any) -> Any:
    return a * len(inspect.signature(functools.partial(of_other_arguments, 1)).parameters)


def parameters_of_a_method(a: Any) -> Any:
    return a * len(inspect.signature(types.MethodType(of_other_arguments, 1)).parameters)


@pytest.mark.parametrize("program", [parameters_of_a_partial, parameters_of_a_method])
def test_the_signature_that_a_function_says_it_has(program: Callable[[Any], Any]) -> None:
    compiled = tracejit.jit(program)
    try:
        with tracejit.config(disable_jit=True):
            for shown in None, SHOWN, None:
                of_other_arguments.__dict__.pop("__signature__", None)
                if shown is not None:
                    of_other_arguments.__signature__ = shown  # type: ignore[attr-defined]
                assert compiled(3.0) == program(3.0), shown
    finally:
        of_other_arguments.__dict__.pop("__signature__", None)


TEXTS: dict[str, Callable[[Any], Any]] = {
    "sub": lambda a: len(re.sub("x", lambda m: str(K), "x")) * a,
    "sub of an argument": lambda a: len(re.sub("x", lambda m: f"{a}", "x")) * a,
    "read": lambda a: float(re.sub("x", lambda m: str(K), "x")) * a,
    "reduce": lambda a: len(functools.reduce(lambda s, m: s + str(K), ["a", "b"])) * a}


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_goes_to_code_which_calls_back(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tracejit.jit(TEXTS[name])
    with tracejit.config(disable_jit=True):
        for value in 2.25, 100.5:
            monkeypatch.setitem(globals(), "K", value)
            found = outcome(compiled, 3.0)
            assert isinstance(found, tracejit.Refusal) or found == TEXTS[name](3.0)


# --- modules -------------------------------------------------------------------------------------


class WithProperty(types.ModuleType):
    @property
    def x(self) -> Any:
        return 5.0 * K

    @property
    def f(self) -> Any:
        return lambda a: a * 11.0


class WithGetattribute(types.ModuleType):
    def __getattribute__(self, name: str) -> Any:
        return {"x": 9.0, "f": scaled}.get(name) or super().__getattribute__(name)


class WithGetattr(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name == "missing":
            return 7.0 * K
        raise AttributeError(name)


class Given:
    def __get__(self, owner: object, cls: type) -> Any:
        return 13.0 * K

    def __set__(self, owner: object, value: object) -> None: ...


class WithDescriptor(types.ModuleType):
    x = Given()


class WithEntry(types.ModuleType):
    x, missing = 17.0, 19.0


MODULE = types.ModuleType("module")

READS: dict[str, Callable[[Any], Any]] = {
    "number": lambda a: a * MODULE.x, "array": lambda a: (a * MODULE.array).sum(),
    "function": lambda a: MODULE.f(a), "getattr": lambda a: a * getattr(MODULE, "x", 1.0),
    "missing": lambda a: a * getattr(MODULE, "missing", 1.0),
    "hasattr": lambda a: a * hasattr(MODULE, "missing"),
    "in a loop": lambda a: sum(a * MODULE.x for _ in range(3)),
    "after another name": lambda a: (lambda m: a * m.x)(MODULE),
    "class": lambda a: a * (type(MODULE) is types.ModuleType),
    "its class": lambda a: a * (MODULE.__class__ is types.ModuleType),
    "kind": lambda a: a * isinstance(MODULE, WithProperty),
    "in its dict": lambda a: a * MODULE.__dict__["x"], "by vars": lambda a: a * vars(MODULE)["x"]}


@pytest.mark.parametrize("kind", [
    WithProperty, WithGetattribute, WithGetattr, WithDescriptor, WithEntry])
@pytest.mark.parametrize("read", READS)
def test_a_module_that_gets_another_class(
        read: str, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("module")
    module.__dict__.update(x=2.0, array=np.array([1.0, 2.0]), f=lambda a: a * 3.0)
    monkeypatch.setitem(globals(), "MODULE", module)
    program = READS[read]
    compiled = tracejit.jit(program)
    with tracejit.config(disable_jit=True):
        for cls in types.ModuleType, kind, types.ModuleType, kind:
            module.__class__ = cls
            for value in 2.0, 0.5:
                monkeypatch.setitem(globals(), "K", value)
                module.__dict__["x"] = 2.0 * value
                found = outcome(compiled, 3.0)
                assert isinstance(found, tracejit.Refusal) or found == program(3.0), cls


# --- metaclasses ---------------------------------------------------------------------------------


class Plain(type):
    pass


class Calling(type):
    x = property(lambda cls: 9.0)

    def __call__(cls, *args: Any) -> Any:
        return 11.0

    def __instancecheck__(cls, x: object) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return 6.0


class OfMetaclass(metaclass=Plain):
    x = 2.0

    def __init__(self, *args: Any) -> None: ...

    def __float__(self) -> float:
        return 2.0


MADE: dict[str, Callable[[Any], Any]] = {
    "called": lambda a: a * float(OfMetaclass(1)), "attribute": lambda a: a * OfMetaclass.x,
    "instance": lambda a: a * isinstance(3, OfMetaclass),
    "kind": lambda a: a * (type(OfMetaclass) is Plain),
    "item": lambda a: a * OfMetaclass[0],  # type: ignore[index]
    "called in a loop": lambda a: sum(a * float(OfMetaclass(k)) for k in range(3)),
    "mapped": lambda a: a * sum(float(x) for x in map(OfMetaclass, [1.0, 2.0]))}


@pytest.mark.parametrize("name", MADE)
def test_a_class_that_gets_another_metaclass(name: str) -> None:
    program = MADE[name]
    compiled = tracejit.jit(program)
    try:
        with tracejit.config(disable_jit=True):
            for kind in Plain, Calling, Plain, Calling:
                OfMetaclass.__class__ = kind
                found, expected = outcome(compiled, 3.0), outcome(program, 3.0)
                assert isinstance(found, tracejit.Refusal) or type(found) is type(expected)
                assert isinstance(found, Exception) or found == expected, kind
    finally:
        OfMetaclass.__class__ = Plain


def test_a_metaclass_that_gets_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tracejit.jit(MADE["called"])
    with tracejit.config(disable_jit=True):
        assert compiled(3.0) == 6.0
        monkeypatch.setattr(Plain, "__call__", lambda cls, *args: 5.0, raising=False)
        assert compiled(3.0) == 15.0
        monkeypatch.undo()
        assert compiled(3.0) == 6.0
