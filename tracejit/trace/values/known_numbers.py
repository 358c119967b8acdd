"""Numbers that Python has to know: an int of this call becomes known, all others are refused.

Most are needed for text, whose letters show a number, unless the run fills it in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.core import Site
from tracejit.ir.dims import Dim, dim_values
from tracejit.trace.ground.context import current, is_tracing, refuse, refuse_at
from tracejit.trace.ground.restarts import NeedStatic
from tracejit.trace.ground.source import find_site
from tracejit.trace.ground.upward import ABOVE

__all__ = ["FIELD", "TextField", "UnknownText", "need_int", "shown_text", "text_number",
           "text_or_marker"]


@dataclass(frozen=True, slots=True)
class TextField:
    """A place in a text for a number or array that the run knows.

    x    -- the traced value; `atom` is what it was when the text was made
    how  -- "s", "r" or "f": by `str`, by `repr`, or by `format` with a spec
    mark -- the text that stands for it, of letters that users' texts do not have
    """

    x: Any
    atom: Any
    how: str
    spec: str
    mark: str


def shown_text(x: Any, spec: str, how: str = "f") -> str:
    """Return a number as text: where an error is made on data, a field that its message fills."""
    shown = current().shown if is_tracing() else None
    if shown is None or x.ndim or x.dtype.kind not in "iuf":
        return text_or_marker(x, spec, how) or x._marker()
    places = [k for k, y in enumerate(shown) if y is x]
    if not places and len(shown) == 2:  # a check reports two numbers
        marker: str = x._marker()
        return marker
    if not places:
        shown.append(x)
    number = places[0] if places else len(shown) - 1
    return f"{FIELD[0]}{number}:{spec or ('.0f' if x.dtype.kind in 'iu' else '')}{FIELD[1]}"


class UnknownText:
    """A text of an error that is caught, with numbers in it that only the run knows."""

    def refused(self, *args: object) -> Any:
        """Refuse whatever asks for its letters."""
        raise refuse("the text of an error that is caught has numbers in it that depend on data",
                     "Leave the text out, or keep the number in an attribute of its own", "TJ420")

    __getattr__ = refused
    for _name in (*vars(str), "__bool__"):
        if _name.startswith("__") and callable(getattr(str, _name, refused)) and (
                _name not in ("__new__", "__init__", "__getattribute__", "__doc__")):
            locals()[_name] = refused
    __class__ = property(refused)


FIELD = "\ue000\ue001"
"""The marks around `NUMBER:FORMAT` in a text that the run fills in: users' text has neither."""


def text_or_marker(x: object, spec: str, how: str = "r") -> str | None:
    """Return the text of a number that is not known yet; None where its marker does.

    Text that captured code writes takes note of its numbers. Other text goes to whoever asked for
    it, who looks at the letters: an int of the call becomes known, a number of data is refused.
    """
    trace = current() if is_tracing() else None
    if trace is None or trace.shown is not None:
        return None
    if trace.unread is not None:
        trace.unread.append(x)
        mark = f"\ue002{len(trace.text_fields)}\ue003"
        trace.text_fields.append(TextField(x, ABOVE.atom_of(x), how, spec, mark))
        return mark
    return format(text_number(x), spec)


def text_number(x: Any, site: Site | None = None) -> int:
    """Return the int that a text shows, as its letters are looked at, or refuse."""
    site = site or find_site()
    try:
        if hasattr(type(x), "as_result"):  # the reading of a clock
            x.as_result()
        if isinstance(x, ABOVE.SymInt):
            return need_int(x.dim, "text in which it is written", site)
        raise refuse_at(site, "text with a number in it that only the run knows is looked at",
                        "Print it, or return the number", "TJ112")
    except Refusal as e:
        current().refused = e  # reprlib, say, catches every error of a repr
        raise


def need_int(d: Dim, why: str, site: Site | None = None) -> int:
    """Return a dim as a Python int, restarting the capture with it fixed where that can be done."""
    d = current().canonical(d)
    if isinstance(d, int):
        return d
    trace = current()
    if trace.captured is not None and trace.captured.constant_sizes.issuperset(dim_values(d)):
        return trace.number(d)
    site = site or find_site()
    for v in dim_values(d):
        if v in trace.actual or v in trace.carried:
            raise NeedStatic(v, site, why)
    raise refuse_at(site, f"{why} needs a number that is only known at run time",
                    "Make it a Python int argument, a size, or write the code with arrays", "TJ111")
