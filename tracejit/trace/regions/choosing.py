"""Operations on choices in captured code: a branch for each thing that a choice may be.

An operation that raises an error for one of the things raises it in the run, where it comes to
that: `hit[0]` is a `TypeError` where `hit` is None, and goes on where it is a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import RAISABLE, TracejitError
from tracejit.trace.containers.choices import (
    is_one_of,
    learn,
    narrowed,
    possible,
    rank_of,
    the_one,
)
from tracejit.trace.containers.places import (
    Choice,
    HiddenPlace,
    MaybeUnset,
    children,
    is_number,
    present,
    rebuild,
)
from tracejit.trace.ground.context import current
from tracejit.trace.ground.upward import above
from tracejit.trace.regions.branches import trace_if
from tracejit.trace.regions.raising import BranchRaised, is_pythons, require_in_run
from tracejit.trace.values.equations import cast, dtype_of, is_weak
from tracejit.trace.values.mixed import Merged, of_some_kinds, one_of_kind
from tracejit.trace.values.tracer import Tracer, scalar_of

__all__ = ["content_or", "for_each", "for_each_kind", "in_one_dtype", "one_of_two",
           "refuse_new_axes",           "told_from_none", "told_of", "whole_number", "with_plain"]

OURS = "Choice"


def for_each(choice: Choice, fn: Callable[[object], object]) -> Any:
    """Return a function's result for the thing that a choice turns out to be."""
    told = _error_of_none(choice, fn)
    if told is not None:
        _require_one_of(choice, *told)
    left = possible(choice)
    if len(left) == 1:
        return _of_option(fn, narrowed(choice.options[left[0]]))
    result = HiddenPlace()
    first, *_ = left

    def take_first() -> None:
        result.set(_attempt(fn, narrowed(choice.options[first])))

    def take_other() -> None:
        result.set(for_each_left(choice, fn))

    trace_if(is_one_of(choice, [first]), [take_first, take_other], [result])
    return present(narrowed(result.get()))


@above
def for_each_kind(x: Merged, fn: Callable[[object], object]) -> Any:
    """Return a function's result for a number as one of the kind that it turns out to be."""
    flag = x.flag
    if flag is None:
        x.tell_apart()
    holds = flag.holds()
    others = frozenset(k for k in x.kinds if k.key != flag.key)

    def of_the_flag() -> Any:
        return fn(one_of_kind(x, flag.key))

    def of_the_others() -> Any:
        return fn(of_some_kinds(x, others))

    if isinstance(holds, (bool, np.bool_)):
        return of_the_flag() if holds else of_the_others()
    return one_of_two(holds, of_the_flag, of_the_others)


def for_each_left(choice: Choice, fn: Callable[[object], object]) -> Any:
    """Return a function's result in the branch of the options that are left of a choice."""
    left = possible(choice)
    if len(left) == 1:
        return _attempt(fn, narrowed(choice.options[left[0]]))
    return for_each(choice, fn)


def told_of(choice: Choice, fn: Callable[[object], object]) -> Any:
    """Return the answer to a question about a choice: truths are comparisons of its tag."""
    answers = {}
    with current().region("probe") as (frame, scope):
        for k in possible(choice):
            try:
                answers[k] = fn(narrowed(choice.options[k]))
            except Exception as e:
                if not is_pythons(e) and not isinstance(e, BranchRaised):
                    raise
                answers[k] = None
    acts = frame.written or frame.contents or any(e.op.effect for e in scope.eqns)
    if not acts and all(isinstance(x, bool) for x in answers.values()):
        return is_one_of(choice, [k for k, x in answers.items() if x])
    return for_each(choice, fn)


def with_plain(x: object, fn: Callable[[object], object]) -> Any:
    """Return the result of a function of a content that may be a choice."""
    x = narrowed(x)
    return for_each(x, fn) if isinstance(x, Choice) else fn(x)


def whole_number(x: object) -> Any:
    """Return a choice of ints, of the items of an `IntEnum` say, as a number; else x."""
    if isinstance(x, Choice) and all(isinstance(x.options[k], int) for k in possible(x)):
        return for_each(x, int)  # type: ignore[arg-type]
    return x


