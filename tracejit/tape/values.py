"""Tape values: NumPy arrays and numbers whose history tapes know.

A tape value never changes. Operations on it are done by NumPy at once; a tape that knows one of
the operands notes the call (`tracejit.tape.recording`).
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tracejit.ir.dtypes import DTYPES, is_half
from tracejit.tape.noting import note_event
from tracejit.trace.ground.context import is_tracing
from tracejit.trace.ground.dispatch import METHODS, PROPERTIES
from tracejit.trace.values.eager import Recorded
from tracejit.trace.values.equations import cast, dtype_of, lift
from tracejit.trace.values.identities import named

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Attribute", "Method", "Operand", "TapeValue", "constant", "unwrap"]

_UIDS = itertools.count(1)

_WRITERS = (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)
"""The functions of NumPy that write to their first argument."""


class Method:
    """An array method as a function of the array and its arguments."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name

    def __call__(self, x: object, /, *args: object, **kwargs: object) -> Any:
        """Call the method of `x`."""
        return getattr(x, self.name)(*args, **kwargs)


class Attribute(Method):
    """An array attribute as a function of the array."""

    def __call__(self, x: object, /, *args: object, **kwargs: object) -> Any:
        """Return the attribute of `x`."""
        return getattr(x, self.name)


def _binary(function: Callable[..., object], *, reflected: bool = False) -> Callable[..., Any]:
    if reflected:
        def method(self: object, other: object) -> Any:
            return _perform(function, (other, self))
    else:
        def method(self: object, other: object) -> Any:
            return _perform(function, (self, other))
    return method


def _unary(function: Callable[..., object]) -> Callable[..., Any]:
    def method(self: object) -> Any:
        return _perform(function, (self,))

    return method


def _perform(function: Callable[..., object], args: tuple[object, ...],
             kwargs: dict[str, object] | None = None) -> Any:
    """Carry out a call; `tracejit.tape.recording` puts its `perform` in this place."""
    raise AssertionError


class Operand(Recorded):
    """The operators that tape values and variables share: all that arrays do, but writes."""

    __slots__ = ()
    __array_priority__: float = 1000.0
    __hash__: Any = None

    __add__: Any = _binary(operator.add)
    __radd__: Any = _binary(operator.add, reflected=True)
    __sub__: Any = _binary(operator.sub)
    __rsub__: Any = _binary(operator.sub, reflected=True)
    __mul__: Any = _binary(operator.mul)
    __rmul__: Any = _binary(operator.mul, reflected=True)
    __truediv__: Any = _binary(operator.truediv)
    __rtruediv__: Any = _binary(operator.truediv, reflected=True)
    __floordiv__: Any = _binary(operator.floordiv)
    __rfloordiv__: Any = _binary(operator.floordiv, reflected=True)
    __mod__: Any = _binary(operator.mod)
    __rmod__: Any = _binary(operator.mod, reflected=True)
    __pow__: Any = _binary(operator.pow)
    __rpow__: Any = _binary(operator.pow, reflected=True)
    __matmul__: Any = _binary(operator.matmul)
    __rmatmul__: Any = _binary(operator.matmul, reflected=True)
    __and__: Any = _binary(operator.and_)
    __rand__: Any = _binary(operator.and_, reflected=True)
    __or__: Any = _binary(operator.or_)
    __ror__: Any = _binary(operator.or_, reflected=True)
    __xor__: Any = _binary(operator.xor)
    __rxor__: Any = _binary(operator.xor, reflected=True)
    __lshift__: Any = _binary(operator.lshift)
    __rshift__: Any = _binary(operator.rshift)
    __lt__: Any = _binary(operator.lt)
    __le__: Any = _binary(operator.le)
    __gt__: Any = _binary(operator.gt)
    __ge__: Any = _binary(operator.ge)
    __neg__: Any = _unary(operator.neg)
    __pos__: Any = _unary(operator.pos)
    __abs__: Any = _unary(operator.abs)
    __invert__: Any = _unary(operator.invert)
    __divmod__: Any = _binary(divmod)
    __rdivmod__: Any = _binary(divmod, reflected=True)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return False
        return _perform(operator.eq, (self, other))

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return True
        return _perform(operator.ne, (self, other))

    # --- defined by subclasses ------------------------------------------------------------------

    _data: Any
    """The present NumPy value."""

    def _leave(self) -> Any:
        """Return the NumPy value to code of which tapes know nothing."""
        raise NotImplementedError

    def _state_read(self) -> Any:
        """Return the tape value that it is now."""
        return self

    # --- NumPy's protocols ----------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object,
                        **kwargs: object) -> Any:
        if method == "at":
            self._refuse_write(f"np.{ufunc.__name__}.at")
        # NumPy hands on its scalars as arrays: `np.float64(0.0) * x`
        if len(inputs) > 1:
            inputs = tuple([x[()] if type(x) is np.ndarray and not x.ndim else x for x in inputs])
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return _perform(function, inputs, kwargs)

    def __array_function__(self, func: Callable[..., object], types: object,
                           args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        if func in _WRITERS and args and args[0] is self:
            self._refuse_write(f"np.{func.__name__}")
        return _perform(func, args, kwargs)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a tape value gives its array as a copy only")
        return np.array(self._leave(), dtype)

    def __getattr__(self, name: str) -> Any:
        if name in PROPERTIES:
            return _perform(_attribute(name), (self,))
        if name in METHODS or name in _MORE_METHODS:
            if name in _WRITING:
                self._refuse_write(name)
            method = _method(name)
            return lambda *args, **kwargs: _perform(method, (self, *args), kwargs)
        if name in _WRITING:
            self._refuse_write(name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; "
                             ".numpy() gives the NumPy value")

    # --- operations of arrays -------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape."""
        return np.shape(self._data)

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        dtype: np.dtype = self._data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return np.ndim(self._data)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return np.size(self._data)

    @property
    def flat(self) -> Any:
        """Return the elements in C order, to be indexed or iterated over."""
        return self.ravel()

    def numpy(self) -> Any:
        """Return the value: an array of its own, or a NumPy number."""
        x = self._leave()
        return x.copy() if isinstance(x, np.ndarray) else x

    def item(self, *args: object) -> Any:
        """Return the only element, or the one at an index, as a Python number."""
        return self._leave().item(*args)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self._leave().tolist()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(len(self))])

    def __bool__(self) -> bool:
        return bool(self._data)

    def __float__(self) -> float:
        return float(self._leave())

    def __int__(self) -> int:
        return int(self._leave())

    def __complex__(self) -> complex:
        return complex(self._leave())

    def __index__(self) -> int:
        return operator.index(self._data[()])

    def __contains__(self, x: object) -> bool:
        return unwrap(x) in self._data

    def __format__(self, spec: str) -> str:
        return format(self._data[()], spec)

    def __str__(self) -> str:
        return str(self._data)

    def __getitem__(self, key: object) -> Any:
        if type(key) is not int:
            key = _without_masks(key)
        return _perform(operator.getitem, (self, key))

    def __setitem__(self, key: object, value: object) -> NoReturn:
        self._refuse_write("x[...] = ...")

    def _refuse_write(self, what: str) -> NoReturn:
        raise TypeError(f"{what}: a tape value cannot be written to. Make a new one (np.where, "
                        "np.concatenate), or write to arrays inside a function that @tracejit.jit "
                        "captures and call that")

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None:
            return round(self._leave())
        return self.round(ndigits)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self


