"""Changes by Python code that is not captured: containers are compared before and after.

Items of lists, dicts and deques and attributes of objects that it changes are places, like targets
of captured assignments: loops carry them and branches merge them. Where there is no place, a list
that grows or an iterator that moves on, a loop runs its iterations one by one.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import TracejitError
from tracejit.trace.containers.container_aliases import (
    is_joined,
    may_be_another,
    refuse_joined_change,
)
from tracejit.trace.containers.places import AttributePlace, ItemPlace, MaybeUnset, shows_of_class
from tracejit.trace.containers.records import is_of_iteration, is_record
from tracejit.trace.ground.attributes import own_names
from tracejit.trace.ground.context import current, refuse, refuse_outside
from tracejit.trace.ground.dependencies import note_unseen
from tracejit.trace.ground.restarts import Grows, NotRepeatable, Relist, Unroll
from tracejit.trace.state.draws import refused_draw
from tracejit.trace.state.key_orders import refuse_order
from tracejit.trace.state.left_iterators import refuse_left
from tracejit.trace.state.methods import items_of, may_be_called
from tracejit.trace.state.paths import attributes_of, is_users_type
from tracejit.trace.state.reachable import reached
from tracejit.trace.state.running import watched
from tracejit.trace.values.operands import TracedOperand

__all__ = ["CONTAINERS", "advance", "before_change", "call_watched", "is_iterator",
           "known_container", "note_all_new", "note_made", "note_new", "note_own_names",
           "note_shown_of_class", "read_deeply", "read_indices", "read_operand",
           "read_unseen", "refuse_identity", "refuse_shown_of_class", "unseen"]

_SEQUENCES = (list, deque, bytearray, array)
CONTAINERS = (*_SEQUENCES, dict, set)
"""Python's types of containers that can change; their operators make new containers."""
_CODE = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, TracedOperand)


def note_made(x: object) -> Any:
    """Note that a container, object or iterator was made here: the regions around may change it."""
    frames = current().frames
    if frames:
        frames[-1].created[id(x)] = x
    return x


def note_new(x: object, others: Iterable[object]) -> Any:
    """Note that Python made a container or object of `others`, unless it is one of these."""
    if (type(x) in CONTAINERS or is_record(x)) and not any(x is y for y in others):
        note_made(x)
    return x


def note_all_new(x: object, others: Iterable[object]) -> None:
    """Note that Python made a container of others, and all containers in it."""
    frames = current().frames
    if not frames or id(x) in frames[-1].created:
        return
    note_new(x, others)
    for item in x.values() if isinstance(x, dict) else x if isinstance(x, _NESTS) else ():
        note_all_new(item, others)


_NESTS = (list, deque, tuple)


def known_container(x: object, what: str | None = None, by_data: bool = False) -> int:
    """Return in how many regions a container was made.

    what -- how messages call a change of its length, which a region around may not make: the loop
            or branch carries a list's storage (`Grows`), is unrolled (`Unroll`), or is refused
    by_data -- whether a region inside, where data decides, changes how many items it has
    """
    frames = current().frames
    for frame in reversed(frames):
        if id(x) in frame.created:
            if by_data and id(x) in frame.growing:
                raise Grows(frame, x, f"{what} needs its iterations one by one", by_data=True)
            return frame.depth
        if frame.kind == "probe":
            if isinstance(x, (list, deque, bytearray, dict, set)):
                frame.contents.setdefault(id(x), (x, x.copy()))
            elif what is not None:
                raise NotRepeatable
        elif frame.kind == "loop" and what is not None:
            why = f"{what} needs its iterations one by one"
            by_data = by_data or frame.by_data
            raise Grows(frame, x, why, by_data) if type(x) is list and (
                by_data or frame.grows) else Unroll(why)
        elif frame.kind == "if" and what is not None:
            refusal = refuse(f"{what} in a branch on data", "Use arrays, or assign to a name")
            if type(x) is list and (by_data or _is_on_data(x)):
                raise Grows(frame, x, f"{what} in a branch", by_data=True, refusal=refusal)
            if any(f.kind == "loop" for f in frames):  # of which each iteration may know the branch
                raise Unroll(f"{what} in a branch needs its iterations one by one", refusal)
            raise refusal
        elif frame.kind == "map" and what is not None:
            raise refuse(f"{what} in a function that vmap, map or scan calls for all elements at "
                         "once", "Return what each element gives")
    return 0


def _is_on_data(x: object) -> bool:
    """Return whether data decides on one of the branches around, but not around a container."""
    for frame in reversed(current().frames):
        if id(x) in frame.created or frame.kind not in ("loop", "if"):
            return False
        if frame.by_data:
            return True
    return False


# --- iterators ----------------------------------------------------------------------------------


def is_iterator(x: object) -> bool:
    """Return whether an object is an iterator, which reading an item moves on."""
    return hasattr(type(x), "__next__")


