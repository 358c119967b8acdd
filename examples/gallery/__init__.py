"""Worked examples by field: a problem each, in NumPy as its authors write it, solved by gradients.

A file is one example. `problem()` makes a function and its arguments, of which the first is what is
looked for; `main()` solves it, prints a few numbers and returns them; `plot()` draws what came out.
Files whose names begin with an underscore are not examples: they time and show them.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

__all__ = ["NAMES", "load"]

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def load(name: str) -> ModuleType:
    """Return the module of an example."""
    return importlib.import_module(f"examples.gallery.{name}")