def _without_masks(key: object) -> Any:
    """Return a key with the places where a mask holds for the mask, which is known here."""
    if isinstance(key, tuple):
        parts = [_without_masks(k) for k in key]
        flat = [(p if isinstance(p, tuple) else (p,)) for p in parts]
        return tuple([k for p in flat for k in p])
    data = key._data if isinstance(key, Operand) else key
    if isinstance(data, list):
        data = np.asarray(data)
    if isinstance(data, np.ndarray) and data.dtype == np.bool_ and data.ndim:
        return np.nonzero(data)
    return key


_WRITING = {"fill", "sort", "put", "partition", "resize", "itemset"}
_MORE_METHODS = {"argpartition", "choose", "compress", "nonzero", "ptp", "searchsorted", "tobytes"}
_method = functools.cache(Method)
_attribute = functools.cache(Attribute)


class TapeValue(Operand):
    """A NumPy value of which tapes know where it came from; see `tracejit.constant`."""

    type_number: int
    uid: int

    __slots__ = ("__weakref__", "_data", "type_number", "uid")

    def __init__(self, data: object, uid: int = 0) -> None:
        if type(data) is np.ndarray:
            data.flags.writeable = False
        self._data = data
        self.uid = uid or next(_UIDS)
        self.type_number = 0

    def _leave(self) -> Any:
        note_event(self, "its NumPy value was taken, and no tape sees what is computed from that")
        return self._data

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(self._data), separator=", ", prefix="TapeValue(")
        return f"TapeValue({text}, dtype={self._data.dtype})"

    def __reduce__(self) -> Any:
        return (constant, (self._data,))


def unwrap(x: object) -> Any:
    """Return the NumPy value of a tape value or variable, anything else as it is."""
    return x._data if isinstance(x, Operand) else x


def constant(value: object, dtype: npt.DTypeLike | None = None) -> TapeValue:
    """Return a tape value, which a `GradientTape` can watch.

    value -- an array, a number, or nested lists of numbers; it is copied
    dtype -- of the result, if it is not to be NumPy's own choice (float64 for Python floats)

    Raises `TypeError` for anything but numbers.

    >>> import tracejit
    >>> x = tracejit.constant([1.0, 2.0])
    >>> with tracejit.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = (x * x).sum()
    >>> tape.gradient(y, x).numpy()
    array([2., 4.])
    """
    if is_tracing():
        made = cast(value, dtype_of(lift(value)) if dtype is None else np.dtype(dtype))
        return named(made.copy())  # type: ignore[no-any-return]
    data = np.array(unwrap(value) if not isinstance(value, (list, tuple)) else
                    _plain(value), dtype=None if dtype is None else np.dtype(dtype))
    data = data.astype(data.dtype.newbyteorder("="), copy=False)
    if is_half(data.dtype):
        raise TypeError(f"a tape value of {data.dtype} would have its cotangents rounded at each "
                        "step. Convert it first: x.astype(np.float32), or use tracejit.grad")
    if data.dtype not in DTYPES.values():
        raise TypeError(f"a tape value holds floats, complex numbers, integers or bools, not "
                        f"{data.dtype}: {value!r}. Convert it first: x.astype(np.float64)")
    return TapeValue(data if data.ndim else data[()])


def _plain(x: object) -> Any:
    """Return nested lists with NumPy values for tape values."""
    return [_plain(item) for item in x] if isinstance(x, (list, tuple)) else unwrap(x)
