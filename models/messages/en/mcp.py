"""Short texts next to the structured answers for assistants."""

from __future__ import annotations

SENTENCES = {
    "mcp.none": "No subscription has a cause.",
    "mcp.troubled": "{subscriptions} with a cause, the largest backlog first.",
    "mcp.troubled.row": "{subscription}: {cause}, {entries} entries, since {since}.",
    "mcp.troubled.row_and_limiter": "{subscription}: {cause} ({limiter}), {entries} entries, since {since}.",
    "mcp.more": "And {number} more.",
    "mcp.no_verdict": "There is no verdict of {subscription} at that time.",
    "mcp.why": "Why: {why}",
    "mcp.against": "Against: {against}",
    "mcp.first": "First step: {first}",
    "mcp.not_helping": "Will not help: {never}",
    "mcp.rows": "{rows} of {expr}.",
    "mcp.as_is": "As it is: {drained}.",
    "mcp.changed": "With {change}: {drained}. {effect}",
    "mcp.nothing_changed": "Nothing was changed on the cluster.",
}
