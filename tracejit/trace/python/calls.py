"""Calls in captured code: by the tables for NumPy and builtins first, else as Python calls.

`users_functions.py` captures functions, `builtin_calls.py` calls functions that Python implements,
`instances.py` makes objects.
"""

from __future__ import annotations

import bisect
import functools
import heapq
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.heap import holds
from tracejit.trace.containers.places import Choice
from tracejit.trace.containers.references import note_length, note_put
from tracejit.trace.containers.runs import as_array_operand, has_runs, holds_runs
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current, refuse, require_no_reason
from tracejit.trace.ground.dispatch import (
    FUNCTIONS,
    UFUNCS,
    distribution_of,
    foreign_capture,
    foreign_method,
    makes_traced,
)
from tracejit.trace.ground.modules import is_known_ufunc
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.python.builtin_calls import BUILTINS, call_builtin, call_replacement
from tracejit.trace.python.calls_with_choices import call_with_choice
from tracejit.trace.python.calls_with_containers import (
    OF_RUNS,
    call_list_method,
    is_known_by_identity,
    is_users,
    refuse_runs,
    with_items,
)
from tracejit.trace.python.caught import require_silence
from tracejit.trace.python.each_kind import call_of_each_kind
from tracejit.trace.python.impure import refused_as_impure
from tracejit.trace.python.instances import (
    call_object,
    made_keyed,
    made_list,
    make_instance,
    make_keyed,
)
from tracejit.trace.python.keyed import KEYED
from tracejit.trace.python.kinds_of_values import LIKE_LISTS, holds_traced, type_of
from tracejit.trace.python.library import LIBRARY
from tracejit.trace.python.list_searches import search_of
from tracejit.trace.python.objects_gone_through import give_up_runs_of_objects
from tracejit.trace.python.operator_functions import AS_WRITTEN
from tracejit.trace.python.taking import (
    is_ours_called,
    take,
    takes,
    takes_in_turn,
    with_generators,
)
from tracejit.trace.python.users_functions import call_python
from tracejit.trace.regions.choosing import with_plain
from tracejit.trace.state.insides import read_insides
from tracejit.trace.state.policy import looks_inside, module_of
from tracejit.trace.state.running import watched
from tracejit.trace.state.texts import read_as_text
from tracejit.trace.state.uncaptured import read_indices, read_operand, unseen
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.equations import COMPOSITES, lift
from tracejit.trace.values.identities import naming
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__ = ["call_function"]


_ARRAYS = frozenset((np.where, np.select, np.piecewise, np.tensordot, np.linalg.tensordot, np.cov,
                     np.roll, np.isin, np.i0, np.cross, np.fft.fftn, np.fft.ifftn))
"""The functions that return arrays of no axes where other functions of NumPy return numbers."""

Args = tuple[object, ...]
Kwargs = dict[str, object]


@above
@holds("args", "kwargs")
def call_function(fn: Callable[..., object], args: Args, kwargs: Kwargs) -> Any:
    """Call a function from captured code; users' recursions want few frames between two calls."""
    if isinstance(fn, Choice):
        return with_plain(fn, lambda f: call_function(f, args, kwargs))
    if current().chooses and (found := call_with_choice(fn, args, kwargs)) is not NotImplemented:
        return found
    known = is_known_by_identity(fn)
    args, answer = _answered(fn, args, kwargs, known)
    if answer is not NotImplemented:
        return answer
    replacement = BUILTINS.get(fn) if known else None
    capture = (FUNCTIONS.get(fn) if known else None) or _of_scipy(fn)
    owner = getattr(fn, "__self__", None)
    if has_runs(owner) or any(map(holds_runs, (*args, *kwargs.values()))):
        if isinstance(owner, (list, tuple)):
            return call_list_method(fn, args, kwargs)
        args, kwargs = _given_runs(fn, args, kwargs, capture, replacement)
    if known and not is_users(fn):
        give_up_runs_of_objects(fn, args, kwargs)
    if replacement is not None:
        return _replaced(fn, replacement, args, kwargs)
    traced = any(map(holds_traced, (*args, *kwargs.values())))
    if traced and capture is None:
        require_no_reason(fn)
    if isinstance(fn, np.ufunc) or (capture is not None and (traced or makes_traced(fn, capture))):
        return _call_numpy(fn, capture, args, kwargs, traced)
    if isinstance(fn, FunctionType):
        return call_python(fn, args, kwargs)
    if isinstance(fn, MethodType):
        method = _captured_method(fn)
        if method is not None and (traced or distribution_of(fn.__self__) is None):
            return naming(method)(*map(as_array_operand, args), **kwargs)
        return call_function(fn.__func__, (fn.__self__, *args), kwargs)
    if isinstance(fn, functools.partial):
        return call_function(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})
    if isinstance(py_func := getattr(fn, "py_func", None), FunctionType):
        return call_python(py_func, args, kwargs)
    return _call_native(fn, args, kwargs, traced)


