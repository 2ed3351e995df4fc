"""The page about TDMQ's throttles. In: simulated runs of the shipped scenarios. Out: ``docs/background/tdmq.md``.

``figures`` reads a run's tables, ``cluster_answers`` and ``partition_answers`` answer a question each with them, ``page`` puts
the page together. Every figure is that of a simulated run.
"""

from docs.generate.tdmq.page import PAGE, render

__all__ = ["PAGE", "render"]
