"""What is asked for. In: nothing. Out: tables of command lines, mistakes and addresses, each by the name of its golden file.

All of them are asked of the demo's lake: a recorded cluster with several faults at once, and a synthetic history.
"""

from __future__ import annotations

CLUSTER, HISTORY = "europe-west", "synthetic-history"
#: The end of the demo's recording, and a while before.
END, BEFORE = "2026-11-23T16:28:00Z", "2026-11-23T16:20:00Z"

#: Subscriptions by what holds them at the demo's end.
HELD = {
    "throttled": "persistent://payments/checkout/carts#support-desk",
    "throttled-bytes": "persistent://ads/reports/anomalies#exporter",
    "throttled-partition": "persistent://shop/inventory/audits-partition-1#cache-refresh",
    "both": "persistent://ads/bids/losses#search-index",
    "slow-consumers": "persistent://shop/accounts/logins#analytics",
    "no-consumers": "persistent://payments/ledger/entries#alerting",
    "blocked-on-unacked": "persistent://payments/checkout/orders#dashboards",
    "key-shared-blocked": "persistent://ads/reports/daily#search-index",
    "healthy": "persistent://payments/fraud/reviews#alerting",
}
#: The same, some minutes before.
HELD_BEFORE = {
    "redelivery": "persistent://payments/fraud/scores#audit",
    "hung-consumers": "persistent://shop/loyalty/points#archiver",
    "throttled-subscription": "persistent://payments/fraud/reviews#notifications",
}

#: Those of which a report is written.
REPORTED = ("throttled", "slow-consumers")

_IN_CLUSTER = ("--cluster", CLUSTER)
COMMANDS: dict[str, tuple[str, ...]] = {
    "verdicts": ("verdicts",),
    "verdicts-of-subscriptions": ("verdicts", "--by", "subscription", *_IN_CLUSTER),
    "episodes": ("episodes",),
    "incidents": ("episodes", "--incidents"),
    "episodes-of-limiters": ("episodes", "--by", "limiter", *_IN_CLUSTER),
    "changes": ("changes", *_IN_CLUSTER),
    "anomalies": ("anomalies", "--stored", "--cluster", HISTORY),
    "forecast": ("forecast", *_IN_CLUSTER, "--at", END),
    "forecast-back-test": ("forecast", "--back-test", *_IN_CLUSTER, "--every", "1m", "--quiet"),
    "review": ("review", "--start", "2026-11-23T16:00:00Z", "--end", "2026-11-23T17:00:00Z", *_IN_CLUSTER, "--quiet"),
    "evaluate": ("evaluate", "--quiet"),
    "promql": ("promql", "topk(3, sum by (topic) (pulsar_subscription_back_log))", "--at", END),
    "promql-explain": ("promql", "sum by (topic) (rate(pulsar_in_messages_total[5m]))", "--at", END, "--explain"),
    "sql": ("sql", "SELECT cluster, cause, limiter, count(*) AS windows FROM verdicts GROUP BY ALL ORDER BY ALL"),
    "recommend": ("recommend", HELD["throttled"], "--at", END, "--quiet"),
    "recommend-both": ("recommend", HELD["both"], "--at", END, "--quiet"),
    "whatif": ("whatif", "--subscription", HELD["throttled"], "--at", END, "--set", "topic.msg=110", "--quiet"),
    **{f"reopen-{cause}": ("reopen", name, "--at", "2026-11-23T16:27:30Z", *_IN_CLUSTER) for cause, name in HELD.items()},
    **{f"reopen-{cause}": ("reopen", name, "--at", BEFORE, *_IN_CLUSTER) for cause, name in HELD_BEFORE.items()},
}  # fmt: skip

#: Mistakes that people make; what stands on stderr is kept, with the exit code.
MISTAKES: dict[str, tuple[str, ...]] = {
    "no-such-subscription": ("reopen", "persistent://payments/checkout/cart#support-desk", "--at", END),
    "no-verdict-then": ("reopen", HELD["throttled"], "--at", "2026-11-01T00:00:00Z", *_IN_CLUSTER),
    "sql-writes": ("sql", "DELETE FROM verdicts"),
    "sql-no-column": ("sql", "SELECT causes FROM verdicts"),
    "no-time": ("reopen", HELD["throttled"], "--at", "yesterday", *_IN_CLUSTER),
    "no-selector": ("forecast", "--subscription", "carts"),
    "no-setting": ("whatif", "--subscription", HELD["throttled"], "--set", "topic.messages=110"),
    "no-promql": ("promql", "sum by (topic) (rate(pulsar_in_messages_total))"),
    "no-function": ("promql", "rates(pulsar_in_messages_total[5m])"),
    "late": ("freshness", "--at", "2026-11-23T18:00:00Z", "--max-age", "10m"),
    "no-recording": ("run", "--recording", "sub-msg"),
    "follow-of-a-recording": ("run", "--recording", "sub-msg-1000", "--follow", "60s"),
    "no-source": ("run", "--start", "-6h"),
}

#: Pages, once their data has come; the one about the data tells of runs, of which no two are alike.
PAGES: dict[str, str] = {
    "overview": "/",
    "subscriptions": "/subscriptions",
    "rollups": "/rollups",
    "limits": "/limits",
    "anomalies": "/anomalies",
    "alerts": "/alerts",
    "promql": "/promql",
    "method": "/method",
    "what-if": "/what-if",
}
