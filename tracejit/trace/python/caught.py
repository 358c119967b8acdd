"""The errors that a user's `except` catches in a capture, and the facts that this rests on."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tracejit.errors import TracejitError, raisable
from tracejit.ir.core import Eqn
from tracejit.ir.lowering import Callback, Effect, Library, LogOp, Native
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import NeedStatic
from tracejit.trace.ground.source import PACKAGE, find_site
from tracejit.trace.regions.caught_errors import classes

__all__ = ["may_raise", "require_silence", "rest_on_sizes"]

_LOUD = ("raise", "call", "print", "log", "error")

_BY_USERS = ("raise_", "assert_")
"""The hooks that carry out a `raise` or `assert` of the user."""


def rest_on_sizes(error: BaseException | None) -> None:
    """Fix the sizes of this call if a shape rule raised the error: other sizes may not raise it."""
    if not isinstance(error, (ValueError, IndexError, TypeError, ZeroDivisionError)):
        return
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return
    code = traceback.tb_frame.f_code
    line = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
    if not code.co_filename.startswith(PACKAGE) or code.co_name in _BY_USERS or (
            not line.startswith("raise")):
        return
    trace = current()
    for v in trace.actual:
        if v.is_size:
            raise NeedStatic(v, find_site(), f"an {type(error).__name__} is caught, which may "
                                             "come of this size")


_BY_ACTION = {"check_bounds": IndexError, "wrap_index": IndexError}


_ERRORS_OF_ROUTINES: dict[str, tuple[type[Exception], ...]] = {
    "cholesky": (np.linalg.LinAlgError,), "lu": (),
    "cholesky_or_not": (), "lu_or_not": (), "triangular_solve": (), "solve": (), "slogdet": (),
    "argsort": (), "positions": (), "lapack": (np.linalg.LinAlgError,),
    "assured": (np.linalg.LinAlgError,)}


def may_raise(eqns: Sequence[Eqn], types: Callable[[], Any]) -> bool:
    """Return whether equations, when run, may raise an error that the handlers of a `try` catch."""
    if not eqns:
        return False
    errors = {e for eqn in eqns for e in _errors(eqn)}
    try:
        caught = tuple(classes(types()))
    except Exception:  # Python looks at them only where something is raised
        return bool(errors)
    if any(issubclass(t, (Warning, FloatingPointError)) for t in caught):
        return True  # NumPy raises these of any arithmetic, where it is told to
    return any(issubclass(e, caught) or e is Exception for e in errors)


def _errors(eqn: Eqn) -> Iterator[type[Exception]]:
    """Yield the errors that an equation, when run, may raise; `Exception` where not known."""
    how = eqn.op.lowering
    if isinstance(how, Effect) and how.action in ("check", *_BY_ACTION):
        name = "" if how.action in _BY_ACTION else eqn.params["error"]
        kind = _BY_ACTION.get(how.action) or raisable(name)
        if not issubclass(kind, TracejitError):  # which no handler may see
            yield kind
    elif isinstance(how, Library) and how.routine in _ERRORS_OF_ROUTINES:
        yield from _ERRORS_OF_ROUTINES[how.routine]
    elif isinstance(how, LogOp):  # an effect, so that the way back begins there
        pass
    elif eqn.op.effect or isinstance(how, (Library, Native, Callback)):
        yield Exception
    for region in eqn.regions:
        for inner in region.eqns:
            yield from _errors(inner)


def require_silence(name: str, modes: Iterable[Any]) -> None:
    """Refuse settings by which NumPy raises errors that compiled code does not raise."""
    if any(x in _LOUD for x in modes if isinstance(x, str)):
        raise refuse(f"{name} that raises or calls cannot be captured: compiled code computes "
                     "infinities and NaN in silence", "Test with np.isfinite, or raise in an `if`",
                     "TJ105")
