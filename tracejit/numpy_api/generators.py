"""Random numbers in a capture: the methods of a `numpy.random.Generator`.

A generator's tracer has its methods. Each draws by the C functions that NumPy's method draws by
(`ir/draws.py`), and computes with the numbers as NumPy does, in the same order, so that results and
the state after the call have NumPy's bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, product
from tracejit.numpy_api.creation import counted_dims, creates
from tracejit.numpy_api.sampling import (
    chosen_places,
    shuffle_in_place,
    shuffled_places,
    weighted_places,
)
from tracejit.trace.containers.runs import is_index
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.upward import above
from tracejit.trace.python.calls import call_function
from tracejit.trace.state.paths import Holder, Path
from tracejit.trace.values.equations import (
    as_operand,
    atom_of,
    broadcast_dims,
    cast,
    dims_of,
    dtype_of,
    emit_value,
    is_one,
    lift,
    same_dim,
    to_dim,
)
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import either, require
from tracejit.trace.values.symbolic_ints import python_dims
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["TracedGenerator"]

Number = Tracer | np.float64
"""A parameter: computed, or known."""


@above
class TracedGenerator:
    """The stand-in of a generator of random numbers in a capture.

    value -- the input that is the address of its state
    """

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def stands_for(self) -> type:
        """Return the class that it passes for."""
        return np.random.Generator

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.stands_for

    def __repr__(self) -> str:
        raise refuse("text of a numpy.random.Generator, which the call decides on",
                     "Leave it out of the text", "TJ112")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TracedGenerator) and other is not self:
            raise refuse("whether two generators of random numbers are one is not known before "
                         "the call", "Leave the comparison out: one generator may have two names",
                         "TJ116")
        return other is self

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> NoReturn:
        raise refuse("a copy of a numpy.random.Generator cannot be captured",
                     "Copy it outside, and pass the copy as another argument", "TJ222")

    __copy__ = __reduce__

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce__()

    def _draw(self, kind: str, shape: Sequence[Dim], *parameters: object) -> Tracer:
        """Return numbers that NumPy's C function of this kind draws, in C order."""
        given = [self.value, *map(atom_of, parameters)]
        return tracer_of(emit_value("draw", given, {"kind": kind, "shape": tuple(shape)}))

    def _standard(self, kind: str, size: object, dtype: npt.DTypeLike, out: object) -> Any:
        """Return numbers of a distribution without parameters."""
        _refuse_out(out, kind)
        given = np.dtype(dtype)
        if given not in (np.float64, np.float32):
            raise TypeError(f"Unsupported dtype {given!r} for {_METHOD_OF.get(kind, kind)}")
        kind = kind if given == np.float64 else f"{kind}_f"
        if size is None:
            return tracer_of(self._draw(kind, ()).value, weak=True)
        return _array(self._draw(kind, counted_dims(size)))

    # --- without parameters ---------------------------------------------------------------------

    def random(self, size: object = None, dtype: npt.DTypeLike = np.float64,
               out: object = None) -> Any:
        """Draw floats of [0, 1)."""
        return self._standard("random", size, dtype, out)

    def standard_normal(self, size: object = None, dtype: npt.DTypeLike = np.float64,
                        out: object = None) -> Any:
        """Draw from the normal distribution with mean 0 and standard deviation 1."""
        return self._standard("normal", size, dtype, out)

    def standard_exponential(self, size: object = None, dtype: npt.DTypeLike = np.float64,
                             method: str = "zig", out: object = None) -> Any:
        """Draw from the exponential distribution with mean 1."""
        return self._standard("exponential" if method == "zig" else "exponential_inv", size, dtype,
                              out)

    # --- with a place and a scale ----------------------------------------------------------------

    def normal(self, loc: object = 0.0, scale: object = 1.0, size: object = None) -> Any:
        """Draw from a normal distribution."""
        (place, width), shape = _parameters([loc, scale], size)
        _require_not_negative(width, "scale")
        return _result(place + width * self._draw("normal", shape or ()), shape)

    def uniform(self, low: object = 0.0, high: object = 1.0, size: object = None) -> Any:
        """Draw floats of [low, high)."""
        (least, most), shape = _parameters([low, high], size)
        width = most - least
        require(_every(np.isfinite(width)), OverflowError,
                "Range exceeds valid bounds" if dims_of(width) else
                "high - low range exceeds valid bounds")
        _require_not_negative(width, "high - low")
        return _result(least + width * self._draw("random", shape or ()), shape)

    def exponential(self, scale: object = 1.0, size: object = None) -> Any:
        """Draw from an exponential distribution."""
        (width,), shape = _parameters([scale], size)
        _require_not_negative(width, "scale")
        return _result(width * self._draw("exponential", shape or ()), shape)

    # --- with a shape ---------------------------------------------------------------------------

    def standard_gamma(self, shape: object, size: object = None, dtype: npt.DTypeLike = np.float64,
                       out: object = None) -> Any:
        """Draw from a gamma distribution with scale 1."""
        _refuse_out(out, "standard_gamma")
        if np.dtype(dtype) != np.float64:
            raise refuse("numpy.random.Generator.standard_gamma with a dtype cannot be captured",
                         "Draw float64, or draw outside and pass the numbers as an argument",
                         "TJ222")
        (alpha,), dims = _parameters([shape], size)
        _require_not_negative(alpha, "shape")
        return _result(self._of_each("gamma", alpha, dims or ()), dims)

    def gamma(self, shape: object, scale: object = 1.0, size: object = None) -> Any:
        """Draw from a gamma distribution."""
        (alpha, width), dims = _parameters([shape, scale], size)
        _require_not_negative(alpha, "shape")
        _require_not_negative(width, "scale")
        return _result(width * self._of_each("gamma", alpha, dims or ()), dims)

    def _of_each(self, kind: str, parameter: Number, dims: Sequence[Dim]) -> Tracer:
        """Return numbers that each have a parameter of their own, if that is an array."""
        if dims_of(parameter):
            parameter = FUNCTIONS[np.broadcast_to](parameter, tuple(map(as_operand, dims)))
        return self._draw(kind, dims, parameter)

    # --- integers -------------------------------------------------------------------------------

    def integers(self, low: object, high: object = None, size: object = None,
                 dtype: npt.DTypeLike = np.int64, endpoint: bool = False) -> Any:
        """Draw integers of [low, high), or of [low, high]."""
        if high is None:
            low, high = 0, low
        kind = np.dtype(dtype)
        if kind.kind not in "iu":
            raise refuse(f"numpy.random.Generator.integers of dtype {kind} cannot be captured",
                         "Draw int64 and convert", "TJ222")
        if not kind.isnative:
            raise ValueError("Providing a dtype with a non-native byteorder is not supported. If "
                             "you require platform-independent byteorder, call byteswap when "
                             "required.")
        first, last = map(_as_int, (low, high))
        last = last if endpoint else last - 1
        shape = () if size is None else counted_dims(size)
        count = as_operand(product(shape))
        if isinstance(count, TracedOperand) or count:
            _require_bounds(first, last, kind, endpoint, count == 0)
        drawn = self._draw(f"bounded_{kind.name}", shape, *map(_as_word, (first, last - first)))
        if size is not None:
            return _array(drawn)
        return tracer_of(drawn.value, weak=True) if dtype is int else drawn

    def poisson(self, lam: object = 1.0, size: object = None) -> Any:
        """Draw counts from a Poisson distribution."""
        (rate,), shape = _parameters([lam], size)
        tests = [(rate >= 0, "lam < 0 or lam is NaN"), (rate <= _MOST_LAM, "lam value too large")]
        if dims_of(rate):
            tests = [tests[1], (rate >= 0, "lam < 0 or lam contains NaNs")]
        for test, message in tests:
            require(_every(test), ValueError, message)
        drawn = self._of_each("poisson", rate, shape or ())
        return tracer_of(drawn.value, weak=True) if shape is None else _array(drawn)

    def interval(self, last: object) -> Tracer:
        """Draw an integer of 0 to `last` by masks, as shuffling does."""
        return self._draw("interval", (), last)

    def below(self, last: object) -> Tracer:
        """Draw an integer of 0 to `last` by Lemire's method, as choosing does."""
        return self._draw("below", (), last)

    # --- permutations and choices ----------------------------------------------------------------

    def permutation(self, x: object, axis: int = 0) -> Any:
        """Return the numbers below an int, or a copy of an array, in another order."""
        if is_index(x):
            return call_function(shuffled_places, (self, x), {})
        array = FUNCTIONS[np.asarray](x)
        size = np.shape(array)[axis]
        return FUNCTIONS[np.take](array, call_function(shuffled_places, (self, size), {}), axis)

    def shuffle(self, x: object, axis: int = 0) -> None:
        """Put an array into another order, in place."""
        if not isinstance(x, Tracer) or not x.dims:
            raise refuse("numpy.random.Generator.shuffle of what is no array cannot be captured",
                         "Make another list: [xs[k] for k in rng.permutation(len(xs))]", "TJ222")
        call_function(shuffle_in_place, (self, x, axis), {})

    def choice(self, a: object, size: object = None, replace: bool = True, p: object = None,
               axis: int = 0, shuffle: bool = True) -> Any:
        """Draw items of an array, or numbers below an int."""
        array = None if is_index(a) else FUNCTIONS[np.asarray](a)
        n = a if array is None else array.shape[axis]
        places = self._places(n, size, replace, p, shuffle)
        if array is not None:
            taken = FUNCTIONS[np.take](array, places, axis)
            return taken if size is None else _array(taken)
        return tracer_of(places.value, weak=True) if size is None else places

    def _places(self, n: object, size: object, replace: bool, p: object, shuffle: bool) -> Any:
        """Return indices below n."""
        if replace and p is None:
            return self.integers(0, n, size)
        if replace:
            found = call_function(weighted_places, (self, n, size, p, _tolerance(p)), {})
            return found if size is None else _array(found)
        if p is not None:
            raise refuse("numpy.random.Generator.choice with p and replace=False cannot be "
                         "captured", "Draw outside and pass what is chosen as an argument", "TJ222")
        dims = () if size is None else counted_dims(size)
        count = as_operand(product(dims))
        found = call_function(chosen_places, (self, n, count, shuffle), {})
        return found[0] if size is None else found.reshape(python_dims(dims))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"{np.random.Generator.__name__!r} object has no attribute "
                                 f"{name!r}")
        raise refuse(f"numpy.random.Generator.{name} cannot be captured", _REMEDY, "TJ222")


