"""How late the data of a lake or a source is."""

from __future__ import annotations

SENTENCES = {
    "freshness.title": "Freshness at {time} UTC, at most {age} old",
    "freshness.source_idle": "idle: the source was read up to {until} and had nothing new",
    "freshness.subscriptions_idle": "idle: brokers are scraped up to {until}, no subscription has samples",
}
