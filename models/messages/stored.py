"""Sentences of stored rows in another language. In: a row with its ``messages``. Out: the row with its text in the current language.

Text columns are English whatever the language of the run was. Next to them, tables that people read have a column ``messages``: of each
sentence the key and the values, as JSON, rounded as the sentence shows them: what reads the same is stored as the same bytes. Rows of older
lakes have none, and stay English.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from throttlescope.models.messages.catalogue import Message, placeholders, render
from throttlescope.models.messages.language import STORED_LANGUAGE, current
from throttlescope.models.messages.rounding import Rounding, rounding

#: The column.
MESSAGES = "messages"


def packed(message: Message) -> str:
    """A message as JSON: ``{"key": ..., "values": {...}}``; messages among its values alike.

    It has the values that its sentence shows, no others, and no more digits than are shown.

    Raises
    ------
    KeyError
        Where the catalogue lacks the key.
    """
    return _encode(_plain(message))


def unpacked(text: str) -> Message:
    """The message that :func:`packed` wrote; values that were tuples are lists.

    Raises
    ------
    ValueError
        It is no such JSON.
    """
    return _message(json.loads(text))


def verdict_in_language(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``verdicts``, or of a part of its columns, without ``messages`` and with its text in the current language."""
    row = dict(row)
    messages = _of(row)
    if not messages:
        return row
    if row.get("evidence"):
        row["evidence"] = _with(row["evidence"], "text", messages["evidence"])
    if row.get("contributing"):
        row["contributing"] = _with(row["contributing"], "why", messages["contributing"])
    if row.get("missing_evidence"):
        whats, fixes = messages["missing_evidence"][::2], messages["missing_evidence"][1::2]
        row["missing_evidence"] = _with(_with(row["missing_evidence"], "what", whats), "fix", fixes)
    if row.get("why") and messages["why"]:
        row["why"] = render(unpacked(messages["why"]))
    return row


def forecast_in_language(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``forecasts`` without ``messages`` and with its text in the current language."""
    row = dict(row)
    messages = _of(row) or {}
    for name in ("consequence", "basis"):
        if name in row and messages.get(name):
            row[name] = " ".join(render(unpacked(one)) for one in messages[name])
    return row


def _of(row: dict[str, Any]) -> dict[str, Any] | None:
    """Takes the messages out of a row; None where its text is right as it is, or there are none."""
    messages = row.pop(MESSAGES, None)
    return None if current() == STORED_LANGUAGE else messages


def _with(rows: Iterable[Mapping[str, Any]], name: str, messages: list[str] | None) -> list[dict[str, Any]]:
    rows = [dict(row) for row in rows]
    if messages is not None and len(messages) == len(rows):
        for row, text in zip(rows, messages, strict=True):
            row[name] = render(unpacked(text))
    return rows


def _plain(value: object) -> object:
    if isinstance(value, Message):
        shown, values = _shown(value.key), {}
        for name, one in value.values.items():
            if name in shown:
                rounded = shown[name]
                values[name] = _plain(one) if rounded is None else rounded(one)
        return {"key": value.key, "values": values}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


@cache
def _shown(key: str) -> dict[str, Rounding | None]:
    """The values that a sentence shows, each with how it is rounded; they and their units are the same in every language."""
    return {name: rounding(unit) for name, unit in placeholders(key).items()}


def _number(value: Any) -> Any:
    # NumPy's integers and booleans; its floats are floats.
    return value.item()


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_number).encode


def _message(value: Any) -> Any:
    if isinstance(value, dict):
        return Message(value["key"], {name: _message(one) for name, one in value["values"].items()})
    if isinstance(value, list):
        return [_message(one) for one in value]
    return value