def advance(x: object) -> None:
    """Refuse to read an iterator that was made outside of the region, which would move it on."""
    refuse_left(x)
    if _is_from_around(x):
        current().captured.refuse_change(x)
        known_container(x, "reading an iterator")


# --- calls --------------------------------------------------------------------------------------


def call_watched(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
                 what: str, *owners: object) -> Any:
    """Call a function that is not captured, and note its changes to arguments and owners.

    what -- how messages call it: "list.append()"
    """
    for x in (*owners, *args, *kwargs.values()):
        read_unseen(x)
        refuse_left(x)
    watched = []
    given = (*owners, *args, *kwargs.values())
    for x in filter(_is_from_around, reached(given, fn)):
        if is_iterator(x):
            if any(x is y for y in given):
                advance(x)
            continue
        parts = _parts(x)
        if parts is not None:
            watched.append((x, parts))
    result = _call_outside(fn, args, kwargs, owners)
    if current().captured.has_drawn():
        raise refused_draw(fn)
    for x, before in watched:
        after = _parts(x)
        assert after is not None
        if list(before) != list(after) or not all(_is_same(after[k], y)
                                                  for k, y in before.items()):
            _note(x, before, after, what, any(x is y for y in given))
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


def _takes_numbers(fn: Callable[..., object], args: Sequence[object]) -> bool:
    """Return whether a function of a module that knows numbers by their types got traced ones."""
    home = getattr(fn, "__module__", None)
    return home not in (None, "builtins", "_operator", "numpy") and _are_traced(args)


def _call_outside(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
                  owners: tuple[object, ...]) -> Any:
    """Call an uncaptured function; refuse it by its name where it does not take traced values."""
    trace = current()
    trace.outside.append((fn, (*owners, *args, *kwargs.values())))
    made = len(trace.builder.scope.eqns)
    try:
        with watched():
            return fn(*args, **kwargs)
    except (TypeError, ValueError, AttributeError) as e:
        if isinstance(e, TracejitError) or not (
                _OURS.search(str(e)) or _met_traced(fn, made) or (
                    isinstance(e, TypeError) and _takes_numbers(fn, [*args, *kwargs.values()]))):
            raise
        raise refuse_outside("a traced value in code that is not captured", _AS_OPS) from e
    except Exception as e:  # an error of a module's own, as struct has one
        if isinstance(e, TracejitError) or type(e).__module__ != "struct" or not _are_traced(args):
            raise
        raise refuse_outside("a traced value in code that is not captured", _AS_OPS) from e
    finally:
        trace.asked[:] = [x for x in trace.asked if x[0] < len(trace.outside)]
        trace.outside.pop()


def read_unseen(x: object, in_order: bool = True) -> None:
    """Note that uncaptured code reads an object, whose content must be the same at every call.

    Refuses an object of which data decides the attributes.

    in_order -- whether a dict's order of keys may be read
    """
    if isinstance(x, _CODE):
        return
    captured = current().captured
    if id(x) in captured.namespaces:
        unseen("reading all names of a module")
    for kind in captured.freeze(x):
        unseen(f"reading a {kind.__qualname__}")
    for name in captured.native.may_call(x):
        unseen(name)
    refuse_shown_of_class(x, "something asks for all attributes of an object")
    parts = x if isinstance(x, dict) else _attributes(x) or {}
    for key, content in parts.items():
        if isinstance(content, MaybeUnset):
            raise refuse(f"whether a {type(x).__name__} has {key!r} depends on data, and something "
                         "asks for all that it has", "Set it before, or in both branches")
    if in_order and isinstance(x, dict):
        refuse_order(x)


def read_deeply(x: object) -> None:
    """Do the same for all objects in a container whose methods may be called, as by `==`."""
    for item in items_of(x):
        if not isinstance(item, _CODE) and is_users_type(type(item)):
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


def refuse_identity(x: object) -> None:
    """Refuse to look for an object by its identity where data decides which one it is."""
    if type(x).__eq__ is object.__eq__ and is_record(x) and (
            may_be_another(x) or id(x) in current().objects_in_lists):
        raise refuse(f"comparing a {type(x).__name__}, of which data decides which one it is, by "
                     "its identity", "Compare what it holds, or keep a flag")


def unseen(what: str) -> None:
    """Note a read that no guard sees, `what` in messages: the program holds for one call."""
    current().note_unseen(what)
    note_unseen(what)


def before_change(x: Any, key: Any) -> None:
    """Note that an item or attribute is about to change."""
    trace = current()
    x = _owner_of(x)
    trace.captured.refuse_change(x)
    refuse_joined_change(x)
    _refuse_change_of_item(x)
    depth = known_container(x)
    if isinstance(x, CONTAINERS):
        trace.record(ItemPlace(x, key, depth), depth)
        return
    _refuse_hidden_change(x, key)
    if key == "__dict__" and depth < trace.depth:
        raise refuse("setting the __dict__ of an object in a loop or branch",
                     "Set its attributes one by one")
    note_shown_of_class(x, key)
    trace.record(AttributePlace(x, key, depth), depth)


