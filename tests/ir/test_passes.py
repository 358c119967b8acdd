"""Passes on graphs: text in, text out. Each rewrite has a case, and a neighbour that it leaves."""

from __future__ import annotations

from collections import defaultdict

import pytest
from ir_text import Case, cases, graph_of

import tracejit.api  # noqa: F401  (fills the table of ops)
from tracejit.ir.dead_code import drop_dead_code
from tracejit.passes.inlining import inline_calls
from tracejit.passes.jamming import unroll_and_jam
from tracejit.passes.ordering import call_in_order
from tracejit.passes.rewriting import rewrite_graph
from tracejit.passes.rules import RULES, simplify

# --- rewrites of single equations ---------------------------------------------------------------

MOVES = cases("""
    a reshape to the same shape is none
        (%x: f64[n])
        %0: f64[n] = reshape(%x) {shape=(n,)}
        return %0
    becomes
        return %x

    a reshape to another shape
        (%x: f64[n])
        %0: f64[n, 1] = reshape(%x) {shape=(n, 1)}
        return %0
    stays

    reshape(reshape(x)) = reshape(x)
        (%x: f64[n, m])
        %0: f64[n*m] = reshape(%x) {shape=(n*m,)}
        %1: f64[m, n] = reshape(%0) {shape=(m, n)}
        return %1
    becomes
        %0: f64[m, n] = reshape(%x) {shape=(m, n)}
        return %0

    reshape(transpose(x)): elements change places
        (%x: f64[n, m])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[n, m] = reshape(%0) {shape=(n, m)}
        return %1
    stays

    broadcast_to(x) of the same shape is x
        (%x: f64[n])
        %0: f64[n] = broadcast_to(%x) {shape=(n,)}
        return %0
    becomes
        return %x

    broadcast_to(scalar) is full
        (%x: f64[], %y: f64[n])
        %0: f64[n] = broadcast_to(%x) {shape=(n,)}
        return %0
    becomes
        %0: f64[n] = full(%x) {shape=(n,)}
        return %0

    broadcast_to of a row
        (%x: f64[n], %y: f64[m])
        %0: f64[m, n] = broadcast_to(%x) {shape=(m, n)}
        return %0
    stays

    broadcast_to(reshape(scalar)) is full
        (%x: f64[], %y: f64[n])
        %0: f64[1, 1] = reshape(%x) {shape=(1, 1)}
        %1: f64[n, n] = broadcast_to(%0) {shape=(n, n)}
        return %1
    becomes
        %0: f64[n, n] = full(%x) {shape=(n, n)}
        return %0

    broadcast_to(reshape(x)) where x has an axis
        (%x: f64[n])
        %0: f64[n, 1] = reshape(%x) {shape=(n, 1)}
        %1: f64[n, n] = broadcast_to(%0) {shape=(n, n)}
        return %1
    stays

    full(a) without axes is a
        (%x: f64[])
        %0: f64[] = full(%x) {shape=()}
        return %0
    becomes
        return %x

    full(a) with an axis of one element
        (%x: f64[])
        %0: f64[1] = full(%x) {shape=(1,)}
        return %0
    stays

    a constant array in another shape is a constant array
        (%x: f64[], %y: f64[n, m])
        %0: f64[n, m] = full(%x) {shape=(n, m)}
        %1: f64[m, n] = transpose(%0) {axes=(1, 0)}
        %2: f64[n*m] = reshape(%1) {shape=(n*m,)}
        %3: f64[n, n*m] = broadcast_to(%2) {shape=(n, n*m)}
        return %3
    becomes
        %0: f64[n, n*m] = full(%x) {shape=(n, n*m)}
        return %0

    an element of a constant array is its number
        (%x: f64[], %y: f64[n])
        %0: f64[n] = full(%x) {shape=(n,)}
        %1: f64[] = index(%0) {at=(0,)}
        return %1
    becomes
        return %x

    an element of a constant array that was written to
        (%x: f64[], %y: f64[n])
        %0: f64[n] = full(%x) {shape=(n,)}
        %1: f64[n] = update(%0, 7.0) {at=(n - 1,)}
        %2: f64[] = index(%1) {at=(0,)}
        return %2
    stays

    the transpose by the order that is there is none
        (%x: f64[n, m])
        %0: f64[n, m] = transpose(%x) {axes=(0, 1)}
        return %0
    becomes
        return %x

    transpose(transpose(x)) = x
        (%x: f64[n, m])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[n, m] = transpose(%0) {axes=(1, 0)}
        return %1
    becomes
        return %x

    two turns of three axes are one turn, back
        (%x: f64[n, m, k])
        %0: f64[m, k, n] = transpose(%x) {axes=(1, 2, 0)}
        %1: f64[k, n, m] = transpose(%0) {axes=(1, 2, 0)}
        return %1
    becomes
        %0: f64[k, n, m] = transpose(%x) {axes=(2, 0, 1)}
        return %0

    the transpose of a square matrix is another one
        (%x: f64[n, n])
        %0: f64[n, n] = transpose(%x) {axes=(1, 0)}
        return %0
    stays

    concatenate(x) = x
        (%x: f64[n])
        %0: f64[n] = concatenate(%x) {axis=0}
        return %0
    becomes
        return %x

    concatenate(x, x)
        (%x: f64[n])
        %0: f64[2*n] = concatenate(%x, %x) {axis=0}
        return %0
    stays
""")

