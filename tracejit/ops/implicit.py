"""Factors of matrices: LAPACK computes them, and the equations that they solve give derivatives.

`lapack` is not differentiable. Its results become the results of `implied`, whose derivative is a
rule in terms of the results themselves, so that it has derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.errors import IRError, raisable
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.lapack import LAPACK, result_types
from tracejit.ir.lowering import Inline, Library
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.kinds import only, same_type, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import apply, emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["FAMILIES", "RULES", "Rule", "assured", "factored", "implied"]


@dataclass(frozen=True, slots=True)
class Rule:
    """The derivatives of results that are implied by operands, None standing for no cotangent.

    jvp -- (results, operands, tangents) -> tangents of the results; of tangents one may be None
    vjp -- (results, operands, cotangents) -> cotangents of the operands
    """

    jvp: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]
    vjp: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]


RULES: dict[str, Rule] = {}
"""The rules, by the names that equations have for them."""

FAMILIES: dict[str, Callable[..., Rule]] = {}
"""From the first word of a name to the function that makes its rule of numbers: "band 1 2" is
`FAMILIES["band"](1, 2)`."""


def _rule(name: str) -> Rule:
    """Return a rule by its name, or raise `IRError`."""
    if name in RULES:
        return RULES[name]
    family, *numbers = name.split()
    if family not in FAMILIES:
        raise IRError(f"there is no rule {name!r}")
    return FAMILIES[family](*map(int, numbers))


def implied(rule: str, values: Sequence[Tracer], *operands: Tracer) -> list[Any]:
    """Return values that operands imply, with the derivatives of a rule."""
    atoms = [x.value for x in (*values, *operands)]
    return list(map(tracer_of, emit("implied", atoms, {"rule": rule, "count": len(values)})))


def factored(routine: str, *operands: Tracer, options: str = "") -> list[Any]:
    """Call a routine of LAPACK on matrices, which are given transposed; return its results."""
    params = {"routine": routine, "options": options}
    return list(map(tracer_of, emit("lapack", [x.value for x in operands], params)))


def assured(holds: np.ndarray | np.bool, message: str) -> Any:
    """Return a truth value that is True: else the program ends with an error."""
    return apply("assured", holds, error="LinAlgError", message=message)


def _implied_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    _rule(params["rule"])
    return only(*avals[:params["count"]])


def _parts(sweep: ReverseMode | ForwardMode, eqn: Eqn) -> tuple[list[Any], list[Any]]:
    count = eqn.params["count"]
    return [sweep.operand(v) for v in eqn.outputs], [sweep.operand(a) for a in eqn.inputs[count:]]


def _implied_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    given = [None if ct is None else dense(ct) for ct in cts]
    found = _rule(eqn.params["rule"]).vjp(*_parts(sweep, eqn), given)
    return [None] * eqn.params["count"] + list(found)


def _implied_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    given = tangents[eqn.params["count"]:]
    return list(_rule(eqn.params["rule"]).jvp(*_parts(sweep, eqn), given))


structural("implied", lambda *xs, rule, count: xs[0] if count == 1 else xs[:count],
           _implied_infer, Inline("operands"), _implied_vjp, _implied_jvp, cost=0.0)


def _lapack_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    if params["routine"] not in LAPACK or any(a.ndim > 2 for a in avals):
        raise IRError(f"{params['routine']} of {', '.join(map(str, avals))}")
    return only(*result_types(LAPACK[params["routine"]], avals, params["options"]))


def _lapack(*operands: np.ndarray, routine: str, options: str) -> Any:
    avals = [Aval(np.asarray(x).dtype, np.shape(x)) for x in operands]
    types: list[Any] = result_types(LAPACK[routine], avals, options)
    results: list[np.ndarray] = [np.zeros(a.shape, a.dtype) for a in types]
    found = LAPACK[routine].reference(*operands, options=options)
    for k, x in found.items():
        results[k] = np.ascontiguousarray(x).astype(results[k].dtype)
    return tuple(results)


structural("lapack", _lapack, _lapack_infer, Library("lapack"), marked=True, cost=1000.0,
           kinds="fc", samples=lambda n: [
               ((n, n), lambda a: factored("eigh", a + np.conj(a.T), options="L")[1]),
               ((n, n + 1), lambda a: factored("svd", a, options="S")[1]),
               ((n + 1, n), lambda a: factored("svd", a, options="A")[1]),
               ((n, n + 2), lambda a: factored("qr", a)[:2]),
               ((n, n + 2), lambda a: factored("reflections", *factored("qr", a)[:2])[0])])


def _assured(holds: object, error: str, message: str) -> object:
    if not holds:
        raise raisable(error)(message)
    return holds


structural("assured", _assured, same_type, Library("assured"), marked=True, exact=True)
