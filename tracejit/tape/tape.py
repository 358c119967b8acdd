"""`GradientTape`: records computations from watched values, and differentiates them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import numpy as np

from tracejit.ir.core import Graph
from tracejit.ir.types import is_differentiable
from tracejit.runtime.program import Program
from tracejit.runtime.stages import Traced
from tracejit.tape.asking import make_request
from tracejit.tape.backward import go_back
from tracejit.tape.captured import CapturedTape, in_capture
from tracejit.tape.explaining import explain
from tracejit.tape.given import checked_cotangent, described, match, warn_of_integers
from tracejit.tape.notes import Notes
from tracejit.tape.noting import ACTIVE
from tracejit.tape.programs import recording_graph, run_compiled
from tracejit.tape.recording import perform
from tracejit.tape.values import TapeValue
from tracejit.tape.variables import Variable
from tracejit.trace.ground.context import is_tracing, refuse
from tracejit.trace.values.operands import TracedOperand as TracedValue
from tracejit.tree import Structure, flatten, leaf_names, unflatten

__all__ = ["GradientTape", "UnconnectedGradients"]


class UnconnectedGradients(Enum):
    """The gradient of a source that the target does not depend on: None or zeros."""

    NONE = "none"
    ZERO = "zero"


class GradientTape(Notes):
    """Records calls on the values that it watches, so that they can be differentiated later.

    persistent               -- whether `gradient` may be called more than once
    watch_accessed_variables -- whether to watch every trainable `Variable` that is read

    Each operation has its NumPy value at once. Trainable variables are watched when they are read,
    tape values (`tracejit.constant`) after `watch`.

    >>> import numpy as np, tracejit
    >>> x = tracejit.Variable(3.0)
    >>> with tracejit.GradientTape() as tape:
    ...     y = x ** 2
    >>> float(tape.gradient(y, x))
    6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._recording = False
        self._captured: CapturedTape | None = None
        super().__init__(watch_accessed_variables)

    # --- recording ------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        """Start to record."""
        self._start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop recording."""
        if self._recording:
            self._stop()

    def _start(self) -> None:
        if self._recording:
            raise ValueError("this tape is recording already")
        if is_tracing():
            self._captured = self._captured or CapturedTape(self._watch_accessed)
            self._captured.start()
        else:
            ACTIVE.tapes.append(self)
        self._recording = True

    def _stop(self) -> None:
        if not self._recording:
            raise ValueError("this tape is not recording")
        if self._captured is not None:
            self._captured.stop()
        else:
            ACTIVE.tapes.remove(self)
        self._recording = False

    def watch(self, tensor: object) -> None:
        """Follow all values computed from a tape value or variable, or a nest of them.

        Raises `TypeError` for anything else: NumPy arrays and Python numbers cannot be followed.
        """
        leaves, _ = flatten(tensor)
        for x in leaves:
            self._watch_one(x)

    def _watch_one(self, x: object) -> None:
        if is_tracing() and isinstance(x, (TracedValue, Variable)):
            self._captured = self._captured or CapturedTape(self._watch_accessed)
            self._captured.watch(in_capture(x))
        elif isinstance(x, Variable):
            self._read_variable(x, x._state)
        elif isinstance(x, TapeValue):
            if is_differentiable(x.dtype):
                self._known.add(x.uid)
            else:
                warn_of_integers(x.dtype)
        elif isinstance(x, (np.ndarray, np.generic, int, float, complex)):
            raise TypeError(f"a tape cannot watch {described(x)}: NumPy does not tell it what is "
                            "computed from that. Make it a tape value first: "
                            "x = tracejit.constant(x), and compute with x")
        else:
            raise TypeError(f"a tape watches tape values and variables, not {described(x)}. Make "
                            "tape values of numbers with tracejit.constant")

    def _read_variable(self, variable: Variable, state: TapeValue) -> None:
        """Follow the state of a variable that was read."""
        if not is_differentiable(state.dtype):
            return
        self._known.add(state.uid)
        _, states = self._variables.setdefault(id(variable), (variable, []))
        if not states or states[-1] is not state:
            states.append(state)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Do not record the calls inside the `with` block.

        Raises `ValueError` if the tape is not recording.
        """
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forget all recorded calls and watched values, and go on."""
        if self._captured is not None:
            if self._recording:
                self._captured.stop()
            self._captured = CapturedTape(self._watch_accessed)
            if self._recording:
                self._captured.start()
        self._clear()

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that the tape follows, in the order in which they were read."""
        if self._captured is not None:
            return tuple(state.variable for state, _ in self._captured.states.values())
        return tuple(v for v, _ in self._variables.values())

    # --- gradients ------------------------------------------------------------------------------

    def gradient(self, target: object, sources: object, output_gradients: object = None,
                 unconnected_gradients: object = UnconnectedGradients.NONE) -> Any:
        """Return the gradient of the sum of all targets by each source.

        target                -- a tape value or variable, or a nest of them
        sources               -- likewise; the result has their structure
        output_gradients      -- cotangents of the targets in the targets' structure; ones if None
        unconnected_gradients -- NONE, or ZERO for zeros where a target does not depend on a source

        Raises `RuntimeError` at the second call unless the tape is persistent, `LookupError` where
        a call in between has no gradient, `TypeError` and `ValueError` for objects that
        cannot be a target, source or cotangent.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        self._begin_use()
        if self._captured is not None:
            self._used = True
            return self._captured.gradient_of(target, sources, output_gradients,
                                              unconnected is UnconnectedGradients.ZERO)
        targets = self._targets(target)
        found, structure = flatten(sources)
        chosen = [self._source(x) for x in found]
        cts = self._cotangents(targets, target, output_gradients)
        try:
            grads = self._backward(targets, cts, chosen, last=not self._persistent)
        finally:  # an error on the way has freed a part of what the tape holds
            if not self._persistent:
                self._release()
        return unflatten(structure, iter(
            [self._result(g, x, unconnected) for g, x in zip(grads, found, strict=True)]))

    def jacobian(self, target: object, sources: object,
                 unconnected_gradients: object = UnconnectedGradients.NONE) -> Any:
        """Return, per source, the derivatives of every element of one target.

        Their shape is the target's, followed by the source's. Otherwise as `gradient`.
        """
        y, found, structure = self._begin_jacobian(target, sources)
        chosen = [self._source(x) for x in found]
        rows = [self._backward([y], [_unit(y, k)], chosen) for k in range(y.size)]
        shapes = [(*y.shape, *np.shape(x)) for x in found]
        wholes = [_stacked([row[k] for row in rows], shape, x)
                  for k, (shape, x) in enumerate(zip(shapes, found, strict=True))]
        return self._end_jacobian(wholes, found, shapes, structure, unconnected_gradients)

    def batch_jacobian(self, target: object, source: Any,
                       unconnected_gradients: object = UnconnectedGradients.NONE) -> Any:
        """Return the derivatives of `target[b]` by `source[b]` for each b of the first axis.

        The result has the shape (b, *target.shape[1:], *source.shape[1:]); element b of the target
        is taken to depend on element b of the source alone.
        """
        y, found, structure = self._begin_jacobian(target, source)
        if len(found) != 1:
            raise TypeError(f"batch_jacobian takes one source, not {len(found)}")
        if not y.ndim or not np.ndim(source) or y.shape[0] != np.shape(source)[0]:
            raise ValueError(f"batch_jacobian needs a target and a source with the same first "
                             f"axis, not {y.shape} and {np.shape(source)}")
        chosen = [self._source(source)]
        batch, inner = y.shape[0], y.shape[1:]
        columns = []
        for k in range(math.prod(inner)):
            ct = np.zeros((batch, math.prod(inner)), y.dtype)
            ct[:, k] = 1
            columns += self._backward([y], [TapeValue(ct.reshape(y.shape))], chosen)
        shape = (batch, *inner, *np.shape(source)[1:])
        whole = _stacked(columns, shape, source, axis=1)
        return self._end_jacobian([whole], found, [shape], structure, unconnected_gradients)

    def _begin_jacobian(self, target: object, sources: object
                        ) -> tuple[TapeValue, list[Any], Structure]:
        """Return the one target, the sources and their structure."""
        self._begin_use()
        if self._captured is not None:
            raise refuse("the Jacobian of a tape within a capture",
                         "Use tracejit.jacobian of a function, or loop over tape.gradient", "TJ513")
        targets = self._targets(target)
        if len(targets) != 1:
            raise TypeError(f"a Jacobian is that of one target, not of {len(targets)}. Ask for one "
                            "after the other with a persistent tape, or np.stack the targets")
        found, structure = flatten(sources)
        return targets[0], found, structure

    def _end_jacobian(self, wholes: Sequence[object], found: Sequence[object],
                      shapes: Sequence[tuple[int, ...]], structure: Structure,
                      unconnected_gradients: object) -> Any:
        """Return Jacobians in the sources' structure; the tape is used up unless persistent."""
        unconnected = UnconnectedGradients(unconnected_gradients)
        if not self._persistent:
            self._release()
        return unflatten(structure, iter(
            [self._result(whole, x, unconnected, shape)
             for whole, x, shape in zip(wholes, found, shapes, strict=True)]))

    def _begin_use(self) -> None:
        if self._used and not self._persistent:
            raise RuntimeError("a tape that is not persistent gives one gradient, then it frees "
                               "what it holds. Ask for all sources at once: "
                               "tape.gradient(y, [a, b]), or use GradientTape(persistent=True)")
        if self._recording and not self._persistent:
            self._stop()

    def _targets(self, target: object) -> list[TapeValue]:
        found = []
        for x in flatten(target)[0]:
            if isinstance(x, Variable):
                found.append(x._state)
            elif isinstance(x, TapeValue):
                found.append(x)
            else:
                raise TypeError(f"the target is {described(x)}, which no tape follows. Compute it "
                                "from tape values or variables with NumPy functions inside the "
                                "tape's `with` block")
        if not found:
            raise TypeError("gradient needs a target: a tape value, or a nest of them")
        for x in found:
            if not is_differentiable(x.dtype):
                warn_of_integers(x.dtype, "target")
        return found

    def _source(self, x: object) -> list[int]:
        """Return the uids of all states of a source while this tape recorded."""
        if isinstance(x, Variable):
            states = self._variables.get(id(x), (x, [x._state]))[1]
            return [s.uid for s in states]
        if isinstance(x, TapeValue):
            if not is_differentiable(x.dtype):
                warn_of_integers(x.dtype, "source")
            return [x.uid]
        raise TypeError(f"a source is {described(x)}; gradients are by tape values "
                        "(tracejit.constant, tape.watch) and variables (tracejit.Variable)")

    def _cotangents(self, targets: Sequence[TapeValue], target: object, given: object) -> list[Any]:
        cts = [None] * len(targets)
        if given is not None:
            leaves: list[Any] = []
            match(target, given, leaves)
            cts = leaves
        names = leaf_names(flatten(target)[1], "the target")
        return [checked_cotangent(y, ct, name)
                for y, ct, name in zip(targets, cts, names, strict=True)]

    def _backward(self, targets: Sequence[TapeValue], given: Sequence[TapeValue | None],
                  sources: Sequence[Sequence[int]], *, last: bool = False) -> list[Any]:
        """Return the cotangent of each source, or None; the last call frees the residuals."""
        if not ACTIVE.tapes:
            grads = self._compiled_backward(targets, given, sources)
            if grads is not None:
                return grads
        keep = {u for uids in sources for u in uids}
        eager = bool(ACTIVE.tapes)  # other tapes record this one's computations
        cts: dict[int, Any] = {}
        for y, ct in zip(targets, given, strict=True):
            if is_differentiable(y.dtype):
                ct = TapeValue(np.ones(y.shape, y.dtype)[()]) if ct is None else ct
                _add(cts, y.uid, ct if eager else ct._data)
        go_back(self._records, self._saved, cts, keep, recorded=eager, last=last)
        return [_sum([cts[u] for u in uids if u in cts]) for uids in sources]

    def _compiled_backward(self, targets: Sequence[TapeValue], given: Sequence[TapeValue | None],
                           sources: Sequence[Sequence[int]]) -> list[Any] | None:
        """Return the result of `_backward` by a compiled program, if there is one for this tape."""
        kept = [(y, ct) for y, ct in zip(targets, given, strict=True)
                if is_differentiable(y.dtype)]
        uids = [u for group in sources for u in group]
        found = run_compiled(self._records, lambda: make_request(
            self._records, self._saved, [y for y, _ in kept], [ct is not None for _, ct in kept],
            uids), [ct._data for _, ct in kept if ct is not None])
        if found is None:
            return None
        cts = iter(found)
        return [_sum([ct for _ in group if (ct := next(cts)) is not None]) for group in sources]

    def _result(self, ct: Any, source: Any, unconnected: UnconnectedGradients,
                shape: tuple[int, ...] | None = None) -> Any:
        if ct is None:
            if unconnected is UnconnectedGradients.NONE:
                return None
            ct = np.zeros(np.shape(source) if shape is None else shape, source.dtype)[()]
        return ct if isinstance(ct, TapeValue) else TapeValue(ct)

    def _release(self) -> None:
        """Free the values that the way back reads; the rest is for `why`."""
        self._used = True
        self._saved = []

    def graph(self, target: object, sources: object) -> Graph:
        """Return the recording as a graph, with the way back from targets to sources.

        This graph is compiled when the structure repeats, and can be asked for before and after
        `gradient`; its inputs are named after variables, x0, x1, ... otherwise.
        """
        targets = self._targets(target)
        found = flatten(sources)[0]
        chosen = [self._source(x) for x in found]
        names = {u: x.name if isinstance(x, Variable) and x._name else f"x{k}"
                 for k, (x, uids) in enumerate(zip(found, chosen, strict=True)) for u in uids}
        request = make_request(self._records, (), targets, [False] * len(targets),
                               [u for uids in chosen for u in uids], names)
        return Traced(Program.of_graph(recording_graph(request))).graph

    # --- explaining -----------------------------------------------------------------------------

    def why(self, target: object, source: object) -> str:
        """Return why `gradient(target, source)` is None, or how the target depends on the source.

        target, source -- one tape value or variable each
        """
        return explain(self, target, source)


# --- small things -------------------------------------------------------------------------------


def _add(cts: dict[int, Any], uid: int, ct: object) -> None:
    cts[uid] = cts[uid] + ct if uid in cts else ct


def _sum(cts: Sequence[Any]) -> Any:
    if not cts:
        return None
    total = cts[0]
    for ct in cts[1:]:
        total = total + ct
    return total


def _unit(y: TapeValue, k: int) -> TapeValue:
    ct = np.zeros(y.size, y.dtype)
    ct[k] = 1
    return TapeValue(ct.reshape(y.shape)[()])


def _stacked(cts: Sequence[object], shape: tuple[int, ...], x: Any, axis: int = 0) -> Any:
    """Return cotangents in one array, zeros for missing ones; None if none of some is there."""
    if cts and all(ct is None for ct in cts):
        return None
    if not cts:  # a target without elements
        return np.zeros(shape, x.dtype)
    zeros = np.zeros(np.shape(x), x.dtype)[()]
    filled = [zeros if ct is None else ct for ct in cts]
    return perform(np.stack, (filled,), {"axis": axis}).reshape(shape)
