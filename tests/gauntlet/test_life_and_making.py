"""Objects that Python makes or drops by itself: defaults of dicts, weak references, partials."""

from __future__ import annotations

import functools
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Node:
    def __init__(self, value: Any, parent: Node | None = None) -> None:
        self.value, self.children = value, []
        self.parent = None if parent is None else weakref.ref(parent)

    def add(self) -> Node:
        self.children.append(Node(self.value, self))
        return self.children[-1]

    def total(self) -> Any:
        return self.value + (0.0 if self.parent is None else self.parent().total())


def tree_with_weak_parents(x: Any) -> Any:
    root = Node(x)
    return root.add().add().total()


def dead(x: Any) -> Any:
    node = Node(x)
    reference = weakref.ref(node)
    before = reference().value
    del node
    return before + (reference() is None)


def dead_by_another_name(x: Any) -> Any:
    node = Node(x)
    reference = weakref.ref(node)
    node = None
    return x + (1.0 if reference() is None else 0.0)


def held_by_a_list(x: Any) -> Any:
    node = Node(x)
    reference, held = weakref.ref(node), [node]
    del node
    return reference().value + len(held)


def dead_at_once(x: Any) -> Any:
    return x + (weakref.ref(Node(x))() is None)


class Partial:
    scale = 3.0

    def both(self, a: Any, b: Any) -> Any:
        return a * self.scale + b

    one = functools.partialmethod(both, 2.0)
    named = functools.partialmethod(both, b=1.0)


def partial_methods(x: Any) -> Any:
    return Partial().one(x) + Partial().named(x)


def names_of_an_array(x: Any) -> Any:
    return x * ("real" in dir(x)) + ("absent" in dir(x))


def made_in_a_branch(x: Any) -> Any:
    table: Any = defaultdict(list)
    if x > 0:
        table[1].append(x)
    return len(table) * x


def made_in_branches_of_a_loop(x: Any) -> Any:
    table: Any = defaultdict(list)
    for k in range(3):
        if x > k:
            table[k % 2].append(x)
    return len(table) + sum(len(v) for v in table.values())


def made_by_a_function_in_a_branch(x: Any) -> Any:
    table: Any = defaultdict(lambda: [0.0])
    if x > 0:
        table["a"].append(x)
    else:
        table["b"].append(1.0)
    return sum(table["a"]) * x


def made_without_data(x: Any) -> Any:
    table: Any = defaultdict(list)
    for k in range(4):
        table[k % 2].append(x * k)
    return sum(table[0]) + len(table[5]) + len(table)


def made_then_lengthened(x: Any) -> Any:
    table: Any = defaultdict(list)
    table["a"].append(x)
    if x > 0:
        table["a"].append(x * 2.0)
    return sum(table["a"])


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    tree_with_weak_parents, dead, dead_by_another_name, held_by_a_list, dead_at_once,
    partial_methods, names_of_an_array, made_in_a_branch, made_in_branches_of_a_loop,
    made_by_a_function_in_a_branch, made_without_data, made_then_lengthened)
RIGHT = (tree_with_weak_parents, held_by_a_list, partial_methods, names_of_an_array,
         made_without_data, made_then_lengthened)


@pytest.mark.parametrize("f", PROGRAMS)
def test_right_or_refused_at_the_line(f: Callable[[Any], Any]) -> None:
    with tracejit.config(disable_jit=True):
        compute = tracejit.jit(f)
        for x in (2.5, -1.0, 0.5, 1.5):
            try:
                found = compute(x)
            except tracejit.Refusal as e:
                assert "test_life_and_making.py:" in str(e)  # noqa: PT017
                assert f not in RIGHT
                return
            assert found == f(x)
        slope = np.imag(f(1.5 + 1e-20j)) / 1e-20 if f in RIGHT[:3] else None
        assert slope is None or tracejit.grad(f)(1.5) == pytest.approx(slope)
