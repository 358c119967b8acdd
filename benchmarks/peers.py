"""One way to compute value and gradient per peer: each prepares a call without arguments.

A call blocks until the result is there and returns it as that library does; arguments are converted
beforehand, so a peer is not charged for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workloads.workload import Workload, with_names

__all__ = ["FORWARD", "PEERS", "forward_in_tracejit", "results"]

Call = Callable[[], Any]


def _form(workload: Workload, peer: str, library: Any, numpy: Any) -> Callable[..., Any]:
    """Return a peer's form of a workload: its own, or the plain source with another `np`."""
    own = workload.forms.get(peer)
    if own is None:
        return with_names(workload.plain, np=numpy)
    return lambda *args: own(library, *args)


def in_numpy(workload: Workload) -> Call:
    """The value alone, in NumPy."""
    args = workload.arguments()
    return lambda: workload.plain(*args)


def in_tracejit(workload: Workload) -> Call:
    import tracejit

    args = workload.arguments()
    gradient = tracejit.value_and_grad(workload.plain, argnums=workload.argnums)
    return lambda: gradient(*args)


def forward_in_tracejit(workload: Workload) -> Call:
    """The value alone, compiled."""
    import tracejit

    args = workload.arguments()
    compiled = tracejit.jit(workload.plain)
    return lambda: compiled(*args)


def by_hand(workload: Workload) -> Call | None:
    """None where there is no such version."""
    hand = workload.hand
    if hand is None:
        return None
    args = workload.arguments()
    return lambda: hand(*args)


def by_hand_vec(workload: Workload) -> Call | None:
    """With vector math; None where there is no such version."""
    if workload.hand_vec is None:
        return None
    args = workload.arguments()
    compiled = workload.hand_vec()
    return lambda: compiled(*args)


def in_jax(workload: Workload) -> Call:
    import jax

    jax.config.update("jax_enable_x64", True)
    args = workload.arguments()
    form = _form(workload, "JAX", jax, jax.numpy)
    arrays = tuple(k for k, x in enumerate(args)
                   if k in workload.argnums or isinstance(x, np.ndarray | tuple))
    moved = [jax.tree.map(jax.numpy.asarray, args[k]) for k in arrays]

    def of_arrays(*values: Any) -> Any:  # numbers, such as the lengths of loops, are static
        given = dict(zip(arrays, values, strict=True))
        return form(*(given.get(k, x) for k, x in enumerate(args)))

    argnums = tuple(arrays.index(k) for k in workload.argnums)
    compute = jax.value_and_grad(of_arrays, argnums)
    # The conjugate, which is what the derivative by a complex number is elsewhere.
    gradient = jax.jit(lambda *values: jax.tree.map(jax.numpy.conj, compute(*values)))
    return lambda: jax.block_until_ready(gradient(*moved))


def in_torch(workload: Workload) -> Call:
    import torch

    torch.set_num_threads(1)
    form = _form(workload, "PyTorch", torch, torch)
    args: list[Any] = [x if isinstance(x, int) else torch.tensor(x, dtype=torch.float64)
                       for x in workload.arguments()]
    inputs = [args[k].requires_grad_() for k in workload.argnums]

    def call() -> Any:
        value = form(*args)
        return value.detach(), torch.autograd.grad(value, inputs)

    return call


def in_autograd(workload: Workload) -> Call:
    import autograd
    import autograd.numpy

    form = _form(workload, "autograd", autograd, autograd.numpy)
    args = workload.arguments()
    gradient = autograd.value_and_grad(form, workload.argnums)
    return lambda: gradient(*args)


PEERS: dict[str, Callable[[Workload], Call | None]] = {
    "NumPy forward": in_numpy, "tracejit": in_tracejit, "by hand": by_hand,
    "by hand, vector math": by_hand_vec, "JAX": in_jax, "PyTorch": in_torch,
    "autograd": in_autograd,
}


FORWARD = ("NumPy forward", "tracejit forward")
"""Peers that compute the value alone."""


def results(returned: Any) -> list[np.ndarray]:
    """Return value and gradients, however they were nested, as arrays."""
    if isinstance(returned, tuple | list):
        return [x for part in returned for x in results(part)]
    array = np.asarray(returned)
    return [array if array.dtype.kind == "c" else array.astype(np.float64)]
