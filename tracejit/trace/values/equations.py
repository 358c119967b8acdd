"""From operands as users write them to equations: dtypes, broadcasting, ufuncs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.core import Atom, Block, Literal, Op, Params, Site, Value
from tracejit.ir.dims import Dim, Expr, bare_value, clamps, dim_values
from tracejit.ir.dtypes import DTYPES, is_half, remedy_for_dtype
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, Type
from tracejit.trace.ground.context import current, refuse, refuse_outside
from tracejit.trace.ground.dispatch import FUNCTIONS, UFUNCS, Changing, loop_dtypes
from tracejit.trace.ground.layouts import joined, lay_out
from tracejit.trace.ground.operators import OF_UFUNC
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.restarts import NeedLeast, NeedStatic
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.values.eager import Recorded
from tracejit.trace.values.identities import named
from tracejit.trace.values.mixed import Merged, Mixed, combined, settled
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer, describe, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ACCUMULATIONS", "COMPOSITES", "MIXED", "OF_SCALARS", "OF_THEIR_DTYPE", "PYTHON",
           "REDUCTIONS", "VARIANTS", "apply", "apply_inplace", "apply_operator", "apply_ufunc",
           "as_strong", "atom_of",
           "broadcast_dims", "cast", "dims_of", "dtype_of", "emit", "emit_value", "is_one",
           "is_weak", "lift", "of_scalars", "require_fits", "require_same_kind", "same_dim",
           "settle_ones", "supported", "to_dims", "written_as"]

SUPPORTED = frozenset(DTYPES.values())


def emit(op: Op | str, inputs: Sequence[Atom], params: Params | None = None,
         regions: Sequence[Block] = (), site: Site | None = None) -> tuple[Value, ...]:
    """Append an equation to the present capture and return its results."""
    op = find_op(op) if isinstance(op, str) else op
    made = current().builder.emit(op, inputs, params, regions, site)
    for v in made:
        _require_addressable(v.aval)
    return made


def _require_addressable(aval: Type) -> None:
    """Raise NumPy's error for an array of more bytes than 63 bits count, whatever its size is for.

    Sizes that are not known yet are looked at by each call (`codegen/plan.py`).
    """
    if not isinstance(aval, Aval):
        return
    consts = [d.const if isinstance(d, Expr) else d for d in aval.shape]
    if all(c < _LONG for c in consts):
        return
    if max(consts) > _MOST:
        raise ValueError("Maximum allowed dimension exceeded")
    known = [d for d in aval.shape if isinstance(d, int) and d]
    if math.prod(known) * aval.dtype.itemsize > _MOST:
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                         "maximum possible size.")


_LONG, _MOST = 2 ** 15, 2 ** 63 - 1
"""Sizes up to which shapes of at most four axes need no look, and the most that a word counts."""


def emit_value(op: Op | str, inputs: Sequence[Atom], params: Params | None = None) -> Value:
    """Append an equation with one result and return it."""
    (value,) = emit(op, inputs, params)
    return value


def apply(op: Op | str, *operands: object, **params: object) -> Tracer:
    """Append an equation on tracers and numbers and return its one result as a tracer."""
    return tracer_of(emit_value(op, [atom_of(x) for x in operands], params))


# --- operands -----------------------------------------------------------------------------------


_NUMBERS = (bool, int, float, complex)


def lift(x: Any) -> Any:
    """Return an operand as a tracer, a symbolic int or a number; refuse any other object."""
    if isinstance(x, (TracedOperand, *_NUMBERS, np.generic)):
        return np.asarray(x)[()] if _is_of_class(x) else x
    if isinstance(x, np.ndarray):
        if x.dtype not in SUPPORTED:
            raise refuse(f"arrays of dtype {x.dtype} cannot be captured",
                         remedy_for_dtype(x.dtype), "TJ301")
        captured = current().captured
        return x[()] if captured is None and not x.ndim else captured.constant(x)
    if isinstance(x, (list, tuple)):
        return ABOVE.array_of(x)
    if isinstance(x, range) or getattr(x, "what", "") == "a range":
        return FUNCTIONS[np.array](x)
    if isinstance(x, Recorded):
        return current().captured.recorded_value(x)
    if hasattr(type(x), "as_result"):  # the reading of a clock
        return x.as_result()
    if hasattr(type(x), "as_fields"):
        raise refuse("a structured array or record cannot be an operand of a captured operation",
                     "Use its fields: np.sum(a['x']), say", "TJ302")
    raise refuse(f"a {public_name(type(x))} cannot be an operand of a captured operation",
                 "Use arrays, numbers, or lists of them", "TJ317")


def dtype_of(x: object) -> np.dtype:
    """Return the dtype that an operand has on its own."""
    if isinstance(x, (Tracer, SymInt, np.generic, np.ndarray)):
        return x.dtype
    return np.dtype(type(_plain_number(x)))


def is_weak(x: object) -> bool:
    """Return whether an operand is a Python number, which does not promote NumPy dtypes."""
    if isinstance(x, Tracer):
        return x.weak
    return type(x) in _NUMBERS or isinstance(x, SymInt)


def _is_of_class(x: object) -> bool:
    """Return whether an object is a number of a class of its own, as `enum.IntEnum` makes them.

    NumPy promotes by such a number as by one of NumPy's; beside Python's numbers it is Python's.
    """
    return type(x) not in _NUMBERS and isinstance(x, _NUMBERS) and not isinstance(x, np.generic)


def _plain_number(x: Any) -> Any:
    """Return an operand; Python's number for one of a class of numbers."""
    return next(own(x) for t, own in _OWN_VALUES.items() if isinstance(x, t)) if (
        _is_of_class(x)) else x


