"""Modules for Numba compute what programs do, in processes that have no tracejit."""

from __future__ import annotations
import __future__

import builtins
import dis
import importlib
import math
import pkgutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import programs
import pytest
from numba.core.errors import TypingError
from numba_modules import call_elsewhere, same_bits
from programs.program import PROGRAMS, Program

import tracejit
from tracejit.codegen.bundles import Bundle
from tracejit.codegen.draws import draw_names
from tracejit.codegen.intrinsics import recipes
from tracejit.codegen.recipes import Recipe
from tracejit.codegen.scalar_functions import definitions
from tracejit.codegen.scipy_calls import scipy_names
from tracejit.codegen.vector_math import host_widths
from tracejit.errors import ExportError

for _module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(_module.name)

SERVED = [p for p in PROGRAMS if not p.refused and not p.wrong]


@pytest.mark.parametrize("program", SERVED, ids=str)
def test_a_module_has_the_bits_of_the_program(program: Program, tmp_path: Path) -> None:
    args = program.arguments(program.sizes[-1])
    f: Any = tracejit.value_and_grad(program.function, argnums=program.argnums, fp="strict")
    try:
        found, _ = call_elsewhere(f.trace(*args).lower(), args, tmp_path)
    except ExportError as e:
        pytest.skip(str(e))
    assert same_bits(found, f(*args))


def waves(x: Any, k: Any) -> Any:
    if len(x) < 2:
        raise ValueError("no waves")
    return np.sum(np.exp(-k * x) * np.sin(x))


def _texts(names: Iterable[str]) -> tuple[str, list[str]]:
    """Return the text of a module with functions that emitted source calls, and those left out."""
    known = recipes(Recipe(host_widths))
    plain = definitions(known)
    bundle = Bundle({**plain, "tgamma": known["tgamma"], "lgamma": known["lgamma"]})
    left = []
    for name in names:
        try:
            bundle.add(name, {**known, **plain}[name])
        except ExportError:
            left.append(name)
    return "\n".join([*bundle.statements, "from numba import njit", *bundle.definitions]), left


def test_all_functions_of_emitted_source_stand_in_one_module() -> None:
    """No two of their definitions have one name; none but SciPy's and draws lacks a text."""
    known = recipes(())
    text, left = _texts([*known, *definitions(known)])
    assert set(left) == {*scipy_names(), *draw_names()}
    made: dict[str, Any] = {}
    exec(compile(text, "<module>", "exec", __future__.annotations.compiler_flag), made)
    assert {*known, *definitions(known)} - {*left} <= {*made}
    assert "import tracejit" not in text
    assert "from tracejit" not in text


@pytest.mark.parametrize("name", [*definitions(recipes(()))])
def test_a_definition_names_what_it_needs(name: str) -> None:
    text, _ = _texts([name])
    code = compile(text, "<module>", "exec", __future__.annotations.compiler_flag)
    made: dict[str, Any] = {}
    exec(code, made)
    read = {n for inner in code.co_consts if isinstance(inner, CodeType) for n in _globals(inner)}
    assert read <= {*made, *dir(builtins)}


def _globals(code: CodeType) -> Iterator[str]:
    yield from (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals(inner)


def transform(x: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x * np.exp(-x))) ** 1.5)


def solution(x: Any) -> Any:
    a = np.outer(x, x) + 3.0 * np.eye(len(x))
    return np.sum(np.linalg.solve(a, np.sin(x)) ** 2) + np.linalg.slogdet(a)[1]


