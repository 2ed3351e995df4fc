"""throttlescope in a notebook. In: a lake's folder or URI. Out: Spark DataFrames, Plotly figures, and answers in words.

    from throttlescope.app.notebook import open_lake

    lake = open_lake("lake")
    lake.subscriptions()                                  # the cause of every subscription
    lake.why("persistent://shop/eu/orders#billing")       # why, with the evidence
    lake.figures.backlog("persistent://shop/eu/orders#billing")

It calls the same functions as the command line, so both give the same results.
"""

from throttlescope.app.notebook.charts import Chart, Figures
from throttlescope.app.notebook.examples import demo_lake, month_lake
from throttlescope.app.notebook.lake import OpenLake, open_lake

__all__ = ["Chart", "Figures", "OpenLake", "demo_lake", "month_lake", "open_lake"]
