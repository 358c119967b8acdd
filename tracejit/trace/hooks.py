"""What rewritten code calls: Python's own behaviour on plain values, regions on traced ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import RAISABLE, Refusal
from tracejit.trace import loops
from tracejit.trace.branches import BranchRaised, trace_if
from tracejit.trace.calls import call_function
from tracejit.trace.changes import known_container, note_made
from tracejit.trace.context import NotRepeatable, current, refuse
from tracejit.trace.equations import (
    apply_ufunc,
    atom_of,
    emit,
    require_fits,
    require_same_kind,
    same_dim,
)
from tracejit.trace.iterables import TracedIterable, constant_range, counted
from tracejit.trace.objects import (
    ENDS_CAPTURES,
    Managed,
    binary,
    compare,
    delete_attribute,
    delete_item,
    get_item,
    inplace,
    iterate,
    negated,
    read_attribute,
    set_attribute,
    set_item,
    truth,
    type_of,
    unary,
)
from tracejit.trace.places import (
    MaybeUnset,
    NamePlace,
    Poison,
    SharedName,
    Slot,
    name_places,
)
from tracejit.trace.text import formatted, written
from tracejit.trace.tracer import FIELD, Traced, Tracer, of_dim, python_dims

__all__ = ["Hooks"]

_UFUNCS = {
    "Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.true_divide,
    "FloorDiv": np.floor_divide, "Mod": np.remainder, "Pow": np.power, "BitAnd": np.bitwise_and,
    "BitOr": np.bitwise_or, "BitXor": np.bitwise_xor, "LShift": np.left_shift,
    "RShift": np.right_shift, "MatMult": np.matmul,
}


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


MANY_ITERATIONS = 12
"""How many iterations of a `while` on Python values are written out, if it can be traced."""


class Hooks:
    """The hooks of one function object; rewritten code knows them as `_tj`."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn

    # --- names, attributes, items ---------------------------------------------------------------

    def outer(self, name: str) -> Any:
        """Read a global or a name of an enclosing function."""
        return current().captured.name(self.fn, name)

    def read(self, content: Any, name: str) -> Any:
        """Read a local name that may be unset, depending on data."""
        return content.read() if isinstance(content, (MaybeUnset, Poison)) else content

    def owns(self, names: FunctionType) -> None:
        """Note the names of a function that functions in it bind by `nonlocal`."""
        for cell in names.__closure__ or ():
            note_made(cell)

    def rebinds(self, names: FunctionType) -> None:
        """Note that a local function is about to bind names of those around it."""
        trace = current()
        for name, cell in zip(names.__code__.co_freevars, names.__closure__ or (), strict=True):
            place = SharedName(name, cell, known_container(cell))
            trace.record(place, place.depth or 0)

    def getattr(self, owner: Any, name: str) -> Any:
        """Read an attribute."""
        if isinstance(owner, Traced):
            return type_of(owner) if name == "__class__" else getattr(owner, name)
        return read_attribute(owner, name)

    def setattr(self, content: Any, owner: Any, name: str) -> None:
        """Set an attribute; what it is set to was evaluated first."""
        set_attribute(owner, name, content)

    def delattr(self, owner: Any, name: str) -> None:
        """Delete an attribute."""
        delete_attribute(owner, name)

    def getitem(self, container: Any, key: Any) -> Any:
        """Read an item."""
        return get_item(container, key)

    def setitem(self, content: Any, container: Any, key: Any) -> None:
        """Set an item; what it is set to was evaluated first."""
        set_item(container, key, content)

    def delitem(self, container: Any, key: Any) -> None:
        """Delete an item."""
        delete_item(container, key)

    def slice(self, start: Any, stop: Any, step: Any) -> slice:
        """Make a slice."""
        return slice(start, stop, step)

    def made(self, container: Any) -> Any:
        """Note that a container was made here, so that the regions around may change it."""
        return note_made(container)

    def unpack(self, value: Any, count: int | None) -> Any:
        """Return what an assignment to several names unpacks."""
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

    def augment(self, op: str, target: Any, value: Any) -> Any:
        """Return what `target op= value` binds target to."""
        return inplace(op, target, value)

    def item(self, container: Any, key: Any) -> tuple[Any, Any, Any]:
        """Read the item that is about to be augmented, before the value is evaluated."""
        return container, key, get_item(container, key)

    def augment_item(self, op: str, item: tuple[Any, Any, Any], value: Any) -> None:
        """Carry out `container[key] op= value`."""
        container, key, old = item
        if isinstance(container, Tracer):
            if isinstance(old, Tracer):
                new = apply_ufunc(_UFUNCS[op], old, value)
                if old.dims:
                    require_fits(_UFUNCS[op], new, old)
                container[key] = new
            else:
                selected = inplace(op, old, value)
                require_same_kind(_UFUNCS[op], selected.data, container)
                container[key] = selected
            return
        set_item(container, key, inplace(op, old, value))

    def attribute(self, owner: Any, name: str) -> tuple[Any, str, Any]:
        """Read the attribute that is about to be augmented, before the value is evaluated."""
        return owner, name, self.getattr(owner, name)

    def augment_attr(self, op: str, attribute: tuple[Any, str, Any], value: Any) -> None:
        """Carry out `owner.name op= value`."""
        owner, name, old = attribute
        set_attribute(owner, name, inplace(op, old, value))

    # --- operators ------------------------------------------------------------------------------

    def binary(self, op: str, a: Any, b: Any) -> Any:
        """Return `a op b`."""
        result = binary(op, a, b)
        return written(result, b) if isinstance(a, str) and op == "Mod" else result

    def unary(self, op: str, x: Any) -> Any:
        """Return `op x`."""
        return unary(op, x)

    # --- text -----------------------------------------------------------------------------------

    def formatted(self, value: Any, conversion: int, spec: str) -> str:
        """Return a field of an f-string."""
        return formatted(value, conversion, spec)

    def text(self, *parts: str) -> str:
        """Return an f-string of its parts."""
        return written("".join(parts), *parts)

    # --- calls ----------------------------------------------------------------------------------

    def call(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function, captured if need be."""
        return call_function(fn, args, kwargs)

    # --- decisions ------------------------------------------------------------------------------

    def if_(self, test: Any, then: FunctionType, other: FunctionType,
            names: tuple[str, ...]) -> None:
        """Run a branch, or trace both."""
        test = truth(test)
        if isinstance(test, bool):
            (then if test else other)()
            return
        trace_if(test, [then, other], name_places(names, then, other))

    def truth(self, x: Any) -> bool:
        """Return a condition that must be a Python one."""
        test = truth(x)
        if isinstance(test, bool):
            return test
        raise refuse("the filter of a comprehension depends on data",
                     "Write a loop with an `if`, or use np.where")

    def binding(self, fn: FunctionType, names: tuple[str, ...]) -> Callable[[], Any]:
        """Return an operand that is evaluated later, if at all, and then binds some names."""
        return _Binding(fn, name_places(names, fn))

    def choose(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """Evaluate `then if test else other`."""
        test = truth(test)
        if isinstance(test, bool):
            return then() if test else other()
        result = Slot()

        def run(branch: Callable[[], Any]) -> Callable[[], None]:
            return lambda: result.set(branch())

        trace_if(test, [run(then), run(other)], [result, *_bound_by(then, other)])
        return self.read(result.get(), "the value of this conditional expression")

    def and_(self, first: Any, *rest: Callable[[], Any]) -> Any:
        """Evaluate `first and ...`."""
        return self._chain(first, rest, True)

    def or_(self, first: Any, *rest: Callable[[], Any]) -> Any:
        """Evaluate `first or ...`."""
        return self._chain(first, rest, False)

    def _chain(self, value: Any, rest: Sequence[Callable[[], Any]], going: bool) -> Any:
        """Evaluate operands until one decides; operands on data are combined, not branched on."""
        for k, later in enumerate(rest):
            test = truth(value)
            if isinstance(test, bool):
                if test is not going:
                    return value
                value = later()
                continue
            remaining = rest[k:]

            def evaluate(remaining: Sequence[Callable[[], Any]] = remaining) -> Any:
                first, *others = remaining
                result = self._chain(first(), others, going)
                return result

            operand = _Binding(evaluate, _bound_by(*remaining))
            if going:
                return self.choose(test, operand, _always(value))
            return self.choose(test, _always(value), operand)
        return value

    def not_(self, x: Any) -> Any:
        """Evaluate `not x`."""
        return negated(x)

    def compare(self, operators: tuple[str, ...], left: Any, first: Any,
                *rest: Callable[[], Any]) -> Any:
        """Evaluate `a < b < c`."""
        result = compare(operators[0], left, first)
        if not rest:
            return result
        later, *others = rest

        def evaluate() -> Any:
            return self.compare(operators[1:], first, later(), *others)

        return self.and_(result, _Binding(evaluate, _bound_by(later, *others)))

    # --- loops ----------------------------------------------------------------------------------

    def while_(self, condition: FunctionType, body: FunctionType, changes: Any) -> None:
        """Run a `while` in Python as long as its condition is a Python one; trace it otherwise.

        One on Python values that computes a lot is traced too, if it can be, and so is one on
        sizes, which would leave a guard per iteration.
        """
        carried, rebound, written, flags = changes
        places = name_places(carried, body, condition)
        guards = current().guards
        before = len(guards)
        test = truth(condition())
        ahead = self._look_ahead(condition, body, places) if test is True else "short"
        if ahead == "long" or (ahead != "data" and len(guards) > before):
            rest = guards[before:]
            del guards[before:]
            try:
                loops.trace_loop(places, rebound, self._contents(written, rebound, body),
                                 lambda i: body(), lambda i: condition(), flags=flags)
                return
            except (loops.Unroll, Refusal) as e:
                guards[before:] = rest
                why = e.why if isinstance(e, loops.Unroll) else str(e)
                current().note(f"this loop is unrolled: {why}", current().builder.find_site())
        while ahead != "data" and isinstance(test, bool):
            if not test:
                return
            body()
            test = truth(condition())
        places = name_places(carried, body, condition)
        try:
            loops.trace_loop(places, rebound, self._contents(written, rebound, body),
                             lambda i: body(), lambda i: condition(), flags=flags)
        except loops.Unroll as e:
            raise refuse(f"this `while` on data cannot be captured: {e.why}",
                         "Fill an array that is made before it, and give every name that it "
                         "changes one kind of value") from None

    def _look_ahead(self, condition: FunctionType, body: FunctionType,
                    places: Sequence[NamePlace]) -> str:
        """Try what follows a condition that is True: "short", "long", or a condition on "data".

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
        finally:
            for p, content in before:
                p.set(content)

    def for_(self, iterable: Any, body: FunctionType, changes: Any,
             stop: FunctionType | None) -> None:
        """Run a `for`, or trace it where it runs over numbers or an array."""
        items = counted(iterable)
        if items is None and isinstance(iterable, range) and len(iterable) > 1:
            items = constant_range(iterable)
        if items is not None:
            try:
                self._trace_for(items, body, changes, stop)
                return
            except loops.Unroll as e:
                current().note(f"this loop is unrolled: {e.why}", current().builder.find_site())
        elements: Any = iterable if items is None or isinstance(iterable, range) else items
        self._run(iterate(elements), body, stop, changes[0])

    def _run(self, remaining: Iterator[Any], body: FunctionType, stop: FunctionType | None,
             names: tuple[str, ...]) -> None:
        """Run a loop in Python; what follows a break on data is a branch."""
        for item in remaining:
            body(item)
            test = False if stop is None else truth(stop())
            if test is True:
                return
            if test is not False:
                trace_if(test, [lambda: None, lambda: self._run(remaining, body, stop, names)],
                         name_places(names, body))
                return

    def _trace_for(self, items: TracedIterable, body: FunctionType, changes: Any,
                   stop: FunctionType | None) -> None:
        carried, rebound, written, flags = changes
        contents = self._contents(written, rebound, body)
        if stop is None:
            loops.trace_loop(name_places(carried, body), rebound, contents,
                             lambda i: body(items.item(i)), None, items.lo, items.hi, items.reverse,
                             snapshots=items.snapshots)
            return
        count, first, last = items.count, of_dim(items.lo), of_dim(items.hi - 1)

        def run(k: Any) -> None:
            current().builder.assume(k.dim.terms[0][0][0], 0, count - 1)
            body(items.item(last - k if items.reverse else first + k))

        def goes_on(k: Any) -> Any:
            return self.and_(self.not_(stop()), lambda: k < of_dim(count))

        loops.trace_loop(name_places(carried, body, stop), rebound, contents, run, goes_on,
                         flags=flags, snapshots=items.snapshots)

    def _contents(self, written: Sequence[str], rebound: Sequence[str],
                  body: FunctionType) -> list[Any]:
        """Return the arrays to which a loop writes by names that keep them."""
        kept = tuple(n for n in written if n not in rebound)
        contents = [p.get() for p in name_places(kept, body)]
        return [x for x in contents if isinstance(x, Tracer)]

    # --- jumps and failures ---------------------------------------------------------------------

    def returned(self, value: Callable[[], Any], always: bool) -> Any:
        """Return the value that was set by whichever `return` came first."""
        try:
            content = value()
        except NameError:
            return None
        if isinstance(content, MaybeUnset):
            if always or content.content is None:  # without a return, None is returned
                return content.content
            raise refuse("whether this function returns a value depends on data",
                         "Return a value at its end too")
        return content.read() if isinstance(content, Poison) else content

    def assert_(self, test: Any, message: Callable[[], Any] | None) -> None:
        """Carry out an `assert`, at run time if it depends on data."""
        test = truth(test)
        if isinstance(test, bool):
            if not test:
                raise AssertionError(*([message()] if message is not None else []))
            return
        with _message() as shown:
            text = "" if message is None else str(message())
        _emit_check(test.value, AssertionError, text, shown)

    def raise_(self, make: Callable[[], Any], *cause: Any) -> None:
        """Raise, at run time if whether it comes to that depends on data."""
        if not any(f.kind in ("if", "loop") for f in current().frames):
            error = make()
            if cause:
                raise error from cause[0]
            raise error
        with _message() as shown:
            error = make()
        kind = error if isinstance(error, type) else type(error)
        if RAISABLE.get(kind.__name__) is not kind:
            raise refuse(f"raising {kind.__name__} depends on data, and only built-in exceptions "
                         "can be raised by compiled code", "Raise a ValueError, say")
        _emit_check(atom_of(False), kind, "" if isinstance(error, type) else str(error), shown)
        raise BranchRaised

    @contextmanager
    def in_try(self) -> Iterator[None]:
        """Watch the body of a `try`: nothing captured may be in it."""
        before = len(current().builder.scope.eqns)
        yield
        if len(current().builder.scope.eqns) > before:
            raise refuse("`try` around captured operations, whose exceptions are not raised while "
                         "they are captured", "Test with `if` before, or move the try outside")

    def caught(self) -> None:
        """Let what ends a capture, or an attempt of one, pass a user's `except`."""
        error = sys.exc_info()[1]
        if isinstance(error, ENDS_CAPTURES):
            raise error

    def managed(self, manager: Any) -> Managed:
        """Return what stands for the manager of a `with`."""
        return Managed(manager)

    def matched(self, subject: Any) -> Any:
        """Look at what a `match` decides on."""
        if isinstance(subject, Traced):
            raise refuse("`match` on a traced value", "Use if and elif")
        return subject

    # --- comprehensions -------------------------------------------------------------------------

    def list_of(self, iterable: Any, element: Callable[[Any], Any]) -> Any:
        """Evaluate `[element(a) for a in iterable]`."""
        items = counted(iterable)
        if items is not None and not isinstance(items.count, int):
            return loops.trace_list(items, element)
        return self.made([element(x) for x in iterate(iterable)])

    def iterate(self, iterable: Any) -> Any:
        """Return what a comprehension runs over, or a `*` unpacks."""
        return iterable if isinstance(iterable, Tracer) else iterate(iterable)


class _Binding:
    """An operand that is evaluated later, with the places of the names that it binds."""

    def __init__(self, fn: Callable[[], Any], places: Sequence[NamePlace]) -> None:
        self.fn, self.places = fn, places

    def __call__(self) -> Any:
        return self.fn()


def _bound_by(*operands: Callable[[], Any]) -> list[NamePlace]:
    """Return the places of the names that some operands bind."""
    places = [p for x in operands if isinstance(x, _Binding) for p in x.places]
    return list({p.key: p for p in places}.values())


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
    emit("check", [holds, *map(atom_of, shown)], {"error": error.__name__, "message": text})

