"""Hooks of loops: run by Python, or one loop of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.heap import walked_by
from tracejit.trace.containers.places import Choice, HiddenPlace, NamePlace, name_places
from tracejit.trace.containers.references import Reference
from tracejit.trace.containers.runs import Run, has_runs, place_in_code
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import Place, current, refuse
from tracejit.trace.ground.restarts import NeedStatic, NotRepeatable, Unroll, Widens
from tracejit.trace.hooks.generator_hooks import GeneratorHooks
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.lists.iterables import (
    TracedIterable,
    counted,
)
from tracejit.trace.lists.known_lengths import (
    need_run_of_many,
    note_iteration,
    note_objects,
)
from tracejit.trace.lists.live_items import require_length
from tracejit.trace.lists.ranges import constant_range
from tracejit.trace.python.calls_with_containers import items_in
from tracejit.trace.python.iterating import begun, iterate
from tracejit.trace.python.keys_by_data import VIEWS, EntriesByData, Entry, has_keys_by_data
from tracejit.trace.python.managed import ENDS_CAPTURES
from tracejit.trace.python.truths import truth
from tracejit.trace.regions import loops
from tracejit.trace.regions.attempts import without_error
from tracejit.trace.regions.branches import trace_if
from tracejit.trace.regions.choosing import told_from_none
from tracejit.trace.regions.raising import BranchRaised, require_in_run
from tracejit.trace.state.left_iterators import iterators_in, note_left
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.again import repeatable
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["LoopHooks", "walking"]

Changes = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The names that a loop carries, binds anew and writes to, and its flags."""


MANY_ITERATIONS = 12
"""How many iterations of a `while` on Python values are written out, if it can be traced."""


def _none_is_set(flags: Sequence[Place]) -> Any:
    found: Any = True
    for p in flags:
        found = np.logical_and(found, np.logical_not(p.get()))
    return found


def _refused_while(e: Unroll) -> Refusal:
    return e.refusal or refuse(
        f"this `while` on data cannot be captured: {e.why}",
        "Fill an array that is made before it, and give every name that it changes one kind of "
        "value", "TJ408")


@contextmanager
def walking(*lists: object) -> Iterator[None]:
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
        current().note(f"this loop is unrolled: {why}", "TJ703", current().builder.find_site())
        return False

    def _trace_while(self, condition: FunctionType, body: FunctionType,
                     changes: Changes, by_data: bool) -> None:
        carried, rebound, written, flags = changes
        loops.trace_loop(name_places(carried, body, condition), rebound,
                         self._contents(written, rebound, body), lambda i: body(),
                         lambda i: self._goes_on(lambda: truth(condition())), flags=flags,
                         by_data=by_data, leaves=True)

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
                             "on", "Read the iterator in the body", "TJ408")
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
            return self._goes_on(lambda: _none_is_set(ends))

        try:
            loops.trace_loop([*places, ended], [*rebound, ended.name],
                             self._contents(written, rebound, body), turn, goes_on,
                             flags=flags, by_data=True, leaves=True)
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
        if has_keys_by_data(iterable):
            iterable = VIEWS["keys"](iterable)
        if isinstance(iterable, EntriesByData):
            self._for_entries(iterable, iterable.entries(), body, changes, stop)
            return
        if isinstance(iterable, StandIn):
            items = items_in(iterable)
            with iterable.being_walked():
                self.for_(items, body, changes, stop)
            return
        if isinstance(iterable, Choice):
            iterable = told_from_none(iterable, TypeError("'NoneType' object is not iterable"))
        if has_runs(iterable) and len(iterable) > 1:
            with walking(iterable):
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
        with walking(*items.walks):
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

    def _for_entries(self, view: EntriesByData, left: Iterator[Entry], body: FunctionType,
                     changes: Changes, stop: FunctionType | None) -> None:
        """Carry out a `for` over the keys that a dict may have, each in a branch."""
        entry = next(left, None)
        if entry is None:
            return
        is_set, item = entry
        names = name_places(changes[0], body, *(() if stop is None else (stop,)))
        flags, count = view.size()
        note_iteration()
        if is_set is True:
            body(item())
        elif is_set is not False:
            trace_if(is_set, [lambda: body(item()), lambda: None], names)
        now = view.size()
        test = False if stop is None else truth(stop())
        if test is not True and (len(now[0]) != len(flags) or any(
                a is not b for a, b in zip(now[0], flags, strict=True))):
            is_same = np.equal(now[1], count)
            goes_on = is_same if test is False else np.logical_or(is_same, test)
            require_in_run(goes_on, RuntimeError("dictionary changed size during iteration"))
        if test is False:
            self._for_entries(view, left, body, changes, stop)
        elif test is not True:
            trace_if(test, [lambda: None, lambda: self._for_entries(
                view, left, body, changes, stop)], names)

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
            current().note(f"this loop is unrolled: {e.why}", "TJ703",
                           current().builder.find_site())
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
                       f"{refusal.why}", "TJ706", current().builder.find_site())
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
        if stop is None and place_in_code() not in current().left_loops:
            loops.trace_loop(name_places(carried, body), rebound, contents,
                             lambda i: body(items.item(i)), None, items.lo, items.hi, items.reverse,
                             snapshots=items.snapshots, by_data=by_data, leaves=True)
            return
        count, first, last = items.count, of_dim(items.lo), of_dim(items.hi - 1)

        def run(k: Any) -> None:
            current().builder.assume(k.dim.bare, 0, count - 1)
            body(items.item(last - k if items.reverse else first + k))

        def goes_on(k: object) -> Any:
            go_on = True if stop is None else self.not_(stop())
            return self._goes_on(lambda: self.and_(go_on, lambda: k < of_dim(count)))

        is_short = isinstance(count, int) and count <= MANY_ITEMS
        functions = (body,) if stop is None else (body, stop)
        loops.trace_loop(name_places(carried, *functions), rebound, contents, run, goes_on,
                         flags=flags, snapshots=items.snapshots, by_data=not is_short, leaves=True)

    def _goes_on(self, condition: Callable[[], Any]) -> Any:
        """Return whether a loop goes on: it has no error, and its condition holds."""
        with without_error() as fine:
            return condition() if fine is True else self.and_(fine, condition)

    def _contents(self, written: Sequence[str], rebound: Sequence[str],
                  body: FunctionType) -> list[Any]:
        """Return the arrays to which a loop writes by names that keep them."""
        kept = tuple(n for n in written if n not in rebound)
        contents = [p.get() for p in name_places(kept, body)]
        return [x for x in contents if isinstance(x, Tracer)]
