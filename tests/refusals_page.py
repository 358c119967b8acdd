"""The end of `docs/refusals.md`: the refusals of the package for which it has no program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import tracejit
from tracejit.trace.syntax.hooked_functions import REFUSED_SYNTAX

PACKAGE = Path(tracejit.__file__).parent
OTHERS = re.compile(r"(<!-- refusals without a program -->\n).*?(?=<!-- end -->)", re.S)
Row = tuple[str, str, str]
"""What is refused, what to do instead, and the code; `…` for what the source does not say."""


# --- refusals in the source ---------------------------------------------------------------------


def _text(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    """Return a string expression with `…` for each value that is put in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, constants) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, constants) + _text(node.right, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return _text(constants[node.id], constants)
    return "…"


def refusals_in(tree: ast.Module) -> Iterator[Row]:
    """Yield the text of each `refuse(...)` or `Refusal(...)` in a module, its remedy and code."""
    constants = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign)
                 for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        texts = [_text(argument, constants) for argument in node.args]
        if node.func.id in ("refuse", "refuse_outside") and len(texts) == 3:
            yield texts[0], texts[1], texts[2]
        elif node.func.id == "refuse_at" and len(texts) == 4:
            yield texts[1], texts[2], texts[3]
        elif node.func.id in ("Refusal", "MissingAttribute") and len(texts) == 2:
            what, _, remedy = re.sub(r"^…: ", "", texts[0]).partition(". ")
            yield what, remedy, texts[1]


def refusals() -> list[Row]:
    """Return every refusal of the package, its text and remedy, in the order of the alphabet."""
    found = {(f"{what} cannot be captured", remedy, "TJ102") for _, what, remedy in REFUSED_SYNTAX}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "codegen" not in path.parts:
            found.update(refusals_in(ast.parse(path.read_text(encoding="utf-8"))))
    rows = {(_joined(what), _joined(remedy.rstrip(".")), code) for what, remedy, code in found
            if remedy != "…" and (remedy or what.strip("…"))}  # else the text is another's
    return sorted(rows, key=lambda row: (row[0].lower().strip("`'…"), row))


def _joined(text: str) -> str:
    """Return a text with neighbouring `…` as one."""
    return re.sub(r"…(?:[. ]…)+", "…", text)


# --- refusals on the page -----------------------------------------------------------------------


def messages(page: str) -> list[str]:
    """Return the messages that the programs of the page have printed, unfolded."""
    printed = "\n".join(re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S))
    return re.sub(r"\n {4}", " ", printed).splitlines()


def is_met(row: Row, printed: list[str]) -> bool:
    """Return whether a message is this refusal."""
    what, remedy, code = (re.escape(text).replace("…", ".+") for text in row)
    pattern = re.compile(rf"(?:\S*(?: \d+)?: )?{what}" + (rf"\. {remedy}" if remedy else "")
                         + rf"\.? \[{code}\]")
    return any(pattern.fullmatch(message) for message in printed)


def with_others(page: str) -> str:
    """Return the page with a table of the refusals that none of its programs meets."""
    printed = messages(page)
    rows = [row for row in refusals() if not is_met(row, printed)]
    table = ["| what | what to do instead | code |", "| --- | --- | --- |",
             *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)]
    return OTHERS.sub(lambda found: found[1] + "\n".join(table) + "\n", page)
