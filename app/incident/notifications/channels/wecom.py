"""WeCom's group robot. In: a notification. Out: a markdown message of at most 4,096 bytes; its key is in the channel's address.

A robot takes 20 messages a minute. It has no signatures: everyone who knows the address can write.
"""

from __future__ import annotations

from throttlescope.app.incident.notifications.channels.request import (
    ChannelRequest,
    MessageRefusal,
    as_json,
    error_of,
    markdown,
)
from throttlescope.app.incident.notifications.wording import Notification

_CONTENT_BYTES = 4_096
#: The system is busy; too many messages; too many at once.
_TRANSIENT = frozenset({-1, 45009, 45033})


def write(notification: Notification, secret: str | None, now_ms: int) -> ChannelRequest:
    """The message as the robot takes it."""
    body = as_json({"msgtype": "markdown", "markdown": {"content": markdown(notification, _CONTENT_BYTES)}})
    return ChannelRequest(body, {"Content-Type": "application/json; charset=utf-8"})


def read(answer: bytes) -> MessageRefusal | None:
    """Why the robot did not take it, which it says in an answer of status 200."""
    return error_of(answer, _TRANSIENT)
