"""``throttlescope simulate``. In: a scenario file. Out: tables, JSON or CSV on stdout, and a plot.

``scenario`` the file, checked, and its run -> ``summary`` what the run says of every state -> ``render``, or ``figure``
that ``plot`` writes. ``render_tdmq`` shows the runs of TDMQ's throttles.
"""
