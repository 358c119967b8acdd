"""Users' functions as captured ones: rewritten, with the defaults that the capture has seen.

Generator functions have several forms (`syntax/generators.py`). Functions of libraries stay as
they are.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import os
from collections.abc import Callable
from contextlib import suppress
from inspect import CO_GENERATOR
from types import FunctionType
from typing import Any

from tracejit.trace.containers.heap import binds_arguments
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dependencies import note_function, note_impure
from tracejit.trace.ground.dispatch import foreign_capture
from tracejit.trace.ground.modules import home_of
from tracejit.trace.ground.source import LIKE_USERS, PACKAGE, rewritten_source
from tracejit.trace.ground.strangers import STRANGERS
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.impure import refuse_debugger, refused_as_impure, refused_for_frames
from tracejit.trace.python.kinds_of_values import asked_type_of, holds_traced
from tracejit.trace.python.recursions import bounded_recursion
from tracejit.trace.state.changes import note_all_new, note_made, note_new
from tracejit.trace.state.clocks import let_out
from tracejit.trace.state.copying import read_reducers
from tracejit.trace.state.insides import read_annotations
from tracejit.trace.state.key_orders import refuse_orders_within, with_orders_of
from tracejit.trace.state.outer_reads import is_generated
from tracejit.trace.state.policy import (
    gives_another_value,
    looks_at_frames,
    module_of,
    reads_nothing,
)
from tracejit.trace.state.uncaptured import call_watched, unseen
from tracejit.trace.state.unseen import with_stand_ins
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.syntax.generators import Form, NotInForm
from tracejit.trace.syntax.rewriter import rewrite_function
from tracejit.trace.syntax.syntax import HOOKS
from tracejit.trace.values.identities import naming
from tracejit.trace.values.text import settle

__all__ = ["call_python", "captured_function", "convert", "is_captured", "is_librarys"]


_DISPATCHING = vars(functools)["singledispatch"](print).__code__
_REGISTERING = vars(functools)["singledispatch"](print).register.__code__


@binds_arguments
def call_python(fn: FunctionType, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a Python function, captured if it is a user's and has a source."""
    if fn.__code__ is _DISPATCHING and args:
        chosen = current().captured.dispatched(fn, asked_type_of(args[0]))
        return ABOVE.call_function(chosen, args, kwargs)
    if fn.__code__ is _REGISTERING:  # for the classes that annotations name
        for x in (*args, *kwargs.values()):
            read_annotations(x)
    if fn.__code__.co_flags & CO_GENERATOR and (made := _generator(fn, args, kwargs)) is not None:
        return made
    new = convert(fn)
    code = getattr(new, "__code__", None)
    with bounded_recursion(fn, new, args):
        if code is None or rewritten_source(code) or code.co_filename.startswith(PACKAGE):
            return new(*args, **kwargs)
        if module_of(fn).partition(".")[0] == "logging":
            args = tuple(map(let_out, args))
        settle([*args, kwargs])
        for name in current().captured.native.called_with(fn, (*args, *kwargs.values())):
            unseen(name)
        if fn is copy.copy or fn is copy.deepcopy:
            read_reducers((*args, *kwargs.values()), fn is copy.deepcopy)
        result = call_watched(new, args, kwargs, f"{fn.__name__}()")
    if fn is copy.copy or fn is dataclasses.replace:
        note_new(result, args)
        with_orders_of(args[:1], result)
    elif fn is copy.deepcopy:
        note_all_new(result, args)
        with_orders_of(args[:1], result)
        refuse_orders_within(args[0] if args else kwargs.get("x"))
    return result


def _generator(fn: FunctionType, args: tuple[object, ...],
               kwargs: dict[str, object]) -> UsersGenerator | None:
    """Return a generator of the user's that has not begun; None where it is not captured."""
    fn = _as_written(fn)
    is_local = rewritten_source(fn.__code__) is not None
    in_form = _form_of_local if is_local else _form_of
    if not is_local and (in_form(fn, "each") or convert(fn)) is fn:
        return None
    fn(*args, **kwargs)  # which binds the arguments, and runs nothing
    made = UsersGenerator(fn.__code__, functools.partial(in_form, fn), args, kwargs,
                          place_in_code())
    note_made(made)
    return made


def _as_written(fn: FunctionType) -> FunctionType:
    """Return the user's function whose rewritten form native code was given.

    A local function of a captured one is returned as it is.
    """
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        if name == HOOKS and rewritten_source(fn.__code__) is not None:
            written: FunctionType = cell.cell_contents.fn
            same = written.__code__.co_firstlineno == fn.__code__.co_firstlineno
            return written if same and written.__qualname__ == fn.__qualname__ else fn
    return fn


