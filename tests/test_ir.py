"""The IR itself: text that reads back, a verifier that objects, passes that keep the meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import assert_same, random_like
from samples import SIZES, dtypes_of, sampled, samples_of
from test_golden import NAMES, traced_of

from tracejit.autodiff.transforms import pullback_graph
from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Graph, Op, Value
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
