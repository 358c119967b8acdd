"""`__getattribute__` of users' classes: asked as Python asks it, or refused; never passed over."""

from __future__ import annotations

from typing import Any

import pytest

import tracejit


class Got:
    w = 1.0

    def __getattribute__(self, name: str) -> Any:
        return 3.0 if name == "w" else object.__getattribute__(self, name)

    def scaled(self, x: Any) -> Any:
        return x * self.w


class Inherits(Got):
    pass


class Later:
    w = 1.0

    def scaled(self, x: Any) -> Any:
        return x * self.w


GOT, INHERITS, LATER = Got(), Inherits(), Later()


def of_a_global(x: Any) -> Any:
    return GOT.scaled(x) * GOT.w + INHERITS.w


def made_inside(x: Any) -> Any:
    return Got().w * x


def inherited_inside(x: Any) -> Any:
    made = Inherits()
    return made.scaled(x)


def later(x: Any) -> Any:
    return LATER.scaled(x) * LATER.w


def later_inside(x: Any) -> Any:
    return Later().scaled(x)


def test_objects_from_outside_are_asked() -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.value_and_grad(of_a_global)(2.0) == (of_a_global(2.0), 9.0)


@pytest.mark.parametrize("f", [made_inside, inherited_inside])
def test_objects_that_are_made_inside_are_refused(f: Any) -> None:
    with pytest.raises(tracejit.Refusal, match=r"test_getters.py:\d+: an attribute of a"):
        tracejit.jit(f)(2.0)


@pytest.mark.parametrize("f", [later, later_inside])
def test_one_that_a_class_gets_later_is_noticed(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with tracejit.config(disable_jit=True):
        compute = tracejit.jit(f)
        assert compute(2.0) == f(2.0) == 2.0
        monkeypatch.setattr(Later, "__getattribute__", Got.__getattribute__, raising=False)
        try:
            assert compute(2.0) == f(2.0) == (18.0 if f is later else 6.0)
        except tracejit.Refusal:
            assert f is later_inside
        monkeypatch.undo()
        assert compute(2.0) == 2.0


class Everywhere:
    of_class = property(lambda self: 8.0)

    def __getattr__(self, name: str) -> Any:
        return 9.0

    def __getattribute__(self, name: str) -> Any:
        return 41.0


EVERYWHERE = Everywhere()


def test_it_comes_before_properties_and_before_what_answers_for_missing_names() -> None:
    def f(x: Any) -> Any:
        return x * EVERYWHERE.of_class + EVERYWHERE.missing

    with tracejit.config(disable_jit=True):
        assert tracejit.value_and_grad(f)(2.0) == (f(2.0), 41.0) == (123.0, 41.0)