PRODUCTS = cases("""
    dot(transpose(x), y) reads x the other way round
        (%x: f64[n, m], %y: f64[n, k])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[m, k] = dot(%0, %y) {spec="ij,jk->ik"}
        return %1
    becomes
        %0: f64[m, k] = dot(%x, %y) {spec="ji,jk->ik"}
        return %0

    both operands of a product are transposed
        (%x: f64[n, m], %y: f64[k, n])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[n, k] = transpose(%y) {axes=(1, 0)}
        %2: f64[m, k] = dot(%0, %1) {spec="ij,jk->ik"}
        return %2
    becomes
        %0: f64[m, k] = dot(%x, %y) {spec="ji,kj->ik"}
        return %0

    three axes that were turned are named in the order in which they lie
        (%x: f64[n, m, k], %y: f64[n])
        %0: f64[m, k, n] = transpose(%x) {axes=(1, 2, 0)}
        %1: f64[m, k] = dot(%0, %y) {spec="ijk,k->ij"}
        return %1
    becomes
        %0: f64[m, k] = dot(%x, %y) {spec="kij,k->ij"}
        return %0

    a product of what is there
        (%x: f64[n, m], %y: f64[m, k])
        %0: f64[n, k] = dot(%x, %y) {spec="ij,jk->ik"}
        return %0
    stays

    the product with a scalar is elementwise
        (%x: f64[], %y: f64[n, m])
        %0: f64[n, m] = dot(%x, %y) {spec=",ij->ij"}
        return %0
    becomes
        %0: f64[n, m] = full(%x) {shape=(n, m)}
        %1: f64[n, m] = mul(%0, %y)
        return %1

    the product with a scalar that turns the matrix
        (%x: f64[], %y: f64[n, m])
        %0: f64[m, n] = dot(%x, %y) {spec=",ij->ji"}
        return %0
    becomes
        %0: f64[m, n] = full(%x) {shape=(m, n)}
        %1: f64[m, n] = transpose(%y) {axes=(1, 0)}
        %2: f64[m, n] = mul(%0, %1)
        return %2

    a product that sums nothing is elementwise
        (%x: f64[n], %y: f64[m])
        %0: f64[m, n] = dot(%x, %y) {spec="i,j->ji"}
        return %0
    becomes
        %0: f64[1, n] = reshape(%x) {shape=(1, n)}
        %1: f64[m, 1] = reshape(%y) {shape=(m, 1)}
        %2: f64[m, n] = mul(%0, %1)
        return %2

    a product of elements at one place
        (%x: f64[n, m], %y: f64[m, n])
        %0: f64[n, m] = dot(%x, %y) {spec="ij,ji->ij"}
        return %0
    becomes
        %0: f64[n, m] = transpose(%y) {axes=(1, 0)}
        %1: f64[n, m] = mul(%x, %0)
        return %1

    the product with a scalar that sums
        (%x: f64[], %y: f64[n, m])
        %0: f64[n] = dot(%x, %y) {spec=",ij->i"}
        return %0
    stays
""")

