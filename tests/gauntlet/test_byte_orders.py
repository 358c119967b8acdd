"""`dtype` has the byte order that NumPy's result has, or is refused where an argument decides."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from state_sequences import load

import tracejit

ARRAYS = [
    "x.copy()", "(x+x)", "x[:1]", "x[::-1]", "x.T", "x.reshape(-1, 1)", "x.ravel()", "x.flatten()",
    "np.sort(x)", "np.array(x)", "np.asarray(x)", "np.ascontiguousarray(x)",
    "np.concatenate([x, x])", "np.stack([x, x])", "np.zeros_like(x)", "np.empty_like(x)",
    "np.ones_like(x)", "np.full_like(x, 1)", "x.astype(x.dtype)", "x.view()", "np.where(x>0, x, x)",
    "np.take(x, [0])", "x.take([0])", "x[[0, 1]]", "x[x>0]", "np.repeat(x, 2)", "np.tile(x, 2)",
    "np.roll(x, 1)", "np.flip(x)", "np.copy(x)", "np.sum(x)", "x[0]", "x.sum()", "np.abs(x)",
    "np.maximum(x, x)", "np.cumsum(x)", "np.diff(x)", "np.pad(x, 1)", "np.append(x, x)",
    "np.insert(x, 0, x[0])", "np.delete(x, 0)", "np.broadcast_to(x, (2, 2))", "np.squeeze(x)",
    "np.expand_dims(x, 0)", "np.diag(x)", "np.diagonal(np.diag(x))", "np.clip(x, 0, 1)",
    "np.vstack([x, x])", "np.hstack([x])", "np.split(x, 2)[0]", "np.moveaxis(x[None], 0, 1)",
    "np.swapaxes(x[None], 0, 1)", "np.transpose(x)", "np.atleast_2d(x)", "np.triu(x)",
    "np.outer(x, x)", "np.dot(x, x)", "(x@x)", "np.linspace(x[0], x[1], 3)", "np.unique(x)",
    "np.partition(x, 1)", "np.median(x)", "np.mean(x)", "np.real(x)", "x.real", "x.imag",
    "np.select([x>0], [x])", "np.choose([0, 0], [x, x])", "np.compress([True, False], x)",
    "np.extract(x>0, x)", "np.require(x)", "np.array([x, x])",
    "np.array([x[0]])", "(-x)", "(x*1)", "np.empty(2, x.dtype)", "np.zeros(2, x.dtype)",
    "np.zeros(2, x.copy().dtype)", "x.astype('>f4')", "np.rot90(x[None])", "np.meshgrid(x, x)[0]",
    "np.ix_(x)[0]", "np.argsort(x)", "x.byteswap()", "x.cumsum()", "np.resize(x, 3)",
    "np.fromiter(x, float)", "np.block([x, x])", "np.trim_zeros(x)", "np.kron(x, x)",
    "np.interp(x, [0, 1], [0, 1])", "np.einsum('i->i', x)", "np.apply_along_axis(lambda v:v, 0, x)",
    "np.array_split(x, 2)[0]", "np.column_stack([x, x])", "x.max()", "max(x)", "np.lexsort([x])",
    "x.squeeze()", "x.repeat(2)", "sorted(x)[0]", "list(x)[0]", "np.float64(x[0])", "next(iter(x))",
    "x.swapaxes(0, 0)", "x.clip(0, 1)", "x.round()", "np.round(x)", "np.sqrt(np.abs(x))",
    "np.nan_to_num(x)", "np.nan_to_num(x).copy()", "np.nan_to_num(x * 2)", "np.nan_to_num(x[0])",
    "np.array(x, dtype=float)", "x.astype(float)", "x.astype(x.dtype, copy=False)",
]
QUESTIONS = ["dtype", "dtype.byteorder", "dtype.str", "dtype.isnative", "dtype.newbyteorder()",
             "dtype == x.dtype", "dtype == 'f8'"]
ORDERS = {"foreign": ">f8", "native": "<f8", "foreign ints": ">i8", "foreign complex": ">c16"}
ORDERS = {k: v if sys.byteorder == "little" else v.replace(">", "<") for k, v in ORDERS.items()}
_NUMBERS = itertools.count()


def _outcome(call: object, x: np.ndarray) -> str:
    try:
        return repr(call(x)[1])  # type: ignore[operator]
    except tracejit.Refusal as e:
        return f"refused: {e}"
    except (TypeError, ValueError, AttributeError) as e:
        return type(e).__name__


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("made", ARRAYS)
def test_dtype_has_numpys_byte_order(made: str, order: str, tmp_path: Path) -> None:
    x = np.array([1.5, -0.5]).astype(ORDERS[order])
    text = "import numpy as np\n" + "".join(
        f"def f{k}(x):\n    return x[0] * 2, ({made}).{question}\n"
        for k, question in enumerate(QUESTIONS))
    module = load(text, tmp_path, f"byte_orders_{next(_NUMBERS)}")
    try:
        with tracejit.config(disable_jit=True):
            for k in range(len(QUESTIONS)):
                f = getattr(module, f"f{k}")
                found = _outcome(tracejit.jit(f), x)
                if found.startswith("refused"):
                    assert f"{module.__name__}.py:{2 * k + 3}" in found
                    assert order != "native" or "byte order" not in found
                else:
                    assert found == _outcome(f, x)
    finally:
        sys.modules.pop(module.__name__, None)


WRITES = ["y[:] = 1.0", "y += 1.0", "y[y > 0] = 0.0", "np.copyto(y, x, where=x > 0)", "y.sort()",
          "y[y < 0] *= 2.0", "np.multiply(x, 2, out=y)", "y.fill(3.0)", "np.putmask(y, x > 0, 0.0)",
          "np.clip(x, 0, 1, out=y)", "y[[0]] = x[1]", "np.place(y, x > 0, [2.0])",
          "y[::2] = x[::2] * 2"]
MEMORY = ["x.copy()", "np.zeros_like(x)", "np.sort(x)", "x * 2.0", "np.concatenate([x, x])[:2]",
          "np.nan_to_num(x)", "x"]


@pytest.mark.parametrize("order", ["foreign", "native"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("memory", MEMORY)
def test_a_write_leaves_the_byte_order_of_the_memory(memory: str, write: str, order: str,
                                                     tmp_path: Path) -> None:
    x = np.array([1.5, -0.5]).astype(ORDERS[order])
    lines = [f"    y = {memory}", f"    {write}", "    z = y.copy()"]
    module = load("import numpy as np\n" + "".join(
        "\n".join([f"def {name}(x):", *lines, f"    return x[0], {name}.dtype.str", ""])
        for name in "yz"), tmp_path, f"byte_orders_{next(_NUMBERS)}")
    try:
        for f in (module.y, module.z):
            with tracejit.config(disable_jit=True):
                found = _outcome(tracejit.jit(f), x.copy())
            assert found.startswith("refused") or found == _outcome(f, x.copy())
            assert order == "foreign" or "byte order" not in found
    finally:
        sys.modules.pop(module.__name__, None)


def test_a_call_with_another_byte_order_is_another_program() -> None:
    @tracejit.jit
    def f(x: np.ndarray) -> tuple[np.ndarray, str]:
        return x * 2.0, x.copy().dtype.str

    x = np.array([1.5, -0.5])
    with tracejit.config(disable_jit=True):
        for _ in range(2):
            assert f(x)[1] == x.dtype.str
            with pytest.raises(tracejit.Refusal, match="may have the byte order of"):
                f(x.astype(x.dtype.newbyteorder()))


def test_what_is_computed_is_of_the_machines_order() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        y = x * 2.0
        return np.zeros(2, y.dtype) + y

    x = np.array([1.5, -0.5])
    with tracejit.config(disable_jit=True):
        np.testing.assert_array_equal(tracejit.jit(f)(x.astype(x.dtype.newbyteorder())), x * 2.0)
