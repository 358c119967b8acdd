"""The inputs on which each element of a program's results depends: from its graph, not from values.

The program is carried out on `Reach`es in place of arrays. Integers and truth values that no number
of unknown value comes into are computed; a branch on anything else goes both ways, a loop runs
until nothing changes, and an index may be any. So an element that depends on an input is found to;
one that does not may be found to as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.autodiff.input_sets import ALL, EMPTY, InputSets, Numbers
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Value, param_dims
from tracejit.ir.dims import Dim, evaluate
from tracejit.ir.interpreter import bind_sizes, concrete_params, reference_of
from tracejit.ir.lowering import Effect, Native
from tracejit.ir.types import Aval, Type

__all__ = ["NOTHING", "Dependences", "Reach", "Rule", "UnknownNumber"]


@dataclass(frozen=True, slots=True)
class Reach:
    """The facts about a value: its content, or None; and the inputs that its elements depend on.

    known -- the content of a value that depends on no input
    sets  -- the number of a set for each element, or one for all; of a Log may be `Items` of them
    """

    known: Any = None
    sets: Any = EMPTY


NOTHING = Reach()
"""A value that depends on no input, and of unknown content."""

Rule = Callable[["Dependences", Eqn, list[Reach], "dict[str, Any] | None"], list[Reach]]
"""(run, equation, operands, params or None where these are unknown) -> results."""


class UnknownNumber(LookupError):
    """A number is asked for that data decides."""


class _Numbers(Mapping[Value, Any]):
    """The known values of an environment."""

    def __init__(self, env: Mapping[Value, Reach]) -> None:
        self.env = env

    def __getitem__(self, v: Value) -> Any:
        found = self.env[v].known
        if found is None:
            raise UnknownNumber
        return found

    def __iter__(self) -> Any:
        return iter(self.env)

    def __len__(self) -> int:
        return len(self.env)


class Dependences:
    """A run of a graph on `Reach`es.

    rules  -- by the class of an op's lowering, the rule for the op's results
    notes  -- lines that say where sets grew for want of knowledge, or became the set of all inputs
    budget -- how many equations may still be run before loops are taken as a whole
    """

    def __init__(self, sets: InputSets, rules: Mapping[type, Rule]) -> None:
        self.sets, self.rules = sets, rules
        self.env: dict[Value, Reach] = {}
        self.numbers = _Numbers(self.env)
        self.notes: dict[tuple[str, str], str] = {}
        self.budget = 2_000_000
        self._fixed: dict[Eqn, dict[str, Any] | None] = {}

    def run_graph(self, graph: Graph, args: Sequence[Reach],
                  shaped: Sequence[object]) -> list[Reach]:
        """Return the facts about the outputs.

        shaped -- per input, an object of its shape
        """
        for v, n in bind_sizes(graph, shaped).items():
            self.env[v] = Reach(np.int64(n))
        with np.errstate(all="ignore"):
            return self.run(graph.block, args)

    def run(self, block: Block, args: Sequence[Reach]) -> list[Reach]:
        """Run a block; a value that runs again has its newest content."""
        self.env.update(zip(block.inputs, args, strict=True))
        self.budget -= len(block.eqns)
        for eqn in block.eqns:
            if eqn.outputs:
                self.env.update(zip(eqn.outputs, self.step(eqn), strict=True))
        return [self.read(a) for a in block.outputs]

    def read(self, a: Atom) -> Reach:
        """Return the facts about an operand."""
        return Reach(a.val) if a.__class__ is Literal else self.env[a]  # type: ignore[index]

    # --- numbers --------------------------------------------------------------------------------

    def dim(self, d: Dim) -> int:
        """Return a dim; raise `UnknownNumber` where data decides it."""
        return d if isinstance(d, int) else evaluate(d, lambda v: int(self.numbers[v]))

    def shape(self, t: Type) -> tuple[int, ...] | None:
        """Return a shape; None of a Log, or where data decides it."""
        try:
            return tuple(map(self.dim, t.shape)) if isinstance(t, Aval) else None
        except UnknownNumber:
            return None

    def params(self, eqn: Eqn) -> dict[str, Any] | None:
        """Return an equation's params with numbers for dims; None where data decides one."""
        if eqn not in self._fixed:
            varies = any(True for _ in param_dims(eqn.params))
            self._fixed[eqn] = None if varies else concrete_params(eqn, {})
        fixed = self._fixed[eqn]
        try:
            return concrete_params(eqn, self.numbers) if fixed is None else fixed  # type: ignore[arg-type]
        except UnknownNumber:
            return None

    # --- equations ------------------------------------------------------------------------------

    def step(self, eqn: Eqn) -> list[Reach]:
        """Return the facts about an equation's results."""
        ins = [self.read(a) for a in eqn.inputs]
        rule = self.rules.get(type(eqn.op.lowering))
        if eqn.regions:
            return (rule or _of_everything)(self, eqn, ins, None)
        for r in ins:
            if r.sets.__class__ is not int or r.sets != EMPTY:
                break
        else:
            found = self._computed(eqn, [r.known for r in ins])
            if found is not None or not any(v.is_log for v in eqn.outputs):
                return found or [NOTHING] * len(eqn.outputs)
        return self._noted(eqn, ins, (rule or _of_operands)(self, eqn, ins, self.params(eqn)))

    def _computed(self, eqn: Eqn, values: list[Any]) -> list[Reach] | None:
        """Return the results of known operands; None where something is unknown, or rounded."""
        for x in values:
            if x is None:
                return _decided(eqn, values)
        op, params = eqn.op, self.params(eqn)
        if params is None or not _is_pure(eqn):
            return None
        try:
            found = reference_of(eqn)(*values, **params)
            results = found if isinstance(found, tuple) else (found,)
            if not op.exact and any(v.aval.dtype.kind in "fc" for v in (*eqn.outputs, *eqn.inputs)):
                wide = op.reference(*(np.asarray(x, np.longdouble) for x in values), **params)
                if op.kind != "elementwise" or not np.array_equal(wide, results[0]):
                    return None
        except Exception:  # of a branch that does not run, or of a dtype that it does not have
            return None
        return [Reach(np.asarray(x, v.aval.dtype)[()])
                for x, v in zip(results, eqn.outputs, strict=True)]

    # --- notes ----------------------------------------------------------------------------------

    def note(self, eqn: Eqn, why: str) -> None:
        """Note why sets are larger than they might be."""
        where = "" if eqn.site is None else f"{eqn.site}: "
        self.notes.setdefault((where, eqn.op.name), f"{where}{eqn.op.name}: {why}")

    def _noted(self, eqn: Eqn, ins: list[Reach], outs: list[Reach]) -> list[Reach]:
        """Note an equation from which on an element depends on all inputs; return its results."""
        if self.sets.count > 1 and any(map(_has_all, outs)) and not any(map(_has_all, ins)):
            self.note(eqn, "an element of its result depends on all inputs")
        return outs

    # --- parts of several rules -----------------------------------------------------------------

    def all_of(self, reaches: Sequence[Reach]) -> int:
        """Return the union of all sets of values."""
        found = EMPTY
        for r in reaches:
            found = self.sets.joined(found, self.flat_union(r))
        return found

    def flat_union(self, r: Reach) -> int:
        """Return the union of the sets of a value."""
        elements = getattr(r.sets, "elements", None)
        if elements is not None:
            return self.sets.union_of(np.array(elements[:len(r.sets)], np.int64))
        found: Numbers = r.sets
        return self.sets.union_of(found)

    def everywhere(self, eqn: Eqn, ins: Sequence[Reach], why: str) -> list[Reach]:
        """Return results of which each element depends on all that operands depend on."""
        found = self.all_of(ins)
        if found != EMPTY and why:
            self.note(eqn, why)
        return [Reach(None, found)] * len(eqn.outputs)


