"""The facts of a machine and its software on which every compiled program depends."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

__all__ = ["describe_device_environment", "describe_environment", "describe_portable",
           "environment_digest"]

FORMAT = 1
"""Of manifests and of the fast entry's table; another number makes all artifacts misses."""
DEVICE_FORMAT = 2
"""Of the calls of device programs to `tracejit.program.cuda`; another makes them misses."""


@functools.cache
def describe_environment() -> dict[str, str]:
    """Return versions, the processor with its features, and the library of vector math."""
    import llvmlite
    import llvmlite.binding as llvm
    import numpy as np

    features = llvm.get_host_cpu_features().flatten()
    return {
        "format": str(FORMAT), "python": sys.version,
        "tracejit": sys.modules["tracejit"].__version__,
        "tracejit's source": source_digest(), "numba": _version("numba"),
        "llvmlite": llvmlite.__version__, "numpy": np.__version__, "scipy": _version("scipy"),
        "platform": f"{sys.platform} {platform.machine()} {sys.implementation.name}",
        "processor": llvm.get_host_cpu_name(),
        "processor features": features, "vector math": _libc(),
    }


@functools.cache
def describe_device_environment() -> dict[str, str]:
    """Return the environment of programs for a device: also the compilers for it."""
    root = Path(__file__).parents[1]
    folders = (str(root / "program" / "cuda"), str(root / "codegen" / "cuda"))
    return {**describe_environment(), **describe_portable(),
            "tracejit's source for devices": _digest_of_folders(folders),
            "numba-cuda": _version("numba_cuda"), "NVVM": _nvvm()}


def describe_portable() -> dict[str, str]:
    """Return the facts that another machine must share to run a program for a device.

    PTX and `launch` ask for no processor, and for none of the libraries that have compiled them.
    """
    return {"format": str(FORMAT), "device format": str(DEVICE_FORMAT),
            "tracejit": sys.modules["tracejit"].__version__}


@functools.cache
def environment_digest() -> str:
    """Return the environment in short."""
    text = "\0".join(f"{k}={v}" for k, v in sorted(describe_environment().items()))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _version(name: str) -> str:
    """Return the version of an installed package without importing it, or `importlib.metadata`."""
    found = find_spec(name)
    if found is None or found.origin is None:
        return "none"
    folder = Path(found.origin).parents[1]
    for entry in os.listdir(folder):
        if entry.startswith(f"{name}-") and entry.endswith(".dist-info"):
            return entry[len(name) + 1:-len(".dist-info")]
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def _nvvm() -> str:
    """Return the version of the wheel that has NVVM, or where a toolkit is that has it."""
    from importlib import metadata

    for name in ("nvidia-nvvm", "nvidia-cuda-nvcc-cu12"):
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    return os.environ.get("CUDA_HOME", "of the system")


def _libc() -> str:
    """Return the version of the C library, which libmvec is a part of."""
    try:
        found = ctypes.CDLL(None).gnu_get_libc_version
    except (AttributeError, OSError):
        return "none"
    found.restype = ctypes.c_char_p
    return f"glibc {found().decode()}"


def source_digest() -> str:
    """Return a digest of this package's source: a checkout changes while its version stays.

    It goes by the sizes and times of files, which is all that can be had in a millisecond.
    """
    return _digest_of_folders(_folders_of_source(str(Path(__file__).parents[1])))


def _folders_of_source(folder: str) -> Iterator[str]:
    """Yield the folders of this package, but for the folders with code for devices alone."""
    yield folder
    for e in os.scandir(folder):
        if e.is_dir() and e.name not in ("__pycache__", "cuda"):
            yield from _folders_of_source(e.path)


def _digest_of_folders(folders: Iterable[str]) -> str:
    parts = []
    for folder in folders:
        for e in os.scandir(folder):
            if e.name.endswith(".py"):
                found = e.stat()
                parts.append(f"{e.name} {found.st_size} {found.st_mtime_ns}")
    return hashlib.blake2b("\n".join(sorted(parts)).encode(), digest_size=8).hexdigest()
