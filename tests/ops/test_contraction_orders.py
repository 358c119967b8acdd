"""Einstein sums of many operands are NumPy's, and are multiplied in an order that is cheap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tracejit
from tracejit.ir.core import Graph

SPECS = ("ijk,kl,jl->i", "ij,jk,kl,l->i", "ni,ij,nj->n", "ij,k->i", "i,j,k,l,m,i->jm",
         "ab,cd,ac,bd->", "ii,ij,jk->", "...i,...ij,...j->...", "i,i,i->", "ij,jk,kl->li", "i->",
         "ai,bi,ci,i->cab")


def _largest(graph: Graph) -> int:
    """Return the most axes that a product of two operands of a graph goes through."""
    return max((len({*e.params["spec"]} - {*",->"}) for e in graph.block.eqns
                if "spec" in e.params), default=0)


@pytest.mark.parametrize(("spec", "axes"), [
    ("ijk,kl,jl->i", 3), ("ij,jk,kl,l->i", 2), ("i,ijk,j,k->", 3), ("ij,jk,kl,lm,m->i", 2),
    ("ab,ab,bc,c->", 2), ("ij,k->i", 0)])
def test_no_product_has_more_axes_than_it_needs(spec: str, axes: int) -> None:
    xs = [np.ones((3,) * len(labels)) for labels in spec.partition("->")[0].split(",")]
    graph = tracejit.jit(lambda *xs: np.einsum(spec, *xs)).trace(*xs).graph
    assert _largest(graph) == axes


@pytest.mark.parametrize("spec", SPECS)
def test_an_einstein_sum_is_numpys_in_any_order(spec: str) -> None:
    labels = spec.partition("->")[0].replace("...", "Z").split(",")
    rng = np.random.default_rng(0)
    sizes = {c: 2 + k for k, c in enumerate(dict.fromkeys("".join(labels)))}
    xs = [rng.normal(size=tuple(sizes[c] for c in own)) for own in labels]
    paths = [False, True, ["einsum_path", (0, len(xs) - 1), (0,)],
             ["einsum_path", (*range(len(xs)),)]]
    for path, kind in itertools.product(paths, (np.float64, np.bool_, np.int64)):
        operands = [x > 0.3 if kind == np.bool_ else (4 * x).astype(kind) for x in xs]
        captured = tracejit.jit(lambda *xs, path=path: np.einsum(spec, *xs, optimize=path))
        with tracejit.config(disable_jit=True):
            found = captured(*operands)
        np.testing.assert_allclose(found, np.einsum(spec, *operands), rtol=1e-12, atol=1e-12)
