"""`debug_print`: prints from inside of compiled code, and as it is called outside of captures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tracejit.ir.core import Block, Params
from tracejit.ir.lowering import Effect
from tracejit.ir.showing import Formatter, show
from tracejit.ir.types import Type
from tracejit.ops.kinds import structural
from tracejit.trace.ground.context import is_tracing, refuse
from tracejit.trace.values.eager import Recorded
from tracejit.trace.values.equations import atom_of, dims_of, dtype_of, emit, lift
from tracejit.trace.values.operands import TracedOperand

__all__ = ["debug_print"]


def debug_print(fmt: str, /, *values: object, **named: object) -> None:
    """Print when the program runs, from compiled code as well.

    fmt           -- a format as of `str.format`: "x = {}", "{0:.3f} and {total}"
    values, named -- the values of its fields: numbers, arrays, or nests of them; a format such as
                     `:.3f` holds for each element of an array, and large arrays are
                     abbreviated as NumPy does it

    Prints come in the order of the program, in loops once per iteration. It has no
    derivative: a gradient prints once, on the way forward, also where values
    are computed again on the way back. Programs that print are called on the slower path, and
    cannot be called from `@njit` code or exported.

    Raises `TypeError` where `fmt` is no string, `ValueError` where values and fields do not fit.

    >>> import numpy as np, tracejit
    >>> @tracejit.grad
    ... def slope(x):
    ...     for k in range(3):
    ...         x = x * x
    ...         tracejit.debug_print("{}: {:.2f}", k, x)
    ...     return x
    >>> slope(1.1)  # doctest: +ELLIPSIS
    0: 1.21
    1: 1.46
    2: 2.14
    15.5897...
    """
    if not isinstance(fmt, str):
        raise TypeError("debug_print takes a format first: debug_print('x = {}', x)")
    template, operands = _Template(values, named).of(fmt)
    if is_tracing():
        emit("debug_print", [atom_of(x) for x in operands], {"format": template})
    else:
        show(template, operands)


class _Template(Formatter):
    """A format with the texts of known parts, and numbered fields for computed ones."""

    def __init__(self, values: tuple[object, ...], named: dict[str, object]) -> None:
        self.values, self.named = values, named
        self.operands: list[Any] = []
        self.used: set[int | str] = set()
        self.counted = 0

    def get_value(self, key: int | str, args: Sequence[object],
                  kwargs: Mapping[str, object]) -> Any:
        """Return the value that a field stands for."""
        self.used.add(key)
        return super().get_value(key, args, kwargs)

    def of(self, fmt: str) -> tuple[str, list[Any]]:
        """Return the format and the values of its fields."""
        parts = []
        for text, name, spec, conversion in self.parse(fmt):
            parts.append(_escaped(text))
            if name is not None:
                value = self._value(name)
                spec = "".join(t if n is None else t + self._known(self._value(n), s or "")
                               for t, n, s, _ in self.parse(spec or ""))
                parts.append(self._field(value, f"!{conversion}" if conversion else "", spec))
        unused = [k for k in (*range(len(self.values)), *self.named) if k not in self.used]
        if unused:
            raise ValueError(f"the format {fmt!r} has no field for the value {unused[0]!r}: "
                             "write {} where it is to stand")
        return "".join(parts), self.operands

    def _value(self, name: str) -> Any:
        """Return the value that a field stands for, which has its number where it has no name."""
        if not name or name[0] in ".[":
            name, self.counted = f"{self.counted}{name}", self.counted + 1
        return self.get_field(name, self.values, self.named)[0]

    def _field(self, value: Any, conversion: str, spec: str) -> str:
        """Return the text of a value that is known, and a field for one that is computed."""
        if isinstance(value, Recorded):
            value = value._data
        if type(value) in (list, tuple) and not spec:
            inner = ", ".join(self._field(x, conversion, spec) for x in value)
            comma = "," if type(value) is tuple and len(value) == 1 else ""
            return f"[{inner}]" if type(value) is list else f"({inner}{comma})"
        if type(value) is dict and not spec:
            items = (f"{_escaped(repr(k))}: {self._field(x, conversion, spec)}"
                     for k, x in value.items())
            return f"{{{{{', '.join(items)}}}}}"
        if isinstance(value, TracedOperand) or (is_tracing() and isinstance(value, np.ndarray)):
            value = lift(value)
            sample = np.zeros((1,) * len(dims_of(value)), dtype_of(value))[()]
            self._text(sample, conversion, spec)  # or the error, while the user's line is known
        elif is_tracing() or not isinstance(value, (np.ndarray, np.generic)):
            return _escaped(self._text(value, conversion, spec))
        self.operands.append(value)
        return f"{{{len(self.operands) - 1}{conversion}{f':{spec}' if spec else ''}}}"


    def _known(self, value: object, spec: str) -> str:
        """Return the text of a number within a format."""
        if isinstance(value, TracedOperand):
            raise refuse("widths in formats have to be known when a function is captured",
                         "Write the number, or close over it", "TJ111")
        return self.format_field(value, spec)

    def _text(self, value: object, conversion: str, spec: str) -> str:
        converted = self.convert_field(value, conversion[1:] or None)
        return self.format_field(converted, spec)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _nothing(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    return ()


def _reference(*values: object, format: str) -> tuple[()]:
    show(format, values)
    return ()


structural("debug_print", _reference, _nothing, Effect("print", shows=True), effect=True,
           marked=True)


def _print_reference(*values: object, format: str, stream: str) -> tuple[()]:
    show(format, values, stream)
    return ()


structural("print", _print_reference, _nothing, Effect("print", shows=True), effect=True,
           marked=True)
