"""A request of a channel and the refusal of one, and the markdown that chat robots share. In: a notification. Out: text that fits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from throttlescope.app.incident.notifications.wording import Notification, WordedChange
from throttlescope.models.messages.catalogue import sentence

#: What makes links, mentions, bold text and code for these robots, as the full-width sign that looks alike (0xFEE0 further): not all of
#: their clients know a backslash as an escape, and then it would be in the text.
_HARMLESS = {ord(sign): ord(sign) + 0xFEE0 for sign in "\\`*[]<"}


@dataclass(frozen=True)
class ChannelRequest:
    """What is posted: a body, headers, and parameters that are added to the channel's address."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MessageRefusal:
    """Why an answer of status 200 means no; ``is_transient``: the same message may be accepted later."""

    why: str
    is_transient: bool = False


def as_json(document: Any) -> bytes:
    """A JSON body in UTF-8."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def error_of(answer: bytes, transient_codes: frozenset[int]) -> MessageRefusal | None:
    """What ``{"errcode": ..., "errmsg": ...}`` says, as DingTalk and WeCom answer; None where it says yes."""
    try:
        found = json.loads(answer)
        code = int(found["errcode"])
    except (ValueError, KeyError, TypeError):
        return MessageRefusal("an answer without errcode: this is not the address of such a robot")
    if code == 0:
        return None
    return MessageRefusal(f"errcode {code}, {str(found.get('errmsg', ''))[:200]}", code in transient_codes)


def escaped(text: str) -> str:
    """Text that is no markdown and no mention."""
    return text.translate(_HARMLESS)


def markdown(notification: Notification, most_bytes: int) -> str:
    """The message in the markdown that DingTalk and WeCom have in common, in at most ``most_bytes`` bytes of UTF-8.

    Where it is too long, changes at the end are left out and counted; one change that is too long by itself is cut.
    """
    footer = f"> {sentence('notify.footer', id=notification.message_id)}"
    head = [] if len(notification.changes) == 1 else [f"#### {escaped(notification.title)}"]
    if notification.text:
        head.append(escaped(notification.text))
    parts = fitting(
        notification,
        lambda one: _paragraph(one, brief=len(notification.changes) > 1),
        most_bytes - sum(len(part.encode()) + 2 for part in (*head, footer)),
        size=lambda part: len(part.encode()) + 2,
    )
    whole = "\n\n".join([*head, *parts, footer])
    return (
        whole
        if len(whole.encode()) <= most_bytes
        else whole.encode()[: most_bytes - 3].decode(errors="ignore") + "…"
    )


def fitting(
    notification: Notification,
    show: Callable[[WordedChange], str],
    room: int,
    *,
    size: Callable[[str], int] = len,
    most: int = 1_000,
) -> list[str]:
    """The first changes that fit into ``room``, at most ``most``, and how many there are more; never none."""
    shown: list[str] = []
    used = 0
    more_size = size(sentence("notify.more", number=len(notification.changes)))
    for number, one in enumerate(notification.changes):
        part = show(one)
        is_last = number == len(notification.changes) - 1
        if shown and (number >= most or used + size(part) + (0 if is_last else more_size) > room):
            shown.append(sentence("notify.more", number=len(notification.changes) - number))
            break
        shown.append(part)
        used += size(part)
    return shown


def _paragraph(one: WordedChange, *, brief: bool) -> str:
    lines = [f"**{escaped(one.headline)}**"]
    if brief:
        # In a digest the headline, and how large and since when.
        lines += [escaped(line) for line in one.lines[1:3]]
    else:
        lines += [escaped(line) for line in one.lines]
        command = None if one.helps is None else one.helps.command
        # It is there to be copied.
        if command is not None and escaped(command) == command:
            lines.append(command)
    if one.url is not None:
        lines.append(f"[{sentence('notify.page')}]({one.url})")
    return "\n\n".join(lines)
