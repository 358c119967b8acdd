"""C programs around exported functions: generated, compiled with `cc`, run, and read back."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tracejit.runtime.stages import Compiled

__all__ = ["HEAD", "Run", "build", "call_from_c", "undefined_symbols"]

HEAD = """\
#include "lib.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long held = 0;
static long calls_left = -1;

__attribute__((unused))
static void *resize(void *user, void *block, size_t old_size, size_t new_size) {
    if (user != &held) abort();
    if (new_size == 0) { held -= old_size; free(block); return NULL; }
    if (calls_left == 0) return NULL;
    if (calls_left > 0) calls_left--;
    void *made = realloc(block, new_size);
    if (made) held += new_size - old_size;
    return made;
}

/* Memory with a margin that must stay as it is. */
static char *take(long size) {
    char *block = malloc(size + 64);
    memset(block, 0xA5, size + 64);
    return block;
}
static void require_margin(const char *block, long size) {
    for (int k = 0; k < 64; k++)
        if (block[size + k] != (char)0xA5) { fprintf(stderr, "margin\\n"); exit(3); }
}
"""

_C_TYPES = {"bool": "bool", "float32": "float", "float64": "double", "complex64": "float _Complex",
            "complex128": "double _Complex"}


@dataclass
class Run:
    """The outcome of a call from C."""

    status: int
    message: str
    room: int
    results: list[np.ndarray]


def build(folder: Path, source: str, kind: str = ".so", link: Sequence[str] = ()) -> Path:
    """Compile a C program against lib.h and the library beside it, without any warning."""
    (folder / "main.c").write_text(source)
    program = folder / f"main{kind[1:]}"
    library = [str(folder / f"lib{kind}"), *link]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-o", str(program),
               str(folder / "main.c"), *library, f"-Wl,-rpath,{folder}", "-pthread", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def _c_type(dtype: np.dtype) -> str:
    return _C_TYPES.get(dtype.name, f"{dtype.name}_t")


def call_from_c(folder: Path, compiled: Compiled, call: str, sizes: str, inputs: Sequence[Any],
                results: Sequence[tuple[Any, tuple[int, ...]]], *, kind: str = ".so",
                link: Sequence[str] = (), before: str = "", skew: int = 0,
                **options: Any) -> Run:
    """Export a program as `f`, call it from C on inputs, and return its outcome.

    call   -- the arguments of the call, over x0, x1, ... (inputs), r0, ... (results), `workspace`
              and `allocator`
    sizes  -- the arguments of f_workspace
    skew   -- where the workspace begins, in bytes behind an aligned address
    before -- C statements to run before the call
    """
    compiled.export(folder / f"lib{kind}", name="f", **options)
    arrays = [np.ascontiguousarray(x) for x in inputs]
    (folder / "in.bin").write_bytes(b"".join(x.tobytes() for x in arrays))
    made = [np.empty(shape, dtype) for dtype, shape in results]
    lines = [f'FILE *in = fopen("{folder}/in.bin", "rb"), *out = fopen("{folder}/out.bin", "wb");',
             "(void)in;", *_allocator(compiled)]
    for k, x in enumerate(arrays):
        lines += [f"{_c_type(x.dtype)} *x{k} = (void *)take({x.nbytes});",
                  f"if (fread(x{k}, 1, {x.nbytes}, in) != {x.nbytes}) return 2;"]
    lines += [f"{_c_type(x.dtype)} *r{k} = (void *)take({x.nbytes});" for k, x in enumerate(made)]
    lines += [
        f"int64_t room = f_workspace({sizes});",
        f"char *block = take(room > 0 ? room + {skew} : 0);",
        f"void *workspace = room > 0 ? block + {skew} : NULL;", before,
        f"int64_t status = f({call});",
        f"if (room > 0) require_margin(block, room + {skew});",
        "fwrite(&status, 8, 1, out); fwrite(&room, 8, 1, out);",
        *(f"require_margin((char *)r{k}, {x.nbytes}); fwrite(r{k}, 1, {x.nbytes}, out);"
          for k, x in enumerate(made)),
        "puts(f_message(status));", "return held != 0;"]
    source = HEAD + "int main(void) {\n    " + "\n    ".join(lines) + "\n}\n"
    done = subprocess.run([str(build(folder, source, kind, link))], capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    content = (folder / "out.bin").read_bytes()
    status, room = np.frombuffer(content[:16], np.int64)
    content = content[16:]
    found = []
    for x in made:
        found.append(np.frombuffer(content[:x.nbytes], x.dtype).reshape(x.shape))
        content = content[x.nbytes:]
    return Run(int(status), done.stdout.strip(), int(room), found)


def _allocator(compiled: Compiled) -> list[str]:
    if not compiled.lowered.kernel.logs:
        return []
    return ["tracejit_allocator given = {resize, &held};",
            "const tracejit_allocator *allocator = &given;"]


def undefined_symbols(path: Path) -> set[str]:
    """Return the symbols that a file needs from other files."""
    shown = subprocess.run(["nm", "-u", str(path)], capture_output=True, text=True, check=True)
    return {line.split()[-1].partition("@")[0] for line in shown.stdout.splitlines()}
