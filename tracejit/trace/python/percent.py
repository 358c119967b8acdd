"""`text % values`, where some values are known to the run alone: each field is one of the text."""

from __future__ import annotations

import operator
import re
from typing import Any

from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.values.known_numbers import shown_text
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.text import OpenText, write, written
from tracejit.trace.values.tracer import Tracer

__all__ = ["percent_text"]

_FIELD = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d*)"
                    r"(?:\.(?P<digits>\d+))?(?P<kind>[diouxXeEfFgGcrsa%])")


def percent_text(text: str, values: object) -> Any:
    """Return `text % values`; `NotImplemented` where Python alone can do it, or has to refuse it.

    Raises `TypeError` where values and fields do not fit.
    """
    items = values if isinstance(values, tuple) else (values,)
    keyed: Any = values if isinstance(values, dict) else None
    given = items if keyed is None else keyed.values()
    if not any(isinstance(x, (Tracer, SymInt, OpenText)) for x in given):
        return NotImplemented
    parts, place, rest = [], 0, iter(items)
    if "%" in _FIELD.sub("", text):
        return NotImplemented
    for field in _FIELD.finditer(text):
        parts.append(text[place:field.start()])
        place = field.end()
        if field["kind"] == "%":
            parts.append("%")
            continue
        if (keyed is None) != (field["key"] is None):
            return NotImplemented
        x = next(rest, _MISSING) if keyed is None else keyed[field["key"]]
        if x is _MISSING:
            raise TypeError("not enough arguments for format string")
        part = _part(field, x)
        if part is NotImplemented:
            return NotImplemented
        parts.append(part)
    parts.append(text[place:])
    if keyed is None and next(rest, _MISSING) is not _MISSING:
        raise TypeError("not all arguments converted during string formatting")
    return written("".join(parts), *parts)


_MISSING = object()


def _part(field: re.Match[str], x: object) -> Any:
    """Return the text of one field."""
    flags, kind = field["flags"], field["kind"]
    digits = "" if field["digits"] is None else f".{field['digits']}"
    if not isinstance(x, (Tracer, SymInt)):
        if isinstance(x, OpenText) and (kind, field["width"], digits) == ("s", "", ""):
            return x
        plain = "%" + flags + field["width"] + digits + kind
        return write(operator.mod, plain, (x,))
    width = f"{'<' if '-' in flags else '>'}{field['width']}" if field["width"] else ""
    if kind in "sr":
        return write(shown_text, x, width + digits, kind)
    is_number = type_of(x) in (int, float, bool) or not x.ndim
    is_int = x.dtype.kind in "iu"
    if not is_number or kind not in ("diuxXo" if is_int else "") + "eEfFgG":
        return NotImplemented
    sign = "+" if "+" in flags else " " if " " in flags else ""
    if "0" in flags and "-" not in flags:
        width = f"0{field['width']}"
    spec = _aligned(width, sign, "#" if "#" in flags else "")
    return write(shown_text, x, spec + digits + {"i": "d", "u": "d"}.get(kind, kind))


def _aligned(width: str, sign: str, other: str) -> str:
    """Return the beginning of a spec: the alignment stands before the sign, the width behind."""
    align = width[:1] if width[:1] in ("<", ">") else ""
    return align + sign + other + width[len(align):]
