"""One attempt of a capture: the function is run once on tracers, and leaves a `Capture`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import tracejit.trace.python.builtin_functions  # noqa: F401  (fills the table of builtins)
from tracejit.errors import Refusal
from tracejit.exact import copied
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value
from tracejit.ir.dims import Dim, dim_values
from tracejit.ir.notes import Noted
from tracejit.ir.sizes import settle_block
from tracejit.ir.types import Aval, scalar
from tracejit.ir.user_text import graph_name, value_name
from tracejit.ir.walk import Env, copy_dim
from tracejit.trace.containers.choices import the_one
from tracejit.trace.containers.heap import reached_from
from tracejit.trace.containers.places import MaybeUnset, Poison, map_content
from tracejit.trace.containers.references import Reference
from tracejit.trace.containers.runs import Run, Stored
from tracejit.trace.containers.stand_ins import StandInRefused
from tracejit.trace.ground.context import SizeGuard, Trace, active
from tracejit.trace.ground.facts import Fact
from tracejit.trace.ground.faults import as_in_python
from tracejit.trace.ground.findings import Findings, Pins
from tracejit.trace.ground.layouts import Input
from tracejit.trace.ground.memory import Memory
from tracejit.trace.ground.restarts import NeedStatic
from tracejit.trace.ground.source import describe_line, entrance, find_site, line_of_error
from tracejit.trace.ground.upward import ABOVE

# (importing these fills `upward.ABOVE`)
from tracejit.trace.hooks import hooks  # noqa: F401
from tracejit.trace.hooks.recursion_hooks import TOO_DEEP, TooDeep
from tracejit.trace.lists import data_lists, list_runs  # noqa: F401
from tracejit.trace.lists.rows import Rows
from tracejit.trace.python import list_making, ufunc_calls  # noqa: F401
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.recursions import need_stack
from tracejit.trace.regions.choosing import in_one_dtype
from tracejit.trace.regions.draws import refuse_draws_drawn_again
from tracejit.trace.regions.raising import BranchRaised
from tracejit.trace.state.captured import Captures
from tracejit.trace.state.ends import require_ended
from tracejit.trace.state.guards import Guarded
from tracejit.trace.state.paths import Holder, Leaf, Path
from tracejit.trace.state.results import CannotBeNew
from tracejit.trace.values import identities, python_numbers, states  # noqa: F401
from tracejit.trace.values.equations import atom_of, cast, dtype_of, is_weak
from tracejit.trace.values.leaks import refuse_leaks
from tracejit.trace.values.mixed import returned
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.specs import ArgSpec, parameter_names, spec_of_leaf
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.text import settle
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of
from tracejit.tree import (
    Spread,
    SpreadRows,
    Structure,
    are_in,
    containers_in,
    flatten,
    is_opened,
    leaf_names,
    unflatten,
)

__all__ = ["CaptureAttempt", "Capture", "Pins", "Returned"]


SIZE_NAMES = "nmklpqrst"


MANY_GUARDS = 1000
"""Above so many guards and captured inputs, `.why()` says so."""


OF_OPENED = "writing to an array of an object that a gradient is by"


Returned = tuple[int, bool, int]
"""A leaf of the result, and which argument's leaf or earlier leaf of the result it is."""


