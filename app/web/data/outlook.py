"""The forecasts of one subscription, and the backlog that it is in. In: a reader, a subscription and a moment. Out: rows of ``forecasts`` and ``episodes``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.data.history import THIS, values_of
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.models.messages.stored import forecast_in_language

#: Older forecasts are ignored.
LOOK_BACK_MS = DAY_MS


@dataclass(frozen=True)
class StoredOutlook:
    """Stored forecasts and the open backlog.

    Attributes
    ----------
    forecasts : tuple of dict
        Of each kind and method the newest that was made by then, columns of ``forecasts``; a deadline before the drain.
    are_stored : bool
        The lake has forecasts at all, of any subscription.
    episode : dict or None
        The backlog that is open at that moment, columns of ``episodes``.
    episodes_are_stored : bool
    """

    forecasts: tuple[dict, ...] = ()
    are_stored: bool = False
    episode: dict | None = None
    episodes_are_stored: bool = False


def outlook(
    reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, at_ms: int
) -> StoredOutlook:
    """What was known at a moment.

    Parameters
    ----------
    start_ms, at_ms : int
        The selected window: forecasts made by its end, and the episode that overlaps it.
    """

    def read(cursor, snapshot):
        files = snapshot.files_of("forecasts", subscription, "made_at_ms", at_ms - LOOK_BACK_MS, at_ms)
        made = dicts(
            cursor.execute(
                f"SELECT * FROM {snapshot.source('forecasts', files)} {THIS} AND made_at_ms > ? AND made_at_ms <= ? "  # noqa: S608
                "QUALIFY row_number() OVER (PARTITION BY kind, method ORDER BY made_at_ms DESC) = 1 "
                "ORDER BY kind = 'drain', predicted_ms IS NULL, predicted_ms, kind, method",
                [*values_of(subscription), at_ms - LOOK_BACK_MS, at_ms],
            )
        )
        files = snapshot.files_of("episodes", subscription, "start_ms", 0, at_ms)
        episodes = dicts(
            cursor.execute(
                f"SELECT * FROM {snapshot.source('episodes', files)} {THIS} "  # noqa: S608
                "AND start_ms < ? AND (end_ms IS NULL OR end_ms > ?) ORDER BY start_ms DESC LIMIT 1",
                [*values_of(subscription), at_ms, start_ms],
            )
        )
        return StoredOutlook(
            tuple(made),
            snapshot.versions["forecasts"] is not None,
            episodes[0] if episodes else None,
            snapshot.versions["episodes"] is not None,
        )

    found = reader.read_cached(("outlook", subscription, start_ms, at_ms), read)
    return replace(found, forecasts=tuple(forecast_in_language(row) for row in found.forecasts))