_OWN_VALUES: dict[type, Callable[[Any], Any]] = {
    int: int.__int__, float: float.__float__, complex: complex.__complex__}
"""The value of a number past methods of its class: Python's arithmetic takes it, not NumPy's."""

_PYTHON_TYPES = {"i": int, "f": float, "c": complex}


def promotion_key(x: object) -> Any:
    """Return a dtype, or the Python type of a weak operand."""
    dtype = dtype_of(x)
    return _PYTHON_TYPES.get(dtype.kind, dtype) if is_weak(x) else dtype


def dims_of(x: object) -> tuple[Dim, ...]:
    """Return an operand's shape."""
    return x.dims if isinstance(x, Tracer) else ()


@above
def atom_of(x: object, dtype: np.dtype | None = None) -> Atom:
    """Return an operand as the operand of an equation, cast to `dtype` if one is given."""
    if isinstance(x, Tracer):
        value = x.value
        if dtype is not None and x.dtype != dtype:
            value = emit_value("cast", [value], {"dtype": dtype})
        return value
    if isinstance(x, SymInt):
        bare = bare_value(x.dim)
        if bare is None or bare.is_size:  # a size may yet turn out equal to others' sum, say
            bare = emit_value("size", [], {"of": x.dim})
        value = bare
        if dtype is not None and dtype != np.int64:
            _require_in_range(x, value, dtype)
            value = emit_value("cast", [value], {"dtype": dtype})
        return value
    try:
        return Literal(x, dtype or dtype_of(x))
    except OverflowError as error:  # NumPy's own, of an int that does not fit
        raise OverflowError(str(error)) from None


def _require_in_range(n: SymInt, value: Atom, dtype: np.dtype) -> None:
    """Raise NumPy's error where a Python int does not fit into an integer dtype."""
    if dtype.kind not in "iu":
        return
    info = np.iinfo(dtype)
    bounds = [n >= int(info.min)]
    if info.max < 1 << 63:
        bounds.append(n <= int(info.max))
    for inside in bounds:
        if inside is not True:
            emit("check", [atom_of(inside), value], {
                "error": "OverflowError",
                "message": f"Python integer {{0:.0f}} out of bounds for {dtype.name}"})


def supported(dtype: npt.DTypeLike) -> np.dtype:
    """Return a dtype that programs may have, or refuse."""
    found = np.dtype(dtype)
    if found not in SUPPORTED:
        raise refuse(f"dtype {found} cannot be captured", "Use float16, float32, float64, "
                     "complex64, complex128, an integer dtype or bool, and an array for each "
                     "field of a structured dtype", "TJ301")
    return found