@dataclass(slots=True)
class Capture:
    """The result of a capture.

    arg_leaves -- for each traced leaf of the arguments, its number among the leaves
    leaves     -- captured state that follows them among the graph's inputs
    constants  -- the result's leaves: None where an output of the graph, else the object, and how
                  a call comes by it: None for itself, a path to read, or a `New`
    weak       -- for each output of the graph, whether it stands for a Python number
    recorded   -- paths to the variables and tape values that it reads
    assigned   -- paths to the variables that it assigns to, with the number of the output
    written    -- leaves of the arguments that the function writes to, with the number of the output
    pins       -- sizes and ints that were fixed, with their numbers
    facts      -- the facts about the memory of the graph's inputs
    returned   -- leaves of the result that are arguments, or earlier leaves, as objects
    united     -- inputs that are one array with an earlier one, which stands for both
    unseen     -- the names of calls and reads that no guard sees
    zero_d     -- the numbers of the outputs that are arrays without axes, and no numbers
    """

    graph: Graph
    arg_leaves: tuple[int, ...]
    leaves: list[Leaf]
    guards: list[Guarded]
    size_guards: list[SizeGuard]
    checks: list[tuple[Dim, Dim]]
    structure: Structure
    constants: list[tuple[Any, ...] | None]
    weak: list[bool]
    written: list[tuple[int, int]] = field(default_factory=list)
    pins: Pins = field(default_factory=dict)
    recorded: list[Path] = field(default_factory=list)
    assigned: list[tuple[Path, int]] = field(default_factory=list)
    facts: tuple[Fact, ...] = ()
    united: dict[int, int] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    returned: tuple[Returned, ...] = ()
    zero_d: tuple[int, ...] = ()

    def for_graph(self, graph: Graph) -> Capture:
        """Return the capture with its guards and checks of sizes on a copy of its graph."""
        env: Env = dict(zip(self.graph.inputs, graph.inputs, strict=False))
        guards = [replace(g, dim=copy_dim(g.dim, env)) for g in self.size_guards]
        checks = [(copy_dim(a, env), copy_dim(b, env)) for a, b in self.checks]
        return replace(self, size_guards=guards, checks=checks)


