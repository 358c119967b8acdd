"""The text of `docs/api.md`: the docstrings of the public names."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import tracejit
import tracejit.cache
from tracejit import __main__ as command_line
from tracejit import errors
from tracejit.configuration import Settings
from tracejit.display import Displayed, Drawn
from tracejit.inspection.report import Report
from tracejit.ir.core import Graph
from tracejit.ops.calls import Operation
from tracejit.runtime.cfunction import CFunction
from tracejit.runtime.function import Function
from tracejit.runtime.stages import Compiled, Lowered, Traced

HEAD = """\
# API reference

Written by `python -m pytest tests/house/test_docs.py --golden` from the docstrings, whose
examples run as tests. Names without a module are those of `tracejit`.
"""

SECTIONS = {
    "Transforms": ("grad", "value_and_grad", "jit", "vmap", "vjp", "jvp", "jacobian", "jacrev",
                   "jacfwd", "hessian", "hvp", "check_grads"),
    "Control flow and memory": ("checkpoint", "recompute_grad", "cond", "while_loop", "fori_loop",
                                "scan", "map"),
    "Ops and gradients of your own": ("register_op", "RegisterGradient", "no_gradient",
                                      "NoGradient", "NotDifferentiable", "custom_gradient",
                                      "stop_gradient"),
    "Tape and state": ("GradientTape", "UnconnectedGradients", "Variable", "Module", "constant",
                       "gradients", "AggregationMethod", "Graph"),
    "Arrays on a GPU": ("DeviceArray", "stream"),
    "Specs, settings, files": ("spec", "config", "load", "clear_caches", "show_versions"),
}
"""Public names by section; the others come under LAST."""
LAST = "Looking inside"
UNTOLD = ("Function", "Refusal", "__version__")  # told of by HELD and ERRORS, and no function
HELD: dict[str, tuple[type, str]] = {
    "Transformed functions": (Function, "What `grad(f)` and the other transforms return."),
    "Traced": (Traced, "What `g.trace(*args)` returns."),
    "Lowered": (Lowered, "What `traced.lower()` returns."),
    "Compiled": (Compiled, "What `lowered.compile()` returns."),
    "Graphs": (Graph, "What `traced.graph` is."),
    "All of these": (Displayed, "What transformed functions, staged objects and graphs have."),
    "Pictures": (Drawn, "What graphs have besides."),
    "Reports": (Report, "What `.report()` and `tracejit.explain` return."),
    "C functions": (CFunction, "What `compiled.cfunc()` returns."),
    "Operations": (Operation, "What a registered gradient gets as its first argument."),
}
ERRORS = ("TracejitError", "Refusal", "MissingAttribute", "CompileError", "ExportError",
          "SnapshotError", "UncapturedError", "IRError")


# --- docstrings as Markdown ---------------------------------------------------------------------

ENTRY = re.compile(r"^(\S(?:.*\S)?)\s+-- (.*)$")


def as_markdown(docstring: str) -> str:
    """Return a docstring with its arguments as a list and its examples as code."""
    parts: list[str] = []
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    while paragraphs:
        paragraph = paragraphs.pop(0)
        if paragraph.lstrip().startswith(">>>"):
            while paragraphs and paragraphs[0].lstrip().startswith(">>>"):
                paragraph += "\n\n" + paragraphs.pop(0)
            code = re.sub(r" *# doctest:.*", "", inspect.cleandoc(paragraph))
            parts.append(f"```pycon\n{code}\n```")
        elif ENTRY.match(paragraph.splitlines()[0]):
            parts.append("\n".join(_entries(paragraph)))
        else:
            parts.append(paragraph)
    return "\n\n".join(parts)


def _entries(paragraph: str) -> Iterator[str]:
    """Yield the lines of a list of arguments as a list in Markdown."""
    for line in paragraph.splitlines():
        entry = ENTRY.match(line)
        yield f"- `{entry[1]}`: {entry[2]}" if entry else f"  {line.strip()}"


def _signature(name: str, what: Any) -> str:
    """Return how something is called, without types."""
    try:
        found = inspect.signature(what)
    except (TypeError, ValueError):
        return name
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values()
                  if p.name != "self"]
    return name + str(found.replace(parameters=parameters, return_annotation=found.empty))


# --- the parts of the page ----------------------------------------------------------------------


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public attributes that a class documents itself, in the order of its source."""
    for name, value in vars(kind).items():
        inner = getattr(value, "func", getattr(value, "fget", value))
        if not name.startswith("_") and callable(inner) and inspect.getdoc(inner):
            yield name, value