@above
def cast(x: object, dtype: npt.DTypeLike) -> Tracer:
    """Return an operand with a dtype, as a handle of its own."""
    x, dtype = lift(x), supported(dtype)
    if isinstance(x, Mixed) and dtype in (np.float64, np.complex128):
        x = settled(x)
    a = atom_of(x, dtype)
    if isinstance(a, Literal):
        a = emit_value("full", [a], {"shape": ()})
    return tracer_of(a)


def as_strong(x: object) -> Any:
    """Return a Python int as an int64, which wraps where it is cast; others as they are."""
    if isinstance(x, SymInt):
        return tracer_of(emit_value("full", [atom_of(x)], {"shape": ()}))
    return np.int64(x) if isinstance(x, int) and not isinstance(x, bool) else x


def to_dims(shape: object) -> tuple[Dim, ...]:
    """Return a shape argument as dims."""
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    return tuple(to_dim(n) for n in shape)


def to_dim(n: Any) -> Dim:
    """Return an integer operand as a dim."""
    if isinstance(n, SymInt):
        return current().canonical(n.dim)
    if isinstance(n, Merged):
        n = n.as_int()
    if isinstance(n, Tracer):
        n = cast(n, np.int64) if n.weak and n.dtype.kind == "b" else n
        if n.dtype.kind not in "iu" or n.dims:
            raise TypeError(f"a {describe(n)} cannot be used as an integer")
        value = atom_of(n, np.dtype(np.int64))
        assert isinstance(value, Value)
        return value.dim
    return operator.index(n)


# --- shapes -------------------------------------------------------------------------------------


_DIFFERENT = "operands have different sizes {0:.0f} and {1:.0f}"
_OF_DATA = " (data decides one of them: there a size of 1 does not broadcast)"


def same_dim(a: Dim, b: Dim, message: str = _DIFFERENT) -> bool:
    """Return whether two dims are equal, assuming it of sizes where the present call allows.

    message -- of the `ValueError` at run time, where only data can tell
    """
    trace = current()
    a, b = trace.canonical(a), trace.canonical(b)
    if a == b:
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    _need_whole(a, b)
    if trace.unify(a, b):
        return True
    known = trace.is_known(a) and trace.is_known(b)
    if known and trace.number(a) != trace.number(b):
        return False
    if known and message == _DIFFERENT and not isinstance(a - b, int):
        trace.decide(a - b, "==", "two sizes are equal here")  # in other calls one may be 1
        return True
    left, right = (atom_of(as_operand(d)) for d in (a, b))
    if message == _DIFFERENT:
        message += _OF_DATA
    equal = emit_value("equal", [left, right])
    emit("check", [equal, left, right], {"error": "ValueError", "message": message})
    return True


def _need_whole(a: Dim, b: Dim) -> None:
    """Begin the capture again where a part of an axis has to be as long as it was asked for.

    `x[:, :10]` has min(n, 10) columns: where it meets a matrix with 10, n is 10 at the least.
    """
    trace = current()
    for d, other in ((a, b), (b, a)):
        if isinstance(d, Expr) and isinstance(other, int) and trace.is_known(d) and (
                trace.number(d) == other):
            for v, least in clamps(d):
                low, _ = trace.builder.known.get(v, (None, None))
                if v.is_size and isinstance(low, int) and low < least <= trace.actual[v] and not (
                        trace.captured is not None and v in trace.captured.constant_sizes):
                    raise NeedLeast(v, least, trace.builder.find_site(),
                                    "a part of the axis has to be as long as it was asked for")


def as_operand(d: Dim) -> Any:
    """Return a dim as an operand."""
    return SymInt(d) if isinstance(d, Expr) else d


