"""Guesses of the contents that a loop carries: for each place, a tree of numbers and constants.

A guess is a content (a tree of lists, tuples and dicts) with `Number`s and `Fixed`s for leaves.
The content that an iteration leaves either agrees with it, or gives a better guess.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Span, Value
from tracejit.ir.dims import Dim
from tracejit.ir.types import Aval
from tracejit.trace.containers.choices import (
    MANY_OPTIONS,
    can_be_chosen,
    described,
    is_array,
    matching,
    narrowed,
    options_of,
    rank_of,
    same_rank,
    shaped,
)
from tracejit.trace.containers.places import (
    ABSENT,
    UNSET,
    Choice,
    MaybeUnset,
    are_equal_constants,
    children,
    is_number,
    map_content,
    rebuild,
    same_node,
)
from tracejit.trace.containers.records import (
    attributes_in,
    close,
    is_alike,
    is_of_iteration,
    is_open,
    is_record,
    is_tree,
    opened,
)
from tracejit.trace.containers.references import require_reference
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import Cell, Place, current, refuse
from tracejit.trace.ground.restarts import PlaceInCode, Unroll, Widens
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.views import At, IndexStep
from tracejit.trace.lists.forms import Form, form_of, has_length_by_data, joint_form
from tracejit.trace.lists.grown import size_value
from tracejit.trace.regions.merging import join_leaf
from tracejit.trace.regions.resized import ResizedGuess
from tracejit.trace.values.equations import (
    atom_of,
    cast,
    dims_of,
    dtype_of,
    emit_value,
    is_weak,
    lift,
    same_dim,
    written_as,
)
from tracejit.trace.values.mixed import (
    UNBOUNDED,
    Flag,
    Kinds,
    all_kinds_of,
    can_join,
    joint,
    keys_of,
    merged,
    number_of,
    settled,
    united,
)
from tracejit.trace.values.tracer import Tracer, scalar_of

__all__ = ["CellGuess", "Fixed", "ListGuess", "Number", "ViewGuess", "as_guessed", "as_left",
           "basic_part", "better_guess", "blank", "content_of", "first_guess", "has_choices",
           "is_guessed", "is_of_several_kinds", "is_view_like", "leaves_of", "list_guess",
           "made_for", "numbers_of", "numeric_kinds", "parts_of", "places_of_view", "yielded"]


@dataclass(frozen=True, slots=True)
class Number:
    """A guess of a leaf: a number or array, as a carried value."""

    aval: Aval
    weak: bool
    is_array: bool = False
    starts: Kinds = frozenset()
    ends: Kinds = frozenset()
    """The kinds of the number before the loop, and after an iteration; none of an array."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A guess of a leaf: the same object in every iteration."""

    content: Any


@dataclass(frozen=True, slots=True)
class ListGuess:
    """The guess of a list whose length data decides."""

    form: Form
    where: PlaceInCode


@dataclass(frozen=True, slots=True)
class ViewGuess:
    """The guess of an array: a part of an array that lasts, another part in each iteration.

    at -- the basic index of the part before the loop; numbers and where spans start are carried
    """

    cell: Cell
    at: At


@dataclass(frozen=True, slots=True)
class CellGuess:
    """The guess of a cell: it keeps its type."""

    aval: Aval


def first_guess(content: Any, rebound: bool, whole: bool = True) -> Any:
    """Guess from the content before the loop; arrays that are only written to stay themselves.

    whole -- whether lists and dicts are guessed to stay themselves too
    """
    if content is UNSET:
        return UNSET
    if not whole and children(content) is None and is_record(content) and is_of_iteration(
            content) and is_tree(content):
        return opened(content, [first_guess(x, rebound, whole)
                                for x in attributes_in(content).values()])
    items = children(content)
    if items is None:
        stays = isinstance(content, Tracer) and content.is_array and not rebound
        return Fixed(content) if stays or not is_number(content) else _number_guess(content)
    if isinstance(content, (list, dict)) and (whole or not is_of_iteration(content)):
        return Fixed(content)
    return rebuild(content, [first_guess(x, rebound, whole) for x in items])


def _number_guess(x: Any) -> Number:
    x = lift(x)
    kinds, is_array = numeric_kinds(x), isinstance(x, Tracer) and x.is_array
    x = settled(x)
    if isinstance(x, Tracer):
        return Number(Aval(x.dtype, x.dims), x.weak, is_array, kinds)
    dtype, weak = join_leaf(x, x)
    return Number(Aval(dtype), weak, starts=kinds)


