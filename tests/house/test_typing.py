"""Types for users: the stubs for type checkers and editors are true, and so are signatures."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pickle
import subprocess
import sys
import typing
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jedi
import numpy as np
import pytest

import tracejit
from tracejit.analyses import Without
from tracejit.configuration import SettingChanges, Settings

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "typed_program.py"
STUB = ast.parse((ROOT / "tracejit" / "__init__.pyi").read_text(encoding="utf-8"))
WRONG = [k for k, line in enumerate(PROGRAM.read_text(encoding="utf-8").splitlines(), 1)
         if "# wrong" in line]


# --- type checkers ------------------------------------------------------------------------------


def _run(*command: str, cwd: Path) -> str:
    """Return a checker's output; it sees the packages of this tree before installed ones."""
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert not done.stderr, done.stderr
    return done.stdout


def _pyright(*arguments: str, cwd: Path) -> Any:
    (cwd / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}', encoding="utf-8")
    return json.loads(_run("basedpyright", "--pythonpath", sys.executable, "--outputjson",
                           *arguments, cwd=cwd))


def test_mypy_finds_the_mistakes_of_a_user_and_nothing_else() -> None:
    """It is strict by the settings of this tree, so that it has what `make check` found out."""
    shown = _run("mypy", "--strict", "--no-error-summary", "--hide-error-context", "--output=json",
                 str(PROGRAM), cwd=ROOT)
    found = [json.loads(line) for line in shown.splitlines()]
    assert sorted({x["line"] for x in found if x["severity"] == "error"}) == WRONG, shown


def test_pyright_finds_the_mistakes_of_a_user_and_nothing_else(tmp_path: Path) -> None:
    found = _pyright(str(PROGRAM), cwd=tmp_path)["generalDiagnostics"]
    lines = {x["range"]["start"]["line"] + 1 for x in found if x["severity"] == "error"}
    assert sorted(lines) == WRONG, found


def test_the_type_of_every_public_name_is_known_to_pyright(tmp_path: Path) -> None:
    report = _pyright("--verifytypes", "tracejit", "--ignoreexternal", cwd=tmp_path)
    symbols = report["typeCompleteness"]["symbols"]
    homes = {f"{node.module}.{alias.name}" for node in STUB.body if isinstance(node, ast.ImportFrom)
             for alias in node.names}
    public = [s for s in symbols if s["name"] in homes or any(
        s["name"].startswith(f"{home}.") for home in homes)]
    assert homes - {"tracejit.cache"} <= {s["name"] for s in public}
    assert [(s["name"], s["diagnostics"]) for s in public
            if not s["isTypeKnown"] or s["isTypeAmbiguous"]] == []


# --- the table of public names ------------------------------------------------------------------


def test_the_stub_has_the_public_names() -> None:
    named = [alias for node in STUB.body if isinstance(node, ast.ImportFrom)
             for alias in node.names]
    assert all(alias.asname == alias.name for alias in named)
    (listed,) = (ast.literal_eval(node.value) for node in STUB.body if isinstance(node, ast.Assign))
    assert sorted(alias.name for alias in named) == sorted({*tracejit._HOMES, "cache"})
    assert listed == tracejit.__all__


def test_the_stub_names_what_is_there() -> None:
    for node in STUB.body:
        if isinstance(node, ast.ImportFrom) and node.module != "tracejit":
            module = __import__(str(node.module), fromlist=["_"])
            for alias in node.names:
                assert getattr(module, alias.name) is getattr(tracejit, alias.name)


