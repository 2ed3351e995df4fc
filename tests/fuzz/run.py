"""Runs a target. In: its state, executions wanted, seconds. Out: the state, farther on; a child that dies or is silent costs one input."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.child import work
from tests.fuzz.state import FOLDER, State
from tests.fuzz.target import DIED, HANG

#: A child that works at one input for so long hangs; or that stays at it for so long, whatever it does: the machine is shared.
BUSY_S, SILENCE_S = 10.0, 300.0
#: Compiling with checked bounds takes minutes on a busy machine, once.
WARM_S = 900.0


def checked_bounds() -> None:
    """Let compiled code of children check every index: an access outside an array ends the child."""
    os.environ["NUMBA_BOUNDSCHECK"] = "1"


def run(
    state: State,
    executions: int,
    *,
    seconds: float | None = None,
    folder: Path = FOLDER,
    say: Callable[[str], None] = print,
    child: Callable = work,
) -> State:
    """Execute until the state has so many executions, or the seconds are over."""
    skipped: frozenset[int] = frozenset()
    left_s = seconds
    while state.executions < executions and (left_s is None or left_s > 0):
        fault, worked_s = _child_until(state, executions, left_s, skipped, folder, say, child)
        left_s = None if left_s is None else left_s - worked_s
        if fault is not None:
            number, kind = fault
            say(f"{state.target}: {kind} at input {number}")
            state.find({"number": number, "kind": kind, "said": f"{kind} at input", "input": ""})
            state.classes[kind] = state.classes.get(kind, 0) + 1
            skipped |= {number}
            state.save(folder)
    return state


def _child_until(
    state: State,
    executions: int,
    left_s: float | None,
    skipped: frozenset[int],
    folder: Path,
    say: Callable[[str], None],
    child: Callable,
) -> tuple[tuple[int, str] | None, float]:
    """One child's life: the input that ended it and how, None where it came to its end; and its seconds from its first input on."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    at = context.Value("q", -1, lock=False)
    process = context.Process(
        target=child,
        args=(there, at, state.target, state.seed, state.executions, executions, skipped),
        daemon=True,
    )
    process.start()
    there.close()
    try:
        # What dies before its first input has a fault of its own.
        if not here.poll(WARM_S):
            raise RuntimeError(f"{state.target}: not ready after {WARM_S:.0f} s")
        try:
            here.recv()
        except EOFError:
            raise RuntimeError(f"{state.target}: the child died before its first input") from None
        begun = since = shown = time.monotonic()
        seen, worked_s = at.value, _worked_s(process.pid)
        while left_s is None or time.monotonic() - begun < left_s:
            if here.poll(0.5):
                try:
                    report = here.recv()
                except EOFError:
                    return (at.value, DIED), time.monotonic() - begun
                state.add(report)
                if time.monotonic() - shown > 10 or report["findings"]:
                    state.save(folder)
                    shown = time.monotonic()
                    say(f"{state.target}: {state.executions:,} executions, {state.trouble} in trouble")
                if state.executions >= executions:
                    break
            if at.value != seen:
                seen, since, worked_s = at.value, time.monotonic(), _worked_s(process.pid)
            elif time.monotonic() - since > SILENCE_S or _worked_s(process.pid) - worked_s > BUSY_S:
                return (at.value, HANG), time.monotonic() - begun
        return None, time.monotonic() - begun
    finally:
        with contextlib.suppress(ValueError):
            process.kill()
            process.join()
        here.close()
        state.save(folder)


def _worked_s(pid: int | None) -> float:
    """Processor time of a process so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