def _form_of(fn: FunctionType, form: Form) -> Callable[..., Any] | None:
    """Return a generator function in a form; None where it has none."""
    try:
        return convert(fn, form)
    except NotInForm:
        return None


def _form_of_local(fn: FunctionType, form: Form) -> Callable[..., Any] | None:
    """Return a form of a generator function within a captured one, which names its forms."""
    if form == "steps":
        return fn
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        if name.startswith(f"_tj_form_{form}"):
            other: FunctionType = cell.cell_contents
            made = FunctionType(other.__code__, other.__globals__, fn.__name__, fn.__defaults__,
                                other.__closure__)
            made.__kwdefaults__, made.__qualname__ = fn.__kwdefaults__, fn.__qualname__
            return made
    return None


def captured_function(fn: object) -> Callable[..., Any] | None:
    """Return a user's Python function with its control flow captured; None for any other."""
    if not isinstance(fn, FunctionType):
        return None
    new = convert(fn)
    code = getattr(new, "__code__", None)
    if code is None or rewritten_source(code) is not None:
        return new
    if new is fn:
        return None
    return lambda *args, **kwargs: call_python(fn, args, kwargs)  # which notes its reads


def is_captured(fn: FunctionType) -> bool:
    """Return whether a function is a user's, a generator in any form included."""
    if fn.__code__.co_flags & CO_GENERATOR and rewritten_source(fn.__code__) is None:
        with suppress(NotInForm):
            return convert(fn, "each") is not fn
    return captured_function(fn) is not None


_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")


def convert(fn: FunctionType, form: Form = "steps") -> Callable[..., Any]:
    """Return a Python function with its control flow captured; others as they are.

    form -- which form it gets, if it is a generator; `NotInForm` if it has none
    """
    if rewritten_source(fn.__code__) is not None:
        return fn
    capture = foreign_capture(fn)
    if capture is not None:
        return _or_plain(capture, fn)
    module, file = home_of(fn).partition(".")[0], fn.__code__.co_filename
    if gives_another_value(fn):
        raise refused_as_impure(fn)
    if looks_at_frames(fn):
        raise refused_for_frames(fn)
    if module in ("pdb", "bdb"):
        refuse_debugger(fn.__qualname__ if "." in fn.__qualname__ else f"pdb.{fn.__name__}")
        return _go_on
    if file not in LIKE_USERS and (
            module in (*_LIBRARIES, *STRANGERS) or file.startswith(PACKAGE)
            or _is_standard(file)):
        if not file.startswith(PACKAGE) and not reads_nothing(fn):
            unseen(f"{home_of(fn)}.{fn.__qualname__}")
        return fn
    loops = frozenset([where for path, code, where in current().functions_as_loops
                       if path == file and code == fn.__code__])
    rewritten = rewrite_function(fn, ABOVE.Hooks(fn), form, loops)
    if rewritten is None:
        if is_generated(fn.__code__):  # of the fields of a class, as its code tells
            note_function(fn)
        else:
            note_impure(f"{fn.__qualname__}, whose source is not there,")
        current().captured.code(fn)
        current().captured.running.seen.add(id(fn.__code__))
        return with_stand_ins(fn, ABOVE.call_function)
    note_function(fn)
    current().captured.code(fn)
    if fn.__defaults__ or fn.__kwdefaults__:
        rewritten.__defaults__, rewritten.__kwdefaults__ = current().captured.defaults(fn)
    return rewritten


def _go_on(*args: object, **kwargs: object) -> None:
    """Do what a debugger's function does in a program: nothing."""


def _or_plain(capture: Callable[..., object], fn: Callable[..., object]) -> Callable[..., Any]:
    """Capture a call on traced values; leave one on plain values alone."""

    def call(*args: object, **kwargs: object) -> Any:
        traced = any(map(holds_traced, args)) or any(map(holds_traced, kwargs.values()))
        return naming(capture)(*args, **kwargs) if traced else fn(*args, **kwargs)

    return call


_STANDARD = os.path.dirname(os.__file__) + os.sep


def is_librarys(fn: FunctionType) -> bool:
    """Return whether a Python function is one of the standard library, or of NumPy and the like."""
    return home_of(fn).partition(".")[0] in _LIBRARIES or _is_standard(fn.__code__.co_filename)


def _is_standard(file: str) -> bool:
    installed = file.startswith(_STANDARD) and "site-packages" not in file
    return installed or file.startswith("<frozen")
