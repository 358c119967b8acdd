"""A report as a folder of files that need nothing else: a page, the IR, pictures, code."""

from __future__ import annotations

from pathlib import Path

from tracejit.errors import DeviceError
from tracejit.runtime.device_stages import DeviceCompiled
from tracejit.runtime.stages import Compiled

__all__ = ["write_folder"]


def _code(compiled: Compiled | DeviceCompiled) -> dict[str, str]:
    """Return the code below the source as files: for a device, where it can be compiled here."""
    if isinstance(compiled, Compiled):
        return {"kernel.ll": compiled.llvm, "kernel.s": compiled.asm}
    capability = compiled.capability or (8, 0)
    found = {}
    try:
        found = {f"{name}.ptx": text for name, text in compiled.ptx(capability).items()}
        found["resources.txt"] = str(compiled.resources(capability))
    except DeviceError:  # the report says why
        pass
    return found


def write_folder(compiled: Compiled | DeviceCompiled, folder: Path) -> list[Path]:
    """Write a report with all its parts into a folder and return the files.

    index.html has everything; beside it are the IR, the reasons, the picture, and the code of each
    stage as files of their own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report = compiled.report(limit=5000)
    index = folder / "index.html"
    report[report.available].to_html(index)
    traced = compiled.lowered.traced
    texts = {"report.txt": str(report), "ir.txt": str(compiled.graph),
             "ir_before_passes.txt": str(traced.program.graph), "why.txt": compiled.why(),
             "graph.svg": compiled.graph.to_svg(), "graph.dot": compiled.graph.to_dot(),
             "kernel.py": compiled.source, **_code(compiled)}
    files = [index]
    for name, text in texts.items():
        path = folder / name
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        files.append(path)
    return files