_CHANGES_LENGTH = frozenset(("append", "extend", "insert", "pop", "remove", "clear"))

_PUSHES: tuple[Any, ...] = (heapq.heappush, heapq.heappushpop, heapq.heapreplace, bisect.insort,
                            bisect.insort_left, bisect.insort_right)


def _note_contents(fn: Callable[..., object], args: Args, kwargs: Kwargs) -> None:
    """Note the contents that a call reads, the lists that it stores, and a list that it resizes."""
    if looks_inside(fn):
        (read_as_text if module_of(fn) == "string" else read_insides)((*args, *kwargs.values()))
    owner = getattr(fn, "__self__", None)
    note_use(owner)
    if any(fn is f for f in _PUSHES) and len(args) > 1:
        note_put(args[1])
    if isinstance(owner, (list, dict, deque)) and isinstance(fn, BuiltinFunctionType):
        for x in args:
            note_put(x)
        if fn.__name__ in _CHANGES_LENGTH:
            note_length(owner)


def _replaced(fn: Callable[..., object], replacement: Callable[..., object], args: Args,
              kwargs: Kwargs) -> Any:
    made = call_replacement(fn, replacement, args, kwargs)
    return made_list(made) if fn is list else made


def _referent(reference: Callable[[], object]) -> object:
    """Return the referent of a weak reference, which lives as long as the program holds it."""
    x = reference()
    if x is not None and not (current().captured.is_from_outside(x) or ABOVE.count_names(x)):
        raise refuse(f"a weak reference to a {type(x).__name__} that no name leads to",
                     "Keep the object under a name as long as it is asked for", "TJ117")
    return x


def _reads_names(fn: Callable[..., object]) -> Refusal:
    return refuse(f"{fn.__name__} of a text reads names that no capture sees",
                  "Write the expression out, or give it a dict of the names that it needs", "TJ118")


def _answered_first(fn: Callable[..., object], args: Args, kwargs: Kwargs) -> Any:
    """Return what a number of several kinds, a weak reference or a generator's method gives."""
    if type(fn) is weakref.ref and not current().captured.is_from_outside(fn):
        return _referent(fn)
    if isinstance(getattr(fn, "__self__", None), UsersGenerator):
        return fn(*args, **kwargs)
    return call_of_each_kind(fn, args, kwargs)


def _answered(fn: Callable[..., object], args: Args, kwargs: Kwargs,
              known: bool) -> tuple[Args, Any]:
    """Return the arguments, and the result where another mechanism carries out the call.

    In the arguments, stand-ins of containers and generators give way to lists where the function
    does not know them. The result is `NotImplemented` where the function itself is to be called.

    known -- whether the function may be looked up in tables
    """
    captured = current().captured
    if (found := _answered_first(fn, args, kwargs)) is not NotImplemented:
        return args, found
    if known and fn in AS_WRITTEN and len(args) == AS_WRITTEN[fn][0] and not kwargs:
        return args, AS_WRITTEN[fn][1](*args)
    if isinstance(fn, functools.partial) or (known and (
            fn is range or fn is round or fn in FUNCTIONS)):
        read_indices((*args, *kwargs.values()))
    asked = captured.asked(fn, args, kwargs)
    if asked is not NotImplemented:
        return args, asked
    if fn is dir and isinstance(args[0] if args else None, TracedOperand):
        return args, dir(type_of(args[0]))
    if (fn is eval or fn is exec) and len(args) < 2:
        raise _reads_names(fn)
    if any(isinstance(x, StandIn) for x in (*args, *kwargs.values())):
        args = with_items(fn, args, kwargs)
    if known and takes(fn):
        args = with_generators(fn, args)
    if known and fn in LIBRARY and is_ours_called(fn, (*args, *kwargs.values())):
        return args, call_python(LIBRARY[fn], args, kwargs)
    if takes_in_turn(fn, (*args, *kwargs.values())):
        result = take(fn, args, kwargs, known, is_users)
        if result is not NotImplemented:
            return args, result
    if known and fn in KEYED:
        return args, made_keyed(make_keyed(fn, args, kwargs))
    _note_contents(fn, args, kwargs)
    if known and fn in _SETTINGS:
        require_silence(public_name(fn), (*args, *kwargs.values()))
    return args, NotImplemented