WRITES = cases("""
    x[:] = x
        (%x: f64[n, m])
        %0: f64[n, m] = index(%x) {at=(0:n, 0:m)}
        return %0
    becomes
        return %x

    x[::-1]: everything, but from the end
        (%x: f64[n])
        %0: f64[n] = index(%x) {at=(n - 1:-1:-1,)}
        return %0
    stays

    x[:m] of an array that may be longer
        (%x: f64[n], %y: f64[m])
        %0: f64[m] = index(%x) {at=(0:m,)}
        return %0
    stays

    an element that was written just now is what was written
        (%x: f64[n], %v: f64[])
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[] = index(%0) {at=(1,)}
        return %1, %0
    becomes
        %0: f64[n] = update(%x, %v) {at=(1,)}
        return %v, %0

    an element beside the one that was written
        (%x: f64[n], %v: f64[])
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[] = index(%0) {at=(2,)}
        return %1, %0
    stays

    an element of what was written two writes ago
        (%x: f64[n], %v: f64[], %w: f64[])
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[n] = update(%0, %w) {at=(2,)}
        %2: f64[] = index(%1) {at=(1,)}
        return %2
    becomes
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[] = index(%0) {at=(1,)}
        return %1

    an element behind those that were written and added to, which nothing else reads
        (%x: f64[8, n], %v: f64[2, n], %w: f64[])
        %0: f64[8, n] = update(%x, %v) {at=(0:2, 0:n)}
        %1: f64[8, n] = accumulate(%0, %w) {at=(5, n - 1)}
        %2: f64[max(n - 1, 0)] = index(%1) {at=(4, 0:max(n - 1, 0))}
        return %2
    becomes
        %0: f64[max(n - 1, 0)] = index(%x) {at=(4, 0:max(n - 1, 0))}
        return %0

    elements between those that were written
        (%x: f64[8], %v: f64[4])
        %0: f64[8] = update(%x, %v) {at=(0:8:2,)}
        %1: f64[3] = index(%0) {at=(1:7:2,)}
        return %1
    becomes
        %0: f64[3] = index(%x) {at=(1:7:2,)}
        return %0

    elements between those that were written, but for one
        (%x: f64[9], %v: f64[4])
        %0: f64[9] = update(%x, %v) {at=(0:8:2,)}
        %1: f64[3] = index(%0) {at=(1:10:3,)}
        return %1
    stays

    an element that may be the last of those that were written
        (%x: f64[n], %v: f64[2], %k: i64[])
        %0: f64[n] = update(%x, %v) {at=(0:2,)}
        %1: f64[] = index(%0) {at=(n - 2,)}
        return %1
    stays

    the first row, where the loop writes to later ones
        (%x: f64[n, m], %v: f64[m])
        %0: f64[n, m], %1: f64[m] = for_(%x, %v) {lo=0, hi=n - 1, reversed=False} [
          (%i: i64[], %x_: f64[n, m], %w: f64[m]) {
            %2: f64[n, m] = update(%x_, %w) {at=(%i + 1, 0:m)}
            %3: f64[m] = index(%2) {at=(0, 0:m)}
            %4: f64[m] = add(%w, %3)
            yield %x_, %4
          }
        ]
        return %1
    becomes
        %0: f64[m] = for_(%v) {lo=0, hi=n - 1, reversed=False} [
          (%i: i64[], %w: f64[m]) {
            %1: f64[m] = index(%x) {at=(0, 0:m)}
            %2: f64[m] = add(%w, %1)
            yield %2
          }
        ]
        return %0

    the row before, which the loop has written
        (%x: f64[n, m], %v: f64[m])
        %0: f64[n, m], %1: f64[m] = for_(%x, %v) {lo=0, hi=n - 1, reversed=False} [
          (%i: i64[], %x_: f64[n, m], %w: f64[m]) {
            %2: f64[n, m] = update(%x_, %w) {at=(%i + 1, 0:m)}
            %3: f64[m] = index(%2) {at=(%i, 0:m)}
            %4: f64[m] = add(%w, %3)
            yield %2, %4
          }
        ]
        return %1
    stays

    a slice that was written, and is read nowhere else
        (%x: f64[n], %v: f64[2])
        %0: f64[n] = update(%x, %v) {at=(0:2,)}
        %1: f64[2] = index(%0) {at=(0:2,)}
        return %1
    becomes
        return %v

    a slice that was written, of an array that is read: it is in memory there
        (%x: f64[n], %v: f64[2])
        %0: f64[n] = update(%x, %v) {at=(0:2,)}
        %1: f64[2] = index(%0) {at=(0:2,)}
        return %1, %0
    stays

    x[:] = v makes v of x
        (%x: f64[n], %v: f64[n])
        %0: f64[n] = update(%x, %v) {at=(0:n,)}
        return %0
    becomes
        return %v

    x[:2] = v of an array that may be longer
        (%x: f64[n], %v: f64[2])
        %0: f64[n] = update(%x, %v) {at=(0:2,)}
        return %0
    stays

    what is written twice is written once
        (%x: f64[n], %v: f64[], %w: f64[])
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[n] = update(%0, %w) {at=(1,)}
        return %1
    becomes
        %0: f64[n] = update(%x, %w) {at=(1,)}
        return %0

    what is written twice, and read in between
        (%x: f64[n], %v: f64[], %w: f64[])
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[n] = update(%0, %w) {at=(1,)}
        return %1, %0
    stays

    what is written at two places
        (%x: f64[n], %v: f64[], %w: f64[])
        %0: f64[n] = update(%x, %v) {at=(1,)}
        %1: f64[n] = update(%0, %w) {at=(2,)}
        return %1
    stays

    x[:] += v is x + v
        (%x: f64[n], %v: f64[n])
        %0: f64[n] = accumulate(%x, %v) {at=(0:n,)}
        return %0
    becomes
        %0: f64[n] = add(%x, %v)
        return %0

    x[:2] += v of an array that may be longer
        (%x: f64[n], %v: f64[2])
        %0: f64[n] = accumulate(%x, %v) {at=(0:2,)}
        return %0
    stays
""")

