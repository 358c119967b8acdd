"""Searches for the place of an extremum, on vectors: two folds in place of one that keeps places.

The place of the largest element is found by a scalar loop, which keeps the largest one so far and
its place. Folds of numbers go on vectors:

    p = argmax(x)     =>     m = reduce_max(x); p = reduce_min(select(x == m | x != x, i, largest))
    t = max_ties(x)   =>     m = reduce_max(x); t = x == m | x != x

Of several largest ones it is the first, and a NaN is larger than all, as before. The pass goes
last: both folds read one array, which is stored where its elements might differ when computed
again, while passes before it may compute the operand of a search by other ways than that of a fold.
A fold of the program, of the same array, is not done twice: one that comes later is done first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tracejit.ir.builder import Builder
from tracejit.ir.core import Block, Eqn, Graph, Literal, Value
from tracejit.ir.lowering import Argument, Reduce, Ties
from tracejit.ir.optable import find_op
from tracejit.ir.walk import all_eqns, replace_eqns, replace_graph, replace_regions

__all__ = ["mark_ties", "search_on_vectors"]

_LARGEST = Literal(int(np.iinfo(np.int64).max), np.dtype(np.int64))


def search_on_vectors(graph: Graph) -> Graph:
    """p = argmax(x) becomes the least place whose element is the extremum of x; ties are marked."""
    return _written_out(graph, (Argument, Ties))


def mark_ties(graph: Graph) -> Graph:
    """max_ties(x) becomes x == reduce_max(x), for targets that search as they are told."""
    return _written_out(graph, (Ties,))


def _written_out(graph: Graph, kinds: tuple[type, ...]) -> Graph:
    def is_search(eqn: Eqn) -> bool:
        return isinstance(eqn.op.lowering, kinds) and isinstance(eqn.inputs[0], Value)

    if not any(is_search(e) for e in all_eqns(graph.block)):
        return graph
    return replace_graph(graph, _in_block(graph.block, [], is_search))


def _in_block(block: Block, around: Sequence[Eqn], is_search: Callable[[Eqn], bool]) -> Block:
    """Return a block without searches.

    around -- the folds before it, in the blocks that it is in
    """
    folds = [*around]
    own = {_key(e): e for e in reversed(block.eqns) if isinstance(e.op.lowering, Reduce)}
    done: set[Eqn] = set()

    def change(eqn: Eqn) -> Iterator[Eqn]:
        if is_search(eqn):
            fold = own.get((find_op(_fold_of(eqn)), eqn.inputs[0], _axes_of(eqn)))
            if fold is not None and fold not in folds:
                folds.append(fold)
                done.add(fold)
                yield fold
            yield from _folds(eqn, folds)
        elif eqn not in done:
            yield replace_regions(eqn, lambda region: _in_block(region, folds, is_search))
            if isinstance(eqn.op.lowering, Reduce):
                folds.append(eqn)

    return replace_eqns(block, change)


def _key(fold: Eqn) -> tuple[object, ...]:
    return fold.op, fold.inputs[0], tuple(fold.params["axes"])


def _fold_of(search: Eqn) -> str:
    """Return the name of the op that gives the extremum which is searched for."""
    how = search.op.lowering
    assert isinstance(how, (Argument, Ties))
    return f"reduce_{how.combine}"


def _axes_of(search: Eqn) -> tuple[int, ...]:
    if isinstance(search.op.lowering, Ties):
        return tuple(search.params["axes"])
    return (search.params["axis"],)


def _folds(eqn: Eqn, known: Sequence[Eqn]) -> list[Eqn]:
    """Return the equations that give a search's result, but for folds that are known."""
    (x,), axes = eqn.inputs, _axes_of(eqn)
    builder = Builder(lambda: eqn.site)
    builder.of, builder.group = eqn.of, eqn.group
    for fold in known:
        builder.scope.share(fold)
    shape = x.aval.shape

    def add(name: str, *operands: Value | Literal, **params: object) -> Value:
        (made,) = builder.emit(find_op(name), operands, params)
        return made

    extremum = add(_fold_of(eqn), x, axes=axes)
    wide = add("reshape", extremum, shape=tuple(1 if k in axes else d for k, d in enumerate(shape)))
    found = add("equal", x, wide)
    if x.aval.dtype.kind == "f":
        found = add("logical_or", found, add("not_equal", x, x))
    if isinstance(eqn.op.lowering, Argument):
        index = add("reshape", add("iota", size=shape[axes[0]]),
                    shape=(shape[axes[0]], *(1 for _ in shape[axes[0] + 1:])))
        add("reduce_min", add("select", found, index, _LARGEST), axes=axes)
    *first, last = builder.scope.eqns
    return [*first, replace(last, outputs=eqn.outputs)]
