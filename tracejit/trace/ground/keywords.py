"""Arguments that a capture has no parameter for: harmless, at their default, or refused.

So that none is dropped silently, or taken for another, `captures` hangs this before every function
in the tables: arguments are bound as the function that users call binds them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.layouts import UNKNOWN

__all__ = ["checking_keywords"]

HARMLESS = frozenset({
    "order", "subok", "like", "device", "optimize", "kind", "stable", "overwrite_input",
    "overwrite_a", "overwrite_b", "overwrite_ab"})
"""The arguments that change memory layout or speed, and never a result."""


def checking_keywords(capture: Callable[..., object], captured: object,
                      method: str | None = None) -> Callable[..., Any]:
    """Return a capture that takes any argument of the function that it captures, or refuses it.

    method -- the method of arrays that is captured, if it is one
    """
    parameters = inspect.signature(capture).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return capture
    known = parameters.keys()
    any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    places = _common_places(captured, method, parameters)

    @functools.wraps(capture)
    def checked(*args: object, **kwargs: object) -> Any:
        if method is None:
            args, kwargs = _without_no_value(captured, args, kwargs)
        if len(args) > places and not any_number:
            kwargs = _named(captured, method, args[places:], places, kwargs)
            args = args[:places]
        if kwargs:
            _require_known(captured, kwargs, method)
        if kwargs.keys() <= known:
            return capture(*args, **kwargs)
        for name in kwargs.keys() - known - HARMLESS:
            _require_default(captured, name, kwargs[name])
        result = capture(*args, **{name: x for name, x in kwargs.items() if name in known})
        if kwargs.get("order") not in (None, "C") and hasattr(result, "cell"):
            result.cell.layout = UNKNOWN  # this capture does not look at it
        return result

    return checked


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _common_places(captured: object, method: str | None,
                   parameters: Mapping[str, inspect.Parameter]) -> int:
    """Return how many leading parameters a capture shares, by place, with its function."""
    own = [p.name for p in parameters.values() if p.kind in _BY_PLACE]
    function = captured if method is None else getattr(np.ndarray, method)
    names = [p.name for p in _parameters(function).values() if p.kind in _BY_PLACE]
    for k, (mine, name) in enumerate(zip(own, names, strict=False)):
        if mine != name and mine in names:
            return k
    return len(own)


def _without_no_value(captured: object, args: tuple[object, ...],
                      kwargs: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return arguments without those that are `np._NoValue`, by which NumPy means not given."""
    first = next((k for k, x in enumerate(args) if x is np._NoValue), len(args))
    if first < len(args) and _parameters(captured):
        kwargs = _named(captured, None, args[first:], first, kwargs)
        args = args[:first]
    if any(x is np._NoValue for x in kwargs.values()):
        kwargs = {name: x for name, x in kwargs.items() if x is not np._NoValue}
    return args, kwargs


def _named(captured: object, method: str | None, args: tuple[object, ...], first: int,
           kwargs: dict[str, object]) -> dict[str, Any]:
    """Return keyword arguments with the positional arguments from `first` on added by name."""
    function = captured if method is None else getattr(np.ndarray, method)
    names = [p.name for p in _parameters(function).values() if p.kind in _BY_PLACE][first:]
    if len(args) > len(names):
        raise TypeError(f"{_label(captured)}() takes {first + len(names)} positional arguments "
                        f"but {first + len(args)} were given")
    given = dict(zip(names, args, strict=False))
    if given.keys() & kwargs.keys():
        raise TypeError(f"{_label(captured)}() got multiple values for an argument")
    return {**kwargs, **given}


def _label(captured: Any) -> str:
    module = getattr(captured, "__module__", "scipy.special")  # whose ufuncs have none
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return f"{public}.{captured.__name__}".replace("numpy.", "np.")


def _require_known(captured: object, kwargs: dict[str, object], method: str | None = None) -> None:
    """Raise NumPy's error where a keyword is none of a function's, or of a method's."""
    parameters = _parameters(captured if method is None else getattr(np.ndarray, method))
    if not parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    for name in kwargs.keys() - parameters.keys():
        raise TypeError(f"{_label(captured)}() got an unexpected keyword argument {name!r}")


def _require_default(captured: object, name: str, x: object) -> None:
    """Refuse a keyword argument unless it equals the parameter's default."""
    label = _label(captured)
    _require_known(captured, {name: x})
    parameters = _parameters(captured)
    if name in parameters and (x is parameters[name].default or (
            isinstance(x, str) and x == parameters[name].default)):
        return
    raise refuse(f"{label} with {name}= cannot be captured",
                 "Leave it out, and write what it does with other operations", "TJ203")


@functools.cache
def _parameters(captured: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return cast(Mapping[str, inspect.Parameter], inspect.signature(captured).parameters)
    except (TypeError, ValueError):  # a ufunc, or a function in C
        return {}
