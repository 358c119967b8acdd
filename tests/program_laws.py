"""The laws that every random program obeys, and Python itself as the oracle.

The derivative of a program is taken by the complex step: the same text runs with complex numbers,
in a namespace where arrays are made complex. NumPy orders complex numbers by their real parts and,
where those tie, by the imaginary ones; so a branch that decides by a tie shows as a difference
between steps to either side, and such kinks have no derivative to compare with.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tracejit
from tracejit.ir.core import Graph
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph
from tracejit.passes.jamming import unroll_and_jam

__all__ = ["Mismatch", "Program", "Rejected", "arguments", "check_program"]

STEP = 1e-30
"""The imaginary step: so small that its square is nothing."""

LARGEST = 1e5
"""Results beyond this are not compared: a loop has let its state grow."""

TOLERANCE = 1e-9
"""Relative error of values and first derivatives."""

SECOND_TOLERANCE = 1e-5
"""Relative error of second derivatives, whose reference is a central difference."""

DOCUMENTED = ("data decides which array it is", "while another name for the array is in use",
              "Make it as large as it will get before the loop")
"""What the refusals say that a program may meet: see the section on mutation in docs/design.md."""

_NUMBER = itertools.count()


class Rejected(Exception):
    """The program, or its derivative here, has no result to compare with."""


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

    def __init__(self, source: str) -> None:
        self.source = source
        self.file = f"<program {next(_NUMBER)}>"
        linecache.cache[self.file] = (len(source), None, source.splitlines(True), self.file)
        self.function = self._define(np)
        self.complex_function = self._define(_ComplexNumPy(), abs=_holomorphic_abs)

    @functools.cached_property
    def _finer(self) -> Callable[..., Any]:
        """The function on complex numbers of more digits."""
        return self._define(_ComplexNumPy(np.clongdouble), abs=_holomorphic_abs)

    def _define(self, numpy: Any, **more: Any) -> Callable[..., Any]:
        names = {"np": numpy, "__name__": "program", **more}
        exec(compile(self.source, self.file, "exec"), names)
        return names["f"]  # type: ignore[no-any-return]

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
        with _quiet():
            try:
                result = self.function(*map(_copy, args))
                twin = self.complex_function(*map(_copy, args))
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
                sides.append([self._one_sided(floats, n, k, step) for k in range(len(floats))])
        for up, down in zip(*sides, strict=True):
            if not np.all(np.abs(up) < LARGEST) or not _is_close(up, down, TOLERANCE):
                raise Rejected("there is a kink here")
        return sides[0]

    def _one_sided(self, floats: Any, n: int, k: int, step: float,
                   dtype: Any = complex) -> np.ndarray:
        function = self.complex_function if dtype is complex else self._finer
        result = np.zeros(np.shape(floats[k]))
        for index in np.ndindex(*result.shape):
            moved = [np.array(x, dtype) for x in floats]
            moved[k][index] += 1j * step
            result[index] = np.imag(function(*(m[()] for m in moved), n)) / step
        return result

    @contextmanager
    def _unless_rounding_decides(self, args: Any, value: float,
                                 derivatives: list[np.ndarray] | None = None) -> Iterator[None]:
        """Reject what differs if numbers with more digits give Python another result as well."""
        try:
            yield
        except Mismatch:
            *floats, n = args
            exact = [np.array(x, np.clongdouble)[()] for x in floats]
            with _quiet():
                finer = [np.real(self._finer(*exact, n))]
                if derivatives is not None:
                    finer += [self._one_sided(floats, n, k, STEP, np.clongdouble)
                              for k in range(len(floats))]
            if not all(_is_close(a, b, TOLERANCE / 10)
                       for a, b in zip(finer, [value, *(derivatives or ())], strict=True)):
                raise Rejected("rounding errors are as large as what is compared") from None
            raise

    def _overflows(self, args: Any) -> bool:
        """Return whether a number on the way to the result is too large for a float."""
        try:
            with np.errstate(over="raise"):
                self.function(*map(_copy, args))
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
        """`jit` returns what Python does, and writes to its arguments what Python writes."""
        theirs, ours = [[_copy(x) for x in args] for _ in range(2)]
        expected = self.value(theirs)
        with _quiet():
            self.function(*theirs)
        with self._accepting(stage):
            actual = tracejit.jit(self.function)(*ours)
            with self._unless_rounding_decides(args, expected):
                _require_close(actual, expected, stage, "value")
                for name, x, e in zip("xy", ours, theirs, strict=False):
                    _require_close(x, e, stage, f"{name} afterwards")

    def check_gradient(self, args: Any, stage: str, twin: Any = None) -> Any:
        """`value_and_grad` returns the value and its complex-step derivatives."""
        expected = self.value(args)
        with self._accepting(stage):
            function = twin or tracejit.value_and_grad(self.function, argnums=(0, 1, 2))
            before = [_copy(x) for x in args]
            value, gradient = function(*args)
            for x, b in zip(args, before, strict=True):
                if not np.array_equal(x, b):
                    raise Mismatch(stage, "an argument has been written to")
            with self._unless_rounding_decides(args, expected):
                _require_close(value, expected, stage, "value")
            derivatives = self.gradient(args)
            if any(np.any(np.isnan(g)) for g in gradient) and self._overflows(args):
                raise Rejected("a number overflows, and zero times infinity is NaN")
            with self._unless_rounding_decides(args, expected, derivatives):
                for name, g, e in zip("xya", gradient, derivatives, strict=True):
                    _require_close(g, e, stage, f"gradient by {name}")
            return function
        return None

    def check_passes(self, args: Any) -> None:
        """Each pass keeps the graph well formed and what it computes."""
        with self._accepting("capture"):
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
        """Loops that handle two rows at a time compute what they did."""
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
                tuple(floats), tuple(directions))
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
            actual = tracejit.grad(total, argnums=(0, 1, 2))(*args[:3])
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


def check_program(source: str, *, compiled: bool, verify: bool, second: bool = False) -> None:
    """Check all laws on one program, at two sizes; `Rejected` where there is nothing to check."""
    program = Program(source)
    args, stage = arguments(4), "kernel" if compiled else "interpreter"
    try:
        program.value(args)
        with tracejit.config(disable_jit=not compiled, verify=verify):
            program.check_passes(args)
            program.check_value(args, stage)
            function = program.check_gradient(args, f"{stage}, gradient")
            if second:
                program.check_second(args, f"{stage}, second order")
                program.check_forward(args, f"{stage}, forward mode")
            program.check_gradient(arguments(2), f"{stage}, gradient at another size", function)
    except tracejit.Refusal as e:
        if any(text in str(e) for text in DOCUMENTED):
            raise Rejected(str(e)) from None
        raise Mismatch("refusal", str(e)) from e
    finally:
        program.forget()


def arguments(n: int, seed: int = 0) -> tuple[Any, ...]:
    """Return arguments of size n."""
    rng = np.random.default_rng([n, seed])
    return (rng.uniform(-1.5, 1.5, n), rng.uniform(-1.5, 1.5, (n, 3)),
            float(rng.uniform(-1.5, 1.5)), n)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


def _copy(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _is_close(a: Any, b: Any, tolerance: float) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    finite = np.isfinite(b)
    scale = max(1.0, float(np.max(np.abs(b[finite]), initial=0.0)))
    near = bool(np.all(np.abs(a[finite] - b[finite]) <= tolerance * scale))
    return near and np.array_equal(a[~finite], b[~finite], equal_nan=True)


def _require_close(actual: Any, expected: Any, stage: str, what: str,
                   tolerance: float = TOLERANCE) -> None:
    if np.shape(actual) != np.shape(expected):
        raise Mismatch(stage, f"{what} has shape {np.shape(actual)}, not {np.shape(expected)}")
    if not _is_close(actual, expected, tolerance):
        raise Mismatch(stage, f"{what} is\n{actual}, not\n{expected}")
