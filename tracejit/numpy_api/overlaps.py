"""Writes that NumPy carries out while it still reads the mask, the places or the values.

NumPy copies these first where they lie in the array that is written to, but not in `x[mask] = v`
with a mask for all axes, in `x.flat[...] = v`, `np.fill_diagonal`, `np.place`, and `np.copyto`
with `where=`. What comes out then depends on the order in which NumPy goes through its memory.
"""

from __future__ import annotations

from tracejit.trace.ground.context import refuse
from tracejit.trace.values.tracer import Tracer

__all__ = ["require_apart"]


def require_apart(target: Tracer, *parts: object, what: str, same_places: bool = False) -> None:
    """Refuse a write that reads parts which lie in the array that is written to.

    what -- the write, for the refusal
    same_places -- whether the very array is fine: each place is read before it is written to
    """
    for x in parts:
        if not isinstance(x, Tracer) or not x.dims or x.dims == (1,):
            continue
        if same_places and x.cell is target.cell and x.steps == target.steps:
            continue
        if x.cell.may_be_one_with(target.cell):
            raise refuse(f"{what} with a view of the array that is written to, parts of which "
                         "NumPy writes to before it reads them", "Copy the view: view.copy()",
                         "TJ403")
