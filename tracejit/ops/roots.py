"""Roots of functions: numbers that have the derivatives of others, up to the third."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ops.implicit import RULES, Rule, assured, implied
from tracejit.ops.kinds import NoFormula, elementwise
from tracejit.trace.values.equations import apply

__all__ = ["root_of"]

_FLAT = "the derivative of a root does not exist where the function has no slope"
_FURTHER = NoFormula("a root, the fourth time", "Write the iteration as a loop")


def _known(slope: Any, x: Any) -> Any:
    return np.where(assured(np.all(slope != 0.0), _FLAT), x, np.nan)


def _jvp(results: Sequence[Any], operands: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    dot = tangents[0]
    return [np.zeros_like(results[0]) if dot is None else _known(operands[1], dot)]


def _vjp(results: Sequence[Any], operands: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    return [None if cts[0] is None else _known(operands[1], cts[0]), None]


RULES["root"] = Rule(_jvp, _vjp)

# A number and, in further derivatives by it, 1 and 0: to be refused at the fourth.
elementwise("root", None, "{0}", lambda z, x: (apply("root_1", x),), exact=True,
            reference=lambda x: x)
elementwise("root_1", None, "{0} * {zero} + {one}", lambda z, x: (apply("root_2", x),),
            reference=np.ones_like)
elementwise("root_2", None, "{0} * {zero}", lambda z, x: (apply("root_3", x),),
            reference=np.zeros_like, samples=lambda n: [])
elementwise("root_3", None, "{0} * {zero}", lambda z, x: (_FURTHER,), reference=np.zeros_like,
            samples=lambda n: [])


def root_of(root: Any, near: Any, slope: Any) -> Any:
    """Return a root with the derivatives of a number that is as large."""
    return apply("root", implied("root", [root], near, slope)[0])
