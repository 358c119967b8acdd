"""The nodes of the IR: values, equations, blocks and graphs, frozen and compared by identity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracejit.display import Drawn, text_of
from tracejit.ir.cells import short_name
from tracejit.ir.lowering import Inline, Lowering, Pointwise, View
from tracejit.ir.user_text import graph_name, on_one_line
from tracejit.ir.values import Aval, Dim, Expr, Type, Value, dim_values

__all__ = ["Atom", "Block", "Bounds", "Eqn", "Graph", "Implied", "Literal", "Op", "Params", "Site",
           "Span", "Value", "param_dims", "type_dims"]

class Literal:
    """A scalar constant with its dtype."""

    aval: Aval
    val: Any

    __slots__ = ("aval", "val")

    def __init__(self, val: object, dtype: np.dtype | type) -> None:
        self.aval = Aval(np.dtype(dtype), ())
        self.val = self.aval.dtype.type(val)

    @property
    def key(self) -> tuple[object, ...]:
        """Return the key that equal literals share: dtype and bit pattern."""
        return ("literal", self.aval.dtype, self.val.tobytes())

    def __repr__(self) -> str:
        return f"{self.val!r}: {self.aval}"


Atom = Value | Literal
Params = Mapping[str, Any]
Bounds = Mapping[Value, tuple[Dim | None, Dim | None]]
Implied = Callable[[Dim, Bounds], list[Dim]]


@dataclass(frozen=True, slots=True)
class Span:
    """One kept axis of a basic index: `size` elements from `start` in steps of `step`."""

    start: Dim
    size: Dim
    step: int = 1


@dataclass(frozen=True, slots=True)
class Site:
    """Where an equation comes from: a statement of a user's function, resolved when shown."""

    function: Any
    statement: int

    @property
    def location(self) -> tuple[str, int, int]:
        """Return (file name, line, column), the first line and column being 1."""
        location: tuple[str, int, int] = self.function.locate(self.statement)
        return location

    def __str__(self) -> str:
        file, line, _ = self.location
        return f"{on_one_line(short_name(file))}:{line}"


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Op:
    """All knowledge of one op; in `tracejit.ops.kinds` each kind derives its part.

    name       -- as printed
    kind       -- elementwise, linear, bilinear, structural or opaque
    infer      -- (input types, params, regions) -> output types; raises `IRError`
    reference  -- NumPy code for it: arrays in, an array or a tuple of arrays out
    lowering   -- how codegen treats it
    vjp        -- (sweep, eqn, cotangents of the outputs) -> cotangents of the inputs, or None
    jvp        -- (sweep, eqn, tangents of the inputs) -> tangents of the outputs, or None
    marked     -- True where `no_gradient` says that there is no derivative
    effect     -- may raise or print, so it is kept, in order, even when nothing reads its outputs
    once       -- of an effect: a second one of the same operands would do nothing, so it is shared
    writes     -- the operand that it may overwrite
    cost       -- rough cost per element, in float64 additions, of computing it again
    exact      -- no rounding: computed again from the same bits, it gives the same bits
    rounds     -- how it rounds floats where that is once, to the nearest: "sum" or "product", which
                  a device may round together, or "alone"
    unique     -- each application has a result of its own (fresh storage, a Log): never shared
    permutes   -- NumPy's result may lie in another order of axes than C's
    dims       -- of ints: (params, operands as dims) -> the result as one, if it is a polynomial
    implies    -- of a comparison of ints: (a - b, bounds) -> dims that are not negative where it
                  holds, and the same where it does not
    """

    name: str
    kind: str
    infer: Callable[..., tuple[Type, ...]]
    reference: Callable[..., Any]
    lowering: Lowering
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    marked: bool = False
    effect: bool = False
    once: bool = False
    writes: int | None = None
    cost: float = 1.0
    exact: bool = False
    rounds: str | None = None
    unique: bool = False
    permutes: bool = False
    dims: Callable[[Params, Sequence[Dim]], Dim] | None = None
    implies: tuple[Implied, Implied] | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def meaning(self) -> str:
        """Return its sense to passes and derivatives, which its way of lowering names."""
        how = self.lowering
        return how.meaning if isinstance(how, (Inline, Pointwise, View)) else ""

    def __repr__(self) -> str:
        return f"<op {self.name}>"


@dataclass(frozen=True, eq=False, slots=True)
class Eqn:
    """An application of an op."""

    op: Op
    inputs: tuple[Atom, ...]
    params: Params
    outputs: tuple[Value, ...]
    regions: tuple[Block, ...] = ()
    site: Site | None = None
    of: Value | None = None
    """For a backward equation, the result of the forward equation that it differentiates."""
    group: str | None = None
    """The name under which `tracejit.gradients` has put it."""

    @property
    def output(self) -> Value:
        """Return the only output."""
        (output,) = self.outputs
        return output

    def with_parts(self, inputs: tuple[Atom, ...], params: Params, outputs: tuple[Value, ...],
                   regions: tuple[Block, ...], of: Value | None) -> Eqn:
        """Return the same op, at the same site, on other operands."""
        return Eqn(self.op, inputs, params, outputs, regions, self.site, of, self.group)

    def uses(self) -> Iterator[Value]:
        """Yield the values that this equation itself reads: inputs and dims, not its regions'."""
        for a in self.inputs:
            if isinstance(a, Value):
                yield a
        for d in param_dims(self.params):
            yield from dim_values(d)
        own = set(self.outputs)
        for out in self.outputs:
            for d in type_dims(out.aval):
                yield from (v for v in dim_values(d) if v not in own)


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Straight-line code; its equations may read values of the enclosing blocks."""

    inputs: tuple[Value, ...]
    eqns: tuple[Eqn, ...]
    outputs: tuple[Atom, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Graph(Drawn):
    """A whole program: a named block, the sizes that its input shapes bind, and notes on it."""

    name: str
    sizes: tuple[Value, ...]
    block: Block
    notes: tuple[object, ...] = ()
    """Notes on its making; `str` of each is its text."""
    reasons: tuple[tuple[Eqn, str], ...] = ()
    """Why each pruned equation has no backward part."""
    primal: Block | None = None
    """Of a gradient, the block that was differentiated, with equations that nothing reads now."""

    def __post_init__(self) -> None:
        """Make the name a word, for any name of the function."""
        object.__setattr__(self, "name", graph_name(self.name))

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return the inputs of the block."""
        return self.block.inputs

    @property
    def eqns(self) -> tuple[Eqn, ...]:
        """Return the equations of the block."""
        return self.block.eqns

    @property
    def outputs(self) -> tuple[Atom, ...]:
        """Return the outputs of the block."""
        return self.block.outputs

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return str(self)


def type_dims(t: Type) -> tuple[Dim, ...]:
    """Return the dims of a type."""
    return t.shape if isinstance(t, Aval) else ()


def param_dims(params: Params) -> Iterator[Dim]:
    """Yield the dims that params hold, however deep in tuples and spans."""
    for p in params.values():
        yield from _dims_in(p)


def _dims_in(p: object) -> Iterator[Dim]:
    if isinstance(p, Expr):
        yield p
    elif isinstance(p, tuple):
        for item in p:
            yield from _dims_in(item)
    elif isinstance(p, Span):
        yield from _dims_in((p.start, p.size))
