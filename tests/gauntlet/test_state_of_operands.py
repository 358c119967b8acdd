"""State that operators, items and texts read of things from outside: never stale.

Each case is an expression in things that a module holds, and a change of them in place. The oracle
is Python's result at every call.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from state_sequences import refused_around

import tracejit

HEAD = """\
import array, operator
import numpy as np
LAB = np.array(["a", "b", "a"])
BY = np.array([b"a", b"b", b"a"])
DAY = np.array(["2020-01-01", "2020-01-05"], "M8[D]")
STEP = np.array([1, 2], "m8[D]")
OBJ = np.array([2.0, 3.0], object)
REC = np.array([(1, 2.0), (3, 4.0)], [("k", int), ("v", float)])
RECS = REC.view(np.recarray)
PART = LAB[::2]
W = np.array([1.0, 2.0, 4.0])
BA = bytearray(b"ab")
AR = array.array("i", [1, 2])
BB = bytearray(b"ab")
MV = memoryview(BB)
P1 = np.poly1d([1.0, 2.0])
LABS = [LAB]
class K:
    def __init__(self, lab):
        self.lab = lab
O = K(LAB)
"""

CASES = {
    "LAB[:] = 'b'": [
        "np.sum(W[LAB == 'a'])", "np.sum(W[LAB != 'a'])", "np.sum(LAB == 'a')",
        "float(np.all(LAB == LAB[0]))", "len(LAB[LAB == 'a'])", "(LAB == 'a').sum()",
        "float(('a' == LAB)[0])", "float((PART == 'a')[0])", "np.sum(np.char.equal(LAB, 'a'))",
        "sum(v == 'a' for v in LAB)", "LAB.tolist().count('a')", "float('a' in LAB)",
        "float(LAB[0] == 'a')", "float((LAB.T == 'a')[0])", "float((LAB[1:] == 'a')[1])",
        "float(str(LAB) == str(np.array(['a', 'b', 'a'])))", "float(f'{LAB}'.count('a'))",
        "float([*LAB] == ['a', 'b', 'a'])", "float(np.array_equal(LAB, ['a', 'b', 'a']))",
        "len(np.unique(LAB))", "float(np.isin(LAB, ['a']).sum())",
        "float(operator.eq(LAB, 'a')[0])", "float((LAB > 'a').sum())",
        "float((LAB + 'x' == 'ax').sum())", "float((LAB.copy() == 'a').sum())",
        "float((LAB.reshape(-1) == 'a').sum())", "float(LAB.__eq__('a').sum())",
        "float(np.equal(LAB, 'a').sum())", "float((LABS[0] == 'a').sum())",
        "float((O.lab == 'a').sum())", "(1.0 if LAB[0] == 'a' else 2.0)",
        "float(np.where(LAB == 'a', 1.0, 2.0).sum())", "np.sum(W, where=LAB == 'a')",
        "float((lambda t: (t == 'a').sum())(LAB))", "float((K(LAB).lab == 'a').sum())",
        "sum([1.0 for v in LAB if v == 'a'])", "W[np.argmax(LAB == 'b')]",
        "np.sum(W[~(LAB == 'a')])", "np.sum(W[np.flatnonzero(LAB == 'a')])",
        "np.sum(W * (LAB == 'a'))", "float(np.logical_and(LAB == 'a', W > 1.0).sum())",
        "float((LAB == BY.astype(str)).sum())", "float(np.char.add(LAB, 'x')[0] == 'ax')",
        "float({'a': 1.0, 'b': 2.0}[LAB[0]])",
        "float(np.searchsorted(np.array(['a', 'b']), LAB)[0])",
        "float(np.equal.outer(LAB, LAB).sum())", "float(max(LAB) == 'b')",
        "float(sorted(LAB)[0] == 'a')", "float(','.join(LAB) == 'a,b,a')",
    ],
    "BY[:] = b'b'": [
        "float((BY == b'a').sum())", "float((BY[0] == b'a'))",
    ],
    "DAY[0] = np.datetime64('2020-01-09')": [
        "float((DAY > np.datetime64('2020-01-03')).sum())",
        "float((DAY - np.datetime64('2020-01-03'))[0] / np.timedelta64(1, 'D'))",
        "float((DAY[1] - DAY[0]) / np.timedelta64(1, 'D'))",
        "float((DAY + STEP > np.datetime64('2020-01-06')).sum())",
        "float(np.diff(DAY)[0].astype(float))", "float(DAY.astype(float)[0])",
        "float((DAY == DAY[0]).sum())", "float((-(DAY - DAY[1]))[0].astype(float))",
    ],
    "STEP[0] = 9": [
        "float((STEP * 2)[0].astype(float))", "float((-STEP)[0].astype(float))",
        "float(abs(STEP)[0].astype(float))", "float((STEP // 2)[0].astype(float))",
    ],
    "OBJ[0] = 7.0": [
        "(OBJ + 1)[0]", "(OBJ * 2)[0]", "(OBJ ** 2)[0]", "float((OBJ == 2.0).sum())", "(-OBJ)[0]",
        "(OBJ / 2)[0]", "(1 - OBJ)[0]", "(OBJ @ OBJ)", "OBJ[0]", "OBJ.sum()", "float(OBJ[0] > 5)",
    ],
    "REC['k'][0] = 5": [
        "float((REC == REC[1]).sum() + (REC == np.array((1, 2.0), REC.dtype)).sum())",
        "float((REC['k'] == 1).sum())", "float(REC[0]['k'])", "float(RECS.k[0])",
        "float((RECS.k == 1).sum())",
    ],
    "BA[0] = 98": [
        "float(BA == b'ab')", "float(b'ab' == BA)", "float(BA < b'b')", "len(BA + b'a')",
        "(BA + b'a')[0]", "(b'a' + BA)[1]", "(BA * 2)[2]", "(2 * BA)[2]", "float(b'a' in BA)",
        "float(97 in BA)", "BA[0]", "sum(BA)", "len(bytes(BA))", "float(bytes(BA) == b'ab')",
        "float((BA % ()) == b'ab')", "float(bool(BA))", "float([BA] == [b'ab'])",
        "float((BA, 1) == (b'ab', 1))", "float(max(BA, b'aa') == b'ab')",
        "[b'b', BA].count(b'ab')", "float({'a': BA} == {'a': b'ab'})", "sorted([BA, b'az'])[0][0]",
    ],
    "BB[0] = 98": [
        "float(MV == b'ab')", "MV[0]", "float([MV] == [b'ab'])", "float(MV[:1] == b'a')",
        "len(MV.tobytes().replace(b'a', b''))",
    ],
    "BA.append(99)": [
        "len(BA + b'a')", "float(BA == b'ab')", "(BA * 2)[2]", "len(BA)",
    ],
    "AR[0] = 5": [
        "float(AR == array.array('i', [1, 2]))", "(AR + AR)[0]", "(AR * 2)[0]", "AR[0]",
        "float(1 in AR)", "sum(AR)", "float(AR < array.array('i', [2]))",
    ],
    "P1[1] = 5.0": [
        "(P1 + 1)(2.0)", "(P1 * 2)(2.0)", "(P1 * P1)(2.0)", "(-P1)(2.0)",
        "float(P1 == np.poly1d([1.0, 2.0]))", "P1(2.0)", "P1[0]", "(P1 ** 2)(1.0)",
        "(1 - P1)(2.0)", "(P1 / 2.0)(1.0)",
    ],
}

ROWS = [(change, expression) for change, some in CASES.items() for expression in some]


def run(text: str, change: str, folder: Path) -> None:
    """Call, change, call: every call is right, or refused as items of such arrays are."""
    refused_around(text, change, folder, "state_of_operands")


@pytest.mark.parametrize(("change", "expression"), ROWS, ids=lambda text: text)
def test_after_a_change_in_place(change: str, expression: str, tmp_path: Path) -> None:
    with tracejit.config(disable_jit=True):
        run(f"{HEAD}def f(x):\n    return x * ({expression})\n", change, tmp_path)


@pytest.mark.parametrize(("change", "expression"), ROWS[::20], ids=lambda text: text)
def test_compiled(change: str, expression: str, tmp_path: Path) -> None:
    run(f"{HEAD}def f(x):\n    return x * ({expression})\n", change, tmp_path)
