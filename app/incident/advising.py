"""Counterfactuals and advice within a time. In: a lake and a question. Out: what ``recommend --format json`` prints, or why there is none.

A replay may take minutes where much was published, and the first one on a machine compiles the simulator. So it runs in a process
of its own, which is ended when its time is up: the rest of the bundle does not wait for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from throttlescope.app.whatif.ask import Question, read
from throttlescope.ingest.errors import ThrottlescopeError
from throttlescope.models.diagnosis.wording import duration


@dataclass(frozen=True)
class Outcome:
    """One of the two: what was found, or in words why there is nothing."""

    found: dict[str, Any] | None
    why_not: str | None


def advice_within(lake_root: str, question: Question, now_ms: int, *, most_s: float) -> Outcome:
    """Ask what would drain the backlog, for ``most_s`` seconds at most."""
    asked = {"lake": lake_root, "question": asdict(question), "now_ms": now_ms}
    # -P: a file that lies where the command was started is not taken for a module.
    return within([sys.executable, "-P", "-m", __name__], asked, most_s=most_s)


def within(program: Sequence[str], asked: dict[str, Any], *, most_s: float) -> Outcome:
    """Run a program that reads JSON and writes an :class:`Outcome` as JSON, and end it when its time is up."""
    process = subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        written, _ = process.communicate(json.dumps(asked), timeout=most_s)
        return Outcome(**json.loads(written))
    except subprocess.TimeoutExpired:
        return Outcome(None, f"it took longer than {duration(most_s)}")
    except (ValueError, TypeError, OSError):
        process.wait()
        return Outcome(None, f"the process that worked it out ended with code {process.returncode}")
    finally:
        process.kill()
        process.wait()


def answer(asked: dict[str, Any]) -> Outcome:
    """What the process gives back."""
    from throttlescope.app.render_advice import document
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.recommendation import advise

    try:
        found = read(Lake(asked["lake"]), Question(**asked["question"]), now_ms=asked["now_ms"])
        advice = advise(found.observed, history=found.history, target_s=found.horizon_s)
    except ThrottlescopeError as error:
        got = "" if error.got is None else f" ({error.got})"
        return Outcome(None, f"{error.what}{got}")
    except Exception as error:
        return Outcome(None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    return Outcome(document(found, advice), None)


if __name__ == "__main__":
    json.dump(asdict(answer(json.load(sys.stdin))), sys.stdout)
