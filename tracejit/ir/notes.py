"""Notes on a graph, lines of `.why()`: each has the code of its reason, from `codes.py`."""

from __future__ import annotations

__all__ = ["Noted", "with_code"]


class Noted(str):
    """A note that is a text."""

    code: str

    def __new__(cls, text: str, code: str) -> Noted:
        """Return a text with a code."""
        made = super().__new__(cls, text)
        made.code = code
        return made

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return Noted, (str(self), self.code)


def with_code(note: object) -> str:
    """Return the text of a note, whose first line ends with its code."""
    first, newline, rest = str(note).partition("\n")
    code = getattr(note, "code", None)
    return f"{first}{'' if code is None else f' [{code}]'}{newline}{rest}"
