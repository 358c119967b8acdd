"""New lists and dicts for names to which branches or iterations leave different ones.

Where branches or iterations leave a name different lists or dicts, it holds a new one afterwards.
In Python it would be one of them, so a change of the new one would have to be seen by all other
names for the old one, and the other way round. Such changes are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tracejit.trace.containers.heap import held_by_program
from tracejit.trace.containers.places import children, rebuild
from tracejit.trace.containers.records import attributes_in, is_record, is_tree, opened
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.source import describe_line, find_site

__all__ = ["Held", "Turns", "containers", "is_joined", "link_branches",
           "may_be_another", "may_be_one", "refuse_joined_change", "snapshot", "still_held",
           "with_joined"]

Held = list[Any]
"""Lists and dicts, told apart by identity."""


@dataclass(frozen=True, slots=True)
class _Joined:
    """New lists and dicts of a name, and others, each of which they may be."""

    name: str
    new: Held
    others: Held
    where: str


def containers(content: object, around: tuple[int, ...] = ()) -> Held:
    """Return the lists, dicts and objects of a content, each as often as it is in it.

    around -- the objects that lead to it
    """
    record = is_record(content)
    if record and id(content) in around:
        return []
    found: Held = [content] if record or isinstance(content, (list, dict)) else []
    around = (*around, id(content)) if record else around
    for x in attributes_in(content).values() if record else children(content) or ():
        found += containers(x, around)
    return found


def with_joined(held: Held) -> Held:
    """Return lists and dicts, and the lists and dicts that each of them may be."""
    ids = set(map(id, held))
    more = {id(x): x for j in current().joined
            for ours, theirs in ((j.new, j.others), (j.others, j.new))
            if any(id(y) in ids for y in ours) for x in theirs if id(x) not in ids}
    return [*held, *more.values()]


def snapshot(content: object, originals: dict[int, object]) -> Any:
    """Return a copy of a content at this moment; `originals` maps a copy's id to the original."""
    items = children(content)
    if items is None and is_record(content) and is_tree(content):
        copy = opened(content, [snapshot(x, originals) for x in attributes_in(content).values()])
        originals[id(copy)] = content
        return copy
    if items is None:
        return content
    copy = rebuild(content, [snapshot(x, originals) for x in items])
    originals[id(copy)] = content
    return copy


def still_held(candidates: Iterable[Any]) -> set[int]:
    """Return the ids of the candidates, lists and dicts, that the program holds.

    Lists from outside, or with which an iteration began, count: who holds them is not known.
    """
    wanted = {id(x): x for x in candidates}
    if not wanted:
        return set()
    trace = current()
    known = {id(x) for frame in trace.frames for x in frame.stand_ins}
    known |= {id(x) for x in (*trace.gone_over, *trace.walked)}
    return {id(v) for v in held_by_program() if id(v) in wanted} | {
        k for k, x in wanted.items() if k in known or trace.captured.is_from_outside(x)}


def _note_joined(name: str, new: Held, others: Held) -> None:
    """Note that lists and dicts were made here, and that they may be others."""
    trace = current()
    if trace.frames:
        trace.frames[-1].created.update({id(x): x for x in new})
    if new and others:
        trace.joined.append(_Joined(name, new, others, describe_line(find_site())))


def is_joined(x: object) -> bool:
    """Return whether a list or dict may be another one."""
    return any(x is y for j in current().joined for y in (*j.new, *j.others))


def may_be_another(x: object) -> bool:
    """Return whether data decides which of several lists or dicts one is."""
    return id(x) in current().chosen_lists or is_joined(x) or any(
        x is z for frame in current().frames for z in frame.stand_ins)


def may_be_one(a: object, b: object) -> bool:
    """Return whether data decides if two lists or dicts, of which each is made, are one."""
    if not (isinstance(a, (list, dict)) and isinstance(b, (list, dict))) and not (
            type(a) is type(b) and is_record(a)):
        return False
    if not {id(a), id(b)}.isdisjoint(current().chosen_lists) and type(a) is type(b):
        return True
    for frame in current().frames:
        for x, y in ((a, b), (b, a)):
            if any(x is z for z in frame.stand_ins) and id(y) not in frame.created:
                return True
    return not {id(x) for x in with_joined([a])}.isdisjoint(id(x) for x in with_joined([b]))


def refuse_joined_change(x: object) -> None:
    """Refuse to change a list or dict that may be another one that the program holds."""
    for j in current().joined:
        if any(x is y for y in j.new):
            others = j.others
        elif any(x is y for y in j.others):
            others = j.new
        else:
            continue
        if still_held(y for y in others if y is not x):
            kind = type(x).__name__
            raise refuse(f"changing a {kind} that may be, depending on data, the one that "
                         f"{j.name!r} holds since {j.where}",
                         f"Copy it where it gets the name: {j.name} = {kind}(...)", "TJ405")


def link_branches(names: Sequence[str], new: Sequence[Held],
                  held: Sequence[Sequence[Held]]) -> None:
    """Note which old lists and dicts the new ones of names may be, after an `if` on data.

    held -- for each name, the lists and dicts that each branch left it
    """
    if not any(new):
        return
    alive = still_held(x for branches in held for h in branches for x in h)
    ids = [[set(map(id, h)) for h in branches] for branches in held]
    for k, name in enumerate(names):
        others = [x for h in held[k] for x in h if id(x) in alive]
        for j in range(len(names)):
            if j != k and any(p & q for p, q in zip(ids[j], ids[k], strict=True)):
                others += new[j]
        if any(len(p) < len(h) for p, h in zip(ids[k], held[k], strict=True)):
            others += new[k]
        _note_joined(name, new[k], others)


