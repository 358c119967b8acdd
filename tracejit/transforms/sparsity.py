"""Which elements of a result depend on which elements of an argument: from the program's graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tracejit.program.request import key_of
from tracejit.runtime.function import Function
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.trace.ground.active import is_tracing
from tracejit.trace.values.specs import spec_of_leaf
from tracejit.transforms.patterns import FoundPattern, Sparsity, analyse
from tracejit.transforms.products import name_of, pullback_at, tangent_at, value_at
from tracejit.tree import flatten_call

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csr_array

__all__ = ["Detector", "jacobian_sparsity", "whole_numbers"]


@hiding_frames
def jacobian_sparsity(fn: Callable[..., object], *args: object, argnums: int = 0) -> coo_array:
    """Return where a Jacobian may have elements other than zero, whatever the numbers are.

    fn      -- a function that returns an array or a number, real and floating
    args    -- its arguments, for their sizes, dtypes, integers and truth values
    argnums -- the position of the argument to differentiate by: a float array of any shape

    The pattern is a boolean `scipy.sparse.coo_array` of shape (elements of the result, elements of
    the argument), both in C order; `jac_sparsity=` of `scipy.optimize.least_squares` and
    `scipy.integrate.solve_ivp` takes it. It is found from the function's graph and from no float:
    of a branch that data decides both sides count, a loop that data ends may end after any
    iteration, an index that data decides may be any. So no element is missed, and some
    may be in it that are always zero. Integers and truth values among the arguments, and
    those that the function reads from outside, are taken as they are: the pattern is for them.
    `why()` of the result says, line by line, where rows became dense.

    Raises `Refusal` for a construct that cannot be captured: the message names the line.
    Raises `TypeError` where the argument or the result is no real float array or number, and
    `MemoryError` for a pattern of more than 2^28 elements.

    >>> import numpy as np, tracejit
    >>> pattern = tracejit.jacobian_sparsity(lambda x: x[1:] * x[:-1], np.ones(4))
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    found = Detector(fn, argnums).find(args, {})
    pattern = found.as_coo()
    pattern.why = found.why
    return pattern


def _kind_of(x: object) -> Any:
    """Return what has to be equal of two arguments for a pattern of theirs to be the same."""
    kind = type(x)
    if kind is np.ndarray and isinstance(x, np.ndarray):
        return x.shape, x.dtype
    if kind is float:
        return float
    return (kind, x) if kind in (int, bool) or isinstance(x, np.integer) else None


