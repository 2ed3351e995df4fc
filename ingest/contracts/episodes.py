"""Backlogs over time. In: nothing. Out: the tables ``episodes`` (one backlog, from its start to its drain) and ``incidents`` (episodes with a shared cause)."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import CLUSTER, DATE, SUBSCRIPTION_KEY, SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import CAUSES, LIMITERS, SIDES

_F = pa.float64()
_MS = pa.int64()

#: silent: open, but nothing was seen of it for an hour while the cluster was.
EPISODE_STATES = ("open", "silent", "drained")
SINCE_METHODS = ("change_point", "first_minute", "start_of_data")
MARK_KINDS = ("gap", "limit_changed", "counter_reset", "moved")
INCIDENT_KINDS = ("broker", "broker_limiter", "namespace_policy", "topic_limiter")


def _opt(name: str, doc: str, type_: pa.DataType = _F, words: tuple[str, ...] | None = None) -> Column:
    return Column(name, type_, doc, True, words)


BACKLOG_POINT = pa.struct([pa.field("at_ms", _MS, False), pa.field("entries", _F, False)])

CAUSE_SPAN = pa.struct(
    [
        pa.field("start_ms", _MS, False),
        pa.field("end_ms", _MS, False),
        pa.field("cause", pa.string(), False),
        pa.field("side", pa.string(), False),
        pa.field("limiter", pa.string()),
        pa.field(
            "named_ms", _MS, False
        ),  # time of the windows in it that name this cause and limiter themselves
        pa.field("confidence", _F, False),  # their mean by time; 0 where none does
        pa.field("windows", pa.int32(), False),
        pa.field("flips", pa.int32(), False),  # windows that said something else than the window before
    ]
)

LIMITER_SPAN = pa.struct(
    [
        pa.field("limiter", pa.string(), False),
        pa.field("held_ms", _MS, False),
        pa.field("set_by", pa.string()),  # newest known
    ]
)

MARK = pa.struct(
    [
        pa.field("kind", pa.string(), False),  # one of MARK_KINDS
        pa.field("start_ms", _MS, False),
        pa.field("end_ms", _MS, False),
        pa.field("text", pa.string(), False),
    ]
)

LEVERS = ("limiter", "consumers", "both")

# Every field is nullable: a replay that failed has only the reason.
LEVER_TRIED = pa.struct(
    [
        pa.field("lever", pa.string()),  # limiter, consumers or together
        pa.field("limiter", pa.string()),
        pa.field("gain_low_entries", _F),  # how much less backlog than as it is, at the horizon
        pa.field("gain_likely_entries", _F),  # NULL: the consumers' capacity was never seen
        pa.field("gain_high_entries", _F),
        pa.field("effect", pa.string()),  # none, sooner, later or open
        pa.field("held_by", pa.string()),  # what limits the drain then
    ]
)

COUNTERFACTUAL = pa.struct(
    [
        pa.field(
            "at_ms", _MS
        ),  # levers are lifted from here on: the end of the minute with the largest backlog
        pa.field("limiters", pa.list_(pa.string())),  # named by its verdicts
        pa.field("form", pa.int32()),  # of the question; a stored answer to another one is not kept
        pa.field("verdict_lever", pa.string()),  # what the main cause calls for, one of LEVERS
        pa.field("primary", pa.string()),  # whose removal drains most, one of LEVERS; NULL: not known
        pa.field("limiter", pa.string()),  # which limiter, where that is one
        pa.field("gain_low_entries", _F),  # of the primary
        pa.field("gain_likely_entries", _F),
        pa.field("gain_high_entries", _F),
        pa.field("agrees", pa.bool_()),  # verdict and primary; NULL: there is nothing to compare
        pa.field("horizon_s", pa.int32()),
        pa.field("window_s", pa.int32()),  # what was replayed before at_ms
        pa.field("error_share", _F),  # of the replay of that window, over its largest backlog
        pa.field("capacity_msg_rate", _F),  # of the consumers; NULL: only a lower bound is known
        pa.field("capacity_at_least_msg_rate", _F),
        pa.field("capacity_age_s", _F),  # how long before at_ms it was seen
        pa.field("tried", pa.list_(LEVER_TRIED)),
        pa.field("notes", pa.list_(pa.string())),
        pa.field("failed", pa.string()),  # why there is no answer
    ]
)

EPISODES = Table(
    "episodes",
    "One backlog of one subscription partition, from its start to its drain.",
    (
        *SUBSCRIPTION_KEY,
        Column("episode_id", pa.string(), "hash of key and start"),
        Column("start_ms", _MS, "start of the first minute that ends above the floor"),
        _opt("end_ms", "end of the last minute above the floor; NULL: not drained", _MS),
        Column("state", pa.string(), "its state at judged_until_ms", words=EPISODE_STATES),
        Column("since_ms", _MS, "when the backlog began to grow"),
        Column("since_method", pa.string(), "how that was found", words=SINCE_METHODS),
        Column("start_entries", _F, "ready backlog at the end of its first minute"),
        Column("peak_entries", _F, "largest ready backlog at a minute's end"),
        Column("peak_ms", _MS, "end of that minute"),
        Column("last_entries", _F, "ready backlog at known_until_ms"),
        Column("known_until_ms", _MS, "end of its newest minute that was seen"),
        Column("over_until_ms", _MS, "end of its newest minute above the floor"),
        Column(
            "backlog",
            pa.list_(BACKLOG_POINT),
            "largest ready backlog in each step; at_ms: start of the step, a multiple of its length",
        ),
        Column("backlog_step_ms", _MS, "length of a step: minutes, a power of two, so that at most 64 do"),
        Column("worst_ms", _MS, "when the oldest entry was oldest; age unknown: the peak"),
        _opt("worst_age_s", "how old it was then (of the topic partition); NULL: unknown"),
        Column("cause", pa.string(), "the main cause: the largest share of time x confidence", words=CAUSES),
        Column("side", pa.string(), "the cause's side", words=SIDES),
        _opt("limiter", "the limiter of the main cause that was limiting longest", pa.string(), LIMITERS),
        Column("confidence", _F, "mean over the time in which windows named the cause"),
        Column("named_ms", _MS, "that time"),
        Column(
            "causes",
            pa.list_(CAUSE_SPAN),
            "its causes over time, oldest first, without flapping; cut at UTC midnights",
        ),
        Column("limiters", pa.list_(LIMITER_SPAN), "limiters that limited it, longest first"),
        _opt("flips_before_per_h", "changes of cause or limiter from window to window, per judged hour"),
        _opt("flips_after_per_h", "changes in causes, per judged hour"),
        Column(
            "marks", pa.list_(MARK), "gaps, changed limits, counters that restarted, moves to another broker"
        ),
        _opt("broker", "instance that served the topic partition last", pa.string()),
        _opt("rules_version", "version of the rules of its newest verdict; NULL: no verdict", pa.string()),
        Column("judged_until_ms", _MS, "end of the newest minute of the cluster when it was written"),
        _opt(
            "counterfactual",
            "what its limiter's or its consumers' removal would have drained, where its verdicts leave both open; NULL: not computed",
            COUNTERFACTUAL,
        ),
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "start_ms"),
    partition_by=("cluster", "date"),
)

MEMBER = pa.struct(
    [
        pa.field("episode_id", pa.string(), False),
        *(pa.field(column.name, column.type, False) for column in SUBSCRIPTION_KEY[1:]),
        pa.field("start_ms", _MS, False),  # when the shared cause began for it
        pa.field("end_ms", _MS, False),
        pa.field("peak_entries", _F, False),
    ]
)

INCIDENTS = Table(
    "incidents",
    "Several episodes at once that have a limiter or a broker in common.",
    (
        CLUSTER,
        Column("incident_id", pa.string(), "hash of what is shared and of the start"),
        Column("kind", pa.string(), "what is shared", words=INCIDENT_KINDS),
        Column("shared_with", pa.string(), "its name: a broker, a namespace or a topic"),
        _opt("limiter", "the limiter in common; NULL: none", pa.string(), LIMITERS),
        Column("cause", pa.string(), "the cause in common", words=CAUSES),
        Column("side", pa.string(), "the cause's side", words=SIDES),
        Column("start_ms", _MS, "when enough members were affected at once"),
        _opt("end_ms", "end of that; NULL: members are still open", _MS),
        Column("since_ms", _MS, "when the first member's backlog began to grow"),
        Column("members", pa.list_(MEMBER), "episodes in it, earliest first"),
        Column("subscriptions", pa.int32(), "subscription partitions among them"),
        Column("topics", pa.int32(), "topics among them"),
        Column("most_at_once", pa.int32(), "largest number of members affected at one moment"),
        Column("worst_episode_id", pa.string(), "the member with the largest backlog"),
        Column("peak_entries", _F, "its largest ready backlog"),
        DATE,
    ),
    key=("cluster", "kind", "shared_with", "limiter", "cause", "start_ms"),
    partition_by=("cluster", "date"),
)
