"""The tree: its packages are the installed ones, its imports point down, its files say why.

Each check is a function from files to complaints, and is shown a fault that it has to find.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tracejit

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]

# What each part of tracejit may import, besides itself, in the order in which data flows.
BASE = {"errors", "analyses", "configuration", "display", "exact", "structured_dtypes", "classes",
        "signals", "tree"}
LAYERS = {
    **{part: set[str]() for part in sorted(BASE)},
    "configuration": {"analyses"},
    "classes": {"exact"},
    "tree": {"exact", "structured_dtypes", "classes"},
    "ir": BASE,
    "trace": BASE | {"ir"},
    "ops": BASE | {"ir", "trace"},
    "numpy_api": BASE | {"ir", "trace", "ops"},
    "autodiff": BASE | {"ir", "trace", "ops", "numpy_api"},
    "passes": BASE | {"ir", "trace", "ops", "numpy_api"},
    "scipy_api": BASE | {"ir", "trace", "ops", "numpy_api", "autodiff"},
    "codegen": {"ir", "errors", "configuration", "signals"},
    "structured": BASE | {"ir", "trace"},
    "codes": set(),
    "versions": set(),
    "numpy": set(),
}
LAYERS["display"] = {"inspection"}  # by name, and only when something is looked at
LAYERS["store"] = BASE
LAYERS["program"] = BASE | {"ir", "trace", "codegen", "store"}
LAYERS["artifacts"] = BASE | {"ir", "trace", "codegen", "store", "program"}
LAYERS["runtime"] = set(LAYERS)
LAYERS["cache"] = BASE | {"store", "artifacts"}
LAYERS["transforms"] = set(LAYERS)
LAYERS["scale"] = set(LAYERS)
LAYERS["inspection"] = set(LAYERS)
LAYERS["tape"] = set(LAYERS)
LAYERS["api"] = set(LAYERS)
LAYERS["interop"] = set(LAYERS)
LAYERS["__main__"] = BASE | {"cache", "codes", "inspection", ""}
LAYERS[""] = set(LAYERS)  # tracejit/__init__.py


# --- the checks ---------------------------------------------------------------------------------


@functools.cache
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a module, which a dozen checks look at."""
    return ast.parse(source)


def packages_in(root: Path, folders: dict[str, str]) -> set[str]:
    """Return the packages whose modules lie under the folders, each the home of a package."""
    found = set()
    for package, folder in folders.items():
        for path in (root / folder).rglob("*.py"):
            inner = path.parent.relative_to(root / folder).parts
            found.add(".".join((package, *inner)))
    return found


def modules_in(root: Path, folders: dict[str, str]) -> dict[str, str]:
    """Return the source of every module by its name; a package's own is named `...__init__`."""
    found = {}
    for package, folder in folders.items():
        for path in sorted((root / folder).rglob("*.py")):
            inner = path.relative_to(root / folder).with_suffix("").parts
            found[".".join((package, *inner))] = path.read_text(encoding="utf-8")
    return found


def _layer(module: str) -> str:
    part = module.split(".")[1] if "." in module else ""
    return "" if part == "__init__" else part


