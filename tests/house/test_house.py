"""The house: public docstrings say all that a caller needs, one word is one thing, files are short.

Each check is a function from files or objects to complaints, and is shown a fault that it finds.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from enum import EnumMeta
from pathlib import Path
from typing import Any

import pytest
from long_places import LONG_FILES, LONG_FUNCTIONS
from test_packaging import MODULES, tree_of

import tracejit

TRANSFORMS = ("custom_fixed_point", "custom_linear_solve", "custom_root", "gauss_newton", "grad",
              "hessian", "hessp", "hvp", "jacfwd", "jacobian", "jacobian_sparsity", "jacrev", "jit",
              "jvp", "linear_operator", "linearize", "sparse_hessian", "sparse_jacobian",
              "sum_over", "sweep", "taylor", "value_and_grad", "value_and_jacobian", "vjp", "vmap")
MADE_BY_TRACEJIT = {"DeviceArray", "DeviceError", "Function", "Refusal"}
"""The public classes of which users make no object."""


def parameters_untold(what: Callable[..., Any]) -> set[str]:
    """Return the parameters that a docstring has no entry for, `name -- ...` or `a, b -- ...`."""
    text = inspect.getdoc(what) or ""
    entries = re.findall(r"^\s*(\w+(?:, \w+)*)\s+-- ", text, re.MULTILINE)
    told = {name for names in entries for name in names.split(", ")}
    return set(inspect.signature(what).parameters) - {"self"} - told


def _called() -> list[str]:
    """Return the public names that users call."""
    found = ((name, getattr(tracejit, name)) for name in tracejit.__all__)
    return [name for name, what in found if callable(what) and not isinstance(what, EnumMeta)
            and name not in MADE_BY_TRACEJIT]


@pytest.mark.parametrize("name", _called())
def test_a_public_docstring_tells_every_parameter_and_has_an_example(name: str) -> None:
    what = getattr(tracejit, name)
    assert parameters_untold(what) == set()
    assert ">>> " in (what.__doc__ or "")  # test_docs runs it


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_tells_of_refusals(name: str) -> None:
    assert "Raises `Refusal`" in (inspect.getdoc(getattr(tracejit, name)) or "")


def test_a_parameter_that_is_not_told_is_found() -> None:
    def f(told: int, left_out: int, a: int, b: int, *rest: int) -> None:
        """Do nothing.

        told -- a number, of which left_out -- is another
        a, b -- two more
        """

    assert parameters_untold(f) == {"left_out", "rest"}


# --- one word, one thing ------------------------------------------------------------------------


def classes_of_one_name(modules: dict[str, str]) -> dict[str, list[str]]:
    """Return the names that classes of several modules have, and these modules."""
    found: dict[str, list[str]] = {}
    for module, source in modules.items():
        for node in ast.walk(tree_of(source)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    return {name: homes for name, homes in found.items() if len(homes) > 1}


def test_no_two_classes_have_one_name() -> None:
    assert classes_of_one_name(MODULES) == {}


def repeated(names: list[str]) -> set[str]:
    """Return the names that are there twice."""
    return {name for name in names if names.count(name) > 1}


def test_no_two_test_files_have_one_name() -> None:
    """Pytest imports them by their names alone."""
    files = [p.name for p in Path(__file__).parents[1].rglob("test_*.py")]
    assert files and repeated(files) == set()
    assert repeated(["a", "b", "a"]) == {"a"}


def test_two_classes_of_one_name_are_found() -> None:
    modules = {"a": "class Plan: ...", "b": "def f():\n    class Plan: ...",
               "c": "def Plan(): ..."}
    assert classes_of_one_name(modules) == {"Plan": ["a", "b"]}


# --- types that say something -------------------------------------------------------------------

MOST_ANY = {
    "tracejit": 25, "tracejit.artifacts": 40, "tracejit.autodiff": 20, "tracejit.codegen": 30,
    "tracejit.codegen.cuda": 5, "tracejit.inspection.costs": 5,
    "tracejit.inspection.profiles": 10, "tracejit.interop": 35, "tracejit.ir": 5,
    "tracejit.numpy_api": 110,
    "tracejit.ops": 45, "tracejit.passes": 5, "tracejit.program": 25, "tracejit.program.cuda": 15,
    "tracejit.runtime": 25, "tracejit.scale": 35, "tracejit.scipy_api": 15,
    "tracejit.tape": 50, "tracejit.trace": 15,
    "tracejit.trace.containers": 15, "tracejit.trace.ground": 35, "tracejit.trace.hooks": 35,
    "tracejit.trace.lists": 66, "tracejit.trace.python": 160, "tracejit.trace.regions": 50,
    "tracejit.trace.state": 35, "tracejit.trace.syntax": 5, "tracejit.trace.values": 60,
    "tracejit.transforms": 45,
}
"""How many parameters of functions may have `Any` in their type, by package, in round numbers.

