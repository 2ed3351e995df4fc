"""The data files of a bundle. In: an incident and its computed results. Out: the text of each.

Names are other people's: in CSV no cell begins like a formula, in a shell file every line is a comment, in JSON they are exact.
"""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.incident.evidence import evidence_queries, limits_at_verdict
from throttlescope.app.incident.load import Incident
from throttlescope.app.incident.remedies import verifying
from throttlescope.app.presentation.advice import (
    document,
    no_command,
    no_roll_back,
    none_found,
    recommendations_of,
)
from throttlescope.app.presentation.output import write_csv, write_json
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.core.topic_name import is_scalable, part_text
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import MESSAGES
from throttlescope.models.messages.units import visible

#: The fields of a limit, without the time of the reading.
_LIMIT_TIME = ("observed_ms", "date")
_EVIDENCE = (
    "window_start", "window_end", "told", "cause", "limiter", "confidence", "symptom", "weight", "text", "value", "threshold",
    "unit", "at", "promql",
)  # fmt: skip


def verdicts_json(incident: Incident, computed: ComputedResults) -> str:
    """Every verdict of the range with its evidence, the bundle's verdict, and that one under today's rules."""
    recomputed = computed.recomputed
    return _json(
        {
            "subscription": str(incident.name),
            "cluster": incident.key.cluster,
            "told": _without_date(incident.verdict),
            "judged_again": None
            if recomputed is None
            else {
                "rules_version": recomputed.rules_version,
                "repaired": recomputed.repaired,
                "differences": {
                    name: {"then": then, "now": now} for name, (then, now) in recomputed.differences.items()
                },
            },
            "episode": _without_date(incident.episode),
            "forecasts": None
            if computed.forecasts is None
            else [_without_date(row) for row in computed.forecasts],
            "advice": None if computed.advice is None else document(computed.advice),
            "consumers": None if computed.consumers is None else computed.consumers.to_row(),
            "limit_used_by": [asdict(one) for one in computed.neighbours or ()],
            "not_computed": dict(computed.why_not),
            "verdicts": [_without_date(row) for row in incident.verdicts],
        }
    )


def evidence_csv(incident: Incident) -> str:
    """One row per piece of evidence of every window."""
    rows = []
    for verdict in incident.verdicts:
        head = {
            "window_start": format_time(verdict["window_start_ms"]),
            "window_end": format_time(verdict["window_end_ms"]),
            "told": "yes" if verdict is incident.verdict else "no",
            **{name: verdict[name] for name in ("cause", "limiter", "confidence")},
        }
        for row in verdict["evidence"] or ():
            at = None if row["at_ms"] is None else format_time(row["at_ms"])
            rows.append({**head, **{name: row[name] for name in _EVIDENCE if name in row}, "at": at})
    return _csv(_EVIDENCE, rows)


def signals_csv(incident: Incident) -> str:
    """The minutes, with every column of the table."""
    names = [column.name for column in TABLES["signals"].columns if column.name != "date"]
    rows = []
    for row in incident.minutes.astype(object).to_dict("records"):
        plain = {name: None if pd.isna(row.get(name)) else row.get(name) for name in names}
        rows.append({"minute": format_time(int(plain["minute_ms"])), **plain})
    return _csv(["minute", *names], rows)


def limits_json(incident: Incident) -> str:
    """Limits at the bundle's time, and every reading that differs from the one before."""
    limits = [
        {
            **asdict(limit),
            "rate_per_s": limit.per_second,
            "set_by_words": limit.who(),
            "events_prove": limit.events_prove,
        }
        for limit in limits_at_verdict(incident)
    ]
    return _json({"told": limits, "observed": _differing(incident.limits)})


