"""The manager of a `with`: its methods are captured, and swallow no end of a capture."""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import Restart, TracejitError
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.ground.source import written_local
from tracejit.trace.ground.trees import find_tree
from tracejit.trace.python.caught import may_raise, require_silence
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.regions.raising import BranchRaised
from tracejit.trace.state.uncaptured import call_watched

__all__ = ["ENDS_CAPTURES", "Managed", "Passing", "passed_by"]


_ENDS_ATTEMPTS = (TracejitError, Restart, Unroll)
ENDS_CAPTURES = (*_ENDS_ATTEMPTS, BranchRaised)
"""The errors that end a capture or an attempt of one: no `except` or `with` may swallow them."""


@dataclass
class Passing:
    """The error, if any, with which the body of a `try` ended."""

    error: BaseException | None = None


@contextmanager
def passed_by(error: BaseException | None) -> Iterator[None]:
    """Carry out code of the user's that an error passes by.

    It may give back a lock, so it runs in each case. What it raises takes the place of an error of
    the program's, and not of one that ends a capture, or an attempt of one.
    """
    try:
        yield
    except BaseException:
        if isinstance(error, _ENDS_ATTEMPTS):
            raise error from None
        raise


class Managed:
    """The manager of a `with`, whose captured methods swallow no error that ends a capture."""

    def __init__(self, manager: object) -> None:
        if isinstance(manager, np.errstate):
            require_silence("np.errstate", [getattr(manager, name, None) for name in
                                            getattr(type(manager), "__slots__", ())])
        self.manager = manager
        self.generator = getattr(manager, "func", None)  # which `@contextmanager` forgets
        self.begun = 0
        """How many equations there were before the body."""

    def __enter__(self) -> Any:
        entered = self._method("__enter__")()
        if not isinstance(self.manager, np.errstate):  # it may do something where an error leaves
            current().attempts.append(None)
        self.begun = len(current().builder.scope.eqns)
        return entered

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> Any:
        if not isinstance(self.manager, np.errstate):
            current().attempts.pop()
            self._refuse_swallowing()
        with passed_by(error):
            swallowed = self._method("__exit__")(kind, error, traceback)
        return swallowed and not isinstance(error, ENDS_CAPTURES)

    def _refuse_swallowing(self) -> None:
        """Refuse a body whose run may raise an error that the manager keeps from the caller."""
        made = current().builder.scope.eqns[self.begun:]
        if may_raise(made, lambda: BaseException) and (caught := self._swallowed()) and (
                may_raise(made, lambda: caught)):
            raise refuse(f"a `with` whose manager, a {type(self.manager).__name__}, may suppress "
                         "an error that only the run raises",
                         "Write `with contextlib.suppress(...)` itself, or try and except", "TJ105")

    def _swallowed(self) -> tuple[type[BaseException], ...]:
        """Return which errors the manager may keep from the caller."""
        if type(self.manager) is contextlib.suppress:
            found: Any = self.manager
            return tuple(found._exceptions)
        if isinstance(self.manager, contextlib._GeneratorContextManager):
            fn = self.generator
            tree = isinstance(fn, FunctionType) and (written_local(fn) or find_tree(fn))
            ends = not tree or any(_suppresses(n) for n in ast.walk(tree))
            return (BaseException,) if ends else ()
        leave = getattr(type(self.manager), "__exit__", None)
        gives_true = isinstance(leave, FunctionType) and _may_give_true(leave)
        return (BaseException,) if gives_true else ()

    def _method(self, name: str) -> Callable[..., Any]:
        method = special_method(self.manager, name)
        if method is None:
            plain = getattr(type(self.manager), name)
            return lambda *args: call_watched(plain, (self.manager, *args), {}, "a `with`")
        return functools.partial(method, self.manager)


def _suppresses(n: ast.AST) -> bool:
    """Whether an error at a `yield` in a statement may end there."""
    body: Sequence[ast.AST] = ()
    if isinstance(n, ast.Try):
        leaves = any(isinstance(m, (ast.Return, ast.Break, ast.Continue))
                     for f in n.finalbody for m in ast.walk(f))
        body = n.body if n.handlers or leaves else ()
    elif isinstance(n, ast.With):
        body = n.body
    return any(isinstance(m, (ast.Yield, ast.YieldFrom)) for b in body for m in ast.walk(b))


def _may_give_true(leave: FunctionType) -> bool:
    """Whether an `__exit__` returns anything but None and False."""
    before: Any = None
    for i in dis.get_instructions(leave):
        if i.opname == "RETURN_CONST" and i.argval:
            return True
        if i.opname == "RETURN_VALUE" and (i.is_jump_target or not (
                before.opname == "LOAD_CONST" and not before.argval)):
            return True
        before = i
    return False
