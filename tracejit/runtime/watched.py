"""Programs whose results are looked at: the `debug_nans` mode.

A result with a NaN or an infinity becomes a `FloatingPointError` at the user's line where it began.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.control import region_kind
from tracejit.ir.core import Eqn, Graph, Literal
from tracejit.ir.lowering import Pointwise
from tracejit.ir.walk import all_eqns, draws
from tracejit.program.failures import raise_at
from tracejit.runtime.origins import NaNOrigin, find_origin, first_bad, is_bad
from tracejit.trace.ground.source import describe_line

if TYPE_CHECKING:
    from tracejit.program.specialisation import Runner

__all__ = ["Watched", "require_finite"]


class Watched:
    """A program, carried out by a runner, whose outputs have to be finite."""

    runner: Runner
    graph: Graph

    def __init__(self, runner: Runner, graph: Graph) -> None:
        self.runner, self.graph = runner, graph

    def fits(self, values: Sequence[object]) -> bool:
        """Return whether shapes, sizes and ints are such that the program holds for them."""
        return self.runner.fits(values)

    def run(self, values: Sequence[object]) -> list[Any]:
        """Return the outputs; `FloatingPointError` where one is not finite."""
        outputs = self.runner.run(values)
        require_finite(self.graph, values, outputs)
        return outputs


def require_finite(graph: Graph, values: Sequence[object], outputs: Sequence[object]) -> None:
    """Raise `FloatingPointError` if an output has a NaN or an infinity, from where it began."""
    k = next((k for k, x in enumerate(outputs) if is_bad(x)), None)
    if k is None:
        return
    index = first_bad(outputs[k])
    what = "the result" if len(outputs) == 1 else f"result {k}"
    value = np.asarray(outputs[k])[index]
    head = f"{what} of {graph.name} is {_number(value)}{_at(index)}"
    if draws(graph.block):
        raise_at("FloatingPointError", _escaped(
            f"{head}. Where it began is not looked for: that would draw random numbers again"), (),
            None)
    origin = find_origin(graph, values, k, index)
    if origin is None:
        raise_at("FloatingPointError", _escaped(
            f"{head}. Compiled code made it of numbers from which the interpreter, whose roundings "
            "are others, gets a finite one"), (), None)
    site = None if origin.eqn is None else origin.eqn.site
    raise_at("FloatingPointError", _escaped(f"{head}. {_story(graph, origin)}"), (), site)


def _story(graph: Graph, origin: NaNOrigin) -> str:
    """Return a sentence on where an element began."""
    eqn, spot, value = origin.eqn, origin.spot, _number(origin.value)
    if isinstance(spot.atom, Literal):
        return f"It is a constant that the program has{_loops(origin)}"
    if eqn is None:
        name = spot.atom.name or f"number {graph.inputs.index(spot.atom)}"
        return f"The input {name} holds {value}{_at(spot.index)}"
    operands = ", ".join(_operand(eqn, x, spot.index) for x in origin.args)
    has_backward = any(e.of is not None for e in all_eqns(graph.block))
    part = "the backward part of " if eqn.of is not None else (
        "the forward part of " if has_backward else "")
    return (f"It began with {eqn.op.name}({operands}) = {value}{_at(spot.index)}, in "
            f"{part}{describe_line(eqn.site)}{_loops(origin)}")


def _operand(eqn: Eqn, x: object, index: tuple[int, ...]) -> str:
    """Return an operand of an equation: the element that counts, or the range of all."""
    x = np.asarray(x)
    if isinstance(eqn.op.lowering, Pointwise) and x.ndim <= len(index):
        last = index[len(index) - x.ndim:]
        return _number(x[tuple([0 if n == 1 else i for i, n in zip(last, x.shape, strict=True)])])
    if not x.ndim:
        return _number(x[()])
    kind = f"{x.dtype}{list(x.shape)}"
    finite = x[np.isfinite(x)]
    if not finite.size or x.dtype.kind not in "fiu":
        return kind
    return f"{kind} from {_number(finite.min())} to {_number(finite.max())}"


def _loops(origin: NaNOrigin) -> str:
    """Return the iterations around an element's origin, the innermost loop first."""
    words = {"map": "element {} of the map"}
    parts = [words.get(region_kind(eqn), "iteration {} of the loop").format(i)
             + f" at {describe_line(eqn.site)}" for eqn, i in reversed(origin.loops)]
    return "".join(f", {part}" for part in parts)


def _at(index: tuple[int, ...]) -> str:
    return f" at [{', '.join(map(str, index))}]" if index else ""


def _number(x: object) -> str:
    return str(x.item() if isinstance(x, (np.generic, np.ndarray)) else x)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
