"""Syntax-tree pass 0: make a function that calls itself a loop over stacks.

    def f(x):                        def f(x):
        if x < 1:                        pc, calls, saved_x = 0, [-1], []
            return x                     while pc >= 0:
        return x * f(x / 2)                  if pc == 0:
                                =>               if x < 1:
                                                     result, pc = x, calls.pop()
                                                 else:
                                                     saved_x.append(x)
                                                     calls.append(1)
                                                     x, pc = x / 2, 0
                                             else:
                                                 x = saved_x.pop()
                                                 result, pc = x * result, calls.pop()
                                         return result

The body becomes blocks that end where control goes elsewhere, a call of the function itself among
them. What is read after such a call is saved on a stack for each name. Where every call is the last
thing that happens, there is a count in place of the stacks. The result is Python, which is
rewritten and captured like users' code.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.syntax.liveness import (
    COMPREHENSIONS,
    EAGER,
    SCOPES,
    local_names,
    own_nodes,
    read_names,
    stored_names,
)
from tracejit.trace.syntax.syntax import assign, constant, hook, load, place

__all__ = ["PlaceOfFunction", "make_loops", "own_names", "undecorated"]

Stmts = list[ast.stmt]
PlaceOfFunction = tuple[int, str] | None
"""The first line and the name of a function in another one; None for that one itself."""
PC, CALLS, RESULT, DEPTH = "_tj_r_pc", "_tj_r_calls", "_tj_r_result", "_tj_r_depth"
SAVED, TEMPORARY = "_tj_r_saved_", "_tj_r_t"


class _Own(ast.stmt):
    """`target = f(...)`, a call of the function itself, in a statement of its own.

    bound  -- parameters with what they are bound to, in the order of evaluation
    resume -- the block that goes on afterwards; None: the result is the caller's, too
    """

    _fields = ("callee", "values")

    def __init__(self, callee: ast.expr, names: list[str], values: list[ast.expr],
                 target: str | None) -> None:
        super().__init__()
        self.callee, self.names, self.values, self.target = callee, names, values, target
        self.is_last = False
        self.resume: int | None = None


class _Fork(ast.stmt):
    """A branch at the end of a block: each side has an end of its own."""

    _fields = ("test", "body", "orelse")

    def __init__(self, test: ast.expr, body: Stmts, orelse: Stmts) -> None:
        super().__init__()
        self.test, self.body, self.orelse = test, body, orelse


class _Forgotten(ast.stmt):
    """Before it, a name has nothing that matters."""

    _fields = ()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class _Goto(ast.stmt):
    """The end of a block: another one goes on."""

    _fields = ()

    def __init__(self, label: int) -> None:
        super().__init__()
        self.label = label


def make_loops(tree: ast.FunctionDef, places: frozenset[PlaceOfFunction],
               names: frozenset[str], file: str) -> None:
    """Make functions that call themselves loops, in place: this one or some in it.

    names -- those by which this one knows itself

    Raises `Refusal` for what there is no code for.
    """
    rebound = frozenset(name for n in ast.walk(tree) if isinstance(n, ast.Nonlocal)
                        for name in n.names)

    def made_loop(node: ast.FunctionDef, own: frozenset[str]) -> None:
        node.body = _Translator(node, own, file, rebound).translated()

    bodies = [getattr(n, "body", None) for n in ast.walk(tree)]
    for body in [b for b in bodies if isinstance(b, list)]:
        for k, s in enumerate(body):
            node = _named(s) if (s.lineno, "<lambda>") in places else None
            if node is not None:
                made_loop(node, frozenset([node.name]))
                body[k] = node
    for n in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        first = min([n.lineno, *(d.lineno for d in n.decorator_list)])
        if n is not tree and (first, n.name) in places:
            made_loop(n, frozenset([n.name]))
    if None in places:
        made_loop(tree, names)


def _named(s: ast.stmt) -> ast.FunctionDef | None:
    """Return `f = lambda ...: ...` as a `def`; None for anything else."""
    if isinstance(s, ast.Assign) and isinstance(s.value, ast.Lambda) and len(s.targets) == 1 and (
            isinstance(s.targets[0], ast.Name)):
        body: Stmts = [place(ast.Return(s.value.body), s.value.body)]
        return place(ast.FunctionDef(s.targets[0].id, s.value.args, body, []), s)
    return None


def own_names(fn: FunctionType) -> frozenset[str]:
    """Return the global and outer names by which a function knows itself, `Class.name` too."""
    outer = {name: fn.__globals__.get(name) for name in _names_in(fn.__code__)}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            outer[name] = cell.cell_contents
    found = {name for name, x in outer.items() if undecorated(x) is fn}
    for name, x in outer.items():
        if isinstance(x, type) and undecorated(vars(x).get(fn.__name__)) is fn:
            found.add(f"{name}.{fn.__name__}")
    return frozenset(found)


def undecorated(x: object) -> object:
    """Return the function of a static method, and that which `tracejit.jit` compiles."""
    if isinstance(x, staticmethod):
        return x.__func__
    if type(x).__module__.partition(".")[0] == "tracejit":
        transform: Any = getattr(x, "transform", None)
        if getattr(transform, "name", "") == "jit":
            function: object = transform.fn
            return function
    return x


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield from _names_in(c)


class _Translator:
    """Translates one function: `blocks` by label, of statements, branches and ends."""

    def __init__(self, node: ast.FunctionDef, names: frozenset[str], file: str,
                 rebound: frozenset[str]) -> None:
        self.node, self.file = node, file
        self.rebound = rebound
        """The names that something binds by `nonlocal`."""
        self.local = local_names(node)
        self.names = names - self.local
        a = node.args
        self.params = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        self.positional = [x.arg for x in (*a.posonlyargs, *a.args)]
        self.keywords = {x.arg for x in (*a.args, *a.kwonlyargs)}
        self.blocks: dict[int, Stmts] = {}
        self.count = self.temporaries = 0
        self.loops: list[tuple[int, int]] = []
        """Where `break` and `continue` go in the open loops that are blocks."""
        self.calls: list[_Own] = []
        self.declared = {name for n in own_nodes(node.body) if isinstance(n, ast.Nonlocal)
                         for name in n.names}
        inner = [f for f in own_nodes(node.body) if isinstance(f, SCOPES)]
        self.shared = {name for f in inner for n in ast.walk(f) if isinstance(n, ast.Nonlocal)
                       for name in n.names} | self.declared

    def refused(self, like: ast.AST, what: str) -> Refusal:
        where = line_name(self.file, getattr(like, "lineno", self.node.lineno))
        return Refusal(f"{where}: a recursion that ends on data, with {what}, cannot be captured. "
                       "Write a loop with a stack, or let the recursion end on a size")

    # --- the whole ------------------------------------------------------------------------------

    def translated(self) -> Stmts:
        """Return the function's body as a loop."""
        node = self.node
        if node.args.vararg or node.args.kwarg:
            raise self.refused(node, "a number of arguments that is not fixed")
        self.refuse_in_scopes()
        entry = self.new_label()
        end = self.new_label()
        self.blocks[end] = [place(ast.Return(None), node.body[-1])]
        body = [s for s in node.body if not isinstance(s, ast.Nonlocal)]
        self.blocks[entry] = self.sequence(body, end)
        if not self.calls:
            raise self.refused(node, "a call of itself that its own code does not show")
        self.inline_blocks(entry)
        if not self.may_end(entry):
            raise self.refused(node, "no end")
        self.invariant = self.find_invariant()
        self.live = self.find_live(entry)
        unset = self.live[entry] - set(self.params)
        if unset:
            raise self.refused(node, f"a name that may be read before it is set, "
                                     f"{min(unset)!r},")
        self.refuse_closures()
        return self.machine(entry)

    def machine(self, entry: int) -> Stmts:
        """Return the loop and what stands before and after it."""
        node = self.node
        self.is_tail = all(c.is_last for c in self.calls)
        labels = self.ordered(entry)
        self.numbers = {label: k for k, label in enumerate(labels)}
        if not self.is_tail and any(c.is_last for c in self.calls):
            self.numbers[-1] = len(labels)
        dispatch: Stmts = []
        if -1 in self.numbers:
            dispatch = [place(assign(PC, _popped(CALLS)), node)]
        for label in reversed(labels):
            body = self.emitted(self.blocks[label])
            if label == entry:
                names = (DEPTH,) if self.is_tail else (CALLS,)
                body = [place(ast.Expr(hook("deepens", *map(load, names))), node), *body]
            saved = sorted(s for c in self.calls if c.resume == label for s in self.saved(c))
            body = [*(place(assign(n, _popped(SAVED + n)), node) for n in saved), *body]
            if dispatch or label != labels[-1]:
                test = ast.Compare(load(PC), [ast.Eq()], [constant(self.numbers[label])])
                dispatch = [place(ast.If(test, body, dispatch), node)]
            else:
                dispatch = body
        stacks = sorted({s for c in self.calls for s in self.saved(c)})
        before: Stmts = [ast.Nonlocal(sorted(self.declared))] if self.declared else []
        before.append(assign(PC, constant(0)))
        if self.is_tail:
            before.append(assign(DEPTH, constant(0)))
        else:
            before += [assign(SAVED + n, ast.List([], ast.Load())) for n in stacks]
            first = ast.List([ast.UnaryOp(ast.USub(), constant(1))], ast.Load())
            before.append(assign(CALLS, first))
        test = ast.Compare(load(PC), [ast.GtE()], [constant(0)])
        loop = ast.While(test, dispatch, [])
        loop.tj_of = tuple(self.params)  # type: ignore[attr-defined]
        return [*(place(s, node) for s in before), place(loop, node),
                place(ast.Return(load(RESULT)), node)]

    def saved(self, call: _Own) -> set[str]:
        """Return the names that are saved during a call."""
        if call.resume is None:
            return set()
        return self.live[call.resume] - self.invariant

    def may_end(self, entry: int) -> bool:
        """Return whether there is a way through the function without a call of itself."""
        return any(isinstance(s, ast.Return) for label in self.ordered(entry, calls=False)
                   for s in _nodes(self.blocks[label]))

    def ordered(self, entry: int, calls: bool = True) -> list[int]:
        """Return the blocks that are reached, as they come."""
        found = [entry]
        for label in found:
            for s in _nodes(self.blocks[label]):
                after = s.label if isinstance(s, _Goto) else (
                    s.resume if isinstance(s, _Own) and calls else None)
                if after is not None and after not in found:
                    found.append(after)
        return found

    def emitted(self, stmts: Stmts) -> Stmts:
        """Return a block's statements, the next block's number set at each end."""
        result: Stmts = []
        for s in stmts:
            if isinstance(s, _Goto):
                result.append(place(assign(PC, constant(self.numbers[s.label])), self.node))
            elif isinstance(s, _Own):
                result += self.emitted_call(s)
            elif isinstance(s, ast.Return):
                result.append(place(assign(RESULT, s.value or constant(None)), s))
                leave = ast.UnaryOp(ast.USub(), constant(1)) if self.is_tail else _popped(CALLS)
                result.append(place(assign(PC, leave), s))
            elif isinstance(s, _Fork):
                branch = ast.If(s.test, self.emitted(s.body), self.emitted(s.orelse))
                result.append(place(branch, s))
            elif not isinstance(s, _Forgotten):
                result.append(s)
        return result

    def emitted_call(self, call: _Own) -> Stmts:
        """Return what makes a call: arguments in their order, what is saved, parameters."""
        owner = [copy.deepcopy(call.callee.value)] if isinstance(
            call.callee, ast.Attribute) and not self.is_dotted(call.callee) else []
        result: Stmts = [ast.Expr(hook("recurs", call.callee, *owner))]
        bound: Stmts = []
        for name, value in zip(call.names, call.values, strict=True):
            if name in self.invariant or (isinstance(value, ast.Name) and value.id == name):
                continue
            if not isinstance(value, ast.Constant):
                argument = self.temporary()
                result.append(place(assign(argument, value), value))
                value = load(argument)
            bound.append(assign(name, value))
        for name in sorted(self.saved(call)):
            result.append(ast.Expr(ast.Call(ast.Attribute(load(SAVED + name), "append", ast.Load()),
                                            [load(name)], [])))
        if self.is_tail:
            result.append(assign(DEPTH, ast.BinOp(load(DEPTH), ast.Add(), constant(1))))
        else:
            resume = self.numbers[-1 if call.resume is None else call.resume]
            result.append(ast.Expr(ast.Call(ast.Attribute(load(CALLS), "append", ast.Load()),
                                            [constant(resume)], [])))
        return [place(s, call) for s in (*result, *bound, assign(PC, constant(0)))]

    # --- what is refused ------------------------------------------------------------------------

    def refuse_in_scopes(self) -> None:
        """Refuse calls of itself in functions and comprehensions within."""
        sums = {n.args[0] for n in own_nodes(self.node.body) if isinstance(n, ast.Call)
                and self.is_sum(n)}
        for n in own_nodes(self.node.body):
            if isinstance(n, (*SCOPES, *COMPREHENSIONS)) and n not in sums and self.recurs(n):
                raise self.refused(n, "a call of itself in a comprehension or a function within")
            if isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global)):
                raise self.refused(n, "a statement that is not captured")

    def refuse_closures(self) -> None:
        """Refuse functions within that see names which every call of the function has anew."""
        eager = {a for n in own_nodes(self.node.body) if isinstance(n, ast.Call)
                 and isinstance(n.func, ast.Name) and n.func.id in EAGER for a in n.args}
        own = self.local - self.invariant
        for n in own_nodes(self.node.body):
            if isinstance(n, (*SCOPES, ast.GeneratorExp)) and n not in eager and (
                    read_names(n) & own):
                name = min(read_names(n) & own)
                raise self.refused(n, f"a function within that reads {name!r}, a name of its own,")

    # --- names ----------------------------------------------------------------------------------

    def find_invariant(self) -> set[str]:
        """Return the parameters that every call hands on as they are, and nothing binds."""
        stored = stored_names(self.node.body) | self.shared
        return {p for p in self.params if p not in stored and all(
            isinstance(v, ast.Name) and v.id == p
            for c in self.calls for n, v in zip(c.names, c.values, strict=True) if n == p)}

    def find_live(self, entry: int) -> dict[int, set[str]]:
        """Return the local names whose content matters when a block begins."""
        self.own = self.local | {TEMPORARY + str(k) for k in range(1, self.temporaries + 1)}
        self.own -= self.declared
        self.live = {label: set() for label in self.blocks}
        while True:
            before = {label: set(names) for label, names in self.live.items()}
            for label in reversed(self.ordered(entry)):
                self.live[label] = self.live_before(self.blocks[label])
            if before == self.live:
                return self.live

    def live_before(self, stmts: Stmts) -> set[str]:
        live: set[str] = set()
        for s in reversed(stmts):
            if isinstance(s, _Goto):
                live = set(self.live[s.label])
            elif isinstance(s, _Own):
                live = set() if s.resume is None else set(self.live[s.resume])
                live |= {n for v in s.values for n in read_names(v)} | read_names(s.callee)
            elif isinstance(s, _Fork):
                live = self.live_before(s.body) | self.live_before(s.orelse) | read_names(s.test)
            else:
                live = _live_before(s, live)
        return live & self.own

    def new_label(self) -> int:
        self.count += 1
        return self.count

    def temporary(self) -> str:
        self.temporaries += 1
        return f"{TEMPORARY}{self.temporaries}"

    # --- which calls ----------------------------------------------------------------------------

    def is_own_call(self, n: ast.AST) -> bool:
        """Return whether this is a call of the function itself."""
        if not isinstance(n, ast.Call):
            return False
        f = n.func
        if isinstance(f, ast.Name) or self.is_dotted(f):
            return ast.unparse(f) in self.names
        return isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and bool(
            self.positional) and f.value.id == self.positional[0] and f.attr == self.node.name

    def is_dotted(self, f: ast.expr) -> bool:
        """Return whether a function is looked up in its class: `Class.name`."""
        return isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and (
            f.value.id not in self.local and ast.unparse(f) in self.names)

    def recurs(self, node: ast.AST) -> bool:
        """Return whether there is a call of the function itself in a node."""
        return any(map(self.is_own_call, ast.walk(node)))

    def own_call(self, call: ast.Call, target: str | None) -> tuple[Stmts, _Own]:
        """Return a call of the function itself as a statement, and what comes before it."""
        parts = [*call.args, *(k.value for k in call.keywords)]
        if any(isinstance(a, ast.Starred) for a in call.args) or any(
                k.arg is None for k in call.keywords):
            raise self.refused(call, "arguments by `*`")
        positional = list(self.positional)
        names = []
        bound_self = isinstance(call.func, ast.Attribute) and not self.is_dotted(call.func)
        if bound_self:
            parts.insert(0, copy.deepcopy(call.func.value))  # type: ignore[attr-defined]
        for _ in range(len(call.args) + bound_self):
            if not positional:
                raise self.refused(call, "more arguments than parameters")
            names.append(positional.pop(0))
        names += [k.arg for k in call.keywords if k.arg is not None]
        if len(set(names)) < len(names) or not (
                {k.arg for k in call.keywords} <= self.keywords):
            raise self.refused(call, "arguments that do not fit its parameters")
        before, values = self.evaluated(parts)
        for p in self.params:
            if p not in names:
                names.append(p)
                values.append(place(hook("default", constant(p)), call))
        own = place(_Own(call.func, names, values, target), call)
        return before, own

    # --- statements -----------------------------------------------------------------------------

    def ends(self, s: ast.stmt) -> bool:
        """Return whether a statement is more than one of a block."""
        if isinstance(s, (_Own, ast.Return)):
            return True
        if isinstance(s, (*SCOPES, ast.ClassDef)):
            return False
        if self.recurs(s) or any(isinstance(n, (ast.Return, _Own)) for n in own_nodes([s])):
            return True
        return bool(self.loops) and bool(_jumps(s))

    def sequence(self, stmts: Sequence[ast.stmt], end: int) -> Stmts:
        """Return statements as a block, which goes on with the one of label `end`."""
        result: Stmts = []
        for k, s in enumerate(stmts):
            if not self.ends(s):
                result.append(s)
                if isinstance(s, ast.Raise):
                    return [*result, _Goto(end)]
                continue
            return [*result, *self.ended(s, stmts[k + 1:], end)]
        return [*result, _Goto(end)]

    def ended(self, s: ast.stmt, rest: Sequence[ast.stmt], end: int) -> Stmts:
        """Return a statement that ends a block, and what comes after it."""
        if isinstance(s, _Own):
            return self.call(s, rest, end)
        if isinstance(s, (ast.Break, ast.Continue)):
            return [place(_Goto(self.loops[-1][isinstance(s, ast.Continue)]), s)]
        simple = self.simplified(s)
        if simple is not None:
            return self.sequence([*simple, *rest], end)
        if isinstance(s, ast.Return):
            return [s]
        if isinstance(s, ast.If):
            return self.branch(s, rest, end)
        has_calls = any(isinstance(n, _Own) or self.is_own_call(n) for n in ast.walk(s))
        jumps_out = bool(self.loops) and bool(_jumps(s))
        if not has_calls and not jumps_out:
            return self.sequence([*self.without_returns(s), *rest], end)
        if isinstance(s, ast.While) and not s.orelse:
            return self.while_(s, rest, end)
        if isinstance(s, ast.For) and not s.orelse:
            return self.for_(s, rest, end)
        kind = type(s).__name__.lower()
        raise self.refused(s, f"a call of itself or a jump in this `{kind}`"
                              f"{' with an `else`' if hasattr(s, 'orelse') else ''}")

    def call(self, s: _Own, rest: Sequence[ast.stmt], end: int) -> Stmts:
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
        return [place(_Fork(s.test, *parts), s)]

    def while_(self, s: ast.While, rest: Sequence[ast.stmt], end: int) -> Stmts:
        head, after = self.new_label(), self.new_label()
        self.blocks[after] = self.sequence(rest, end)
        self.loops.append((after, head))
        body = self.sequence(s.body, head)
        self.loops.pop()
        if isinstance(s.test, ast.Constant) and s.test.value:
            self.blocks[head] = body
        else:
            self.blocks[head] = [place(_Fork(s.test, body, [_Goto(after)]), s)]
        return [place(_Goto(head), s)]

    def for_(self, s: ast.For, rest: Sequence[ast.stmt], end: int) -> Stmts:
        """Return a loop over indices, or one iteration after the other over a display."""
        if isinstance(s.iter, (ast.Tuple, ast.List)) and not any(
                isinstance(x, ast.Starred) for x in s.iter.elts):
            return self.over_display(s, s.iter.elts, rest, end)
        before, count, item = self.items(s.iter)
        k = self.temporary()
        go_on = self.new_label()
        head, after = self.new_label(), self.new_label()
        self.blocks[after] = self.sequence(rest, end)
        next_: Stmts = [assign(k, ast.BinOp(load(k), ast.Add(), constant(1))), _Goto(head)]
        self.blocks[go_on] = [place(n, s) for n in next_]
        self.loops.append((after, go_on))
        bind = place(ast.Assign([s.target], item(load(k))), s.target)
        body = self.sequence([bind, *s.body], go_on)
        self.loops.pop()
        test = ast.Compare(load(k), [ast.Lt()], [count])
        self.blocks[head] = [place(_Fork(test, body, [_Goto(after)]), s)]
        return [*before, place(assign(k, constant(0)), s), place(_Goto(head), s)]

    def over_display(self, s: ast.For, elements: list[ast.expr], rest: Sequence[ast.stmt],
                     end: int) -> Stmts:
        if len(elements) > 16:
            raise self.refused(s, "a call of itself in a loop over so many things")
        after = self.new_label()
        self.blocks[after] = self.sequence(rest, end)
        held = [self.temporary() for _ in elements]
        before: Stmts = [place(assign(t, x), s) for t, x in zip(held, elements, strict=True)]
        following = after
        for t in reversed(held):
            self.loops.append((after, following))
            bind = place(ast.Assign([copy.deepcopy(s.target)], load(t)), s.target)
            block = self.sequence([bind, *copy.deepcopy(s.body)], following)
            self.loops.pop()
            following = self.new_label()
            self.blocks[following] = block
        return [*before, _Goto(following)]

    def items(self, iterable: ast.expr) -> tuple[
            Stmts, ast.expr, Callable[[ast.expr], ast.expr]]:
        """Return what is evaluated before a loop, how many items there are, and the k-th."""
        name = self.builtin(iterable)
        args = iterable.args if isinstance(iterable, ast.Call) else []
        if name == "range" and 1 <= len(args) <= 2:
            bounds = [self.temporary() for _ in args]
            before: Stmts = [self.surely_builtin(iterable, name)]
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
            before.insert(0, self.surely_builtin(iterable, name))
            return before, count, lambda k: ast.Tuple([k, item(copy.deepcopy(k))], ast.Load())
        if isinstance(iterable, ast.Name) and iterable.id in self.local - self.shared and (
                iterable.id not in stored_names(self.node.body)):
            xs, before = iterable.id, []
        elif isinstance(iterable, (ast.Name, ast.Subscript, ast.Attribute)):
            xs = self.temporary()
            before = [place(assign(xs, iterable), iterable)]
        if isinstance(iterable, (ast.Name, ast.Subscript, ast.Attribute)):
            return (before, hook("indexed", load(xs)),
                    lambda k: ast.Subscript(load(xs), k, ast.Load()))
        raise self.refused(iterable, "a call of itself in a loop over such a thing")

    def builtin(self, call: ast.expr) -> str | None:
        """Return the name of the builtin that is called, if it surely is one."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or (
                call.keywords or any(isinstance(a, ast.Starred) for a in call.args)):
            return None
        name = call.func.id
        return name if name not in self.local and hasattr(builtins, name) else None

    def surely_builtin(self, call: ast.expr, name: str) -> ast.stmt:
        return place(ast.Expr(hook("builtin", constant(name), load(name))), call)

    def without_returns(self, s: ast.stmt) -> Stmts:
        """Return a statement without calls of the function whose `return`s leave it only."""
        returned, value = self.temporary(), self.temporary()
        body = _Returns(returned, value).block([s])
        loop = ast.For(ast.Name(self.temporary(), ast.Store()),
                       ast.Tuple([constant(0)], ast.Load()), body, [])
        leave = ast.If(load(returned), [ast.Return(load(value))], [])
        return [place(n, s) for n in (assign(returned, constant(False)), _Forgotten(value), loop,
                                      leave)]

    def simplified(self, s: ast.stmt) -> Stmts | None:
        """Return statements in which calls of the function are statements; None if s is so."""
        if isinstance(s, ast.Return) and isinstance(s.value, ast.IfExp) and self.recurs(s.value):
            parts: list[Stmts] = [[place(ast.Return(x), x)] for x in (s.value.body, s.value.orelse)]
            return [place(ast.If(s.value.test, *parts), s)]
        if isinstance(s, ast.Return):
            if s.value is not None and self.is_own_call(s.value):
                before, own = self.own_call(s.value, None)  # type: ignore[arg-type]
                return [*before, own, place(ast.Return(load(RESULT)), s)]
            return self.with_value(s, "value")
        if isinstance(s, ast.Expr) and self.is_own_call(s.value):
            before, own = self.own_call(s.value, None)  # type: ignore[arg-type]
            return [*before, own]
        if isinstance(s, (ast.Expr, ast.If)):
            return self.with_value(s, "value" if isinstance(s, ast.Expr) else "test")
        if isinstance(s, ast.For):
            return self.with_value(s, "iter")
        if isinstance(s, (ast.Assign, ast.AnnAssign)):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            if any(map(self.recurs, targets)):
                raise self.refused(s, "a call of itself where something is assigned to")
            return self.with_value(s, "value")
        if isinstance(s, ast.AugAssign):
            return self.augmented(s)
        if isinstance(s, ast.While) and self.recurs(s.test):
            leave = ast.If(ast.UnaryOp(ast.Not(), s.test), [ast.Break()], [])
            loop = ast.While(constant(True), [place(leave, s), *s.body], s.orelse)
            return [place(loop, s)]
        if self.recurs(s) and not isinstance(s, (ast.While, ast.With, ast.Try, ast.Match)):
            raise self.refused(s, "a call of itself in such a statement")
        return None

    def with_value(self, s: ast.stmt, field: str) -> Stmts | None:
        value = getattr(s, field)
        if value is None or not self.recurs(value):
            return None
        before, (value,) = self.evaluated([value])
        setattr(s, field, value)
        return [*before, s]

    def augmented(self, s: ast.AugAssign) -> Stmts | None:
        if not self.recurs(s):
            return None
        if self.recurs(s.target):
            raise self.refused(s, "a call of itself where something is assigned to")
        if isinstance(s.target, ast.Name) and s.target.id in self.local - self.shared:
            return self.with_value(s, "value")
        before: Stmts = []
        target = s.target
        if isinstance(target, ast.Subscript):
            target = ast.Subscript(self.held(target.value, before), self.held(target.slice, before),
                                   ast.Store())
        elif isinstance(target, ast.Attribute):
            target = ast.Attribute(self.held(target.value, before), target.attr, ast.Store())
        old = copy.deepcopy(target)
        old.ctx = ast.Load()
        t = self.temporary()
        before.append(place(assign(t, old), s))
        more, (value,) = self.evaluated([s.value])
        change = place(ast.AugAssign(ast.Name(t, ast.Store()), s.op, value), s)
        return [*before, *more, change, place(ast.Assign([target], load(t)), s)]

    # --- expressions ----------------------------------------------------------------------------

    def evaluated(self, parts: Sequence[ast.expr]) -> tuple[Stmts, list[ast.expr]]:
        """Return expressions without calls of the function, and what comes before them.

        What is evaluated before such a call goes to a temporary name.
        """
        before: Stmts = []
        result = list(parts)
        last = max((k for k, x in enumerate(parts) if self.recurs(x)), default=-1)
        for k in range(last + 1):
            if self.recurs(parts[k]):
                result[k] = self.expression(parts[k], before)
            if k < last:
                result[k] = self.held(result[k], before)
        return before, result

    def held(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return an expression that is evaluated now, for later."""
        if isinstance(e, ast.Constant) or (isinstance(e, ast.Name) and (
                e.id.startswith(TEMPORARY) or e.id not in self.rebound)):
            return e
        if isinstance(e, (ast.Tuple, ast.Slice)):
            for name, x in ast.iter_fields(e):
                if isinstance(x, ast.expr):
                    setattr(e, name, self.held(x, before))
                elif isinstance(x, list):
                    setattr(e, name, [self.held(y, before) for y in x])
            return e
        if isinstance(e, ast.Starred):
            raise self.refused(e, "arguments by `*` before a call of itself")
        t = self.temporary()
        before.append(place(assign(t, e), e))
        return place(load(t), e)

    def expression(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return an expression without calls of the function."""
        if self.is_own_call(e):
            t = self.temporary()
            more, own = self.own_call(e, t)  # type: ignore[arg-type]
            before += [*more, own]
            return place(load(t), e)
        if isinstance(e, ast.Call):
            return self.sum(e, before) if self.is_sum(e) else self.other_call(e, before)
        if isinstance(e, ast.IfExp):
            return self.chosen(e.test, [e.body], [e.orelse], e, before)
        if isinstance(e, ast.BoolOp):
            return self.chain(e, before)
        if isinstance(e, ast.NamedExpr):
            value = self.held(self.expression(e.value, before), before)
            before.append(place(ast.Assign([e.target], value), e))
            return copy.deepcopy(value)
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            return self.with_parts(e, [e.left, e.comparators[0]], before,
                                   lambda a, b: ast.Compare(a, e.ops, [b]))
        if isinstance(e, ast.BinOp):
            return self.with_parts(e, [e.left, e.right], before,
                                   lambda a, b: ast.BinOp(a, e.op, b))
        if isinstance(e, ast.UnaryOp):
            return self.with_parts(e, [e.operand], before, lambda a: ast.UnaryOp(e.op, a))
        if isinstance(e, ast.Subscript):
            return self.with_parts(e, [e.value, e.slice], before,
                                   lambda a, b: ast.Subscript(a, b, ast.Load()))
        if isinstance(e, ast.Attribute):
            return self.with_parts(e, [e.value], before,
                                   lambda a: ast.Attribute(a, e.attr, ast.Load()))
        if isinstance(e, (ast.Tuple, ast.List)):
            kind = type(e)
            return self.with_parts(e, e.elts, before, lambda *xs: kind(list(xs), ast.Load()))
        raise self.refused(e, "a call of itself in such an expression")

    def with_parts(self, e: ast.expr, parts: list[ast.expr], before: Stmts,
                   made: Callable[..., ast.expr]) -> ast.expr:
        more, found = self.evaluated(parts)
        before += more
        return place(made(*found), e)

    def other_call(self, e: ast.Call, before: Stmts) -> ast.expr:
        """Return a call of another function with arguments that call this one."""
        func = e.func
        if self.recurs(func):
            func = self.expression(func, before)
        elif isinstance(func, (ast.Name, ast.Attribute)):
            if isinstance(func, ast.Attribute):
                func = ast.Attribute(self.stable(func.value, before), func.attr, ast.Load())
            key = constant(self.temporary())
            before.append(place(ast.Expr(hook("keeps", key, copy.deepcopy(func))), e))
            func = hook("kept", key, func)
        else:
            raise self.refused(e, "a call of itself in the arguments of such a call")
        count = len(e.args)
        more, values = self.evaluated([*e.args, *(k.value for k in e.keywords)])
        before += more
        keywords = [ast.keyword(k.arg, v) for k, v in zip(e.keywords, values[count:], strict=True)]
        return place(ast.Call(func, values[:count], keywords), e)

    def is_sum(self, e: ast.Call) -> bool:
        """Return whether it is the sum of a comprehension of one loop."""
        return self.builtin(e) == "sum" and len(e.args) == 1 and (
            isinstance(e.args[0], (ast.GeneratorExp, ast.ListComp))
            and len(e.args[0].generators) == 1 and not any(
                isinstance(n, (ast.NamedExpr, ast.Lambda)) for n in ast.walk(e)))

    def sum(self, e: ast.Call, before: Stmts) -> ast.expr:
        """Return the name of a sum, which a loop makes: an int only if it has no items."""
        items: Any = e.args[0]
        loop = items.generators[0]
        names = {n: self.temporary() for n in stored_names([loop.target])}
        for part in (loop.target, items.elt, *loop.ifs):
            for n in ast.walk(part):
                if isinstance(n, ast.Name):
                    n.id = names.get(n.id, n.id)
        total, count, item = self.temporary(), self.temporary(), self.temporary()

        def added(x: ast.expr) -> Stmts:
            return [assign(total, ast.BinOp(x, ast.Add(), load(item)))]

        none = ast.Compare(load(count), [ast.Eq()], [constant(0)])
        add: Stmts = [assign(item, items.elt),
                      ast.If(none, added(constant(0)), added(load(total))),
                      assign(count, ast.BinOp(load(count), ast.Add(), constant(1)))]
        for test in reversed(loop.ifs):
            add = [ast.If(test, add, [])]
        before += [place(s, e) for s in (
            self.surely_builtin(e, "sum"), assign(total, constant(0.0)),
            assign(count, constant(0)), ast.For(loop.target, loop.iter, add, []),
            ast.If(copy.deepcopy(none), [assign(total, constant(0))], []))]
        return place(load(total), e)

    def stable(self, owner: ast.expr, before: Stmts) -> ast.expr:
        """Return what has the method that is called later; `keeps` compares outer names."""
        if isinstance(owner, ast.Name):
            return owner
        if isinstance(owner, ast.Attribute):
            return ast.Attribute(self.stable(owner.value, before), owner.attr, ast.Load())
        return self.held(owner, before)

    def chosen(self, test: ast.expr, then: list[ast.expr], other: list[ast.expr], e: ast.expr,
               before: Stmts) -> ast.expr:
        """Return the name of a result that one of two expressions gives."""
        more, (test,) = self.evaluated([test])
        t = self.temporary()
        parts = []
        for (x,) in (then, other):
            first, (x,) = self.evaluated([x])
            parts.append([*first, place(assign(t, x), e)])
        before += [*more, place(ast.If(test, *parts), e)]
        return place(load(t), e)

    def chain(self, e: ast.BoolOp, before: Stmts) -> ast.expr:
        """Return the name of the result of `and` or `or`."""
        first, *rest = e.values
        more, (first,) = self.evaluated([first])
        t = self.temporary()
        before += [*more, place(assign(t, first), e)]
        if rest:
            others: ast.expr = rest[0] if len(rest) == 1 else ast.BoolOp(e.op, rest)
            inner, (others,) = self.evaluated([others])
            inner = [*inner, place(assign(t, others), e)]
            is_and = isinstance(e.op, ast.And)
            parts = (inner, [ast.Pass()]) if is_and else ([ast.Pass()], inner)
            before.append(place(ast.If(load(t), *parts), e))
        return place(load(t), e)

    # --- blocks ---------------------------------------------------------------------------------

    def inline_blocks(self, entry: int) -> None:
        """Put blocks into the one that goes on with them, if only one does."""
        labels = self.ordered(entry)
        gotos = [s.label for label in labels for s in _nodes(self.blocks[label])
                 if isinstance(s, _Goto)]
        resumed = {c.resume for c in self.calls} | {entry}
        once = {x for x in gotos if x not in resumed and (
            gotos.count(x) == 1 or _only_returns(self.blocks[x]))}
        for label in labels:
            if label not in once:
                self.blocks[label] = self.inlined(self.blocks[label], once)

    def inlined(self, stmts: Stmts, once: set[int]) -> Stmts:
        result: Stmts = []
        for s in stmts:
            if isinstance(s, _Fork):
                s.body, s.orelse = self.inlined(s.body, once), self.inlined(s.orelse, once)
            if isinstance(s, _Goto) and s.label in once:
                block = self.blocks[s.label]
                result += copy.deepcopy(block) if _only_returns(block) else self.inlined(
                    block, once)
            else:
                result.append(s)
        return result


def _only_returns(stmts: Stmts) -> bool:
    return len(stmts) == 1 and isinstance(stmts[0], ast.Return) and stmts[0].value is None


def _nodes(stmts: Stmts) -> Iterator[ast.stmt]:
    """Yield the statements of a block, those in its branches included."""
    for s in stmts:
        yield s
        if isinstance(s, _Fork):
            yield from _nodes(s.body)
            yield from _nodes(s.orelse)


def _popped(name: str) -> ast.expr:
    return ast.Call(ast.Attribute(load(name), "pop", ast.Load()), [], [])


def _live_before(s: ast.stmt, live: set[str]) -> set[str]:
    """Return the names whose content matters before a statement in which no block ends."""
    def block(stmts: Sequence[ast.stmt], live: set[str]) -> set[str]:
        for t in reversed(stmts):
            live = _live_before(t, live)
        return live

    if isinstance(s, _Forgotten):
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
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(s, name, ())
    for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
        yield from part.body


def _always_ends(stmts: Sequence[ast.stmt]) -> bool:
    """Return whether control surely never gets to the end of statements."""
    return any(isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)) or (
        isinstance(s, ast.If) and _always_ends(s.body) and _always_ends(s.orelse)) for s in stmts)


class _Returns:
    """Makes `return`s of a statement flags, and `break`s out of the loops around them."""

    def __init__(self, returned: str, value: str) -> None:
        self.returned, self.value = returned, value

    def block(self, stmts: Sequence[ast.stmt]) -> Stmts:
        """Return statements in a loop, of which a `return` leaves all."""
        result: Stmts = []
        for s in stmts:
            if isinstance(s, ast.Return):
                new: Stmts = [assign(self.value, s.value or constant(None)),
                              assign(self.returned, constant(True)), ast.Break()]
                return [*result, *(place(n, s) for n in new)]
            result.append(s)
            if isinstance(s, (*SCOPES, ast.ClassDef)) or not any(
                    isinstance(n, ast.Return) for n in own_nodes([s])):
                continue
            for part in (s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())):
                for name in ("body", "orelse", "finalbody"):
                    if getattr(part, name, None):
                        setattr(part, name, self.block(getattr(part, name)))
            if isinstance(s, (ast.For, ast.While)):
                result.append(place(ast.If(load(self.returned), [ast.Break()], []), s))
        return result
