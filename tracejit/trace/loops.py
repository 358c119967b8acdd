"""Tracing a loop: the body once per guess of what it carries, until the guess holds.

A guess says, for each place that the body may change, what it holds when an iteration begins: a
number or array of some dtype and shape, or something that no iteration changes. The body is traced
on it; what it leaves either agrees, or gives a better guess (an int that became a float, a cell
that was written to, a name that was not set before).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.core import Block, Params, Value
from tracejit.ir.dims import Dim, maximum
from tracejit.ir.types import Aval, scalar
from tracejit.trace.aliases import array_of, settle_aliases
from tracejit.trace.branches import BranchRaised, join_leaf
from tracejit.trace.context import Cell, Frame, NeedStatic, Place, current, refuse
from tracejit.trace.equations import (
    atom_of,
    dims_of,
    dtype_of,
    emit,
    emit_value,
    fit,
    is_weak,
    lift,
    same_dim,
)
from tracejit.trace.places import (
    UNSET,
    MaybeUnset,
    NamePlace,
    Slot,
    is_number,
    map_content,
    same_structure,
)
from tracejit.trace.tracer import CellPlace, SymInt, Tracer, of_dim, scalar_of, tracer_of

__all__ = ["Unroll", "trace_list", "trace_loop"]


class Unroll(Exception):
    """Internal: the loop needs its index, or what it carries, as Python values."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Number:
    """A guess of a leaf: a number or array, as a carried value."""

    aval: Aval
    weak: bool
    is_array: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """A guess of a leaf: the same object in every iteration."""

    content: Any


@dataclass(slots=True, eq=False)
class _Carried:
    """A place with its content before the loop and the present guess of its content."""

    place: Place
    start: Any
    guess: Any


def trace_loop(places: Sequence[NamePlace | Slot], rebound: Sequence[str],
               written: Sequence[Tracer], body: Callable[[Any], Any],
               condition: Callable[[Any], Any] | None, lo: Dim = 0, hi: Dim = 0,
               reverse: bool = False, flags: Sequence[str] = (),
               snapshots: int | None = None) -> None:
    """Emit a loop and give every place that it changes what the last iteration leaves.

    places    -- what the body may change and what matters afterwards
    rebound   -- the names of those places that are bound anew, not only written to
    written   -- arrays to which the body writes
    body      -- called with the index
    condition -- called with the index: the loop runs while it holds; None: i runs over lo..hi-1
    snapshots -- how many states to keep for the way back, in place of what each iteration needs
    flags     -- the names that end the loop when they are set, so that they are False in the body

    Raises `Unroll` where only Python can run it.
    """
    carried = [_Carried(p, p.get(), _first_guess(p, p.get(), p.name in rebound)) for p in places]
    cells = {x.cell for x in written}
    for cell in sorted(cells, key=lambda c: c.value.uid):
        carried.append(_Carried(CellPlace(cell), cell.value, _Cell(cell.value.aval)))
    tracer = _LoopTracer(carried, body, condition, lo, hi, flags)
    for _ in range(32):
        done = tracer.attempt()
        if done is not None and not tracer.keep_arrays():
            params: Params = {} if snapshots is None else {"snapshots": snapshots}
            if condition is None:
                params = {"lo": lo, "hi": hi, "reversed": reverse, **params}
            with _all_or_nothing(carried):
                _finish(tracer, done, params)
            return
    raise refuse("what this loop carries does not settle", "Give it one dtype and shape before it")


@contextmanager
def _all_or_nothing(carried: Sequence[_Carried]) -> Iterator[None]:
    """Leave no trace of a loop that is refused at its end: it may be run in Python then."""
    held = [(x.cell, x.cell.value) for c in carried if (x := array_of(c.start)) is not None]
    with current().builder.undone_if_raised():
        try:
            yield
        except Exception:
            for c in carried:
                c.place.set(c.start)
            for cell, value in held:
                cell.value = value
            raise


def trace_list(items: Any, element: Callable[[Any], Any]) -> Tracer:
    """Return `[element(a) for a in items]` as an array: how many items there are is not known."""
    trace = current()
    index = Value(scalar(np.int64), "i")
    trace.builder.assume(index, items.lo, items.hi - 1)
    trace.carried.add(index)
    with trace.region("loop", (index,)):
        first = lift(element(items.item(SymInt(index.dim))))
        shape, dtype = dims_of(first), dtype_of(first)
    result = tracer_of(emit_value("empty", [], {"shape": (items.count, *shape), "dtype": dtype}))

    def body(i: Any) -> None:
        place = of_dim(items.hi - 1) - i if items.reverse else i - of_dim(items.lo)
        result[place] = element(items.item(i))

    trace_loop([], [], [result], body, None, items.lo, items.hi, items.reverse)
    return result


