"""Answers of the admin API about a subscription, and their changes. In: rows of ``policies``. Out: raw answers that differ, without secrets.

The same answer is read again with every run; kept are the one that was known when the range began, each that differs from the one
before, and the newest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import pyarrow.compute as pc

from throttlescope.ingest.pull.manifest import without_secrets
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence

#: Where no minute names its broker, answers of at most this many brokers are used.
_FEW_BROKERS = 3
_BROKER_SCOPES = ("broker_configuration_runtime", "broker_dynamic_configuration", "broker_version")
#: Fields that change with every answer and say nothing about limits.
_QUIET = ("topic_subscriptions",)
#: The most fields of a large answer that are listed; the rest is counted.
_MOST_FIELDS = 6


@dataclass(frozen=True)
class AdminAnswer:
    """One answer.

    Attributes
    ----------
    body : object
        The answer as it came, parsed; its secrets are hidden. None: nothing is set.
    """

    scope: str
    key: str
    broker: str | None
    observed_ms: int
    body: Any


@dataclass(frozen=True)
class PolicyChange:
    """Two different answers to one request.

    Attributes
    ----------
    before_ms, at_ms : int
        When the old one was read last, and the new one first.
    fields : tuple of (str, object, object)
        What differs, before and after; the name is empty where the answer is no object.
    left_out : int
        Fields that differ as well.
    """

    scope: str
    key: str
    before_ms: int
    at_ms: int
    fields: tuple[tuple[str, Any, Any], ...]
    left_out: int


@dataclass(frozen=True)
class AdminAnswers:
    """Stored answers by request and time, and the changes among them in the range."""

    stored: Sequence[AdminAnswer]
    changes: Sequence[PolicyChange]

    @property
    def broker_versions(self) -> tuple[str, ...]:
        """The newest version of each broker that was read."""
        versions = [one for one in self.stored if one.scope == "broker_version" and isinstance(one.body, str)]
        newest = {one.key: one.body for one in sorted(versions, key=lambda one: one.observed_ms)}
        return tuple(sorted(set(newest.values())))


def about(key: SubscriptionKey, brokers: Iterable[str]) -> pc.Expression:
    """The rows of ``policies`` about a subscription, its topic, its namespace and its brokers."""
    topics = [key.topic] if key.partition < 0 else [key.topic, f"{key.topic}-partition-{key.partition}"]
    names = [*topics, *(f"{topic}#{key.subscription}" for topic in topics), key.namespace]
    of_broker = pc.field("scope").isin(_BROKER_SCOPES)
    brokers = sorted(set(brokers))
    if brokers:
        of_broker &= pc.field("key").isin(brokers)
    return (pc.field("cluster") == key.cluster) & (pc.field("key").isin(names) | of_broker)


def answers_of(
    rows: Iterable[Mapping[str, Any]], start_ms: int, end_ms: int, *, brokers: Iterable[str]
) -> AdminAnswers:
    """Sort the answers of a range [start_ms, end_ms).

    Parameters
    ----------
    rows : iterable of mappings
        Rows of ``policies`` that :func:`about` lets through.
    brokers : iterable of str
        Brokers that served it, as far as they are known.
    """
    rows = [row for row in rows if row["scope"] not in _QUIET and row["observed_ms"] < end_ms]
    known = {row["key"] for row in rows if row["scope"] in _BROKER_SCOPES}
    if not set(brokers) and len(known) > _FEW_BROKERS:
        rows = [row for row in rows if row["scope"] not in _BROKER_SCOPES]
    rows.sort(key=lambda row: (row["scope"], row["key"], row["observed_ms"]))
    stored: list[AdminAnswer] = []
    changes: list[PolicyChange] = []
    for _, of_one in groupby(rows, key=lambda row: (row["scope"], row["key"])):
        answers = list(map(_answer, of_one))
        first = max((i for i, one in enumerate(answers) if one.observed_ms <= start_ms), default=0)
        kept = answers[first : first + 1]
        for before, after in pairwise(answers[first:]):
            if before.body != after.body:
                kept.append(after)
                changes.append(_change(before, after))
        if kept[-1] is not answers[-1]:
            kept.append(answers[-1])
        stored += kept
    return AdminAnswers(stored, sorted(changes, key=lambda one: (one.at_ms, one.scope, one.key)))


def _answer(row: Mapping[str, Any]) -> AdminAnswer:
    try:
        body = json.loads(row["body"])
    except (TypeError, ValueError, RecursionError):
        body = row["body"]
    if isinstance(body, str) and body[:1] in ("{", "["):
        # It is not JSON, or is truncated: a secret in it cannot be located.
        body = sentence("incident.policy.unreadable")
    return AdminAnswer(row["scope"], row["key"], row["broker"], row["observed_ms"], without_secrets(body))


def _change(before: AdminAnswer, after: AdminAnswer) -> PolicyChange:
    fields = list(_differences(before.body, after.body))
    return PolicyChange(
        after.scope,
        after.key,
        before.observed_ms,
        after.observed_ms,
        tuple(fields[:_MOST_FIELDS]),
        max(0, len(fields) - _MOST_FIELDS),
    )


def _differences(before: Any, after: Any) -> Iterable[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                yield name, before.get(name), after.get(name)
    else:
        yield "", before, after