def orders(x: Any) -> Any:
    return np.sum(np.sort(x) * np.arange(len(x)) ** 2) + np.median(x % 0.7) + np.sum(x // 0.3 * x)


def complex_powers(x: Any) -> Any:
    z = x + 1j * np.cos(x)
    return np.sum(np.abs(z ** (1.5 + 0.5j) / (z + 2.0) + np.sqrt(z) + np.log(z)))


def special_functions(x: Any) -> Any:
    return sum(math.gamma(v) + math.lgamma(v) + math.erf(v) for v in x)


def until_small(x: Any) -> Any:
    while np.sum(x * x) > 1e-3:
        x = x * 0.9 - 0.01 * np.tanh(x)
    return np.sum(x)


FUNCTIONS_OF_EACH_KIND = [transform, solution, orders, complex_powers, special_functions,
                          until_small]


@pytest.mark.parametrize("function", FUNCTIONS_OF_EACH_KIND)
@pytest.mark.parametrize("fp", ["strict", "default"])
def test_functions_of_each_kind(function: Any, fp: Any, tmp_path: Path) -> None:
    """Transforms, BLAS and LAPACK, sorting, complex numbers, special functions, and Logs."""
    f, x = tracejit.value_and_grad(function, fp=fp), np.linspace(0.3, 2.1, 9)
    found, _ = call_elsewhere(f.trace(x).lower(), (x,), tmp_path)
    assert same_bits(found, f(x))


def named_as_helpers(words: Any, put: Any, room_for: Any) -> Any:
    return np.sum(words * put) * room_for


def test_arguments_may_have_the_names_of_functions_of_the_module(tmp_path: Path) -> None:
    args = np.arange(3.0), np.ones(3), 2.0
    f = tracejit.value_and_grad(named_as_helpers, argnums=(0, 2))
    found, _ = call_elsewhere(f.trace(*args).lower(), args, tmp_path)
    assert same_bits(found, f(*args))


def test_two_things_of_one_name_are_refused() -> None:
    bundle = Bundle({})
    bundle.add("WORD", 3)
    with pytest.raises(ExportError, match="two things called 'WORD'"):
        bundle.add("WORD", 4)


def test_arrays_that_share_memory_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    """Where the program writes to one of them, which no module does to an argument."""
    def moved(x: Any, y: Any) -> Any:
        was = x[0]
        x[0] = 2.0 * was
        result = np.sum(x * y)
        x[0] = was
        return result

    monkeypatch.syspath_prepend(tmp_path)
    lowered = tracejit.value_and_grad(moved).trace(np.ones(3), np.ones(3)).lower()
    lowered.to_numba(tmp_path / "module_of_moves.py", name="total")
    total = importlib.import_module("module_of_moves").total
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert total(x[:3].copy(), x[1:])[0] == moved(x[:3].copy(), x[1:])
    with pytest.raises(ValueError, match="share memory"):
        total(x[:3], x[1:])
    with pytest.raises(TypingError, match="contiguous"):
        total(np.ones(6)[::2], x[1:])


def test_njit_code_calls_a_module(tmp_path: Path) -> None:
    """Its machine code is in Numba's cache then."""
    f, args = tracejit.value_and_grad(waves), (np.linspace(0.0, 2.0, 50), 1.5)
    lowered = f.trace(*args).lower()
    found, _ = call_elsewhere(lowered, args, tmp_path, through_njit=True)
    np.testing.assert_allclose(found[1], f(*args)[1], rtol=1e-14)
    assert list((tmp_path / "__pycache__").glob("*.nbc"))


def test_a_module_is_the_emitted_kernel_and_imports_nothing_of_tracejit(tmp_path: Path) -> None:
    lowered = tracejit.value_and_grad(waves).trace(np.ones(5), 1.5).lower()
    text = lowered.to_numba(tmp_path / "waves.py", name="slopes").read_text()
    assert lowered.source[lowered.source.index("def kernel("):].strip() in text
    assert "def slopes(x, k):" in text
    assert "import tracejit" not in text
    assert "from tracejit" not in text


def test_what_numba_cannot_run_is_refused(tmp_path: Path) -> None:
    def talks(x: Any) -> Any:
        print(x)
        return x * x

    with pytest.raises(ExportError, match="prints"):
        tracejit.jit(talks).trace(1.0).lower().to_numba(tmp_path / "talks.py")
    with pytest.raises(ValueError, match="end in the name of a module"):
        tracejit.jit(waves).trace(np.ones(3), 1.0).lower().to_numba(tmp_path / "waves.txt")
    assert list(tmp_path.iterdir()) == []


POWER = 3


def to_a_power(x: Any) -> Any:
    return np.sum(x ** POWER)


def test_a_module_says_what_it_holds_of_the_outside(tmp_path: Path) -> None:
    lowered = tracejit.grad(to_a_power).trace(np.ones(2)).lower()
    assert "POWER is 3, as it was when this was made." in " ".join(
        lowered.to_numba(tmp_path / "power.py").read_text().split())


def test_no_file_of_the_users_is_overwritten(tmp_path: Path) -> None:
    lowered, path = tracejit.grad(to_a_power).trace(np.ones(2)).lower(), tmp_path / "model.py"
    path.write_text("x = 1\n")
    with pytest.raises(FileExistsError, match="to_numba has made"):
        lowered.to_numba(path)
    assert path.read_text() == "x = 1\n"
    path.unlink()
    assert lowered.to_numba(path).read_text() == lowered.to_numba(path).read_text()
    for name in ("class", "np", "njit", "2x"):
        with pytest.raises(ValueError, match="no name for a function"):
            lowered.to_numba(tmp_path / "other.py", name=name)


def test_arguments_of_other_types_are_errors(tmp_path: Path, monkeypatch: Any) -> None:
    """Memory is never read as what it is not."""
    monkeypatch.syspath_prepend(tmp_path)
    lowered = tracejit.grad(waves).trace(np.ones(5), 1.5).lower()
    lowered.to_numba(tmp_path / "module_of_waves.py", name="slopes")
    slopes = importlib.import_module("module_of_waves").slopes
    for args in ((np.ones(4, np.float32), 1.5), (np.ones((2, 2)), 1.5), (np.ones(4), 1j)):
        with pytest.raises(TypingError, match="wanted here"):
            slopes(*args)
    with pytest.raises(ValueError, match="other sizes"):
        slopes(np.ones(1), 1.5)
