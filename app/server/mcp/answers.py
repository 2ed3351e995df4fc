"""Answers for assistants: what each tool returns. In: nothing. Out: pydantic models, whose JSON Schemas the server publishes; units end names."""

from __future__ import annotations

from pydantic import BaseModel, Field


class DataAge(BaseModel):
    """How fresh the data is that an answer rests on."""

    data_until: str | None = Field(description="RFC 3339, UTC: end of the newest data; null: there is none")
    age_s: float | None = Field(description="seconds from then to now")
    note: str = Field(description="the same in words")


class TroubledSubscription(BaseModel):
    """A subscription of a topic partition, with the cause of its newest verdict."""

    subscription: str = Field(
        description="persistent://tenant/ns/topic[-partition-N]#sub, as the other tools take it"
    )
    cluster: str
    cause: str
    cause_label: str
    side: str = Field(description="throttle, consumer_capacity, both, neither or unknown")
    limiter: str | None = Field(description="the limiter that binds, such as subscription.msg")
    confidence: float = Field(description="0 to 1: the probability that the cause is right")
    backlog_entries: float | None = Field(description="ready backlog in entries (batches, not messages)")
    backlog_growth_entries: float | None = Field(description="its change over the window of the verdict")
    since: str = Field(description="RFC 3339: this cause in every window since then")
    since_at_least: bool = Field(description="it may have started earlier")
    window_end: str = Field(description="RFC 3339: end of the verdict's window")


class TroubledSubscriptions(BaseModel):
    """Subscriptions with a cause, the largest backlog first."""

    subscriptions: list[TroubledSubscription]
    total: int = Field(description="how many there are, those that are left out included")
    left_out: int
    by_cause: dict[str, int] = Field(description="how many there are of each cause")
    freshness: DataAge


class EvidenceItem(BaseModel):
    """One symptom, for or against the cause."""

    symptom: str
    weight: str = Field(description="for, against or neutral")
    text: str
    value: float | None
    threshold: float | None
    unit: str | None
    promql: str | None = Field(description="shows it in Prometheus")


class MissingItem(BaseModel):
    """What would raise the confidence."""

    what: str
    fix: str


class LimitAnswer(BaseModel):
    """A dispatch limit that applies."""

    limiter: str = Field(description="such as topic.msg")
    rate: int | None = Field(description="messages, entries or bytes per period; null: no limit of this kind")
    period_s: int | None
    counts: str = Field(description="what a message limit counts: messages or entries")
    set_by: str | None = Field(description="which record set it; null: not observed, so there may be a limit")
    use_share: float | None = Field(description="largest use / limit of the window, over all that share it")


class BacklogAnswer(BaseModel):
    """The backlog at the end of the window."""

    entries: float | None = Field(description="ready backlog in entries (batches, not messages)")
    growth_entries: float | None = Field(description="its change over the window")
    messages_per_entry: float | None
    oldest_age_s: float | None = Field(description="age of the oldest entry; null: not known")
    oldest_age_source: str | None = Field(
        description="metric, admin_api or publish_history, which is an estimate"
    )
    oldest_age_unknown: str | None = Field(description="why the age is not known")
    text: str


class Explanation(BaseModel):
    """Why a subscription has a backlog."""

    subscription: str
    cluster: str
    cause: str | None = Field(description="null: there is no verdict at that time")
    cause_label: str | None
    side: str | None
    limiter: str | None
    confidence: float | None
    answer: str = Field(description="the cause in one sentence")
    since: str | None
    why: list[str] = Field(description="the strongest evidence for it")
    against: list[str]
    evidence: list[EvidenceItem]
    missing_evidence: list[MissingItem]
    first_step: str | None
    will_not_help: str | None
    known_bugs: list[str]
    naive_side: str | None = Field(description="what backlog and any throttle event would say: the baseline")
    backlog: BacklogAnswer
    limits: list[LimitAnswer]
    limits_observed: bool = Field(description="false: the admin API was not read, limits may exist")
    window_start: str | None
    window_end: str | None
    episode_since: str | None = Field(description="when this backlog began to grow")
    episode_peak_entries: float | None
    rules_version: str | None
    freshness: DataAge


class ReplayedFuture(BaseModel):
    """One future of a replay."""

    drained: str = Field(description="when the backlog is gone, in words")
    earliest_s: float | None = Field(description="seconds until it is gone at best; null: not by the horizon")
    latest_s: float | None
    limited_by: str = Field(description="what limits the drain: a limiter, consumers or reads")
    growth_entries_per_s: float | None
    out_msg_per_s: float | None


class WhatIfAnswer(BaseModel):
    """A replay of the last samples: as it is, and with a change. Nothing was changed."""

    subscription: str
    cluster: str
    at: str
    change: str | None
    as_is: ReplayedFuture
    changed: ReplayedFuture | None
    effect: str | None = Field(description="none, sooner, later or open")
    effect_text: str | None
    backlog_entries: float
    horizon_s: int
    capacity_msg_per_s: float | None = Field(
        description="of the consumers; null: only a lower bound is known"
    )
    replay_error_share: float = Field(
        description="how far the replay of the known window is off, over its largest backlog"
    )
    notes: list[str]
    freshness: DataAge


class QueryRow(BaseModel):
    """A point, or in a long range a whole series."""

    labels: dict[str, str] = Field(description="labels that differ between rows")
    at: str | None = Field(description="RFC 3339; null: the moment of the query, or a whole series")
    value: float | None = Field(description="null: not a number, or infinite")
    value_text: str = Field(description="as Prometheus prints it")
    series: dict[str, float | None] | None = Field(
        description="of a whole series: points, first, last, lowest, highest"
    )


class QueryResult(BaseModel):
    """The answer of a PromQL query."""

    expr: str
    kind: str = Field(description="vector, matrix, scalar or string")
    shared_labels: dict[str, str] = Field(description="labels that all rows have")
    rows: list[QueryRow]
    left_out: int = Field(description="rows that are not shown")
    warnings: list[str]
    freshness: DataAge


class IncidentReport(BaseModel):
    """A report of one backlog, for people."""

    subscription: str
    cluster: str
    at: str
    cause: str | None
    limiter: str | None
    markdown: str
    cut: bool = Field(description="the report is longer; throttlescope incident writes all of it")
    not_computed: dict[str, str] = Field(description="what could not be computed, and why")
    freshness: DataAge
