"""State that classes hold where Python asks them by itself: indices, metaclasses, descriptors.

Each program is called, its state is changed, and it is called again. The oracle is Python's result
at every call.
"""

from __future__ import annotations

import abc
import functools
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracejit

X = np.array([[0.31, 1.27, 0.83, 0.44], [1.0, 2.0, 3.0, 4.0], [0.5, 0.6, 0.7, 0.8]])
Program = tuple[Callable[[Any], Any], Iterable[Callable[[], object]]]
MADE: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    MADE[make.__name__] = make
    return make


class Place:
    """An int by its `__index__`."""

    def __init__(self, k: int) -> None:
        self.k = k

    def __index__(self) -> int:
        return self.k


INDEXED: dict[str, Callable[[Any, Any], Any]] = {
    "item": lambda x, i: x[i] * 2.0,
    "item of a tuple of indices": lambda x, i: x[i, 0] + x[0, i],
    "slice": lambda x, i: x[:i] * 2.0,
    "slice in a tuple": lambda x, i: x[i:, 1] * 2.0,
    "item of a list": lambda x, i: [1.0, 2.0, 3.0][i] * x,
    "slice of a list": lambda x, i: sum([1.0, 2.0, 3.0][:i]) * x,
    "slice of a list that is traced": lambda x, i: sum([v for v in x[0]][:i]) * x,
    "item of a text": lambda x, i: x * ("abc"[i] == "b"),
    "range": lambda x, i: sum(k * x for k in range(i)) + x,
    "function": lambda x, i: np.roll(x, i),
    "function of a list": lambda x, i: np.split(x[0], [i])[0] * 1.0,
    "new array": lambda x, i: x * np.zeros(i).size,
    "method": lambda x, i: x.take(i, axis=0),
    "method of places": lambda x, i: x.diagonal(i) * 1.0,
    "constant array": lambda x, i: np.arange(3.0)[i] * x,
    "stack": lambda x, i: np.stack([x, 2.0 * x, 3.0 * x])[i] * 1.0,
}


def _written(x: Any, i: Any) -> Any:
    y = x * 1.0
    y[i, 0] = 7.0
    y[:i, 1] = 8.0
    return y


def _bound(x: Any, i: Any) -> Any:
    items = [1.0, 2.0, 3.0]
    items[i] = 9.0
    del items[i:]
    return x * sum(items)


INDEXED |= {"written": _written, "bound": _bound}


def _indexed(name: str) -> Program:
    place, function = Place(1), INDEXED[name]
    return lambda x: function(x, place), [lambda: setattr(place, "k", 2),
                                          lambda: setattr(place, "k", 0)]


MADE |= {f"index: {name}": functools.partial(_indexed, name) for name in INDEXED}


class Setting:
    k: Any = 2.0


S = Setting()


@program
def defaults_of_a_named_tuple() -> Program:
    kind = namedtuple("kind", "a b", defaults=(2.0,))
    return (lambda x: kind(np.sum(x)).a * kind(1.0).b,
            [lambda: setattr(kind.__new__, "__defaults__", (9.0,))])


@program
def defaults_of_a_class_of_typing() -> Program:
    class Kind(NamedTuple):
        a: Any
        b: float = 2.0

    return (lambda x: Kind(np.sum(x)).a * Kind(1.0).b,
            [lambda: setattr(Kind.__new__, "__defaults__", (9.0,))])


@program
def call_of_a_metaclass() -> Program:
    class Meta(type):
        k = 2.0

        def __call__(cls, *args: Any) -> Any:
            made = super().__call__(*args)
            made.extra = cls.k
            return made

    class Made(metaclass=Meta):
        def __init__(self, v: Any) -> None:
            self.v = v

    def function(x):
        made = Made(x)
        return np.sum(made.v) * made.extra

    return function, [lambda: setattr(Meta, "k", 3.0)]


@program
def init_that_reads_of_a_metaclass() -> Program:
    class Meta(type):
        k = 2.0

    class Made(metaclass=Meta):
        def __init__(self) -> None:
            self.k = type(self).k

    return lambda x: np.sum(x) * Made().k, [lambda: setattr(Meta, "k", 3.0),
                                            lambda: setattr(Made, "k", 5.0)]


@program
def init_of_an_abstract_base() -> Program:
    class Base(abc.ABC):
        @abc.abstractmethod
        def m(self) -> Any: ...

    class Made(Base):
        q = 2.0

        def __init__(self, v: Any) -> None:
            self.v = v * Made.q if v > 1.0 else v - Made.q

        def m(self) -> Any:
            return self.v * S.k

    return lambda x: Made(np.sum(x)).m(), [lambda: setattr(Made, "q", 3.0),
                                           lambda: setattr(S, "k", 7.0)]


@program
def builtin_class_registered() -> Program:
    class Base(abc.ABC): ...  # noqa: B024

    return (lambda x: np.sum(x) * (2.0 if isinstance(3, Base) else 3.0),
            [lambda: Base.register(int)])


