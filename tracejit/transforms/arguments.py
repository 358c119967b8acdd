"""Which arguments a transform is about: `argnums` as positions and names, down to leaves."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tracejit.tree import Opened, Structure, computed_parts

__all__ = ["argument_places", "find_argument", "open_arguments", "require_uncached"]


def argument_places(fn: Callable[..., object], argnums: object) -> list[Any]:
    """Return argnums as a list of positions and names; `TypeError` for anything else."""
    places = list(argnums) if isinstance(argnums, (tuple, list)) else [argnums]
    for place in places:
        if not isinstance(place, (int, str)) or isinstance(place, bool):
            raise TypeError(f"argnums are positions or names of arguments, not {place!r}")
    if not places:
        raise TypeError("argnums is empty: there is nothing to differentiate by")
    return places


def find_argument(fn: Callable[..., object], place: str | int, args: Structure,
                  kwargs: Structure) -> tuple[str, Structure, int]:
    """Return the name, structure and first leaf of an argument to differentiate by."""
    found = _find(fn, place, args, kwargs)
    require_uncached(found[1], found[0])
    return found


def require_uncached(structure: Structure, name: str) -> None:
    """Raise `TypeError` where a part was computed from other parts, and kept in an object.

    What follows from the other parts is no variable of its own: by it the derivative is 0 by them.
    """
    computed = next(computed_parts(structure, name), None)
    if computed is not None:
        raise TypeError(f"{name!r} holds {computed}, which its class has computed from other parts "
                        "and kept, as functools.cached_property does, so that nothing follows from "
                        f"these. Take it away before (del {computed}), or pass an object that has "
                        "not computed it")


def _find(fn: Callable[..., object], place: str | int, args: Structure,
          kwargs: Structure) -> tuple[str, Structure, int]:
    names = _parameter_names(fn)
    if isinstance(place, str):
        if place in kwargs.aux:
            k = kwargs.aux.index(place)
            first = args.count + sum(p.count for p in kwargs.parts[:k])
            return place, kwargs.parts[k], first
        if place not in names:
            raise TypeError(f"argnums names {place!r}, but the function's arguments are "
                            f"{', '.join(map(repr, names))}")
        place = names.index(place)
    if place < 0:
        place += len(args.parts)
    if not 0 <= place < len(args.parts):
        if place < len(names) and names[place] in kwargs.aux:
            return _find(fn, names[place], args, kwargs)
        if place < len(names):
            raise TypeError(f"argnums has {names[place]!r}, which this call leaves to its default. "
                            f"Pass it: {names[place]}=...")
        by_name = "" if not kwargs.aux else (
            f". Name what is passed by keyword: argnums={kwargs.aux[0]!r}".replace("'", '"'))
        raise TypeError(f"argnums has {place}, but the call has {len(args.parts)} positional "
                        f"arguments{by_name}")
    name = names[place] if place < len(names) else f"argument {place}"
    return name, args.parts[place], sum(p.count for p in args.parts[:place])


def open_arguments(fn: Callable[..., object], argnums: object, args: tuple[object, ...],
                   kwargs: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return the arguments of a call, of which those of `argnums` are taken apart, objects too."""
    places = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    found, named = list(args), dict(kwargs)
    for place in places:
        k = place
        if isinstance(place, str):
            names = _parameter_names(fn)
            k = names.index(place) if place in names else len(args)
        if place in named:
            named[place] = Opened(named[place])
        elif isinstance(k, int) and -len(args) <= k < len(args):
            found[k] = Opened(found[k])
        elif isinstance(k, int) and 0 <= k < len(names := _parameter_names(fn)) and (
                names[k] in named):
            named[names[k]] = Opened(named[names[k]])
    return tuple(found), named


def _parameter_names(fn: Callable[..., object]) -> list[str]:
    try:
        return [p.name for p in inspect.signature(fn).parameters.values()
                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        return []
