"""A program of the gauntlet: a question, its answer by an independent way, and how tools ask it."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gauntlet.tools import Tool
from benchmarks.workloads.workload import with_names

__all__ = ["PEERS", "Between", "Outcome", "Program", "Raises", "asked", "differences", "program",
           "shown"]

Way = Callable[[Tool], Any]
"""How an answer is got with a tool."""

PEERS = ("tracejit", "JAX", "Enzyme", "PyTorch", "autograd", "PyTensor", "CasADi")


class Between(NamedTuple):
    """Any number from low to high is right: the slopes that a kink has."""

    low: Any
    high: Any


class Raises(NamedTuple):
    """An error is right: NumPy raises this one. Another that says this is right, too."""

    kind: type[Exception]
    says: str


class Outcome(NamedTuple):
    """What a tool gave: right, wrong, NaN, refused, error, crash or no way, and the text of it."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Program:
    """One question.

    name  -- names it on the page
    asks  -- what is asked, in words
    right -- computes the right answer by another way than the tools': an array, or what is allowed
    ways  -- per tool how a user asks; a text says why a tool has no way to ask it
    cites -- threads of issues in which users met this
    plain -- the function of NumPy
    """

    name: str
    asks: str
    right: Callable[[], Any]
    ways: Mapping[str, Way | str]
    cites: tuple[str, ...] = ()
    plain: Callable[..., Any] | None = field(default=None)

    def outcome(self, peer: str, tool: Tool) -> Outcome:
        """Ask a tool, and compare its answer with the right one."""
        way = self.ways[peer]
        if isinstance(way, str):
            return Outcome("no way", way)
        right = self.right()
        try:
            with _quietly(), tool.settings():
                answer = np.asarray(way(tool))
        except Exception as error:
            return _failed(error, right)
        if isinstance(right, Raises):
            return Outcome("wrong", shown(answer))
        return Outcome(_verdict(answer, right), shown(answer))


@contextlib.contextmanager
def _quietly() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(
            io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _failed(error: Exception, right: object) -> Outcome:
    names = {c.__name__ for c in type(error).__mro__}
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    head, _, tail = text.partition(".py:")
    if tail and "/" in head:  # the place is one of this machine
        text = f"{type(error).__name__}: {tail.split(': ', 1)[-1]}"
    if isinstance(right, Raises) and (right.kind.__name__ in names or right.says in text.lower()):
        return Outcome("right", text[:160])
    return Outcome("refused" if "Refusal" in names else "error", text[:160])


def _verdict(answer: np.ndarray, right: Any) -> str:
    low, high = right if isinstance(right, Between) else (right, right)
    low, high = np.asarray(low), np.asarray(high)
    if answer.dtype.kind not in "biufc" or answer.shape != np.broadcast_shapes(low.shape):
        return "wrong"
    slack = 2e-6 * np.maximum(1.0, np.abs(high))
    if np.isnan(answer).any() and not np.isnan(low).any():
        return "NaN"
    if answer.dtype.kind == "c" or low.dtype.kind == "c":
        return "right" if np.all(np.abs(answer - low) <= slack) else "wrong"
    inside = (answer == low) | ((answer >= low - slack) & (answer <= high + slack))
    return "right" if inside.all() else "wrong"


def shown(answer: object) -> str:
    """Return numbers as text: rows end in semicolons."""
    array = np.asarray(answer)
    if array.ndim > 1:
        return "; ".join(map(shown, array))
    if array.dtype.kind not in "biufc":
        return str(answer)
    return ", ".join(f"{number + 0.0:.6g}" for number in np.atleast_1d(array))


def differences(f: Callable[..., Any], *at: Any) -> np.ndarray:
    """Return the gradient of a function by its first argument, by central differences.

    They are taken at two steps, and extrapolated: errors are of the fourth order.
    """
    x = np.asarray(at[0], float)
    gradient = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        slopes = []
        for h in (2e-3, 1e-3):
            ends = []
            for sign in (1.0, -1.0):
                moved = x.copy()
                moved[place] += sign * h
                given = moved if isinstance(at[0], np.ndarray) else float(moved)
                with np.errstate(all="ignore"):
                    ends.append(float(f(given, *copy.deepcopy(at[1:]))))
            slopes.append((ends[0] - ends[1]) / (2.0 * h))
        gradient[place] = (4.0 * slopes[1] - slopes[0]) / 3.0
    return gradient


def program(asks: str, plain: Callable[..., Any], *at: Any, right: Any = None,
            cites: tuple[str, ...] = (), static: tuple[int, ...] = (),
            single: bool = False, **forms: Callable[..., Any] | str) -> Program:
    """Return a program that asks for the gradient of a function by its first argument.

    asks   -- what is asked
    plain  -- the function of NumPy; its text with a tool's own `np`, where that has no other form
    at     -- the arguments
    right  -- the right answer; differences of the plain function, if it isn't given
    cites  -- threads of issues
    static -- which arguments are no numbers of the program, as JAX's users say
    single -- whether tools compute in the dtype that they choose by themselves
    forms  -- per tool its own form, or why there is none
    """
    forms = _enzyme_is_jax(forms)

    def way(peer: str) -> Way | str:
        form = forms.get(peer)
        if isinstance(form, str):
            return form

        def ask(tool: Tool) -> Any:
            own = form or (plain if tool.np is np else with_names(plain, np=tool.np))
            return tool.grad(own, static=static, single=single)(*copy.deepcopy(at))

        return ask

    def answer() -> Any:
        return differences(plain, *at) if right is None else right

    return Program(name=plain.__name__.replace("_", " "), asks=asks, right=answer,
                   ways={peer: way(peer) for peer in PEERS}, cites=cites, plain=plain)


def asked(asks: str, scene: Callable[[Tool], Any], right: Any, cites: tuple[str, ...] = (),
          **ways: Way | str) -> Program:
    """Return a program that is more than one gradient: a scene of calls and changes.

    asks  -- what is asked
    scene -- carries the scene out with a tool, and returns the answer
    right -- the right answer
    cites -- threads of issues
    ways  -- per tool its own scene, or why there is none
    """
    ways = _enzyme_is_jax(ways)
    name = inspect.unwrap(scene).__name__.replace("_", " ")
    return Program(name=name, asks=asks, right=lambda: right, cites=cites, plain=scene,
                   ways={peer: ways.get(peer, scene) for peer in PEERS})


def _enzyme_is_jax(forms: dict[str, Any]) -> dict[str, Any]:
    """Return forms with those of Enzyme, whose functions are JAX's."""
    return {"Enzyme": forms["JAX"], **forms} if "JAX" in forms else forms
