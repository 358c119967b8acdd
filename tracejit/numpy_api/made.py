"""What captured code makes in place of an object of SciPy's passes for one."""

from __future__ import annotations

import functools
import sys

__all__ = ["Made"]


@functools.cache
def _parts(name: str) -> tuple[str, str]:
    module, _, last = name.rpartition(".")
    return module, last


class Made:
    """An object that captured code makes of traced data.

    scipys -- the public name of the class in SciPy that it passes for; captured code cannot assign
              to its attributes, since a capture reads them when the object is made
    """

    scipys = ""

    @property
    def stands_for(self) -> type:
        """Return the class of SciPy's that the object would have."""
        module, name = _parts(self.scipys)
        found: type = getattr(sys.modules[module], name)
        return found

    __class__ = stands_for
