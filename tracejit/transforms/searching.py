"""SciPy's searches as functions that a program calls back, with the graphs of users' functions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.core import Block, Graph, Literal, Value
from tracejit.ir.dims import bare_value, dim_values
from tracejit.ir.parser import parse_graph
from tracejit.ir.types import scalar
from tracejit.ir.walk import copy_block, copy_type, free_values
from tracejit.runtime.function import make_function
from tracejit.runtime.graphs import NativeKernel
from tracejit.trace.values.equations import emit_value

__all__ = ["SEARCHES", "ScipySearch", "graph_of", "restored"]

Function = Callable[..., Any]


def graph_of(blocks: Sequence[Block], name: str) -> tuple[list[Graph], list[Value]]:
    """Return blocks of an unknown as graphs, and the values that they read, which are inputs."""
    found = dict.fromkeys(v for block in blocks for v in free_values(block))
    for d in blocks[0].inputs[0].aval.shape:
        if bare_value(d) is None:  # arrays say the sizes that it is made of
            found.update(dict.fromkeys(_array_of(v) for v in dim_values(d)))
    shapes = [d for v in (blocks[0].inputs[0], *found) if not v.is_log for d in v.aval.shape]
    bare = dict.fromkeys(v for d in shapes if (v := bare_value(d)) is not None)
    for d in shapes:
        found.update(dict.fromkeys(dim_values(d)))
    given = [v for v in found if v not in bare]
    graphs = []
    for block in blocks:
        env: dict[Value, Any] = {
            v: Value(scalar(np.int64), v.name or f"n{k}", is_size=True)
            for k, v in enumerate(bare)}
        for v in (*block.inputs, *given):
            env[v] = Value(copy_type(v.aval, env), v.name)
        inner = copy_block(Block((), block.eqns, block.outputs), env)
        inputs = tuple(env[v] for v in (*block.inputs, *given))
        graphs.append(Graph(name, tuple(env[v] for v in bare),
                            Block(inputs, inner.eqns, inner.outputs)))
    return graphs, given


def _array_of(size: Value) -> Value:
    """Return an array of a size."""
    return emit_value("full", [Literal(0.0, np.dtype(np.float64))], {"shape": (size.dim,)})


class ScipySearch:
    """One of SciPy's searches for what functions, given as graphs, make it find.

    name -- that of SciPy's function
    """

    name: str
    graphs: Sequence[Graph]

    __module__ = "tracejit.transforms.searching"

    def __init__(self, name: str, graphs: Sequence[Graph]) -> None:
        self.name, self.graphs = name, graphs
        self.__qualname__ = f"scipy.optimize.{name}"
        self._kernels = [make_function(NativeKernel(g)) for g in graphs]

    def __call__(self, given: Sequence[object], args: Sequence[object],
                 settings: dict[str, object]) -> Any:
        """Search, with the values that the graphs read, arguments and keywords of the search."""
        values = [np.bool_(x) if type(x) is bool else x for x in given]
        functions = [functools.partial(_value, kernel, values) for kernel in self._kernels]
        return SEARCHES[self.name](functions, *args, **settings)

    def stored(self) -> list[Any]:
        """Return texts that `restored` makes this of again."""
        texts = [str(g) for g in self.graphs]
        for text in texts:
            parse_graph(text)
        return [self.name, *texts]


def restored(texts: Sequence[str]) -> ScipySearch:
    """Return the search of which `stored` gave texts."""
    import tracejit.scipy_api  # noqa: F401  (with the ops that the texts name)

    return ScipySearch(texts[0], [parse_graph(text) for text in texts[1:]])


def _value(kernel: Function, values: Sequence[object], x: object) -> Any:
    point = np.asarray(x, float)
    return kernel(point if point.ndim else np.float64(point), *values)[0]


# --- what is called -----------------------------------------------------------------------------


def _require(success: object, message: object, name: str, module: str = "optimize") -> None:
    """Raise `ArithmeticError` where a search says that it has found nothing."""
    if not success:
        raise ArithmeticError(f"scipy.{module}.{name} found no solution: {message}")


def _root(functions: Sequence[Function], x0: np.ndarray, **settings: Any) -> Any:
    import scipy.optimize

    found = scipy.optimize.root(functions[0], x0, jac=functions[1] if len(functions) > 1 else None,
                                **settings)
    _require(found.success, found.message, "root")
    return np.asarray(found.x, float), int(found.nfev)


def _fsolve(functions: Sequence[Function], x0: np.ndarray, **settings: Any) -> Any:
    import scipy.optimize

    x, told, flag, message = scipy.optimize.fsolve(
        functions[0], x0, fprime=functions[1] if len(functions) > 1 else None, full_output=True,
        **settings)
    if flag != 1:
        raise ArithmeticError(f"scipy.optimize.fsolve found no solution: {message}")
    return np.asarray(x, float), int(told["nfev"])


def _toms748(functions: Sequence[Function], a: float, b: float, **settings: Any) -> Any:
    import scipy.optimize

    x, told = scipy.optimize.toms748(functions[0], a, b, full_output=True, **settings)
    return float(x), int(told.function_calls)


def _minimize_scalar(functions: Sequence[Function], **settings: Any) -> Any:
    import scipy.optimize

    found = scipy.optimize.minimize_scalar(functions[0], **settings)
    _require(found.success, found.message, "minimize_scalar")
    return np.float64(found.x), int(found.nfev)


def _minimize(functions: Sequence[Function], x0: np.ndarray, **settings: Any) -> Any:
    import scipy.optimize

    if "bounds" in settings:
        settings["bounds"] = scipy.optimize.Bounds(*settings["bounds"])
    found = scipy.optimize.minimize(functions[0], x0, jac=functions[1] if len(
        functions) > 1 else None, **settings)
    _require(found.success, found.message, "minimize")
    return np.asarray(found.x, float), int(found.nfev)


def _least_squares(functions: Sequence[Function], x0: np.ndarray,
                   **settings: Any) -> Any:
    import scipy.optimize

    if len(functions) > 1:
        settings["jac"] = functions[1]
    found = scipy.optimize.least_squares(functions[0], x0, **settings)
    _require(found.success, found.message, "least_squares")
    return np.asarray(found.x, float), int(found.nfev)


def _curve_fit(functions: Sequence[Function], x0: np.ndarray, y: np.ndarray,
               **settings: Any) -> Any:
    import scipy.optimize

    def model(_: object, *p: float) -> Any:
        return functions[0](np.array(p))

    try:
        x, _, told, *_ = scipy.optimize.curve_fit(model, np.arange(len(y)), y, x0, full_output=True,
                                                  **settings)
    except RuntimeError as e:
        raise ArithmeticError(f"scipy.optimize.curve_fit found no solution: {e}") from None
    return np.asarray(x, float), int(told["nfev"])


# --- initial value problems -----------------------------------------------------------------------


def _assembled(rows: np.ndarray, is_sparse: bool) -> Any:
    """Return the Jacobian of a state and its sensitivities, of rows of derivatives by the state.

    Each sensitivity has the state's own Jacobian for itself: blocks on the diagonal.
    """
    columns = np.asarray(rows).T
    base = columns.shape[1]
    count = len(columns) // base if base else 1
    if count == 1:
        return columns
    if not is_sparse:
        whole = np.kron(np.eye(count), columns[:base])
        whole[:, :base] = columns
        return whole
    from scipy.sparse import coo_array, eye_array, hstack, kron, vstack

    rest = kron(eye_array(count - 1), columns[:base])
    above = coo_array((base, (count - 1) * base))
    return hstack([coo_array(columns), vstack([above, rest])], format="csc")


def _solved_problem(functions: Sequence[Function], start: float, end: float, y0: np.ndarray,
                    at: np.ndarray | None, limits: tuple[object, object, float],
                    method: str) -> Any:
    """Return times, states and the number of calls of an initial value problem."""
    import scipy.integrate

    f, jac = functions[0], functions[1]
    rtol, given, most = limits
    atol = np.asarray(given)
    if atol.ndim and len(atol) < len(y0):
        atol = np.tile(atol, len(y0) // len(atol))
    is_sparse = method in ("Radau", "BDF")

    def slope(t: float, y: np.ndarray) -> Any:
        return f(np.concatenate(([t], y)))

    def by_state(t: float, y: np.ndarray) -> Any:
        return _assembled(jac(np.concatenate(([t], y))), is_sparse)

    if method == "odeint":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.integrate.ODEintWarning)
            y, told = scipy.integrate.odeint(slope, y0, at, Dfun=by_state, full_output=True,
                                             rtol=rtol, atol=atol, tfirst=True)
        fine = len(y) == 1 or told["message"] == "Integration successful."  # one: nothing to do
        _require(fine, told["message"], "odeint", "integrate")
        return at, y, 0
    if start == end and at is not None:  # of which SciPy makes lists without a state
        return at, np.tile(y0, (len(at), 1)), 0
    found = scipy.integrate.solve_ivp(slope, (start, end), y0, method, at, rtol=rtol, atol=atol,
                                      max_step=most, jac=by_state)
    _require(found.success, found.message, "solve_ivp", "integrate")
    return found.t, np.ascontiguousarray(found.y.T), found.nfev


def _trajectory(functions: Sequence[Function], start: float, end: float, y0: np.ndarray,
                at: np.ndarray, rtol: float, atol: np.ndarray, most: float, method: str) -> Any:
    _, y, count = _solved_problem(functions, start, end, y0, at, (rtol, atol, most), method)
    return np.asarray(y, float), int(count)


def _times(functions: Sequence[Function], start: float, end: float, y0: np.ndarray,
           at: np.ndarray, rtol: float, atol: np.ndarray, most: float, method: str) -> Any:
    t, _, _ = _solved_problem(functions, start, end, y0, None, (rtol, atol, most), method)
    return np.asarray(t, float), len(t)


def _steps(functions: Sequence[Function], *args: Any) -> Any:
    _, count = _times(functions, *args)
    return np.float64(count), count


SEARCHES: dict[str, Callable[..., Any]] = {
    "root": _root, "fsolve": _fsolve, "toms748": _toms748, "minimize_scalar": _minimize_scalar,
    "minimize": _minimize, "least_squares": _least_squares, "curve_fit": _curve_fit,
    "trajectory": _trajectory, "times": _times, "steps": _steps}
"""By the name of SciPy's function: functions, arguments and settings to a solution, and a count."""
