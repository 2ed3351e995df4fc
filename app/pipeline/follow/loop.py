"""When cycles begin and how following ends. In: followers and a rhythm. Out: cycles one after the other until a stop is requested.

Every source has a thread of its own, so that one that is away delays no other; within a source a cycle begins only when the one
before is over, and takes along whatever was missed.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from throttlescope.app.pipeline.follow.cycle_log import CycleLines
from throttlescope.app.pipeline.follow.follower import ARRIVED_MS, Follower
from throttlescope.app.pipeline.follow.tail import StoppedError
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.retry import doubling
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.ingest.lake import ConflictError
from throttlescope.models.messages.catalogue import sentence

#: Cycles begin so long after a whole multiple of the rhythm: when the scrapes of the minute before are there.
_AFTER_MS = ARRIVED_MS + SECOND_MS
_FIRST_WAIT_S, _LONGEST_WAIT_S = 2.0, 60.0
_LOOK_S = 0.5
#: A round of admin calls that is under way is waited for this long at the end.
_LAST_ROUND_S = 10.0


@contextmanager
def until_stopped(stop: threading.Event) -> Iterator[None]:
    """Let SIGTERM and SIGINT set ``stop``; a second SIGINT interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: object) -> None:
        stop.set()
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(
    followers: Sequence[Follower],
    every_ms: int,
    lines: CycleLines,
    stop: threading.Event,
    kept: Callable[[Follower], None] = lambda follower: None,
    judged: Callable[[Sequence[str]], None] = lambda clusters: None,
) -> None:
    """Run cycles until ``stop`` is set.

    Parameters
    ----------
    every_ms : int
        Distance of two cycles' beginnings.
    kept : callable
        Called after a cycle that committed samples, and at the end.
    judged : callable
        Called with the source's clusters after a cycle that wrote their episodes. It must not wait.

    Raises
    ------
    ThrottlescopeError
        A source that never answered, or a fault of ours; the other sources are ended first.
    """
    failures: list[BaseException] = []

    def run(follower: Follower) -> None:
        try:
            _follow(follower, every_ms, lines, stop, kept, judged)
        except BaseException as error:
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=run, args=(one,), name=one.source.name) for one in followers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            # In pieces, so that signals are heard.
            thread.join(_LOOK_S)
    if failures:
        raise failures[0]
    lines.end([{"source": one.source.name, **one.totals} for one in followers])


def _follow(
    follower: Follower,
    every_ms: int,
    lines: CycleLines,
    stop: threading.Event,
    kept: Callable[[Follower], None],
    judged: Callable[[Sequence[str]], None],
) -> None:
    name = follower.source.name
    away_since_s: float | None = None
    waits = doubling(_FIRST_WAIT_S, _LONGEST_WAIT_S)
    while not stop.is_set():
        try:
            done = follower.cycle()
        except StoppedError:
            break
        except (SourceError, ConflictError) as error:
            refused = error
        except InputError as error:
            # What never was there is the user's mistake; what was there may come back.
            if not follower.totals["cycles"]:
                raise
            refused = error
        else:
            if away_since_s is not None:
                lines.back(name, time.monotonic() - away_since_s)
            away_since_s, waits = None, doubling(_FIRST_WAIT_S, _LONGEST_WAIT_S)
            if done is not None:
                lines.cycle(done)
                if done.samples_written is not None:
                    kept(follower)
                if done.episodes is not None:
                    judged(follower.clusters)
                if done.behind:
                    continue
            stop.wait(_until_next_s(every_ms, time.time_ns() // 1_000_000))
            continue
        wait_s = next(waits)
        if isinstance(refused, ConflictError):
            # Another run writes the same lake; the next cycle recomputes what was not committed.
            lines.say(sentence("pipeline.follow.conflict", source=name, error=refused, wait_s=wait_s))
        else:
            away_since_s = time.monotonic() if away_since_s is None else away_since_s
            lines.away(name, str(refused), wait_s)
        stop.wait(wait_s)
    if follower.limits is not None:
        follower.limits.end(_LAST_ROUND_S)
        follower.stats.end(_LAST_ROUND_S)
    follower.store()
    follower.update_latest()
    kept(follower)


def _until_next_s(every_ms: int, now_ms: int) -> float:
    """Seconds to the next multiple of the rhythm, counted from the epoch, plus what scrapes take to arrive."""
    passed_ms = (now_ms - _AFTER_MS) % every_ms
    return (every_ms - passed_ms) / SECOND_MS