_MOST_LAM = float(np.iinfo(np.int64).max - np.sqrt(np.iinfo(np.int64).max) * 10)
"""The largest rate of a Poisson distribution that NumPy takes."""

_METHOD_OF = {"normal": "standard_normal", "exponential": "standard_exponential",
              "exponential_inv": "standard_exponential"}


@creates(np.random.default_rng)
def default_rng(seed: object = None) -> TracedGenerator:
    """Return a new generator, which every call makes anew from the seed."""
    if isinstance(seed, TracedGenerator):
        return seed
    captured = current().captured
    if any(f.kind == "loop" for f in current().frames):
        raise refuse("numpy.random.default_rng in a loop begins anew in each iteration, which "
                     "cannot be captured", "Make the generator before the loop, or pass one in",
                     "TJ114")
    if isinstance(seed, TracedOperand):
        if dims_of(seed):
            raise refuse("numpy.random.default_rng of an array that is computed cannot be captured",
                         "Give it an int, or pass the generator as an argument", "TJ114")
        seed = need_int(to_dim(seed), "the seed of numpy.random.default_rng")
    if isinstance(seed, (list, tuple, np.ndarray)):
        seed = tuple([int(k) for k in seed])
    if not isinstance(seed, (int, np.integer, tuple, type(None))):
        raise refuse(f"numpy.random.default_rng of a {type(seed).__name__} cannot be captured",
                     "Give it an int, or pass the generator as an argument", "TJ114")
    path = Path(Holder(np.random.default_rng), "numpy.random.default_rng")
    made: TracedGenerator = captured.read(path.step("call", ("__call__", (seed,), ())))
    return made


