"""Hooks of loops and comprehensions: run by Python, or one loop of the graph."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.heap import holds, walked_by
from tracejit.trace.containers.places import Choice, HiddenPlace, NamePlace, name_places
from tracejit.trace.containers.references import Reference, goes_by_data, note_put
from tracejit.trace.containers.runs import Run, copies, has_runs
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import Place, current, refuse
from tracejit.trace.ground.restarts import NeedStatic, NotRepeatable, Unroll, Widens
from tracejit.trace.hooks.generator_hooks import GeneratorHooks
from tracejit.trace.lists.growing import MANY_ITEMS
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
    note_iteration,
    note_objects,
)
from tracejit.trace.lists.live_items import require_length
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
from tracejit.trace.regions import loops
from tracejit.trace.regions.branches import trace_if
from tracejit.trace.regions.choosing import told_from_none
from tracejit.trace.regions.draws import drawing_nothing
from tracejit.trace.regions.raising import BranchRaised
from tracejit.trace.state.changes import note_made
from tracejit.trace.state.left_iterators import iterators_in, note_left
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.again import repeatable
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["Generated", "LoopHooks"]

Changes = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The names that a loop carries, binds anew and writes to, and its flags."""


MANY_ITERATIONS = 12
"""How many iterations of a `while` on Python values are written out, if it can be traced."""


def _refused_while(e: Unroll) -> Refusal:
    return e.refusal or refuse(
        f"this `while` on data cannot be captured: {e.why}",
        "Fill an array that is made before it, and give every name that it changes one kind of "
        "value")


@contextmanager
def _walking(*lists: object) -> Iterator[None]:
    """Note that a loop runs over lists: how long they are may not change as data decides."""
    walked = current().walked
    before = len(walked)
    walked += lists
    plain = [(xs, len(xs)) for xs in lists if isinstance(xs, list) and not has_runs(xs)]
    try:
        yield
    finally:
        del walked[before:]
    for xs, length in plain:
        require_length(xs, length)


def _noting(element: Callable[[object], object]) -> Callable[[object], object]:
    """Return a function that gives an item of a list, and notes that it goes there."""
    def noted(x: object) -> object:
        made = element(x)
        note_put(made)
        return made

    return noted