def _refuse_change_of_item(x: object) -> None:
    """Refuse to change an object that may be in a list whose length data decides."""
    trace = current()
    if type(x) in trace.classes_in_lists and (
            id(x) in trace.objects_in_lists or not is_of_iteration(x, trace.instances)
            or any(x is s for frame in trace.frames for s in frame.stand_ins)):
        raise Relist(trace.classes_in_lists[type(x)], None,
                     f"a {type(x).__name__} that is in it, or may be, is changed")


def note_shown_of_class(x: object, name: str) -> None:
    """Note that a loop or branch decides whether an attribute of an object is its class's."""
    if known_container(x) < current().depth and shows_of_class(x, name):
        current().shown_of_class.append((x, name))


def note_own_names(owner: object, names: object) -> object:
    """Note that captured code got hold of an object's `__dict__`: its items are the attributes."""
    if type(names) is dict and own_names(owner) is names:
        refuse_shown_of_class(owner, "something asks for all attributes of an object")
        current().own_names[id(names)] = owner
    return names


def _owner_of(x: object) -> Any:
    """Return the object whose `__dict__` a dict is; any other object as it is."""
    owner = current().own_names.get(id(x))
    return x if owner is None or own_names(owner) is not x else owner


def refuse_shown_of_class(x: object, what: str, name: str | None = None) -> None:
    """Refuse to tell an attribute of an object from its class's, where data decides on that.

    name -- which attribute; None: any
    """
    for owner, key in current().shown_of_class:
        if owner is x and name in (None, key):
            raise refuse(f"{what}, and whether the object has {key!r} of its own or its class's "
                         "depends on data", f"Set it on the object before: x.{key} = x.{key}")


def _refuse_hidden_change(x: object, name: str) -> None:
    """Refuse to set a class's attribute where data decides if an object has one of its own."""
    if not isinstance(x, type):
        return
    for owner, key in current().shown_of_class:
        if key == name and owner is not x and x in (
                owner if isinstance(owner, type) else type(owner)).__mro__:
            refuse_shown_of_class(owner, f"setting {name!r} of a class", name)


def _is_same(x: object, y: object) -> bool:
    # an array's floats are made at each reading; 0.0 equals -0.0
    return x is y or (type(x) is type(y) is float and repr(x) == repr(y))


def _is_from_around(x: object) -> bool:
    """Whether a change of an object concerns more than the region that is being captured."""
    if isinstance(x, TracedOperand):
        return False
    trace = current()
    if is_joined(x) or id(x) in trace.captured.passed or trace.captured.is_given_twice(x):
        return True
    if trace.frames:
        return id(x) not in trace.frames[-1].created
    return bool(trace.captured.is_from_outside(x))


def _note(x: object, before: dict[object, object], after: dict[object, object], what: str,
          is_given: bool) -> None:
    """Carry out a change again, as captured code would.

    is_given -- whether the call got the object itself, and not a function that changed it
    """
    _put(x, after, before)
    if list(before) != [k for k in after if k in before] or (
            isinstance(x, (*_SEQUENCES, set)) and before.keys() != after.keys()):
        current().captured.refuse_change(x)
        refuse_joined_change(x)
        if is_given:
            known_container(x, what)
        else:
            _known_to_functions(x, what)
    else:
        for key, content in after.items():
            if key not in before or not _is_same(before[key], content):
                before_change(x, key)
    _put(x, before, after)


def _known_to_functions(x: object, what: str) -> None:
    """Refuse a new length of a list that a function changes unseen, where data decides on it.

    Such a function takes no other list than Python's.
    """
    try:
        known_container(x, what)
    except Grows as e:
        refusal = refuse(f"a {type(x).__name__} that a function changes within {what}",
                         "Change it in captured code: write the loop out")
        if e.frame.kind == "loop" and not e.by_data:
            raise Unroll(e.why, refusal) from None
        raise refusal from None


def _parts(x: object) -> dict[Any, Any] | None:
    """Return the content by place of an object that can change; None for any other object."""
    if isinstance(x, _SEQUENCES):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return dict(x)
    if isinstance(x, set):
        return dict.fromkeys(x)
    return _attributes(x)


def _attributes(x: object) -> dict[str, Any] | None:
    return None if isinstance(x, _CODE) else attributes_of(x)


def _put(x: Any, old: Mapping[Any, object], new: dict[Any, Any]) -> None:
    """Replace the contents at an object's places, `old`, by `new`."""
    if isinstance(x, _SEQUENCES) and len(x) == len(new):  # a view of it forbids another length
        for k, content in enumerate(new.values()):
            x[k] = content
    elif isinstance(x, _SEQUENCES):
        while x:
            x.pop()
        x.extend(new.values())
    elif isinstance(x, (dict, set)):
        x.clear()
        x.update(new)
    else:
        for name in old.keys() - new.keys():
            object.__delattr__(x, name)
        for name, content in new.items():
            object.__setattr__(x, name, content)
