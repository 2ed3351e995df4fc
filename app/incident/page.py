"""The page. In: an incident and what was worked out. Out: blocks: first all that matters at night, in one order, then what it rests on.

The order of the first part: what, since when, why and how sure, which limiter, what happens by when, what to do first and what will
not help, what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.app.incident import remedies, why
from throttlescope.app.incident.blocks import (
    Block,
    Bullets,
    Facts,
    Grid,
    Heading,
    Link,
    Name,
    Paragraph,
    Plots,
    Text,
    text,
)
from throttlescope.app.incident.read import Incident
from throttlescope.app.incident.timeline import SINCE_WORDS, events
from throttlescope.app.incident.working import Worked
from throttlescope.app.web import format as fmt
from throttlescope.app.web.address import Subscription, SubscriptionAddress
from throttlescope.app.web.answer import Answer, answer
from throttlescope.app.web.causes import CAUSES, limiter_words

#: Deadlines are so far away at most to stand in the first part.
_NOT_COMPUTED = {
    "forecasts": "Forecasts",
    "advice": "Counterfactuals and recommendations",
    "again": "The verdict under today's rules",
}


def page(
    incident: Incident, worked: Worked, *, external_url: str | None = None, pictures: Sequence[str] = ()
) -> list[Block]:
    """The whole page.

    Parameters
    ----------
    external_url : str, optional
        Where people reach ``throttlescope serve``.
    pictures : sequence of str
        Why there is no picture of the plots, where there is none; told under what is missing.
    """
    told = None if incident.told is None else _answer(incident)
    return [
        Heading(1, _title(incident)),
        Paragraph(_as_of(incident)),
        Facts(
            [
                ("What", _what(incident, told)),
                ("Since when", _since(incident, told)),
                ("Why", _why(incident, told)),
                ("How sure", _sure(incident, worked, told)),
                ("Limiter", _limiter(incident)),
                ("What happens by when", _deadline(worked)),
                ("Do first", _first(incident, worked, told)),
                ("Will not help", _never(worked, told)),
                ("Missing", [*_missing(incident, worked), *map(text, pictures)] or [text("Nothing.")]),
            ]
        ),
        *_link(incident, external_url),
        Heading(2, text("Timeline")),
        *_timeline(incident),
        Heading(2, text("Plots")),
        Plots(_caption(incident)),
        *why.evidence(incident),
        *why.besides(incident),
        *why.limits(incident),
        *remedies.counterfactuals(worked),
        *remedies.forecasts(worked),
        *remedies.what_to_change(worked),
        *_partitions(incident),
        Heading(2, text("In this bundle")),
        Bullets(_contents(incident)),
    ]


def address(incident: Incident, external_url: str) -> str:
    """The subscription's page of a running ``throttlescope serve``, at the same moment and range."""
    key = incident.key
    end_ms = None if incident.told is None else incident.told["window_end_ms"]
    own = Subscription(key.cluster, key.topic, key.partition, key.subscription)
    return (
        external_url.rstrip("/") + SubscriptionAddress(own, incident.start_ms, incident.end_ms, end_ms).href()
    )


# -- the first part -----------------------------------------------------------------------------


def _answer(incident: Incident) -> Answer:
    end_ms = incident.told["window_end_ms"]
    history = [row for row in incident.verdicts if row["window_end_ms"] < end_ms]
    return answer(incident.told, history, why.told_limits(incident))


def _title(incident: Incident) -> Text:
    told = incident.told
    if told is None:
        return text(Name(incident.key.subscription), ": no verdict")
    limiter = f" by the {limiter_words(told['limiter'])}" if told["limiter"] else ""
    return text(Name(incident.key.subscription), f": {CAUSES[told['cause']].label.lower()}{limiter}")


def _as_of(incident: Incident) -> Text:
    parts = [f"Told as of {fmt.moment(incident.at_ms)}. Data up to {fmt.moment(incident.known_until_ms)}."]
    if incident.told is not None:
        start_ms, end_ms = incident.told["window_start_ms"], incident.told["window_end_ms"]
        parts.append(f" The verdict is of the window {fmt.clock(start_ms)} to {fmt.clock(end_ms)}.")
    parts.append(" All times are UTC. Backlogs count entries (batches), rates messages or bytes.")
    parts.append(" Nothing here was executed.")
    return text(*parts)


def _what(incident: Incident, told: Answer | None) -> list[Text]:
    key = incident.key
    partition = "" if key.partition < 0 else f", partition {key.partition}"
    rows = [
        text("Subscription ", Name(key.subscription), " of topic ", Name(key.topic), f"{partition}, cluster ", Name(key.cluster), ".")
    ]  # fmt: skip
    rows.append(text(_backlog(incident, incident.at_ms, told)))
    if incident.known_until_ms > incident.at_ms:
        newest = incident.newest
        now = "" if newest is None else f" The newest verdict: {CAUSES[newest['cause']].label.lower()}."
        rows.append(text(f"Later: {_backlog(incident, incident.known_until_ms, None)}{now}"))
    return rows


