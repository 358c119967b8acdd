"""Modules for Numba compute what programs do, in processes that have no tracejit."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import programs
import pytest
from numba.core.errors import TypingError
from numba_modules import call_elsewhere, same_bits
from programs.program import PROGRAMS, Program

import tracejit
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
