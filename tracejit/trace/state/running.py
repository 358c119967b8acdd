"""Users' code that runs although it is not captured: code of libraries, or Python itself, calls it.

A class that is made runs `__init_subclass__`, a `with` the body of a generator, `isinstance` the
method of a metaclass. No list of such places is ever whole. So Python's own profiler notes which
code runs while captured code waits for an uncaptured call; the reads of functions with such code
are guarded; a function that reads more than guards hold makes the program one for a single call.
"""

from __future__ import annotations

import _lsprof
import dis
import gc
import inspect
import signal
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from tracejit.ir.cells import NOTING
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dependencies import note_unseen
from tracejit.trace.ground.source import is_user_code, rewritten_source
from tracejit.trace.ground.trees import codes_in
from tracejit.trace.state.draws import asks_for_entropy, global_states, refused_draw
from tracejit.trace.state.outer_reads import is_generated

__all__ = ["RunningCode", "watched"]

class RunningCode:
    """The code that ran in one capture without being captured."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.depth = 0
        self.profiler = _lsprof.Profiler(subcalls=False, builtins=False)
        self.users: Any = None
        """The profiler of the user or of the capture around, which pauses meanwhile."""
        self.around: Any = None
        """The profiler of the capture around, if it notes which code runs."""
        self.drawn: Any = None
        """The states of the global generators of random numbers before the call."""
        self.collects = False
        """Whether automatic garbage collection is on, which pauses meanwhile."""
        self.seen: set[int] = set()
        """The ids of code that was settled; the code is alive as long as its functions are."""
        self.unseen: dict[int, Callable[[], None]] = {}
        """For each object that functions without source read: refuses that it has changed."""
        self.kept: list[CodeType] = []
        self.has_run = False
        """Whether users' code ran in the last call."""
        self.inner: set[int] = set()
        """The ids of code within functions all of whose code is guarded."""

    def begin(self) -> bool:
        """Begin to note which code runs; return whether that is possible."""
        if self.depth == 0:
            self.users, self.collects = sys.getprofile(), gc.isenabled()
            _pause(self.users)
            gc.disable()  # its callbacks run whenever they do
            try:
                self.profiler.enable()
            except ValueError:  # another one, which does not show
                self._resume()
                return False
            self.around, NOTING.profiler = NOTING.profiler, self.profiler
            self.drawn = global_states()
        self.depth += 1
        return True

    def end(self) -> list[CodeType]:
        """Return the users' code that has run, of which nothing is known yet."""
        self.depth -= 1
        self.has_run = False
        if self.depth:
            return []
        self.profiler.disable()
        NOTING.profiler = self.around
        self._resume()
        ran = [e.code for e in self.profiler.getstats() if isinstance(e.code, CodeType)]
        self.profiler.clear()
        self._note_draws(ran)
        users = [c for c in ran if _is_users(c)]
        if users:
            handlers = {getattr(signal.getsignal(k), "__code__", None)
                        for k in signal.valid_signals()}
            users = [c for c in users if c not in handlers]
        self.has_run = bool(users)
        found = [c for c in users if id(c) not in self.seen]
        self.seen.update(map(id, found))
        self.kept += found
        return found

    def _note_draws(self, ran: list[CodeType]) -> None:
        """Note random numbers that users' code or new generators have drawn; refuse a library's."""
        has_drawn = global_states() != self.drawn
        if has_drawn and not any(map(_is_users, ran)):
            outside = current().outside
            raise refused_draw(outside[-1][0] if outside else None)
        if has_drawn or asks_for_entropy(ran):
            what = "a generator of random numbers without a seed"
            current().note_unseen(what)
            note_unseen(what)

    def _resume(self) -> None:
        if self.collects:
            gc.enable()
        _resume(self.users)

    def settle(self, codes: list[CodeType]) -> None:
        """Guard the state that code has read which ran unseen, or note that no guard sees it."""
        if self.has_run:
            self.native.captured.refuse_changed()
        if not codes:
            return
        functions: dict[int, list[FunctionType]] = {id(c): [] for c in codes}
        for fn in gc.get_referrers(*codes):
            if isinstance(fn, FunctionType) and id(fn.__code__) in functions:
                functions[id(fn.__code__)].append(fn)
        for code in sorted(codes, key=lambda c: not functions[id(c)]):  # inner code at last
            _refuse_changes(code)
            if not self._is_guarded(code, functions[id(code)]):
                current().note_unseen(code.co_qualname)
                note_unseen(code.co_qualname)

    def _is_guarded(self, code: CodeType, functions: list[FunctionType]) -> bool:
        """Guard the reads of functions with some code; return whether they read nothing else."""
        for fn in functions:
            for cls, name in _entries_of(fn):
                self.native.captured.entry_of(cls, name)
        if not functions:  # of a body of a class, or of a function that is no more
            return id(code) in self.inner
        found = [self.native.outer.reads_more(fn) or (
            _reads_of_class(fn) and _belongs_to_class(fn)) for fn in functions]
        if any(found):
            return False
        self.inner.update(map(id, codes_in(code)))
        return True