def _first_guess(place: Place, content: Any, rebound: bool) -> Any:
    """Guess from the content before the loop; arrays that are only written to stay themselves."""
    if content is UNSET:
        return UNSET

    def leaf(x: Any) -> Any:
        if isinstance(x, Tracer) and x.is_array and not rebound:
            return Fixed(x)
        return _number_guess(x) if is_number(x) else Fixed(x)

    return map_content(leaf, content)


def _number_guess(x: Any) -> Number:
    x = lift(x)
    if isinstance(x, Tracer):
        return Number(Aval(x.dtype, x.dims), x.weak, x.is_array)
    dtype, weak = join_leaf(x, x)
    return Number(Aval(dtype), weak)


@dataclass(frozen=True, slots=True)
class _Began:
    """What a name holds when an iteration begins: no handle, so that it counts as no use."""

    cell: Cell
    steps: Any
    dims: tuple[Dim, ...]


@dataclass(slots=True)
class _Done:
    """An attempt whose guess held."""

    regions: list[Block]
    starts: list[Any]


class _LoopTracer:
    """One loop being traced; `begun` and `ended` are contents around the last traced body."""

    def __init__(self, carried: list[_Carried], body: Any, condition: Any, lo: Dim, hi: Dim,
                 flags: Sequence[str]) -> None:
        self.carried, self.flags = carried, flags
        self.given = tuple(carried)
        self.body, self.condition = body, condition
        self.lo, self.hi = lo, hi
        self.demoted: list[_Carried] = []

    # --- one attempt ----------------------------------------------------------------------------

    def attempt(self) -> _Done | None:
        """Trace condition and body on the present guess; None if it had to be changed."""
        before = [(c.place, c.place.get()) for c in self.carried]
        self.read: set[Cell] = set()
        try:
            regions = []
            if self.condition is not None:
                block = self._trace(self._run_condition)
                if block is None:
                    return None
                regions.append(block)
            block = self._trace(self._run_body)
            if block is None:
                return None
            return _Done([*regions, block], self._starts())
        except NeedStatic as e:
            if e.value in self.inputs:
                raise Unroll(e.why) from None
            raise
        finally:
            for place, content in before:
                place.set(content)

    def _trace(self, run: Callable[[Frame], list[Any] | None]) -> Block | None:
        trace = current()
        index = Value(scalar(np.int64), "i")
        self.inputs = (index, *(Value(g.aval, _name_of(c)) for c in self.carried
                               for g in _numbers(c.guess)))
        if self.condition is None:
            trace.builder.assume(index, self.lo, self.hi - 1)
        else:
            trace.builder.assume(index, 0, None)
        trace.carried.update(self.inputs)
        with trace.region("loop", self.inputs) as (frame, scope):
            self._enter(frame)
            outputs = run(frame)
            self.read |= frame.read
            return None if outputs is None else scope.close(outputs)

    def _enter(self, frame: Frame) -> None:
        """Give every place the content that an iteration begins with."""
        values = iter(self.inputs[1:])
        self.begun: list[_Began | None] = []
        for c in self.carried:
            content = self._content(c.guess, values)
            frame.written[c.place.key] = (c.place, c.place.get())
            c.place.set(content)
            x = array_of(content)
            self.begun.append(None if x is None else _Began(x.cell, x.steps, x.dims))
        self.entered = [None if x is None else x.cell.value for x in self.begun]

    def _content(self, guess: Any, values: Any) -> Any:
        if guess is UNSET:
            return UNSET
        if isinstance(guess, _Cell):
            return next(values)

        def leaf(g: Any) -> Any:
            if isinstance(g, Fixed):
                return g.content
            content = scalar_of(next(values), weak=g.weak)
            if g.is_array:
                content.cell.is_array = True
            return content

        return map_content(leaf, guess)

    def _run_condition(self, frame: Frame) -> list[Any] | None:
        known = {c.place.key for c in self.carried}
        before = [c.place.get() for c in self.carried]
        result = self.condition(SymInt(self.inputs[0].dim))
        if frame.written.keys() - known or any(
                c.place.get() is not x for c, x in zip(self.carried, before, strict=True)):
            raise refuse("the condition of this `while` changes something in some iterations only",
                         "Change it in the body")
        if isinstance(result, (bool, np.bool_)):
            return [atom_of(bool(result))]
        result = lift(result)
        if result.dtype != np.bool_:
            result = result != 0
        return [atom_of(result)]

    def _run_body(self, frame: Frame) -> list[Any] | None:
        for c in self.carried:
            if isinstance(c.place, NamePlace) and c.place.name in self.flags:
                c.place.set(False)
        try:
            self.body(SymInt(self.inputs[0].dim))
        except BranchRaised:
            pass
        except Exception:
            with suppress(Exception):  # of a body that has not come to its end
                if self._improve():  # what failed rested on a guess that does not hold
                    return None
            raise
        if self._newly_written(frame) | self._improve():
            return None
        if frame.swallowed is not None:
            raise frame.swallowed
        outputs: list[Any] = []
        self.ended = [c.place.get() for c in self.carried]
        self.outdated = frame.outdated
        for c, end in zip(self.carried, self.ended, strict=True):
            if isinstance(c.guess, _Cell):
                outputs.append(end)
            elif c.guess is not UNSET:
                map_content(lambda g, x: outputs.append(_yielded(g, x)), c.guess, end)
        return [a for a in outputs if a is not None]

    # --- better guesses -------------------------------------------------------------------------

    def _newly_written(self, frame: Frame) -> bool:
        """Add the places that were written to and are not carried yet.

        A name or attribute that is bound anew comes first: which arrays are written to is found
        again once it is carried.
        """
        known = {c.place.key for c in self.carried}
        new = [(p, content) for key, (p, content) in frame.written.items() if key not in known]
        bound = [(p, content) for p, content in new if not isinstance(p, CellPlace)]
        if bound:
            new = bound
            self.carried = [c for c in self.carried
                            if c in self.given or not isinstance(c.place, CellPlace)]
        for p, content in new:
            guess = _Cell(content.aval) if isinstance(p, CellPlace) else _first_guess(
                p, content, True)
            self.carried.append(_Carried(p, content, guess))
        return bool(new)

    def _improve(self) -> bool:
        """Compare what the body left with the guess; adapt the guess where they disagree."""
        changed = False
        for c in self.carried:
            if isinstance(c.guess, _Cell):
                continue
            better = self._better(c)
            if better is not c.guess:
                c.guess, changed = better, True
        return changed

    def _better(self, c: _Carried) -> Any:
        end = c.place.get()
        name = getattr(c.place, "name", "this")
        if c.guess is UNSET:
            if end is UNSET:
                return UNSET
            guess = _first_guess(c.place, end, True)
            if isinstance(end, MaybeUnset):
                return guess
            return MaybeUnset(guess, Number(Aval(np.dtype(np.bool_)), False), name)
        if isinstance(c.guess, MaybeUnset) and not isinstance(end, MaybeUnset):
            end = MaybeUnset(end, True, name)
            c.place.set(end)
        if end is UNSET or not same_structure(c.guess, end):
            raise Unroll(f"{name!r} changes its structure from one iteration to the next")
        same = True

        def leaf(g: Any, x: Any) -> Any:
            nonlocal same
            better = _better_leaf(g, x, name)
            same = same and better is g
            return better

        guess = map_content(leaf, c.guess, end)
        return c.guess if same else guess

    def keep_arrays(self) -> bool:
        """Guess that names keep their arrays which the body bound to what they held anyhow.

        Then other handles on those arrays see what the body writes. Each is guessed so once.
        """
        kept = False
        for c, begun, ended in zip(self.carried, self.begun, self.ended, strict=True):
            if begun is None or not isinstance(ended, Tracer) or begun.cell is not ended.cell or (
                    begun.steps != ended.steps) or c in self.demoted:
                continue
            if isinstance(c.guess, Number) and isinstance(c.start, Tracer) and (
                    c.start.dims == begun.dims):
                self.demoted.append(c)
                c.guess, kept = Fixed(c.start), True
        return kept

    # --- starting -------------------------------------------------------------------------------

    def _starts(self) -> list[Any]:
        """Return what the carried values are before the loop."""
        starts: list[Any] = []
        for c in self.carried:
            if isinstance(c.guess, _Cell):
                starts.append(c.start)
            elif isinstance(c.guess, MaybeUnset) and not isinstance(c.start, MaybeUnset):
                content = c.guess.content if c.start is UNSET else c.start
                unset = c.start is UNSET
                map_content(lambda g, x, unset=unset: starts.append(
                    _blank(g) if unset else _yielded(g, x)), c.guess.content, content)
                starts.append(atom_of(not unset))
            elif c.guess is not UNSET:
                map_content(lambda g, x: starts.append(_yielded(g, x)), c.guess, c.start)
        return [s for s in starts if s is not None]


