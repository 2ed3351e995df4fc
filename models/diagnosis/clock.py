"""Does the broker's clock agree with the scraping server's? In: a window. Out: by how much it does not.

Ages are the scrape's time less a time that the broker wrote down. A clock that is off makes all of them wrong, and two things
show it: times that lie ahead of their own scrape, and acknowledgements that were counted in the last minutes while the last one
is said to be long past.
"""

from __future__ import annotations

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window

_AGES = ("last_flow_age_s", "last_ack_age_s", "mark_delete_age_s")
#: The gauge of acknowledgements is of a minute that ended up to a minute before it was read, itself up to a minute ago.
_COUNTED_WITHIN_S = 180
#: Of so many minutes: a consumer that left takes its last acknowledgement along, and leaves the gauge for one or two.
_MINUTES = 3


def clock_off_s(window: Window) -> float | None:
    """Seconds that the broker's clock is at least ahead, negative behind; None where nothing shows that it is off."""
    least_s = min((age_s for name in _AGES for age_s in window.known(name)), default=0.0)
    if least_s <= -t.CLOCK_OFF_S:
        return -least_s
    acked_ages_s = [
        age_s
        for age_s, rate in zip(window.column("last_ack_age_s"), window.column("ack_msg_rate"), strict=True)
        if age_s is not None and rate
    ]
    if len(acked_ages_s) < _MINUTES:
        return None
    behind_s = min(acked_ages_s) - _COUNTED_WITHIN_S
    return -behind_s if behind_s >= t.CLOCK_OFF_S else None