def in_one_dtype(x: object) -> Any:
    """Return a result in which choices of numbers, or of arrays of as many axes, are of one dtype.

    A program returns one type for each part of its result: the one to which all of them promote.
    """
    x = narrowed(x)
    if type(x) in (list, tuple, dict) and any(
            isinstance(y, Choice) or type(y) in (list, tuple, dict) for y in children(x) or ()):
        return rebuild(x, [in_one_dtype(y) for y in children(x) or ()])
    if not isinstance(x, Choice):
        return x
    options = [x.options[k] for k in possible(x)]
    if not all(is_number(o) and rank_of(o) == rank_of(options[0]) for o in options):
        return x
    dtype, weak = np.result_type(*map(dtype_of, options)), all(map(is_weak, options))

    def as_one(y: object) -> Any:
        found = cast(y, dtype)
        return scalar_of(found.value, weak=weak) if weak else found

    return for_each(x, as_one)


def refuse_new_axes(container: object, key: Choice) -> None:
    """Raise an error in the run where an array would be indexed by None, which adds an axis."""
    left = possible(key)
    some = [k for k in left if key.options[k] is not None]
    if isinstance(container, (Tracer, np.ndarray)) and 0 < len(some) < len(left):
        _require_one_of(key, some, TypeError("the index of an array is None, depending on data, "
                                             "which would add an axis to it"))


def told_from_none(choice: Choice, error: Exception) -> Any:
    """Return the options of a choice besides None, for which the run raises an error."""
    left = possible(choice)
    some = [k for k in left if choice.options[k] is not None]
    if 0 < len(some) < len(left):
        _require_one_of(choice, some, error)
    return the_one(choice)


def _require_one_of(choice: Choice, numbers: Sequence[int], error: Exception) -> None:
    """Raise an error in the run where a choice is none of some of its things."""
    holds = is_one_of(choice, numbers)
    require_in_run(holds, error)
    frames = current().frames
    learn(holds.value, True, frames[-1].tags if frames else current().tags)


def _error_of_none(choice: Choice, fn: Callable[[object], object]
                   ) -> tuple[list[int], Exception] | None:
    """Return the options of a choice besides None, and the error of None, if it raises one."""
    left = possible(choice)
    none = [k for k in left if choice.options[k] is None]
    if not none or len(none) == len(left):
        return None
    try:
        with current().region("probe"):
            fn(None)
    except Exception as e:
        if is_pythons(e) and RAISABLE.get(type(e).__name__) is type(e):
            return [k for k in left if k not in none], e
        if not is_pythons(e) and not isinstance(e, (BranchRaised, TracejitError)):
            raise
    return None


def _of_option(fn: Callable[[object], object], x: object) -> Any:
    """Return the result of a function of an option, which may have become a choice itself."""
    return for_each(x, fn) if isinstance(x, Choice) else fn(x)


def _attempt(fn: Callable[[object], object], x: object) -> Any:
    """Return the result of a function in a branch, which an error of Python's ends."""
    try:
        return _of_option(fn, x)
    except Exception as e:
        if not is_pythons(e) or OURS in str(e) or RAISABLE.get(type(e).__name__) is not type(e):
            raise
        require_in_run(False, e)
        raise BranchRaised from None


def one_of_two(test: Tracer, first: Callable[[], object], second: Callable[[], object]) -> Any:
    """Return the result of one of two functions, in a branch for each; its error is the run's."""
    result = HiddenPlace()
    trace_if(test, [lambda: result.set(_attempt(lambda _: first(), None)),
                    lambda: result.set(_attempt(lambda _: second(), None))], [result])
    return present(narrowed(result.get()))


def content_or(content: MaybeUnset, otherwise: Callable[[], object]) -> Any:
    """Return the content where it is set, and the result of a function where it is not."""
    result = HiddenPlace()
    trace_if(content.is_set, [lambda: result.set(content.content),
                              lambda: result.set(otherwise())], [result])
    return present(result.get())
