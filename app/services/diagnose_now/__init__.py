"""Why does it have a backlog, now? In: a Prometheus, an admin API, the name of one topic. Out: its verdicts, in seconds.

``question`` what is diagnosed -> ``deadline`` how long it may take -> ``samples`` and ``admin`` the two sources, read at once ->
``diagnose`` the same signals and the same rules as a run's, in this process, without Spark and without a lake.
"""

from throttlescope.app.services.diagnose_now.deadline import CancelledError, Deadline
from throttlescope.app.services.diagnose_now.diagnose import NowAnswer, diagnose_now
from throttlescope.app.services.diagnose_now.question import NowQuestion

__all__ = ["CancelledError", "Deadline", "NowAnswer", "NowQuestion", "diagnose_now"]
