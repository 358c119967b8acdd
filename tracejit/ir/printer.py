"""Graphs as text, in the syntax that `tracejit.ir.parser` reads back."""

from __future__ import annotations

import json

import numpy as np

from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Span, Value
from tracejit.ir.dims import Dim, Expr, format_dim
from tracejit.ir.dtypes import DTYPES, dtype_name
from tracejit.ir.types import Aval, Type
from tracejit.ir.user_text import on_one_line, value_name

__all__ = ["Names", "format_block", "format_graph", "format_head", "format_literal", "format_param",
           "format_type"]

COMMENT_COLUMN = 64


class Names:
    """Distinct names for the values of a graph: sizes and inputs keep theirs, results count up."""

    next: int

    def __init__(self) -> None:
        self.given: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.next = 0

    def of(self, v: Value) -> str:
        """Return the value's name, choosing one at its first mention."""
        if v not in self.given:
            name = _name_of(v) or self._number()
            while name in self.taken:
                name = name + "_" if v.name and not name[-1].isdigit() else self._number(name)
            self.taken.add(name)
            self.given[v] = name
        return self.given[v]

    def _number(self, stem: str = "") -> str:
        """Return the next number; a name that ends with a digit gets an underscore instead."""
        if stem and not stem.isdigit():
            return stem + "_"
        self.next += 1
        return str(self.next - 1)

    def ref(self, v: Value) -> str:
        """Return how the value is written: sizes bare, all else behind a percent sign."""
        return self.of(v) if v.is_size else f"%{self.of(v)}"

    def dim(self, d: Dim) -> str:
        """Return the text of a dim."""
        return format_dim(d, self.ref)

    def atom(self, a: Atom) -> str:
        """Return the text of an operand."""
        return self.ref(a) if isinstance(a, Value) else format_literal(a)


_WORDS = frozenset(("True", "False", "None", "inf", "nan", "max", "min", *DTYPES))
"""Words of the syntax, which a size, written bare, is never called."""


def _name_of(v: Value) -> str:
    """Return the name that a value was given as a word; empty where it has none."""
    name = v.name or ""
    if name and not name.isidentifier():
        name = value_name(name)
    return f"{name}_" if v.is_size and name in _WORDS else name


def format_literal(a: Literal) -> str:
    """Return a constant's text; the dtype is left out where the text alone gives it."""
    kind = a.aval.dtype.kind
    if kind == "b":
        return str(bool(a.val))
    if kind in "iu":
        text = str(int(a.val))
    elif kind == "f":
        text = repr(float(a.val))
    else:
        text = f"({float(a.val.real)!r}, {float(a.val.imag)!r})"
    default = {"i": np.int64, "f": np.float64, "c": np.complex128}.get(kind)
    return text if a.aval.dtype == default else f"{text}:{dtype_name(a.aval.dtype)}"


def format_type(t: Type, names: Names) -> str:
    """Return the text of a type."""
    if isinstance(t, Aval):
        return f"{dtype_name(t.dtype)}[{', '.join(names.dim(d) for d in t.shape)}]"
    return str(t)


def format_param(p: object, names: Names) -> str:
    """Return the text of a param."""
    if isinstance(p, Expr):
        return names.dim(p)
    if isinstance(p, Span):
        stop = p.start + p.size * p.step
        step = "" if p.step == 1 else f":{p.step}"
        return f"{names.dim(p.start)}:{names.dim(stop)}{step}"
    if isinstance(p, tuple):
        return f"({', '.join(format_param(q, names) for q in p)}{',' if len(p) == 1 else ''})"
    if isinstance(p, np.dtype):
        return dtype_name(p)
    if isinstance(p, str):
        text = json.dumps(p, ensure_ascii=False)
        return text if text.isprintable() else json.dumps(p)
    return repr(p) if p is None or isinstance(p, (bool, int, float)) else f"<{p}>"


def format_head(eqn: Eqn, names: Names) -> str:
    """Return the text of an equation less its regions and its site."""
    outputs = ", ".join(f"{names.ref(v)}: {format_type(v.aval, names)}" for v in eqn.outputs)
    text = f"{outputs}{' = ' if outputs else ''}{on_one_line(eqn.op.name)}"
    text += f"({', '.join(names.atom(a) for a in eqn.inputs)})"
    if eqn.params:
        params = (f"{k}={format_param(p, names)}" for k, p in eqn.params.items())
        text += f" {{{', '.join(params)}}}"
    return text


def format_eqn(eqn: Eqn, names: Names, indent: str) -> list[str]:
    """Return the lines of one equation."""
    text = f"{indent}{format_head(eqn, names)}{' [' if eqn.regions else ''}"
    comment = str(eqn.site) if eqn.site is not None else ""
    if eqn.of is not None:
        of = f"of {names.ref(eqn.of)}" if eqn.of in names.given else "backward"
        comment = f"{comment}, {of}" if comment else of
    lines = [f"{text:<{COMMENT_COLUMN}}  # {comment}" if comment else text]
    for region in eqn.regions:
        inputs = ", ".join(f"{names.ref(v)}: {format_type(v.aval, names)}" for v in region.inputs)
        lines.append(f"{indent}  ({inputs}) {{")
        lines += format_block(region, names, indent + "    ", "yield", eqn.group)
        lines.append(f"{indent}  }}")
    if eqn.regions:
        lines.append(f"{indent}]")
    return lines


def format_block(block: Block, names: Names, indent: str, end: str,
                 inside: str | None = None) -> list[str]:
    """Return the lines of a block, its last one beginning with `end`.

    inside -- the group of the equation that the block is a region of
    """
    lines: list[str] = []
    backward = any(e.of is None for e in block.eqns)
    group = None
    for eqn in block.eqns:
        own = eqn.group if eqn.group != inside else None
        if own != group:
            lines.append(f"{indent}-- {on_one_line(own or '')}".rstrip())
        elif backward and end == "return" and eqn.group is None and eqn.of is not None:
            lines.append(f"{indent}-- backward")
            backward = False
        group = own
        lines += format_eqn(eqn, names, indent)
    outputs = ", ".join(names.atom(a) for a in block.outputs)
    return [*lines, f"{indent}{end} {outputs}".rstrip()]


def format_graph(graph: Graph, names: Names | None = None) -> str:
    """Return the text of a graph, in which `names` may have given names already."""
    names = names or Names()
    for v in (*graph.sizes, *graph.inputs):
        names.of(v)
    inputs = ", ".join(f"{names.ref(v)}: {format_type(v.aval, names)}" for v in graph.inputs)
    body = format_block(graph.block, names, "  ", "return")
    outputs = ", ".join(format_type(a.aval, names) for a in graph.outputs)
    head = f"graph {graph.name}({inputs}) -> ({outputs}) {{"
    if len(graph.outputs) == 1:
        head = f"graph {graph.name}({inputs}) -> {outputs} {{"
    return "\n".join([head, *body, "}"])