ARITHMETIC = cases("""
    x * 1 = x
        (%x: f64[])
        %0: f64[] = mul(%x, 1.0)
        return %0
    becomes
        return %x

    1 * x = x, where 1 is an array
        (%x: f64[n])
        %0: f64[n] = full(1.0) {shape=(n,)}
        %1: f64[n] = mul(%0, %x)
        return %1
    becomes
        return %x

    x * -1 = -x
        (%x: f64[])
        %0: f64[] = mul(%x, -1.0)
        return %0
    becomes
        %0: f64[] = neg(%x)
        return %0

    x * -1 of ints is as cheap as -x
        (%x: i64[])
        %0: i64[] = mul(%x, -1)
        return %0
    stays

    x * 1 of complex numbers: -0j * 1 is 0j, and infj * 1 has a NaN
        (%x: c128[])
        %0: c128[] = mul(%x, (1.0, 0.0))
        return %0
    stays

    x * 0: of inf and NaN it is NaN, of -1 it is -0.0
        (%x: f64[])
        %0: f64[] = mul(%x, 0.0)
        return %0
    stays

    x / 1 = x
        (%x: f64[])
        %0: f64[] = div(%x, 1.0)
        return %0
    becomes
        return %x

    1 / x
        (%x: f64[])
        %0: f64[] = div(1.0, %x)
        return %0
    stays

    x / 1 of complex numbers: infj / 1 has a NaN
        (%x: c128[])
        %0: c128[] = div(%x, (1.0, 0.0))
        return %0
    stays

    x + 0 = x of ints
        (%x: i64[])
        %0: i64[] = add(%x, 0)
        %1: i64[] = add(0, %0)
        return %1
    becomes
        return %x

    x + 0.0: -0.0 + 0.0 is 0.0
        (%x: f64[])
        %0: f64[] = add(%x, 0.0)
        return %0
    stays

    x - 0 = x
        (%x: f64[])
        %0: f64[] = sub(%x, 0.0)
        return %0
    becomes
        return %x

    x - -0.0: -0.0 - -0.0 is 0.0
        (%x: f64[])
        %0: f64[] = sub(%x, -0.0)
        return %0
    stays

    x - 0 = x of complex numbers
        (%x: c128[])
        %0: c128[] = sub(%x, (0.0, 0.0))
        return %0
    becomes
        return %x

    x - (0 - 0j): the same for each part
        (%x: c128[])
        %0: c128[] = sub(%x, (0.0, -0.0))
        return %0
    stays

    0 - x is not -x: 0.0 - 0.0 is 0.0
        (%x: f64[])
        %0: f64[] = sub(0.0, %x)
        return %0
    stays

    -(-x) = x, of the least int as well
        (%x: i64[])
        %0: i64[] = neg(%x)
        %1: i64[] = neg(%0)
        return %1
    becomes
        return %x

    -x
        (%x: f64[])
        %0: f64[] = neg(%x)
        return %0
    stays

    x + -y = x - y
        (%x: f64[], %y: f64[])
        %0: f64[] = neg(%y)
        %1: f64[] = add(%x, %0)
        return %1
    becomes
        %0: f64[] = sub(%x, %y)
        return %0

    -x + y
        (%x: f64[], %y: f64[])
        %0: f64[] = neg(%x)
        %1: f64[] = add(%0, %y)
        return %1
    stays

    x - -y = x + y
        (%x: f64[], %y: f64[])
        %0: f64[] = neg(%y)
        %1: f64[] = sub(%x, %0)
        return %1
    becomes
        %0: f64[] = add(%x, %y)
        return %0

    -x - y
        (%x: f64[], %y: f64[])
        %0: f64[] = neg(%x)
        %1: f64[] = sub(%0, %y)
        return %1
    stays

    numbers are computed in their dtype
        (%x: f32[])
        %0: f32[] = add(0.1:f32, 0.2:f32)
        %1: f32[] = mul(%x, %0)
        return %1
    becomes
        %0: f32[] = mul(%x, 0.30000001192092896:f32)
        return %0

    ints wrap, as they do in arrays
        (%x: i64[])
        %0: i64[] = add(9223372036854775807, 1)
        %1: i64[] = mul(%x, %0)
        return %1
    becomes
        %0: i64[] = mul(%x, -9223372036854775808)
        return %0

    0 / 0 is a NaN then and now
        (%x: f64[])
        %0: f64[] = div(0.0, 0.0)
        %1: f64[] = mul(%x, %0)
        return %1
    becomes
        %0: f64[] = mul(%x, nan)
        return %0

    arrays of one number are computed as a number
        (%x: f64[n])
        %0: f64[n] = full(2.0) {shape=(n,)}
        %1: f64[n] = full(3.0) {shape=(n,)}
        %2: f64[n] = mul(%0, %1)
        %3: f64[n] = add(%x, %2)
        return %3
    becomes
        %0: f64[n] = full(6.0) {shape=(n,)}
        %1: f64[n] = add(%x, %0)
        return %1

    (x + 1) + 2 rounds two times
        (%x: f64[])
        %0: f64[] = add(%x, 1.0)
        %1: f64[] = add(%0, 2.0)
        return %1
    stays

    a cast to its own dtype is none
        (%x: f64[n])
        %0: f64[n] = cast(%x) {dtype=f64}
        return %0
    becomes
        return %x

    a cast there and back rounds
        (%x: f64[])
        %0: f32[] = cast(%x) {dtype=f32}
        %1: f64[] = cast(%0) {dtype=f64}
        return %1
    stays
""")

