"""The options that change the code which a transform gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tracejit.configuration import Threads, require_threads, settings

__all__ = ["Argnums", "Fp", "Options", "Target"]

Fp = Literal["default", "strict"]
Target = Literal["cpu", "cuda"]
Argnums = int | str | Sequence[int | str]
"""Arguments by position or name: one, or several."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of generated code.

    fp      -- "default" or "strict"
    target  -- "cpu" or "cuda"
    threads -- how many threads share loops; None for the setting
    """

    fp: str = "default"
    target: str = "cpu"
    threads: Threads = None

    @property
    def is_parallel(self) -> bool:
        """Return whether threads may share loops of programs that are made now."""
        given = settings().threads if self.threads is None else self.threads
        return given is not None and self.target == "cpu"

    def __repr__(self) -> str:
        parallel = ", parallel" if self.is_parallel else ""
        return f"Options(fp={self.fp!r}, target={self.target!r}{parallel})"

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            given = getattr(self, name)
            if type(given) is not str or given not in allowed:
                raise ValueError(f'{name} is "{allowed[0]}" or "{allowed[1]}", not {given!r}')
        require_threads(self.threads)


ALLOWED = {"fp": ("default", "strict"), "target": ("cpu", "cuda")}
