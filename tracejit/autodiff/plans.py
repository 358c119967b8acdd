"""Plans for residuals: values of a loop nest that the way back finds stored or computes again.

A minimum cut weighs bytes stored against arithmetic repeated; decisions on data are never repeated
from values that may differ in the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from tracejit.autodiff.finals import FinalElements
from tracejit.autodiff.mincut import INFINITE, CutNode, choose_stored
from tracejit.autodiff.nests import ForwardNest, Home
from tracejit.configuration import is_off
from tracejit.ir.control import LoopEqn, region_kind, trip_count
from tracejit.ir.core import Block, Eqn, Value
from tracejit.ir.lowering import Argument, Contract, Reduce, Running, Ties
from tracejit.ir.types import Aval, LogType, Type

__all__ = ["ResidualPlan", "ResidualStore", "is_repeatable", "make_plan"]

UNKNOWN_SIZE = 100.0
"""The value of a symbolic size, or of a loop's trip count, in the weighing of costs."""

RECOMPUTE_WEIGHT = 0.04
"""The cost of one addition computed again, in stores of eight bytes."""

SERIAL_WEIGHT = 0.07
"""The same cost in a `while` of numbers, whose iterations wait for one another, on scalars."""

CALL_WEIGHT, CALL_COST = 0.12, 8.0
"""The same cost of functions such as exp, and from which cost on an op is one, where they depend on
elements that the loop itself has written: one call waits for another."""

LOAD_COST = 2.0
"""The cost of a load, in additions."""


@dataclass(eq=False, slots=True)
class ResidualStore:
    """Storage for residuals: a stack of one value, or a Log of several of one region and dtype."""

    type: Type
    home: Home
    values: tuple[Value, ...]
    has_last: bool = False
    """Whether a stack of a carried value ends with its last one, after the last iteration."""

    @property
    def is_log(self) -> bool:
        """Return whether it is a Log."""
        return isinstance(self.type, LogType)


@dataclass(slots=True)
class ResidualPlan:
    """For one nest: the stored values, and the values computed again, by regions."""

    nest: ForwardNest
    stored: set[Value] = field(default_factory=set)
    recomputed: set[Value] = field(default_factory=set)
    ahead: dict[Value, Value] = field(default_factory=dict)
    """Values that an iteration hands to the next, which has them on the carried value's stack."""
    stores: list[ResidualStore] = field(default_factory=list)
    handles: dict[ResidualStore, Value] = field(default_factory=dict)
    given: Set[Value] = frozenset()
    """The arguments of the program."""
    finals: FinalElements = field(init=False)
    """Of values that are in arrays outside of the nest, the equations that read them there."""

    def __post_init__(self) -> None:
        self.finals = FinalElements(self.nest, self.given)

    def maker(self, v: Value) -> Eqn | None:
        """Return the equation that makes a value on the way back; None for the nest's inputs."""
        return self.finals.of(v) or self.nest.maker.get(v)

    def again(self, block: Block) -> list[Eqn]:
        """Return the equations that give the values of a region which are not stored."""
        again: list[Eqn] = []
        for eqn in (None, *block.eqns, *self.nest.extra.get(block, ())):
            made = block.inputs if eqn is None else eqn.outputs
            values = [v for v in made if v in self.recomputed]
            finals = [self.finals.of(v) for v in values]
            if eqn is None or all(finals):
                again += [e for e in finals if e is not None]
            elif values:
                again.append(eqn)
        return again

    def inside(self, eqn: Eqn) -> list[ResidualStore]:
        """Return the stores whose values are defined inside an equation."""
        return [s for s in self.stores if any(e is eqn for e, _ in s.home.path)]

    def at(self, block: Block) -> list[ResidualStore]:
        """Return the stores whose values are defined in a region itself."""
        return [s for s in self.stores if s.home.block is block]


