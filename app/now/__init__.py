"""Why does it have a backlog, now? In: a Prometheus, an admin API, the name of one topic. Out: its verdicts, in seconds.

``asked`` what is asked about -> ``hurry`` how long it may take -> ``samples`` and ``admin`` the two sources, read at once ->
``diagnose`` the same signals and the same rules as a run's, in this process, without Spark and without a lake.
"""

from throttlescope.app.now.asked import Asked
from throttlescope.app.now.diagnose import NowAnswer, diagnose_now
from throttlescope.app.now.hurry import CancelledError, Hurry

__all__ = ["Asked", "CancelledError", "Hurry", "NowAnswer", "diagnose_now"]
