"""Calls of code that is not captured: objects that it may change are compared before and after.

The items and attributes that it changes are places, as where captured code changes them. The
objects that it reads are guarded.
"""

from __future__ import annotations

import gc
import itertools
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import TracejitError
from tracejit.trace.containers.container_aliases import may_be_another, refuse_joined_change
from tracejit.trace.containers.places import MaybeUnset
from tracejit.trace.containers.records import is_record
from tracejit.trace.ground.context import current, refuse, refuse_outside
from tracejit.trace.ground.dependencies import note_impure, note_order, note_unseen
from tracejit.trace.ground.restarts import Grows, Unroll
from tracejit.trace.ground.source import of_users_module
from tracejit.trace.state.changes import (
    CODE,
    SEQUENCES,
    advance,
    before_change,
    is_from_around,
    is_iterator,
    known_container,
    refuse_shown_of_class,
)
from tracejit.trace.state.contents import (
    has_changed,
    is_same,
    parts_of,
    put_parts,
    users_attributes,
)
from tracejit.trace.state.draws import refused_draw
from tracejit.trace.state.kept_items import is_sealed, kept_in, may_have_changed
from tracejit.trace.state.key_orders import refuse_order
from tracejit.trace.state.known_calls import call_with_known
from tracejit.trace.state.left_iterators import refuse_left
from tracejit.trace.state.methods import items_of, may_be_called
from tracejit.trace.state.partial_changes import without_partial_changes
from tracejit.trace.state.paths import is_users_type
from tracejit.trace.state.policy import differs_elsewhere
from tracejit.trace.state.reachable import reached
from tracejit.trace.state.running import watched
from tracejit.trace.state.runs_behind import give_up_runs_behind
from tracejit.trace.state.set_changes import settle_set_change
from tracejit.trace.values.operands import TracedOperand

__all__ = ["call_watched", "read_deeply", "read_indices", "read_operand", "read_unseen",
           "refuse_identity", "unseen"]


def call_watched(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
                 what: str, *owners: object) -> Any:
    """Call a function that is not captured, and note its changes to arguments and owners.

    what -- how messages call it: "list.append()"
    """
    for x in (*owners, *args, *kwargs.values()):
        read_unseen(x)
        refuse_left(x)
    settle_set_change(fn, args, what)
    for x, owner in itertools.product(args, owners):
        if isinstance(owner, (list, dict, set, frozenset)):
            _refuse_given(x, owner)
    watched = []
    given = (*owners, *args, *kwargs.values())
    kept = [y for x in filter(is_from_around, given) for y in kept_in(x)]
    for x in filter(is_from_around, [*reached(given, fn), *kept]):
        if is_iterator(x):
            if any(x is y for y in given):
                advance(x)
            continue
        parts = parts_of(x)
        if parts is not None:
            watched.append((x, parts))
    with without_partial_changes(given, watched, what):
        result = call_with_known(_call_outside, fn, args, kwargs, owners)
    if current().captured.has_drawn():
        raise refused_draw(fn)
    for x, before in watched:
        if has_changed(x, before):
            _note(x, before, parts_of(x) or {}, what, any(x is y for y in given))
    if may_have_changed(fn) and is_from_around(owner := fn.__self__):  # type: ignore[attr-defined]
        known_container(owner, what)
    for x in (*given, result):
        note_order(x)
    if differs_elsewhere(fn):
        note_impure(fn.__name__)
    return result


_OURS = re.compile(r"\b(Tracer|Merged|DataList|SymInt|TracedIterable|Expr|WRITEBACKIFCOPY)\b")
"""The words in errors of uncaptured code that met a tracer."""


_AS_OPS = "Write it with NumPy, or make it an op with tracejit.register_op"


def _met_traced(fn: Callable[..., object], made: int) -> bool:
    """Return whether a function of SciPy's called back a function that added equations."""
    top = (getattr(fn, "__module__", None) or "").partition(".")[0]
    return top == "scipy" and len(current().builder.scope.eqns) > made


def _are_traced(args: Sequence[object]) -> bool:
    """Return whether a traced value is among some arguments, or in lists and tuples of them."""
    return any(isinstance(y, TracedOperand) for x in args
               for y in (x if isinstance(x, (list, tuple)) else [x]))


def _takes_numbers(fn: Callable[..., object], error: Exception, args: Sequence[object]) -> bool:
    """Return whether a function of a module that knows numbers by their types got traced ones.

    SciPy's functions say in a `ValueError`, too, that they know no such number.
    """
    home = getattr(fn, "__module__", None)
    if not isinstance(error, TypeError) and not str(home).startswith("scipy."):
        return False
    return home not in (None, "builtins", "_operator", "numpy") and _are_traced(args)


