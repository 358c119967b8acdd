"""Plain facts for which a loop is not vectorised, read from the emitted loop and its code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracejit.codegen.cleanup import names_in
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    children,
    texts,
)
from tracejit.codegen.vector_math import host_widths, variants

__all__ = ["scalar_reasons"]


def scalar_reasons(loop: Loop | While, calls: Sequence[str], *, strict: bool) -> list[str]:
    """Return what keeps an innermost loop from being vectorised, as far as it is known.

    calls  -- the functions that its scalar code calls
    strict -- whether the program was compiled with `fp="strict"`
    """
    body = list(_flat(loop.body))
    found = []
    if isinstance(loop, While):
        found.append("how often it runs is only known in the end")
    if any(isinstance(n, Do) and n.call == "scalar_loop()" for n in body):
        found.append("it is a margin of few iterations, which is kept scalar")
    if any(isinstance(n, Return) for n in body):
        found.append("a check may leave it")
    if isinstance(loop, Loop) and (count := _iterations(loop)) is not None and count < 4:
        found.append(f"it runs {count} times")
    found += _of_calls(calls, strict)
    found += _of_carried(loop, strict)
    found += _of_memory(body)
    return found


def _flat(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for block in children(node):
            yield from _flat(block)


def _iterations(loop: Loop) -> int | None:
    bounds = (loop.lo, loop.hi)
    if all(text.lstrip("-").isdigit() for text in bounds):
        return max(int(loop.hi) - int(loop.lo), 0)
    return None


def _of_calls(calls: Sequence[str], strict: bool) -> Iterator[str]:
    for name in dict.fromkeys(calls):
        if name == "realloc":
            yield "a Log may have to grow in it"
        elif not name:
            yield "it calls a function at an address that is data"
        elif not _has_variant(name):
            yield f"it calls {name}, which has no vector version here"
        elif strict:
            yield f'it calls {name}, whose vector version fp="strict" does not allow'


def _has_variant(name: str) -> bool:
    return any(variants(name, bits, arity, host_widths()) for bits in (32, 64) for arity in (1, 2))


def _of_carried(loop: Loop | While, strict: bool) -> Iterator[str]:
    """Say which scalars go from one iteration to the next; sums may, as their terms change places.
    """
    body = [*(loop.head if isinstance(loop, While) else ()), *loop.body]
    changed = {n.name for n in _flat(body) if isinstance(n, Assign)}
    counter = loop.counter if isinstance(loop, While) else ""
    for name in [v for v in _read_first(body) if v in changed and v != counter]:
        updates = [n.expression for n in _flat(body) if isinstance(n, Assign) and n.name == name]
        is_sum = all(text.startswith(f"radd({name}, ") for text in updates)
        if not is_sum:
            yield f"{name} goes from one iteration to the next"
        elif strict:
            yield f'{name} is summed in order, with fp="strict"'


def _read_first(nodes: Sequence[Node]) -> list[str]:
    """Return the names that are read before they are set, in order."""
    known: set[str] = set()
    found: dict[str, None] = {}

    def visit(block: Sequence[Node]) -> None:
        for node in block:
            found.update(dict.fromkeys(name for name in names_in(node) if name not in known))
            for inner in children(node):
                visit(inner)
            if isinstance(node, (Let, Assign)) and block is nodes:
                known.add(node.name)

    visit(nodes)
    return list(found)


def _of_memory(body: Sequence[Node]) -> Iterator[str]:
    data = {n.name for n in body if isinstance(n, (Let, Assign)) and "[" in n.expression}
    for buffer in dict.fromkeys(n.buffer for n in body if isinstance(n, Store)):
        written = {n.index for n in body if isinstance(n, Store) and n.buffer == buffer}
        read = {index for n in body for text in texts(n) for index in _indices(text, buffer)}
        if any(name in data for index in written for name in re.findall(r"[A-Za-z_]\w*", index)):
            yield f"data says where it writes to {buffer}"
        elif read - written:
            yield f"it reads {buffer} at other places than it writes to"


def _indices(text: str, buffer: str) -> Iterator[str]:
    """Yield the indices at which source reads a buffer."""
    for m in re.finditer(rf"\b{re.escape(buffer)}\[", text):
        depth, k = 1, m.end()
        while depth:
            depth += (text[k] == "[") - (text[k] == "]")
            k += 1
        yield text[m.end():k - 1]
