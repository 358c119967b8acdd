"""A tape as a program: its recording captured again as one function, and its way back compiled.

Where a tape's structure repeats, as in training, the way back need not be carried out call by call:
the recorded calls are captured in order, as a function of their first operands, and the gradient
pass appends the backward part, as for `@tracejit.grad`. Of the forward part the tape has the values
already; the values that it kept are the inputs of the compiled program.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.inplace import refuse_halves
from tracejit.autodiff.reverse import ReverseSweep, reverse_block
from tracejit.autodiff.transforms import after_capture, assume_sizes, cut_block
from tracejit.configuration import settings
from tracejit.errors import CompileError, TracejitError
from tracejit.ir.core import Atom, Block, Graph, Site, Value, type_dims
from tracejit.ir.dims import Expr, bare_value, dim_values
from tracejit.ir.walk import all_eqns, block_uses, without_prints
from tracejit.program.memory import cleared_by
from tracejit.runtime.function import Function, make_function
from tracejit.runtime.graphs import with_names
from tracejit.runtime.program import Program
from tracejit.tape.asking import BackwardRequest
from tracejit.tape.notes import Record
from tracejit.tape.noting import Line, line_text
from tracejit.trace.attempt import Capture
from tracejit.trace.capture import capture_function
from tracejit.trace.ground.context import current
from tracejit.trace.ground.source import plain_source
from tracejit.trace.values.equations import apply
from tracejit.trace.values.specs import ArgSpec
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.options import Options
from tracejit.tree import LEAF, Structure, flatten

__all__ = ["recording_graph", "run_compiled"]

LOG = logging.getLogger("tracejit")

REPEATS = 3
"""How often a structure is met before its way back is compiled."""
LARGEST = 400
"""The most calls that are compiled together: beyond, compiling takes longer than it saves."""


class NotCompiled(Exception):
    """A recording that is carried out call by call, with the reason."""


# --- as a graph ---------------------------------------------------------------------------------


def capture_recording(request: BackwardRequest) -> tuple[Capture, dict[int, Atom]]:
    """Return the recorded calls as one capture, and the atom of each slot."""
    places = [slot for slot, _, _ in request.leaves]
    filled = [slot for _, outs in request.calls for slot in outs]

    def replay(*leaves: object) -> tuple[Any, ...]:
        found = {**request.literals, **dict(zip(places, leaves, strict=True))}
        builder = current().builder
        before = builder.find_site
        try:
            for record, (ins, outs) in zip(request.records, request.calls, strict=True):
                builder.find_site = functools.partial(_same, _site(record[3]))
                result = record[0].call(*[found[k] for k in ins])
                made = [x for x in flatten(result)[0] if isinstance(x, (Tracer, SymInt, np.ndarray,
                                                                        np.generic, float))]
                if len(made) != len(outs):
                    raise NotCompiled("a call has other results within a capture")
                found.update(zip(outs, made, strict=True))
        finally:
            builder.find_site = before
        return tuple(found[k] for k in filled)

    specs, actual = _leaf_arguments(request)
    structure = flatten((tuple(actual), {}))[1]
    c = capture_function(replay, specs, structure, actual, name="tape",
                         names=[request.names.get(slot, f"x{slot}") for slot in places])
    if any(x is not None for x in c.constants) or len(c.graph.outputs) != len(filled):
        raise NotCompiled("a call gives constants within a capture")
    if any(axis is None for _, axis in c.pins) or any(
            not v.is_size for g in c.size_guards for v in dim_values(g.dim)):
        raise NotCompiled("a number has to be known")
    stand: dict[int, Atom] = dict(zip(places, c.graph.inputs, strict=False))
    stand.update(zip(filled, c.graph.outputs, strict=True))
    return c, stand


def _leaf_arguments(request: BackwardRequest) -> tuple[list[ArgSpec], list[object]]:
    """Return types of the leaves, and values of these types: the known ones, or any."""
    specs: list[ArgSpec] = []
    actual: list[object] = []
    for slot, kind, shape in request.leaves:
        if isinstance(kind, np.dtype):
            specs.append(ArgSpec("array", kind, len(shape)) if shape else ArgSpec("scalar", kind))
        else:
            specs.append(ArgSpec(kind.__name__, np.dtype(kind)))
        known = request.numbers.get(slot, request.held.get(slot))
        actual.append(np.empty(shape, specs[-1].dtype)[()] if known is None else known)
    return specs, actual


def _same(site: Site | None) -> Site | None:
    return site


def _site(line: Line) -> Site | None:
    code, _ = line
    if code is None:
        return None
    return plain_source(code).site(int(line_text(line).rpartition(":")[2]))


def with_gradient(request: BackwardRequest, c: Capture, stand: dict[int, Atom]
                  ) -> tuple[Block, list[Value], list[bool], tuple[object, ...]]:
    """Return the captured calls with their way back: the cotangents of the sources that have one.

    Also the cotangents that are inputs, and which sources have one.
    """
    xs = [stand.get(k) for k in request.sources]
    cts = {k: Value(stand[slot].aval, f"ct{k}")
           for k, slot in enumerate(request.targets) if request.given[k] and slot >= 0}
    reached: list[bool] = []

    def start(sweep: ReverseSweep) -> list[Any]:
        for k, slot in enumerate(request.targets):
            y = stand.get(slot)
            if isinstance(y, Value):
                ct = sweep.operand(cts[k]) if k in cts else apply(
                    "full", y.aval.dtype.type(1), shape=y.aval.shape)
                sweep.add(y, ct)
        return [None] * len(c.graph.outputs)

    def finish(sweep: ReverseSweep) -> list[Atom]:
        reached.extend(isinstance(x, Value) and sweep.cts.get(x) is not None for x in xs)
        return [sweep.dense_of(x) for x, r in zip(xs, reached, strict=True)
                if r and x is not None]

    with after_capture(c.guards) as trace:
        assume_sizes(c.graph)
        forward = without_prints(c.graph.block)
        refuse_halves(v for e in all_eqns(forward) for v in e.outputs)
        block = reverse_block(forward, [x for x in xs if isinstance(x, Value)], start, finish,
                              extra_inputs=list(cts.values()))
    return block, list(cts.values()), reached, tuple(trace.notes)


def recording_graph(request: BackwardRequest) -> Graph:
    """Return the whole program of a recording: the calls and their way back."""
    c, stand = capture_recording(request)
    block, _, _, notes = with_gradient(request, c, stand)
    return Graph("gradient[tape]", c.graph.sizes, block, (*c.graph.notes, *notes))


# --- as a compiled program ----------------------------------------------------------------------


class Backward:
    """The compiled way back of all recordings that have one structure."""

    name = "gradient"

    def __init__(self, request: BackwardRequest) -> None:
        self.fn = _recorded
        self.places: tuple[list[int], list[int]] | None = None
        """The slots of the values that it reads, and of values that only give it sizes."""
        self.reached: list[bool] = []
        self.asked = threading.local()
        """The request that a thread runs, as `request`: threads share this program."""
        self.studied: Program | None = self._study(request)
        """The program for the first recording, until it is compiled."""
        self.compiled: Function = make_function(self)

    def _study(self, request: BackwardRequest) -> Program:
        """Return the program for the sizes of a recording."""
        c, stand = capture_recording(request)
        block, cts, reached, notes = with_gradient(request, c, stand)
        slot_of: dict[Value, int] = {}
        for slot, a in stand.items():
            if isinstance(a, Value):
                slot_of.setdefault(a, slot)
        for slot in request.held:
            a = stand[slot]
            if isinstance(a, Value):
                slot_of[a] = slot
        known = [a for a, slot in slot_of.items() if slot in request.held]
        block, read = cut_block(block, known)
        block = Block((), tuple(e for e in block.eqns if e.outputs), block.outputs)
        made = {v for e in all_eqns(block) for v in e.outputs}
        made |= {v for e in all_eqns(block) for r in e.regions for v in r.inputs}
        sizes = set(c.graph.sizes)
        missing = set(block_uses(block)) - made - sizes - set(read) - set(cts)
        if missing:
            raise NotCompiled("the way back reads what the tape did not keep")
        leaves = {slot for slot, _, _ in request.leaves}
        sizes &= _sizes_of(block, c, [*read, *cts])
        shaped = _carriers(sizes, [*read, *cts],
                           [v for v, slot in slot_of.items() if slot in leaves])
        places = ([slot_of[v] for v in read], [slot_of[v] for v in shaped])
        if self.places is not None and (places, reached) != (self.places, self.reached):
            raise NotCompiled("other sizes need other values")
        self.places, self.reached = places, reached
        inputs = (*read, *shaped, *cts)
        graph = with_names(Graph(
            "gradient[tape]", tuple(v for v in c.graph.sizes if v in sizes),
            Block(inputs, block.eqns, block.outputs), (*c.graph.notes, *notes)))
        count = len(block.outputs)
        result = Structure(tuple, None, (LEAF,) * count)
        return Program(graph.name, graph, c, tuple(range(len(inputs))), result, [None] * count,
                       [False] * count, [], Options())

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Return the program for the recording that is asked for."""
        program, self.studied = self.studied, None
        return program or self._study(self.asked.request)

    def run(self, request: BackwardRequest, cts: Sequence[object]) -> list[Any]:
        """Return the cotangent of each source, or None."""
        shapes = {slot: (kind, shape) for slot, kind, shape in request.leaves}
        assert self.places is not None
        reads, shaped = self.places
        values = [request.held[k] for k in reads]
        values += [np.empty(shapes[k][1], shapes[k][0]) for k in shaped]
        self.asked.request = request
        try:
            found = iter(self.compiled(*values, *cts))
        finally:
            del self.asked.request
        return [next(found) if r else None for r in self.reached]


