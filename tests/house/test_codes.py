"""Codes: each refusal and error has one, each is in the table, and none is given twice."""

from __future__ import annotations

import ast
import pickle
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
import tracejit.codes as table
import tracejit.errors as errors
from tracejit.__main__ import main
from tracejit.codes import AREAS, CODES, pages
from tracejit.errors import TracejitError

PACKAGE = Path(tracejit.__file__).parent
ROOT = Path(__file__).parents[2]
GIVEN = Path(__file__).with_name("codes_given.txt")
WITH_CODE = {name for name, kind in vars(errors).items()
             if isinstance(kind, type) and issubclass(kind, TracejitError) and kind.code is None}
"""Classes that have no code of their own: each place that makes one gives it."""
FUNCTIONS = {"refuse": 3, "refuse_at": 4, "refuse_outside": 3}
"""Functions that make a refusal, and how many arguments they take, the code last."""


def codeless(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module that make a refusal without a code of the table, and why."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name, given = node.func.id, [*node.args, *(k.value for k in node.keywords)]
        if (name not in FUNCTIONS and name not in WITH_CODE | {"StandInRefused"}) or not given:
            continue  # an object without text is only asked for its line
        if len(given) == 1 and isinstance(given[0], ast.Starred):
            continue  # mypy counts what is in it
        if (name not in FUNCTIONS and len(given) < 2) or len(given) < FUNCTIONS.get(name, 0):
            yield node.lineno, f"{name} without a code"
        elif isinstance(given[-1], ast.Constant) and given[-1].value not in CODES:
            yield node.lineno, f"{given[-1].value!r} is no code"


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if "codegen" not in path.relative_to(PACKAGE).parts:
            yield path, ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((PACKAGE.resolve() / "codegen").resolve().rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_every_refusal_has_a_code_of_the_table() -> None:
    found = [f"{path}:{line}: {why}" for path, tree in _modules() for line, why in codeless(tree)]
    assert not found, "give each a code of tracejit/codes.py:\n" + "\n".join(found)


@pytest.mark.parametrize("text", [
    "raise Refusal('no')", "raise refuse('what', 'remedy')", "x = StandInRefused(text)",
    "raise refuse_at(site, 'what', 'remedy', 'TJ999')", "raise Refusal('no', 'TJ999')",
    "raise refuse_outside('what', 'remedy')", "raise MissingAttribute(text)"])
def test_a_refusal_without_a_code_is_found(text: str) -> None:
    assert list(codeless(ast.parse(text)))


def test_every_code_is_given_somewhere_in_the_package() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path, _ in _modules()
                     if path != Path(table.__file__))
    assert [c for c in CODES if c not in text] == []


def test_no_code_is_given_twice_or_taken_back() -> None:
    tree = ast.parse(Path(table.__file__).read_text(encoding="utf-8"))
    keys = Counter(k.value for node in ast.walk(tree) if isinstance(node, ast.Dict)
                   for k in node.keys if isinstance(k, ast.Constant))
    assert [key for key, count in keys.items() if count > 1] == []
    given = dict(line.split() for line in GIVEN.read_text(encoding="utf-8").splitlines())
    assert {c: code.kind for c, code in CODES.items()} == given, (
        f"codes are only added, and then to {GIVEN.name} as well")


def test_titles_are_told_apart_and_areas_known() -> None:
    assert len({code.title for code in CODES.values()}) == len(CODES)
    assert all(re.fullmatch(r"TJ\d{3}", c) and c[:3] in AREAS for c in CODES)


# --- errors with codes ----------------------------------------------------------------------------


def test_a_message_ends_with_its_code() -> None:
    with pytest.raises(tracejit.Refusal, match=r"Use 'reduced', 'complete' or 'r' \[TJ203\]$") as e:
        tracejit.jit(lambda a: np.linalg.qr(a, mode="raw"))(np.eye(2))
    assert e.value.code == "TJ203" and not e.value.text.endswith("]")


def test_a_code_stays_with_a_pickled_and_a_restated_error() -> None:
    error = tracejit.Refusal("model.py:3: no", "TJ203")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code) == (type(error), "model.py:3: no [TJ203]", "TJ203")
    assert str(errors.NotCaptured.restating(error, "here: ")) == "here: model.py:3: no [TJ203]"


