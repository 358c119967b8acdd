"""A report as a folder of files that need nothing else: a page, the IR, pictures, code."""

from __future__ import annotations

from pathlib import Path

from tracejit.runtime.stages import Compiled

__all__ = ["write_folder"]


def write_folder(compiled: Compiled, folder: Path) -> list[Path]:
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
             "kernel.py": compiled.source, "kernel.ll": compiled.llvm, "kernel.s": compiled.asm}
    files = [index]
    for name, text in texts.items():
        path = folder / name
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        files.append(path)
    return files
