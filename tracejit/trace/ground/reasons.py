"""Why public functions of NumPy and SciPy are not captured: one table, by module and reason.

`numpy_api/*_reasons.py` and `scipy_api/*_reasons.py` fill it. The last section of
`docs/coverage.md` is printed from it, and a test compares it with the installed libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracejit.trace.ground.public_names import public_name

__all__ = ["DATES", "DTYPES", "FILES", "KNOWN_NUMBERS", "LAYOUT", "REASONS", "SETTINGS", "STEPS",
           "TEXT", "WhyNot", "not_captured", "reason_named", "reason_of"]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a call with a traced argument is refused.

    text   -- what is so about the function, with "it" for its name
    remedy -- what to do instead, a sentence without its full stop
    plain  -- whether Python carries a call out during the capture if no number that only the run
              knows comes into it: of dtypes, sizes and constants
    """

    text: str
    remedy: str
    plain: bool = False


REASONS: dict[str, dict[WhyNot, str]] = {}
"""The names of a module's functions, with spaces between them, by reason; by module."""

_BY_NAME: dict[str, WhyNot] = {}


def not_captured(module: str, rows: dict[WhyNot, str]) -> None:
    """Enter functions of a module that are not captured, with the reasons: see `REASONS`."""
    REASONS.setdefault(module, {}).update(rows)
    _BY_NAME.update({f"{module}.{name}": reason
                     for reason, names in rows.items() for name in names.split()})


def reason_named(name: str) -> WhyNot | None:
    """Return the reason for a function's public name, "np.spacing" or "scipy.special.jacobi"."""
    return _BY_NAME.get(f"numpy{name[2:]}" if name.startswith("np.") else name)


def reason_of(fn: Callable[..., object]) -> WhyNot | None:
    """Return the reason why a function is refused whatever is traced; None if there is none."""
    module = str(getattr(fn, "__module__", None) or "numpy")  # SciPy's ufuncs know no module
    if module.partition(".")[0] not in ("numpy", "scipy"):
        return None
    reason = reason_named(public_name(fn))
    return None if reason is None or reason.plain else reason


TEXT = WhyNot("it gives text", "Return the numbers, and write them outside")
FILES = WhyNot("it reads or writes files", "Read before the call and write after it")
SETTINGS = WhyNot("it is about NumPy's settings or its installation, and not about numbers",
                  "Call it outside")
DATES = WhyNot("it is about dates", "Pass numbers of days or seconds")
LAYOUT = WhyNot("it asks how arrays lie in memory, which a program may choose",
                "Ask outside, or use np.ascontiguousarray")
STEPS = WhyNot("it makes an object that goes on step by step, as its caller asks",
               "Write the loop, or use scipy.integrate.solve_ivp")
DTYPES = WhyNot("it tells of dtypes and shapes, not of numbers", "Pass dtypes or shapes",
                plain=True)
KNOWN_NUMBERS = WhyNot("its numbers are constants, which follow from its parameters",
                       "Pass parameters that do not depend on the arguments of the function",
                       plain=True)
