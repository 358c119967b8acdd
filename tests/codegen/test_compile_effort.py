"""What LLVM is given is small: counts of instructions, blocks and functions, never seconds."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba.core.typing.templates import _IntrinsicTemplate

import tracejit
from tracejit.codegen import compile as compiling
from tracejit.codegen.loop_hints import chooses_inside
from tracejit.codegen.plan import LONG, plan_text


def lowered(fn: Any, *args: Any) -> Any:
    return tracejit.value_and_grad(fn).trace(*args).lower()


def plan_of(program: Any) -> str:
    """Return the text of a program's plan."""
    return plan_text(program.kernel, program.traced.program.size_conditions())


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules that LLVM is given, before its passes, by their texts."""
    seen: list[str] = []
    plain = compiling._optimise

    def noted(module: Any, *args: Any) -> Any:
        seen.append(str(module))
        return plain(module, *args)

    monkeypatch.setattr(compiling, "_optimise", noted)
    return seen


def counts(text: str) -> tuple[int, int]:
    """Return how many basic blocks and instructions a module's kernel has."""
    module = llvm.parse_assembly(text)
    (kernel,) = [f for f in module.functions if f.name.endswith(".kernel")]
    blocks = list(kernel.blocks)
    return len(blocks), sum(1 for b in blocks for _ in b.instructions)


def test_polls_and_failures_take_little_where_they_stand(given: list[str]) -> None:
    def many(x: Any) -> Any:
        y = x.copy()
        for i in range(len(x)):
            for j in range(3):
                for k in range(len(x)):
                    y[i] = np.sin(y[i] + x[j] * y[k])
        return np.sum(y)

    lowered(many, np.ones(5)).compile()
    (text,) = given
    assert text.count("call i1 @leaves_now") == 4 and text.count("define internal i1 @leaves") == 1
    assert text.count("ret i32") == 1  # of the kernel, which one block leaves


def test_divisions_by_constants_take_few_instructions(given: list[str]) -> None:
    def parts(x: Any) -> Any:
        return np.sum(np.exp(x[:len(x) // 2]) / 3.0) + np.sum(x[:len(x) // 3] ** 2)

    lowered(parts, np.ones(12)).compile()
    (text,) = given
    kernel = text[text.index(".kernel"):text.index("\n}")]
    assert "ashr" in kernel and "fcmp oeq" not in kernel
    assert all(line.endswith(", 3") for line in kernel.splitlines() if "sdiv" in line)
    for n in (0, 1, 2, 5, 12, 13):
        x = np.linspace(0.1, 1.0, n)
        np.testing.assert_allclose(tracejit.jit(parts)(x), parts(x), rtol=1e-14)


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 64])
def test_quotients_and_remainders_are_those_of_python(divisor: int) -> None:
    def both(n: int) -> Any:
        return n // divisor, n % divisor

    compiled = tracejit.jit(both)
    for n in (*range(-130, 131), 2**63 - 1, -(2**63), -(2**63) + 1):
        assert tuple(map(int, compiled(n))) == both(n)


def test_a_nest_is_asked_once_whether_it_runs(given: list[str]) -> None:
    found = []
    for ndim in (2, 5):
        tracejit.jit(lambda x: np.sin(x) * x).trace(np.ones((9,) * ndim)).lower().compile()
        found.append(counts(given[-1])[0])
    assert found[1] - found[0] == 3 * 2  # per axis a block for its iterations and one behind them


def test_nests_run_where_all_axes_have_elements() -> None:
    compiled = tracejit.jit(lambda x: np.sin(x) * x)
    for shape in ((0, 3, 2), (2, 0, 3), (3, 2, 0), (1, 1, 1), (2, 3, 4)):
        x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
        np.testing.assert_allclose(compiled(x), np.sin(x) * x, rtol=1e-12)


def test_intrinsics_are_called_without_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    plain = _IntrinsicTemplate.generic

    def noted(self: Any, args: Any, kws: Any) -> Any:
        asked.append(args)
        return plain(self, args, kws)

    monkeypatch.setattr(_IntrinsicTemplate, "generic", noted)

    def steps(x: Any) -> Any:
        y = x.copy()
        for i in range(1, len(x)):
            y[i] = np.sin(y[i] + y[i - 1]) + y[: i].sum()
        return np.sum(y)

    lowered(steps, np.ones(4)).compile()
    assert not asked


def test_plans_compute_each_product_once() -> None:
    def many(x: Any) -> Any:
        parts = [np.sort(x * k, axis=None) for k in range(1, 9)]
        return sum(np.sum(p * p[::-1]) for p in parts)

    text = plan_of(lowered(many, np.ones((3, 4))))
    assert text.count('call {i64, i1} @"llvm.smul') <= 6 and "optnone" not in text


def test_long_plans_are_not_optimised() -> None:
    def many(*xs: Any) -> Any:
        total = 0.0
        for x in xs:
            for y in xs:
                total += np.sum(np.sort(np.concatenate((x, y)))[::-1] ** 2)
        return total

    xs = [np.linspace(0.0, 1.0, 3 + k) for k in range(7)]
    gradient = tracejit.value_and_grad(many, argnums=tuple(range(7)))
    text = plan_of(gradient.trace(*xs).lower())
    assert text.count("\n") > LONG and "optnone" in text
    value, slopes = gradient(*xs)
    np.testing.assert_allclose(value, many(*xs), rtol=1e-12)
    np.testing.assert_allclose(slopes[2], 4 * 7 * xs[2], rtol=1e-12)


def plain_nest(x: Any, y: Any) -> Any:
    return np.sum(np.exp(x)[:, None] * y)


def chosen(x: Any, y: Any) -> Any:
    return np.sum(np.where(y > 0.5, y, 2.0) * x[:, None])


def branches(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if y[i, 0] > 0.5:
            total += x[i] * y[i, 1]
    return total


@pytest.mark.parametrize(("fn", "expected"), [
    (plain_nest, False), (chosen, True), (branches, True)], ids=lambda x: getattr(x, "__name__", x))
def test_copies_of_loops_are_for_conditions_in_them(fn: Any, expected: bool) -> None:
    kernel = tracejit.jit(fn).trace(np.ones(40), np.ones((40, 30))).lower().kernel
    assert chooses_inside(kernel.nodes) is expected
