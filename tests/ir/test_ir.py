"""The IR itself: text that reads back, a verifier that objects, passes that keep the meaning."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from ir_text import graph_of, text_of
from oracles import assert_same, random_like
from samples import SIZES, dtypes_of, sampled, samples_of
from test_golden import NAMES, traced_of

from tracejit.autodiff.transforms import pullback_graph
from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Graph, Op, Value
from tracejit.ir.dims import (
    CASES,
    evaluate,
    floor_div,
    format_dim,
    is_nonneg,
    maximum,
    minimum,
    mod,
)
from tracejit.ir.interpreter import interpret
from tracejit.ir.optable import find_op
from tracejit.ir.parser import parse_graph
from tracejit.ir.types import Aval, LogType
from tracejit.ir.verifier import verify_graph
from tracejit.passes.pipeline import PASSES


def without_comments(text: str) -> str:
    """Return printed IR without the user's lines, which are comments that a parser skips."""
    lines = (line.partition("  # ")[0].rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip() != "-- backward")


F64 = Aval(np.dtype(np.float64), ())
OPS_TO_PARSE = [pytest.param(op, id=op.name) for op in sampled()]


@pytest.mark.parametrize("op", OPS_TO_PARSE)
def test_parsing_undoes_printing_for_every_op(op: Op) -> None:
    for dtype in dtypes_of(op):
        for s in samples_of(op, SIZES[-1], dtype):
            graph = s.graph()
            again = verify_graph(parse_graph(str(graph)))
            assert without_comments(str(again)) == without_comments(str(graph))
            assert_same(interpret(again, *s.operands), interpret(graph, *s.operands), op.name)


@pytest.mark.parametrize("name", NAMES)
def test_parsing_undoes_printing_for_programs_and_their_gradients(name: str) -> None:
    """Before and after the passes: sizes, regions, Logs, branches."""
    traced = traced_of(name)
    for graph in (traced.program.graph, traced.graph):
        again = verify_graph(parse_graph(str(graph)))
        assert without_comments(str(again)) == without_comments(str(graph))


def test_a_parsed_program_computes_the_same() -> None:
    for op in sampled():
        for s in list(samples_of(op, 3, dtypes_of(op)[0]))[:1]:
            wrt = [k for k, x in enumerate(s.operands) if x.dtype.kind in "fc" and not s.fixed[k]]
            if op.vjp is None or op.marked or not wrt:
                continue
            graph = pullback_graph(s.graph(), wrt, "pullback")
            rng = np.random.default_rng(2)
            cts = [random_like(rng, np.zeros(v.aval.shape, v.aval.dtype))
                   for v in graph.inputs[len(s.operands):]]
            again = parse_graph(str(graph))
            assert_same(interpret(again, *s.operands, *cts), interpret(graph, *s.operands, *cts),
                        op.name)


@pytest.mark.parametrize("name", NAMES)
def test_every_pass_gives_valid_ir(name: str) -> None:
    graph = verify_graph(traced_of(name).program.graph)
    for apply_pass in PASSES:
        graph = verify_graph(apply_pass(graph))


# --- what the verifier objects to ---------------------------------------------------------------


def _graph(inputs: tuple[Value, ...], eqns: tuple[Eqn, ...], *outputs: Any) -> Graph:
    return Graph("g", (), Block(inputs, eqns, outputs))


def _neg(x: Value, y: Value) -> Eqn:
    return Eqn(find_op("neg"), (x,), {}, (y,), (), None, None)


def test_a_value_must_be_defined_before_it_is_read() -> None:
    x, y, z = (Value(F64) for _ in range(3))
    verify_graph(_graph((x,), (_neg(x, y), _neg(y, z)), z))
    with pytest.raises(IRError, match="read before it is defined"):
        verify_graph(_graph((x,), (_neg(y, z), _neg(x, y)), z))


def test_a_value_is_defined_once() -> None:
    x, y = Value(F64), Value(F64)
    with pytest.raises(IRError, match="defined twice"):
        verify_graph(_graph((x,), (_neg(x, y), _neg(x, y)), y))


def test_a_result_has_the_inferred_type() -> None:
    x, y = Value(F64), Value(Aval(np.dtype(np.float64), (3,)))
    with pytest.raises(IRError, match="should be"):
        verify_graph(_graph((x,), (_neg(x, y),), y))


def test_a_log_is_read_once() -> None:
    log = Value(LogType(np.dtype(np.float64)))
    x, one, two = Value(F64), Value(log.aval), Value(log.aval)
    new = Eqn(find_op("log_new"), (), {"dtype": np.dtype(np.float64)}, (log,), (), None, None)

    def push(result: Value) -> Eqn:
        return Eqn(find_op("push"), (log, x), {}, (result,), (), None, None)

    verify_graph(_graph((x,), (new, push(one)), one))
    with pytest.raises(IRError, match="used twice"):
        verify_graph(_graph((x,), (new, push(one), push(two)), one, two))


# --- parts --------------------------------------------------------------------------------------


