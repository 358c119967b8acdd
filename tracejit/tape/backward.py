"""The way back over a recording, call by call: cotangents of targets to cotangents of sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.configuration import settings
from tracejit.tape.notes import Record
from tracejit.tape.noting import Line, line_text
from tracejit.tape.plans import CallRecipe, forget
from tracejit.tape.recording import perform
from tracejit.tape.values import TapeValue
from tracejit.tape.watching import require_finite_cotangents

__all__ = ["go_back"]

_FIRST: tuple[int, ...] = (0,)


def go_back(records: Sequence[Record], kept: list[Sequence[object]], cts: dict[int, object],
            keep: set[int], *, recorded: bool, last: bool) -> None:
    """Carry cotangents back over recorded calls, the last one first.

    kept     -- per call, the values that its way back reads
    cts      -- cotangents by the uids of values; results' ones give way to operands' ones
    keep     -- the uids of values whose cotangents stay
    recorded -- whether other tapes are to record the computations
    last     -- whether the kept values of a call are freed after its turn
    """
    found: tuple[Any, ...]
    looks = settings().debug_nans
    own: set[int] = set()
    """The cotangents that are sums made here, to which more can be added in place."""
    with np.errstate(all="ignore"):
        for number in range(len(records) - 1, -1, -1):
            plan, inputs, outputs, line, _ = records[number]
            if len(outputs) == 1:
                (uid,) = outputs
                ct = cts.get(uid) if uid in keep else cts.pop(uid, None)
                if ct is None:
                    continue
                has, adjoint = _FIRST, plan.only
                found = (ct,)
            else:
                both = [cts.get(u) if u in keep else cts.pop(u, None) for u in outputs]
                has = tuple([k for k, ct in enumerate(both) if ct is not None])
                if not has:
                    continue
                found = tuple([ct for ct in both if ct is not None])
                adjoint = plan.adjoints.get(has)
            if adjoint is None:
                adjoint = _adjoint(plan, has, line)
            saved = kept[number]
            if last:
                kept[number] = ()
            if adjoint.reads is not plan.reads and adjoint.reads != plan.reads:
                by_place = dict(zip(plan.reads, saved, strict=True))
                saved = [by_place[k] for k in adjoint.reads]
            if recorded:
                uids = (*inputs, *outputs)
                known = [_again(x, uids[k]) for x, k in zip(saved, adjoint.reads, strict=True)]
                grads = perform(adjoint, (*known, *found))
            else:
                grads = adjoint.run(*saved, *found)
            if looks:
                require_finite_cotangents(plan, (*saved, *found), grads, line)
            for k, ct in zip(adjoint.reaches, grads, strict=True):
                uid = inputs[k]
                before = cts.get(uid)
                if before is None:
                    cts[uid] = ct
                elif uid in own:
                    before += ct
                else:
                    cts[uid] = total = before + ct  # of arrays without axes, a number
                    if type(total) is np.ndarray:
                        own.add(uid)


def _again(data: object, uid: int) -> Any:
    """Return a recorded value as the tape value that it was, for the tapes around to know it."""
    return TapeValue(data, uid) if uid else data


def _adjoint(plan: CallRecipe, has: tuple[int, ...], line: Line) -> Any:
    """Return the way back of a recorded call for cotangents of these results."""
    if plan.refusal is not None:
        forget(plan)
        raise plan.error(f"{line_text(line)}: the gradient of {plan.name} was asked for, but it "
                         f"has none: {plan.refusal}")
    return plan.adjoint(has)
