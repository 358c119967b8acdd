"""Tables of the emitted source's lines, which LLVM carries along into the assembly.

They are debug information that gives each instruction its line and nothing else, so that the
machine code is the same as without them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llvmlite import ir
from numba.core.debuginfo import DummyDIBuilder

__all__ = ["LineTables"]


class LineTables(DummyDIBuilder):
    """Marks the instructions of one module with lines of one file, for Numba's lowering."""

    def __init__(self, module: ir.Module, path: str) -> None:
        self.module = module
        place = Path(path)
        self.file = module.add_debug_info(
            "DIFile", {"directory": str(place.parent), "filename": place.name})
        self.unit = module.add_debug_info("DICompileUnit", {
            "language": ir.DIToken("DW_LANG_C99"), "file": self.file, "producer": "tracejit",
            "runtimeVersion": 0, "isOptimized": True,
            "emissionKind": ir.DIToken("LineTablesOnly")}, is_distinct=True)
        self.type = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([])})
        self.subprogram: Any = None

    def mark_subprogram(self, function: ir.Function, qualname: str, argnames: object = (),
                        argtypes: object = (), line: int = 1) -> None:
        """Say which function the lines that follow are of."""
        self.subprogram = self.module.add_debug_info("DISubprogram", {
            "name": qualname, "scope": self.file, "file": self.file, "line": line,
            "scopeLine": line, "type": self.type, "isLocal": False, "isDefinition": True,
            "isOptimized": True, "unit": self.unit}, is_distinct=True)
        function.set_metadata("dbg", self.subprogram)

    def mark_location(self, builder: ir.IRBuilder, line: int) -> None:
        """Mark the instructions that follow with a line."""
        builder.debug_metadata = self.module.add_debug_info(
            "DILocation", {"line": line, "column": 1, "scope": self.subprogram})

    def finalize(self) -> None:
        """Name the unit, and the version of the format, without which LLVM drops all of it."""
        self.module.add_named_metadata("llvm.dbg.cu", self.unit)
        number = ir.IntType(32)
        for name, value in (("Dwarf Version", 4), ("Debug Info Version", 3)):
            self.module.add_named_metadata("llvm.module.flags", [number(2), name, number(value)])