def product_specs() -> list[str]:
    """Return all products of two operands of up to two axes, without diagonals."""
    shapes = ["", "i", "ij", "ji"]
    specs = []
    for left in shapes:
        for right in ["", "i", "j", "k", "ij", "ji", "jk", "kj", "ik", "ki", "kl"]:
            labels = sorted({*left, *right})
            outputs = [p for r in range(len(labels) + 1) for p in itertools.permutations(labels, r)]
            specs += [f"{left},{right}->{''.join(p)}" for p in outputs if len(p) <= 2]
    return specs


def test_the_interpreters_products_are_einsums() -> None:
    """`dot` goes to BLAS where it can: for every spec the result is einsum's."""
    reference = find_op("dot").reference
    rng = np.random.default_rng(0)
    sizes = dict(zip("ijkl", (2, 3, 4, 5), strict=True))
    specs = product_specs()
    assert len(specs) > 150
    for spec in specs:
        left, right = spec.split("->")[0].split(",")
        x, y = (rng.normal(size=[sizes[c] for c in labels]) for labels in (left, right))
        np.testing.assert_allclose(reference(x, y, spec=spec), np.einsum(spec, x, y), rtol=1e-12,
                                   atol=1e-14, err_msg=spec)


def test_proofs_about_max_look_at_so_many_cases_at_most() -> None:
    """Twenty of them have a million cases; it is given up, and proofs of few cases are made."""
    sizes = [Value(Aval(np.dtype(np.int64), ()), f"n{k}") for k in range(20)]
    total: Any = 0
    for a, b in itertools.pairwise(sizes):
        total = total + maximum(a.dim - b.dim, 3 - b.dim)
    cases = [CASES]
    assert not is_nonneg(total - 1000, None, cases)
    assert cases[0] <= 0
    n = sizes[0].dim
    assert is_nonneg(maximum(n, 3 - n) - minimum(n, 3 - n))


def _random_dim(rng: random.Random, sizes: Any, depth: int = 3) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(sizes) if rng.random() < 0.7 else rng.randint(-4, 5)
    a, b = (_random_dim(rng, sizes, depth - 1) for _ in range(2))
    divisor = rng.choice((1, 2, 3, 4, -2))
    return rng.choice((
        lambda: a + b, lambda: a - b, lambda: rng.choice((-3, -1, 2, 4)) * a,
        lambda: maximum(a, b), lambda: minimum(a, b), lambda: floor_div(a, divisor),
        lambda: mod(a, divisor)))()


def test_no_dim_is_proven_that_is_negative_somewhere() -> None:
    """Each proof is held against all sizes up to seven, and an index within its loop."""
    n, m, i = (Value(Aval(np.dtype(np.int64), ()), name, is_size=k < 2)
               for k, name in enumerate("nmi"))
    ranges = {i: (0, floor_div(n.dim, 2) - 1)}
    rng, proven = random.Random(0), 0
    for _ in range(20_000):
        d = _random_dim(rng, [n.dim, m.dim, i.dim])
        if isinstance(d, int) or not is_nonneg(d, ranges):
            continue
        proven += 1
        for a, b in itertools.product(range(8), repeat=2):
            for k in range(a // 2):
                assert evaluate(d, {n: a, m: b, i: k}.__getitem__) >= 0, (format_dim(d), a, b, k)
    assert proven > 1000


def test_quotients_and_remainders_are_bounded() -> None:
    """A slice up to a half, or of one block of several, lies in the array."""
    n, i = (Value(Aval(np.dtype(np.int64), ()), name, is_size=name == "n") for name in "ni")
    size, ranges = n.dim, {i: (0, floor_div(n.dim, 32) - 1)}
    for d in (size - 32 * i.dim - 32, size - floor_div(size, 2), size - floor_div(size + 1, 2),
              size - 2 * floor_div(size, 2), size - mod(size, 4), 3 - mod(size, 4),
              2 * floor_div(size, 2) - size + 1, size - 4 * floor_div(size, 4) - mod(size, 1)):
        assert is_nonneg(d, ranges), format_dim(d)
    for d in (size - floor_div(size + 2, 2), size - 32 * i.dim - 33, 2 - mod(size, 4)):
        assert not is_nonneg(d, ranges), format_dim(d)


DIMS = ["2*(n // 2)", "-(n // 2)", "n // 2 + 1", "-(-n // 2)", "max(n, m) // 2", "(n // 2) // 2",
        "(n % 3)*m", "(n*m) % 4 - 1", "(n - 1) % m", "m - (n // 2)", "(n // 2)*(m // 2)"]


@pytest.mark.parametrize("text", DIMS)
def test_dims_are_written_as_python_reads_them(text: str) -> None:
    graph = graph_of(f"(%x: f64[n, m])\n%0: i64[] = size() {{of={text}}}\nreturn %0")
    again = graph_of(f"(%x: f64[n, m])\n{text_of(graph)}")
    written = format_dim(graph.eqns[0].params["of"])
    for n, m in itertools.product((1, 2, 5, 6, 7), (3, 4)):
        (found,) = interpret(graph, np.zeros((n, m)))
        assert found == eval(text) == eval(written), (n, m, written)
        assert interpret(again, np.zeros((n, m))) == (found,)
