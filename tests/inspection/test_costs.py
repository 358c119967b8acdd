"""Flops and bytes of graphs: formulas against counts made by hand, and against simple loops."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_programs import random_program

import tracejit
from tracejit.inspection.costs.counting import Costs, costs_of
from tracejit.inspection.costs.formulas import format_formula, summed
from tracejit.inspection.costs.operations import operations_of
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, evaluate, floor_div, maximum
from tracejit.ir.types import scalar
from tracejit.runtime.stages import Traced


def costs(fn: Callable[..., Any], *specs: str, transform: Any = tracejit.jit) -> Costs:
    """Return the costs of a transformed function's graph, after all passes."""
    traced: Traced = transform(fn).trace(*map(tracejit.spec, specs))
    return costs_of(traced.graph)


def texts(c: Costs) -> tuple[str, str, dict[str, str]]:
    """Return flops, bytes and calls as text."""
    return c.text(c.flops), c.text(c.bytes_moved), {k: c.text(d) for k, d in c.calls.items()}


# --- programs, counted by hand --------------------------------------------------------------------


def chain(x: Any) -> Any:
    return np.exp(-x * x) + 1.0


def total(x: Any) -> Any:
    return np.sum(x * x)


def product(a: Any, b: Any) -> Any:
    return a @ b