def test_all_public_names_can_be_imported_at_once() -> None:
    checked = "import tracejit; assert set(tracejit.__all__) <= {*vars(tracejit)}"
    done = subprocess.run(
        [sys.executable, "-c", checked],
        env={**os.environ, "EAGER_IMPORT": "1"}, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_settings_that_config_takes_are_those_there_are() -> None:
    hints = typing.get_type_hints(Settings)
    known = {f.name: hints[f.name] for f in fields(Settings)}
    assert known["without"] == frozenset[str]  # `config` takes names in other forms, too
    assert typing.get_type_hints(SettingChanges) == {**known, "without": Without}


# --- editors ------------------------------------------------------------------------------------

EDITED = """\
import numpy as np, tracejit
@tracejit.value_and_grad(argnums=0)
def loss(x: np.ndarray, k: float = 1.0) -> float:
    return float(x.sum()) * k
tracejit.
loss.
loss.trace("f64[n]").
tracejit.Variable(1.0).
tracejit.hes
"""


def _completed(line: int) -> set[str]:
    found = jedi.Script(EDITED).complete(line, len(EDITED.splitlines()[line - 1]))
    return {x.name for x in found}


@pytest.mark.parametrize(("line", "names"), [
    (5, set(tracejit.__all__) | {"cache"}),
    (6, {"trace", "warmup", "report"}),
    (7, {"graph", "lower", "why", "report"}),
    (8, {"assign", "numpy", "shape", "trainable"}),
    (9, {"hessian"}),
])
def test_editors_complete(line: int, names: set[str]) -> None:
    assert names - {"__version__"} <= _completed(line)


def test_editors_show_the_docstrings_of_transforms() -> None:
    for name in ("grad", "vjp", "jvp", "vmap", "checkpoint"):
        (found,) = jedi.Script(f"import tracejit\ntracejit.{name}").help(2, 10)
        text = (inspect.getdoc(getattr(tracejit, name)) or "").splitlines()[0]
        assert text in found.docstring()


# --- signatures ---------------------------------------------------------------------------------


def loss(x: np.ndarray, k: float = 1.0, *, power: int = 2) -> float:
    return float(np.sum(x ** power)) * k


def measured(x: np.ndarray) -> tuple[float, int]:
    return float(np.sum(x)), x.size


loss.__annotations__ = typing.get_type_hints(loss)
measured.__annotations__ = typing.get_type_hints(measured)
PULLBACK = Callable[[Any], Any]
TUPLES = {"primals": tuple[Any, ...], "tangents": tuple[Any, ...]}
TAKEN = {"x": np.ndarray, "k": float, "power": int}

SIGNATURES = [
    (tracejit.jit(loss), TAKEN, float),
    (tracejit.grad(loss), TAKEN, Any),
    (tracejit.grad(loss, argnums=("x", "k")), TAKEN, Any),
    (tracejit.value_and_grad(loss), TAKEN, tuple[float, Any]),
    (tracejit.grad(measured, has_aux=True), {"x": np.ndarray}, tuple[Any, int]),
    (tracejit.value_and_grad(measured, has_aux=True), {"x": np.ndarray},
     tuple[tuple[float, int], Any]),
    (tracejit.jacrev(loss), TAKEN, Any),
    (tracejit.jacfwd(measured, has_aux=True), {"x": np.ndarray}, tuple[Any, int]),
    (tracejit.hessian(loss), TAKEN, Any),
    (tracejit.vjp(loss), TAKEN, tuple[float, PULLBACK]),
    (tracejit.vjp(measured, has_aux=True), {"x": np.ndarray}, tuple[float, PULLBACK, int]),
    (tracejit.jvp(loss), TUPLES, tuple[float, Any]),
    (tracejit.hvp(loss), TUPLES, Any),
    (tracejit.vmap(loss), {}, Any),
    (tracejit.grad(tracejit.jit(loss)), TAKEN, Any),
    (tracejit.jit(tracejit.value_and_grad(loss)), TAKEN, tuple[float, Any]),
    (pickle.loads(pickle.dumps(tracejit.value_and_grad(loss))), TAKEN, tuple[float, Any]),
]


@pytest.mark.parametrize(("made", "taken", "result"), SIGNATURES)
def test_a_signature_is_that_of_what_is_called(made: Any, taken: Any, result: Any) -> None:
    found = inspect.signature(made)
    annotations = {p.name: p.annotation for p in found.parameters.values()
                   if p.annotation is not p.empty}
    assert (annotations, found.return_annotation) == (taken, result)
    assert typing.get_type_hints(made) == {**taken, "return": result}


@pytest.mark.parametrize("made", [made for made, taken, _ in SIGNATURES if taken is TAKEN])
def test_parameters_keep_their_kinds_and_defaults(made: Any) -> None:
    def kept(f: Any) -> list[Any]:
        return [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]

    assert kept(made) == kept(loss)


def later(x: np.ndarray) -> Model: ...  # annotations that are texts


class Model:
    @tracejit.value_and_grad(argnums=1)
    def fit(self, x: float) -> float:
        return x * x


def test_annotations_that_are_texts_are_found_when_they_are_asked_for() -> None:
    assert typing.get_type_hints(tracejit.value_and_grad(later))["return"] == tuple[Model, Any]
    assert typing.get_type_hints(tracejit.jvp(later))["return"] == tuple[Model, Any]


def test_a_method_has_the_signature_without_its_object() -> None:
    found = inspect.signature(Model().fit)
    assert list(found.parameters) == ["x"]
    assert typing.get_args(found.return_annotation)[1] is Any


@pytest.mark.parametrize("transform", [tracejit.grad, tracejit.vjp, tracejit.jit, tracejit.hessian])
def test_a_function_without_annotations_gets_none_for_its_parameters(transform: Any) -> None:
    found = inspect.signature(transform(lambda x, y=2.0: x * y))
    assert str(found.replace(return_annotation=found.empty)) == "(x, y=2.0)"


@pytest.mark.parametrize("transform", [tracejit.grad, tracejit.vjp, tracejit.jvp, tracejit.vmap])
@pytest.mark.parametrize("builtin", [np.sin, np.dot, max])
def test_builtins_that_tell_no_signature_are_transformed(transform: Any, builtin: Any) -> None:
    assert callable(transform(builtin))


def test_function_is_a_type_with_parameters() -> None:
    kind = tracejit.Function[[float, int], float]
    assert typing.get_origin(kind) is tracejit.Function
    assert isinstance(tracejit.grad(loss), tracejit.Function)
