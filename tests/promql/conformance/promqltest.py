"""Runs a ``.test`` file on engines. In: the commands of a file, engines. Out: per eval, what each engine gave.

A server gets a fresh process after a ``clear``: a series that was deleted there would hide what is written at the same
times later.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.naive.promql import NaiveSeries
from tests.promql.conformance.notation import NAME, STALE, Clear, Command, Eval, Load
from tests.promql.conformance.outcome import Outcome
from tests.promql.conformance.targets import Ours, Server, server
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.semantics import LOOKBACK_MS

_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


@dataclass
class Store:
    """What has been loaded since the last ``clear``."""

    samples: dict[frozenset, dict[int, float]] = field(default_factory=dict)
    stale: dict[frozenset, set[int]] = field(default_factory=dict)
    native: list[dict[str, str]] = field(default_factory=list)
    start_timestamps: bool = False

    def load(self, command: Load) -> list[NaiveSeries]:
        """Take over a load; returns what is new."""
        self.native += command.native
        self.start_timestamps |= command.start_timestamps
        # A series that stands twice in a load counts as its last line says.
        lines = {frozenset(line.labels.items()): line.items for line in command.series}
        new = []
        for key, items in lines.items():
            samples, stale = [], []
            for index, item in enumerate(items):
                if item is STALE:
                    stale.append(index * command.gap_ms)
                elif item is not None:
                    samples.append((index * command.gap_ms, item))
            self.samples.setdefault(key, {}).update(samples)
            self.stale.setdefault(key, set()).update(stale)
            new.append(NaiveSeries(dict(key), samples, stale))
        return new

    def series(self) -> list[NaiveSeries]:
        return [
            NaiveSeries(dict(key), sorted(samples.items()), sorted(self.stale[key]))
            for key, samples in self.samples.items()
        ]


class Engine(Protocol):
    """An engine with a store of its own; ``step_ms`` 0 is an instant query at ``start_ms``."""

    def clear(self) -> None: ...

    def load(self, store: Store, new: list[NaiveSeries]) -> None: ...

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome: ...


class OurEngine:
    """Our evaluator over series in memory."""

    def __init__(self) -> None:
        self._target = Ours.over(())

    def clear(self) -> None:
        self._target = Ours.over(())

    def load(self, store: Store, new: list[NaiveSeries]) -> None:
        self._target = Ours.over(store.series())

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome:
        return self._target.query(text, start_ms, end_ms, step_ms, lookback_ms)


class ServerEngine:
    """A Prometheus, started at the first request and again after a ``clear`` of what was written."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._server: Server | None = None
        self._written = False

    def __enter__(self) -> ServerEngine:
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def _running(self) -> Server:
        if self._server is None:
            self._server = self._stack.enter_context(server())
        return self._server

    def version(self) -> str:
        return self._running().version()

    def clear(self) -> None:
        if self._written:
            self._stack.close()
            self._server, self._written = None, False

    def load(self, store: Store, new: list[NaiveSeries]) -> None:
        self._running().write(new)
        self._written = True

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome:
        return self._running().query(text, start_ms, end_ms, step_ms, lookback_ms)


@dataclass(frozen=True)
class Played:
    """One eval; ``skipped`` says why no engine evaluated it. While it is evaluated, the engines hold its data."""

    eval: Eval
    skipped: str
    outcomes: tuple[Outcome, ...]


def play(commands: Sequence[Command], engines: Sequence[Engine]) -> Iterator[Played]:
    """Run the commands of one file; begins and ends with empty stores."""
    store = Store()
    for command in commands:
        match command:
            case Clear():
                store = Store()
                for engine in engines:
                    engine.clear()
            case Load():
                new = store.load(command)
                for engine in engines:
                    engine.load(store, new)
            case Eval():
                reason = _skipped(command, store)
                asked = (command.text, command.start_ms, command.end_ms, command.step_ms, command.lookback_ms)
                yield Played(command, reason, () if reason else tuple(e.query(*asked) for e in engines))
    for engine in engines:
        engine.clear()


def _skipped(one: Eval, store: Store) -> str:
    if store.start_timestamps:
        return "start timestamps"
    if one.expects_native or _reads_native(one.text, store.native):
        return "native histograms"
    if any(NAME not in dict(key) for key in store.samples):
        return "series without a name"
    return ""


def _reads_native(text: str, native: list[dict[str, str]]) -> bool:
    """Whether a query selects a series with native histograms; a text that cannot be read is judged by its words."""
    if not native:
        return False
    try:
        selectors = [n.selector for n in ast.walk(parse(text)) if isinstance(n, ast.VectorSelector)]
    except InputError:
        return (
            bool({labels.get(NAME, "") for labels in native} & set(_WORD.findall(text))) or "__name__" in text
        )
    return any(selector.matches(labels) for selector in selectors for labels in native)