def _item(name: str, what: Any, level: int = 3) -> str:
    """Return the section of a function or class."""
    signature = _signature(name, what)
    parts = [f"{'#' * level} {name.rpartition('.')[2]}", f"`{signature}`",
             as_markdown(inspect.getdoc(what) or "")]
    if isinstance(what, type):
        parts += [_member(*member) for member in _members(what)]
    return "\n\n".join(parts)


def _member(name: str, what: Any) -> str:
    """Return the paragraphs of a method or property."""
    inner = getattr(what, "func", getattr(what, "fget", None))
    shown = f".{name}" if inner is not None else _signature(f".{name}", what)
    return f"**`{shown}`**\n\n{as_markdown(inspect.getdoc(inner or what) or '')}"


def _named(names: Iterable[str]) -> Iterator[str]:
    """Yield the sections of public names; a second name of something refers to its first."""
    told: dict[int, str] = {}
    for name in names:
        what = getattr(tracejit, name)
        if id(what) in told:
            yield f"### {name}\n\nAnother name of `{told[id(what)]}`."
        else:
            told[id(what)] = name
            yield _item(name, what)


def _held() -> Iterator[str]:
    for title, (kind, sentence) in HELD.items():
        own = as_markdown(inspect.getdoc(kind) or "")
        yield "\n\n".join([f"### {title}", sentence, own, *(_member(*m) for m in _members(kind))])


def _settings() -> Iterator[str]:
    yield as_markdown(Settings.__doc__ or "")
    yield ("Each is an argument of `tracejit.config(...)` and, in capitals behind `TRACEJIT_`, an "
           "environment\nvariable.")


def _module(module: ModuleType) -> Iterator[str]:
    yield as_markdown(module.__doc__ or "")
    for name in module.__all__:
        yield _item(f"tracejit.cache.{name}", getattr(module, name))


def _errors() -> Iterator[str]:
    for name in ERRORS:
        kind = getattr(errors, name)
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        yield f"**`tracejit.errors.{name}`** ({bases})\n\n{as_markdown(kind.__doc__)}"


def _commands(parser: argparse.ArgumentParser, words: str) -> Iterator[str]:
    """Yield a row for every command that a parser knows."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help for choice in action._choices_actions}
        for name, inner in action.choices.items():
            deeper = list(_commands(inner, f"{words} {name}"))
            arguments = " ".join(str(a.metavar or a.dest).upper() for a in inner._actions
                                 if not a.option_strings)
            yield from deeper or [f"| `{f'{words} {name} {arguments}'.rstrip()}` | {helps[name]} |"]


def api_page() -> str:
    """Return the page."""
    listed = {name for names in SECTIONS.values() for name in names}
    rest = [name for name in tracejit.__all__ if name not in {*listed, *UNTOLD}]
    parts = [HEAD.rstrip()]
    for title, names in {**SECTIONS, LAST: rest}.items():
        parts += [f"## {title}", *_named(names)]
    parts += ["## What you hold", *_held(), "## Settings", *_settings(),
              "## `tracejit.cache`", *_module(tracejit.cache), "## Errors", *_errors(),
              "## Command line", "`--help` behind each shows its options.",
              "| | |\n| --- | --- |\n" + "\n".join(
                  _commands(command_line._parser(), "python -m tracejit"))]
    return "\n\n".join(parts) + "\n"
