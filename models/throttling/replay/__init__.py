"""What-if on a recorded window. In: samples of a lake and a change. Out: drain times with intervals.

``read`` (with ``series`` and ``admin``) a lake -> ``window`` (with ``align``) ``observed`` -> ``capacity`` (with ``binding``; ``bursts`` where it was not seen)
and ``change`` -> ``rebuild`` a world -> ``speed`` of the broker -> ``outlook`` -> ``replay``, whose ``answer`` has its
``notes``. What several replays of one window share is their ``ground``. ``rewind`` answers the reverse question: what would have happened
in the window. ``flow`` answers both in milliseconds, with what the simulator serves from a full backlog.

>>> from throttlescope.models.throttling.replay import parse_change, read_observed, replay
>>> observed = read_observed(lake, "persistent://acme/shop/orders#billing", start_ms, end_ms)  # doctest: +SKIP
>>> replay(observed, parse_change(["subscription.msg=800"])).changed.fitted.drain_s  # doctest: +SKIP
960.0
"""

from throttlescope.models.throttling.replay.capacity import Capacity, fit_capacity
from throttlescope.models.throttling.replay.change import KEYS, Change, parse_change
from throttlescope.models.throttling.replay.flow import flow
from throttlescope.models.throttling.replay.ground import Ground, fit_arrivals
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.read import newest_ms, read_observed
from throttlescope.models.throttling.replay.replay import replay
from throttlescope.models.throttling.replay.replay_answer import Arrivals, Forecast, Outlook, ReplayAnswer
from throttlescope.models.throttling.replay.rewind import rewind

__all__ = [
    "KEYS",
    "Arrivals",
    "Capacity",
    "Change",
    "Forecast",
    "Ground",
    "Observed",
    "Outlook",
    "ReplayAnswer",
    "fit_arrivals",
    "fit_capacity",
    "flow",
    "newest_ms",
    "parse_change",
    "read_observed",
    "replay",
    "rewind",
]
