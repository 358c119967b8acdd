"""The residuals of loops, as notes of the graph: how many bytes, why, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tracejit.autodiff.nests import ForwardNest
from tracejit.autodiff.plans import ResidualPlan, ResidualStore, is_repeatable
from tracejit.ir.control import region_kind
from tracejit.ir.core import Eqn, Site, Value
from tracejit.ir.dims import Dim, product
from tracejit.ir.types import LogType

__all__ = ["Kept", "Residual", "describe_plan"]


@dataclass(frozen=True, slots=True)
class Residual:
    """A value that is stored on the way forward.

    name     -- the op that makes it and its line, or the name of the carried value
    site     -- the user's line that makes it, or the loop's for a carried value
    bytes    -- how many, as a formula in the sizes
    in_log   -- whether that is for each time, in a Log that grows, and not for all iterations
    why      -- why it is stored
    read_by  -- ops of the way back that read it, with their lines
    """

    name: str
    site: Site | None
    bytes: Dim
    in_log: bool
    why: str
    read_by: tuple[str, ...]

    def __str__(self) -> str:
        size = f"{self.bytes} bytes" + (" each time, in a Log that grows" if self.in_log else "")
        names = [*self.read_by[:3], *(["..."] if len(self.read_by) > 3 else [])]
        for_whom = f"; read by {', '.join(names)}" if names else ""
        return f"{self.name} is stored, {size}: {self.why}{for_whom}"


@dataclass(frozen=True, slots=True)
class Kept:
    """The values that one loop nest, or one branch, keeps for its way back.

    stored -- the stored values
    ahead  -- values read from the next iteration's place of another one: both names
    again  -- values computed again from these
    """

    code: ClassVar[str] = "TJ702"
    what: str
    site: Site | None
    stored: tuple[Residual, ...]
    ahead: tuple[tuple[str, str], ...]
    again: tuple[str, ...]

    def __str__(self) -> str:
        where = "somewhere" if self.site is None else str(self.site)
        lines = [f"{where}: what {self.what} keeps for its way back:"]
        lines += [f"  {residual}" for residual in self.stored]
        lines += [f"  {w} is read from where the next iteration has {v}" for w, v in self.ahead]
        if not self.stored:
            lines.append("  nothing is stored")
        if self.again:
            lines.append(f"  computed again: {', '.join(self.again)}")
        return "\n".join(lines)


def describe_plan(plan: ResidualPlan, readers: Mapping[Value, Sequence[Eqn]]) -> Kept:
    """Return the text of a plan: stored values with bytes, reasons, readers; recomputed ones.

    readers -- the equations of the way back that read each value
    """
    nest = plan.nest
    stored = [Residual(_name(nest, v), _site(nest, v), _bytes(store, v), store.is_log,
                       _why(nest, v), _read_by(v, readers))
              for store in plan.stores for v in store.values]
    ahead = [(_name(nest, w), _name(nest, v)) for w, v in plan.ahead.items()]
    again = [_name(nest, v) for v in sorted(plan.recomputed, key=lambda v: v.uid)]
    what = "the branch" if region_kind(nest.top) == "if" else "the loop"
    return Kept(what, nest.top.site, tuple(stored), tuple(ahead), tuple(dict.fromkeys(again)))


def _name(nest: ForwardNest, v: Value) -> str:
    maker = nest.maker.get(v)
    return v.name or "a carried value" if maker is None else _applied(maker)


def _applied(eqn: Eqn) -> str:
    return f"{eqn.op.name} ({'somewhere' if eqn.site is None else eqn.site})"


def _site(nest: ForwardNest, v: Value) -> Site | None:
    maker = nest.maker.get(v)
    return nest.home[v].path[-1][0].site if maker is None else maker.site


def _bytes(store: ResidualStore, v: Value) -> Dim:
    shape = v.aval.shape if isinstance(store.type, LogType) else store.type.shape
    return product(shape) * v.aval.dtype.itemsize


def _why(nest: ForwardNest, v: Value) -> str:
    maker = nest.maker.get(v)
    if maker is None:
        return "the loop overwrites it"
    if _is_decision(nest, v):
        return "a decision is taken once"
    return ("storing it costs less than computing it again" if is_repeatable(maker)
            else "it cannot be computed again")


def _is_decision(nest: ForwardNest, v: Value) -> bool:
    """Whether a value, or a truth that it is made of, is decided by floats."""
    maker = nest.maker.get(v)
    return v.aval.dtype.kind in "biu" and maker is not None and (
        not is_repeatable(maker) or (v.aval.dtype.kind == "b" and any(
            _is_decision(nest, w) for w in maker.uses())))


def _read_by(v: Value, readers: Mapping[Value, Sequence[Eqn]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_applied, readers.get(v, ()))))
