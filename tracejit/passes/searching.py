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

from tracejit.ir.core import Block, Eqn, Graph
from tracejit.ir.lowering import Argument, Reduce, Ties
from tracejit.ir.searches import folds_of, is_search_of, key_of_fold
from tracejit.ir.walk import all_eqns, replace_eqns, replace_graph, replace_regions

__all__ = ["mark_ties", "search_on_vectors"]


def search_on_vectors(graph: Graph) -> Graph:
    """p = argmax(x) becomes the least place whose element is the extremum of x; ties are marked."""
    return _written_out(graph, (Argument, Ties))


def mark_ties(graph: Graph) -> Graph:
    """max_ties(x) becomes x == reduce_max(x), for targets that search as they are told."""
    return _written_out(graph, (Ties,))


def _written_out(graph: Graph, kinds: tuple[type, ...]) -> Graph:
    def is_search(eqn: Eqn) -> bool:
        return is_search_of(eqn, kinds)

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
            fold = own.get(key_of_fold(eqn))
            if fold is not None and fold not in folds:
                folds.append(fold)
                done.add(fold)
                yield fold
            yield from folds_of(eqn, folds)
        elif eqn not in done:
            yield replace_regions(eqn, lambda region: _in_block(region, folds, is_search))
            if isinstance(eqn.op.lowering, Reduce):
                folds.append(eqn)

    return replace_eqns(block, change)


def _key(fold: Eqn) -> tuple[object, ...]:
    return fold.op, fold.inputs[0], tuple(fold.params["axes"])
