"""Messages sent about backlogs. In: nothing. Out: the table ``notifications``: what was sent, when, and to which channel."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import DATE, SUBSCRIPTION_KEY
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import CAUSES, LIMITERS

CHANGES = ("opened", "cause_changed", "closed")

NOTIFICATIONS = Table(
    "notifications",
    "One change of one episode that was sent to one channel. Written after the channel accepted it; the newest row of an episode "
    "is what the channel knows of it.",
    (
        Column("message_id", pa.string(), "hash of channel, episode and change; the receiver got it, too"),
        Column("channel", pa.string(), "name of the channel; of an address from the command line, its host"),
        *SUBSCRIPTION_KEY,
        Column("episode_id", pa.string(), "the episode, as in episodes"),
        Column("start_ms", pa.int64(), "its start"),
        Column("change", pa.string(), "what was sent", words=CHANGES),
        Column("cause", pa.string(), "the cause that was named", words=CAUSES),
        Column("limiter", pa.string(), "its limiter; NULL: none", True, LIMITERS),
        Column("changed_ms", pa.int64(), "when the episode changed"),
        Column("sent_ms", pa.int64(), "when the channel accepted it"),
        DATE,
    ),
    key=("message_id",),
    partition_by=("date",),
)
