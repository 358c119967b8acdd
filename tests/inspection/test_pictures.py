"""Pictures of graphs: complete, readable, and the same every time.

Pictures are compared with the graph itself, read by a few lines of its own here.
"""

from __future__ import annotations

import importlib
import linecache
import os
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import programs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs.program import PROGRAMS
from test_golden import NAMES, traced_of

import tracejit
from benchmarks.workloads.lstm import WORKLOAD
from tracejit.inspection.pictures.diagram import Box, Diagram, Edge, Node, diagram_of, nodes_of
from tracejit.inspection.pictures.dot import graph_dot
from tracejit.inspection.pictures.layout import (
    LayoutCell,
    Wire,
    arrange,
    rows_by_longest_path,
    settle,
)
from tracejit.inspection.pictures.mirror import place
from tracejit.inspection.pictures.picture import graph_svg
from tracejit.inspection.pictures.placing import Placement, Rect, Stroke
from tracejit.ir.core import Block, Eqn, Graph, Value, param_dims
from tracejit.ir.dims import dim_values
from tracejit.ir.printer import format_head, format_type

for _module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(_module.name)

SVG = "{http://www.w3.org/2000/svg}"
GALLERY = [p for p in PROGRAMS if not p.refused and not p.wrong][::8]
BYTES_PER_NODE = 1000


def waves(x, w):
    """Three results per step, five steps: a straight line of code."""
    h = x
    for k in [0.5, 1.5, 2.5, 3.5, 4.5]:
        a = np.sin(h * k) + w
        c = np.tanh(a * np.exp(-h * h) - k)
        h = np.where(a > c, c + h, c * h)
    return np.sum(h)


def tangents(x, v):
    return tracejit.jvp(lambda y: np.sum(np.sin(y) * y), (x,), (v,))


def penalty(x):
    """The way forward reads a result of a way back."""
    g = tracejit.grad(lambda y: np.sum(np.exp(y) * y))(x)
    return np.sum(g * g)


def rare(x):
    """Sums that are read once per iteration, under a condition; sizes that are computed."""
    n = len(x) // 2
    total = 0.0
    for i in range(n):
        if x[i] > total:
            total = total + x[i] * x[n + i]
    return total, 3.0


@cache
def graph_named(name: str) -> Graph:
    """Return the graph of a golden program, one of the gallery, or one of the functions above."""
    kind, _, key = name.partition(":")
    n = tracejit.spec("f64[n]")
    if kind == "golden":
        return traced_of(key).graph
    if kind == "gallery":
        program = next(p for p in GALLERY if str(p) == key)
        function = tracejit.value_and_grad(program.function, argnums=program.argnums)
        return function.trace(*program.arguments(program.sizes[0])).graph
    return {
        "lstm": lambda: tracejit.value_and_grad(WORKLOAD.plain, argnums=(0, 1, 2)).trace(
            *WORKLOAD.arguments()),
        "waves": lambda: tracejit.value_and_grad(waves, argnums=(0, 1)).trace(n, n),
        "tangents": lambda: tracejit.jit(tangents).trace(n, n),
        "penalty": lambda: tracejit.grad(penalty).trace(n),
        "rare": lambda: tracejit.jit(rare).trace(n),
    }[kind]().graph


ALL = [*(f"golden:{name}" for name in NAMES), *(f"gallery:{program}" for program in GALLERY),
       "lstm", "waves", "tangents", "penalty", "rare"]
every_graph = pytest.mark.parametrize("name", ALL)


@cache
def drawn(name: str, max_nodes: int | None = None) -> tuple[Diagram, Placement]:
    diagram = diagram_of(graph_named(name), max_nodes)
    return diagram, place(diagram)


def eqns_in(block: Block) -> Iterator[Eqn]:
    for eqn in block.eqns:
        yield eqn
        for region in eqn.regions:
            yield from eqns_in(region)


def boxes_in(box: Box) -> Iterator[Box]:
    yield box
    for item in box.items:
        if isinstance(item, Box):
            yield from boxes_in(item)


def edges_in(root: Box) -> list[Edge]:
    return [edge for box in boxes_in(root) for edge in box.edges]


# --- the file -----------------------------------------------------------------------------------


@every_graph
def test_the_svg_stands_alone(name: str) -> None:
    root = ElementTree.fromstring(graph_svg(graph_named(name)))
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    used = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert used <= {"svg", "g", "title", "rect", "text", "tspan", "path"}
    attributes = {key for element in root.iter() for key in element.attrib}
    assert not attributes & {"style", "class", "href", "id", "onclick"}


