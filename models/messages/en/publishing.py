"""Publishing in English. In: nothing. Out: titles and notes of its tables: limits, resource groups, totals, producers that are stopped."""

from __future__ import annotations

SENTENCES = {
    "publishing.limits.title": "Limits of publishing",
    "publishing.limits.note": (
        "Each partition of a topic has the topic's limit; use is that of the busiest one. All limits hold at the same time. A pause stops the whole "
        "connection of a producer, with the consumers on it, and counts on every topic that is published through it."
    ),
    "publishing.limits.none": "No limit of publishing was found for the topics that were read.",
    "publishing.limits.never_read": "Limits of publishing were not read from the admin API: they are not known.",
    "publishing.groups.title": "Resource groups",
    "publishing.groups.note": (
        "Brokers enforce a group's publish rates only; its dispatch rates are measured and never applied. Use is the sum over the topics of the "
        "namespaces that are known to be attached. Each broker enforces the whole rate unless brokers share use (resourceUsageTransportClassName)."
    ),
    "publishing.groups.none": "No namespace that was read is attached to a resource group.",
    "publishing.tenants.title": "Publishing by tenant",
    "publishing.namespaces.title": "Publishing by namespace",
    "publishing.totals.note": (
        "Use is of all topics. Limits are added up over partitions of those topics of which limits were read: topics with a backlog or with pauses."
    ),
    "publishing.stopped.title": "Producers that a backlog quota stops",
    "publishing.stopped.note": (
        "Nothing is published to these topics because their backlog has reached its quota, not because there is no traffic. The broker checks once a "
        "minute by default."
    ),
    "publishing.stopped.none": "No backlog quota that stops producers is reached.",
    "publishing.stopped.producer_request_hold": "holds producers: they wait",
    "publishing.stopped.producer_exception": "refuses producers: they get an error",
    "publishing.cut": "Shown are {shown:number} of {rows:number} rows; throttlescope publishing prints all.",
    "publishing.as_of": "Samples up to {samples}, policies as read at {answers} (UTC).",
}