def whole_numbers(args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
    """Return the integers and truth values among the arguments, by which a pattern may differ."""
    leaves, _ = flatten_call(args, kwargs)
    return tuple([(x.shape, x.tobytes()) if isinstance(x, np.ndarray) and x.dtype.kind in "iub"
                  else int(x) if isinstance(x, (int, np.integer, np.bool_)) else None
                  for x in leaves])


class Detector:
    """The patterns of a function's Jacobian by one argument, found once for each sizes."""

    def __init__(self, fn: Callable[..., object], argnums: int) -> None:
        if isinstance(argnums, bool) or not isinstance(argnums, int) or argnums < 0:
            raise TypeError("a sparse Jacobian is by one argument: argnums is its position, an int "
                            f"from 0 on, and not {argnums!r}")
        self.fn, self.argnum = fn, argnums
        self.forward, self.back = tangent_at(fn, argnums), pullback_at(fn, argnums)
        self.value = value_at(fn, argnums)
        self._found: dict[Any, list[FoundPattern]] = {}

    def find(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Sparsity:
        """Return the pattern for a call."""
        if is_tracing():
            raise TypeError(f"the pattern of {name_of(self.fn)} is found by Python, outside of "
                            "captured code. Call it there, and pass what it returns")
        kinds: tuple[Any, ...] = tuple(map(_kind_of, args))
        if kwargs or None in kinds:
            leaves, structure = flatten_call((None, *args), kwargs)
            kinds = (key_of(structure, tuple(map(spec_of_leaf, leaves))), *(
                (np.shape(x), _kind_of(x)) for x in leaves))
        else:
            leaves = [None, *args]
        for found in self._found.get(kinds, ()):
            if found.holds(leaves):
                return found.sparsity
        made = self._made(args, kwargs)
        if not made.program.interface.is_for_one_call:
            if len(self._found) > 64:
                self._found.clear()
            self._found.setdefault(kinds, []).insert(0, made)
            del self._found[kinds][8:]
        return made.sparsity

    def compare(self, found: csr_array, args: tuple[object, ...], kwargs: dict[str, object], *,
                by_rows: bool) -> None:
        """Compare a Jacobian with a product by a random direction; raise where it misses elements.
        """
        rng = np.random.default_rng(0)
        like = self.argument(args)
        if by_rows:  # a direction of the result
            like = np.asarray(self.value(*args, **kwargs))
        v = rng.uniform(0.5, 1.5, like.shape).astype(like.dtype)
        dot = self.back(v[()], *args, **kwargs) if by_rows else (
            self.forward(v[()], *args, **kwargs)[1])
        matrix, expected = (found.T if by_rows else found), np.ravel(dot)
        wrong = abs(matrix @ v.ravel() - expected) > 1e3 * np.finfo(expected.dtype).eps * (
            abs(matrix) @ abs(v.ravel()) + abs(expected))
        if wrong.any():
            value = like if by_rows else np.asarray(dot)
            rows = range(found.shape[0]) if by_rows else np.flatnonzero(wrong).tolist()
            self._name_missed(found, value, rows, args, kwargs)

    def _name_missed(self, found: csr_array, value: np.ndarray, rows: Sequence[int],
                     args: tuple[object, ...], kwargs: dict[str, object]) -> NoReturn:
        """Raise an error that names an element that a pattern misses, in one of the first rows."""
        for row in rows[:200]:
            weights = np.zeros(value.shape, value.dtype)
            weights.flat[row] = 1
            missed = np.ravel(self.back(weights[()], *args, **kwargs)) != 0
            missed[found.indices[found.indptr[row]:found.indptr[row + 1]]] = False
            if missed.any():
                columns = np.flatnonzero(missed).tolist()
                where = f"; of its row it misses {columns[:5]}" if len(columns) > 1 else ""
                raise ValueError(f"the pattern misses element ({row}, {columns[0]}) of the "
                                 f"Jacobian of {name_of(self.fn)}{where}")
        raise ValueError(f"the pattern misses elements of the Jacobian of {name_of(self.fn)}: "
                         "products with it are others than the Jacobian's")

    def argument(self, args: tuple[object, ...]) -> np.ndarray:
        """Return the argument to differentiate by, which has to be a real float array."""
        if len(args) <= self.argnum:
            raise TypeError(f"{name_of(self.fn)} is differentiated by argument {self.argnum}, "
                            f"which has to be given by position; there are {len(args)}")
        x = args[self.argnum]
        if not isinstance(x, (np.ndarray, float, np.floating)):
            raise TypeError(f"argument {self.argnum} of {name_of(self.fn)} has to be a float array "
                            f"or a float, not a {type(x).__name__}. Pass np.asarray(x, float)")
        if np.asarray(x).dtype.kind != "f":
            raise TypeError(f"argument {self.argnum} of {name_of(self.fn)} has to be a real float "
                            f"array, not of dtype {np.asarray(x).dtype}. Pass x.astype(float)")
        return np.asarray(x)

    def _made(self, args: tuple[object, ...], kwargs: dict[str, object]) -> FoundPattern:
        x = self.argument(args)
        try:
            return self._analyse(self.forward, x, args, kwargs)
        except LookupError as e:
            if "in reverse mode" not in str(e):
                raise
        # the function has a pullback alone
        value = np.asarray(self.value(*args, **kwargs))
        return self._analyse(self.back, value, args, kwargs)

    def _analyse(self, product: Function, like: np.ndarray, args: tuple[object, ...],
                  kwargs: dict[str, object]) -> FoundPattern:
        """Return the pattern of products with a direction, or with weights, like an array."""
        seed = np.zeros(like.shape, like.dtype)
        traced = product.trace(seed if seed.shape else float(seed), *args, **kwargs)
        leaves, _ = flatten_call((seed, *args), kwargs)
        found = analyse(traced, seed, leaves, name_of(self.fn))
        if product is self.forward:
            return found
        order = np.lexsort((found.sparsity.rows, found.sparsity.columns))
        m, n = found.sparsity.shape
        turned = Sparsity((n, m), found.sparsity.columns[order], found.sparsity.rows[order],
                          found.sparsity.notes, only_back=True)
        return replace(found, sparsity=turned)
