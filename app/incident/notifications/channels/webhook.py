"""A webhook of one's own. In: a notification and a secret. Out: a JSON body of a published schema, signed as Standard Webhooks says.

Headers ``webhook-id``, ``webhook-timestamp`` (seconds) and ``webhook-signature``: ``v1,`` and the HMAC-SHA256 of ``id.timestamp.body`` in
base64. A secret that begins with ``whsec_`` is base64 after it, any other is used as it is. A receiver refuses old timestamps, and drops an
id that it has seen.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from throttlescope.app.incident.notifications.channels.request import ChannelRequest, MessageRefusal, as_json
from throttlescope.app.incident.notifications.wording import Notification, WordedChange
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import SECOND_MS, format_time

#: Changes in one body.
_MOST_CHANGES = 200
_BASE64_SECRET = "whsec_"  # noqa: S105


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WhatHelpsBody(_Body):
    """The best recommendation; commands are proposals, nothing was executed."""

    text: str
    command: str | None = Field(description="command that applies it, to be read first")
    gone_in: str | None = Field(description="when the backlog would be gone, in words")


class ChangeBody(_Body):
    """One change of one episode."""

    message_id: str = Field(description="the same when this change is sent again")
    change: Literal["opened", "cause_changed", "closed"]
    withdrawn: bool = Field(description="closed because recomputed hours no longer show the backlog")
    cluster: str
    namespace: str
    topic: str
    partition: int = Field(description="-1: the topic has no partitions")
    subscription: str
    name: str = Field(description="tenant/ns/topic[-partition-N]#sub")
    episode_id: str
    side: str = Field(description="throttle, consumer_capacity, both, neither or unknown")
    cause: str
    limiter: str | None
    cause_before: str | None = Field(description="where the cause changed")
    limiter_before: str | None
    confidence: float | None = Field(description="0 to 1: the probability that the cause is right")
    start_ms: int = Field(description="start of the episode, epoch milliseconds")
    since_ms: int | None = Field(description="when the backlog began to grow")
    end_ms: int | None = Field(description="when it was gone")
    backlog_entries: float | None = Field(description="ready backlog when last seen, in entries (batches)")
    peak_entries: float | None = Field(description="largest ready backlog, in entries")
    known_until_ms: int | None = Field(description="end of the newest minute that was seen")
    what_helps: WhatHelpsBody | None
    text: str = Field(description="all of it in words")
    url: str | None = Field(description="page of the subscription")


class NotificationBody(_Body):
    """What is posted to a webhook."""

    version: Literal[1] = 1
    kind: Literal["changes", "test"]
    message_id: str = Field(description="as in the header webhook-id; the same when the same is sent again")
    channel: str
    sent_at: str = Field(description="RFC 3339, UTC")
    title: str
    text: str = Field(description="of a test message; else empty")
    changes: list[ChangeBody]
    changes_left_out: int = Field(description="changes that this body has no room for")


def write(notification: Notification, secret: str | None, now_ms: int) -> ChannelRequest:
    """The message as JSON, signed where there is a secret."""
    shown = notification.changes[:_MOST_CHANGES]
    body = NotificationBody(
        kind=notification.kind,
        message_id=notification.message_id,
        channel=notification.channel,
        sent_at=format_time(notification.made_ms),
        title=notification.title,
        text=notification.text,
        changes=[_change(one) for one in shown],
        changes_left_out=len(notification.changes) - len(shown),
    )
    content = as_json(body.model_dump())
    timestamp_s = now_ms // SECOND_MS
    headers = {
        "Content-Type": "application/json",
        "webhook-id": notification.message_id,
        "webhook-timestamp": str(timestamp_s),
    }
    if secret is not None:
        headers["webhook-signature"] = signature(secret, notification.message_id, timestamp_s, content)
    return ChannelRequest(content, headers)


def signature(secret: str, message_id: str, timestamp_s: int, body: bytes) -> str:
    """The value of ``webhook-signature``.

    Raises
    ------
    InputError
        What follows ``whsec_`` is not base64.
    """
    key = secret.encode()
    if secret.startswith(_BASE64_SECRET):
        try:
            key = base64.b64decode(secret.removeprefix(_BASE64_SECRET), validate=True)
        except (binascii.Error, ValueError):
            raise InputError(
                "The secret for signatures cannot be used",
                got="whsec_ and something that is not base64",
                expected="whsec_ and 24 to 64 bytes in base64, or any other text",
            ) from None
    signed = hmac.digest(key, f"{message_id}.{timestamp_s}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode('ascii')}"


def read(answer: bytes) -> MessageRefusal | None:
    """Whatever a webhook answers with status 2xx means yes."""
    return None


def _change(one: WordedChange) -> ChangeBody:
    change, row = one.change, one.change.episode
    before = change.before or (None, None)
    helps = one.helps
    return ChangeBody(
        message_id=one.message_id,
        change=change.change,
        withdrawn=change.is_withdrawn,
        **{name: row[name] for name in SUBSCRIPTION_KEY_NAMES},
        name=subscription_text(row),
        episode_id=row["episode_id"],
        side=change.side,
        cause=change.cause,
        limiter=change.limiter,
        cause_before=before[0],
        limiter_before=before[1],
        confidence=change.confidence,
        start_ms=row["start_ms"],
        since_ms=row.get("since_ms"),
        end_ms=row.get("end_ms"),
        backlog_entries=row.get("last_entries"),
        peak_entries=row.get("peak_entries"),
        known_until_ms=row.get("known_until_ms"),
        what_helps=None
        if helps is None
        else WhatHelpsBody(text=helps.text, command=helps.command, gone_in=helps.gone_in),
        text=one.text,
        url=one.url,
    )
