"""The report of `ptxas` on kernels: registers, spills, memory, and the occupancy that follows."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tracejit.codegen.cuda.occupancy import Occupancy, occupancy_of
from tracejit.codegen.cuda.program import ALONE, Capability, DeviceProgram
from tracejit.errors import DeviceError

__all__ = ["Resources", "ResourceTable", "find_ptxas", "resources_of"]


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that a kernel takes.

    registers                 -- of a thread
    spill_stores, spill_loads -- bytes of registers that a thread has to keep in memory
    shared                    -- bytes of shared memory of a block
    local                     -- bytes of local memory of a thread: its stack, with its arrays
    threads                   -- of a block, where there are iterations enough
    occupancy                 -- the blocks that a multiprocessor holds; None where there is one
                                 block alone, or limits are not known
    """

    registers: int
    spill_stores: int
    spill_loads: int
    shared: int = 0
    local: int = 0
    threads: int = 256
    occupancy: Occupancy | None = None


class ResourceTable(dict[str, Resources]):
    """The resources that each kernel takes; printed, a table."""

    HEADS = ("kernel", "threads", "registers", "spills", "shared", "local", "occupancy")

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row per kernel, as text."""
        return [(name, str(r.threads), str(r.registers), str(r.spill_stores + r.spill_loads),
                 str(r.shared), str(r.local), "" if r.occupancy is None else str(r.occupancy))
                for name, r in self.items()]

    def __str__(self) -> str:
        table = [self.HEADS, *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(len(self.HEADS) - 1)]
        return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:]),
                                    row[-1]]).rstrip() for row in table)

    def __repr__(self) -> str:
        return str(self)


def find_ptxas() -> str | None:
    """Return the path of `ptxas`, of the wheel nvidia-cuda-nvcc or on PATH; None without one."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob("*/bin/ptxas")):
            return str(path)
    return shutil.which("ptxas")


def resources_of(program: DeviceProgram, ptx: Mapping[str, str],
                 capability: Capability) -> ResourceTable:
    """Return the resources that every kernel takes, by `ptxas`."""
    assembler = find_ptxas()
    if assembler is None:
        raise DeviceError("ptxas is not there: pip install nvidia-cuda-nvcc")
    found = ResourceTable()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ptx.items():
            path = Path(folder) / f"{name}.ptx"
            path.write_text(text)
            taken = _parse(_assemble(assembler, path, capability))
            threads = program.threads(name)
            occupancy = None if program.launches(name) in ALONE else occupancy_of(
                capability, threads, taken.registers, taken.shared)
            found[name] = replace(taken, threads=threads, occupancy=occupancy)
    return found


def _assemble(assembler: str, path: Path, capability: Capability) -> str:
    """Return the output of `ptxas -v`."""
    done = subprocess.run(
        [assembler, "-v", f"-arch=sm_{capability[0]}{capability[1]}", str(path), "-o",
         str(path.with_suffix(".cubin"))], capture_output=True, text=True, check=False)
    if "Unsupported .version" in done.stderr:
        raise DeviceError(f"{assembler} is older than the compiler of numba-cuda: "
                          "pip install -U nvidia-cuda-nvcc")
    if done.returncode:
        raise DeviceError(f"ptxas does not accept {path.stem}: {done.stderr}")
    return done.stderr


def _parse(text: str) -> Resources:
    """Read the largest numbers that `ptxas -v` gives, of the kernel and of functions it calls."""
    def largest(pattern: str) -> int:
        return max(map(int, re.findall(pattern, text)), default=0)

    return Resources(
        largest(r"Used (\d+) registers"), largest(r"(\d+) bytes spill stores"),
        largest(r"(\d+) bytes spill loads"), largest(r"(\d+) bytes smem"),
        largest(r"(\d+) bytes (?:stack frame|cumulative stack size)"))
