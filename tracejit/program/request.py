"""A call for which a program is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tracejit.configuration import settings
from tracejit.exact import token
from tracejit.program.specialisation import Specialisation
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import Structure

__all__ = ["Asked", "Request", "key_of"]


class Asked(Protocol):
    """A transformed function, as the making of programs sees it.

    transform -- the transform that makes its programs
    """

    transform: Any
    _table: dict[Any, list[Specialisation]]
    _unstored: str


@dataclass(frozen=True, slots=True)
class Request:
    """A call for which a program is needed: the function and its arguments.

    is_actual -- whether the leaves are arguments; where specs stand for them only static values are
                 among the leaves
    """

    function: Asked
    specs: Sequence[ArgSpec]
    structure: Structure
    leaves: Sequence[Any]
    is_actual: bool = True

    @property
    def key(self) -> Any:
        """Return the key in which calls must agree to share specialisations."""
        return key_of(self.structure, self.specs)


def key_of(structure: Structure, specs: Sequence[ArgSpec]) -> Any:
    """Return the key in which calls must agree to share specialisations."""
    now = settings()
    return structure, tuple(map(_spec_key, specs)), (
        now.disable_jit, now.debug_nans, now.threads is not None, now.without, now.debug_info)


def _spec_key(spec: ArgSpec) -> Any:
    """Return the key in which two leaves must agree to share specialisations."""
    if spec.kind != "static":
        return (spec.kind, spec.dtype, spec.ndim)
    return ("static", token(spec.content))
