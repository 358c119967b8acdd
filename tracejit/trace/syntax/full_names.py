"""The full names of functions and classes in rewritten code, `f.<locals>.g`, as in the user's code.

Python makes them of the functions around, some of which the rewriting has put there.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import CO_OPTIMIZED
from types import CodeType

__all__ = ["FullNames", "names_in", "with_names"]

_BARE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Functions of which Python does not say that they have locals."""

FullNames = Mapping[tuple[str, int], set[str]]
"""The full names of the functions and classes of one name that begin on one line."""


def names_in(code: CodeType) -> FullNames:
    """Return the full names of what is defined in a function, however deep."""
    found: dict[tuple[str, int], set[str]] = {}
    pending = [code]
    while pending:
        for c in pending.pop().co_consts:
            if isinstance(c, CodeType):
                found.setdefault((c.co_name, c.co_firstlineno), set()).add(c.co_qualname)
                pending.append(c)
    return found


def with_names(code: CodeType, name: str, names: FullNames) -> CodeType:
    """Return rewritten code, with the full name `name`, and what is defined in it with theirs.

    What the user's code lacks, or has twice on a line, has a name by the user's functions around.
    """
    is_class = not code.co_flags & CO_OPTIMIZED
    consts: list[object] = []
    for c in code.co_consts:
        if isinstance(c, CodeType):
            written = names.get((c.co_name, c.co_firstlineno), set())
            around = name if is_class or code.co_name in _BARE else f"{name}.<locals>"
            own = name if c.co_name.startswith("_tj_") else f"{around}.{c.co_name}"
            c = with_names(c, next(iter(written)) if len(written) == 1 else own, names)
        elif is_class and isinstance(c, str) and c == code.co_qualname:
            c = name  # which the class's body binds to `__qualname__`
        consts.append(c)
    return code.replace(co_qualname=name, co_consts=tuple(consts))
