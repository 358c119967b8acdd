"""Hooks of functions that call themselves and are captured as loops (`syntax/recursion.py`)."""

from __future__ import annotations

import builtins
import sys
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.choices import options_of
from tracejit.trace.containers.places import Choice
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.hooks.loop_hooks import LoopHooks
from tracejit.trace.lists.together import require_logs
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.pooled import DataList
from tracejit.trace.regions.choosing import with_plain
from tracejit.trace.syntax.recursion import undecorated
from tracejit.trace.values.equations import emit
from tracejit.trace.values.tracer import Tracer

__all__ = ["TOO_DEEP", "RecursionHooks", "TooDeep"]

TOO_DEEP = "maximum recursion depth exceeded"


class TooDeep(RecursionError):
    """A recursion of captured code, on values known in the capture, beyond Python's limit."""


class RecursionHooks(LoopHooks):
    """The hooks of loops that were made of functions which call themselves."""

    def recursion(self, condition: FunctionType, body: FunctionType, changes: object,
                  *args: object) -> None:
        """Run the loop of a function; one of the graph, if some of its arguments are traced."""
        if any(map(holds_traced, args)):
            self.trace_while(condition, body, changes)
        else:
            self.while_(condition, body, changes)

    def deepens(self, calls: object) -> None:
        """Raise `RecursionError` where so many calls are running that Python would.

        The limit is Python's at the moment of the capture: to ask at every call would take longer
        than most calls.

        calls -- how many, or a list of as many items
        """
        depth = call_function(len, (calls,), {}) if isinstance(calls, list) else calls
        fits: Any = self.compare(("LtE",), depth, sys.getrecursionlimit())
        if isinstance(fits, Tracer):
            emit("check", [fits.value], {"error": "RecursionError", "message": TOO_DEEP})
        elif not fits:
            raise TooDeep(TOO_DEEP)

    def recurs(self, fn: object, *owner: object) -> None:
        """See to it that a call is one of the function that is running."""
        fn = undecorated(fn)
        if isinstance(fn, MethodType) and owner and any(
                fn.__self__ is x for x in options_of(owner[0])):
            fn = fn.__func__
        if fn is not current().running[-1][0]:
            raise _refused("a call of another function of this name", "Give it another name")

    def saves(self, *pairs: Any) -> None:
        """Put the items that a call saves onto stacks: `pairs` are a stack, its item, and so on."""
        stacks, items = pairs[::2], pairs[1::2]
        require_logs(stacks, "list.append()", items, by_data=False)
        for stack, x in zip(stacks, items, strict=True):
            call_function(stack.append, (x,), {})

    def default(self, name: str) -> Any:
        """Return the default value of a parameter."""
        fn = current().running[-1][1]
        names = fn.__code__.co_varnames[:fn.__code__.co_argcount]
        defaults = fn.__defaults__ or ()
        found = {**dict(zip(names[len(names) - len(defaults):], defaults, strict=True)),
                 **(fn.__kwdefaults__ or {})}
        if name not in found:
            raise TypeError(f"{fn.__name__}() missing 1 required argument: {name!r}")
        return found[name]

    def starred(self, xs: Any, count: int, k: int) -> Any:
        """Return one of the arguments by `*`, of which there have to be so many."""
        if isinstance(xs, Choice):
            return with_plain(xs, lambda x: self.starred(x, count, k))
        if xs is None:
            raise TypeError("argument after * must be an iterable, not NoneType")
        if not isinstance(xs, tuple) or len(xs) != count:
            raise _refused("arguments by `*` that are no tuple of as many as there are parameters",
                           "Write them out")
        return xs[k]

    def keeps(self, key: str, fn: object) -> None:
        """Note a function that is looked up before a call of the recursion, and called after it."""
        self._kept()[key] = fn

    def kept(self, key: str, fn: object) -> object:
        """Return a function, which is still the same."""
        before = self._kept().get(key)
        same = before is fn or (
            isinstance(fn, MethodType) and isinstance(before, MethodType)
            and fn.__self__ is before.__self__ and fn.__func__ is before.__func__) or (
                isinstance(fn, BuiltinFunctionType) and isinstance(before, BuiltinFunctionType)
                and fn == before)
        if isinstance(fn, Choice) or not same:
            raise _refused("a function that is another one after the call",
                           "Give a name to the result of the call, and use that")
        return fn

    def _kept(self) -> dict[str, object]:
        found: dict[str, object] = current().kept.setdefault(id(self), {})
        return found

    def builtin(self, name: str, fn: object) -> None:
        """See to it that a name stands for the builtin."""
        if fn is not getattr(builtins, name):
            raise _refused(f"a loop over {name}(), which is not the builtin,", "Rename it")

    def indexed(self, xs: object) -> Any:
        """Return how many items there are for a loop that takes them by index."""
        if isinstance(xs, Choice):
            return with_plain(xs, self.indexed)
        if xs is None:
            raise TypeError("'NoneType' object is not iterable")
        known = isinstance(xs, (list, tuple, range, np.ndarray, DataList)) or (
            isinstance(xs, Tracer) and xs.is_array)
        if not known:
            raise _refused(f"a loop over a {type(xs).__name__}, with a call of the function in it,",
                           "Loop over an array, a list, a range or a tuple")
        return call_function(len, (xs,), {})


def _refused(what: str, remedy: str) -> Refusal:
    return refuse(f"a recursion that ends on data, with {what}", remedy, "TJ108")