def _recorded() -> None:
    """Stand for the calls of a tape, which are no function."""


def _sizes_of(block: Block, c: Capture, inputs: Sequence[Value]) -> set[Value]:
    """Return the sizes that a program or its conditions mention."""
    found = set(block_uses(block))
    for e in all_eqns(block):
        for v in e.outputs:
            found.update(w for d in type_dims(v.aval) for w in dim_values(d))
    for v in inputs:
        found.update(w for d in type_dims(v.aval) for w in dim_values(d))
    dims = [g.dim for g in c.size_guards] + [d for pair in c.checks for d in pair]
    found.update(w for d in dims if isinstance(d, Expr) for w in dim_values(d))
    return found


def _carriers(sizes: set[Value], inputs: Sequence[Value],
              others: Sequence[Value]) -> list[Value]:
    """Return values whose shapes tell the sizes that the inputs' shapes do not."""

    def told(v: Value) -> set[Value]:
        return {w for d in type_dims(v.aval) if (w := bare_value(d)) is not None}

    left = sizes - {w for v in inputs for w in told(v)}
    chosen = []
    for v in others:
        if left & told(v):
            chosen.append(v)
            left -= told(v)
    if left:
        raise NotCompiled("no shape tells a size that is needed")
    return chosen


# --- which program ------------------------------------------------------------------------------

