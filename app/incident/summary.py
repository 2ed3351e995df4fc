"""What matters at night, in one order. In: an incident and what was worked out. Out: a title and nine facts in plain words.

What, since when, why and how sure, which limiter, what happens by when, what to do first and what will not help, what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.app.incident import evidence, remedies
from throttlescope.app.incident.computed import Worked
from throttlescope.app.incident.load import Incident
from throttlescope.app.incident.timeline import SINCE_WORDS
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import recommendations_of, texts_of
from throttlescope.app.presentation.answer import VerdictAnswer, answer
from throttlescope.app.presentation.blocks import Facts, Name, TextBlock, text
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.presentation.causes import CAUSES, limiter_words
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.messages.rounded import duration
from throttlescope.models.throttling.replay.notes import FAR_OFF_SHARE

_NOT_COMPUTED = {
    "forecasts": "Forecasts",
    "advice": "Counterfactuals and recommendations",
    "deadlines": "Message TTL and backlog quotas",
    "neighbours": "Who shares the limit",
    "consumers": "The consumers by name",
    "again": "The verdict under today's rules",
}


def facts(incident: Incident, worked: Worked, pictures: Sequence[str] = ()) -> Facts:
    """The nine facts; ``pictures`` says why there is no picture of the plots, where there is none."""
    told = None if incident.told is None else _answer(incident)
    return Facts(
        [
            ("What", _what(incident)),
            ("Since when", _since(incident, told)),
            ("Why", _why(incident, worked, told)),
            ("How sure", _sure(incident, worked, told)),
            ("Limiter", evidence.limiter(incident)),
            ("What happens by when", _deadline(incident, worked)),
            ("Do first", _first(worked, told)),
            ("Will not help", _never(worked, told)),
            ("Missing", [*_missing(incident, worked), *map(text, pictures)] or [text("Nothing.")]),
        ]
    )


def _answer(incident: Incident) -> VerdictAnswer:
    end_ms = incident.told["window_end_ms"]
    history = [row for row in incident.verdicts if row["window_end_ms"] < end_ms]
    return answer(incident.told, history, evidence.told_limits(incident))


def title(incident: Incident) -> TextBlock:
    """The subscription and its cause."""
    told = incident.told
    if told is None:
        return text(Name(incident.key.subscription), ": no verdict")
    limiter = f" by the {limiter_words(told['limiter'])}" if told["limiter"] else ""
    return text(Name(incident.key.subscription), f": {CAUSES[told['cause']].label.lower()}{limiter}")


def as_of(incident: Incident) -> TextBlock:
    """Of when the page speaks, and in which units."""
    parts = [f"As of {fmt.moment(incident.at_ms)}. Data up to {fmt.moment(incident.known_until_ms)}."]
    if incident.told is not None:
        start_ms, end_ms = incident.told["window_start_ms"], incident.told["window_end_ms"]
        parts.append(f" The verdict is of the window {fmt.clock(start_ms)} to {fmt.clock(end_ms)}.")
    parts.append(" All times are UTC. Backlogs count entries (batches), rates messages or bytes.")
    parts.append(" Nothing here was executed.")
    return text(*parts)


def _what(incident: Incident) -> list[TextBlock]:
    key = incident.key
    partition = "" if key.partition < 0 else f", partition {key.partition}"
    parts = ["Subscription ", Name(key.subscription), " of topic ", Name(key.topic)]
    rows = [text(*parts, f"{partition}, cluster ", Name(key.cluster), "."), text(_backlog(incident))]
    newest = incident.newest_backlog
    if newest is not None and newest[0] > incident.at_ms:
        verdict = incident.newest
        judged = "" if verdict is None else f" Newest verdict: {CAUSES[verdict['cause']].label.lower()}."
        rows.append(
            text(f"At the end of the data: {_entries(newest[1])} ready at {fmt.moment(newest[0])}.{judged}")
        )
    return rows


def _backlog(incident: Incident) -> str:
    """The backlog at the reported time, with its change, its unit and its age."""
    minute = incident.minute_at(incident.at_ms)
    if minute is None:
        return f"The backlog at {fmt.moment(incident.at_ms)} was not measured."
    ready, end_ms = minute["backlog_ready_entries"], int(minute["minute_ms"]) + MINUTE_MS
    shown = minute["backlog_entries"] if fmt.is_missing(ready) else ready
    now = " (the end of the data)" if end_ms >= incident.known_until_ms else ""
    parts = [f"Backlog: {_entries(shown)} ready for delivery at {fmt.moment(end_ms)}{now}"]
    growth = None if incident.told is None else incident.told["backlog_growth_entries"]
    if not fmt.is_missing(growth):
        length = _length(incident.told["window_start_ms"], incident.told["window_end_ms"])
        parts.append(f", {'+' if growth > 0 else ''}{fmt.exact(round(growth))} in the {length} before")
    parts.append(".")
    per_entry = minute["messages_per_entry"]
    if not fmt.is_missing(per_entry) and per_entry > 0:
        one = round(per_entry, 1) == 1
        each = "one message" if one else f"about {fmt.short(per_entry)} messages"
        parts.append(f" An entry is a batch, here of {each}.")
    if not fmt.is_missing(minute["delayed_entries"]) and minute["delayed_entries"] > 0:
        parts.append(f" {_entries(minute['delayed_entries'])} more are delayed on purpose.")
    if not fmt.is_missing(minute["backlog_age_s"]):
        parts.append(
            f" The oldest message of the topic's backlog is {duration(minute['backlog_age_s'])} old."
        )
    return "".join(parts)


def _since(incident: Incident, told: VerdictAnswer | None) -> list[TextBlock]:
    row = incident.episode
    rows = []
    if row is None:
        rows.append(text("No episode of a backlog covers this moment."))
    else:
        # A backlog that is gone has a length; one that stands is as old as the moment told.
        until_ms = incident.at_ms if row["end_ms"] is None else row["end_ms"]
        at_least = "at least " if row["since_method"] == "start_of_data" else ""
        rows.append(
            text(
                f"{_capital(at_least)}{fmt.moment(row['since_ms'])}, for {_length(row['since_ms'], until_ms)} "
                f"({SINCE_WORDS[row['since_method']]})."
            )
        )
        if row["end_ms"] is not None:
            rows.append(text(f"Drained at {fmt.moment(row['end_ms'])}."))
        elif row["state"] == "silent":
            rows.append(text("Not drained when it was last seen; nothing has been seen of it since."))
        elif row["over_until_ms"] < row["known_until_ms"]:
            rows.append(
                text(
                    f"No more than is normal waits since {fmt.moment(row['over_until_ms'])}; that is too short a time to call it "
                    "drained."
                )
            )
        else:
            rows.append(text(f"Not drained at {fmt.moment(row['known_until_ms'])}."))
        rows.append(
            text(f"Largest: {fmt.exact(row['peak_entries'])} ready entries at {fmt.moment(row['peak_ms'])}.")
        )
    if told is not None:
        run = runs(
            [row for row in incident.verdicts if row["window_end_ms"] <= incident.told["window_end_ms"]]
        )[-1]
        known = "at least " if run.follows_gap else ""
        rows.append(
            text(
                f"This cause: since {known}{fmt.moment(run.start_ms)}, for {_length(run.start_ms, run.end_ms)}."
            )
        )
    return rows


def _why(incident: Incident, worked: Worked, told: VerdictAnswer | None) -> list[TextBlock]:
    if told is None:
        return [text("Not judged: the lake has no verdict of this subscription up to this moment.")]
    rule = f" The rule: {incident.told['why']}." if incident.told["why"] else ""
    rows = [text(told.title + rule), *map(text, told.why)]
    if worked.consumers is not None and worked.consumers.slow:
        rows.append(text(f"Consumers: {worked.consumers.text}."))
    row = incident.episode
    same = row is None or (row["cause"], row["limiter"]) == (incident.told["cause"], incident.told["limiter"])
    if not same:
        limiter = f" ({limiter_words(row['limiter'])})" if row["limiter"] else ""
        rows.append(text(f"Main cause of the whole episode: {CAUSES[row['cause']].label}{limiter}."))
    return rows


def _sure(incident: Incident, worked: Worked, told: VerdictAnswer | None) -> list[TextBlock]:
    if told is None:
        return [text("There is nothing to be sure of.")]
    rows = [text(_capital(told.sure) + f", rules {fmt.name(incident.told['rules_version'], 40)}.")]
    if told.against:
        rows.append(text(f"Against it: {told.against[0]}"))
    if worked.again is not None:
        rows.append(text(_judged_again(worked)))
    return rows


def _judged_again(worked: Worked) -> str:
    again = worked.again
    repaired = " The lake has repaired those minutes since." if again.repaired else ""
    head = f"Judged again by rules {fmt.name(again.rules_version, 40)} on the minutes it was made from: "
    if not again.differences:
        return f"{head}the same.{repaired}"
    changes = ", ".join(
        f"{name} {_plain(then)} then, {_plain(now)} now" for name, (then, now) in again.differences.items()
    )
    return f"{head}{changes}.{repaired}"


def _plain(value: object) -> str:
    return fmt.percent(value) if isinstance(value, float) else str(value)


def _deadline(incident: Incident, worked: Worked) -> list[TextBlock]:
    if worked.forecasts is None:
        return [text(f"Not computed: {worked.why_not['forecasts']}.")]
    loss = remedies.nearest_loss(worked.forecasts)
    rows = []
    if loss is not None:
        rows.append(text(f"{remedies.forecast_text(loss)} {loss['consequence']}"))
    rows.append(text(remedies.deadline_text(worked.deadlines)))
    rows += [text(remedies.forecast_text(row)) for row in worked.forecasts if row["kind"] == "drain"]
    end_ms = None if incident.episode is None else incident.episode["end_ms"]
    if end_ms is not None:
        rows.append(
            text(
                f"This was the forecast at the reported time. The backlog was drained at {fmt.moment(end_ms)}."
            )
        )
    return rows


def _first(worked: Worked, told: VerdictAnswer | None) -> list[TextBlock]:
    if told is None:
        return [text("Make verdicts: throttlescope run --lake DIR.")]
    rows = [text(told.first)]
    for one in recommendations_of(worked.advice)[:1] if worked.advice else []:
        gone = "" if one.gone_in is None else f" The backlog is then gone in {one.gone_in.text}."
        where = " Command and rollback: see What to change." if one.apply else ""
        rows.append(text(f"Smallest change: {one.text}{gone}{where}"))
    return rows


def _never(worked: Worked, told: VerdictAnswer | None) -> list[TextBlock]:
    rows = [] if told is None else [text(told.never)]
    if worked.advice:
        rows += map(text, texts_of(worked.advice["not_helping"]))
    return rows or [text("Not known.")]


def _missing(incident: Incident, worked: Worked) -> list[TextBlock]:
    rows = []
    if incident.told is None:
        rows.append(text("A verdict."))
    else:
        for one in incident.told["missing_evidence"] or ():
            rows.append(text(f"{_sentence(one['what'])} Fix: {_sentence(one['fix'])}"))
    if incident.minutes.empty:
        rows.append(text("Minutes: the lake has no signals of this range."))
    if not evidence.are_observed(evidence.told_limits(incident)):
        rows.append(
            text(
                "Limits: none was read from the admin API. Fix: give --pulsar-admin URL to throttlescope run."
            )
        )
    if incident.was_cut:
        rows.append(
            text("The episode is longer than the range of the files, which holds 7 days around the moment.")
        )
    if worked.advice is not None and worked.advice["replay_error_share"] >= FAR_OFF_SHARE:
        off = fmt.percent(worked.advice["replay_error_share"])
        rows.append(
            text(
                f"A replay that fits: it is off by {off} of the largest backlog, so what is said of changes and their times is rough."
            )
        )
    for what, reason in worked.why_not.items():
        if what != "again" or incident.told is not None:
            rows.append(text(f"{_NOT_COMPUTED[what]} could not be computed: {reason}."))
    return rows


def _entries(value: float) -> str:
    return f"{fmt.exact(round(value))} {'entry' if round(value) == 1 else 'entries'}"


def _length(start_ms: int, end_ms: int) -> str:
    return duration(max(0, end_ms - start_ms) / SECOND_MS)


def _sentence(words: str) -> str:
    shown = words if "_" in words.split(" ")[0] else _capital(words)
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
