"""Keyword arguments that a capture has no parameter for: harmless, at their default, or refused.

So that none is dropped silently, `captures` hangs this before every function in the tables.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from tracejit.trace.context import refuse
from tracejit.trace.layouts import UNKNOWN

__all__ = ["checking_keywords"]

HARMLESS = frozenset({
    "order", "subok", "like", "device", "casting", "optimize", "kind", "stable", "overwrite_input",
    "overwrite_a", "overwrite_b", "check_finite"})
"""What changes memory layout, speed or checks, and never a result."""


def checking_keywords(capture: Callable[..., Any], captured: Any) -> Callable[..., Any]:
    """Return a capture that takes any keyword of the function that it captures, or refuses it."""
    parameters = inspect.signature(capture).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return capture
    known = parameters.keys()

    @functools.wraps(capture)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if kwargs.keys() <= known:
            return capture(*args, **kwargs)
        for name in kwargs.keys() - known - HARMLESS:
            _require_default(captured, name, kwargs[name])
        result = capture(*args, **{name: x for name, x in kwargs.items() if name in known})
        if kwargs.get("order") not in (None, "C") and hasattr(result, "cell"):
            result.cell.layout = UNKNOWN  # this capture does not look at it
        return result

    return checked


def _require_default(captured: Any, name: str, x: Any) -> None:
    """Refuse a keyword argument unless it is what the function takes without it."""
    module = getattr(captured, "__module__", "scipy.special")  # whose ufuncs have none
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    label = f"{public}.{captured.__name__}".replace("numpy.", "np.")
    parameters = _parameters(captured)
    closed = parameters and all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
    if closed and name not in parameters:
        raise TypeError(f"{label}() got an unexpected keyword argument {name!r}")
    if name in parameters and x is parameters[name].default:
        return
    raise refuse(f"{label} with {name}= cannot be captured",
                 "Leave it out, and write what it does with other operations")


@functools.cache
def _parameters(captured: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return cast(Mapping[str, inspect.Parameter], inspect.signature(captured).parameters)
    except (TypeError, ValueError):  # a ufunc, or a function in C
        return {}