@dataclass(slots=True)
class Turns:
    """The lists and dicts of names that a loop binds anew, at both ends of an iteration.

    Whether two names hold one list at the end of an iteration depends on the lists to which it
    binds them, and where names began it with these lists, on the iteration before.

        def swapped(x, n):
            p, q = [x], [2.0 * x]
            for _ in range(n):
                p, q = q, p
            return p[0]

    Lists are no values of a graph: the loop carries their items,

        %0: f64[] = mul(2.0, %x)
        %1: f64[], %2: f64[] = for_(%x, %0) {lo=0, hi=%n, reversed=False} [
          (%i: i64[], %3: f64[], %4: f64[]) {
            yield %4, %3
          }
        ]
        return %1

    and afterwards `p` and `q` hold new lists of these contents. Let P and Q be the lists before:

    | name | begins with | ends with          | own | kept |
    |------|-------------|--------------------|-----|------|
    | p    | P           | first list of q    | {}  | {q}  |
    | q    | Q           | first list of p    | {}  | {p}  |

    `own` are lists made by the iteration or outside of it, `kept` the names whose first list a name
    ends with. Through enough iterations `p` may hold P again: P and Q are `lasting` if another name
    still holds them. Here none does, and nothing is noted. With another name for P,

        def changed(x, n):
            p, q = [x], [2.0 * x]
            first = p
            for _ in range(n):
                p, q = q, p
            p[0] = 7.0 * x
            return first[0]

    `lasting` is {P} for both names, the new lists of both may be P, and the change is refused:
    "changing a list that may be, depending on data, the one that 'p' holds".
    """

    names: Sequence[str]
    starts: Sequence[Held]
    """The lists and dicts that each name may hold before the loop."""
    begun: dict[int, int]
    """For each stand-in of a list or dict in an iteration, by id, the name that begins with it."""
    ended: Sequence[Held]
    """The lists and dicts that each name may hold at the end of an iteration."""

    def link(self, new: Sequence[Held], changed: set[int], own_changed: set[int],
             runs: Callable[[], bool]) -> None:
        """Note which old lists and dicts the new ones of the names may be after the loop.

        changed     -- the ids of the lists and dicts that the loop changed
        own_changed -- the names whose lists or dicts at its beginning an iteration changes
        runs        -- whether the loop surely runs
        """
        own = [[x for x in held if id(x) not in self.begun] for held in self.ended]
        kept = [{self.begun[id(x)] for x in held if id(x) in self.begun} for held in self.ended]
        alive = still_held(x for held in (*self.starts, *own) for x in held)
        begins = [{id(x) for x in held} for held in self.starts]
        ends = [{id(x) for x in held} for held in own]
        lasting = [e & alive for e in ends]
        for _ in self.names:  # a list that another name began with lasts through as many iterations
            lasting = [found.union(*(lasting[p] | begins[p] & alive for p in kept[k]))
                       for k, found in enumerate(lasting)]
        pairs = _pairs_with_one(begins, ends, kept, lasting)
        for k, name in enumerate(self.names):
            shared = lasting[k] | begins[k] & alive
            twice = any(len(set(map(id, x))) < len(x) for x in (self.starts[k], self.ended[k]))
            if (new[k] and shared & changed) or (k in own_changed and (
                    shared or twice or any(k in pair for pair in pairs) or any(
                        begins[k] & begins[j] for j in range(len(ends)) if j != k))):
                raise refuse(f"{name!r} is bound to one list or dict after another in this loop, "
                             "and one of them, which has another name, is changed in it", "Copy it "
                             f"where it is bound: {name} = list(...), or dict(...)", "TJ406")
            if not new[k]:
                continue
            may_be = set(lasting[k])
            others = [x for j in range(len(ends)) if (k, j) in pairs for x in new[j]]
            if (begins[k] & alive or any(begins[k] & begins[j] for j in range(len(ends)) if j != k)
                    ) and not runs():
                may_be |= begins[k] & alive
                others += [x for j in range(len(ends))
                           if j != k and begins[k] & begins[j] for x in new[j]]
            others += [x for held in (*self.starts, *own) for x in held if id(x) in may_be]
            if twice:
                others += new[k]
            _note_joined(name, new[k], others)


def _pairs_with_one(begins: list[set[int]], ends: list[set[int]], kept: list[set[int]],
                    lasting: list[set[int]]) -> set[tuple[int, int]]:
    """Return the pairs of names that may end an iteration with one list or dict.

    They do where both end with one, or with the two lists with which a pair began the iteration.
    """
    count = range(len(ends))
    pairs = {(k, j) for k in count for j in count if k != j and (
        ends[k] & ends[j] or kept[k] & kept[j] or lasting[k] & lasting[j])}
    while more := {(k, j) for k in count for j in count
                   if k != j and (k, j) not in pairs and any(
                       p != q and ((p, q) in pairs or begins[p] & begins[q])
                       for p in kept[k] for q in kept[j])}:
        pairs |= more
    return pairs
