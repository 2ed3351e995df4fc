"""Counterfactuals and advice with a time limit. In: a lake and a question. Out: facts of :mod:`~throttlescope.app.presentation.advice`, or why there are none.

A replay may take minutes where much was published, and the first one on a machine compiles the simulator. It runs in a process of its
own, which is ended at the time limit, so the rest of the bundle does not wait for it.
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
from throttlescope.app.services.whatif.replay import Question
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence

_LOOK_S = 0.5


@dataclass(frozen=True)
class AdviceOutcome:
    """Either the facts, or the reason why there are none; ``timed_out``: the time limit was reached."""

    found: dict[str, Any] | None
    why_not: str | None
    timed_out: bool = False


def advice_within(
    lake_root: str,
    question: Question,
    now_ms: int,
    *,
    most_s: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> AdviceOutcome:
    """Find what drains the backlog, in at most ``most_s`` seconds, or until it is cancelled."""
    request = {"lake": lake_root, "question": asdict(question), "now_ms": now_ms}
    # -P: a file in the current folder is not taken for a module.
    return within([sys.executable, "-P", "-m", __name__], request, most_s=most_s, cancelled=cancelled)


def within(
    program: Sequence[str],
    request: dict[str, Any],
    *,
    most_s: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> AdviceOutcome:
    """Run a program that reads JSON and writes an :class:`AdviceOutcome` as JSON, and end it at the time limit.

    Parameters
    ----------
    cancelled : callable
        Called twice a second; true: end it now.
    """
    process = subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        written = _written(process, json.dumps(request), most_s, cancelled)
        return AdviceOutcome(**json.loads(written))
    except subprocess.TimeoutExpired:
        return AdviceOutcome(None, sentence("incident.no_advice.time_limit", limit=most_s), timed_out=True)
    except CancelledError:
        return AdviceOutcome(None, "it was cancelled")
    except (ValueError, TypeError, OSError):
        process.wait()
        return AdviceOutcome(None, sentence("incident.no_advice.process_ended", code=process.returncode))
    finally:
        process.kill()
        process.wait()


def _written(process: subprocess.Popen, request: str, most_s: float, cancelled: Callable[[], bool]) -> str:
    """What the process writes until it ends."""
    over_s, given = time.monotonic() + most_s, request
    while True:
        try:
            # A second call continues where the first stopped; the input may be given only once.
            return process.communicate(
                given or None, timeout=max(0.0, min(_LOOK_S, over_s - time.monotonic()))
            )[0]
        except subprocess.TimeoutExpired:
            given = ""
            if time.monotonic() >= over_s:
                raise
            if cancelled():
                raise CancelledError("The advice was cancelled") from None


def answer(request: dict[str, Any]) -> AdviceOutcome:
    """The result of the process."""
    from throttlescope.app.presentation.advice import facts
    from throttlescope.app.services.recommend import recommend_drain
    from throttlescope.ingest.lake import Lake

    try:
        known = recommend_drain(Lake(request["lake"]), Question(**request["question"]), request["now_ms"])
    except ThrottlescopeError as error:
        got = "" if error.got is None else f" ({error.got})"
        return AdviceOutcome(None, f"{error.what}{got}")
    except Exception as error:
        return AdviceOutcome(None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    return AdviceOutcome(facts(known.found, known.advice), None)


if __name__ == "__main__":
    json.dump(asdict(answer(json.load(sys.stdin))), sys.stdout)
