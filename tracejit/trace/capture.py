"""From a function and its arguments to a graph: the entry to capture.

A capture starts with as little fixed as possible: every size and every int is symbolic. Where it
turns out that one is needed as a number, the capture begins again with that one fixed, and the
reason is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tracejit.trace.python.builtin_functions  # noqa: F401  (fills the table of builtins)
from tracejit.errors import Refusal, Restart
from tracejit.trace.attempt import Capture, CaptureAttempt
from tracejit.trace.containers.stand_ins import StandInRefused
from tracejit.trace.ground.context import Trace
from tracejit.trace.ground.findings import Findings
from tracejit.trace.ground.restarts import Relist
from tracejit.trace.ground.source import line_of_error

# (importing these fills `upward.ABOVE`)
from tracejit.trace.hooks import hooks  # noqa: F401
from tracejit.trace.lists import data_lists, list_runs  # noqa: F401
from tracejit.trace.python import list_making, ufunc_calls  # noqa: F401
from tracejit.trace.values import identities, python_numbers, states  # noqa: F401
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import Structure

__all__ = ["capture_function"]


def capture_function(fn: Callable[..., object], specs: Sequence[ArgSpec], structure: Structure,
                     actual: Sequence[object] | None = None, *, name: str | None = None,
                     writes_back: bool = False, assigns: bool = False,
                     names: Sequence[str] | None = None) -> Capture:
    """Capture `fn(*args, **kwargs)` for arguments of these specs.

    structure   -- how the leaves make up `(args, kwargs)`
    actual      -- the arguments' leaves, where the capture is made for a call
    writes_back -- whether arrays that the function writes to are results too
    assigns     -- whether new values of variables are results too; else assigning is refused
    """
    def attempt(found: Findings) -> CaptureAttempt:
        return CaptureAttempt(fn, specs, structure, actual, found, name, writes_back, assigns,
                              names)

    try:
        return _attempted(attempt, found := Findings(), fn)
    except (Refusal, Restart):
        if not found.ventured:
            raise
    return _attempted(attempt, Findings(may_venture=False), fn)


def _attempted(make: Callable[[Findings], CaptureAttempt], found: Findings,
               fn: Callable[..., object]) -> Capture:
    """Run one attempt after another, each with what those before it have found out."""
    last: Restart | Refusal | None = None
    for _ in range(256):
        attempt = make(found)
        try:
            return attempt.run()
        except Restart as need:
            last = need
            if not found.learn(need):
                raise (_unsettled(need, fn) if isinstance(need, Relist) else need) from None
        except Refusal as e:
            last = e
            _learn_of_refusal(found, e, attempt.trace)
        finally:
            found.ventured |= attempt.trace.ventured
    if isinstance(last, Refusal):
        raise last
    assert last is not None
    raise Refusal(f"{line_of_error(last, fn)}: the capture does not settle: each of 256 attempts "
                  "needed another size or container to be known. Make a shorter function of it",
                  "TJ119")


def _learn_of_refusal(found: Findings, e: Refusal, trace: Trace) -> None:
    """Note the remedy where an attempt was refused; raise the refusal where there is none."""
    used = trace.used_keyed
    if found.pools_for_loops:
        found.make_objects_one_by_one()
        return
    if found.run_lists:  # loops may do less to a list in a run than Python may
        found.make_item_by_item()
        return
    if used - found.keyed_by_data and not isinstance(e, StandInRefused):
        found.keyed_by_data |= used
        found.forget_numbers()
        found.refused = found.refused or e
    elif (sites := _sites_for_pools(found, trace)) and not isinstance(e, StandInRefused):
        found.pooled.update((site, site) for site in sites)
        found.forget_numbers()
        found.refused = found.refused or e
    elif trace.made_classes.keys() - found.pool_facts.classes:
        found.pool_facts.classes.update(trace.made_classes)
        found.forget_numbers()
        found.refused = found.refused or e
    elif trace.undecided and not found.decides_layouts:
        found.decides_layouts = True
    elif found.functions_as_loops:  # it may end before long, by values that the capture knows
        found.no_loop = _of_recursion(e)
        found.functions_as_loops = set()
        found.forget_numbers()
    else:
        first = found.refused if isinstance(e, StandInRefused) else None
        raise found.no_loop or first or e from None


def _sites_for_pools(found: Findings, trace: Trace) -> set[Any]:
    """Return the places of lists that may have to be references: lengthened lists, or all."""
    return trace.nested - found.pooled.keys() or {*trace.put_lists.values()} - found.pooled.keys()


def _of_recursion(e: Refusal) -> Refusal:
    """Return a refusal; one about lists by data says that a recursion keeps such lists."""
    if "length data decides" in str(e):
        e.args = (e.text + _IN_RECURSION,)
    return e


_IN_RECURSION = ". A recursion that ends on data keeps what a call goes on with in such lists"


def _unsettled(other: Relist, fn: Callable[..., object]) -> Refusal:
    return Refusal(f"{line_of_error(other, fn)}: a list is made in a way that the program cannot "
                   f"go on with: {other.why}. Use an array", "TJ119")
