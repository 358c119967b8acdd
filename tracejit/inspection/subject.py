"""The subject of a report: a program as far as it has been made, and names of its values."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from tracejit.inspection.pictures.folding import way_back
from tracejit.ir.core import Block, Eqn, Graph, Site, Value
from tracejit.ir.printer import Names, format_block, format_param, format_type
from tracejit.ir.walk import all_eqns
from tracejit.runtime.device_stages import DeviceCompiled, DeviceLowered
from tracejit.runtime.stages import Compiled, Lowered, Traced

__all__ = ["Subject", "applied_text", "inputs_text", "line_text", "names_of", "origins"]


class Subject:
    """A graph, and as far as there are any, the staged objects that it belongs to."""

    compiled: Compiled | None
    made: Compiled | DeviceCompiled | None
    lowered: Lowered | DeviceLowered | None
    native: Lowered | None
    device: DeviceLowered | None
    traced: Any

    def __init__(self, shown: Graph | Traced | Lowered | Compiled | DeviceLowered
                 | DeviceCompiled) -> None:
        self.compiled = shown if isinstance(shown, Compiled) else None
        self.made = shown if isinstance(shown, (Compiled, DeviceCompiled)) else None
        """The compiled program, for this machine or a device."""
        self.lowered = shown.lowered if isinstance(shown, (Compiled, DeviceCompiled)) else (
            shown if isinstance(shown, (Lowered, DeviceLowered)) else None)
        self.native = self.lowered if isinstance(self.lowered, Lowered) else None
        """The program lowered for this machine, not for a device."""
        self.device = self.lowered if isinstance(self.lowered, DeviceLowered) else None
        self.traced = self.lowered.traced if self.lowered is not None else (
            shown if isinstance(shown, Traced) else None)
        self.graph: Graph = shown if isinstance(shown, Graph) else shown.graph

    @property
    def capability(self) -> tuple[int, int]:
        """Return the compute capability that PTX is shown for."""
        chosen = self.made.capability if isinstance(self.made, DeviceCompiled) else None
        return chosen or (8, 0)

    @functools.cached_property
    def names(self) -> Names:
        """Return the names that the printed graph uses."""
        return names_of(self.graph)

    @functools.cached_property
    def eqns(self) -> list[Eqn]:
        """Return every equation, also in regions."""
        return list(all_eqns(self.graph.block))

    @functools.cached_property
    def back(self) -> set[Eqn]:
        """Return the equations of the way back."""
        return set(way_back(self.graph.block))

    @property
    def has_backward(self) -> bool:
        """Return whether a part of the program is a way back."""
        return bool(self.back)

    @functools.cached_property
    def reasons(self) -> dict[Value, str]:
        """Return why the equation of a value has no backward part, by values before passes."""
        return {v: why for eqn, why in self.graph.reasons for v in eqn.outputs}

    @functools.cached_property
    def reasons_by_eqn(self) -> dict[Eqn, str]:
        """Return why equations of the differentiated block have no backward part."""
        return dict(self.graph.reasons)

    @functools.cached_property
    def by_origin(self) -> dict[Value, Value]:
        """Return the values that stand now for the values before the passes."""
        found: dict[Value, Value] = {}
        for v in self.names.given:
            for old in origins(v):
                found.setdefault(old, v)
        return found

    def reason(self, eqn: Eqn) -> str:
        """Return why an equation has no backward part; nothing where it has one."""
        if eqn in self.back:
            return ""
        if not eqn.outputs:
            return "a check, not a value" if self.graph.reasons else ""
        return next((self.reasons[old] for v in eqn.outputs for old in origins(v)
                     if old in self.reasons), "")

    # --- text -----------------------------------------------------------------------------------

    def results(self, eqn: Eqn) -> str:
        """Return the names of an equation's results."""
        return ", ".join(map(self.names.ref, eqn.outputs))

    def types(self, eqn: Eqn) -> str:
        """Return the types of an equation's results."""
        return ", ".join(format_type(v.aval, self.names) for v in eqn.outputs)

    def applied(self, eqn: Eqn) -> str:
        """Return an equation's op with operands and params."""
        return applied_text(eqn, self.names)


def names_of(graph: Graph, names: Names | None = None) -> Names:
    """Return the names of a graph's values as printing it gives them out."""
    names = names or Names()
    for v in (*graph.sizes, *graph.inputs):
        names.of(v)
    format_block(graph.block, names, "", "return")
    return names


def applied_text(eqn: Eqn, names: Names) -> str:
    """Return an equation's op with operands and params."""
    text = f"{eqn.op.name}({', '.join(map(names.atom, eqn.inputs))})"
    if eqn.params:
        params = (f"{k}={format_param(p, names)}" for k, p in eqn.params.items())
        text += f" {{{', '.join(params)}}}"
    return text


def origins(v: Value) -> Iterator[Value]:
    """Yield a value, and the values that it stands for since passes have rebuilt the graph."""
    seen: Value | None = v
    while seen is not None:
        yield seen
        seen = seen.origin


def line_text(site: Site | None) -> str:
    """Return `file:line` without folders; nothing for no site."""
    return "" if site is None else str(site)


def inputs_text(block: Block, names: Names) -> str:
    """Return the inputs of a block with their types."""
    return ", ".join(f"{names.ref(v)}: {format_type(v.aval, names)}" for v in block.inputs)

