"""The pattern of a traced program that is linear in its first argument, and what it depends on."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tracejit.program.specialisation import Specialisation, not_here
from tracejit.trace.ground.facts import holds_all
from tracejit.trace.state.paths import READING_FAILS

if TYPE_CHECKING:
    from tracejit.autodiff.input_sets import InputSets
    from tracejit.runtime.stages import Traced

T = TypeVar("T")

_MOST = 1 << 28
"""The most elements of a pattern."""

__all__ = ["FoundPattern", "Sparsity", "analyse"]


@dataclass(frozen=True, slots=True, eq=False)
class Sparsity:
    """A pattern: the places of elements, by row and then by column, and lines on how it was found.

    only_back -- whether the function has a derivative in reverse mode alone
    """

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    notes: tuple[str, ...] = ()
    only_back: bool = False

    def as_coo(self) -> Any:
        """Return it as a boolean sparse array."""
        from scipy.sparse import coo_array

        return coo_array((np.ones(len(self.rows), np.bool_), (self.rows, self.columns)),
                         shape=self.shape)

    def why(self) -> str:
        """Return, line by line, where elements came to depend on much, and why."""
        return "\n".join(self.notes) or "no line makes a row dense"


@dataclass(frozen=True, slots=True)
class FoundPattern:
    """A pattern, with all that it was found for besides the kinds and sizes of arguments.

    checks -- inputs that have to be as they were: where to read each, its content if that is exact,
              and its shape
    """

    program: Specialisation
    checks: tuple[tuple[Any, Any, tuple[int, ...]], ...]
    sparsity: Sparsity

    def holds(self, leaves: Sequence[object]) -> bool:
        """Return whether guards hold, and integers and sizes are what they were."""
        if not self.program.guards_hold():
            return False
        for source, exact, shape in self.checks:
            try:
                x: Any = leaves[source] if isinstance(source, int) else source.read()
            except READING_FAILS:
                return False
            if np.shape(x) != shape or not (exact is None or np.array_equal(x, exact)):
                return False
        facts = self.program.interface.facts
        if not facts:
            return True
        values = self.program.values([np.zeros(()), *leaves[1:]])
        return values is not None and holds_all(facts, values)


def analyse(traced: Traced, seed: np.ndarray, leaves: Sequence[object], name: str) -> FoundPattern:
    """Return the pattern of a program that is linear in its first argument."""
    from tracejit.autodiff.dependence_rules import RULES
    from tracejit.autodiff.dependences import Dependences, Reach
    from tracejit.autodiff.input_sets import InputSets
    from tracejit.runtime.interpreted import Interpreted

    interface = traced.program.interface()
    interface.is_for_one_call = bool(traced.program.capture.unseen)
    assert traced.arguments is not None
    program = Specialisation(interface, Interpreted(traced), *traced.arguments, not_here)
    values = program.values(leaves)
    assert values is not None
    exact = [np.array(x) if dtype.kind in "iub" and isinstance(x, (int, np.generic, np.ndarray))
             else None for x, (dtype, _) in zip(values, interface.inputs, strict=True)]
    sets = InputSets(seed.size)
    singles = sets.singles().reshape(seed.shape)
    run = Dependences(sets, RULES)
    ins = [Reach(None, singles if singles.ndim else int(singles)) if source == 0 else Reach(
        None if e is None else e[()])
        for source, e in zip(interface.sources, exact, strict=True)]
    found = _without_collecting(lambda: run.run_graph(traced.graph, ins, values)[-1])
    shape = run.shape(traced.graph.outputs[-1].aval)
    if shape is None:
        raise TypeError(f"data decides how many elements {name} returns, so that its Jacobian has "
                        "no pattern")
    notes = [*run.notes.values(), *["there are more sets of inputs than memory is used for: some "
                                    "rows are taken to be dense"] * sets.is_full]
    rows, columns = _places(sets, np.broadcast_to(found.sets, shape).ravel(), notes)
    checks = tuple([(source, e, np.shape(x))
                    for source, e, x in zip(interface.sources, exact, values, strict=True)
                    if e is not None or not isinstance(source, int)])
    return FoundPattern(program, checks, Sparsity((math.prod(shape), sets.count), rows, columns,
                                            tuple(notes)))


def _without_collecting(run: Callable[[], T]) -> T:
    """Run code that makes many objects and no garbage."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return run()
    finally:
        if collects:
            gc.enable()


def _places(sets: InputSets, numbers: np.ndarray,
            notes: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of a pattern, given the number of each row's set."""
    different, place = np.unique(numbers, return_inverse=True)
    members = [sets.members(k) for k in different.tolist()]
    lengths = np.array([len(m) for m in members], np.int64)[place]
    if lengths.sum() > _MOST:
        why = "\n".join(notes)
        raise MemoryError(f"the pattern has {lengths.sum()} elements, too many to hold.\n{why}")
    rows = np.repeat(np.arange(len(numbers)), lengths)
    columns = np.concatenate([np.zeros(0, np.int64), *(members[k] for k in place.tolist())])
    kind = np.int32 if max(len(numbers), len(rows), sets.count) < 2 ** 31 else np.int64
    return rows.astype(kind), columns.astype(kind)
