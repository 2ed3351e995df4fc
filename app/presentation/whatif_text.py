"""An answer for eyes. In: what was read and what a replay knows. Out: text on stdout, the question first."""

from __future__ import annotations

from throttlescope.app.presentation import whatif
from throttlescope.app.presentation.output import print_table
from throttlescope.app.services.whatif.replay import ReplayInputs
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.units import count, visible
from throttlescope.models.throttling.replay import Change, Forecast, ReplayAnswer


def print_answer(found: ReplayInputs, answer: ReplayAnswer) -> None:
    """Print the question, the answer, what it rests on and what makes it less sure."""
    asks = bool(found.change.words != Change().words)
    question = f"What if {whatif.question(answer)}?" if asks else "What if nothing changes?"
    rows = [_row("as it is", answer, answer.as_is, Change(), found.horizon_s)]
    if asks:
        rows.append(_row("changed", answer, answer.changed, found.change, found.horizon_s))
    print(
        visible(f"{found.name} on {answer.observed.cluster}, from {_time(answer.observed.times_ms[-1])} on")
    )
    print_table(
        [
            ("", "left"), ("backlog drained after", "left"), ("best to worst", "left"), ("dispatched (msg/s)", "right"),
            ("held by", "left"),
        ],
        rows,
        title=question,
        notes=[whatif.effect(answer)] if asks else [],
    )  # fmt: skip
    window = f"{_time(answer.observed.times_ms[0])} to {_time(answer.observed.times_ms[-1])}"
    print()
    for label, text in (
        ("backlog", f"{count(answer.backlog_entries)} entries; drained is at most {count(answer.drained_below_entries)}"),
        ("arrivals", whatif.arrivals(answer)),
        ("capacity", whatif.capacity(answer.capacity)),
        ("replay", whatif.own_error(answer)),
        ("window", window),
    ):  # fmt: skip
        print(visible(f"{label:<10}{text}"))
    print(
        "Times are UTC; backlogs count entries (batches), rates messages. Best to worst is what the samples leave open: arrivals,\n"
        "capacity, how fast the broker reads. It does not hold the replay's own error."
    )
    for note in answer.notes:
        print(visible(f"Note: {note}."))


def _row(label: str, answer: ReplayAnswer, forecast: Forecast, change: Change, horizon_s: int) -> list[str]:
    outlook = forecast.fitted or forecast.best
    return [
        label,
        whatif.drained(forecast),
        whatif.interval(forecast, horizon_s),
        f"{outlook.out_msg_per_s:,.0f}",
        whatif.held_by(answer, outlook, change),
    ]


def _time(time_ms: int) -> str:
    return f"{format_time(int(time_ms))[:19].replace('T', ' ')} UTC"
