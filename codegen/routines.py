"""Equations that are neither element-wise nor loops: checks, Logs, library routines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.elements import is_array
from tracejit.codegen.loop_ir import Assign, If, Let, Node, Return, Store
from tracejit.ir.core import Eqn
from tracejit.ir.dims import product
from tracejit.ir.lowering import Effect, Library, LogOp

if TYPE_CHECKING:
    from tracejit.codegen.lower import _Lowerer

__all__ = ["lower", "wrap_index"]


def lower(self: _Lowerer, eqn: Eqn) -> None:
    """Lower an equation by its kind."""
    how = eqn.op.lowering
    if isinstance(how, Effect):
        EFFECTS[how.action](self, eqn)
    elif isinstance(how, LogOp):
        LOG_OPS[how.action](self, eqn)
    else:
        assert isinstance(how, Library)
        raise NotImplementedError(how.routine)


# --- checks -------------------------------------------------------------------------------------


def _check(self: _Lowerer, eqn: Eqn) -> None:
    condition, *values = eqn.inputs
    text = self.atom(condition)
    self.fail(f"not {text}", eqn.params["error"], eqn.params["message"],
              [self.atom(a) for a in values], eqn)


def _check_bounds(self: _Lowerer, eqn: Eqn) -> None:
    p = eqn.params
    first, last, size = self.dim(p["first"]), self.dim(p["last"]), self.dim(p["size"])
    message = f"index {{0:.0f}} is out of bounds for axis {p['axis']} with size {{1:.0f}}"
    if p["first"] == p["last"]:
        self.fail(f"not 0 <= {first} < {size}", "IndexError", message, [first, size], eqn)
        return
    count = self.dim(p["count"])
    low, high = f"imin({first}, {last})", f"imax({first}, {last})"
    self.fail(f"{count} > 0 and ({low} < 0 or {high} >= {size})", "IndexError", message,
              [f"select({low} < 0, {low}, {size})", size], eqn)


def wrap_index(self: _Lowerer, eqn: Eqn) -> None:
    """An index that counts from the end where it is negative."""
    size = self.dim(eqn.params["size"])
    index = self.atom(eqn.inputs[0])
    name = self.fresh(self.label(eqn.output))
    self.names[eqn.output] = name
    self.nodes.append(Let(name, f"select({index} < 0, {index} + {size}, {index})",
                          self.comment(eqn)))
    message = (f"index {{0:.0f}} is out of bounds for axis {eqn.params['axis']} "
               "with size {1:.0f}")
    self.fail(f"not 0 <= {name} < {size}", "IndexError", message, [index, size], eqn)


def _empty(self: _Lowerer, eqn: Eqn) -> None:
    """Storage that is filled later: nothing to do."""
    if not is_array(eqn.output):
        self.names[eqn.output] = "0.0"


EFFECTS = {"check": _check, "check_bounds": _check_bounds, "empty": _empty}


# --- Logs ---------------------------------------------------------------------------------------


def _log_names(number: int) -> tuple[str, str, str]:
    return f"log{number}", f"top{number}", f"cap{number}"


def _log_new(self: _Lowerer, eqn: Eqn) -> None:
    number = len(self.logs)
    self.logs.append(eqn.params["dtype"])
    self.log_of[eqn.output] = number
    base, top, cap = _log_names(number)
    self.nodes.append(Assign(base, f"log_base(ctx, {number}, scope_log{number})"))
    self.nodes.append(Assign(top, "0", self.comment(eqn)))
    self.nodes.append(Assign(cap, "0"))


def _log_push(self: _Lowerer, eqn: Eqn) -> None:
    log, *values = eqn.inputs
    number = self.log_of[log]  # type: ignore[index]
    self.log_of[eqn.output] = number
    base, top, cap = _log_names(number)
    sizes = [product(a.aval.shape) for a in values]
    total = self.dim(sum(sizes, start=0))
    status = self.failure(
        "MemoryError", "what this loop stores for its way back does not fit into memory; "
        "tracejit.checkpoint stores less", eqn.site)
    grow: list[Node] = [
        If(f"log_grow(ctx, {number}, {top} + {total}, {self.logs[number].itemsize}) != 0",
           [Return(f"fail(ctx, {status}, 0, 0)")]),
        Assign(base, f"log_base(ctx, {number}, scope_log{number})"),
        Assign(cap, f"log_capacity(ctx, {number})")]
    self.nodes.append(If(f"{top} + {total} > {cap}", grow, comment=self.comment(eqn)))
    for a, size in zip(values, sizes, strict=True):
        if is_array(a):
            buffer = Buffer("log", a.aval.dtype, size, [], base, offset=top)
            self.copy(a, a, buffer)  # type: ignore[arg-type]
        else:
            self.nodes.append(Store(base, top, self.atom(a)))
        self.nodes.append(Assign(top, f"{top} + {self.dim(size)}"))


def _log_pop(self: _Lowerer, eqn: Eqn) -> None:
    (log,) = eqn.inputs
    number = self.log_of[log]  # type: ignore[index]
    self.log_of[eqn.outputs[0]] = number
    base, top, _ = _log_names(number)
    for v in reversed(eqn.outputs[1:]):
        size = product(v.aval.shape)
        self.nodes.append(Assign(top, f"{top} - {self.dim(size)}"))
        if is_array(v):
            at = self.fresh("at")
            self.nodes.append(Let(at, top, self.comment(eqn)))
            buffer = self.buffers.of[v]
            buffer.name, buffer.offset = base, at
            continue
        name = self.fresh(self.label(v))
        self.names[v] = name
        self.nodes.append(Let(name, f"{base}[{top}]", self.comment(eqn)))


LOG_OPS = {"new": _log_new, "push": _log_push, "pop": _log_pop}
