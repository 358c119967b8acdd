"""Syntax-tree pass 1: turn `return`, `break` and `continue` into flags and nesting.

After it, every statement list runs to its end: statements after a conditional jump stand in the
other branch, and loops have no `else` and name the flags that end them (`stop_flags`). So a branch
on traced data can hold a `return` as well as any other statement.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tracejit.trace.syntax.matching import without_matches
from tracejit.trace.syntax.suppressing import without_suppressing
from tracejit.trace.syntax.syntax import (
    Stmts,
    assign,
    constant,
    hook,
    load,
    negation,
    place,
    rewrite_lists,
    statement_lists,
    thunk,
)

__all__ = ["RETURNED", "VALUE", "always_jumps", "lower_jumps", "stop_flags"]

RETURNED, VALUE = "_tj_returned", "_tj_value"

JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
LOOPS = (ast.For, ast.While)

def lower_jumps(body: Stmts) -> Stmts:
    """Return a function's body without jumps; it ends by returning the value that was set."""
    body = _with_plain_tests(without_suppressing(without_matches(body)))
    inner = body[:-1] if body and isinstance(body[-1], ast.Return) else body
    if not any(map(_is_lowered, inner)):
        return body  # at most a return at the very end
    always = always_jumps(body)
    lowered = [place(assign(RETURNED, constant(False)), body[0]), *_JumpLowerer().block(body)]
    result = hook("returned", thunk(load(VALUE)), constant(always))
    return [*lowered, place(ast.Return(result), body[-1])]


def _with_plain_tests(stmts: Sequence[ast.stmt]) -> Stmts:
    """Return statements in which no test of a `while` binds names: the body does it first.

    `while (y := f(x)) > 0: ...` is `while True:` with `if not (y := f(x)) > 0: break`.
    """
    result: Stmts = []
    for s in stmts:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            result.append(s)
            continue
        for part in statement_lists(s):
            part[:] = _with_plain_tests(part)
        if not isinstance(s, ast.While) or not any(
                isinstance(n, ast.NamedExpr) for n in ast.walk(s.test)):
            result.append(s)
            continue
        leave: Stmts = [ast.Break()]
        after: Stmts = []
        if s.orelse:
            ended = f"{RETURNED}_{s.lineno}_{s.col_offset}"
            result.append(place(assign(ended, constant(False)), s))
            leave.insert(0, assign(ended, constant(True)))
            after = [place(ast.If(load(ended), s.orelse, []), s.orelse[0])]
        test = ast.UnaryOp(ast.Not(), s.test)
        s.body = [place(ast.If(test, leave, []), s.test), *s.body]
        s.test, s.orelse = place(constant(True), s), []
        result += [s, *after]
    return result


def stop_flags(loop: ast.stmt) -> tuple[str, ...]:
    """Return the flags that end a lowered loop."""
    flags: tuple[str, ...] = getattr(loop, "tj_stop", ())
    return flags


def _jumps(s: ast.stmt) -> set[str]:
    """Return the kinds of jumps that leave a statement."""
    if isinstance(s, JUMPS):
        return {type(s).__name__.lower()}
    if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return set()
    found = {j for part in statement_lists(s) for t in part for j in _jumps(t)}
    if isinstance(s, LOOPS):
        body = {j for t in s.body for j in _jumps(t)}
        orelse = {j for t in s.orelse for j in _jumps(t)}
        found = (body - {"break", "continue"}) | orelse
    return found


def _pending(s: ast.stmt) -> set[str]:
    """Return the kinds of jumps out of a statement that an error may still end on their way."""
    if isinstance(s, ast.With) or (isinstance(s, ast.Try) and s.finalbody):
        return _jumps(s)
    return _jumps(s) & {j for part in statement_lists(s) for t in part for j in _pending(t)}


def _is_lowered(s: ast.stmt) -> bool:
    """Whether a statement is or holds a jump, also one that stays inside it, or a loop's `else`."""
    if isinstance(s, (ast.Return, ast.Break, ast.Continue)) or (isinstance(s, LOOPS) and s.orelse):
        return True
    if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return any(_is_lowered(t) for part in statement_lists(s) for t in part)


