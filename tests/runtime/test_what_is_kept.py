"""Saved programs and settings: a program is of the state that it is saved with, or is not saved."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import tracejit
from tracejit.configuration import settings
from tracejit.store.environment import _folders_of_source

OUTER = None
CONTENTS = {
    "float": 2.0, "int": 3, "text": "a", "floats": np.array([1.0, 2.0, 3.0]),
    "longer": np.arange(4.0), "singles": np.ones(3, np.float32), "ints": np.array([4, 5, 6]),
    "matrix": np.arange(9.0).reshape(3, 3), "row": np.ones((3, 7)), "bool": True,
    "list": [1.0, 2.0, 3.0], "complex": 2.0j,
}


def f(x):
    return np.sum(x) * len(OUTER) if isinstance(OUTER, str) else np.sum(x * np.sum(OUTER))


@pytest.mark.parametrize(("before", "after"), [*itertools.product(CONTENTS, CONTENTS)])
def test_a_saved_program_gives_what_the_function_gave_when_it_was_saved(before, after, tmp_path,
                                                                       monkeypatch):
    monkeypatch.setitem(globals(), "OUTER", CONTENTS[before])
    x = np.array([0.5, 1.0, 2.0])
    compiled = tracejit.jit(f).trace(x).lower().compile()
    monkeypatch.setitem(globals(), "OUTER", CONTENTS[after])
    expected = f(x)
    try:
        path = compiled.save(tmp_path / "f.tj")
    except TypeError:
        if before == after:
            raise
        return
    monkeypatch.setitem(globals(), "OUTER", None)
    np.testing.assert_allclose(tracejit.load(path)(x), expected, rtol=1e-12)


def test_a_loaded_program_is_not_for_two_arguments_that_are_one(tmp_path):
    def same(p, q):
        return p[0] * (2.0 if p is q else 3.0)

    path = tracejit.jit(same).trace([1.0], [1.0]).lower().compile().save(tmp_path / "same.tj")
    found = tracejit.load(path)
    one = [4.0]
    assert found(one, [4.0]) == 12.0
    with pytest.raises(TypeError):
        found(one, one)


@pytest.mark.parametrize("name", ["disable_jit", "debug_nans"])
@pytest.mark.parametrize("given", [True, False, np.True_, np.False_, 1, 0, 2, "1", "", None])
def test_a_setting_of_any_truth_holds_within_its_block_alone(name, given):
    before = settings()
    square = tracejit.jit(lambda x: x * x)
    assert square(3.0) == 9.0
    with tracejit.config(**{name: given}):
        assert bool(getattr(settings(), name)) is bool(given)
        assert square(3.0) == 9.0
    assert settings() == before
    assert square(4.0) == 16.0
    assert "__call__" in vars(type(square))  # the fast entry takes calls again


def test_a_change_of_any_module_makes_stored_programs_misses():
    root = Path(tracejit.__file__).parent
    modules = {p.parent for p in root.rglob("*.py") if "cuda" not in p.parts}
    assert modules <= {Path(folder) for folder in _folders_of_source(str(root))}