def numeric_kinds(x: Any) -> Kinds:
    """Return the kinds of a number or an array without axes; none for another array."""
    return frozenset() if isinstance(x, Tracer) and x.dims else all_kinds_of(x)


def content_of(guess: Any, values: Iterator[Value], is_first: Callable[[], Any]) -> Any:
    """Return the content that a guess says, with the next of some values for its numbers.

    is_first -- whether no iteration has run
    """
    if guess is UNSET:
        return UNSET
    if isinstance(guess, CellGuess):
        return next(values)
    if isinstance(guess, ViewGuess):
        return _view_of(guess, values)

    def leaf(g: Any) -> Any:
        if isinstance(g, Fixed):
            return g.content
        content = scalar_of(next(values), weak=g.weak)
        if g.is_array:
            content.cell.is_array = content.cell.handed_on = True
        if not is_of_several_kinds(g) or not isinstance(content, Tracer):
            return content
        begins, ends = keys_of(g.starts), keys_of(g.ends)
        flag = Flag(next(iter(begins)), is_first) if len(begins) == len(ends) == 1 else None
        return merged(content, united(g.starts, g.ends), flag)

    made = map_content(leaf, guess)
    _note_guess(guess, made)
    return close(made)


def _note_guess(guess: object, content: object) -> None:
    """Note that the choices in a content have the things of those in a guess, in order."""
    if isinstance(content, Choice):
        content.guess = guess
    if (parts := children(guess)) is not None:
        for g, x in zip(parts, children(content, guess) or (), strict=False):
            _note_guess(g, x)


def is_of_several_kinds(g: object) -> bool:
    """Return whether a leaf is of one kind in some iterations, and of another in others."""
    return isinstance(g, Number) and len(keys_of(g.starts | g.ends)) > 1


def as_left(g: Number, x: Any, end: Any) -> Any:
    """Return the content of a place after iterations that leave a number or array like `end`."""
    kinds = frozenset() if g.aval.shape else all_kinds_of(lift(end))  # outside, no view is read
    if any(k.is_array for k in kinds):
        return merged(number_of(x), kinds)
    x = settled(x)
    if len(keys_of(kinds)) != 1:
        return merged(x, kinds)
    ((dtype, weak, _),) = keys_of(kinds)
    return scalar_of(cast(x, dtype).value, weak=weak)


# --- the leaves of guesses ------------------------------------------------------------------------


def leaves_of(guess: object) -> list[Any]:
    """Return the leaves of a guess, from left to right."""
    found: list[Any] = []
    map_content(found.append, guess)
    return found


def parts_of(guess: object, content: object) -> list[Any]:
    """Return the parts of a content in the places of a guess's leaves, but whether it is set."""
    if isinstance(guess, MaybeUnset):
        content = content.content if isinstance(content, MaybeUnset) else content
        return parts_of(guess.content, content)
    if isinstance(guess, Choice) and content is not UNSET and content is not guess:
        content = as_guessed(guess, content, emits=False)
    parts = children(guess)
    if parts is None or content is UNSET:
        return [content] * len(leaves_of(guess))
    wanted, found = list(parts), list(children(content, guess) or ())
    if len(found) != len(wanted):
        raise Unroll("a name holds lists of different lengths")
    return [x for g, y in zip(wanted, found, strict=True) for x in parts_of(g, y)]


def numbers_of(guess: object) -> list[Any]:
    """Return the leaves of a guess that are carried values."""
    if isinstance(guess, ListGuess):
        return [CellGuess(aval) for aval in guess.form.avals]
    if isinstance(guess, ResizedGuess):
        return [CellGuess(aval) for aval in guess.avals]
    if isinstance(guess, ViewGuess):
        return [CellGuess(Aval(np.dtype(np.int64)))] * len(guess.at)
    return [g for g in leaves_of(guess) if isinstance(g, (Number, CellGuess))]


def made_for(guess: object, content: object) -> list[Any]:
    """Return the lists and dicts of a content that were made for it, as a guess has it."""
    parts = children(guess)
    if isinstance(guess, ListGuess):
        return [content]
    if parts is None:
        return []
    if isinstance(guess, Choice):
        content = as_guessed(guess, content, emits=False)
    found = [content] if isinstance(content, (list, dict)) or is_open(guess) else []
    for g, x in zip(parts, children(content, guess) or (), strict=True):
        found += made_for(g, x)
    return found


