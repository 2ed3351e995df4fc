"""What matters at night, in one order. In: an incident and its computed results. Out: a title and nine facts in plain words.

What, since when, why and how sure, which limiter, what happens by when, what to do first and what will not help, what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from throttlescope.app.incident import evidence, remedies
from throttlescope.app.incident.computed import ComputedResults, RecomputedVerdict
from throttlescope.app.incident.load import Incident
from throttlescope.app.incident.timeline import since_words
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import recommendations_of, texts_of
from throttlescope.app.presentation.answer import VerdictAnswer, answer, newest_type
from throttlescope.app.presentation.backlog_units import age_sentence
from throttlescope.app.presentation.blocks import Facts, Name, TextBlock, text
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.presentation.causes import CAUSES, limiter_words
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.ingest.core.topic_name import part_word
from throttlescope.models.backlog_age import backlog_age
from throttlescope.models.diagnosis.causes import HEALTHY
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import forecast_in_language
from throttlescope.models.messages.units import duration


def facts(incident: Incident, computed: ComputedResults, pictures: Sequence[str] = ()) -> Facts:
    """The nine facts; ``pictures`` says why there is no picture of the plots, where there is none."""
    judged = None if incident.verdict is None else verdict_answer(incident)
    return Facts(
        [
            (sentence("label.what"), _what(incident)),
            (sentence("label.since_when"), _since(incident)),
            (sentence("label.why"), _why(incident, computed, judged)),
            (sentence("label.how_sure"), _sure(incident, computed, judged)),
            (sentence("label.limiter"), evidence.limiter(incident)),
            (sentence("incident.deadlines.heading"), _deadline(incident, computed)),
            (sentence("label.do_first"), _first(computed, judged)),
            (sentence("label.will_not_help"), _not_helping(computed, judged)),
            (
                sentence("label.missing"),
                [*_missing(incident, computed), *map(text, pictures)] or [text(sentence("label.nothing"))],
            ),
        ]
    )


def verdict_answer(incident: Incident) -> VerdictAnswer:
    """The answer that the incident's verdict gives."""
    end_ms = incident.verdict["window_end_ms"]
    history = [row for row in incident.verdicts if row["window_end_ms"] < end_ms]
    return answer(
        incident.verdict,
        history,
        evidence.limits_at_verdict(incident),
        incident.answers.broker_versions,
        subscription_type=newest_type(incident.minutes),
    )


def title(incident: Incident) -> TextBlock:
    """The subscription and its cause."""
    verdict = incident.verdict
    if verdict is None:
        return text(*_subject(incident), ": no verdict")
    limiter = (
        f" by the {limiter_words(verdict['limiter'], incident.key.subscription)}"
        if verdict["limiter"]
        else ""
    )
    return text(*_subject(incident), f": {CAUSES[verdict['cause']].label.lower()}{limiter}")


def _subject(incident: Incident) -> list[str | Name]:
    """The subscription, or the replicator by its remote cluster."""
    remote = remote_cluster(incident.key.subscription)
    return (
        [Name(incident.key.subscription)]
        if remote is None
        else [sentence("label.replicator_to"), Name(remote)]
    )


def as_of(incident: Incident) -> TextBlock:
    """The time of the page, and its units."""
    at, until = fmt.moment(incident.at_ms), fmt.moment(incident.known_until_ms)
    verdict = incident.verdict
    if verdict is None:
        return text(sentence("incident.as_of.no_verdict", at=at, until=until))
    start, end = fmt.clock(verdict["window_start_ms"]), fmt.clock(verdict["window_end_ms"])
    return text(sentence("incident.as_of.verdict", at=at, until=until, start=start, end=end))


