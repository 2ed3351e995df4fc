"""Policies that remove messages before they are consumed. In: raw answers of the admin API. Out: the :class:`Deadlines` of a topic as of a time.

This is the only resolver of message TTL, backlog quotas and retention. Each is the first record of its chain that is there at all
(``PolicyHierarchyValue`` and ``AbstractTopic`` in Pulsar):

===================  ==============================================================================================
what                 chain
===================  ==============================================================================================
message TTL          the topic's policy (local, then global), the namespace's ``message_ttl_in_seconds``, the broker's
                     ``ttlDurationDefaultInSeconds``; 0 is a value and switches it off
backlog quota        for each type: the topic's (local, then global), the namespace's ``backlog_quota_map``, the broker's
                     default, which is one record for both types; a limit below 0 is none
retention            the topic's policy (local, then global), the namespace's, the broker's defaults
===================  ==============================================================================================

All hold per partition. A quota of the type ``destination_storage`` limits bytes, one of ``message_age`` seconds. Where a
question of the chain was not answered before a record was found, the deadline is not known: no guess is made. A topic of
Pulsar's own has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.system_names import is_system_topic
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.transforms.as_of import KNOWN_FOR_MS

#: Pulsar's defaults, for a setting that a broker did not return.
_EXPIRY_CHECK_MIN, _QUOTA_CHECK_S, _ROLLOVER_MIN = 5, 60, 240
#: Settings of a broker that decide.
_SETTINGS = (
    "topicLevelPoliciesEnabled", "ttlDurationDefaultInSeconds", "messageExpiryCheckIntervalInMinutes", "backlogQuotaCheckEnabled",
    "backlogQuotaCheckIntervalInSeconds", "preciseTimeBasedBacklogQuotaCheck", "backlogQuotaDefaultLimitGB",
    "backlogQuotaDefaultLimitBytes", "backlogQuotaDefaultLimitSecond", "backlogQuotaDefaultRetentionPolicy",
    "defaultRetentionTimeInMinutes", "defaultRetentionSizeInMB", "managedLedgerMaxLedgerRolloverTimeMinutes",
)  # fmt: skip
_OF_TOPIC = tuple(
    f"{prefix}topic_{what}"
    for prefix in ("", "global_")
    for what in ("message_ttl", "backlog_quotas", "retention")
)
_RUNTIME, _NAMESPACE = "broker_configuration_runtime", "namespace"
#: Scopes of ``policies`` that are read here.
SCOPES = (_RUNTIME, _NAMESPACE, *_OF_TOPIC)
_TYPES = {"quota_size": "destination_storage", "quota_age": "message_age"}
_MINUTE_S = 60
_GB = 1024**3


@dataclass(frozen=True, slots=True)
class DeadlineLimit:
    """One threshold.

    Attributes
    ----------
    value : float or None
        Seconds (TTL, quota by age) or bytes (quota by size); None: read, and there is none.
    set_by : str
        The policy that applies, in the words of ``limits.set_by``.
    policy : str or None
        What a quota does: ``producer_request_hold``, ``producer_exception`` or ``consumer_backlog_eviction``.
    """

    value: float | None
    set_by: str
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """How long, and how much of, what is acknowledged or dropped stays on disk; -1: without end, 0: not at all."""

    time_min: int
    size_mb: int
    set_by: str


@dataclass(frozen=True, slots=True)
class Deadlines:
    """What holds for a topic, as far as it is known: None where it is not.

    Attributes
    ----------
    expiry_check_ms, quota_check_ms : int
        How often the broker looks.
    precise_age : bool
        The age that a quota looks at is the oldest message's own. Otherwise it is the time since the ledger that holds
        it was closed; while that ledger is being written no age is exceeded.
    ledger_rollover_ms : int
        A ledger is closed after this long at the latest, if anything is written.
    observed_ms : int
        When the oldest answer that they rest on was given.
    observed_later : bool
        An answer is newer than the requested time.
    """

    ttl: DeadlineLimit | None
    quota_size: DeadlineLimit | None
    quota_age: DeadlineLimit | None
    retention: Retention | None
    expiry_check_ms: int
    quota_check_ms: int
    precise_age: bool
    ledger_rollover_ms: int
    observed_ms: int
    observed_later: bool


def deadlines_of(policies: Iterable[Mapping[str, Any]], topic: str, at_ms: int) -> Deadlines | None:
    """Resolve what holds for a topic.

    Parameters
    ----------
    policies : iterable of mappings
        Rows of ``policies`` of one cluster.
    topic : str
        ``persistent://tenant/namespace/name``, without a partition suffix.
    at_ms : int
        The newest answers up to then speak, or the first ones after it; at most seven days away.

    Returns
    -------
    Deadlines or None
        None where no broker's configuration is known: then nothing is.
    """
    return TopicAnswers(policies, at_ms).deadlines(topic)


def slim(policies: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Only what is read here: rows of :data:`SCOPES`, and of a broker's configuration the settings that decide.

    A configuration is a hundred kilobytes; tasks are sent many.
    """
    rows = []
    for row in policies:
        if row["scope"] not in SCOPES:
            continue
        body = row["body"]
        if row["scope"] == _RUNTIME and body:
            values = json.loads(body)
            body = json.dumps({name: values[name] for name in _SETTINGS if name in values})
        rows.append({name: row[name] for name in ("scope", "key", "observed_ms")} | {"body": body})
    return rows