def test_an_error_of_one_cause_has_the_code_of_its_class() -> None:
    @tracejit.jit
    def root(x: float) -> float:
        return (x - 2.0) ** 0.5

    assert str(errors.ComplexResult("no")) == "no [TJ311]"
    with pytest.raises(errors.ComplexResult, match=r"\[TJ311\]"):
        root(1.0)


def test_a_refusal_of_users_needs_no_code() -> None:
    assert str(tracejit.Refusal("no")) == "no" and tracejit.Refusal("no").code is None


# --- pages ----------------------------------------------------------------------------------------

BLOCKS = re.compile(r"^```py\n(.*?)^```$", re.M | re.S)
HEAD = "import numpy as np\nimport tracejit\n\n\n"
WITHOUT_PROGRAM = {
    **dict.fromkeys(("TJ601", "TJ602", "TJ603", "TJ606"), "it needs a device, or other libraries"),
    **dict.fromkeys(("TJ610", "TJ611", "TJ612"), "no program should meet it"),
    "TJ124": "it would replace a builtin of this process",
    **dict.fromkeys(("TJ119", "TJ316", "TJ411", "TJ412", "TJ417"), "its page has none yet")}
"""The codes whose pages have no program, and why."""
PROGRAMS = {code: BLOCKS.findall(page) for code, page in pages().items()}
WITH_PROGRAM = [code for code, programs in PROGRAMS.items() if len(programs) == 2]
OF_REASONS = [code for code, programs in PROGRAMS.items() if len(programs) == 1]


def test_every_code_has_a_page_with_two_programs_a_reason_and_what_was_looked_for() -> None:
    assert pages().keys() == CODES.keys()
    for code, page in pages().items():
        assert page.startswith(f"## {code}: {CODES[code].title}\n")
        assert "**Why.** " in page and "**Looked for, and not found.** " in page
        is_raised = CODES[code].kind in ("refusal", "error")
        assert len(PROGRAMS[code]) == (0 if code in WITHOUT_PROGRAM else 1 + is_raised), code
        assert ("**Instead:**" if len(PROGRAMS[code]) == 2 else "**Instead.** ") in page


def run(text: str, folder: Path, name: str) -> dict[str, Any]:
    """Run a program of a page, in a folder of its own; return its names."""
    path = folder / f"{name}.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return runpy.run_path(str(path))


@pytest.mark.parametrize("code", OF_REASONS)
def test_the_program_of_a_reason_has_its_code_in_its_why(
        code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"[{code}]" in run(PROGRAMS[code][0], tmp_path, code)["why"]


@pytest.mark.parametrize("code", WITH_PROGRAM)
def test_the_program_of_a_page_is_refused_with_its_code(
        code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as refused:
        run(PROGRAMS[code][0], tmp_path, code)
    assert f"[{code}]" in str(refused.value)


@pytest.mark.parametrize("code", WITH_PROGRAM)
def test_the_other_program_of_a_page_runs(code: str, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(PROGRAMS[code][1], tmp_path, code)


def test_the_page_of_the_documentation_is_made_of_them(expect_text: Any) -> None:
    source = PACKAGE / "explanations.md"
    expect_text(ROOT / "docs" / "codes.md", source.read_text(encoding="utf-8"))


# --- explain --------------------------------------------------------------------------------------


def test_explain_prints_what_a_code_stands_for(capsys: pytest.CaptureFixture[str]) -> None:
    for given in ("TJ408", "tj408", "408"):
        assert main(["explain", given]) == 0
        assert CODES["TJ408"].title in capsys.readouterr().out
    assert main(["explain"]) == 0
    assert set(re.findall(r"TJ\d{3}", capsys.readouterr().out)) == set(CODES)


def test_explain_names_the_nearest_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "TJ4080"]) == 1
    assert "TJ408" in capsys.readouterr().err
