"""PyTorch's linear algebra and Fourier transforms, in NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.linalg as sla
import scipy.spatial.distance as distance

__all__ = ["FORMS"]


def adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


def scaled_product(product: Any) -> Any:
    """Return the form of beta x + alpha times a product."""
    def form(x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1, **_: object) -> Any:
        return beta * x + alpha * product(a, b)
    return form


def cholesky(a: Any, upper: bool = False, check_errors: bool = False) -> Any:
    return np.linalg.cholesky(a, upper=upper)


def cholesky_inverse(c: Any, upper: bool = False) -> Any:
    return np.linalg.inv(adjoint(c) @ c if upper else c @ adjoint(c))


def cholesky_solve(b: Any, c: Any, upper: bool = False) -> Any:
    return np.linalg.solve(adjoint(c) @ c if upper else c @ adjoint(c), b)


def cross(a: Any, b: Any, dim: int = -1) -> Any:
    return np.cross(a, b, axis=dim)


def eigh(a: Any, UPLO: str = "L") -> Any:
    return tuple(np.linalg.eigh(a, UPLO))


def qr(a: Any, some: Any = True) -> Any:
    return tuple(np.linalg.qr(a, mode="reduced" if some else "complete"))


def linalg_qr(a: Any, mode: str = "reduced") -> Any:
    return tuple(np.linalg.qr(a, mode=mode))


def svd(a: Any, some: bool = True, compute_uv: bool = True,
        full_matrices: bool | None = None) -> Any:
    full = not some if full_matrices is None else full_matrices
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    return u, s, (vh if full_matrices is not None else adjoint(vh))


def pinv(a: Any, rcond: Any = None, rtol: Any = None, hermitian: bool = False, **_: object) -> Any:
    limit = rcond if rtol is None else rtol
    return np.linalg.pinv(a, hermitian=hermitian) if limit is None else np.linalg.pinv(
        a, rcond=limit, hermitian=hermitian)


def solve(a: Any, b: Any, left: bool = True, **_: object) -> Any:
    if b.ndim == 1 or b.shape == a.shape[:-1]:
        return np.linalg.solve(a, b[..., None])[..., 0]
    if left:
        return np.linalg.solve(a, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def solve_triangular(a: Any, b: Any, upper: bool, left: bool = True,
                     unitriangular: bool = False) -> Any:
    if not left:
        found = sla.solve_triangular(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2),
                                     lower=upper, unit_diagonal=unitriangular)
        return np.swapaxes(found, -1, -2)
    return sla.solve_triangular(a, b, lower=not upper, unit_diagonal=unitriangular)


def triangular_solve(b: Any, a: Any, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False) -> Any:
    return sla.solve_triangular(a, b, trans=int(transpose), lower=not upper,
                                unit_diagonal=unitriangular), a


def lstsq(a: Any, b: Any, driver: Any = None) -> Any:
    return np.linalg.pinv(a) @ b


def lu_factor(a: Any, pivot: bool = True, **_: object) -> Any:
    return sla.lu_factor(a)[0]


def lu(a: Any, pivot: bool = True) -> Any:
    return sla.lu(a)


def norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    axis = tuple(dim) if isinstance(dim, list | tuple) else dim
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    if axis is None and not isinstance(p, str):
        found = np.linalg.norm(np.ravel(x), p)
        return np.reshape(found, (1,) * np.ndim(x)) if keepdim else found
    if isinstance(axis, tuple) and not isinstance(p, str):
        return np.linalg.vector_norm(x, ord=2 if p is None else p, axis=axis, keepdims=keepdim)
    if p == "fro":
        return np.linalg.vector_norm(x, axis=axis, keepdims=keepdim)
    return np.linalg.norm(x, p, axis=axis, keepdims=keepdim)


def linalg_norm(x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False,
                dtype: Any = None) -> Any:
    axis = tuple(dim) if isinstance(dim, list | tuple) else dim
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    return np.linalg.norm(x, ord, axis=axis, keepdims=keepdim)


def matrix_norm(x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False,
                dtype: Any = None) -> Any:
    return np.linalg.norm(x, ord, axis=tuple(dim), keepdims=keepdim)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False,
                dtype: Any = None) -> Any:
    axis = tuple(dim) if isinstance(dim, list | tuple) else dim
    return np.linalg.vector_norm(x, ord=ord, axis=axis, keepdims=keepdim)


def vander(x: Any, N: int | None = None) -> Any:
    n = x.shape[-1] if N is None else N
    return x[..., None] ** np.arange(n)


def tensorsolve(a: Any, b: Any, dims: Any = None) -> Any:
    return np.linalg.tensorsolve(a, b, dims)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    return np.tensordot(a, b, dims if isinstance(dims, int) else tuple(dims))


def einsum(xs: Any, equation: str) -> Any:
    return np.einsum(equation, *xs)


def dist(x: Any, y: Any, p: Any = 2) -> Any:
    return np.linalg.norm(np.ravel(x - y), p)


def cdist(x: Any, y: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    if x.ndim > 2 or p < 1.0:  # SciPy's takes neither
        return np.linalg.vector_norm(x[..., :, None, :] - y[..., None, :, :], ord=p, axis=-1)
    if p == np.inf:
        return distance.cdist(x, y, "chebyshev")
    return distance.cdist(x, y, "minkowski", p=p)


def pdist(x: Any, p: float = 2.0) -> Any:
    if p == np.inf:
        return distance.pdist(x, "chebyshev")
    if p == 0.0:
        return distance.pdist(x, "hamming") * x.shape[1]
    return distance.pdist(x, "minkowski", p=p)


def fourier(function: Any) -> Any:
    """Return the form of a transform along one axis."""
    def transform(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return function(x, n, axis=dim, norm=norm)
    return transform


def fourier_n(function: Any, two: bool) -> Any:
    """Return the form of a transform along several axes."""
    def transform(x: Any, s: Any = None, dim: Any = (-2, -1) if two else None,
                  norm: str | None = None) -> Any:
        axes = (dim,) if isinstance(dim, int) else dim
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        return function(x, s, axes=axes, norm=norm)
    return transform


def shift(function: Any) -> Any:
    return lambda x, dim=None: function(x, axes=dim)


def logdet(a: Any) -> Any:
    sign, size = np.linalg.slogdet(a)
    return np.log(sign) + size if np.iscomplexobj(a) else np.where(sign < 0.0, np.nan, size)


def matrix_rank(a: Any, atol: Any = None, rtol: Any = None, **_: object) -> Any:
    if atol is not None:
        return np.linalg.matrix_rank(a, atol)
    return np.linalg.matrix_rank(a, rtol=rtol)


def slogdet(a: Any) -> Any:
    return tuple(np.linalg.slogdet(a))


FORMS: dict[str, Any] = {
    "addmm": scaled_product(np.matmul), "addmm_decomposed": scaled_product(np.matmul),
    "addmv": scaled_product(np.matmul), "baddbmm": scaled_product(np.matmul),
    "addbmm": scaled_product(lambda a, b: np.sum(a @ b, axis=0)), "addr": scaled_product(np.outer),
    "dot": np.dot, "vdot": np.vdot, "bmm": np.matmul, "mv": np.dot, "mm": np.matmul,
    "matmul": np.matmul, "cdist": cdist, "nn_functional_pdist": pdist, "cholesky": cholesky,
    "linalg_cholesky": cholesky, "linalg_cholesky_ex": cholesky,
    "cholesky_inverse": cholesky_inverse, "cholesky_solve": cholesky_solve, "cross": cross,
    "linalg_cross": cross, "matrix_exp": sla.expm, "dist": dist, "outer": np.outer, "qr": qr,
    "linalg_qr": linalg_qr, "triangular_solve": triangular_solve, "einsum": einsum, "svd": svd,
    "linalg_svd": svd, "pinverse": pinv, "linalg_pinv": pinv, "linalg_pinv_hermitian": pinv,
    "kron": np.kron, "inner": np.inner, "tensordot": tensordot,
    "logdet": logdet, "norm": norm, "norm_nuc": norm, "norm_fro": norm,
    "norm_inf": norm, "linalg_det": np.linalg.det, "linalg_slogdet": slogdet,
    "linalg_diagonal": lambda x, offset=0, dim1=-2, dim2=-1: np.diagonal(x, offset, dim1, dim2),
    "linalg_vecdot": lambda a, b, dim=-1: np.linalg.vecdot(a, b, axis=dim),
    "linalg_cond": lambda a, p=None: np.linalg.cond(a, p),
    "linalg_eig": lambda a: tuple(np.linalg.eig(a)), "linalg_eigvals": np.linalg.eigvals,
    "linalg_eigh": eigh, "linalg_eigvalsh": lambda a, UPLO="L": np.linalg.eigvalsh(a, UPLO),
    "linalg_lstsq": lstsq, "linalg_lstsq_grad_oriented": lstsq,
    "linalg_matrix_power": lambda a, n: np.linalg.matrix_power(a, n),
    "linalg_multi_dot": lambda xs: np.linalg.multi_dot(xs), "linalg_norm": linalg_norm,
    "linalg_norm_subgradients_at_zero": linalg_norm, "linalg_matrix_norm": matrix_norm,
    "linalg_vander": vander, "linalg_vector_norm": vector_norm, "linalg_lu_factor": lu_factor,
    "linalg_lu": lu, "linalg_lu_factor_ex": lu_factor, "linalg_inv": np.linalg.inv,
    "linalg_inv_ex": lambda a, **_: np.linalg.inv(a), "linalg_solve": solve,
    "linalg_solve_ex": solve, "linalg_solve_triangular": solve_triangular,
    "linalg_matrix_rank": matrix_rank,
    "linalg_matrix_rank_hermitian": lambda a, **_: np.linalg.matrix_rank(a, hermitian=True),
    "linalg_svdvals": lambda a, **_: np.linalg.svdvals(a),
    "linalg_tensorinv": lambda a, ind=2: np.linalg.tensorinv(a, ind),
    "linalg_tensorsolve": tensorsolve,
    **{f"fft_{name}": fourier(getattr(np.fft, name))
       for name in ("fft", "hfft", "rfft", "ifft", "ihfft", "irfft")},
    **{f"fft_{name}": fourier_n(getattr(scipy.fft, name), name.endswith("2"))
       for kind in ("fft", "hfft", "rfft", "ifft", "ihfft", "irfft")
       for name in (f"{kind}2", f"{kind}n")},
    "fft_fftshift": shift(np.fft.fftshift), "fft_ifftshift": shift(np.fft.ifftshift),
}
