"""Hooks of `match`: what patterns ask of a subject, each part once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.trace.containers.choices import the_one
from tracejit.trace.containers.runs import holds_runs
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.hooks.access_hooks import AccessHooks
from tracejit.trace.lists.list_runs import give_up
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.patterns import NO_PART, is_plain_attribute, parts_of, pattern_class
from tracejit.trace.state.uncaptured import unseen
from tracejit.trace.values.operands import TracedOperand

__all__ = ["MatchHooks"]


class MatchHooks(AccessHooks):
    """Tests of subjects by patterns, and the parts that patterns bind."""

    def is_of_class(self, subject: object, kind: object) -> Any:
        """Return whether a `match` finds a subject to be of a class."""
        if not isinstance(kind, type):
            raise TypeError("called match pattern must be a class")
        return call_function(isinstance, (subject, kind), {})

    def parts_of(self, subject: object, kind: object, is_early: bool, count: int,
                 *names: str) -> Any:
        """Return the parts of the subject of a `match` that a pattern of a class asks for, once.

        is_early -- whether Python would read them later, or not at all
        """
        subject = the_one(subject)
        if subject is NO_PART or not self.is_of_class(subject, kind):
            return None
        assert isinstance(kind, type)
        if count:
            current().captured.entry_of(kind, "__match_args__")
        return parts_of(subject, kind, count, names,
                        self._early_part if is_early else self.getattr)

    def _early_part(self, owner: object, name: str) -> Any:
        """Read an attribute where that is seen by nobody; refuse one that code computes."""
        if not is_plain_attribute(owner, name):
            raise refuse(f"a pattern of a `match` that reads {name!r}, which code computes, behind "
                         "the test of another part", "Read it before the match", "TJ106")
        return self.getattr(owner, name)

    def part(self, parts: tuple[object, ...] | None, k: int) -> Any:
        """Return a part of a subject, if it fitted."""
        return NO_PART if parts is None else parts[k]

    def has_items(self, subject: Any, count: int) -> Any:
        """Return whether a `match` finds a subject to be a sequence of so many items."""
        if isinstance(subject, TracedOperand):
            return False
        items = self.matched(subject)
        return isinstance(items, Sequence) and len(items) == count and not isinstance(
            items, (str, bytes, bytearray))

    def pattern_class(self, kind: object) -> Any:
        """Return what stands for a class in a pattern of a `match` that Python carries out."""
        if isinstance(kind := self.matched(kind), type):
            current().captured.entry_of(kind, "__match_args__")
        return pattern_class(kind)

    def matched(self, subject: Any, *names: str) -> Any:
        """Return the subject of a `match`, its reads noted; refuse a traced value.

        names -- the attributes of the subject that the patterns read
        """
        subject = the_one(subject)
        if holds_runs(subject):
            give_up(subject, "`match` on a list")
        if isinstance(subject, TracedOperand):
            raise refuse("`match` on a traced value", "Use if and elif", "TJ106")
        native = current().captured.native
        for name in native.attributes_read(subject, names) if names else native.asked(subject):
            unseen(name)
        return subject
