"""Objects that captured code makes: of users' classes, and containers that data may fill."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.numbered import Numbered, ObjectReference
from tracejit.trace.containers.references import Site, note_list, pool_site, site_in_code
from tracejit.trace.containers.runs import has_runs, place_in_code
from tracejit.trace.containers.stand_ins import is_made_by_data, refused_kind
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, Frozen, distribution_of, method_of_object
from tracejit.trace.ground.modules import is_followed
from tracejit.trace.ground.source import PACKAGE, rewritten_source
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists.known_lengths import is_in_run
from tracejit.trace.lists.orders import in_one_run
from tracejit.trace.python.builtin_calls import BUILTINS, call_natively, call_replacement
from tracejit.trace.python.impure import are_seeds, refused_as_impure
from tracejit.trace.python.keyed import KEYED
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.object_pools import can_be_pooled, pool_of_class
from tracejit.trace.python.objects import made_in_pool
from tracejit.trace.python.pooled import DataList, ListPool
from tracejit.trace.python.users_functions import call_python, convert
from tracejit.trace.state.changes import note_made
from tracejit.trace.state.ends import has_end, with_end
from tracejit.trace.state.outer_reads import is_generated
from tracejit.trace.state.paths import functions_of, is_users_type
from tracejit.trace.state.policy import gives_another_value, is_cached, reads_nothing
from tracejit.trace.state.running import watched
from tracejit.trace.state.uncaptured import unseen
from tracejit.trace.values.equations import cast, dtype_of, is_weak, lift
from tracejit.trace.values.identities import naming
from tracejit.trace.values.tracer import Tracer

__all__ = ["by_data", "call_object", "made_keyed", "made_list", "make_instance",

           "make_keyed", "noted_list"]


def make_keyed(kind: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Return `deque(...)` and the like; a stand-in where data decides on the content."""
    if is_made_by_data():
        if kwargs and (kind is not deque or kwargs.keys() - {"iterable", "maxlen"}):
            raise refused_kind(kind)
        return make_instance(KEYED[kind], args, kwargs)
    if any(map(holds_traced, args)):
        current().used_keyed.add(place_in_code())
        if any(map(has_runs, args)) and kind not in BUILTINS:
            raise Refusal.restating(refused_kind(kind))
    replacement = BUILTINS.get(kind)
    if replacement is not None:
        return call_replacement(kind, replacement, args, kwargs)
    return make_instance(kind, args, kwargs)


def made_keyed(x: object) -> Any:
    """Note where a deque, set or dict is made, in case data decides on its content."""
    if type(x) in KEYED:
        current().keyed[id(x)] = x, place_in_code()
    return x


def made_list(xs: list[object]) -> Any:
    """Return a new list, as a reference where data decides which one it is in other containers."""
    site = pool_site(site_in_code()) if current().pooled else None
    if site is not None:
        return make_instance(DataList, (_pool_of(site), xs), {})
    return noted_list(xs)


def noted_list(xs: list[object]) -> list[object]:
    """Note where a new list is made; put its items into a run where loops index it."""
    if xs and not has_runs(xs) and is_in_run():
        xs[:] = in_one_run(xs, place_in_code())
    note_list(xs)
    return xs


@above
def thing_of_pool(site: Any) -> Numbered:
    """Return a reference to the list or object of number 0 of a pool."""
    if isinstance(site, type):
        found: Numbered = ObjectReference.of_pool(pool_of_class(site), 0)
        return found
    made: Numbered = DataList.of_pool(_pool_of(pool_site(site) or site), 0)
    return made


def _pool_of(site: Site) -> ListPool:
    """Return the pool of a place; it was there before all loops and branches."""
    trace = current()
    around = next((f for f in reversed(trace.frames) if f.kind in ("map", "call")), None)
    key = site, id(around)
    if key not in trace.pools:
        pool = trace.pools[key] = ListPool(site)
        trace.link_keys[id(pool.items)] = site
        trace.of_pools |= {id(x): x for x in (pool.items, pool.starts, pool.counts, pool.rooms)}
        if around is not None:
            pool.around = around  # whose identity is in the key
            for x in (pool, pool.items, pool.starts, pool.counts, pool.rooms):
                around.created[id(x)] = x
    found: ListPool = trace.pools[key]
    return found


