"""The body of a function in blocks, which end at a call of itself, a `return`, a jump or a join."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from tracejit.trace.syntax.flat_expressions import surely_builtin
from tracejit.trace.syntax.flat_statements import FlatStatements
from tracejit.trace.syntax.liveness import SCOPES, own_nodes, stored_names
from tracejit.trace.syntax.own_calls import SelfCalling
from tracejit.trace.syntax.recursion_nodes import (
    RESULT,
    Fork,
    Goto,
    OwnCall,
    Stmts,
    nodes_of,
    only_returns,
)
from tracejit.trace.syntax.syntax import assign, constant, hook, load, place, statement_lists

__all__ = ["Blocks"]


class Blocks:
    """Cuts the body of one function: `blocks` by label, of statements, branches and ends."""

    def __init__(self, itself: SelfCalling) -> None:
        self.itself = itself
        self.statements = FlatStatements(itself)
        self.blocks: dict[int, Stmts] = {}
        self.count = 0
        self.loops: list[tuple[int, int]] = []
        """Where `break` and `continue` go in the open loops that are blocks."""
        self.calls: list[OwnCall] = []
        node = itself.node
        self.entry, end = self.new_label(), self.new_label()
        self.blocks[end] = [place(ast.Return(None), node.body[-1])]
        body = [s for s in node.body if not isinstance(s, ast.Nonlocal)]
        self.blocks[self.entry] = self.sequence(body, end)

    def new_label(self) -> int:
        self.count += 1
        return self.count

    def ends(self, s: ast.stmt) -> bool:
        """Return whether a statement is more than one of a block."""
        if isinstance(s, (OwnCall, ast.Return)):
            return True
        if isinstance(s, (*SCOPES, ast.ClassDef)):
            return False
        if self.itself.recurs(s) or any(
                isinstance(n, (ast.Return, OwnCall)) for n in own_nodes([s])):
            return True
        return bool(self.loops) and bool(_jumps(s))

    def sequence(self, stmts: Sequence[ast.stmt], end: int) -> Stmts:
        """Return statements as a block, which goes on with the one of label `end`."""
        result: Stmts = []
        for k, s in enumerate(stmts):
            if not self.ends(s):
                result.append(s)
                if isinstance(s, ast.Raise):
                    return [*result, Goto(end)]
                continue
            return [*result, *self.ended(s, stmts[k + 1:], end)]
        return [*result, Goto(end)]

    def ended(self, s: ast.stmt, rest: Sequence[ast.stmt], end: int) -> Stmts:
        """Return the rest of a block, from a statement on that ends it."""
        if isinstance(s, OwnCall):
            return self.call(s, rest, end)
        if isinstance(s, (ast.Break, ast.Continue)):
            return [place(Goto(self.loops[-1][isinstance(s, ast.Continue)]), s)]
        simple = self.statements.simplified(s)
        if simple is not None:
            return self.sequence([*simple, *rest], end)
        if isinstance(s, ast.Return):
            return [s]
        if isinstance(s, ast.If):
            return self.branch(s, rest, end)
        has_calls = any(isinstance(n, OwnCall) or self.itself.is_own_call(n) for n in ast.walk(s))
        jumps_out = bool(self.loops) and bool(_jumps(s))
        if not has_calls and not jumps_out:
            return self.sequence([*self.statements.without_returns(s), *rest], end)
        if isinstance(s, ast.While) and not s.orelse:
            return self.while_(s, rest, end)
        if isinstance(s, ast.For) and not s.orelse:
            return self.for_(s, rest, end)
        kind = type(s).__name__.lower()
        raise self.itself.refused(s, f"a call of itself or a jump in this `{kind}`"
                              f"{' with an `else`' if hasattr(s, 'orelse') else ''}")

    def call(self, s: OwnCall, rest: Sequence[ast.stmt], end: int) -> Stmts:
        self.calls.append(s)
        first = rest[0] if rest else None
        if isinstance(first, ast.Return) and isinstance(first.value, ast.Name) and (
                first.value.id == RESULT):
            s.is_last = True
            return [s]
        s.resume = self.new_label()
        got: Stmts = [] if s.target is None else [place(assign(s.target, load(RESULT)), s)]
        self.blocks[s.resume] = [*got, *self.sequence(rest, end)]
        return [s]

    def branch(self, s: ast.If, rest: Sequence[ast.stmt], end: int) -> Stmts:
        falls = [not _always_ends(part) for part in (s.body, s.orelse)]
        if rest and all(falls):
            join = self.new_label()
            self.blocks[join] = self.sequence(rest, end)
            parts = [self.sequence(part, join) for part in (s.body, s.orelse)]
        else:
            parts = [self.sequence([*part, *rest] if fall else part, end)
                     for part, fall in zip((s.body, s.orelse), falls, strict=True)]
        return [place(Fork(s.test, *parts), s)]

    def while_(self, s: ast.While, rest: Sequence[ast.stmt], end: int) -> Stmts:
        head, after = self.new_label(), self.new_label()
        self.blocks[after] = self.sequence(rest, end)
        self.loops.append((after, head))
        body = self.sequence(s.body, head)
        self.loops.pop()
        if isinstance(s.test, ast.Constant) and s.test.value:
            self.blocks[head] = body
        else:
            self.blocks[head] = [place(Fork(s.test, body, [Goto(after)]), s)]
        return [place(Goto(head), s)]

    def for_(self, s: ast.For, rest: Sequence[ast.stmt], end: int) -> Stmts:
        """Return a loop over indices, or one iteration after the other over a display."""
        if isinstance(s.iter, (ast.Tuple, ast.List)) and not any(
                isinstance(x, ast.Starred) for x in s.iter.elts):
            return self.over_display(s, s.iter.elts, rest, end)
        before, count, item = self.items(s.iter)
        k = self.itself.temporary()
        go_on = self.new_label()
        head, after = self.new_label(), self.new_label()
        self.blocks[after] = self.sequence(rest, end)
        next_: Stmts = [assign(k, ast.BinOp(load(k), ast.Add(), constant(1))), Goto(head)]
        self.blocks[go_on] = [place(n, s) for n in next_]
        self.loops.append((after, go_on))
        bind = place(ast.Assign([s.target], item(load(k))), s.target)
        body = self.sequence([bind, *s.body], go_on)
        self.loops.pop()
        test = ast.Compare(load(k), [ast.Lt()], [count])
        self.blocks[head] = [place(Fork(test, body, [Goto(after)]), s)]
        return [*before, place(assign(k, constant(0)), s), place(Goto(head), s)]

    def over_display(self, s: ast.For, elements: list[ast.expr], rest: Sequence[ast.stmt],
                     end: int) -> Stmts:
        if len(elements) > 16:
            raise self.itself.refused(s, "a call of itself in a loop over so many things")
        after = self.new_label()
        self.blocks[after] = self.sequence(rest, end)
        held = [self.itself.temporary() for _ in elements]
        before: Stmts = [place(assign(t, x), s) for t, x in zip(held, elements, strict=True)]
        following = after
        for t in reversed(held):
            self.loops.append((after, following))
            bind = place(ast.Assign([copy.deepcopy(s.target)], load(t)), s.target)
            block = self.sequence([bind, *copy.deepcopy(s.body)], following)
            self.loops.pop()
            following = self.new_label()
            self.blocks[following] = block
        return [*before, Goto(following)]

    def items(self, iterable: ast.expr) -> tuple[
            Stmts, ast.expr, Callable[[ast.expr], ast.expr]]:
        """Return the iterable evaluated before a loop, the number of its items, and the k-th."""
        name = self.itself.builtin(iterable)
        args = iterable.args if isinstance(iterable, ast.Call) else []
        if name == "range" and 1 <= len(args) <= 2:
            bounds = [self.itself.temporary() for _ in args]
            before: Stmts = [surely_builtin(iterable, name)]
            before += [place(assign(t, x), iterable) for t, x in zip(bounds, args, strict=True)]
            checked = ast.Call(load(name), [load(t) for t in bounds], [])
            before.append(place(ast.Expr(checked), iterable))
            if len(args) == 1:
                return before, load(bounds[0]), lambda k: k
            lo, hi = bounds
            return (before, ast.BinOp(load(hi), ast.Sub(), load(lo)),
                    lambda k: ast.BinOp(load(lo), ast.Add(), k))
        if name == "enumerate" and len(args) == 1:
            before, count, item = self.items(args[0])
            before.insert(0, surely_builtin(iterable, name))
            return before, count, lambda k: ast.Tuple([k, item(copy.deepcopy(k))], ast.Load())
        f = self.itself
        if isinstance(iterable, ast.Name) and iterable.id in f.local - f.shared and (
                iterable.id not in stored_names(f.node.body)):
            xs, before = iterable.id, []
        elif isinstance(iterable, (ast.Name, ast.Subscript, ast.Attribute)):
            xs = self.itself.temporary()
            before = [place(assign(xs, iterable), iterable)]
        if isinstance(iterable, (ast.Name, ast.Subscript, ast.Attribute)):
            return (before, hook("indexed", load(xs)),
                    lambda k: ast.Subscript(load(xs), k, ast.Load()))
        raise self.itself.refused(iterable, "a call of itself in a loop over such a thing")

    def ordered(self, calls: bool = True) -> list[int]:
        """Return the blocks that are reached, as they come."""
        found = [self.entry]
        for label in found:
            for s in nodes_of(self.blocks[label]):
                after = s.label if isinstance(s, Goto) else (
                    s.resume if isinstance(s, OwnCall) and calls else None)
                if after is not None and after not in found:
                    found.append(after)
        return found

    def may_end(self) -> bool:
        """Return whether there is a way through the function without a call of itself."""
        return any(isinstance(s, ast.Return) for label in self.ordered(calls=False)
                   for s in nodes_of(self.blocks[label]))

    def inline_blocks(self) -> None:
        """Put a block into each block that goes on with it, if only one does or it just returns."""
        labels = self.ordered()
        gotos = [s.label for label in labels for s in nodes_of(self.blocks[label])
                 if isinstance(s, Goto)]
        resumed = {c.resume for c in self.calls} | {self.entry}
        once = {x for x in gotos if x not in resumed and (
            gotos.count(x) == 1 or only_returns(self.blocks[x]))}
        for label in labels:
            if label not in once:
                self.blocks[label] = self.inlined(self.blocks[label], once)

    def inlined(self, stmts: Stmts, once: set[int]) -> Stmts:
        result: Stmts = []
        for s in stmts:
            if isinstance(s, Fork):
                s.body, s.orelse = self.inlined(s.body, once), self.inlined(s.orelse, once)
            if isinstance(s, Goto) and s.label in once:
                block = self.blocks[s.label]
                result += copy.deepcopy(block) if only_returns(block) else self.inlined(
                    block, once)
            else:
                result.append(s)
        return result


def _jumps(s: ast.stmt) -> bool:
    """Return whether a `break` or `continue` leaves a statement."""
    if isinstance(s, (ast.Break, ast.Continue)):
        return True
    if isinstance(s, (*SCOPES, ast.ClassDef)):
        return False
    if isinstance(s, (ast.For, ast.While)):
        return any(map(_jumps, s.orelse))
    return any(_jumps(t) for t in _children(s))


def _children(s: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements in the parts of a compound one."""
    for part in statement_lists(s):
        yield from part


def _always_ends(stmts: Sequence[ast.stmt]) -> bool:
    """Return whether control surely never gets to the end of statements."""
    return any(isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)) or (
        isinstance(s, ast.If) and _always_ends(s.body) and _always_ends(s.orelse)) for s in stmts)