DECISIONS = cases("""
    a selection of two that are one
        (%c: bool[], %x: f64[])
        %0: f64[] = select(%c, %x, %x)
        return %0
    becomes
        return %x

    a selection of zeros of both signs
        (%c: bool[])
        %0: f64[] = select(%c, 0.0, -0.0)
        return %0
    stays

    a selection that is decided
        (%x: f64[], %y: f64[])
        %0: f64[] = select(True, %x, %y)
        %1: f64[] = select(False, %x, %y)
        return %0, %1
    becomes
        return %x, %y

    a selection among truth values is logic
        (%c: bool[], %x: bool[])
        %0: bool[] = select(%c, %x, False)
        %1: bool[] = select(%c, True, %x)
        %2: bool[] = select(%c, False, True)
        %3: bool[] = select(%c, False, %x)
        %4: bool[] = select(%c, %x, True)
        return %0, %1, %2, %3, %4
    becomes
        %0: bool[] = logical_and(%c, %x)
        %1: bool[] = logical_or(%c, %x)
        %2: bool[] = logical_not(%c)
        %3: bool[] = logical_and(%2, %x)
        %4: bool[] = logical_or(%2, %x)
        return %0, %1, %2, %3, %4

    a selection among truth values that are not known
        (%c: bool[n], %x: bool[n], %y: bool[n])
        %0: bool[n] = select(%c, %x, %y)
        return %0
    stays

    not not c = c
        (%c: bool[])
        %0: bool[] = logical_not(%c)
        %1: bool[] = logical_not(%0)
        return %1
    becomes
        return %c

    not c
        (%c: bool[])
        %0: bool[] = logical_not(%c)
        return %0
    stays

    c and c = c; c or c = c
        (%c: bool[n])
        %0: bool[n] = logical_and(%c, %c)
        %1: bool[n] = logical_or(%0, %0)
        return %1
    becomes
        return %c

    c and d
        (%c: bool[], %d: bool[])
        %0: bool[] = logical_and(%c, %d)
        %1: bool[] = logical_or(%0, %d)
        return %1
    stays

    max(x, x) = min(x, x) = x, of NaNs as well
        (%x: f64[])
        %0: f64[] = maximum(%x, %x)
        %1: f64[] = minimum(%0, %0)
        return %1
    becomes
        return %x

    max(x, y)
        (%x: f64[], %y: f64[])
        %0: f64[] = maximum(%x, %y)
        %1: f64[] = minimum(%x, %y)
        return %0, %1
    stays

    a branch that computes nothing is a selection
        (%c: bool[], %x: f64[], %y: f64[])
        %0: f64[], %1: f64[] = if_(%c) [
          () {
            yield %x, %y
          }
          () {
            yield %y, %y
          }
        ]
        return %0, %1
    becomes
        %0: f64[] = select(%c, %x, %y)
        return %0, %y

    a branch that yields arrays copies none
        (%c: bool[], %x: f64[n], %y: f64[n])
        %0: f64[n] = if_(%c) [
          () {
            yield %x
          }
          () {
            yield %y
          }
        ]
        return %0
    stays

    a branch that computes something
        (%c: bool[], %x: f64[])
        %0: f64[] = if_(%c) [
          () {
            %1: f64[] = sqrt(%x)
            yield %1
          }
          () {
            yield %x
          }
        ]
        return %0
    stays

    a branch that may raise is one
        (%c: bool[], %d: bool[], %x: f64[])
        %0: f64[] = if_(%c) [
          () {
            check(%d) {error="ValueError", message="no"}
            yield %x
          }
          () {
            yield %x
          }
        ]
        return %0
    stays

    a branch on what is known
        (%x: f64[n], %y: f64[n])
        %0: f64[n] = if_(True) [
          () {
            yield %x
          }
          () {
            %1: f64[n] = sin(%y)
            yield %1
          }
        ]
        return %0
    becomes
        return %x

    a branch on what is known, with equations in it
        (%x: f64[n], %y: f64[n])
        %0: f64[n] = if_(False) [
          () {
            yield %x
          }
          () {
            %1: f64[n] = sin(%y)
            yield %1
          }
        ]
        return %0
    stays
""")

