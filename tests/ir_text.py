"""Graphs from text and back, and tables of cases, so that passes are tested as text in, text out.

A case is a paragraph: its title, a graph, and a pass's result.

    x * 1 = x
        (%x: f64[])
        %0: f64[] = mul(%x, 1.0)
        return %0
    becomes
        return %x

`stays` in place of `becomes` says that the pass leaves the graph as it is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tracejit.ir.core import Graph
from tracejit.ir.interpreter import interpret
from tracejit.ir.parser import parse_graph
from tracejit.ir.types import Aval
from tracejit.ir.verifier import verify_graph

__all__ = ["SIZES", "Case", "cases", "graph_of", "hard_operands", "same_bits", "table", "text_of"]

SIZES = {"n": 3, "m": 2, "k": 4}
"""How large the named sizes are where a graph is carried out."""


@dataclass(frozen=True, slots=True)
class Case:
    """A graph as text, and the text of a pass's result; None where the graph stays."""

    title: str
    before: str
    after: str | None

    def check(self, apply_pass: Callable[[Graph], Graph], *, zeros: bool = True) -> None:
        """Assert that a pass makes the text of the text, and that every bit of the result stays.

        zeros -- whether the signs of zeros stay, too
        """
        graph = graph_of(self.before)
        made = verify_graph(apply_pass(graph))
        wanted = text_of(graph) if self.after is None else textwrap.dedent(self.after).strip("\n")
        assert text_of(made) == wanted
        for operands in hard_operands(graph):
            found, expected = _outcome(made, operands), _outcome(graph, operands)
            assert same_bits(found, expected, zeros=zeros), (operands, found, expected)


def graph_of(text: str) -> Graph:
    """Return the graph of a text: a line of inputs, and equations up to the return."""
    inputs, _, body = textwrap.dedent(text).strip("\n").partition("\n")
    return verify_graph(parse_graph(f"graph f{inputs} -> {{\n{body}\n}}"))


def text_of(graph: Graph) -> str:
    """Return the equations and the return, without the lines of users."""
    _, *lines, _ = str(graph).splitlines()
    kept = (line.partition("  # ")[0].rstrip() for line in lines if not line.lstrip()[:2] == "--")
    return textwrap.dedent("\n".join(kept))


def table(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield of each paragraph its title, the text before, the word between, and the text after."""
    for paragraph in textwrap.dedent(text).strip("\n").split("\n\n"):
        title, *lines = paragraph.split("\n")
        middle = next(k for k, line in enumerate(lines) if not line.startswith(" "))
        yield title, "\n".join(lines[:middle]), lines[middle], "\n".join(lines[middle + 1:])


def cases(text: str) -> list[Any]:
    """Return the cases of a table, as parameters of a test."""
    found = []
    for title, before, word, after in table(text):
        assert word == ("becomes" if after else "stays"), f"{title}: {word}"
        found.append(pytest.param(Case(title, before, after or None), id=title))
    return found


def _outcome(graph: Graph, operands: Sequence[np.ndarray]) -> Any:
    """Return the results of a graph, or the text of its ValueError."""
    try:
        return interpret(graph, *operands)
    except ValueError as e:
        return str(e)


HARD = {
    "f": [np.nan, -0.0, np.inf, 0.0, -np.inf, 1.5, -2.0, 1e308],
    "c": [complex(np.nan, 1.0), complex(-0.0, 0.0), complex(0.0, np.inf), complex(0.0, -0.0),
          complex(-1.0, -0.0), complex(np.inf, np.nan), complex(1.5, -2.0)],
    "i": [0, -1, np.iinfo(np.int64).min, np.iinfo(np.int64).max, 7],
    "u": [0, 1, np.iinfo(np.uint64).max, 7],
    "b": [True, False],
}
"""Numbers by which exact rewrites are told from others."""


def hard_operands(graph: Graph) -> Iterator[list[np.ndarray]]:
    """Yield operands made of hard numbers, others in each set, so that all of them meet."""
    with np.errstate(all="ignore"):
        for turn in range(64):
            yield [_hard(v.aval, turn // 8 ** min(k, 1) + 3 * k)
                   for k, v in enumerate(graph.inputs)]


def _hard(aval: Aval, first: int) -> np.ndarray:
    shape = tuple(d if isinstance(d, int) else SIZES[str(d)] for d in aval.shape)
    numbers = HARD[aval.dtype.kind]
    flat = [numbers[(first + k) % len(numbers)] for k in range(int(np.prod(shape)))]
    return np.array(flat).reshape(shape).astype(aval.dtype)


def same_bits(found: Any, expected: Any, *, zeros: bool = True) -> bool:
    """Return whether results agree to the signs of their zeros; a NaN is as good as another."""
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(
            same_bits(a, b, zeros=zeros) for a, b in zip(found, expected, strict=True))
    if isinstance(expected, str):
        return bool(found == expected)
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind == "c":
        return (same_bits(found.real, expected.real, zeros=zeros)
                and same_bits(found.imag, expected.imag, zeros=zeros))
    if found.dtype.kind != "f":
        return np.array_equal(found, expected)
    signs = np.signbit(found) == np.signbit(expected)
    return np.array_equal(found, expected, equal_nan=True) and (
        not zeros or bool(np.all(signs | np.isnan(found))))