# --- parameters and results ---------------------------------------------------------------------


def _parameters(given: Sequence[object], size: object) -> tuple[list[Any], Any]:
    """Return parameters as float64, and the shape of the result; None for one number."""
    found = [_as_double(x) for x in given]
    shapes = [dims_of(x) for x in found]
    if size is None:
        scalar = not any(shapes) and not any(isinstance(x, np.ndarray) for x in given)
        return found, None if scalar else broadcast_dims(shapes)
    shape = counted_dims(size)
    for own in shapes:
        if len(own) > len(shape) or not all(
                d == 1 or same_dim(d, s) or is_one(d)
                for d, s in zip(own[::-1], shape[::-1], strict=False)):
            raise ValueError(f"Output size {size} is not compatible with broadcast dimensions of "
                             "inputs")
    return found, shape


def _as_double(x: object) -> Number:
    number = lift(x)
    if dtype_of(number).kind == "c":
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    return cast(number, np.float64) if isinstance(number, TracedOperand) else np.float64(number)


def _as_int(x: object) -> Any:
    x = lift(x)
    if dims_of(x):
        raise refuse("numpy.random.Generator.integers with arrays as bounds cannot be captured",
                     "Draw rng.random(size) and scale it, or draw in a loop over the bounds",
                     "TJ222")
    if dtype_of(x).kind not in "iub":
        raise refuse("numpy.random.Generator.integers with floats as bounds cannot be captured",
                     "Convert them with int()", "TJ222")
    if isinstance(x, TracedOperand):
        return cast(x, np.int64) if isinstance(x, Tracer) else x
    return int(np.asarray(x))


