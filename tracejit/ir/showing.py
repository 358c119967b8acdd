"""How `debug_print` shows values: Python's format strings, which take arrays as well."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np

__all__ = ["Formatter", "show"]


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


def show(template: str, values: Sequence[object]) -> None:
    """Print a format with values for its fields, at once."""
    print(Formatter().vformat(template, values, {}), flush=True)