def as_guessed(guess: object, content: object, emits: bool = True) -> Any:
    """Return a content with choices where a guess has them."""
    return shaped(guess, content, is_guessed, emits)


def has_choices(guess: object) -> bool:
    """Return whether a guess has a choice in it."""
    if isinstance(guess, MaybeUnset):
        return has_choices(guess.content)
    return isinstance(guess, Choice) or (
        isinstance(guess, tuple) and any(map(has_choices, guess)))


def is_guessed(g: object, x: object) -> bool:
    """Return whether a leaf is of the kind that a guess says, at the least as one of a choice."""
    if isinstance(g, Fixed):
        if is_number(g.content):
            return same_rank(g.content, x)
        if children(x) is not None:  # one that is equal is another one
            return x is g.content
        return are_equal_constants(x, g.content) or _are_one_function(g.content, x) or (
            isinstance(x, Fixed) and are_equal_constants(x.content, g.content))
    if isinstance(x, Number):
        return isinstance(g, Number) and len(g.aval.shape) == len(x.aval.shape) and can_join(
            _like(g), _like(x)) and g.is_array is x.is_array
    return isinstance(g, Number) and is_number(x) and len(g.aval.shape) == rank_of(x) and can_join(
        _like(g), x) and g.is_array is is_array(x)


def _like(g: Number) -> Any:
    """Return a number or array of the kind of a guess."""
    if g.is_array or g.aval.shape:
        return np.zeros((), g.aval.dtype)
    return g.aval.dtype.type(0).item() if g.weak else g.aval.dtype.type(0)


def _are_one_function(f: object, g: object) -> bool:
    """Return whether two functions were made at one place, of the same names."""
    return isinstance(f, FunctionType) and isinstance(g, FunctionType) and (
        f.__code__ is g.__code__ and f.__globals__ is g.__globals__
        and f.__defaults__ is g.__defaults__ is None
        and f.__kwdefaults__ is g.__kwdefaults__ is None and not f.__dict__ and not g.__dict__
        and len(f.__closure__ or ()) == len(g.__closure__ or ()) and all(
            a is b for a, b in zip(f.__closure__ or (), g.__closure__ or (), strict=True)))


def _is_made_again(f: FunctionType) -> bool:
    """Note that iterations make a function anew; return whether the body knows it already."""
    known, made_again = f.__code__ in current().made_again, current().made_again
    made_again.add(f.__code__)
    return known


def yielded(g: Any, x: Any) -> Any:
    """Return a leaf as a carried value of the guessed type; None if it is not carried."""
    if not isinstance(g, Number):
        return None
    if x is ABSENT:
        return blank(g)
    return atom_of(written_as(settled(lift(x)), g.aval.shape), g.aval.dtype)


def blank(g: object) -> Any:
    """Return something of the guessed type, for a name that is not set before the loop."""
    if not isinstance(g, Number):
        return None
    if not g.aval.shape:
        return atom_of(g.aval.dtype.type(0))
    return emit_value("empty", [], {"shape": g.aval.shape, "dtype": g.aval.dtype})


# --- parts of arrays that last ------------------------------------------------------------------


def _view_of(guess: ViewGuess, values: Iterator[Value]) -> Tracer:
    """Return the part of an array that begins at some places."""
    at: list[Dim | Span] = []
    for place in guess.at:
        value = next(values)
        current().builder.assume(value, 0, None)
        at.append(Span(value.dim, place.size, place.step) if isinstance(place, Span)
                  else value.dim)
    return Tracer(guess.cell, (IndexStep(tuple(at)),))


def basic_part(x: object) -> tuple[Cell, At] | None:
    """Return the cell and the basic index of a part of an array; None for other things."""
    if isinstance(x, Tracer) and len(x.steps) == 1 and isinstance(x.steps[0], IndexStep):
        return x.cell, x.steps[0].at
    return None


def is_view_like(guess: ViewGuess, x: object) -> bool:
    """Return whether something is a part of the same array, of the same shape."""
    part = basic_part(x)
    return part is not None and part[0] is guess.cell and _form(part[1]) == _form(guess.at)


def _form(at: At) -> list[object]:
    canonical = current().canonical
    return [(canonical(p.size), p.step) if isinstance(p, Span) else None for p in at]


def places_of_view(x: Tracer) -> list[Any]:
    """Return the numbers that say which part of an array something is."""
    part = basic_part(x)
    assert part is not None
    return [size_value(p.start if isinstance(p, Span) else p) for p in part[1]]