def broadcast_dims(shapes: Sequence[tuple[Dim, ...]],
                   wrong: tuple[type[Exception], str] = (
                       ValueError, "operands could not be broadcast together"),
                   ) -> tuple[Dim, ...]:
    """Return the shape that shapes broadcast to, or raise NumPy's error, a class and a text."""
    trace = current()
    rank = max((len(s) for s in shapes), default=0)
    result: list[Dim] = []
    for axis in range(rank):
        dims = [s[axis - rank + len(s)] for s in shapes if len(s) >= rank - axis]
        chosen: Dim = 1
        for d in dims:
            d = trace.canonical(d)
            if d == 1 or d == chosen:
                continue
            if chosen == 1:
                chosen = d
            else:
                settle_ones(chosen, d)
                if not same_dim(chosen, d):
                    _stretch(chosen, d, shapes, wrong)
        result.append(trace.canonical(chosen))
    return tuple(result)


def settle_ones(a: Dim, b: Dim) -> None:
    """Begin the capture again where one size is 1 in this call, and data decides the other."""
    trace = current()
    if trace.is_known(a) != trace.is_known(b):
        is_one(a)
        is_one(b)


def is_one(d: Dim) -> bool:
    """Return whether a size, of which another one is wanted, is a 1 that broadcasts.

    One that is 1 in this call alone ends the attempt: the capture begins again with it fixed.
    """
    trace, why = current(), "a size of 1 broadcasts here"
    if isinstance(d, Expr) and trace.is_known(d) and trace.number(d) == 1:
        site = trace.builder.find_site()
        for v, least in clamps(d):
            low, _ = trace.builder.known.get(v, (None, None))
            if v.is_size and isinstance(low, int) and low < least <= trace.actual[v]:
                raise NeedLeast(v, least, site, why)  # x[:, 0:1] has min(m, 1) columns
        raise NeedStatic(next(dim_values(d)), site, why)
    return d == 1


def _stretch(a: Dim, b: Dim, shapes: Sequence[tuple[Dim, ...]],
             wrong: tuple[type[Exception], str]) -> None:
    """Two known sizes differ: one of them is 1 in this call, or NumPy would refuse too."""
    trace = current()
    for d in (a, b):
        is_one(d)
    known = all(trace.is_known(d) for s in shapes for d in s)
    texts = " ".join(str(tuple(trace.number(d) if known else d for d in s)) for s in shapes)
    error, text = wrong
    raise error(f"{text} with shapes {texts}")


def fit(x: Any, shape: tuple[Dim, ...]) -> Any:
    """Return an operand whose dims are written as in `shape`, or 1, axis by axis."""
    dims = dims_of(x)
    if not dims:
        return x
    canonical = current().canonical
    shape = tuple(map(canonical, shape))
    fitted = tuple(d if d == 1 else s
                   for d, s in zip(dims, shape[len(shape) - len(dims):], strict=True))
    return x if fitted == x.aval.shape else apply("reshape", x, shape=fitted)


def written_as(x: Tracer, shape: tuple[Dim, ...]) -> Any:
    """Return an operand with its dims written as in `shape`, whose dims are equal to them."""
    if not dims_of(x):
        return x
    shape = tuple(map(current().canonical, shape))
    return x if shape == x.aval.shape else apply("reshape", x, shape=shape)


# --- ufuncs -------------------------------------------------------------------------------------


def apply_ufunc(ufunc: np.ufunc, *operands: Any) -> Any:
    """Return `ufunc(*operands)`, computed in the dtypes in which NumPy would."""
    operands = tuple(lift(x) for x in operands)
    if any(isinstance(x, Mixed) for x in operands):
        return combined(apply_ufunc, ufunc, operands)
    op = UFUNCS.get(ufunc)
    if op is None and ufunc not in COMPOSITES:
        raise refuse_outside(
            f"{public_name(ufunc)} cannot be captured",
            "docs/coverage.md lists what can; tracejit.register_op makes new ops", "TJ201")
    if ufunc in MIXED:
        result = MIXED[ufunc](*operands)
        if result is not NotImplemented:
            return result
    try:
        dtypes = loop_dtypes(ufunc, tuple(promotion_key(x) for x in operands))
    except TypeError:
        kinds = " and ".join(describe(x) for x in operands)
        raise TypeError(f"np.{ufunc.__name__} is not defined for {kinds}") from None
    for t in dtypes:
        if t not in SUPPORTED:
            raise refuse(f"np.{ufunc.__name__} of {describe(operands[0])} is computed in {t}",
                         "Convert the operand with .astype(np.float64) first", "TJ206")
    if ufunc in COMPOSITES:
        result = _composed(ufunc, operands, dtypes)
        if result is not NotImplemented:
            return named(result if isinstance(result, tuple) else _laid_out(
                ufunc, result, operands), operands)
    assert op is not None
    shape = broadcast_dims([dims_of(x) for x in operands])
    if is_half(dtypes[0]) and not op.data.get("halves", True):
        raise refuse(f"np.{ufunc.__name__} of {dtypes[0]} cannot be captured",
                     "Convert the operands first: x.astype(np.float32)", "TJ206")
    op = VARIANTS.get((op, dtypes[0].kind), op)
    atoms = [atom_of(fit(x, shape), t) for x, t in zip(operands, dtypes, strict=False)]
    return named(_laid_out(ufunc, tracer_of(emit_value(op, atoms)), operands))