def _differing(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    newest: dict[str, dict[str, Any]] = {}
    for row in rows:
        says = {name: value for name, value in row.items() if name not in _LIMIT_TIME}
        if newest.get(row["level"]) != says:
            newest[row["level"]] = says
            found.append(
                {**says, "observed_ms": row["observed_ms"], "observed": format_time(row["observed_ms"])}
            )
    return found


def policies_jsonl(incident: Incident) -> str:
    """Answers of the admin API, one per line."""
    lines = [
        json.dumps(
            {
                "scope": one.scope,
                "key": one.key,
                "broker": one.broker,
                "observed": format_time(one.observed_ms),
                "observed_ms": one.observed_ms,
                "body": one.body,
            },
            sort_keys=True,
        )
        for one in incident.answers.stored
    ]
    return "".join(f"{line}\n" for line in lines)


def queries_promql(incident: Incident, computed: ComputedResults) -> str:
    """Queries for Prometheus: backlog, rates, throttle events, the verdict's evidence, and the effect of a change."""
    key = incident.key
    always = {
        "backlog": promql.gauge(key, "pulsar_subscription_back_log_no_delayed"),
        "flow": promql.flow(key, 300_000),
        "events": promql.all_events(key, 300_000),
    }
    start, end = format_time(incident.start_ms), format_time(incident.end_ms)
    parts = [sentence("incident.queries.head", start=start, end=end)]
    parts += [f"# {sentence(f'incident.queries.query.{what}')}\n{query}" for what, query in always.items()]
    parts.append(evidence_queries((incident.verdict or {}).get("evidence") or ()))
    parts += [f"# {sentence('incident.queries.check')}\n{query}" for query in verifying(computed)]
    return _lines("\n\n".join(part for part in parts if part))


def commands_sh(incident: Incident, computed: ComputedResults) -> str:
    """Commands to look, to change and to roll back, every line a comment."""
    name, cluster, at = str(incident.name), incident.key.cluster, format_time(incident.at_ms)
    lines = [
        sentence("incident.commands.of", subscription=name, cluster=cluster, at=at),
        sentence("incident.commands.executed"),
        *([] if name.isprintable() else [sentence("incident.commands.invisible")]),
        "",
        "Inspect (read only):",
        *_inspecting(incident.key),
    ]
    advice = computed.advice
    if advice is None:
        lines += ["", sentence("incident.commands.none", why=computed.why_not["advice"])]
        return _comments(lines)
    known = recommendations_of(advice)
    if not known:
        lines += ["", none_found(advice)]
    for number, one in enumerate(known, 1):
        lines += ["", f"{number}. {one.text}"]
        if not one.apply:
            lines.append(no_command())
            continue
        lines.append(one.apply)
        lines += (
            [sentence("incident.commands.roll_back"), one.roll_back] if one.roll_back else [no_roll_back()]
        )
    return _comments(lines)


def _inspecting(key: SubscriptionKey) -> list[str]:
    topic, subscription = shlex.quote(key.topic), shlex.quote(key.subscription)
    if is_scalable(key.topic):
        # It has no policies of its own.
        return [
            f"pulsar-admin namespaces get-subscription-dispatch-rate {shlex.quote(key.namespace)}",
            f"pulsar-admin namespaces get-dispatch-rate {shlex.quote(key.namespace)}",
        ]
    part = shlex.quote(part_text(key.topic, key.partition))
    return [
        f"pulsar-admin topics stats -gpb -sbs -etb {part}",
        f"pulsar-admin topicPolicies get-subscription-dispatch-rate {topic} -s {subscription}",
        f"pulsar-admin topicPolicies get-subscription-dispatch-rate {topic} -ap",
        f"pulsar-admin topicPolicies get-dispatch-rate {topic} -ap",
        f"pulsar-admin namespaces get-subscription-dispatch-rate {shlex.quote(key.namespace)}",
    ]


def _comments(lines: Sequence[str]) -> str:
    return "".join(f"# {visible(line)}".rstrip() + "\n" for line in lines)


def _lines(whole: str) -> str:
    return "".join(f"{visible(line)}\n" for line in whole.split("\n"))


def _without_date(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A row for programs: without the column of partitions, and without what renders its text in other languages."""
    return (
        None
        if row is None
        else {name: value for name, value in row.items() if name not in ("date", MESSAGES)}
    )


def _json(value: Any) -> str:
    stream = io.StringIO()
    write_json(value, stream)
    return stream.getvalue()


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    stream = io.StringIO()
    write_csv(columns, rows, stream)
    return stream.getvalue()
