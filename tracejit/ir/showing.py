"""How prints show values: `debug_print` by formats that take arrays, `print` as Python does."""

from __future__ import annotations

import string
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

__all__ = ["LINE", "SILENT", "Formatter", "PythonFormatter", "show"]


class Formatter(string.Formatter):
    """Python's formatting, but that a format of an array is one of its elements."""

    def format_field(self, value: object, format_spec: str) -> str:
        """Return the text of a value."""
        if isinstance(value, np.ndarray) and value.ndim and format_spec:
            return np.array2string(value, formatter={"all": lambda x: format(x, format_spec)})
        if isinstance(value, np.ndarray) and not value.ndim:
            value = value[()]
        text: str = super().format_field(value, format_spec)
        return text


class PythonFormatter(string.Formatter):
    """Python's formatting of elements of NumPy's arrays.

    A field's conversion says the kind of its value: "p" and "q" a number of Python's, by `str` and
    `repr`, "d" an array without axes, by `repr`; else it is NumPy's, by `str` or "r", `repr`.
    """

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Return the value, or its `repr`."""
        if conversion is not None and conversion in "pq":
            value = value.item()
            return value if conversion == "p" else repr(value)
        return repr(np.asarray(value)) if conversion == "d" else super().convert_field(
            value, conversion)


SILENT: ContextVar[bool] = ContextVar("tracejit is silent", default=False)
"""Whether nothing is printed: the plain function has printed it."""

LINE = "line"
"""The stream of `debug_print`: a line of standard output, at once."""


def show(template: str, values: Sequence[object], stream: str = LINE) -> None:
    """Print a format with values for its fields.

    stream -- `LINE`, or "stdout" or "stderr", perhaps with ", flushed" behind
    """
    if SILENT.get():
        return
    if stream == LINE:
        print(Formatter().vformat(template, values, {}), flush=True)
        return
    name, _, flushed = stream.partition(", ")
    print(PythonFormatter().vformat(template, values, {}), end="", flush=bool(flushed),
          file=getattr(sys, name))
