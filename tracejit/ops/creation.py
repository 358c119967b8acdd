"""Arrays out of nothing: constants, indices, uninitialised storage; sizes as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import LargeInt
from tracejit.ir.core import Block, Params
from tracejit.ir.lowering import Effect, Index, View
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import sum_to
from tracejit.ops.kinds import linear, only, structural
from tracejit.trace.values.python_numbers import TOO_LARGE

__all__: list[str] = []


def _full_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(avals[0].with_shape(params["shape"]))


linear("full", lambda x, shape: np.full(shape, x, dtype=np.asarray(x).dtype), _full_infer,
       View(lambda params, index, shape: (), "full"), lambda sweep, eqn, ct: [sum_to(ct, ())],
       cost=0.0, exact=True, samples=lambda n: [((), {"shape": (n,)}), ((), {"shape": (2, n)})])


def _iota_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(Aval(np.dtype(np.int64), (params["size"],)))


structural("iota", lambda size, start=0: np.arange(start, start + size, dtype=np.int64),
           _iota_infer, Index(lambda params, index: index[0] + params.get("start", 0)),
           marked=True, cost=0.0, exact=True)


def _size_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(Aval(np.dtype(np.int64), ()))


def _size(of: int) -> np.int64:
    try:
        return np.int64(of)
    except OverflowError:
        raise LargeInt(TOO_LARGE) from None


structural("size", _size, _size_infer, Index(lambda params, index: params["of"]),
           marked=True, cost=0.0, exact=True, dims=lambda params, dims: params["of"])


def _empty_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(Aval(params["dtype"], params["shape"]))


structural("empty", lambda shape, dtype: np.zeros(shape, dtype), _empty_infer, Effect("empty"),
           marked=True, cost=0.0, unique=True)
