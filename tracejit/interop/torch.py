"""Compiled functions in PyTorch's autograd: tensors on the CPU in, tensors out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracejit.interop.arrays import ArrayFunction, Result
from tracejit.transforms.options import Fp

__all__ = ["as_function"]


def as_function(fn: Callable[..., object], *, fp: Fp = "default") -> Callable[..., Any]:
    """Return a NumPy function as a function of PyTorch tensors, with derivatives in autograd.

    fn -- a function of arrays and numbers that returns an array or a number, or a tuple of them
    fp -- "default", or "strict", which turns off vectorised math and reordered sums

    It takes tensors on the CPU, whose memory it reads in place, and Python numbers. Derivatives of
    every order, `torch.func.vmap`, `jacrev` and forward mode work; each is compiled once for all
    sizes. A tensor without axes is a number for `fn`. Within `torch.compile`, call
    `torch.compiler.disable(f)`: what it traces has no memory.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` where `fn` writes to its arguments, or takes or returns something else.

    >>> import numpy as np, torch
    >>> from tracejit.interop.torch import as_function
    >>> energy = as_function(lambda x: np.sum(x ** 3))
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> energy(x).backward()
    >>> x.grad
    tensor([ 3., 12.])
    """
    function = ArrayFunction(fn, fp)

    def call(*args: object) -> Any:
        return _applied(function, *args)

    call.__name__ = call.__qualname__ = function.name
    call.__doc__ = fn.__doc__
    return call


def _applied(function: ArrayFunction, *args: object) -> Any:
    is_single = function.is_single([_kind(a) for a in args])
    results = _Application.apply(function, *args)
    return results[0] if is_single else results


class _Application(torch.autograd.Function):
    """A function of arrays applied to tensors; its derivatives are such applications again."""

    @staticmethod
    def forward(function: ArrayFunction, *args: object) -> Any:
        return tuple([torch.from_numpy(r) for r in function(*map(_array, args))])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.function, *args = inputs
        ctx.tensors = [k for k, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.others = [None if k in ctx.tensors else a for k, a in enumerate(args)]
        ctx.save_for_backward(*[args[k] for k in ctx.tensors])
        ctx.save_for_forward(*[args[k] for k in ctx.tensors])
        ctx.count = len(output)
        ctx.smooth = tuple([k for k, r in enumerate(output)
                            if r.is_floating_point() or r.is_complex()])
        ctx.mark_non_differentiable(*[r for k, r in enumerate(output) if k not in ctx.smooth])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        wanted = tuple([k for k, is_needed in enumerate(ctx.needs_input_grad[1:]) if is_needed])
        back = ctx.function.pullback(wanted, ctx.smooth)
        found = dict(zip(wanted, _Application.apply(
            back, *[cotangents[k] for k in ctx.smooth], *_arguments(ctx)), strict=True))
        return None, *[found.get(k) for k in range(len(ctx.others))]

    @staticmethod
    def jvp(ctx: Any, _: object, *tangents: Any) -> Any:
        wanted = tuple([k for k, t in enumerate(tangents) if t is not None])
        along = ctx.function.tangents(wanted, ctx.smooth)
        found = dict(zip(ctx.smooth, _Application.apply(
            along, *[tangents[k] for k in wanted], *_arguments(ctx)), strict=True))
        return tuple([found.get(k) for k in range(ctx.count)])

    @staticmethod
    def vmap(info: Any, in_dims: Any, function: ArrayFunction, *args: Any) -> Any:
        mapped = function.mapped(tuple(in_dims[1:]))
        results = _Application.apply(mapped, *args)
        return results, (0,) * len(results)


def _arguments(ctx: Any) -> list[Any]:
    given = list(ctx.others)
    for k, tensor in zip(ctx.tensors, ctx.saved_tensors, strict=True):
        given[k] = tensor
    return given


def _kind(a: Any) -> Any:
    """Return the dtype and number of axes of a tensor, which under transforms has no memory."""
    if not isinstance(a, torch.Tensor):
        return a
    try:
        return Result(np.dtype(str(a.dtype).removeprefix("torch.")), a.ndim, None)
    except TypeError:
        raise TypeError(f"NumPy has no {a.dtype}. Convert the tensor first: x.float()") from None


def _array(a: Any) -> Any:
    """Return a tensor's memory as an array, or as a number where it has no axes."""
    if not isinstance(a, torch.Tensor):
        return a
    array = a.detach().resolve_conj().resolve_neg().numpy()
    return array if array.ndim else array[()]
