"""What is fuzzed and what is required of it. In: nothing. Out: :class:`Target` and the judgement of one execution.

An input is accepted, or refused with the reader's own class of errors in one line. All else is trouble: another exception,
an answer unlike the twin's, more than a second of work, more memory than the bound.
"""

from __future__ import annotations

import random
import time
import traceback
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

BYTE_PARSER_EXECUTIONS, EXECUTIONS = 1_000_000, 100_000
#: Work for one input beyond which it hangs.
LIMIT_S = 1.0
#: The longest line that explains a refusal.
LONGEST_LINE = 20_000

ACCEPTED, REFUSED = "accepted", "refused"
CRASH, SLOW, MEMORY, TWIN, WORDS, DIED, HANG = TROUBLE = (
    "crash",
    "slow",
    "memory",
    "unlike the twin",
    "no clear line",
    "died",
    "hang",
)


class UnlikeTwinError(AssertionError):
    """Reader and twin do not agree."""


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes
    ----------
    name, what : str
        What it is called, and what is read, in a few words.
    make : callable
        An input from a random generator. Bytes, text, or a dictionary of such.
    read : callable
        One execution; raises one of ``refusals`` where the input is no good.
    refusals : tuple of exception classes
        What may come out.
    wanted : int
        Executions of the long form.
    bytes_per_byte, spare_bytes : int
        Memory that one execution may take at its peak: so much for each byte of the input, and so much besides.
    from_bytes : callable, optional
        An input from any bytes, for the guided form.
    seeds : sequence of bytes
        What the guided form begins with.
    warm : callable, optional
        Called once before anything is measured.
    """

    name: str
    what: str
    make: Callable[[random.Random], Any]
    read: Callable[[Any], None]
    refusals: tuple[type[Exception], ...]
    wanted: int = EXECUTIONS
    bytes_per_byte: int = 512
    spare_bytes: int = 4 << 20
    from_bytes: Callable[[bytes], Any] | None = None
    seeds: Sequence[bytes] = ()
    warm: Callable[[], None] = lambda: None

    def input(self, seed: int, number: int) -> Any:
        """The input of that number: the same for ever, unless ``make`` changes."""
        return self.make(random.Random(f"{seed}:{self.name}:{number}"))  # noqa: S311


@dataclass(frozen=True)
class Outcome:
    """What became of one input.

    Attributes
    ----------
    kind : str
        ``accepted``, ``refused``, or one of :data:`TROUBLE`.
    said : str
        The error, with its place where it is trouble.
    peak_bytes : int or None
        Memory at its peak; None where it was not measured.
    """

    kind: str
    said: str
    seconds: float
    peak_bytes: int | None = None


def size_of(content: Any) -> int:
    """Bytes of an input."""
    if isinstance(content, bytes):
        return len(content)
    if isinstance(content, str):
        return len(content.encode(errors="surrogatepass"))
    if isinstance(content, dict):
        return sum(size_of(value) for value in content.values())
    if isinstance(content, (list, tuple)):
        return sum(map(size_of, content))
    return 8


def execute(target: Target, content: Any, *, measured: bool = False) -> Outcome:
    """Read one input and judge what comes out; ``measured`` takes its memory, too, which slows it down."""
    if measured:
        return _measured(target, content)
    outcome = _timed(target, content)
    if outcome.seconds >= LIMIT_S and outcome.kind in (ACCEPTED, REFUSED):
        # The machine is shared: only what is slow twice is slow.
        again = _timed(target, content)
        if again.seconds >= LIMIT_S:
            return Outcome(SLOW, f"{again.seconds:.2f} s", again.seconds)
        return again
    return outcome


def _measured(target: Target, content: Any) -> Outcome:
    tracemalloc.start()
    try:
        outcome = _timed(target, content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    bound = target.spare_bytes + target.bytes_per_byte * size_of(content)
    if peak > bound and outcome.kind in (ACCEPTED, REFUSED):
        return Outcome(MEMORY, f"{peak:,} bytes for an input of {size_of(content):,}", outcome.seconds, peak)
    # Its time is that of the measuring.
    return Outcome(outcome.kind, outcome.said, 0.0, peak)


def _timed(target: Target, content: Any) -> Outcome:
    # Work, not waiting; a hang is seen by its silence.
    started = time.process_time()
    kind, said = _judged(target, content)
    return Outcome(kind, said, time.process_time() - started)


def _judged(target: Target, content: Any) -> tuple[str, str]:
    try:
        target.read(content)
    except target.refusals as error:
        line = str(error)
        if "\n" in line or len(line) > LONGEST_LINE or not line.strip():
            return WORDS, f"{type(error).__name__}: {line[:300]!r} ({len(line):,} characters)"
        return REFUSED, f"{type(error).__name__}: {line}"
    except UnlikeTwinError as error:
        return TWIN, str(error)
    except MemoryError as error:
        return MEMORY, f"{type(error).__name__}: {error} {_place(error)}"
    except Exception as error:
        return CRASH, f"{type(error).__name__}: {str(error)[:300]} {_place(error)}"
    return ACCEPTED, ""


def _place(error: BaseException) -> str:
    """The innermost of our own lines."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        frame for frame in frames if ".venv" not in frame.filename and "/lib/python" not in frame.filename
    ]
    last = (ours or frames)[-1]
    return f"at {'/'.join(last.filename.split('/')[-2:])}:{last.lineno}"
