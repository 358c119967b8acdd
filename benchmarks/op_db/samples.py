"""A sample of PyTorch's table: its call in PyTorch, the same in NumPy, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

__all__ = ["Sample", "flat", "samples_of"]

DTYPES = {
    torch.float64: np.float64, torch.float32: np.float32, torch.complex128: np.complex128,
    torch.complex64: np.complex64, torch.int64: np.int64, torch.int32: np.int32,
    torch.int16: np.int16, torch.int8: np.int8, torch.uint8: np.uint8, torch.bool: np.bool_,
}
PREPARED = ("gradcheck_wrapper_hermitian_input", "gradcheck_wrapper_masked_operation",
            "gradcheck_wrapper_triangular_input_real_positive_diagonal",
            "gradcheck_wrapper_masked_pointwise_operation")  # what `conventions` has in NumPy
LARGEST = 20_000  # elements of a sample; some of PyTorch's have a million
FLOATING = (torch.float64, torch.complex128, torch.float32)


def flat(results: Any) -> list[Any]:
    """Return the arrays of a nest of results, without what is None."""
    if isinstance(results, list | tuple):
        return [x for part in results for x in flat(part)]
    return [] if results is None else [results]


@dataclass
class Sample:
    """One call of a function: tensors numbered, everything else as it was given."""

    function: Callable[..., Any]
    given: Any  # input, args and kwargs
    tensors: list[torch.Tensor] = field(default_factory=list)
    holes: Any = None  # the same with a `Hole` for every tensor

    def __post_init__(self) -> None:
        self.holes = self._number(self.given)

    @property
    def leaves(self) -> list[int]:
        """The numbers of the tensors that PyTorch differentiates by."""
        return [k for k, x in enumerate(self.tensors) if x.requires_grad]

    def _number(self, given: Any) -> Any:
        if isinstance(given, torch.Tensor):
            self.tensors.append(given)
            return Hole(len(self.tensors) - 1)
        if isinstance(given, torch.Size):
            return tuple(given)
        if isinstance(given, torch.dtype):
            return np.dtype(DTYPES[given])
        if isinstance(given, dict):
            return {k: self._number(v) for k, v in given.items()}
        if isinstance(given, list | tuple):
            return type(given)(self._number(v) for v in given)
        return given

    def arrays(self) -> list[np.ndarray]:
        """Return the tensors as arrays of their own."""
        return [np.array(x.numpy(force=True)) for x in self.tensors]

    def in_torch(self) -> list[torch.Tensor]:
        """Return the results of PyTorch's function."""
        first, args, kwargs = self.given
        return [x for x in flat(self.function(first, *args, **kwargs))
                if isinstance(x, torch.Tensor | bool | int | float)]


@dataclass(frozen=True)
class Hole:
    """The place of a tensor in the arguments."""

    number: int


def filled(holes: Any, arrays: Any) -> Any:
    """Return arguments with arrays in the places of tensors."""
    if isinstance(holes, Hole):
        return arrays[holes.number]
    if isinstance(holes, dict):
        return {k: filled(v, arrays) for k, v in holes.items()}
    if isinstance(holes, list | tuple):
        return type(holes)([filled(v, arrays) for v in holes])
    return holes


def tensors_of(sample: Any) -> list[torch.Tensor]:
    """Return the tensors of a sample as PyTorch makes it."""
    given = [sample.input, *sample.args, *sample.kwargs.values()]
    return [t for t in flat(given) if isinstance(t, torch.Tensor)]


def followed(samples: list[Any]) -> None:
    """Ask for the derivatives by all tensors of numbers."""
    for t in (t for s in samples for t in tensors_of(s)):
        if t.is_leaf and (t.is_floating_point() or t.is_complex()):
            t.requires_grad_()


def called(op: Any) -> Callable[..., Any]:
    """Return what computes an op: with the preparation of its argument that its checks make."""
    if op.gradcheck_wrapper.__name__ in PREPARED:
        return partial(op.gradcheck_wrapper, op.op)
    return op.op


def samples_of(op: Any, limit: int,
               references: bool = False) -> Iterator[tuple[torch.dtype, int, Sample]]:
    """Yield an op's samples by dtype, numbered: at most `limit` of each, evenly chosen.

    With `references` they are those with which PyTorch tests an op against its reference in NumPy:
    with numbers at the ends of their range, infinities, NaN, and shapes that are broadcast.
    """
    dtypes = [d for d in FLOATING if d in op.dtypes] or [
        d for d in (torch.int64, torch.complex64, torch.bool) if d in op.dtypes]
    for dtype in dtypes:
        torch.manual_seed(0)
        floating = dtype.is_floating_point or dtype.is_complex
        graded = op.supports_autograd and floating
        inputs = op.reference_inputs if references else op.sample_inputs
        made = [s for s in inputs("cpu", dtype, requires_grad=graded and not references)
                if sum(t.numel() for t in tensors_of(s)) <= LARGEST]
        if references and graded:
            followed(made)
        step = max(len(made) / limit, 1.0)
        for k in sorted({int(i * step) for i in range(min(limit, len(made)))}):
            given = made[k].input, tuple(made[k].args), dict(made[k].kwargs)
            yield dtype, k, Sample(called(op), given)