def make_plan(nest: ForwardNest, ghosts: Iterable[Value],
              given: Set[Value] = frozenset()) -> ResidualPlan:
    """Choose the values of a nest to store so that `ghosts` are available on the way back.

    given -- the arguments of the program
    """
    plan = ResidualPlan(nest, given=given)
    needed = {v for v in ghosts if not nest.is_loop_index(v)}
    while True:
        order = sorted(needed, key=lambda v: v.uid)  # of two cuts of one cost always the same
        plan.stored = choose_stored(_nodes(plan, order), order)
        dims = {w for v in plan.stored for w in nest.inner_dims(v.aval)
                if not nest.is_loop_index(w)}
        if dims <= needed:
            break
        needed |= dims  # an array popped from a Log needs its shape
    for v in sorted(plan.stored, key=lambda v: v.uid):
        if v.aval.dtype.kind in "biu" and v in nest.maker and not is_off("recomputation"):
            _decide_again(plan, v)
    plan.recomputed = _recomputed(plan, plan.stored, needed)
    _read_ahead(plan, needed)
    _make_stores(plan)
    return plan


def _recomputed(plan: ResidualPlan, given: set[Value], needed: set[Value]) -> set[Value]:
    """Return the equations that have to be computed again where some values are given."""
    nest = plan.nest
    found: set[Value] = set()
    pending = list(needed)
    while pending:
        v = pending.pop()
        maker = plan.maker(v)
        if v in given or v in found or maker is None:
            continue
        found.add(v)
        pending += [w for w in maker.uses() if nest.contains(w) and not nest.is_loop_index(w)]
    return found


def _read_ahead(plan: ResidualPlan, needed: set[Value]) -> None:
    """Take the yields of an iteration from the stack of values with which the next one began."""
    nest = plan.nest
    for block, home in nest.homes.items():
        loop = home.path[-1][0]
        if region_kind(loop) != "for" or LoopEqn(loop).is_reversed:
            continue
        for v, w in zip(LoopEqn(loop).carried, LoopEqn(loop).yielded, strict=True):
            if v not in plan.stored or not nest.is_rectangular(v) or w not in nest.maker or (
                    w in plan.ahead or nest.home[w].block is not block):
                continue
            given = plan.stored | set(plan.ahead) | {w}
            rest = _recomputed(plan, given, needed)
            saved = sum(e.op.cost for u in plan.recomputed - rest if (e := plan.maker(u)))
            if w in plan.stored or saved >= LOAD_COST:
                plan.stored.discard(w)
                plan.ahead[w] = v
                plan.recomputed = rest


def _nodes(plan: ResidualPlan, needed: Sequence[Value]) -> dict[Value, CutNode[Value]]:
    nest = plan.nest
    operands: dict[Value, tuple[Value, ...]] = {}
    pending = list(needed)
    while pending:
        v = pending.pop()
        if v in operands:
            continue
        maker = plan.maker(v)
        operands[v] = () if maker is None or not is_repeatable(maker) else tuple(
            w for w in maker.uses() if nest.contains(w) and not nest.is_loop_index(w))
        pending += operands[v]
    recurrent: set[Value] = set()
    for v in sorted(operands, key=lambda v: v.uid):  # operands first
        if plan.finals.of(v) is not None or not recurrent.isdisjoint(operands[v]):
            recurrent.add(v)
    return {v: _node(plan, v, operands[v], v in recurrent) for v in operands}


def _node(plan: ResidualPlan, v: Value, operands: tuple[Value, ...],
          is_recurrent: bool) -> CutNode[Value]:
    nest, maker = plan.nest, plan.maker(v)
    times = UNKNOWN_SIZE ** len(nest.home[v].loops)
    recompute = INFINITE
    if maker is not None and is_repeatable(maker) and (v.is_log or not is_off("recomputation")):
        weight = CALL_WEIGHT if is_recurrent and maker.op.cost >= CALL_COST else (
            _recompute_weight(nest, v))
        recompute = weight * maker.op.cost * times * _work(maker)
    bytes_kept = times * _elements(v.aval) * v.aval.dtype.itemsize if not v.is_log else INFINITE
    return CutNode(bytes_kept / 8 * (1e9 if is_off("storing") else 1.0), recompute, operands)


def _recompute_weight(nest: ForwardNest, v: Value) -> float:
    loops = nest.home[v].loops
    serial = bool(loops) and region_kind(loops[-1]) == "while" and v.aval.shape == ()
    return SERIAL_WEIGHT if serial else RECOMPUTE_WEIGHT


