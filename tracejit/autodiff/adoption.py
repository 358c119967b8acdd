"""Adoption: backward equations that read primal values alone are offered to the way forward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracejit.autodiff.nests import ForwardNest, forward_region
from tracejit.ir.builder import equation_key
from tracejit.ir.core import Block, Eqn, Value
from tracejit.ir.searches import ties_by_comparison
from tracejit.ir.walk import Env, block_uses, copy_param, read_atom

__all__ = ["Adopter"]


class Adopter:
    """Offers backward equations that read primal values alone to the way forward.

    Derivatives, weights and masks of an iteration depend on its primal values only. Whether they
    are stored, or computed again from something smaller, is then one choice.
    """

    links: Mapping[Value, Eqn]
    nests: Mapping[Eqn, ForwardNest]

    def __init__(self, links: Mapping[Value, Eqn], nests: Mapping[Eqn, ForwardNest]) -> None:
        self.links, self.nests = links, nests
        self.bound: set[Value] = set()

    def strip(self, eqn: Eqn) -> Eqn:
        """Return a top-level backward equation without the parts that the forward nest adopts."""
        return self._strip(eqn, self.bound, {})

    def _strip(self, eqn: Eqn, bound: set[Value], env: Env) -> Eqn:
        forward = next((self.links[v] for v in eqn.outputs if v in self.links), None)
        nest = None if forward is None else self.nests.get(forward)
        if forward is None or nest is None:
            return eqn
        regions = []
        for k, region in enumerate(eqn.regions):
            source = forward_region(eqn, k, forward)
            regions.append(self._strip_block(region, source, nest, set(bound), dict(env)))
        return replace(eqn, regions=tuple(regions))

    def _strip_block(self, region: Block, source: Block, nest: ForwardNest, bound: set[Value],
                     env: Env) -> Block:
        """Move equations to the forward nest; `bound` are the values that only the way back has."""
        known = {equation_key(e.op, e.inputs, e.params): e.outputs for e in source.eqns
                 if not e.regions and not e.op.unique and not e.op.effect}
        bound.update(region.inputs)
        kept = []
        for eqn in region.eqns:
            eqn = _rename(eqn, env)
            movable = not (eqn.regions or eqn.op.unique or eqn.op.effect)
            if not movable or any(v in bound or not nest.is_there(v, source)
                                  for v in eqn.uses()):
                bound.update(eqn.outputs)
                kept.append(self._strip(eqn, bound, env) if eqn.regions else eqn)
                continue
            for part in ties_by_comparison(eqn):
                part = _rename(part, env)
                key = equation_key(part.op, part.inputs, part.params)
                if key in known:
                    env.update(zip(part.outputs, known[key], strict=True))
                else:
                    nest.adopt(part, source)
                    known[key] = part.outputs
        outputs = tuple(read_atom(env, a) for a in region.outputs)
        return Block(region.inputs, tuple(kept), outputs)


def _rename(eqn: Eqn, env: Env) -> Eqn:
    """Return an equation with its operands renamed and its results as they are."""
    if not env or not any(v in env for v in block_uses(Block((), (eqn,), ()))):
        return eqn
    inputs = tuple(read_atom(env, a) for a in eqn.inputs)
    params = {k: copy_param(p, env) for k, p in eqn.params.items()}
    regions = tuple(Block(r.inputs, tuple(_rename(e, env) for e in r.eqns),
                          tuple(read_atom(env, a) for a in r.outputs)) for r in eqn.regions)
    return eqn.with_parts(inputs, params, eqn.outputs, regions, eqn.of)