@every_graph
def test_the_svg_draws_every_equation_once(name: str) -> None:
    graph = graph_named(name)
    diagram, _ = drawn(name)
    root = ElementTree.fromstring(graph_svg(graph, max_nodes=None))
    heads = {format_head(e, diagram.names) for e in eqns_in(graph.block)}
    first_lines = Counter((t.text or "").split("\n")[0] for t in root.iter(f"{SVG}title"))
    expected = Counter(format_head(e, diagram.names) for e in eqns_in(graph.block))
    assert {head: first_lines[head] for head in heads} == dict(expected)


@every_graph
def test_the_svg_is_small(name: str) -> None:
    count = len(list(nodes_of(drawn(name)[0].root)))
    svg = graph_svg(graph_named(name), max_nodes=None)
    assert len(svg.encode()) <= BYTES_PER_NODE * max(count, 10)


@every_graph
def test_texts_are_within_their_shapes(name: str) -> None:
    for group in ElementTree.fromstring(graph_svg(graph_named(name))).iter(f"{SVG}g"):
        shape, text = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        if shape is not None and text is not None:
            characters = sum(len(t) for t in text.itertext())
            assert float(text.get("x")) + 6.0 * characters < float(shape.get("x")) + float(
                shape.get("width"))


def test_pictures_do_not_depend_on_the_hash_seed() -> None:
    code = ("import test_pictures as t\n"
            "for n in ('golden:kepler', 'golden:soft_dtw', 'waves'):\n"
            "    print(t.graph_svg(t.graph_named(n)), t.graph_dot(t.graph_named(n)))")
    found = set()
    for seed in ("0", "1", "4711"):
        path = os.pathsep.join(sys.path)
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        found.add(subprocess.run([sys.executable, "-c", code], env=env, text=True, check=True,
                                 capture_output=True).stdout)
    assert len(found) == 1


def is_back(eqn: Eqn, graph: Graph) -> bool:
    """Whether an equation is of the way back: results are densified there on no line."""
    return eqn.of is not None or (eqn.site is None and any(e.of for e in graph.eqns))


# --- what is drawn ------------------------------------------------------------------------------


@every_graph
def test_every_equation_is_one_node_or_one_box(name: str) -> None:
    diagram, _ = drawn(name)
    found = [e for node in nodes_of(diagram.root) for e in node.eqns]
    found += [box.eqn for box in boxes_in(diagram.root) if box.eqn is not None]
    assert Counter(found) == Counter(eqns_in(graph_named(name).block))
    assert diagram.folded == 0


@every_graph
def test_tooltips_hold_type_and_line(name: str) -> None:
    diagram, _ = drawn(name)
    tooltips = [(e, node.tooltip) for node in nodes_of(diagram.root) for e in node.eqns]
    tooltips += [(box.eqn, box.tooltip) for box in boxes_in(diagram.root) if box.eqn is not None]
    for eqn, tooltip in tooltips:
        assert all(format_type(v.aval, diagram.names) in tooltip for v in eqn.outputs)
        if eqn.site is None:
            continue
        assert str(eqn.site) in tooltip
        file, line, _ = eqn.site.location
        assert linecache.getline(file, line).strip() in tooltip


@every_graph
def test_roles_are_those_of_the_equations(name: str) -> None:
    diagram, _ = drawn(name)

    def check(box: Box) -> None:
        for item in box.items:
            eqns = item.eqns if isinstance(item, Node) else [item.eqn] if item.eqn else []
            for eqn in eqns:
                assert item.role == ("backward" if is_back(eqn, graph_named(name)) else box.role)
            if isinstance(item, Box):
                check(item)

    check(diagram.root)


def read_by(eqn: Eqn) -> set[Value]:
    """Return the values that an equation and its regions read, as data or as bounds."""
    found = {a for a in eqn.inputs if isinstance(a, Value)}
    found |= {v for d in param_dims(eqn.params) for v in dim_values(d)}
    for region in eqn.regions:
        found |= {a for a in region.outputs if isinstance(a, Value)}
        for inner in region.eqns:
            found |= read_by(inner)
    return found


def residuals_of(graph: Graph) -> dict[Eqn, set[Value]]:
    """Return the values of the way forward that each equation of the way back reads."""
    primal: set[Value] = set()
    readers: list[Eqn] = []

    def visit(block: Block, *, back: bool) -> None:
        for eqn in block.eqns:
            if back or is_back(eqn, graph):
                readers.append(eqn)
                for region in eqn.regions:
                    visit(region, back=True)
            else:
                primal.update(eqn.outputs)

    visit(graph.block, back=False)
    return {e: read_by(e) & primal for e in readers}