def _laid_out(ufunc: np.ufunc, result: Tracer, operands: Sequence[object]) -> Tracer:
    """Note how the result of a ufunc that users call lies; a function's own have no names."""
    if current().composing:
        return result
    if ufunc is np.matmul and len(result.dims) == 2:
        lay_out(result, "C")
    return result if ufunc.signature else joined(result, operands)


def _composed(ufunc: np.ufunc, operands: Sequence[Any], dtypes: Sequence[np.dtype]) -> Any:
    """Return the result of a ufunc written with others, in the dtypes of the ufunc's own loop.

    Halves are computed in float32, as in NumPy, and rounded once, but for OF_THEIR_DTYPE.
    """
    given = [_strong(x, t) for x, t in zip(operands, dtypes, strict=False)]
    if ufunc not in OF_THEIR_DTYPE:
        given = [_in_float32(x) if is_half(t) else x for x, t in zip(given, dtypes, strict=False)]
    result = COMPOSITES[ufunc](*given)
    if result is NotImplemented:
        return result
    parts = result if isinstance(result, tuple) else (result,)
    typed = [cast(x, t) for x, t in zip(parts, dtypes[len(operands):], strict=True)]
    return tuple(typed) if isinstance(result, tuple) else typed[0]


def _in_float32(x: object) -> Any:
    is_traced = isinstance(x, Tracer)
    return cast(x, np.dtype(np.float32)) if is_traced else np.asarray(x, np.float32)[()]


def _strong(x: object, dtype: np.dtype) -> Any:
    """Return an operand of a composed ufunc: nothing in it is an operator on Python's numbers."""
    if not isinstance(x, (Tracer, SymInt)):
        if isinstance(x, int) and dtype == np.bool_ and not -1 << 63 <= x < 1 << 63:
            raise OverflowError("Python int too large to convert to C long")
        return dtype.type(x) if isinstance(x, (bool, int, float, complex)) else x
    if x.dtype != dtype:
        return cast(x, dtype)
    return as_strong(x) if isinstance(x, SymInt) else tracer_of(x.value) if x.weak else x


VARIANTS: dict[tuple[Op, str], Op] = {}
"""The op in another op's place for truth values or complex numbers, by dtype kind."""

MIXED: dict[Any, Callable[..., Any]] = {}
"""Captures of ufuncs for operands that no one dtype holds; `NotImplemented` for all others."""

COMPOSITES: dict[Any, Callable[..., Any]] = {}
"""Ufuncs that are written with others; `NotImplemented` sends a call back to the ufunc's own op."""

OF_THEIR_DTYPE: set[np.ufunc] = set()
"""Those of them that are about the floats of a dtype, and get halves as they are."""


def _without_classes(operands: tuple[object, ...]) -> tuple[Any, ...]:
    """Return operands of an operator, the value of each number of a class of its own for it."""
    weak = all(is_weak(x) or _is_of_class(x) for x in operands)
    if isinstance(operands[0], (float, complex)):  # to Python a np.float64 is a float
        weak |= not any(isinstance(x, Tracer) and (x.is_array or x.dtype != np.float64)
                        for x in operands)
    return tuple(_plain_number(x) if weak else lift(x) for x in operands)


