"""The findings of a capture's attempts: each attempt begins with all of them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from tracejit.errors import Refusal, Restart
from tracejit.trace.ground.context import Trace
from tracejit.trace.ground.memory import NeedOneArray
from tracejit.trace.ground.pool_facts import PoolFacts
from tracejit.trace.ground.restarts import (
    NeedCounting,
    NeedIntegrands,
    NeedLeast,
    NeedLeaving,
    NeedNames,
    NeedOneCopy,
    NeedOnePool,
    NeedOwnIterators,
    NeedPoolFact,
    NeedRun,
    NeedSliceEnds,
    NeedStack,
    NeedStatic,
    NeedSteps,
    Relist,
)
from tracejit.trace.ground.source import describe_line

__all__ = ["Findings", "Pins"]

Pins = dict[tuple[Any, Any], tuple[int, str]]
"""By (leaf key, axis or None for an int itself): the number that was fixed, and the reason."""


@dataclass(slots=True, eq=False)
class Findings:
    """The facts about sizes, lists, functions and containers that earlier attempts have found out.

    leasts  -- sizes that are taken as no less than a number
    united  -- arguments that are one array with an earlier one, which stands for both
    no_loop -- why a function that calls itself is not captured as a loop
    refused -- the refusal before containers were filled by data
    ventured -- whether an attempt traced a loop for which what follows may have been refused

    The other fields are as in a `Trace`.
    """

    pins: Pins = field(default_factory=dict)
    leasts: Pins = field(default_factory=dict)
    united: dict[int, int] = field(default_factory=dict)
    decides_layouts: bool = False
    names: bool = False
    slices_fit: bool = True
    plain_lists: dict[Any, str] = field(default_factory=dict)
    list_kinds: dict[Any, frozenset[Any]] = field(default_factory=dict)
    run_lists: set[tuple[Hashable, ...]] = field(default_factory=set)
    one_copies: set[Any] = field(default_factory=set)
    keyed_by_data: set[Hashable] = field(default_factory=set)
    pooled: dict[Hashable, Hashable] = field(default_factory=dict)
    counted_pools: set[Hashable] = field(default_factory=set)
    pool_facts: PoolFacts = field(default_factory=PoolFacts)
    pools_for_loops: bool = False
    by_steps: set[Hashable] = field(default_factory=set)
    own_iterators: bool = False
    integrands_apart: bool = False
    left_loops: set[Hashable] = field(default_factory=set)
    functions_as_loops: set[Hashable] = field(default_factory=set)
    no_loop: Refusal | None = None
    refused: Refusal | None = None
    may_venture: bool = True
    ventured: bool = False

    def tell(self, trace: Trace) -> None:
        """Let an attempt know all of it."""
        trace.restarts = True
        trace.may_venture = self.may_venture
        trace.decides_layouts, trace.names = self.decides_layouts, self.names
        trace.slices_fit = self.slices_fit
        trace.plain_lists, trace.list_kinds = self.plain_lists, self.list_kinds
        trace.run_lists = self.run_lists
        trace.one_copies, trace.keyed_by_data = self.one_copies, self.keyed_by_data
        trace.pooled, trace.counted_pools = self.pooled, self.counted_pools
        trace.pool_facts = self.pool_facts
        trace.by_steps, trace.functions_as_loops = self.by_steps, self.functions_as_loops
        trace.left_loops, trace.own_iterators = self.left_loops, self.own_iterators
        trace.integrands_apart = self.integrands_apart
        trace.is_unrolled = self.no_loop is not None

    def forget_numbers(self) -> None:
        """Let sizes be symbolic and lists be runs again: the program will be another one."""
        self.pins, self.leasts, self.plain_lists, self.list_kinds = {}, {}, {}, {}

    def make_item_by_item(self) -> None:
        """Let lists of known lengths that loops index be Python's own again."""
        self.plain_lists.update((site[:-2], "a loop over it cannot be captured")
                                for site in self.run_lists)
        self.run_lists.clear()

    def make_objects_one_by_one(self) -> None:
        """Let objects that loops go through be Python's own again, in no pool."""
        self.pools_for_loops, self.pool_facts = False, PoolFacts(may_loop=False)
        self.forget_numbers()

    def learn(self, need: Restart) -> bool:
        """Note the need that ended an attempt; False where another one would help nothing.

        Raises the refusal of a loop that is to be made of a function once more.
        """
        if isinstance(need, NeedStatic):
            self._fix(need)
        elif isinstance(need, NeedNames):
            self.names = True
        elif isinstance(need, NeedSliceEnds):
            self.slices_fit = False
        elif isinstance(need, NeedOwnIterators):
            self.own_iterators = True
        elif isinstance(need, NeedIntegrands):
            self.integrands_apart = True
        elif isinstance(need, Relist):
            return self._make_otherwise(need)
        elif isinstance(need, NeedStack):
            if self.no_loop is not None:
                raise self.no_loop from None
            self.functions_as_loops.add(need.function)
            self.forget_numbers()
        elif isinstance(need, (NeedOneCopy, NeedRun, NeedCounting)):
            self._note(need)
        elif isinstance(need, NeedOnePool):
            self.pooled[need.other] = need.one
        elif isinstance(need, NeedPoolFact):
            if need.what == "classes":
                self.pools_for_loops = True
                self.forget_numbers()
            return self.pool_facts.learn(need.what, need.one, need.other)
        elif isinstance(need, NeedSteps):
            self.by_steps.add(need.where)
        elif isinstance(need, NeedLeaving):
            return self._leave(need.loops)
        elif isinstance(need, NeedOneArray):
            self.united[need.other] = self.united.get(need.first, need.first)
        else:
            return False
        return True

    def _note(self, need: NeedOneCopy | NeedRun | NeedCounting) -> None:
        if isinstance(need, NeedOneCopy):
            self.one_copies.add(need.pair)
        elif isinstance(need, NeedRun):
            self.run_lists.add(need.site)
        else:
            self.counted_pools.add(need.site)

    def _leave(self, loops: frozenset[Hashable]) -> bool:
        """Let errors leave loops; return False where they may already."""
        if loops <= self.left_loops:
            return False
        self.left_loops |= loops
        return True

    def _fix(self, need: NeedStatic) -> None:
        key, number = need.found()
        why = f"{describe_line(need.site)}: {need.why}"
        if isinstance(need, NeedLeast):
            self.leasts[key] = (need.least, why)
        else:
            self.pins.update({k: (n, why) for k, n in ((key, number), *need.siblings)})

    def _make_otherwise(self, need: Relist) -> bool:
        """Make a list with the kinds of its numbers, or else item by item."""
        before = self.list_kinds.get(need.where, frozenset())
        if need.kinds is not None and not need.kinds <= before:
            self.list_kinds[need.where] = before | need.kinds
        elif need.where in self.plain_lists:
            return False
        else:
            self.plain_lists[need.where] = need.why
        return True
