"""Choices: data decides which of several things a name holds, None or a tuple, or two functions.

A `Choice` is a number, the *tag*, and an option for each number that the tag may have. Options
that are not chosen have zeros for their numbers. In a branch that asks which option it is (`hit is
None`, `isinstance`, whether it is true) the tag is known, and the choice is the plain option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Atom, Literal, Value
from tracejit.trace.containers.numbered import Numbered, ObjectReference
from tracejit.trace.containers.places import (
    ABSENT,
    Choice,
    HiddenPlace,
    Poison,
    children,
    is_number,
    rebuild,
    same_node,
)
from tracejit.trace.containers.records import is_open
from tracejit.trace.containers.runs import Run, holds_runs
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import above
from tracejit.trace.values.mixed import can_join
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["MANY_OPTIONS", "Tags", "can_be_chosen", "described", "first_choice", "has_alike",
           "is_one_of", "known_tags", "learn", "matching", "narrowed", "note_composed",
           "note_negated", "options_of", "possible", "rank_of", "refuse_choice", "renumbered",
           "replaced", "same_rank", "shaped", "the_one"]

Tags = Mapping[Value, frozenset[int]]
"""For each tag of which something is known, the numbers that it may be."""

MANY_OPTIONS = 64
"""How many things a choice may be between."""


def known_tags() -> dict[Value, frozenset[int]]:
    """Return the knowledge of tags here: the conditions of the branches around, and checks."""
    trace = current()
    found = dict(trace.tags)
    for frame in trace.frames:
        for tag, numbers in frame.tags.items():
            found[tag] = found.get(tag, numbers) & numbers
    return found


def possible(choice: Choice, tags: Tags | None = None) -> list[int]:
    """Return the numbers that the tag of a choice may have here."""
    tag = choice.tag
    if not isinstance(tag, Tracer):
        return [int(tag)]
    known = (known_tags() if tags is None else tags).get(tag.value)
    every = range(len(choice.options))
    return [k for k in every if known is None or k in known] or list(every)


def narrowed(x: object, tags: Tags | None = None) -> Any:
    """Return a content in which choices that are known here are the plain things."""
    if isinstance(x, Choice):
        left = possible(x, tags)
        return narrowed(x.options[left[0]], tags) if len(left) == 1 else x
    if isinstance(x, tuple) and any(map(_has_choice, x)):
        return rebuild(x, [narrowed(y, tags) for y in x])
    return x


def _has_choice(x: object) -> bool:
    return isinstance(x, Choice) or (isinstance(x, tuple) and any(map(_has_choice, x)))


def first_choice(x: object) -> Choice | None:
    """Return the first choice in an argument of a function, or in the lists and tuples there."""
    if isinstance(x, Choice):
        return x
    if isinstance(x, (list, tuple)):
        return next((c for y in x if (c := first_choice(y)) is not None), None)
    return None


def replaced(x: object, choice: Choice, plain: object) -> Any:
    """Return an argument in which a choice is the thing that it is."""
    if x is choice:
        return plain
    if isinstance(x, (list, tuple)) and first_choice(x) is not None:
        return rebuild(x, [replaced(y, choice, plain) for y in x])
    return x


def the_one(x: object, use: str = "this needs to know which", line: str = "") -> Any:
    """Return a content in which all choices are known, or refuse it.

    use, line -- the use, for the message, and its line, if it is not the present line
    """
    x = narrowed(x)
    if isinstance(x, Choice):
        refuse_choice(x, use, line)
    if type(x) in (list, tuple, dict) and any(
            first_choice(y) is not None for y in children(x) or ()):
        return rebuild(x, [the_one(y, use, line) for y in children(x) or ()])
    return x


@above
def refuse_choice(choice: Choice, use: str = "this needs to know which",
                  line: str = "") -> NoReturn:
    """Refuse a use that cannot be told apart for each thing that it may be."""
    names = list(dict.fromkeys(described(choice.options[k]) for k in possible(choice)))
    what = " or ".join(names) if len(names) > 1 else f"one of several things, each {names[0]}"
    hidden = choice.name in ("", HiddenPlace.name) or choice.name.startswith("_tj")
    name = "this" if hidden else repr(choice.name)
    raise Refusal(f"{line or describe_line(find_site())}: {name} is {what}, depending on data "
                  f"since {choice.where}, and {use}. Ask first (`is None`, isinstance), and give "
                  "it one kind of value on all paths", "TJ413")


# --- knowledge of tags ----------------------------------------------------------------------------


def is_one_of(choice: Choice, numbers: Iterable[int]) -> Any:
    """Return whether a choice is one of some of its things, as a bool where that is known."""
    left = possible(choice)
    wanted = frozenset(left) & frozenset(numbers)
    if not wanted or len(wanted) == len(left):
        return bool(wanted)
    (turned, asked) = (False, wanted) if 2 * len(wanted) <= len(left) else (
        True, frozenset(left) - wanted)
    tests = [np.equal(choice.tag, k) for k in sorted(asked)]
    found = tests[0]
    for test in tests[1:]:
        found = np.logical_or(found, test)
    if turned:
        found = np.logical_not(found)
    found = tracer_of(found.value, weak=True)
    rest = frozenset(range(len(choice.options))) - asked
    if_true, if_false = (rest, asked) if turned else (asked, rest)
    _note_meaning(found.value, ("tag", choice.tag.value, if_true, if_false))
    return found


def _note_meaning(v: Value, meaning: tuple[Any, ...]) -> None:
    meanings = current().meanings.setdefault(v, [])
    if meaning not in meanings:
        meanings.append(meaning)


def note_negated(result: object, test: object) -> None:
    """Note that one traced truth is `not` another."""
    if isinstance(result, Tracer) and isinstance(test, Tracer):
        _note_meaning(result.value, ("not", test.value))


def note_composed(result: Value, condition: Value, then: Atom, other: Atom) -> None:
    """Note that a bool is the result of one of two branches."""
    if not result.is_log and result.aval.dtype == np.bool_ and not result.aval.shape:
        _note_meaning(result, ("if", condition, then, other))


def learn(v: object, truth: bool, tags: dict[Value, frozenset[int]]) -> None:
    """Note the tags that a condition tells where it is true, or where it is false."""
    for kind, *parts in current().meanings.get(v, ()) if isinstance(v, Value) else ():
        if kind == "tag":
            tag, if_true, if_false = parts
            numbers = if_true if truth else if_false
            tags[tag] = tags.get(tag, numbers) & numbers
        elif kind == "not":
            learn(parts[0], not truth, tags)
        else:
            condition, then, other = parts
            for taken, left, is_then in ((then, other, True), (other, then, False)):
                if _is_surely(left, condition, not is_then) is (not truth):
                    learn(condition, is_then, tags)
                    learn(taken, truth, tags)


def _is_surely(v: Atom, condition: Value, holds: bool) -> bool | None:
    """Return the result of a branch, where it is known; in it the condition holds, or does not."""
    if isinstance(v, Literal):
        return bool(v.val)
    return holds if v is condition else None


# --- options --------------------------------------------------------------------------------------


def described(x: object) -> str:
    """Return the name in messages of a thing that may be chosen."""
    if x is None:
        return "None"
    if isinstance(x, Tracer) and rank_of(x):
        return f"an array of {rank_of(x)} axes"
    if is_number(x):
        return "a number"
    name = getattr(x, "__name__", None)
    if callable(x) and isinstance(name, str):
        return f"the function {name}" if not isinstance(x, type) else f"the class {name}"
    kind = (list if isinstance(x, Run) else x.kind if isinstance(x, StandIn) else
            x.stands_for if isinstance(x, ObjectReference) else type(x)).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def options_of(x: object) -> Sequence[Any]:
    """Return the options of a content."""
    return x.options if isinstance(x, Choice) else (x,)


def can_be_chosen(x: object) -> bool:
    """Return whether a content may be one of the things of a choice."""
    if isinstance(x, (list, dict)) and holds_runs(x):
        return False
    if isinstance(x, Numbered):
        return True
    parts = children(x)
    if isinstance(x, Choice):
        return all(map(can_be_chosen, x.options))
    if parts is not None:
        return (isinstance(x, (tuple, list, dict)) or is_open(x)) and all(map(can_be_chosen, parts))
    if is_number(x):
        return not (isinstance(x, Tracer) and x.cell.value.is_log)
    return not isinstance(x, (Poison, StandIn, Run))


def matching(options: Sequence[object], x: object,
             same_leaf: Callable[[object, object], bool]) -> int | None:
    """Return the number of the option that a content can be one of; None for a new one."""
    return next((k for k, o in enumerate(options) if _are_alike(o, x, same_leaf)), None)


def has_alike(options: Sequence[object]) -> bool:
    """Return whether two things are of one structure, so that a merged one can stand for both."""
    return any(matching(options[:k], x, _can_be_one) is not None for k, x in enumerate(options))


def _has_numbers(x: object) -> bool:
    parts = children(x)
    return is_number(x) if parts is None else any(map(_has_numbers, parts))


def _can_be_one(x: object, y: object) -> bool:
    if is_number(x) or is_number(y):
        return same_rank(x, y)
    return x is y


def _are_alike(o: object, x: object, same_leaf: Callable[[object, object], bool]) -> bool:
    if isinstance(o, Choice) or isinstance(x, Choice):
        return False
    parts, items = children(o), children(x, o)
    if parts is not None and items is None:
        return False
    if parts is not None:
        return same_node(o, x) and (isinstance(o, tuple) or all(
            _are_alike(p, q, same_leaf) for p, q in zip(parts, items or (), strict=True)))
    return same_leaf(o, x)


def same_rank(o: object, x: object) -> bool:
    """Return whether two things are numbers, or arrays of as many axes, that one can stand for."""
    return is_number(o) and is_number(x) and rank_of(o) == rank_of(x) and can_join(o, x) and (
        is_array(o) == is_array(x))


def is_array(x: object) -> bool:
    """Return whether something is an array, and no number."""
    return isinstance(x, np.ndarray) or (isinstance(x, Tracer) and x.is_array)


def rank_of(x: object) -> int:
    """Return how many axes a number or array has, without an equation for it: of a view, say."""
    if not isinstance(x, Tracer):
        return int(np.ndim(x)) if isinstance(x, np.ndarray) else 0
    if not x.steps:
        return x.cell.value.aval.ndim
    with current().region("probe"):
        return x.ndim


def shaped(guess: object, x: object, same_leaf: Callable[[object, object], bool],
           emits: bool = True) -> Any:
    """Return a content with choices where a guess has them.

    emits -- whether tags that have to be numbered otherwise are; else they are left out
    """
    if isinstance(x, Choice) and x.guess is guess:
        return x
    if isinstance(guess, Choice):
        options: list[Any] = [_absent(g) for g in guess.options]
        numbers = []
        for o in options_of(x):
            k = matching(guess.options, o, same_leaf)
            if k is None:
                raise Unroll("a name holds more kinds of things than before")
            if k in numbers and _has_numbers(o):
                raise Unroll("data chooses between things that are alike")
            options[k] = shaped(guess.options[k], o, same_leaf, emits)
            numbers.append(k)
        tag = renumbered(x.tag, numbers) if isinstance(x, Choice) and emits else (
            ABSENT if isinstance(x, Choice) else np.int64(numbers[0]))
        made = Choice(tag, tuple(options), guess.name, guess.where)
        made.guess = guess
        return made
    parts, items = children(guess), children(x)
    if parts is None or items is None or isinstance(guess, (list, dict)) or not isinstance(
            guess, tuple):
        return x
    before = list(items)
    new = [shaped(g, y, same_leaf, emits) for g, y in zip(parts, before, strict=True)]
    return x if all(p is q for p, q in zip(new, before, strict=True)) else rebuild(x, new)


def _absent(guess: object) -> Any:
    """Return the stand-in for an option that is not chosen, with the structure of its guess."""
    parts = children(guess)
    if parts is None:
        return ABSENT
    made = rebuild(guess, [_absent(g) for g in parts])
    if isinstance(made, Choice):
        made.guess = guess
    return made


def renumbered(tag: object, numbers: Sequence[int]) -> Any:
    """Return a tag with other numbers."""
    if not isinstance(tag, Tracer):
        return np.int64(numbers[int(tag)])  # type: ignore[call-overload]
    if list(numbers) == list(range(len(numbers))):
        return tag
    result: Any = np.int64(numbers[0])
    for k, number in enumerate(numbers[1:], 1):
        result = np.where(np.equal(tag, k), np.int64(number), result)
    return result
