"""Slack's incoming webhook. In: a notification. Out: blocks, and the same as text for notifications of the device.

Limits: 50 blocks, 150 characters of a header, 3,000 of a section, about 13,000 of all blocks together; one message a second.
"""

from __future__ import annotations

from throttlescope.app.incident.notifications.channels.request import (
    ChannelRequest,
    MessageRefusal,
    as_json,
    fitting,
)
from throttlescope.app.incident.notifications.wording import Notification, WordedChange
from throttlescope.models.messages.catalogue import sentence

_HEADER, _SECTION, _ALL = 150, 2_900, 10_000
_MOST_SECTIONS = 20


def write(notification: Notification, secret: str | None, now_ms: int) -> ChannelRequest:
    """The message as Slack takes it."""
    is_digest = len(notification.changes) > 1
    sections = fitting(notification, lambda one: _section(one, brief=is_digest), _ALL, most=_MOST_SECTIONS)
    if notification.text:
        sections = [escaped(notification.text)]
    footer = sentence("notify.footer", id=notification.message_id)
    blocks = [
        {
            "type": "header",
            "text": {"type": "plain_text", "emoji": False, "text": _cut(notification.title, _HEADER)},
        },
        *({"type": "section", "text": {"type": "mrkdwn", "text": part}} for part in sections),
        {"type": "context", "elements": [{"type": "mrkdwn", "text": footer}]},
    ]
    body = as_json({"text": escaped(_cut(notification.title, _SECTION)), "blocks": blocks})
    return ChannelRequest(body, {"Content-Type": "application/json; charset=utf-8"})


def escaped(text: str) -> str:
    """Text that is no markup, no link and no mention: Slack's three special characters as entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def read(answer: bytes) -> MessageRefusal | None:
    """Why it was not taken; Slack answers ``ok``."""
    if answer.strip() == b"ok":
        return None
    return MessageRefusal(
        f"{answer[:100].decode(errors='replace')!r} instead of ok: this is not the address of an incoming webhook"
    )


def _section(one: WordedChange, *, brief: bool) -> str:
    lines = list(one.lines[1:3] if brief else one.lines)
    if not brief and one.helps is not None and one.helps.command is not None:
        lines.append(one.helps.command)
    link = "" if one.url is None else f"\n<{escaped(one.url)}|{sentence('notify.page')}>"
    # The header of a message about one change is its headline.
    shown = [*([f"*{escaped(one.headline)}*"] if brief else []), *(escaped(line) for line in lines)]
    # Whole lines are left out, so that no entity is halved.
    while sum(len(line) + 1 for line in shown) + len(link) > _SECTION and len(shown) > 1:
        shown.pop()
    return "\n".join(shown) + link


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
