"""Figures. In: rows of tables and keyword options. Out: a Plotly figure. Pure functions: no reading, no clock.

No name that comes from a cluster is put into a figure unescaped: Plotly reads some HTML in texts.
"""

from throttlescope.app.presentation.figures.age import age_figure
from throttlescope.app.presentation.figures.backlog import backlog_figure
from throttlescope.app.presentation.figures.events import events_figure
from throttlescope.app.presentation.figures.holding import holding_figure
from throttlescope.app.presentation.figures.lanes import lanes_figure
from throttlescope.app.presentation.figures.rates import byte_rates_figure, msg_rates_figure
from throttlescope.app.presentation.figures.ribbon import ribbon_figure
from throttlescope.app.presentation.figures.timeline import timeline_figure

__all__ = [
    "age_figure",
    "backlog_figure",
    "byte_rates_figure",
    "events_figure",
    "holding_figure",
    "lanes_figure",
    "msg_rates_figure",
    "ribbon_figure",
    "timeline_figure",
]
