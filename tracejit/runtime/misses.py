"""Why a call needs a program of its own: its differences to the programs that are there."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracejit.artifacts.loading import describe_misses
from tracejit.configuration import settings
from tracejit.exact import same
from tracejit.program.specialisation import Specialisation
from tracejit.trace.ground.facts import holds_all
from tracejit.trace.state.guards import shown
from tracejit.trace.values.specs import ArgSpec, parameter_names
from tracejit.tree import leaf_names

if TYPE_CHECKING:
    from tracejit.program.request import Request

__all__ = ["explain_miss", "reason_for"]

LOG = logging.getLogger("tracejit")


def explain_miss(call: Request) -> None:
    """Log why no program that is there serves a call, if that is asked for."""
    if settings().explain_cache_misses:
        LOG.warning("%s: no program serves this call. In this process: %s. In the store: %s",
                    name_of(call), reason_for(call), describe_misses(call).replace("\n", "; "))


def name_of(call: Request) -> str:
    """Return the transform and the function, as graphs are named."""
    transform = call.function.transform
    return f"{transform.name}[{getattr(call.function, '__name__', '?')}]"


def reason_for(call: Request) -> str:
    """Return why none of a function's programs in this process serves a call."""
    table = call.function._table
    if not table:
        return "first call"
    fitting = table.get(call.key)
    if fitting:
        return _why_not(fitting[0], call)
    others = [s for made in table.values() for s in made if s.structure == call.structure]
    if not others:
        return "the arguments are of another number, or put together otherwise"
    names = _names(call)
    differences = [list(_differences(names, s.specs, call.specs)) for s in others]
    found = min(differences, key=len)
    return ", ".join(found) if found else "other settings hold"


def _why_not(s: Specialisation, call: Request) -> str:
    """Return why a program for such arguments does not serve."""
    for guard in s.interface.guards:
        reason = guard.why_not()
        if reason is not None:
            return reason
    values = s.values(call.leaves) if call.is_actual else None
    if call.is_actual and values is None:
        return "what the function reads from outside is of another dtype or rank"
    if values is not None and not holds_all(s.interface.facts, values):
        return "arrays lie otherwise in memory, or share it otherwise"
    given = [f"{name} {'has the shape ' + str(x.shape) if spec.ndim else f'is {x}'}"
             for name, spec, x in zip(_names(call), call.specs, call.leaves, strict=True)
             if call.is_actual and (spec.kind == "int" or spec.ndim)]
    return "it was made for other sizes: " + (", ".join(given) or "these are not known")


def _differences(names: Sequence[str], old: Sequence[ArgSpec],
                 new: Sequence[ArgSpec]) -> Iterator[str]:
    """Yield in which arguments two calls differ."""
    for name, a, b in zip(names, old, new, strict=True):
        if (a.kind, a.dtype, a.ndim) != (b.kind, b.dtype, b.ndim):
            yield f"{name} is {_kind(b)} and was {_kind(a)}"
        elif a.kind == "static" and not same(a.content, b.content):
            yield f"{name} is {shown(b.content)} and was {shown(a.content)}"


def _kind(s: ArgSpec) -> str:
    if s.kind == "array":
        return f"{s.dtype}[{', '.join(':' * s.ndim)}]"
    if s.kind == "static":
        return f"a {type(s.content).__name__}"
    return f"a {s.dtype}" if s.kind == "scalar" else f"a Python {s.kind}"


def _names(call: Request) -> list[str]:
    """Return how users write the leaves of the arguments."""
    args, kwargs = call.structure.parts
    params = parameter_names(call.function.transform.fn)
    names: list[str] = []
    for k, part in enumerate(args.parts):
        names += leaf_names(part, params[k] if k < len(params) else f"argument {k}")
    for key, part in zip(kwargs.aux, kwargs.parts, strict=True):
        names += leaf_names(part, key)
    return names