The number of a package is lowered when it has fewer, and raised for no reason but one that its
commit gives: what a function only hands on, compares or tests is an `object`.
"""


def parameters_of_any(source: str) -> list[str]:
    """Return the parameters whose types say, in part or whole, `Any`: `function(parameter)`."""
    found = []
    for node in ast.walk(tree_of(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            found += [f"{node.name}({a.arg})"
                      for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)
                      if a.annotation is not None and _says_any(a.annotation)]
    return found


def _says_any(annotation: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(annotation))


def counts_of_any(modules: dict[str, str]) -> dict[str, int]:
    """Return how many parameters of `Any` the modules of each package have."""
    found: dict[str, int] = {}
    for module, source in modules.items():
        package = module.rpartition(".")[0]
        found[package] = found.get(package, 0) + len(parameters_of_any(source))
    return found


def test_no_package_has_more_parameters_of_any() -> None:
    counts = counts_of_any(MODULES)
    assert {p: n for p, n in counts.items() if n > MOST_ANY.get(p, 0)} == {}
    assert set(MOST_ANY) <= set(counts)


def test_a_parameter_of_any_is_found() -> None:
    source = ("def f(a: Any, b: list[Any], /, c: object, *, d: Any | None = None) -> Any:\n"
              "    def g(x: int, y: Callable[..., Any]) -> None: ...\n")
    assert parameters_of_any(source) == ["f(a)", "f(b)", "f(d)", "g(y)"]
    assert counts_of_any({"p.a": source, "p.b": source, "p.q.c": "x: Any"}) == {"p": 8, "p.q": 0}


# --- ops by their columns, not by their names ---------------------------------------------------

REGISTRY = ("tracejit.ops.", "tracejit.ir.optable", "tracejit.passes.rewriting")
"""Where ops are known by name: their table, and the engine of the table of rewrites."""


def branches_on_names(source: str) -> list[str]:
    """Return what compares an op's name, looks it up, or asks whether an op is one of a name."""
    found = []
    for node in ast.walk(tree_of(source)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            asked = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.args if node.func.attr in ("get", "startswith", "endswith") else []
            asked += [node.func.value] if node.func.attr in ("startswith", "endswith") else []
        sides = [part for e in asked for part in (e.elts if isinstance(e, ast.Tuple) else [e])]
        if any(re.search(r"\bop\.name$", ast.unparse(e)) for e in sides) or (
                isinstance(node, ast.Compare)
                and any(re.match(r"find_op\(|OPS\[", ast.unparse(e)) for e in sides)):
            found.append(ast.unparse(node))
    return found


def test_ops_are_told_apart_by_their_columns() -> None:
    found = {module: branches_on_names(source) for module, source in MODULES.items()
             if not module.startswith(REGISTRY)}
    assert {module: branches for module, branches in found.items() if branches} == {}


@pytest.mark.parametrize("source", [
    "eqn.op.name == 'sin'", "maker.op.name in ('add', 'mul')", "op.name not in NAMES",
    "RULES[eqn.op.name](eqn)", "RULES.get(e.op.name)", "eqn.op.name.startswith('reduce_')",
    "maker.op is find_op('index')", "e.op in (find_op('cast'), find_op('full'))",
    "eqn.op is OPS['select']",
])
def test_a_branch_on_the_name_of_an_op_is_found(source: str) -> None:
    assert branches_on_names(source)


def test_names_of_ops_that_are_shown_or_made_are_no_branches() -> None:
    source = "f'{eqn.op.name} is {x.name == y}'; builder.emit(find_op('add'), [a, b]); e.op == '+'"
    assert branches_on_names(source) == []


# --- lengths ------------------------------------------------------------------------------------

FILE, FUNCTION = 300, 40
"""The most lines that a file and a function have without a reason in `long_places.py`."""


def long_files(modules: dict[str, str]) -> set[str]:
    """Return the names of the files that are long."""
    return {_short(module) for module, source in modules.items() if source.count("\n") > FILE}


def long_functions(modules: dict[str, str]) -> set[str]:
    """Return the qualified names of the functions that are long."""
    found: set[str] = set()

    def visit(node: ast.AST, name: str) -> None:
        for inner in ast.iter_child_nodes(node):
            own = f"{name}.{inner.name}" if isinstance(inner, _NAMED) else name
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and (
                    (inner.end_lineno or 0) - inner.lineno + 1 > FUNCTION):
                found.add(own)
            visit(inner, own)

    for module, source in modules.items():
        visit(tree_of(source), _short(module))
    return found


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _short(module: str) -> str:
    return module.removeprefix("tracejit.")


def complaints(found: set[str], reasons: dict[str, str]) -> tuple[set[str], set[str]]:
    """Return the long places without a reason, and the reasons of places no longer long."""
    return found - set(reasons), set(reasons) - found


def test_every_long_file_has_a_reason() -> None:
    assert complaints(long_files(MODULES), LONG_FILES) == (set(), set())


def test_every_long_function_has_a_reason() -> None:
    assert complaints(long_functions(MODULES), LONG_FUNCTIONS) == (set(), set())


def test_what_is_long_is_found_and_what_is_long_no_more() -> None:
    body = "".join(f"        x = {k}\n" for k in range(FUNCTION))
    modules = {"tracejit.a": f"class C:\n    def f(self):\n{body}\n    def g(self): ...\n",
               "tracejit.b": "x = 1\n" * (FILE + 1), "tracejit.c": "x = 1\n" * FILE}
    assert long_functions(modules) == {"a.C.f"}
    assert long_files(modules) == {"b"}
    assert complaints(long_files(modules), {"c": "", "d": ""}) == ({"b"}, {"c", "d"})