def by_data(x: object) -> Any:
    """Return a new container; its stand-in where data decides on the content."""
    if type(x) is list:
        return made_list(x)
    if type(x) in KEYED and is_made_by_data():
        items: Any = x.items() if isinstance(x, dict) else x
        return make_instance(KEYED[type(x)], (note_made([*items]),), {})
    return made_keyed(x)


def _guard_making(cls: type) -> None:
    """Guard the methods that Python calls to make an object of a class."""
    captured = current().captured
    if is_followed(type(cls)):  # a metaclass may get a `__call__`, and a class another metaclass
        captured.entry(cls, "__call__")
    for name in ("__new__", "__init__") if is_followed(cls) else ():
        for maker in functions_of(captured.entry_of(cls, name)):
            if is_generated(maker.__code__):
                captured.code(maker)  # the defaults of a named tuple


def make_instance(cls: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Make an object; its Python `__init__` is captured like any function."""
    if cls in current().pool_facts.classes:
        return made_in_pool(cls, args, kwargs)
    if issubclass(cls, threading.Thread):
        raise refuse("a thread that captured code starts", "Start it around the compiled function",
                     "TJ117")
    if has_end(cls):
        unseen(f"{cls.__qualname__}.__del__")
        return with_end(cls, lambda: _made(cls, args, kwargs))
    return _made(cls, args, kwargs)


def _made(cls: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    init = cls.__init__
    _guard_making(cls)
    calls: Any = type(cls).__call__
    if isinstance(init, FunctionType) and cls.__new__ is object.__new__ and (
            calls is type.__call__):
        new = convert(init)
        if new is init and rewritten_source(init.__code__) is None:
            return call_natively(cls, args, kwargs)
        instance: Any = cls.__new__(cls)
        note_made(instance)
        is_new_each_time = new is init  # captured code makes the class, each attempt another one
        if cls not in current().made_classes and not is_new_each_time and can_be_pooled(cls):
            current().made_classes[cls] = None
        if not has_end(cls) and not any(f.kind == "loop" for f in current().frames):
            current().instances[id(instance)] = instance
        if rewritten_source(new.__code__) is None:  # it calls `__post_init__`, say, as it is
            with watched():
                new(instance, *args, **kwargs)
        else:
            new(instance, *args, **kwargs)
        return instance
    if issubclass(cls, np.generic) and args and holds_traced(args[0]):
        return _scalar_of_numpy(cls, lift(args[0]))
    if gives_another_value(cls):
        raise refused_as_impure(cls, are_seeds(args, kwargs))
    if not is_users_type(cls) and not reads_nothing(cls):
        unseen(f"{cls.__module__}.{cls.__qualname__}")
    return call_natively(cls, args, kwargs)


def _scalar_of_numpy(cls: type, x: object) -> Any:
    """Return `np.float64(x)` and the like: of Python's numbers by `float` or `int`, which raise."""
    own = dtype_of(x).kind
    if own == "c" and np.dtype(cls).kind in "iuf" and is_weak(x):
        raise TypeError(f"{'float' if np.dtype(cls).kind == 'f' else 'int'}() argument must be a "
                        "string or a real number, not 'complex'")
    if own == "f" and np.dtype(cls).kind in "iu" and is_weak(x):
        x = BUILTINS[int](x)
    if isinstance(x, Tracer) and x.dims and x.dtype == cls:
        return Tracer(x.cell, x.steps)  # of an array, its memory
    return cast(x, cls)


def call_object(fn: Callable[..., object], args: tuple[object, ...],
                 kwargs: dict[str, object]) -> Any:
    call = current().captured.entry(fn, "__call__")
    of_object = method_of_object(fn, "__call__")
    if of_object is not None and any(map(holds_traced, (*args, *kwargs.values()))):
        return naming(of_object)(*args, **kwargs)
    if isinstance(call, FunctionType) and not call.__code__.co_filename.startswith(PACKAGE):
        if call in FUNCTIONS:
            return ABOVE.call_function(call, (fn, *args), kwargs)
        if (name := distribution_of(fn)) is not None:
            return Frozen(fn, name, args, kwargs)
        return call_python(call, (fn, *args), kwargs)
    if gives_another_value(fn):
        makes = getattr(fn, "__name__", "") == "default_rng"
        raise refused_as_impure(fn, makes and are_seeds(args, kwargs))
    if is_cached(fn) or not reads_nothing(fn):
        unseen(f"calling a {type(fn).__qualname__}")
    if type(fn).__module__.partition(".")[0] == "tracejit":
        return fn(*args, **kwargs)
    return call_natively(fn, args, kwargs)
