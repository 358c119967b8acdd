"""Instructions of x86-64 assembly as LLVM prints it: reads, writes and computation of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Instruction", "instructions_of"]

_FLOAT = re.compile(r"v?(?:add|sub|mul|div|sqrt|min|max|addsub|hadd|cmp\w*|fn?m(?:add|sub|addsub|"
                    r"subadd)\d*|rndscale|round|reduce|range|getexp|getmant|scalef|rcp14|rsqrt14)"
                    r"p([sd])")
_INTEGER = re.compile(r"v?p(?:add|sub|mull|mulu?|mins|minu|maxs|maxu|cmpeq|cmpgt|cmp|cmpu|sll|srl|"
                      r"sra|sllv|srlv|srav|abs)([bwdq])")
_MOVE = re.compile(r"v?mov(?:[ua]p[sd]|dq[ua](?:8|16|32|64)?|ntp[sd]|ntdqa?)")
_STORE = re.compile(r"v?mov.*|v?extract.*|vpmov.*|v?pextr.*|vcvtps2ph|set.*|vp?scatter.*|"
                    r"vp?compress.*")
_READ_ONLY = re.compile(r"cmp[bwlq]|test[bwlq]|bt[wlq]?|v?u?comis[sd]|v?p?test(?:p[sd])?|"
                        r"i?mul[bwlq]|i?div[bwlq]|push[wlq]?|call[wlq]?|jmp[wlq]?")
_NO_ACCESS = re.compile(r"lea[wlq]?|nop[wlq]?|prefetch.*")
_REGISTER = re.compile(r"%([xyz])mm")
_BITS = {"x": 128, "y": 256, "z": 512}
_FLOATS = {"s": ("f32", 32), "d": ("f64", 64)}
_INTEGERS = {"b": ("i8", 8), "w": ("i16", 16), "d": ("i32", 32), "q": ("i64", 64)}


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """An instruction in AT&T syntax: the target is the last operand.

    line     -- of the source that it comes from, or 0
    on_stack -- whether its operand in memory, if it has one, is on the stack
    """

    mnemonic: str
    operands: tuple[str, ...]
    line: int = 0
    on_stack: bool = False

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}".rstrip()

    @property
    def shape(self) -> tuple[int, str] | None:
        """Return the lanes and the type that it computes on, if it computes on vectors.

        Moves, shuffles and bitwise operations do not count: scalar code has them, too.
        """
        if m := _FLOAT.fullmatch(self.mnemonic):
            name, bits = _FLOATS[m[1]]
        elif m := _INTEGER.fullmatch(self.mnemonic):
            name, bits = _INTEGERS[m[1]]
        else:
            return None
        return (self.width // bits, name) if self.width else None

    @property
    def width(self) -> int:
        """Return the bits of its widest vector register, or 0."""
        return max((_BITS[c] for x in self.operands for c in _REGISTER.findall(x)), default=0)

    @property
    def moved_bits(self) -> int:
        """Return how many bits it moves between memory and a vector register, or 0."""
        moves = _MOVE.fullmatch(self.mnemonic) is not None and (self.reads or self.writes)
        return self.width if moves else 0

    @property
    def reads(self) -> bool:
        """Return whether it reads memory."""
        stores = self.writes and _STORE.fullmatch(self.mnemonic) is not None
        return self._has_memory and not stores

    @property
    def writes(self) -> bool:
        """Return whether it writes to memory."""
        return (self._has_memory and "(" in self.operands[-1]
                and not _READ_ONLY.fullmatch(self.mnemonic))

    @property
    def _has_memory(self) -> bool:
        return any("(" in x for x in self.operands) and not _NO_ACCESS.fullmatch(self.mnemonic)


_FILE = re.compile(r'\t\.file\t(\d+)(?: "[^"]*")? "([^"]*)"')
_LOC = re.compile(r"\t\.loc\t(\d+) (\d+)")
_LABEL = re.compile(r"(\.LBB\w+):")


def instructions_of(text: str, symbol: str, file: str = "") -> Iterator[Instruction | str]:
    """Yield the instructions of a function, and the labels in between, without directives.

    file -- the name of the source file whose lines count
    """
    numbers = {m[1] for m in _FILE.finditer(text) if m[2] == file}
    line, stack = 0, ["(%rsp"]
    _, _, rest = text.partition(f"\n{symbol}:")
    for row in rest.splitlines():
        if row.startswith(".Lfunc_end"):
            return
        if m := _LOC.match(row):
            line = int(m[2]) if m[1] in numbers else 0
        elif m := _LABEL.match(row):
            yield m[1]
        elif row.startswith("\t") and not row.startswith("\t."):
            mnemonic, _, operands = row.partition("#")[0].strip().partition("\t")
            on_stack = any(base in operands for base in stack)
            yield Instruction(mnemonic, tuple(_split(operands)), line, on_stack)
            if mnemonic == "movq" and operands == "%rsp, %rbp":
                stack.append("(%rbp")


def _split(text: str) -> Iterator[str]:
    """Yield the parts that commas outside of brackets separate."""
    depth, start = 0, 0
    for k, c in enumerate(text):
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            yield text[start:k].strip()
            start = k + 1
    if text:
        yield text[start:].strip()
