"""What an answer of the admin API has to look like. In: a request's scope and the answer's text. Out: what is wrong with it.

Limits and deadlines are resolved from these answers. One that is JSON and yet does not fit its request (a proxy's page, an
object where a list belongs) would be read as "nothing set" or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

#: Partitions of a topic that are believed.
MOST_PARTITIONS = 10_000
_BEYOND = 2**63
_MAX_HASH = 0xFFFF
_PUBLISH_RATES = ("publishThrottlingRateInMsg", "publishThrottlingRateInByte")
_RATES = ("dispatchThrottlingRateInMsg", "dispatchThrottlingRateInByte", "ratePeriodInSecond")
_QUOTA_LIMITS = ("limitSize", "limitTime", "limit")
_RETENTION = ("retentionTimeInMinutes", "retentionSizeInMB")
#: Settings of a broker that limits and deadlines are counted from.
_NUMBER_SETTINGS = (
    *(f"dispatchThrottlingRate{level}In{unit}" for level in ("", "PerTopic", "PerSubscription", "PerReplicator") for unit in ("Msg", "Byte")),
    "dispatcherMaxReadBatchSize", "dispatcherMaxReadSizeBytes", "ttlDurationDefaultInSeconds", "backlogQuotaDefaultLimitGB",
    "backlogQuotaDefaultLimitBytes", "backlogQuotaDefaultLimitSecond", "messageExpiryCheckIntervalInMinutes",
    "backlogQuotaCheckIntervalInSeconds", "managedLedgerMaxLedgerRolloverTimeMinutes", "defaultRetentionTimeInMinutes",
    "defaultRetentionSizeInMB",
)  # fmt: skip
#: What is read at once: a column of 32 bits.
_COUNT_SETTINGS = ("dispatcherMaxReadBatchSize", "dispatcherMaxReadSizeBytes")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.0*)?")


def answer_fault(scope: str, body: str) -> str | None:
    """The reason why an answer cannot fit its request; None where it can.

    Parameters
    ----------
    scope : str
        A word of ``policies.scope``.
    body : str
        The answer as JSON text; ``null`` where nothing is set.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    if not is_text(body):
        return "letters that are none (half of a surrogate pair)"
    judge = _JUDGES.get(scope)
    if judge is None:
        return f"no such question as {scope}"
    if answer is None:
        return "null" if scope in _ALWAYS_SET else None
    return judge(answer)


def is_text(body: str) -> bool:
    """Whether all texts of a JSON text can be written as UTF-8: an escape such as ``\\ud800`` cannot."""
    return "\\ud" not in body.lower() or _is_written(json.loads(body))


