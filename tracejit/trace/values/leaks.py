"""Values of a loop or branch that Python kept where the capture did not see it: they are refused.

Before a derivative is taken. What it makes of a program may read none of these values, and lack
what it would have read.
"""

from __future__ import annotations

from collections.abc import Iterable

from tracejit.errors import Refusal
from tracejit.ir.core import Block, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.walk import block_uses, bound_values, first_undefined
from tracejit.trace.ground.context import current
from tracejit.trace.ground.source import describe_line, find_site

__all__ = ["refuse_leaks", "refuse_leaks_into"]


def refuse_leaks(block: Block, outer: Iterable[Value], line: str) -> None:
    """Refuse a block that reads, for its outputs or effects, a value where it is not defined.

    outer -- the values defined around the block
    line  -- the user's line for a message, where an output is such a value
    """
    if first_undefined(block, outer) is None:
        return
    found = first_undefined(prune_block(block), outer)
    if found is None:
        return
    where = line if found[1] is None or found[1].site is None else describe_line(found[1].site)
    raise Refusal(f"{where}: a value that was computed inside a loop or branch is used outside of "
                  "it: something that is not captured kept it. Keep it in a name, a list, or an "
                  "attribute that captured code assigns to", "TJ120")


def refuse_leaks_into(block: Block) -> None:
    """Do the same for the block of a call that is differentiated within the capture around it."""
    inside = {v for scope in current().builder.scopes for eqn in scope.eqns
              for region in eqn.regions for v in (*region.inputs, *bound_values(region))}
    inside.update(bound_values(block))
    outer = {v for v in block_uses(block) if v not in inside}
    refuse_leaks(block, outer, describe_line(find_site()))
