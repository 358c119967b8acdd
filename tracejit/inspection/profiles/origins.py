"""From a stretch of emitted code to the user's lines, and to a row of a profile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracejit.codegen.interrupts import CHUNKS
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_costs import ROWS
from tracejit.codegen.loop_ir import If, Loop, Node, Store, While, every_node
from tracejit.codegen.python_source import render_nodes
from tracejit.inspection.costs.formulas import format_formula
from tracejit.inspection.profiles.instrument import without_counts
from tracejit.inspection.profiles.instrumented import Stretch
from tracejit.inspection.profiles.limits import Limits
from tracejit.inspection.profiles.profile import Row
from tracejit.inspection.profiles.symbols import Symbols
from tracejit.ir.core import Eqn
from tracejit.ir.dims import Dim, dim_values
from tracejit.ir.walk import all_eqns

__all__ = ["Origins"]


class Origins:
    """The equations that nodes of Loop IR carry out, by their origins."""

    def __init__(self, kernel: Kernel, symbols: Symbols) -> None:
        self.symbols = symbols
        self.eqns: dict[str, Eqn] = {}
        for graph in (kernel.graph, kernel.carried_out):
            for eqn in all_eqns(graph.block):
                for v in (*eqn.outputs, *(v for region in eqn.regions for v in region.inputs)):
                    self.eqns.setdefault(kernel.labels[v], eqn)

    def eqns_of(self, nodes: Sequence[Node]) -> list[Eqn]:
        """Return the equations that nodes stand for, in order."""
        labels = (label for node in every_node(nodes) for label in node.origin.labels)
        found = dict.fromkeys(self.eqns[label] for label in labels if label in self.eqns)
        inner = {e for eqn in found for region in eqn.regions for e in all_eqns(region)}
        return [e for e in found if not (e.regions and inner & found.keys())] or list(found)

    def row(self, stretch: Stretch, seconds: float, is_short: bool, limits: Limits) -> Row:
        """Return the row of a stretch that took so long."""
        traffic = stretch.traffic
        eqns = self.eqns_of(stretch.nodes)
        for node in reversed(stretch.around):
            eqns = eqns or self.eqns_of([node])
        level = limits.level_for(traffic.footprint)
        is_single = bool(traffic.dtypes) and all(
            d in (np.float32, np.complex64) for d in traffic.dtypes)
        return Row(
            kind=_kind(stretch), role=_role(eqns), sites=_sites(eqns),
            source="\n".join(render_nodes(without_counts(stretch.nodes), 0)), seconds=seconds,
            is_short=is_short, executions=stretch.times, flops=round(traffic.flops),
            bytes=round(traffic.bytes), footprint=round(traffic.footprint),
            calls={name: round(count) for name, count in traffic.calls.items()},
            flops_formula=self._text(traffic.flops_formula, traffic.is_bound),
            bytes_formula=self._text(traffic.bytes_formula, traffic.is_bound), level=level,
            peak_flops=limits.flops["f32" if is_single else "f64"])

    def _text(self, formula: Dim | None, is_bound: bool) -> str:
        if formula is None:
            return ""
        names = {v: name for v, name in self.symbols.kernel.scalar_names.items()
                 if v in self.symbols.sizes}
        names |= {v: self.symbols.kernel.labels[v] for v in names if v in
                  self.symbols.kernel.labels}
        for v in dim_values(formula):
            names.setdefault(v, "k")
        return ("at most " if is_bound and formula != 0 else "") + format_formula(formula, names)


def _sites(eqns: Sequence[Eqn]) -> tuple[str, ...]:
    places = {(e.site.location[:2], str(e.site)) for e in eqns if e.site is not None}
    return tuple(dict.fromkeys(text for _, text in sorted(places)))


def _role(eqns: Sequence[Eqn]) -> str:
    """Return the part of differentiation that equations belong to."""
    backward = [e.of is not None for e in eqns]
    if not backward:
        return ""
    return "backward" if all(backward) else "forward and backward" if any(backward) else "forward"


def _kind(stretch: Stretch) -> str:
    node = stretch.main
    stores = [n for n in every_node(stretch.nodes) if isinstance(n, Store)]
    if node is None:
        loops = any(isinstance(n, (Loop, While)) for n in stretch.nodes)
        return "short steps together" if loops else "scalar code"
    if stores and all(n.origin.copied for n in stores):
        return "copy"
    if isinstance(node, (Loop, While)) and not _is_product(node):
        is_own = isinstance(node, While) or bool(node.blocks) or _is_chunks(node)
        return "loop of the program" if is_own else "loop nest"
    return "branch" if isinstance(node, If) and any(
        isinstance(n, (Loop, While)) and not _is_product(n) for n in node.then) else "library call"


def _is_product(loop: Loop | While) -> bool:
    """Whether a loop calls a library for one block of rows of a product after another."""
    return isinstance(loop, Loop) and loop.role == ROWS


def _is_chunks(loop: Loop) -> bool:
    """Whether a loop runs a loop of the program in chunks."""
    return loop.role == CHUNKS