class CaptureAttempt:
    """One run of the function on tracers."""

    def __init__(self, fn: Callable[..., Any], specs: Sequence[ArgSpec], structure: Structure,
                 actual: Sequence[Any] | None, found: Findings, name: str | None,
                 writes_back: bool, assigns: bool, names: Sequence[str] | None) -> None:
        self.fn, self.specs, self.structure, self.actual = fn, specs, structure, actual
        self.found, self.writes_back, self.assigns = found, writes_back, assigns
        self.name = graph_name(name or getattr(fn, "__name__", "f"))
        self.names = names
        self.trace = Trace()
        found.tell(self.trace)
        self.trace.memory = self.memory = Memory(found.united, writes_back)
        self.trace.captured = Captures(self._captured_input)
        self.sizes: list[Value] = []
        self.unnamed: set[Value] = set()
        self.origin: dict[Value, tuple[Any, Any]] = {}
        self.named: dict[str, Value] = {}
        self.inputs: list[Value] = []
        self.has_generators = False
        self.captured_inputs: list[Value] = []

    @entrance
    def run(self) -> Capture:
        """Run the function and close the graph."""
        trace = self.trace
        with active(trace):
            fn = trace.captured.static(self.fn)
            tracers = self._argument_tracers()
            args, kwargs = unflatten(self.structure, iter(tracers))
            given = containers_in((args, kwargs), self.structure)
            numbers = self.structure.repeats or range(len(given))
            trace.captured.given = {id(x): (x, k) for x, k in zip(given, numbers, strict=True)}
            if self.writes_back:
                trace.captured.passed = {id(x): (x, False) for x in given if x is not kwargs}
            trace.captured.passed |= {id(x): (x, True) for x in containers_in(
                (args, kwargs), self.structure, is_opened)}
            try:
                leaves, structure = self._results(fn, args, kwargs)
            finally:  # also where the capture begins again, and would read the new state
                trace.captured.refuse_changed(self.fn)
            require_ended()
            outputs, constants, weak = self._outputs(leaves)
            self._settle_memory(outputs)
            written = self._written(tracers, outputs, weak) if self.writes_back else []
            assigned = self._assigned(outputs, weak)
            capture = self._close(structure, outputs, constants, weak, written, assigned)
            return replace(capture, facts=tuple(self.memory.facts), united=self.memory.united,
                           unseen=tuple(trace.unseen), zero_d=_zero_d(leaves),
                           returned=_returned(leaves, tracers) if self.writes_back else ())

    def _results(self, fn: Callable[..., object], args: tuple[object, ...],
                 kwargs: dict[str, object]) -> tuple[list[Any], Structure]:
        """Return the leaves of the function's result, and their structure."""
        trace = self.trace
        try:
            result = the_one(in_one_dtype(call_function(fn, args, kwargs)),
                             "is returned: what is returned must be of one kind",
                             line_of_error(Refusal(), self.fn))
            leaves, structure = flatten(_spread(result) if self.writes_back else result)
            settle(leaves)
            leaves = [returned(x, of_any_kind=not self.writes_back) for x in leaves]
            if trace.refused is not None:
                raise trace.refused
        except NeedStatic as need:
            if need.value not in self.origin:
                raise Refusal(f"{describe_line(need.site)}: {need.why} needs a number that "
                              "only the run gives. Use a size or a Python int "
                              "argument", "TJ111") from None
            need.pin = (self.origin[need.value], trace.actual[need.value])
            need.siblings = self._siblings(*need.pin[0])
            raise
        except BranchRaised:  # each branch raises: the result of the call never matters
            leaves, structure = flatten(None if self.writes_back else 0.0)
            leaves = [returned(x, of_any_kind=True) for x in leaves]
        except TooDeep:
            raise RecursionError(TOO_DEEP) from None
        except RecursionError as e:
            if trace.deep is not None and trace.deep not in trace.functions_as_loops:
                need_stack(trace.deep)
            raise Refusal(f"{line_of_error(e, self.fn)}: a recursion that ends on data, or "
                          "never, cannot be captured. Write a loop, or let it end on a "
                          "size", "TJ108") from None
        except Exception as error:
            known = as_in_python(error)
            if not isinstance(known, Refusal):
                known.add_note(f"while tracejit captured {line_of_error(known, self.fn)}")
            if known is not error:
                raise known from None
            raise
        return leaves, structure

    # --- inputs ---------------------------------------------------------------------------------

    def _argument_tracers(self) -> list[Any]:
        names = self.names or self._leaf_names()
        in_opened = are_in(self.structure, is_opened)
        tracers = []
        for k, (spec, name) in enumerate(zip(self.specs, names, strict=True)):
            content = None if self.actual is None else self.actual[k]
            if spec.is_traced:
                tracers.append(self._input(spec, content, ("arg", k), name, self.inputs))
                self._enter_memory(tracers, spec, content, name)
                if in_opened[k] and spec.kind == "array":
                    tracers[-1].cell.constant = OF_OPENED
            else:
                tracers.append(self.trace.captured.static(copied(spec.content), name))
        return tracers

    def _enter_memory(self, tracers: list[Any], spec: ArgSpec, content: Any, name: str) -> None:
        """Note where the argument that is the last of some lies in memory, if it is an array."""
        if spec.kind != "array":
            return
        number = len(self.inputs) - 1
        tracer = tracers[-1]
        first = self.memory.united.get(number)
        if first is not None:  # one array, which is written to: both names see that
            tracer = tracers[-1] = Tracer(self.memory.inputs[first].cell)
        tracer.cell.is_array = True
        self._enter_input(number, content, f"argument {name!r}", tracer, True)

    def _enter_input(self, number: int, content: Any, name: str, tracer: Any,
                     is_argument: bool) -> None:
        value = tracer.cell.first
        rule = Input(number)
        if tracer.cell.layout is None:
            tracer.cell.layout = rule
            self.memory.values[value] = rule
        self.memory.enter(number, content, name, tracer, is_argument)

    def _leaf_names(self) -> list[str]:
        """Name inputs after the function's parameters."""
        args, kwargs = self.structure.parts
        params = parameter_names(self.fn)
        names: list[str] = []
        for k, part in enumerate(args.parts):
            names += leaf_names(part, params[k] if k < len(params) else f"arg{k}")
        for key, part in zip(kwargs.aux, kwargs.parts, strict=True):
            names += leaf_names(part, key)
        return names

    def _siblings(self, key: Any, axis: Any) -> list[tuple[Any, int]]:
        """Return the ints of a list or tuple that an int argument is in, with their numbers."""
        if axis is not None or key[0] != "arg":
            return []
        names = self.names or self._leaf_names()
        of_list = re.fullmatch(r"(.*\[)\d+\]", names[key[1]])
        if of_list is None:
            return []
        beside = re.compile(re.escape(of_list[1]) + r"\d+\]")
        return [((("arg", k), None), int(self.actual[k])) for k, name in enumerate(names)
                if self.actual is not None and self.specs[k].kind == "int"
                and beside.fullmatch(name)]

    def _input(self, spec: ArgSpec, content: Any, key: object, name: str,
               inputs: list[Value]) -> Any:
        """Make an input of the graph; return its tracer, generator or fixed number."""
        name = value_name(name)
        assert spec.dtype is not None
        if spec.kind != "array":
            v = Value(scalar(spec.dtype), name)
            inputs.append(v)
            if spec.kind == "generator":
                self.has_generators = True
                return ABOVE.TracedGenerator(v)
            if spec.kind == "int":
                self.origin[v] = (key, None)
                if content is not None:
                    self.trace.actual[v] = int(content)
                if (key, None) in self.found.pins:
                    number, why = self.found.pins[key, None]
                    self.trace.guards.append(SizeGuard(v.dim - number, "==", True, why))
                    return number
            return scalar_of(v, weak=spec.kind != "scalar")
        shape: list[Dim] = []
        for axis in range(spec.ndim):
            given = None if spec.sizes is None else spec.sizes[axis]
            shape.append(self._size(given, content, key, axis))
        v = Value(Aval(spec.dtype, tuple(shape)), name)
        inputs.append(v)
        return tracer_of(v)

    def _size(self, given: object, content: Any, key: object, axis: int) -> Dim:
        if isinstance(given, int):
            return given
        if (key, axis) in self.found.pins:
            return self.found.pins[key, axis][0]
        if isinstance(given, str) and given in self.named:
            return self.named[given].dim
        label = given if isinstance(given, str) else self._size_name()
        v = Value(scalar(np.int64), label, is_size=True)
        self.named[label] = v
        if not isinstance(given, str):
            self.unnamed.add(v)
        self.sizes.append(v)
        self.origin[v] = (key, axis)
        least, why = self.found.leasts.get((key, axis), (0, ""))
        self.trace.builder.assume(v, least, None)
        if least:
            self.trace.guards.append(SizeGuard(least - v.dim, "<=", True, why))
        if content is not None:
            self.trace.actual[v] = content.shape[axis]
        return v.dim

    def _named_in_order(self, block: Block, sizes: list[Value]) -> tuple[Value, ...]:
        """Return the sizes in the order in which they are met; name the sizes without a name so."""
        met = dict.fromkeys(v for x in block.inputs for d in x.aval.shape for v in dim_values(d))
        order = [v for v in met if v in sizes] + [v for v in sizes if v not in met]
        self.named = {name: v for name, v in self.named.items() if v not in self.unnamed}
        for v in order:
            if v in self.unnamed:
                v.name = self._size_name()
                self.named[v.name] = v
        return tuple(order)

    def _size_name(self) -> str:
        for k in range(1000):
            round_number, letter = divmod(k, len(SIZE_NAMES))
            name = SIZE_NAMES[letter] + (str(round_number) if round_number else "")
            if name not in self.named:
                return name
        raise AssertionError

    def _captured_input(self, content: Any, path: Path, name: str) -> tuple[Value, Tracer]:
        try:
            spec = spec_of_leaf(content, repr(str(path)))
        except Refusal as e:
            raise Refusal.restating(e, f"{describe_line(find_site())}: ") from None
        if isinstance(path.root, Holder) and path.root.content is content and spec.ndim:
            # it is this array forever: sizes of 1 are known
            spec = replace(spec, sizes=tuple(1 if d == 1 else None for d in content.shape))
        tracer = self._input(spec, content, ("captured", path.key), name, self.captured_inputs)
        if spec.kind == "array":
            number = sum(s.is_traced for s in self.specs) + len(self.captured_inputs) - 1
            self._enter_input(number, content, f"the array {str(path)!r}", tracer, False)
        return self.captured_inputs[-1], tracer

    # --- outputs --------------------------------------------------------------------------------

    def _outputs(self, leaves: list[Any]) -> tuple[list[Atom], list[Any], list[bool]]:
        outputs: list[Atom] = []
        constants: list[tuple[Any, ...] | None] = []
        weak: list[bool] = []
        for x in leaves:
            if isinstance(x, (MaybeUnset, Poison)):
                x = x.read()
            if hasattr(type(x), "as_result"):
                x = x.as_result()
            if isinstance(x, (Tracer, SymInt)):
                outputs.append(atom_of(x))
                weak.append(is_weak(x))
                constants.append(None)
            elif isinstance(x, (float, complex, np.ndarray, np.generic)):
                t = x if isinstance(x, np.ndarray) else np.asarray(x)
                outputs.append(atom_of(cast(t, dtype_of(t))))
                weak.append(isinstance(x, (float, complex)) and not isinstance(x, np.generic))
                constants.append(None)
            else:
                constants.append(self._constant(x))
        return outputs, constants, weak

    def _constant(self, x: object) -> tuple[Any, ...]:
        """Return an object that is a part of the result, and how a call comes by it."""
        if self.has_generators and any(
                hasattr(type(y), "stands_for") for y in (x, *reached_from([x]))):
            raise StandInRefused(f"{line_of_error(Refusal(), self.fn)}: a numpy.random.Generator "
                                 "cannot be returned. The caller has it, and it is left as the "
                                 "function leaves it", "TJ121")
        where = line_of_error(Refusal(), self.fn)
        try:
            found: tuple[Any, ...] = self.trace.captured.as_result(x)
            unlike = None
        except CannotBeNew as e:
            found, unlike = (x, None), e
        if not isinstance(found[1], Path) and any(
                isinstance(y, (TracedOperand, Run)) for y in reached_from([x])):
            kind = type(x).__name__
            raise Refusal(f"{where}: a {kind} that holds what only the run knows cannot be "
                          "returned. Return the numbers and arrays themselves, or lists, tuples "
                          "and dicts of them", "TJ121")
        if unlike is not None:
            raise Refusal("{}: {}. {}".format(where, *unlike.args), "TJ121")
        return found

    def _written(self, tracers: list[Any], outputs: list[Atom],
                 weak: list[bool]) -> list[tuple[int, int]]:
        """Make the arrays that were written to results, for the caller's arrays to be updated."""
        written = []
        inputs = iter(self.inputs)
        for k, (spec, t) in enumerate(zip(self.specs, tracers, strict=True)):
            v = next(inputs) if spec.is_traced else None
            if v is not None and spec.kind == "array" and t.cell.first is v and t.cell.is_changed:
                written.append((k, len(outputs)))
                outputs.append(t.cell.value)
                weak.append(False)
        return written

    def _settle_memory(self, outputs: list[Atom]) -> None:
        """Note the facts of its inputs' memory on which the program rests, or refuse it."""
        for base, result, inputs in self.trace.laid_out:
            if base.is_changed or result.is_changed or self.memory.may_be_written(base, result):
                self.memory.rest_on_layouts(inputs)
        used = _read_values(self.trace.builder.scope.eqns, outputs)
        # under a transform: a derivative by an argument is one by its memory
        told = set() if self.writes_back else set(self.inputs)
        self.memory.settle_writes({k for k, v in enumerate((*self.inputs, *self.captured_inputs))
                                   if v in used or v in told})
        for why in filter(None, self.memory.facts.values()):
            self.trace.note(why, "TJ710")

    def _assigned(self, outputs: list[Atom], weak: list[bool]) -> list[tuple[Path, int]]:
        """Make the variables that were assigned to results."""
        assigned = []
        for path, value in self.trace.captured.assigned():
            if not self.assigns:
                raise Refusal(f"{path} is a variable that {self.name} assigns to, which is for "
                              "jit, grad and value_and_grad alone. Return the new value instead",
                              "TJ507")
            assigned.append((path, len(outputs)))
            outputs.append(value)
            weak.append(False)
        return assigned

    def _close(self, structure: Structure, outputs: list[Atom], constants: list[Any],
               weak: list[bool], written: list[tuple[int, int]],
               assigned: list[tuple[Path, int]]) -> Capture:
        trace = self.trace
        block = Block((*self.inputs, *self.captured_inputs), tuple(trace.builder.scope.eqns),
                      tuple(outputs))
        settle_block(block, trace.builder.equal)
        sizes = self._named_in_order(block, [v for v in self.sizes
                                             if v not in trace.builder.equal])
        fixed = {reason: Noted(f"{reason}: fixed at {n}", "TJ714")
                 for n, reason in self.found.pins.values()}
        decided = {g.reason: Noted(f"{g.reason}: there is one program per outcome", "TJ713")
                   for g in trace.guards}
        notes = {**decided, **fixed}.values()
        many = len(trace.captured.guards) + len(trace.captured.leaves)
        if many > MANY_GUARDS:
            trace.note(f"{many} things from outside are looked at by every call: each int, string "
                       "and structure of a container, each number in it. Pass arrays instead",
                       "TJ711")
        graph = Graph(self.name, sizes, block, (*trace.notes, *notes))
        refuse_leaks(block, sizes, line_of_error(Refusal(), self.fn))
        if self.has_generators:
            refuse_draws_drawn_again(block)
        guards = [replace(g, dim=trace.canonical(g.dim)) for g in trace.guards]
        checks = [(trace.canonical(a), trace.canonical(b)) for a, b, _ in trace.checks]
        traced = tuple(k for k, s in enumerate(self.specs) if s.is_traced)
        captured = trace.captured
        return Capture(graph, traced, captured.leaves, captured.guards, guards, checks, structure,
                       constants, weak, written, dict(self.found.pins),
                       [p for _, _, p, v in captured.recorded.values() if v is not None],
                       assigned)