def _backlog(incident: Incident, at_ms: int, told: Answer | None) -> str:
    minute = incident.minute_at(at_ms)
    if minute is None:
        return f"The backlog at {fmt.moment(at_ms)} was not measured."
    ready = minute["backlog_ready_entries"]
    shown = minute["backlog_entries"] if fmt.is_missing(ready) else ready
    words = f"{_counted(shown, 'entry', 'entries')} ready for delivery at {fmt.moment(int(minute['minute_ms']) + 60_000)}"
    if told is None:
        return f"{words}."
    growth = incident.told["backlog_growth_entries"]
    length = fmt.duration(incident.told["window_end_ms"] - incident.told["window_start_ms"])
    if not fmt.is_missing(growth):
        change = fmt.exact(round(growth))
        words += f", {'+' if growth > 0 else ''}{change} in {length}"
    per_entry = minute["messages_per_entry"]
    if not fmt.is_missing(per_entry) and per_entry > 0:
        each = "one message" if round(per_entry, 1) == 1 else f"about {fmt.short(per_entry)} messages"
        words += f" (an entry is a batch, here of {each})"
    if not fmt.is_missing(minute["delayed_entries"]) and minute["delayed_entries"] > 0:
        words += f". {fmt.exact(minute['delayed_entries'])} more entries are delayed on purpose"
    if not fmt.is_missing(minute["backlog_age_s"]):
        words += f". The topic's oldest is {fmt.duration(minute['backlog_age_s'] * 1000)} old"
    return f"{words}."


def _since(incident: Incident, told: Answer | None) -> list[Text]:
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
                f"{_capital(at_least)}{fmt.moment(row['since_ms'])}, {fmt.duration(max(0, until_ms - row['since_ms']))} "
                f"({SINCE_WORDS[row['since_method']]})."
            )
        )
        if row["end_ms"] is not None:
            rows.append(text(f"Drained at {fmt.moment(row['end_ms'])}."))
        elif row["state"] == "silent":
            rows.append(text("Not drained when it was last seen; nothing has been seen of it since."))
        else:
            rows.append(text(f"Not known to be drained at {fmt.moment(row['known_until_ms'])}."))
        rows.append(
            text(f"Largest: {fmt.exact(row['peak_entries'])} ready entries at {fmt.moment(row['peak_ms'])}.")
        )
    if told is not None:
        rows.append(text(f"This cause: {_uncapital(told.since)}"))
    return rows


def _why(incident: Incident, told: Answer | None) -> list[Text]:
    if told is None:
        return [text("Not judged: the lake has no verdict of this subscription up to this moment.")]
    rule = f" The rule: {incident.told['why']}." if incident.told["why"] else ""
    rows = [text(told.title + rule), *map(text, told.why)]
    row = incident.episode
    same = row is None or (row["cause"], row["limiter"]) == (incident.told["cause"], incident.told["limiter"])
    if not same:
        limiter = f" ({limiter_words(row['limiter'])})" if row["limiter"] else ""
        rows.append(
            text(
                f"Over the whole episode something else held it longest: {CAUSES[row['cause']].label}{limiter}."
            )
        )
    return rows


def _sure(incident: Incident, worked: Worked, told: Answer | None) -> list[Text]:
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


def _limiter(incident: Incident) -> list[Text]:
    known = why.told_limits(incident)
    observed = why.are_observed(known)
    limiter = None if incident.told is None else incident.told["limiter"]
    if limiter:
        limit = next((one for one in known if f"{one.level}.{one.unit}" == limiter), None)
        name = _capital(f"{limiter_words(limiter)} ({limiter})")
        if limit is None or limit.rate is None:
            return [text(f"{name}; how large it is was not observed.")]
        lifted = f" It was lifted at {fmt.clock(limit.lifted_ms)}." if limit.lifted_ms is not None else ""
        return [text(f"{name}: {limit.amount()}, set by {limit.who()}.{lifted}")]
    if incident.told is None or incident.told["cause"] == "unknown":
        names = [f"{one.name} {one.amount()}" for one in known if one.rate is not None]
        return [
            text(
                f"None is named. Set: {', '.join(names) or 'none'}."
                if observed
                else "None is named; limits were not observed."
            )
        ]
    return [text("None holds it." if observed else "None is named; limits were not observed.")]


def _deadline(worked: Worked) -> list[Text]:
    if worked.forecasts is None:
        return [text(f"Not computed: {worked.why_not['forecasts']}.")]
    loss = remedies.nearest_loss(worked.forecasts)
    rows = []
    if loss is None:
        rows.append(text("No loss by message TTL or by a backlog quota is expected from what is known."))
    else:
        rows.append(text(f"{remedies.forecast_words(loss)} {loss['consequence']}"))
    rows += [text(remedies.forecast_words(row)) for row in worked.forecasts if row["kind"] == "drain"]
    return rows


