"""Hooks of decisions: `if`, conditional expressions, `and`, `or`, `not` and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tracejit.trace.containers.choices import narrowed
from tracejit.trace.containers.places import HiddenPlace, NamePlace, name_places, present
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.python.comparisons import compare
from tracejit.trace.python.truths import negated, truth
from tracejit.trace.regions.branches import trace_if
from tracejit.trace.values.symbolic_ints import SymInt

__all__ = ["DecisionHooks"]


class DecisionHooks:
    """Python's own decisions on plain values, branches of the graph on traced ones."""

    def if_(self, test: Any, then: FunctionType, other: FunctionType,
            names: tuple[str, ...]) -> None:
        """Run a branch, or trace both."""
        test = truth(test)
        if isinstance(test, bool):
            (then if test else other)()
            return
        trace_if(test, [then, other], name_places(names, then, other))

    def truth(self, x: object) -> bool:
        """Return a condition that must be a Python one."""
        test = truth(x)
        if isinstance(test, bool):
            return test
        refusal = refuse("the filter of a comprehension depends on data",
                         "Write a loop with an `if`, or use np.where", "TJ109")
        if any(frame.kind == "loop" for frame in current().frames):  # it may be on the index
            raise Unroll("the filter of a comprehension needs its iterations one by one", refusal)
        raise refusal

    def tested(self, x: Any) -> Any:
        """Return whether an operand of a condition is true: nothing else of it matters."""
        return truth(x)

    def binding(self, fn: FunctionType, names: tuple[str, ...]) -> Callable[[], Any]:
        """Return an operand that is evaluated later, if at all, and then binds some names."""
        return _Binding(fn, name_places(names, fn))

    def choose(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """Evaluate `then if test else other`."""
        test = truth(test)
        if isinstance(test, bool):
            return then() if test else other()
        result = HiddenPlace()

        def run(branch: Callable[[], object]) -> Callable[[], None]:
            return lambda: result.set(branch())

        trace_if(test, [run(then), run(other)], [result, *_bound_by(then, other)])
        return present(narrowed(result.get()))

    def and_(self, first: object, *rest: Callable[[], object]) -> Any:
        """Evaluate `first and ...`."""
        return self._chain(first, rest, True)

    def or_(self, first: object, *rest: Callable[[], object]) -> Any:
        """Evaluate `first or ...`."""
        return self._chain(first, rest, False)

    def _chain(self, value: object, rest: Sequence[Callable[[], object]], going: bool) -> Any:
        """Evaluate operands until one decides; operands on data are combined, not branched on."""
        for k, later in enumerate(rest):
            test = _decided(value)
            if isinstance(test, bool):
                if test is not going:
                    return value
                value = later()
                continue
            remaining = rest[k:]

            def evaluate(remaining: Sequence[Callable[[], object]] = remaining) -> Any:
                first, *others = remaining
                result = self._chain(first(), others, going)
                return result

            operand = _Binding(evaluate, _bound_by(*remaining))
            if going:
                return self.choose(test, operand, _always(value))
            return self.choose(test, _always(value), operand)
        return value

    def not_(self, x: object) -> Any:
        """Evaluate `not x`."""
        return negated(x)

    def compare(self, operators: tuple[str, ...], left: object, first: object,
                *rest: Callable[[], object]) -> Any:
        """Evaluate `a < b < c`."""
        result = compare(operators[0], left, first)
        if not rest:
            return result
        later, *others = rest

        def evaluate() -> Any:
            return self.compare(operators[1:], first, later(), *others)

        return self.and_(result, _Binding(evaluate, _bound_by(later, *others)))


def _decided(value: object) -> Any:
    """Return whether a value is true; an int argument decides now, as the result has its type."""
    if isinstance(value, SymInt):
        known = current().decide(value.dim, "!=", "whether an int is 0 decides")
        if known is not None:
            return known
    return truth(value)


class _Binding:
    """An operand that is evaluated later, with the places of the names that it binds."""

    def __init__(self, fn: Callable[[], Any], places: Sequence[NamePlace]) -> None:
        self.fn, self.places = fn, places

    def __call__(self) -> Any:
        return self.fn()


def _bound_by(*operands: Callable[[], object]) -> list[NamePlace]:
    """Return the places of the names that some operands bind."""
    places = [p for x in operands if isinstance(x, _Binding) for p in x.places]
    return list({p.key: p for p in places}.values())


def _always(value: object) -> Callable[[], Any]:
    return lambda: value