def _as_word(x: object) -> Any:
    """Return an int of 64 bits without a sign as the one with a sign that has its bits."""
    return (x + 2 ** 63) % 2 ** 64 - 2 ** 63 if isinstance(x, int) else x


def _tolerance(p: object) -> float:
    """Return by how much the sum of probabilities may differ from 1."""
    x = lift(p) if isinstance(p, (Tracer, np.ndarray)) else None
    kind = np.dtype(np.float64) if x is None or dtype_of(x).kind != "f" else dtype_of(x)
    return float(np.sqrt(max(np.finfo(np.float64).eps, np.finfo(kind).eps)))


def _every(test: object) -> object:
    return np.all(test) if isinstance(test, Tracer) and test.dims else test


def _require_not_negative(x: Number, name: str) -> None:
    """Raise NumPy's error for a parameter below 0, which it finds -0.0 to be."""
    is_right = np.logical_or(np.isnan(x), np.logical_not(np.signbit(x)))
    require(_every(is_right), ValueError, f"{name} < 0")


def _require_bounds(low: Any, last: Any, kind: np.dtype, endpoint: bool, is_none: object) -> None:
    """Raise NumPy's errors for bounds of integers, unless it turns out that none is drawn."""
    limits = np.iinfo(kind)
    tests = []  # integers that the run computes have 64 bits
    if limits.bits < 64 or limits.min == 0 or isinstance(low, int):
        tests.append((low >= limits.min, f"low is out of bounds for {kind.name}"))
    if limits.bits < 64 or isinstance(last, int):
        tests.append((last <= limits.max, f"high is out of bounds for {kind.name}"))
    tests.append((low <= last, "low > high" if endpoint else "low >= high"))
    for test, message in tests:
        require(test if is_none is False else either(test, is_none), ValueError, message)


def _result(drawn: Tracer, shape: Sequence[Dim] | None) -> Tracer:
    """Return the draws as NumPy does: one number as a Python float."""
    return tracer_of(drawn.value, weak=True) if shape is None else _array(drawn)


def _array(drawn: Tracer) -> Tracer:
    drawn.cell.is_array = True
    return drawn


# --- refusals -----------------------------------------------------------------------------------


_REMEDY = ("Draw the numbers outside and pass them as an argument, or make them of those of "
           "random, normal, uniform, exponential, gamma, integers, choice or permutation")


def _refuse_out(out: object, kind: str) -> None:
    if out is not None:
        raise refuse(f"numpy.random.Generator.{_METHOD_OF.get(kind, kind)} with out= cannot be "
                     "captured", "Assign what it returns: out[:] = rng.random(out.shape)", "TJ222")
