"""Syntax-tree pass 2: which names each branch and loop changes, and which changes matter later.

Works on lowered statement lists (`tracejit.trace.syntax.jumps`). Names that a nested function or
lambda reads count as read ever after, since it may be called at any time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracejit.trace.syntax.jumps import stop_flags
from tracejit.trace.syntax.syntax import SCOPES, own_nodes, statement_lists

__all__ = ["SCOPES", "Changes", "analyse", "local_names", "own_nodes", "read_names", "stored_names"]


@dataclass(slots=True)
class Changes:
    """The names that a branch or loop changes.

    stored  -- the names that it binds
    carried -- the stored names whose value matters after it or, in a loop, to the next iteration
    rebound -- the stored names that other statements bind than `x += v`, which may be a write
    written -- the names of arrays to which it writes: `x[i] = v`, `x += v`
    dead    -- the names that it reads or binds and that nothing reads after it
    """

    stored: tuple[str, ...]
    carried: tuple[str, ...]
    rebound: tuple[str, ...]
    written: tuple[str, ...]
    dead: tuple[str, ...]
    exact: tuple[str, ...] = ()
    """Of a `try`: the names that its body binds and that matter after an error."""
    after: tuple[str, ...] = ()
    """Of a `try`: the names that its handlers bind, or `else`, and that matter after it."""


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
EAGER = ("all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple")
"""The builtins that read a generator expression to its end at once."""
ALL_NAMES = ("dir", "eval", "exec", "locals", "vars")
"""The builtins that may read any name."""


def stored_names(nodes: Iterable[ast.AST], always: bool = False) -> set[str]:
    """Return the names that statements bind in their own scope.

    always -- only the names that are bound whichever parts of an expression are evaluated
    """
    found: set[str] = set()
    pending = list(nodes)
    while pending:
        n = pending.pop()
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            found.add(n.id)
        elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(n.name)
            continue
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).split(".")[0] for a in n.names)
        elif isinstance(n, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and n.name:
            found.add(n.name)
        elif isinstance(n, ast.MatchMapping) and n.rest:
            found.add(n.rest)
        if isinstance(n, ast.Lambda):
            continue
        if isinstance(n, COMPREHENSIONS):  # only a walrus inside binds outside
            if not always:
                pending += [w.target for w in ast.walk(n) if isinstance(w, ast.NamedExpr)]
            continue
        pending += _evaluated_parts(n) if always else ast.iter_child_nodes(n)
    return found


def _evaluated_parts(n: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that Python evaluates for any values of the others."""
    if isinstance(n, ast.BoolOp):
        return [n.values[0]]
    if isinstance(n, ast.Compare):
        return [n.left, n.comparators[0]]
    if isinstance(n, (ast.IfExp, ast.Assert)):
        return [n.test]
    return list(ast.iter_child_nodes(n))


