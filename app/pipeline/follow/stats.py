"""Stats while a run goes on. In: the admin API and the topics with a backlog. Out: rows of ``topic_stats``, several a minute.

Where permits of consumers are not scraped, the admin API's stats alone have them; and only they say which consumers share a connection
with producers that the broker pauses. Once a cycle, in a thread of its own, stats
of the topics with the largest backlogs are read a few times; a cycle waits a moment for them, so that its verdicts can
use them. Rows are kept in memory and go into the lake with the samples: every round as a commit would rewrite the day's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin
from throttlescope.models.messages.catalogue import sentence

#: So many times each partition is read in a cycle, fewer where that would be too many calls.
_ROUNDS, _PAUSE_S = 3, 0.7
#: Calls of a cycle, and how long it may take: rounds count for the minute that ended less than half a minute ago.
_CALLS, _WITHIN_S = 60, 25.0
#: A cycle waits for its round so long.
_WAIT_S = 4.0


class StatsWatch:
    """Samples one cluster's stats.

    Parameters
    ----------
    say : callable
        Called once when rounds begin to fail, and once when they succeed again.
    """

    def __init__(self, lake: Lake, admin: PulsarAdmin, run_id: str, say: Callable[[str], None]) -> None:
        self.lake, self.admin, self.run_id = lake, admin, run_id
        self.rounds = 0
        self._say = say
        self._thread: threading.Thread | None = None
        self._new = threading.Lock()
        self._taken: list[pa.Table] = []
        self._failing = False

    def look(
        self, cluster: str, topics: Sequence[AdminTopic], *, publishers: Sequence[AdminTopic] | None = None
    ) -> None:
        """Begin a round where none is under way, and wait a moment for it.

        Parameters
        ----------
        topics : sequence of AdminTopic
            With the partitions that have a backlog, the largest first.
        publishers : sequence of AdminTopic, optional
            All whose producers are paused, with their partitions.
        """
        if not topics or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(
            target=self._try, args=(cluster, list(topics), publishers), daemon=True
        )
        self._thread.start()
        self._thread.join(_WAIT_S)

    def rows(self) -> pa.Table:
        """Rows that are not in the lake yet."""
        empty = TABLES["topic_stats"].schema.empty_table()
        with self._new:
            return pa.concat_tables([empty, *self._taken])

    def store(self) -> None:
        """Bring what was taken into the lake."""
        with self._new:
            taken = list(self._taken)
        if taken:
            self.lake.upsert("topic_stats", pa.concat_tables(taken), run_id=self.run_id)
            with self._new:
                self._taken = self._taken[len(taken) :]

    def end(self, within_s: float) -> None:
        """Wait for a round that is under way."""
        if self._thread is not None:
            self._thread.join(within_s)

    def _try(self, cluster: str, topics: list[AdminTopic], publishers: Sequence[AdminTopic] | None) -> None:
        partitions = sum(len(topic.partitions) or 1 for topic in topics)
        try:
            found = self.admin.sample(
                cluster,
                topics,
                rounds=max(1, min(_ROUNDS, _CALLS // partitions)),
                pause_s=_PAUSE_S,
                max_calls=_CALLS,
                within_s=_WITHIN_S,
                publishers=publishers,
            )
        except ThrottlescopeError as error:
            self._report(str(error))
            return
        if found.topic_stats.num_rows:
            with self._new:
                self._taken.append(found.topic_stats)
        self.rounds += 1
        answered = found.topic_stats.num_rows or not found.failures
        self._report(None if answered else found.failures[0].reason)

    def _report(self, fault: str | None) -> None:
        if fault is not None and not self._failing:
            self._say(sentence("pipeline.follow.stats.away", error=fault))
        elif fault is None and self._failing:
            self._say(sentence("pipeline.follow.stats.back"))
        self._failing = fault is not None
