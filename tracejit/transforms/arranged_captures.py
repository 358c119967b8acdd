"""Captured programs as transforms go on with them: loops with eight iterations side by side."""

from __future__ import annotations

from dataclasses import replace

from tracejit.ir.notes import Noted
from tracejit.passes.lanes import describe_lanes, in_lanes
from tracejit.trace.attempt import Capture
from tracejit.transforms.options import Options

__all__ = ["arranged"]


def arranged(c: Capture, options: Options) -> Capture:
    """Return a capture whose loops are in lanes where they may be, with a note on each."""
    if options.fp == "strict" or options.target != "cpu" or "lanes" in options.switched_off:
        return c
    graph, loops = in_lanes(c.graph)
    if not loops:
        return c
    notes = (Noted(describe_lanes(loop), "TJ806") for loop in loops)
    return replace(c, graph=replace(graph, notes=(*graph.notes, *notes)))