def list_guess(place: Place, start: Any, guess: Any, by_data: bool) -> ListGuess | None:
    """Return the guess that a place has lists whose length data decides; None if it has others."""
    end = place.get()
    if not (type(start) is list and type(end) is list):
        return None
    if not (by_data or isinstance(guess, ListGuess) or has_length_by_data(end)):
        return None
    before = guess.form if isinstance(guess, ListGuess) else None
    form = joint_form(before, form_of(start, True), form_of(end, True))
    if form is None:
        return None
    if form == before and isinstance(guess, ListGuess):
        return guess
    return ListGuess(form, place_in_code())


# --- better guesses -------------------------------------------------------------------------------


def better_guess(guess: object, place: Place, name: str) -> Any:
    """Return a guess that also fits the content that an iteration left; the same one if it did.

    Raises `Unroll` where there is none.
    """
    end = place.get()
    if guess is UNSET:
        if end is UNSET:
            return UNSET
        guess = first_guess(end, True, whole=False)
        if isinstance(end, MaybeUnset):
            return guess
        return MaybeUnset(guess, Number(Aval(np.dtype(np.bool_)), False), name)
    if isinstance(guess, MaybeUnset) and not isinstance(end, MaybeUnset):
        end = MaybeUnset(end, True, name)
        place.set(end)
    if end is UNSET:
        raise _restructured(name)
    end = end if isinstance(end, MaybeUnset) else narrowed(end)
    better = _better_tree(guess, end, name)
    if has_choices(better):
        place.set(_as_set(better, end))
    elif isinstance(place.get(), (Choice, tuple)):
        place.set(end)  # the option of each choice is known
    return better


def _as_set(guess: object, end: object) -> Any:
    """Return the content that an iteration left, with choices where a guess has them."""
    if isinstance(guess, MaybeUnset) and isinstance(end, MaybeUnset):
        return MaybeUnset(as_guessed(guess.content, narrowed(end.content)), end.is_set, end.name)
    return as_guessed(guess, end)


def _restructured(name: str) -> Unroll:
    return Unroll(f"{name!r} changes its structure from one iteration to the next")


def _better_tree(guess: Any, end: Any, name: str) -> Any:
    if isinstance(guess, MaybeUnset) and isinstance(end, MaybeUnset):
        end = MaybeUnset(narrowed(end.content), end.is_set, end.name)
    if isinstance(guess, Choice) or isinstance(end, Choice):
        return _better_choice(guess, end, name)
    if isinstance(guess, Fixed):
        require_reference(guess.content, end)
    parts, items = children(guess), children(end, guess)
    if parts is None:
        return _better_leaf(guess, end, name)
    if items is None or not same_node(guess, end):
        return _better_choice(guess, end, name)
    before = list(parts)
    better = [_better_tree(g, x, name) for g, x in zip(before, items, strict=True)]
    return guess if all(map(operator.is_, better, before)) else rebuild(guess, better)


def _better_choice(guess: object, end: object, name: str) -> Any:
    """Return the guess that data decides which of several things a place holds."""
    options = list(options_of(guess))
    before = list(options)
    for o in options_of(end):
        lengths = {len(g) for g in (*options, o) if isinstance(g, tuple)}
        if not can_be_chosen(o) or len(lengths) > 2 or (
                is_record(o) and is_of_iteration(o) and not is_tree(o)):
            raise _restructured(name)  # a tuple that gets longer has no end
        k = matching(options, o, is_guessed)
        if k is None:
            options.append(first_guess(o, True, whole=False))
        else:
            options[k] = _better_tree(options[k], o, name)
    if len(options) > MANY_OPTIONS or any(
            isinstance(g, (list, dict, ViewGuess)) or (isinstance(g, Fixed) and isinstance(
                g.content, (list, dict, Tracer))) for g in options):
        raise _restructured(name)
    if len(options) == 1:
        return guess if options[0] is guess else options[0]
    if isinstance(guess, Choice) and len(before) == len(options) and all(
            map(operator.is_, before, options)):
        return guess
    tag = guess.tag if isinstance(guess, Choice) else Number(Aval(np.dtype(np.int64)), False)
    where = end.where if isinstance(end, Choice) else describe_line(find_site())
    return Choice(tag, tuple(options), name, where)


