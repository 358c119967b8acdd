"""Comparisons, and whether something is in a container."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence, ValuesView
from typing import Any, TypeGuard

import numpy as np

from tracejit.trace.containers.choices import narrowed
from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.places import Choice, MaybeUnset
from tracejit.trace.containers.references import Reference
from tracejit.trace.containers.runs import has_runs, holds_runs
from tracejit.trace.containers.stand_ins import note_use
from tracejit.trace.ground.context import current
from tracejit.trace.ground.operators import COMPARISONS
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.orders import both_nan, require_known_equality
from tracejit.trace.lists.ranges import TracedRange
from tracejit.trace.python import from_generators, list_functions
from tracejit.trace.python.contents import (
    all_in,
    are_compared_by_items,
    are_plain_dicts,
    has_traced,
    own_items,
)
from tracejit.trace.python.each_kind import may_be_array
from tracejit.trace.python.identity import are_one_object, are_truths, is_one
from tracejit.trace.python.iterating import begun
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.python.operations import operate
from tracejit.trace.python.ranges import is_asked_of_range, is_in_range, ranges_are_equal
from tracejit.trace.python.special_methods import note_lookup, special_method
from tracejit.trace.python.truths import any_of, negated, truth
from tracejit.trace.regions.choosing import for_each_kind, one_of_two, told_of
from tracejit.trace.regions.raising import is_pythons
from tracejit.trace.state.changes import advance, is_iterator
from tracejit.trace.state.uncaptured import read_deeply, read_unseen, refuse_identity
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.equations import cast, lift
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.text import settle
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["are_equal_items", "compare", "contains"]


@above
def compare(op: str, a: object, b: Any) -> Any:
    """Return `a op b` of a comparison."""
    a, b = narrowed(a), narrowed(b)
    if op in ("Eq", "NotEq") and _are_texts(a) and _are_texts(b):
        return _compare_texts(op, a, b)
    if isinstance(a, Choice):
        return told_of(a, lambda x: compare(op, x, b))
    if isinstance(b, Choice):
        return told_of(b, lambda x: compare(op, a, x))
    if isinstance(a, ObjectReference) or isinstance(b, ObjectReference):
        found = _compare_objects(op, a, b)
        if found is not NotImplemented:
            return found
    if op in ("Is", "IsNot"):
        if isinstance(a, Reference) and isinstance(b, Reference):
            one = a is b or (a._pool is b._pool and compare("Eq", a._number, b._number))
            return one if op == "Is" else negated(one)
        if a is not b and are_truths(a, b):
            return compare("Eq" if op == "Is" else "NotEq", a, b)
        return is_one(a, b) is (op == "Is")
    if op in ("In", "NotIn"):
        found = contains(b, a) if not may_be_array(b) else for_each_kind(
            b, lambda x: contains(x, a))
        found = found if op == "In" else negated(found)
        return tracer_of(found.value, weak=True) if isinstance(found, Tracer) else found
    found = _compare_contents(op, a, b)
    if found is not NotImplemented:
        return found
    o = COMPARISONS[op]
    if a is not b:
        for x, y in ((a, b), (b, a)):
            refuse_identity(x, y)
        if op in ("Eq", "NotEq") and type(a).__eq__ is object.__eq__ and are_one_object(a, b):
            return op == "Eq"
    if op == "NotEq" and special_method(a, "__ne__") is None and special_method(a, "__eq__"):
        return negated(compare("Eq", a, b))
    return operate(a, b, o.method, o.reflected, o.plain)


def _are_texts(x: object) -> TypeGuard[Choice]:
    """Return whether data decides which of several texts a thing is."""
    return isinstance(x, Choice) and len(x.options) > 2 and all(
        type(o) is str for o in x.options)


def _compare_texts(op: str, a: Choice, b: Choice) -> Any:
    """Return `a == b` or `a != b` of texts by numbers that equal texts share."""
    numbers = {text: k for k, text in enumerate(dict.fromkeys((*a.options, *b.options)))}
    one, other = (lift(np.array([numbers[o] for o in x.options]))[cast(lift(x.tag), np.int64)]
                  for x in (a, b))
    return compare(op, *(scalar_of(x.value, weak=True) for x in (one, other)))


def _compare_objects(op: str, a: object, b: object) -> Any:
    """Return `a op b`, one of them an object that data chooses, where only identity counts."""
    methods = [special_method(x, "__eq__") for x in (a, b) if isinstance(x, ObjectReference)]
    if op not in ("Is", "IsNot") and (op not in ("Eq", "NotEq") or any(
            m is not None for m in methods)):
        return NotImplemented
    both = isinstance(a, ObjectReference) and isinstance(b, ObjectReference)
    one: Any = both and (a is b or (a._pool is b._pool and compare(  # type: ignore[attr-defined]
        "Eq", a._number, b._number)))  # type: ignore[attr-defined]
    return one if op in ("Is", "Eq") else negated(one)


def _compare_contents(op: str, a: object, b: Any) -> Any:
    """Return `a op b` of containers that a size or traced values are in; else `NotImplemented`."""
    if any(holds_runs(x) or isinstance(x, TracedRange) for x in (a, b)):
        found = _compare_sized(op, a, b)
        if found is not NotImplemented:
            return found
    if are_compared_by_items(op, a, b) and _are_asked((a, b)):
        for x in (a, b):
            if not isinstance(x, tuple):
                read_unseen(x)
        return _compare_items(op, own_items(a), own_items(b))
    if op in ("Eq", "NotEq") and isinstance(a, dict) and are_plain_dicts(a, b) and (
            _are_asked((a, b))):
        for x in (a, b):
            read_unseen(x, in_order=False)
        if dict.keys(a) != dict.keys(b):
            return op == "NotEq"
        return _compare_items(op, own_items(a), [dict.__getitem__(b, key) for key in dict.keys(a)])
    return NotImplemented


def _are_asked(xs: Sequence[object]) -> bool:
    """Return whether captured code has to compare things: traced values, and users' objects."""
    return has_traced(xs) or _have_own_equality(xs)


