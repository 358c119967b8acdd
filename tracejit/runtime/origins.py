"""Where a NaN or an infinity of a result began: followed back, element by element.

A graph is run again in the interpreter, and an element of a result that is not finite is followed
from equation to equation. An operand carried it if the element becomes finite once the operand's
elements that are not finite are replaced; an equation whose operands carried nothing is where it
began. So an infinity that `where` did not select is never blamed. Loops are run again piece by
piece, from states that were kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.control import IfEqn, LoopEqn, MapEqn
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal
from tracejit.ir.interpreter import (
    Env,
    apply_eqn,
    bind_sizes,
    block_env,
    concrete_params,
    read_value,
)
from tracejit.ir.lowering import LogOp, Region
from tracejit.ir.walk import without_prints

__all__ = ["NaNOrigin", "find_origin", "first_bad", "is_bad"]

Index = tuple[int, ...]

SEGMENT = 64
"""How many iterations of a loop, or states between iterations, are kept at once."""

SUBSTITUTES = (0.5, 2.0, 1.0)
"""Substitutes for elements that are not finite: functions have one of these in their domain."""


@dataclass(frozen=True, slots=True)
class Spot:
    """An element of a value. One of a Log: the entry, counted from 1, a place in it, an index."""

    atom: Atom
    index: Index


@dataclass(frozen=True, slots=True)
class NaNOrigin:
    """Where an element that is not finite began: an equation, an input or a constant.

    spot  -- the element; its atom is an input of the graph where `eqn` is None, or a literal
    value -- its value
    args  -- the operands' values of the equation
    loops -- the loops and maps around it, outermost first, each with the number of its iteration
    """

    spot: Spot
    value: Any
    eqn: Eqn | None = None
    args: tuple[Any, ...] = ()
    loops: tuple[tuple[Eqn, int], ...] = ()


def is_bad(x: object) -> bool:
    """Return whether a value has an element that is NaN or infinite."""
    x = np.asarray(x)
    return x.dtype.kind in "fc" and not bool(np.isfinite(x).all())


def first_bad(x: object) -> Index:
    """Return the index of the first NaN of a value, or else of its first infinity."""
    x = np.asarray(x)
    bad = np.isnan(x) if np.isnan(x).any() else ~np.isfinite(x)
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(bad)), x.shape))


def find_origin(graph: Graph, args: Sequence[object], output: int,
                index: Index) -> NaNOrigin | None:
    """Return where an element of an output began; None if the interpreter finds it finite."""
    block = without_prints(graph.block)
    with np.errstate(all="ignore"):
        env = block_env(block, bind_sizes(graph, args), args)
        if np.isfinite(np.asarray(read_value(graph.outputs[output], env))[index]):
            return None
        found = _OriginSearch().follow(block, env, Spot(graph.outputs[output], index), ())
    if isinstance(found, NaNOrigin):
        return found
    return NaNOrigin(found, np.asarray(read_value(found.atom, env))[found.index])


Loops = tuple[tuple[Eqn, int], ...]


class _OriginSearch:
    """Follows elements back through blocks that were run."""

    def follow(self, block: Block, env: Env, spot: Spot, loops: Loops) -> NaNOrigin | Spot:
        """Follow an element to where it began, or to a value that comes from outside the block."""
        makers = {v: e for e in block.eqns for v in e.outputs}
        while True:
            if isinstance(spot.atom, Literal):
                return NaNOrigin(spot, spot.atom.val, None, (), loops)
            eqn = makers.get(spot.atom)
            if eqn is None:
                return spot
            place = eqn.outputs.index(spot.atom)
            how = eqn.op.lowering
            if isinstance(how, Region):
                found = FOLLOW[how.kind](self, eqn, env, place, spot.index, loops)
            elif isinstance(how, LogOp):
                found = _through_log(how.action, eqn, env, place, spot.index)
            else:
                found = _through(eqn, env, place, spot, loops)
            if isinstance(found, NaNOrigin):
                return found
            spot = found

    def branch(self, eqn: Eqn, env: Env, place: int, index: Index, loops: Loops
               ) -> NaNOrigin | Spot:
        """Follow an element into the branch that was taken."""
        branches = IfEqn(eqn)
        region = branches.branch(read_value(branches.condition, env))
        own = block_env(region, env, ())
        return self.follow(region, own, Spot(region.outputs[place], index), loops)

    def element(self, eqn: Eqn, env: Env, place: int, index: Index, loops: Loops
                ) -> NaNOrigin | Spot:
        """Follow an element into the iteration of a map that made it."""
        region = MapEqn(eqn).body
        i, *rest = index
        own = block_env(region, env, (np.int64(i),))
        spot = Spot(region.outputs[place], tuple(rest))
        return self.follow(region, own, spot, (*loops, (eqn, i)))

    def loop(self, eqn: Eqn, env: Env, place: int, index: Index, loops: Loops) -> NaNOrigin | Spot:
        """Follow an element back from iteration to iteration."""
        view = LoopEqn(eqn)
        body = view.body
        place -= view.trips
        start = tuple([read_value(a, env) for a in view.starts])
        for i, own in _backwards(body, env, start, _indices(eqn, env)):
            spot = Spot(view.yielded[place], index)
            found = self.follow(body, own, spot, (*loops, (eqn, i)))
            if isinstance(found, NaNOrigin) or found.atom not in view.carried:
                return found
            place, index = view.carried.index(found.atom), found.index
        return Spot(view.starts[place], index)


FOLLOW: dict[str, Callable[..., NaNOrigin | Spot]] = {
    "if": _OriginSearch.branch, "for": _OriginSearch.loop, "while": _OriginSearch.loop,
    "map": _OriginSearch.element}


# --- loops --------------------------------------------------------------------------------------


def _indices(eqn: Eqn, env: Env) -> Sequence[int]:
    """Return the numbers of a loop's iterations, in the order in which they ran."""
    params = concrete_params(eqn, env)
    if "lo" not in params:  # its trip count is its first result
        return range(int(env[eqn.outputs[0]]))
    numbers = range(params["lo"], params["hi"])
    return numbers[::-1] if params["reversed"] else numbers


