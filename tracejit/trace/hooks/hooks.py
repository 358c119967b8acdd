"""Hooks that rewritten code calls: Python's behaviour on plain values, regions on traced ones."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FunctionType
from typing import Any

from tracejit.trace.containers.choices import first_choice, learn, narrowed, replaced, the_one
from tracejit.trace.containers.places import (
    UNSET,
    Choice,
    MaybeUnset,
    SharedName,
    name_places,
    present,
)
from tracejit.trace.containers.references import note_put
from tracejit.trace.containers.runs import has_runs, holds_runs
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.operators import BINARY
from tracejit.trace.ground.source import note_made_class
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.hooks.comprehension_hooks import ComprehensionHooks, Generated
from tracejit.trace.hooks.recursion_hooks import RecursionHooks
from tracejit.trace.hooks.try_hooks import TryHooks
from tracejit.trace.lists.list_runs import give_up
from tracejit.trace.python.attributes import (
    attribute_of_traced,
    delete_attribute,
    read_attribute,
    set_attribute,
)
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.caught import may_raise, rest_on_sizes
from tracejit.trace.python.each_kind import (
    attribute_of_each,
    first_merged,
    may_be_array,
    of_each_kind,
    takes_sequence,
    tells_elements,
    tells_items,
    with_array,
    with_kind,
)
from tracejit.trace.python.from_generators import some
from tracejit.trace.python.instances import by_data, made_list
from tracejit.trace.python.items import delete_item, get_item, set_item
from tracejit.trace.python.iterating import begun, iterate
from tracejit.trace.python.list_functions import unpacked
from tracejit.trace.python.managed import ENDS_CAPTURES, Managed
from tracejit.trace.python.objects import refuse_augmented
from tracejit.trace.python.operations import binary, inplace, unary
from tracejit.trace.python.patterns import NO_PART, is_plain_attribute, parts_of, pattern_class
from tracejit.trace.python.pooled import DataList
from tracejit.trace.regions.attempts import is_raisable
from tracejit.trace.regions.choosing import (
    for_each_kind,
    refuse_new_axes,
    whole_number,
    with_plain,
)
from tracejit.trace.regions.draws import drawing_nothing
from tracejit.trace.regions.raising import BranchRaised, text_of
from tracejit.trace.state.changes import known_container, note_made
from tracejit.trace.state.methods import may_be_called
from tracejit.trace.state.paths import is_users_type
from tracejit.trace.state.running import watched
from tracejit.trace.state.texts import read_as_text
from tracejit.trace.state.uncaptured import read_deeply, unseen
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.equations import (
    apply_ufunc,
    atom_of,
    emit,
    require_fits,
    require_same_kind,
    same_dim,
)
from tracejit.trace.values.known_numbers import FIELD
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import python_dims
from tracejit.trace.values.text import formatted, write, written
from tracejit.trace.values.tracer import Tracer

__all__ = ["Hooks"]


@above
class Hooks(RecursionHooks, TryHooks, ComprehensionHooks):
    """The hooks of one function object; rewritten code knows them as `_tj`."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn

    # --- names, attributes, items ---------------------------------------------------------------

    def outer(self, name: str) -> Any:
        """Read a global or a name of an enclosing function."""
        return current().captured.name(self.fn, name)

    def class_name(self, name: str, bound: dict[str, object]) -> Any:
        """Read a name that a class body binds: in `bound` if it is there, else from around."""
        return bound[name] if name in bound else self.outer(name)

    def globals(self) -> Any:
        """Return the dict of the module that the function is of."""
        return current().captured.namespace(self.fn.__globals__)

    def locals(self, names: dict[str, object]) -> dict[str, Any]:
        """Return the contents of local names, and of names of enclosing functions among these."""
        outer = self.fn.__code__.co_freevars
        own = {name: content for name, content in names.items() if not name.startswith("_tj")}
        return own | {name: self.outer(name) for name in outer if name in own}

    vars = locals

    def dir(self, names: dict[str, object]) -> list[str]:
        """Return the local names."""
        return sorted(self.locals(names))

    def import_(self, name: str, is_top: bool) -> Any:
        """Return a module that is imported, or the package that it is in."""
        module = importlib.import_module(name)
        captured = current().captured
        if is_top:
            return captured.module(name.partition(".")[0])
        return captured.module(name) if sys.modules.get(name) is module else module

    def import_from(self, module: str, level: int, name: str) -> Any:
        """Return the object that `from module import name` binds; level counts the leading dots."""
        package = self.fn.__globals__.get("__package__") or ""
        full = importlib.util.resolve_name("." * level + module, package)
        importlib.import_module(full)
        owner = current().captured.module(full)
        try:
            return read_attribute(owner, name)
        except AttributeError:
            if f"{full}.{name}" in sys.modules or hasattr(owner, "__path__"):
                return self.import_(f"{full}.{name}", False)
            raise ImportError(f"cannot import name {name!r} from {full!r}", name=name) from None

    def read(self, content: Any) -> Any:
        """Read a local name that may be unset, depending on data."""
        return narrowed(present(content))

    def owns(self, names: FunctionType) -> None:
        """Note the names of a function that functions in it bind by `nonlocal`."""
        for cell in names.__closure__ or ():
            note_made(cell)

    def forgets(self, names: FunctionType) -> None:
        """Let go of the contents of names that are never read again: these are no uses."""
        for place in name_places(names.__code__.co_freevars, names):
            place.set(UNSET)

    def rebinds(self, names: FunctionType) -> None:
        """Note that a local function is about to bind names of functions around it."""
        trace = current()
        for name, cell in zip(names.__code__.co_freevars, names.__closure__ or (), strict=True):
            place = SharedName(name, cell, known_container(cell))
            trace.record(place, place.depth or 0)

    def getattr(self, owner: object, name: str) -> Any:
        """Read an attribute."""
        if isinstance(owner, Choice):
            return with_plain(owner, lambda x: self.getattr(x, name))
        if not isinstance(owner, TracedOperand):
            return narrowed(read_attribute(owner, name))
        if isinstance(owner, Merged):
            return attribute_of_each(owner, name)
        return attribute_of_traced(owner, name)

    def setattr(self, content: object, owner: object, name: str) -> None:
        """Set an attribute; its new content was evaluated first."""
        with_array(owner, lambda x: set_attribute(x, name, narrowed(content)))

    def delattr(self, owner: object, name: str) -> None:
        """Delete an attribute."""
        with_plain(owner, lambda x: delete_attribute(x, name))

    def getitem(self, container: object, key: object) -> Any:
        """Read an item."""
        if isinstance(container, Choice):
            return with_plain(container, lambda x: self.getitem(x, key))
        if (found := first_choice(key)) is not None:
            refuse_new_axes(container, found)
            return with_plain(found, lambda x: self.getitem(container, replaced(key, found, x)))
        if current().mixes and (merged := first_merged(key)) is not None and tells_items(merged):
            return for_each_kind(merged, lambda x: self.getitem(container, with_kind(
                key, merged, x)))
        if may_be_array(container):
            return of_each_kind(container, lambda x: self.getitem(x, key))
        return narrowed(get_item(container, key))

    def setitem(self, content: object, container: object, key: object) -> None:
        """Set an item; its new content was evaluated first."""
        if isinstance(container, Choice) or may_be_array(container):
            with_array(container, lambda x: self.setitem(content, x, key))
        elif (found := first_choice(key)) is not None:
            refuse_new_axes(container, found)
            with_plain(found, lambda x: self.setitem(content, container, replaced(key, found, x)))
        elif isinstance(container, Tracer) and isinstance(content, Choice):
            with_plain(content, lambda x: self.setitem(x, container, key))
        elif isinstance(container, Tracer) and isinstance(content, Merged) and (
                tells_elements(content, container.dtype)):
            for_each_kind(content, lambda x: self.setitem(x, container, key))
        elif current().mixes and (merged := first_merged(key)) is not None and tells_items(merged):
            for_each_kind(merged, lambda x: self.setitem(content, container, with_kind(
                key, merged, x)))
        else:
            set_item(container, key, narrowed(content))

    def delitem(self, container: object, key: object) -> None:
        """Delete an item."""
        if isinstance(container, Choice):
            with_plain(container, lambda x: self.delitem(x, key))
        elif (found := first_choice(key)) is not None:
            with_plain(found, lambda x: self.delitem(container, replaced(key, found, x)))
        else:
            delete_item(container, key)

    def slice(self, start: object, stop: object, step: object) -> slice:
        """Make a slice."""
        return slice(*map(whole_number, (start, stop, step)))

    def made(self, container: object) -> Any:
        """Note that a container was made here, so that the regions around may change it."""
        if type(container) is list:
            for x in container:
                note_put(x)
        return by_data(note_made(container))

    def keyed(self, container: Any, count: int) -> Any:
        """Note that a dict or set of so many keys was made: methods of the keys may have run."""
        read_deeply([*container])
        if len(container) < count and any(map(may_be_called, container)):
            unseen("a comparison of keys")  # of one that is not there any more
        for x in container.values() if isinstance(container, dict) else ():
            note_put(x)
        return by_data(note_made(container))

    def unpack(self, value: Any, count: int | None) -> Any:
        """Return the items that an assignment to several names unpacks."""
        if isinstance(value, Choice):
            return with_plain(value, lambda x: tuple(self.unpack(x, count)))
        value = begun(value)
        if isinstance(value, UsersGenerator):  # Python takes one item too many, to see that it is
            value = call_function(some, (value, None if count is None else count + 1), {})
        if has_runs(value) and count is not None:
            return unpacked(value, count)
        if isinstance(value, DataList) and count is not None:
            call_function(value.on_unpack, (count,), {})
            return tuple([call_function(value.on_item, (k,), {}) for k in range(count)])
        if has_runs(value):
            return tuple(iterate(value))
        if not isinstance(value, Tracer) or count is None:
            return value if isinstance(value, (Tracer, list, tuple)) else tuple(iterate(value))
        if not value.dims:
            raise TypeError("cannot unpack non-iterable number")
        if not same_dim(value.dims[0], count):
            trace = current()
            n = trace.number(value.dims[0]) if trace.is_known(value.dims[0]) else value.dims[0]
            relation = "not enough" if isinstance(n, int) and n < count else "too many"
            raise ValueError(f"{relation} values to unpack (expected {count})")
        if value.aval.shape[0] != count:
            value = value.reshape((count, *python_dims(value.dims[1:])))
        return tuple(value[k] for k in range(count))

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

    # --- jumps and failures ---------------------------------------------------------------------

    def returned(self, value: Callable[[], object], always: bool) -> Any:
        """Return the value of the `return` that came first; None if none did."""
        try:
            content = value()
        except NameError:
            return None
        if isinstance(content, MaybeUnset):
            if always or content.content is None:  # without a return, None is returned
                return narrowed(present(content.content))
            return self.choose(content.is_set, lambda: content.content, lambda: None)
        return narrowed(present(content))

    def assert_(self, test: Any, message: Callable[[], object] | None) -> None:
        """Carry out an `assert`, at run time if it depends on data."""
        test = self.tested(test)
        if isinstance(test, bool):
            if not test:
                raise AssertionError(*([message()] if message is not None else []))
            return
        with _message() as shown, drawing_nothing(
                "the message of an assert, which Python makes only where it fails"):
            text = "" if message is None else str(message())
        _emit_check(test, AssertionError, text, shown)
        frames = current().frames
        learn(test.value, True, frames[-1].tags if frames else current().tags)

    def raise_(self, make: Callable[[], Any], *cause: Any) -> None:
        """Raise, at run time if whether it comes to that depends on data."""
        if not any(f.kind in ("if", "loop") for f in current().frames):
            error = self._error_of(make())
            if cause:
                raise error from self._error_of(cause[0])
            raise error
        with _message() as shown:
            error = make()
            text = "" if isinstance(error, type) else text_of(error)
        kind = error if isinstance(error, type) else type(error)
        if isinstance(error, type) or not shown:
            plain = error() if isinstance(error, type) else error
            ABOVE.diverted(False, kind, text, (), plain)
        if not is_raisable(kind):
            raise refuse(f"raising {kind.__name__} depends on data, and only built-in exceptions "
                         "can be raised by compiled code", "Raise a ValueError, say", "TJ107")
        _emit_check(False, kind, text, shown)
        raise BranchRaised

    def _error_of(self, raised: object) -> Any:
        """Return an error to raise: of a user's class, a call of it as captured code makes it."""
        if isinstance(raised, type) and issubclass(raised, BaseException) and (
                is_users_type(raised)):
            return self.call(raised)
        return raised

    @contextmanager
    def in_try(self, types: Callable[[], Any]) -> Iterator[None]:
        """Watch the body of a `try`: refuse equations that may raise an error for its handlers."""
        before = len(current().builder.scope.eqns)
        raised: BranchRaised | None = None
        attempts = current().attempts
        attempts.append(None)
        try:
            yield
        except BranchRaised as e:  # each branch in it raises
            raised = e
        finally:
            attempts.pop()
        if may_raise(current().builder.scope.eqns[before:], types):
            raise refuse("`try` around captured operations, whose exceptions are not raised while "
                         "they are captured", "Test with `if` before, or move the try outside",
                         "TJ105")
        if raised is not None:
            raise raised

    def caught(self) -> None:
        """Raise an error again that ends a capture, or an attempt of one, in a user's `except`."""
        error = sys.exc_info()[1]
        if isinstance(error, ENDS_CAPTURES):
            raise error
        rest_on_sizes(error)

    def managed(self, manager: object) -> Managed:
        """Return the stand-in of the manager of a `with`."""
        return Managed(manager)

    def watched(self) -> AbstractContextManager[None]:
        """Watch for users' functions that Python runs by itself, as it makes a class."""
        return watched()

    def made_class(self) -> Callable[[type], type]:
        """Return the innermost decorator of a class statement: it notes the class."""
        return note_made_class

    def is_of_class(self, subject: object, kind: object) -> Any:
        """Return whether a `match` finds a subject to be of a class."""
        if not isinstance(kind, type):
            raise TypeError("called match pattern must be a class")
        return self.call(isinstance, subject, kind)

    def parts_of(self, subject: object, kind: object, is_early: bool, count: int,
                 *names: str) -> Any:
        """Return the parts of the subject of a `match` that a pattern of a class asks for, once.

        is_early -- whether Python would read them later, or not at all
        """
        subject = the_one(subject)
        if subject is NO_PART or not self.is_of_class(subject, kind):
            return None
        assert isinstance(kind, type)
        return parts_of(subject, kind, count, names,
                        self._early_part if is_early else self.getattr)

    def _early_part(self, owner: object, name: str) -> Any:
        """Read an attribute where that is seen by nobody; refuse one that code computes."""
        if not is_plain_attribute(owner, name):
            raise refuse(f"a pattern of a `match` that reads {name!r}, which code computes, behind "
                         "the test of another part", "Read it before the match", "TJ106")
        return self.getattr(owner, name)

    def part(self, parts: tuple[object, ...] | None, k: int) -> Any:
        """Return a part of a subject, if it fitted."""
        return NO_PART if parts is None else parts[k]

    def has_items(self, subject: Any, count: int) -> Any:
        """Return whether a `match` finds a subject to be a sequence of so many items."""
        if isinstance(subject, TracedOperand):
            return False
        items = self.matched(subject)
        return isinstance(items, Sequence) and len(items) == count and not isinstance(
            items, (str, bytes, bytearray))

    def pattern_class(self, kind: object) -> Any:
        """Return what stands for a class in a pattern of a `match` that Python carries out."""
        return pattern_class(self.matched(kind))

    def matched(self, subject: Any, *names: str) -> Any:
        """Return the subject of a `match`, its reads noted; refuse a traced value.

        names -- the attributes of the subject that the patterns read
        """
        subject = the_one(subject)
        if holds_runs(subject):
            give_up(subject, "`match` on a list")
        if isinstance(subject, TracedOperand):
            raise refuse("`match` on a traced value", "Use if and elif", "TJ106")
        native = current().captured.native
        for name in native.attributes_read(subject, names) if names else native.asked(subject):
            unseen(name)
        return subject


@contextmanager
def _message() -> Iterator[list[Any]]:
    """Collect the traced numbers that a text shows, which has fields in their place."""
    trace = current()
    shown: list[Any] = []
    before, trace.shown = trace.shown, shown
    try:
        yield shown
    finally:
        trace.shown = before


def _emit_check(holds: Any, error: type, text: str, shown: Sequence[Any]) -> None:
    """Emit a check that raises an error with a text in which numbers are shown."""
    text = text.replace("{", "{{").replace("}", "}}")
    text = text.replace(FIELD[0], "{").replace(FIELD[1], "}")
    if ABOVE.diverted(holds, error, text if shown else text.replace("{{", "{").replace("}}", "}"),
                      shown):
        return
    emit("check", [atom_of(holds), *map(atom_of, shown)],
         {"error": error.__name__, "message": text})