LOOPS = cases("""
    what no iteration changes is what it was
        (%x: f64[], %y: f64[n])
        %0: f64[], %1: f64[] = for_(%x, 1.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %b: f64[]) {
            %2: f64[] = mul(%a, %b)
            yield %a, %2
          }
        ]
        return %0, %1
    becomes
        %0: f64[] = for_(1.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %b: f64[]) {
            %1: f64[] = mul(%x, %b)
            yield %1
          }
        ]
        return %x, %0

    two that change places
        (%x: f64[], %y: f64[n])
        %0: f64[], %1: f64[] = for_(%x, 1.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %b: f64[]) {
            yield %b, %a
          }
        ]
        return %0, %1
    stays

    a while loop keeps its count
        (%x: f64[], %y: f64[])
        %0: i64[], %1: f64[], %2: f64[] = while_(%x, %y) [
          (%i: i64[], %a: f64[], %b: f64[]) {
            %3: bool[] = less(%b, %a)
            yield %3
          }
          (%i_: i64[], %a_: f64[], %b_: f64[]) {
            %4: f64[] = add(%b_, inf)
            yield %a_, %4
          }
        ]
        return %0, %1, %2
    becomes
        %0: i64[], %1: f64[] = while_(%y) [
          (%i: i64[], %b: f64[]) {
            %2: bool[] = less(%b, %x)
            yield %2
          }
          (%i_: i64[], %b_: f64[]) {
            %3: f64[] = add(%b_, inf)
            yield %3
          }
        ]
        return %0, %x, %1

    a while loop in which everything changes
        (%x: f64[], %y: f64[])
        %0: i64[], %1: f64[], %2: f64[] = while_(%x, %y) [
          (%i: i64[], %a: f64[], %b: f64[]) {
            %3: bool[] = less(%b, %a)
            yield %3
          }
          (%i_: i64[], %a_: f64[], %b_: f64[]) {
            %4: f64[] = add(%b_, inf)
            yield %b_, %4
          }
        ]
        return %0, %1, %2
    stays

    rewrites reach into loops
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = neg(%a)
            %2: f64[] = neg(%1)
            %3: f64[] = index(%y) {at=(%i,)}
            %4: f64[] = add(%2, %3)
            yield %4
          }
        ]
        return %0
    becomes
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = index(%y) {at=(%i,)}
            %2: f64[] = add(%a, %1)
            yield %2
          }
        ]
        return %0
""")

EXACT = [*MOVES, *WRITES, *ARITHMETIC, *DECISIONS, *LOOPS]


@pytest.mark.parametrize("case", EXACT)
def test_rewrites_leave_every_bit(case: Case) -> None:
    case.check(simplify)


@pytest.mark.parametrize("case", PRODUCTS)
def test_rewrites_of_products_leave_all_but_signs_of_zeros(case: Case) -> None:
    case.check(simplify, zeros=False)


def test_each_rule_has_a_case_and_a_neighbour() -> None:
    """Each rule is asked and fires in a case that becomes, and does not in one that stays."""
    fired: dict[str, set[bool]] = defaultdict(set)
    for param in [*EXACT, *PRODUCTS]:
        (case,) = param.values

        def watched(rule, stays=case.after is None):  # type: ignore[no-untyped-def]
            def asked(*args):  # type: ignore[no-untyped-def]
                result = rule(*args)
                if stays == (result is None):
                    fired[rule.__name__].add(stays)
                return result
            return asked

        rewrite_graph(graph_of(case.before), {op: [watched(rule) for rule in rules]
                                              for op, rules in RULES.items()})
    missing = {rule.__name__ for rules in RULES.values() for rule in rules
               if fired[rule.__name__] != {True, False}}
    assert not missing


# --- dead code ----------------------------------------------------------------------------------

