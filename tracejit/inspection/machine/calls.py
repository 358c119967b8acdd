"""Which functions calls through registers go to: addresses followed along the code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracejit.inspection.machine.instructions import Instruction

__all__ = ["called_functions"]

State = dict[str, str]
"""The functions whose addresses are in registers, and in words of the stack."""

_ADDRESS = re.compile(r"\$([A-Za-z_]\w*)|([A-Za-z_]\w*)\(%rip\)")
_NAMES = {name: f"r{letter}x" for letter in "abcd"
          for name in (f"r{letter}x", f"e{letter}x", f"{letter}x", f"{letter}l", f"{letter}h")}
_NAMES |= {name: f"r{stem}" for stem in ("si", "di", "bp", "sp")
           for name in (f"r{stem}", f"e{stem}", stem, f"{stem}l")}
_NAMES |= {f"r{k}{part}": f"r{k}" for k in range(8, 32) for part in ("", "d", "w", "b")}
_OVERWRITTEN = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")
"""Registers that a call may overwrite, by the System V ABI; division and the like, fewer."""

_IMPLICIT = re.compile(r"i?(?:mul|div)[bwlq]|c[wld][td]o?q?|rep\w*|xchg.*|cpuid|cmpxchg.*")


def called_functions(blocks: Sequence[Sequence[Instruction]],
                     after: Sequence[Sequence[int]]) -> dict[int, str]:
    """Return, by the `id` of each call, the function that it calls, or "" if it is not known.

    blocks -- the instructions of a function; the first block is its entry
    after  -- the blocks that may follow each
    """
    called: dict[int, str] = {}
    states: list[State | None] = [{}, *[None] * (len(blocks) - 1)]
    pending = [0]
    while pending:
        k = pending.pop()
        state = dict(states[k] or {})
        for i in blocks[k]:
            _follow(i, state, called)
        for j in after[k]:
            old = states[j]
            new = state if old is None else {
                place: name for place, name in old.items() if state.get(place) == name}
            if new != old:
                states[j] = dict(new)
                pending.append(j)
    return called


def _follow(i: Instruction, state: State, called: dict[int, str]) -> None:
    """Update the functions known at places by an instruction; note the function of a call."""
    if i.mnemonic.startswith("call"):
        (target,) = i.operands
        is_direct = not target.startswith("*")
        called[id(i)] = target.partition("@")[0] if is_direct else state.get(
            _place(target[1:]), "")
        for register in _OVERWRITTEN:
            state.pop(register, None)
        return
    if not i.operands:
        return
    if _IMPLICIT.fullmatch(i.mnemonic):
        for register in _OVERWRITTEN:
            state.pop(register, None)
    target = _place(i.operands[-1])
    name = ""
    if i.mnemonic in ("movabsq", "leaq", "movq") and (m := _ADDRESS.fullmatch(i.operands[0])):
        name = m[1] or m[2]
    elif i.mnemonic == "movq":
        name = state.get(_place(i.operands[0]), "")
    if name:
        state[target] = name
    else:
        state.pop(target, None)


def _place(operand: str) -> str:
    """Return one name for all parts of a register."""
    name = operand.lstrip("%")
    return _NAMES.get(name, name)
