"""Messages to chat rooms and webhooks, and what a run says of them."""

from __future__ import annotations

SENTENCES = {
    "notify.headline.opened": "Backlog of {subscription}: {cause}",
    "notify.headline.cause_changed": "Backlog of {subscription}: now {cause}, before {before}",
    "notify.headline.closed": "Backlog of {subscription} is gone: it was {cause}",
    "notify.headline.withdrawn": "Backlog of {subscription} is withdrawn",
    "notify.cause_and_limiter": "{cause} ({limiter})",
    "notify.digest": "{changes} backlogs changed: {opened} opened, {changed} with another cause, {closed} gone",
    "notify.answer": "{answer}.",
    "notify.answer_and_confidence": "{answer} ({share} confidence).",
    "notify.since": "Since {start} UTC, for {length}, in cluster {cluster}.",
    "notify.since_at_least": "Since {start} UTC at the latest, for {length}, in cluster {cluster}.",
    "notify.lasted": "From {start} to {end} UTC, {length}, in cluster {cluster}.",
    "notify.backlog": "Backlog: {entries} entries at {time} UTC, {peak} at the peak.",
    "notify.peak": "Largest backlog: {peak} entries.",
    "notify.helps": "What would change it: {change}",
    "notify.helps_and_gone": "What would change it: {change} Gone in {gone_in} then.",
    "notify.first_step": "First step: {first}",
    "notify.withdrawn": "Its hours were recomputed, and cluster {cluster} shows no such backlog any more.",
    "notify.page": "Open its page",
    "notify.more": "And {number} more.",
    "notify.footer": "throttlescope, message {id}",
    "notify.test.title": "Test message of throttlescope",
    "notify.test.text": "Channel {name} works. Changes of backlogs will be sent here.",
    "notify.sent": "{messages} to {name} ({changes})",
    "notify.nothing": "Nothing new for {name}",
    "notify.would_send": "{messages} would be sent to {name} ({changes})",
    "notify.too_old": "{changes} older than {age} not sent to {name}; --notify-max-age sends them",
    "notify.failed": "Warning: a message to {name} was not sent, and will be tried again after the next run. {why}",
}