def _called(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a function: an exception that its line raises is the user's, see `ground.faults`."""
    with watched():
        return fn(*args, **kwargs)


def _call_outside(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
                  owners: tuple[object, ...]) -> Any:
    """Call an uncaptured function; refuse it by its name where it does not take traced values."""
    trace = current()
    trace.outside.append((fn, (*owners, *args, *kwargs.values())))
    made = len(trace.builder.scope.eqns)
    try:
        result = _called(fn, args, kwargs)
        of_users_module(result, *args)
        return result
    except (TypeError, ValueError, AttributeError) as e:
        if isinstance(e, TracejitError) or not (
                _OURS.search(str(e)) or _met_traced(fn, made)
                or _takes_numbers(fn, e, [*args, *kwargs.values()])):
            raise
        raise refuse_outside("a traced value in code that is not captured", _AS_OPS, "TJ110") from e
    except Exception as e:  # an error of a module's own, as struct has one
        if isinstance(e, TracejitError) or type(e).__module__ != "struct" or not _are_traced(args):
            raise
        raise refuse_outside("a traced value in code that is not captured", _AS_OPS, "TJ110") from e
    finally:
        trace.asked[:] = [x for x in trace.asked if x[0] < len(trace.outside)]
        trace.outside.pop()


_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
"""The types of the views of a dict, which is what they refer to."""


def read_unseen(x: object, in_order: bool = True) -> None:
    """Note that uncaptured code reads an object, whose content must be the same at every call.

    Refuses an object of which data decides the attributes.

    in_order -- whether a dict's order of keys may be read
    """
    if isinstance(x, CODE):
        return
    give_up_runs_behind(x, "uncaptured code")
    captured = current().captured
    if id(x) in captured.namespaces:
        unseen("reading all names of a module")
    for kind in captured.freeze(x):
        unseen(f"reading a {kind.__qualname__}")
    for name in captured.native.may_call(x):
        unseen(name)
    refuse_shown_of_class(x, "something asks for all attributes of an object")
    for y in (x, *kept_in(x), *(gc.get_referents(x) if isinstance(x, _VIEWS) else ())):
        parts = {**y, **(users_attributes(y) or {})} if isinstance(y, dict) else (
            users_attributes(y) or {})
        for key, content in parts.items():
            if isinstance(content, MaybeUnset):
                raise refuse(f"whether a {type(x).__name__} has {key!r} depends on data, and "
                             "something asks for all that it has",
                             "Set it before, or in both branches", "TJ420")
        if in_order and isinstance(y, dict):
            refuse_order(y)


def read_deeply(x: object) -> None:
    """Do the same for all objects in a container whose methods may be called, as by `==`."""
    for item in items_of(x):
        if not isinstance(item, CODE) and is_users_type(type(item)):
            if may_be_called(item):
                read_unseen(item)
            else:
                current().captured.native.may_call(item)
        elif isinstance(item, _COMPARED):
            read_unseen(item)
        refuse_identity(item)


_COMPARED = (np.ndarray, np.poly1d, bytearray, array, memoryview)
"""The types of a library whose objects are compared by content that may change."""


def read_operand(x: object) -> None:
    """Do the same for an operand, which an operator that is not captured reads itself, too."""
    read_unseen(x)
    read_deeply(x)


def read_indices(xs: Iterable[object]) -> None:
    """Do the same for objects that stand for an int, alone or in a list, by their `__index__`."""
    for x in xs:
        for item in x if type(x) in (list, tuple) else (x,):  # type: ignore[attr-defined]
            if is_users_type(type(item)) and hasattr(type(item), "__index__"):
                read_unseen(item)


def refuse_identity(x: object, *others: object) -> None:
    """Refuse to look for an object by its identity where data decides which one it is.

    others -- things that it is compared with, or is looked for in
    """
    trace = current()
    if (isinstance(x, FunctionType) and x.__code__ in trace.made_again) or (
            type(x).__eq__ is object.__eq__ and is_record(x) and (
                may_be_another(x) or id(x) in trace.objects_in_lists)):
        raise refuse(f"comparing a {type(x).__name__}, of which data decides which one it is, by "
                     "its identity", "Compare what it holds, or keep a flag", "TJ116")
    for other in others:
        _refuse_given(x, other)


def _refuse_given(x: object, other: object) -> None:
    """Refuse to compare an argument, made anew here, by identity with an object from before."""
    captured = current().captured
    if type(x).__eq__ is object.__eq__ and id(x) in captured.given and (
            captured.is_from_outside(other)):
        raise refuse(f"comparing a {type(x).__name__} of the arguments by its identity with what "
                     "is outside", "Compare what it holds, or pass a flag", "TJ116")


def unseen(what: str) -> None:
    """Note a read that no guard sees, `what` in messages: the program holds for one call."""
    current().note_unseen(what)
    note_unseen(what)


def _note(x: object, before: dict[object, object], after: dict[object, object], what: str,
          is_given: bool) -> None:
    """Carry out a change again, as captured code would.

    is_given -- whether the call got the object itself, and not a function that changed it
    """
    if is_sealed(x):
        known_container(x, what)
        return
    put_parts(x, after, before)
    if isinstance(x, set) and [*x] != [*before]:
        raise refuse(f"a {type(x).__name__} that a function changes within {what}, in a loop or "
                     "branch", "Change it in captured code: write the calls out", "TJ417")
    if list(before) != [k for k in after if k in before] or (
            isinstance(x, (*SEQUENCES, set)) and before.keys() != after.keys()):
        current().captured.refuse_change(x)
        refuse_joined_change(x)
        if is_given:
            known_container(x, what)
        else:
            _known_to_functions(x, what)
    else:
        for key, content in after.items():
            if key not in before or not is_same(before[key], content):
                before_change(x, key)
    put_parts(x, before, after)


def _known_to_functions(x: object, what: str) -> None:
    """Refuse a new length of a list that a function changes unseen, where data decides on it.

    Such a function takes no other list than Python's.
    """
    try:
        known_container(x, what)
    except Grows as e:
        refusal = refuse(f"a {type(x).__name__} that a function changes within {what}",
                         "Change it in captured code: write the loop out", "TJ417")
        if e.frame.kind == "loop" and not e.by_data:
            raise Unroll(e.why, refusal) from None
        raise refusal from None
