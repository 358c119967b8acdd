"""Where random numbers may be drawn: in regions that run once, in the order of the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from tracejit.ir.control import region_kind
from tracejit.ir.core import Block, Eqn
from tracejit.ir.draws import is_generator
from tracejit.ir.lowering import Library
from tracejit.ir.walk import all_eqns
from tracejit.trace.ground.context import current, refuse_at
from tracejit.trace.state.paths import Holder, Leaf, Path

__all__ = ["drawing_nothing", "generator_from_outside", "has_no_seed", "refuse_draws",
           "refuse_draws_drawn_again"]

_SPAWN = ("Draw the numbers before, for all elements at once, and map over them; or loop over the "
          "elements, with one generator for each: for x, r in zip(xs, rng.spawn(n))")
_BEFORE = "Draw the numbers before, and pass them as an argument"


def refuse_draws_drawn_again(block: Block) -> None:
    """Refuse draws in a region whose runs have no order, or that the way back runs again."""
    for eqn in block.eqns:
        why = _why_not(eqn)
        for region in eqn.regions:
            if why:
                refuse_draws(region, *why)
            refuse_draws_drawn_again(region)


def refuse_draws(block: Block, where: str, remedy: str = _BEFORE) -> None:
    """Refuse all draws of a block, the part of the program that `where` names in the message."""
    draw = next((e for e in all_eqns(block) if e.op.lowering == Library("draw")), None)
    if draw is not None:
        raise refuse_at(draw.site, f"random numbers are drawn in {where}", remedy, "TJ114")


@contextmanager
def drawing_nothing(where: str, remedy: str = _BEFORE) -> Iterator[None]:
    """Refuse draws that are captured meanwhile: Python would draw them later, or not at all."""
    before = len(current().builder.scope.eqns)
    yield
    refuse_draws(Block((), tuple(current().builder.scope.eqns[before:]), ()), where, remedy)


def generator_from_outside(leaves: Iterable[Leaf]) -> Path | None:
    """Return where a program has a generator that is no argument and that it does not make."""
    return next((leaf.path for leaf in leaves
                 if is_generator(leaf.content) and not _is_made(leaf.path)), None)


def has_no_seed(leaf: Leaf) -> bool:
    """Return whether a generator is another one at every call, by `default_rng()`."""
    return _is_made(leaf.path) and leaf.path.steps[-1] == ("call", ("__call__", (None,), ()))


def _is_made(path: Path) -> bool:
    return type(path.root) is Holder and path.root.content is np.random.default_rng


def _why_not(eqn: Eqn) -> tuple[str, ...]:
    """Return why nothing may be drawn in the regions of an equation, and a remedy."""
    kind = region_kind(eqn)
    if kind == "map":
        return ("a function that is mapped (vmap, a Jacobian), whose "
                "elements are computed in no order", _SPAWN)
    if eqn.op.meaning == "checkpointed" or "snapshots" in eqn.params:
        return ("a part of the program under checkpoint, which the "
                "way back computes again", _BEFORE)
    if kind not in ("if", "for", "while"):
        return (f"a function with a derivative of its own "
                f"({eqn.op.name})", _BEFORE)
    return ()