def _first(incident: Incident, worked: Worked, told: Answer | None) -> list[Text]:
    if told is None:
        return [text("Make verdicts: throttlescope run --lake DIR.")]
    rows = [text(told.first)]
    best = worked.advice["recommendations"][:1] if worked.advice else []
    for one in best:
        when = remedies.gone_in(one)
        gone = f" The backlog is then gone in {when}." if when else ""
        where = " Its command and its rollback stand under What to change." if one["do"] else ""
        rows.append(text(f"The smallest change that drains it: {_uncapital(one['words'])}{gone}{where}"))
    return rows


def _never(worked: Worked, told: Answer | None) -> list[Text]:
    rows = [] if told is None else [text(told.never)]
    rows += [text(words) for words in (worked.advice or {}).get("not_helping", ())]
    return rows or [text("Not known.")]


def _missing(incident: Incident, worked: Worked) -> list[Text]:
    rows = []
    if incident.told is None:
        rows.append(text("A verdict."))
    else:
        for one in incident.told["missing_evidence"] or ():
            rows.append(text(f"{_sentence(one['what'])} Fix: {_sentence(one['fix'])}"))
    if incident.minutes.empty:
        rows.append(text("Minutes: the lake has no signals of this range."))
    if not why.are_observed(why.told_limits(incident)):
        rows.append(
            text(
                "Limits: none was read from the admin API. Fix: give --pulsar-admin URL to throttlescope run."
            )
        )
    if incident.was_cut:
        rows.append(
            text("The episode is longer than the range of the files, which holds 7 days around the moment.")
        )
    for what, reason in worked.why_not.items():
        if what != "again" or incident.told is not None:
            rows.append(text(f"{_NOT_COMPUTED[what]} could not be computed: {reason}."))
    return rows


def _link(incident: Incident, external_url: str | None) -> list[Block]:
    if external_url is None:
        return []
    return [
        Paragraph(
            text(
                "Live: ",
                Link(address(incident, external_url), "this subscription and this range in throttlescope"),
                ".",
            )
        )
    ]


# -- what it rests on ---------------------------------------------------------------------------


def _timeline(incident: Incident) -> list[Block]:
    rows = [
        [
            text(fmt.moment(one.start_ms).removesuffix(" UTC")),
            text("" if one.end_ms is None else f"to {fmt.moment(one.end_ms).removesuffix(' UTC')}"),
            text(one.kind),
            one.words,
        ]
        for one in events(incident)
    ]
    words = f"From {fmt.moment(incident.start_ms)} to {fmt.moment(incident.end_ms)}."
    if incident.episode is not None:
        words += " Causes are those of the episode: a cause that flapped for a window or two is left out."
    return [Paragraph(text(words)), Grid(("From (UTC)", "Until", "What", "In words"), rows)]


def _caption(incident: Incident) -> Text:
    if incident.minutes.empty and not incident.verdicts:
        return text("There is nothing to draw in this range.")
    return text(
        "Top to bottom: the verdict over time, the backlog in entries, messages in, out and acknowledged with every known limit, "
        "bytes, throttle events, and what the consumers hold, each where it was measured. Times are UTC; the dotted line is the "
        "moment told."
    )


def _partitions(incident: Incident) -> list[Block]:
    if not incident.partitions:
        return []
    rows = [
        [
            text(str(row["partition"])),
            text("not judged" if row["cause"] is None else CAUSES[row["cause"]].label),
            text(limiter_words(row["limiter"]) or "-"),
            text(fmt.exact(row["backlog_entries"])),
            text(fmt.moment(row["window_end_ms"]).removesuffix(" UTC")),
        ]
        for row in incident.partitions
    ]
    return [
        Heading(2, text("The other partitions")),
        Paragraph(
            text(
                f"Told above is partition {incident.key.partition}, the worst. A bundle of another: write topic-partition-N#subscription."
            )
        ),
        Grid(("Partition", "Newest cause", "Limiter", "Ready backlog (entries)", "Window's end (UTC)"), rows),
    ]


def _contents(incident: Incident) -> list[Text]:
    return [
        text(
            Name("incident.html"), ": this page with plots to zoom into; it needs a browser and no network."
        ),
        text(
            Name("plots.png"),
            ": the same plots as a picture, where the machine that made the bundle could draw one.",
        ),
        text(
            Name("verdicts.json"),
            ", ",
            Name("evidence.csv"),
            ": every window's verdict and what it rests on.",
        ),
        text(Name("signals.csv"), ": one row per minute; its column minute is UTC."),
        text(
            Name("limits.json"),
            ", ",
            Name("policies.jsonl"),
            ": limits as they were resolved, and the answers of the admin API that they come from, without secrets.",
        ),
        text(
            Name("queries.promql"),
            ", ",
            Name("commands.sh"),
            ": to copy line by line; nothing in them runs by itself.",
        ),
        text(Name("manifest.json"), ": versions, ranges and the SHA-256 of every file."),
    ]


def _counted(value: float, one: str, many: str) -> str:
    return f"{fmt.exact(value)} {one if value == 1 else many}"


def _sentence(words: str) -> str:
    shown = words if "_" in words.split(" ")[0] else _capital(words)
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _uncapital(words: str) -> str:
    return words[:1].lower() + words[1:]
