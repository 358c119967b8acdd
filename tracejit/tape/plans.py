"""How calls are differentiated: one plan per kind of call, captured once and used ever after.

A plan comes from the same capture, registry and gradient pass as `@tracejit.grad`: the call is
captured as a graph, and the reverse sweep over that graph gives the graph of a tape's way back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracejit.autodiff.activity import find_active
from tracejit.autodiff.transforms import adjoint_graph
from tracejit.configuration import settings
from tracejit.errors import TracejitError
from tracejit.ir.core import Graph, Op, Value
from tracejit.ir.dims import Expr, bare_value, dim_values, evaluate
from tracejit.ir.interpreter import prepare
from tracejit.ir.types import is_differentiable
from tracejit.ops.calls import inline_graph
from tracejit.program.memory import cleared_by
from tracejit.runtime.function import Function, WithStates, make_function
from tracejit.runtime.graphs import NativeKernel
from tracejit.tape.calls import (
    OPERATORS,
    SLOT,
    Inlined,
    ReadingCall,
    describe,
    fill,
    invoke,
    template_of,
)
from tracejit.tape.native import NativePullback
from tracejit.tape.values import Operand
from tracejit.trace.attempt import Capture
from tracejit.trace.capture import capture_function
from tracejit.trace.ground.context import current, is_tracing, refuse_outside
from tracejit.trace.state.guards import Guarded
from tracejit.trace.state.paths import READING_FAILS, Leaf, Path
from tracejit.trace.values.specs import ArgSpec, spec_of_leaf
from tracejit.transforms.nested import tracer_of_atom
from tracejit.tree import flatten

__all__ = ["Adjoint", "CallRecipe", "forget", "plan_of"]


class Pattern:
    """A kind of call apart from its sizes: its graph, and the graphs of its ways back."""

    capture: Capture
    wrt: tuple[int, ...]
    name: str

    def __init__(self, capture: Capture, wrt: tuple[int, ...], name: str) -> None:
        self.capture, self.wrt, self.name = capture, wrt, name
        self.ways_back: dict[tuple[int, ...], Any] = {}
        self.shared = False
        """Whether it holds for all sizes."""
        self.spent: dict[tuple[int, ...], float] = {}
        """About how many seconds its ways back have taken so far."""
        self.kernels: dict[tuple[int, ...], Any] = {}

    def way_back(self, given: tuple[int, ...]) -> tuple[Graph, list[Value], tuple[int, ...]]:
        """Return the graph from residuals and cotangents to cotangents; see `adjoint_graph`."""
        if given not in self.ways_back:
            self.ways_back[given] = adjoint_graph(
                self.capture.graph, self.wrt, given, f"adjoint[{self.name}]", self.capture.guards)
        found: tuple[Graph, list[Value], tuple[int, ...]] = self.ways_back[given]
        return found

    def compiled(self, given: tuple[int, ...]) -> Any:
        """Return a way back in machine code, for all sizes; None where shapes do not tell them."""
        if given not in self.kernels:
            graph = self.way_back(given)[0]
            told = {bare_value(d) for x in graph.inputs for d in x.aval.shape}
            used = {v for eqn in graph.eqns for v in eqn.uses() if v.is_size}
            sizes = tuple(v for v in graph.sizes if v in told)
            program = replace(graph, sizes=sizes)
            self.kernels[given] = make_function(NativeKernel(program)) if used <= told else None
        return self.kernels[given]


COMPILING = 0.15
"""About how many seconds it takes to compile the way back of one call."""

LARGE = 10_000
"""From how many elements on that is faster than NumPy, operation by operation."""


def _largest(graph: Graph, sizes: dict[Value, int]) -> int:
    """Return the number of elements of the largest result; 0 if not all ops are elementwise."""
    if not graph.eqns or any(eqn.op.kind != "elementwise" for eqn in graph.eqns):
        return 0
    shapes = [eqn.output.aval.shape for eqn in graph.eqns]
    if any(v not in sizes for shape in shapes for d in shape if isinstance(d, Expr)
           for v in dim_values(d)):
        return 0  # data decides
    return max(math.prod(evaluate(d, sizes.__getitem__) for d in shape) for shape in shapes)


class Adjoint(Inlined):
    """The way back of a call: from residuals of the call and cotangents to cotangents.

    reads   -- the numbers of the residuals: operands first, then results
    reaches -- the numbers of the operands whose cotangents it gives
    run     -- computes it on NumPy values
    """

    reads: tuple[int, ...]
    pattern: Pattern
    given: tuple[int, ...]
    __name__: str
    price: float

    def __init__(self, pattern: Pattern, given: tuple[int, ...], sizes: dict[Value, int]) -> None:
        forward = pattern.capture.graph
        self.graph, read, self.reaches = pattern.way_back(given)
        self.sizes = sizes
        places: dict[Any, int] = {}
        for k, a in enumerate((*forward.inputs, *forward.outputs)):
            places.setdefault(a, k)
        self.reads = tuple([places[v] for v in read])
        self.pattern, self.given = pattern, given
        self.prepared: Callable[..., tuple[Any, ...]] = prepare(self.graph, sizes)
        self.run = self.prepared
        self.__name__ = self.graph.name
        elements = _largest(self.graph, sizes)
        if pattern.shared and len(self.graph.eqns) > 1 and elements >= LARGE:
            self.price = len(self.graph.eqns) * 6e-10 * elements
            self.run = self._counted

    def _counted(self, *args: object) -> tuple[Any, ...]:
        """Compute on NumPy values; compile once that has taken as long as compiling takes."""
        spent = self.pattern.spent[self.given] = self.pattern.spent.get(
            self.given, 0.0) + self.price
        if spent < COMPILING or settings().changes_calls:
            return self.prepared(*args)
        self.run = self.pattern.compiled(self.given) or self.prepared
        return self.run(*args)

    def __call__(self, *args: object) -> tuple[Any, ...]:
        """Compute on NumPy values; within a capture, add the equations."""
        if not is_tracing():
            return self.run(*args)
        return tuple([tracer_of_atom(a, False)
                      for a in inline_graph(self.graph, args, self.sizes)])


class CallRecipe:
    """The knowledge of a tape about one kind of call.

    arity     -- how many operands it has
    types     -- dtype (or Python type) and shape of each operand
    identity  -- the key that plans share which differ in sizes alone
    wrt       -- the operands that the tape follows and whose dtype is differentiable
    reads     -- the residuals of the way back: numbers of operands, then of results
    connected -- whether the results depend on any of `wrt`, as far as gradients go
    refusal   -- why there is no way back; asking for it raises `error`
    sized     -- whether numbers among the operands decide on the sizes of results
    """

    function: Any
    template: Any
    wrt: tuple[int, ...]
    arity: int
    sized: bool
    connected: bool
    native: bool

    states: tuple[Path, ...] = ()
    """Paths to the state that the call reads: it is not to be recorded without that."""
    leaves: Sequence[Leaf] = ()
    """The numbers and arrays among these, which have to be of the kinds that they were."""
    guards: Sequence[Guarded] = ()
    """The state that it reads besides, which has to be as it was."""
    numbers: tuple[Any, ...] | None = None
    """The numbers among the operands, where one of them decides the operations of the call."""

    def __init__(self, function: object, template: object, operands: Sequence[Any],
                 wrt: tuple[int, ...], key: object, refusal: str | None = None) -> None:
        self.function, self.template, self.wrt = function, template, wrt
        self.arity = len(operands)
        op = getattr(function, "op", None)  # an op type of the user's
        self.name: str = op.name if isinstance(op, Op) else getattr(
            function, "__name__", type(function).__name__)
        self.refusal = refusal
        self.sized = _has_slot_in_slice(template)
        self.error: type[Exception] = LookupError
        self.pattern: Pattern | None = None
        self.sizes: dict[Value, int] = {}
        self.adjoints: dict[tuple[int, ...], Any] = {}
        self.reads: tuple[int, ...] = ()
        self.only: Any = None
        self.connected = refusal is not None
        self.key = key
        self.native = isinstance(_of_user(function), Function)
        self.identity: Any = self
        data = [x._data if isinstance(x, Operand) else x for x in operands]
        self.types = [(x.dtype, np.shape(x)) if hasattr(x, "dtype") else (type(x), ())
                      for x in data]
        if refusal is not None:
            return
        if self.native:
            self._study(data)
            return
        try:
            self._find_pattern(data, _pattern_key(key, {}))
        except (TracejitError, LookupError, TypeError, ValueError, NotImplementedError) as e:
            self.refusal = re.sub(r"^\S+:\d+: ", "", str(e))
            self.connected = True
            users = getattr(function, "__module__", None) not in (None, "numpy", "_operator")
            if users and isinstance(e, (TypeError, ValueError)) and not isinstance(
                    e, TracejitError):
                self.error = type(e)

    def _study(self, data: Sequence[object]) -> None:
        """Learn on which operands each result of a compiled function depends."""
        structure = flatten((tuple(data), {}))[1]
        specs = [spec_of_leaf(x) for x in data]
        c = capture_function(self.call, specs, structure, data, name=self.name, writes_back=True)
        if c.written:
            raise TypeError(f"{self.name} writes to its arguments, and tape values cannot be "
                            "written to. Let it work on a copy: x = x.copy()")
        if self._reads_state(c, data):
            return
        self.reads = tuple(range(self.arity))
        outputs = [a for a in c.graph.outputs if isinstance(a, Value)]
        reaches = []
        for k in self.wrt:
            active = {c.graph.inputs[k]}
            find_active(c.graph.eqns, active)
            if any(a in active for a in outputs):
                reaches.append(k)
        self.wrt = tuple(reaches)
        self.connected = bool(reaches)

    def _find_pattern(self, data: Sequence[Any], key: object) -> None:
        found = _PATTERNS.get(key)
        if found is not None and all(guard.holds() for guard in found.capture.guards):
            self.guards = found.capture.guards
        else:
            specs = _specs_of(data)
            structure = flatten((tuple(data), {}))[1]
            c = capture_function(self.call, specs, structure, data, name=self.name,
                                 assigns=True)
            shared = not (c.pins or c.size_guards or c.checks or c.leaves)
            if not shared:  # it is for these sizes alone
                specs = [ArgSpec(s.kind, s.dtype, s.ndim, sizes=x.shape) if s.kind == "array" else s
                         for s, x in zip(specs, data, strict=True)]
                c = capture_function(self.call, specs, structure, data, name=self.name,
                                     assigns=True)
            if self._reads_state(c, data):
                return
            if c.leaves:  # state that is no operand, a generator say, is read at every call
                self.native = True
                self._study(data)
                return
            found = Pattern(c, self.wrt, self.name)
            found.shared = shared
            if shared:
                _PATTERNS[key] = found
        self.pattern = found
        if found.shared:
            self.identity = found
        graph = found.capture.graph
        for v, x in zip(graph.inputs, data, strict=False):
            for d, n in zip(v.aval.shape, np.shape(x), strict=True):
                if isinstance(d, Expr):
                    self.sizes[next(iter(dim_values(d)))] = n
        floats = tuple(k for k, a in enumerate(graph.outputs) if is_differentiable(a.aval.dtype))
        if floats and self.wrt:
            adjoint = self.adjoint(floats)
            self.connected = bool(adjoint.reaches)
            self.reads = adjoint.reads if self.connected else ()

    def _reads_state(self, c: Capture, data: Sequence[Any]) -> bool:
        """Note the state that a capture read besides operands; return whether some is to be one."""
        if not isinstance(self.function, ReadingCall):
            inner = {path.step("attr", "_data").key for path in c.recorded}
            self.leaves = [leaf for leaf in c.leaves if _is_operand(leaf.content)
                           and leaf.path.key not in inner]
            self.states = (*c.recorded, *[leaf.path for leaf in self.leaves])
        self.guards = c.guards
        if c.size_guards or c.pins:
            self.numbers = _numbers_in(data)
        return bool(self.states)

    def holds_for(self, operands: Sequence[Any]) -> bool:
        """Return whether the call still does as it did, but for the values of operands."""
        return self.holds() and (self.numbers is None or self.numbers == _numbers_in(operands))

    def holds(self) -> bool:
        """Return whether the state on which it rests is as it was, but for numbers in operands."""
        return all(guard.holds() for guard in self.guards) and all(map(_is_there, self.leaves))

    def require_state(self) -> None:
        """Refuse to go back where other state than operands decides now how the call goes."""
        changed = next((why for guard in self.guards if (why := guard.why_not())), None)
        if changed is not None:
            raise refuse_outside(f"the gradient of {self.name}, which reads what has changed since "
                                 f"the tape recorded the call: {changed}",
                                 "Ask for the gradient before the change", "TJ508")

    def call(self, *operands: object) -> Any:
        """Make the call within a capture."""
        if isinstance(self.function, ReadingCall):
            self.function.expect(operands[len(operands) - len(self.function.paths):])
        args, kwargs = fill(self.template, iter(operands))
        current().captured.static(_of_user(self.function))
        return invoke(self.function, args, kwargs)

    def adjoint(self, given: tuple[int, ...]) -> Any:
        """Return the way back for cotangents of these results."""
        found = self.adjoints.get(given)
        if found is None:
            if self.native:
                found = NativePullback(self, given)
            else:
                assert self.pattern is not None
                found = Adjoint(self.pattern, given, self.sizes)
            self.adjoints[given] = found
            if given == (0,):
                self.only = found
        return found


def _of_user(function: Any) -> Any:
    """Return the function of a call without the state that it reads."""
    while isinstance(function, (ReadingCall, WithStates)):
        function = function.function
    return function


def _is_operand(x: object) -> bool:
    """Whether state may be an operand: an array or a number of NumPy's or Python's own types."""
    return type(x) in (float, int, complex, np.ndarray) or (
        isinstance(x, np.generic) and x.dtype.kind in "biufc")


def _is_there(leaf: Leaf) -> bool:
    """Whether a number or array is there, of the kind that it was."""
    try:
        leaf.read()
    except READING_FAILS:
        return False
    return True


def _numbers_in(operands: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([int(x) for x in operands if type(x) is int or isinstance(x, np.integer)])


def _has_slot_in_slice(template: object) -> bool:
    if isinstance(template, slice):
        return SLOT in (template.start, template.stop)
    return isinstance(template, (list, tuple)) and any(map(_has_slot_in_slice, template))


def _pattern_key(key: object, names: dict[int, int]) -> Any:
    """Return the key of a call with sizes told apart, but not known."""
    if not isinstance(key, tuple):
        return key
    if len(key) == 2 and isinstance(key[0], np.dtype) and isinstance(key[1], tuple):
        return (key[0], tuple(n if n < 2 else ~names.setdefault(n, len(names)) for n in key[1]))
    return tuple(_pattern_key(k, names) for k in key)


def _specs_of(data: Sequence[Any]) -> list[ArgSpec]:
    """Return specs in which equal sizes have one name, and sizes 0 and 1 are numbers."""
    names: dict[int, str] = {}
    specs = []
    for x in data:
        if type(x) in (int, float, complex):
            specs.append(ArgSpec(type(x).__name__, np.dtype(type(x))))
        elif isinstance(x, np.ndarray) and x.ndim:
            sizes = tuple(n if n < 2 else names.setdefault(n, f"n{len(names)}") for n in x.shape)
            specs.append(ArgSpec("array", x.dtype, x.ndim, sizes=sizes))
        else:
            specs.append(ArgSpec("scalar", x.dtype))
    return specs


_PATTERNS: dict[Any, Pattern] = {}
_PLANS: dict[Any, list[CallRecipe]] = {}
"""By key; several where state from outside, or a number in it, decides how a call goes."""
_LOOSE: dict[Any, int] = {}
"""Calls apart from the numbers in them, with how many of each kind there have been."""
cleared_by(_PATTERNS.clear)
cleared_by(_PLANS.clear)
cleared_by(_LOOSE.clear)
MANY = 8
"""After so many calls that differ in numbers alone, the numbers are operands."""
_LIMIT = 4096
MOST_STATES = 32
"""The most plans of one key."""


def plan_of(function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
            follows: Callable[[object], bool]) -> tuple[CallRecipe, list[Any]]:
    """Return the plan of a call and its operands; `Unrecorded` where it cannot have one.

    follows -- whether the tape knows where an operand came from
    """
    operands: list[Any] = []
    key = (function, describe((args, kwargs) if kwargs else args, operands),
           tuple([k for k, x in enumerate(operands) if follows(x)]))
    plan = _known(key, operands)
    if plan is not None:
        return plan, operands
    loose = None
    if function in OPERATORS:
        many: list[Any] = []
        loose = (function, describe(args, many, loose=True),
                 tuple([k for k, x in enumerate(many) if follows(x)]))
        if loose in _PLANS and _PLANS[loose][0].refusal is None:
            return _PLANS[loose][0], many
    if len(_PLANS) >= _LIMIT:
        _PLANS.clear()
        _PATTERNS.clear()
        _LOOSE.clear()
    if loose is not None and len(many) > len(operands):
        seen = _LOOSE[loose] = _LOOSE.get(loose, 0) + 1
        if seen > MANY and loose not in _PLANS:
            plan = _make(function, args, kwargs, many, loose, loose=True)
            _PLANS[loose] = [plan]
            if plan.refusal is None:
                return plan, many
    plan = _make(function, args, kwargs, operands, key, loose=False)
    _PLANS[key] = [plan, *_PLANS.get(key, ())][:MOST_STATES]
    return plan, operands


def _known(key: object, operands: Sequence[Any]) -> CallRecipe | None:
    """Return the plan of calls with a key, state from outside being as it is."""
    for plan in _PLANS.get(key, ()):
        if plan.holds_for(operands):
            return plan
    return None


def _make(function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
          operands: Sequence[Any], key: Any, *, loose: bool) -> CallRecipe:
    wrt = tuple(k for k in key[2] if is_differentiable(_dtype_of(operands[k])))
    template = (template_of(args, loose=loose), template_of(kwargs))
    return CallRecipe(function, template, operands, wrt, key)


def _dtype_of(x: object) -> np.dtype:
    return x._data.dtype if isinstance(x, Operand) else np.asarray(x).dtype


def forget(plan: CallRecipe) -> None:
    """Make a plan anew at the next call: the user may have registered a gradient meanwhile."""
    _PLANS.pop(plan.key, None)
