"""Tracing a loop: the body once per guess of the contents that it carries, until the guess holds.

A guess says, for each place that the body may change, its content when an iteration begins
(`guesses.py`). The body is traced on it; the contents that it leaves either agree, or give a better
guess: an int that became a float, a cell that was written to, a name that was not set before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Block, Value
from tracejit.ir.dims import Dim, dim_values
from tracejit.ir.types import scalar
from tracejit.trace.containers.choices import narrowed
from tracejit.trace.containers.container_aliases import containers, with_joined
from tracejit.trace.containers.heap import has_iterators
from tracejit.trace.containers.places import (
    UNSET,
    Choice,
    MaybeUnset,
    NamePlace,
    holder_of,
    map_content,
)
from tracejit.trace.containers.references import note_stand_in
from tracejit.trace.containers.runs import Stored, Views, place_in_code
from tracejit.trace.ground.context import Cell, Frame, Place, current, refuse
from tracejit.trace.ground.restarts import Grows, NeedStatic, Unroll, Widens
from tracejit.trace.lists.data_lists import DataLists
from tracejit.trace.lists.filling import growing_of
from tracejit.trace.lists.forms import (
    Form,
    arrays_of,
    as_logs,
    begun_list,
    finish_logs,
    is_of_form,
    joint_form,
    logs_of,
)
from tracejit.trace.lists.growing import MANY_ITEMS, Growing
from tracejit.trace.lists.growing_rows import as_rows, refuse_shared_items
from tracejit.trace.lists.known_lengths import need_run
from tracejit.trace.lists.read_only import hand_over
from tracejit.trace.regions.aliases import Begun, array_of
from tracejit.trace.regions.attempts import begin_without_error, close_opened, jumps_by
from tracejit.trace.regions.branches import ending
from tracejit.trace.regions.guesses import (
    CellGuess,
    Fixed,
    ListGuess,
    Number,
    ViewGuess,
    as_guessed,
    basic_part,
    better_guess,
    blank,
    content_of,
    first_guess,
    has_choices,
    is_view_like,
    leaves_of,
    list_guess,
    made_for,
    numbers_of,
    parts_of,
    places_of_view,
    yielded,
)
from tracejit.trace.regions.raising import (
    BranchJumped,
    BranchRaised,
    end_in_run,
    is_of_a_signal,
    is_pythons,
)
from tracejit.trace.regions.resized import ResizedGuess, Sizes, left_resized, resized_guess
from tracejit.trace.values.equations import atom_of, lift
from tracejit.trace.values.mixed import united
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import CellPlace, Tracer

__all__ = ["Carried", "Done", "LoopTracer", "changed_and_bound"]



@dataclass(slots=True, eq=False)
class Carried:
    """A place with its content before the loop and the present guess of its content."""

    place: Place
    start: Any
    guess: Any


@dataclass(slots=True)
class Done:
    """An attempt whose guess held."""

    regions: list[Block]
    starts: list[Any]


class LoopTracer:
    """One loop being traced; `begun` and `ended` are contents around the last traced body."""

    def __init__(self, carried: list[Carried], body: Callable[[SymInt], Any],
                 condition: Any, lo: Dim, hi: Dim,
                 flags: Sequence[str], reverse: bool, by_data: bool, leaves: bool) -> None:
        self.carried, self.flags = carried, flags
        self.given = tuple(carried)
        self.body, self.condition = body, condition
        self.lo, self.hi = lo, hi
        self.demoted: set[tuple[Carried, int]] = set()
        self.changed_turns: set[int] = set()
        """The carried names bound to one list after another, each changed by its iteration."""
        self.settled = False
        self.reverse = reverse
        self.growing: list[Growing] = []
        self.left: dict[Carried, Any] = {}
        """The contents that the last traced body left in places, with known choices resolved."""
        self.by_data, self.lists = by_data, DataLists()
        self.sizes, self.in_condition = Sizes(), False
        self.where = place_in_code()
        self.leaves = leaves
        self.faults = [(a, len(a.faults)) for a in current().attempts if a is not None]
        trips = hi - lo
        self.is_long = condition is not None or not isinstance(trips, int) or trips > MANY_ITEMS
        self.may_grow = condition is None and self.is_long and (
            self.where not in current().plain_lists)

    # --- one attempt ----------------------------------------------------------------------------

    def attempt(self) -> Done | None:
        """Trace condition and body on the present guess; return None if the guess was changed."""
        before = [(c.place, c.place.get()) for c in self.carried]
        lists = [(g.container, list(g.container)) for g in self.growing]
        for g in self.growing:
            g.prepare(self.lo, self.hi)
        self.read: set[Cell] = set()
        for tried, faults in self.faults:
            del tried.faults[faults:]
        try:
            for c in self.carried:
                for x in c.start if isinstance(c.guess, ListGuess) and c.guess.form.shape else ():
                    hand_over(x)
            self.lists.begin()
            regions = []
            for run in ([self._run_body] if self.condition is None else
                        [self._run_condition, self._run_body]):
                block = self._trace(run)
                if block is None:
                    return None
                regions.append(block)
            return Done(regions, [] if self._has_lists() else self.starts())
        except NeedStatic as e:
            if e.value in self.inputs:
                raise Unroll(e.why) from None
            raise
        except Grows as e:
            if e.frame is not self.frame:
                raise
            self._take_list(e)
            return None
        finally:
            for container, items in lists:
                container[:] = items
            self.lists.put_back()
            for place, content in before:
                place.set(content)

    def _take_list(self, e: Grows) -> None:
        """Guess how a list is kept that gets longer or other items in an iteration."""
        if self._gets_other_items(e):
            return
        if self.lists.takes(e):
            taken = {id(x.container) for x in (e, *e.others)}
            self.growing = [g for g in self.growing if id(g.container) not in taken]
            self._forget(self.lists.outdated)
            self.carried = [c for c in self.carried if id(holder_of(c.place)) not in taken]
        elif has_iterators(e.container):
            raise Unroll("an iterator is in the midst of a list that gets longer")
        else:
            self.growing.append(growing_of(e.container, self.where))

    def _has_lists(self) -> bool:
        return any(isinstance(c.guess, (ListGuess, ResizedGuess)) for c in self.carried)

    def _note_wide(self) -> None:
        """Note the carried ints that begin with a number of 64 bits from data."""
        trace, inputs = current(), iter(self.inputs[1:])
        for c in self.carried:
            values = [next(inputs) for _ in numbers_of(c.guess)]
            if isinstance(c.start, SymInt) and not trace.wide.isdisjoint(dim_values(c.start.dim)):
                trace.wide.update(values)

    def _trace(self, run: Callable[[Frame], list[Any] | None]) -> Block | None:
        trace = current()
        self.in_condition = run == self._run_condition
        index = Value(scalar(np.int64), "i")
        self.inputs = (index, *(Value(g.aval, _name_of(c)) for c in self.carried
                               for g in numbers_of(c.guess)))
        if self.condition is None:
            trace.builder.assume(index, self.lo, self.hi - 1)
        else:
            trace.builder.assume(index, 0, None)
        trace.carried.update(self.inputs)
        self._note_wide()
        with trace.region("loop", self.inputs) as (frame, scope):
            self._enter(frame)
            frame.settled = self.settled
            outputs = run(frame)
            self.read |= frame.read
            return None if outputs is None else scope.close(outputs)

    def _enter(self, frame: Frame) -> None:
        """Give every place the content with which an iteration begins."""
        self.frame = frame
        frame.grows, frame.counted = self.may_grow, self.condition is None
        frame.is_long = self.is_long
        if self.leaves and not self.in_condition:
            frame.where = self.where
            frame.left_by_errors = self.where in current().left_loops
        frame.by_data, frame.index, self.lists.frame = self.by_data, self.inputs[0], frame
        turn = self.hi - 1 - self.inputs[0].dim if self.reverse else self.inputs[0].dim - self.lo
        at = (lambda k: self.hi - 1 - k) if self.reverse else (lambda k: self.lo + k)
        for g in self.growing:
            g.index, g.index_at = self.inputs[0], at
            g.enter(frame, turn, self.hi - self.lo)
        values = iter(self.inputs[1:])
        self.begun_lists: list[tuple[Carried, list[Any]]] = []
        self.begun: list[list[Begun | None]] = []
        self.stand_ins: dict[int, tuple[int, Any]] = {}
        self.sizes.begin({c: (c.guess, c.start) for c in self.carried
                          if isinstance(c.guess, ResizedGuess)})
        for k, c in enumerate(self.carried):
            if isinstance(c.guess, ListGuess):
                content: Any = self._begin_list(c, values)
                frame.created[id(content)] = content
            elif isinstance(c.guess, ResizedGuess):
                content = self.sizes.array(
                    c, c.guess, values, "log_read" if self.in_condition else "log_array")
            else:
                content = content_of(c.guess, values, lambda: of_dim(turn) == 0)
                frame.stand_ins += made_for(c.guess, content)
            self.stand_ins.update({id(x): (k, x) for x in made_for(c.guess, content)})
            frame.written[c.place.key] = (c.place, c.place.get())
            note_stand_in(c.place.get(), content)
            c.place.set(content)
            self.begun.append([None if x is None else Begun(x.cell, x.steps, x.dims, x.cell.value)
                               for x in map(array_of, parts_of(c.guess, content))])
            frame.begun += [b.cell for b in self.begun[-1] if b is not None]

        for g in self.growing:
            g.note_begun()

    def stored_lists(self) -> list[Growing]:
        """Return the lists that are stored: of tuples, one for each place in them."""
        return [p for g in self.growing for p in g.parts]

    def _refuse_indexed(self) -> None:
        """Unroll a loop that indexes lists which keep their length by its number."""
        growing = {id(g.container) for g in self.growing}
        for x in self.frame.indexed:
            if id(x) in growing:
                continue
            need_run(x)
            raise Unroll("a list is indexed by a number of the loop")

    def _run_condition(self, frame: Frame) -> list[Any] | None:
        known = {c.place.key for c in self.carried}
        before = [c.place.get() for c in self.carried]
        changes = current().log_changes
        result = self.condition(SymInt(self.inputs[0].dim))
        written = {key for key, (p, _) in frame.written.items() if not _is_log(p)}
        if current().log_changes != changes or written - known or any(
                c.place.get() is not x and not _is_log(c.place)
                for c, x in zip(self.carried, before, strict=True)):
            raise refuse("the condition of this `while` changes something in some iterations only",
                         "Change it in the body", "TJ408")
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
        if self.leaves:
            begin_without_error()
        if not self._came_to_its_end(frame):
            return None
        self._refuse_indexed()
        inside = {*self.inputs, *(v for e in current().builder.scope.eqns for v in e.outputs)}
        self.growing = [as_rows(g) for g in self.growing]
        grown = [g.leave(frame, inside) for g in self.growing]
        self._forget_storage()
        ended_lists = self._end_lists()
        if self._newly_written(frame) | self._improve() | (not all(grown)) or ended_lists is None:
            return None
        refuse_shared_items(self.growing, [
            x for c in self.carried if not isinstance(c.guess, CellGuess)
            for x in containers(c.place.get())])
        if not self.sizes.hold({c: c.place.get() for c in self.carried
                                if isinstance(c.guess, ResizedGuess)}):
            return None
        self._refuse_writes_to_items()
        if frame.swallowed is not None:
            if self.growing:
                raise frame.swallowed
            self.settled = True
            return None
        self.ended = [c.place.get() for c in self.carried]
        self.held = [with_joined(containers(x)) for x in self.ended]
        self.outdated = frame.outdated
        return self._yielded(ended_lists)

    def _came_to_its_end(self, frame: Frame) -> bool:
        """Run the body; return whether it ended, by an error of the run if need be."""
        opened = len(current().opened)
        with ending([c.place for c in self.carried if isinstance(c.place, NamePlace)]):
            ended = self._how_it_ended(frame)
            if ended is False:
                return False
            if len(current().opened) > opened:
                close_opened(opened, ended)
        return True

    def _how_it_ended(self, frame: Frame) -> type[BranchRaised] | Literal[False] | None:
        """Run the body; return the error by which it ended, False where the guess did not hold."""
        try:
            self.body(SymInt(self.inputs[0].dim))
        except BranchRaised as e:
            return type(e)
        except Exception as e:
            if is_of_a_signal(e):
                raise
            try:
                if self._improve():  # the error rested on a guess that does not hold
                    return False
            except Exception as later:  # of a body that has not come to its end
                if is_of_a_signal(later):
                    raise
            if not isinstance(e, Unroll):
                self._refuse_indexed()
            if self.growing or not is_pythons(e):
                raise
            if not frame.settled:
                self.settled = True
                return False
            if jumps_by(e):
                return BranchJumped
            end_in_run(e)
            return BranchRaised
        return None

    def _yielded(self, ended_lists: dict[Carried, list[Value]]) -> list[Any]:
        """Return the values that an iteration hands on to the next one."""
        outputs: list[Any] = []
        for c, end in zip(self.carried, self.ended, strict=True):
            if isinstance(c.guess, CellGuess):
                outputs.append(end)
            elif isinstance(c.guess, ListGuess):
                outputs.extend(ended_lists[c])
            elif isinstance(c.guess, ResizedGuess):
                outputs.extend(left_resized(c.guess, end))
            elif isinstance(c.guess, ViewGuess):
                outputs.extend(places_of_view(end))
            elif c.guess is not UNSET:
                map_content(lambda g, x: outputs.append(yielded(g, x)), c.guess, end)
        return [a for a in outputs if a is not None]

    def _forget_storage(self) -> None:
        """Carry no storage of lists that was made for another kind of items."""
        self._forget({p.outdated for p in self.stored_lists() if p.outdated is not None})

    def _forget(self, old: set[Cell | None]) -> None:
        self.carried = [c for c in self.carried
                        if not (isinstance(c.place, CellPlace) and c.place.cell in old)]

    def _refuse_writes_to_items(self) -> None:
        """Refuse to write to arrays of names that may be in a list that gets longer."""
        cells = {x.cell for p in self.stored_lists() for x in p.first
                 if isinstance(x, Tracer) and x.is_array}
        if any(isinstance(c.place, CellPlace) and c.place.cell in cells for c in self.carried):
            raise Unroll("arrays of a list are written to in the loop that makes it longer")
        if not any(p.stored for p in self.stored_lists()) or not self._hands_on_items():
            return
        for begun in (b for found in self.begun for b in found):
            if begun is not None and (begun.cell.value is not begun.value or begun.cell.touched):
                raise Unroll("arrays that go to a list are written to in a later iteration")

    def _hands_on_items(self) -> bool:
        """Return whether a later iteration may have an array that this one has put into a list.

        It can write to the arrays that this one leaves in places or that they had before the loop.
        """
        items = [x.cell for p in self.stored_lists() for x in (*p.stored, *p.first)
                 if isinstance(x, Tracer) and x.is_array]
        handed = [a for c in self.carried for content in (c.place.get(), c.start)
                  for x in parts_of(c.guess, content) if (a := array_of(x)) is not None]
        return any(a.cell.may_be_one_with(cell) for a in handed for cell in items)

    # --- better guesses -------------------------------------------------------------------------

    def _newly_written(self, frame: Frame) -> bool:
        """Add the places that were written to and are not carried yet.

        A name or attribute that is bound anew comes first: which arrays are written to is found
        again once it is carried.
        """
        known = {c.place.key for c in self.carried}
        new = [(p, content) for key, (p, content) in frame.written.items() if key not in known]
        own = [p for p, _ in new if id(holder_of(p)) in self.stand_ins]
        self.changed_turns = {self.stand_ins[id(holder_of(p))][0] for p in own}
        new = [(p, content) for p, content in new if p not in own]
        bound = [(p, content) for p, content in new if not isinstance(p, CellPlace)]
        if bound:
            new = bound
            self.carried = [c for c in self.carried
                            if c in self.given or not isinstance(c.place, CellPlace)]
        for p, content in new:
            guess = CellGuess(content.aval) if isinstance(p, CellPlace) else first_guess(
                content, True)
            self.carried.append(Carried(p, content, guess))
        return bool(new)

    def _improve(self) -> bool:
        """Adapt the guess to the contents that the body left; return whether it was changed."""
        changed = False
        for c in self.carried:
            if isinstance(c.guess, CellGuess):
                continue
            better = self._better(c)
            if better is not c.guess:
                c.guess, changed = better, True
        return changed

    def _require_one_dtype(self, before: object, guess: object, name: str) -> None:
        """Carry out the first iteration before the loop if it makes floats of ints in an array.

        Where it may be none, or has a `break`, the name holds a choice of the two arrays.
        """
        if isinstance(before, Number) and before.aval.shape and isinstance(guess, Choice) and (
                self.condition is None and self.lo == 0 and not self.reverse) and all(
                isinstance(g, Number) and len(g.aval.shape) == len(before.aval.shape)
                for g in guess.options) and current().decide(
                self.lo - self.hi, "<", "whether a loop runs decides of which dtype an array is"):
            refusal = refuse(f"{name!r} has dtype {before.aval.dtype} before an iteration and "
                             "another one after it", "Give it one dtype before the loop", "TJ407")
            raise Widens(refusal, f"{name!r} has dtype {before.aval.dtype} before it")

    def _better(self, c: Carried) -> Any:
        name = getattr(c.place, "name", "this")
        try:
            if isinstance(c.guess, ResizedGuess):
                return self._resized(c) or c.guess
            if not isinstance(c.guess, ListGuess):
                self.left[c] = narrowed(c.place.get())
                before, guess = c.guess, better_guess(c.guess, c.place, name)
                self._require_one_dtype(before, guess, name)
                return guess
        except (Unroll, Refusal) as e:
            found = list_guess(c.place, c.start, c.guess, self.by_data)
            if found is None:
                resized = None if isinstance(e, Widens) or self.growing else self._resized(c)
                if resized is not None:
                    return resized
                if isinstance(e, Widens):
                    raise
                if isinstance(c.guess, MaybeUnset) and type(e) is Refusal:
                    raise Widens(e, f"{name!r} is not set before it") from None
                raise
            self.lists.drop(c.start)
            self._forget(self.lists.outdated)
            return found
        found = list_guess(c.place, c.start, c.guess, self.by_data)
        if found is None:
            raise Unroll(f"{name!r} changes its structure from one iteration to the next")
        return found

    def _resized(self, c: Carried) -> ResizedGuess | None:
        found = resized_guess(c.start, c.place.get(), c.guess)
        if found is None and isinstance(c.guess, ResizedGuess):
            raise refuse(f"{getattr(c.place, 'name', 'this')!r} is an array whose size changes "
                         "from one iteration of this loop to the next, and then something else",
                         "Give it one dtype, and as many axes, in all iterations", "TJ407")
        return found

    # --- lists whose length data decides --------------------------------------------------------

    def _begin_list(self, c: Carried, values: Iterator[Value]) -> list[Any]:
        """Return the list with which an iteration begins."""
        form = c.guess.form
        container = begun_list([next(values) for _ in form.avals], form, self, c.guess.where)
        self.begun_lists.append((c, container))
        current().chosen_lists[id(container)] = container
        return container

    def _gets_other_items(self, e: Grows) -> bool:
        """Improve the guess of a list that gets numbers of another kind; False if it has none."""
        for c, container in self.begun_lists:
            if container is e.container:
                kinds = tuple(united(before, e.kinds.get(j, ()))
                              for j, before in enumerate(c.guess.form.kinds))
                form = joint_form(Form(c.guess.form.template, kinds, c.guess.form.shape))
                assert form is not None
                c.guess = ListGuess(form, c.guess.where)
                return True
        return False

    def _end_lists(self) -> dict[Carried, list[Value]] | None:
        """Return the Logs of the lists that an iteration leaves; None where the guess was wrong.

        A list that goes on under its name leaves its Logs. The others are copied: Logs of one name
        have one storage, so that the old ones are used up before the new ones are made, in both
        directions.
        """
        ends: dict[Carried, list[Value]] = {}
        arrays: dict[Carried, list[Tracer]] = {}
        begun = dict(self.begun_lists)
        for c in begun:
            end = c.place.get()
            if type(end) is not list or not is_of_form(end, c.guess.form):
                return None
            if self._hand_over(c, end):
                return None
            if end is not begun[c]:
                arrays[c] = arrays_of(end, c.guess.form)
        for c, x in begun.items():
            if c in arrays:
                finish_logs(x)
            else:
                ends[c] = logs_of(x)
        return {**ends, **{c: as_logs(found) for c, found in arrays.items()}}

    def _hand_over(self, c: Carried, items: Sequence[object]) -> bool:
        """Refuse writes to the arrays of a list; return whether iterations knew them unfrozen."""
        if not c.guess.form.shape:
            return False
        arrays = [x.handle if isinstance(x, Views) else x.data if isinstance(x, Stored) else x
                  for x in items]
        open_ones = [x.cell for x in arrays if isinstance(x, Tracer) and x.cell.constant is None
                     and x.cell.depth < self.frame.depth]
        for x in items:
            hand_over(x)
        return any(cell.constant is not None for cell in open_ones)

    def keep_arrays(self) -> bool:
        """Guess that names keep their arrays which the body bound to the same arrays anyhow.

        Then other handles on these arrays see the writes of the body. Each is guessed so once.
        """
        kept = False
        for c, begun, end in zip(self.carried, self.begun, self.ended, strict=True):
            leaves = leaves_of(c.guess)
            if len(leaves) != len(begun):  # some may be unset
                continue
            keeps = {}
            starts, ends = parts_of(c.guess, c.start), parts_of(c.guess, end)
            for k, (g, b, start, ended) in enumerate(zip(leaves, begun, starts, ends, strict=True)):
                if b is None or not isinstance(ended, Tracer) or b.cell is not ended.cell or (
                        b.steps != ended.steps) or (c, k) in self.demoted:
                    continue
                if isinstance(g, Number) and isinstance(start, Tracer) and start.dims == b.dims:
                    keeps[k] = Fixed(start)
            if keeps:
                self.demoted.update((c, k) for k in keeps)
                numbers = itertools.count()
                c.guess = map_content(lambda g, keeps=keeps, numbers=numbers:
                                      keeps.get(next(numbers), g), c.guess)
                kept = True
        return kept

    def carry_views(self, refusal: Refusal) -> bool:
        """Guess that names hold parts of arrays that last, by their places; False if none does.

        A write to such an array is seen by the name, as in Python. Where the name holds another
        array at first, the first iteration has to be carried out before the loop.
        """
        found = False
        for c, end in zip(self.carried, self.ended, strict=True):
            part = basic_part(end) if isinstance(c.guess, Number) and c.guess.is_array else None
            if part is None or part[0].depth > current().depth or end.cell.constant is not None:
                continue
            if not isinstance(c.place, NamePlace):
                continue
            begins = basic_part(c.start)
            guess = None if begins is None else ViewGuess(*begins)
            if guess is None or not is_view_like(guess, end):
                raise Widens(refusal, f"{c.place.name!r} is a part of another array after it")
            c.guess, found = guess, True
        return found

    # --- starting -------------------------------------------------------------------------------

    def starts(self) -> list[Any]:
        """Return the carried values as they are before the loop."""
        starts: list[Any] = []
        lists = {c: as_logs(arrays_of(c.start, c.guess.form)) for c in self.carried
                 if isinstance(c.guess, ListGuess)}
        for c in self.carried:
            if isinstance(c.guess, CellGuess):
                starts.append(c.place.get() if _is_log(c.place) else c.start)
            elif isinstance(c.guess, ListGuess):
                starts.extend(lists[c])
            elif isinstance(c.guess, ResizedGuess):
                starts.extend(left_resized(c.guess, c.start))
            elif isinstance(c.guess, ViewGuess):
                starts.extend(places_of_view(c.start))
            elif isinstance(c.guess, MaybeUnset) and not isinstance(c.start, MaybeUnset):
                unset = c.start is UNSET
                content = c.guess.content if unset else as_guessed(c.guess.content, c.start)
                map_content(lambda g, x, unset=unset: starts.append(
                    blank(g) if unset else yielded(g, x)), c.guess.content, content)
                starts.append(atom_of(not unset))
            elif c.guess is not UNSET:
                map_content(lambda g, x: starts.append(yielded(g, x)), c.guess,
                            _start(c.guess, c.start))
        return [s for s in starts if s is not None]


def _start(guess: object, start: object) -> Any:
    if isinstance(guess, MaybeUnset) and isinstance(start, MaybeUnset):
        return MaybeUnset(as_guessed(guess.content, narrowed(start.content)), start.is_set,
                          start.name)
    return as_guessed(guess, narrowed(start)) if has_choices(guess) else start


def _is_log(place: Place) -> bool:
    """Return whether a place is the cell of a Log, which reads of a list change, too."""
    return isinstance(place, CellPlace) and place.cell.value.is_log


def changed_and_bound(name: str, x: object) -> Refusal:
    kind = type(x).__name__
    return refuse(f"{name!r} is bound to one {kind} after another in this loop, and what it holds "
                  "is changed as well",
                  f"Do one of both, or copy it before it is changed: {name} = {kind}({name})",
                  "TJ406")


def _name_of(c: Carried) -> str:
    """Return the user's name for a carried place, if it holds one number or array; else ""."""
    if isinstance(c.place, NamePlace) and isinstance(c.guess, Number):
        return c.place.name
    return ""
