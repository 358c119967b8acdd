"""The flops and traffic of calls of library routines, from their operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tracejit.codegen.expression_edits import call, every, integer, times
from tracejit.codegen.loop_expressions import ZERO, Array, Bin, Call, Expression
from tracejit.codegen.loop_ir import Node, expressions

__all__ = ["ROUTINES", "RoutineCall", "calls_in"]

Amount = Callable[[Mapping[str, Expression]], Expression]
"""A number of operations or elements, from a routine's operands by name."""


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its parameters, its flops, and per array the elements that it reads and writes."""

    parameters: str
    flops: Amount
    reads: Mapping[str, Amount]
    writes: Mapping[str, Amount]


def _product(*names: str, divisor: int = 1, factor: int = 1, parts: str = "") -> Amount:
    """Return the amount that is a product of operands, times and divided by numbers.

    parts -- the operand by which it is divided, too
    """
    def amount(given: Mapping[str, Expression]) -> Expression:
        found = given[names[0]] if factor == 1 else times(integer(factor), given[names[0]])
        for name in names[1:]:
            found = Bin("*", found, given[name])
        if parts:
            found = call("idiv", found, given[parts])
        return found if divisor == 1 else call("idiv", found, integer(divisor))

    return amount


ROUTINES = {
    "gemm": Routine("left right m n k a lda b ldb c", _product("m", "n", "k", factor=2),
                    {"a": _product("m", "k"), "b": _product("k", "n")}, {"c": _product("m", "n")}),
    "gemm_block": Routine("left right m n k a start_a lda b start_b ldb c block blocks",
                          _product("m", "n", "k", factor=2, parts="blocks"),
                          {"a": _product("m", "k", parts="blocks"), "b": _product("k", "n")},
                          {"c": _product("m", "n", parts="blocks")}),
    "gemm_at": Routine("left right m n k a start_a lda b start_b ldb c start_c ldc",
                       _product("m", "n", "k", factor=2),
                       {"a": _product("m", "k"), "b": _product("k", "n")},
                       {"c": _product("m", "n")}),
    "small_gemm": Routine("left right m n k a b c", _product("m", "n", "k", factor=2),
                          {"a": _product("m", "k"), "b": _product("k", "n")},
                          {"c": _product("m", "n")}),
    "small_gemm_at": Routine("left right m n k a start_a lda b start_b ldb c start_c ldc",
                             _product("m", "n", "k", factor=2),
                             {"a": _product("m", "k"), "b": _product("k", "n")},
                             {"c": _product("m", "n")}),
    "potrf": Routine("n a", _product("n", "n", "n", divisor=3), {"a": _product("n", "n")},
                     {"a": _product("n", "n")}),
    "getrf": Routine("n a pivots", _product("n", "n", "n", divisor=3, factor=2),
                     {"a": _product("n", "n")},
                     {"a": _product("n", "n"), "pivots": _product("n")}),
    "trsm": Routine("triangle transposed diagonal n m a b", _product("n", "n", "m"),
                    {"a": _product("n", "n", divisor=2), "b": _product("n", "m")},
                    {"b": _product("n", "m")}),
    "argsort": Routine("x order work start n", lambda given: ZERO, {"x": _product("n")},
                       {"order": _product("n")}),
    "search": Routine("a x found n count right", lambda given: ZERO,
                      {"a": _product("n"), "x": _product("count")}, {"found": _product("count")}),
    "eigh": Routine("a values vectors work n", _product("n", "n", "n", factor=60),
                    {"a": _product("n", "n")},
                    {"values": _product("n"), "vectors": _product("n", "n")}),
    "dft": Routine("x out work rows n sign", _product("rows", "n", factor=40),
                   {"x": _product("rows", "n")}, {"out": _product("rows", "n")}),
    "real_dft": Routine("x out work rows n count scale", _product("rows", "n", factor=20),
                        {"x": _product("rows", "n")}, {"out": _product("rows", "count")}),
    "dft_real": Routine("x out work rows n count scale", _product("rows", "n", factor=20),
                        {"x": _product("rows", "count")}, {"out": _product("rows", "n")}),
}
"""Leading terms, as in `costs.py`."""


@dataclass(frozen=True, slots=True)
class RoutineCall:
    """A call: flops, and per array the elements read and written."""

    name: str
    flops: Expression
    reads: Mapping[str, Expression]
    writes: Mapping[str, Expression]


def calls_in(node: Node) -> Iterator[RoutineCall]:
    """Yield the calls of library routines in a node's own expressions."""
    for whole in expressions(node):
        if whole.calls & ROUTINES.keys():
            for e in every(whole):
                if isinstance(e, Call) and e.fn.name in ROUTINES:
                    yield _call(e)


def _call(e: Call) -> RoutineCall:
    routine = ROUTINES[e.fn.name]
    given = dict(zip(routine.parameters.split(), e.args, strict=True))

    def moved(amounts: Mapping[str, Amount]) -> dict[str, Expression]:
        return {array.name: amount(given) for x, amount in amounts.items()
                if isinstance(array := given[x], Array)}

    return RoutineCall(e.fn.name, routine.flops(given), moved(routine.reads),
                       moved(routine.writes))
