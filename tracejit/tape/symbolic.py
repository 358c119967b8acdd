"""`gradients(ys, xs)`: TensorFlow's symbolic gradients, within a capture or a `Graph`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from tracejit.autodiff.inplace import append_gradients
from tracejit.ir.core import Block, Value
from tracejit.ir.core import Graph as IRGraph
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.interpreter import interpret
from tracejit.ir.types import Aval, is_differentiable
from tracejit.ops.cotangents import add_cotangents, dense, zeros
from tracejit.tape.tape import UnconnectedGradients
from tracejit.trace.ground.context import Trace, active, is_tracing
from tracejit.trace.state.captured import Captures
from tracejit.trace.values.equations import atom_of, cast, dtype_of, is_weak, lift
from tracejit.trace.values.identities import require_names
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer, tracer_of
from tracejit.transforms.nested import conforming, tracer_of_atom
from tracejit.tree import flatten, unflatten

__all__ = ["AggregationMethod", "Graph", "gradients"]


class AggregationMethod(Enum):
    """How the contributions to one cotangent are added where there are many.

    ADD_N                     -- all at once, when the last one is there: each stays in memory
                                 until then
    EXPERIMENTAL_TREE         -- likewise, but in pairs, pairs of pairs and so on: rounding errors
                                 grow with the logarithm of their number
    EXPERIMENTAL_ACCUMULATE_N -- each as soon as it is there: one sum is in memory
    """

    ADD_N = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2
    DEFAULT = 2


def gradients(ys: object, xs: object, grad_ys: object = None, name: str = "gradients",
              stop_gradients: object = None,
              unconnected_gradients: object = UnconnectedGradients.NONE,
              aggregation_method: object = None) -> list[Any]:
    """Add the derivatives of the sum of `ys` by each of `xs` to the program being captured.

    ys                    -- a traced number or array, or a list of them
    xs                    -- likewise; anything that `ys` were computed from, results included
    grad_ys               -- cotangents of `ys`, None for ones; a list as long as `ys`
    name                  -- the heading of the new equations in the printed program
    stop_gradients        -- values taken to be constant, although they may depend on `xs`
    unconnected_gradients -- NONE, or ZERO for zeros where `ys` do not depend on an x
    aggregation_method    -- an `AggregationMethod`

    Returns a list with one gradient, or None, per x.

    Raises `RuntimeError` outside of a capture, `LookupError` where an operation between has no
    gradient, `ValueError` for wrong lengths, shapes or dtypes, `TypeError` for any but a traced
    value.

    >>> import tracejit
    >>> @tracejit.jit
    ... def partial_derivatives(a):
    ...     b = 2 * a
    ...     return tuple(tracejit.gradients(a + b, [a, b], stop_gradients=[a, b]))
    >>> partial_derivatives(1.0)
    (1.0, 1.0)
    """
    if not is_tracing():
        raise RuntimeError("gradients adds operations to a program, so it is for functions that "
                           "tracejit captures (@tracejit.jit) and for `with tracejit.Graph():`. "
                           "Use tracejit.GradientTape elsewhere, or tracejit.grad")
    require_names()
    targets = [_traced(y, "ys") for y in _listed(ys)]
    sources = [_traced(x, "xs") for x in _listed(xs)]
    given: list[Any] = [None] * len(targets) if grad_ys is None else _listed(grad_ys)
    if len(given) != len(targets):
        raise ValueError(f"grad_ys has {len(given)} items, but there are {len(targets)} ys")
    unconnected = UnconnectedGradients(unconnected_gradients)
    method = AggregationMethod(AggregationMethod.DEFAULT if aggregation_method is None
                               else aggregation_method)
    pairs = [(y.value, _cotangent(y, ct, k)) for k, (y, ct) in enumerate(
        zip(targets, given, strict=True)) if is_differentiable(y.dtype)]
    stopped = frozenset(_traced(x, "stop_gradients").value for x in
                        ([] if stop_gradients is None else _listed(stop_gradients)))
    found = append_gradients([y for y, _ in pairs], [ct for _, ct in pairs],
                             [x.value for x in sources], group=name, stopped=stopped,
                             sum_terms=_SUMS[method])
    fill = unconnected is UnconnectedGradients.ZERO
    return [tracer_of_atom(a, x.weak) if a is not None else zeros(x.aval) if fill else None
            for a, x in zip(found, sources, strict=True)]


def _listed(x: object) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _traced(x: object, what: str) -> Tracer:
    """Return a traced operand as an array; `TypeError` for anything else."""
    if isinstance(x, Tracer):
        return x
    if isinstance(x, SymInt):
        return cast(x, np.int64)
    if isinstance(x, (int, float, complex, np.generic, np.ndarray)):
        raise TypeError(f"one of {what} is the constant {x!r}, which nothing was computed from. "
                        "Make it an argument of the function")
    raise TypeError(f"one of {what} is a {type(x).__name__}; gradients takes traced numbers and "
                    "arrays")


def _cotangent(y: Tracer, ct: object, k: int) -> Any:
    """Return the cotangent given for a y, of its shape and dtype; None for ones."""
    if ct is None:
        return None
    ct = lift(ct)
    differs = not is_weak(ct) and dtype_of(ct) != y.dtype
    if differs or (dtype_of(ct).kind == "c" and y.dtype.kind != "c"):
        raise ValueError(f"grad_ys[{k}] has dtype {dtype_of(ct)}, but ys[{k}] has {y.dtype}")
    return conforming(f"cotangent of ys[{k}]", ct, y)


# --- how terms are added ------------------------------------------------------------------------


def _in_a_row(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = add_cotangents(total, term)
    return total


def _as_a_tree(terms: list[Any]) -> Any:
    terms = [dense(t) for t in terms]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [add_cotangents(a, b) for a, b in pairs] + terms[len(terms) // 2 * 2:]
    return terms[0]


_SUMS: dict[AggregationMethod, Callable[[list[Any]], Any] | None] = {
    AggregationMethod.ADD_N: _in_a_row,
    AggregationMethod.EXPERIMENTAL_TREE: _as_a_tree,
    AggregationMethod.EXPERIMENTAL_ACCUMULATE_N: None,
}


# --- programs without a function ----------------------------------------------------------------


class SymbolicGraph:
    """A program that is built line by line, as in TensorFlow 1, for `gradients` to add to.

    name -- the name of the printed program

    >>> import tracejit
    >>> with tracejit.Graph() as graph:
    ...     a = tracejit.constant(0.0)
    ...     b = 2 * a
    ...     total = tracejit.gradients(a + b, [a, b])
    ...     partial = tracejit.gradients(a + b, [a, b], stop_gradients=[a, b])
    >>> [float(g) for g in graph.run([*total, *partial])]
    [3.0, 1.0, 1.0, 1.0]

    Python's own control flow runs while the program is built; loops on data are for functions.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self._trace = Trace()
        self._trace.names = True
        self._trace.captured = Captures(self._input)
        self._inputs: list[Value] = []
        self._defaults: list[Any] = []
        self._open: Any = None

    def __enter__(self) -> SymbolicGraph:
        """Make operations part of this program."""
        self._open = active(self._trace)
        self._open.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the program."""
        self._open.__exit__(*exception)

    def placeholder(self, example: object, name: str | None = None) -> Any:
        """Return an input of the program.

        example -- an array or number of the input's dtype and shape, which it has unless `run` is
                   given another
        """
        return self._input(np.asarray(example), None, name or f"input{len(self._inputs)}")[1]

    def _input(self, content: object, path: object, name: str) -> tuple[Value, Any]:
        data = np.asarray(content)
        v = Value(Aval(data.dtype, data.shape), name)
        self._inputs.append(v)
        self._defaults.append(data[()])
        with active(self._trace):
            return v, tracer_of(v)

    def graph(self, fetches: object = ()) -> IRGraph:
        """Return the program up to the fetched values, as it is printed."""
        with active(self._trace):
            leaves = [x for x in flatten(fetches)[0] if x is not None]
            outputs = tuple(atom_of(lift(x)) for x in leaves)
            eqns = tuple(self._trace.builder.scope.eqns)
        return IRGraph(self.name, (), Block(tuple(self._inputs), eqns, outputs))

    def run(self, fetches: object, feed: dict[Any, Any] | None = None) -> Any:
        """Return the fetched values, in the structure of `fetches`.

        fetches -- traced values of this program, or a nest of them; None stays None
        feed    -- values for placeholders: {placeholder's name: value}

        Raises `KeyError` for a name that no placeholder has.
        """
        leaves, structure = flatten(fetches)
        values = dict(zip([str(v.name) for v in self._inputs], self._defaults, strict=True))
        for name, x in (feed or {}).items():
            if name not in values:
                raise KeyError(f"no placeholder is called {name!r}; there are {sorted(values)}")
            values[name] = np.asarray(x)[()]
        program = self.graph([x for x in leaves if x is not None])
        found = iter(interpret(drop_dead_code(program), *values.values()))
        return unflatten(structure, iter(
            [None if x is None else next(found) for x in leaves]))

    def __str__(self) -> str:
        return str(self.graph())


Graph = SymbolicGraph
"""TensorFlow's name of it, for users."""
