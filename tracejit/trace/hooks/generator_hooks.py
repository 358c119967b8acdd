"""Hooks of generators of users': run inside out by a loop over them, or by steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.trace.containers.places import MaybeUnset, SharedName, name_places
from tracejit.trace.containers.runs import has_runs
from tracejit.trace.ground.context import bare_size, current, refuse
from tracejit.trace.hooks.decisions import DecisionHooks
from tracejit.trace.python.iterating import begun, iterate
from tracejit.trace.python.truths import truth
from tracejit.trace.state.yielding import Delegated, UsersGenerator
from tracejit.trace.syntax.jumps import RETURNED, VALUE
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.tracer import Tracer

__all__ = ["GeneratorHooks"]


class _Each:
    """The receiver of a generator's items: the body of the loop over it.

    places -- the names that the body binds and that matter after it
    flags  -- the names among them that end the loop
    """

    def __init__(self, body: FunctionType, stop: Callable[[], object] | None,
                 names: tuple[str, ...], flags: tuple[str, ...]) -> None:
        self.body, self.stop = body, stop
        self.depth = current().depth
        self.places = [SharedName(p.name, p.cell, self.depth) for p in name_places(names, body)]
        self.flags = [p for p in self.places if p.name in flags]
        self.endless = False
        """Whether the generator never ends by itself."""
        self.raised: StopIteration | None = None

    def __call__(self, item: object) -> Any:
        """Run the body; return whether the loop ends."""
        trace = current()
        for p in self.places:
            trace.record(p, self.depth)
        for p in self.flags:
            p.set(False)
        try:
            self.body(item)
            return False if self.stop is None else truth(self.stop())
        except StopIteration as e:  # of the body, not of the generator
            self.raised = e
            raise

    def close(self) -> None:
        """Note that the loop has ended: over a generator that does not, its one flag is set."""
        if not self.endless or len(self.flags) != 1:
            return
        self.flags[0].set(True)
        for p in self.places if self.flags[0].name == RETURNED else ():
            content = p.get()
            if p.name == VALUE and isinstance(content, MaybeUnset):
                p.set(content.content)


MANY_LEVELS = 16
"""In how many regions, each within another, one generator may go through itself."""


@contextmanager
def _recursion(g: UsersGenerator, args: tuple[object, ...]) -> Iterator[None]:
    """Bound a recursion of generators of which every level is in a region of its own."""
    trace = current()
    levels = trace.recursions.setdefault(g.code, [])
    if trace.depth not in levels and len(levels) >= 3:
        for d in [d for x in args if isinstance(x, Tracer) for d in x.dims]:
            if bare_size(d) is None:
                need_int(d, "a recursion on a size")
        if len({*levels}) >= MANY_LEVELS:
            raise refuse("a recursion of generators that ends on data, or never, cannot be "
                         "captured",
                         "Let it end on a size, or keep what is to be gone through in a list",
                         "TJ108")
    levels.append(trace.depth)
    try:
        yield
    finally:
        levels.pop()


class GeneratorHooks(DecisionHooks):
    """The hooks of a `yield`, and of loops around one."""

    def for_generator(self, g: UsersGenerator, body: FunctionType, changes: Any,
                      stop: FunctionType | None) -> bool:
        """Run a generator inside out for a loop over it; return whether that was possible."""
        function = g.inside_out(stop is not None)
        if function is None:
            return False
        each = _Each(body, stop, changes[0], changes[3])
        args, kwargs = g.args, g.kwargs
        g.state = "inside out"
        try:
            with _recursion(g, args):
                value = function(each, *args, **kwargs)
        except StopIteration as e:
            if e is each.raised:
                raise
            raise RuntimeError("generator raised StopIteration") from e
        each.close()
        g.end(value, "ended" if stop is None or truth(stop()) is False else "left")
        return True

    def each(self, to: _Each, item: object) -> Any:
        """Give an item to the loop that takes it; return whether that loop ends."""
        return to(item)

    def endless(self, to: _Each) -> None:
        """Note that a generator never ends by itself."""
        to.endless = True

    def begun(self, iterable: object) -> Any:
        """Return the iterable that `yield from` goes through."""
        return begun(iterable)

    def returned_by(self, items: object) -> Any:
        """Return the result of `yield from`."""
        return items.value if isinstance(items, UsersGenerator) else None

    # --- by steps -------------------------------------------------------------------------------

    def no_steps(self, what: str, remedy: str) -> None:
        """Refuse to take items one after another."""
        raise refuse(f"{what}, in a generator whose items are taken one after another", remedy,
                     "TJ104")

    def decided(self, x: object) -> bool:
        """Return a condition around a `yield`, which must be a Python one."""
        test = truth(x)
        if isinstance(test, bool):
            return test
        raise self._undecided("a condition on data")

    def _undecided(self, what: str) -> Refusal:
        return refuse(f"{what} around a `yield`, in a generator whose items are taken one after "
                      "another", "Let one `for` take its items, or make them a list: list(...)",
                      "TJ104")

    def delegated(self, iterable: object) -> Delegated:
        """Return the iterator that `yield from` goes through, of Python's own."""
        iterable = begun(iterable)
        if isinstance(iterable, UsersGenerator):
            return Delegated(iterable, "generator")
        kind = "iterator"
        if isinstance(iterable, (list, tuple, dict, str, range)):
            kind = type(iter(iterable)).__name__
        return Delegated(self.one_by_one(iterable), kind)

    def one_by_one(self, iterable: object) -> Iterator[Any]:
        """Yield the items that a loop around a `yield` runs over."""
        if isinstance(iterable, Tracer):
            iterable = Tracer(iterable.cell, iterable.steps)
        if not has_runs(iterable):
            for x in iterate(iterable):  # a generator of its own, which is not closed with this one
                yield x
            return
        items: Any = iterable
        before = list(items)
        for x in iterate(items):
            yield x
            if len(items) != len(before) or any(
                    a is not b for a, b in zip(items, before, strict=True)):
                raise self._undecided("a loop over a list that changes")