def _is_written(answer: Any) -> bool:
    try:
        json.dumps(answer, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _object(answer: Any) -> str | None:
    return None if isinstance(answer, dict) else f"{_kind(answer)} instead of an object"


def _text(answer: Any) -> str | None:
    return None if isinstance(answer, str) and answer else f"{_kind(answer)} instead of a text"


def _whole(answer: Any) -> str | None:
    if _is_whole(answer) and abs(answer) >= _BEYOND:
        return "a number of more than 64 bits"
    return None if _is_whole(answer) else f"{_kind(answer)} instead of a whole number"


def _texts(answer: Any) -> str | None:
    if not isinstance(answer, list) or not all(isinstance(one, str) for one in answer):
        return f"{_kind(answer)} instead of a list of names"
    return None


def _rate(answer: Any) -> str | None:
    if fault := _object(answer) or _numbers(answer, [name for name in _RATES if name in answer]):
        return fault
    # Seconds of 32 bits, as Pulsar has them.
    return (
        None if abs(answer.get("ratePeriodInSecond", 1)) < 2**31 else "ratePeriodInSecond is beyond 32 bits"
    )


def _publish_rate(answer: Any) -> str | None:
    return _object(answer) or _numbers(answer, [name for name in _PUBLISH_RATES if name in answer])


def _numbers(answer: dict, names: Iterable[str]) -> str | None:
    for name in names:
        value = answer.get(name)
        if not _is_whole(value):
            return f"{name} is {_kind(value)}"
        if fault := _whole(value):
            return f"{name} is {fault}"
    return None


def _settings(answer: Any) -> str | None:
    """A broker's configuration: texts by name, of which those that we count with are numbers."""
    if fault := _object(answer):
        return fault
    for name in _NUMBER_SETTINGS:
        value = answer.get(name)
        if value not in (None, "") and not (
            isinstance(value, str | int) and _NUMBER.fullmatch(str(value)[:60])
        ):
            return f"{name} is no number"
    for name in _COUNT_SETTINGS:
        if name in answer and not (str(answer[name]).isdigit() and int(answer[name]) < 2**31):
            return f"{name} is no number of entries or bytes"
    if not isinstance(answer.get("clusterName", ""), str):
        return f"clusterName: {_text(answer['clusterName'])}"
    return None


def _quotas(answer: Any) -> str | None:
    if fault := _object(answer):
        return fault
    for kind, record in answer.items():
        if record is None:
            continue
        fault = _object(record) or _numbers(record, [n for n in _QUOTA_LIMITS if record.get(n) is not None])
        if not fault and not isinstance(record.get("policy"), str | None):
            fault = f"policy: {_text(record['policy'])}"
        if fault:
            return f"{kind}: {fault}"
    return None


def _retention(answer: Any) -> str | None:
    return _object(answer) or (_numbers(answer, _RETENTION) if answer else None)


def _namespace(answer: Any) -> str | None:
    if fault := _object(answer):
        return fault
    for name in (
        "topicDispatchRate",
        "clusterDispatchRate",
        "subscriptionDispatchRate",
        "replicatorDispatchRate",
    ):
        by_cluster = answer.get(name) or {}
        if fault := _object(by_cluster):
            return f"{name}: {fault}"
        for cluster, rate in by_cluster.items():
            if rate is not None and (fault := _rate(rate)):
                return f"{name} of {cluster}: {fault}"
    for name, judge in _NAMESPACE_FIELDS.items():
        if answer.get(name) is not None and (fault := judge(answer[name])):
            return f"{name}: {fault}"
    return None


def _count(answer: Any) -> str | None:
    if fault := _object(answer):
        return fault
    count = answer.get("partitions", 0)
    if not _is_whole(count):
        return "partitions is no whole number"
    # Each partition is one request: an absurd number would never end.
    return None if 0 <= count <= MOST_PARTITIONS else f"{str(count)[:20]} partitions"


def _owner(answer: Any) -> str | None:
    if not isinstance(answer, dict | str):
        return f"{_kind(answer)} instead of a broker's addresses"
    for url in [answer] if isinstance(answer, str) else [answer.get("httpUrl"), answer.get("httpUrlTls")]:
        try:
            urlsplit(url or "").netloc  # noqa: B018
        except (ValueError, AttributeError, TypeError):
            return "an address that is none"
    return None


def _layout(answer: Any) -> str | None:
    """Segments of a scalable topic by their ids, each with its hash range."""
    if fault := _object(answer) or _object(answer.get("segments")):
        return fault
    for number, segment in answer["segments"].items():
        hash_range = segment.get("hashRange") if isinstance(segment, dict) else None
        if not isinstance(hash_range, dict) or not all(
            _is_whole(hash_range.get(end)) for end in ("start", "end")
        ):
            return f"segment {number[:20]} has no hash range"
        if not 0 <= hash_range["start"] <= hash_range["end"] <= _MAX_HASH:
            return f"segment {number[:20]} has the hash range {hash_range['start']} to {hash_range['end']}"
    return None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(
        type(value), "a number"
    )


_TOPIC_JUDGES: dict[str, Callable[[Any], str | None]] = {
    "topic_dispatch_rate": _rate,
    "topic_subscription_dispatch_rate": _rate,
    "topic_message_ttl": _whole,
    "topic_backlog_quotas": _quotas,
    "topic_retention": _retention,
    "topic_replicator_dispatch_rate": _rate,
}

_NAMESPACE_FIELDS: dict[str, Callable[[Any], str | None]] = {
    "replication_clusters": _texts,
    "message_ttl_in_seconds": _whole,
    "backlog_quota_map": _quotas,
    "retention_policies": _retention,
}

_JUDGES: dict[str, Callable[[Any], str | None]] = {
    "broker_configuration_runtime": _settings,
    "broker_dynamic_configuration": _settings,
    "broker_version": _text,
    "brokers": _texts,
    "namespace": _namespace,
    "subscription_dispatch_rate": _rate,
    "partition_count": _count,
    "topic_owner": _owner,
    "topic_publish_rate": _publish_rate,
    "scalable_layout": _layout,
    "scalable_stats": _object,
    "topic_subscriptions": _texts,
    **_TOPIC_JUDGES,
    **{f"global_{scope}": judge for scope, judge in _TOPIC_JUDGES.items()},
}

#: Questions that have no empty answer.
_ALWAYS_SET = frozenset(("broker_configuration_runtime", "broker_version", "brokers"))

SCOPES = tuple(_JUDGES)
