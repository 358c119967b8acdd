"""Searches for an extremum, written out: the fold that finds it, and comparisons with it.

    p = argmax(x)     =>     m = reduce_max(x); p = reduce_min(select(x == m | x != x, i, largest))
    t = max_ties(x)   =>     m = reduce_max(x); t = x == m | x != x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tracejit.ir.builder import Builder
from tracejit.ir.core import Eqn, Literal, Value
from tracejit.ir.lowering import Argument, Ties
from tracejit.ir.optable import find_op

__all__ = ["folds_of", "is_search_of", "key_of_fold", "ties_by_comparison"]

_LARGEST = Literal(int(np.iinfo(np.int64).max), np.dtype(np.int64))


def is_search_of(eqn: Eqn, kinds: tuple[type, ...]) -> bool:
    """Whether an equation is a search, of some kinds, in a value."""
    return isinstance(eqn.op.lowering, kinds) and isinstance(eqn.inputs[0], Value)


def ties_by_comparison(eqn: Eqn) -> list[Eqn]:
    """Return the fold and the comparison that mark ties; of another equation, itself."""
    return folds_of(eqn, []) if is_search_of(eqn, (Ties,)) else [eqn]


def key_of_fold(search: Eqn) -> tuple[object, ...]:
    """Return the op, the operand and the axes of the fold that finds a search's extremum."""
    return find_op(_fold_of(search)), search.inputs[0], _axes_of(search)


def _fold_of(search: Eqn) -> str:
    """Return the name of the op that gives the extremum which is searched for."""
    how = search.op.lowering
    assert isinstance(how, (Argument, Ties))
    return f"reduce_{how.combine}"


def _axes_of(search: Eqn) -> tuple[int, ...]:
    if isinstance(search.op.lowering, Ties):
        return tuple(search.params["axes"])
    return (search.params["axis"],)


def folds_of(eqn: Eqn, known: Sequence[Eqn]) -> list[Eqn]:
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