@above
def apply_operator(ufunc: np.ufunc, *operands: Any) -> Any:
    """Return the result of a Python operator: as its ufunc, but Python numbers stay weak."""
    if any(map(_is_of_class, operands)):
        operands = _without_classes(operands)
    if any(isinstance(x, (list, tuple)) for x in operands) and ufunc is np.add and not any(
            isinstance(x, Tracer) for x in operands):
        return NotImplemented
    others = [x for x in operands if _is_no_operand(ufunc, operands, x)]
    if others:  # a class of the user's may have operators of its own, which Python asks
        of_array = any(isinstance(x, Tracer) and x.is_array for x in operands)
        known = all(isinstance(x, TracedOperand) or type(x) in _OF_PYTHON or (
            of_array and isinstance(x, str)) for x in others)
        return _as_python(ufunc, operands) if known else NotImplemented
    if any(isinstance(x, Mixed) for x in operands):
        return combined(apply_operator, ufunc, tuple(lift(x) for x in operands))
    if ufunc in _OF_COMPLEX and _is_complex_with_float(*operands):
        x, y = operands
        operands = x, tracer_of(y.value, weak=True) if isinstance(y, Tracer) else float(y)
    if ufunc is np.power and isinstance(operands[0], Tracer) and operands[0].is_array and (
            operands[0].dtype == np.bool_ and type(operands[1]) is int and operands[1] == 2):
        ufunc, operands = np.square, operands[:1]  # as NumPy's operator does, and np.power does not
    weak = all(is_weak(x) for x in operands)
    if weak and ufunc in _ARITHMETIC and all(dtype_of(x).kind == "b" for x in operands):
        operands = tuple(cast(x, np.int64) for x in operands)  # True + True is 2 in Python
    if weak and ufunc in EXACT_INTS and {dtype_of(x).kind for x in operands} == {"b", "i"}:
        return EXACT_INTS[ufunc](*(x if dtype_of(x).kind == "i" else _as_int(x) for x in operands))
    result = PYTHON[ufunc](*operands) if weak and ufunc in PYTHON else NotImplemented
    if isinstance(result, (int, float)):
        return result
    if result is NotImplemented:
        result = of_scalars(ufunc, *operands)
    if weak and result.dtype.kind in "bifc":
        result.weak = True
        if result.dtype == np.int64:
            return SymInt(result.value.dim)
    return result


OF_SCALARS: dict[Any, Callable[..., Any]] = {}
"""Captures of operators on scalars that differ from the ufunc; else `NotImplemented`."""


def of_scalars(ufunc: np.ufunc, *operands: object) -> Any:
    """Return the result of an operator, whose operands may be scalars."""
    if ufunc in OF_SCALARS:
        result = OF_SCALARS[ufunc](*operands)
        if result is not NotImplemented:
            return result
    return apply_ufunc(ufunc, *operands)


def _is_no_operand(ufunc: np.ufunc, operands: Sequence[object], x: object) -> bool:
    """Return whether an operator on numbers cannot take `x` as its other operand."""
    if isinstance(x, TracedOperand):
        return ufunc is np.matmul and not (isinstance(x, Tracer) and x.is_array)
    return x is None or isinstance(x, (str, dict, set)) or (isinstance(x, (list, tuple)) and any(
        isinstance(y, TracedOperand) and is_weak(y) for y in operands))


_OF_EXTREMES = {np.maximum: operator.gt, np.minimum: operator.lt}
"""The comparisons that `max` and `min` make, the new one first."""
_OF_PYTHON = {type(None), str, dict, set, list, tuple}


def _as_python(ufunc: np.ufunc, operands: Sequence[object]) -> Any:
    """Raise Python's error where an operand is no number, or leave the operator to Python.

    Python itself is asked, with ones of the same types. The comparison of an array with such an
    operand gives an array of its shape.
    """
    examples = [_one_like(x) if isinstance(x, TracedOperand) else x for x in operands]
    if ufunc in _OF_EXTREMES:
        found = _OF_EXTREMES[ufunc](*reversed(examples))
    else:
        found = OF_UFUNC[ufunc].plain(*examples)
    if not isinstance(found, np.ndarray):
        return NotImplemented
    array, = (x for x in operands if isinstance(x, Tracer))
    return FUNCTIONS[np.full_like](array, bool(found.all()), dtype=np.bool_)


