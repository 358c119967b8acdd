"""The house: public docstrings say all that a caller needs, and one word is one thing.

Each check is a function from files or objects to complaints, and is shown a fault that it finds.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from enum import EnumMeta
from typing import Any

import pytest
from test_packaging import MODULES

import tracejit

TRANSFORMS = ("grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp",
              "value_and_grad", "vjp", "vmap")
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
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    return {name: homes for name, homes in found.items() if len(homes) > 1}


def test_no_two_classes_have_one_name() -> None:
    assert classes_of_one_name(MODULES) == {}


def test_two_classes_of_one_name_are_found() -> None:
    modules = {"a": "class Plan: ...", "b": "class Plan: ...", "c": "def Plan(): ..."}
    assert classes_of_one_name(modules) == {"Plan": ["a", "b"]}