def _work(eqn: Eqn) -> float:
    """Return how many elements computing an equation goes through."""
    made = max(_elements(v.aval) for v in eqn.outputs)
    read = [_elements(a.aval) for a in eqn.inputs]
    if isinstance(eqn.op.lowering, (Reduce, Argument, Ties, Running)):
        return max(made, *read)
    if isinstance(eqn.op.lowering, Contract):  # of products of n x k and k x m, n k m
        return math.sqrt(math.prod((made, *read)))
    return made


def _elements(t: Type) -> float:
    count = 1.0
    for d in t.shape if isinstance(t, Aval) else ():
        count *= d if isinstance(d, int) else UNKNOWN_SIZE
    return count


def is_repeatable(eqn: Eqn) -> bool:
    """Whether an equation computed again gives equal results: no control flow, Logs, fresh storage.

    A decision taken on floats (a comparison, an argmax, a cast to int) is data: the operands
    computed again may differ in the last bit, and the decision with them.
    """
    if region_kind(eqn) or eqn.op.unique:
        return False
    if eqn.op.effect and not eqn.op.exact:
        return False
    decides = any(v.aval.dtype.kind in "biu" for v in eqn.outputs)
    return not (decides and any(a.aval.dtype.kind in "fc" for a in eqn.inputs))


def _decide_again(plan: ResidualPlan, v: Value) -> None:
    """Repeat a decision in place of storing it, where its operands take less room.

    All bits of its operands come from stored values by operations that round to the nearest.
    """
    stored = plan.stored - {v}
    needed = _bits_needed(plan, v, stored)
    if needed is not None and sum(map(_bytes, needed)) < _bytes(v):
        plan.stored = stored | needed


def _bytes(v: Value) -> float:
    return _elements(v.aval) * v.aval.dtype.itemsize


def _bits_needed(plan: ResidualPlan, v: Value, stored: set[Value]) -> set[Value] | None:
    """Return the values to be stored, too, so that one can be computed again bit for bit.

    None if there are no such.
    """
    nest, needed, seen, pending = plan.nest, set[Value](), {v}, [v]
    while pending:
        w = pending.pop()
        if not nest.contains(w) or nest.is_loop_index(w) or w in stored:
            continue
        maker = plan.maker(w)
        if maker is not None and _keeps_bits(plan, maker, stored):
            operands = {*maker.uses()} - seen
            seen |= operands
            pending += operands
        elif w is v or w.is_log or not nest.is_rectangular(w):
            return None
        else:
            needed.add(w)
    return needed


def _keeps_bits(plan: ResidualPlan, maker: Eqn, stored: set[Value]) -> bool:
    """Whether an equation gives the same bits again of the same operands."""
    if region_kind(maker):
        return False
    if maker.op.exact or (maker.op.rounds and maker.output.aval.dtype.kind in "iu"):
        return True
    return maker.op.rounds is not None and maker.output.aval.dtype.kind == "f" and not (
        maker.op.rounds == "sum" and any(_is_product(plan, w, stored) for w in maker.uses()))


def _is_product(plan: ResidualPlan, v: Value, stored: set[Value]) -> bool:
    """Whether a value may be a product that a device does not round before it is added."""
    maker = plan.maker(v)
    if v in stored or not plan.nest.contains(v) or maker is None:
        return False
    return maker.op.rounds == "product" or (
        maker.op.exact and any(_is_product(plan, w, stored) for w in maker.uses()))


def _make_stores(plan: ResidualPlan) -> None:
    logs: dict[tuple[Block, np.dtype, bool], list[Value]] = {}
    for v in sorted(plan.stored, key=lambda v: v.uid):
        home = plan.nest.home[v]
        if plan.nest.is_rectangular(v):
            trips = [trip_count(e) for e in home.loops]  # none for a branch outside of all loops
            has_last = v in plan.ahead.values()
            if has_last:
                trips[-1] = trips[-1] + 1
            shape = (*trips, *v.aval.shape)
            plan.stores.append(ResidualStore(Aval(v.aval.dtype, shape), home, (v,), has_last))
        else:
            # its size may be in the same Log: that is pushed last, and fetched first
            sized = v.aval.dtype.kind in "iu" and any(True for _ in plan.nest.inner_dims(v.aval))
            logs.setdefault((home.block, v.aval.dtype, sized), []).append(v)
    for (block, dtype, _), values in sorted(logs.items(), key=lambda log: not log[0][2]):
        plan.stores.append(ResidualStore(LogType(dtype), plan.nest.homes[block], tuple(values)))
