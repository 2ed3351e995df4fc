"""A small lake with plausible rows of every shape that the pages must show.

Not measured: rates and backlogs are computed from a few constants per subscription, so that a test
can say what a page has to read. Nothing here is shipped, and no figure anywhere rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of, parse_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.models.episodes.apply import build_episodes

END_MS = parse_time("2026-11-20T03:00:00Z", now_ms=0)
START_MS = END_MS - 3 * BLOCK_MS
WINDOW_MS = 5 * MINUTE_MS
RULES_VERSION = "0-sample"

HOSTILE_NAME = "</script><img src=x onerror=alert(1)>\"quoted\" 'single'\nnew line ‮rtl & a=b#c?d/../e%20"


@dataclass(frozen=True)
class Phase:
    """From a minute on: rates in and out per second, and what was made of it."""

    from_minute: int
    cause: str = "healthy"
    side: str = "neither"
    limiter: str | None = None
    in_msg: float = 20.0
    out_msg: float | None = None
    ack_msg: float | None = None
    events: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    consumers: int = 2
    confidence: float = 0.9
    message_bytes: int = 1024
    evidence: tuple = ()
    unacked: float | None = None
    permits: tuple | None = (400, 900)
    share_of_use: float = 1.0


@dataclass(frozen=True)
class Sample:
    """One subscription and its phases."""

    topic: str
    subscription: str
    phases: tuple[Phase, ...]
    partition: int = -1
    cluster: str = "sample-east"
    limits_observed: bool = True
    every_minutes: int = 5
    moved_at_minute: int | None = None


def evidence(
    symptom, weight, text, value=None, threshold=None, unit=None, at_minute=150, promql=None
) -> dict:
    return {
        "symptom": symptom,
        "weight": weight,
        "text": text,
        "value": value,
        "threshold": threshold,
        "unit": unit,
        "at_ms": START_MS + at_minute * MINUTE_MS,
        "promql": promql,
    }


_SUBSCRIPTION_50 = {"subscription": (50, None, 1, "subscription_policy"), "topic": (None, None, 1, "none")}
_THROTTLED_EVIDENCE = (
    evidence(
        "rho_subscription_msg", "for", "Dispatch runs at 99 % of the subscription message limit.", 0.99, 0.90, "share",
        promql='sum by (topic, subscription) (rate(pulsar_out_messages_total{topic="persistent://shop/checkout/orders",subscription="billing"}[5m]))'
        ' / on (topic, subscription) throttlescope_dispatch_limit{level="subscription",unit="msg"}',
    ),
    evidence("permits_min", "for", "Consumers could take more: the consumer with fewest permits has 400.", 400, 0, "msg",
             promql='min by (topic, subscription) (pulsar_consumer_available_permits{subscription="billing"})'),
    evidence("backlog_growth", "for", "The backlog grows by 30 entries each second.", 30.0, 0.0, "entries/s"),
    evidence("events_duty", "neutral", "Throttle events in every scrape, which this limit shows also when nothing is wrong.", 1.0, None, "share"),
    evidence("unacked_msg", "against", "Some messages are unacknowledged.", 120, 1000, "msg"),
)  # fmt: skip
_SLOW_EVIDENCE = (
    evidence("permits_exhausted_share", "for", "In 96 % of the samples no consumer had a permit left.", 0.96, 0.5, "share",
             promql='max by (topic, subscription) (pulsar_consumer_available_permits{subscription="ledger"})'),
    evidence("rho_subscription_msg", "for", "Dispatch uses 15 % of the subscription message limit.", 0.15, 0.8, "share"),
)  # fmt: skip


def _throttled(minute: int, **changes) -> Phase:
    return Phase(
        minute,
        **{
            "cause": "throttled",
            "side": "throttle",
            "limiter": "subscription.msg",
            "in_msg": 80.0,
            "out_msg": 50.0,
            "events": {"subscription.msg": 118},
            "limits": _SUBSCRIPTION_50,
            "confidence": 0.93,
            "evidence": _THROTTLED_EVIDENCE,
            "unacked": 120.0,
            **changes,
        },
    )


_FEED = {"topic": (500, None, 1, "namespace_policy"), "broker": (20_000, None, 1, "broker_file")}
_BYTES = {"subscription": (None, 1024 * 1024, 1, "namespace_policy")}

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "persistent://shop/checkout/orders",
        "billing",
        (Phase(0, in_msg=20.0, events={"subscription.msg": 1200}, limits=_SUBSCRIPTION_50), _throttled(60)),
        every_minutes=1,
    ),
    Sample(
        "persistent://shop/checkout/payments",
        "ledger",
        (
            Phase(0, in_msg=140.0, limits={"subscription": (1000, None, 1, "topic_policy")}),
            Phase(
                90, "slow_consumers", "consumer_capacity", None, in_msg=200.0, out_msg=150.0, confidence=0.88, evidence=_SLOW_EVIDENCE,
                limits={"subscription": (1000, None, 1, "topic_policy")}, unacked=1980.0, permits=(0, 0),
            ),
        ),
        partition=2,
    ),
    Sample(
        "persistent://shop/web/clicks",
        "audit",
        (Phase(0, in_msg=5.0, events={"subscription.msg": 300}, limits=_SUBSCRIPTION_50),),
    ),
    Sample(
        "persistent://shop/media/images",
        "thumbnails",
        (
            Phase(0, in_msg=6.0, message_bytes=100_000, limits=_BYTES, events={"subscription.bytes": 600}),
            Phase(
                100, "throttled", "throttle", "subscription.bytes", in_msg=16.0, out_msg=10.4, message_bytes=100_000,
                limits=_BYTES, events={"subscription.bytes": 660}, confidence=0.86,
                evidence=(evidence("rho_subscription_bytes", "for", "Dispatch runs at 99 % of the subscription byte limit.", 1_038_000, 943_718, "bytes/s"),),
            ),
        ),
    ),
    Sample(
        "persistent://shop/web/feed",
        "greedy-export",
        (Phase(0, in_msg=60.0, limits=_FEED), _throttled(80, limiter="topic.msg", in_msg=520.0, out_msg=440.0, limits=_FEED, events={"topic.msg": 60}, share_of_use=0.88)),
    ),
    Sample(
        "persistent://shop/web/feed",
        "search-index",
        (Phase(0, in_msg=60.0, limits=_FEED), _throttled(80, limiter="topic.msg", in_msg=520.0, out_msg=60.0, limits=_FEED, events={"topic.msg": 61}, share_of_use=0.12)),
    ),
    Sample(
        "persistent://shop/checkout/invoices",
        "archive",
        (Phase(0), Phase(30, "no_consumers", "consumer_capacity", None, in_msg=3.0, out_msg=0.0, consumers=0, confidence=0.99, permits=None)),
    ),
    Sample(
        "persistent://shop/web/sessions",
        "features",
        (Phase(0, "unknown", "unknown", None, in_msg=90.0, out_msg=70.0, confidence=0.4, permits=None, evidence=(
            evidence("backlog_growth", "neutral", "The backlog grows by 20 entries each second.", 20.0, 0.0, "entries/s"),)),),
        limits_observed=False,
    ),
    Sample(
        "persistent://shop/web/lifted",
        "recommendations",
        (
            Phase(0, in_msg=40.0, limits=_SUBSCRIPTION_50, events={"subscription.msg": 900}),
            _throttled(40),
            Phase(110, in_msg=80.0, out_msg=240.0),
        ),
        cluster="sample-west",
        moved_at_minute=20,
    ),
    Sample("persistent://shop/odd/names", HOSTILE_NAME, (Phase(0), _throttled(120))),
    *(
        Sample(f"persistent://shop/quiet/topic-{number:02d}", "reader", (Phase(0, in_msg=1.0 + number),), cluster="sample-west")
        for number in range(24)
    ),
)  # fmt: skip

MISSING = [
    {
        "what": "The limits of this subscription are not known.",
        "fix": "give --pulsar-admin URL to throttlescope run",
    },
    {
        "what": "Permits of consumers are not scraped.",
        "fix": "set exposeConsumerLevelMetricsInPrometheus=true on the brokers",
    },
]


def write_sample_lake(root: Path, samples: tuple[Sample, ...] = SAMPLES, *, truth: bool = True) -> Lake:
    """Write signals, verdicts, truth and a manifest."""
    lake = Lake(root)
    minutes, verdicts, truths = [], [], []
    for sample in samples:
        rows = _minutes(sample)
        minutes += rows
        verdicts += _verdicts(sample, rows)
        if truth and sample.cluster == "sample-west" and len(sample.phases) > 1:
            truths += _truth(sample)
    for table, rows in (
        ("signals", minutes),
        ("verdicts", verdicts),
        ("truth", truths),
        ("ingest_runs", [_manifest()]),
    ):
        if rows:
            lake.upsert(table, pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema), run_id="sample")
    build_episodes(
        InProcessExecutor(), lake, {sample.cluster for sample in samples}, START_MS, END_MS, "sample"
    )
    forecasts = pa.Table.from_pylist(_forecasts(samples), schema=TABLES["forecasts"].loose_schema)
    if forecasts.num_rows:
        lake.upsert("forecasts", forecasts, run_id="sample")
    return lake


def key(sample: Sample) -> dict:
    namespace = "/".join(sample.topic.removeprefix("persistent://").split("/")[:2])
    return {
        "cluster": sample.cluster,
        "namespace": namespace,
        "topic": sample.topic,
        "partition": sample.partition,
        "subscription": sample.subscription,
    }


def _phase(sample: Sample, minute: int) -> Phase:
    return [phase for phase in sample.phases if phase.from_minute <= minute][-1]


def _minutes(sample: Sample) -> list[dict]:
    rows, backlog, before = [], 0.0, None
    for minute in range((END_MS - START_MS) // MINUTE_MS):
        phase = _phase(sample, minute)
        wave = 1 + 0.08 * math.sin(minute / 4)
        in_msg = phase.in_msg * wave
        wanted = in_msg if phase.out_msg is None else phase.out_msg
        out_msg = min(wanted, in_msg + backlog / 60)
        backlog = max(0.0, backlog + (in_msg - out_msg) * 60)
        at_ms = START_MS + minute * MINUTE_MS
        row = dict.fromkeys(column.name for column in TABLES["signals"].columns)
        row |= key(sample)
        row |= {
            "minute_ms": at_ms,
            "date": date_of(at_ms),
            "backlog_entries": round(backlog),
            "backlog_ready_entries": round(backlog),
            "delayed_entries": 0.0,
            "unacked_msg": phase.unacked,
            "consumers": float(phase.consumers),
            "permits_min": phase.permits[0] if phase.permits else None,
            "permits_max": phase.permits[1] if phase.permits else None,
            "in_msg_rate_5m": in_msg,
            "out_msg_rate_5m": out_msg,
            "in_bytes_rate_5m": in_msg * phase.message_bytes,
            "out_bytes_rate_5m": out_msg * phase.message_bytes,
            "ack_msg_rate": out_msg * 0.99 if phase.ack_msg is None else phase.ack_msg,
            "in_msg_delta": in_msg * 60,
            "out_msg_delta": out_msg * 60,
            "coverage_share": 1.0,
            "scrape_interval_ms": 15_000,
            "delta_span_ms": 60_000,
            "in_span_ms": 60_000,
            "events_span_ms": 60_000,
            "counter_resets": 0,
            "broker": "127.0.0.1:8080",
            "broker_changed": False,
            "limits_observed": sample.limits_observed,
            "limit_observed_later": False,
            "limits_changed": before is not None and before.limits != phase.limits,
            "limit_counts": "messages",
            "read_batch_entries": 100,
            "read_size_bytes": 5 * 1024 * 1024,
            "messages_per_entry": 1.0,
            "relative_to_publish": False,
        }
        for level in ("broker", "topic", "subscription"):
            for unit in ("msg", "bytes"):
                events = phase.events.get(f"{level}.{unit}", 0)
                row[f"throttled_{unit}_events_{level}_delta"] = float(round(events * wave))
            if sample.limits_observed:
                rate_msg, rate_bytes, period_s, set_by = phase.limits.get(level, (None, None, 1, "none"))
                row[f"limit_{level}_msg"], row[f"limit_{level}_bytes"] = rate_msg, rate_bytes
                row[f"limit_{level}_period_s"], row[f"limit_{level}_set_by"] = period_s, set_by
                use = out_msg / phase.share_of_use if level != "subscription" else out_msg
                if rate_msg:
                    row[f"rho_{level}_msg"] = use / (rate_msg / period_s)
                if rate_bytes:
                    row[f"rho_{level}_bytes"] = use * phase.message_bytes / (rate_bytes / period_s)
        if minute == sample.moved_at_minute:
            row |= {"broker_changed": True, "counter_resets": 6, "broker": "<b>127.0.0.1:8081</b>"}
        rows.append(row)
        before = phase
    return rows


def _verdicts(sample: Sample, minutes: list[dict]) -> list[dict]:
    rows = []
    for end_minute in range(5, len(minutes) + 1, sample.every_minutes):
        phase = _phase(sample, end_minute - 3)
        backlog = minutes[end_minute - 1]["backlog_entries"]
        ticked = any(phase.events.values())
        rows.append(
            key(sample)
            | {
                "window_start_ms": START_MS + end_minute * MINUTE_MS - WINDOW_MS,
                "window_end_ms": START_MS + end_minute * MINUTE_MS,
                "side": phase.side,
                "cause": phase.cause,
                "limiter": phase.limiter,
                "confidence": phase.confidence,
                "evidence": list(phase.evidence),
                "missing_evidence": [] if sample.limits_observed else MISSING,
                "naive_side": "neither" if backlog <= 1000 else "throttle" if ticked else "consumer_capacity",
                "rules_version": RULES_VERSION,
                "backlog_entries": float(backlog),
                "backlog_growth_entries": float(backlog - minutes[end_minute - 5]["backlog_entries"]),
                "date": date_of(START_MS + end_minute * MINUTE_MS - WINDOW_MS),
            }
        )
    return rows


def _truth(sample: Sample) -> list[dict]:
    ends = [phase.from_minute for phase in sample.phases[1:]] + [(END_MS - START_MS) // MINUTE_MS]
    return [
        key(sample)
        | {
            "start_ms": START_MS + phase.from_minute * MINUTE_MS + MINUTE_MS,
            "end_ms": START_MS + end * MINUTE_MS,
            "side": phase.side,
            "cause": phase.cause,
            "limiter": phase.limiter,
            "family": "sample",
            "recording": "sample",
            "kept_aside": False,
        }
        for phase, end in zip(sample.phases, ends, strict=True)
    ]


def _forecasts(samples: tuple[Sample, ...]) -> list[dict]:
    """Of two subscriptions a loss, of one of them an older forecast too, and of one that none comes."""
    common = {
        "method": "trend",
        "unit": "s",
        "consequence": "The broker expires them.",
        "basis": "a sample",
        "method_version": "0-sample",
    }
    made = [
        ("billing", "ttl", END_MS - 15 * MINUTE_MS, 130),
        ("billing", "ttl", END_MS, 134),
        ("thumbnails", "quota_size", END_MS, 45),
        ("ledger", "ttl", END_MS, None),
        ("billing", "drain", END_MS, 20),
    ]
    return [
        key(sample)
        | common
        | {
            "made_at_ms": made_at_ms,
            "kind": kind,
            "state": "never" if minutes is None else "expected",
            "predicted_ms": None if minutes is None else made_at_ms + minutes * MINUTE_MS,
            "low_ms": None if minutes is None else made_at_ms + (minutes - 5) * MINUTE_MS,
            "date": date_of(made_at_ms),
        }
        for name, kind, made_at_ms, minutes in made
        for sample in samples
        if sample.subscription == name
    ]


def _manifest() -> dict:
    counts = (
        "source_requests", "admin_requests", "source_bytes", "series", "samples", "samples_written", "rows_quarantined",
    )  # fmt: skip
    return dict.fromkeys(counts, 0) | {
        "run_id": "sample",
        "cluster": None,
        "command": "demo",
        "source": "recording tests/app/web/sample_lake.py",
        "start_ms": START_MS,
        "end_ms": END_MS,
        "started_ms": END_MS,
        "finished_ms": END_MS + 1000,
        "status": "done",
        "details": "{}",
        "date": date_of(END_MS),
    }
