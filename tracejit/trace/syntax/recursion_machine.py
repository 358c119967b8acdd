"""The blocks of a function that calls itself, as a loop: each iteration runs one of them.

A name that is read after a call of itself is saved on a stack of its own; where every call is the
last operation of its caller, there is a count in place of the stacks.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from tracejit.trace.syntax.liveness import EAGER, SCOPES, own_nodes, read_names, stored_names
from tracejit.trace.syntax.own_calls import SelfCalling
from tracejit.trace.syntax.recursion_blocks import Blocks
from tracejit.trace.syntax.recursion_nodes import (
    CALLS,
    DEPTH,
    PC,
    RESULT,
    SAVED,
    TEMPORARY,
    Forgotten,
    Fork,
    Goto,
    OwnCall,
    Stmts,
    popped,
)
from tracejit.trace.syntax.syntax import assign, constant, hook, load, place

__all__ = ["LoopOfBlocks"]


class LoopOfBlocks:
    """Makes the loop: `live` are the names whose content matters when a block begins.

    invariant -- the parameters that every call hands on as they are, and nothing binds
    numbers   -- the number of each block; block -1 goes on at once with the block of its caller
    """

    def __init__(self, itself: SelfCalling, cut: Blocks) -> None:
        self.itself, self.cut = itself, cut
        self.is_tail = all(c.is_last for c in cut.calls)
        self.invariant = self.find_invariant()
        self.live = self.find_live()

    def loop(self) -> Stmts:
        """Return the loop, with the statements before and after it."""
        node = self.itself.node
        labels = self.cut.ordered()
        self.numbers = {label: k for k, label in enumerate(labels)}
        if not self.is_tail and any(c.is_last for c in self.cut.calls):
            self.numbers[-1] = len(labels)
        dispatch: Stmts = []
        if -1 in self.numbers:
            dispatch = [place(assign(PC, popped(CALLS)), node)]
        for label in reversed(labels):
            body = self.emitted(self.cut.blocks[label])
            if label == self.cut.entry:
                names = (DEPTH,) if self.is_tail else (CALLS,)
                body = [place(ast.Expr(hook("deepens", *map(load, names))), node), *body]
            saved = sorted(s for c in self.cut.calls if c.resume == label for s in self.saved(c))
            body = [*(place(assign(n, popped(SAVED + n)), node) for n in saved), *body]
            if dispatch or label != labels[-1]:
                test = ast.Compare(load(PC), [ast.Eq()], [constant(self.numbers[label])])
                dispatch = [place(ast.If(test, body, dispatch), node)]
            else:
                dispatch = body
        stacks = sorted({s for c in self.cut.calls for s in self.saved(c)})
        before: Stmts = [ast.Nonlocal(sorted(self.itself.declared))] if self.itself.declared else []
        before.append(assign(PC, constant(0)))
        if self.is_tail:
            before.append(assign(DEPTH, constant(0)))
        else:
            before += [assign(SAVED + n, ast.List([], ast.Load())) for n in stacks]
            first = ast.List([ast.UnaryOp(ast.USub(), constant(1))], ast.Load())
            before.append(assign(CALLS, first))
        test = ast.Compare(load(PC), [ast.GtE()], [constant(0)])
        loop = ast.While(test, dispatch, [])
        loop.tj_of = tuple(self.itself.params)  # type: ignore[attr-defined]
        return [*(place(s, node) for s in before), place(loop, node),
                place(ast.Return(load(RESULT)), node)]

    def saved(self, call: OwnCall) -> set[str]:
        """Return the names that are saved during a call."""
        if call.resume is None:
            return set()
        return self.live[call.resume] - self.invariant

    def emitted(self, stmts: Stmts) -> Stmts:
        """Return a block's statements, the next block's number set at each end."""
        result: Stmts = []
        for s in stmts:
            if isinstance(s, Goto):
                result.append(place(assign(PC, constant(self.numbers[s.label])), self.itself.node))
            elif isinstance(s, OwnCall):
                result += self.emitted_call(s)
            elif isinstance(s, ast.Return):
                result.append(place(assign(RESULT, s.value or constant(None)), s))
                leave = ast.UnaryOp(ast.USub(), constant(1)) if self.is_tail else popped(CALLS)
                result.append(place(assign(PC, leave), s))
            elif isinstance(s, Fork):
                branch = ast.If(s.test, self.emitted(s.body), self.emitted(s.orelse))
                result.append(place(branch, s))
            elif not isinstance(s, Forgotten):
                result.append(s)
        return result

    def emitted_call(self, call: OwnCall) -> Stmts:
        """Return the statements of a call: arguments in their order, saved names, parameters."""
        owner = [copy.deepcopy(call.callee.value)] if isinstance(
            call.callee, ast.Attribute) and not self.itself.is_dotted(call.callee) else []
        result: Stmts = [ast.Expr(hook("recurs", call.callee, *owner))]
        bound: Stmts = []
        for name, value in zip(call.names, call.values, strict=True):
            if name in self.invariant or (isinstance(value, ast.Name) and value.id == name):
                continue
            if not isinstance(value, ast.Constant):
                argument = self.itself.temporary()
                result.append(place(assign(argument, value), value))
                value = load(argument)
            bound.append(assign(name, value))
        stacks: list[tuple[str, ast.expr]] = [
            (SAVED + name, load(name)) for name in sorted(self.saved(call))]
        if self.is_tail:
            result.append(assign(DEPTH, ast.BinOp(load(DEPTH), ast.Add(), constant(1))))
        else:
            resume = self.numbers[-1 if call.resume is None else call.resume]
            stacks.append((CALLS, constant(resume)))
        if stacks:
            result.append(ast.Expr(hook("saves", *(
                e for stack, item in stacks for e in (load(stack), item)))))
        return [place(s, call) for s in (*result, *bound, assign(PC, constant(0)))]

    def find_invariant(self) -> set[str]:
        """Return the parameters that every call hands on as they are, and nothing binds."""
        stored = stored_names(self.itself.node.body) | self.itself.shared
        return {p for p in self.itself.params if p not in stored and all(
            isinstance(v, ast.Name) and v.id == p
            for c in self.cut.calls for n, v in zip(c.names, c.values, strict=True) if n == p)}

    def find_live(self) -> dict[int, set[str]]:
        """Return the local names whose content matters when a block begins."""
        f = self.itself
        self.own = f.local | {TEMPORARY + str(k) for k in range(1, f.temporaries + 1)}
        self.own -= f.declared
        self.live = {label: set() for label in self.cut.blocks}
        while True:
            before = {label: set(names) for label, names in self.live.items()}
            for label in reversed(self.cut.ordered()):
                self.live[label] = self.live_before(self.cut.blocks[label])
            if before == self.live:
                return self.live

    def live_before(self, stmts: Stmts) -> set[str]:
        live: set[str] = set()
        for s in reversed(stmts):
            if isinstance(s, Goto):
                live = set(self.live[s.label])
            elif isinstance(s, OwnCall):
                live = set() if s.resume is None else set(self.live[s.resume])
                live |= {n for v in s.values for n in read_names(v)} | read_names(s.callee)
            elif isinstance(s, Fork):
                live = self.live_before(s.body) | self.live_before(s.orelse) | read_names(s.test)
            else:
                live = _live_before(s, live)
        return live & self.own

    def refuse_closures(self) -> None:
        """Refuse functions within that see names which every call of the function has anew."""
        eager = {a for n in own_nodes(self.itself.node.body) if isinstance(n, ast.Call)
                 and isinstance(n.func, ast.Name) and n.func.id in EAGER for a in n.args}
        own = self.itself.local - self.invariant
        for n in own_nodes(self.itself.node.body):
            if isinstance(n, (*SCOPES, ast.GeneratorExp)) and n not in eager and (
                    read_names(n) & own):
                name = min(read_names(n) & own)
                raise self.itself.refused(
                    n, f"a function within that reads {name!r}, a name of its own,")


def _live_before(s: ast.stmt, live: set[str]) -> set[str]:
    """Return the names whose content matters before a statement in which no block ends."""
    def block(stmts: Sequence[ast.stmt], live: set[str]) -> set[str]:
        for t in reversed(stmts):
            live = _live_before(t, live)
        return live

    if isinstance(s, Forgotten):
        return live - {s.name}
    if isinstance(s, ast.Assign):
        live = live - {n for t in s.targets for n in _plain_targets(t)}
    elif isinstance(s, ast.If):
        return block(s.body, live) | block(s.orelse, live) | read_names(s.test)
    elif isinstance(s, ast.For):
        inner = block(s.body, live) - set(_plain_targets(s.target))
        return live | inner | block(s.orelse, live) | read_names(s.iter) | read_names(s.target)
    elif isinstance(s, ast.While):
        return live | block(s.body, live) | block(s.orelse, live) | read_names(s.test)
    elif isinstance(s, ast.With):
        return block(s.body, live).union(*map(read_names, s.items))
    elif isinstance(s, ast.Try) and not s.finalbody:
        caught = [block(h.body, live) | (read_names(h.type) if h.type else set())
                  for h in s.handlers]
        return block([*s.body, *s.orelse], live).union(*caught)
    elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
        return live | read_names(s) | {s.target.id}
    return live | read_names(s)


def _plain_targets(t: ast.expr) -> Iterator[str]:
    """Yield the names that an assignment surely binds."""
    if isinstance(t, ast.Name):
        yield t.id
    elif isinstance(t, (ast.Tuple, ast.List)):
        for x in t.elts:
            yield from _plain_targets(x)
    elif isinstance(t, ast.Starred):
        yield from _plain_targets(t.value)
