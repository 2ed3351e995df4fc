"""Repairing a refused row. In: the row as it was refused. Out: the row as it should have been, and in words what was changed.

A known repair is one that can be worked out from the row itself. What cannot be (a cluster that has no name, a metric without
one) needs knowledge of the source: values are set one by one, or the whole row is given as JSON.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from throttlescope.ingest.core.errors import InputError


def known_repair(reason: str, row: Any) -> tuple[Any, str] | None:
    """Repair what the reason says, where the row itself tells how.

    Returns
    -------
    (row, words) or None
        None: there is no known repair of this.
    """
    labels = row.get("labels") if isinstance(row, dict) else None
    if not isinstance(labels, dict):
        return None
    repaired, words = dict(labels), None
    if reason == "missing_key_label" and (namespace := _namespace_of(labels)):
        repaired["namespace"], words = namespace, f"namespace {namespace}, as the topic says"
    elif reason == "invalid_partition" and "partition" in labels:
        del repaired["partition"]
        words = f"partition {labels['partition']!r} left out: the topic's own name says it"
    elif reason == "label_not_utf8":
        repaired = {_text(name): _text(value) for name, value in labels.items()}
        words = "bytes that are no text replaced by \N{REPLACEMENT CHARACTER}"
    if words is None or repaired == labels:
        return None
    return copy.deepcopy(row) | {"labels": repaired}, words


def with_values(row: Any, settings: Sequence[str], removals: Sequence[str] = ()) -> Any:
    """Set and remove single values.

    Parameters
    ----------
    settings : sequence of str
        ``PATH=VALUE``: names with dots between them, such as ``labels.cluster=prod``. A value is text where the row has text or
        nothing at this place, else JSON.
    removals : sequence of str
        Paths.

    Raises
    ------
    InputError
        No such form, or no such place in the row.
    """
    if not isinstance(row, dict):
        raise InputError(
            "The row is no object, so that no value of it can be set", fix="give it whole with --json FILE"
        )
    row = copy.deepcopy(row)
    for setting in settings:
        path, found, value = setting.partition("=")
        if not found or not path:
            raise InputError(
                "--set is no pair", got=setting, expected="PATH=VALUE, such as labels.cluster=prod"
            )
        around, name = _place(row, path)
        around[name] = _value(value, around.get(name))
    for path in removals:
        around, name = _place(row, path)
        if name not in around:
            raise InputError("There is nothing to remove", got=path, expected=", ".join(sorted(around)))
        del around[name]
    return row


def whole(text: str) -> dict:
    """A row that was given as JSON.

    Raises
    ------
    InputError
    """
    try:
        row = json.loads(text)
    except ValueError as error:
        raise InputError("The repaired row is no JSON", got=str(error)) from None
    if not isinstance(row, dict):
        raise InputError("The repaired row is no object", got=text[:80])
    return row


def _place(row: dict, path: str) -> tuple[dict, str]:
    *names, last = path.split(".")
    for name in names:
        inner = row.get(name)
        if not isinstance(inner, dict):
            raise InputError(
                "The row has no such place", got=path, expected="one of " + ", ".join(sorted(row))
            )
        row = inner
    return row, last


def _value(text: str, before: Any) -> Any:
    if before is None or isinstance(before, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise InputError(
            "The value is no JSON", got=text, expected=f"a value like {json.dumps(before)[:60]}"
        ) from None


def _namespace_of(labels: dict[str, str]) -> str | None:
    """tenant/namespace of a full topic name, where the label is missing."""
    topic = labels.get("topic", "")
    if labels.get("namespace") or "://" not in topic:
        return None
    parts = topic.split("://", 1)[1].split("/")
    return "/".join(parts[:2]) if len(parts) >= 3 and all(parts[:2]) else None


def _text(value: str) -> str:
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
