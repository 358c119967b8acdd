"""The options that change the code which a transform gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Argnums", "Fp", "Options", "Target"]

Fp = Literal["default", "strict"]
Target = Literal["cpu", "cuda"]
Argnums = int | str | Sequence[int | str]
"""Arguments by position or name: one, or several."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of generated code: `fp` is "default" or "strict", `target` "cpu" or "cuda"."""

    fp: str = "default"
    target: str = "cpu"

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            given = getattr(self, name)
            if type(given) is not str or given not in allowed:
                raise ValueError(f'{name} is "{allowed[0]}" or "{allowed[1]}", not {given!r}')


ALLOWED = {"fp": ("default", "strict"), "target": ("cpu", "cuda")}