def _have_own_equality(xs: Sequence[object]) -> bool:
    return any(special_method(x, "__eq__") for x in all_in(xs))


def _compare_sized(op: str, a: object, b: object) -> Any:
    """Return `a op b`, one of them a list or range of which a size says how long it is."""
    if not isinstance(a, TracedRange) and not isinstance(b, TracedRange):
        return _compare_lists(op, a, b)
    found = ranges_are_equal(a, b) if op in ("Eq", "NotEq") else NotImplemented
    return negated(found) if op == "NotEq" and found is not NotImplemented else found


def _compare_lists(op: str, a: object, b: object) -> Any:
    """Return `a op b`, one of them a list of which a size says how long it is."""
    if isinstance(a, (Tracer, np.ndarray)) or isinstance(b, (Tracer, np.ndarray)):
        return NotImplemented
    if op not in ("Eq", "NotEq"):
        list_runs.give_up(a if holds_runs(a) else b, "the order of lists")
    if not any(isinstance(a, kind) and isinstance(b, kind) for kind in (list, tuple)):
        return op == "NotEq"
    found = list_functions.equal(a, b)
    return found if op == "Eq" else negated(found)


def are_equal_items(x: object, y: object) -> Any:
    """Return whether things are one object or equal, as containers take them."""
    if are_one_object(x, y):
        return True
    require_known_equality(both_nan(x, y))
    return compare("Eq", x, y)


def _compare_items(op: str, a: Sequence[object], b: Sequence[object]) -> Any:
    """Return `a op b` of sequences with traced items: the first two that differ decide."""
    if op in ("Eq", "NotEq") and len(a) != len(b):
        return op == "NotEq"
    if not _have_own_equality((*a, *b)):
        try:
            return _compare_all_items(op, a, b)
        except Exception as e:  # which Python raises only if no two items before differ
            if not is_pythons(e):
                raise
    return _compare_in_turn(op, a, b, 0)


