"""Tracing an `if` on data: both branches from the same state, then their contents are merged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.builder import BlockScope
from tracejit.trace.containers.choices import known_tags, learn
from tracejit.trace.containers.container_aliases import link_branches
from tracejit.trace.containers.places import UNSET, name_places, same_structure
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import Frame, Place, current, refuse
from tracejit.trace.ground.restarts import Grows, Unroll
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.forms import Form, form_of, holds_logs, joint_form, listed
from tracejit.trace.regions.merging import Branch, Merger
from tracejit.trace.regions.raising import BranchJumped, BranchRaised, end_in_run
from tracejit.trace.state.key_orders import note_orders, orders_left
from tracejit.trace.state.known import fix_ints, rests_on_data
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.mixed import Mixed
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import CellPlace, Tracer

__all__ = ["as_condition", "end_branch", "ending", "is_read_on_errors", "merge_branches",
           "trace_branch", "trace_if"]


def as_condition(x: Any) -> Any:
    """Return a condition as a Python bool, or as a traced bool."""
    if isinstance(x, SymInt):
        x = x != 0
    if isinstance(x, Mixed):
        x = x.number
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if not isinstance(x, Tracer):
        return bool(x)
    if x.dims:
        if not all(same_dim(d, 1) for d in x.dims):
            raise ValueError("The truth value of an array with more than one element is ambiguous. "
                             "Use a.any() or a.all()")
        x = x.reshape(())
    return x if x.dtype == np.bool_ else x != 0


MANY_ATTEMPTS = 256
"""So often a branch is traced until it is known which lists it lengthens, and no more."""


def trace_if(condition: Tracer, branches: Sequence[Callable[[], object]],
             names: Sequence[Place], also: Sequence[Callable[[], object]] = ()) -> None:
    """Trace both branches of a condition; names and cells get the merged contents.

    also -- functions that the branches call and that bind names
    """
    lists = ABOVE.DataLists()
    by_data = rests_on_data(condition)
    # a branch binds, and lets go of, names that nothing reads after it: to be traced once more
    begun = [(p, p.get()) for fn in (*branches, *also) if isinstance(fn, FunctionType)
             for p in name_places(fn.__code__.co_freevars, fn)]
    forms: dict[object, Form] = {}
    for _ in range(MANY_ATTEMPTS):
        try:
            _trace_if(condition, branches, names, lists, by_data, forms)
        except (_Chooses, Grows) as e:
            lists.put_back()
            if isinstance(e, _Chooses):
                forms.update(e.forms)
            elif not lists.takes(e):
                raise
            for place, content in begun:
                place.set(content)
        except Unroll as e:
            lists.put_back()
            if any(f.kind == "loop" for f in current().frames):
                raise
            raise e.refusal or refuse(e.why, "Fill an array that is made before the branch", "TJ408"
                                      ) from None
        except BaseException as e:  # a handler reads what the branches left
            (lists.finish if isinstance(e, BranchJumped) else lists.put_back)()
            raise
        else:
            lists.finish()
            break
    else:
        raise refuse("a branch that lengthens other lists each time that it is traced",
                     "Make the lists before the branch", "TJ119")
    ABOVE.go_on_without_error()


def _trace_if(condition: Tracer, branches: Sequence[Callable[[], Any]], names: Sequence[Place],
              lists: Any, by_data: bool, forms: dict[object, Form]) -> None:
    lists.begin()
    try:
        traced = [trace_branch(fn, names, lists, by_data, forms, condition, taken)
                  for fn, taken in zip(branches, (True, False), strict=True)]
    except Refusal:
        fix_ints(condition)
        raise
    places: dict[object, Place] = {p.key: p for p in names}
    for b in traced:
        places.update(b.places)
    _require_forms(places, traced, forms)
    merge_branches(condition, traced, places)


def merge_branches(condition: Tracer, traced: Sequence[Branch],
                   places: dict[object, Place]) -> None:
    """Emit the `if_`, and give each place the content that the taken branch leaves in it."""
    merger = Merger(condition, traced)
    merged: list[tuple[Place, Callable[[], Any]]] = []
    leave = [b for b in traced if not b.raised] or traced
    for key, p in places.items():
        before = p.get()
        matter = [b for b in leave if not b.jumped or is_read_on_errors(p)]
        if all(b.contents.get(key, before) is before for b in matter):
            continue
        for b in leave:
            if key not in b.contents:
                b.note_kept(p)
        lost = [b for b in leave if not any(b is m for m in matter)]
        left = [b if any(b is m for m in matter) else matter[0] for b in traced]
        with _lost(lost):
            if isinstance(p, CellPlace):
                values = [b.contents.get(key, before) if before.is_log else own.contents[key]
                          for b, own in zip(traced, left, strict=True)]  # a Log is a branch's own
                merged.append((p, merger.value(*values)))
            else:
                merged.append((p, merger.content(getattr(p, "name", ""),
                                                 *(b.copies[key] for b in left))))
    merger.close()
    _put(merged, places.values(), leave)
    link_branches([getattr(p, "name", "a name") for p, _ in merged],
                  [merger.made_for(p.get()) for p, _ in merged],
                  [[b.held[p.key] for b in leave] for p, _ in merged])
    for x, _, after in (found for b in leave for found in b.taken_in):
        x[:] = after
    if all(b.raised for b in traced):
        raise BranchRaised
    if all(b.raised or b.jumped for b in traced):
        raise BranchJumped


def _put(merged: Sequence[tuple[Place, Callable[[], object]]], places: Collection[Place],
         leave: Sequence[Branch]) -> None:
    """Give each place its merged content."""
    trace = current()
    before = orders_left(places)
    for p, content in merged:
        if p.depth is not None:
            trace.record(p, p.depth)
        p.set(content())
    note_orders(places, before, [b.orders for b in leave])


@contextmanager
def ending(names: Sequence[Place]) -> Iterator[None]:
    """Note which names matter after the code that is traced meanwhile."""
    ends = current().ends
    ends.append(names)
    try:
        yield
    finally:
        ends.pop()


@contextmanager
def _lost(branches: Sequence[Branch]) -> Iterator[None]:
    """Merge a place as if these branches had raised: nobody reads the contents that they leave."""
    for b in branches:
        b.raised = True
    try:
        yield
    finally:
        for b in branches:
            b.raised = False


def is_read_on_errors(place: Place) -> bool:
    """Return whether the content of a place matters after an error that a `try` catches."""
    return place.depth is not None or any(
        place.key in a.exact for a in current().attempts if a is not None)


class _Chooses(Exception):
    """Internal: the branches leave lists of different lengths, which have to be of some forms."""

    def __init__(self, forms: dict[object, Form]) -> None:
        super().__init__()
        self.forms = forms


def _require_forms(places: dict[object, Place], branches: Sequence[Branch],
                   forms: dict[object, Form]) -> None:
    """Trace the branches again where each has to leave its list's items in arrays of one form."""
    if any(b.raised for b in branches):
        return
    new: dict[object, Form] = {}
    for key, p in places.items():
        a, b = (branch.contents.get(key, UNSET) for branch in branches)
        a, b = (p.get() if x is UNSET else x for x in (a, b))
        if a is b or not (type(a) is list and type(b) is list) or (
                same_structure(a, b) and not holds_logs(a) and not holds_logs(b)):
            continue
        try:
            form = joint_form(forms.get(key), form_of(a), form_of(b))
        except Unroll:
            continue
        if form is not None and form != forms.get(key):
            new[key] = form
    if new:
        raise _Chooses(new)


