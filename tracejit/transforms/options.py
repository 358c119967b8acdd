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
        for name, allowed in ALLOWED.items():
            given = getattr(self, name)
            if type(given) is not str or given not in allowed:
                raise ValueError(f'{name} is "{allowed[0]}" or "{allowed[1]}", not {given!r}')


ALLOWED = {"fp": ("default", "strict"), "target": ("cpu", "cuda")}
