"""Objects that show themselves: what notebooks and `.report()` ask for comes from above.

This is the one place where lower parts call up, by name, and only when something is looked at.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracejit.inspection.report import Report

__all__ = ["Displayed"]


def _inspection(module: str) -> Any:
    return importlib.import_module(f"tracejit.inspection.{module}")


class Displayed:
    """A program at some stage, which has a report."""

    __slots__ = ()

    def report(self, limit: int = 300) -> Report:
        """Return everything about the program in parts, for notebooks and terminals.

        limit -- how many rows a part may have

        >>> import numpy as np, tracejit
        >>> slope = tracejit.grad(lambda x: np.sum(np.sin(x)))
        >>> print(slope.trace("f64[n]").report()["stored"])  # doctest: +NORMALIZE_WHITESPACE
        Stored  (nothing)
        -----------------
        Nothing is stored beyond what the program computes anyway: no loop or branch of the program
        has a way back that reads what is inside of it.
        """
        report: Report = _inspection("report").report_of(self, limit)
        return report

    def _repr_html_(self) -> str:
        return self.report().to_html()
