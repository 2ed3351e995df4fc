"""Fleets: in, a seed; out, a cluster's worth of subscriptions with overlapping faults and operations, played and recorded.

:func:`draw` makes a :class:`Fleet` from a seed; :func:`~tests.lab.fleet.record.record_fleet` plays it on a real cluster and writes one
recording of many subscriptions; :mod:`tests.lab.fleet.truth` says what was true of which of them and when.
"""

from tests.lab.fleet.draw import draw
from tests.lab.fleet.model import Effect, Fault, Fleet, Operation, Stage

__all__ = ["Effect", "Fault", "Fleet", "Operation", "Stage", "draw"]