def _what(incident: Incident) -> list[TextBlock]:
    key = incident.key
    partition = "" if key.partition < 0 else f", {part_word(key.topic)} {key.partition}"
    remote = remote_cluster(key.subscription)
    if remote is None:
        parts = [
            sentence("label.subscription_title"),
            Name(key.subscription),
            sentence("label.of_topic"),
            Name(key.topic),
        ]
    else:
        parts = [
            sentence("label.replicator_to_cluster"),
            Name(remote),
            sentence("label.of_topic"),
            Name(key.topic),
        ]
    rows = [text(*parts, f"{partition}, cluster ", Name(key.cluster), "."), text(_backlog(incident))]
    if incident.newest_backlog is not None and incident.newest_backlog[0] > incident.at_ms:
        rows.append(text(_newest(incident)))
    return rows


def _backlog(incident: Incident) -> str:
    """The backlog at the reported time, with its change, its unit and its age."""
    minute = incident.minute_at(incident.at_ms)
    if minute is None:
        return sentence("incident.backlog.not_measured", at=fmt.moment(incident.at_ms))
    ready, end_ms = minute["backlog_ready_entries"], int(minute["minute_ms"]) + MINUTE_MS
    entries = _entries(minute["backlog_entries"] if fmt.is_missing(ready) else ready)
    at = fmt.moment(end_ms)
    if end_ms >= incident.known_until_ms:
        at = sentence("incident.backlog.end_of_data", at=at)
    growth = None if incident.verdict is None else incident.verdict["backlog_growth_entries"]
    if fmt.is_missing(growth):
        found = [sentence("incident.backlog.ready", entries=entries, at=at)]
    else:
        length = _length_s(incident.verdict["window_start_ms"], incident.verdict["window_end_ms"])
        change = f"{'+' if growth > 0 else ''}{fmt.exact(round(growth))}"
        found = [
            sentence(
                "incident.backlog.ready_and_growth", entries=entries, at=at, growth=change, length=length
            )
        ]
    per_entry = minute["messages_per_entry"]
    if not fmt.is_missing(per_entry) and per_entry > 0:
        if round(per_entry, 1) == 1:
            found.append(sentence("incident.backlog.entry_is_message"))
        else:
            found.append(sentence("incident.backlog.entry_is_batch", messages=fmt.short(per_entry)))
    if not fmt.is_missing(minute["delayed_entries"]) and minute["delayed_entries"] > 0:
        found.append(sentence("incident.backlog.delayed", entries=_entries(minute["delayed_entries"])))
    age = backlog_age(incident.minutes[incident.minutes["minute_ms"] <= minute["minute_ms"]])
    found += age_sentence(age)
    if age.source is None and not fmt.is_missing(minute["backlog_age_s"]):
        found.append(sentence("incident.backlog.age", age=minute["backlog_age_s"]))
    return " ".join(found)


def _newest(incident: Incident) -> str:
    """The backlog and the verdict at the end of the data."""
    end_ms, entries = incident.newest_backlog
    known, at = _entries(entries), fmt.moment(end_ms)
    if incident.newest is None:
        return sentence("incident.newest.backlog", entries=known, at=at)
    cause = CAUSES[incident.newest["cause"]].label.lower()
    return sentence("incident.newest.backlog_and_verdict", entries=known, at=at, cause=cause)


def _since(incident: Incident) -> list[TextBlock]:
    return [text(one) for one in (*_episode(incident), *_this_cause(incident))]


def _episode(incident: Incident) -> list[str]:
    row = incident.episode
    if row is None:
        return [sentence("incident.since.no_episode")]
    # A backlog that is gone has a length; an open one lasts until the moment of the report.
    length = _length_s(row["since_ms"], incident.at_ms if row["end_ms"] is None else row["end_ms"])
    at, how = fmt.moment(row["since_ms"]), since_words(row["since_method"])
    if row["since_method"] == "start_of_data":
        began = sentence("incident.since.began_before", at=at, length=length, how=how)
    else:
        began = sentence("incident.since.began", at=at, length=length, how=how)
    if row["end_ms"] is not None:
        ended = sentence("incident.since.drained", at=fmt.moment(row["end_ms"]))
    elif row["state"] == "silent":
        ended = sentence("incident.since.no_data")
    elif row["over_until_ms"] < row["known_until_ms"]:
        ended = sentence("incident.since.normal", at=fmt.moment(row["over_until_ms"]))
    else:
        ended = sentence("incident.since.not_drained", at=fmt.moment(row["known_until_ms"]))
    peak = sentence(
        "incident.since.peak", entries=fmt.exact(row["peak_entries"]), at=fmt.moment(row["peak_ms"])
    )
    return [began, ended, peak]


