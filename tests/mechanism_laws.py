"""The laws of random programs about choices by data: Python is the oracle, on copies.

A program `f(x, p, rng)` gives Python's result, leaves its generator in the state that Python
leaves, bit for bit, and raises Python's errors. Derivatives are compared with differences at
fixed draws, where differences of several steps agree.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import pickle
import random
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from program_laws import Mismatch, Refused, Rejected

import tracejit

__all__ = ["MixedPlan", "check_mixed", "choose_mixed_plan"]

_NUMBER = itertools.count()

LARGEST = 1e6

POINTS: tuple[tuple[float, int], ...] = (
    (0.437, 4), (-0.812, 4), (1.293, 7), (0.437, 4), (0.951, 3))
"""x, and how many numbers p has, of the calls; with one program for all of them."""


@dataclass(frozen=True)
class MixedPlan:
    """Which laws a program is checked for, beyond its values, state and gradients."""

    compiled: bool = False
    verify: bool = True
    also: str = ""
    """Of `second`, `vmap`, `nested`, `checkpoint`, `threads`, `tape`: one, or none."""


def check_mixed(source: str, plan: MixedPlan) -> None:
    """Check all laws on one program; `Rejected` where there is nothing to compare with."""
    program = _Mixed(source)
    try:
        with tracejit.config(disable_jit=not plan.compiled, verify=plan.verify):
            program.check_calls("jit")
            program.check_gradients("gradient")
            program.change_state()
            program.check_calls("jit after a change of a global name")
            program.check_gradients("gradient after a change of a global name", few=True)
            if plan.also:
                getattr(program, f"check_{plan.also}")(plan.also)
    except tracejit.Refusal as e:
        if not re.match(r"<mixed \d+>:\d+: |.*mechanism_laws\.py:\d+: ", str(e)):
            raise Mismatch("a refusal that names no line of the program", str(e)) from e
        raise Refused(str(e)) from None
    finally:
        program.forget()


class _Mixed:
    """A program, its functions, and the calls of it."""

    def __init__(self, source: str) -> None:
        self.file = f"<mixed {next(_NUMBER)}>"
        linecache.cache[self.file] = (len(source), None, source.splitlines(True), self.file)
        self.names: dict[str, Any] = {"__name__": "mixed"}
        exec(compile(source, self.file, "exec", dont_inherit=True), self.names)
        self.f: Callable[..., Any] = self.names["f"]
        self.jit = tracejit.jit(self.f)
        self.gradients = tracejit.value_and_grad(self.f, argnums=(0, 1))
        self.was_right = False

    def forget(self) -> None:
        """Drop the text from Python's table of sources."""
        linecache.cache.pop(self.file, None)

    def change_state(self) -> None:
        """Change the global name that the program reads."""
        self.names["K"] = 0.35

    # --- the oracle -----------------------------------------------------------------------------

    def python(self, x: Any, p: Any, rng: Any) -> Any:
        """Return Python's result or error for the arguments of a call, which it may change."""
        with _quiet():
            try:
                result = self.f(x, p, rng)
            except RecursionError:
                raise Rejected("recursion") from None
            except Exception as e:
                return e
        if not isinstance(result, (float, np.floating)):
            raise Rejected(f"the result is of {type(result)}")
        if not np.isfinite(result) or abs(result) > LARGEST:
            raise Rejected("the result is large")
        return result

    def slope(self, call: tuple[Any, ...], direction: tuple[Any, Any]) -> float | None:
        """Return the derivative along a direction at fixed draws; None where there is none."""
        x, p, rng = call
        dx, dp = direction

        def at(h: float) -> float:
            with _quiet():
                try:
                    return float(self.f(x + h * dx, p + h * dp, copy.deepcopy(rng)))
                except Exception:
                    return np.nan

        found = []
        for h in (1e-5, 3e-6):
            found.append((at(h) - at(-h)) / (2 * h))
            found += [(-3 * at(0.0) + 4 * at(s * h) - at(2 * s * h)) / (2 * s * h)
                      for s in (1.0, -1.0)]
        scale = max(1.0, *map(abs, found))
        if not np.all(np.isfinite(found)) or max(found) - min(found) > 2e-5 * scale:
            return None
        return found[0]

    # --- the laws -------------------------------------------------------------------------------

    def check_calls(self, stage: str) -> None:
        """`jit` gives Python's result, and leaves its arguments and generator as Python does."""
        compared = 0
        for call in _calls():
            ours, theirs = copy.deepcopy(call), copy.deepcopy(call)
            expected = self.python(*theirs)
            with _accepting(stage, expected):
                found = self.jit(*ours)
                self._require(stage, found, expected, ours, theirs)
            compared += not isinstance(expected, Exception)
        self.was_right = compared > 0

    def check_gradients(self, stage: str, few: bool = False) -> None:
        """Gradients and tangents are close to differences; the generator is as after one call."""
        choose = np.random.default_rng(11)
        for k, call in enumerate(_calls()):
            if few and k > 1:
                return
            ours, theirs = copy.deepcopy(call), copy.deepcopy(call)
            expected = self.python(*theirs)
            v = float(choose.normal()), choose.normal(size=len(call[1]))
            with _accepting(stage, expected):
                found, slopes = self.gradients(*ours)
                self._require(stage, found, expected, ours, call)
                slope = self.slope(call, v)
                if slope is None:
                    continue
                _require_near(stage, slopes[0] * v[0] + slopes[1] @ v[1], slope)
                if k == 0:
                    self._check_tangent(call, v, slope)

    def _check_tangent(self, call: tuple[Any, ...], v: tuple[Any, Any], slope: float) -> None:
        x, p, rng = copy.deepcopy(call)
        _, tangent = tracejit.jvp(lambda x, p: self.f(x, p, rng))((x, p), v)
        _require_near("jvp", tangent, slope)

    def _require(self, stage: str, found: Any, expected: Any, ours: tuple[Any, ...],
                 theirs: tuple[Any, ...]) -> None:
        """Require a value, and arguments as they are afterwards."""
        if isinstance(expected, Exception):
            raise Mismatch(stage, f"gives {found!r} where Python raises {expected!r}")
        if abs(found - expected) > 1e-10 * max(1.0, abs(expected)):
            raise Mismatch(stage, f"value is {found!r}, not {expected!r}")
        if not np.array_equal(ours[1], theirs[1]) and not np.allclose(ours[1], theirs[1], 1e-12):
            raise Mismatch(stage, f"p afterwards is {ours[1]}, not {theirs[1]}")
        if stage.startswith("jit") and _state(ours[2]) != _state(theirs[2]):
            raise Mismatch(stage, "the generator is left in another state")
        if stage.startswith("gradient"):
            again = copy.deepcopy(theirs)
            self.python(*again)
            if _state(ours[2]) != _state(again[2]):
                raise Mismatch(stage, "the generator is left in another state")

    def check_second(self, stage: str) -> None:
        """The gradient of a component of the gradient is close to differences of gradients."""
        call = next(_calls())
        if isinstance(self.python(*copy.deepcopy(call)), Exception):
            return
        v = 0.7, np.linspace(0.5, 1.5, len(call[1]))

        def component(x: Any, p: Any, rng: Any) -> Any:
            gx, gp = tracejit.grad(self.f, argnums=(0, 1))(x, p, rng)
            return gx * v[0] + np.sum(gp * v[1])

        def at(h: float) -> float:
            x, p, rng = copy.deepcopy(call)
            gx, gp = self.gradients(x + h * v[0], p + h * v[1], rng)
            return float(gx * v[0] + gp @ v[1])

        with _accepting(stage, None):
            hx, hp = tracejit.grad(component, argnums=(0, 1))(*copy.deepcopy(call))
            try:
                wanted = [(at(h) - at(-h)) / (2 * h) for h in (1e-5, 3e-6)]
                sides = [(at(h) - at(0.0)) / h for h in (1e-5, -1e-5)]
            except Exception:
                return
            scale = max(1.0, *map(abs, wanted))
            if abs(wanted[0] - wanted[1]) < 1e-5 * scale and abs(
                    sides[0] - sides[1]) < 1e-2 * scale and self.slope(call, v) is not None:
                _require_near(stage, hx * v[0] + hp @ v[1], wanted[0], 1e-4)

    def check_vmap(self, stage: str) -> None:
        """`vmap` over both arguments, and of the gradient, gives the results of single calls."""
        calls = [c for c in _calls() if len(c[1]) == 4]
        expected = [self.python(*copy.deepcopy(c)) for c in calls]
        if any(isinstance(e, Exception) for e in expected):
            return
        rng = copy.deepcopy(calls[0][2])
        xs, ps = np.array([c[0] for c in calls]), np.array([c[1] for c in calls])
        with _accepting(stage, None):
            found = tracejit.vmap(lambda x, p: self.f(x, p, rng))(xs, ps)
            for a, b in zip(found, expected, strict=True):
                self._require(stage, a, b, calls[0], calls[0])
            gx, gp = tracejit.vmap(lambda x, p: tracejit.grad(
                lambda x, p: self.f(x, p, rng), argnums=(0, 1))(x, p))(xs, ps)
            for k, call in enumerate(calls):
                v = 0.7, np.linspace(0.5, 1.5, 4)
                slope = self.slope(call, v)
                if slope is not None:
                    _require_near(f"{stage} of the gradient", gx[k] * v[0] + gp[k] @ v[1], slope)

    def check_nested(self, stage: str) -> None:
        """A captured function that calls another one twice, on other data, and its gradient."""
        inner = tracejit.jit(self.f)

        def twice(x: Any, p: Any, rng: Any, f: Any = inner) -> Any:
            t = f(x, p, rng)
            for k in range(2):
                t = t + f(x * 0.7 + k, p[::-1].copy(), rng) * 0.5
            return t

        outer = tracejit.value_and_grad(twice, argnums=(0, 1))
        for call in _calls():
            theirs, ours = copy.deepcopy(call), copy.deepcopy(call)
            with _quiet():
                try:
                    expected = twice(*theirs, f=self.f)
                except Exception as e:
                    expected = e
            with _accepting(stage, expected):
                found, _ = outer(*ours)
                self._require(stage, found, expected, call, call)
                if _state(ours[2]) != _state(theirs[2]):
                    raise Mismatch(stage, "the generator is left in another state")

    def check_checkpoint(self, stage: str) -> None:
        """A checkpoint computes the same values again."""
        call = next(_calls())
        expected = self.python(*copy.deepcopy(call))
        rng = copy.deepcopy(call[2])
        v = 0.7, np.linspace(0.5, 1.5, len(call[1]))
        kept = tracejit.checkpoint(lambda x, p: self.f(x, p, rng))
        with _accepting(stage, expected):
            found, slopes = tracejit.value_and_grad(lambda x, p: np.sin(kept(x, p)),
                                                    argnums=(0, 1))(*call[:2])
            self._require(stage, found, np.sin(expected), call, call)
            slope = self.slope(call, v)
            if slope is not None:
                _require_near(stage, slopes[0] * v[0] + slopes[1] @ v[1],
                              slope * np.cos(expected))

    def check_threads(self, stage: str) -> None:
        """Threads that call one function at the same time, with generators of their own."""
        calls = [copy.deepcopy(c) for c in _calls() for _ in range(2)]
        expected = [self.python(*c) for c in copy.deepcopy(calls)]
        found: list[Any] = [None] * len(calls)
        ours = copy.deepcopy(calls)

        def work(k: int) -> None:
            try:
                with tracejit.config(disable_jit=True):
                    found[k] = self.jit(*ours[k])
            except Exception as e:
                found[k] = e

        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(calls))]
        with _quiet():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for a, b, mine, call in zip(found, expected, ours, calls, strict=True):
            with _accepting(stage, b):
                if isinstance(a, Exception):
                    raise a
                theirs = copy.deepcopy(call)
                self.python(*theirs)
                self._require("jit in threads", a, b, mine, theirs)

    def check_tape(self, stage: str) -> None:
        """A tape records a program's calls, and its gradients are close to differences."""
        call, theirs = next(_calls()), next(_calls())
        expected = self.python(*theirs)
        v = 0.7, np.linspace(0.5, 1.5, len(call[1]))
        if not np.array_equal(call[1], theirs[1]):
            return  # a tape's gradient is by an argument as it is after a write

        def taped(x: Any, p: Any, rng: Any) -> Any:
            with tracejit.GradientTape() as tape:
                tape.watch([x, p])
                y = self.f(x, p, rng)
            return y, tape.gradient(y, [x, p])

        with _accepting(stage, expected):
            found, slopes = tracejit.jit(taped)(*copy.deepcopy(call))
            self._require(stage, found, expected, call, call)
            slope = self.slope(call, v)
            if slope is not None:
                _require_near(stage, slopes[0] * v[0] + np.asarray(slopes[1]) @ v[1], slope)


