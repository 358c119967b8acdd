"""The contents of places after a loop: the equation is emitted, and names get its results."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tracejit.ir.control import hands_on
from tracejit.ir.core import Params, Value
from tracejit.ir.dims import maximum
from tracejit.trace.containers.choices import matching, narrowed, options_of
from tracejit.trace.containers.container_aliases import Turns, containers, still_held, with_joined
from tracejit.trace.containers.places import Choice, MaybeUnset, holder_of, map_content
from tracejit.trace.ground.context import current
from tracejit.trace.lists.forms import begun_list
from tracejit.trace.lists.read_only import freeze
from tracejit.trace.regions.aliases import Bound, array_of, settle_aliases, surely_runs
from tracejit.trace.regions.guesses import (
    ListGuess,
    Number,
    as_left,
    content_of,
    is_guessed,
    is_of_several_kinds,
    leaves_of,
    made_for,
    parts_of,
)
from tracejit.trace.regions.loop_tracer import Carried, Done, LoopTracer, changed_and_bound
from tracejit.trace.regions.resized import ResizedGuess
from tracejit.trace.state.changes import known_container
from tracejit.trace.values.equations import emit
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import CellPlace

__all__ = ["finish_loop"]


def finish_loop(tracer: LoopTracer, done: Done, params: Params) -> None:
    """Emit the loop and give every place its result."""
    trace = current()
    starts = done.starts or tracer.starts()
    if tracer.condition is None:
        results = list(emit("for_", starts, params, done.regions))
        trips = of_dim(maximum(params["hi"] - params["lo"], 0, trace.builder.known))
    else:
        count, *results = emit("while_", starts, params, done.regions)
        trips = of_dim(count.dim)
    values = iter(results)
    kept = set(itertools.compress(results, hands_on(done.regions)))
    tracer.sizes.found = {}
    for c in tracer.carried:
        if isinstance(c.place, CellPlace):
            value = next(values)
            if value not in kept:  # else no iteration writes to it
                trace.record(c.place, c.place.depth)
                c.place.set(value)
            continue
        if c.place.depth is not None:
            trace.record(c.place, c.place.depth)
        c.place.set(_after(tracer, c, values, trips))
    _refuse_shared_lists(tracer)
    _link_containers(tracer)
    bound = _bound(tracer)
    settle_aliases(tracer, bound, trips)
    arrays = [x for b in bound for x in (b.start, b.now)]
    tracer.lists.finish()
    for g in tracer.growing:
        known_container(g.container, "list.append()")
        g.container[:] = g.finished()
    stored = tracer.stored_lists()
    for p in stored:
        p.relate(arrays if p.stored else [], stored)


def _after(tracer: LoopTracer, c: Carried, values: Iterator[Value], trips: object) -> Any:
    """Return the content of a place after the loop."""
    if isinstance(c.guess, ListGuess):
        return _finished_list(c.guess, values)
    if isinstance(c.guess, ResizedGuess):
        return tracer.sizes.array(c, c.guess, values, "last")
    return _left(tracer, c, content_of(c.guess, values, lambda: trips == 0))


def _left(tracer: LoopTracer, c: Carried, content: object) -> Any:
    """Return the content of a place after the loop: of an iteration's kind, if one surely ran."""
    leaves = leaves_of(c.guess)
    if isinstance(c.guess, Choice) and isinstance(content, Choice):
        return _left_choice(tracer, c, content)
    if isinstance(c.guess, MaybeUnset) or not any(map(is_of_several_kinds, leaves)):
        return content
    runs = None if tracer.condition is not None else current().decide(
        tracer.lo - tracer.hi, "<", "whether a loop runs decides of which type a number is")
    if runs is None:
        return content
    last = tracer.ended[tracer.carried.index(c)] if runs else c.start
    found = iter([as_left(g, x, end) if is_of_several_kinds(g) else x for g, x, end in zip(
        leaves, parts_of(c.guess, content), parts_of(c.guess, last), strict=True)])
    return map_content(lambda _: next(found), c.guess)


def _left_choice(tracer: LoopTracer, c: Carried, content: Choice) -> Any:
    """Return the choice that a place holds after the loop: an iteration may leave fewer things."""
    ends, starts = ([matching(c.guess.options, o, is_guessed) for o in options_of(x)]
                    for x in (tracer.left[c], narrowed(c.start)))
    runs = None if tracer.condition is not None or len(ends) == len(content.options) else (
        current().decide(tracer.lo - tracer.hi, "<", "whether a loop runs decides what a name "
                         "holds"))
    if runs is None:
        return content
    ends = ends if runs else starts
    frames = current().frames
    tags = frames[-1].tags if frames else current().tags
    tags[content.tag.value] = frozenset(k for k in ends if k is not None)
    return narrowed(content)


def _finished_list(guess: ListGuess, values: Iterator[Value]) -> list[Any]:
    """Return the list that the last iteration left."""
    logs = [next(values) for _ in guess.form.avals]
    container = begun_list(logs, guess.form, None, guess.where)
    container[:] = [run := container[0].finished()]
    if guess.form.shape:  # arrays that may be in other lists, and have names
        freeze(run.data.cell)
    current().chosen_lists[id(container)] = container
    return container


def _refuse_shared_lists(tracer: LoopTracer) -> None:
    """Refuse to change a list that one iteration leaves to the next if it may have two names."""
    trace = current()
    if trace.chosen_lists.keys().isdisjoint(trace.changed_lists):
        return
    lists = [(k, c) for k, c in enumerate(tracer.carried) if isinstance(c.guess, ListGuess)]
    own = {id(x) for _, x in tracer.begun_lists}
    for k, c in lists:
        starts = [with_joined(containers(other.start)) for other in tracer.carried]
        ends = tracer.held
        shared = any(j != k and {id(x) for x in found[j]} & {id(x) for x in found[k]}
                     for found in (starts, ends) for j in range(len(tracer.carried)))
        alive = still_held(x for x in (*starts[k], *ends[k]) if id(x) not in own)
        if shared or alive:
            raise changed_and_bound(getattr(c.place, "name", "this"), [])


def _bound(tracer: LoopTracer) -> list[Bound]:
    """Return the arrays that the loop binds to names anew, and to items of containers in names."""
    found = []
    for c, begun, end in zip(tracer.carried, tracer.begun, tracer.ended, strict=True):
        leaves = zip(parts_of(c.guess, c.guess), parts_of(c.guess, c.start), begun,
                     parts_of(c.guess, end), parts_of(c.guess, c.place.get()), strict=True)
        for g, start, began, *ends in leaves:
            ended, now = map(array_of, ends)
            resized = isinstance(g, ResizedGuess)
            if (resized and now is not None) or (isinstance(g, Number) and g.is_array):
                name = getattr(c.place, "name", "an array")
                found.append(Bound(name, array_of(start), began, ended, now, resized))
    return found


def _link_containers(tracer: LoopTracer) -> None:
    """Note which lists and dicts that names hold after the loop may be one, or others'."""
    carried = tracer.carried
    new = [made_for(c.guess, c.place.get()) for c in carried]
    if not any(new):
        return
    turns = Turns([getattr(c.place, "name", "this") for c in carried],
                  [with_joined(containers(c.start)) for c in carried],
                  {k: place for k, (place, _) in tracer.stand_ins.items()}, tracer.held)
    changed = {id(holder_of(c.place)) for c in carried} - {id(None)} | tracer.frame.changed | (
        {id(g.container) for g in tracer.growing} | tracer.lists.containers.keys())
    turns.link(new, changed, tracer.changed_turns, lambda: surely_runs(tracer))
