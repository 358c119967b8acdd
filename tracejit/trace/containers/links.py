"""Links: an item of a list that is a thing of a pool or None, where data decides which."""

from __future__ import annotations

from typing import Any

from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.references import Reference, require_one
from tracejit.trace.ground.restarts import NeedPoolFact

__all__ = ["Nullable", "same_link"]


class Nullable(Numbered):
    """The number of a thing of a pool, -1 for None.

    of -- a thing of the pool; None as long as there was None alone
    """

    def __init__(self, of: Numbered | None, number: object) -> None:
        self.of, self._number = of, number

    @property
    def _pool(self) -> Any:
        return None if self.of is None else self.of._pool

    def numbered(self, number: object) -> Nullable:
        """Return the link with a number."""
        return Nullable(self.of, number)


def same_link(a: object, b: object) -> bool:
    """Return whether two things, one of them a link, may be of one pool.

    Begins again where one of them is no link: it has to be kept as one, too.
    """
    if not isinstance(a, Numbered) or not isinstance(b, Numbered):
        return False
    if a._pool is None or b._pool is None or a._pool is b._pool:
        for x in (a, b):
            if not isinstance(x, Nullable):
                raise NeedPoolFact("nullable", x._pool.site)
        return True
    one, other = (x.of if isinstance(x, Nullable) else x for x in (a, b))
    if isinstance(one, Reference) and isinstance(other, Reference):
        require_one(one, other)
    return False
