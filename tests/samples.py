"""Samples for the table of ops: for every entry, operands of several sizes and dtypes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tracejit.api  # noqa: F401  (fills the table)
from tracejit.ir.core import Graph, Op, Value
from tracejit.ir.optable import OPS
from tracejit.ir.types import Aval
from tracejit.trace.ground.context import Trace, active
from tracejit.trace.values.equations import atom_of, emit
from tracejit.trace.values.tracer import tracer_of

SIZES = (0, 1, 2, 5)
ELEMENTWISE_SHAPES = [(3,), ("n", 3), ()], [("n",), (3, "n")], [(2, 1), (1, "n")]
DTYPES = {"f": (np.float64, np.float32), "i": (np.int64,), "b": (np.bool_,),
          "c": (np.complex128, np.complex64)}


@dataclass(frozen=True)
class Sample:
    """An application of an op: a function on tracers, and operands for it."""

    op: Op
    apply: Callable[..., Any]
    operands: tuple[np.ndarray, ...]
    fixed: tuple[bool, ...]
    """Which operands are given by the table and are not to be perturbed."""

    def graph(self) -> Graph:
        """Return the graph that applies the op to inputs of the operands' types."""
        return graph_of(self.apply, self.operands)

    def __str__(self) -> str:
        return f"{self.op.name}-" + "-".join(
            f"{x.dtype.name}{list(x.shape)}".replace(" ", "") for x in self.operands)


def graph_of(function: Callable[..., Any], operands: Any) -> Graph:
    """Return the graph of a function of tracers."""
    inputs = tuple(Value(Aval(x.dtype, x.shape), f"x{k}") for k, x in enumerate(operands))
    with active(Trace()) as trace, trace.builder.block(inputs) as scope:
        results = function(*map(tracer_of, inputs))
        results = results if isinstance(results, (tuple, list)) else [results]
        block = scope.close([atom_of(r) for r in results])
    return Graph("probe", (), block)


def _applying(op: Op, params: dict[str, Any]) -> Callable[..., Any]:
    def function(*xs: Any) -> Any:
        return [tracer_of(v) for v in emit(op.name, [x.value for x in xs], params)]

    return function


def _operand(rng: np.random.Generator, shape: Any, dtype: Any, low: float,
             high: float) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    x = rng.uniform(low, high, shape)
    if dtype.kind == "c":
        x = x + 1j * rng.uniform(low, high, shape)
    if dtype.kind == "i":
        x = np.round(rng.uniform(np.ceil(low), np.floor(high), shape))
    return np.asarray(x).astype(dtype)


def samples_of(op: Op, n: int, dtype: Any) -> Iterator[Sample]:
    """Yield the applications of an op at a size, floating operands being of `dtype`."""
    rng = np.random.default_rng(zlib.crc32(f"{op.name} {n}".encode()))
    if op.kind == "elementwise" and not op.data.get("samples"):
        low, high = op.data["domain"]
        for shapes in ELEMENTWISE_SHAPES:
            shapes = [tuple(n if d == "n" else d for d in s) for s in shapes]
            cycle = [shapes[k % len(shapes)] for k in range(op.data["arity"])]
            operands = tuple(_operand(rng, s, dtype, low, high) for s in cycle)
            yield Sample(op, _applying(op, {}), operands, (False,) * len(operands))
        return
    for *given, how in op.data["samples"](n) if op.data.get("samples") else ():
        fixed = tuple(not isinstance(g, tuple) for g in given)
        operands = tuple(np.asarray(g) if f else _operand(rng, g, dtype, -2.0, 2.0)
                         for g, f in zip(given, fixed, strict=True))
        yield Sample(op, how if callable(how) else _applying(op, how), operands, fixed)


def differentiable() -> list[Op]:
    """Return the ops that have a derivative and samples."""
    return [op for op in sampled() if op.vjp is not None and not op.marked]


def sampled() -> list[Op]:
    """Return the ops that can be applied on their own."""
    return [op for op in OPS.values() if op.kind == "elementwise" or op.data.get("samples")]


def dtypes_of(op: Op) -> list[Any]:
    """Return the dtypes of operands that an op is tested with."""
    return [t for kind in op.data.get("kinds", "f") for t in DTYPES[kind]]


def sizes_of(op: Op, dtype: Any) -> tuple[int, ...]:
    """Return the sizes at which kernels of an op are run: all in the first dtype of each kind.

    Sizes are a matter of loops and of unrolled code, the width of numbers one of scalar code and
    vectors: in single precision the largest size has all of that.
    """
    return SIZES if any(dtype is group[0] for group in DTYPES.values()) else SIZES[-1:]


def applications(op: Op, dtype: Any, sizes: Sequence[int]) -> tuple[Graph, list[Any], list[bool]]:
    """Return a graph that applies an op to samples, their operands, and which are not varied."""
    samples = [s for n in sizes for s in samples_of(op, n, dtype)]

    def apply_all(*xs: Any) -> list[Any]:
        rest, results = list(xs), []
        for s in samples:
            count = len(s.operands)
            found = s.apply(*rest[:count])
            results += found if isinstance(found, (list, tuple)) else [found]
            rest = rest[count:]
        return results

    operands = [x for s in samples for x in s.operands]
    return graph_of(apply_all, operands), operands, [f for s in samples for f in s.fixed]
