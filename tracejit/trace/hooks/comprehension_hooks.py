"""Hooks of comprehensions, generator expressions and `*`: loops that fill a list, or lazy ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.heap import holds
from tracejit.trace.containers.places import Choice
from tracejit.trace.containers.references import Reference, goes_by_data, note_put
from tracejit.trace.containers.runs import Run, copies, has_runs, place_in_code
from tracejit.trace.containers.stand_ins import StandIn, is_made_by_data
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import NeedStatic, NotRepeatable, Unroll
from tracejit.trace.hooks.loop_hooks import LoopHooks, walking
from tracejit.trace.lists.iterables import (
    TracedIterable,
    as_now,
    counted,
)
from tracejit.trace.lists.known_lengths import (
    MOST_UNROLLED,
    is_in_run,
    need_run_here,
    need_run_of_many,
)
from tracejit.trace.lists.ranges import constant_range
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.calls_with_containers import items_in
from tracejit.trace.python.caught import may_raise
from tracejit.trace.python.from_generators import mapped
from tracejit.trace.python.instances import made_list
from tracejit.trace.python.iterating import begun, iterate, mapping_of
from tracejit.trace.python.list_making import list_of
from tracejit.trace.python.managed import ENDS_CAPTURES
from tracejit.trace.python.truths import truth
from tracejit.trace.python.users_functions import captured_function
from tracejit.trace.regions.branches import trace_if
from tracejit.trace.regions.choosing import told_from_none
from tracejit.trace.regions.draws import drawing_nothing
from tracejit.trace.state.changes import note_made
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.tracer import Tracer

__all__ = ["ComprehensionHooks", "Generated"]


def _noting(element: Callable[[object], object]) -> Callable[[object], object]:
    """Return a function that gives an item of a list, and notes that it goes there."""
    def noted(x: object) -> object:
        made = element(x)
        note_put(made)
        return made

    return noted


class ComprehensionHooks(LoopHooks):
    """The hooks of comprehensions, and of the items that displays unpack."""

    def list_of(self, iterable: object, element: Callable[[object], object],
                test: Callable[[object], object] | None = None) -> Any:
        """Evaluate `[element(a) for a in iterable if test(a)]`."""
        return made_list(self.items_of(iterable, _noting(element), test))

    def items_of(self, iterable: Any, element: Callable[[object], object],
                 test: Callable[[object], object] | None = None) -> Any:
        """Evaluate it as a list that nothing else has."""
        if isinstance(iterable, Reference):
            iterable = items_in(iterable)
        if isinstance(iterable, StandIn):
            items = items_in(iterable)
            with iterable.being_walked():
                return self.items_of(items, element, test)
        if isinstance(iterable, Choice):
            iterable = told_from_none(iterable, TypeError("'NoneType' object is not iterable"))
        iterable = begun(iterable)
        if test is not None or isinstance(iterable, UsersGenerator):
            return self._filtered(iterable, element, test or (lambda x: True))
        if has_runs(iterable) and len(iterable) > 1:
            parts = [self.items_of([x] if isinstance(x, Run) else (x,), element) for x in iterable]
            return note_made([x for part in parts for x in part])
        items = counted(iterable)
        with walking(*(() if items is None else items.walks)):
            return self._list_of_items(iterable, items, element)

    def keyed_of(self, kind: str, iterable: object, items: Callable[[object], object],
                 plain: Callable[[object], object]) -> Any:
        """Evaluate a comprehension of a set or dict.

        items -- gives a list of the items, for a set or dict of which data decides on the keys
        plain -- evaluates it in Python; both are given the first iterable
        """
        if is_made_by_data():
            return call_function({"set": set, "dict": dict}[kind], (items(iterable),), {})
        try:
            return plain(iterable)
        except (NeedStatic, Refusal):
            current().used_keyed.add(place_in_code())
            raise

    def several_list_of(self, iterable: object, plain: Callable[[object], object],
                        part: Callable[[object], object],
                        test: Callable[[object], object] | None = None) -> Any:
        """Evaluate `[... for a in iterable if test(a) for ...]`.

        plain -- evaluates it in Python, given the iterable
        part  -- gives the list for one item
        """
        if not (current().has_pools or goes_by_data(iterable)):
            return plain(iterable)
        return made_list(self._filtered(iterable, part, test or (lambda x: True), "extend"))

    def several_generated(self, iterable: object, plain: Callable[[object], object],
                          part: Callable[[object], object],
                          test: Callable[[object], object] | None = None) -> Any:
        """Return the same as a generator expression, an argument of any function."""
        if not (current().has_pools or goes_by_data(iterable)):
            return plain(iterable)
        return SeveralGenerated(iterable, plain, part, test, self)

    @holds("made")
    def _list_of_items(self, iterable: object, items: TracedIterable | None,
                       element: Callable[..., object]) -> Any:
        if items is None and isinstance(iterable, range) and iterable and is_in_run():
            items = constant_range(iterable)
        if items is not None and (
                not isinstance(items.count, int) or items.is_of_runs or is_in_run()):
            found = list_of(items, element)
            return self._filtered(items, element, lambda x: True) if found is None else found
        need_run_of_many(iterable)
        made = note_made([])
        for x in iterate(iterable if items is None else items):
            made.append(element(x))
            if type(iterable) is range and len(made) == MOST_UNROLLED < len(iterable):
                need_run_here(made)
        return made

    @holds("result")
    def _filtered(self, iterable: object, element: Callable[[object], object],
                  test: Callable[[object], object], method: str = "append") -> list[Any]:
        """Evaluate a comprehension as a loop that appends an element for each item that passes."""
        result: list[Any] = note_made([])

        def append(x: object) -> None:
            call_function(getattr(result, method), (element(x),), {})

        def body(x: object) -> None:
            passes = truth(test(x))
            if passes is True:
                append(x)
            elif passes is not False:
                trace_if(passes, [lambda: append(x), lambda: None], [])

        run: Any = body
        unfinished = current().unfinished
        unfinished.append(result)
        try:
            self.for_(iterable, run, ((), (), (), ()), None)
        finally:
            unfinished.pop()
        return result

    def generated(self, iterable: object, element: Callable[[object], object],
                  test: Callable[[object], object] | None = None) -> Generated:
        """Return `element(a) for a in iterable if test(a)`, as an argument of any function."""
        return Generated(iterable, element, test, self)

    def generator_of(self, iterable: object, plain: Callable[[object], Iterator[object]],
                     loops: Callable[[object], object]) -> Any:
        """Return a generator expression that filters: Python's own where no filter is on data.

        plain -- gives Python's own, of the first iterable; `loops` a generator of the user's
        """
        if isinstance(iterable, (Iterator, UsersGenerator)) or not self._is_known(plain, iterable):
            return call_function(loops, (iterable,), {})
        return plain(iterable)

    def _is_known(self, plain: Callable[[object], Iterator[object]], iterable: object) -> bool:
        """Return whether a generator expression has items without data's help, and changes nothing.
        """
        with current().region("probe") as (frame, _):
            try:
                for _ in plain(iterable):
                    pass
            except (Refusal, Unroll, NotRepeatable):
                return False
            except ENDS_CAPTURES:
                raise
            except Exception:
                return False
            return not (frame.written or frame.contents)

    def spread(self, iterable: Any) -> Any:
        """Return the items of `[*iterable]`: many items stay one run."""
        iterable = items_in(iterable) if isinstance(iterable, StandIn) else iterable
        return copies(iterable) if has_runs(iterable) else self.iterate(iterable)

    def into_set(self, iterable: object) -> Any:
        """Return the items of `{*iterable}`: a set or dict is itself, whose order Python takes."""
        items = self.iterate(iterable)
        return iterable if type(iterable) in (set, frozenset, dict) else items

    def into_set_held(self, iterable: object) -> tuple[Any, Any]:
        """Return the same, and the items, to be held while later ones are evaluated."""
        whole = self.into_set(iterable)
        items = (*whole,)
        return whole if whole is iterable else items, items

    def mapping(self, x: object) -> Any:
        """Return the dict that `**x` unpacks."""
        return mapping_of(x)

    def iterate(self, iterable: Any) -> Any:
        """Return the iterable that a comprehension runs over, or a `*` unpacks."""
        return iterable if isinstance(iterable, Tracer) else iterate(iterable)


_AS_IT_IS: tuple[Any, ...] = (next, iter, len, bool, type, isinstance, callable, hasattr)
"""The builtins that look at a generator itself, or take less than all of its items."""


_ALL_AT_ONCE: tuple[Any, ...] = (sum, list, tuple, set, frozenset, dict, sorted, min, max,
                                 math.prod, math.fsum, np.fromiter)
"""The functions that take all items of an iterator first, unless they are given a key."""


def _takes_all_at_once(fn: Callable[..., object], args: Sequence[object],
                       kwargs: Mapping[str, object]) -> bool:
    if _adds(fn):
        return True
    return any(fn is f for f in _ALL_AT_ONCE) and not (
        kwargs.keys() & {"key", "count"} or len(args) > 2)


def _adds(fn: object) -> bool:
    return isinstance(getattr(fn, "__self__", None), (list, dict, set, deque)) and (
        getattr(fn, "__name__", "") in ("extend", "update"))


class Generated:
    """A generator expression as an argument: the function decides how it is evaluated."""

    iterable: Any
    element: Callable[[Any], Any]
    list_of: Callable[..., Any]

    def __init__(self, iterable: object, element: Callable[[Any], object],
                 test: Callable[[Any], object] | None, hooks: ComprehensionHooks) -> None:
        self.iterable, self.element, self.test, self.hooks = iterable, element, test, hooks

    def argument_of(self, fn: Callable[..., object], args: Sequence[object],
                    kwargs: Mapping[str, object]) -> Any:
        """Return a list where all items may be made at once, else a generator."""
        iterable = begun(self.iterable)
        if isinstance(iterable, UsersGenerator):
            return call_function(mapped, (iterable, self.element, self.test), {})
        keeps_some = current().attempts and _adds(fn)  # of items before one that raises an error
        if keeps_some or any(fn is f for f in _AS_IT_IS) or (
                isinstance(fn, (FunctionType, MethodType))
                and captured_function(getattr(fn, "__func__", fn)) is not None):
            if self.test is not None:
                return call_function(mapped, (iterable, self.element, self.test), {})
            return (self.element(x) for x in iterate(self.iterable))
        element = self.element
        if fn is sum and self._is_by_data(iterable) and self._has_no_list(iterable):
            return call_function(mapped, (iterable, element, self.test), {})
        if fn is sum:  # it reads each item before the next one is made, which may change it
            return self.hooks.items_of(self.iterable, lambda x: as_now(element(x)), self.test)
        if _takes_all_at_once(fn, args, kwargs):
            return self.hooks.items_of(self.iterable, element, self.test)
        if self._acts(iterable):
            return call_function(mapped, (iterable, element, self.test), {})
        with drawing_nothing("a generator expression, of which a function may take one item after "
                             "the other", "Make it a list, or write the loop out"):
            return self.hooks.items_of(self.iterable, element, self.test)

    def _is_by_data(self, iterable: object) -> bool:
        """Return whether data decides how many items there are to make one of each."""
        items = None if isinstance(iterable, (Iterator, StandIn, Reference)) else counted(iterable)
        return items is not None and not current().is_known(items.count)

    def _has_no_list(self, iterable: object) -> bool:
        """Return whether no list can have all items, so that they are taken one by one."""
        with current().region("probe"):
            try:
                self.hooks.items_of(iterable, self.element, self.test)
            except Refusal:
                return True
        return False

    def _acts(self, iterable: object) -> bool:
        """Return whether it matters how many items are made: that changes something, or raises."""
        if isinstance(iterable, Iterator):
            return True
        with current().region("probe") as (frame, scope):
            try:
                self.hooks.items_of(iterable, self.element, self.test)
            except NotRepeatable:
                return True
            except ENDS_CAPTURES:
                raise
            except Exception:
                return True
            return bool(frame.written or frame.contents) or may_raise(
                scope.eqns, lambda: BaseException)


class SeveralGenerated(Generated):
    """A generator expression of several `for`, of which data decides how often one runs."""

    def __init__(self, iterable: object, plain: Callable[[object], object],
                 part: Callable[[object], object], test: Callable[[object], object] | None,
                 hooks: ComprehensionHooks) -> None:
        super().__init__(iterable, part, test, hooks)
        self.plain = plain

    def argument_of(self, fn: Callable[..., object], args: Sequence[object],
                    kwargs: Mapping[str, object]) -> Any:
        """Return a list where all items may be made at once, else a generator."""
        if not _takes_all_at_once(fn, args, kwargs):
            return self.plain(self.iterable)
        return self.hooks.several_list_of(self.iterable, self.plain, self.element, self.test)
