"""Stable distributions of `scipy.stats`: why they are refused."""

from __future__ import annotations

from functools import partial
from typing import Any

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.values.operands import TracedOperand

__all__: list[str] = []


def _refused(what: str, distribution: object, *args: object, **kwargs: object) -> Any:
    """Refuse traced arguments; of others SciPy's own number is a constant."""
    if not any(isinstance(x, TracedOperand) for x in (*args, *kwargs.values())):
        return getattr(distribution, what)(*args, **kwargs)
    raise refuse(f"scipy.stats.levy_stable.{what} cannot be captured: Zolotarev's integrals lose "
                 "their digits where alpha is next to 1 and in the tails, and no method with a "
                 "known error for all shapes was found", "For alpha = 1 and 2 use cauchy, landau "
                 "and norm, for alpha = 0.5 levy", "TJ201")


OBJECTS["scipy.stats._levy_stable.levy_stable_gen"] = {what: partial(_refused, what) for what in (
    "pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")}
