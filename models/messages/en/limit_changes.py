"""Changes of limits in English. In: nothing. Out: sentences about a limit before and after a change."""

from __future__ import annotations

SENTENCES = {
    "limit_change.above_publish_rate": "{limit:limit} above the publish rate",
}
