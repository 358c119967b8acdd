"""The limits of one core of this machine: bytes per second from each cache and memory, and flops.

Measured once per machine and kept in the cache directory: the triad `a = b + s c` after J. D.
McCalpin's STREAM (1995), two reads and a write per element, on arrays that fill half of a cache,
and chains of fused multiply-adds in registers, two flops each.
"""

from __future__ import annotations

import ctypes
import functools
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tracejit.configuration import cache_directory
from tracejit.store.files import Folder

__all__ = ["Level", "Limits", "machine_limits", "measure_limits"]

FILE = "limits.json"
VERSION = 1
"""Of the file; another number measures again."""

LARGEST = 192 << 20
"""No more bytes than that are used for measuring, for any size of the last cache."""


@dataclass(frozen=True, slots=True)
class Level:
    """A cache or memory: its bytes (0: no end), and bytes per second to and from it."""

    name: str
    size: int
    bandwidth: float


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one core.

    levels -- caches from the first one on, and memory
    flops  -- flops per second, by dtype
    """

    processor: str
    levels: tuple[Level, ...]
    flops: dict[str, float]

    def level_for(self, footprint: float) -> Level:
        """Return the fastest level that holds so many bytes."""
        return next((lv for lv in self.levels if lv.size >= footprint), self.levels[-1])

    def lines(self) -> list[str]:
        """Return the limits as text."""
        memory = ", ".join(f"{lv.name}{f' ({_size(lv.size)})' if lv.size else ''} "
                           f"{lv.bandwidth / 1e9:.0f} GB/s" for lv in self.levels)
        compute = ", ".join(f"{v / 1e9:.0f} GFLOP/s ({k})" for k, v in self.flops.items())
        return [f"one core of {self.processor}, measured: {memory}; {compute}"]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} kB"


def machine_limits() -> Limits:
    """Return the limits of this machine: from the cache directory, or measured now."""
    return _known_limits(str(cache_directory()), processor_name())


@functools.cache
def _known_limits(folder: str, processor: str) -> Limits:
    try:
        home = Folder.reach(Path(folder), make=True)
    except OSError:  # one that others can write to, or nobody: measured in every process
        return measure_limits()
    found = _read(home, processor)
    if found is None:
        found = measure_limits()
        content = {"version": VERSION, **asdict(found)}
        with suppress(OSError):
            home.replace(FILE, json.dumps(content, indent=1).encode())
    return found


def _read(home: Folder, processor: str) -> Limits | None:
    try:
        found = json.loads(home.read(FILE))
        is_ours = (found["version"], found["processor"]) == (VERSION, processor)
        levels = tuple(Level(**lv) for lv in found["levels"])
        return Limits(processor, levels, found["flops"]) if is_ours else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def processor_name() -> str:
    """Return the processor's own name, and LLVM's name of it."""
    import llvmlite.binding as llvm

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(v.strip() for k, _, v in (x.partition(":") for x in lines)
                    if k.strip() == "model name")
    except (OSError, StopIteration):
        import platform

        name = platform.processor() or platform.machine()
    return f"{name} ({llvm.get_host_cpu_name()})"


def cache_sizes() -> list[tuple[str, int]]:
    """Return the names and bytes of the caches for data; typical ones where nothing says."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((folder / name).read_text().strip()
                                 for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            found[f"L{level}"] = int(size.rstrip("KM")) << (20 if size.endswith("M") else 10)
    return sorted(found.items()) or [("L1", 32 << 10), ("L2", 256 << 10)]


# --- measuring ----------------------------------------------------------------------------------


ROUNDS = 5
"""How often each limit is measured, in turns; the best counts, others may have been disturbed."""


