"""Sparse matrices of `scipy.sparse`, by coordinates: their products, sums and dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.sparse_places import ELEMENTS, Elements, Shape, flat, require_inside
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim, to_dim
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["Sparse", "added", "as_sparse", "is_sparse", "of_dense"]

_OF_OTHERS = frozenset((
    "data", "indices", "indptr", "coords", "row", "col", "offsets", "nnz", "size", "dtype",
    "tolil", "todia", "todok", "tobsr", "astype", "conj", "conjugate", "getrow", "getcol",
    "max", "min", "mean", "power", "real", "imag", "reshape", "resize", "setdiag", "sort_indices",
    "sum_duplicates", "eliminate_zeros", "nonzero", "count_nonzero", "argmax", "argmin", "H", "A"))
"""Attributes of SciPy's matrices that one made by a capture has not."""
_UNEQUAL = "a sparse matrix has another number of elements than of places"


class Sparse(Made):
    """A sparse matrix whose elements may be traced.

    elements -- data, rows and columns; elements of one place are to be added up, and an element
                that does not count is behind the last row and column
    shape    -- numbers of rows and columns
    kind     -- format and class: "csr_array", "coo_matrix"
    """

    has_captured_operators = True
    __array_priority__ = 10.1  # as SciPy's: an array leaves its operators to them

    def __init__(self, elements: Elements, shape: Shape, kind: str) -> None:
        self.elements = elements
        self.shape, self.kind, self.ndim = shape, kind, 2
        self.scipys = f"scipy.sparse.{kind}"

    @property
    def format(self) -> str:
        """Return the format that SciPy would keep the matrix in; the elements are the same."""
        return self.kind.partition("_")[0]

    @property
    def _is_matrix(self) -> bool:
        """Whether `*` is the product of matrices."""
        return self.kind.endswith("_matrix")

    def _in(self, form: str) -> str:
        return f"{form}_{self.kind.partition('_')[2]}"

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_OTHERS:
            raise AttributeError(name)
        raise refuse(f"`{name}` of a sparse matrix that captured code made",
                     "Use products, sums, `.T`, `.toarray()` and `.diagonal()`, or make the matrix "
                     "outside", "TJ218")

    def as_leaf(self) -> NoReturn:
        """Refuse to be an argument or a result."""
        raise refuse("a sparse matrix that captured code made, as a result",
                     "Return its .toarray(), or its elements", "TJ210")

    @property
    def T(self) -> Sparse:
        """The transpose, which shares its elements with the matrix but for the format dia."""
        data, row, column = self.elements
        data = data.copy() if self.format == "dia" else data
        form = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return Sparse((data, column, row), self.shape[::-1], self._in(form))

    def transpose(self, axes: object = None, copy: bool = False) -> Sparse:
        """Return the transpose."""
        if axes is not None and axes != (1, 0):
            raise ValueError("Sparse arrays/matrices do not support an 'axes' parameter because "
                             "swapping dimensions is the only logical permutation.")
        return self.T.copy() if copy else self.T

    def __getitem__(self, key: object) -> Any:
        """Return an element, or some rows and columns."""
        found = self.toarray()[key]
        if not found.ndim:
            return found
        if found.ndim != 2:
            raise refuse("a row or column, as a vector, of a sparse matrix that captured code made",
                         "Index its .toarray()", "TJ218")
        return of_dense(found, self._in("csr" if self.format == "coo" else self.format))

    # --- products -------------------------------------------------------------------------------

    def dot(self, other: object) -> Any:
        """Return the product with a vector or a dense matrix, or with a number."""
        if is_sparse(other):
            product = self.dot(as_sparse(other).toarray())
            return of_dense(product, self._in("csr" if self.format != "csc" else "csc"))
        x: Any = as_tracer(other)
        if not x.ndim:
            return self._scaled(x)
        if x.ndim > 2:
            raise refuse("a product of a sparse matrix with an array of more than two axes",
                         "Reshape the array to a matrix", "TJ218")
        data, row, column = self.elements
        if not same_dim(to_dim(self.shape[1]), x.dims[0], "matmul: dimension mismatch"):
            raise ValueError(f"matmul: dimension mismatch with signature (n,k={self.shape[1]}),"
                             f"(k={x.shape[0]},m)->(n,m)" if x.ndim == 2 else
                             f"matmul: dimension mismatch with signature (n,k={self.shape[1]}),"
                             f"(k={x.shape[0]},)->(n,)")
        read = x[np.minimum(column, self.shape[1] - 1)]
        terms = (data if x.ndim == 1 else np.reshape(data, (-1, 1))) * read
        return added(terms, row, self.shape[0])

    def __matmul__(self, other: object) -> Any:
        if not is_sparse(other) and not np.ndim(as_tracer(other)):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(other)

    def __rmatmul__(self, other: object) -> Any:
        if is_sparse(other):
            return self.dot(other)
        x: Any = as_tracer(other)
        if not x.ndim:
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return np.transpose(self.T.dot(np.transpose(x)))

    def __mul__(self, other: object) -> Any:
        if self._is_matrix:
            return self.dot(other)
        return self.multiply(other)

    def __rmul__(self, other: object) -> Any:
        if self._is_matrix and np.ndim(as_tracer(other)):
            return self.__rmatmul__(other)
        return self.multiply(other)

    def multiply(self, other: object) -> Sparse:
        """Return the elementwise product with a dense array or a number."""
        if is_sparse(other):
            raise refuse("an elementwise product of two sparse matrices",
                         "Make one of them dense by .toarray()", "TJ218")
        x: Any = as_tracer(other)
        if not x.ndim:
            return self._scaled(x)
        data, row, column = self.elements
        n, m = self.shape
        grid = np.broadcast_to(x, (n, m))
        read = grid[np.minimum(row, n - 1), np.minimum(column, m - 1)]
        return Sparse((data * read, row, column), self.shape, self._in("coo"))

    def _of(self, data: object) -> Sparse:
        return Sparse((data, *self.elements[1:]), self.shape, self.kind)

    def _scaled(self, number: Tracer) -> Sparse:
        return self._of(self.elements[0] * number)

    def __truediv__(self, other: object) -> Sparse:
        x: Any = as_tracer(other)
        if x.ndim:
            raise refuse("a sparse matrix divided by an array", "Use .multiply with its inverse",
                         "TJ218")
        return self._of(self.elements[0] / x)

    def __neg__(self) -> Sparse:
        return self._of(-self.elements[0])

    # --- sums -----------------------------------------------------------------------------------

    def __add__(self, other: object) -> Any:
        return self._plus(other, 1)

    def __radd__(self, other: object) -> Any:
        return self._plus(other, 1)

    def __sub__(self, other: object) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: object) -> Any:
        return (-self)._plus(other, 1)

    def _plus(self, other: object, sign: int) -> Any:
        """Return the sum with another sparse matrix, or with a dense one, which is dense."""
        if not is_sparse(other):
            dense: Any = as_tracer(other)
            if not dense.ndim:
                raise NotImplementedError("adding a nonzero scalar to a sparse array is not "
                                          "supported")
            return self.toarray() + dense if sign == 1 else self.toarray() - dense
        more = as_sparse(other)
        if not all(same_dim(to_dim(self.shape[k]), to_dim(more.shape[k])) for k in (0, 1)):
            raise ValueError("inconsistent shapes")
        parts = zip(self.elements, (-more if sign == -1 else more).elements, strict=True)
        data, row, column = (np.concatenate(pair) for pair in parts)
        form = "csr" if self.format in ("coo", "dia") and more.format != "dia" else self.format
        return Sparse((data, row, column), self.shape, self._in("csr" if form == "coo" else form))

    def sum(self, axis: object = None) -> Any:
        """Return the sum of all elements, or of columns or rows."""
        data, row, column = self.elements
        if axis is None:
            inside = row < self.shape[0]
            return np.sum(np.where(inside, data, 0))
        if axis not in (0, 1, -1, -2):
            raise ValueError("axis out of range")
        along = axis in (0, -2)
        if data.dtype.kind in "bi" or data.dtype.itemsize < 8:  # as np.sum: no small ints
            data = cast(data, data.dtype if data.dtype.kind in "fc" else
                        np.uint64 if data.dtype.kind == "u" else np.int64)
        total = added(data, column if along else row, self.shape[1 if along else 0])
        if self._is_matrix:
            raise refuse("sums of a sparse matrix by axes, which are of class np.matrix",
                         "Use csr_array and its like, or A @ np.ones(n)", "TJ218")
        return total

    def diagonal(self, k: int = 0) -> Any:
        """Return the elements of the diagonal, or of one beside it."""
        if k:
            raise refuse("another diagonal of a sparse matrix than the main one",
                         "Use np.diagonal(A.toarray(), k)", "TJ218")
        data, row, column = self.elements
        count = min(self.shape)
        return added(data, np.where(row == column, np.minimum(row, count), count), count)

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of the diagonal."""
        return np.sum(self.diagonal(offset))

    # --- refused --------------------------------------------------------------------------------

    def _refused(self, *others: object) -> NoReturn:
        """Refuse an operator that a Python object would otherwise inherit from `object`."""
        raise refuse("a comparison, truth, power or absolute value of a sparse matrix that "
                     "captured code made", "Use its .toarray()", "TJ218")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused
    __bool__ = __abs__ = __pow__ = _refused
    __hash__ = None  # type: ignore[assignment]

    def _changed(self, *others: object) -> NoReturn:
        """Refuse a change, which other names of the matrix would see."""
        raise refuse("a change in place of a sparse matrix that captured code made",
                     "Make another one: A = A * 2.0", "TJ218")

    __imul__ = __itruediv__ = __setitem__ = __delitem__ = _changed

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0]")

    # --- other forms ----------------------------------------------------------------------------

    def toarray(self, order: object = None, out: object = None) -> Any:
        """Return a dense array."""
        if order is not None or out is not None:
            raise refuse(".toarray() with order= or out=", "Leave them out", "TJ218")
        data, row, column = self.elements
        n, m = self.shape
        places = np.where(row < n, row * m + column, n * m)
        return np.reshape(added(data, places, n * m), (n, m))

    def todense(self, order: object = None, out: object = None) -> Any:
        """Return a dense array, of `csr_array` and its like."""
        if self._is_matrix:
            raise refuse(".todense(), which is of class np.matrix", "Use .toarray()", "TJ218")
        return self.toarray(order, out)

    def asformat(self, format: str, copy: bool = False) -> Sparse:
        """Return the matrix in a format: itself, or one with elements of its own or shared."""
        if format not in ("csr", "csc", "coo", "dia", "bsr"):
            raise refuse(f"a sparse matrix of format {format}, that captured code made",
                         "Use csr, csc or coo", "TJ218")
        if format == self.format:
            return self.copy() if copy else self
        shared = not copy and format == "coo" and self.format in ("csr", "csc")
        made = Sparse(self.elements, self.shape, self._in(format))
        return made if shared else made.copy()

    def tocsr(self, copy: bool = False) -> Sparse:
        """Return the matrix as csr."""
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> Sparse:
        """Return the matrix as csc."""
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool | None = None) -> Sparse:
        """Return the matrix as coo; a csc matrix is copied unless `copy` says no."""
        return self.asformat("coo", self.format == "csc" if copy is None else copy)

    def copy(self) -> Sparse:
        """Return an equal matrix with elements of its own."""
        data, row, column = (part.copy() for part in self.elements)
        return Sparse((data, row, column), self.shape, self.kind)


def added(terms: Tracer, places: Tracer, count: int | SymInt) -> Any:
    """Return the sums of terms, along the first axis, whose places are the same."""
    rest, size = terms.dims[1:], places.dims[0]
    if terms.dims[0] != size and same_dim(terms.dims[0], size, _UNEQUAL):
        terms = apply("reshape", terms, shape=(size, *rest))  # equal, written in two ways
    blank = apply("full", terms.dtype.type(0), shape=(to_dim(count) + 1, *rest))
    inside: Any = np.clip(cast(places, np.int64), 0, count)  # a check may come behind the writes
    return apply("scatter_add", blank, terms, inside, axes=(0,), position=0)[:-1]


def of_dense(a: Tracer, kind: str) -> Sparse:
    """Return a dense matrix as a sparse one that has all elements, as its own."""
    if a.ndim != 2:
        raise refuse(f"a sparse matrix of an array with {a.ndim} axes", "Give a matrix", "TJ218")
    n, m = a.dims
    shape: Any = as_operand(n), as_operand(m)
    row: Any = np.broadcast_to(np.reshape(apply("iota", size=n), (-1, 1)), shape)
    column: Any = np.broadcast_to(apply("iota", size=m), shape)
    return Sparse(flat(a.copy(), row, column), shape, kind)


# --- matrices that SciPy made --------------------------------------------------------------------


def is_sparse(x: object) -> bool:
    """Whether something is a sparse matrix, SciPy's or one that captured code made."""
    return type(x) is Sparse or (
        type(x).__module__.startswith("scipy.sparse") and hasattr(x, "format"))


