"""Which loops of the emitted source were vectorised, read from the machine code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Node, Store, children
from tracejit.inspection.machine.assembly import AsmLoop, Assembly, Code
from tracejit.inspection.machine.emitted import EmittedLoop, emitted_loops
from tracejit.inspection.machine.scalar import scalar_reasons
from tracejit.runtime.stages import Compiled

__all__ = ["LoopCode", "VectorFacts", "can_be_read", "vector_facts"]


@dataclass(frozen=True, slots=True)
class LoopCode:
    """The machine code of a loop, or of one of its versions: on vectors, or for the rest.

    shape     -- the vectors that it computes on, "4 x f64", or "" where it is scalar
    functions -- the vector functions that it calls, each once
    calls     -- the other functions; "" is one that is not known
    loads, stores, spills -- how many instructions of one pass read memory, write there, or read and
                             write the stack because registers ran out
    is_loop   -- whether it jumps back: a loop of a few iterations may be written out
    """

    shape: str
    functions: tuple[str, ...]
    calls: tuple[str, ...]
    loads: int
    stores: int
    spills: int
    is_loop: bool


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """The machine code of a loop of the emitted source.

    A loop around one that runs once, and is gone, counts as innermost.

    verdict  -- "vectorised", "scalar", "around loops", "a call" (of memset, say), or "gone"
    versions -- its code, the widest vectors first; without the code of the loops inside
    reasons  -- where it is scalar, why it is not vectorised, as far as that is known
    """

    loop: EmittedLoop
    verdict: str
    versions: tuple[LoopCode, ...]
    reasons: tuple[str, ...] = ()


def can_be_read() -> bool:
    """Return whether the machine code is of a kind that can be read: x86-64."""
    return str(llvm.get_process_triple()).startswith("x86_64")


def vector_facts(compiled: Compiled) -> list[VectorFacts]:
    """Return the machine code of each loop of a program's emitted source, in its order.

    The program is compiled again with a table of lines; its instructions are the same.
    Raises `NotImplementedError` where the machine code is not x86-64.
    """
    if not can_be_read():
        raise NotImplementedError(f"the machine code is for {llvm.get_process_triple()}; only "
                                  "x86-64 can be read")
    assembly = Assembly(compiled.asm_with_lines(), compiled.symbol, Path(compiled.path).name)
    strict = getattr(compiled.lowered.traced.program.options, "fp", "default") == "strict"
    kernel = compiled.lowered.kernel
    return _Reader(assembly, emitted_loops(kernel), kernel, strict).facts()


def _assigned(assembly: Assembly,
              loops: list[EmittedLoop]) -> dict[EmittedLoop, list[AsmLoop]]:
    """Return the loops of the assembly by the loops of the source that they carry out."""
    found: dict[EmittedLoop, list[AsmLoop]] = {}
    for outermost in assembly.loops:
        for asm_loop in outermost.all_loops():
            loop = _source_of(asm_loop, loops)
            if loop is not None:
                found.setdefault(loop, []).append(asm_loop)
    return found


def _source_of(asm_loop: AsmLoop, loops: list[EmittedLoop]) -> EmittedLoop | None:
    """Return the loop of the source that a loop comes from.

    The jump back is of the line where the loop begins. Where it is of none, it is the innermost
    loop that nearly all instructions come from.
    """
    lines = Counter(i.line for i in asm_loop.instructions() if i.line)

    def share(loop: EmittedLoop) -> float:
        within = sum(n for line, n in lines.items() if loop.first <= line <= loop.last)
        return within / max(lines.total(), 1)

    head = next((loop for loop in loops if loop.first == asm_loop.latch), None)
    if head is not None and share(head) > 0.5:
        return head
    return next((loop for loop in sorted(loops, key=lambda loop: -loop.depth)
                 if share(loop) > 0.9), None)


class _Reader:
    def __init__(self, assembly: Assembly, loops: list[EmittedLoop], kernel: Kernel,
                 strict: bool) -> None:
        self.loops, self.kernel, self.strict = loops, kernel, strict
        found = _assigned(assembly, loops)
        self.codes: dict[EmittedLoop, list[tuple[Code, bool]]] = {}
        """Per loop its code, and whether that is a loop."""
        for loop in loops:
            codes = [(a.own, True) for a in found.get(loop, [])]
            if not codes and loop.is_innermost:
                code = assembly.code_of(range(loop.first + 1, loop.last + 1))
                codes = [(code, False)] if code.instructions else []
            self.codes[loop] = codes

    def facts(self) -> list[VectorFacts]:
        """Return the facts about each loop."""
        return [self._facts(loop) for loop in self.loops]

    def _facts(self, loop: EmittedLoop) -> VectorFacts:
        versions = tuple(sorted((_version(code, is_loop, loop, self.kernel)
                                 for code, is_loop in self.codes[loop]),
                                key=lambda v: (not v.shape, -_lanes(v))))
        if any(self.codes[inner] for inner in self._inside(loop)) or not (
                versions or loop.is_innermost):
            return VectorFacts(loop, "around loops", versions)
        if not versions:
            return VectorFacts(loop, "gone", ())
        if versions[0].shape:
            return VectorFacts(loop, "vectorised", versions)
        if not versions[0].is_loop and any(c in _MEMORY for c in versions[0].calls):
            return VectorFacts(loop, "a call", versions)
        calls = [c for v in versions for c in v.calls]
        reasons = scalar_reasons(loop.node, calls, strict=self.strict)
        if not versions[0].is_loop and not reasons:
            reasons = ["it runs a few times at most, and was written out"]
        return VectorFacts(loop, "scalar", versions, tuple(reasons))

    def _inside(self, loop: EmittedLoop) -> list[EmittedLoop]:
        return [other for other in self.loops if loop.first < other.first <= loop.last]


_MEMORY = ("memset", "memcpy", "memmove")


def _lanes(version: LoopCode) -> int:
    return int(version.shape.partition(" ")[0]) if version.shape else 1


def _version(code: Code, is_loop: bool, loop: EmittedLoop, kernel: Kernel) -> LoopCode:
    functions = tuple(dict.fromkeys(c for c in code.calls if c.startswith("_ZGV")))
    calls = tuple(dict.fromkeys(c for c in code.calls if not c.startswith("_ZGV")))
    return LoopCode(_shape(code, functions, loop, kernel), functions, calls, code.loads,
                    code.stores, code.spills, is_loop)


def _shape(code: Code, functions: tuple[str, ...], loop: EmittedLoop, kernel: Kernel) -> str:
    """Return the vectors on which a loop computes, or "" where on scalars.

    Vectors of 128 bits are also used to move one complex number, or to zero a register.
    """
    dtypes = [b.dtype for name in _written([loop.node]) for b in kernel.buffers if b.name == name]
    has_complex = any(b.dtype.kind == "c" for b in kernel.buffers)
    wide = [s for s in code.shapes if s[0] * _BITS[s[1]] > 128]
    is_vector = bool(functions or wide) or code.moved_bits > (128 if has_complex else 0)
    if not is_vector:
        return ""
    if code.shapes:
        lanes, name = (wide or code.shapes)[0]
        return f"{lanes} x {name}"
    bits = code.moved_bits or 128
    if dtypes and dtypes[0].kind in "fiub":
        return f"{bits // 8 // dtypes[0].itemsize} x {_name(dtypes[0].kind, dtypes[0].itemsize)}"
    return f"{bits // 64} x f64"


_BITS = {"f64": 64, "f32": 32, "i64": 64, "i32": 32, "i16": 16, "i8": 8}


def _name(kind: str, itemsize: int) -> str:
    return f"{'f' if kind == 'f' else 'i'}{8 * itemsize}"


def _written(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Store):
            yield node.buffer
        for block in children(node):
            yield from _written(block)
