"""Contractions, as products by BLAS and as loops: values and derivatives are `np.einsum`'s."""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace

import numpy as np
import pytest

import tracejit
from tracejit.codegen import matmul, routines
from tracejit.codegen.expression_edits import integer
from tracejit.codegen.loop_expressions import ONE, Bin
from tracejit.codegen.matmul import HostProducts
from tracejit.codegen.products import as_product
from tracejit.errors import IRError

SIZES = {"a": 3, "b": 2, "i": 24, "j": 17, "k": 20, "l": 2}

SPECS = ["ij,jk->ik", "ij,jk->ki", "ji,kj->ik", "aij,jk->aik", "aij,ajk->aik", "aij,bjk->abik",
         "abij,abjk->abik", "abij,abkj->abik", "iaj,akj->iak", "iaj,ajk->iak", "iaj,iak->ajk",
         "iaj,ajk->aki", "ija,jka->ika", "aij,jk->iak", "abij,jk->abik", "aibj,jk->aibk",
         "alij,aljk->aik", "liaj,lajk->iak", "ilj,ljk->ik", "lij,jlk->ik", "aij,aj->ai",
         "iaj,kaj->aik", "iaj,jak->ika", "baij,abjk->baik", "baij,abjk->abik", "ij,akj->aik",
         "ij,kaj->kai"]


