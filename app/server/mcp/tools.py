"""The tools, without the protocol. In: a lake and the arguments of a call. Out: an answer of :mod:`~throttlescope.app.server.mcp.answers` and a short text.

They call what the command line and the pages call, never write, and never start Spark.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from throttlescope.app.incident import evidence
from throttlescope.app.incident.load import Incident, read_incident
from throttlescope.app.incident.selection import IncidentSelection
from throttlescope.app.incident.summary import verdict_answer
from throttlescope.app.presentation.answer import VerdictAnswer
from throttlescope.app.presentation.backlog_units import in_other_units
from throttlescope.app.presentation.causes import CAUSES, limiter_words
from throttlescope.app.presentation.output import freshness
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.app.queries.latest import LatestFilter, check_known, read_latest, read_troubled
from throttlescope.app.queries.verdicts import check_cause
from throttlescope.app.server.mcp import answers
from throttlescope.app.server.mcp.limits import McpLimits
from throttlescope.app.services.promql.answer_table import SUMMED_UP, AnswerTable, answer_table
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.services.promql.query_request import QueryRequest, run_query
from throttlescope.app.services.whatif.replay import Question
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import subscription_text as full_name
from throttlescope.ingest.core.times import SECOND_MS, format_time, parse_duration, parse_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.backlog_age import backlog_age
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text, visible
from throttlescope.transforms.promql.answer import number
from throttlescope.transforms.promql.query import Options

#: How many rows a short text names; the structured answer has all of them.
_NAMED = 10
#: Pieces of evidence of one verdict, and characters of a label's value.
_MOST_EVIDENCE, _LONGEST_LABEL = 30, 500


@dataclass(frozen=True)
class LakeTools:
    """The tools of one lake. Calls may come at once from several threads.

    Attributes
    ----------
    now_ms : callable
        The clock that ages count from.
    """

    lake: Lake
    limits: McpLimits
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    _queries: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(2, 6))
    _replays: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(1, 3))

    def troubled(
        self, cluster: str | None, namespace: str | None, cause: str | None, most: int
    ) -> tuple[answers.TroubledSubscriptions, str]:
        """Subscriptions with a cause, the largest backlog first."""
        if cause is not None:
            check_cause(cause)
        if not 1 <= most <= self.limits.most_rows:
            raise InputError(
                "The number of subscriptions is out of range",
                got=most,
                expected=f"1 to {self.limits.most_rows}",
            )
        rows = read_troubled(self.lake, LatestFilter(cluster, namespace, cause))
        shown = rows[:most]
        newest_ms = max(read_latest(self.lake).column("window_end_ms").to_pylist(), default=None)
        answer = answers.TroubledSubscriptions(
            subscriptions=[_troubled(row) for row in shown],
            total=len(rows),
            left_out=len(rows) - len(shown),
            by_cause=dict(Counter(row["cause"] for row in rows).most_common()),
            freshness=self._age(newest_ms),
        )
        return answer, _troubled_text(shown, len(rows), answer.freshness)

    def explain(
        self, subscription: str, cluster: str | None, at: str | None
    ) -> tuple[answers.Explanation, str]:
        """The verdict of a subscription with its evidence."""
        found = self._incident(subscription, cluster, at)
        verdict = found.verdict
        judged = None if verdict is None else verdict_answer(found)
        answer = answers.Explanation(
            subscription=str(found.name),
            cluster=found.key.cluster,
            **_cause_parts(found, judged),
            **_verdict_parts(verdict),
            backlog=_backlog(found),
            limits=_limits(found),
            limits_observed=evidence.are_observed(evidence.limits_at_verdict(found)),
            episode_since=None if found.episode is None else format_time(found.episode["since_ms"]),
            episode_peak_entries=None if found.episode is None else found.episode["peak_entries"],
            freshness=self._age(found.known_until_ms),
        )
        return answer, _explanation_text(answer)

    def what_if(
        self,
        subscription: str,
        changes: list[str],
        cluster: str | None,
        at: str | None,
        window: str,
        horizon: str,
    ) -> tuple[answers.WhatIfAnswer, str]:
        """A replay with a change; nothing is changed on the cluster."""
        from throttlescope.app.server.mcp.replay import replay_within

        check_known(self.lake, subscription, cluster)
        question = Question(subscription, cluster, tuple(changes), at, window, "24h", horizon, None)
        with self._replays.slot(self.limits.what_if_s) as left_s:
            found = replay_within(self.lake, question, self.now_ms(), most_s=left_s)
        words = found["change"]["words"]
        answer = answers.WhatIfAnswer(
            subscription=subscription,
            cluster=found["cluster"],
            at=found["at"],
            change=words,
            as_is=_future(found["as_is"]),
            changed=None if found["changed"] is None else _future(found["changed"]),
            effect=found["effect"],
            effect_text=found["effect_words"],
            backlog_entries=found["backlog_entries"],
            horizon_s=found["horizon_s"],
            capacity_msg_per_s=found["capacity"]["msg_per_s"],
            replay_error_share=found["window"]["error_share"],
            notes=found["notes"],
            freshness=self._age(found["at_ms"]),
        )
        return answer, _what_if_text(answer)

    def query(
        self, expr: str, at: str | None, start: str | None, end: str | None, step: str | None
    ) -> tuple[answers.QueryResult, str]:
        """A PromQL query in this process."""
        times = {
            name: self._time_ms(text) for name, text in (("at_ms", at), ("start_ms", start), ("end_ms", end))
        }
        step_ms = None if step is None else parse_duration(step)
        with self._queries.slot(self.limits.query_s) as left_s:
            options = Options(timeout_s=max(left_s, 0.1), max_samples=self.limits.most_samples)
            request = QueryRequest(expr, **times, step_ms=step_ms, options=options, engine="local")
            outcome = run_query(self.lake, request, _no_spark)
        kind, value = outcome.answer.kind, outcome.answer.value
        if isinstance(value, str):
            table = AnswerTable([], {}, False, False, [], 0)
            rows = [
                answers.QueryRow(
                    labels={}, at=None, value=None, value_text=value[:_LONGEST_LABEL], series=None
                )
            ]
        else:
            table = answer_table(outcome.answer, most=self.limits.most_rows)
            rows = [_query_row(table, line) for line in table.lines]
        answer = answers.QueryResult(
            expr=expr,
            kind=kind,
            shared_labels=_short(table.shared),
            rows=rows,
            left_out=table.left_out,
            warnings=[str(one) for one in outcome.answer.warnings][:_NAMED],
            freshness=self._age(outcome.newest_ms),
        )
        shown = counted(len(rows) + table.left_out, "row")
        return answer, f"{sentence('mcp.rows', rows=shown, expr=visible(expr))} {answer.freshness.note}"

    def report(
        self, subscription: str, cluster: str | None, at: str | None
    ) -> tuple[answers.IncidentReport, str]:
        """The incident report of a backlog as Markdown; no file is written."""
        from throttlescope.app.incident.computed import compute_results
        from throttlescope.app.incident.markdown import markdown
        from throttlescope.app.incident.page import page

        found = self._incident(subscription, cluster, at)
        with self._replays.slot(self.limits.what_if_s) as left_s:
            computed = compute_results(self.lake, found, most_s=left_s)
        text = markdown(page(found, computed, picture=None), picture=None)
        most = self.limits.report_characters
        verdict = found.verdict
        answer = answers.IncidentReport(
            subscription=str(found.name),
            cluster=found.key.cluster,
            at=format_time(found.at_ms),
            cause=None if verdict is None else verdict["cause"],
            limiter=None if verdict is None else verdict["limiter"],
            markdown=text[:most],
            cut=len(text) > most,
            not_computed=dict(computed.why_not),
            freshness=self._age(found.known_until_ms),
        )
        return answer, f"{answer.markdown}\n{answer.freshness.note}"

    # -- parts ---------------------------------------------------------------------------------

    def _incident(self, subscription: str, cluster: str | None, at: str | None) -> Incident:
        at_ms = self._time_ms(at)
        with _naming_similar(self.lake, subscription, cluster):
            return read_incident(self.lake, IncidentSelection(subscription, cluster, at_ms))

    def _time_ms(self, text: str | None) -> int | None:
        return None if text is None else parse_time(text, now_ms=self.now_ms())

    def _age(self, newest_ms: int | None) -> answers.DataAge:
        now_ms = self.now_ms()
        return answers.DataAge(
            data_until=None if newest_ms is None else format_time(newest_ms),
            age_s=None if newest_ms is None else (now_ms - newest_ms) / SECOND_MS,
            note=freshness(newest_ms, now_ms),
        )


@contextmanager
def _naming_similar(lake: Lake, subscription: str, cluster: str | None) -> Iterator[None]:
    """Where a subscription is not found, say which names are like it."""
    try:
        yield
    except InputError:
        check_known(lake, subscription, cluster)
        raise


def _no_spark(_: object) -> Any:
    raise InputError("Spark is not started here", fix="narrow the query")


def _troubled(row: Mapping[str, Any]) -> answers.TroubledSubscription:
    return answers.TroubledSubscription(
        subscription=full_name(row["topic"], row["partition"], row["subscription"]),
        cluster=row["cluster"],
        cause=row["cause"],
        cause_label=CAUSES[row["cause"]].label,
        side=row["side"],
        limiter=row["limiter"],
        confidence=row["confidence"],
        backlog_entries=row["backlog_entries"],
        backlog_growth_entries=row["backlog_growth_entries"],
        since=format_time(row["since_ms"]),
        since_at_least=row["since_at_least"],
        window_end=format_time(row["window_end_ms"]),
    )


def _troubled_text(rows: list[dict[str, Any]], total: int, age: answers.DataAge) -> str:
    if not rows:
        return f"{sentence('mcp.none')} {age.note}"
    lines = [sentence("mcp.troubled", subscriptions=counted(total, "subscription"))]
    for row in rows[:_NAMED]:
        name, cause = visible(subscription_text(row)), CAUSES[row["cause"]].label.lower()
        entries, since = count(row["backlog_entries"]), f"{minute_text(row['since_ms'])} UTC"
        if row["limiter"] is None:
            lines.append(
                sentence("mcp.troubled.row", subscription=name, cause=cause, entries=entries, since=since)
            )
        else:
            limiter = limiter_words(row["limiter"], row["subscription"])
            lines.append(
                sentence(
                    "mcp.troubled.row_and_limiter",
                    subscription=name, cause=cause, limiter=limiter, entries=entries, since=since,
                )
            )  # fmt: skip
    if total > _NAMED:
        lines.append(sentence("mcp.more", number=total - min(_NAMED, len(rows))))
    return "\n".join([*lines, age.note])


def _cause_parts(found: Incident, judged: VerdictAnswer | None) -> dict[str, Any]:
    verdict = found.verdict
    if verdict is None or judged is None:
        no_verdict = sentence("mcp.no_verdict", subscription=visible(str(found.name)))
        empty = dict.fromkeys(
            (
                "cause",
                "cause_label",
                "side",
                "limiter",
                "confidence",
                "since",
                "first_step",
                "will_not_help",
                "naive_side",
            )
        )
        return {**empty, "answer": no_verdict, "why": [], "against": [], "known_bugs": []}
    return {
        "cause": verdict["cause"],
        "cause_label": judged.cause.label,
        "side": verdict["side"],
        "limiter": verdict["limiter"],
        "confidence": verdict["confidence"],
        "answer": judged.title,
        "since": judged.since,
        "why": [*([verdict["why"]] if verdict["why"] else []), *judged.why],
        "against": list(judged.against),
        "first_step": judged.first,
        "will_not_help": judged.never,
        "known_bugs": list(judged.bugs),
        "naive_side": verdict["naive_side"],
    }


def _verdict_parts(verdict: Mapping[str, Any] | None) -> dict[str, Any]:
    if verdict is None:
        names = ("window_start", "window_end", "rules_version")
        return {**dict.fromkeys(names), "evidence": [], "missing_evidence": []}
    shown = (verdict["evidence"] or ())[:_MOST_EVIDENCE]
    names = answers.EvidenceItem.model_fields
    return {
        "window_start": format_time(verdict["window_start_ms"]),
        "window_end": format_time(verdict["window_end_ms"]),
        "rules_version": verdict["rules_version"],
        "evidence": [answers.EvidenceItem(**{name: one[name] for name in names}) for one in shown],
        "missing_evidence": [answers.MissingItem(**one) for one in verdict["missing_evidence"] or ()],
    }


def _backlog(found: Incident) -> answers.BacklogAnswer:
    minute, verdict = found.minute_at(found.at_ms), found.verdict
    minutes = found.minutes[found.minutes["minute_ms"] < found.at_ms]
    age = None if minutes.empty else backlog_age(minutes)
    entries = None if verdict is None else verdict["backlog_entries"]
    if entries is None and minute is not None:
        entries = _finite(minute["backlog_ready_entries"])
    units = in_other_units(entries, {} if minute is None else minute, age)
    per_entry = None if minute is None else _finite(minute["messages_per_entry"])
    return answers.BacklogAnswer(
        entries=entries,
        growth_entries=None if verdict is None else verdict["backlog_growth_entries"],
        messages_per_entry=per_entry,
        oldest_age_s=None if age is None else age.age_s,
        oldest_age_source=None if age is None else age.source,
        oldest_age_unknown="not_measured" if age is None else age.unknown,
        text=" ".join([f"{count(entries)} entries.", *units]),
    )


def _limits(found: Incident) -> list[answers.LimitAnswer]:
    return [
        answers.LimitAnswer(
            limiter=f"{one.level}.{one.unit}",
            rate=one.rate,
            period_s=one.period_s,
            counts=one.counts,
            set_by=one.set_by,
            use_share=one.use_share_max,
        )
        for one in evidence.limits_at_verdict(found)
    ]


def _explanation_text(answer: answers.Explanation) -> str:
    lines = [answer.answer, answer.backlog.text, *([answer.since] if answer.since else [])]
    lines += [sentence("mcp.why", why=why) for why in answer.why[:3]]
    lines += [sentence("mcp.against", against=one) for one in answer.against[:1]]
    if answer.first_step is not None:
        lines.append(sentence("mcp.first", first=answer.first_step))
    if answer.will_not_help is not None:
        lines.append(sentence("mcp.not_helping", never=answer.will_not_help))
    return "\n".join([*lines, answer.freshness.note])


def _future(known: Mapping[str, Any]) -> answers.ReplayedFuture:
    outlook = known["fitted"] or known["best"]
    return answers.ReplayedFuture(
        drained=known["drained"],
        earliest_s=known["earliest_s"],
        latest_s=known["latest_s"],
        limited_by=outlook["held_by"],
        growth_entries_per_s=_finite(outlook["growth_entries_per_s"]),
        out_msg_per_s=_finite(outlook["out_msg_per_s"]),
    )


def _what_if_text(answer: answers.WhatIfAnswer) -> str:
    lines = [sentence("mcp.as_is", drained=answer.as_is.drained)]
    if answer.changed is not None:
        lines.append(
            sentence(
                "mcp.changed",
                change=answer.change,
                drained=answer.changed.drained,
                effect=answer.effect_text or "",
            )
        )
    return "\n".join([*lines, sentence("mcp.nothing_changed"), answer.freshness.note])


def _query_row(table: AnswerTable, line: Any) -> answers.QueryRow:
    labels = {head: text for head, text in zip(table.heads, line.labels, strict=True) if text is not None}
    if table.summed:
        series = {name: _finite(value) for name, value in zip(SUMMED_UP, line.values, strict=True)}
        return answers.QueryRow(labels=_short(labels), at=None, value=None, value_text="", series=series)
    return answers.QueryRow(
        labels=_short(labels),
        at=None if line.time_ms is None else format_time(int(line.time_ms)),
        value=_finite(line.values[0]),
        value_text=number(line.values[0]),
        series=None,
    )


def _short(labels: Mapping[str, str]) -> dict[str, str]:
    return {name[:_LONGEST_LABEL]: value[:_LONGEST_LABEL] for name, value in labels.items()}


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
