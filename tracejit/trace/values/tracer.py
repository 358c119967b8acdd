"""Tracers: the stand-ins of arrays and scalars while a function is captured.

A `Tracer` is a handle on a storage cell; two handles on one cell are aliases, as two NumPy views
of one buffer are.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from tracejit.errors import MissingAttribute
from tracejit.ir.builder import BlockScope
from tracejit.ir.core import Literal, Value
from tracejit.ir.dims import Dim, atom
from tracejit.ir.dtypes import DTYPES, dtype_name
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, is_differentiable
from tracejit.trace.ground.active import is_tracing
from tracejit.trace.ground.context import Cell, current, refuse_outside
from tracejit.trace.ground.dispatch import METHODS, PROPERTIES
from tracejit.trace.ground.facts import fact_of_absence
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.ground.views import Step, read_view
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand, inplace_operator, ufunc_operator
from tracejit.trace.values.symbolic_ints import SymInt, python_dims

__all__ = ["CellPlace", "Lifted", "Tracer", "describe", "scalar_of", "tracer_of"]


def _compared_with_no_number(x: object, other: object, *, equal: bool) -> Any:
    """Return the result of `==` or `!=` with `None` or a text: element by element of arrays."""
    if not isinstance(x, Tracer) or x.weak or (other is None and not (x.is_array or x.dims)):
        return equal
    truth = Literal(equal, np.dtype(np.bool_))
    return tracer_of(_emit_one(find_op("full"), (truth,), {"shape": x.dims}))


class NamedView:
    """A view as a value of its own: the handle, the value read of it, and the block of the read."""

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
        """Its view as a value of its own, where handles are told apart."""
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
        """Show another handle's elements through a step, as values of this handle's own."""
        self.shown_as = NamedView(base, step)
        self._read_named()

    def _read_named(self) -> Value:
        """Return the elements shown as a value of this handle's own, until the base is written to.

        A view that is read in a region is another value there, which ends with the region.
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

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return _compared_with_no_number(self, other, equal=False)
        return ufunc_operator(np.equal)(self, other)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return _compared_with_no_number(self, other, equal=True)
        return ufunc_operator(np.not_equal)(self, other)

    def __hash__(self) -> int:
        if self.is_array:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return super().__hash__()

    def __copy__(self) -> Any:
        return METHODS["copy"](self) if self.is_array else self

    def __deepcopy__(self, memo: dict[object, object]) -> Any:
        if self.steps:
            return self.__copy__()
        if id(self.cell) not in memo:  # there may be several handles on one object
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
        if name in _OF_ARRAYS_ALONE and not self.is_array:
            raise AttributeError(f"{_name_of_type(self)} object has no attribute {name!r}")
        if name in PROPERTIES:
            return ABOVE.named(PROPERTIES[name](self), (self,))
        if name in METHODS:
            if current().names:
                return partial(ABOVE.naming(METHODS[name]), self)
            return partial(METHODS[name], self)
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if self.is_array and is_tracing():
            current().memory.require_plain(fact_of_absence(name))
        raise MissingAttribute(
            f"{describe_line(find_site())}: arrays have no captured attribute {name!r}. "
            "docs/coverage.md lists the methods and attributes that are captured", "TJ208")

    def __getitem__(self, key: object) -> Any:
        return ABOVE.get_item(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        ABOVE.set_item(self, key, value)

    def __len__(self) -> int:
        if not self.dims:
            raise no_sequence(self, "len() of unsized object", "object of type {} has no len()")
        return need_int(self.dims[0], "len() in code that is not rewritten")

    def __iter__(self) -> Iterator[Any]:
        if not self.dims:
            raise no_sequence(self, "iteration over a 0-d array", "{} object is not iterable")
        count = need_int(self.dims[0], "iterating over an array")
        return map(self.__getitem__, range(count))  # each when its turn comes

    def __bool__(self) -> bool:
        raise refuse_outside(
            "a Python decision depends on a traced value where it cannot be captured",
            "Use `if`, `while`, `and`, `or`, `not` in a function whose source tracejit can see, or "
            "np.where", "TJ109")

    def __float__(self) -> float:
        raise refuse_outside(
            "float() of a traced value outside of captured code",
            "Leave the value as it is: NumPy functions and operators accept it", "TJ110")

    def __int__(self) -> int:
        raise refuse_outside(
            "int() of a traced value outside of captured code",
            "Use .astype(int), or pass the number as a Python int argument", "TJ110")

    __complex__ = __float__
    __index__ = __int__

    def _marker(self) -> str:
        """Return the text that stands for the value where nobody looks at letters."""
        return f"<traced {self.cell.value.aval if not self.steps else self.aval}>"

    __iadd__: Any = inplace_operator(np.add)
    __isub__: Any = inplace_operator(np.subtract)
    __imul__: Any = inplace_operator(np.multiply)
    __itruediv__: Any = inplace_operator(np.true_divide)
    __ifloordiv__: Any = inplace_operator(np.floor_divide)
    __imod__: Any = inplace_operator(np.remainder)
    __ipow__: Any = inplace_operator(np.power)
    __iand__: Any = inplace_operator(np.bitwise_and)
    __ior__: Any = inplace_operator(np.bitwise_or)
    __ixor__: Any = inplace_operator(np.bitwise_xor)
    __imatmul__: Any = inplace_operator(np.matmul)
    __ilshift__: Any = inplace_operator(np.left_shift)
    __irshift__: Any = inplace_operator(np.right_shift)


Lifted = Tracer | SymInt | np.number | np.bool_ | complex | float | int
"""The types of operands of captured operations after `lift`."""


class CellPlace:
    """A cell's value as a place that a region may change."""

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


_OF_ARRAYS_ALONE = frozenset(dir(np.ndarray)).difference(dir(np.float64), dir(object))
"""The attributes of arrays that NumPy's numbers have not."""


def _name_of_type(number: Tracer) -> str:
    kind = {"f": "float", "i": "int", "c": "complex", "b": "bool"}
    scalar = number.dtype.type
    return repr(kind[number.dtype.kind] if number.weak else f"numpy.{scalar.__name__}")


def no_sequence(x: Tracer, of_array: str, of_number: str) -> TypeError:
    """Return Python's error where a sequence is asked for and there is none.

    of_array  -- its text for an array without axes
    of_number -- its text for a number, with {} for the name of the type
    """
    return TypeError(of_array if x.is_array else of_number.format(_name_of_type(x)))


def tracer_of(value: Value, *, weak: bool = False) -> Tracer:
    """Return a handle on a new cell that holds a value."""
    return Tracer(Cell(value, current().depth), weak=weak)


def scalar_of(value: Value, *, weak: bool = False) -> Any:
    """Return a handle, or a symbolic int for a weak integer scalar."""
    aval = value.aval
    if weak and aval.dtype == np.int64 and not aval.shape:
        return SymInt(atom(value))
    return tracer_of(value, weak=weak)


def describe(x: object) -> str:
    """Return how a message names a value."""
    if not isinstance(x, Tracer):
        return f"{type(x).__name__} {x!r}"
    name = dtype_name(x.dtype) if x.dtype in DTYPES.values() else str(x.dtype)
    return f"{name} array" if x.dims else f"{name} scalar"
