"""DingTalk's custom robot. In: a notification and the robot's secret. Out: a markdown message whose address is signed.

The signature is the HMAC-SHA256 of ``timestamp + newline + secret`` under the secret, in base64, with the timestamp in milliseconds in
the address; the robot accepts it for an hour. A body has at most 20,000 bytes, a minute at most 20 messages (more: none for ten minutes).
"""

from __future__ import annotations

import base64
import hashlib
import hmac

from throttlescope.app.incident.notifications.channels.request import (
    ChannelRequest,
    MessageRefusal,
    as_json,
    error_of,
    markdown,
)
from throttlescope.app.incident.notifications.wording import Notification

#: Of the text: as JSON every escape of markdown takes three bytes instead of two, and the body stays below 20,000.
_TEXT_BYTES = 12_500
_LONGEST_TITLE = 120
#: The system is busy; too many messages.
_TRANSIENT = frozenset({-1, 130101, 410100, 660026, 90030})


def write(notification: Notification, secret: str | None, now_ms: int) -> ChannelRequest:
    """The message as the robot takes it."""
    body = as_json(
        {
            "msgtype": "markdown",
            "markdown": {
                # A robot that is protected by a keyword finds it here.
                "title": f"throttlescope: {notification.title}"[:_LONGEST_TITLE],
                "text": markdown(notification, _TEXT_BYTES),
            },
        }
    )
    query = {} if secret is None else {"timestamp": str(now_ms), "sign": signature(secret, now_ms)}
    return ChannelRequest(body, {"Content-Type": "application/json; charset=utf-8"}, query)


def signature(secret: str, timestamp_ms: int) -> str:
    """The value of ``sign`` before it is written into an address."""
    signed = hmac.digest(secret.encode(), f"{timestamp_ms}\n{secret}".encode(), hashlib.sha256)
    return base64.b64encode(signed).decode("ascii")


def read(answer: bytes) -> MessageRefusal | None:
    """Why the robot did not take it, which it says in an answer of status 200."""
    return error_of(answer, _TRANSIENT)