class LoopHooks(GeneratorHooks):
    """Loops over traced ranges and arrays are loops of the graph, all others Python's own."""

    def while_(self, condition: FunctionType, body: FunctionType, changes: Any) -> None:
        """Run a `while` in Python as long as its condition is a Python one; trace it otherwise.

        One on Python values that computes a lot is traced too, if it can be, and so is one on
        sizes, which would leave a guard per iteration.
        """
        places = name_places(changes[0], body, condition)
        found = self._probe(condition)
        if "effects" in found:
            self._while_with_effects(condition, body, changes)
            return
        guards = current().guards
        before = len(guards)
        # one on data is tested in the loop alone: it may be behind a test that is false at once
        test = None if "data" in found else truth(condition())
        ahead = self._look_ahead(condition, body, places) if test is True else "short"
        if (ahead == "long" or (ahead != "data" and len(guards) > before)) and (
                self._is_traced_on_sizes(condition, body, changes, before)):
            return
        while ahead != "data" and isinstance(test, bool):
            if not test:
                return
            body()
            test = truth(condition())
        self.trace_while(condition, body, changes)

    def _is_traced_on_sizes(self, condition: FunctionType, body: FunctionType,
                            changes: Changes, before: int) -> bool:
        """Trace a `while` on sizes; return False where only Python can run it.

        before -- how many guards there were before its condition was tested
        """
        guards = current().guards
        rest = guards[before:]
        del guards[before:]
        try:
            self._trace_while(condition, body, changes, by_data=False)
            return True
        except (Unroll, Refusal, NeedStatic) as e:
            if isinstance(e, Unroll) and loops.is_of_open_loop(e):
                raise
            need: Any = e
        if current().may_venture and self._is_tried(
                lambda: self._trace_while(condition, body, changes, by_data=True)):
            current().ventured = True
            return True
        if isinstance(need, NeedStatic):
            raise need
        guards[before:] = rest
        why = need.why if isinstance(need, Unroll) else str(need)
        current().note(f"this loop is unrolled: {why}", current().builder.find_site())
        return False

    def _trace_while(self, condition: FunctionType, body: FunctionType,
                     changes: Changes, by_data: bool) -> None:
        carried, rebound, written, flags = changes
        loops.trace_loop(name_places(carried, body, condition), rebound,
                         self._contents(written, rebound, body), lambda i: body(),
                         lambda i: truth(condition()), flags=flags, by_data=by_data)

    def trace_while(self, condition: FunctionType, body: FunctionType, changes: Any) -> None:
        """Trace a `while` of which data decides how often it runs."""
        try:
            self._trace_while(condition, body, changes, by_data=True)
        except Unroll as e:
            if loops.is_of_open_loop(e):
                raise
            raise _refused_while(e) from None

    def _probe(self, condition: FunctionType) -> set[str]:
        """Try a condition: return "data" if it depends on it, "effects" if it changes anything."""
        found = set()
        guards = current().guards
        before = len(guards)
        try:
            with current().region("probe") as (frame, _):
                try:
                    if not isinstance(truth(condition()), bool):
                        found.add("data")
                except (NotRepeatable, *ENDS_CAPTURES):
                    raise
                except Exception:  # which the loop raises, after all that the condition changes
                    pass
                if frame.written or frame.contents:
                    found.add("effects")
        except NotRepeatable:
            found.add("effects")
        except BranchRaised:
            pass
        finally:
            del guards[before:]
        return found

    def _while_with_effects(self, condition: FunctionType, body: FunctionType,
                            changes: Any) -> None:
        """Carry out a `while` whose condition changes something: it is a part of the body."""
        carried, rebound, written, flags = changes
        while "data" not in self._probe(condition):
            test = truth(condition())
            if not isinstance(test, bool):
                raise refuse("the condition of this `while` depends on data and moves an iterator "
                             "on", "Read the iterator in the body")
            if not test:
                return
            body()
        places = name_places(carried, body, condition)
        ended = HiddenPlace()
        ended.set(False)

        def turn(_: object) -> None:
            ended.set(False)
            test = truth(condition())
            if isinstance(test, bool):
                body() if test else ended.set(True)
            else:
                trace_if(test, [body, lambda: ended.set(True)], [*places, ended])

        ends: list[Place] = [ended, *(p for p in places if p.name in flags)]

        def goes_on(_: object) -> Any:  # before the next turn, which resets the flags
            found: Any = True
            for p in ends:
                found = np.logical_and(found, np.logical_not(p.get()))
            return found

        try:
            loops.trace_loop([*places, ended], [*rebound, ended.name],
                             self._contents(written, rebound, body), turn, goes_on,
                             flags=flags, by_data=True)
        except Unroll as e:
            if loops.is_of_open_loop(e):
                raise
            raise _refused_while(e) from None

    def _look_ahead(self, condition: FunctionType, body: FunctionType,
                    places: Sequence[NamePlace]) -> str:
        """Run the iteration after a True condition: is the loop "short", "long", or on "data"?

        `while True` with a `break` on data is a loop of the graph from the start.
        """
        before = [(p, p.get()) for p in places]
        try:
            with current().region("probe") as (_, scope):
                try:
                    for _ in range(MANY_ITERATIONS):
                        body()
                        test = truth(condition())
                        if not isinstance(test, bool):
                            return "data"
                        if not test:
                            return "short"
                    return "long" if scope.eqns else "short"
                except BranchRaised:
                    return "data"
                except NotRepeatable:
                    return "short"
                except ENDS_CAPTURES:
                    raise
                except Exception:  # which the loop raises when it comes to that
                    return "short"
        finally:
            for p, content in before:
                p.set(content)

    def for_(self, iterable: Any, body: FunctionType, changes: Any,
             stop: FunctionType | None) -> None:
        """Run a `for`, or trace it where it runs over numbers or an array."""
        if isinstance(iterable, Reference):
            iterable = items_in(iterable)
        if isinstance(iterable, StandIn):
            items = items_in(iterable)
            with iterable.being_walked():
                self.for_(items, body, changes, stop)
            return
        if isinstance(iterable, Choice):
            iterable = told_from_none(iterable, TypeError("'NoneType' object is not iterable"))
        if has_runs(iterable) and len(iterable) > 1:
            with _walking(iterable):
                self._for_parts(list(iterable), body, changes, stop)
            return
        iterable = begun(iterable)
        if isinstance(iterable, UsersGenerator) and (
                self.for_generator(iterable, body, changes, stop)):
            return
        items = counted(iterable)
        if items is None and isinstance(iterable, range) and len(iterable) > 1:
            items = constant_range(iterable)
        need_run_of_many(iterable)
        if type(iterable) is list:
            note_objects(iterable)
        if items is None:
            self._run(iterate(iterable), body, stop, changes[0])
            return
        with _walking(*items.walks):
            self._for_items(iterable, items, body, changes, stop)
        if stop is not None and iterable is not items and truth(stop()) is not False:
            note_left(iterators_in(iterable))

    def _for_items(self, iterable: object, items: TracedIterable, body: FunctionType, changes: Any,
                   stop: FunctionType | None) -> None:
        if items.count == 0:
            return  # a list into which nothing was put has no item that a body could be traced for
        try:
            traced = self._is_traced(items, body, changes, stop)
        except Widens as e:
            self._begin_before(items, body, changes, stop, e)
            return
        if not traced:
            elements: Any = iterable if isinstance(iterable, range) else items
            self._run(iterate(elements), body, stop, changes[0])

    def _for_parts(self, parts: list[object], body: FunctionType, changes: Any,
                   stop: FunctionType | None) -> None:
        """Carry out a `for` over a list in which runs stand for many items."""
        if not parts:
            return
        first, *rest = parts
        if isinstance(first, Run):
            self.for_([first], body, changes, stop)
        else:
            body(first)
        test = False if stop is None else truth(stop())
        if test is False:
            self._for_parts(rest, body, changes, stop)
        elif test is not True:
            trace_if(test, [lambda: None, lambda: self._for_parts(rest, body, changes, stop)],
                     name_places(changes[0], body))

    def _is_traced(self, items: TracedIterable, body: FunctionType, changes: object,
                   stop: FunctionType | None) -> bool:
        """Trace a `for`; return False where only Python can run it."""
        try:
            self._trace_for(items, body, changes, stop)
        except Unroll as e:
            if loops.is_of_open_loop(e):
                raise
            if self._is_traced_by_data(items, body, changes, stop):
                return True
            current().note(f"this loop is unrolled: {e.why}", current().builder.find_site())
            return False
        return True

    def _is_traced_by_data(self, items: TracedIterable, body: FunctionType, changes: object,
                           stop: FunctionType | None) -> bool:
        """Trace a `for` as if data decided how often it runs: its lists are in Logs then."""
        if isinstance(items.count, int) and items.count <= MANY_ITEMS:
            return False
        return self._is_tried(
            lambda: self._trace_for(items, body, changes, stop, by_data=True))

    def _is_tried(self, run: Callable[[], None]) -> bool:
        """Trace a loop with its lists in Logs; return False, as before, where that is refused."""
        trace = current()
        guards, frozen = len(trace.guards), len(trace.frozen)
        lists = set(trace.in_lists), dict(trace.objects_in_lists), dict(trace.classes_in_lists)
        before, trace.tries_logs = trace.tries_logs, True
        try:
            run()
        except (Unroll, Refusal) as e:
            if isinstance(e, Unroll) and loops.is_of_open_loop(e):
                raise
            del trace.guards[guards:]
            for cell in trace.frozen[frozen:]:
                cell.constant = None
            del trace.frozen[frozen:]
            trace.in_lists, trace.objects_in_lists, trace.classes_in_lists = lists
            return False
        finally:
            trace.tries_logs = before
        return True

    def _begin_before(self, items: TracedIterable, body: FunctionType, changes: Any,
                      stop: FunctionType | None, refusal: Widens) -> None:
        """Carry out the first iteration before the loop: it makes an array of a number, say."""
        has_first = current().decide(1 - items.count, "<=", "a loop has a first iteration")
        if has_first is None:
            raise refusal
        if not has_first:
            return
        current().note("the first iteration of this loop is carried out before it: "
                       f"{refusal.why}", current().builder.find_site())
        body(items.in_turn(0))
        test = False if stop is None else truth(stop())
        if test is True:
            return

        def go_on() -> None:
            rest = items.without_first()
            if not self._is_traced(rest, body, changes, stop):
                self._run(iterate(rest), body, stop, changes[0])

        if test is False:
            go_on()
        else:
            trace_if(test, [lambda: None, go_on], name_places(changes[0], body))

    def _run(self, remaining: Iterator[object], body: FunctionType, stop: FunctionType | None,
             names: tuple[str, ...]) -> None:
        """Run a loop in Python over an iterator, of which the lists are known meanwhile."""
        gone_over = current().gone_over
        before = len(gone_over)
        gone_over += walked_by(remaining)
        try:
            self._run_items(remaining, body, stop, names)
        finally:
            del gone_over[before:]

    def _run_items(self, remaining: Iterator[object], body: FunctionType,
                   stop: FunctionType | None, names: tuple[str, ...]) -> None:
        """Run a loop in Python; the iterations after a break on data are a branch."""
        for item in remaining:
            note_iteration()
            body(item)
            test = False if stop is None else truth(stop())
            if test is True:
                return
            if test is not False:
                left = [*iterators_in(remaining)]
                self._run_rest(test, repeatable(remaining), body, stop, names)
                note_left(left)
                return

    def _run_rest(self, test: Any, rest: Callable[[], Iterator[Any]], body: FunctionType,
                  stop: FunctionType | None, names: tuple[str, ...]) -> None:
        trace_if(test, [lambda: None, lambda: self._run(rest(), body, stop, names)],
                 name_places(names, body))

    def _trace_for(self, items: TracedIterable, body: FunctionType, changes: Any,
                   stop: FunctionType | None, by_data: bool = False) -> None:
        carried, rebound, written, flags = changes
        contents = self._contents(written, rebound, body)
        if stop is None:
            loops.trace_loop(name_places(carried, body), rebound, contents,
                             lambda i: body(items.item(i)), None, items.lo, items.hi, items.reverse,
                             snapshots=items.snapshots, by_data=by_data)
            return
        count, first, last = items.count, of_dim(items.lo), of_dim(items.hi - 1)

        def run(k: Any) -> None:
            current().builder.assume(k.dim.bare, 0, count - 1)
            body(items.item(last - k if items.reverse else first + k))

        def goes_on(k: object) -> Any:
            return self.and_(self.not_(stop()), lambda: k < of_dim(count))

        is_short = isinstance(count, int) and count <= MANY_ITEMS
        loops.trace_loop(name_places(carried, body, stop), rebound, contents, run, goes_on,
                         flags=flags, snapshots=items.snapshots, by_data=not is_short)

    def _contents(self, written: Sequence[str], rebound: Sequence[str],
                  body: FunctionType) -> list[Any]:
        """Return the arrays to which a loop writes by names that keep them."""
        kept = tuple(n for n in written if n not in rebound)
        contents = [p.get() for p in name_places(kept, body)]
        return [x for x in contents if isinstance(x, Tracer)]

    # --- comprehensions -------------------------------------------------------------------------

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
        with _walking(*(() if items is None else items.walks)):
            return self._list_of_items(iterable, items, element)

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
                 test: Callable[[Any], object] | None, hooks: LoopHooks) -> None:
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
                 hooks: LoopHooks) -> None:
        super().__init__(iterable, part, test, hooks)
        self.plain = plain

    def argument_of(self, fn: Callable[..., object], args: Sequence[object],
                    kwargs: Mapping[str, object]) -> Any:
        """Return a list where all items may be made at once, else a generator."""
        if not _takes_all_at_once(fn, args, kwargs):
            return self.plain(self.iterable)
        return self.hooks.several_list_of(self.iterable, self.plain, self.element, self.test)
