"""The laws that every random program obeys, and Python itself as the oracle.

The derivative of a program is taken by the complex step: the same text runs with complex numbers,
in a namespace where arrays are made complex. NumPy orders complex numbers by their real parts and,
where these tie, by the imaginary ones; so a branch that decides by a tie shows as a difference
between steps to either side, and such kinks have no derivative to compare with.
"""

from __future__ import annotations

import itertools
import linecache
import random
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from random_words import REFERENCES, STATES

import tracejit
from tracejit.ir.core import Graph
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph
from tracejit.passes.jamming import unroll_and_jam

__all__ = ["LAYOUTS", "OVERLAPS", "Mismatch", "Plan", "Program", "Refused", "Rejected",
           "arguments", "check_program"]

STEP = 1e-30
"""The imaginary step: so small that its square is nothing."""

LARGEST = 1e5
"""Results beyond this are not compared: a loop has let its state grow."""

TOLERANCE = 1e-9
"""Relative error of values and first derivatives."""

SECOND_TOLERANCE = 1e-5
"""Relative error of second derivatives, whose reference is a central difference."""

_NUMBER = itertools.count()

Layout = Callable[[np.ndarray], np.ndarray]

LAYOUTS: dict[str, Layout] = {
    "C": lambda b: b,
    "F": np.asfortranarray,
    "reversed": lambda b: b[::-1].copy()[::-1],
    "strided": lambda b: np.repeat(b, 2, axis=0)[::2],
    "transposed": lambda b: np.ascontiguousarray(b.T).T,
    "columns reversed": lambda b: np.ascontiguousarray(b[..., ::-1])[..., ::-1],
    "columns strided": lambda b: np.repeat(b, 2, axis=-1)[..., ::2],
    "both": lambda b: np.asfortranarray(np.repeat(b[::-1], 3, axis=0))[::-3],
    "broadcast": lambda b: np.broadcast_to(b[:1], b.shape),
}
"""Arrays of equal values (but for the last one) that lie in memory in different ways."""

OVERLAPS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "apart": lambda b: (b, b.copy()),
    "one object": lambda b: (b, b),
    "one memory": lambda b: (b[:], b[:]),
    "reversed": lambda b: (b, b[::-1]),
}
"""What x and y of a pair have in common."""


@dataclass(frozen=True)
class Plan:
    """Which laws a program is checked for, beyond the laws of all, and on which memory."""

    compiled: bool = False
    verify: bool = True
    second: bool = False
    layouts: tuple[str, str] = ("C", "C")
    overlap: str = ""
    """How x and y of a pair overlap, where the program is one."""
    nested: str = ""
    """`jit` or `vmap`: what is done to the gradient."""
    changes: int = 0
    """How often the module's state is changed between calls."""
    reload: bool = False
    """Whether the module's text is changed and loaded again in the end."""
    seed: int = 0
    """By which changes of state are drawn."""


class Rejected(Exception):
    """The program, or its derivative here, has no result to compare with."""


class Refused(Rejected):
    """The program is refused, at its line."""


class Mismatch(AssertionError):
    """A law does not hold; says at which stage."""

    def __init__(self, stage: str, what: str) -> None:
        super().__init__(f"{stage}: {what}")
        self.stage = stage


class _ComplexNumPy:
    """NumPy where new arrays are complex, of one dtype."""

    def __init__(self, dtype: Any = complex) -> None:
        self.dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: Any) -> Any:
        return np.zeros(shape, self.dtype)

    def empty(self, shape: Any) -> Any:
        return np.full(shape, np.nan, self.dtype)

    def ones(self, shape: Any) -> Any:
        return np.ones(shape, self.dtype)

    def full(self, shape: Any, value: Any) -> Any:
        return np.full(shape, value, self.dtype)

    def arange(self, stop: int) -> Any:
        return np.arange(stop).astype(self.dtype)

    def array(self, items: Any) -> Any:
        made = np.array(items)
        return made.astype(self.dtype) if made.dtype.kind == "f" else made