def _arrays(spec: str, sizes: dict[str, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.standard_normal([sizes[c] for c in labels])
            for labels in spec.partition("->")[0].split(",")]


def test_the_table_has_all_forms_of_products():
    found = [as_product(spec) for spec in SPECS]
    assert {(p.left, p.right, p.swapped, bool(p.batch), p.is_plain) for p in found if p} >= {
        ("N", "N", False, True, False), ("N", "T", False, True, False),
        ("T", "N", False, True, False), ("N", "N", False, False, True),
        ("N", "N", False, False, False)}
    assert None in found and any(p and p.swapped and p.batch for p in found)


@pytest.mark.parametrize("spec", SPECS)
def test_values_and_derivatives_are_einsums(spec, caplog):
    def f(x, y, w):
        return np.sum(np.einsum(spec, x, y) * w)

    g = tracejit.value_and_grad(f, argnums=(0, 1))
    left, right = spec.partition("->")[0].split(",")
    output = spec.partition("->")[2]
    caplog.set_level(logging.DEBUG, "tracejit")
    for sizes in (SIZES, {c: 2 for c in SIZES}, {**SIZES, "a": 0}, {**SIZES, "j": 1}):
        x, y = _arrays(spec, sizes)
        w = np.random.default_rng(4).standard_normal([sizes[c] for c in output])
        value, (by_x, by_y) = g(x, y, w)
        np.testing.assert_allclose(value, f(x, y, w), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(by_x, np.einsum(f"{output},{right}->{left}", w, y),
                                   rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(by_y, np.einsum(f"{output},{left}->{right}", w, x),
                                   rtol=1e-11, atol=1e-11)
    compiled = [r for r in caplog.records if r.getMessage().startswith("compiled ")]
    assert len(compiled) == 1


def test_groups_lie_side_by_side_wherever_they_are():
    labels = "abcd"
    for left, right, output in itertools.product(
            ["".join(p) for p in itertools.permutations("abc")],
            ["".join(p) for p in itertools.permutations("bcd")],
            ["".join(p) for p in itertools.permutations("abd")]):
        found = as_product(f"{left},{right}->{output}")
        if found is None:
            continue
        a, b = (right, left) if found.swapped else (left, right)
        for group, arrays in ((found.rows, (a, output)), (found.columns, (b, output)),
                              (found.summed, (a, b))):
            assert group and all(group in x for x in arrays)
        assert a[-1] in (found.summed if found.left == "N" else found.rows)
        assert b[-1] in (found.columns if found.right == "N" else found.summed)
        assert output[-1] in found.columns
        assert {*found.rows, *found.columns, *found.summed, *found.batch} == {*labels}


KINDS = {"NN": lambda x, y: x @ y, "NT": lambda x, y: x @ y.T, "TN": lambda x, y: x.T @ y,
         "TT": lambda x, y: x.T @ y.T}


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_small_products_are_numpys(kind, verify):
    """Of whole numbers, so that every order of the additions gives the same."""
    rng = np.random.default_rng(5)
    with tracejit.config(verify=verify):
        g = tracejit.jit(KINDS[kind])
        for dtype in (np.float64, np.float32):
            for m, n, k in itertools.product((0, 1, 2, 5, 19), repeat=3):
                x = rng.integers(-9, 9, (k, m) if kind[0] == "T" else (m, k)).astype(dtype)
                y = rng.integers(-9, 9, (n, k) if kind[1] == "T" else (k, n)).astype(dtype)
                found = g(x, y)
                assert found.dtype == dtype
                np.testing.assert_array_equal(found, KINDS[kind](x, y))


@pytest.mark.parametrize("size", [3, 30])
def test_verify_mode_sees_a_product_that_is_too_large(size, monkeypatch):
    whole = HostProducts._operands

    def too_large(self, eqn, sizes):
        found = whole(self, eqn, sizes)
        m, n, k = found.dims
        return replace(found, dims=[m, n, Bin("+", k, ONE)])

    monkeypatch.setattr(HostProducts, "_operands", too_large)
    x = np.ones((size, size))
    with tracejit.config(verify=True), pytest.raises(
            IRError, match="reads or writes"):
        tracejit.jit(lambda x, y: x @ y)(x, x)


def _shifted(words, place, by):
    words[place] = Bin("+", words[place], by)
    return words


@pytest.mark.parametrize("spec", ["aij,ajk->aik", "aij,akj->aik", "iaj,ajk->aik", "aji,ajk->aik"])
@pytest.mark.parametrize("place", [*range(2, 5), 6, 7, 9, 10, 12, 13])
def test_verify_mode_sees_a_part_of_an_array_that_ends_outside(spec, place, monkeypatch):
    """Of products in a batch: each size too large by 1, each start and distance by 500."""
    whole = matmul.call

    def too_large(name, *words):
        if name == "gemm_at":
            words = _shifted([*words], place, ONE if place < 5 else integer(500))
        return whole(name, *words)

    monkeypatch.setattr(matmul, "call", too_large)
    left, right = spec.partition("->")[0].split(",")
    sizes = {"a": 3, "i": 20, "j": 21, "k": 22}
    x, y = (np.ones([sizes[c] for c in labels]) for labels in (left, right))
    with tracejit.config(verify=True), pytest.raises(IRError, match="reads or writes"):
        tracejit.jit(lambda x, y: np.einsum(spec, x, y))(x, y)


def test_verify_mode_sees_a_part_of_an_array_that_begins_before_it(monkeypatch):
    whole = matmul.call
    monkeypatch.setattr(matmul, "call", lambda name, *words: whole(
        name, *(_shifted([*words], 6, integer(-5)) if name == "gemm_at" else words)))
    x = np.ones((3, 20, 20))
    with tracejit.config(verify=True), pytest.raises(IRError, match="reads or writes"):
        tracejit.jit(lambda x, y: x @ y)(x, x)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if (p := as_product(spec)) and p.batch])
def test_verify_mode_lets_products_in_a_batch_be(spec):
    with tracejit.config(verify=True):
        f = tracejit.jit(lambda x, y: np.einsum(spec, x, y))
        for sizes in (SIZES, {**SIZES, "a": 0}, {**SIZES, "i": 0}, {**SIZES, "j": 0}):
            x, y = _arrays(spec, sizes)
            np.testing.assert_allclose(f(x, y), np.einsum(spec, x, y), rtol=1e-11, atol=1e-11)


FACTORS = {"potrf": (0, lambda x, y: np.linalg.cholesky(x)),
           "getrf": (0, lambda x, y: np.linalg.slogdet(x)[1]),
           "trsm": (3, np.linalg.solve)}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("by", [0, 9])
def test_verify_mode_sees_a_factor_that_is_too_large(name, by, monkeypatch):
    place, f = FACTORS[name]
    whole = routines.call
    monkeypatch.setattr(routines, "call", lambda fn, *words: whole(
        fn, *(_shifted([*words], place, integer(by)) if fn == name else words)))
    x, y = np.eye(5) + 0.1, np.ones((5, 3))
    with tracejit.config(verify=True):
        g = tracejit.jit(f)
        if not by:
            np.testing.assert_allclose(g(x, y), f(x, y), rtol=1e-12)
            return
        with pytest.raises(IRError, match="reads or writes"):
            g(x, y)
