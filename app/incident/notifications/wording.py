"""Messages in words. In: `EpisodeChange` records, and what would change each backlog. Out: a `Notification`: title, a paragraph per change, links.

Nothing here knows a vendor; names of other people's systems are made visible, and each channel escapes them for its own markup.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.app.incident.notifications.changes import EpisodeChange
from throttlescope.app.presentation.advice import recommendations_of
from throttlescope.app.presentation.causes import CAUSES, limiter_words
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, duration, minute_text, share, visible

#: Characters of a name of a topic or a subscription in a message; the page that is linked has the whole name.
_LONGEST_NAME = 200


@dataclass(frozen=True)
class WhatHelps:
    """The best recommendation for a backlog; ``command`` None where there is none to copy."""

    text: str
    command: str | None = None
    gone_in: str | None = None

    @classmethod
    def of(cls, advice: Mapping[str, Any] | None) -> WhatHelps | None:
        """From the facts of :mod:`~throttlescope.app.presentation.advice`; None where nothing helps or is known."""
        for one in recommendations_of(advice)[:1] if advice else ():
            return cls(one.text, one.apply, one.gone_in.text if one.gone_in else None)
        return None


@dataclass(frozen=True)
class WordedChange:
    """One change in words.

    Attributes
    ----------
    lines : tuple of str
        Cause, start, backlog and what would change it, a sentence or two each.
    url : str, optional
        The subscription's page.
    """

    change: EpisodeChange
    message_id: str
    headline: str
    lines: tuple[str, ...]
    helps: WhatHelps | None = None
    url: str | None = None

    @property
    def text(self) -> str:
        """All of it as plain text."""
        return "\n".join([self.headline, *self.lines, *([self.url] if self.url else [])])


@dataclass(frozen=True)
class Notification:
    """One message.

    Attributes
    ----------
    message_id : str
        The same when the same changes are sent again.
    kind : str
        ``changes`` or ``test``.
    text : str
        A sentence for a test; empty where there are changes.
    """

    message_id: str
    kind: str
    channel: str
    title: str
    made_ms: int
    changes: tuple[WordedChange, ...] = ()
    text: str = ""

    @property
    def plain_text(self) -> str:
        """All of it as plain text, for a terminal."""
        if len(self.changes) == 1:
            return self.changes[0].text
        return "\n\n".join(
            [self.title, *([self.text] if self.text else []), *(one.text for one in self.changes)]
        )


def worded(
    change: EpisodeChange, channel: str, *, helps: WhatHelps | None = None, page_url: str | None = None
) -> WordedChange:
    """A change in words."""
    return WordedChange(
        change,
        change.message_id(channel),
        _headline(change),
        tuple(_lines(change, helps)),
        helps,
        _link(change.episode, page_url),
    )


def notification_of(changes: Sequence[WordedChange], channel: str, made_ms: int) -> Notification:
    """One message about one or several changes."""
    if len(changes) == 1:
        return Notification(
            changes[0].message_id, "changes", channel, changes[0].headline, made_ms, tuple(changes)
        )
    ids = hashlib.blake2b("".join(one.message_id for one in changes).encode(), digest_size=8).hexdigest()
    numbers = {
        name: sum(one.change.change == name for one in changes)
        for name in ("opened", "cause_changed", "closed")
    }
    title = sentence(
        "notify.digest",
        changes=len(changes),
        opened=numbers["opened"],
        changed=numbers["cause_changed"],
        closed=numbers["closed"],
    )
    return Notification(ids, "changes", channel, title, made_ms, tuple(changes))


def trial(channel: str, made_ms: int) -> Notification:
    """The message of ``throttlescope notify test``."""
    message_id = hashlib.blake2b(f"{channel}\x1f{made_ms}".encode(), digest_size=8).hexdigest()
    return Notification(
        message_id,
        "test",
        channel,
        sentence("notify.test.title"),
        made_ms,
        text=sentence("notify.test.text", name=channel),
    )


def _headline(change: EpisodeChange) -> str:
    subscription, cause = _name(change.episode), _cause(change.cause, change.limiter, change.episode)
    if change.is_withdrawn:
        return sentence("notify.headline.withdrawn", subscription=subscription)
    if change.change == "opened":
        return sentence("notify.headline.opened", subscription=subscription, cause=cause)
    if change.change == "closed":
        return sentence("notify.headline.closed", subscription=subscription, cause=cause)
    before = _cause(*(change.before or (change.cause, change.limiter)), change.episode)
    return sentence("notify.headline.cause_changed", subscription=subscription, cause=cause, before=before)


def _lines(change: EpisodeChange, helps: WhatHelps | None) -> list[str]:
    row = change.episode
    if change.is_withdrawn:
        return [sentence("notify.withdrawn", cluster=visible(row["cluster"]))]
    look = CAUSES[change.cause]
    lines = [
        sentence("notify.answer", answer=look.answer)
        if change.confidence is None
        else sentence("notify.answer_and_confidence", answer=look.answer, share=share(change.confidence))
    ]
    end_ms = row["known_until_ms"] if row["end_ms"] is None else row["end_ms"]
    length = duration(max(0, end_ms - row["since_ms"]) / SECOND_MS)
    start, cluster = minute_text(row["since_ms"]), visible(row["cluster"])
    peak = count(row["peak_entries"])
    if change.change == "closed":
        end = minute_text(row["end_ms"])
        lines.append(sentence("notify.lasted", start=start, end=end, length=length, cluster=cluster))
        lines.append(sentence("notify.peak", peak=peak))
        return lines
    key = "notify.since_at_least" if row["since_method"] == "start_of_data" else "notify.since"
    if key == "notify.since":
        lines.append(sentence("notify.since", start=start, length=length, cluster=cluster))
    else:
        lines.append(sentence("notify.since_at_least", start=start, length=length, cluster=cluster))
    known = minute_text(row["known_until_ms"])
    lines.append(sentence("notify.backlog", entries=count(row["last_entries"]), peak=peak, time=known))
    return [*lines, *_helping(helps, look.first)]


def _helping(helps: WhatHelps | None, first: str) -> list[str]:
    if helps is None:
        return [sentence("notify.first_step", first=first)]
    if helps.gone_in is None:
        return [sentence("notify.helps", change=helps.text)]
    return [sentence("notify.helps_and_gone", change=helps.text, gone_in=helps.gone_in)]


def _cause(cause: str, limiter: str | None, row: Mapping[str, Any]) -> str:
    label = CAUSES[cause].label.lower()
    if limiter is None:
        return label
    return sentence(
        "notify.cause_and_limiter", cause=label, limiter=limiter_words(limiter, row["subscription"])
    )


def _name(row: Mapping[str, Any]) -> str:
    name = visible(subscription_text(row))
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _link(row: Mapping[str, Any], page_url: str | None) -> str | None:
    if page_url is None:
        return None
    cluster, _, topic, partition, subscription = (row[name] for name in SUBSCRIPTION_KEY_NAMES)
    own = SubscriptionPartition(cluster, topic, partition, subscription)
    return page_url.rstrip("/") + SubscriptionAddress(own).href()
