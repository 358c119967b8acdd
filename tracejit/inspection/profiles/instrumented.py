"""A program with clocks between its steps, where the steps are long enough for a clock."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Do, Node
from tracejit.errors import Refusal
from tracejit.inspection.profiles.instrument import Part, counted, split, timed, without_counts
from tracejit.inspection.profiles.symbols import Symbols
from tracejit.inspection.profiles.traffic import Traffic, count_traffic
from tracejit.ir.core import Value
from tracejit.ir.draws import is_generator
from tracejit.program.request import Request
from tracejit.program.specialisation import Specialisation
from tracejit.runtime.function import Function, make_function
from tracejit.runtime.stages import Compiled, Lowered
from tracejit.runtime.ticks import SLOTS, clear_ticks, lap_cost, prepare_ticks, read_ticks
from tracejit.trace.regions.draws import generator_from_outside
from tracejit.tree import flatten, unflatten

__all__ = ["LEAST", "START", "Instrumented", "Stretch", "copied"]

LEAST = 20
"""A step is timed by itself where it takes so many times as long as reading the clock."""

START = 1
"""The slot of nodes before the first step. Slots come in pairs: a time and a count."""


def copied(args: object, kwargs: object) -> tuple[Any, Any]:
    """Return the arguments of a call, arrays and generators of random numbers copied."""
    leaves, structure = flatten((args, kwargs))
    result: tuple[Any, Any] = unflatten(
        structure, [x.copy() if isinstance(x, np.ndarray) else
                    copy.deepcopy(x) if is_generator(x) else x for x in leaves])
    return result


@dataclass(eq=False, slots=True)
class Stretch:
    """Nodes of Loop IR that are timed together, of which the main one is a loop, branch or call.

    around -- the loops and branches that it is in, outermost first
    times  -- how often it runs in a call
    """

    slot: int
    nodes: list[Node]
    main: Node | None
    around: tuple[Node, ...]
    times: int
    traffic: Traffic = field(default_factory=Traffic)


class Instrumented:
    """A function's program with clocks.

    twin -- a copy of the measured function, compiled with clocks
    """

    traced: Any
    states: list[tuple[Any, Any]]
    cost: float
    found: list[int]
    lowered: Lowered
    nodes: list[Node]
    top: Part
    slots: Any
    symbols: Symbols

    def __init__(self, function: Function, args: tuple[object, ...],
                 kwargs: Mapping[str, object]) -> None:
        self.function = function
        prepare_ticks()
        self.traced = function.trace(*args, **kwargs)
        self._refuse_generators_from_outside()
        states = [path.read() for path, _ in self.traced.program.assigned]
        self.states = [(state, np.array(state._data)) for state in states]
        self.cost = lap_cost()
        self.counts: dict[object, int] = {}
        """The slots of counters."""
        self._survey(args, kwargs)
        self._build(self._clocks)

    def _refuse_generators_from_outside(self) -> None:
        """Refuse to draw from generators that repeated calls would advance."""
        program = self.traced.program
        outer = generator_from_outside(s for s in program.sources if not isinstance(s, int))
        if outer is not None:
            raise Refusal(f"a profile runs {program.name} many times, and it draws from {outer}, "
                          "which would not be left as it is. Make it an argument, which is copied",
                          "TJ609")

    def restore(self) -> None:
        """Give the variables that a call assigns to the values that they had."""
        for state, data in self.states:
            state._accept(data)

    # --- the two variants -----------------------------------------------------------------------

    def _survey(self, args: object, kwargs: object) -> None:
        """Run once with all clocks and counters, and keep the clocks of steps that are long."""
        self._build(self._clocks_and_counters)
        for _ in range(2):  # the first call compiles
            own_args, own_kwargs = copied(args, kwargs)
            clear_ticks(self.slots)
            self.twin(*own_args, **own_kwargs)
            self.restore()
        self.found = read_ticks(self.slots)
        self._values = self._inputs(*copied(args, kwargs))
        self._keep_long(self.top, 1)

    def _build(self, change: Callable[[Kernel], None]) -> None:
        self.lowered = Lowered(self.traced, change)
        compiled = Compiled(self.lowered)
        self.compiled = compiled
        twin = make_function(self.function.transform)

        def specialisation(call: Request) -> Specialisation:
            return Specialisation(compiled.interface, compiled.invocation, call.specs,
                                  call.structure, twin._slow)

        twin._compile = specialisation  # type: ignore[method-assign]
        self.twin = twin

    def _clocks_and_counters(self, kernel: Kernel) -> None:
        slots = itertools.count(START + 2, 2)
        self.nodes = counted(kernel.nodes, slots, self.counts)
        self.top = split(self.nodes)
        self._put(kernel, slots, self._with_start(timed(self.top, slots)))

    def _clocks(self, kernel: Kernel) -> None:
        slots = itertools.count(START + 2, 2)
        nodes = self._with_start(timed(self.top, slots))
        self._put(kernel, slots, without_counts(nodes))

    def _with_start(self, nodes: list[Node]) -> list[Node]:
        return [Do(call("lap", integer(START))), *nodes]

    def _put(self, kernel: Kernel, slots: Iterator[int], nodes: list[Node]) -> None:
        self.slots = next(slots)
        if self.slots > SLOTS:
            raise ValueError(f"{kernel.graph.name} has more loops than profile can count: "
                             f"{self.slots // 2} of {SLOTS // 2}")
        kernel.nodes = nodes

    # --- which steps are long -------------------------------------------------------------------

    def executions(self, key: object) -> int:
        """Return how often a block ran in the survey, or the sum of an amount."""
        return self.found[self.counts[key]] if key in self.counts else 0

    def _net(self, slot: int) -> float:
        """Return the nanoseconds in a slot, less the cost of reading the clock."""
        return self.found[slot] - self.found[slot + 1] * self.cost

    def _keep_long(self, part: Part, times: int) -> float:
        """Drop the clocks of steps that are too short; return the time of the whole block."""
        total = self._net(part.slot)
        for step in part.steps:
            spent = self._net(step.slot) if not step.parts else 0.0
            for inner in step.parts:
                spent += self._keep_long(inner, self.executions(id(inner.block)))
            if step.parts and not any(s.is_timed for p in step.parts for s in p.steps):
                step.parts = []
            if not step.parts:
                step.is_timed = times > 0 and spent / times >= LEAST * self.cost
            total += spent
        return total

    # --- rows -----------------------------------------------------------------------------------

    def _inputs(self, args: object, kwargs: object) -> dict[Value, int]:
        """Return the sizes and integer arguments of the call."""
        leaves = flatten((args, kwargs))[0]
        program = self.traced.program
        values = [leaves[s] if isinstance(s, int) else s.path.read() for s in program.sources]
        values = [0 if is_generator(x) else x for x in values]  # nothing is drawn here
        plan = self.compiled.invocation.plan(values)
        assert plan is not None, "the arguments fit the program that was made for them"
        graph = self.lowered.kernel.graph
        found = dict(zip(graph.sizes, plan, strict=False))
        for v, x in zip(graph.inputs, values, strict=True):
            if not v.aval.shape and v.aval.dtype.kind in "iu":
                found[v] = int(x)
        return found

    def stretches(self) -> list[Stretch]:
        """Return the timed stretches, each with the flops and bytes of its statements."""
        found = list(self._stretches(self.top, 1))
        kernel = self.lowered.kernel
        kernel.nodes = self.nodes
        self.symbols = Symbols(kernel, self._values)
        count_traffic(kernel, [(s.traffic, s.nodes) for s in found], self.executions, self.symbols)
        return found

    def _stretches(self, part: Part, times: int) -> Iterator[Stretch]:
        for step in part.steps:
            for inner in step.parts:
                yield from self._stretches(inner, self.executions(id(inner.block)))
            if step.is_timed and not step.parts:
                yield Stretch(step.slot, step.nodes, step.main, part.around, times)
        short = part.short()
        nodes = [n for step in short for n in step.nodes]
        if short or not (part.steps or part.around):  # a block without steps is scalar code
            main = short[0].main if len(short) == 1 else None
            yield Stretch(part.slot, nodes or part.trailing, main, part.around, times)
