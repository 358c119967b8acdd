"""One compiled program for one kind of arguments, and the two ways to call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tracejit.configuration import Threads, thread_count
from tracejit.exact import is_compared_by_content
from tracejit.ir.draws import address_of_generator, is_generator, locked
from tracejit.program import layout
from tracejit.program.entry import make_entry
from tracejit.program.entry_words import MAX_LEAVES, MAX_LOGS, MAX_WORDS, Words
from tracejit.program.interface import Interface
from tracejit.program.invocation import Invocation
from tracejit.program.records import Records, Source, Unreadable
from tracejit.program.threads import parallel_for_address
from tracejit.trace.ground.facts import Fact, holds_all
from tracejit.trace.state.paths import READING_FAILS, Path
from tracejit.trace.values.specs import ArgSpec, spec_of_leaf
from tracejit.tree import LEAF, Structure, unflatten

__all__ = ["Runner", "Specialisation", "not_here"]


class Runner(Protocol):
    """An object that carries out a program: compiled code, or the interpreter."""

    def fits(self, values: Sequence[object]) -> bool:
        """Return whether shapes, sizes and ints are such that the program holds for them."""

    def run(self, values: Sequence[object]) -> list[Any]:
        """Return the outputs for inputs that fit."""


class Specialisation:
    """A program that accepts arguments of certain specs, under guards.

    runner -- carries the program out; the fast entry is for compiled code, and not for verify mode,
              nor for programs that print
    slow   -- the function that the fast entry calls where the arguments are not as expected
    threads -- how many threads share loops; None for the setting
    """

    interface: Interface
    runner: Runner
    specs: Sequence[ArgSpec]
    structure: Structure
    words: Any

    def __init__(self, interface: Interface, runner: Runner, specs: Sequence[ArgSpec],
                 structure: Structure, slow: Callable[..., object],
                 threads: Threads = None) -> None:
        self.interface, self.runner, self.threads = interface, runner, threads
        self.specs, self.structure = specs, structure
        self.is_stored = False
        """Whether it was found in the store."""
        self.entry: Any = None
        """The fast entry for calls as they are, or for their leaves where `takes_leaves`."""
        self.takes_leaves: bool = False
        self.flat: Any = None
        """The fast entry for the graph's inputs, one by one."""
        self._keep: list[Any] = [slow]
        self._calls_since = self._renewals = 0
        self._asking: list[None] = []
        self._generators = tuple([
            k for k, s in enumerate(interface.sources)
            if (specs[s].kind == "generator" if isinstance(s, int) else is_generator(s.content))])
        """The inputs that are generators of random numbers."""
        if not isinstance(runner, Invocation) or runner.checked is not None or interface.prints or (
                interface.is_for_one_call):
            return
        runner.threads = threads
        self._runner_callback = runner.callback_address
        self.takes_leaves = not self._is_flat()
        words = self._direct_words(runner)
        if words is not None:
            words = np.concatenate([words, np.zeros(len(words) // 4, np.int64)])
            self.entry = make_entry(words, interface.name, self._keep)
            self.words = self.entry.__self__
        if words is None or self.takes_leaves:  # Python takes the arguments apart
            words = self._flat_words(runner)
            if words is not None:
                self.flat = make_entry(words, interface.name, self._keep)

    # --- does it fit ----------------------------------------------------------------------------

    def values(self, leaves: Sequence[object]) -> list[Any] | None:
        """Return the graph's inputs for a call; None where captured state has changed kind."""
        values = []
        for source in self.interface.sources:
            if isinstance(source, int):
                values.append(leaves[source])
                continue
            try:
                values.append(source.read())
            except READING_FAILS:
                return None
        return values

    def guards_hold(self) -> bool:
        """Return whether all guards hold."""
        return all(guard.holds() for guard in self.interface.guards)

    def _renew(self) -> None:
        """Let the fast entry know equal objects in place of the old ones, after a call without it.

        Not after each of these, where they come one after the other.
        """
        self._calls_since += 1
        if self._asking or self._calls_since < min(2 ** self._renewals, 64):
            return
        self._calls_since, self._renewals = 0, self._renewals + 1
        kept, self._keep = self._keep, [self._keep[0]]
        assert isinstance(self.runner, Invocation)
        words = self._direct_words(self.runner)
        new, self._keep = self._keep, kept
        if words is not None and len(words) <= len(self.words):
            memoryview(self.words)[:len(words)] = memoryview(words)  # type: ignore[arg-type]
            kept[:] = new

    def fits(self, leaves: Sequence[object]) -> bool:
        """Return whether this program is the right one for a call's leaves."""
        values = self._values_if_same(leaves)
        return values is not None and holds_all(self.interface.facts, values) and (
            self.runner.fits(self._addressed(values)))

    def still_holds(self, leaves: Sequence[object]) -> bool:
        """Return whether state is such that the program would hold, whatever its numbers are."""
        return self._values_if_same(leaves) is not None

    def _values_if_same(self, leaves: Sequence[object]) -> list[Any] | None:
        """Return the graph's inputs if guards hold; sizes and ints are not looked at."""
        return self.values(leaves) if self.guards_hold() else None

    # --- the slower way -------------------------------------------------------------------------

    def attempt(self, leaves: Sequence[object]) -> Any:
        """Run the program on a call's leaves; `NotImplemented` if it is not the right one."""
        values = self._values_if_same(leaves)
        if values is None:
            return NotImplemented
        if not self._generators:
            return self._carry_out(leaves, values)
        with locked([values[k] for k in self._generators]):
            return self._carry_out(leaves, self._addressed(values))

    def _addressed(self, values: list[Any]) -> list[Any]:
        """Return the graph's inputs with the addresses of generators in the places of these."""
        if not self._generators:
            return values
        return [address_of_generator(x) if k in self._generators else x
                for k, x in enumerate(values)]

    def _carry_out(self, leaves: Sequence[object], values: list[Any]) -> Any:
        """Run the program on its inputs; `NotImplemented` if it is not the right one."""
        if self.interface.facts and not holds_all(self.interface.facts, values):
            return NotImplemented
        if self.interface.written and not self.runner.fits(values):
            return NotImplemented
        if self.flat is not None and self.interface.parallel:
            self.flat.__self__[Words.THREADS] = thread_count(self.threads)
        found = self.flat(*values) if self.flat is not None else NotImplemented
        if found is not NotImplemented:
            outputs = list(found) if isinstance(found, tuple) else [found]
        elif self.runner.fits(values):
            outputs = self._outputs(values)
        else:
            return NotImplemented
        for k, output in self.interface.written:
            _write(leaves[k], outputs[output])
        for path, output in self.interface.assigned:
            path.read()._accept(outputs[output])
        if self.entry is not None:
            self._renew()
        aside = {output for _, output in (*self.interface.written, *self.interface.assigned)}
        rest = iter([x for k, x in enumerate(outputs) if k not in aside])
        memo: dict[int, object] = {}
        result = [next(rest) if c is None else _constant(memo, *c)
                  for c in self.interface.constants]
        for k, is_argument, j in self.interface.returned:
            same = leaves[j] if is_argument else result[j]
            if isinstance(same, np.ndarray) or self.interface.constants[k] is not None:
                result[k] = same
        return unflatten(self.interface.structure, result)

    def _outputs(self, values: Sequence[object]) -> list[Any]:
        """Return the outputs for inputs that fit, Python numbers as such.

        Arrays of a device stay there.
        """
        outputs = [np.asarray(x).item() if weak and not _is_on_device(x) else x
                   for x, weak in zip(self.runner.run(values), self.interface.weak, strict=True)]
        for k in self.interface.zero_d:
            outputs[k] = outputs[k] if _is_on_device(outputs[k]) else np.asarray(outputs[k])
        return outputs

    # --- the table of the fast entry ------------------------------------------------------------

    def _is_flat(self) -> bool:
        """Return whether the entry can take calls as they are, and put the results together."""
        args, kwargs = self.structure.parts
        return all(p is LEAF or p == LEAF for p in args.parts) and not kwargs.parts and (
            _grouping(self.interface) is not None)

    def _direct_words(self, runner: Invocation) -> np.ndarray | None:
        """Return the table for an entry that checks all there is; None where it cannot."""
        i = self.interface
        if self._generators or i.returned or i.written or i.assigned or any(
                c is not None for c in i.constants) or any(
                is_compared_by_content(s.content) for s in self.specs if not s.is_traced) or (
                not all(map(_is_checked_by_entry, i.facts))):
            return None
        several = Words.ONE if len(i.weak) == 1 else Words.TUPLE
        grouping = several if self.takes_leaves else _grouping(i)
        following = not_here if self.takes_leaves else self._keep[0]
        assert grouping is not None
        if not layout.is_known_layout():
            return None
        records = Records(self._hold, self._asking)
        try:
            for guard in self.interface.guards:
                records.add(guard)
            leaves = [self._leaf_record((Words.FROM_ARGUMENT, s, 0), self.specs[s])
                      if isinstance(s, int) else
                      self._leaf_record(records.source(s), spec_of_leaf(s.content))
                      for s in self.interface.sources]
        except (Unreadable, *READING_FAILS):
            return None
        guards: list[tuple[int, ...]] = [
            (Words.FROM_ARGUMENT, k, 0, Words.IS_OBJECT, self._hold(s.content), 0)
            for k, s in enumerate(self.specs) if not s.is_traced]
        guards += records.records()
        return self._words(runner, following, len(self.specs), guards, leaves, grouping,
                           self.interface.facts)

    def _flat_words(self, runner: Invocation) -> np.ndarray | None:
        """Return the table for an entry that takes the graph's inputs one by one."""
        specs = [self.specs[s] if isinstance(s, int) else spec_of_leaf(s.content)
                 for s in self.interface.sources]
        leaves = [self._leaf_record((Words.FROM_ARGUMENT, k, 0), spec)
                  for k, spec in enumerate(specs)]
        grouping = Words.ONE if len(self.interface.weak) == 1 else Words.TUPLE
        return self._words(runner, not_here, len(leaves), [], leaves, grouping)

    def _words(self, runner: Invocation, following: Callable[..., object], args: int,
               guards: Sequence[object], leaves: list[Any], grouping: int,
               facts: Sequence[Fact] = ()) -> np.ndarray | None:
        """Return the table for the fast entry; None where a call needs more than the entry can do.

        following -- called where the arguments are not as expected
        facts     -- the facts about the memory of the leaves that the entry has to check
        """
        outputs = [self._output_record(k, *kind) for k, kind in enumerate(self.interface.outputs)]
        shapes = sum(ndim for _, (_, ndim), _ in self.interface.found)
        for k, (dtype, ndim), log in self.interface.found:
            outputs[k] = (0, 0, 0, Words.AS_FOUND, self._hold(dtype), ndim, log, dtype.itemsize)
        pairs = [(0, *f.inputs) for f in facts if f.kind == "overlap"]
        for f in facts:
            for k in f.inputs:
                if leaves[k] is not None:
                    leaves[k] = _with_fact(leaves[k], f, self.interface.inputs[k][0].itemsize)
        records = [*guards, *leaves, *outputs, *pairs]
        if any(r is None for r in records) or not layout.is_known_layout():
            return None
        if len(leaves) + len(outputs) > MAX_LEAVES or (
                max(runner.plan_words, sum(map(_dims_of, leaves)), shapes) > MAX_WORDS) or (
                self.interface.logs > MAX_LOGS):
            return None
        words = np.zeros(Words.HEAD + Words.RECORD * len(records), np.int64)
        kernel, plan = runner.addresses
        head = {Words.NEXT: self._hold(following), Words.FAIL: self._hold(runner.fail),
                Words.KERNEL: kernel, Words.PLAN: plan,
                Words.ARGS: args, Words.GUARDS: len(guards), Words.LEAVES: len(leaves),
                Words.OUTPUTS: len(outputs), Words.GROUPING: grouping,
                Words.PAIRS: len(pairs), **self._head_of_program()}
        for k, value in head.items():
            words[k] = value
        for k, record in enumerate(records):
            place = Words.HEAD + k * Words.RECORD
            words[place:place + len(record)] = record
        return words

    def _head_of_program(self) -> dict[int, int]:
        """Return the words of the head that the program alone decides."""
        i = self.interface
        head = {Words.LOGS: i.logs, Words.RELEASE: int(i.releases), Words.SIZES: i.sizes,
                Words.FOUND: len(i.found)}
        if self._runner_callback:
            head[Words.CALLBACK] = self._runner_callback
        if i.parallel:
            head |= {Words.PARALLEL: parallel_for_address(),
                     Words.THREADS: thread_count(self.threads)}
        return head

    def _hold(self, x: object) -> int:
        """Keep an object alive and return its address."""
        self._keep.append(x)
        return id(x)

    def _leaf_record(self, source: Source, spec: ArgSpec) -> tuple[int, ...] | None:
        if spec.kind == "array":
            is_number = not spec.ndim and spec.dtype == np.int64  # one of the plan's, as an int is
            return (*source, Words.IS_NUMBER if is_number else Words.IS_ARRAY,
                    self._hold(spec.dtype), spec.ndim, Words.CONTIGUOUS, 0)
        kinds = {"float": (Words.IS_FLOAT, float), "int": (Words.IS_INT, int),
                 "generator": (Words.IS_INT, int),  # which is given by its address
                 "complex": (Words.IS_COMPLEX, complex)}
        if spec.kind == "scalar" and spec.dtype and spec.dtype.type in _SCALARS:
            return (*source, _SCALARS[spec.dtype.type], id(spec.dtype.type), 0)
        if spec.kind not in kinds:
            return None
        kind, type_ = kinds[spec.kind]
        return (*source, kind, id(type_), 0)

    def _output_record(self, k: int, dtype: np.dtype, ndim: int) -> tuple[int, ...]:
        if ndim or k in self.interface.zero_d:
            return (0, 0, 0, Words.AS_ARRAY, self._hold(dtype), ndim)
        kinds = {"f": Words.AS_FLOAT, "i": Words.AS_INT, "b": Words.AS_BOOL,
                 "c": Words.AS_COMPLEX}
        if self.interface.weak[k] and dtype.kind in kinds:
            return (0, 0, 0, kinds[dtype.kind], 0, 0)
        if dtype == np.float64:
            return (0, 0, 0, Words.AS_FLOAT64, id(np.float64), 0)
        return (0, 0, 0, Words.AS_SCALAR, self._hold(dtype), 0)


_SCALARS: dict[type, int] = {
    np.int64: Words.IS_INT, np.complex128: Words.IS_COMPLEX, **dict.fromkeys(
        (np.float64, np.float32, np.float16, np.complex64, np.bool_, np.int8, np.int16, np.int32,
         np.uint8, np.uint16, np.uint32, np.uint64), Words.IS_FLOAT)}
"""How the entry reads NumPy's scalars: their number, one more for the plan, or up to 8 bytes."""


def _dims_of(leaf: tuple[int, ...]) -> int:
    """Return how many words of a leaf the plan is made from."""
    kind = leaf[Words.KIND]
    return leaf[Words.NDIM] if kind == Words.IS_ARRAY else int(
        kind in (Words.IS_INT, Words.IS_NUMBER))


def _is_checked_by_entry(fact: Fact) -> bool:
    """Whether a fact holds for plain contiguous arrays, or the entry checks it."""
    return bool(_EASY.get(fact.kind, fact) == fact.truth)


_EASY = {"arrangement": None, "sparse": False, "overlap": False, "writeable": True,
         "plain": True, "unadorned": True, "native": True}


def _with_fact(leaf: tuple[int, ...], fact: Fact, item: int) -> tuple[int, ...]:
    """Return the record of a leaf with the requirements of a fact."""
    *rest, flags, known = leaf
    if fact.kind == "writeable":
        flags |= Words.WRITEABLE
    return (*rest, flags, item if fact.kind == "overlap" else known)


def _constant(memo: dict[int, object], x: object,
              source: Path | Callable[[object, dict[int, object]], object] | None = None) -> Any:
    """Return a part of the result that no kernel computes; `memo` is that of this call's copies."""
    if source is None:
        return x
    return source.read() if isinstance(source, Path) else source(x, memo)


def not_here(*args: object, **kwargs: object) -> Any:
    """Say that a call is not for the entry that was asked."""
    return NotImplemented


def _write(target: Any, values: Any) -> None:
    """Overwrite an argument; one on a device has a copy made there."""
    if _is_on_device(target):
        target.overwrite(values)
    elif target.flags.writeable:  # else the program has not come to the write
        np.copyto(target, values)


def _is_on_device(x: object) -> bool:
    return not isinstance(x, (np.ndarray, np.generic)) and hasattr(x, "__cuda_array_interface__")


def _grouping(interface: Interface) -> int | None:
    """Return how the fast entry puts the outputs together; None where it cannot."""
    s = interface.structure
    if any(c is not None for c in interface.constants):
        return None
    if s == LEAF:
        return Words.ONE
    if s.kind is tuple and s.parts and all(p == LEAF for p in s.parts):
        return Words.TUPLE
    if s.kind is tuple and len(s.parts) == 2:
        first, rest = s.parts
        if first == LEAF and rest.kind is tuple and all(p == LEAF for p in rest.parts):
            return Words.FIRST_AND_REST
    return None