_DECIDING = {"and": False, "or": True}
"""The meanings of the ops that one operand decides, each with its truth value."""


def _decided(eqn: Eqn, values: list[Any]) -> list[Reach] | None:
    """Return the result of an op that one of its operands decides, if that is known."""
    found = _DECIDING.get(eqn.op.meaning)
    if found is not None and not eqn.output.aval.shape and any(
            x is not None and bool(x) is found for x in values):
        return [Reach(np.bool_(found))]
    return None


def _is_pure(eqn: Eqn) -> bool:
    """Return whether an equation's NumPy code may run at any time: it is no user's, and shows
    nothing.
    """
    op = eqn.op
    is_users = op.kind == "opaque" or isinstance(op.lowering, Native)
    is_effect = op.effect and op.lowering not in (Effect("wrap_index"), Effect("empty"))
    return not (is_users or is_effect or any(v.is_log for v in eqn.outputs))


def _has_all(r: Reach) -> bool:
    if isinstance(r.sets, np.ndarray):
        return bool((r.sets == ALL).any())
    return r.sets.__class__ is int and bool(r.sets == ALL)


def _of_operands(run: Dependences, eqn: Eqn, ins: list[Reach],
                 params: dict[str, Any] | None) -> list[Reach]:
    """Take each element of the results to depend on every element of the operands."""
    return run.everywhere(eqn, ins, "each element of its result is taken to depend on all elements "
                                    "of its operands")


def _of_everything(run: Dependences, eqn: Eqn, ins: list[Reach],
                   params: dict[str, Any] | None) -> list[Reach]:
    """Take each element to depend on every input: regions of the equation may read anything."""
    run.note(eqn, "its result is taken to depend on all inputs")
    return [Reach(None, ALL)] * len(eqn.outputs)