_SEEN: dict[Any, int] = {}
_PROGRAMS: dict[Any, Any] = {}
"""The program of each structure, None where it is carried out call by call."""
_UNKNOWN = object()
_LIMIT = 256
cleared_by(_SEEN.clear)
cleared_by(_PROGRAMS.clear)


def run_compiled(records: Sequence[Record], make: Callable[[], BackwardRequest],
                 cts: Sequence[object]) -> list[Any] | None:
    """Return the cotangents of a recording by a compiled program; None where there is none.

    make -- gives the request, which only a structure that repeats needs
    cts  -- the cotangents that are given
    """
    if not records or len(records) > LARGEST or settings().changes_calls:
        return None
    outline = tuple([r[0].identity for r in records])
    seen = _SEEN[outline] = _SEEN.get(outline, 0) + 1
    if seen < REPEATS:
        if len(_SEEN) > _LIMIT:
            _SEEN.clear()
        return None
    if any(r[0].sized or (r[0].guards and not r[0].holds()) for r in records):
        return None
    request = make()
    key = request.key
    try:
        program = _PROGRAMS.get(key, _UNKNOWN)
        if program is _UNKNOWN:
            if len(_PROGRAMS) >= _LIMIT:
                _PROGRAMS.clear()
            program = _PROGRAMS[key] = Backward(request)
        return None if program is None else program.run(request, cts)
    except NotCompiled as e:
        LOG.debug("a tape is not compiled as a whole: %s", e)
    except CompileError as e:
        LOG.warning("a tape is carried out call by call: %s", e)
    except (TracejitError, LookupError, TypeError, ValueError) as e:
        LOG.debug("a tape is not compiled as a whole: %s", e)
    _PROGRAMS[key] = None
    return None