def _backwards(body: Block, outer: Env, start: tuple[object, ...],
               indices: Sequence[int]) -> Iterator[tuple[int, Env]]:
    """Yield iterations with all their values, the last one first.

    No more than `SEGMENT` of them are kept at once, and as many states to run others again from.
    """
    stride = -(-len(indices) // SEGMENT)
    kept = []
    for k, i in enumerate(indices):
        own = block_env(body, outer, (np.int64(i), *start))
        if k % stride == 0:
            kept.append((start, own))
        start = tuple([read_value(a, own) for a in body.outputs])
    for k in reversed(range(len(kept))):
        part = indices[k * stride:(k + 1) * stride]
        if stride == 1:
            yield part[0], kept[k][1]
        else:
            yield from _backwards(body, outer, kept[k][0], part)


# --- Logs ---------------------------------------------------------------------------------------


def _through_log(action: str, eqn: Eqn, env: Env, place: int, index: Index) -> Spot:
    """Follow an element into, within or out of a Log, where its index is its number."""
    source = eqn.inputs[0]
    if action == "of":
        return Spot(source, _place_in(read_value(source, env), index[0]))
    if place or action == "array":  # an element that comes out
        return Spot(source, (
            _first(action, eqn, env, place) + _number(env[eqn.outputs[place]], index),))
    begin = len(read_value(source, env)) if action == "push" else None
    for a in eqn.inputs[1:]:
        x = np.asarray(read_value(a, env))
        begin = concrete_params(eqn, env)["at"][0] if begin is None else begin
        carried = action != "add" or np.isfinite(read_value(source, env).elements[index[0]])
        if begin <= index[0] < begin + x.size and carried:
            return Spot(a, _place_in(x, index[0] - begin))
        begin += x.size
    return Spot(source, index)


def _first(action: str, eqn: Eqn, env: Env, place: int) -> int:
    """Return the number of the first element of a result that comes out of a Log."""
    if action == "pop":
        return len(env[eqn.outputs[0]]) + sum(np.size(env[v]) for v in eqn.outputs[1:place])
    return 0 if action == "array" else int(concrete_params(eqn, env)["at"][0])


def _number(x: np.ndarray, index: Index) -> int:
    return int(np.ravel_multi_index(index, np.shape(x))) if index else 0


def _place_in(x: np.ndarray, number: int) -> Index:
    return tuple(map(int, np.unravel_index(number, np.shape(x)))) if np.ndim(x) else ()


# --- one equation -------------------------------------------------------------------------------


def _through(eqn: Eqn, env: Env, place: int, spot: Spot, loops: Loops) -> NaNOrigin | Spot:
    """Follow an element to the operand that carried it; where none did it began here."""
    args = [read_value(a, env) for a in eqn.inputs]
    value = np.asarray(read_value(spot.atom, env))[spot.index]
    here = NaNOrigin(spot, value, eqn, tuple(args), loops)

    def stays(changed: Sequence[object]) -> bool:
        """Whether the element is not finite, either, with these operands."""
        try:
            result = np.asarray(apply_eqn(eqn, changed, env)[place])[spot.index]
        except Exception:  # a factorisation of the changed operand, perhaps
            return False
        return not np.isfinite(result)

    bad = [k for k, x in enumerate(args) if is_bad(x)]
    for number in SUBSTITUTES if bad else ():
        clean = [_replaced(x, number) for x in args]
        if not stays(clean):
            break
    else:
        return here
    alone = (k for k in bad if stays([*clean[:k], args[k], *clean[k + 1:]]))
    k = next(alone, -1)
    if k < 0:  # only together: the first one, beside the others as they are
        k, clean = bad[0], args
    x = np.asarray(args[k])

    def carries(kept: np.ndarray) -> bool:
        part = np.where(np.isfinite(x) | kept, x, x.dtype.type(number))[()]
        return stays([*clean[:k], part, *clean[k + 1:]])

    if isinstance(eqn.inputs[k], Literal):
        return here
    return Spot(eqn.inputs[k], _carrier(x, spot.index, carries))


def _carrier(x: np.ndarray, index: Index, carries: Callable[[np.ndarray], bool]) -> Index:
    """Return an element of an operand that, kept alone, still makes the result not finite.

    It is sought at the result's own index first, then by halves.
    """
    def kept(places: int | np.ndarray) -> np.ndarray:
        mask = np.zeros(x.shape, bool)
        mask.reshape(-1)[places] = True
        return mask

    last = index[len(index) - x.ndim:]
    own = tuple([0 if n == 1 else i for i, n in zip(last, x.shape, strict=False)])
    if len(own) == x.ndim and all(i < n for i, n in zip(own, x.shape, strict=True)):
        place = int(np.ravel_multi_index(own, x.shape)) if own else 0
        if not np.isfinite(x[own]) and carries(kept(place)):
            return own
    places = np.flatnonzero(~np.isfinite(x))
    while len(places) > 1:
        first, second = places[:len(places) // 2], places[len(places) // 2:]
        places = second if not carries(kept(first)) and carries(kept(second)) else first
    return tuple([int(i) for i in np.unravel_index(int(places[0]), x.shape)])


def _replaced(x: object, number: float) -> Any:
    """Return a value with a number for each element that is not finite."""
    if not is_bad(x):
        return x
    x = np.asarray(x)
    return np.where(np.isfinite(x), x, x.dtype.type(number))[()]