def _imported(module: str, source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every tracejit module that is imported, within functions too."""
    for node in ast.walk(tree_of(source)):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            base = ".".join(module.split(".")[:-node.level]) if node.level else ""
            base = ".".join(filter(None, (base, node.module)))
            names = [base] if "." in base else [f"{base}.{alias.name}" for alias in node.names]
        for name in names:
            if name.split(".")[0] == "tracejit":
                public = _layer(name) not in LAYERS  # a function that tracejit exports
                yield node.lineno, "tracejit" if public else name


def imports_that_point_up(modules: dict[str, str]) -> list[str]:
    """Return the imports for which there is no arrow in LAYERS."""
    return [f"{module}:{line} imports {name}"
            for module, source in modules.items() for line, name in _imported(module, source)
            if _layer(name) not in {_layer(module), *LAYERS[_layer(module)]}]


def imports_in(modules: dict[str, str]) -> dict[str, set[str]]:
    """Return the modules that each module imports: within functions and for annotations, too."""
    found: dict[str, set[str]] = {}
    for module, source in modules.items():
        names = found[module] = set()
        for node in ast.walk(tree_of(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        names &= set(modules) - {module}
    return found


def circles_of(imports: dict[str, set[str]]) -> list[str]:
    """Return a circle of imports, if there is one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as e:
        return list(e.args[1])
    return []


def packages_that_import_each_other(imports: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return the pairs of packages of which each imports the other."""
    pairs = {(_layer(a), _layer(b)) for a, names in imports.items() for b in names
             if _layer(a) != _layer(b)}
    return {(a, b) for a, b in pairs if (b, a) in pairs and a < b}


def floors_of(picture: str) -> dict[str, int]:
    """Return the floor of each name in the picture, whose highest line is the highest floor."""
    lines = [re.split(r" {2,}", line)[0].split(", ") for line in picture.strip().splitlines()]
    return {name: floor for floor, names in enumerate(reversed(lines)) for name in names}


def imports_against(floors: dict[str, int], imports: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return the pairs of names in the picture whose imports it does not allow."""
    pairs = {(_room(a), _room(b)) for a, names in imports.items() for b in names
             if not {"tracejit.__init__", "tracejit.trace.__init__"} & {a, b}}
    return {(a, b) for a, b in pairs if a != b and floors[a] <= floors[b]}


def _room(module: str) -> str:
    parts = module.split(".")[1:]
    return ".".join(parts[:2] if parts[0] == "trace" else parts[:1])


def modules_that_say_nothing(modules: dict[str, str]) -> list[str]:
    """Return the modules whose docstring does not begin with one line that is a sentence."""
    found = []
    for module, source in modules.items():
        first, _, rest = (ast.get_docstring(tree_of(source)) or "").partition("\n")
        if not first.endswith(".") or (rest and not rest.startswith("\n")):
            found.append(module)
    return found


def modules_named_as_what_they_export(modules: dict[str, str]) -> list[str]:
    """Return the modules that define a public name that is their own: one would hide the other."""
    found = []
    for module, source in modules.items():
        name = module.split(".")[-1]
        if any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name
               for node in tree_of(source).body):
            found.append(module)
    return found


def files_without_package(root: Path, folders: dict[str, str],
                          data: dict[str, list[str]]) -> list[str]:
    """Return the files beside modules that no wheel would hold, and patterns that find none."""
    unused = {(package, pattern) for package, patterns in data.items() for pattern in patterns}
    left = []
    for package, folder in folders.items():
        for path in (root / folder).rglob("*"):
            if path.is_dir() or path.suffix in (".py", ".pyc"):
                continue
            inner = ".".join((package, *path.parent.relative_to(root / folder).parts))
            found = {(inner, p) for p in data.get(inner, ()) if path.match(p)}
            unused -= found
            left += [] if found else [str(path.relative_to(root))]
    return left + [f"{package}: {pattern}" for package, pattern in sorted(unused)]


# --- the tree -----------------------------------------------------------------------------------

MODULES = modules_in(ROOT, SETUPTOOLS["package-dir"])


def test_the_packages_listed_are_those_in_the_tree() -> None:
    assert set(SETUPTOOLS["packages"]) == packages_in(ROOT, SETUPTOOLS["package-dir"])


def test_every_package_has_a_module_of_its_own() -> None:
    assert {f"{package}.__init__" for package in SETUPTOOLS["packages"]} <= set(MODULES)


def test_wheels_hold_every_file_of_the_packages() -> None:
    data = SETUPTOOLS["package-data"]
    assert files_without_package(ROOT, SETUPTOOLS["package-dir"], data) == []
    assert {"py.typed", "*.pyi"} <= set(data["tracejit"])  # without these, types are not seen


def test_the_link_for_editors_leads_to_codegen() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a source distribution carries no links")
    assert (ROOT / "tracejit" / "codegen").resolve() == (ROOT / "codegen").resolve()


def test_the_version_is_that_of_the_distribution() -> None:
    assert tracejit.__version__ == PYPROJECT["project"]["version"]


def test_every_part_has_its_layer() -> None:
    assert {_layer(module) for module in MODULES} == set(LAYERS)


def test_no_imports_go_in_a_circle() -> None:
    imports = imports_in(MODULES)
    assert circles_of(imports) == []
    assert packages_that_import_each_other(imports) == set()


def test_a_circle_of_imports_is_found() -> None:
    modules = {"tracejit.ir.a": "def f():\n    from tracejit.trace import b\n",
               "tracejit.trace.b": "if TYPE_CHECKING:\n    from tracejit.ir.a import f\n"}
    imports = imports_in(modules)
    assert set(circles_of(imports)) == set(modules)
    assert packages_that_import_each_other(imports) == {("ir", "trace")}


@pytest.mark.parametrize("layer", [layer or "tracejit" for layer in LAYERS])
def test_imports_only_point_down(layer: str) -> None:
    part = {m: source for m, source in MODULES.items() if (_layer(m) or "tracejit") == layer}
    assert part
    assert imports_that_point_up(part) == []


DESIGN = (ROOT / "docs/design.md").read_text(encoding="utf-8")
PICTURE = DESIGN.partition("The floors of the house")[2].split("```")[1].removeprefix("text")
FLOORS = floors_of(PICTURE)


def test_the_picture_of_the_floors_is_that_of_the_imports() -> None:
    rooms = {_room(module) for module in MODULES} - {"__init__", "trace.__init__"}
    assert rooms == set(FLOORS)
    assert imports_against(FLOORS, imports_in(MODULES)) == set()


def test_an_import_against_the_picture_is_found() -> None:
    imports = imports_in({"tracejit.trace.values.a": "import tracejit.trace.lists.b",
                          "tracejit.trace.lists.b": "", "tracejit.ir.c": ""})
    assert imports_against(FLOORS, imports) == {("trace.values", "trace.lists")}


def test_every_module_says_what_it_is_for() -> None:
    assert modules_that_say_nothing(MODULES) == []


def test_no_module_has_the_name_of_what_it_exports() -> None:
    assert modules_named_as_what_they_export(MODULES) == []


def test_no_public_name_is_that_of_a_module() -> None:
    parts = {module.split(".")[1] for module in MODULES}
    assert parts & (set(tracejit.__all__) - {"__version__"}) == set()


def test_every_public_name_is_there() -> None:
    for name in tracejit.__all__:
        assert getattr(tracejit, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'gradient'"):
        tracejit.gradient


def _loaded_by(statement: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", f"{statement}; import sys; print(*sys.modules)"],
                          capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_import_alone_loads_nothing_large() -> None:
    loaded = _loaded_by("import tracejit")
    assert "tracejit" in loaded
    assert loaded & {"numba", "llvmlite", "numpy", "scipy"} == set()
    assert {m for m in loaded if m.startswith("tracejit.")} == set()
    assert "numpy" in _loaded_by("import tracejit; tracejit.grad")


def test_codegen_is_not_found_under_another_name() -> None:
    with pytest.raises(ImportError, match=r"this package is tracejit\.codegen"):
        importlib.import_module("codegen")


# --- planted faults -----------------------------------------------------------------------------


def test_a_package_that_is_not_listed_is_found(tmp_path: Path) -> None:
    for path in ("tracejit/__init__.py", "tracejit/new/deep/module.py", "codegen/__init__.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    found = packages_in(tmp_path, {"tracejit": "tracejit", "tracejit.codegen": "codegen"})
    assert found == {"tracejit", "tracejit.new.deep", "tracejit.codegen"}


def test_a_file_that_no_wheel_would_hold_is_found(tmp_path: Path) -> None:
    for path in ("tracejit/__init__.pyi", "tracejit/inner/kernel.ll", "tracejit/inner/new.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    data = {"tracejit": ["*.pyi", "*.h"]}
    found = files_without_package(tmp_path, {"tracejit": "tracejit"}, data)
    assert found == ["tracejit/inner/kernel.ll", "tracejit: *.h"]


@pytest.mark.parametrize(("module", "source"), [
    ("tracejit.ir.core", "from tracejit.trace.values.tracer import Tracer"),
    ("tracejit.ir.core", "import tracejit.trace.values.tracer"),
    ("tracejit.ir.core", "from tracejit import trace"),
    ("tracejit.ir.core", "from ..trace import tracer"),
    ("tracejit.ir.core", "def f():\n    from tracejit.trace import tracer"),
    ("tracejit.numpy_api.linalg", "import tracejit"),
    ("tracejit.numpy_api.linalg", "from tracejit import grad"),
    ("tracejit.codegen.lower", "from tracejit.ops.kinds import linear"),
    ("tracejit.codegen.lower", "from tracejit.tree import flatten"),
    ("tracejit.autodiff.reverse", "from tracejit.passes.pipeline import PASSES"),
    ("tracejit.passes.rules", "from tracejit.codegen.lower import lower_graph"),
    ("tracejit.errors", "from tracejit.configuration import settings"),
])
def test_an_import_that_points_up_is_found(module: str, source: str) -> None:
    assert len(imports_that_point_up({module: source})) == 1


def test_an_import_that_points_down_is_none() -> None:
    source = "import numba\nfrom tracejit.ir.core import Graph\nimport tracejit.errors\n"
    assert imports_that_point_up({"tracejit.codegen.lower": source, "tracejit.api": source}) == []


def test_a_module_without_a_sentence_is_found() -> None:
    modules = {"none": "x = 1", "two": '"""One line\nand another."""', "stop": '"""No stop"""',
               "right": '"""What it is for.\n\nMore."""'}
    assert modules_that_say_nothing(modules) == ["none", "two", "stop"]


def test_a_module_named_as_its_function_is_found() -> None:
    modules = {"tracejit.capture": "def capture(): ...", "tracejit.other": "def capture(): ..."}
    assert modules_named_as_what_they_export(modules) == ["tracejit.capture"]


# --- what the pages say of the tree -----------------------------------------------------------

ROWS = re.findall(r"^\| (?!something|-)([^|]+) \|([^|]+)\|([^|]+)\|$",
                  (ROOT / "CONTRIBUTING.md").read_text().partition("## Where to look")[2]
                  .partition("\n## ")[0], re.MULTILINE)


@pytest.mark.parametrize(("task", "places", "names"), ROWS, ids=lambda text: text[:30].strip())
def test_the_table_of_where_to_look_is_true(task: str, places: str, names: str) -> None:
    found = [ROOT / path for path in re.findall(r"`([\w/]+/(?:\w+\.py)?)`", places)]
    assert found and all(path.exists() for path in found), task
    texts = [f.read_text() for path in found
             for f in (path.rglob("*.py") if path.is_dir() else [path])]
    for name in re.findall(r"`(\w+)`", names):
        assert any(re.search(rf"(def|class) {name}\b", text) for text in texts), (task, name)


def lines_added(page: str) -> Iterator[tuple[str, str]]:
    """Yield the files in the diffs of a page, each with a passage added to it, spaces as one."""
    for block in re.findall(r"^```diff\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in block.split("--- ")[1:]:
            file, *lines = part.splitlines()
            passages = "\n".join(line.removeprefix("+").strip() for line in lines).split("\n\n")
            yield from ((file, " ".join(passage.split())) for passage in passages)


def test_the_diffs_that_show_how_to_add_something_are_in_the_tree() -> None:
    added = list(lines_added((ROOT / "CONTRIBUTING.md").read_text()))
    assert len(added) > 5
    assert [(file, text) for file, text in added
            if text not in " ".join((ROOT / file).read_text().split())] == []


def test_a_diff_that_is_not_in_the_tree_is_found() -> None:
    page = "```diff\n--- tracejit/errors.py\n+class Refusal(\n+\n+    no such line\n```\n"
    assert list(lines_added(page)) == [("tracejit/errors.py", "class Refusal("),
                                       ("tracejit/errors.py", "no such line")]


def files_that_are_missing(text: str, paths: list[str]) -> list[str]:
    """Return the files that a text names, whole or by the end of their paths, and are not there."""
    named = dict.fromkeys(re.findall(r"`([\w/]+\.py)`", text))
    return [name for name in named
            if not any(path == name or path.endswith(f"/{name}") for path in paths)]


def test_the_files_that_the_design_names_are_there() -> None:
    paths = [str(path.relative_to(ROOT)) for folder in ("tracejit", "codegen", "tests")
             for path in (ROOT / folder).rglob("*.py")]
    assert files_that_are_missing(DESIGN, paths) == []
    assert files_that_are_missing("`a/b.py`, `b.py` and `c.py`", ["x/a/b.py"]) == ["c.py"]
