"""A diagnosis of one topic at this moment: what is not known, and why."""

from __future__ import annotations

SENTENCES = {
    "diagnose_now.compiling": "the first diagnosis on this machine compiles functions, for up to a minute; the deadline starts afterwards",
    "diagnose_now.left_out": "{windows} earlier windows were not diagnosed: the deadline had passed.",
    "diagnose_now.no_admin": "Limits are unknown: no admin API was named (--pulsar-admin URL).",
    "diagnose_now.admin_failed": "Limits are unknown. {error}",
    "diagnose_now.admin_incomplete": (
        "{requests} requests to the admin API have no answer, such as {scope} of {subject}: {reason}. Their content is unknown."
    ),
    "diagnose_now.other_cluster": "Limits are unknown: {difference}. Where it is the same cluster, name it with --cluster {cluster}.",
    "diagnose_now.not_placed": "{series} series could not be placed: {reason}.",
    "diagnose_now.sharing": "What shares the broker's limit",
    "diagnose_now.broker_use_unknown": "The use of the broker's limit is unknown. {error}",
}
