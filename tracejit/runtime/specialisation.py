"""One compiled program for one kind of arguments, and the two ways to call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType
from typing import Any

import numpy as np

from tracejit.configuration import settings
from tracejit.errors import RAISABLE, Refusal
from tracejit.ir.dims import evaluate
from tracejit.ir.interpreter import bind_sizes, interpret
from tracejit.runtime import layout
from tracejit.runtime.entry import MAX_LEAVES, MAX_WORDS, Words, make_entry
from tracejit.runtime.failures import raise_at
from tracejit.runtime.stages import Compiled, Program, Traced
from tracejit.trace.capture import ArgSpec, spec_of_leaf
from tracejit.trace.captured import Guarded, Same, Shape, is_same_object
from tracejit.tree import LEAF, Structure, unflatten

__all__ = ["Specialisation"]


class Specialisation:
    """A program that accepts arguments of certain specs, under guards."""

    def __init__(self, program: Program, specs: Sequence[ArgSpec], structure: Structure,
                 slow: Callable[..., Any]) -> None:
        self.program, self.specs, self.structure = program, specs, structure
        self.entry: Any = None
        self.flat: Any = None
        self.traced = Traced(program)
        self.compiled: Compiled | None = None
        if settings().disable_jit:
            return
        self.compiled = self.traced.lower().compile()
        self._keep: list[Any] = [slow]
        if settings().verify:
            return
        words = self._direct_words(slow)
        if words is not None:
            self.words = words
            self.entry, method = make_entry(words, program.name)
        else:  # Python takes the arguments apart, and puts the results together
            words = self._flat_words()
            if words is None:
                return
            self.flat, method = make_entry(words, program.name)
        self._keep += [words, method]

    # --- does it fit ----------------------------------------------------------------------------

    def values(self, leaves: Sequence[Any]) -> list[Any] | None:
        """Return the graph's inputs for a call; None where captured state has changed kind."""
        values = []
        for source in self.program.sources:
            if isinstance(source, int):
                values.append(leaves[source])
                continue
            try:
                content = source.path.read()
            except (LookupError, AttributeError, ValueError):
                return None
            if not _is_same_kind(source.content, content):
                return None
            values.append(content)
        return values

    def guards_hold(self) -> bool:
        """Return whether everything that the capture depended on is as it was."""
        for k, guard in enumerate(self.program.capture.guards):
            try:
                content = guard.path.read()
            except (LookupError, AttributeError, ValueError):
                return False
            old = guard.content
            if isinstance(old, Same):
                if old.path.read() is not content:
                    return False
            elif not is_same_object(old, content):
                return False
            elif content is not old and self.entry is not None:
                self._renew(k, guard, content)
        return True

    def _renew(self, k: int, guard: Guarded, content: Any) -> None:
        """Let the fast entry know an equal object in place of the old one."""
        guard.content = content
        self.words[Words.HEAD + k * Words.RECORD + Words.EXPECTED] = id(content)

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Return whether this program is the right one for a call's leaves."""
        values = self._values_if_same(leaves)
        return values is not None and self._sizes_fit(values)

    def _values_if_same(self, leaves: Sequence[Any]) -> list[Any] | None:
        """Return the graph's inputs if guards hold; sizes and ints are not looked at."""
        return self.values(leaves) if self.guards_hold() else None

    def _sizes_fit(self, values: Sequence[Any]) -> bool:
        if self.compiled is None:
            return _fits_interpreted(self.program, values)
        return self.compiled.invocation.plan(values) is not None

    # --- the slower way -------------------------------------------------------------------------

    def attempt(self, leaves: Sequence[Any]) -> Any:
        """Run the program on a call's leaves; `NotImplemented` if it is not the right one."""
        values = self._values_if_same(leaves)
        if values is None:
            return NotImplemented
        if self.program.written:
            if not self._sizes_fit(values):
                return NotImplemented
            self._require_apart(leaves, values)
        found = self.flat(*values) if self.flat is not None else NotImplemented
        if found is not NotImplemented:
            outputs = list(found) if isinstance(found, tuple) else [found]
        elif self._sizes_fit(values):
            outputs = self._outputs(values)
        else:
            return NotImplemented
        for k, output in self.program.written:
            np.copyto(leaves[k], outputs[output])
        for path, output in self.program.assigned:
            path.read()._accept(outputs[output])
        aside = {output for _, output in (*self.program.written, *self.program.assigned)}
        rest = iter([x for k, x in enumerate(outputs) if k not in aside])
        result = [next(rest) if c is None else c[0] for c in self.program.constants]
        return unflatten(self.program.structure, result)

    def _outputs(self, values: Sequence[Any]) -> list[Any]:
        """Return what the graph's outputs are for its inputs, Python numbers as such."""
        if self.compiled is None:
            outputs = self._run_interpreted(values)
        else:
            outputs = self._run_compiled(self.compiled, values)
        return [np.asarray(x).item() if weak else x
                for x, weak in zip(outputs, self.program.weak, strict=True)]

    def _require_apart(self, leaves: Sequence[Any], values: Sequence[Any]) -> None:
        """Refuse a call in which an array that is written to overlaps another input."""
        for written, _ in self.program.written:
            for source, x in zip(self.program.sources, values, strict=True):
                if source != written and isinstance(x, np.ndarray) and _overlap(leaves[written], x):
                    raise Refusal(f"{self.program.name} writes to an array that overlaps another "
                                  "of its inputs. Pass a copy of one of them: x.copy()")

    def _run_interpreted(self, values: Sequence[Any]) -> list[Any]:
        """Run the interpreter; what equations raise comes from the user's line, as compiled."""
        try:
            return list(interpret(self.traced.graph, *values))
        except tuple(RAISABLE.values()) as e:
            site, kind = getattr(e, "tracejit_site", None), type(e).__name__
            if site is None or RAISABLE.get(kind, np.linalg.LinAlgError) is not type(e):
                raise
            error, message = kind, str(e).replace("{", "{{").replace("}", "}}")
        raise_at(error, message, (), site)

    def _run_compiled(self, compiled: Compiled, values: Sequence[Any]) -> list[Any]:
        plan = compiled.invocation.plan(values)
        assert plan is not None
        return compiled.invocation.run(values, plan)

    # --- the table of the fast entry ------------------------------------------------------------

    def _direct_words(self, slow: Callable[..., Any]) -> np.ndarray | None:
        """Return the table for an entry that takes the call as it is; None where it cannot."""
        args, kwargs = self.structure.parts
        flat = all(p is LEAF or p == LEAF for p in args.parts) and not kwargs.parts
        grouping = _grouping(self.program)
        if not flat or grouping is None or self.program.written or self.program.assigned:
            return None
        guards = [self._guard_record(g) for g in self.program.capture.guards]
        guards += [(Words.FROM_ARGUMENT, k, 0, Words.IS_OBJECT, self._hold(s.content), 0)
                   for k, s in enumerate(self.specs) if not s.is_traced]
        leaves = [self._leaf_record((Words.FROM_ARGUMENT, s, 0), self.specs[s])
                  if isinstance(s, int) else
                  self._leaf_record(self._source(s.path), spec_of_leaf(s.content))
                  for s in self.program.sources]
        return self._words(slow, len(self.specs), guards, leaves, grouping)

    def _flat_words(self) -> np.ndarray | None:
        """Return the table for an entry that takes the graph's inputs one by one."""
        specs = [self.specs[s] if isinstance(s, int) else spec_of_leaf(s.content)
                 for s in self.program.sources]
        leaves = [self._leaf_record((Words.FROM_ARGUMENT, k, 0), spec)
                  for k, spec in enumerate(specs)]
        grouping = Words.ONE if len(self.program.weak) == 1 else Words.TUPLE
        return self._words(_not_here, len(leaves), [], leaves, grouping)

    def _words(self, following: Callable[..., Any], args: int, guards: Sequence[Any],
               leaves: Sequence[Any], grouping: int) -> np.ndarray | None:
        """Return the table for the fast entry; None where a call needs more than that can do.

        following -- what is called where the arguments are not as expected
        """
        assert self.compiled is not None
        graph = self.traced.graph
        outputs = [self._output_record(k, a.aval) for k, a in enumerate(graph.outputs)]
        records = [*guards, *leaves, *outputs]
        invocation = self.compiled.invocation
        too_many = len(leaves) + len(outputs) > MAX_LEAVES or invocation.plan_words > MAX_WORDS
        if any(r is None for r in records) or too_many or not layout.is_known_layout():
            return None
        words = np.zeros(Words.HEAD + Words.RECORD * len(records), np.int64)
        releases = any(e.regions for e in graph.eqns)
        kernel, plan = self.compiled.addresses()
        head = {Words.NEXT: self._hold(following), Words.FAIL: self._hold(invocation.fail),
                Words.KERNEL: kernel, Words.PLAN: plan,
                Words.ARGS: args, Words.GUARDS: len(guards), Words.LEAVES: len(leaves),
                Words.OUTPUTS: len(outputs), Words.GROUPING: grouping,
                Words.LOGS: len(self.compiled.lowered.kernel.logs), Words.RELEASE: int(releases),
                Words.SIZES: len(graph.sizes)}
        for k, value in head.items():
            words[k] = value
        for k, record in enumerate(records):
            place = Words.HEAD + k * Words.RECORD
            words[place:place + len(record)] = record
        return words

    def _hold(self, x: Any) -> int:
        """Keep an object alive and return its address."""
        self._keep.append(x)
        return id(x)

    def _source(self, path: Any) -> tuple[int, int, int] | None:
        if path.steps:
            return None
        if isinstance(path.root, CellType):
            return (Words.FROM_CELL, self._hold(path.root), 0)
        if isinstance(path.root, dict):
            return (Words.FROM_DICT, self._hold(path.root), self._hold(path.name))
        return None

    def _guard_record(self, guard: Guarded) -> tuple[int, ...] | None:
        source = self._source(guard.path)
        if source is None or isinstance(guard.content, (Same, Shape)):
            return None
        return (*source, Words.IS_OBJECT, self._hold(guard.content), 0)

    def _leaf_record(self, source: tuple[int, int, int] | None,
                     spec: ArgSpec) -> tuple[int, ...] | None:
        if source is None:
            return None
        if spec.kind == "array":
            return (*source, Words.IS_ARRAY, self._hold(spec.dtype), spec.ndim)
        kinds = {"float": (Words.IS_FLOAT, float), "int": (Words.IS_INT, int)}
        if spec.kind == "scalar" and spec.dtype == np.float64:
            return (*source, Words.IS_FLOAT, id(np.float64), 0)
        if spec.kind not in kinds:
            return None
        kind, type_ = kinds[spec.kind]
        return (*source, kind, id(type_), 0)

    def _output_record(self, k: int, aval: Any) -> tuple[int, ...]:
        if aval.shape:
            return (0, 0, 0, Words.AS_ARRAY, self._hold(aval.dtype), len(aval.shape))
        kinds = {"f": Words.AS_FLOAT, "i": Words.AS_INT, "b": Words.AS_BOOL}
        if self.program.weak[k] and aval.dtype.kind in kinds:
            return (0, 0, 0, kinds[aval.dtype.kind], 0, 0)
        if aval.dtype == np.float64:
            return (0, 0, 0, Words.AS_FLOAT64, id(np.float64), 0)
        return (0, 0, 0, Words.AS_SCALAR, self._hold(aval.dtype), 0)


