"""What captured code defines has Python's full name: in `__qualname__`, and in messages."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from state_sequences import load

import tracejit

DEFINED = {
    "function": ("def h(a): pass", "h"),
    "lambda": ("h = lambda a: a", "h"),
    "lambda in a lambda": ("h = (lambda: lambda a: a)()", "h"),
    "generator": ("def h(a): yield a", "h"),
    "function in a function": ("def o():\n    def h(a): return a\n    return h\nh = o()", "h"),
    "lambda in a list": ("h = [lambda a: k for k in range(2)][0]", "h"),
    "class": ("class K:\n    def __init__(self, a): self.a = a", "K"),
    "method": ("class K:\n    def m(self): return 1\n    n = lambda self: 2", "K.m"),
    "lambda of a class": ("class K:\n    n = lambda self: 2", "K.n"),
    "class in a class": ("class K:\n    class I:\n        def m(self): return 1", "K.I.m"),
    "decorated": ("import functools\n@functools.lru_cache\ndef h(a): pass", "h"),
    "dataclass": ("@dataclasses.dataclass\nclass K:\n    a: float", "K"),
    "dataclass with slots": ("@dataclasses.dataclass(slots=True)\nclass K:\n    a: float", "K"),
    "enumeration": ("class K(enum.Enum):\n    A = 1\n    def m(self): return 2", "K.m"),
    "named tuple": ("class K(typing.NamedTuple):\n    a: float", "K"),
}
PLACES = {
    "at the top": "{}",
    "in a branch": "if len(x) > 2:\n    {}\nelse:\n    x = 2.0",
    "in a loop": "for i in range(2):\n    {}",
    "in a try": "try:\n    {}\nexcept KeyError:\n    pass",
    "in a with": "with contextlib.nullcontext():\n    {}",
}
_NUMBERS = itertools.count()


def _program(statement: str, name: str, place: str) -> str:
    body = place.format(statement.replace("\n", "\n    ") if "\n" in place else statement)
    lines = [*body.split("\n"), f"names = [{name}.__qualname__, {name}.__name__]",
             "try:", f"    {name}(1, 2, 3, 4)", "except TypeError as e:",
             "    names.append(str(e))", "return names"]
    heads = "import contextlib, dataclasses, enum, typing\n"
    return heads + "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("defined", DEFINED)
def test_full_names_are_pythons(defined: str, place: str, tmp_path: Path) -> None:
    statement, name = DEFINED[defined]
    module = load(_program(statement, name, PLACES[place]), tmp_path, f"names_{next(_NUMBERS)}")
    try:
        with tracejit.config(disable_jit=True):
            assert tracejit.jit(module.f)("text") == module.f("text")
    finally:
        sys.modules.pop(module.__name__, None)
