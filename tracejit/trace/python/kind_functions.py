"""Builtins that ask for the class of a traced thing: `isinstance`, `issubclass`, `type`."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

import numpy as np

from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current
from tracejit.trace.ground.modules import is_followed
from tracejit.trace.ground.source import of_users_module
from tracejit.trace.lists.ranges import TracedRange
from tracejit.trace.python.kinds_of_values import asked_type_of, type_of
from tracejit.trace.python.number_functions import to_bool
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.state.running import watched
from tracejit.trace.state.uncaptured import unseen
from tracejit.trace.values.mixed import Merged, keys_of, one_of_kind
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["is_instance", "is_subclass", "type_function"]


def is_instance(x: object, kinds: Any) -> Any:
    """A traced array passes for an ndarray, a traced number for the number that it stands for."""
    if isinstance(x, StandIn):
        return is_instance(x.empty(), kinds)
    if not isinstance(x, (Tracer, SymInt)):
        if hasattr(type(x), "stands_for") or isinstance(x, TracedRange):
            return is_subclass(type_of(x), kinds)
        with watched():
            answer = isinstance(x, kinds)
        return _is_kind(type_of(x), kinds, answer, x)
    if isinstance(x, Merged):
        return _is_instance_on_each_path(x, kinds)
    stands_for = type_of(x)
    for k in _classes(kinds):
        if isinstance(x, Tracer) and x.is_array and k is not np.ndarray and (
                is_followed(k) or issubclass(k, np.ndarray)):
            current().memory.require_plain()
        method = special_method(k, "__instancecheck__")
        if method is not None and method(k, x):
            return True
    return any(is_subclass(stands_for, k) or (
        k.__module__.partition(".")[0] == "tracejit" and isinstance(x, k)) for k in _classes(kinds))


def _is_instance_on_each_path(x: Merged, kinds: Any) -> Any:
    """Return whether a number of several kinds is an instance, which the run may tell."""
    answers = {key: is_instance(one_of_kind(x, key), kinds) for key in keys_of(x.kinds)}
    if len(set(answers.values())) == 1:
        return next(iter(answers.values()))
    found = [x.is_of(key) for key, answer in answers.items() if answer]
    if len(answers) > 2:
        x.tell_apart()
    return to_bool(found[0])


_KINDS = (type, tuple, UnionType)


def _is_kind(cls: type, kinds: object, answer: bool, *x: object) -> bool:
    """Return the answer to whether a class is of a kind, under guards on the classes.

    x -- the object whose class it is, in `isinstance`
    """
    for kind in _classes(kinds) if isinstance(kinds, _KINDS) else ():
        if not current().captured.is_kind(cls, kind, *x):
            unseen(f"{type(kind).__qualname__}.__instancecheck__")
    return answer


def is_subclass(cls: type, kinds: Any) -> bool:
    """Return `issubclass(cls, kinds)`, under guards."""
    with watched():
        answer = issubclass(cls, kinds)
    return _is_kind(cls, kinds, answer)


def _classes(kinds: object) -> Iterator[type]:
    """Yield the classes that `isinstance` asks about: of tuples in tuples, and `int | float`."""
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(kind, (tuple, UnionType)):
            yield from _classes(kind if isinstance(kind, tuple) else kind.__args__)
        elif isinstance(kind, type):
            yield kind
        elif (origin := cast("object", get_origin(kind))) is Union:
            yield from _classes(get_args(kind))
        elif isinstance(origin, type) and not get_args(kind):
            yield origin  # of `typing.Callable`
        else:
            raise TypeError("isinstance() arg 2 must be a type, a tuple of types, or a union")


def type_function(x: object, *more: object, **keywords: object) -> type:
    """Return `type(x)`, or the class that `type` makes of three arguments."""
    if not more:
        return asked_type_of(x)
    made: type = type(x, *more, **keywords)
    of_users_module(made)
    return made
