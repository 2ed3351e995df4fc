"""Counterfactuals and advice within a time. In: a lake and a question. Out: what ``recommend --format json`` prints, or why there is none.

A replay may take minutes where much was published, and the first one on a machine compiles the simulator. So it runs in a process
of its own, which is ended when its time is up: the rest of the bundle does not wait for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from throttlescope.app.services.diagnose_now.deadline import CancelledError
from throttlescope.app.services.whatif.replay import Question, read
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.rounded import duration

_LOOK_S = 0.5


@dataclass(frozen=True)
class AdviceOutcome:
    """One of the two: what was found, or in words why there is nothing."""

    found: dict[str, Any] | None
    why_not: str | None


def advice_within(
    lake_root: str,
    question: Question,
    now_ms: int,
    *,
    most_s: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> AdviceOutcome:
    """Ask what would drain the backlog, for ``most_s`` seconds at most, or until nobody waits any more."""
    asked = {"lake": lake_root, "question": asdict(question), "now_ms": now_ms}
    # -P: a file that lies where the command was started is not taken for a module.
    return within([sys.executable, "-P", "-m", __name__], asked, most_s=most_s, cancelled=cancelled)


def within(
    program: Sequence[str],
    asked: dict[str, Any],
    *,
    most_s: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> AdviceOutcome:
    """Run a program that reads JSON and writes an :class:`AdviceOutcome` as JSON, and end it when its time is up.

    Parameters
    ----------
    cancelled : callable
        Asked twice a second whether it is to be ended before.
    """
    process = subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        written = _written(process, json.dumps(asked), most_s, cancelled)
        return AdviceOutcome(**json.loads(written))
    except subprocess.TimeoutExpired:
        return AdviceOutcome(None, f"it took longer than {duration(most_s)}")
    except CancelledError:
        return AdviceOutcome(None, "nobody waited for it any more")
    except (ValueError, TypeError, OSError):
        process.wait()
        return AdviceOutcome(None, f"the process that worked it out ended with code {process.returncode}")
    finally:
        process.kill()
        process.wait()


def _written(process: subprocess.Popen, asked: str, most_s: float, cancelled: Callable[[], bool]) -> str:
    """What the process writes until it ends."""
    over_s, given = time.monotonic() + most_s, asked
    while True:
        try:
            # Asked again it goes on where it was; the input may be given only once.
            return process.communicate(
                given or None, timeout=max(0.0, min(_LOOK_S, over_s - time.monotonic()))
            )[0]
        except subprocess.TimeoutExpired:
            given = ""
            if time.monotonic() >= over_s:
                raise
            if cancelled():
                raise CancelledError("The advice was cancelled") from None


def answer(asked: dict[str, Any]) -> AdviceOutcome:
    """What the process gives back."""
    from throttlescope.app.presentation.advice import document
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.recommendation import advise

    try:
        found = read(Lake(asked["lake"]), Question(**asked["question"]), now_ms=asked["now_ms"])
        advice = advise(found.observed, history=found.history, target_s=found.horizon_s)
    except ThrottlescopeError as error:
        got = "" if error.got is None else f" ({error.got})"
        return AdviceOutcome(None, f"{error.what}{got}")
    except Exception as error:
        return AdviceOutcome(None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    return AdviceOutcome(document(found, advice), None)


if __name__ == "__main__":
    json.dump(asdict(answer(json.load(sys.stdin))), sys.stdout)
