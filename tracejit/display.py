"""Objects that show themselves: notebooks and `.report()` get their pages from above.

This is the one place where lower parts call up, by name, and only when something is looked at.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Displayed", "Drawn", "Readable", "text_of"]


class Readable(Protocol):
    """A report: parts by their names, as text and as HTML."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the parts that are shown."""

    @property
    def available(self) -> tuple[str, ...]:
        """Return the names of all parts."""

    def __getitem__(self, names: str | tuple[str, ...], /) -> Readable:
        """Return a report of some parts only."""

    def show(self) -> None:
        """Show the report: in a notebook as HTML, elsewhere as text."""

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as HTML; with a path, also write it there."""


def _inspection(module: str) -> Any:
    return importlib.import_module(f"tracejit.inspection.{module}")


def text_of(graph: object) -> str:
    """Return a graph as text."""
    text: str = importlib.import_module("tracejit.ir.printer").format_graph(graph)
    return text


class Displayed:
    """A program at some stage, which has a report."""

    __slots__ = ()

    def report(self, limit: int = 300) -> Readable:
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
        report: Readable = _inspection("report").report_of(self, limit)
        return report

    def _repr_html_(self) -> str:
        return self.report().to_html()


class Drawn(Displayed):
    """A graph, which has a picture as well."""

    __slots__ = ()

    def to_svg(self, path: str | Path | None = None, *, max_nodes: int | None = 300) -> str:
        """Return a picture of the graph as SVG; with a path, also write it there.

        max_nodes -- where the graph has more equations, regions and lines of code are drawn as one
                     node each, and the picture says how many; None draws every equation

        >>> import numpy as np, tracejit
        >>> graph = tracejit.grad(lambda x: np.sum(np.sin(x))).trace("f64[n]").graph
        >>> graph.to_svg().startswith("<svg")
        True
        """
        return _written(_inspection("pictures.picture").graph_svg(self, max_nodes=max_nodes), path)

    def to_dot(self, path: str | Path | None = None) -> str:
        """Return the graph in the DOT language of Graphviz; with a path, also write it there."""
        return _written(_inspection("pictures.dot").graph_dot(self), path)


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
