"""Advice for eyes and for programs. In: what was read, and an `Advice`. Out: text on stdout, or one dict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness, print_table
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.rounded import duration
from throttlescope.models.messages.units import count, visible

if TYPE_CHECKING:
    from throttlescope.app.services.whatif.replay import ReplayInputs
    from throttlescope.models.recommendation import Advice, Recommendation

#: What the replays say as a whole, by :attr:`Counterfactuals.primary`.
PRIMARY = {
    "limiter": "A limiter holds it: lifting it drains most.",
    "consumers": "The consumers hold it: faster ones drain most.",
    "both": "Both hold it: neither alone drains, both together do.",
    None: "No lever that was tried changes anything that could be told.",
}
#: An earliest drain below this is that of consumers without any work.
_TELLS_NOTHING_S = 60
_LEVERS = {"consumers": "consumers that take all", "together": "both together"}


def document(found: ReplayInputs, advice: Advice) -> dict[str, Any]:
    """Everything as plain values."""
    known = advice.counterfactuals
    return {
        "cluster": found.observed.cluster,
        "subscription": str(found.name),
        "at_ms": found.at_ms,
        "target_s": advice.target_s,
        "backlog_entries": known.backlog_entries,
        "as_is_entries": asdict(known.as_is_entries),
        "primary": known.primary,
        "replay_error_share": known.error_share,
        "counterfactuals": [{**asdict(row), "change": row.change.words} for row in known.rows],
        "recommendations": [asdict(one) for one in advice.recommendations],
        "not_helping": list(advice.not_helping),
        "executed": False,
        "notes": known.notes,
    }


def print_advice(found: ReplayInputs, advice: Advice, *, now_ms: int) -> None:
    """What would drain it, what to do first, what not to do."""
    known = advice.counterfactuals
    print_table(
        [
            ("without", "left"),
            ("backlog then (entries)", "right"),
            ("less than as it is", "right"),
            ("gone in", "left"),
            ("then holds", "left"),
        ],
        [
            ["nothing changed", _span(known.as_is_entries), "-", "-", "-"],
            *(
                [
                    lever_words(row.lever, row.limiter),
                    _span(row.entries),
                    _span(row.gain_entries),
                    drain_within(row.earliest_drain_s, row.latest_drain_s),
                    row.held_by,
                ]
                for row in known.rows
            ),
        ],
        title=f"{found.name}: {count(known.backlog_entries)} entries at {format_time(found.at_ms)}, "
        f"{duration(known.horizon_s)} later",
        notes=[PRIMARY[known.primary]],
    )
    for number, one in enumerate(advice.recommendations, 1):
        print_recommendation(number, one)
    if not advice.recommendations:
        print(f"\nNothing that was tried drains it within {duration(advice.target_s)}.")
    for words in advice.not_helping:
        print()
        print(visible(f"Not this: {words}"))
    print("\nNothing was executed.")
    for note in known.notes:
        print(visible(f"Note: {note}."))
    print(
        f"The replay of the window is off by {100 * known.error_share:.1f} % of its peak. "
        + freshness(found.at_ms, now_ms)
    )


def print_recommendation(number: int, one: Recommendation) -> None:
    """One change with its command, its way back, what it risks and how to check it."""
    when = gone_in(one.earliest_drain_s, one.likely_drain_s, one.latest_drain_s)
    print()
    print(
        visible(f"{number}. {one.words}{f' Gone in {when}.' if when else ''} Next to bind: {one.next_brake}.")
    )
    for head, line in (("run", one.do), ("undo", one.undo)):
        if line:
            print(visible(f"   {head}: {line}"))
    for head, lines in (("risk", one.risks), ("check", one.verify)):
        for line in lines:
            print(visible(f"   {head}: {line}"))


def gone_in(earliest_s: float | None, likely_s: float | None, latest_s: float | None) -> str:
    """When the backlog is gone with a change; empty where it never is.

    Where nobody has seen how fast the consumers are, the earliest time is that of consumers without work of their own. Below
    a minute that says nothing about the real ones.
    """
    if earliest_s is None:
        return ""
    low = duration(earliest_s)
    if likely_s is None:
        if earliest_s < _TELLS_NOTHING_S:
            return "a time that depends on the consumers: how fast they are was not seen"
        return f"{low} at the earliest, if the consumers can take it"
    likely = duration(likely_s)
    if latest_s is None:
        return f"{likely} ({low} at the earliest)"
    high = duration(latest_s)
    return likely if low == high else f"{likely} ({low} to {high})"


def lever_words(lever: str, limiter: str | None) -> str:
    """What a replay took away: ``the limit topic.msg``, ``consumers that take all``, ``both together``."""
    return f"the limit {limiter}" if lever == "limiter" else _LEVERS[lever]


def drain_within(earliest_s: float | None, latest_s: float | None) -> str:
    """When a backlog is gone by the horizon, or that it is not."""
    if earliest_s is None:
        return "not by then"
    if latest_s is None:
        return f"{duration(earliest_s)} at the earliest"
    low, high = duration(earliest_s), duration(latest_s)
    return high if low == high else f"{low} to {high}"


def _span(span) -> str:
    low, high = count(span.low), count(span.high)
    return low if low == high else f"{low} to {high}"
