"""From a graph to machine code: loop nests, buffers, Numba source, compilation.

Installed as `tracejit.codegen`; a top-level package called `codegen` could be shadowed by a user's
own file of that name, so this refuses to be imported under another name.
"""

if __name__ != "tracejit.codegen":
    raise ImportError(f"this package is tracejit.codegen, not {__name__}")