DEAD = cases("""
    what nobody reads
        (%x: f64[])
        %0: f64[] = sin(%x)
        %1: f64[] = exp(%0)
        %2: f64[] = cos(%x)
        return %2
    becomes
        %0: f64[] = cos(%x)
        return %0

    a check is an effect, and what it reads is read
        (%x: f64[])
        %0: bool[] = equal(%x, %x)
        check(%0) {error="ValueError", message="a NaN"}
        return 1.0
    stays

    what a loop carries for itself alone
        (%x: f64[], %y: f64[n])
        %0: f64[], %1: f64[] = for_(%x, 0.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %b: f64[]) {
            %2: f64[] = sin(%a)
            %3: f64[] = add(%b, 1.0)
            yield %2, %3
          }
        ]
        return %0
    becomes
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = sin(%a)
            yield %1
          }
        ]
        return %0

    what a loop carries for what is read an iteration later
        (%x: f64[], %y: f64[n])
        %0: f64[], %1: f64[] = for_(%x, 0.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %b: f64[]) {
            %2: f64[] = add(%a, %b)
            %3: f64[] = add(%b, 1.0)
            yield %2, %3
          }
        ]
        return %0
    stays

    what a condition alone reads
        (%x: f64[])
        %0: i64[], %1: f64[], %2: f64[] = while_(%x, 0.0) [
          (%i: i64[], %a: f64[], %b: f64[]) {
            %3: bool[] = less(%b, 3.0)
            yield %3
          }
          (%i_: i64[], %a_: f64[], %b_: f64[]) {
            %4: f64[] = sin(%a_)
            %5: f64[] = add(%b_, 1.0)
            yield %4, %5
          }
        ]
        return %1
    stays

    a loop that nobody reads
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = sin(%a)
            yield %1
          }
        ]
        return %x
    becomes
        return %x

    a loop that nobody reads, and that may raise
        (%x: bool[], %y: f64[n])
        for_() {lo=0, hi=n, reversed=False} [
          (%i: i64[]) {
            check(%x) {error="ValueError", message="no"}
            yield
          }
        ]
        return %y
    stays

    a result of branches
        (%c: bool[], %x: f64[])
        %0: f64[], %1: f64[] = if_(%c) [
          () {
            %2: f64[] = sin(%x)
            %3: f64[] = cos(%x)
            yield %2, %3
          }
          () {
            yield %x, %x
          }
        ]
        return %1
    becomes
        %0: f64[] = if_(%c) [
          () {
            %1: f64[] = cos(%x)
            yield %1
          }
          () {
            yield %x
          }
        ]
        return %0

    a result of branches that is the size of another one
        (%c: bool[], %x: f64[n])
        %0: i64[], %1: f64[%0] = if_(%c) [
          () {
            %2: f64[1] = index(%x) {at=(0:1,)}
            yield 1, %2
          }
          () {
            %3: f64[2] = index(%x) {at=(0:2,)}
            yield 2, %3
          }
        ]
        return %1
    stays
""")


@pytest.mark.parametrize("case", DEAD)
def test_dead_code_is_dropped_and_effects_are_kept(case: Case) -> None:
    case.check(drop_dead_code)


# --- calls --------------------------------------------------------------------------------------

CALLS = cases("""
    stop_gradient(x) = x
        (%x: f64[])
        %0: f64[] = stop_gradient(%x)
        %1: f64[] = sin(%0)
        return %1, %0
    becomes
        %0: f64[] = sin(%x)
        return %0, %x

    a function that is computed again on the way back
        (%x: f64[], %y: f64[])
        %0: f64[] = checkpointed() [
          () {
            %1: f64[] = mul(%x, %y)
            %2: f64[] = named(%1)
            yield %2
          }
        ]
        %3: f64[] = sin(%0)
        return %3
    becomes
        %0: f64[] = mul(%x, %y)
        %1: f64[] = sin(%0)
        return %1

    calls within branches within loops
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: bool[] = less(%a, 3.0)
            %2: f64[] = if_(%1) [
              () {
                %3: f64[] = stop_gradient(%a)
                %4: f64[] = sin(%3)
                yield %4
              }
              () {
                yield %a
              }
            ]
            yield %2
          }
        ]
        return %0
    becomes
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: bool[] = less(%a, 3.0)
            %2: f64[] = if_(%1) [
              () {
                %3: f64[] = sin(%a)
                yield %3
              }
              () {
                yield %a
              }
            ]
            yield %2
          }
        ]
        return %0

    a program without calls
        (%x: f64[])
        %0: f64[] = sin(%x)
        return %0
    stays
""")


@pytest.mark.parametrize("case", CALLS)
def test_calls_are_what_they_call(case: Case) -> None:
    case.check(inline_calls)


# --- two rows at a time -------------------------------------------------------------------------

