"""Tracers: what stands for arrays, scalars and integers while a function is captured.

A `Tracer` is a handle on a storage cell; two handles on one cell are aliases, as two NumPy views
of one buffer are. A `SymInt` is a Python int whose number is not known yet: a dim.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import MissingAttribute, Refusal
from tracejit.ir.builder import BlockScope
from tracejit.ir.core import Literal, Site, Value
from tracejit.ir.dims import Dim, Expr, atom, dim_values, floor_div, is_nonneg, mod
from tracejit.ir.dtypes import DTYPES, dtype_name
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, is_differentiable
from tracejit.trace.ground.context import (
    Cell,
    current,
    is_tracing,
    refuse,
    refuse_at,
    refuse_outside,
)
from tracejit.trace.ground.dispatch import FUNCTIONS, METHODS, PROPERTIES
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.restarts import NeedStatic
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.ground.views import Step, read_view

__all__ = ["FIELD", "CellPlace", "Lifted", "SymInt", "TracedOperand", "Tracer", "describe",
           "need_int", "of_dim", "python_dims", "scalar_of", "text_number", "tracer_of"]


def _ufunc_operator(ufunc: np.ufunc, *, reflected: bool = False) -> Callable[..., Any]:
    def method(self: object, other: object) -> Any:
        if not reflected and ufunc in getattr(type(other), "operates_first", ()):
            return NotImplemented
        operands = (other, self) if reflected else (self, other)
        return ABOVE.apply_operator(ufunc, *operands)

    return method


def _inplace(ufunc: np.ufunc) -> Callable[..., Any]:
    def method(self: object, other: object) -> Any:
        return ABOVE.apply_inplace(ufunc, self, other)

    return method


def _unary(ufunc: np.ufunc) -> Callable[..., Any]:
    def method(self: object) -> Any:
        return ABOVE.apply_operator(ufunc, self)

    return method


class TracedOperand:
    """What tracers and symbolic ints share: operators, and refusals of what cannot be captured."""

    __slots__ = ()
    __array_priority__: float = 1000.0

    __add__: Any = _ufunc_operator(np.add)
    __radd__: Any = _ufunc_operator(np.add, reflected=True)
    __sub__: Any = _ufunc_operator(np.subtract)
    __rsub__: Any = _ufunc_operator(np.subtract, reflected=True)
    __mul__: Any = _ufunc_operator(np.multiply)
    __rmul__: Any = _ufunc_operator(np.multiply, reflected=True)
    __truediv__: Any = _ufunc_operator(np.true_divide)
    __rtruediv__: Any = _ufunc_operator(np.true_divide, reflected=True)
    __floordiv__: Any = _ufunc_operator(np.floor_divide)
    __rfloordiv__: Any = _ufunc_operator(np.floor_divide, reflected=True)
    __mod__: Any = _ufunc_operator(np.remainder)
    __rmod__: Any = _ufunc_operator(np.remainder, reflected=True)
    __pow__: Any = _ufunc_operator(np.power)
    __rpow__: Any = _ufunc_operator(np.power, reflected=True)
    __and__: Any = _ufunc_operator(np.bitwise_and)
    __rand__: Any = _ufunc_operator(np.bitwise_and, reflected=True)
    __or__: Any = _ufunc_operator(np.bitwise_or)
    __ror__: Any = _ufunc_operator(np.bitwise_or, reflected=True)
    __xor__: Any = _ufunc_operator(np.bitwise_xor)
    __rxor__: Any = _ufunc_operator(np.bitwise_xor, reflected=True)
    __lshift__: Any = _ufunc_operator(np.left_shift)
    __rlshift__: Any = _ufunc_operator(np.left_shift, reflected=True)
    __rshift__: Any = _ufunc_operator(np.right_shift)
    __rrshift__: Any = _ufunc_operator(np.right_shift, reflected=True)
    __matmul__: Any = _ufunc_operator(np.matmul)
    __rmatmul__: Any = _ufunc_operator(np.matmul, reflected=True)
    __lt__: Any = _ufunc_operator(np.less)
    __le__: Any = _ufunc_operator(np.less_equal)
    __gt__: Any = _ufunc_operator(np.greater)
    __ge__: Any = _ufunc_operator(np.greater_equal)
    __neg__: Any = _unary(np.negative)
    __invert__: Any = _unary(np.invert)
    __pos__: Any = _unary(np.positive)
    __abs__: Any = _unary(np.absolute)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return _compared_with_no_number(self, other, equal=False)
        return _ufunc_operator(np.equal)(self, other)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return _compared_with_no_number(self, other, equal=True)
        return _ufunc_operator(np.not_equal)(self, other)

    def __hash__(self) -> int:
        raise refuse("a number that only the run knows, in a set, as a key of a dict or as an "
                     "argument of a function with a cache",
                     "Use lists, or a Python int argument for the key")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object,
                        **kwargs: object) -> Any:
        # NumPy hands on its scalars as arrays: `np.float64(0.0) >= x`
        inputs = tuple(x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs)
        return ABOVE.call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Callable[..., object], types: object, args: Any,
                           kwargs: Any) -> Any:
        capture = FUNCTIONS.get(func)
        if capture is None:
            raise refuse_outside(
                f"{public_name(func)} cannot be captured",
                "Write it with operations that are listed in docs/coverage.md, or make it an op "
                "with tracejit.register_op")
        return ABOVE.naming(capture)(*args, **kwargs)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise refuse_outside(
            "a traced value would leave the capture: something asked for its array",
            "Use NumPy functions and operators on it, or tracejit.register_op for foreign code")

    def __reduce__(self) -> NoReturn:
        raise refuse("a traced value cannot be pickled", "Return it instead")


def _compared_with_no_number(x: object, other: object, *, equal: bool) -> Any:
    """Return what `==` or `!=` with `None` or a text is: element by element of arrays."""
    if not isinstance(x, Tracer) or x.weak or (other is None and not (x.is_array or x.dims)):
        return equal
    truth = Literal(equal, np.dtype(np.bool_))
    return tracer_of(_emit_one(find_op("full"), (truth,), {"shape": x.dims}))


class NamedView:
    """A view as a value of its own: of which handle, and what was read of it, in which block."""

    base: Tracer
    step: Step

    __slots__ = ("base", "of", "scope", "shown", "step")

    def __init__(self, base: Tracer, step: Step) -> None:
        self.base, self.step = base, step
        self.of: Value | None = None
        self.scope: BlockScope | None = None
        self.shown: Value | None = None


class Tracer(TracedOperand):
    """A handle on an array or a scalar in the making."""

    cell: Cell
    steps: tuple[Step, ...]
    weak: bool

    __slots__ = ("__weakref__", "cell", "shown_as", "steps", "weak")

    def __init__(self, cell: Cell, steps: tuple[Step, ...] = (), *, weak: bool = False) -> None:
        self.cell = cell
        cell.handles.append(weakref.ref(self))
        self.steps = steps
        self.shown_as: NamedView | None = None
        """What it shows, where handles are told apart."""
        self.weak = weak
        """Whether it stands for a Python number, which does not promote NumPy dtypes."""

    @property
    def value(self) -> Value:
        """Return the present value of the elements shown."""
        self.cell.note_read()
        value = self.cell.value
        if self.cell.layout is not None and self.cell.layout.may_permute:
            current().permuted.add(value)
        if not self.steps:
            return value
        return self._read_named() if self.shown_as is not None else self._read(value, self.steps)

    def _read(self, value: Value, steps: tuple[Step, ...]) -> Value:
        return read_view(value, steps, _emit_one)

    def stands_on(self, base: Tracer, step: Step) -> None:
        """Show what another handle shows through a step, as values of this handle's own."""
        self.shown_as = NamedView(base, step)
        self._read_named()

    def _read_named(self) -> Value:
        """Return the elements shown as a value of this handle's own, while they stay what they are.

        A view that is read in a region is another value there: that one ends with the region.
        """
        view, trace = self.shown_as, current()
        assert view is not None
        before, scopes = trace.before_rename(view.base.value), trace.builder.scopes
        if view.of is not before or view.scope not in scopes or view.shown is None:
            shown = self._read(view.base.value, (view.step,))
            if is_differentiable(shown.aval.dtype):
                shown = _emit_one(find_op("named"), (shown,), {})
            view.of, view.scope, view.shown = before, scopes[-1], shown
        return view.shown

    def __hash__(self) -> int:
        if self.is_array:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return super().__hash__()

    def __copy__(self) -> Any:
        return METHODS["copy"](self) if self.is_array else self

    def __deepcopy__(self, memo: dict[object, object]) -> Any:
        if self.steps:
            return self.__copy__()
        if id(self.cell) not in memo:  # there may be several handles on what is one object
            memo[id(self.cell)] = self.__copy__()
        return memo[id(self.cell)]

    def own(self) -> Tracer:
        """Return a copy: a cell of its own."""
        return tracer_of(self.value, weak=self.weak)

    @property
    def is_array(self) -> bool:
        """Return whether it is an array, which can be written to, and not a scalar."""
        return self.cell.is_array or bool(self.steps)

    @property
    def aval(self) -> Aval:
        """Return dtype and shape."""
        return self.value.aval

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        return self.cell.value.aval.dtype

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Return the shape as dims."""
        trace = current()
        return tuple(trace.canonical(d) for d in self.aval.shape)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Return the shape as ints and symbolic ints."""
        return python_dims(self.dims)

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return self.aval.ndim

    def __getattr__(self, name: str) -> Any:
        if name in PROPERTIES:
            return ABOVE.named(PROPERTIES[name](self), (self,))
        if name in METHODS:
            if current().names:
                return partial(ABOVE.naming(METHODS[name]), self)
            return partial(METHODS[name], self)
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise MissingAttribute(
            f"{describe_line(find_site())}: arrays have no captured attribute {name!r}. "
            "docs/coverage.md lists the methods and attributes that are captured")

    def __getitem__(self, key: object) -> Any:
        return ABOVE.get_item(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        ABOVE.set_item(self, key, value)

    def __len__(self) -> int:
        if not self.dims:
            raise TypeError("len() of unsized object")
        return need_int(self.dims[0], "len() in code that is not rewritten")

    def __iter__(self) -> Iterator[Any]:
        if not self.dims:
            raise TypeError("iteration over a 0-d array")
        count = need_int(self.dims[0], "iterating over an array")
        return map(self.__getitem__, range(count))  # each when its turn comes

    def __bool__(self) -> bool:
        raise refuse_outside(
            "a Python decision depends on a traced value where it cannot be captured",
            "Use `if`, `while`, `and`, `or`, `not` in a function whose source tracejit can see, or "
            "np.where")

    def __float__(self) -> float:
        raise refuse_outside(
            "float() of a traced value outside of captured code",
            "Leave the value as it is: NumPy functions and operators accept it")

    def __int__(self) -> int:
        raise refuse_outside(
            "int() of a traced value outside of captured code",
            "Use .astype(int), or pass the number as a Python int argument")

    __complex__ = __float__
    __index__ = __int__

    def __format__(self, spec: str) -> str:
        return _shown(self, spec)

    def __str__(self) -> str:
        return _shown(self, "")

    def __repr__(self) -> str:
        return _marked(self, "") or self._marker()

    def _marker(self) -> str:
        """Return the text that stands for the value where nobody looks at letters."""
        return f"<traced {self.cell.value.aval if not self.steps else self.aval}>"

    __iadd__: Any = _inplace(np.add)
    __isub__: Any = _inplace(np.subtract)
    __imul__: Any = _inplace(np.multiply)
    __itruediv__: Any = _inplace(np.true_divide)
    __ifloordiv__: Any = _inplace(np.floor_divide)
    __imod__: Any = _inplace(np.remainder)
    __ipow__: Any = _inplace(np.power)
    __iand__: Any = _inplace(np.bitwise_and)
    __ior__: Any = _inplace(np.bitwise_or)
    __ixor__: Any = _inplace(np.bitwise_xor)
    __imatmul__: Any = _inplace(np.matmul)
    __ilshift__: Any = _inplace(np.left_shift)
    __irshift__: Any = _inplace(np.right_shift)


class SymInt(TracedOperand):
    """A Python int that is not known yet; sums and products of them stay exact dims."""

    dim: Expr

    __slots__ = ("dim",)

    def __hash__(self) -> int:
        return hash(need_int(self.dim, "a set or the key of a dict"))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'int' object is not iterable")

    def __init__(self, dim: Expr) -> None:
        self.dim = dim

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(int, name):
            raise AttributeError(f"'int' object has no attribute {name!r}")
        return getattr(need_int(self.dim, f"the attribute {name!r} of an int"), name)

    def _arith(self, other: object, fn: Callable[[Dim, Dim], Dim], ufunc: np.ufunc,
               reflected: bool) -> Any:
        if isinstance(other, (int, SymInt)) and not isinstance(other, bool):
            d: Dim = other.dim if isinstance(other, SymInt) else other
            if isinstance(d, int) and not -1 << 63 <= d < 1 << 63:
                raise refuse(f"the int {d} does not fit into 64 bits",
                             "Make it a float, if it need not be exact")
            return _fitted(fn(d, self.dim) if reflected else fn(self.dim, d))
        return _ufunc_operator(ufunc, reflected=reflected)(self, other)

    def _divide(self, other: object, fn: Callable[[Dim, Dim], Dim], ufunc: np.ufunc,
                reflected: bool) -> Any:
        if isinstance(other, (int, SymInt)) and not isinstance(other, bool):
            ABOVE.require_divisor(ufunc, *((other, self) if reflected else (self, other)))
        return self._arith(other, fn, ufunc, reflected)

    def __add__(self, other: object) -> Any:
        return self._arith(other, operator.add, np.add, False)

    def __radd__(self, other: object) -> Any:
        return self._arith(other, operator.add, np.add, True)

    def __sub__(self, other: object) -> Any:
        return self._arith(other, operator.sub, np.subtract, False)

    def __rsub__(self, other: object) -> Any:
        return self._arith(other, operator.sub, np.subtract, True)

    def __mul__(self, other: object) -> Any:
        if isinstance(other, (list, tuple, str)):
            return other * need_int(self.dim, f"repeating a {type(other).__name__}")
        return self._arith(other, operator.mul, np.multiply, False)

    def __rmul__(self, other: object) -> Any:
        if isinstance(other, (list, tuple, str)):
            return other * need_int(self.dim, f"repeating a {type(other).__name__}")
        return self._arith(other, operator.mul, np.multiply, True)

    def __floordiv__(self, other: object) -> Any:
        return self._divide(other, floor_div, np.floor_divide, False)

    def __rfloordiv__(self, other: object) -> Any:
        return self._divide(other, floor_div, np.floor_divide, True)

    def __mod__(self, other: object) -> Any:
        return self._divide(other, mod, np.remainder, False)

    def __rmod__(self, other: object) -> Any:
        return self._divide(other, mod, np.remainder, True)

    def __pow__(self, other: object) -> Any:
        if isinstance(other, int) and 0 <= other <= 8:
            result: Dim = 1
            for _ in range(other):
                result = result * self.dim
            return _fitted(result)
        return _ufunc_operator(np.power)(self, other)

    def __neg__(self) -> Any:
        return of_dim(-self.dim)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        from tracejit.ir.dims import maximum

        return of_dim(maximum(self.dim, -self.dim, current().builder.known))

    def _compare(self, other: Any, relation: str, flip: bool, ufunc: np.ufunc) -> Any:
        fits = isinstance(other, SymInt) or (
            isinstance(other, int) and -1 << 63 <= other < 1 << 63)
        if fits:
            d: Dim = other.dim if isinstance(other, SymInt) else int(other)
            trace = current()
            difference = trace.canonical(d - self.dim if flip else self.dim - d)
            known = _prove(difference, relation)
            if known is None:
                known = trace.decide(difference, relation)
            if known is not None:
                return known
        return _ufunc_operator(ufunc)(self, other)

    def __lt__(self, other: object) -> Any:
        return self._compare(other, "<", False, np.less)

    def __le__(self, other: object) -> Any:
        return self._compare(other, "<=", False, np.less_equal)

    def __gt__(self, other: object) -> Any:
        return self._compare(other, "<", True, np.greater)

    def __ge__(self, other: object) -> Any:
        return self._compare(other, "<=", True, np.greater_equal)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return False
        return self._compare(other, "==", False, np.equal)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return True
        return self._compare(other, "!=", False, np.not_equal)

    def __index__(self) -> int:
        return need_int(self.dim, "a Python int")

    __int__ = __index__

    def __bool__(self) -> bool:
        nonzero = self != 0
        if isinstance(nonzero, bool):
            return nonzero
        raise refuse("a Python decision depends on a traced int where it cannot be captured",
                     "Use `if` or `while` in a function whose source tracejit can see")

    def __float__(self) -> float:
        return float(need_int(self.dim, "float() of a size"))

    @property
    def shape(self) -> tuple[()]:
        """Return the shape of a scalar."""
        return ()

    @property
    def ndim(self) -> int:
        """Return 0."""
        return 0

    @property
    def dtype(self) -> np.dtype:
        """Return int64."""
        return np.dtype(np.int64)

    def bit_length(self) -> int:
        """Return the number of bits of the int, which must be known."""
        return need_int(self.dim, "bit_length()").bit_length()

    def __format__(self, spec: str) -> str:
        return _shown(self, spec)

    def __str__(self) -> str:
        return _shown(self, "")

    def __repr__(self) -> str:
        return _marked(self, "") or self._marker()

    def _marker(self) -> str:
        """Return the text that stands for the int where nobody looks at letters."""
        return repr(self.dim)


Lifted = Tracer | SymInt | np.number | np.bool_ | complex | float | int
"""What is an operand of a captured operation, or becomes one as it is."""


def _fitted(d: Dim) -> Any:
    """Return a dim as an int, checked to fit into 64 bits where it may not."""
    return ABOVE.fitted(d)


def _prove(difference: Dim, relation: str) -> bool | None:
    """Decide `difference relation 0` from what is known of every size and loop index."""
    ranges = current().builder.known
    if isinstance(difference, int):
        return {"<": difference < 0, "<=": difference <= 0, "==": difference == 0,
                "!=": difference != 0}[relation]
    if relation in ("==", "!="):
        if is_nonneg(difference - 1, ranges) or is_nonneg(-difference - 1, ranges):
            return relation == "!="
        return None
    strict = relation == "<"
    if is_nonneg(-difference - (1 if strict else 0), ranges):
        return True
    if is_nonneg(difference - (0 if strict else 1), ranges):
        return False
    return None


class CellPlace:
    """A cell's value as something that a region may change."""

    cell: Cell

    __slots__ = ("cell",)

    def __init__(self, cell: Cell) -> None:
        self.cell = cell

    @property
    def key(self) -> object:
        """Return the cell."""
        return self.cell

    @property
    def depth(self) -> int:
        """Return in how many regions the cell was made."""
        return self.cell.depth

    def get(self) -> Value:
        """Return the value."""
        return self.cell.value

    def set(self, content: Value) -> None:
        """Replace the value."""
        self.cell.value = content


def _emit_one(op: Any, inputs: tuple[Any, ...], params: Any) -> Value:
    (value,) = current().builder.emit(op, inputs, params)
    return value


def tracer_of(value: Value, *, weak: bool = False) -> Tracer:
    """Return a handle on a new cell that holds a value."""
    return Tracer(Cell(value, current().depth), weak=weak)


def scalar_of(value: Value, *, weak: bool = False) -> Any:
    """Return a handle, or a symbolic int for a weak integer scalar."""
    aval = value.aval
    if weak and aval.dtype == np.int64 and not aval.shape:
        return SymInt(atom(value))
    return tracer_of(value, weak=weak)


def of_dim(d: Dim) -> Any:
    """Return a dim as the Python int or symbolic int that it is."""
    d = current().canonical(d)
    return d if isinstance(d, int) else SymInt(d)


def python_dims(dims: tuple[Dim, ...]) -> tuple[Any, ...]:
    """Return a shape as users see it."""
    return tuple(d if isinstance(d, int) else SymInt(d) for d in dims)


def _shown(x: Tracer | SymInt, spec: str) -> str:
    """Return a number as text: where an error is made on data, a field that its message fills."""
    shown = current().shown if is_tracing() else None
    if shown is None or x.ndim or x.dtype.kind not in "iuf":
        return _marked(x, spec) or x._marker()
    places = [k for k, y in enumerate(shown) if y is x]
    if not places and len(shown) == 2:  # a check reports two numbers
        return x._marker()
    if not places:
        shown.append(x)
    number = places[0] if places else len(shown) - 1
    return f"{FIELD[0]}{number}:{spec or ('.0f' if x.dtype.kind in 'iu' else '')}{FIELD[1]}"


FIELD = "\ue000\ue001"
"""What surrounds `NUMBER:FORMAT` in a text that is to be filled in: no text of users has these."""


def _marked(x: Tracer | SymInt, spec: str) -> str | None:
    """Return the text of a number that is not known yet; None where its marker does.

    Text that captured code writes takes note of its numbers. Other text goes to whoever asked for
    it, who looks at the letters: an int of the call becomes known, a number of data is refused.
    """
    trace = current() if is_tracing() else None
    if trace is None or trace.shown is not None:
        return None
    if trace.unread is not None:
        trace.unread.append(x)
        return None
    return format(text_number(x), spec)


def text_number(x: Any, site: Site | None = None) -> int:
    """Return the int that a text shows, as its letters are looked at, or refuse."""
    site = site or find_site()
    try:
        if hasattr(type(x), "as_result"):  # what a clock said
            x.as_result()
        if isinstance(x, SymInt):
            return need_int(x.dim, "text in which it is written", site)
        raise refuse_at(site, "text with a number in it that only the run knows is looked at",
                        "Print it with tracejit.debug_print, or return the number")
    except Refusal as e:
        current().refused = e  # reprlib, say, catches every error of a repr
        raise


def need_int(d: Dim, why: str, site: Site | None = None) -> int:
    """Return a dim as a Python int, restarting the capture with it fixed where that can be done."""
    d = current().canonical(d)
    if isinstance(d, int):
        return d
    trace = current()
    site = site or find_site()
    for v in dim_values(d):
        if v in trace.actual or v in trace.carried:
            raise NeedStatic(v, site, why)
    raise refuse_at(site, f"{why} needs a number that is only known at run time",
                    "Make it a Python int argument, a size, or write the code with arrays")


def describe(x: object) -> str:
    """Return how a message names a value."""
    if not isinstance(x, Tracer):
        return f"{type(x).__name__} {x!r}"
    name = dtype_name(x.dtype) if x.dtype in DTYPES.values() else str(x.dtype)
    return f"{name} array" if x.dims else f"{name} scalar"


