"""`pure_callback`: any Python function, called while a compiled program runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

from tracejit.ir.core import Block, Eqn, Op, Params, Value
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Callback
from tracejit.ir.optable import add_op
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.ground.callbacks import Callee
from tracejit.trace.ground.context import current, is_tracing, refuse, refuse_at
from tracejit.trace.ground.dependencies import note_function
from tracejit.trace.ground.source import rewritten_source
from tracejit.trace.values.eager import holds_recorded, record_whole
from tracejit.trace.values.equations import atom_of, dims_of, emit, is_weak, lift
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.specs import ArgSpec
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of
from tracejit.tree import Structure, flatten, unflatten

__all__ = ["call_back", "called", "described", "note_callee", "pure_callback"]


def pure_callback(f: Callable[..., object], spec: object, /, *args: object) -> Any:
    """Call any Python function from captured and compiled code, with arrays and numbers of NumPy's.

    f    -- the function: a C extension's, SciPy's, one that reads files. It is never captured; it
            gives equal results for equal arguments, and may be called again, or not at all where
            nothing needs its result
    spec -- what it returns: `tracejit.spec("f64[3]")`, "f64[]" for a NumPy number, "float" for a
            Python one, or an array of the dtype and the shape of the result, `np.empty((n, 2))`;
            or a nest of those
    args -- its arguments: arrays, numbers and other objects, or nests of them

    It is called where the program has it: in a loop once per iteration, in `vmap` once for each
    element; from as many threads as call the program. Results are checked against the spec. It has
    no derivative: `custom_gradient` gives it one, `custom_root` that of a solution. Outside of
    captured code the function is called as it is, and its results checked.

    Raises `TypeError` or `ValueError` where results do not fit the spec, and what `f` raises.
    Raises `Refusal` for a derivative through it, and for a function made in captured code.

    >>> import math, numpy as np, tracejit
    >>> @tracejit.jit
    ... def f(x):
    ...     return 2.0 * tracejit.pure_callback(math.gamma, tracejit.spec("float"), x)
    >>> f(5.0)
    48.0
    """
    if not callable(f):
        raise TypeError(f"pure_callback takes a function, not a {type(f).__name__}")
    if not is_tracing():
        if holds_recorded(args):
            return record_whole(pure_callback, (f, spec, *args), {})
        return called(f, spec, args)
    note_callee(f, "pure_callback")
    specs, structure = flatten(spec)
    kinds, dtypes, shapes = zip(*map(described, specs), strict=True) if specs else ((), (), ())
    results = call_back(f, args, structure, kinds, dtypes, shapes)
    return unflatten(structure, results)


def call_back(f: Callable[..., object], args: Sequence[object], result: Structure,
              kinds: Sequence[str], dtypes: Sequence[np.dtype], shapes: Sequence[tuple[Dim, ...]],
              op: str = "pure_callback") -> list[Any]:
    """Emit a call of a Python function and return its results as traced values.

    result, kinds, dtypes, shapes -- the nest of the results, and the facts of each leaf
    """
    leaves, structure = flatten(list(args))
    given: list[Any] = []
    operands = []
    for x in leaves:
        if isinstance(x, (TracedOperand, np.ndarray)):
            x = lift(x)
            operands.append(atom_of(x))
            given.append(_kind_of(x))
        else:
            given.append((x,))
    callee = Callee(f, structure, given, result, kinds, dtypes)
    params = {"callee": callee, "dtypes": tuple(dtypes), "shapes": tuple(shapes)}
    made = emit(op, operands, params)
    return [_result(v, kind) for v, kind in zip(made, kinds, strict=True)]


def _result(v: Value, kind: str) -> Any:
    if kind in ("array", "scalar"):
        found = tracer_of(v)
        found.cell.is_array = kind == "array"
        return found
    return scalar_of(v, weak=True)


def _kind_of(x: Any) -> str:
    """Return the kind as which a traced value is handed over."""
    if isinstance(x, Tracer) and (x.dims or x.is_array):
        return "array"
    return {"f": "float", "i": "int", "c": "complex", "b": "bool"}[x.dtype.kind] if is_weak(
        x) else "scalar"


def note_callee(f: object, what: str) -> None:
    """Note a function that the program calls; refuse one that captured code has made."""
    for part in _parts_of(f):
        if isinstance(part, FunctionType):
            if rewritten_source(part.__code__) is not None:
                raise refuse(f"{what} of {part.__name__}, which captured code makes: what it reads "
                             "there is no number yet", "Define it outside, and pass as arguments "
                             "what it reads", "TJ505")
            note_function(part)
        elif _leads_to_traced(part, 4):
            raise refuse(f"{what} of a {type(part).__name__} that captured code makes",
                         "Make it outside, and pass as arguments what it reads", "TJ505")


def _leads_to_traced(x: object, depth: int) -> bool:
    """Return whether an object holds a value that captured code has computed."""
    if isinstance(x, TracedOperand):
        return True
    if depth == 0 or isinstance(x, (type, ModuleType)) or current().captured.is_from_outside(x):
        return False
    inside = list(x) if isinstance(x, (list, tuple, set)) else list(x.values()) if isinstance(
        x, dict) else list(vars(x).values()) if hasattr(x, "__dict__") else []
    return any(_leads_to_traced(y, depth - 1) for y in inside)


def _parts_of(f: object) -> list[object]:
    """Return the functions and objects of which a callable is made."""
    if current().captured.is_from_outside(f):
        return [f] if isinstance(f, FunctionType) else []
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(f, BuiltinFunctionType):
        return [getattr(f, "__func__", f), owner]
    if isinstance(f, BuiltinFunctionType) and owner is not None and not isinstance(
            owner, type) and type(owner).__name__ != "module":
        return [owner]
    if isinstance(f, functools.partial):
        return [*_parts_of(f.func), *f.args, *f.keywords.values()]
    return [f]


def described(spec: object) -> tuple[str, np.dtype, tuple[Dim, ...]]:
    """Return kind, dtype and shape of a result."""
    if isinstance(spec, ArgSpec):
        if spec.dtype is None or spec.kind in ("static", "generator"):
            raise TypeError("pure_callback takes specs of arrays and numbers")
        named = [n for n in spec.sizes or () if not isinstance(n, int)]
        if named:
            raise ValueError(f"the spec of a result says no number for the size {named[0]!r}. Give "
                             "an array of the shape in its place, np.empty((n, 3)) say")
        return spec.kind, spec.dtype, tuple(spec.sizes or ())
    if isinstance(spec, (np.ndarray, np.generic)):
        return "array" if isinstance(spec, np.ndarray) else "scalar", spec.dtype, spec.shape
    if isinstance(spec, Tracer):
        return _kind_of(spec), spec.dtype, tuple(dims_of(spec))
    raise TypeError(f"the spec of a result is a {type(spec).__name__}. Give tracejit.spec('f64[3]')"
                    ", or an array of the dtype and shape of the result")


def called(f: Callable[..., object], spec: object, args: tuple[object, ...]) -> Any:
    """Call a function and check its results, outside of captured code."""
    specs, structure = flatten(spec)
    kinds, dtypes, shapes = zip(*map(described, specs), strict=True) if specs else ((), (), ())
    callee = Callee(f, structure, (), structure, kinds, dtypes)
    leaves, call = flatten(list(args))
    given = unflatten(call, [x.copy() if isinstance(x, np.ndarray) else x for x in leaves])
    found = callee.checked(f(*given), shapes)
    return unflatten(structure, [
        x.item() if kind not in ("array", "scalar") else x if kind == "array" else x[()]
        for x, kind in zip(found, kinds, strict=True)])


# --- the op -------------------------------------------------------------------------------------


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return tuple(Aval(d, s) for d, s in zip(params["dtypes"], params["shapes"], strict=True))


def _reference(*operands: object, callee: Callee, dtypes: object,
               shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    copies = [np.array(x) for x in operands]  # which the function may write to
    return tuple(x[()] for x in callee.found(copies, shapes))


def _refuse_derivative(eqn: Eqn) -> NoReturn:
    raise refuse_at(eqn.site, f"the derivative of {eqn.params['callee']}, which is called as it is,"
                    " is not known", "Give it one by tracejit.custom_gradient, or of a solution by "
                    "tracejit.custom_root; tracejit.stop_gradient of its arguments says that there "
                    "is none", "TJ502")


def _vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> NoReturn:
    _refuse_derivative(eqn)


def _jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> NoReturn:
    _refuse_derivative(eqn)


for _name, _effect in (("pure_callback", False), ("effect_callback", True)):
    add_op(Op(name=_name, kind="opaque", infer=_infer, reference=_reference, lowering=Callback(),
              vjp=_vjp, jvp=_jvp, effect=_effect, cost=1e9, data={"samples": None, "kinds": "f"}))