def local_names(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Return a function's own names: parameters and bound names, less globals and nonlocals."""
    a = node.args
    names = {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    names |= {x.arg for x in (a.vararg, a.kwarg) if x is not None}
    body = node.body if isinstance(node.body, list) else [node.body]
    names |= stored_names(body)
    for n in own_nodes(body):
        if isinstance(n, (ast.Global, ast.Nonlocal)):
            names -= set(n.names)
    return names


def read_names(node: ast.AST, bound: frozenset[str] = frozenset()) -> set[str]:
    """Return the names that code reads from around it, or may rebind there by `nonlocal`."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) else {node.id} - bound
    found: set[str] = set()
    if isinstance(node, ast.Nonlocal):
        found.update(node.names)
    inner = bound
    if isinstance(node, COMPREHENSIONS):
        found |= read_names(node.generators[0].iter, bound)
        inner = bound.union(*(stored_names([g.target]) for g in node.generators))
    elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
        outer = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        outer += node.decorator_list if isinstance(node, ast.FunctionDef) else []
        found = found.union(*(read_names(n, bound) for n in outer))
        inner = bound | local_names(node)
    return found.union(*(read_names(n, inner) for n in ast.iter_child_nodes(node)))


def analyse(body: Sequence[ast.stmt], local: set[str],
            shared: Iterable[str] = ()) -> dict[ast.stmt, Changes]:
    """Return the changes of each `if`, `for`, `while` and choice of a function's body.

    shared -- the names of functions around it that it binds by `nonlocal`
    """
    sticky = set(shared)
    eager = {a for n in own_nodes(body) if isinstance(n, ast.Call)
             and isinstance(n.func, ast.Name) and n.func.id in EAGER for a in n.args}
    for n in own_nodes(body):
        if isinstance(n, (*SCOPES, ast.GeneratorExp)) and n not in eager:
            sticky |= read_names(n)
        if isinstance(n, ast.Name) and n.id in ALL_NAMES:
            sticky |= local
    analysis = _Analysis(local, sticky & local)
    analysis.block(body, set(sticky))
    return analysis.changes


class _Analysis:
    """A backward pass; `block` returns the names live before a statement list."""

    def __init__(self, local: set[str], sticky: set[str]) -> None:
        self.local = local
        self.sticky = sticky
        self.caught: set[str] = set()
        """The names that matter where a `try` around catches an error."""
        self.kept: set[str] = set()
        """The names that the other branches read, which are traced after this one."""
        self.changes: dict[ast.stmt, Changes] = {}
        self.heads: dict[ast.stmt, set[str]] = {}
        """The names live at the head of each loop, as far as known: in each further pass over a
        loop around it they are the same or more, so the search goes on from there. From the
        beginning it would take two passes for each pass of the loop around, and so on."""

    def block(self, stmts: Sequence[ast.stmt], live: set[str]) -> set[str]:
        for s in reversed(stmts):  # each may end in an error
            live = self.statement(s, live | self.caught) | self.caught
        return live

    def statement(self, s: ast.stmt, live: set[str]) -> set[str]:
        if isinstance(s, ast.If):
            after = set(live)
            other = self.block(s.orelse, live)
            kept, self.kept = self.kept, self.kept | other
            before = self.block(s.body, live) | other | self._reads(s.test)
            self.kept = kept
            self._note(s, [*s.body, *s.orelse], after | other, after)
            return before | stored_names([s.test]) & live
        if isinstance(s, (ast.For, ast.While)):
            return self._loop(s, live)
        if isinstance(s, ast.With):
            caught = self.caught
            self.caught = caught | live  # whatever its name, a manager may suppress an error
            before = self.block(s.body, live)
            self.caught = caught
            for item in reversed(s.items):  # a name after `as` is bound before the body begins
                before = before - self._kills(item) | self._reads(item)
            return before
        if isinstance(s, (ast.Try, ast.Match)):
            after = set(live)
            reads = live.union(_augmented([s]), (n.id for n in ast.walk(s) if isinstance(
                n, ast.Name) and not isinstance(n.ctx, ast.Store)))
            caught = self.caught
            if isinstance(s, ast.Try):
                self.caught = caught | reads
            for part in statement_lists(s):
                self.block(part, set(reads))
            self.caught = caught
            if isinstance(s, ast.Try):
                self._note_try(s, reads, after)
            return reads & (self.local | reads)
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.IfExp) and all(
                isinstance(t, ast.Name) for t in s.targets):
            self.changes[s] = Changes((), (), (), (), tuple(sorted(self._dead(s, live))))
        return (live - self._kills(s)) | self._reads(s)

    def _note_try(self, s: ast.Try, live: set[str], after: set[str]) -> None:
        """Note the names that a `try` binds: all that it reads may matter after its body.

        live -- the names that are read in it or after it
        """
        bound = stored_names(s.body) & self.local
        after = after.union(self.sticky, self.caught, *(self._reads(n) for n in s.finalbody))
        handlers = [n for h in s.handlers for n in h.body]
        kept = after - (_always_bound(s.handlers) - self.sticky - self.caught)
        errors = kept.union(*(self._reads(n) for n in handlers))
        names = {h.name for h in s.handlers if h.name}
        ends = (stored_names([*handlers, *s.orelse]) | names) & after
        self.changes[s] = Changes(*(tuple(sorted(x & self.local)) for x in (
            stored_names([s]), bound & (live | self.sticky), set(), set(), set(), bound & errors,
            ends)))

    def _loop(self, s: ast.For | ast.While, live: set[str]) -> set[str]:
        after = set(live)
        flags = set(stop_flags(s))
        test = self._reads(s.test) if isinstance(s, ast.While) else set()
        head = after.union(test, flags, self.heads.get(s, ()))
        while True:
            before = self.block(s.body, set(head))
            if isinstance(s, ast.For):
                before -= stored_names([s.target])
                before |= self._reads(s.target)
            more = head | before
            if more == head:
                break
            head = more
        self.heads[s] = head
        bound = [s.target] if isinstance(s, ast.For) else [s.test]
        self._note(s, [*s.body, *bound], head, after)
        if isinstance(s, ast.For):
            return head | self._reads(s.iter)
        return head

    def _note(self, s: ast.stmt, nodes: Sequence[ast.AST], live: set[str],
              after: set[str]) -> None:
        """Note the changes of a statement.

        live -- the names that matter to anything that is traced after one of its regions
        """
        stored = stored_names(nodes) & self.local
        carried = stored & (live | self.sticky)
        augmented, written = _written(nodes)
        rebound = stored & (_rebound(nodes) | {n.id for n in nodes if isinstance(n, ast.Name)})
        self.changes[s] = Changes(*(tuple(sorted(x)) for x in (
            stored, carried, rebound, (written | augmented) & self.local, self._dead(s, after))))

    def _dead(self, s: ast.stmt, after: set[str]) -> set[str]:
        used = (stored_names([s]) | self._reads(s)) & self.local
        return used - after - self.sticky - self.kept

    def _reads(self, node: ast.AST) -> set[str]:
        return read_names(node) | _augmented([node])

    def _kills(self, s: ast.AST) -> set[str]:
        return stored_names([s], always=True)


def _augmented(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names augmented as a whole, which are read, too."""
    return {n.target.id for n in own_nodes([*nodes]) if isinstance(n, ast.AugAssign)
            and isinstance(n.target, ast.Name)}


def _always_bound(handlers: Sequence[ast.ExceptHandler]) -> set[str]:
    """Return the names that every handler binds that comes to its end."""
    bound: list[set[str]] = []
    for h in handlers:
        if not any(isinstance(n, ast.Raise) for n in h.body):
            bound.append({t.id for n in h.body if isinstance(n, ast.Assign)
                          for t in n.targets if isinstance(t, ast.Name)})
    return set.intersection(*bound) if bound else set()


def _written(nodes: Sequence[ast.AST]) -> tuple[set[str], set[str]]:
    """Return the names augmented as a whole, and the names written to by element or slice."""
    written = set()
    for n in own_nodes(nodes):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            base: ast.expr = n.value
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            if isinstance(base, ast.Name):
                written.add(base.id)
    return _augmented(nodes), written


def _rebound(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names bound by anything but an augmented assignment."""
    found = set()
    for n in own_nodes(nodes):
        if not isinstance(n, ast.AugAssign):
            for child in ast.iter_child_nodes(n):
                found |= {m.id for m in [child] if isinstance(m, ast.Name)
                          and isinstance(m.ctx, ast.Store)}
    return found