JAMMED = cases("""
    each row reads the element to its left: the rows do not wait for each other
        (%x: f64[n, m])
        %0: f64[n, m] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n, m]) {
            %1: f64[n, m] = for_(%a) {lo=1, hi=m, reversed=False} [
              (%j: i64[], %b: f64[n, m]) {
                %2: f64[] = index(%b) {at=(%i, %j - 1)}
                %3: f64[] = div(1.0, %2)
                %4: f64[n, m] = update(%b, %3) {at=(%i, %j)}
                yield %4
              }
            ]
            yield %1
          }
        ]
        return %0
    becomes
        %0: f64[n, m] = for_(%x) {lo=0, hi=n // 2, reversed=False} [
          (%i: i64[], %a: f64[n, m]) {
            %row: i64[] = size() {of=2*%i}
            %next_row: i64[] = size() {of=2*%i + 1}
            %end: i64[] = size() {of=m}
            %1: f64[n, m] = for_(%a) {lo=1, hi=m + 1, reversed=False} [
              (%j: i64[], %b: f64[n, m]) {
                %inside: bool[] = not_equal(%j, %end)
                %2: f64[n, m] = if_(%inside) [
                  () {
                    %3: f64[] = index(%b) {at=(%row, %j - 1)}
                    %4: f64[] = div(1.0, %3)
                    %5: f64[n, m] = update(%b, %4) {at=(%row, %j)}
                    yield %5
                  }
                  () {
                    yield %b
                  }
                ]
                %inside_: bool[] = not_equal(%j, 1)
                %6: f64[n, m] = if_(%inside_) [
                  () {
                    %column: i64[] = size() {of=%j - 1}
                    %7: f64[] = index(%2) {at=(%next_row, %column - 1)}
                    %8: f64[] = div(1.0, %7)
                    %9: f64[n, m] = update(%2, %8) {at=(%next_row, %column)}
                    yield %9
                  }
                  () {
                    yield %2
                  }
                ]
                yield %6
              }
            ]
            yield %1
          }
        ]
        %10: f64[n, m] = for_(%0) {lo=2*(n // 2), hi=n, reversed=False} [
          (%i_: i64[], %a_: f64[n, m]) {
            %11: f64[n, m] = for_(%a_) {lo=1, hi=m, reversed=False} [
              (%j_: i64[], %b_: f64[n, m]) {
                %12: f64[] = index(%b_) {at=(%i_, %j_ - 1)}
                %13: f64[] = div(1.0, %12)
                %14: f64[n, m] = update(%b_, %13) {at=(%i_, %j_)}
                yield %14
              }
            ]
            yield %11
          }
        ]
        return %10

    each row reads the one before two columns on: what it reads is not there yet
        (%x: f64[n, m])
        %0: f64[n, m] = for_(%x) {lo=1, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n, m]) {
            %1: f64[n, m] = for_(%a) {lo=1, hi=m - 2, reversed=False} [
              (%j: i64[], %b: f64[n, m]) {
                %2: f64[] = index(%b) {at=(%i, %j - 1)}
                %3: f64[] = index(%b) {at=(%i - 1, %j + 2)}
                %4: f64[] = div(%2, %3)
                %5: f64[n, m] = update(%b, %4) {at=(%i, %j)}
                yield %5
              }
            ]
            yield %1
          }
        ]
        return %0
    stays
""")


@pytest.mark.parametrize("case", JAMMED)
def test_two_rows_at_a_time(case: Case) -> None:
    case.check(lambda graph: unroll_and_jam(graph)[0])


# --- calls on transposed arrays ------------------------------------------------------------------

ORDERED = cases("""
    exp(transpose(x)) = transpose(exp(x))
        (%x: f64[n, m])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[m, n] = exp(%0)
        return %1
    becomes
        %0: f64[n, m] = exp(%x)
        %1: f64[m, n] = transpose(%0) {axes=(1, 0)}
        return %1

    what leads to a call, numbers, and several arrays
        (%x: f64[n, k, m], %y: f64[n, k, m], %a: f64[])
        %0: f64[m, n, k] = transpose(%x) {axes=(2, 0, 1)}
        %1: f64[m, n, k] = mul(%a, %0)
        %2: f64[m, n, k] = transpose(%y) {axes=(2, 0, 1)}
        %3: f64[m, n, k] = hypot(%1, %2)
        return %3
    becomes
        %0: f64[n, k, m] = mul(%a, %x)
        %1: f64[n, k, m] = hypot(%0, %y)
        %2: f64[m, n, k] = transpose(%1) {axes=(2, 0, 1)}
        return %2

    in a loop, of an array from outside
        (%x: c128[n, m], %s: f64[m, n])
        %0: c128[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[m, n] = for_(%s) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %t: f64[m, n]) {
            %2: f64[m, n] = complex_abs(%0)
            %3: f64[m, n] = add(%t, %2)
            yield %3
          }
        ]
        return %1
    becomes
        %0: f64[m, n] = for_(%s) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %t: f64[m, n]) {
            %1: f64[n, m] = complex_abs(%x)
            %2: f64[m, n] = transpose(%1) {axes=(1, 0)}
            %3: f64[m, n] = add(%t, %2)
            yield %3
          }
        ]
        return %0

    arrays that are turned in different ways
        (%x: f64[n, n, n], %y: f64[n, n, n])
        %0: f64[n, n, n] = transpose(%x) {axes=(2, 0, 1)}
        %1: f64[n, n, n] = transpose(%y) {axes=(2, 1, 0)}
        %2: f64[n, n, n] = hypot(%0, %1)
        return %2
    stays

    an array that is not turned beside one that is
        (%x: f64[n, m], %y: f64[m, n])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[m, n] = hypot(%0, %y)
        return %1
    stays

    rows that stay rows
        (%x: f64[n, m, k])
        %0: f64[m, n, k] = transpose(%x) {axes=(1, 0, 2)}
        %1: f64[m, n, k] = exp(%0)
        return %1
    stays

    nothing is called
        (%x: f64[n, m])
        %0: f64[m, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[m, n] = mul(%0, %0)
        return %1
    stays
""")


@pytest.mark.parametrize("case", ORDERED)
def test_calls_are_done_in_the_order_of_their_arrays(case: Case) -> None:
    case.check(call_in_order)