def measure_limits() -> Limits:
    """Measure, in less than a second."""
    triad, chains = _kernels()
    sizes = [(name, min(size, LARGEST // 4)) for name, size in cache_sizes()]
    block = np.ones(min(4 * sizes[-1][1], LARGEST) // 8)
    spans = [size // 2 for _, size in sizes] + [block.nbytes]
    bandwidths, flops = [0.0] * len(spans), dict.fromkeys(chains, 0.0)
    for _ in range(ROUNDS):
        for k, span in enumerate(spans):
            bandwidths[k] = max(bandwidths[k], _bandwidth(triad, block, span))
        for kind, (chain, work) in chains.items():
            flops[kind] = max(flops[kind], _rate(chain, 20_000, work))
    levels = [Level(*size, rate) for size, rate in zip(sizes, bandwidths, strict=False)]
    return Limits(processor_name(), (*levels, Level("memory", 0, bandwidths[-1])), flops)


def _bandwidth(triad: Callable[..., object], block: np.ndarray, size: int) -> float:
    """Return bytes per second of triads on three arrays of so many bytes together."""
    count = size // 3 // 512 * 64 - 64  # whole vectors of any width, and room for aligning
    a = block.ctypes.data + -block.ctypes.data % 64
    b, c = a + 8 * count, a + 16 * count
    passes = max(1, (16 << 20) // (24 * count))
    return _rate(lambda n: triad(a, b, c, count, n), passes, 24.0 * count)


def _rate(run: Callable[[int], object], times: int, work: float) -> float:
    """Return units of work per second."""
    start = time.perf_counter()
    run(times)
    return work * times / (time.perf_counter() - start)


CHAINS, UNROLLED = 12, 4


def _kernels() -> tuple[Any, dict[str, tuple[Any, float]]]:
    """Return the triad, and per dtype the chains with the flops of an iteration."""
    import llvmlite.binding as llvm

    from tracejit.codegen.machine import load_object, target_machine
    from tracejit.codegen.vector_math import host_widths

    width = max(host_widths(), default=128)
    lanes = {"f64": width // 64, "f32": width // 32}
    text = _triad_text(lanes["f64"])
    text += _chain_text("f64", "double", lanes["f64"]) + _chain_text("f32", "float", lanes["f32"])
    engine = load_object(bytes(target_machine().emit_object(llvm.parse_assembly(text))))
    word = ctypes.c_int64
    triad = ctypes.CFUNCTYPE(None, word, word, word, word, word)(
        engine.get_function_address("tracejit_triad"))
    chain = ctypes.CFUNCTYPE(ctypes.c_double, word)
    return triad, {kind: (chain(engine.get_function_address(f"tracejit_chain_{kind}")),
                          2.0 * CHAINS * count) for kind, count in lanes.items()}


def _triad_text(lanes: int) -> str:
    """Return LLVM text of `triad(a, b, c, count, times)`."""
    vector = f"<{lanes} x double>"
    ones = ", ".join(["double 0x3FE0000000000000"] * lanes)
    body = ""
    for k in range(UNROLLED):
        body += f"  %i{k} = add i64 %i, {k * lanes}\n"
        for x in "abc":
            body += f"  %p{x}{k} = getelementptr double, ptr %{x}, i64 %i{k}\n"
        for x in "bc":
            body += f"  %v{x}{k} = load {vector}, ptr %p{x}{k}, align 8\n"
        body += f"  %m{k} = fmul {vector} %vc{k}, <{ones}>\n"
        body += f"  %s{k} = fadd {vector} %vb{k}, %m{k}\n"
        body += f"  store {vector} %s{k}, ptr %pa{k}, align 8\n"
    return f"""
define void @tracejit_triad(i64 %a_, i64 %b_, i64 %c_, i64 %count, i64 %times) {{
start:
  %a = inttoptr i64 %a_ to ptr
  %b = inttoptr i64 %b_ to ptr
  %c = inttoptr i64 %c_ to ptr
  br label %pass
pass:
  %t = phi i64 [0, %start], [%t2, %end]
  br label %again
again:
  %i = phi i64 [0, %pass], [%next, %again]
{body}  %next = add i64 %i, {UNROLLED * lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %again, label %end
end:
  %t2 = add i64 %t, 1
  %left = icmp slt i64 %t2, %times
  br i1 %left, label %pass, label %done
done:
  ret void
}}
"""


def _chain_text(kind: str, element: str, lanes: int) -> str:
    """Return LLVM text of `chain(times)`: multiply-adds that wait for none but their own chain."""
    vector, name = f"<{lanes} x {element}>", f"llvm.fma.v{lanes}{kind}"
    half = ", ".join([f"{element} 0x3FE0000000000000"] * lanes)
    phis = "".join(f"  %x{k} = phi {vector} [<{half}>, %start], [%y{k}, %again]\n"
                   for k in range(CHAINS))
    steps = "".join(f"  %y{k} = call {vector} @{name}({vector} %x{k}, {vector} <{half}>, {vector} "
                    f"<{half}>)\n" for k in range(CHAINS))
    sums = "".join(f"  %s{k} = fadd {vector} %{'y0' if k == 1 else f's{k - 1}'}, %y{k}\n"
                   for k in range(1, CHAINS))
    widened = "%first" if element == "double" else "%wide"
    widen = "" if element == "double" else "  %wide = fpext float %first to double\n"
    return f"""
declare {vector} @{name}({vector}, {vector}, {vector})
define double @tracejit_chain_{kind}(i64 %times) {{
start:
  br label %again
again:
  %i = phi i64 [0, %start], [%next, %again]
{phis}{steps}  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %again, label %done
done:
{sums}  %first = extractelement {vector} %s{CHAINS - 1}, i64 0
{widen}  ret double {widened}
}}
"""
