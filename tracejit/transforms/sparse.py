"""Sparse Jacobians and Hessians: patterns, colours, and the elements as a `csr_array`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.configuration import Threads, settings
from tracejit.runtime.function import Function
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.transforms.colored_patterns import ColoredPattern, colored_pattern
from tracejit.transforms.compressed import Mode, elements_by_columns, elements_by_rows
from tracejit.transforms.options import Fp
from tracejit.transforms.patterns import Sparsity
from tracejit.transforms.products import name_of
from tracejit.transforms.public import grad
from tracejit.transforms.sparsity import Detector, whole_numbers

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csr_array

__all__ = ["SparseJacobian", "sparse_hessian", "sparse_jacobian"]


@hiding_frames
def sparse_jacobian(fn: Callable[..., object], argnums: int = 0, sparsity: object = None,
                    mode: Mode = "auto", *, fp: Fp = "default",
                    threads: Threads = None) -> SparseJacobian:
    """Return the function that computes a Jacobian as a `scipy.sparse.csr_array`.

    fn       -- a function that returns an array or a number, real and floating, of m elements
    argnums  -- the position of the argument to differentiate by: n floats, of any shape
    sparsity -- the pattern, an array or sparse array of shape (m, n) whose elements that are not
                zero say where the Jacobian's may be others; None to find it
    mode     -- "fwd": one forward product for each colour of columns; "rev": one pullback for each
                colour of rows; "auto": whichever takes fewer
    fp       -- "default", or "strict", which turns off vectorised math and reordered sums
    threads  -- how many threads share loops, or "auto"; None for the setting, see `config`

    It is called like `fn`, with the argument that it differentiates by given by position. Rows
    and columns count elements in C order. Columns that have no row in common get one colour, and
    one product with their sum gives all of their elements (Curtis, Powell and Reid, 1974). It is
    compiled once for all sizes; pattern and colours are found once for each sizes, and again where
    integers and truth values among the arguments, or read from outside, are others: see
    `jacobian_sparsity`. Of the newest call `sparsity` is the pattern, `colors` has a colour for
    each column (row), `count` is how many there are, `mode` says of which, and `why()` says which
    lines make rows dense. The pattern that is given is compared, at the first call and at the first
    one with other integers and truth values among the arguments, with a
    product of the Jacobian and a random direction; so are all where `TRACEJIT_VERIFY` is set.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where the argument or the result is no real float array or number, and
    `ValueError` where the pattern given does not fit, or misses an element.

    >>> import numpy as np, tracejit
    >>> jac = tracejit.sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> jac(np.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> jac.count, jac.colors
    (2, array([0, 1, 0, 1]))
    """
    return SparseJacobian(fn, argnums, sparsity, mode, fp, threads)


@hiding_frames
def sparse_hessian(fn: Callable[..., object], argnums: int = 0, sparsity: object = None, *,
                   fp: Fp = "default", threads: Threads = None) -> SparseJacobian:
    """Return the function that computes a Hessian as a `scipy.sparse.csr_array`.

    fn       -- a function that returns a real scalar, a float of shape ()
    argnums  -- the position of the argument to differentiate by: n floats, of any shape
    sparsity -- the pattern, of shape (n, n); None to find it: see `sparse_jacobian`
    fp       -- "default", or "strict", which turns off vectorised math and reordered sums
    threads  -- how many threads share loops, or "auto"; None for the setting, see `config`

    It is the sparse Jacobian of the gradient, in forward mode: one product of the Hessian and a
    direction for each colour of its columns. As it is symmetric, an element or the one across the
    diagonal is enough (Coleman and More, 1984): the Hessian of a chain with one number that all
    share takes four products.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where the result is no real scalar or the argument no real float array, and
    `ValueError` where the pattern given does not fit, or misses an element.

    >>> import numpy as np, tracejit
    >>> hess = tracejit.sparse_hessian(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2))
    >>> hess(np.array([1.0, 2.0, 3.0])).toarray()
    array([[ 4., -4.,  0.],
           [-4., 38., -8.],
           [ 0., -8.,  2.]])
    """
    slope: Any = grad(fn, argnums)
    return SparseJacobian(slope, argnums, sparsity, "fwd", fp, threads, is_symmetric=True)


class SparseJacobian:
    """A function that returns a Jacobian as a `csr_array`; see `sparse_jacobian`."""

    __name__: str

    def __init__(self, fn: Callable[..., object], argnums: int, sparsity: object, mode: Mode,
                 fp: Fp, threads: Threads, is_symmetric: bool = False) -> None:
        if mode not in ("auto", "fwd", "rev"):
            raise ValueError(f'mode is "auto", "fwd" or "rev", not {mode!r}')
        self._made_of = (fn, argnums, sparsity, mode, fp, threads, is_symmetric)
        self._detector = Detector(fn, argnums)
        self._asked, self._is_symmetric = mode, is_symmetric
        self._given = None if sparsity is None else _pattern_of(sparsity)
        if is_symmetric and self._given and self._given.shape[0] != self._given.shape[1]:
            raise ValueError(f"the pattern of a Hessian is square, not {self._given.shape}")
        self._programs: dict[Mode, Function] = {
            "fwd": elements_by_columns(fn, argnums, fp=fp, threads=threads),
            "rev": elements_by_rows(fn, argnums, fp=fp, threads=threads)}
        self._colored: dict[Sparsity, ColoredPattern] = {}
        self._compared = set[object]()
        self._newest: ColoredPattern | None = None
        self.__name__ = f"sparse_jacobian[{name_of(fn)}]"

    @hiding_frames
    def __call__(self, /, *args: object, **kwargs: object) -> csr_array:
        """Return the Jacobian at the arguments."""
        sparsity = self._given or self._detector.find(args, kwargs)
        colored = self._colored.get(sparsity)
        is_new = colored is None
        if colored is None:
            if self._given is not None:
                self._require_size(sparsity, args)
            colored = colored_pattern(sparsity, self._asked, self._is_symmetric)
        data = self._data(colored, args, kwargs)
        if data.dtype.itemsize < 4:
            raise TypeError(f"the Jacobian is of {data.dtype}, which SciPy's sparse arrays cannot "
                            "hold. Pass x.astype(np.float32)")
        found = colored.filled(data)
        kinds = None if self._given is None else whole_numbers(args, kwargs)
        is_new = is_new or (kinds is not None and kinds not in self._compared)
        if is_new:
            if self._given is not None or settings().verify:
                self._detector.compare(found, args, kwargs, by_rows=colored.mode == "rev")
            if len(self._colored) > 32:
                self._colored.clear()
            if len(self._compared) > 1000:
                self._compared.clear()
            self._compared.add(kinds)
            self._colored[sparsity] = colored
        self._newest = colored
        return found

    def _data(self, colored: ColoredPattern, args: tuple[object, ...],
              kwargs: dict[str, object]) -> np.ndarray:
        if self._given is not None:
            self._require_size(colored.sparsity, args)
        numbers = colored.numbers
        if colored.mode == "fwd":
            numbers = numbers.reshape(getattr(args[self._detector.argnum], "shape", ()))
        found: np.ndarray = self._programs[colored.mode](
            numbers, colored.rounds, colored.places, colored.length, *args, **kwargs)
        return found

    def _require_size(self, sparsity: Sparsity, args: tuple[object, ...]) -> None:
        size = self._detector.argument(args).size
        if size != sparsity.shape[1]:
            raise ValueError(f"the pattern has {sparsity.shape[1]} columns, and the argument "
                             f"{size} elements")

    # --- of the newest call ---------------------------------------------------------------------

    def _last(self) -> ColoredPattern:
        if self._newest is None:
            raise AttributeError("there is no pattern before the first call, as it has the sizes "
                                 "of the arguments")
        return self._newest

    @property
    def sparsity(self) -> coo_array:
        """Return the pattern of the newest call, as a boolean `coo_array`."""
        found: coo_array = self._last().sparsity.as_coo()
        return found

    @property
    def colors(self) -> np.ndarray:
        """Return the colour of each column, or in mode "rev" of each row."""
        return self._last().colors.copy()

    @property
    def count(self) -> int:
        """Return how many colours there are, and so how many products a call takes."""
        return len(self._last().rounds)

    @property
    def mode(self) -> Mode:
        """Return "fwd" where columns have colours, "rev" where rows have."""
        return self._last().mode

    def why(self) -> str:
        """Return how many products the newest call took, and which lines make rows dense."""
        last = self._last()
        kind = "columns" if last.mode == "fwd" else "rows"
        return (f"{len(last.sparsity.rows)} elements of {kind} in {self.count} colours\n"
                f"{last.sparsity.why()}")

    def __repr__(self) -> str:
        return f"<tracejit.{self.__name__}>"

    def __reduce__(self) -> Any:
        return SparseJacobian, self._made_of


def _pattern_of(given: object) -> Sparsity:
    """Return a pattern that a user gives."""
    from scipy.sparse import coo_array, issparse

    matrix: Any = given if issparse(given) else np.asarray(given)
    if matrix.ndim != 2:
        raise ValueError(f"a pattern has two axes, not {matrix.ndim}")
    found = coo_array(matrix, copy=True)
    found.data = np.ones(len(found.data), np.bool_)
    found.sum_duplicates()
    order = np.lexsort((found.col, found.row))
    return Sparsity(found.shape, found.row[order], found.col[order])