@every_graph
def test_residuals_and_nothing_else_are_heavy(name: str) -> None:
    diagram, _ = drawn(name)
    expected = {e: values for e, values in residuals_of(graph_named(name)).items() if values}
    found: dict[Eqn, set] = {}
    holder = {node: node.eqns[0] for node in nodes_of(diagram.root) if node.eqns}
    parents = {item: box for box in boxes_in(diagram.root) for item in box.items}
    for box in boxes_in(diagram.root):
        for port in box.top:
            owner = box if box.eqn is not None else parents.get(box)
            if owner is not None and owner.eqn is not None:
                holder[port] = owner.eqn
    yields = {port for box in boxes_in(diagram.root) for port in box.bottom}
    for edge in edges_in(diagram.root):
        if edge.heavy and edge.target not in yields:
            found.setdefault(holder[edge.target], set()).add(edge.value)
    plain = {e for e in expected if not e.regions}
    assert {e: v for e, v in found.items() if not e.regions} == {e: expected[e] for e in plain}
    assert {e: v for e, v in found.items() if e.regions} == {
        e: v for e, v in expected.items() if e.regions}


@every_graph
def test_what_a_heavy_edge_holds_is_said_in_bytes(name: str) -> None:
    for edge in edges_in(drawn(name)[0].root):
        assert ("bytes" in edge.tooltip or "Log" in edge.tooltip) == edge.heavy or (
            "log<" in edge.tooltip)


@every_graph
def test_every_operand_is_an_edge_a_text_or_a_size(name: str) -> None:
    diagram, _ = drawn(name)
    arriving: dict[Node, set] = {}
    for edge in edges_in(diagram.root):
        arriving.setdefault(edge.target, set()).add(edge.value)
    for node in nodes_of(diagram.root):
        for eqn in node.eqns:
            expected = {a for a in eqn.inputs if isinstance(a, Value) and not a.is_size}
            assert expected <= arriving.get(node, set())
            assert all(diagram.names.atom(a) in node.text or "…" in node.text
                       for a in eqn.inputs if not isinstance(a, Value))


# --- where it is drawn --------------------------------------------------------------------------


def overlap(a: Rect, b: Rect) -> bool:
    return (a.x < b.x + b.width and b.x < a.x + a.width
            and a.y < b.y + b.height and b.y < a.y + a.height)


def holds(outer: Rect, inner: Rect, slack: float = 0.01) -> bool:
    return (outer.x <= inner.x + slack and outer.y <= inner.y + slack
            and inner.x + inner.width <= outer.x + outer.width + slack
            and inner.y + inner.height <= outer.y + outer.height + slack)


@every_graph
def test_nothing_overlaps_and_all_is_in_its_box(name: str) -> None:
    diagram, placement = drawn(name)
    for box in boxes_in(diagram.root):
        outer = placement.rects.get(box, Rect(0.0, 0.0, placement.width, placement.height))
        inside = [placement.rects[item] for item in (*box.top, *box.items, *box.bottom)]
        if box in placement.titles:
            inside.append(placement.titles[box])
        assert all(holds(outer, rect) for rect in inside)
        assert not any(overlap(a, b) for a, b in combinations(inside, 2))


@every_graph
def test_every_edge_is_drawn_from_its_source_to_its_target(name: str) -> None:
    diagram, placement = drawn(name)
    assert Counter(s.edge for s in placement.strokes) == Counter(edges_in(diagram.root))
    nodes = set(nodes_of(diagram.root))
    for stroke in placement.strokes:
        assert stroke.edge.source in nodes and stroke.edge.target in nodes
        ends = zip((stroke.edge.source, stroke.edge.target),
                   (stroke.points[0], stroke.points[-1]), strict=True)
        for node, (x, y) in ends:
            rect = placement.rects[node]
            assert rect.x <= x <= rect.x + rect.width
            assert min(abs(y - rect.y), abs(y - rect.y - rect.height)) < 0.01


def along(stroke: Stroke) -> Iterator[tuple[float, float]]:
    """Yield points on an edge as it is drawn: cubics with vertical ends, or straight lines."""
    for (x, y), (z, w) in pairwise(stroke.points):
        for k in range(9):
            t = k / 8
            s = t if stroke.is_square else t * t * (3 - 2 * t)
            v = t if stroke.is_square else (3 * t * (1 - t) ** 2 + 3 * t * t * (1 - t)) / 2 + t ** 3
            yield x + s * (z - x), y + v * (w - y)


