"""Loop IR for the device: loops spread over threads, Logs as arrays that a kernel is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tracejit.codegen.loop_ir import Do, If, Loop, Node, Return, Store, While

__all__ = ["for_device"]


def for_device(nodes: Sequence[Node], ranges: dict[int, str]) -> list[Node]:
    """Return nodes as a kernel has them; `ranges` are axes of the grid, by loop."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Return):
            if node.status.startswith("fail("):
                result.append(Do(node.status))
            result.append(Return("", node.comment))
        elif isinstance(node, Loop):
            body = for_device(node.body, ranges)
            loop = replace(node, lo=_text(node.lo), hi=_text(node.hi), body=body)
            axis = ranges.get(id(node))
            if axis is not None:
                loop.lo = f"at_{axis}()" if node.lo == "0" else f"{loop.lo} + at_{axis}()"
                loop.step = f"step_{axis}()"
            result.append(loop)
        elif isinstance(node, While):
            result.append(replace(node, head=for_device(node.head, ranges),
                                  condition=_text(node.condition),
                                  body=for_device(node.body, ranges)))
        elif isinstance(node, If):
            result.append(replace(node, condition=_text(node.condition),
                                  then=for_device(node.then, ranges),
                                  other=for_device(node.other, ranges)))
        elif isinstance(node, Store):
            result.append(replace(node, index=_text(node.index), expression=_text(node.expression)))
        elif isinstance(node, Do):
            result.append(replace(node, call=_text(node.call)))
        else:
            result.append(replace(node, expression=_text(node.expression)))
    return result


def _text(text: str) -> str:
    text = re.sub(r'trsm\("(\w)", "(\w)", "(\w)"', lambda m: (
        f"trsm({m[1] == 'L'}, {m[2] == 'T'}, {m[3] == 'U'}"), text)
    text = re.sub(r"log_base\(ctx, (\d+), \w+\)", r"logmem\1", text)
    text = re.sub(r"log_capacity\(ctx, (\d+)\)", r"logcap\1", text)
    text = re.sub(r"log_grow\(ctx, (\d+), (.*), \d+\)", r"log_grow(ctx, \1, \2, logcap\1)", text)
    return re.sub(r"^advance\((\w+), (.*)\)$", r"\1[\2:]", text)
