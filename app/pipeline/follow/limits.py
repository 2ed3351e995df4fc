"""Limits while a run goes on. In: the admin API and the topics with a backlog. Out: ``policies``, ``topic_stats``, ``limits``.

Read at the start, then every quarter of an hour, in a thread of its own so that no verdict waits for it; topics that begin to
have a backlog in between are read sooner. The calls of a second are bounded as everywhere, and no more than a quarter of
the time is spent reading. A round in which nothing changed is not stored again for six hours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from throttlescope.ingest.core.errors import SourceError, ThrottlescopeError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.admin import MAX_TOPICS
from throttlescope.ingest.quality.admin_scope import other_cluster, other_cluster_words
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.limits import resolve_limits

EVERY_MS = 15 * MINUTE_MS
#: Topics that are new are read at most so often.
NEW_TOPICS_MS = 2 * MINUTE_MS
#: So much longer than a round took, the next one waits.
_REST = 3
_STORED_AGAIN_MS = 6 * BLOCK_MS


class LimitsWatch:
    """Reads one cluster's admin API.

    Parameters
    ----------
    say : callable
        Called once when rounds begin to fail, and once when they succeed again.
    named_by_user : bool
        The cluster's name was given, so it need not be the brokers' own.
    now_ms : callable
        The clock.

    Attributes
    ----------
    of_other_cluster : bool
        The admin API that answered is another cluster's: nothing of it was kept.
    """

    def __init__(
        self,
        lake: Lake,
        admin: PulsarAdmin,
        run_id: str,
        say: Callable[[str], None],
        *,
        named_by_user: bool = False,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self.lake, self.admin, self.run_id, self.now_ms = lake, admin, run_id, now_ms
        self.rounds = 0
        self.of_other_cluster = False
        self._named_by_user = named_by_user
        self._say = say
        self._thread: threading.Thread | None = None
        self._read_topics: set[AdminTopic] = set()
        self._due_ms = self._new_due_ms = 0
        self._stored: tuple[int, frozenset] = (0, frozenset())
        self._failing = False

    @property
    def requests(self) -> int:
        return self.admin.requests

    def look(
        self,
        cluster: str,
        topics: Sequence[AdminTopic],
        *,
        publishers: Sequence[AdminTopic] | None = None,
        scraped: Iterable[str] = (),
        wait_s: float = 0.0,
    ) -> None:
        """Begin a round where one is due and none is under way.

        Parameters
        ----------
        topics : sequence of AdminTopic
            Those that have a backlog.
        publishers : sequence of AdminTopic, optional
            All whose producers are paused.
        scraped : iterable of str
            Values of ``instance`` of the brokers.
        wait_s : float
            Come back when it is over, or after so many seconds.
        """
        now_ms = self.now_ms()
        if self._thread is not None and self._thread.is_alive():
            return
        topics = list(topics[:MAX_TOPICS])
        if now_ms < self._due_ms:
            topics = [topic for topic in topics if topic not in self._read_topics]
            if not topics or now_ms < self._new_due_ms:
                return
            whole = False
        else:
            whole = True
        self._thread = threading.Thread(
            target=self._try, args=(cluster, topics, publishers, set(scraped), whole), daemon=True
        )
        self._thread.start()
        self._thread.join(wait_s)

    def end(self, within_s: float) -> None:
        """Wait for a round that is under way."""
        if self._thread is not None:
            self._thread.join(within_s)

    def _try(
        self,
        cluster: str,
        topics: list[AdminTopic],
        publishers: Sequence[AdminTopic] | None,
        scraped: set[str],
        whole: bool,
    ) -> None:
        try:
            self._round(cluster, topics, publishers, scraped, whole)
        except ThrottlescopeError as error:
            if not self._failing:
                self._say(sentence("pipeline.follow.limits.away", error=error))
            self._failing = True
            self._due_ms = self.now_ms() + NEW_TOPICS_MS
        else:
            if self._failing:
                self._say(sentence("pipeline.follow.limits.back"))
            self._failing = False

    def _round(
        self,
        cluster: str,
        topics: list[AdminTopic],
        publishers: Sequence[AdminTopic] | None,
        scraped: set[str],
        whole: bool,
    ) -> None:
        begun_ms = self.now_ms()
        found = self.admin.collect(cluster, topics, publishers=publishers)
        ended_ms = self.now_ms()
        policies = found.policies.to_pylist()
        other = None if self._named_by_user else other_cluster(policies, cluster, scraped)
        self.of_other_cluster = other is not None
        if other is not None:
            raise SourceError(
                "The admin API is another cluster's",
                got=other_cluster_words(other, cluster),
                fix="give the admin API of the cluster that is scraped; where it is, name the cluster with --cluster NAME",
            )
        answers = frozenset((row["scope"], row["key"], row["body"]) for row in policies)
        stored_ms, before = self._stored
        # All or nothing: a resolver takes a round for one snapshot, and answers of two rounds are none.
        if not answers <= before or ended_ms - stored_ms >= _STORED_AGAIN_MS:
            self.lake.upsert("policies", found.policies, run_id=self.run_id)
            self._stored = (ended_ms, answers) if whole else (stored_ms, before | answers)
        if found.topic_stats.num_rows:
            self.lake.upsert("topic_stats", found.topic_stats, run_id=self.run_id)
        resolve_limits(self.lake, [cluster], begun_ms - MINUTE_MS, ended_ms + 1, run_id=self.run_id)
        self._read_topics = set(topics) if whole else self._read_topics | set(topics)
        rest_ms = _REST * (ended_ms - begun_ms)
        if whole:
            self._due_ms = begun_ms + max(EVERY_MS, rest_ms)
        self._new_due_ms = ended_ms + max(NEW_TOPICS_MS, rest_ms)
        self.rounds += 1