def _one_like(x: TracedOperand) -> Any:
    if isinstance(x, Tracer) and x.is_array:
        return np.ones((1,) * len(x.dims), x.dtype)
    one = dtype_of(x).type(1)
    return one.item() if is_weak(x) else one


_OF_COMPLEX = {np.add, np.subtract, np.multiply, np.true_divide, np.power, np.equal, np.not_equal}
"""The operators of which a Python complex number on the left has a method for floats."""


def _is_complex_with_float(x: object, y: object) -> bool:
    """Return whether a complex number of Python's is beside a float64, which is a Python float."""
    return is_weak(x) and dtype_of(x).kind == "c" and not is_weak(y) and (
        dtype_of(y) == np.float64) and not (
            (y.is_array or y.dims) if isinstance(y, Tracer) else isinstance(y, np.ndarray))


_ARITHMETIC = {np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.power,
               np.negative, np.absolute, np.invert, np.left_shift, np.right_shift}
"""The operators that take Python's bools for ints."""


EXACT_INTS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul}
"""The operators of which a result that leaves 64 bits is noticed."""


def _as_int(x: object) -> Any:
    """Return a truth value as the int that it is in Python's arithmetic."""
    return int(x) if isinstance(x, bool) else SymInt(cast(x, np.int64).value.dim)


PYTHON: dict[Any, Callable[..., Any]] = {}
"""Captures of operators on Python's numbers alone; `NotImplemented` goes on as the ufunc."""


@above
def apply_inplace(ufunc: np.ufunc, target: Tracer, other: object) -> Any:
    """Return `target` after `target op= other`: the same array, written to, or a new scalar."""
    if isinstance(target, Changing):
        return apply_operator(ufunc, target.read_value(), other)
    if not target.is_array:
        return apply_operator(ufunc, target, other)
    if isinstance(target, Merged) and ABOVE.count_names(target) > 1:
        raise refuse("an in-place operator on what is a number on one path and an array without "
                     "axes on another, while it has another name",
                     "Write x = x + 1, which changes neither", "TJ404")
    if isinstance(target, Merged) and any(k.weak for k in target.kinds):
        return ABOVE.for_each_kind(target, lambda y: apply_inplace(ufunc, y, other))
    result = apply_ufunc(ufunc, target, other)
    if isinstance(target, Merged) and result.aval != target.aval:
        return ABOVE.for_each_kind(target, lambda y: apply_inplace(ufunc, y, other))
    require_fits(ufunc, result, target)
    target[...] = result
    return target


def require_fits(ufunc: np.ufunc, result: Tracer, target: Tracer) -> None:
    """Raise NumPy's error where the result of `op=` does not fit its array in dtype or shape."""
    require_same_kind(ufunc, result, target)
    product = ufunc is np.matmul  # which makes its own shape: nothing is broadcast to the target
    if result.ndim > target.ndim or (product and not (
            result.ndim == target.ndim and all(map(same_dim, result.dims, target.dims)))):
        raise ValueError(f"non-broadcastable output operand with shape {target.shape} doesn't "
                         f"match the broadcast shape {result.shape}")


def require_same_kind(ufunc: np.ufunc, result: Tracer, target: Tracer) -> None:
    """Raise NumPy's error where a result cannot be cast to the array that it is written to."""
    if not np.can_cast(result.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"Cannot cast ufunc '{ufunc.__name__}' output from {result.dtype!r} to "
                        f"{target.dtype!r} with casting rule 'same_kind'")


REDUCTIONS: dict[Any, Callable[..., Any]] = {}
"""From a ufunc to the capture of its `reduce`; `ACCUMULATIONS` for its `accumulate`."""
ACCUMULATIONS: dict[Any, Callable[..., Any]] = {}
