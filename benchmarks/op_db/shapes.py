"""PyTorch's functions that arrange, choose and join elements, in NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

__all__ = ["FORMS"]


def one_tuple(sizes: Any) -> tuple[int, ...]:
    """Return sizes that were given one by one, or as one tuple."""
    return tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else tuple(sizes)


def reshape(x: Any, *shape: Any) -> Any:
    return np.reshape(x, one_tuple(shape))


def broadcast_to(x: Any, *shape: Any) -> Any:
    sizes = one_tuple(shape)
    have = (1,) * (len(sizes) - np.ndim(x)) + np.shape(x)
    return np.broadcast_to(x, tuple(h if n == -1 else n for n, h in zip(sizes, have, strict=True)))


def sum_to_size(x: Any, *shape: Any) -> Any:
    sizes = one_tuple(shape)
    lead = np.ndim(x) - len(sizes)
    axes = tuple(range(lead)) + tuple(
        lead + k for k, n in enumerate(sizes) if n == 1 and np.shape(x)[lead + k] != 1)
    return np.reshape(np.sum(x, axis=axes), sizes) if axes else x


def permute(x: Any, *dims: Any) -> Any:
    return np.transpose(x, one_tuple(dims))


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    size = -(-x.shape[dim] // chunks)
    return split(x, size, dim)


def split(x: Any, size: int, dim: int = 0) -> Any:
    return np.split(x, range(size, x.shape[dim], size), axis=dim)


def split_with_sizes(x: Any, sizes: Any, dim: int = 0) -> Any:
    return np.split(x, np.cumsum(sizes)[:-1].tolist(), axis=dim)


def tensor_split(x: Any, sections: Any, dim: int = 0) -> Any:
    where = sections.tolist() if isinstance(sections, np.ndarray) else sections
    return np.array_split(x, list(where) if isinstance(where, list | tuple) else where, axis=dim)


def flip(x: Any, *dims: Any, **named: Any) -> Any:
    return np.flip(x, tuple(named["dims"] if named else one_tuple(dims)))


def roll(x: Any, shifts: Any, dims: Any = None) -> Any:
    return np.roll(x, shifts, axis=dims)


def rot90(x: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    return np.rot90(x, k, tuple(dims))


def squeeze(x: Any, dim: Any = None) -> Any:
    if dim is None:
        return np.squeeze(x)
    dims = (dim,) if isinstance(dim, int) else dim
    return np.squeeze(x, tuple(d for d in dims if np.ndim(x) and np.shape(x)[d] == 1))


def unbind(x: Any, dim: int = 0) -> Any:
    return list(np.moveaxis(x, dim, 0))


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    if np.ndim(x) == 0:
        return np.reshape(x, (1,))
    first, last = start_dim % x.ndim, end_dim % x.ndim
    return np.reshape(x, (*x.shape[:first], int(np.prod(x.shape[first:last + 1])),
                          *x.shape[last + 1:]))


def unflatten(x: Any, dim: int, sizes: Any) -> Any:
    dim %= x.ndim
    known = [n for n in sizes if n != -1]
    full = [x.shape[dim] // int(np.prod(known)) if n == -1 else n for n in sizes]
    return np.reshape(x, (*x.shape[:dim], *full, *x.shape[dim + 1:]))


def unfold(x: Any, dimension: int, size: int, step: int) -> Any:
    if np.ndim(x) == 0:
        return np.reshape(x, (1,))[:size]
    dimension %= x.ndim
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return windows[(slice(None),) * dimension + (slice(None, None, step),)]


def as_strided(x: Any, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    places = np.array(storage_offset or 0)
    for axis, (n, s) in enumerate(zip(size, stride, strict=True)):
        places = places + (np.arange(n) * s).reshape((n,) + (1,) * (len(size) - 1 - axis))
    return np.ravel(x)[places]


def diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return np.diagonal(x, offset, dim1, dim2)


def diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    n = x.shape[-1]
    k = np.arange(n)
    out = np.zeros((*x.shape[:-1], n + abs(offset), n + abs(offset)), x.dtype)
    out[..., k + max(-offset, 0), k + max(offset, 0)] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def diagonal_scatter(x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    out = np.moveaxis(np.copy(x), (dim1, dim2), (-2, -1))
    k = np.arange(src.shape[-1])
    out[..., k + max(-offset, 0), k + max(offset, 0)] = src
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    out = np.copy(x)
    out[(slice(None),) * (dim % x.ndim) + (index,)] = src
    return out


def slice_of(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(slice(None),) * dim + (slice(start, end, step),)]


def slice_scatter(x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None,
                  step: int = 1) -> Any:
    out = np.copy(x)
    out[(slice(None),) * dim + (slice(start, end, step),)] = src
    return out


def narrow(x: Any, dim: int, start: Any, length: int) -> Any:
    first = int(start)
    first = first + x.shape[dim] if first < 0 else first
    return x[(slice(None),) * (dim % x.ndim) + (slice(first, first + length),)]


def gather(x: Any, dim: int, index: Any) -> Any:
    if np.ndim(x) == 0:
        return np.reshape(x, (1,))[index] if np.ndim(index) else x
    dim %= x.ndim
    cut = tuple(slice(None) if k == dim else slice(n) for k, n in enumerate(index.shape))
    return np.take_along_axis(x[cut], index, dim)


def take_along_dim(x: Any, index: Any, dim: int | None = None) -> Any:
    if dim is None:
        return np.ravel(x)[np.ravel(index)]
    shape = [max(a, b) for a, b in zip(x.shape, index.shape, strict=True)]
    shape[dim] = index.shape[dim]
    wide = list(shape)
    wide[dim] = x.shape[dim]
    return np.take_along_axis(np.broadcast_to(x, wide), np.broadcast_to(index, shape), dim)


def places(x: Any, dim: int, index: Any) -> tuple[np.ndarray, ...]:
    """Return the indices of all elements that `index` along `dim` tells."""
    grids = [np.reshape(np.arange(n), (n,) + (1,) * (index.ndim - 1 - k))
             for k, n in enumerate(index.shape)]
    grids[dim] = index
    return tuple(grids)


def scatter(x: Any, dim: int, index: Any, src: Any, reduce: str | None = None) -> Any:
    out = np.copy(np.atleast_1d(x))
    index = np.atleast_1d(index)
    at = places(out, dim, index)
    given = np.atleast_1d(src)[tuple(slice(n) for n in index.shape)] if np.ndim(src) else src
    if reduce == "add":
        np.add.at(out, at, given)
    elif reduce == "multiply":
        np.multiply.at(out, at, given)
    else:
        out[at] = given
    return np.reshape(out, np.shape(x))


def scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    return scatter(x, dim, index, src, "add")


def scatter_reduce_sum(x: Any, dim: int, index: Any, src: Any, how: str,
                       include_self: bool = True) -> Any:
    start = np.array(np.atleast_1d(x))
    if not include_self:
        start[places(start, dim, np.atleast_1d(index))] = 0.0
    return np.reshape(scatter(start, dim, index, src, "add"), np.shape(x))


def index_add(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    out = np.copy(np.atleast_1d(x))
    np.add.at(out, (slice(None),) * (dim % out.ndim) + (np.atleast_1d(index),),
              alpha * np.atleast_1d(source))
    return np.reshape(out, np.shape(x))


def index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    out = np.copy(np.atleast_1d(x))
    out[(slice(None),) * (dim % out.ndim) + (np.atleast_1d(index),)] = np.atleast_1d(source)
    return np.reshape(out, np.shape(x))


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    out = np.copy(np.atleast_1d(x))
    out[(slice(None),) * (dim % out.ndim) + (np.atleast_1d(index),)] = value
    return np.reshape(out, np.shape(x))


def index_select(x: Any, dim: int, index: Any) -> Any:
    return np.take(x, index, axis=dim) if np.ndim(x) else np.copy(x)


def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    out = np.copy(x)
    if accumulate:
        np.add.at(out, tuple(indices), values)
    else:
        out[tuple(indices)] = values
    return out


def masked_index(x: Any, mask: Any, indices: Any, fill: Any) -> Any:
    return np.where(mask, x[tuple(np.where(mask, i, 0) for i in indices)], fill)


def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    out = np.ravel(np.copy(x))
    if accumulate:
        np.add.at(out, np.ravel(index), np.ravel(source))
    else:
        out[np.ravel(index)] = np.ravel(source)
    return np.reshape(out, np.shape(x))


def masked_select(x: Any, mask: Any) -> Any:
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[
        np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))]


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    full = np.broadcast_shapes(x.shape, mask.shape)
    out = np.array(np.broadcast_to(x, full))
    chosen = np.broadcast_to(mask, full)
    out[chosen] = np.ravel(source)[:np.count_nonzero(chosen)]
    return out


def getitem(x: Any, index: Any) -> Any:
    return x[index if not isinstance(index, list) else np.array(index)]


def cat(xs: Any, dim: int = 0) -> Any:
    return np.concatenate([x for x in xs if x.shape != (0,)], axis=dim)


def stack(xs: Any, dim: int = 0) -> Any:
    return np.stack(xs, axis=dim)


def block_diag(*xs: Any) -> Any:
    rows = [np.atleast_2d(x) for x in xs]
    out = np.zeros((sum(r.shape[0] for r in rows), sum(r.shape[1] for r in rows)), rows[0].dtype)
    i = j = 0
    for r in rows:
        out[i:i + r.shape[0], j:j + r.shape[1]] = r
        i, j = i + r.shape[0], j + r.shape[1]
    return out


def combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return x[np.array(list(choose(range(len(x)), r)), int).reshape(-1, r)]


def cartesian_prod(*xs: Any) -> Any:
    if len(xs) == 1:
        return xs[0]
    return np.stack([g.ravel() for g in np.meshgrid(*xs, indexing="ij")], axis=1)


def meshgrid(*xs: Any, indexing: str = "ij") -> Any:
    arrays = xs[0] if isinstance(xs[0], list | tuple) else xs
    return np.meshgrid(*arrays, indexing=indexing)


def pad_pairs(ndim: int, pad: Any) -> list[tuple[int, int]]:
    pairs = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    return [(0, 0)] * (ndim - len(pairs)) + pairs


def pad(x: Any, widths: Any, mode: str = "constant", value: Any = 0) -> Any:
    pairs = pad_pairs(x.ndim, widths)
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, x.shape, strict=True))
    grown = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if mode == "constant":
        return np.pad(x[cut], grown, constant_values=0 if value is None else value)
    return np.pad(x[cut], grown, mode={"replicate": "edge", "circular": "wrap"}.get(mode, mode))


def constant_pad_nd(x: Any, widths: Any, value: Any = 0) -> Any:
    return pad(x, widths, "constant", value)


def tile(x: Any, *repeats: Any) -> Any:
    return np.tile(x, one_tuple(repeats))


def repeat_interleave(x: Any, repeats: Any, dim: int | None = None, output_size: Any = None) -> Any:
    return np.repeat(x, repeats, axis=dim)


def tri(function: Any) -> Any:
    return lambda x, diagonal=0: function(x, diagonal)


def pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    *lead, c, h, w = x.shape
    r = upscale_factor
    y = np.reshape(x, (*lead, c // r ** 2, r, r, h, w))
    n = len(lead)
    y = np.transpose(y, (*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    return np.reshape(y, (*lead, c // r ** 2, h * r, w * r))


def pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    *lead, c, h, w = x.shape
    r, n = downscale_factor, len(lead)
    y = np.reshape(x, (*lead, c, h // r, r, w // r, r))
    y = np.transpose(y, (*range(n + 1), n + 2, n + 4, n + 1, n + 3))
    return np.reshape(y, (*lead, c * r ** 2, h // r, w // r))


def channel_shuffle(x: Any, groups: int) -> Any:
    b, c, *rest = x.shape
    y = np.swapaxes(np.reshape(x, (b, groups, c // groups, *rest)), 1, 2)
    return np.reshape(y, x.shape)


def H(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2)) if np.ndim(x) else np.conj(x)


FORMS: dict[str, Any] = {
    "broadcast_to": broadcast_to, "broadcast_shapes": np.broadcast_shapes,
    "broadcast_tensors": lambda *xs: np.broadcast_arrays(*xs), "block_diag": block_diag,
    "combinations": combinations, "cartesian_prod": cartesian_prod, "chunk": chunk,
    "unsafe_chunk": chunk, "sum_to_size": sum_to_size, "expand": broadcast_to,
    "expand_as": lambda x, y: np.broadcast_to(x, y.shape), "expand_copy": broadcast_to,
    "diag": lambda x, k=0: np.diag(x, k), "diag_embed": diag_embed, "diagonal": diagonal,
    "diagonal_copy": diagonal, "diagonal_scatter": diagonal_scatter, "flip": flip,
    "fliplr": np.fliplr, "flipud": np.flipud, "masked_scatter": masked_scatter,
    "masked_select": masked_select, "meshgrid_variadic_tensors": meshgrid,
    "meshgrid_list_of_tensors": meshgrid, "as_strided": as_strided, "as_strided_copy": as_strided,
    "constant_pad_nd": constant_pad_nd,
    **{f"nn_functional_pad_{m}": pad
       for m in ("constant", "reflect", "replicate", "replicate_negative", "circular")},
    "narrow": narrow, "narrow_copy": narrow, "view_copy": reshape, "permute": permute,
    "permute_copy": permute, "roll": roll, "rot90": rot90, "split": split,
    "split_list_args": split_with_sizes, "unsafe_split": split,
    "split_with_sizes": split_with_sizes, "split_with_sizes_copy": split_with_sizes,
    "select": lambda x, dim, k: np.take(x, k, axis=dim), "select_scatter": select_scatter,
    "slice": slice_of, "slice_scatter": slice_scatter, "tensor_split": tensor_split,
    "hsplit": lambda x, n: np.hsplit(x, n), "vsplit": lambda x, n: np.vsplit(x, n),
    "dsplit": lambda x, n: np.dsplit(x, n), "ravel": np.ravel,
    "unravel_index": lambda x, shape: np.unravel_index(x, shape), "reshape": reshape,
    "reshape_as": lambda x, y: np.reshape(x, y.shape), "view": reshape,
    "view_as": lambda x, y: np.reshape(x, y.shape),
    **{f"atleast_{n}d": lambda *xs, f=f: f(*xs)
       for n, f in enumerate((np.atleast_1d, np.atleast_2d, np.atleast_3d), 1)},
    "flatten": flatten, "unflatten": unflatten, "column_stack": lambda xs: np.column_stack(xs),
    "gather": gather, "index_fill": index_fill, "index_copy": index_copy,
    "index_select": index_select, "index_add": index_add, "index_put": index_put,
    "_unsafe_masked_index": masked_index, "__getitem__": getitem, "put": put,
    "take": lambda x, i: np.take(x, i), "scatter": scatter, "scatter_add": scatter_add,
    "scatter_reduce_sum": scatter_reduce_sum, "stack": stack, "hstack": lambda xs: np.hstack(xs),
    "vstack": lambda xs: np.vstack(xs), "dstack": lambda xs: np.dstack(xs), "cat": cat,
    "unbind": unbind, "unbind_copy": unbind, "unfold": unfold, "unfold_copy": unfold,
    "movedim": lambda x, a, b: np.moveaxis(x, a, b), "repeat": tile, "tile": tile,
    "squeeze": squeeze, "squeeze_multiple": squeeze, "squeeze_copy": squeeze,
    "take_along_dim": take_along_dim, "unsqueeze": lambda x, d: np.expand_dims(x, d),
    "unsqueeze_copy": lambda x, d: np.expand_dims(x, d),
    "transpose": lambda x, a, b: np.swapaxes(x, a, b) if np.ndim(x) else x,
    "transpose_copy": lambda x, a, b: np.swapaxes(x, a, b) if np.ndim(x) else x,
    "T": lambda x: x.T, "t": lambda x: x.T, "t_copy": lambda x: x.T, "H": H, "mH": H,
    "mT": lambda x: x.mT, "tril": tri(np.tril), "triu": tri(np.triu),
    "triu_indices": lambda n, m, k=0, **_: np.array(np.triu_indices(n, k, m)),
    "tril_indices": lambda n, m, k=0, **_: np.array(np.tril_indices(n, k, m)),
    "repeat_interleave": repeat_interleave, "diagflat": lambda x, offset=0: np.diagflat(x, offset),
    "argwhere": np.argwhere, "nonzero": lambda x, as_tuple=False: (
        np.nonzero(x) if as_tuple else np.argwhere(x)),
    "nn_functional_pixel_shuffle": pixel_shuffle, "nn_functional_channel_shuffle": channel_shuffle,
    "nn_functional_pixel_unshuffle": pixel_unshuffle,
    "zeros_like": lambda x, **_: np.zeros_like(x), "ones_like": lambda x, **_: np.ones_like(x),
    "full_like": lambda x, v, **_: np.full_like(x, v),
    "eye": lambda n, m=None, **_: np.eye(n, m),
    "new_zeros": lambda x, shape, **_: np.zeros(shape, x.dtype),
    "new_ones": lambda x, shape, **_: np.ones(shape, x.dtype),
    "new_full": lambda x, shape, v, **_: np.full(shape, v, x.dtype),
}
