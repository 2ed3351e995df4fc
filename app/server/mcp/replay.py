"""A what-if replay in a process of its own, which is ended at a time limit. In: a lake and a question as JSON. Out: the answer's document without its curves.

``python -m throttlescope.app.server.mcp.replay`` is that process: the first replay on a machine compiles the simulator, and a long one cannot be
interrupted within a process.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.app.incident.advice import AdviceOutcome, within
from throttlescope.app.services.whatif.replay import Question
from throttlescope.ingest.core.errors import InputError, ThrottlescopeError

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Curves and times: thousands of numbers that no one reads in a conversation.
_CURVES = ("times_ms", "backlog_entries", "replayed_backlog_entries", "gaps_ms", "restarts_ms")


def replay_within(lake: Lake, question: Question, now_ms: int, *, most_s: float) -> dict[str, Any]:
    """The document of :mod:`~throttlescope.app.presentation.whatif_document`, without curves.

    Raises
    ------
    InputError
        The question cannot be answered, or not in that time.
    """
    request = {"lake": lake.root, "question": asdict(question), "now_ms": now_ms}
    # -P: a file in the current folder is not taken for a module.
    outcome = within([sys.executable, "-P", "-m", __name__], request, most_s=most_s)
    if outcome.timed_out:
        raise InputError(
            "The replay was not ready in time",
            got=f"{most_s:g} s",
            fix="name a shorter window or horizon; the first replay on a machine compiles the simulator, so try once more; "
            "or start the server with a longer --what-if-within",
        )
    if outcome.found is None:
        raise ThrottlescopeError(outcome.why_not.rstrip(".") if outcome.why_not else "The replay failed")
    return outcome.found


def answer(request: dict[str, Any]) -> AdviceOutcome:
    """The result of the process."""
    from throttlescope.app.presentation.whatif_document import document
    from throttlescope.app.services.whatif.what_if import what_if
    from throttlescope.ingest.lake import Lake

    try:
        done = what_if(Lake(request["lake"]), Question(**request["question"]), request["now_ms"])
        found = document(done.found, done.known)
    except ThrottlescopeError as error:
        return AdviceOutcome(None, str(error))
    except Exception as error:
        return AdviceOutcome(None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    for name in _CURVES:
        found["window"].pop(name, None)
    for future in (found["as_is"], found["changed"]):
        for outlook in ("fitted", "best", "worst"):
            if future is not None and future[outlook] is not None:
                future[outlook].pop("backlog_entries")
    return AdviceOutcome(found, None)


if __name__ == "__main__":
    json.dump(asdict(answer(json.load(sys.stdin))), sys.stdout)