def _entries_of(fn: FunctionType) -> list[tuple[type, str]]:
    """Return the classes that have a function for a method, with the names under which they do."""
    owner, _, name = fn.__qualname__.rpartition(".")
    if not owner or owner.endswith("<locals>"):
        return []
    cls = fn.__globals__.get(owner)
    if isinstance(cls, type):
        return [(cls, name)]
    methods = [fn, *[x for x in gc.get_referrers(fn) if isinstance(x, (classmethod, staticmethod,
                                                                       property))]]
    tables = [x for x in gc.get_referrers(*methods) if type(x) is dict and (
        any(x.get(name) is m for m in methods))]
    return [(x, name) for x in gc.get_referrers(*tables) if isinstance(x, type) and (
        any(vars(x).get(name) is m for m in methods))] if tables else []


def _reads_of_class(fn: FunctionType) -> bool:
    """Return whether a function reads attributes of any object."""
    return any(i.opname in ("LOAD_ATTR", "LOAD_METHOD") for i in dis.get_instructions(fn.__code__))


def _belongs_to_class(fn: FunctionType) -> bool:
    """Return whether a method is called on a class: it is a metaclass's, or a class method."""
    for x in gc.get_referrers(fn):
        if isinstance(x, classmethod):
            return True
        if isinstance(x, dict) and any(isinstance(owner, type) and issubclass(owner, type)
                                       for owner in gc.get_referrers(x)):
            return True
    return False


def _pause(profiler: Any) -> None:
    if isinstance(profiler, _lsprof.Profiler):
        profiler.disable()
    elif profiler is not None:
        sys.setprofile(None)


def _resume(profiler: Any) -> None:
    if isinstance(profiler, _lsprof.Profiler):
        profiler.enable()
    elif profiler is not None:
        sys.setprofile(profiler)


def _is_users(code: CodeType) -> bool:
    """Return whether code is a user's that was not rewritten for a capture."""
    if code.co_filename == "<string>":
        return not is_generated(code)
    return is_user_code(code) and rewritten_source(code) is None


def _refuse_changes(code: CodeType) -> None:
    """Refuse uncaptured code that changes state which captured code may read."""
    bodies = ("STORE_GLOBAL", "DELETE_GLOBAL", *(
        ("STORE_SUBSCR", "STORE_ATTR", "STORE_DEREF", "DELETE_SUBSCR", "DELETE_ATTR")
        if code.co_flags & inspect.CO_GENERATOR else ()))
    for i in dis.get_instructions(code):
        if i.opname in bodies and not (i.opname == "STORE_DEREF" and i.argval in code.co_cellvars):
            raise refuse(f"code that is not captured, {code.co_qualname}, changes a global, an "
                         "item or an attribute, once, while the function around it is captured",
                         "Make the change in captured code, or return the new value", "TJ417")


class watched:
    """Settle the users' code that runs meanwhile; a class, to leave no line in tracebacks."""

    def __enter__(self) -> None:
        self.running: RunningCode = current().captured.running
        self.begun = self.running.begin()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        codes = self.running.end() if self.begun else []
        trace = current()
        if error is None or (isinstance(error, Exception) and (
                kind.__module__.partition(".")[0] != "tracejit")):
            for depth, refusal in trace.asked:
                if depth == len(trace.outside):  # the library went on, or failed, without a number
                    raise refusal from error
        if error is not None:
            return
        if not self.begun:
            trace.note_unseen("code that runs under another profiler")
            note_unseen("code that runs under another profiler")
        self.running.settle(codes)
