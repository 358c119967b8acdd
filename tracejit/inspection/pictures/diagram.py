"""A graph as nodes, edges and nested boxes, for pictures in SVG and in DOT.

A region is a box. Values enter it through nodes at its top and leave it through nodes at its
bottom: every edge joins two nodes of one box, or of the borders of boxes that are in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tracejit.inspection.pictures.folding import opened_in, runs_of, way_back
from tracejit.ir.control import region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value, param_dims
from tracejit.ir.dims import dim_values, product
from tracejit.ir.printer import Names, format_block, format_head, format_param, format_type
from tracejit.ir.types import LogType
from tracejit.ir.walk import all_eqns, eqn_uses
from tracejit.trace.ground.trees import line_text

__all__ = ["Box", "Diagram", "Edge", "Node", "diagram_of", "nodes_of"]

LONGEST_TEXT = 22
LONGEST_TITLE = 30
REGION_TITLES = {"if": ("then", "else"), "while": ("while", "do")}


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A rectangle with a line of text.

    number  -- in the order in which nodes were made
    kind    -- "input", "output", "equation", "folded" (equations that are not drawn one by one)
               or "port" (where a value enters or leaves a box)
    text    -- the line
    label   -- the name of its result, as printed
    tooltip -- equation, type, line, and the line's text
    role    -- "forward" or "backward"
    eqns    -- the equations that it stands for
    """

    number: int
    kind: str
    text: str
    label: str
    tooltip: str
    role: str
    eqns: tuple[Eqn, ...] = ()

    @property
    def folded(self) -> int:
        """Return the number of equations that it stands for and that are not drawn."""
        return sum(1 for e in self.eqns for _ in all_eqns(Block((), (e,), ()))) \
            if self.kind == "folded" else 0


@dataclass(frozen=True, eq=False, slots=True)
class Edge:
    """A value on its way from a node to a node.

    heavy   -- a residual: the way forward computes it, and the way back reads it
    is_size -- it is read as a number in the equation's params only
    """

    source: Node
    target: Node
    value: Atom
    tooltip: str
    heavy: bool
    is_size: bool


@dataclass(frozen=True, eq=False, slots=True)
class Box:
    """The whole graph, an equation with regions, or one of several regions.

    title, params -- its text, in two lines
    top, bottom   -- where values come in and go out
    items, edges  -- its content; edges begin and end at items, or at the borders of boxes
    """

    number: int
    title: str
    params: str
    tooltip: str
    role: str
    eqn: Eqn | None = None
    top: list[Node] = field(default_factory=list)
    bottom: list[Node] = field(default_factory=list)
    items: list[Node | Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, eq=False, slots=True)
class Diagram:
    """A graph to be drawn.

    names  -- the names of its values, as printed
    maker  -- the equations of the outermost block by their results
    folded -- how many equations are not drawn one by one
    """

    name: str
    root: Box
    names: Names
    folded: int


def nodes_of(box: Box) -> Iterator[Node]:
    """Yield every node in a box and in the boxes inside of it, once."""
    yield from box.top
    for item in box.items:
        if isinstance(item, Box):
            yield from nodes_of(item)
        else:
            yield item
    yield from box.bottom


def diagram_of(graph: Graph, max_nodes: int | None = None) -> Diagram:
    """Return the diagram to be drawn of a graph.

    max_nodes -- how many equations may be drawn one by one: regions that do not fit are one node
                 each, and a longer straight line of code is folded line by line
    """
    maker = _DiagramMaker(graph, max_nodes)
    root = maker.whole()
    return Diagram(graph.name, root, maker.names, sum(n.folded for n in nodes_of(root)))


@dataclass(slots=True)
class _Scope:
    """Where the values that a block can read come from, while its box is filled.

    may_cross -- whether reads here by backward equations are reads by the way back; within loops of
                 the way forward they are not
    """

    box: Box
    parent: _Scope | None = None
    may_cross: bool = True
    sources: dict[Value, Node] = field(default_factory=dict)

    def inside(self, box: Box) -> _Scope:
        """Return the scope of a box that is in this one."""
        return _Scope(box, self, self.may_cross and box.role == "backward")