def as_sparse(matrix: object) -> Sparse:
    """Return a matrix; of one from outside the arrays are read like any others, its shape is fixed.
    """
    if type(matrix) is Sparse:
        return matrix
    shape = read_attribute(matrix, "_shape")
    form = str(read_attribute(matrix, "format"))
    if len(shape) != 2 or form not in ELEMENTS:
        raise refuse(f"a sparse array of format {form} with {len(shape)} axes",
                     "Convert it outside by .tocsr()", "TJ218")
    elements = ELEMENTS[form](matrix, shape)
    require_inside(elements, shape)
    return Sparse(elements, shape, type(matrix).__name__)


def _method(name: str) -> Callable[..., Any]:
    def capture(matrix: object, *args: object, **kwargs: Any) -> Any:
        return getattr(as_sparse(matrix), name)(*args, **kwargs)

    return capture


def _transposed(matrix: object, axes: object = None, copy: bool = False) -> Sparse:
    return as_sparse(matrix).transpose(axes, copy)


_METHODS = {name: _method(name) for name in (
    "dot", "multiply", "toarray", "diagonal", "trace", "sum",
    "__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__truediv__", "__add__", "__radd__",
    "__sub__", "__rsub__", "__neg__")} | {"T": _transposed, "transpose": _transposed}
for _format in ELEMENTS:
    for _kind in ("array", "matrix"):
        OBJECTS[f"scipy.sparse.{_format}_{_kind}"] = _METHODS
