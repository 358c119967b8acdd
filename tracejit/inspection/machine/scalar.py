"""Plain facts for which a loop is not vectorised, read from the emitted loop and its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracejit.codegen.cleanup import names_in
from tracejit.codegen.expression_edits import every, known_integer
from tracejit.codegen.loop_expressions import Bin, Call, Expression, Load, Var
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    children,
    every_node,
    expressions,
)
from tracejit.codegen.vector_math import host_widths, variants

__all__ = ["read_before_set", "scalar_reasons"]


def scalar_reasons(loop: Loop | While, calls: Sequence[str], *, strict: bool) -> list[str]:
    """Return the reasons that keep an innermost loop from being vectorised, as far as known.

    calls  -- the functions that its scalar code calls
    strict -- whether the program was compiled with `fp="strict"`
    """
    body = list(every_node(loop.body))
    found = []
    if isinstance(loop, While):
        found.append("how often it runs is only known in the end")
    if any(isinstance(n, Do) and n.call.fn.name == "scalar_loop" for n in body):
        found.append("it is a margin of few iterations, which is kept scalar")
    if any(isinstance(n, Return) for n in body):
        found.append("a check may leave it")
    if isinstance(loop, Loop) and (count := _iterations(loop)) is not None and count < 4:
        found.append("it runs once" if count == 1 else f"it runs {count} times only")
    asks = any("interrupted" in e.calls for n in body for e in expressions(n))
    found += _of_calls([c for c in calls if c or not asks], strict)
    found += _of_carried(loop, strict)
    found += _of_memory(loop.var if isinstance(loop, Loop) else loop.counter, body)
    return found


def _iterations(loop: Loop) -> int | None:
    lo, hi = known_integer(loop.lo), known_integer(loop.hi)
    return None if lo is None or hi is None else max(hi - lo, 0)


def _of_calls(calls: Sequence[str], strict: bool) -> Iterator[str]:
    for name in dict.fromkeys(calls):
        if name == "realloc":
            yield "a Log may have to grow in it"
        elif not name:
            yield "it calls a function that is not known"
        elif not _has_variant(name):
            yield f"it calls {name}, which has no vector version here"
        elif strict:
            yield f'it calls {name}, whose vector version fp="strict" does not allow'


def _has_variant(name: str) -> bool:
    name = name.replace("sincos", "sin")  # LLVM's merge of a sine and a cosine
    return any(variants(name, bits, arity, host_widths()) for bits in (32, 64) for arity in (1, 2))


def _of_carried(loop: Loop | While, strict: bool) -> Iterator[str]:
    """Say which scalars go from one iteration to the next, other than counters and such sums as
    may change the order of their terms.
    """
    body = [*(loop.head if isinstance(loop, While) else ()), *loop.body]
    updates: dict[str, list[Expression]] = {}
    for node in every_node(body):
        if isinstance(node, Assign):
            updates.setdefault(node.name, []).append(node.expression)
    for name in read_before_set(body):
        steps = updates.get(name, [])
        if all(_is_sum(name, step) for step in steps):
            if strict and steps:
                yield f'{name} is summed in order, with fp="strict"'
        elif not all(_is_counted(name, step) for step in steps):
            yield f"{name} goes from one iteration to the next"


def _is_sum(name: str, step: Expression) -> bool:
    """Whether a step is a sum into a scalar whose terms may be reordered."""
    return isinstance(step, Call) and step.fn.name == "radd" and _is_scalar(name, step.args[0])


def _is_counted(name: str, step: Expression) -> bool:
    """Whether a scalar changes by one other, or is a Log's memory or capacity."""
    if isinstance(step, Call):
        return step.fn.name in ("log_base", "log_capacity")
    return isinstance(step, Bin) and step.op in "+-" and _is_scalar(name, step.a) and (
        isinstance(step.b, Var) or known_integer(step.b) is not None)


def _is_scalar(name: str, e: Expression) -> bool:
    return isinstance(e, Var) and e.name == name


def read_before_set(nodes: Sequence[Node]) -> list[str]:
    """Return the names that a block may read before it has set them, in order."""
    found: dict[str, None] = {}

    def visit(block: Sequence[Node], known: set[str]) -> set[str]:
        for node in block:
            found.update(dict.fromkeys(name for name in names_in(node) if name not in known))
            after = [visit(inner, set(known)) for inner in children(node)]
            if isinstance(node, If):
                known |= after[0] & after[1]
            elif isinstance(node, (Let, Assign)):
                known.add(node.name)
        return known

    visit(nodes, set())
    return list(found)


def _of_memory(var: str, body: Sequence[Node]) -> Iterator[str]:
    data: set[str] = set()
    for node in body:
        if isinstance(node, (Let, Assign)) and (
                any(isinstance(e, Load) for e in every(node.expression))
                or not data.isdisjoint(names_in(node))):
            data.add(node.name)
    loads = [e for n in body for whole in expressions(n) for e in every(whole)
             if isinstance(e, Load)]
    for buffer in dict.fromkeys(n.buffer for n in body if isinstance(n, Store)):
        written = {n.index for n in body if isinstance(n, Store) and n.buffer == buffer}
        read = {e.index for e in loads if e.buffer == buffer}
        if any(not data.isdisjoint(index.reads) for index in written):
            yield f"data says where it writes to {buffer}"
        elif read and len(read | written) > 1:
            yield f"it reads and writes {buffer} at different places"
        elif any(_is_scaled(var, index) for index in written):
            yield f"what it writes to {buffer} is not side by side"


def _is_scaled(var: str, index: Expression) -> bool:
    """Whether an index has a variable as a factor."""
    return any(isinstance(e, Bin) and e.op == "*" and (_is_scalar(var, e.a) or _is_scalar(var, e.b))
               for e in every(index))
