"""One sample put to NumPy, PyTorch and tracejit: whether value and derivatives agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

import tracejit
from benchmarks.op_db.samples import Sample, filled, flat

__all__ = ["Outcome", "check"]


class Outcome(NamedTuple):
    """What became of a sample, and what is to be said of it."""

    kind: str  # equal, refused, differs, error, not NumPy's, other function
    detail: str = ""


class Differs(Exception):
    """Two results are not the same."""


def agree(what: str, found: Any, expected: Any, scale: float = 1.0, at: Any = 0.0) -> None:
    """Raise `Differs` unless two arrays, derivatives at a point, are equal but for rounding."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        raise Differs(f"{what}: shape {found.shape}, not {expected.shape}")
    if found.size == 0:
        return
    single = found.dtype.char in "fF" or expected.dtype.char in "fF"
    rtol = scale * (3e-3 if single else 1e-7)
    finite = np.abs(expected[np.isfinite(expected)])
    atol = rtol * max(1.0, float(finite.max())) if finite.size else rtol
    with np.errstate(all="ignore"):
        if not np.allclose(found, expected, rtol, 0.1 * atol, equal_nan=True):
            wrong = ~np.isclose(found, expected, rtol, 0.1 * atol, equal_nan=True)
            place = "" if np.isfinite(np.broadcast_to(at, wrong.shape)[wrong]).any() else (
                " where the argument is infinite or NaN")
            raise Differs(f"{what}: {found[wrong].ravel()[0]}, not {expected[wrong].ravel()[0]} "
                          f"({wrong.sum()} of {wrong.size}){place}")


def first_line(error: BaseException) -> str:
    """Return what an error says, without the place."""
    text = " ".join(str(error).split())
    head, found, tail = text.partition(".py:")
    text = tail.split(": ", 1)[-1] if found and "/" in head else text
    return f"{type(error).__name__}: {text}"[:200]


def program_of(form: Callable[..., Any], sample: Sample, through: Any) -> Any:
    """Return the sample in NumPy, as a function of its arrays."""
    holes = sample.holes

    def program(*arrays: Any) -> Any:
        first, args, kwargs = filled(holes, arrays)
        return through(flat(form(first, *args, **kwargs)))

    return program


def differentiable(results: list[Any], torch_results: list[torch.Tensor]) -> list[int]:
    """Return which results have a derivative in both."""
    return [k for k, (x, t) in enumerate(zip(results, torch_results, strict=False))
            if np.asarray(x).dtype.kind in "fc" and isinstance(t, torch.Tensor) and t.requires_grad]


def torch_gradients(results: list[torch.Tensor], cotangents: list[np.ndarray],
                    leaves: list[torch.Tensor], again: bool) -> list[torch.Tensor]:
    given = [torch.from_numpy(np.array(c)).to(r.dtype).reshape(r.shape)
             for c, r in zip(cotangents, results, strict=True)]
    return list(torch.autograd.grad(results, leaves, given, create_graph=again,
                                    allow_unused=True, materialize_grads=True))


def second_in_torch(gradients: list[torch.Tensor], weights: list[np.ndarray],
                    leaves: list[torch.Tensor]) -> list[np.ndarray]:
    total = sum((torch.from_numpy(w).conj() * g).real.sum() if g.is_complex()
                else (torch.from_numpy(w) * g).sum()
                for g, w in zip(gradients, weights, strict=True))
    if not isinstance(total, torch.Tensor) or not total.requires_grad:
        return [np.zeros_like(x.numpy(force=True)) for x in leaves]
    found = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    return [g.numpy(force=True) for g in found]


def cotangents_of(rng: np.random.Generator, arrays: list[Any]) -> list[np.ndarray]:
    made = []
    for x in map(np.asarray, arrays):
        c = rng.normal(size=x.shape)
        made.append(np.array(c + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else c,
                             x.dtype))
    return made


def fitted(cotangent: np.ndarray, result: Any) -> Any:
    """Return a cotangent of the result's own kind: a scalar for a scalar."""
    return cotangent if isinstance(result, np.ndarray) else cotangent[()]


def weighted_gradient(program: Any, chosen: list[int], leaves: list[int],
                      cotangents: list[np.ndarray], weights: list[np.ndarray]) -> Any:
    """Return the function that weighs the gradient of weighted results."""
    def total(*arrays: Any) -> Any:
        results = program(*arrays)
        return sum(np.sum(np.real(np.conj(c) * results[k]))
                   for k, c in zip(chosen, cotangents, strict=True))

    gradient = tracejit.grad(total, argnums=tuple(leaves))

    def weighted(*arrays: Any) -> Any:
        return sum(np.sum(np.real(np.conj(w) * g))
                   for w, g in zip(weights, gradient(*arrays), strict=True))

    return weighted


