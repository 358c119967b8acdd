"""Calls with nested arguments, and by keywords: Python code that takes them apart for the entry.

Of a specialisation's structure a function is written that has no loop and asks nothing twice. For
`f({"w": w, "b": b}, x)` it is, in short,

    def call(*args, **kwargs):
        if len(args) != 2 or kwargs or type(args[0]) is not dict or len(args[0]) != 2:
            return slow(*args, **kwargs)
        p, x = args
        first, second = p
        if not ((first is w or same(first, w)) and (second is b or same(second, b))):
            return slow(*args, **kwargs)
        found = inner(*p.values(), x)
        if found is NotImplemented:
            return slow(*args, **kwargs)
        value, by_w, by_b = found
        return value, {w: by_w, b: by_b}

where `inner` is the C-level entry for the leaves, which checks them and the guards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tracejit.classes import attributes_lie_in, made_of, registration_of
from tracejit.exact import same
from tracejit.program.specialisation import Specialisation
from tracejit.tree import Structure, is_object

__all__ = ["fast_call"]

Hide = Callable[[BaseException], object]

_LARGEST = 128
"""The most leaves of a call that is written out."""


def fast_call(s: Specialisation, slow: Callable[..., object],
              hide: Hide = lambda error: None) -> Callable[..., Any] | None:
    """Return the function by which calls like a specialisation's take the fast way, if any do.

    slow -- is called in the same way where the arguments are not as expected
    hide -- takes the frames that are not users' from an exception
    """
    if s.entry is None or not s.takes_leaves:
        entry: Callable[..., Any] | None = s.entry
        return entry
    call, result = s.structure, s.interface.structure
    if call.repeats or call.count > _LARGEST or not all(map(_is_known, (
            *call.parts[0].parts, *call.parts[1].parts, result))):
        return None
    return _written(call, result, s.entry, slow, hide)


def _is_known(s: Structure) -> bool:
    kind: Any = s.kind
    if not all(map(_is_known, s.parts)):
        return False
    if kind in (None, list, tuple, dict, type(None)):
        return True
    how = registration_of(kind)
    if issubclass(kind, tuple):  # a named tuple, which has its items alone
        return hasattr(kind, "_fields") and how is None and not kind.__dictoffset__ and (
            kind.__iter__ is tuple.__iter__ and kind.__len__ is tuple.__len__)
    return is_object(kind) and (how is None or how.flatten is None) and bool(
        attributes_lie_in(kind, s.aux))


def _written(call: Structure, result: Structure, inner: Callable[..., object],
             slow: Callable[..., object], hide: Hide) -> Callable[..., Any]:
    """Return the function that takes a call apart, and puts the result together.

    inner -- is called with the leaves; returns `NotImplemented`, a tuple of the results, or one
    """
    writer = _Writer()
    writer.take_call_apart(*call.parts)
    writer.lines.append(f"found = inner({', '.join(writer.leaves)})")
    writer.require("found is not NotImplemented")
    count = result.count
    names = ["found"] if count == 1 else [f"r{k}" for k in range(count)]
    if count > 1:
        writer.lines.append(f"{', '.join(names)} = found")
    writer.lines.append(f"return {writer.put_together(result, iter(names))}")
    lines = ["def call(*args, **kwargs):", "    try:", *(f"        {x}" for x in writer.lines),
             "    except Exception as e:", "        hide(e)", "        raise"]
    names_of_code = {**writer.constants, "inner": inner, "slow": slow, "same": same,
                     "hide": hide, "new": tuple.__new__, "made_of": made_of}
    exec(compile("\n".join(lines), "<string>", "exec"), names_of_code)  # no frame of a user's
    made: Callable[..., Any] = names_of_code["call"]
    return made


class _Writer:
    """Writes the lines of the function.

    leaves     -- the variables that have the leaves
    containers -- those that have lists, dicts and tuples with items: no two may be one object
    constants  -- the objects that lines name
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self.containers: list[str] = []
        self.constants: dict[str, Any] = {}

    def take_call_apart(self, args: Structure, kwargs: Structure) -> None:
        count = len(args.parts)
        self.require(f"len(args) == {count}" + ("" if kwargs.parts else " and not kwargs"))
        given = self.unpack(count, "args")
        given += self.items("kwargs", kwargs) if kwargs.parts else []
        for name, part in zip(given, (*args.parts, *kwargs.parts), strict=True):
            self.take_apart(name, part)
        if len(self.containers) > 1:
            several = ", ".join(f"id({x})" for x in self.containers)
            self.require(f"len({{{several}}}) == {len(self.containers)}")

    def take_apart(self, name: str, s: Structure) -> None:
        """Write the lines that find the leaves of a node."""
        if s.kind is None:
            self.leaves.append(name)
            return
        if s.kind is type(None):
            self.require(f"{name} is None")
            return
        if s.is_container:
            self.containers.append(name)
        self.require(f"type({name}) is {self.constant(s.kind)}")
        if s.kind is dict:
            found = self.items(name, s)
        elif not issubclass(s.kind, (list, tuple)):
            found = self.attributes(name, s)
        else:
            self.require(f"len({name}) == {len(s.parts)}")
            found = self.unpack(len(s.parts), name)
        for inner, part in zip(found, s.parts, strict=True):
            self.take_apart(inner, part)

    def items(self, name: str, s: Structure) -> list[str]:
        """Write the lines that find the values of a dict of the same keys in the same order."""
        self.require(f"len({name}) == {len(s.aux)}")
        for key, expected in zip(self.unpack(len(s.aux), name), s.aux, strict=True):
            known = self.constant(expected)
            self.require(f"({key} is {known} or same({key}, {known}))")
        return self.unpack(len(s.parts), f"{name}.values()")

    def attributes(self, name: str, s: Structure) -> list[str]:
        """Write the lines that find the attributes of an object."""
        if attributes_lie_in(s.kind, s.aux) == "dict":
            own = f"x{len(self.lines)}"
            self.lines.append(f"{own} = {name}.__dict__")
            return self.items(own, s)
        found = [f"x{len(self.lines)}_{k}" for k in range(len(s.aux))]
        if not found:
            return found
        reads = "; ".join(f"{x} = {name}.{key}" for x, key in zip(found, s.aux, strict=True))
        self.lines += [f"try: {reads}", "except AttributeError: return slow(*args, **kwargs)"]
        return found

    def unpack(self, count: int, source: str) -> list[str]:
        """Write the line that gives the items of something their names."""
        names = [f"x{len(self.lines)}_{k}" for k in range(count)]
        if names:
            self.lines.append(f"{', '.join(names)}, = {source}")
        return names

    def require(self, condition: str) -> None:
        """Write the line that goes the slow way unless a condition holds."""
        self.lines.append(f"if not ({condition}): return slow(*args, **kwargs)")

    def constant(self, x: object) -> str:
        """Return the name of an object in the code."""
        name = f"c{len(self.constants)}"
        self.constants[name] = x
        return name

    def put_together(self, s: Structure, leaves: Iterator[str]) -> str:
        """Return the expression of a node of the result."""
        if s.kind is None:
            return next(leaves)
        parts = [self.put_together(part, leaves) for part in s.parts]
        if s.kind is type(None):
            return "None"
        if s.kind is list:
            return f"[{', '.join(parts)}]"
        kind = self.constant(s.kind)
        if issubclass(s.kind, tuple):
            items = f"({''.join(f'{part}, ' for part in parts)})"
            return items if s.kind is tuple else f"new({kind}, {items})"
        items = ", ".join(f"{self.constant(key)}: {part}"
                          for key, part in zip(s.aux, parts, strict=True))
        return f"{{{items}}}" if s.kind is dict else f"made_of({kind}, {{{items}}})"