def _zero_d(leaves: Sequence[object]) -> tuple[int, ...]:
    """Return which of the outputs are arrays without axes; constants are no outputs."""
    outputs = [x for x in leaves if isinstance(x, (Tracer, SymInt, float, complex, np.ndarray,
                                                   np.generic))]
    return tuple([k for k, x in enumerate(outputs) if not np.ndim(x) and (
        isinstance(x, np.ndarray) or (isinstance(x, Tracer) and x.is_array))])


def _spread(x: Any) -> Any:
    """Return a result in which the runs of lists are arrays that the caller spreads out."""
    if isinstance(x, Stored):
        return Spread(x.data, x.nest, x.weak)
    if isinstance(x, Rows):
        for y in (x.template, *(x.template if isinstance(x.template, tuple) else ())):
            if isinstance(y, Reference):
                y.as_result()
        arrays = iter([c.data for c in x.columns])
        return SpreadRows(map_content(lambda _: next(arrays), x.template),
                          tuple([int(c.weak) for c in x.columns]))
    if isinstance(x, Run):
        return Spread(x.array(), 0, False)
    if type(x) in (list, tuple):
        return type(x)(map(_spread, x))
    if type(x) is dict:
        return {k: _spread(y) for k, y in x.items()}
    return x


def _returned(leaves: Sequence[object], arguments: Sequence[object]) -> tuple[Returned, ...]:
    """Return which leaves of a result are arrays that were arguments, or are there already."""
    found: list[Returned] = []
    numbers = {id(x): (True, k) for k, x in enumerate(arguments) if isinstance(x, Tracer)}
    for k, x in enumerate(leaves):
        if isinstance(x, Tracer) and x.is_array:
            if id(x) in numbers:
                found.append((k, *numbers[id(x)]))
            numbers.setdefault(id(x), (False, k))
    return tuple(found)


def _read_values(eqns: Iterable[Eqn], outputs: Iterable[Atom]) -> set[Any]:
    """Return the values that equations, their regions and the result read."""
    found: set[Any] = set(outputs)
    for eqn in eqns:
        found.update(eqn.uses())
        for region in eqn.regions:
            found |= _read_values(region.eqns, region.outputs)
    return found