def always_jumps(stmts: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of a statement list."""
    for s in stmts:
        if isinstance(s, JUMPS):
            return True
        if isinstance(s, ast.If) and s.orelse and always_jumps(s.body) and always_jumps(s.orelse):
            return True
        if isinstance(s, ast.With) and always_jumps(s.body):
            return True
        if isinstance(s, ast.Try) and (always_jumps(s.finalbody) or (
                all(always_jumps(h.body) for h in s.handlers)
                and always_jumps([*s.body, *s.orelse]))):
            return True
        if isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and (
                s.test.value is True and not any("break" in _jumps(t) for t in s.body)):
            return True
    return False


class _JumpLowerer:
    """Lowers statement lists; `loops` names the break and continue flags of the open loops."""

    def __init__(self) -> None:
        self.loops: list[tuple[str, str]] = []
        self.count = 0
        self.replaced: list[tuple[str, int]] = []
        """The flags that a jump out of a `finally` resets, and how many loops are open there."""

    def block(self, stmts: Sequence[ast.stmt]) -> Stmts:
        result: Stmts = []
        for k, s in enumerate(stmts):
            rest = stmts[k + 1:]
            if isinstance(s, JUMPS):
                return result + self._jump(s)
            jumps = _jumps(s)
            if isinstance(s, ast.If) and jumps and rest:
                if always_jumps(s.body):
                    return [*result, _new_if(s, self.block(s.body), self.block([*s.orelse, *rest]))]
                if s.orelse and always_jumps(s.orelse):
                    return [*result, _new_if(s, self.block([*s.body, *rest]), self.block(s.orelse))]
            result += self._statement(s)
            flags = self._flags(jumps)
            if flags and rest:
                test = negation(flags)
                return [*result, place(ast.If(test, self.block(rest), []), rest[0])]
        return result

    def _flags(self, jumps: set[str]) -> list[str]:
        """Return the flags that jumps out of a statement set."""
        flags = [RETURNED] if "return" in jumps else []
        if self.loops:
            broken, continued = self.loops[-1]
            flags += [broken] if "break" in jumps else []
            flags += [continued] if "continue" in jumps else []
        return flags

    def _jump(self, s: ast.stmt) -> Stmts:
        if isinstance(s, ast.Raise):
            return [s]
        before: Stmts = []
        if isinstance(s, ast.Return):
            flag = RETURNED
            if not hasattr(s, "tj_bare"):  # somebody reads its value
                before = [assign(VALUE, s.value if s.value is not None else constant(None))]
        else:
            broken, continued = self.loops[-1]
            flag = broken if isinstance(s, ast.Break) else continued
        others = [f for f, loops in self.replaced
                  if f != flag and (flag == RETURNED or loops == len(self.loops))]
        ends = [*before, *_unset(others), assign(flag, constant(True))]
        return [place(n, s) for n in ends]

    def _statement(self, s: ast.stmt) -> Stmts:
        if isinstance(s, ast.If):
            return [_new_if(s, self.block(s.body), self.block(s.orelse))]
        if isinstance(s, LOOPS):
            return self._loop(s)
        if isinstance(s, ast.Try):
            self._try(s)
        elif isinstance(s, (ast.With, ast.Match)):
            rewrite_lists(s, self.block)
        return [s]

    def _try(self, s: ast.Try) -> None:
        """Lower a `try`: an error ends a jump on its way, and so does a jump out of `finally`."""
        ended = self._flags({j for t in s.body for j in _pending(t)})
        flags = self._flags({j for t in s.body for j in _jumps(t)})
        if s.orelse and flags:  # a jump out of the body skips `else`
            s.orelse = [place(ast.If(negation(flags), s.orelse, []), s.orelse[0])]
        final, s.finalbody = s.finalbody, []
        outer, on_their_way = self.replaced, self._flags(_jumps(s))
        rewrite_lists(s, self.block)
        for h in s.handlers:
            h.body = [place(n, h) for n in _unset(ended)] + h.body
        self.replaced = [*outer, *((f, len(self.loops)) for f in on_their_way)]
        leaving = {j for t in final for j in _jumps(t)}
        s.finalbody = self.block(final)
        self.replaced = outer
        if leaving:
            flags = self._flags(leaving)
            s.tj_jumps = tuple(flags)  # type: ignore[attr-defined]
            s.finalbody = self._apart(s.finalbody, [f for f in on_their_way if f in flags], flags)

    def _apart(self, final: Stmts, held: Sequence[str], flags: Sequence[str]) -> Stmts:
        """Keep jumps that are on their way out of sight of a `finally` with jumps of such kinds.

        Its code runs as if there were none, and they go on if it comes to its end.
        """
        if not held:
            return final
        self.count += 1
        names = [f"{f}_held{self.count}" for f in held]
        keep = [assign(name, load(f)) for name, f in zip(names, held, strict=True)]
        go_on = ast.If(negation(flags), [
            assign(f, load(name)) for name, f in zip(names, held, strict=True)], [])
        return [*(place(n, final[0]) for n in (*keep, *_unset(held))), *final,
                place(go_on, final[-1])]

    def _loop(self, s: ast.For | ast.While) -> Stmts:
        self.count += 1
        broken, continued = f"_tj_broken{self.count}", f"_tj_continued{self.count}"
        jumps = {j for t in s.body for j in _jumps(t)}
        self.loops.append((broken, continued))
        body = self.block(s.body)
        self.loops.pop()
        before: Stmts = []
        if "continue" in jumps:
            body = [place(assign(continued, constant(False)), s), *body]
            before.append(place(assign(continued, constant(False)), s))
        stop = []
        if "break" in jumps:
            before.append(place(assign(broken, constant(False)), s))
            stop.append(broken)
        if "return" in jumps:
            stop.append(RETURNED)
        orelse = self.block(s.orelse)
        s.body, s.orelse = body, []
        s.tj_stop = tuple(stop)  # type: ignore[union-attr]
        after: Stmts = []
        if orelse:
            after = orelse if not stop else [place(ast.If(negation(stop), orelse, []), orelse[0])]
        return [*before, s, *after]


def _unset(flags: Sequence[str]) -> Stmts:
    return [assign(f, constant(False)) for f in flags]


def _new_if(s: ast.If, body: Stmts, orelse: Stmts) -> ast.If:
    return ast.copy_location(ast.If(s.test, body or [place(ast.Pass(), s)], orelse), s)
