"""What changes the code that a transform gives."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """What changes generated code: `fp` is "default" or "strict", `target` "cpu" or "cuda"."""

    fp: str = "default"
    target: str = "cpu"

    def __post_init__(self) -> None:
        if self.target not in ("cpu", "cuda"):
            raise ValueError(f'target is "cpu" or "cuda", not {self.target!r}')