@every_graph
def test_no_edge_runs_over_a_node(name: str) -> None:
    diagram, placement = drawn(name)
    rects = {node: placement.rects[node] for node in nodes_of(diagram.root)}
    for stroke in placement.strokes:
        others = [r for n, r in rects.items() if n not in (stroke.edge.source, stroke.edge.target)]
        for x, y in along(stroke):
            assert not any(r.x < x < r.x + r.width and r.y + 0.01 < y < r.y + r.height - 0.01
                           for r in others)


GRADIENTS = [name for name in ALL if name not in {"tangents", "penalty", "golden:second_order"}]


@pytest.mark.parametrize("name", GRADIENTS)
def test_forward_runs_down_and_backward_runs_up_at_its_right(name: str) -> None:
    diagram, placement = drawn(name)
    middle = {k: r.y + r.height / 2 for k, r in placement.rects.items()}
    for edge in edges_in(diagram.root):
        if edge.source.role == edge.target.role == "forward":
            assert middle[edge.source] < middle[edge.target]
        elif edge.source.role == edge.target.role == "backward":
            if edge in diagram.root.edges:
                assert middle[edge.source] > middle[edge.target]
    sides = {role: [placement.rects[i] for i in diagram.root.items if i.role == role]
             for role in ("forward", "backward")}
    assert all(a.x + a.width < b.x for a in sides["forward"] for b in sides["backward"])


def test_tangents_run_down() -> None:
    _, placement = drawn("tangents")
    assert [way[1] for way in placement.ways] == ["down", "down"]


def test_backward_is_beside_what_it_differentiates() -> None:
    """Of a chain, each backward equation is no further down than the next forward equation."""
    diagram, placement = drawn("golden:chain")
    items = [i for i in diagram.root.items if isinstance(i, Node)]
    maker = {v: i for i in items for v in i.eqns[0].outputs}
    forward = sorted(placement.rects[i].y for i in items if i.role == "forward")
    for item in items:
        of = item.eqns[0].of
        if of is not None:
            below = [y for y in forward if y > placement.rects[maker[of]].y]
            assert placement.rects[item].y < below[0]


# --- what is folded -----------------------------------------------------------------------------


@pytest.mark.parametrize("max_nodes", [1, 5, 20, 60])
@pytest.mark.parametrize("name", ["golden:soft_dtw", "golden:branch", "lstm", "waves"])
def test_what_is_folded_is_counted(name: str, max_nodes: int) -> None:
    graph = graph_named(name)
    total = sum(1 for _ in eqns_in(graph.block))
    diagram, placement = drawn(name, max_nodes)
    shown = [n for n in nodes_of(diagram.root) if n.kind == "equation"]
    boxes = [b for b in boxes_in(diagram.root) if b.eqn is not None]
    assert len(shown) + len(boxes) + diagram.folded == total
    folded = [n for n in nodes_of(diagram.root) if n.kind == "folded"]
    counts = [int(re.search(r"(\d+) ops", n.text)[1]) for n in folded]
    assert sum(counts) == diagram.folded
    assert len(shown) + len(boxes) <= max(max_nodes, 4)
    svg = graph_svg(graph, max_nodes=max_nodes)
    assert ("folded" in svg) == bool(diagram.folded)
    if diagram.folded:
        assert f"{diagram.folded} equations are folded; graph.to_svg(max_nodes=None)" in svg
    rects = [placement.rects[n] for n in nodes_of(diagram.root)]
    assert not any(overlap(a, b) for a, b in combinations(rects, 2))


def test_regions_are_opened_from_the_outside_while_there_is_room() -> None:
    sizes = [len(list(boxes_in(drawn("golden:soft_dtw", n)[0].root))) for n in (10, 18, 50, None)]
    assert sizes == sorted(sizes) and sizes[0] == 1 and sizes[-1] == 5


def test_two_thousand_equations_are_drawn_folded() -> None:
    def long(x):
        for k in tuple(0.5 * k for k in range(400)):
            x = np.sin(x) * 1.5 + k
        return np.sum(x)

    graph = tracejit.grad(long).trace(tracejit.spec("f64[n]")).graph
    assert sum(1 for _ in eqns_in(graph.block)) > 2000
    diagram = diagram_of(graph, 300)
    assert len(list(nodes_of(diagram.root))) < 310
    assert len(graph_svg(graph)) < 400_000


