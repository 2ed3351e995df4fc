"""Notifications after a run. In: a lake, channels, the clusters that were computed. Out: messages, rows of ``notifications``, an outcome per channel.

A message is recorded after it was accepted, so a crash in between sends it a second time, with the same id. Nothing here fails a run:
what goes wrong is in the outcome, and what was not sent is new at the next run.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from throttlescope.app.incident.notifications.changes import (
    EpisodeChange,
    find_changes,
    read_recent_episodes,
    read_sent,
)
from throttlescope.app.incident.notifications.delivery import Channel, deliver
from throttlescope.app.incident.notifications.wording import (
    Notification,
    WhatHelps,
    notification_of,
    trial,
    worded,
)
from throttlescope.app.log import tell
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import SourceError, ThrottlescopeError
from throttlescope.ingest.core.subscription_name import subscription_text
from throttlescope.ingest.core.times import SECOND_MS, date_of, format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import counted, duration_text

if TYPE_CHECKING:
    from throttlescope.app.config import Notifications
    from throttlescope.ingest.lake import Lake

#: While following, rounds begin at least so far apart: with the largest digest_above a robot's 20 messages a minute are not reached.
_BETWEEN_ROUNDS_S = 30.0
#: A round that is under way when following ends is waited for this long.
_LAST_ROUND_S = 40.0
#: Changes of one channel and round for which a recommendation is computed.
_MOST_ADVISED = 3


@dataclass
class ChannelOutcome:
    """What became of a channel's messages.

    Attributes
    ----------
    messages : list of Notification
        Those that were accepted, or with ``dry_run`` would be sent.
    too_old : int
        Changes that were left out because they are older than ``max_age_ms``.
    failed : str, optional
        Why the rest was not sent.
    """

    channel: str
    max_age_ms: int
    dry_run: bool = False
    messages: list[Notification] = field(default_factory=list)
    too_old: int = 0
    failed: str | None = None

    @property
    def changes(self) -> int:
        """Changes in the messages."""
        return sum(len(one.changes) for one in self.messages)

    def as_dict(self) -> dict[str, Any]:
        """As it is printed in JSON."""
        return {
            "channel": self.channel,
            "dry_run": self.dry_run,
            "messages": [
                {"message_id": one.message_id, "title": one.title, "text": one.plain_text}
                for one in self.messages
            ],
            "changes": self.changes,
            "too_old": self.too_old,
            "failed": self.failed,
        }


@dataclass(frozen=True)
class Notifier:
    """Sends what is new to some channels.

    Attributes
    ----------
    max_age_ms : int
        Of changes of episodes that a channel had no message about.
    now_ms, sleep : callable
        The clock, and how retries wait.
    """

    lake: Lake
    settings: Notifications
    channels: Sequence[Channel]
    max_age_ms: int
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    sleep: Callable[[float], object] = time.sleep

    def notify(self, clusters: Sequence[str] | None = None, *, dry_run: bool = False) -> list[ChannelOutcome]:
        """Send what is new about some clusters, or all of the lake, to every channel.

        Parameters
        ----------
        dry_run : bool
            Send and record nothing.
        """
        return [self._notify(channel, clusters, dry_run) for channel in self.channels]

    def send_test(self, *, dry_run: bool = False) -> list[ChannelOutcome]:
        """Send a test message to every channel."""
        return [self._send_test(channel, dry_run) for channel in self.channels]

    def _send_test(self, channel: Channel, dry_run: bool) -> ChannelOutcome:
        outcome = ChannelOutcome(channel.name, self.max_age_ms, dry_run)
        message = trial(channel.name, self.now_ms())
        try:
            if not dry_run:
                deadline_s = self.settings.deadline / SECOND_MS
                deliver(channel, message, deadline_s=deadline_s, now_ms=self.now_ms, sleep=self.sleep)
            outcome.messages.append(message)
        except ThrottlescopeError as error:
            outcome.failed = str(error)
        return outcome

    def _notify(self, channel: Channel, clusters: Sequence[str] | None, dry_run: bool) -> ChannelOutcome:
        outcome = ChannelOutcome(channel.name, self.max_age_ms, dry_run)
        try:
            self._send_new(channel, clusters, outcome)
        except ThrottlescopeError as error:
            outcome.failed = str(error)
        except Exception as error:
            # The run is done; its notifications must not be what it fails with.
            outcome.failed = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return outcome

    def _send_new(self, channel: Channel, clusters: Sequence[str] | None, outcome: ChannelOutcome) -> None:
        if self.lake.version("episodes") is None:
            return
        if clusters is None:
            clusters = sorted({file.partition["cluster"] for file in self.lake.files("episodes")})
        if not clusters:
            return
        oldest_ms = self.now_ms() - self.max_age_ms
        sent = read_sent(self.lake, channel.name, clusters)
        episodes = read_recent_episodes(self.lake, clusters, oldest_ms, sent)
        found = find_changes(episodes, sent, channel.settings, oldest_ms=oldest_ms)
        outcome.too_old = found.too_old
        deadline_s = time.monotonic() + self.settings.deadline / SECOND_MS
        for message in self._messages(channel.name, found.changes):
            if not outcome.dry_run:
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    raise SourceError(
                        f"Channel {channel.name}: the time for all messages was over",
                        got=f"{self.settings.deadline / SECOND_MS:g} s",
                        fix="raise deadline of notifications, or look at that server",
                    )
                deliver(channel, message, deadline_s=left_s, now_ms=self.now_ms, sleep=self.sleep)
                self._record(channel.name, message)
            outcome.messages.append(message)

    def _messages(self, channel: str, changes: Sequence[EpisodeChange]) -> Iterator[Notification]:
        page_url, made_ms = self.settings.page_url, self.now_ms()
        if len(changes) > self.settings.digest_above:
            yield notification_of(
                [worded(one, channel, page_url=page_url) for one in changes], channel, made_ms
            )
            return
        asked = [one for one in changes if one.change != "closed"][:_MOST_ADVISED]
        for one in changes:
            helps = self._what_helps(one) if any(one is other for other in asked) else None
            yield notification_of([worded(one, channel, helps=helps, page_url=page_url)], channel, made_ms)

    def _what_helps(self, change: EpisodeChange) -> WhatHelps | None:
        """The best recommendation; None where there is none in time."""
        from throttlescope.app.incident.advice import advice_within
        from throttlescope.app.services.whatif.replay import HISTORY, TARGET, Question

        most_s = self.settings.advice_within / SECOND_MS
        row = change.episode
        if most_s <= 0 or change.side not in ("throttle", "consumer_capacity", "both"):
            return None
        name = subscription_text(row["topic"], row["partition"], row["subscription"])
        at = format_time(row["known_until_ms"])
        question = Question(name, row["cluster"], (), at, None, HISTORY, TARGET, None)
        return WhatHelps.of(advice_within(self.lake.root, question, self.now_ms(), most_s=most_s).found)

    def _record(self, channel: str, message: Notification) -> None:
        sent_ms = self.now_ms()
        rows = [one.change.sent_row(channel, sent_ms, date_of(sent_ms)) for one in message.changes]
        table = pa.Table.from_pylist(rows, schema=TABLES["notifications"].loose_schema)
        self.lake.upsert("notifications", table, run_id=f"notify-{message.message_id}")


class BackgroundNotifier:
    """Sends what is new while a source is followed, in a thread of its own: a slow channel delays no cycle."""

    def __init__(self, notifier: Notifier, *, between_s: float = _BETWEEN_ROUNDS_S) -> None:
        self._notifier, self._between_s = notifier, between_s
        self._wake, self._stop = threading.Event(), threading.Event()
        self._clusters: set[str] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="notifications", daemon=True)
        self._thread.start()

    def changed(self, clusters: Sequence[str]) -> None:
        """Episodes of these clusters were written."""
        with self._lock:
            self._clusters.update(clusters)
        self._wake.set()

    def end(self) -> None:
        """Send what is new for the last time; a round is waited for a while, then left behind."""
        self._stop.set()
        self._wake.set()
        self._thread.join(_LAST_ROUND_S)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            with self._lock:
                clusters, self._clusters = sorted(self._clusters), set()
            if clusters:
                report(self._notifier.notify(clusters))
            if self._stop.is_set() and not self._clusters:
                return
            self._stop.wait(self._between_s)


@contextlib.contextmanager
def in_background(notifier: Notifier | None) -> Iterator[Callable[[Sequence[str]], None]]:
    """What is to be called with clusters whose episodes were written, until the block ends; it does nothing without a notifier."""
    if notifier is None:
        yield lambda clusters: None
        return
    background = BackgroundNotifier(notifier)
    try:
        yield background.changed
    finally:
        background.end()


def report(outcomes: Sequence[ChannelOutcome], *, quiet: bool = False) -> None:
    """Say on stderr what was sent; ``quiet`` leaves only warnings."""
    for one in outcomes:
        facts = {"channel": one.channel, "messages": len(one.messages), "changes": one.changes}
        if one.messages and not quiet:
            tell(outcome_text(one), event="notified", **facts)
        if one.too_old and not quiet:
            tell(too_old_text(one), event="notifications_too_old", channel=one.channel, too_old=one.too_old)
        if one.failed is not None:
            tell(
                sentence("notify.failed", name=one.channel, why=one.failed),
                event="notification_failed",
                level=logging.WARNING,
                **facts,
            )


def outcome_text(one: ChannelOutcome) -> str:
    """How many messages a channel got, or would get."""
    if not one.messages:
        return sentence("notify.nothing", name=one.channel)
    messages, changes = counted(len(one.messages), "message"), counted(one.changes, "change")
    if one.dry_run:
        return sentence("notify.would_send", messages=messages, name=one.channel, changes=changes)
    return sentence("notify.sent", messages=messages, name=one.channel, changes=changes)


def too_old_text(one: ChannelOutcome) -> str:
    """How many changes were too old."""
    return sentence(
        "notify.too_old",
        changes=counted(one.too_old, "change"),
        age=duration_text(one.max_age_ms),
        name=one.channel,
    )