def _this_cause(incident: Incident) -> list[str]:
    if incident.verdict is None:
        return []
    end_ms = incident.verdict["window_end_ms"]
    run = runs([row for row in incident.verdicts if row["window_end_ms"] <= end_ms])[-1]
    at, length = fmt.moment(run.start_ms), _length_s(run.start_ms, run.end_ms)
    if run.follows_gap:
        since = sentence("incident.since.cause_before", at=at, length=length)
    else:
        since = sentence("incident.since.cause", at=at, length=length)
    return [since, *_other_causes(incident)]


def _other_causes(incident: Incident) -> list[str]:
    """What else was the verdict during the episode, the longest first: a shorter cause must not vanish behind the main one."""
    verdict, episode = incident.verdict, incident.episode or {}
    start_ms, end_ms = episode.get("since_ms", 0), episode.get("end_ms") or incident.known_until_ms
    lasted_ms: Counter[tuple[str, str | None]] = Counter()
    for run in runs(incident.verdicts):
        inside_ms = min(run.end_ms, end_ms) - max(run.start_ms, start_ms)
        if inside_ms > 0 and run.cause != HEALTHY.name:
            lasted_ms[run.cause, run.limiter] += inside_ms
    del lasted_ms[verdict["cause"], verdict["limiter"]]
    if not lasted_ms:
        return []
    names = []
    for (cause, limiter), length_ms in lasted_ms.most_common():
        words = CAUSES[cause].label.lower()
        which = f" ({limiter_words(limiter, incident.key.subscription)})" if limiter else ""
        names.append(f"{words}{which} {duration(length_ms / SECOND_MS)}")
    return [sentence("incident.since.other_causes", causes=", ".join(names))]


def _why(incident: Incident, computed: ComputedResults, judged: VerdictAnswer | None) -> list[TextBlock]:
    if judged is None:
        return [text(sentence("incident.why.no_verdict"))]
    why = incident.worded["why"]
    first = sentence("incident.why.rule", answer=judged.title, why=why) if why else judged.title
    rows = [first, *judged.why]
    if computed.consumers is not None and computed.consumers.slow:
        rows.append(sentence("incident.why.consumers", consumers=computed.consumers.text))
    rows += [sentence("incident.why.known_bug", bug=bug) for bug in judged.bugs]
    row, verdict = incident.episode, incident.verdict
    if row is not None and (row["cause"], row["limiter"]) != (verdict["cause"], verdict["limiter"]):
        cause = CAUSES[row["cause"]].label
        if row["limiter"]:
            limiter = limiter_words(row["limiter"], incident.key.subscription)
            rows.append(sentence("incident.why.main_cause_and_limiter", cause=cause, limiter=limiter))
        else:
            rows.append(sentence("incident.why.main_cause", cause=cause))
    return [text(one) for one in rows]


def _sure(incident: Incident, computed: ComputedResults, judged: VerdictAnswer | None) -> list[TextBlock]:
    if judged is None:
        return [text(sentence("incident.sure.no_verdict"))]
    rules = fmt.name(incident.verdict["rules_version"], 40)
    rows = [sentence("incident.sure.rules", confidence=_capital(judged.sure), rules=rules)]
    if judged.against:
        rows.append(sentence("incident.sure.against", evidence=judged.against[0]))
    if computed.recomputed is not None:
        rows.append(_recomputed(computed.recomputed))
    return [text(one) for one in rows]