def test_pictures_are_saved_as_files(tmp_path: Path) -> None:
    graph = graph_named("lstm")
    assert graph.to_svg(tmp_path / "graph.svg", max_nodes=None) == graph_svg(graph, max_nodes=None)
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == graph_svg(graph, max_nodes=None)
    assert graph.to_dot(tmp_path / "graph.dot") == graph_dot(graph)
    assert (tmp_path / "graph.dot").read_text(encoding="utf-8") == graph_dot(graph)


# --- DOT ----------------------------------------------------------------------------------------


def unquoted(text: str) -> str:
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


@every_graph
def test_dot_has_the_same_nodes_and_edges(name: str) -> None:
    diagram, _ = drawn(name)
    text = unquoted(graph_dot(graph_named(name)))
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0 and '"' not in text.replace('""', "")
    assert sorted(map(int, re.findall(r"^ *n(\d+) \[", text, re.M))) == sorted(
        node.number for node in nodes_of(diagram.root))
    found = Counter(re.findall(r"^ *n(\d+) -> n(\d+) \[", text, re.M))
    assert found == Counter((str(e.source.number), str(e.target.number))
                            for e in edges_in(diagram.root))
    assert text.count("penwidth=3") == sum(e.heavy for e in edges_in(diagram.root))
    clusters = text.count("subgraph cluster_")
    assert clusters == len(list(boxes_in(diagram.root))) - 1


# --- layout -------------------------------------------------------------------------------------

dags = st.integers(1, 25).flatmap(lambda n: st.tuples(
    st.lists(st.floats(10, 200), min_size=n, max_size=n),
    st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.floats(-5, 5),
                       st.floats(-5, 5)).filter(lambda e: e[0] < e[1]), max_size=60)))


@settings(max_examples=60, deadline=None)
@given(dags)
def test_cells_stand_apart_and_wires_run_down(dag: tuple) -> None:
    widths, links = dag
    rows = rows_by_longest_path(len(widths), [(a, b) for a, b, _, _ in links])
    assert all(rows[a] < rows[b] for a, b, _, _ in links)
    cells = [LayoutCell(w, 20.0, row) for w, row in zip(widths, rows, strict=True)]
    wires = [Wire(*link) for link in links]
    ways = arrange(cells, wires)
    for a, b in combinations(cells, 2):
        assert a.row != b.row or abs(a.x - b.x) >= (a.width + b.width) / 2
    for wire, way in zip(wires, ways, strict=True):
        source, target = cells[wire.source], cells[wire.target]
        assert [row for row, _ in way] == list(range(source.row, target.row + 1))
        assert way[0][1] == pytest.approx(source.x + wire.leaves)
        assert way[-1][1] == pytest.approx(target.x + wire.arrives)
        for row, x in way[1:-1]:
            assert all(abs(c.x - x) >= c.width / 2 for c in cells if c.row == row)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 5), st.floats(0, 3)), min_size=1,
                max_size=8), st.randoms())
def test_settled_is_nearest_of_all_that_fit(items: list, random: object) -> None:
    wanted, weights, gaps = map(list, zip(*items, strict=True))
    found = settle(wanted, weights, gaps[1:])
    assert all(b - a >= gap - 1e-9 for (a, b), gap in zip(pairwise(found), gaps[1:], strict=True))

    def cost(xs: list[float]) -> float:
        return sum(w * (x - y) ** 2 for x, y, w in zip(xs, wanted, weights, strict=True))

    for _ in range(50):
        other = [x + random.uniform(-1, 1) for x in found]
        for k, gap in enumerate(gaps[1:]):
            other[k + 1] = max(other[k + 1], other[k] + gap)
        assert cost(found) <= cost(other) + 1e-9


def crossings(place_in: Callable[[int], float], links: list[tuple[int, int]]) -> int:
    return sum((place_in(a) - place_in(c)) * (place_in(b) - place_in(d)) < 0
               for (a, b), (c, d) in combinations(links, 2))


def test_what_can_be_drawn_without_crossings_is() -> None:
    links = [(k, 12 - k) for k in range(6)]
    cells = [LayoutCell(30.0, 20.0, 0) for _ in range(6)]
    cells += [LayoutCell(30.0, 20.0, 1) for _ in range(7)]
    arrange(cells, [Wire(a, b) for a, b in links])
    assert crossings(lambda k: cells[k].x, links) == 0
    assert all(abs(cells[a].x - cells[b].x) < 2.0 for a, b in links)
