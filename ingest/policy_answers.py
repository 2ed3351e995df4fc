"""What an answer of the admin API has to look like. In: a question's scope and the answer's text. Out: what is wrong with it.

Limits and deadlines are resolved from these answers. One that is JSON and yet not what its question asks for (a proxy's page, an
object where a list belongs) would be read as "nothing set" or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_RATES = ("dispatchThrottlingRateInMsg", "dispatchThrottlingRateInByte", "ratePeriodInSecond")


def answer_fault(scope: str, body: str) -> str | None:
    """Say why an answer cannot be what its question asks for; None where it can.

    Parameters
    ----------
    scope : str
        A word of ``policies.scope``.
    body : str
        The answer as JSON text; ``null`` where nothing is set.
    """
    try:
        answer = json.loads(body)
    except ValueError as error:
        return f"no JSON: {error}"
    judge = _JUDGES.get(scope)
    if judge is None:
        return f"no such question as {scope}"
    if answer is None:
        return "null" if scope in _ALWAYS_SET else None
    return judge(answer)


def _object(answer: Any) -> str | None:
    return None if isinstance(answer, dict) else f"{_kind(answer)} instead of an object"


def _text(answer: Any) -> str | None:
    return None if isinstance(answer, str) and answer else f"{_kind(answer)} instead of a text"


def _whole(answer: Any) -> str | None:
    return None if _is_whole(answer) else f"{_kind(answer)} instead of a whole number"


def _texts(answer: Any) -> str | None:
    if not isinstance(answer, list) or not all(isinstance(one, str) for one in answer):
        return f"{_kind(answer)} instead of a list of names"
    return None


def _rate(answer: Any) -> str | None:
    if fault := _object(answer):
        return fault
    wrong = [name for name in _RATES if name in answer and not _is_whole(answer[name])]
    return f"{wrong[0]} is {_kind(answer[wrong[0]])}" if wrong else None


def _namespace(answer: Any) -> str | None:
    if fault := _object(answer):
        return fault
    for name in ("topicDispatchRate", "clusterDispatchRate", "subscriptionDispatchRate"):
        by_cluster = answer.get(name) or {}
        if fault := _object(by_cluster):
            return f"{name}: {fault}"
        for cluster, rate in by_cluster.items():
            if rate is not None and (fault := _rate(rate)):
                return f"{name} of {cluster}: {fault}"
    return None


def _count(answer: Any) -> str | None:
    return _object(answer) or (
        None if _is_whole(answer.get("partitions", 0)) else "partitions is no whole number"
    )


def _owner(answer: Any) -> str | None:
    return None if isinstance(answer, dict | str) else f"{_kind(answer)} instead of a broker's addresses"


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
    "topic_backlog_quotas": _object,
    "topic_retention": _object,
}

_JUDGES: dict[str, Callable[[Any], str | None]] = {
    "broker_configuration_runtime": _object,
    "broker_dynamic_configuration": _object,
    "broker_version": _text,
    "namespace": _namespace,
    "subscription_dispatch_rate": _rate,
    "partition_count": _count,
    "topic_owner": _owner,
    "topic_subscriptions": _texts,
    **_TOPIC_JUDGES,
    **{f"global_{scope}": judge for scope, judge in _TOPIC_JUDGES.items()},
}

#: Questions that have no empty answer.
_ALWAYS_SET = frozenset(("broker_configuration_runtime", "broker_version"))

SCOPES = tuple(_JUDGES)
