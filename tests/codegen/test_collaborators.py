"""The writers of Loop IR are given one another: none inherits, none is a function of `self`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tracejit.codegen import lower
from tracejit.codegen.cuda.lower import CUDA, STRICT_CUDA
from tracejit.codegen.target import CPU, Target

CODEGEN = Path(lower.__file__).parent
FILES = sorted(CODEGEN.rglob("*.py"))


def _trees() -> list[tuple[str, ast.Module]]:
    return [(str(path.relative_to(CODEGEN)), ast.parse(path.read_text(encoding="utf-8")))
            for path in FILES]


def _writers() -> dict[str, ast.ClassDef]:
    """Return the classes that are made with a frame."""
    return {c.name: c for _, tree in _trees() for c in tree.body if isinstance(c, ast.ClassDef)
            for f in c.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"
            if any(a.arg == "frame" for a in f.args.args)}


def test_no_writer_inherits() -> None:
    writers = _writers()
    assert {"ScalarCode", "Nests", "DeviceLoops", "HostLoops", "Lowerer"} <= writers.keys()
    assert not {name for name, c in writers.items() if c.bases}
    assert lower.Lowerer.__mro__ == (lower.Lowerer, object)


def test_no_function_outside_a_class_takes_self() -> None:
    found = {f"{name}: {f.name}" for name, tree in _trees()
             for f in tree.body if isinstance(f, ast.FunctionDef) and f.args.args
             and f.args.args[0].arg == "self"}
    assert not found


def test_a_frame_knows_no_part() -> None:
    tree = ast.parse((CODEGEN / "frame.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    parts = {f"tracejit.codegen.{name}" for name in (
        "scalar_code", "folds", "statement_code", "nests", "logs", "memory", "control", "effects",
        "routines", "native_calls", "matmul", "lower", "target")}
    assert all((CODEGEN / f"{part.rpartition('.')[2]}.py").exists() for part in parts)
    assert not imported & parts


@pytest.mark.parametrize("target", [CPU, CUDA, STRICT_CUDA], ids=["cpu", "cuda", "strict"])
def test_a_target_differs_in_its_fields_alone(target: Target) -> None:
    assert type(target) is Target
    assert target.style.in_order is (target is STRICT_CUDA)
    assert bool(target.style.atomic) is (target is not CPU)
    assert all(d.kind == "i" for d in STRICT_CUDA.style.atomic)
