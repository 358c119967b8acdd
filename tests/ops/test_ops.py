"""Every entry of the table of ops against NumPy and against differences; no op is named here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import assert_close, assert_same, directional, random_like
from samples import SIZES, Sample, differentiable, dtypes_of, graph_of, sampled, samples_of

from tracejit.autodiff.transforms import pullback_graph, tangent_graph
from tracejit.ir.core import Graph, Op
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph

CASES = [pytest.param(op, dtype, id=f"{op.name}-{np.dtype(dtype).name}")
         for op in sampled() for dtype in dtypes_of(op)]
DIFFERENTIABLE = [pytest.param(op, dtype, id=f"{op.name}-{np.dtype(dtype).name}")
                  for op in differentiable() for dtype in dtypes_of(op)
                  if dtype in (np.float64, np.complex128)]


def _samples(op: Op, dtype: Any) -> list[Sample]:
    return [s for n in SIZES for s in samples_of(op, n, dtype)]


def _wrt(s: Sample) -> list[int]:
    return [k for k, (x, fixed) in enumerate(zip(s.operands, s.fixed, strict=True))
            if x.dtype.kind in "fc" and not fixed]


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_types_are_inferred_as_numpy_computes_them(op: Op, dtype: Any) -> None:
    for s in _samples(op, dtype):
        graph = verify_graph(s.graph())
        interpret(graph, *s.operands)  # checks every result against its inferred type


def _check_forward(graph: Graph, operands: Any, wrt: list[int], rng: np.random.Generator,
                   what: str) -> None:
    """The tangent is the derivative along a direction."""
    dots = [random_like(rng, operands[k]) for k in wrt]
    results = interpret(tangent_graph(graph, wrt, "tangent"), *operands, *dots)
    vs: list[Any] = [None] * len(operands)
    for k, dot in zip(wrt, dots, strict=True):
        vs[k] = dot
    expected = directional(lambda *xs: interpret(graph, *xs), operands, vs)
    floating = [e for e, a in zip(expected, graph.outputs, strict=True)
                if a.aval.dtype.kind in "fc"]
    for actual, e in zip(results[len(expected):], floating, strict=True):
        assert_close(actual, e, what=what)


def _check_adjoint(graph: Graph, operands: Any, wrt: list[int], rng: np.random.Generator,
                   what: str) -> None:
    """The pullback is the transpose of the tangent: <ct, J v> = <J' ct, v>."""
    dots = [random_like(rng, operands[k]) for k in wrt]
    tangents = interpret(tangent_graph(graph, wrt, "tangent"), *operands, *dots)
    values = tangents[:len(graph.outputs)]
    floating = [k for k, v in enumerate(values) if np.asarray(v).dtype.kind in "fc"]
    cts = [random_like(rng, v) if np.asarray(v).dtype.kind in "fc" else np.zeros_like(v)
           for v in values]
    bars = interpret(pullback_graph(graph, wrt, "pullback"), *operands, *cts)
    left = sum(np.real(np.vdot(cts[k], t))
               for k, t in zip(floating, tangents[len(values):], strict=True))
    right = sum(np.real(np.vdot(bar, dot)) for bar, dot in zip(bars, dots, strict=True))
    for bar, k in zip(bars, wrt, strict=True):
        assert np.asarray(bar).dtype == operands[k].dtype, what
        assert np.shape(bar) == operands[k].shape, what
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9, err_msg=what)


@pytest.mark.parametrize(("op", "dtype"), DIFFERENTIABLE)
def test_tangent_is_the_directional_derivative(op: Op, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    for s in _samples(op, dtype):
        _check_forward(s.graph(), s.operands, _wrt(s), rng, str(s))


@pytest.mark.parametrize(("op", "dtype"), DIFFERENTIABLE)
def test_pullback_is_the_adjoint_of_the_tangent(op: Op, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    for s in _samples(op, dtype):
        _check_adjoint(s.graph(), s.operands, _wrt(s), rng, str(s))


@pytest.mark.parametrize(("op", "dtype"), DIFFERENTIABLE)
def test_the_pullback_has_derivatives_too(op: Op, dtype: Any) -> None:
    """Second order: the pullback is a program like any other, in both modes."""
    rng = np.random.default_rng(3)
    for s in _samples(op, dtype):
        graph, wrt = s.graph(), _wrt(s)
        values = interpret(graph, *s.operands)
        if not any(np.asarray(v).dtype.kind in "fc" for v in values):
            continue
        pullback = pullback_graph(graph, wrt, "pullback")
        cts = tuple(random_like(rng, v) if np.asarray(v).dtype.kind in "fc" else np.zeros_like(v)
                    for v in values)
        operands = (*s.operands, *cts)
        both = wrt + [len(s.operands) + k for k, ct in enumerate(cts) if ct.dtype.kind in "fc"]
        verify_graph(pullback)
        _check_forward(pullback, operands, both, rng, str(s))
        _check_adjoint(pullback, operands, both, rng, str(s))


def test_a_wrong_derivative_is_found() -> None:
    """A pullback that is off by a thousandth fails the checks that right ones pass."""
    x = np.linspace(0.5, 1.5, 5)
    graph = graph_of(lambda t: np.sin(t) * t, [x])
    assert_same(interpret(graph, x), (np.sin(x) * x,))
    wrong = directional(lambda t: 1.001 * np.sin(t) * t, [x], [np.ones(5)])[0]
    (_, right) = interpret(tangent_graph(graph, [0], "tangent"), x, np.ones(5))
    with pytest.raises(AssertionError):
        assert_close(right, wrong)
