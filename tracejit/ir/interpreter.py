"""The meaning of a graph: its equations carried out in order by their ops' NumPy references."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Span, Value, param_dims
from tracejit.ir.dims import Expr, bare_value, dim_values, evaluate
from tracejit.ir.dtypes import is_half
from tracejit.ir.halves import in_float32
from tracejit.ir.types import Aval
from tracejit.ir.walk import free_values

__all__ = ["Env", "apply_eqn", "bind_sizes", "block_env", "concrete_params", "interpret", "prepare",
           "read_value"]

Env = dict[Value, Any]


def interpret(graph: Graph, *args: object) -> tuple[Any, ...]:
    """Run a graph on NumPy values, one per input, and return its outputs.

    Raises `IRError` where an argument or a result contradicts its type.
    """
    env = bind_sizes(graph, args)
    with np.errstate(all="ignore"):
        return run_block(graph.block, env, args)


def bind_sizes(graph: Graph, args: Sequence[Any]) -> Env:
    """Return the values of a graph's sizes, read off the shapes of its arguments."""
    env: Env = {}
    for v, arg in zip(graph.inputs, args, strict=True):
        shape = np.shape(arg)
        if isinstance(v.aval, Aval) and len(shape) == v.aval.ndim:
            for d, n in zip(v.aval.shape, shape, strict=True):
                size = bare_value(d)
                if size is not None:
                    env.setdefault(size, n)
    return env


def run_block(block: Block, outer: Env, args: Sequence[object]) -> tuple[Any, ...]:
    """Run a block whose free values are in `outer`."""
    env = block_env(block, outer, args)
    return tuple(read_value(a, env) for a in block.outputs)


def block_env(block: Block, outer: Env, args: Sequence[object]) -> Env:
    """Run a block and return all of its values, beside the values of `outer`."""
    env = dict(outer)
    for v, arg in zip(block.inputs, args, strict=True):
        env[v] = _checked(v, arg, env)
    for eqn in block.eqns:
        for v, result in zip(eqn.outputs, run_eqn(eqn, env), strict=True):
            env[v] = result
        for v in eqn.outputs:
            env[v] = _checked(v, env[v], env)
    return env


def run_eqn(eqn: Eqn, env: Env) -> tuple[Any, ...]:
    """Run one equation."""
    return apply_eqn(eqn, [read_value(a, env) for a in eqn.inputs], env)


def apply_eqn(eqn: Eqn, args: Sequence[object], env: Env) -> tuple[Any, ...]:
    """Run one equation on these operands."""
    keywords = concrete_params(eqn, env)
    if eqn.regions:
        keywords["regions"] = tuple(_callable(region, env) for region in eqn.regions)
    try:
        results = reference_of(eqn)(*args, **keywords)
    except Exception as e:  # the innermost equation tells whoever runs the graph where it failed
        if not hasattr(e, "tracejit_site"):
            e.tracejit_site = eqn.site  # type: ignore[attr-defined]
        raise
    if isinstance(results, tuple) and not results and eqn.outputs:  # a map over nothing
        return tuple(np.empty(_concrete(v.aval.shape, env), v.aval.dtype) for v in eqn.outputs)
    return results if isinstance(results, tuple) else (results,)


def reference_of(eqn: Eqn) -> Callable[..., Any]:
    """Return NumPy code for an equation: of halves, for float32, whose results are rounded."""
    if not in_float32(eqn):
        return eqn.op.reference
    dtypes = [v.aval.dtype for v in eqn.outputs]

    def rounded(*args: Any, **params: object) -> tuple[Any, ...]:
        wide = [x.astype(np.float32) if is_half(x.dtype) else x for x in args]
        results = eqn.op.reference(*wide, **params)
        results = results if isinstance(results, tuple) else (results,)
        return tuple([np.asarray(x).astype(t) if is_half(t) else x
                      for x, t in zip(results, dtypes, strict=True)])

    return rounded


def concrete_params(eqn: Eqn, env: Env) -> dict[str, Any]:
    """Return an equation's params with numbers for dims."""
    return {k: _concrete(p, env) for k, p in eqn.params.items()}


def prepare(graph: Graph, sizes: Env) -> Callable[..., tuple[Any, ...]]:
    """Return a graph's interpretation as a Python function of the inputs, for known sizes.

    It is for straight-line programs that run often: names are looked up and dims evaluated
    beforehand, and results are not checked against their types.
    """
    names: dict[Atom, str] = {v: f"x{k}" for k, v in enumerate(graph.inputs)}
    known: dict[str, Any] = {}

    def name(a: Atom) -> str:
        if a not in names:
            names[a] = f"v{len(names)}"
            if isinstance(a, Literal):
                known[names[a]] = a.val
            elif a in sizes:
                known[names[a]] = sizes[a]
        return names[a]

    lines = [f"def run({', '.join(names.values())}):"]
    for k, eqn in enumerate(eqn for eqn in graph.eqns if eqn.outputs):
        late = bool(eqn.regions) or any(v not in sizes for d in param_dims(eqn.params)
                                        for v in dim_values(d))
        if late:
            free = free_values(Block((), (eqn,), ()))
            operands: Sequence[Atom] = free
            known[f"f{k}"] = functools.partial(_run_late, eqn, free)
        else:
            operands = eqn.inputs
            params = concrete_params(eqn, sizes)
            reference = reference_of(eqn)
            known[f"f{k}"] = functools.partial(reference, **params) if params else reference
        results = ", ".join(map(name, eqn.outputs))
        single = "," if late and len(eqn.outputs) == 1 else ""
        lines.append(f"    {results}{single} = f{k}({', '.join(map(name, operands))})")
    lines.append(f"    return ({' '.join(name(a) + ',' for a in graph.outputs)})")
    exec(_compiled("\n".join(lines)), known)
    run: Callable[..., tuple[Any, ...]] = known["run"]
    return run


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> CodeType:
    return compile(source, "<graph>", "exec")


def _run_late(eqn: Eqn, free: Sequence[Value], *values: object) -> tuple[Any, ...]:
    """Run an equation whose dims depend on data, or that has regions."""
    return run_eqn(eqn, dict(zip(free, values, strict=True)))


def _concrete(p: object, env: Env) -> Any:
    if isinstance(p, Expr):
        return evaluate(p, lambda v: int(env[v]))
    if isinstance(p, tuple):
        return tuple(_concrete(q, env) for q in p)
    if isinstance(p, Span):
        return Span(_concrete(p.start, env), _concrete(p.size, env), p.step)
    return p


def _callable(region: Block, env: Env) -> Callable[..., tuple[Any, ...]]:
    return lambda *args: run_block(region, env, args)


def read_value(a: Atom, env: Env) -> Any:
    """Return the value of an operand."""
    return a.val if isinstance(a, Literal) else env[a]


def _checked(v: Value, result: object, env: Env) -> Any:
    """Give a result its dtype; refuse one of another shape."""
    if not isinstance(v.aval, Aval):
        return result
    shape = tuple(evaluate(d, lambda w: int(env[w])) for d in v.aval.shape)
    result = np.asarray(result)
    if not result.dtype.isnative:
        result = result.astype(result.dtype.newbyteorder("="))
    if result.dtype != v.aval.dtype or result.shape != shape:
        raise IRError(f"{v} has a value of dtype {result.dtype} and shape {result.shape}")
    return result[()] if result.ndim == 0 else result
