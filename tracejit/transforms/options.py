"""What changes the code that a transform gives."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """What changes generated code: `fp` is "default" or "strict"."""

    fp: str = "default"
