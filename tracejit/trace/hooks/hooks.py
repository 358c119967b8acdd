"""The hooks that rewritten code calls: all of them, and those of operators, texts and calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tracejit.trace.containers.choices import the_one
from tracejit.trace.containers.places import (
    Choice,
)
from tracejit.trace.ground.operators import BINARY
from tracejit.trace.ground.source import note_made_class
from tracejit.trace.ground.upward import above
from tracejit.trace.hooks.comprehension_hooks import ComprehensionHooks, Generated
from tracejit.trace.hooks.failure_hooks import FailureHooks
from tracejit.trace.hooks.match_hooks import MatchHooks
from tracejit.trace.hooks.recursion_hooks import RecursionHooks
from tracejit.trace.hooks.try_hooks import TryHooks
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.each_kind import (
    may_be_array,
    takes_sequence,
    with_array,
)
from tracejit.trace.python.instances import made_list
from tracejit.trace.python.items import set_item
from tracejit.trace.python.managed import Managed
from tracejit.trace.python.objects import refuse_augmented
from tracejit.trace.python.operations import binary, inplace, unary
from tracejit.trace.regions.choosing import (
    for_each_kind,
    with_plain,
)
from tracejit.trace.state.running import watched
from tracejit.trace.state.texts import read_as_text
from tracejit.trace.values.equations import (
    apply_ufunc,
    require_fits,
    require_same_kind,
)
from tracejit.trace.values.text import formatted, write, written
from tracejit.trace.values.tracer import Tracer

__all__ = ["Hooks"]


@above
class Hooks(RecursionHooks, TryHooks, ComprehensionHooks, FailureHooks, MatchHooks):
    """The hooks of one function object; rewritten code knows them as `_tj`."""

    # --- augmented assignment -------------------------------------------------------------------

    def augment(self, op: str, target: object, value: object) -> Any:
        """Return the object that `target op= value` binds target to."""
        for found in (target, value):
            if isinstance(found, Choice) or takes_sequence(target, value, found):
                return self._augment_of_each(op, target, value, found)
        return inplace(op, target, value)

    def _augment_of_each(self, op: str, target: object, value: object, choice: object) -> Any:
        return with_array(choice, lambda x: self.augment(
            op, x if target is choice else target, x if value is choice else value))

    def item(self, container: object, key: object) -> tuple[Any, Any, Any]:
        """Read the item that is about to be augmented, before the value is evaluated."""
        return container, key, self.getitem(container, key)

    def augment_item(self, op: str, item: tuple[object, object, object], value: object) -> None:
        """Carry out `container[key] op= value`."""
        container, key, old = item
        if isinstance(value, Choice):
            with_plain(value, lambda x: self.augment_item(op, item, x))
            return
        if may_be_array(container):
            for_each_kind(container, lambda x: self.augment_item(op, (x, key, old), value))
            return
        if isinstance(container, Tracer):
            if isinstance(old, Tracer):
                new = apply_ufunc(BINARY[op].ufunc, old, value)
                if old.dims:
                    require_fits(BINARY[op].ufunc, new, old)
                set_item(container, key, new)
            else:
                selected = inplace(op, old, value)
                require_same_kind(BINARY[op].ufunc, selected.data, container)
                container[key] = selected
            return
        self.setitem(self.augment(op, old, value), container, key)

    def attribute(self, owner: object, name: str) -> tuple[Any, str, Any]:
        """Read the attribute that is about to be augmented, before the value is evaluated."""
        return owner, name, self.getattr(owner, name)

    def augment_attr(self, op: str, attribute: tuple[object, str, object], value: object) -> None:
        """Carry out `owner.name op= value`."""
        owner, name, old = attribute
        refuse_augmented(owner, name, old)
        self.setattr(self.augment(op, old, value), owner, name)

    # --- operators ------------------------------------------------------------------------------

    def binary(self, op: str, a: object, b: object) -> Any:
        """Return `a op b`."""
        for found in (a, b):
            if isinstance(found, Choice) or takes_sequence(a, b, found):
                return self._binary_of_each(op, a, b, found)
        if op == "Mod" and isinstance(a, str):
            return write(binary, op, a, b)
        result = binary(op, a, b)
        return made_list(result) if type(result) is list and result is not a else result

    def _binary_of_each(self, op: str, a: object, b: object, choice: object) -> Any:
        return with_array(choice, lambda x: self.binary(
            op, x if a is choice else a, x if b is choice else b))

    def unary(self, op: str, x: object) -> Any:
        """Return `op x`."""
        if isinstance(x, Choice):
            return with_plain(x, lambda y: self.unary(op, y))
        return unary(op, x)

    # --- text -----------------------------------------------------------------------------------

    def formatted(self, value: object, conversion: int, spec: str) -> str:
        """Return a field of an f-string."""
        value = the_one(value)
        if may_be_array(value) and (spec or conversion > 0):
            value.tell_apart()
        read_as_text((value,))
        return formatted(value, conversion, spec)

    def text(self, *parts: str) -> str:
        """Return an f-string of its parts."""
        return written("".join(parts), *parts)

    # --- calls ----------------------------------------------------------------------------------

    def call(self, fn: Callable[..., object], /, *args: object, **kwargs: object) -> Any:
        """Call a function, captured if need be."""
        if any(isinstance(x, Generated) for x in args):
            args = tuple(x.argument_of(fn, args, kwargs) if isinstance(x, Generated) else x
                         for x in args)
        return call_function(fn, args, kwargs)

    def decorator(self, fn: Callable[..., object]) -> Callable[[object], Any]:
        """Return a decorator that is called as other functions are, with the function it gets."""
        return functools.partial(self.call, fn)

    # --- `with` and `class` ---------------------------------------------------------------------

    def managed(self, manager: object) -> Managed:
        """Return the stand-in of the manager of a `with`."""
        return Managed(manager)

    def watched(self) -> AbstractContextManager[None]:
        """Watch for users' functions that Python runs by itself, as it makes a class."""
        return watched()

    def made_class(self) -> Callable[[type], type]:
        """Return the innermost decorator of a class statement: it notes the class."""
        return note_made_class
