"""Sentences of ``models/messages/en/limit_changes.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "limit_change.above_publish_rate": "在发布速率之上再加 {limit:limit}",
}
