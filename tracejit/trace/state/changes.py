"""Changes of containers and objects: which regions around have to know of one.

Items of lists, dicts and deques and attributes of objects are places, like targets of captured
assignments: loops carry them and branches merge them. Where there is no place, a list that grows or
an iterator that moves on, a loop runs its iterations one by one.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from tracejit.trace.containers.container_aliases import is_joined, refuse_joined_change
from tracejit.trace.containers.heap import has_iterators
from tracejit.trace.containers.places import AttributePlace, ItemPlace, shows_of_class
from tracejit.trace.containers.records import is_of_iteration, is_record
from tracejit.trace.containers.whole_lists import WholeList
from tracejit.trace.ground.attributes import own_names
from tracejit.trace.ground.context import Frame, current, refuse
from tracejit.trace.ground.dependencies import note_order
from tracejit.trace.ground.restarts import Grows, NotRepeatable, Relist, Unroll
from tracejit.trace.state.left_iterators import refuse_left
from tracejit.trace.values.operands import TracedOperand

__all__ = ["CODE", "CONTAINERS", "SEQUENCES", "advance", "before_change", "before_loss",
           "is_from_around", "is_iterator", "known_container", "note_all_new", "note_made",
           "note_new", "note_own_names", "note_shown_of_class", "refuse_shown_of_class"]

SEQUENCES = (list, deque, bytearray, array)
CONTAINERS = (*SEQUENCES, dict, set)
"""Python's types of containers that can change; their operators make new containers."""
CODE = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, TracedOperand)


def note_made(x: object) -> Any:
    """Note that a container, object or iterator was made here: the regions around may change it."""
    note_order(x)
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
    rest: list[object] | None = None
    for frame in reversed(current().frames):
        if id(x) in frame.created:
            if by_data and id(x) in frame.growing:
                raise Grows(frame, x, f"{what} needs its iterations one by one", by_data=True)
            _note_all_items(rest, frame.depth)
            return frame.depth
        if frame.is_rest and what is not None and type(x) is list:
            rest, by_data = x, True
        elif frame.kind == "probe":
            if isinstance(x, (list, deque, bytearray, dict)):
                frame.contents.setdefault(id(x), (x, x.copy()))
            elif what is not None:
                raise NotRepeatable
        elif what is not None:
            _require_growth(frame, x, what, by_data)
    _note_all_items(rest, 0)
    return 0


def _require_growth(frame: Frame, x: object, what: str, by_data: bool) -> None:
    """Let a region around carry a list's storage, or refuse or unroll it."""
    if frame.kind == "loop":
        why = f"{what} needs its iterations one by one"
        by_data = by_data or frame.by_data
        raise Grows(frame, x, why, by_data) if type(x) is list and (
            by_data or frame.grows) else Unroll(why)
    if frame.kind == "if":
        refusal = refuse(f"{what} in a branch on data", "Use arrays, or assign to a name", "TJ416")
        is_in_loop = any(f.kind == "loop" for f in current().frames)
        if type(x) is list and (by_data or not is_in_loop or _is_on_data(x)):
            raise Grows(frame, x, f"{what} in a branch", by_data=True, refusal=refusal)
        if is_in_loop:  # each iteration may know the branch
            raise Unroll(f"{what} in a branch needs its iterations one by one", refusal)
        raise refusal
    if frame.kind == "map":
        raise refuse(f"{what} in a function that vmap, map or scan calls for all elements at "
                     "once", "Return what each element gives", "TJ415")


def _note_all_items(x: list[object] | None, depth: int) -> None:
    """Note that data decides how many items a list gets, or loses, in the rest of a `try`."""
    if x is None:
        return
    if any(x is walked for walked in current().walked) or has_iterators(x):
        raise refuse("the length of a list changes, as data decides, while a loop is running over "
                     "it", "Run over its indices with `while k < len(items)`, or over a copy: "
                     "list(items)", "TJ421")
    current().record(WholeList(x, depth), depth)


def _is_on_data(x: object) -> bool:
    """Return whether data decides on one of the branches around, but not around a container."""
    for frame in reversed(current().frames):
        if id(x) in frame.created or frame.kind not in ("loop", "if"):
            return False
        if frame.by_data:
            return True
    return False


def is_iterator(x: object) -> bool:
    """Return whether an object is an iterator, which reading an item moves on."""
    return hasattr(type(x), "__next__")


def is_from_around(x: object) -> bool:
    """Return whether a change of an object concerns more than the region that is being captured."""
    if isinstance(x, TracedOperand):
        return False
    trace = current()
    if is_joined(x) or id(x) in trace.captured.passed or trace.captured.is_given_twice(x):
        return True
    if trace.frames:
        return id(x) not in trace.frames[-1].created
    return bool(trace.captured.is_from_outside(x))


def advance(x: object) -> None:
    """Refuse to read an iterator that was made outside of the region, which would move it on."""
    refuse_left(x)
    if is_from_around(x):
        current().captured.refuse_change(x)
        known_container(x, "reading an iterator")


def before_change(x: Any, key: Any, of_attribute: bool = False) -> None:
    """Note that an item or attribute is about to change.

    of_attribute -- whether it is an attribute also of a container, whose class is a user's
    """
    trace = current()
    x = _owner_of(x)
    trace.captured.refuse_change(x)
    refuse_joined_change(x)
    _refuse_change_of_item(x)
    depth = max(known_container(x), _depth_of_stand_in(x))
    if isinstance(x, CONTAINERS) and not of_attribute:
        trace.record(ItemPlace(x, key, depth), depth)
        return
    _refuse_hidden_change(x, key)
    if key == "__dict__" and depth < trace.depth:
        raise refuse("setting the __dict__ of an object in a loop or branch",
                     "Set its attributes one by one", "TJ416")
    note_shown_of_class(x, key)
    trace.record(AttributePlace(x, key, depth), depth)


def before_loss(x: object, key: object, of_attribute: bool = False) -> None:
    """Note that a dict is about to lose a key, or an object an attribute."""
    entries = x if isinstance(x, dict) and not of_attribute else own_names(x)
    if any(entries is walked for walked in current().gone_over):
        raise refuse(f"a {type(x).__name__} loses {key!r} while a loop is running over it",
                     "Run over a copy: list(items)", "TJ421")
    before_change(x, key, of_attribute)
    current().record_loss(x, known_container(x))


def _depth_of_stand_in(x: object) -> int:
    """Return in how many regions a loop is that begins its iterations with an object; else 0.

    The loop gives places around it the contents that its last iteration leaves, so that a change
    of the object, which is made anew at each attempt, is none of a region around.
    """
    return next((frame.depth - 1 for frame in reversed(current().frames)
                 if any(x is s for s in frame.stand_ins)), 0)


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
                         "depends on data", f"Set it on the object before: x.{key} = x.{key}",
                         "TJ420")


def _refuse_hidden_change(x: object, name: str) -> None:
    """Refuse to set a class's attribute where data decides if an object has one of its own."""
    if not isinstance(x, type):
        return
    for owner, key in current().shown_of_class:
        if key == name and owner is not x and x in (
                owner if isinstance(owner, type) else type(owner)).__mro__:
            refuse_shown_of_class(owner, f"setting {name!r} of a class", name)
