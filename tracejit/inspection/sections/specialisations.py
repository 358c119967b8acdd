"""The specialisations of a transformed function: for which arguments there is code."""

from __future__ import annotations

from tracejit.errors import TracejitError
from tracejit.inspection.elements import Paragraph, Section, TableRow, count_text, table_of
from tracejit.ir.dtypes import dtype_name
from tracejit.program.specialisation import Specialisation
from tracejit.runtime.device_stages import DeviceLowered
from tracejit.runtime.function import Function
from tracejit.runtime.stages import Lowered
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import unflatten

__all__ = ["newest", "specialisations_section"]

LIMIT = 50
"""How many specialisations are listed."""


def newest(function: Function) -> Lowered | DeviceLowered | TracejitError | None:
    """Return the program of the newest specialisation, captured again for being looked at.

    None where there is none yet; the error where a capture needs the arguments themselves.
    """
    made = _made(function)
    if not made:
        return None
    args, kwargs = unflatten(made[0].structure, list(made[0].specs))
    try:
        lowered: Lowered | DeviceLowered = function.trace(*args, **kwargs).lower()
    except TracejitError as e:
        return e
    return lowered


def _made(function: Function) -> list[Specialisation]:
    return [s for found in function._table.values() for s in found][::-1]


def specialisations_section(function: Function,
                            shown: Lowered | DeviceLowered | TracejitError | None) -> Section:
    """Return for which kinds of arguments there is code."""
    rows = [TableRow((", ".join(map(_spec_text, s.specs)), s.interface.name,
                 "found in the store" if s.is_stored else "compiled by this process"))
            for s in _made(function)]
    columns = ("arguments", "program", "code")
    elements = table_of(columns, rows, LIMIT, columns[:1]) if rows else [
        Paragraph("Nothing is compiled yet: call it, or look at f.trace(...) with arguments or "
                  'with texts for them, such as "f64[n, 3]".')]
    if isinstance(shown, TracejitError):
        elements.append(Paragraph("To see more, trace it with arguments: f.trace(...). Without "
                                  f"them it cannot be captured again ({shown})"))
    elif len(rows) > 1:
        elements.append(Paragraph("What follows is the first of these."))
    return Section(repr(function).strip("<>"), "specialisations", elements,
                   count_text(len(rows), "specialisation"), is_open=True)


def _spec_text(spec: ArgSpec) -> str:
    if spec.kind == "array" and spec.dtype is not None:
        return f"{dtype_name(spec.dtype)}[{', '.join(':' * spec.ndim)}]"
    if spec.kind == "scalar" and spec.dtype is not None:
        return dtype_name(spec.dtype)
    return spec.kind if spec.is_traced else repr(spec.content)[:40]