def _compare_in_turn(op: str, a: Sequence[Any], b: Sequence[Any], k: int) -> Any:
    """Return `a op b` of sequences of which the first k items are equal, in a branch for each."""
    if k == min(len(a), len(b)):
        return COMPARISONS[op].plain(len(a), len(b))
    x, y = a[k], b[k]
    one = are_one_object(x, y)
    if not one:
        require_known_equality(both_nan(x, y))
    same = one or truth(compare("Eq", x, y))

    def differ() -> Any:
        known = {"Eq": False, "NotEq": True}.get(op)
        return truth(compare(op, x, y)) if known is None else known

    if isinstance(same, bool):
        return _compare_in_turn(op, a, b, k + 1) if same else differ()
    return one_of_two(same, lambda: _compare_in_turn(op, a, b, k + 1), differ)


def _compare_all_items(op: str, a: Sequence[object], b: Sequence[object]) -> Any:
    """Return `a op b` of sequences: comparisons of all items, of which the run takes one."""
    result: Any = COMPARISONS[op].plain(len(a), len(b))
    unknown: Any = False
    for x, y in reversed(list(zip(a, b, strict=False))):
        one = are_one_object(x, y)
        same = one or truth(compare("Eq", x, y))
        if same is True:
            continue
        unknown = any_of((both_nan(x, y), False if same is False or unknown is False else
                          np.logical_and(same, unknown)))
        differ: Any = {"Eq": False, "NotEq": True}.get(op)
        differ = truth(compare(op, x, y)) if differ is None else differ
        result = differ if same is False else _chosen(same, result, differ)
    require_known_equality(unknown)
    return result


def _chosen(test: Any, a: Any, b: Any) -> Any:
    """Return one of two truths."""
    if a is b:
        return a
    return tracer_of(np.where(test, a, b).value, weak=True)


def _is_anew(x: object) -> bool:
    """Return whether a thing stands for another one: a traced value, or an argument's container."""
    return has_traced((x,)) or id(x) in current().captured.given


def contains(container: Any, item: object) -> Any:
    """Return `item in container`."""
    refuse_identity(item, container)
    if isinstance(container, str):  # it looks at the letters of the other text
        _require_text(item)
    if has_runs(container):
        return list_functions.contains(container, item)
    if is_asked_of_range(container, item):
        return is_in_range(container, item)
    note_use(container)
    if isinstance(container, UsersGenerator):
        return ABOVE.call_function(from_generators.contained, (container, item), {})
    if isinstance(container, (list, tuple, deque, ValuesView)) and any(map(_is_anew, (
            item, *container))):
        return any_of(are_equal_items(x, item) for x in container)
    if id(container) in current().captured.namespaces:
        return _has_item(container, item)
    if isinstance(container, type(os.environ)) and NotImplemented is not (
            asked := current().captured.asked(container.__contains__, (item,), {})):
        return asked
    if isinstance(container, (SymInt, Tracer)):
        return _is_in_array(container, item)
    method = special_method(container, "__contains__")
    if method is None and isinstance(container, dict) and not isinstance(item, Tracer):
        content = dict.get(container, item)
        if isinstance(content, MaybeUnset):
            return content.is_set
        current().captured.freeze(container)
        note_lookup(container, item)
        return item in container
    if method is None and isinstance(made := begun(container), UsersGenerator):
        return contains(made, item)
    if method is None:
        if is_iterator(container):
            advance(container)
        read_unseen(container)
        read_deeply((container, item))
        return item in container
    return truth(method(container, item))


def _require_text(item: object) -> None:
    if isinstance(item, TracedOperand):
        raise TypeError("'in <string>' requires string as left operand, not "
                        f"{type_of(item).__name__}")
    settle(item)


def _is_in_array(array: SymInt | Tracer, item: object) -> Any:
    if not array.ndim:
        raise TypeError(f"argument of type '{type_of(array).__name__}' is not iterable")
    equal = compare("Eq", array, item)
    return equal if isinstance(equal, bool) else truth(np.any(equal))


def _has_item(names: object, key: object) -> bool:
    try:
        current().captured.item(names, key)
    except KeyError:
        return False
    return True
