"""How long the oldest entry of a backlog has waited, where that comes from, and why it is not known."""

from __future__ import annotations

_UNKNOWN = "How long the oldest has waited is not known"

SENTENCES = {
    "backlog_age.reported": "The oldest has waited {age}.",
    "backlog_age.publish_history": (
        "The oldest has waited about {age}, estimated from what was published ({low} to {high} in 9 of 10 cases)."
    ),
    "backlog_age.at_least": "The oldest has waited longer than {low}: more waits than the known history shows published.",
    "backlog_age.unknown.history_short": f"{_UNKNOWN}: the publish history is too short.",
    "backlog_age.unknown.batch_size_unknown": f"{_UNKNOWN}: nothing says how many messages make an entry.",
    "backlog_age.unknown.delayed": f"{_UNKNOWN}: some of it is delayed on purpose.",
    "backlog_age.unknown.filtered": f"{_UNKNOWN}: entry filters take messages out of its middle.",
    "backlog_age.unknown.expired": f"{_UNKNOWN}: messages expired or were evicted meanwhile.",
    "backlog_age.unknown.out_of_order": f"{_UNKNOWN}: messages behind it are acknowledged already.",
}
