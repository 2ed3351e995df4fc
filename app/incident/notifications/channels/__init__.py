"""How messages are written for each type of channel: ``WRITERS[type]``.

A writer is a function from a :class:`~throttlescope.app.incident.notifications.wording.Notification`, the channel's secret and the time to a
:class:`~throttlescope.app.incident.notifications.channels.request.ChannelRequest`; a reader says what is wrong with an answer of status 200.
"""

from throttlescope.app.incident.notifications.channels import dingtalk, slack, webhook, wecom
from throttlescope.app.incident.notifications.channels.request import ChannelRequest, MessageRefusal

WRITERS = {
    "webhook": webhook.write,
    "slack": slack.write,
    "dingtalk": dingtalk.write,
    "wecom": wecom.write,
}
READERS = {
    "webhook": webhook.read,
    "slack": slack.read,
    "dingtalk": dingtalk.read,
    "wecom": wecom.read,
}

__all__ = ["READERS", "WRITERS", "ChannelRequest", "MessageRefusal"]