def _holomorphic_abs(x: Any) -> Any:
    return np.where(np.asarray(x, complex) >= 0, x, -x)[()]


class Program:
    """A program's text, its function, and its function on complex numbers."""

    def __init__(self, source: str, layouts: tuple[str, str] = ("C", "C"),
                 overlap: str = "") -> None:
        self.source, self.layouts, self.overlap = source, layouts, overlap
        self.file = f"<program {next(_NUMBER)}>"
        self.jit = self.gradients = None
        self.is_edited = False
        self.together = False
        """Whether derivatives are by memory under all its names, though a call writes nothing."""
        self.writing: dict[int, bool] = {}
        """Whether calls write to x or y, by their sizes."""
        self.changes: list[str] = []
        self.names: dict[str, Any] = {"np": np, "__name__": "program"}
        self.twins: dict[Any, dict[str, Any]] = {}
        self._load()

    def _load(self) -> None:
        """Run the text in the names of a module, and of the twins that there are."""
        lines = self.source.splitlines(True)
        linecache.cache[self.file] = (len(self.source), None, lines, self.file)
        exec(compile(self.source, self.file, "exec"), self.names)
        self.function = self.names["f"]
        for names in self.twins.values():
            self._load_twin(names)

    def _load_twin(self, names: dict[str, Any]) -> None:
        exec(compile(self.source, self.file, "exec"), names)
        for name, text in REFERENCES.items():
            if f"def {name}(" in self.source:
                exec(self.edited(text), names)

    def _twin(self, dtype: Any) -> Callable[..., Any]:
        """Return the function in plain Python, on numbers of a dtype."""
        if dtype not in self.twins:
            names: dict[str, Any] = {"np": np, "__name__": "program"}
            if dtype is not float:
                names |= {"np": _ComplexNumPy(dtype), "abs": _holomorphic_abs}
            self._load_twin(names)
            for change in self.changes:
                exec(change, names)
            self.twins[dtype] = names
        return self.twins[dtype]["f"]  # type: ignore[no-any-return]

    @property
    def _finer(self) -> Callable[..., Any]:
        """The function on complex numbers of more digits."""
        return self._twin(np.clongdouble)

    def change_state(self, choose: random.Random) -> None:
        """Change the module's state that the program reads, here and in the references."""
        found = [change for definition, _, changes in STATES.values()
                 if "\n".join(definition) in self.source for change in changes]
        if not found:
            return
        self.changes.append(choose.choice(found))
        for names in (self.names, *self.twins.values()):
            exec(self.changes[-1], names)

    def reload(self) -> None:
        """Load a text with other constants in the same module, as `importlib.reload` does."""
        self.is_edited, self.changes = True, []
        self.source = self.edited(self.source)
        self._load()

    def edited(self, text: str) -> str:
        """Return a text as it is after a reload, if there was one."""
        return re.sub(r"\b0\.", "0.1", text) if self.is_edited else text

    def fresh(self, args: Any, dtype: Any = None) -> list[Any]:
        """Return copies of the arguments as they lie in memory in this program's calls."""
        x, y, *rest = args
        x, y = (np.array(v, dtype) for v in (x, y))
        if self.overlap:
            x, y = OVERLAPS[self.overlap](x)
        else:
            x, y = (LAYOUTS[name](v) for name, v in zip(self.layouts, (x, y), strict=True))
        if dtype is not None:
            rest[0] = np.array(rest[0], dtype)[()]
        return [x, y, *rest]

    def graph(self, args: Any) -> str:
        """Return the captured gradient as text, or why there is none."""
        try:
            function = tracejit.value_and_grad(self.function, argnums=(0, 1, 2))
            return str(function.trace(*args).program.graph)
        except Exception as e:
            return f"no graph: {type(e).__name__}: {e}"

    def forget(self) -> None:
        """Drop the text from Python's table of sources."""
        linecache.cache.pop(self.file, None)

    # --- the oracle -----------------------------------------------------------------------------

    def value(self, args: Any) -> float:
        """Return the program's result in Python."""
        if "broadcast" in self.layouts and "add.at(" in self.source:
            raise Rejected("np.add.at of NumPy writes to read-only arrays, and jit does not")
        with _quiet():
            try:
                result = self._twin(float)(*self.fresh(args))
                twin = self._twin(complex)(*self.fresh(args))
            except Exception as e:
                raise Rejected(f"{type(e).__name__}: {e}") from None
        if isinstance(result, (int, np.integer)):
            raise Rejected("the result is an integer")
        if np.isnan(twin) or not np.isfinite(result) or abs(result) > LARGEST:
            raise Rejected("the result is large")
        if not _is_close(np.real(twin), result, TOLERANCE):
            raise Rejected("complex numbers do not do what these do: an array holds integers")
        return float(result)

    def gradient(self, args: Any) -> list[np.ndarray]:
        """Return the gradient by x, y and a, by the complex step."""
        *floats, n = args
        sides = []
        with _quiet():
            for step in (STEP, -STEP):
                try:
                    sides.append([self._one_sided(floats, n, k, step) for k in range(len(floats))])
                except Exception as e:
                    raise Rejected(f"on complex numbers, {type(e).__name__}: {e}") from None
        for up, down in zip(*sides, strict=True):
            if not np.all(np.abs(up) < LARGEST) or not _is_close(up, down, TOLERANCE):
                raise Rejected("there is a kink here")
        return sides[0]

    def _one_sided(self, floats: Any, n: int, k: int, step: float,
                   dtype: Any = complex) -> np.ndarray:
        function = self._twin(dtype)
        result = np.zeros(np.shape(floats[k]))
        for index in np.ndindex(*result.shape):
            moved = self._apart(self.fresh((*floats, n), dtype))
            if k == 2:
                moved[k] += 1j * step
            else:
                moved[k][index] += 1j * step
            result[index] = np.imag(function(*moved)) / step
        return result

    def _apart(self, args: list[Any]) -> list[Any]:
        """Return arguments one at a time of which can be changed."""
        if "broadcast" in self.layouts:
            args[0] = args[0].copy()  # y keeps its layout
        elif self.overlap and not (self.together or self._writes(args[-1])):
            args[:2] = args[0].copy(), args[1].copy()
        return args

    def _writes(self, n: int) -> bool:
        """Return whether a call of size n writes to x or y."""
        if n not in self.writing:
            self.writing[n] = self._is_stopped(n)
        return self.writing[n]

    def _is_stopped(self, n: int) -> bool:
        args = self.fresh(arguments(n))
        for x in args[:2]:
            x.flags.writeable = False
        try:
            self._twin(float)(*args)
        except ValueError:
            return True
        return False

    @contextmanager
    def _unless_rounding_decides(self, args: Any, value: float,
                                 derivatives: list[np.ndarray] | None = None) -> Iterator[None]:
        """Reject a program that differs if more digits give Python another result as well."""
        try:
            yield
        except Mismatch:
            *floats, n = args
            with _quiet():
                given, written = self.fresh(args, np.clongdouble), self.fresh(args)
                self._twin(float)(*written)
                finer = [np.real(self._finer(*given)), *map(np.real, given[:2])]
                if derivatives is not None:
                    finer += [self._one_sided(floats, n, k, STEP, np.clongdouble)
                              for k in range(len(floats))]
            if not all(_is_close(a, b, TOLERANCE / 10)
                       for a, b in zip(
                           finer, [value, *written[:2], *(derivatives or ())], strict=True)):
                raise Rejected("rounding errors are as large as what is compared") from None
            if derivatives and not self.overlap and not self._is_linear(args, derivatives):
                raise Rejected("there is a kink here, which no single argument shows") from None
            raise

    def _is_linear(self, args: Any, derivatives: list[np.ndarray]) -> bool:
        """Return whether all arguments changed at once change the result as one by one they do.

        A tie of sorted items is none for the steps of one item, which leads or ends either way.
        """
        *floats, n = args
        rng = np.random.default_rng(0)
        ways = [rng.uniform(0.5, 1.5, np.shape(x)) for x in floats]
        moved = self._apart(self.fresh((*floats, n), complex))
        for k, way in enumerate(ways):
            moved[k] += 1j * STEP * way
        with _quiet():
            found = np.imag(self._twin(complex)(*moved)) / STEP
        expected = sum(np.sum(d * way) for d, way in zip(derivatives, ways, strict=True))
        return _is_close(found, expected, TOLERANCE)

    def _overflows(self, args: Any) -> bool:
        """Return whether a number on the way to the result is too large for a float."""
        try:
            with np.errstate(over="raise"):
                self._twin(float)(*self.fresh(args))
        except (FloatingPointError, OverflowError):
            return True
        return False

    def hessian_row_sums(self, args: Any) -> list[np.ndarray]:
        """Return the derivative of the gradient along the direction of ones, by differences."""
        *floats, n = args

        def at(t: float) -> list[np.ndarray]:
            return self.gradient((*(x + t for x in floats), n))

        estimates = []
        for h in (1e-4, 2e-4):
            estimates.append([(8 * (p - q) - (r - s)) / (12 * h) for p, q, r, s in zip(
                at(h), at(-h), at(2 * h), at(-2 * h), strict=True)])
        for near, far in zip(*estimates, strict=True):
            if not _is_close(near, far, SECOND_TOLERANCE / 10):
                raise Rejected("there is a kink nearby")
        return estimates[0]

    # --- the laws -------------------------------------------------------------------------------

    def check_value(self, args: Any, stage: str) -> None:
        """`jit` returns Python's result, and leaves its arguments as Python does."""
        theirs, ours = [self.fresh(args) for _ in range(2)]
        expected = self.value(args)
        with _quiet():
            self._twin(float)(*theirs)
        with self._accepting(stage):
            self.jit = self.jit or tracejit.jit(self.function)
            actual = self.jit(*ours)
            with self._unless_rounding_decides(args, expected):
                _require_close(actual, expected, stage, "value")
                for name, x, e in zip("xy", ours, theirs, strict=False):
                    _require_close(x, e, stage, f"{name} afterwards")

    def check_gradient(self, args: Any, stage: str) -> None:
        """`value_and_grad` returns the value and its complex-step derivatives, twice."""
        expected = self.value(args)
        with self._accepting(stage):
            self.gradients = function = self.gradients or tracejit.value_and_grad(
                self.function, argnums=(0, 1, 2))
            ours = self.fresh(args)
            value, gradient = function(*ours)
            for x, b in zip(ours, self.fresh(args), strict=True):
                if not np.array_equal(x, b):
                    raise Mismatch(stage, "an argument has been written to")
            again, twice = function(*ours)
            for x, b in zip((again, *twice), (value, *gradient), strict=True):
                if not np.array_equal(x, b, equal_nan=True):
                    raise Mismatch(stage, f"the second call gives\n{x}, not\n{b}")
            with self._unless_rounding_decides(args, expected):
                _require_close(value, expected, stage, "value")
            self.together = False
            derivatives = self.gradient(args)
            if self.overlap and not all(map(_agree, gradient, derivatives)):
                self.together = True  # what is not reached may write
                derivatives = self.gradient(args)
            if any(np.any(np.isnan(g)) for g in gradient) and self._overflows(args):
                raise Rejected("a number overflows, and zero times infinity is NaN")
            with self._unless_rounding_decides(args, expected, derivatives):
                for name, g, e in zip("xya", gradient, derivatives, strict=True):
                    _require_close(g, e, stage, f"gradient by {name}")

    def check_nested(self, args: Any, how: str) -> None:
        """`jit` and `vmap` of the gradient give the gradient."""
        n = args[-1]

        def slopes(x: Any, y: Any, a: Any) -> Any:
            return tracejit.grad(self.function, argnums=(0, 1, 2))(x, y, a, n)

        if how == "vmap":
            self.layouts = "C", "C"  # what is stacked is
        calls = [self.fresh(args)[:3]]
        if how == "vmap":
            calls.append(self.fresh(arguments(n, 1, args[1].ndim))[:3])
        expected = []
        for call in calls:
            self.value((*call, n))
            expected.append(self.gradient((*call, n)))
        with self._accepting(how):
            if how == "vmap":
                found = tracejit.vmap(slopes)(*(np.stack(v) for v in zip(*calls, strict=True)))
                actual = [[g[k] for g in found] for k in range(len(calls))]
            else:
                actual = [tracejit.jit(slopes)(*calls[0])]
            for call, gradient, slope in zip(calls, actual, expected, strict=True):
                with self._unless_rounding_decides((*call, n), self.value((*call, n)), slope):
                    for name, g, e in zip("xya", gradient, slope, strict=True):
                        _require_close(g, e, f"{how} of the gradient", f"gradient by {name}")

    def check_changes(self, args: Any, plan: Plan, stage: str) -> None:
        """After a change of a program's state, calls give Python's results."""
        choose = random.Random(plan.seed)
        for k in range(plan.changes):
            self.change_state(choose)
            if not self.changes:
                return
            stage_now = f"{stage}, after {self.changes}"
            self.check_value(args, stage_now)
            if k % 2 == 0:
                self.check_gradient(args, stage_now)

    def check_reload(self, args: Any, stage: str) -> None:
        """A module that is loaded again has new functions; the old ones stay as they were."""
        old, plain, old_stage = self.jit, self._twin(float), f"{stage}, old function after a reload"
        self.reload()
        with self._accepting(old_stage), _quiet():
            try:
                expected = plain(*self.fresh(args))
                actual = old(*self.fresh(args)) if old is not None else expected
            except Exception:
                actual = expected = 0.0  # refused, or an error in plain Python
            if np.abs(expected) < LARGEST:
                _require_close(actual, expected, old_stage, "value")
        self.jit = self.gradients = None
        self.check_value(args, f"{stage}, after a reload")
        self.check_gradient(args, f"{stage}, gradient after a reload")

    def check_passes(self, args: Any) -> None:
        """Each pass keeps the graph well formed and its results."""
        with self._accepting("capture"):
            args = self.fresh(args)
            traced = tracejit.value_and_grad(self.function, argnums=(0, 1, 2)).trace(*args)
            graph = traced.program.graph
            verify_graph(graph)
            values = [args[k] if isinstance(k, int) else k.path.read()
                      for k in traced.program.sources]
            before = interpret(graph, *values)
        with self._accepting("passes"), tracejit.config(verify=True):
            after = interpret(traced.graph, *values)
            with self._unless_rounding_decides(args, self.value(args)):
                for b, a in zip(before, after, strict=True):
                    _require_close(a, b, "passes", "an output")
        self.check_jamming(traced.graph, values, after)

    def check_jamming(self, graph: Graph, values: Any, outputs: Any) -> None:
        """Loops that handle two rows at a time keep their results."""
        with self._accepting("jamming"):
            changed, loops = unroll_and_jam(graph)
            if loops:
                verify_graph(changed)
                for a, b in zip(interpret(changed, *values), outputs, strict=True):
                    _require_close(a, b, "jamming", "an output")

    def check_forward(self, args: Any, stage: str) -> None:
        """The tangent along v is the inner product of gradient and v."""
        *floats, n = args
        rng = np.random.default_rng(len(self.source))
        directions = [rng.standard_normal(np.shape(x))[()] for x in floats]
        self.value(args)
        derivatives = self.gradient(args)
        expected = sum(np.sum(g * v) for g, v in zip(derivatives, directions, strict=True))
        with self._accepting(stage):
            _, tangent = tracejit.jvp(lambda x, y, a: self.function(x, y, a, n))(
                tuple(self.fresh(args)[:3]), tuple(directions))
            _require_close(tangent, expected, stage, "tangent")

    def check_second(self, args: Any, stage: str) -> None:
        """The gradient of the sum of the gradient is the derivative of the gradient along ones."""
        self.value(args)
        expected = self.hessian_row_sums(args)
        n = args[-1]

        def total(x: Any, y: Any, a: Any) -> Any:
            gx, gy, ga = tracejit.grad(self.function, argnums=(0, 1, 2))(x, y, a, n)
            return np.sum(gx) + np.sum(gy) + ga

        with self._accepting(stage):
            actual = tracejit.grad(total, argnums=(0, 1, 2))(*self.fresh(args)[:3])
            for name, g, e in zip("xya", actual, expected, strict=True):
                _require_close(g, e, stage, f"second derivative by {name}", SECOND_TOLERANCE)

    @contextmanager
    def _accepting(self, stage: str) -> Iterator[None]:
        """Report every exception but a refusal as a mismatch."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                yield
        except (Mismatch, Rejected, tracejit.Refusal):
            raise
        except Exception as e:
            raise Mismatch(stage, f"{type(e).__name__}: {e}") from e


def check_program(source: str, plan: Plan) -> None:
    """Check all laws on one program, at two sizes; `Rejected` where there is nothing to check."""
    program = Program(source, plan.layouts, plan.overlap)
    rank = 1 if plan.overlap else 2
    args, small = arguments(4, rank=rank), arguments(2, rank=rank)
    stage = "kernel" if plan.compiled else "interpreter"
    second = plan.second and "stop_gradient" not in source and "broadcast" not in plan.layouts
    try:
        program.value(args)
        with tracejit.config(disable_jit=not plan.compiled, verify=plan.verify):
            program.check_passes(args)
            program.check_value(args, stage)
            program.check_gradient(args, f"{stage}, gradient")
            if second and not plan.overlap:
                program.check_second(args, f"{stage}, second order")
                program.check_forward(args, f"{stage}, forward mode")
            program.check_gradient(small, f"{stage}, gradient at another size")
            if plan.nested and not plan.overlap:
                program.check_nested(args, plan.nested)
            program.check_changes(args, plan, stage)
            if plan.reload:
                program.check_reload(small, stage)
    except tracejit.Refusal as e:
        if not re.match(r"<program \d+>:\d+: |.*program_laws\.py:\d+: ", str(e)):
            raise Mismatch("a refusal that names no line of the program", str(e)) from e
        raise Refused(str(e)) from None
    finally:
        program.forget()


def arguments(n: int, seed: int = 0, rank: int = 2) -> tuple[Any, ...]:
    """Return arguments of size n; y of rank 1 is of n numbers."""
    rng = np.random.default_rng([n, seed])
    return (rng.uniform(-1.5, 1.5, n), rng.uniform(-1.5, 1.5, (n, 3) if rank == 2 else n),
            float(rng.uniform(-1.5, 1.5)), n)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


def _is_close(a: Any, b: Any, tolerance: float) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    finite = np.isfinite(b)
    scale = max(1.0, float(np.max(np.abs(b[finite]), initial=0.0)))
    near = bool(np.all(np.abs(a[finite] - b[finite]) <= tolerance * scale))
    return near and np.array_equal(a[~finite], b[~finite], equal_nan=True)


def _agree(a: Any, b: Any) -> bool:
    return _is_close(a, b, TOLERANCE)


def _require_close(actual: Any, expected: Any, stage: str, what: str,
                   tolerance: float = TOLERANCE) -> None:
    if np.shape(actual) != np.shape(expected):
        raise Mismatch(stage, f"{what} has shape {np.shape(actual)}, not {np.shape(expected)}")
    if not _is_close(actual, expected, tolerance):
        raise Mismatch(stage, f"{what} is\n{actual}, not\n{expected}")