@dataclass
class Reference:
    """What NumPy and PyTorch give for a sample."""

    values: list[Any]
    results: list[torch.Tensor]


def reference(program: Any, sample: Sample, through: Any) -> Reference | Outcome:
    """Return NumPy's and PyTorch's results, or why they cannot be compared."""
    results = flat(through(sample.in_torch()))
    try:
        with np.errstate(all="ignore"):
            values = program(*sample.arrays())
    except Exception as error:
        return Outcome("not NumPy's", first_line(error))
    try:
        if not values or len(values) > len(results):
            raise Differs(f"{len(values)} results, not {len(results)}")
        for k, (x, t) in enumerate(zip(values, results, strict=False)):
            t = t.numpy(force=True) if isinstance(t, torch.Tensor) else t
            single = np.asarray(x).dtype.char in "fF"  # n and n - 1 differ by less than 3 percent
            agree(f"result {k}", np.asarray(x), t, 1.0 if single else 10.0)
    except Differs as differs:
        return Outcome("other function", str(differs))
    return Reference(values, results)


def check(form: Any, sample: Sample, rng: np.random.Generator, through: Any, gradgrad: bool,
          compiled: bool = False) -> Outcome:
    """Compare a sample's value, gradient and second gradient."""
    through = through or (lambda results: results)
    program = program_of(form, sample, through)
    known = reference(program, sample, through)
    if isinstance(known, Outcome):
        return known
    chosen = differentiable(known.values, known.results) if sample.leaves else []
    with tracejit.config(disable_jit=not compiled), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not chosen:
                same(known.values, tracejit.jit(program)(*sample.arrays()))
                return Outcome("equal", "value")
            said = derivatives(program, sample, known, chosen, rng, gradgrad)
            return Outcome("equal", said)
        except tracejit.Refusal as refusal:
            return Outcome("refused", first_line(refusal))
        except Differs as differs:
            return Outcome("differs", str(differs))
        except Exception as error:
            return Outcome("error", first_line(error))


def same(expected: list[Any], found: Any) -> None:
    """Raise `Differs` unless values and dtypes are NumPy's."""
    for k, (e, f) in enumerate(zip(expected, flat(found), strict=True)):
        e, f = np.asarray(e), np.asarray(f)
        if e.dtype != f.dtype:
            raise Differs(f"value {k}: {f.dtype}, not {e.dtype}")
        agree(f"value {k}", f, e)


def derivatives(program: Any, sample: Sample, known: Reference, chosen: list[int],
                rng: np.random.Generator, gradgrad: bool) -> str:
    """Compare value and gradient, and the second gradient where PyTorch has one."""
    leaves, arrays = sample.leaves, sample.arrays()

    def chosen_and_all(*arrays: Any) -> Any:
        results = program(*arrays)
        return [results[k] for k in chosen], results

    values, pullback, results = tracejit.vjp(chosen_and_all, *sample.arrays(),
                                             argnums=tuple(leaves), has_aux=True)
    same(known.values, results)
    cotangents = cotangents_of(rng, values)
    found = pullback([fitted(c, v) for c, v in zip(cotangents, values, strict=True)])
    tensors = [sample.tensors[k] for k in leaves]
    expected = torch_gradients([known.results[k] for k in chosen], cotangents, tensors, gradgrad)
    for k, f, e in zip(leaves, found, expected, strict=True):
        f, e = np.asarray(f), e.numpy(force=True)
        if f.dtype != e.dtype:
            raise Differs(f"gradient by argument {k}: {f.dtype}, not {e.dtype}")
        agree(f"gradient by argument {k}", f, e, at=arrays[k])
    if not gradgrad:
        return "gradient"
    weights = cotangents_of(rng, [x.numpy(force=True) for x in tensors])
    try:
        expected = second_in_torch(expected, weights, tensors)
    except (RuntimeError, NotImplementedError):
        return "gradient"
    weighted = weighted_gradient(program, chosen, leaves, cotangents, weights)
    found = tracejit.grad(weighted, argnums=tuple(leaves))(*sample.arrays())
    for k, f, e in zip(leaves, found, expected, strict=True):
        agree(f"second gradient by argument {k}", f, e, 10.0, arrays[k])
    return "second gradient"

