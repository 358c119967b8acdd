"""The facts about pools that attempts of a capture find out: classes, contents of attributes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

__all__ = ["PoolFacts"]


@dataclass(slots=True, eq=False)
class PoolFacts:
    """The facts about pools of lists and of objects with which an attempt begins.

    classes  -- the classes whose objects are in pools
    nullable -- the pools of which a list or attribute has None or a thing of the pool
    links    -- by attribute or pool of lists that has None at first: the pool of its later content
    optional -- the attributes that have None or something that is in no pool
    defaults -- the attributes that objects have from their class until they are set
    may_loop -- whether objects may be in pools for no other reason than loops that go through them
    """

    classes: set[type] = field(default_factory=set)
    nullable: set[Hashable] = field(default_factory=set)
    links: dict[Hashable, Hashable] = field(default_factory=dict)
    optional: set[Hashable] = field(default_factory=set)
    defaults: set[Hashable] = field(default_factory=set)
    may_loop: bool = True

    def names_with_defaults(self, cls: type) -> list[str]:
        """Return the attributes of a class that its objects have from it until they are set."""
        found = [x for x in self.defaults if isinstance(x, tuple) and x[0] is cls]
        return sorted(name for _, name in found)

    def learn(self, what: str, one: Hashable, other: Hashable) -> bool:
        """Note a fact; False where it is known."""
        if what == "links":
            known = one in self.links
            self.links[one] = other
            return not known
        facts: set[Hashable] = getattr(self, what)
        known = one in facts
        facts.add(one)
        return not known