class TopicAnswers:
    """The answer to every question that speaks for a time, of one cluster."""

    def __init__(self, policies: Iterable[Mapping[str, Any]], at_ms: int) -> None:
        self._at_ms = at_ms
        self._of: dict[tuple[str, str], tuple[int, str | None]] = {}
        for row in policies:
            observed_ms, question = row["observed_ms"], (row["scope"], row["key"])
            if abs(observed_ms - at_ms) > KNOWN_FOR_MS:
                continue
            known = self._of.get(question)
            if known is None or _speaks_rather(observed_ms, known[0], at_ms):
                self._of[question] = (observed_ms, row["body"])
        self._used: list[int] = []

    def deadlines(self, topic: str) -> Deadlines | None:
        """What holds for a topic."""
        namespace = topic.split("://", 1)[-1].rpartition("/")[0]
        if is_system_topic(topic):
            return None
        self._used = []
        runtime = self._runtime()
        if runtime is None:
            return None
        found = {kind: self._quota(kind, topic, namespace, runtime) for kind in _TYPES}
        ttl, retention = self._ttl(topic, namespace, runtime), self._retention(topic, namespace, runtime)
        if _is(runtime.get("backlogQuotaCheckEnabled"), "false"):
            # The broker does not check, so nothing is ever exceeded.
            found = {
                kind: quota and DeadlineLimit(None, quota.set_by, quota.policy)
                for kind, quota in found.items()
            }
        return Deadlines(
            ttl=ttl,
            **found,
            retention=retention,
            expiry_check_ms=_number(runtime, "messageExpiryCheckIntervalInMinutes", _EXPIRY_CHECK_MIN) * _MINUTE_S * SECOND_MS,
            quota_check_ms=_number(runtime, "backlogQuotaCheckIntervalInSeconds", _QUOTA_CHECK_S) * SECOND_MS,
            precise_age=_is(runtime.get("preciseTimeBasedBacklogQuotaCheck"), "true"),
            ledger_rollover_ms=_number(runtime, "managedLedgerMaxLedgerRolloverTimeMinutes", _ROLLOVER_MIN) * _MINUTE_S * SECOND_MS,
            observed_ms=min(self._used),
            observed_later=max(self._used) > self._at_ms,
        )  # fmt: skip

    # -- chains -------------------------------------------------------------------------------

    def _ttl(self, topic: str, namespace: str, runtime: Mapping) -> DeadlineLimit | None:
        def broker() -> float | None:
            return _number(runtime, "ttlDurationDefaultInSeconds", None)

        for set_by, known, value in self._chain(
            "message_ttl", topic, namespace, "message_ttl_in_seconds", broker
        ):
            if not known:
                return None
            if value is not None:
                return DeadlineLimit(float(value) if value > 0 else None, set_by)
        return None

    def _quota(self, kind: str, topic: str, namespace: str, runtime: Mapping) -> DeadlineLimit | None:
        field, type_ = "limitSize" if kind == "quota_size" else "limitTime", _TYPES[kind]

        def broker() -> dict | None:
            size_gb = float(runtime.get("backlogQuotaDefaultLimitGB") or -1)
            size = size_gb * _GB if size_gb > 0 else _number(runtime, "backlogQuotaDefaultLimitBytes", None)
            limit = size if kind == "quota_size" else _number(runtime, "backlogQuotaDefaultLimitSecond", None)
            if limit is None:
                return None
            return {type_: {field: limit, "policy": runtime.get("backlogQuotaDefaultRetentionPolicy")}}

        for set_by, known, value in self._chain(
            "backlog_quotas", topic, namespace, "backlog_quota_map", broker
        ):
            if not known:
                return None
            record = (value or {}).get(type_)
            if record:
                # Before 2.8 there was one limit, of bytes.
                limit = record.get(field, record.get("limit") if kind == "quota_size" else None)
                return DeadlineLimit(
                    None if limit is None or limit < 0 else float(limit), set_by, record.get("policy")
                )
        return None

    def _retention(self, topic: str, namespace: str, runtime: Mapping) -> Retention | None:
        def broker() -> dict:
            return {
                "retentionTimeInMinutes": _number(runtime, "defaultRetentionTimeInMinutes", 0),
                "retentionSizeInMB": _number(runtime, "defaultRetentionSizeInMB", 0),
            }

        for set_by, known, value in self._chain("retention", topic, namespace, "retention_policies", broker):
            if not known:
                return None
            if value:
                return Retention(
                    int(value["retentionTimeInMinutes"]), int(value["retentionSizeInMB"]), set_by
                )
        return None

    def _chain(
        self, scope: str, topic: str, namespace: str, field: str, broker
    ) -> Iterator[tuple[str, bool, Any]]:
        """Who could have set it, whether that was answered, and what the answer was."""
        runtime = self._runtime() or {}
        # Without topic level policies a broker keeps none and refuses to answer for them.
        if not _is(runtime.get("topicLevelPoliciesEnabled"), "false"):
            yield "topic_policy", *self._answer(f"topic_{scope}", topic)
            yield "global_topic_policy", *self._answer(f"global_topic_{scope}", topic)
        known, policies = self._answer(_NAMESPACE, namespace)
        yield "namespace_policy", known, (policies or {}).get(field)
        value = broker()
        yield "broker_file", value is not None, value

    # -- answers ------------------------------------------------------------------------------

    def _answer(self, scope: str, key: str) -> tuple[bool, Any]:
        found = self._of.get((scope, key))
        if found is None:
            return False, None
        self._used.append(found[0])
        return True, json.loads(found[1]) if found[1] else None

    def _runtime(self) -> Mapping | None:
        """What the brokers run with. These settings are the same on all of them, or the cluster is not well."""
        brokers = sorted(key for scope, key in self._of if scope == _RUNTIME)
        return self._answer(_RUNTIME, brokers[0])[1] if brokers else None


def _speaks_rather(observed_ms: int, than_ms: int, at_ms: int) -> bool:
    """Whether an answer speaks rather than another: the newest up to the time, else the first after it."""
    if (observed_ms <= at_ms) != (than_ms <= at_ms):
        return observed_ms <= at_ms
    return observed_ms > than_ms if observed_ms <= at_ms else observed_ms < than_ms


def _number(runtime: Mapping, name: str, default: int | None) -> int | None:
    value = runtime.get(name)
    return default if value in (None, "") else int(value)


def _is(value: object, word: str) -> bool:
    return str(value).lower() == word
