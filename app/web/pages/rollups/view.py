"""What the page of one topic, namespace or broker shows, read once. In: a reader and its address. Out: rows of one range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.range_bar import chosen_range
from throttlescope.app.web.data import rollup as stored
from throttlescope.app.web.data.lanes import Lanes, limit_lanes
from throttlescope.app.web.data.newest import newest_of_cluster
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.rollup import Rollup
from throttlescope.ingest.core.times import BLOCK_MS

DEFAULT_MS = 6 * BLOCK_MS
#: A longer range is cut to its end and says so.
LONGEST_MS = 7 * 24 * BLOCK_MS


@dataclass(frozen=True)
class RollupView:
    """Everything that the page of one topic, namespace or broker shows.

    Attributes
    ----------
    newest_ms : int
        End of the newest verdict of its cluster.
    rollup : Rollup or None
        None: nothing of it was judged in the last day of its cluster.
    members : sequence of dict
        Its worst subscriptions.
    episodes : sequence of dict or None
        Backlogs that touch the range; None: none were ever judged.
    episodes_total : int
        How many there are.
    incidents : sequence of dict
        What those share.
    """

    address: RollupsAddress
    newest_ms: int
    start_ms: int
    end_ms: int
    was_cut: bool
    rollup: Rollup | None
    members: Sequence[dict]
    lanes: Lanes
    episodes: Sequence[dict] | None
    episodes_total: int
    incidents: Sequence[dict]


def read_rollup(reader: LakeReader, address: RollupsAddress) -> RollupView | None:
    """Read what the address opens; None where the lake has no verdict of the cluster."""
    newest_ms = newest_of_cluster(reader, address.cluster)
    if newest_ms is None:
        return None
    first_ms = stored.first_minute(reader, address, newest_ms - DEFAULT_MS)
    default_ms = DEFAULT_MS if first_ms is None else max(BLOCK_MS // 2, newest_ms - first_ms)
    start_ms, end_ms, was_cut = chosen_range(
        address.start_ms, address.end_ms, newest_ms=newest_ms, default_ms=default_ms, longest_ms=LONGEST_MS
    )
    found = stored.place(reader, address)
    episodes, total = stored.episodes(reader, address, start_ms, end_ms) or (None, 0)
    ids = [row["episode_id"] for row in episodes or ()]
    return RollupView(
        address,
        newest_ms,
        start_ms,
        end_ms,
        was_cut,
        found,
        stored.members(reader, address) if found else (),
        limit_lanes(reader, address, start_ms, end_ms),
        episodes,
        total,
        stored.incidents(reader, address, start_ms, end_ms, ids) if ids else (),
    )