def trace_branch(fn: Callable[[], Any], names: Sequence[Place], lists: Any,
                  by_data: bool, forms: dict[object, Form], condition: Tracer,
                  taken: bool) -> Branch:
    trace = current()
    before = [(p, p.get()) for p in names]
    taken_in: list[Any] = []
    try:
        with trace.region("if") as (frame, scope), ending(names):
            taken_in = frame.taken_in
            lists.frame, frame.by_data = frame, by_data
            learn(condition.value, taken, frame.tags)
            ended = ABOVE.close_opened(len(trace.opened), _run_branch(fn))
            found = {p.key: p for p in (
                *(p for p, _ in frame.written.values()), *names)}
            left = {} if ended is BranchRaised else forms
            items = {key: listed(found[key].get(), form, place_in_code())
                     for key, form in left.items()
                     if key in found and type(found[key].get()) is list}
            branch = end_branch(frame, scope, names, ended, items)
    finally:
        for x, items, _ in reversed(taken_in):
            x[:] = items
        for p, content in before:
            p.set(content)
    return branch


def end_branch(frame: Frame, scope: BlockScope, names: Sequence[Place],
               ended: type[BranchRaised] | None, items: dict[object, Any]) -> Branch:
    """Return the contents that a branch leaves.

    items -- for lists of which the branches leave different ones: their items in arrays
    """
    branch = Branch(scope, {key: p for key, (p, _) in frame.written.items()},
                     ended is BranchRaised, ended is BranchJumped, tags=known_tags(),
                     taken_in=frame.taken_in, created=frame.created,
                     orders=orders_left(p for p, _ in frame.written.values()))
    for p in {p.key: p for p in (*branch.places.values(), *names)}.values():
        branch.note(p.key, p.get(), items.get(p.key))
    return branch


def _run_branch(fn: Callable[[], object]) -> type[BranchRaised] | None:
    """Run a branch; return how it ended, if not by coming to its end."""
    try:
        fn()
    except BranchRaised as e:
        return type(e)
    except Exception as e:
        if ABOVE.jumps_by(e):
            return BranchJumped
        end_in_run(e)
        return BranchRaised
    return None
