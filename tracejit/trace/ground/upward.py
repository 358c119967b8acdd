"""Functions and classes that modules of the capture use and that are built on these modules.

A tracer is multiplied and indexed long before anything is known of equations: `equations.py` needs
tracers, and sets `apply_operator` here when it is imported. `capture.py` imports all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["ABOVE", "above"]

F = TypeVar("F", bound=Callable[..., Any])


class Above:
    """The functions and classes by name; each is documented where it is defined."""

    apply_operator: Callable[..., Any]
    apply_inplace: Callable[..., Any]
    array_of: Callable[..., Any]
    call_function: Callable[..., Any]
    call_ufunc: Callable[..., Any]
    naming: Callable[..., Any]
    named: Callable[..., Any]
    get_item: Callable[..., Any]
    set_item: Callable[..., Any]
    require_divisor: Callable[..., Any]
    fitted: Callable[..., Any]
    require_negatable: Callable[..., Any]
    one_run: Callable[..., Any]
    filled: Callable[..., Any]
    begun: Callable[..., Any]
    iterate: Callable[..., Any]
    DataLists: Callable[..., Any]
    Hooks: Callable[..., Any]
    StateTracer: Callable[..., Any]
    SymInt: type[Any]
    Memory: Callable[..., Any]
    TracedGenerator: Callable[..., Any]
    count_names: Callable[..., int]
    atom_of: Callable[..., Any]
    cast: Callable[..., Any]
    require: Callable[..., None]
    require_ours: Callable[..., None]
    refuse_choice: Callable[..., Any]
    for_each_kind: Callable[..., Any]
    close_opened: Callable[..., Any]
    catches: Callable[..., bool]
    diverted: Callable[..., bool]
    go_on_without_error: Callable[..., None]
    jumps_by: Callable[..., bool]
    read_attribute: Callable[..., Any]
    set_attribute: Callable[..., None]
    compare: Callable[..., Any]
    thing_of_pool: Callable[..., Any]
    joined_fields: Callable[..., Any]


ABOVE = Above()


def above(made: F) -> F:
    """Let modules below the defining module use a function or class, through `ABOVE`."""
    assert made.__name__ in Above.__annotations__
    setattr(ABOVE, made.__name__, made)
    return made
