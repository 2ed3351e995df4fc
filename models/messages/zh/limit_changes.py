"""Changes of limits in Chinese. In: nothing. Out: sentences about a limit before and after a change."""

from __future__ import annotations

SENTENCES = {
    "limit_change.above_publish_rate": "在发布速率之上再加 {limit:limit}",
}
