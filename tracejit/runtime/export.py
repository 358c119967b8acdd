"""Compiled programs as files for C: a header, an object, a static archive and a shared library.

`Compiled.export` is the way in. The contents of the files are made by `tracejit.codegen.export`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
import numpy as np

from tracejit.errors import ExportError
from tracejit.runtime.callees import require_no_calls
from tracejit.runtime.result_sizes import require_known_sizes
from tracejit.trace.state.paths import Leaf

if TYPE_CHECKING:
    from tracejit.codegen.c_interface import CInterface
    from tracejit.codegen.kernel import Kernel
    from tracejit.runtime.program import Program

__all__ = ["conditions_of", "export_program", "frozen_lines", "require_silent"]

_SUFFIXES = {".h": (".h",), ".o": (".h", ".o"), ".a": (".h", ".o", ".a"),
             ".so": (".h", ".o", ".a", ".so")}
"""The files that are written for each suffix."""


def export_program(program: Program, kernel: Kernel, source: str, shown_at: str,
                   path: str | os.PathLike[str], cpu: str | None, name: str | None) -> list[Path]:
    """Write the files; see `Compiled.export`.

    source   -- the emitted source of the kernel
    shown_at -- the file that debuggers are to look for it in
    """
    from tracejit.codegen import export as codegen
    from tracejit.codegen.c_interface import header_text, make_interface
    from tracejit.codegen.c_names import c_function_name, is_reserved_in_c
    from tracejit.codegen.compile import Functions

    target = Path(path)
    if target.suffix not in _SUFFIXES:
        raise ValueError(f"{str(path)!r} must end in one of {', '.join(_SUFFIXES)}")
    require_silent(program, kernel)
    require_known_sizes(program.graph, "exported code")
    alias = name or c_function_name(program.name)
    if not re.fullmatch(r"[A-Za-z]\w*", alias, flags=re.ASCII) or is_reserved_in_c(alias):
        raise ValueError(f"{alias!r} is no name for a C function. Give name= another")
    is_strict = getattr(program.options, "fp", "default") == "strict"
    known = codegen.vector_widths(cpu)
    widths = () if is_strict else known
    results, notes = _names_of_state(program, kernel)
    interface = make_interface(kernel, conditions_of(program), results, notes)
    symbol = f"tracejit_{_digest(source, interface, codegen.cpu_description(cpu), widths)}"
    functions = Functions(kernel, _namespace(widths, is_strict), shown_at)
    code = codegen.export_kernel(functions, interface, symbol, cpu)
    about = [f"{program.name}, made by tracejit for "
             + (f"the CPU {cpu}." if cpu else "a CPU as the one of the machine that made it."),
             f"Its name is made of its content; {alias} stands for it.", *frozen_lines(program),
             *_apart(program, interface)]
    header = header_text(interface, symbol, alias, about, _link_lines(code.libraries))
    files = _Files(target, code.libraries)
    for suffix in _SUFFIXES[target.suffix]:
        files.write(suffix, header, code.object_code)
    return files.written


def require_silent(program: Program, kernel: Kernel) -> None:
    """Raise `ExportError` for a program that prints, or calls Python."""
    require_no_calls(program.name, program.graph.block)
    if kernel.prints:
        raise ExportError(f"{program.name} prints, which needs Python. Take the print out of it, "
                          "or let it return what it shows")


# --- the program in words -------------------------------------------------------------------------


def _names_of_state(program: Program, kernel: Kernel) -> tuple[dict[int, str], dict[int, str]]:
    """Return names of outputs that are new contents of variables, and remarks on inputs."""
    notes = {k: f"what {source.path} is in Python" for k, source in enumerate(program.sources)
             if isinstance(source, Leaf)}
    results = dict(program.results)
    for path, output in program.assigned:
        results[output] = re.sub(r"\W+", "_", str(path)).strip("_") + "_new"
    for leaf, output in program.written:
        if leaf in program.sources:
            results[output] = f"{kernel.inputs[program.sources.index(leaf)].name}_new"
    return results, notes


def conditions_of(program: Program) -> list[tuple[Any, str]]:
    """Return the conditions of the program on sizes and ints, each with the reason; no folders."""
    capture = program.capture
    found = [((g.dim, g.relation, g.truth), re.sub(r"/\S*/(?=\S+:\d)", "", g.reason))
             for g in capture.size_guards]
    return [*found, *(((a - b, "==", True), "") for a, b in capture.checks)]


def _apart(program: Program, interface: CInterface) -> list[str]:
    """Return lines on the inputs that may not share memory, as the program writes to one."""
    names = {p.value: p.name for p in interface.parameters}
    inputs = interface.kernel.graph.inputs
    return [f"{names[inputs[k]]} and {names[inputs[j]]} share no memory."
            for fact in program.capture.facts if fact.kind == "overlap"
            for k, j in [fact.inputs]]


def frozen_lines(program: Program) -> list[str]:
    """Return a line per number or text that the function found outside, and that is now fixed."""
    fixed = (bool, int, str, np.integer, np.bool_)
    return [f"{guard.path} is {guard.content!r}, as it was when this was made."
            for guard in program.capture.guards if isinstance(guard.content, fixed)]


def _link_lines(libraries: Sequence[str]) -> list[str]:
    """Return the lines about the libraries that an object needs."""
    lines = [shlex.join(libraries)]
    if any("openblas" in word for word in libraries):
        lines.append("This is the OpenBLAS that NumPy brings along, called by names such as "
                     "scipy_dgemm_64_;")
        lines.append("the package scipy-openblas64 of PyPI is the same library for C programs.")
    return lines


def _digest(source: str, interface: CInterface, cpu: str, widths: tuple[int, ...]) -> str:
    """Return the digest that names a program: all that its code depends on."""
    facts = (source, [p.declaration for p in interface.parameters], list(interface.messages()),
             cpu, widths, numba.__version__, llvmlite.__version__)
    return hashlib.blake2b(repr(facts).encode(), digest_size=12).hexdigest()


@functools.cache
def _namespace(widths: tuple[int, ...], is_strict: bool) -> Mapping[str, Any]:
    from tracejit.codegen.c_wrapper import resize
    from tracejit.codegen.intrinsics import namespace

    return namespace(widths, reassociate=not is_strict, reallocate=resize)


# --- files ----------------------------------------------------------------------------------------


class _Files:
    """The files of one export, each there as a whole or not at all."""

    def __init__(self, target: Path, libraries: Sequence[str]) -> None:
        self.target, self.libraries = target, libraries
        self.written: list[Path] = []

    def write(self, suffix: str, header: str, object_code: bytes) -> None:
        """Write the file with a suffix."""
        path = self.target.with_suffix(suffix)
        with self._replacing(path) as fresh:
            if suffix == ".h":
                fresh.write_text(header, encoding="utf-8")
            elif suffix == ".o":
                fresh.write_bytes(object_code)
            else:
                self._make(path, fresh)
        self.written.append(path)

    @contextmanager
    def _replacing(self, path: Path) -> Iterator[Path]:
        """Give the name of a file that takes the place of another when it is complete."""
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export_") as folder:
            fresh = Path(folder) / path.name
            yield fresh
            os.replace(fresh, path)

    def _make(self, path: Path, fresh: Path) -> None:
        """Run the tool that makes a file; `ExportError` where it fails, with the command to run."""
        command = self._command(fresh)
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            fault = done.stderr.strip() if done.returncode else None
        except OSError as e:
            fault = f"{command[0]}: {e.strerror}"
        if fault is not None:
            raise ExportError(
                f"{path.name} could not be made: {fault}. There are now "
                f"{' and '.join(p.name for p in self.written)}; where there is a C compiler, run: "
                f"{shlex.join(self._command(path))}")

    def _command(self, made: Path) -> list[str]:
        """Return the call of the tool that makes a file.

        No name is taken for an option or, by its commas, for several: all begin with a slash.
        """
        made = made.absolute()
        object_file = str(self.target.absolute().with_suffix(".o"))
        if made.suffix == ".a":
            return [*shlex.split(os.environ.get("AR", "ar")), "rcs", str(made), object_file]
        compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), "cc")
        return [*shlex.split(compiler), "-shared", "-o", str(made), "-Xlinker",
                f"-soname={made.name}", "-Xlinker", "-zdefs", object_file, *self.libraries]
