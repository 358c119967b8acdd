"""The options that change the code which a transform gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tracejit.analyses import Without, analyses_named
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
    without -- the analyses that are switched off, besides those of the setting
    """

    fp: str = "default"
    target: str = "cpu"
    threads: Threads = None
    without: Without = frozenset()

    @property
    def is_parallel(self) -> bool:
        """Return whether threads may share loops of programs that are made now."""
        given = settings().threads if self.threads is None else self.threads
        return given is not None and self.target == "cpu" and "threads" not in self.switched_off

    @property
    def switched_off(self) -> frozenset[str]:
        """Return the analyses that are switched off for programs that are made now."""
        return settings().without.union(self.without)

    def __repr__(self) -> str:
        parallel = ", parallel" if self.is_parallel else ""
        without = "".join(f", without {name}" for name in sorted(self.switched_off))
        return f"Options(fp={self.fp!r}, target={self.target!r}{parallel}{without})"

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            given = getattr(self, name)
            if type(given) is not str or given not in allowed:
                raise ValueError(f'{name} is "{allowed[0]}" or "{allowed[1]}", not {given!r}')
        require_threads(self.threads)
        object.__setattr__(self, "without", analyses_named(self.without))


ALLOWED = {"fp": ("default", "strict"), "target": ("cpu", "cuda")}