def _not_here(*args: Any) -> Any:
    """Say that a call is not for the entry that was asked."""
    return NotImplemented


def _is_same_kind(old: Any, new: Any) -> bool:
    """Whether captured state is still a float, or an array of the dtype and rank that it was."""
    if type(old) is not type(new):
        return False
    return not isinstance(old, np.ndarray) or (old.dtype == new.dtype and old.ndim == new.ndim)


def _grouping(program: Program) -> int | None:
    """Return how the fast entry puts the outputs together; None where it cannot."""
    s = program.structure
    if any(c is not None for c in program.constants):
        return None
    if s == LEAF:
        return Words.ONE
    if s.kind is tuple and s.parts and all(p == LEAF for p in s.parts):
        return Words.TUPLE
    if s.kind is tuple and len(s.parts) == 2:
        first, rest = s.parts
        if first == LEAF and rest.kind is tuple and all(p == LEAF for p in rest.parts):
            return Words.FIRST_AND_REST
    return None


def _overlap(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether arrays share memory, or may do so and it is too hard to say."""
    try:
        return np.may_share_memory(x, y) and np.shares_memory(
            x, y, max_work=10000)  # type: ignore[arg-type]  # any count is accepted
    except np.exceptions.TooHardError:
        return True


def _fits_interpreted(program: Program, values: Sequence[Any]) -> bool:
    """Whether shapes and size guards hold, where there is no compiled plan to ask."""
    env = bind_sizes(program.graph, values)
    env.update((v, x) for v, x in zip(program.graph.inputs, values, strict=True)
               if not v.aval.shape)
    relations = {"==": lambda n: n == 0, "!=": lambda n: n != 0, "<": lambda n: n < 0,
                 "<=": lambda n: n <= 0}

    def number(d: Any) -> int:
        return evaluate(d, lambda v: int(env[v]))

    shapes = all(number(d) == n for v, x in zip(program.graph.inputs, values, strict=True)
                 for d, n in zip(v.aval.shape, np.shape(x), strict=True))
    return shapes and all(relations[g.relation](number(g.dim)) is g.truth
                          for g in program.capture.size_guards) and all(
        number(a) == number(b) for a, b in program.capture.checks)