@dataclass(frozen=True, slots=True)
class _Cell:
    """The guess of a cell: it keeps its type."""

    aval: Aval


def _numbers(guess: Any) -> list[Any]:
    """Return the leaves of a guess that are carried values."""
    if guess is UNSET:
        return []
    if isinstance(guess, _Cell):
        return [guess]
    found: list[Any] = []
    map_content(lambda g: found.append(g) if isinstance(g, Number) else None, guess)
    return found


def _name_of(c: _Carried) -> str:
    """Return the user's name for what a loop carries, if it is one number or array."""
    if isinstance(c.place, NamePlace) and isinstance(c.guess, Number):
        return c.place.name
    return ""


def _yielded(g: Any, x: Any) -> Any:
    """Return a leaf as a carried value of the guessed type; None if it is not carried."""
    return atom_of(fit(lift(x), g.aval.shape), g.aval.dtype) if isinstance(g, Number) else None


def _blank(g: Any) -> Any:
    """Return something of the guessed type, for a name that is not set before the loop."""
    if not isinstance(g, Number):
        return None
    if not g.aval.shape:
        return atom_of(g.aval.dtype.type(0))
    return emit_value("empty", [], {"shape": g.aval.shape, "dtype": g.aval.dtype})


def _better_leaf(g: Any, x: Any, name: str) -> Any:
    if isinstance(g, Fixed):
        if x is g.content:
            return g
        if isinstance(x, Tracer) and isinstance(g.content, Tracer):
            if x.cell is g.content.cell and x.steps == g.content.steps:
                return g
            return _joined(_number_guess(g.content), x, name)
        if is_number(x) and is_number(g.content):
            return _joined(_number_guess(g.content), x, name)
        try:
            if type(x) is type(g.content) and bool(x == g.content):
                return g
        except Exception:
            pass
        raise Unroll(f"{name!r} is {_text(g.content)} before an iteration and {_text(x)} after it")
    return _joined(g, x, name)


