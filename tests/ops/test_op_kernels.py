"""Every entry of the table of ops as machine code: the interpreter's results, nothing outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels import run_kernel, with_values
from numba.core.errors import CompilerError
from oracles import assert_same, random_like
from samples import applications, dtypes_of, sampled, sizes_of

import tracejit
from tracejit.autodiff.transforms import pullback_graph
from tracejit.codegen.compile import Functions, compile_kernel
from tracejit.codegen.loop_expressions import F64, Const
from tracejit.codegen.loop_ir import Assign
from tracejit.ir.core import Op
from tracejit.ir.interpreter import interpret

CASES = [pytest.param(op, dtype, id=f"{op.name}-{np.dtype(dtype).name}")
         for op in sampled() for dtype in dtypes_of(op)]


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_kernel_computes_what_the_interpreter_does(op: Op, dtype: Any) -> None:
    """One kernel applies the op to all samples at once, and its pullback on all of them."""
    graph, operands, fixed = applications(op, dtype, sizes_of(op, dtype))
    expected = interpret(graph, *operands)
    wrt = [k for k, x in enumerate(operands) if x.dtype.kind in "fc" and not fixed[k]]
    floating = [e for e in expected if np.asarray(e).dtype.kind in "fc"]
    if op.vjp is None or op.marked or not wrt or not floating:
        assert_same(run_kernel(graph, *operands), expected, op.name, factor=10)
        return
    rng = np.random.default_rng(4)
    cts = [random_like(rng, e) if np.asarray(e).dtype.kind in "fc" else np.zeros_like(e)
           for e in expected]
    pullback = pullback_graph(graph, wrt, "pullback")
    bars = interpret(pullback, *operands, *cts)
    found = run_kernel(with_values(pullback, graph), *operands, *cts)
    assert_same(found[:len(expected)], expected, op.name, factor=10)
    assert_same(found[len(expected):], bars, f"the pullback of {op.name}", factor=100)


def test_a_name_has_one_type() -> None:
    lowered = tracejit.grad(lambda x: x * x).trace(1.0).lower()
    lowered.kernel.nodes[:0] = [Assign("w", Const(1)), Assign("w", Const(2.5, F64))]
    with pytest.raises(CompilerError, match="w is of type int64, and given a float64"):
        compile_kernel(Functions(lowered.kernel, {}, "kernel.py"), "entry")