@program
def arrays_registered() -> Program:
    class Base(abc.ABC): ...  # noqa: B024

    return (lambda x: np.sum(x) * (2.0 if isinstance(x, Base) else 3.0),
            [lambda: Base.register(np.ndarray)])


@program
def instance_check() -> Program:
    class Meta(type):
        flag = False

        def __instancecheck__(cls, x: Any) -> bool:
            return cls.flag

    class Kind(metaclass=Meta): ...

    return (lambda x: np.sum(x) * (2.0 if isinstance(3, Kind) else 3.0) * (
        5.0 if isinstance(x, Kind) else 7.0), [lambda: setattr(Meta, "flag", True)])


@program
def subclass_check() -> Program:
    class Meta(type):
        flag = False

        def __subclasscheck__(cls, kind: Any) -> bool:
            return cls.flag

    class Kind(metaclass=Meta): ...

    return (lambda x: np.sum(x) * (2.0 if issubclass(int, Kind) else 3.0),
            [lambda: setattr(Meta, "flag", True)])


@program
def item_of_a_class() -> Program:
    class Kind:
        k = 2.0

        def __class_getitem__(cls, i: Any) -> Any:
            return cls.k * i

    return lambda x: np.sum(x) * Kind[3], [lambda: setattr(Kind, "k", 3.0)]


@program
def descriptor_of_an_object_that_is_made() -> Program:
    class Lazy:
        def __init__(self, function: Any) -> None:
            self.function = function

        def __get__(self, owner: Any, kind: Any) -> Any:
            found = owner.__dict__["value"] = self.function(owner)
            return found

    class Made:
        def __init__(self, x: Any) -> None:
            self.x = x

        @Lazy
        def value(self) -> Any:
            return np.sum(self.x) * S.k if self.x[0, 0] > 0.0 else 0.0

    def function(x):
        made = Made(x)
        return made.value + made.value

    return function, [lambda: setattr(S, "k", 5.0)]


@program
def iterator_of_a_users_class() -> Program:
    class Counts:
        def __init__(self) -> None:
            self.n = 0

        def __iter__(self) -> Any:
            return self

        def __next__(self) -> Any:
            self.n += 1
            if self.n > S.k:
                raise StopIteration
            return self.n

    def function(x):
        total = 0.0
        for v in Counts():
            total = total + v * np.sum(x)
        return total

    return function, [lambda: setattr(S, "k", 4)]


@program
def property_of_a_users_kind() -> Program:
    class Scaled(property):
        def __get__(self, owner: Any, kind: Any = None) -> Any:
            return super().__get__(owner, kind) * S.k if owner is not None else self

    class Made:
        @Scaled
        def value(self) -> Any:
            return 3.0

    made = Made()
    return (lambda x: np.sum(x) * made.value + Made().value, [lambda: setattr(S, "k", 5.0)])


class Table(Mapping[str, Any]):
    def __init__(self, items: dict[str, Any]) -> None:
        self.items_of = items

    def __getitem__(self, key: str) -> Any:
        return self.items_of[key] * S.k

    def __iter__(self) -> Any:
        return iter(self.items_of)

    def __len__(self) -> int:
        return len(self.items_of)


@program
def mapping_that_is_unpacked() -> Program:
    table = Table({"a": 2.0})

    def takes(x, a, b=1.0):
        return np.sum(x) * a + b

    return (lambda x: takes(x, **table) + dict(table)["a"] + {**table}["a"],
            [lambda: setattr(S, "k", 3.0), lambda: table.items_of.update(b=5.0)])


NAMES: dict[str, Callable[[Any], Any]] = {
    "items": lambda m: sum(v for k, v in vars(m).items() if not k.startswith("_")),
    "values": lambda m: sum(v for v in vars(m).values() if isinstance(v, float)),
    "length": lambda m: len(vars(m)), "in": lambda m: ("b" in vars(m)) + 1.0,
    "loop": lambda m: len([k for k in vars(m)]), "unpacked": lambda m: len({**vars(m)}),
    "copy": lambda m: len(dict(vars(m))), "listed": lambda m: len(dir(m))}


def _named(name: str) -> Program:
    module = ModuleType("settings")
    vars(module)["a"] = 1.0
    read = NAMES[name]
    return lambda x: np.sum(x) * read(module), [lambda: setattr(module, "b", 2.0),
                                                lambda: setattr(module, "a", 5.0),
                                                lambda: delattr(module, "b")]


MADE |= {f"names of a module: {name}": functools.partial(_named, name) for name in NAMES}


@pytest.fixture(autouse=True)
def _setting() -> Any:
    S.k = 2
    yield
    S.k = 2


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", list(MADE))
def test_every_call_is_pythons_after_a_change(name: str, compiled: bool) -> None:
    function, changes = MADE[name]()
    with tracejit.config(disable_jit=not compiled):
        ours = tracejit.jit(function)
        for change in (lambda: None, lambda: None, *changes):
            change()
            try:
                expected = function(X)
            except IndexError:
                with pytest.raises(IndexError):
                    ours(X)
                continue
            np.testing.assert_allclose(ours(X), expected, rtol=1e-12)
