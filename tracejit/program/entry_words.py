"""The layout of the table of words that drives the fast entry."""

from __future__ import annotations

__all__ = ["MAX_LEAVES", "MAX_LOGS", "MAX_WORDS", "Words"]

MAX_LEAVES, MAX_WORDS, MAX_LOGS = 512, 512, 60


class Words:
    """The layout of the table: a head, then a record per guard, leaf, result and pair apart."""

    NEXT, FAIL, KERNEL, PLAN, ARGS, GUARDS, LEAVES, OUTPUTS, GROUPING, LOGS, RELEASE, SIZES, \
        PAIRS, FOUND, PARALLEL, THREADS, CALLBACK = range(17)
    HEAD = 17
    RECORD = 8
    # a leaf: its source (source, a, b), its expected type (kind, type or dtype, ndim,
    # flags), the bytes of an element where it is one of a pair; a pair: two leaves' numbers (a, b)
    SOURCE, A, B, KIND, EXPECTED, NDIM, FLAGS, ITEM = range(8)
    # Where: argument a; the word behind address a; key b, a str, of dict a; item b of list a; a
    # itself; the b-th key of dict a, all of which follow one another; the
    # word behind address a, if key b is before it; the result of the function a, of a guard alone;
    # version at a: where it is still b, as many guards hold as `expected` says, up to the record
    # that notes another version once they were looked at, a records behind.
    CONTIGUOUS, WRITEABLE = 0x101, 0x400
    FROM_ARGUMENT, FROM_CELL, FROM_DICT, FROM_LIST, FROM_CONSTANT, NEXT_KEY, FROM_VERSION, \
        TO_VERSION, FROM_PLACE, FROM_CALL = range(10)
    IS_ARRAY, IS_FLOAT, IS_INT, IS_OBJECT, IS_COMPLEX, IS_NUMBER = range(6)
    # a result: its kind, its dtype, its rank, its type; one that is found in a Log: (kind, dtype,
    # rank, the Log's number, the bytes of an element)
    AS_ARRAY, AS_FLOAT64, AS_SCALAR, AS_FLOAT, AS_INT, AS_BOOL, AS_COMPLEX, AS_FOUND = range(8)
    # how results are grouped: one; a tuple; (first, second); (first, tuple of the rest)
    ONE, TUPLE, FIRST_AND_REST = range(3)