def _recomputed(verdict: RecomputedVerdict) -> str:
    rules = fmt.name(verdict.rules_version, 40)
    if verdict.differences:
        changes = [
            sentence("incident.recomputed.change", name=name, then=_plain(then), now=_plain(now))
            for name, (then, now) in verdict.differences.items()
        ]
        found = sentence("incident.recomputed.different", rules=rules, changes=changes)
    else:
        found = sentence("incident.recomputed.same", rules=rules)
    return f"{found} {sentence('incident.recomputed.repaired')}" if verdict.repaired else found


def _plain(value: object) -> str:
    return fmt.percent(value) if isinstance(value, float) else str(value)


def _deadline(incident: Incident, computed: ComputedResults) -> list[TextBlock]:
    if computed.forecasts is None:
        return [text(sentence("incident.deadlines.not_computed", why=computed.why_not["forecasts"]))]
    loss = remedies.nearest_loss(computed.forecasts)
    rows = []
    if loss is not None:
        rows.append(f"{remedies.forecast_text(loss)} {forecast_in_language(loss)['consequence']}")
    rows.append(remedies.deadline_text(computed.deadlines))
    rows += [remedies.forecast_text(row) for row in computed.forecasts if row["kind"] == "drain"]
    end_ms = None if incident.episode is None else incident.episode["end_ms"]
    if end_ms is not None:
        rows.append(sentence("incident.deadlines.drained", at=fmt.moment(end_ms)))
    return [text(one) for one in rows]


def _first(computed: ComputedResults, judged: VerdictAnswer | None) -> list[TextBlock]:
    if judged is None:
        return [text(sentence("incident.first.no_verdict"))]
    rows = [text(judged.first)]
    for one in recommendations_of(computed.advice)[:1] if computed.advice else []:
        found = [sentence("incident.first.change", change=one.text)]
        if one.gone_in is not None:
            found.append(sentence("incident.first.gone_in", gone_in=one.gone_in))
        if one.apply:
            found.append(sentence("incident.first.command"))
        rows.append(text(" ".join(found)))
    return rows


def _not_helping(computed: ComputedResults, judged: VerdictAnswer | None) -> list[TextBlock]:
    rows = [] if judged is None else [judged.never]
    if computed.advice:
        rows += texts_of(computed.advice["not_helping"])
    return [text(one) for one in rows or (sentence("label.not_known_title"),)]


def _missing(incident: Incident, computed: ComputedResults) -> list[TextBlock]:
    rows = [sentence("label.a_verdict")] if incident.verdict is None else []
    for one in (incident.worded or {}).get("missing_evidence") or ():
        what, fix = _sentence(one["what"]), _sentence(one["fix"])
        rows.append(sentence("incident.missing.evidence", what=what, fix=fix))
    if incident.minutes.empty:
        rows.append(sentence("incident.missing.minutes"))
    if not evidence.are_observed(evidence.limits_at_verdict(incident)):
        rows.append(sentence("incident.missing.limits"))
    if incident.was_cut:
        rows.append(sentence("incident.missing.cut"))
    if computed.advice is not None and computed.advice["is_far_off"]:
        off = fmt.percent(computed.advice["replay_error_share"])
        rows.append(sentence("incident.missing.replay", share=off))
    for what, reason in computed.why_not.items():
        if what != "again" or incident.verdict is not None:
            rows.append(sentence(f"incident.not_computed.{what}", why=reason))
    return [text(one) for one in rows]


def _entries(value: float) -> str:
    return f"{fmt.exact(round(value))} {'entry' if round(value) == 1 else 'entries'}"


def _length_s(start_ms: int, end_ms: int) -> float:
    return max(0, end_ms - start_ms) / SECOND_MS


def _sentence(words: str) -> str:
    shown = words if "_" in words.split(" ")[0] else _capital(words)
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