def _text(x: Any) -> str:
    return "None" if x is None else f"a {type(x).__name__}"


def _joined(g: Number, x: Any, name: str) -> Number:
    if not is_number(x):
        raise Unroll(f"{name!r} is a number before an iteration and {_text(x)} after it")
    x = lift(x)
    start = np.zeros((), g.aval.dtype)[()] if not g.weak else g.aval.dtype.type(0).item()
    dtype, weak = join_leaf(start, x) if not _same_kind(g, x) else (g.aval.dtype, g.weak)
    dims = dims_of(x)
    trace = current()
    if len(dims) != len(g.aval.shape) or not all(
            trace.canonical(a) == trace.canonical(b) or trace.unify(a, b) or _agree(a, b)
            for a, b in zip(dims, g.aval.shape, strict=True)):
        raise refuse(f"{name!r} has shape {_shape(g.aval.shape)} before an iteration of this loop "
                     f"and {_shape(dims)} after it",
                     "Make it as large as it will get before the loop, and write to parts of it")
    is_array = g.is_array and isinstance(x, Tracer) and x.is_array
    if dtype == g.aval.dtype and weak == g.weak and is_array == g.is_array:
        return g
    return Number(Aval(dtype, g.aval.shape), weak, is_array)


def _agree(a: Dim, b: Dim) -> bool:
    """Whether two sizes are known and equal in this call; they are checked in every other."""
    trace = current()
    return trace.is_known(a) and trace.is_known(b) and same_dim(a, b)


def _same_kind(g: Number, x: Any) -> bool:
    return dtype_of(x) == g.aval.dtype and is_weak(x) == g.weak


def _shape(dims: Sequence[Dim]) -> str:
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


# --- afterwards ---------------------------------------------------------------------------------


def _finish(tracer: _LoopTracer, done: _Done, params: Params) -> None:
    """Emit the loop and give every place what it leaves."""
    trace = current()
    if tracer.condition is None:
        results = list(emit("for_", done.starts, params, done.regions))
        trips = of_dim(maximum(params["hi"] - params["lo"], 0, trace.builder.known))
    else:
        count, *results = emit("while_", done.starts, params, done.regions)
        trips = of_dim(count.dim)
    values = iter(results)
    for c in tracer.carried:
        if isinstance(c.place, CellPlace):
            trace.record(c.place, c.place.depth)
            c.place.set(next(values))
            continue
        if c.place.depth is not None:
            trace.record(c.place, c.place.depth)
        c.place.set(tracer._content(c.guess, values))
    names = [k for k, c in enumerate(tracer.carried) if array_of(c.place.get()) is not None
             and any(not isinstance(g, _Cell) and g.is_array for g in _numbers(c.guess))]
    settle_aliases(tracer, names, trips)