def _better_leaf(g: Any, x: Any, name: str) -> Any:
    if isinstance(g, ViewGuess):
        if is_view_like(g, x):
            return g
        raise Unroll(f"{name!r} is a part of one array, and then something else")
    if isinstance(g, Fixed):
        if x is g.content:
            return g
        if isinstance(g.content, (list, dict)):
            if not same_node(g.content, x):
                raise _restructured(name)
            return rebuild(g.content, [first_guess(y, True) for y in children(g.content) or ()])
        if is_record(x) and is_alike(x, g.content) and is_of_iteration(x) and (
                is_tree(x) and is_tree(g.content)):
            before = attributes_in(g.content).values()
            return _better_tree(opened(g.content, [first_guess(y, True) for y in before]), x, name)
        if isinstance(x, Tracer) and isinstance(g.content, Tracer):
            if x.cell is g.content.cell and x.steps == g.content.steps:
                return g
            return _better_leaf(_number_guess(g.content), x, name)
        if is_number(x) and is_number(g.content):
            return _better_leaf(_number_guess(g.content), x, name)
        if are_equal_constants(x, g.content):
            return g
        if _are_one_function(g.content, x):
            return g if _is_made_again(x) else Fixed(g.content)
        try:
            return _better_choice(g, x, name)
        except Unroll:
            if g.content is not None:
                raise
            refusal = refuse(f"{name!r} is None before an iteration and {described(x)} after it",
                             "Give it what it will be before the loop", "TJ407")
            raise Widens(refusal, f"{name!r} is None before it") from None
    return _joined(g, x, name) if _joins(g, x) else _better_choice(g, x, name)


def _joins(g: Number, x: object) -> bool:
    """Return whether a number or array is one of the guessed kind, or only its rank differs."""
    return is_number(x) and (len(g.aval.shape) != rank_of(x) or can_join(_like(g), x))


def _joined(g: Number, x: Any, name: str) -> Number:
    if not is_number(x):
        raise _restructured(name)
    x = lift(x)
    kinds, found = numeric_kinds(x), isinstance(x, Tracer) and x.is_array
    x = settled(x)
    start = np.zeros((), g.aval.dtype)[()] if not g.weak else g.aval.dtype.type(0).item()
    dtype, weak = join_leaf(start, x) if not _same_kind(g, x) else (g.aval.dtype, g.weak)
    dims = dims_of(x)
    trace = current()
    if len(dims) != len(g.aval.shape) or not all(
            trace.canonical(a) == trace.canonical(b) or trace.unify(a, b) or _agree(a, b)
            for a, b in zip(dims, g.aval.shape, strict=True)):
        raise _reshaped(name, g.aval.shape, dims)
    ends = _widened(g.ends, kinds)
    if len(keys_of(g.starts | ends)) > 1:
        dtype, weak = joint(united(g.starts, ends))
    better = Number(Aval(dtype, g.aval.shape), weak, g.is_array or found, g.starts, ends)
    return g if _as_carried(better) == _as_carried(g) else better


def _as_carried(g: Number) -> tuple[Any, ...]:
    """Return the parts of a guess that have to be right; kinds count where there are several."""
    several = is_of_several_kinds(g)
    return (g.aval.dtype, g.weak, g.is_array, several, several and g.ends)


def _widened(before: Kinds, now: Kinds) -> Kinds:
    """Return kinds united with the kinds after another iteration; where bounds grow, without."""
    bounds = {k.key: k.bound for k in before}
    return united(before, (k if bounds.get(k.key, k.bound) == k.bound else
                           k._replace(bound=UNBOUNDED) for k in now))


def _reshaped(name: str, before: tuple[Dim, ...], after: tuple[Dim, ...]) -> Refusal:
    what = f"{name!r} has shape {_shape(before)} before an iteration of this loop and "
    refusal = refuse(what + f"{_shape(after)} after it",
                     "Make it as large as it will get before the loop, and write to parts of it",
                     "TJ407")
    canonical = current().canonical
    if len(before) <= len(after) and all(canonical(b) in (1, canonical(a)) for b, a in zip(
            reversed(before), reversed(after), strict=False)):
        return Widens(refusal, f"{name!r} has shape {_shape(before)} before it")
    return refusal


def _agree(a: Dim, b: Dim) -> bool:
    """Whether two sizes are known and equal in this call; they are checked in every other."""
    trace = current()
    return trace.is_known(a) and trace.is_known(b) and same_dim(a, b)


def _same_kind(g: Number, x: object) -> bool:
    return dtype_of(x) == g.aval.dtype and is_weak(x) == g.weak


def _shape(dims: Sequence[Dim]) -> str:
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"
