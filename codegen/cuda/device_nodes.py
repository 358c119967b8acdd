"""Loop IR for the device: loops spread over threads, Logs as arrays that a kernel is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tracejit.codegen.expression_edits import call, rewritten
from tracejit.codegen.loop_expressions import (
    BOOL,
    I64,
    ZERO,
    Array,
    Bin,
    Call,
    Const,
    Expression,
    Slice,
    Var,
    Word,
)
from tracejit.codegen.loop_ir import Do, If, Loop, Node, Return, Store, While

__all__ = ["for_device"]


def for_device(nodes: Sequence[Node], ranges: dict[int, str]) -> list[Node]:
    """Return nodes as a kernel has them; `ranges` are axes of the grid, by loop."""
    return [made for node in nodes for made in _for_device(node, ranges)]


def _for_device(node: Node, ranges: dict[int, str]) -> list[Node]:
    if isinstance(node, Return):
        leave = Return(None, node.origin)
        if isinstance(node.status, Call) and node.status.fn.name == "fail":
            return [Do(node.status), leave]
        return [leave]
    if isinstance(node, Loop):
        return [_loop(node, ranges)]
    if isinstance(node, While):
        return [replace(node, head=for_device(node.head, ranges),
                        condition=_on_device(node.condition),
                        body=for_device(node.body, ranges))]
    if isinstance(node, If):
        return [replace(node, condition=_on_device(node.condition),
                        then=for_device(node.then, ranges), other=for_device(node.other, ranges))]
    if isinstance(node, Store):
        return [replace(node, index=_on_device(node.index),
                        expression=_on_device(node.expression))]
    if isinstance(node, Do):
        made = _on_device(node.call)
        assert isinstance(made, Call)
        return [replace(node, call=made)]
    return [replace(node, expression=_on_device(node.expression))]


def _loop(node: Loop, ranges: dict[int, str]) -> Loop:
    loop = replace(node, lo=_on_device(node.lo), hi=_on_device(node.hi),
                   body=for_device(node.body, ranges))
    axis = ranges.get(id(node))
    if axis is not None:
        at = call(f"at_{axis}")
        loop.lo = at if node.lo == ZERO else Bin("+", loop.lo, at)
        loop.step = call(f"step_{axis}")
    return loop


def _on_device(e: Expression) -> Expression:
    return rewritten(e, _as_on_device) if e.calls & _DIFFERENT.keys() else e


def _as_on_device(e: Expression) -> Expression:
    if not isinstance(e, Call) or e.fn.name not in _DIFFERENT:
        return e
    return _DIFFERENT[e.fn.name](e)


def _capacity(e: Call) -> Expression:
    return Var(f"logcap{e.args[0]}", I64)


def _grow(e: Call) -> Expression:
    number, needed, _ = e.args  # the host knows how large elements are
    return e.with_parts((number, needed, Var(f"logcap{number}", I64)))


def _trsm(e: Call) -> Expression:
    words = [a.text for a in e.args if isinstance(a, Word)]
    flags = [Const(word == letter, BOOL) for word, letter in zip(words, "LTU", strict=True)]
    return e.with_parts((*flags, *e.args[len(flags):]))


_DIFFERENT: dict[str, Callable[[Call], Expression]] = {
    "log_base": lambda e: Array(f"logmem{e.args[0]}", e.dtype), "log_capacity": _capacity,
    "log_grow": _grow, "advance": lambda e: Slice(*e.args), "trsm": _trsm}
"""Functions of the CPU's that are others on a device."""