def _calls() -> Iterator[tuple[Any, ...]]:
    """Make the arguments of the calls anew."""
    for k, (x, n) in enumerate(POINTS):
        numbers = np.random.default_rng([k % 3, n])
        yield x, numbers.uniform(-1.4, 1.5, n), np.random.default_rng(100 + k)


def _state(rng: Any) -> bytes:
    return pickle.dumps(rng.bit_generator.state)


def _require_near(stage: str, found: Any, expected: float, tolerance: float = 4e-5) -> None:
    if not abs(found - expected) <= tolerance * max(1.0, abs(expected)):
        raise Mismatch(stage, f"derivative is {found!r}, not {expected!r}")


@contextmanager
def _accepting(stage: str, expected: Any) -> Iterator[None]:
    """Accept refusals, and errors of the kind that Python raises; others are mismatches."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except (Mismatch, Rejected, tracejit.Refusal):
        raise
    except Exception as e:
        if isinstance(expected, Exception):
            if type(e) is type(expected):
                return
            raise Mismatch(stage, f"raises {e!r}, and Python {expected!r}") from e
        raise Mismatch(stage, f"{type(e).__name__}: {e}") from e


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


LAWS = ("second", "vmap", "nested", "checkpoint", "threads", "tape")


def choose_mixed_plan(choose: random.Random, compiled: float, verify: bool) -> MixedPlan:
    """Choose which laws a program is checked for."""
    return MixedPlan(compiled=choose.random() < compiled, verify=verify or choose.random() < 0.5,
                     also=choose.choice(LAWS) if choose.random() < 0.6 else "")