class _DiagramMaker:
    def __init__(self, graph: Graph, max_nodes: int | None) -> None:
        self.graph = graph
        self.names = Names()
        for v in (*graph.sizes, *graph.inputs):
            self.names.of(v)
        format_block(graph.block, self.names, "", "return")  # names are given as they are printed
        self.back = set(way_back(graph.block))
        self.runs = runs_of(graph.block.eqns, self.back, max_nodes)
        self.opened = opened_in(self.runs, max_nodes)
        self.primal = set(self.forward_values(graph.block))
        self.counted = _loop_indices(graph.block)
        self.count = 0

    def whole(self) -> Box:
        graph = self.graph
        root = self.box(graph.name, "", "", "forward")
        scope = _Scope(root)
        for v in graph.inputs:
            text = _cut(f"{self.names.ref(v)}: {format_type(v.aval, self.names)}", LONGEST_TEXT)
            node = self.node("input", text, "", f"input {self.typed(v)}", "forward")
            root.top.append(node)
            scope.sources[v] = node
        for run in self.runs:
            self.add(scope, run)
        roles = {v: self.role(e) for e in graph.eqns for v in e.outputs}
        for a in graph.outputs:
            role = roles.get(a, "forward") if isinstance(a, Value) else "forward"
            kind = format_type(a.aval, self.names)
            node = self.node("output", f"return {self.names.atom(a)}", "", f"output of type {kind}",
                             role)
            root.bottom.append(node)
            self.join(scope, a, node)
        return root

    def node(self, kind: str, text: str, label: str, tooltip: str, role: str,
             eqns: tuple[Eqn, ...] = ()) -> Node:
        self.count += 1
        return Node(self.count - 1, kind, text, label, tooltip, role, eqns)

    def box(self, title: str, params: str, tooltip: str, role: str, eqn: Eqn | None = None) -> Box:
        self.count += 1
        return Box(self.count - 1, title, params, tooltip, role, eqn)

    def role(self, eqn: Eqn, outer: str = "forward") -> str:
        """Return an equation's part: "backward" if the way back holds it, else its region's."""
        return "backward" if eqn in self.back else outer

    def forward_values(self, block: Block) -> Iterator[Value]:
        """Yield the results of forward equations, also in forward regions."""
        for e in block.eqns:
            if e not in self.back:
                yield from e.outputs
                for region in e.regions:
                    yield from self.forward_values(region)

    # --- equations ------------------------------------------------------------------------------

    def add(self, scope: _Scope, run: tuple[Eqn, ...]) -> None:
        """Add a node, or a box, for equations that follow one another to a box."""
        eqn = run[0]
        if len(run) == 1 and eqn in self.opened:
            self.open(scope, eqn)
            return
        role = self.role(eqn, scope.box.role)
        results = [v for e in run for v in e.outputs]
        label = " ".join(map(self.names.ref, results[:2])) + (" …" if len(results) > 2 else "")
        if len(run) > 1 or eqn.regions:
            text, kind = self.folded_text(run), "folded"
        else:
            text, kind = self.eqn_text(eqn), "equation"
        node = self.node(kind, text, label, "\n".join(self.described(run)), role, run)
        scope.box.items.append(node)
        own = set(results)
        data = [v for e in run for v in e.inputs if isinstance(v, Value)]
        read = data + [v for e in run for v in eqn_uses(e)] if kind == "folded" else data
        sizes = [v for e in run for p in param_dims(e.params) for v in dim_values(p)]
        self.join_all(scope, [v for v in read if v not in own], sizes, node)
        scope.sources.update(dict.fromkeys(results, node))

    def join_all(self, scope: _Scope, data: Sequence[Value], sizes: Sequence[Value],
                 node: Node) -> None:
        for v in dict.fromkeys(data):
            self.join(scope, v, node)
        for v in dict.fromkeys(sizes):
            if v not in self.counted and v not in data:
                self.join(scope, v, node, is_size=True)

    def join(self, scope: _Scope, a: Atom, node: Node, *, is_size: bool = False) -> None:
        """Draw an edge from where a value is to a node that reads it."""
        if not isinstance(a, Value) or a.is_size:
            return
        source = self.find(scope, a)
        if source is node:
            return  # within a folded equation
        heavy = (scope.may_cross and a in self.primal and node.role == "backward"
                 and node.kind != "output")
        text = self.typed(a)
        if heavy:
            text = f"residual {text}\n{self.bytes_of(a)}, read by the way back"
        scope.box.edges.append(Edge(source, node, a, text, heavy, is_size))

    def find(self, scope: _Scope, v: Value, *, is_size: bool = False) -> Node:
        """Return the node that a value comes from, letting it into the box where it is outside."""
        if v not in scope.sources:
            assert scope.parent is not None, f"{v} is read before it is there"
            ref = self.names.ref(v)
            port = self.node("port", ref, "", f"{self.typed(v)}\nfrom outside", scope.box.role)
            scope.box.top.append(port)
            scope.sources[v] = port
            self.join(scope.parent, v, port, is_size=is_size)
        return scope.sources[v]

    # --- regions --------------------------------------------------------------------------------

    def open(self, outside: _Scope, eqn: Eqn) -> None:
        """Add the box of an equation with regions."""
        role = self.role(eqn, outside.box.role)
        tooltip = "\n".join(self.described((eqn,)))
        box = self.box(eqn.op.name, _cut(self.params_text(eqn), LONGEST_TITLE), tooltip, role, eqn)
        outside.box.items.append(box)
        scope = outside.inside(box)
        results = [self.node("port", self.names.ref(v), "", self.typed(v), role)
                   for v in eqn.outputs]
        if len(eqn.regions) == 1:
            self.enter(scope, outside, eqn, eqn.regions[0])
            self.leave(scope, eqn.regions[0], results)
        else:
            for a in eqn.inputs:
                if isinstance(a, Value):
                    self.find(scope, a)
            titles = REGION_TITLES.get(region_kind(eqn), ("",) * len(eqn.regions))
            for k in range(len(eqn.regions)):
                self.part(scope, eqn, k, titles[k], results)
        for v in (v for p in param_dims(eqn.params) for v in dim_values(p)):
            if v not in self.counted and not v.is_size:
                self.find(scope, v, is_size=True)
        box.bottom.extend(results)
        outside.sources.update(zip(eqn.outputs, results, strict=True))

    def part(self, scope: _Scope, eqn: Eqn, k: int, title: str, results: list[Node]) -> None:
        """Add the box of one of several regions; a condition's result goes nowhere."""
        region = eqn.regions[k]
        tooltip = f"{title or k} of {scope.box.tooltip}"
        inner = scope.inside(self.box(title, "", tooltip, scope.box.role))
        scope.box.items.append(inner.box)
        self.enter(inner, scope, eqn, region)
        yields = [self.node("port", self.names.atom(a), "", f"yields {self.names.atom(a)}",
                            inner.box.role) for a in region.outputs]
        self.leave(inner, region, yields)
        inner.box.bottom.extend(yields)
        if region_kind(eqn) != "while" or k == len(eqn.regions) - 1:
            for a, source, target in zip(region.outputs, yields, results[-len(yields):],
                                         strict=True):
                scope.box.edges.append(Edge(source, target, a, self.typed(a), False, False))

    def enter(self, scope: _Scope, outside: _Scope, eqn: Eqn, region: Block) -> None:
        """Add the inputs of a region: its own first, then the inputs that the equation gives it."""
        used = {v for e in region.eqns for v in eqn_uses(e)} | set(region.outputs)
        given: list[Atom | None] = [None] * len(region.inputs)
        if len(region.inputs) >= len(eqn.inputs) > 0:
            given[-len(eqn.inputs):] = eqn.inputs
        for v, a in zip(region.inputs, given, strict=True):
            if v not in used and (a is None or len(eqn.regions) > 1):
                continue
            is_start = a is not None and not isinstance(a, Value)
            text = f"{self.names.ref(v)} = {self.names.atom(a)}" if a is not None and is_start \
                else self.names.ref(v)
            port = self.node("port", _cut(text, LONGEST_TEXT), "", self.typed(v), scope.box.role)
            scope.box.top.append(port)
            scope.sources[v] = port
            if a is not None:
                self.join(outside, a, port)

    def leave(self, scope: _Scope, region: Block, results: list[Node]) -> None:
        """Fill the box of a region and lead its outputs to its border."""
        for e in region.eqns:
            self.add(scope, (e,))
        if region.outputs:
            for a, port in zip(region.outputs, results[-len(region.outputs):], strict=True):
                self.join(scope, a, port)

    # --- texts ----------------------------------------------------------------------------------

    def eqn_text(self, eqn: Eqn) -> str:
        """Return an op and its operands that no edge shows: numbers and loop indices."""
        shown = [self.names.atom(a) if not isinstance(a, Value) else "·" for a in eqn.inputs]
        text = eqn.op.name + (f"({', '.join(shown)})" if set(shown) - {"·"} else "")
        for p in eqn.params.values():
            inside = [v for d in param_dims({"": p}) for v in dim_values(d)]
            if any(v in self.counted or (v.is_size and not eqn.inputs) for v in inside):
                text += f" {format_param(p, self.names)}"
        return _cut(text, LONGEST_TEXT)

    def params_text(self, eqn: Eqn) -> str:
        """Return an equation's params as `name=value`, a switch as its name if it is on."""
        return ", ".join(k if p is True else f"{k}={format_param(p, self.names)}"
                         for k, p in eqn.params.items() if p is not False)

    def folded_text(self, run: tuple[Eqn, ...]) -> str:
        count = sum(1 for _ in all_eqns(Block((), run, ())))
        what = run[0].op.name if len(run) == 1 else str(run[0].site or "")
        return f"{what} · {count} ops".strip(" ·")

    def described(self, run: tuple[Eqn, ...]) -> Iterator[str]:
        """Yield the lines of a tooltip."""
        for eqn in run[:12]:
            yield format_head(eqn, self.names)
        if len(run) > 12:
            yield "…"
        eqn = run[0]
        if eqn.site is not None:
            way = "" if eqn.of is None else ", backward"
            if eqn.of in self.names.given:
                way = f", of {self.names.ref(eqn.of)}"
            yield f"{eqn.site}{way}"
            file, line, _ = eqn.site.location
            if text := line_text(file, line).strip():
                yield text

    def typed(self, a: Atom) -> str:
        return f"{self.names.atom(a)}: {format_type(a.aval, self.names)}"

    def bytes_of(self, v: Value) -> str:
        if isinstance(v.aval, LogType):
            return "a Log that grows"
        return f"{self.names.dim(product(v.aval.shape) * v.aval.dtype.itemsize)} bytes"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest - 1] + "…"


def _loop_indices(block: Block) -> set[Value]:
    """Return the inputs of regions that no operand gives: which iteration it is."""
    return {v for e in all_eqns(block) for r in e.regions
            for v in r.inputs[:len(r.inputs) - len(e.inputs)]}
