"""`custom_root`, `custom_fixed_point`, `custom_linear_solve`: derivatives of solutions."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal

import numpy as np

from tracejit.autodiff.linear_solutions import (
    UNSOLVED,
    LinearSystem,
    linear_solution,
    system_of,
)
from tracejit.configuration import config
from tracejit.ir.core import Block, Value
from tracejit.ir.dims import product
from tracejit.ir.types import Aval
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.callbacks import call_back, called, described, note_callee
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.equations import (
    Policy,
    as_shaped,
    captured_solve,
    equations_of,
    with_derivatives,
)
from tracejit.scipy_api.objectives import computed_again
from tracejit.trace.ground.context import current, is_tracing, refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.state.paths import Holder, Path
from tracejit.trace.values.eager import holds_recorded, record_whole
from tracejit.trace.values.equations import apply, atom_of, cast, emit, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.specs import spec
from tracejit.trace.values.tracer import Tracer, tracer_of
from tracejit.transforms.signatures import by_place
from tracejit.tree import flatten, unflatten

__all__ = ["custom_fixed_point", "custom_linear_solve", "custom_root"]

Unconverged = Literal["raise", "warn", "nan"]
Solver = Callable[..., Any]


def custom_root(residual: Callable[..., object], *, argnums: int | tuple[int, ...] | None = None,
                has_aux: object = False, solve: Callable[..., object] | None = None,
                tol: float = 1e-6,
                unconverged: Unconverged = "raise") -> Callable[[Solver], Solver]:
    """Give a solver, which may be any Python code, the derivatives of the solution that it finds.

    residual    -- F(x, *args), captured like any function: it has the shape of x, real floats, and
                   is 0 at a solution. What it reads from closures counts as much as arguments
    argnums     -- the numbers of the solver's arguments by which there is a derivative, 1 being the
                   first behind x0; None for all. By x0 it is 0 always
    has_aux     -- False, or what the solver returns behind x, in a pair: specs as those of
                   `pure_callback`
    solve       -- solves linear systems with the Jacobian, `solve(matvec, b)`, captured; None for
                   an LU factorisation
    tol         -- the largest correction that one more step of Newton's method may make, as a part
                   of 1 + |x|, in the maximum norm
    unconverged -- "raise", "warn" or "nan": what happens where the correction is larger

    The result decorates `solver(x0, *args)`, which returns x with the dtype and shape of x0. In
    captured code it is called back with arrays, like a function of `pure_callback`, and its result
    is checked: with F and its Jacobian J there, Newton's correction J⁻¹F tells how far the solution
    is. Derivatives are those of the implicit function theorem, J x' = -F', of any order, in both
    modes. Outside of captured code the solver is called as it is, and its result checked in the
    same way, by the residual's capture.

    Raises `ArithmeticError`, when called, where x is no solution, `LinAlgError` where J is
    singular, `TypeError` or `ValueError` where x is not like x0.
    Raises `Refusal`, when called, for a solver that captured code makes, and for a residual that
    cannot be captured.

    >>> import numpy as np, tracejit
    >>> @tracejit.custom_root(lambda x, a: x * x - a)
    ... def root(x0, a):
    ...     low, high = 0.0, 10.0
    ...     while high - low > 1e-12:
    ...         middle = 0.5 * (low + high)
    ...         low, high = (middle, high) if middle * middle < a else (low, middle)
    ...     return 0.5 * (low + high)
    >>> round(float(tracejit.grad(root, argnums=1)(1.0, 4.0)), 9)
    0.25
    """
    return _decorator("custom_root", residual, argnums, has_aux, solve, tol, unconverged)


def custom_fixed_point(f: Callable[..., object], *, argnums: int | tuple[int, ...] | None = None,
                       has_aux: object = False, solve: Callable[..., object] | None = None,
                       tol: float = 1e-6,
                       unconverged: Unconverged = "raise") -> Callable[[Solver], Solver]:
    """Give a solver of x = f(x, *args) the derivatives of the fixed point that it finds.

    f           -- the function whose fixed point the solver looks for, captured
    argnums     -- the numbers of the solver's arguments by which there is a derivative, as of
                   `custom_root`
    has_aux     -- False, or specs of what the solver returns behind x
    solve       -- `solve(matvec, b)` for systems with f's Jacobian less the identity, or None
    tol         -- the largest correction of one step of Newton's method, of 1 + |x|
    unconverged -- "raise", "warn" or "nan"

    It is `custom_root` of `f(x, *args) - x`.

    Raises `ArithmeticError`, when called, where x is no fixed point; `LinAlgError`, `TypeError` and
    `ValueError` as of `custom_root`.
    Raises `Refusal`, when called, for a solver that captured code makes, and for a function that
    cannot be captured.

    >>> import numpy as np, tracejit
    >>> @tracejit.custom_fixed_point(lambda x, a: np.cos(a * x))
    ... def settled(x0, a):
    ...     x = x0
    ...     for _ in range(100):
    ...         x = np.cos(a * x)
    ...     return x
    >>> round(float(tracejit.grad(settled, argnums=1)(0.5, 1.0)), 6)
    -0.297474
    """
    def residual(x: object, *args: object) -> Any:
        _own(f)
        return call_function(f, (x, *args), {}) - x

    return _decorator("custom_fixed_point", residual, argnums, has_aux, solve, tol, unconverged)


def _decorator(name: str, residual: Callable[..., object], argnums: int | tuple[int, ...] | None,
               has_aux: object, solve: Callable[..., object] | None, tol: float,
               unconverged: str) -> Callable[[Solver], Solver]:
    """Return the decorator of solvers; what it holds is what tells two of them apart in a store."""
    if not callable(residual):
        raise TypeError(f"{name} takes a function, not {residual!r}")
    _require_policy(tol, unconverged)
    if has_aux is True:
        raise TypeError("has_aux=True does not say what the solver returns behind x. Give its "
                        "spec: has_aux=tracejit.spec('int')")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if numbers is not None and not all(type(k) is int and k >= 1 for k in numbers):
        raise ValueError(f"argnums is {argnums!r}: give numbers from 1 on, as the derivative by "
                         "x0, argument 0, is 0")
    told = repr((numbers, has_aux))  # a text in the closure, by which the store tells settings

    def decorate(solver: Solver) -> Solver:
        @functools.wraps(solver)
        def root(x0: object, *args: object, **kwargs: object) -> Any:
            args = by_place(solver, (x0, *args), kwargs)[1:]
            if not is_tracing():
                if holds_recorded((x0, args)):
                    return record_whole(root, (x0, *args), {})
                found = _called_plainly(solver, x0, args, has_aux)
                return _judged_plainly(root, residual, found, args, has_aux is not False,
                                       Policy(tol, unconverged, solve))
            note_callee(solver, name)
            for f in (residual, solve):
                _own(f)
            return _solved(solver, residual, x0, args, (numbers, has_aux, told),
                           Policy(tol, unconverged, solve))

        return root

    return decorate


def _require_policy(tol: float | None, unconverged: str) -> None:
    if unconverged not in ("raise", "warn", "nan"):
        raise ValueError(f"unconverged is 'raise', 'warn' or 'nan', not {unconverged!r}")
    if tol is not None and not tol > 0.0:
        raise ValueError(f"tol is a positive number, not {tol!r}")


def _own(f: object) -> None:
    """Let the attributes that a method, a partial or an object reads be captured state."""
    if f is not None and not isinstance(f, FunctionType):
        current().captured.own_bound(f, Path(Holder(f), getattr(f, "__name__", "residual")))


def _as_it_is(x: object, *args: object) -> object:
    """Return a solution that was found before."""
    return x


def _called_plainly(solver: Solver, x0: object, args: tuple[object, ...], has_aux: object) -> Any:
    """Call a solver outside of captured code; the kind of its result is checked."""
    start = x0 if type(x0) is float else np.asarray(x0)[()]
    _require_floats(np.asarray(start).dtype)
    like = spec("float") if type(start) is float else start
    return called(solver, like if has_aux is False else (like, has_aux), (start, *args))


_CHECKS: weakref.WeakKeyDictionary[object, Callable[..., object]] = weakref.WeakKeyDictionary()
"""By decorated solver: the transform that checks a solution."""


def _judged_plainly(root: object, residual: Callable[..., object], found: Any,
                    args: tuple[object, ...], has_aux: bool, policy: Policy) -> Any:
    """Return a result whose solution is checked like that of captured code."""
    from tracejit.transforms.public import jit

    if root not in _CHECKS:
        checked = _decorator("custom_root", residual, None, False, policy.solve, policy.tol,
                             policy.unconverged)(_as_it_is)
        _CHECKS[root] = jit(checked)
    with config(disable_jit=True):
        x = _CHECKS[root](found[0] if has_aux else found, *args)
    if policy.unconverged != "nan":
        return found
    return (x, found[1]) if has_aux else x


def _require_floats(dtype: np.dtype) -> None:
    if dtype.kind != "f":
        raise TypeError(f"a solver begins with real floats, and x0 is of {dtype}. Give "
                        "np.zeros(3), or 0.0")


def _solved(solver: Solver, residual: Callable[..., object], x0: object, args: tuple[object, ...],
            settings: tuple[tuple[int, ...] | None, object, str], policy: Policy) -> Any:
    """Call the solver back, and return its solution with derivatives.

    settings -- the numbers of the arguments by which there is one, and the specs of results behind
                it; as text, too
    """
    numbers, has_aux, _ = settings
    start = as_tracer(x0)
    _require_floats(start.dtype)
    held = _held(args)
    aux, structure = flatten(None if has_aux is False else has_aux)
    parts = [_like(start), *map(described, aux if has_aux is not False else ())]
    kinds, dtypes, shapes = zip(*parts, strict=True)
    _, nest = flatten(0.0 if has_aux is False else (0.0, has_aux))
    found, *others = call_back(solver, (stop_gradient(start), *held), nest, kinds, dtypes, shapes)
    if numbers is not None:
        args = tuple(x if k + 1 in numbers else h
                     for k, (x, h) in enumerate(zip(args, held, strict=True)))
    x = with_derivatives(equations_of(residual, as_tracer(found), args), as_tracer(found), policy)
    x.weak, x.cell.is_array = start.weak, start.is_array
    return x if has_aux is False else (x, unflatten(structure, others))


def _like(x: Tracer) -> tuple[str, np.dtype, Any]:
    kind = "array" if x.dims or x.is_array else "float" if x.weak else "scalar"
    return kind, x.dtype, x.dims


def _held(x: Any) -> Any:
    """Return a nest of arguments without derivatives."""
    leaves, structure = flatten(x)
    return unflatten(structure, [stop_gradient(y) if isinstance(y, TracedOperand) else y
                                 for y in leaves])


# --- linear systems -----------------------------------------------------------------------------


def custom_linear_solve(matvec: Callable[..., object], b: object, solve: Callable[..., object],
                        transpose_solve: Callable[..., object] | None = None,
                        symmetric: bool = False, *, tol: float | None = None,
                        unconverged: Unconverged = "raise") -> Any:
    """Return the solution x of A x = b that `solve` finds, with derivatives by b and by A.

    matvec          -- the product A x, a linear function of an array like b
    b               -- the right-hand side, an array of real floats or a number
    solve           -- `solve(matvec, b)` returns x; captured, and it may use `pure_callback`
    transpose_solve -- `transpose_solve(vecmat, c)` solves with the transposed matrix, whose product
                       `vecmat` is made of `matvec`; None: there is no derivative in reverse mode
    symmetric       -- whether A is symmetric: then `solve` is used for both. It is checked with
                       one pair of vectors
    tol             -- how large |b - A x| may be, as a part of |b| + |A x|, in the maximum norm;
                       None for 1e-6, or 1e-3 of float32
    unconverged     -- "raise", "warn" or "nan": what happens where it is larger

    No derivative goes through `solve`: A x' = b' - A' x, at every order. One product tells whether
    x is a solution, also of the systems that derivatives solve, with A and its transpose; that
    `matvec` is linear is not checked.

    Raises `ArithmeticError`, when called, where x is no solution.
    Raises `ValueError` where x is not like b, and where a matrix is not symmetric.
    Raises `Refusal` for a derivative in reverse mode without `transpose_solve`.

    >>> import numpy as np, tracejit
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> def solve(matvec, b):
    ...     x = np.zeros_like(b)
    ...     for _ in range(100):
    ...         x = x + 0.3 * (b - matvec(x))
    ...     return x
    >>> @tracejit.grad
    ... def f(b):
    ...     return tracejit.custom_linear_solve(lambda x: A @ x, b, solve, symmetric=True)[0]
    >>> f(np.array([1.0, 2.0])).round(6)
    array([ 0.6, -0.2])
    """
    if isinstance(tol, TracedOperand):
        raise refuse("custom_linear_solve with a tol= that is computed, or read from outside",
                     "Write the number into the call", "TJ205")
    _require_policy(tol, unconverged)
    if not is_tracing():
        return _solved_plainly(matvec, b, solve(matvec, b), tol, unconverged)
    right = as_tracer(b)
    if right.dtype.kind != "f":
        raise TypeError(f"custom_linear_solve takes real floats, and b is of {right.dtype}")
    v = Value(Aval(right.dtype, right.dims), "v")

    def times() -> Any:
        y = as_tracer(call_function(matvec, (tracer_of(v),), {}))
        if y.dtype != right.dtype or len(y.dims) != len(right.dims) or not all(
                map(same_dim, y.dims, right.dims)):
            raise ValueError(f"the product with a matrix is {y.aval}, and b is {right.aval}: it "
                             "has to be square")
        return as_shaped(y, right)

    block = computed_again((matvec,), (v,), times, "which multiplies by a matrix")
    turned = solve if symmetric else transpose_solve

    def by(how: Callable[..., object]) -> Callable[[Callable[..., Any]], Block]:
        return lambda product: captured_solve(how, product, right)

    system = system_of(block, by(solve), None if turned is None else by(turned))
    system.judged = _tolerance(right.dtype, tol), unconverged
    if symmetric:
        _require_symmetric(system, right)
    return linear_solution(system, right)


def _tolerance(dtype: np.dtype, tol: float | None) -> float:
    return tol if tol is not None else 1e-6 if dtype.itemsize >= 8 else 1e-3


def _solved_plainly(matvec: Callable[..., object], b: object, x: Any, tol: float | None,
                    unconverged: str) -> Any:
    """Return a solution outside of captured code, judged like one of captured code."""
    if holds_recorded((b, x)):
        return x
    right, image = np.asarray(b), np.asarray(matvec(x))
    away, size, other = (float(np.max(np.abs(y), initial=0.0)) for y in (
        right - image, right, image))
    if not np.isfinite(size) or away <= _tolerance(right.dtype, tol) * (size + other):
        return x
    text = UNSOLVED.format(away, size)
    if unconverged == "raise":
        raise ArithmeticError(text)
    if unconverged == "warn":
        warnings.warn(text, RuntimeWarning, stacklevel=3)
        return x
    return x * np.nan


def _require_symmetric(system: LinearSystem, like: Tracer) -> None:
    """End the program where u·A w and w·A u differ for two vectors."""
    place: Any = cast(apply("iota", size=product(like.dims)), like.dtype) + like.dtype.type(1)
    u, w = (apply("reshape", y, shape=like.dims)
            for y in (np.cos(place * place), np.sin(like.dtype.type(1.7) * place)))
    one, other = u * system.product(w), w * system.product(u)
    room = np.sum(np.abs(one)) + np.sum(np.abs(other))
    one, other = np.sum(one), np.sum(other)
    close = np.abs(one - other) <= 16.0 * np.sqrt(np.finfo(like.dtype).eps) * room
    emit("check", [*map(atom_of, (close, one, other))], {
        "error": "ValueError", "message": "a matrix that was said to be symmetric is not: for two "
        "vectors u.A w is {0:.6g}, and w.A u {1:.6g}"})