def _of_scipy(fn: Callable[..., object]) -> Callable[..., Any] | None:
    """Return the capture of a function or class of SciPy that is no ufunc; None for any other."""
    return None if isinstance(fn, np.ufunc) else foreign_capture(fn)


def _given_runs(fn: Callable[..., object], args: Args, kwargs: Kwargs,
                capture: object, replacement: object) -> tuple[Args, Kwargs]:
    """Return arguments as a function takes lists of which a size says how long they are."""
    if capture is not None or isinstance(fn, np.ufunc):
        return (tuple(map(as_array_operand, args)),
                {name: as_array_operand(x) for name, x in kwargs.items()})
    if not (is_users(fn) if replacement is None else any(fn is f for f in OF_RUNS)):
        refuse_runs(fn, args, kwargs)
    return args, kwargs


def _call_numpy(fn: Callable[..., object], capture: Callable[..., object] | None, args: Args,
                kwargs: Kwargs, traced: bool) -> Any:
    """Call a function of NumPy's that is captured, or a ufunc."""
    if traced:
        args = tuple([list(x) if isinstance(x, LIKE_LISTS) else x for x in args])
    if capture is not None and (traced or makes_traced(fn, capture)):
        result = naming(capture)(*args, **kwargs)
        if fn in _ARRAYS and type(result) is Tracer and not result.steps and not result.ndim:
            result.cell.is_array = True  # an array of no axes, which `+=` writes to
        return result
    assert isinstance(fn, np.ufunc)
    if fn not in UFUNCS and not is_known_ufunc(fn):
        unseen(f"the ufunc {fn.__name__}, made of a Python function,")
    if traced:
        return _call_ufunc(fn, args, kwargs)
    for x in (*args, *kwargs.values()):
        read_operand(x)
    with watched():
        return fn(*args, **kwargs)


def _captured_method(fn: MethodType) -> Callable[..., Any] | None:
    """Return the capture of a method of an object of SciPy's; None for any other method."""
    if str(fn.__module__).startswith(("numpy.random", "random")):
        raise refused_as_impure(fn)
    return foreign_method(fn)


def _call_native(fn: Callable[..., object], args: Args, kwargs: Kwargs, traced: bool) -> Any:
    """Call a builtin, a class or an object: any callable but a Python function."""
    if isinstance(fn, BuiltinFunctionType):
        search = search_of(fn.__self__, fn.__name__, args)
        if search is not None and not kwargs:
            return search(fn.__self__, *args)
        return call_builtin(fn, args, kwargs, traced)
    if isinstance(fn, type):
        return make_instance(fn, args, kwargs)
    if isinstance(fn, TracedOperand):
        raise TypeError(f"{_name_of_type(type_of(fn))!r} object is not callable")
    return call_object(fn, args, kwargs)


_SETTINGS = frozenset((np.seterr, warnings.simplefilter, warnings.filterwarnings))


def _name_of_type(kind: type) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _call_ufunc(fn: np.ufunc, args: Args, kwargs: Kwargs) -> Any:
    if fn not in UFUNCS and fn not in COMPOSITES and (capture := foreign_capture(fn)) is not None:
        return naming(capture)(*args, **kwargs)
    return fn(*(lift(a) if isinstance(a, (list, tuple)) else a for a in args), **kwargs)