def stencil(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


def triangle(a: Any, x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            s += a[i, j] * x[j]
    return s


def root(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def branch(x: Any, c: float) -> Any:
    if c > 0.0:
        y = x * 2.0 + 1.0
    else:
        y = np.sqrt(x)
    return y


def repeated(x: Any, row: Any) -> Any:
    return x.T + row


def whole(x: Any, k: Any) -> Any:
    return x * k + k


HAND_MADE = [
    # negation, product, exp, sum, each of which reads and writes n; the product reads two arrays
    (chain, ("f64[n]",), "3*n", "72*n", {"exp": "n"}),
    # n products and n sums; x is read once for x * x, the product written and read
    (total, ("f64[n]",), "2*n", "24*n", {}),
    (product, ("f64[n, k]", "f64[k, m]"), "2*n*k*m", "8*n*k + 8*n*m + 8*k*m", {}),
    (product, ("c128[n, k]", "c128[k]"), "8*n*k", "16*n*k + 16*n + 16*k", {}),
    # two sums and a product per point; reads 2, writes 1; reads 1, writes 1; the write moves 2
    (stencil, ("f64[9]", "int"), "14*steps", "392*steps", {}),
    # 2 flops and 2 loads for each pair j < i
    (triangle, ("f64[n, n]", "f64[n]"), "n**2 - n", "8*n**2 - 8*n", {}),
    # product, difference, abs and comparison k + 1 times; sum, quotient and product k times, and a
    # comparison: Python's quotient of floats raises where the divisor is zero
    (root, ("float",), "8*k + 4", "0", {}),
    # a comparison, and the dearer side of flops (2 n) and of calls (n)
    (branch, ("f64[n]", "float"), "2*n + 1", "32*n", {"sqrt": "n"}),
    # a row is read once though it is added to each row; a transpose moves nothing
    (repeated, ("f64[n, m]", "f64[n]"), "n*m", "16*n*m + 8*n", {}),
    # integers are no flops
    (whole, ("i64[n]", "int"), "0", "32*n", {}),
]


@pytest.mark.parametrize(("fn", "specs", "flops", "moved", "calls"), HAND_MADE,
                         ids=lambda x: getattr(x, "__name__", ""))
def test_formulas_are_those_counted_by_hand(fn: Callable[..., Any], specs: tuple[str, ...],
                                            flops: str, moved: str, calls: dict[str, str]) -> None:
    assert texts(costs(fn, *specs)) == (flops, moved, calls)


def test_a_gradient_counts_both_ways() -> None:
    # on the way back the derivative of exp(x) * x is exp(x) * x + exp(x), with exp(x) shared
    found = costs(lambda x: np.sum(np.exp(x) * x), "f64[n]", transform=tracejit.grad)
    assert texts(found) == ("2*n", "64*n", {"exp": "n"})
    assert found.text(found.least_bytes) == "16*n"


def test_what_is_stored_for_the_way_back_is_moved() -> None:
    forward, both = costs(root, "float"), costs(root, "float", transform=tracejit.grad)
    assert forward.at({"k": 5}).bytes_moved == 0
    assert both.at({"k": 5}).bytes_moved == 5 * 8 * 2  # pushed and popped


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_formula() -> None:
    numbers = costs(product, "f64[n, k]", "f64[k, m]").at({"n": 3, "k": 4, "m": 5})
    assert numbers.flops == 2 * 3 * 4 * 5
    assert numbers.bytes_moved == numbers.least_bytes == 8 * (12 + 15 + 20)
    assert numbers.intensity == numbers.flops / numbers.bytes_moved


def test_an_unknown_count_is_one_iteration_unless_it_is_given() -> None:
    found = costs(root, "float")
    assert found.at({}).flops == 12
    assert found.at({"k": 3}).flops == 28
    assert found.unknowns["k"].startswith("the number of iterations of the loop at test_costs.py:")


def test_a_missing_size_is_named() -> None:
    with pytest.raises(ValueError, match=r"the size n is needed: costs\.at\(\{'n': \.\.\.\}\)"):
        costs(chain, "f64[n]").at({})


def test_a_branch_is_noted() -> None:
    assert any("the dearer side is counted" in note for note in costs(branch, "f64[n]",
                                                                      "float").notes)
    assert costs(chain, "f64[n]").notes == ()


def test_names_that_clash_are_told_apart() -> None:
    def scaled(u: Any, n: int) -> Any:
        for _ in range(n):
            u = u * 0.5
        return u

    found = costs(scaled, "f64[n]", "int")
    assert found.text(found.flops) == "n*n_"


def test_the_text_says_everything() -> None:
    assert str(costs(root, "float")).splitlines()[:2] == [
        "flops: 8*k + 4", "bytes: 0 if nothing is fused, 0 at least"]
    assert "and calls: n exp" in str(costs(chain, "f64[n]"))


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("template", "flops", "calls"), [
    ("{0} + {1}", 1, {}), ("-{0}", 1, {}), ("1.0 / (1.0 + {0} * {0})", 3, {}),
    ("exp({0})", 0, {"exp": 1}), ("select({0} > {zero}, {one}, -{one})", 2, {}),
    ("{t}({0})", 0, {}), ("maximum({0}, {1}) + log1p(exp(-fabs({0})))", 4,
                          {"log1p": 1, "exp": 1}),
    ("{0} & {1}", 0, {}), ("not {0}", 0, {}), ("hypot(({0}).real, ({0}).imag)", 0, {"hypot": 1}),
])
def test_operations_of_templates(template: str, flops: int, calls: dict[str, int]) -> None:
    made = operations_of(template)
    assert (made.flops(), dict(made.calls)) == (flops, calls)


@pytest.mark.parametrize("lo", [0, 2])
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_sums_over_an_index_are_those_of_a_loop(lo: int, degree: int) -> None:
    index, n = (Value(scalar(np.int64), name) for name in ("i", "n"))
    term: Dim = 3 * n.dim + 5
    for _ in range(degree):
        term = term * index.dim + 1
    total_, is_exact = summed(term, index, lo, n.dim)
    assert is_exact
    for size in (2, 3, 7, 20):
        expected = sum(evaluate(term, {index: i, n: size}.__getitem__) for i in range(lo, size))
        assert evaluate(total_, {n: size}.__getitem__) == expected


def test_a_sum_without_closed_form_is_no_less_than_the_loop_s() -> None:
    index, n = (Value(scalar(np.int64), name) for name in ("i", "n"))
    term = maximum(index.dim - 3, 0)
    bound, is_exact = summed(term, index, 0, n.dim)
    assert not is_exact
    assert evaluate(bound, {n: 9}.__getitem__) >= sum(max(i - 3, 0) for i in range(9))


def test_formulas_are_written_with_powers() -> None:
    n, m = (Value(scalar(np.int64), name) for name in ("n", "m"))
    d = 2 * n.dim * n.dim * m.dim - 3 * maximum(n.dim, m.dim) + 1
    assert format_formula(d, {n: "n", m: "m"}) == "2*n**2*m - 3*max(n, m) + 1"
    third = floor_div(n.dim * n.dim, 3)
    assert format_formula(third + 2 * third * m.dim, {n: "n", m: "m"}) == (
        "2*m*(n**2//3) + n**2//3")


@pytest.mark.parametrize("seed", range(20))
def test_passes_add_no_flops(seed: int) -> None:
    names: dict[str, Any] = {"np": np}
    source = random_program(seed)
    file = f"<random program {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
    try:
        traced = tracejit.value_and_grad(names["f"]).trace("f64[n]", "f64[n, 3]", "float", "int")
    except tracejit.Refusal:
        pytest.skip("the program is refused")
    before, after = costs_of(traced.program.graph), costs_of(traced.graph)
    sizes = dict.fromkeys((*before.names.values(), *after.names.values()), 7)
    assert after.at(sizes).flops <= before.at(sizes).flops
    assert after.least_bytes == before.least_bytes
    for found in (before, after):
        assert all(f"{name} is " in str(found) for name in found.unknowns)
