"""Texts that users give are taken literally: options have two values, paths are no flags."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit


def energy(x: Any) -> Any:
    return np.sum(np.exp(x) * x)


class Strict(str):
    """A string that says of itself that it is another one."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("strict")


TRANSFORMS = ("grad", "value_and_grad", "jit", "vmap", "jacobian", "jacfwd", "jacrev", "hessian",
              "hvp")
WRONG = ["Strict", "STRICT", " strict", "strict ", "fast", "", 3, 0, None, True, 1.0, b"strict",
         ("strict",), Strict("fast"), np.str_("strict")]


@pytest.mark.parametrize("option", ["fp", "target"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_another_value_of_an_option_is_an_error_that_names_those_there_are(transform: str,
                                                                          option: str) -> None:
    allowed = {"fp": '"default" or "strict"', "target": '"cpu" or "cuda"'}[option]
    for value in WRONG:
        with pytest.raises(ValueError, match=f"{option} is {allowed}, not "):
            getattr(tracejit, transform)(energy, **{option: value})


@pytest.mark.parametrize("value", ["Strict", 3])
def test_strict_that_is_misspelt(value: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f'fp is "default" or "strict", not {value!r}')):
        tracejit.jit(energy, fp=value)


NAMES = ["a,-rpath,evil", "-shared", "--version", "-", "@resp", "-Wl,-rpath,evil", "a b", "a'b",
         'a"b', "x;touch y", "$HOME", "$(touch y)", "%n", "*", "#", "a,b", "-o", "-lm", "~", "a\\b",
         "-Xlinker", "=", "ü"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("suffix", [".so", ".a"])
@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_no_flag_of_the_linker(tmp_path: Path, monkeypatch: Any, name: str,
                                         suffix: str) -> None:
    monkeypatch.chdir(tmp_path)
    compiled = tracejit.grad(energy).trace("f64[n]").lower().compile()
    written = compiled.export(f"{name}{suffix}", name="slope")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in written)
    if suffix == ".so":
        ctypes.CDLL(str(tmp_path / f"{name}.so"))
        _require_no_paths(tmp_path / f"{name}.so")


def test_a_path_with_commas_gives_the_library_no_folder_to_search(tmp_path: Path) -> None:
    compiled = tracejit.grad(energy).trace("f64[n]").lower().compile()
    compiled.export(tmp_path / "a,-rpath,evil.so", name="slope")
    _require_no_paths(tmp_path / "a,-rpath,evil.so")


def _require_no_paths(library: Path) -> None:
    if shutil.which("readelf") is not None:
        said = subprocess.run(["readelf", "-d", os.fspath(library)], capture_output=True, text=True,
                              check=True).stdout
        assert f"[{library.name}]" in said
        assert "RUNPATH" not in said
        assert "RPATH" not in said
