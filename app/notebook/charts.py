"""Charts of one subscription and of a query, outside the web app. In: a lake and a selection. Out: Plotly figures.

The figures are those of the web app's pages: pure functions of rows. On a page the style sheet gives them their final colours; here
they get a white ground and dark text, which reads on any theme of a notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go
import pyarrow.compute as pc

from throttlescope.app.notebook.times import Moment, range_ms
from throttlescope.app.presentation import figures
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import CONFIG
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey

if TYPE_CHECKING:
    from throttlescope.app.notebook.lake import OpenLake

_GROUND, _TEXT = "#ffffff", "#33383d"
_CONFIG = {**CONFIG, "responsive": True}
#: The most series of a query in the chart's legend.
_NAMED = 12
_LEGEND_ROW_PX = 20
_AFTER_ALL_MS = 2**62


class Chart(go.Figure):
    """A Plotly figure whose toolbar does not offer to upload it, and which needs nothing but the notebook to be shown."""

    # Plotly's own ways need a package that only makes notebooks' files, and for a script from a network.
    _ipython_display_ = _repr_html_ = None

    def __repr__(self) -> str:
        # Plotly's own representation contains all data, and would be stored with every picture in a notebook's file.
        title = self.layout.yaxis.title.text or self.layout.title.text or ""
        return f"<chart {title}>" if title else "<chart>"

    def show(self, *args: Any, **kwargs: Any) -> None:
        """As :meth:`plotly.graph_objects.Figure.show`."""
        kwargs.setdefault("config", _CONFIG)
        super().show(*args, **kwargs)

    def _repr_mimebundle_(self, include=None, exclude=None, validate=True, **kwargs: Any) -> dict:
        kwargs.setdefault("config", _CONFIG)
        return super()._repr_mimebundle_(include, exclude, validate, **kwargs)


class Figures:
    """Charts of an open lake. Each method takes a subscription partition by name, and a range [start, end)."""

    def __init__(self, lake: OpenLake) -> None:
        self._lake = lake

    def backlog(
        self,
        subscription: str,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> Chart:
        """Entries waiting, ready and delayed."""
        return self._drawn(figures.backlog_figure, subscription, cluster, start, end)

    def rates(
        self,
        subscription: str,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        unit: str = "msg",
    ) -> Chart:
        """Published, dispatched and acknowledged messages per second, and every known limit; ``unit`` is ``msg`` or ``bytes``."""
        drawn = {"msg": figures.msg_rates_figure, "bytes": figures.byte_rates_figure}
        if unit not in drawn:
            raise InputError("There are no rates in this unit", got=unit, expected="msg or bytes")
        return self._drawn(drawn[unit], subscription, cluster, start, end)

    def events(
        self,
        subscription: str,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> Chart:
        """Throttle events by reason, and whether they prove throttling."""
        return self._drawn(figures.events_figure, subscription, cluster, start, end)

    def holding(
        self,
        subscription: str,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> Chart:
        """Unacknowledged messages and permits of the consumers."""
        return self._drawn(figures.holding_figure, subscription, cluster, start, end)

    def age(
        self,
        subscription: str,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> Chart:
        """Age of the oldest message of the topic partition."""
        return self._drawn(figures.age_figure, subscription, cluster, start, end)

    def causes(
        self,
        subscription: str,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        at: Moment | None = None,
    ) -> Chart:
        """The causes over time, the naive rule below, and changes; ``at`` marks a time."""
        at_ms, _ = range_ms(at, None)

        def drawn(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure:
            key = SubscriptionKey(*(minutes[name].iloc[0] for name in SubscriptionKey._fields))
            verdicts = _windows(self._lake, key, start_ms, end_ms)
            return figures.ribbon_figure(verdicts, minutes, start_ms=start_ms, end_ms=end_ms, at_ms=at_ms)

        return self._drawn(drawn, subscription, cluster, start, end)

    def promql(
        self,
        query: str,
        start: Moment,
        end: Moment | None = None,
        step: str | None = None,
        *,
        title: str = "value",
    ) -> Chart:
        """A line per series of a range query; ``title`` is that of the value's axis."""
        from throttlescope.app.notebook.series import evaluate

        return promql_chart(evaluate(self._lake, query, start, end, step), title)

    def _drawn(
        self,
        draw: Callable[..., go.Figure | None],
        subscription: str,
        cluster: str | None,
        start: Moment | None,
        end: Moment | None,
    ) -> Chart:
        start_ms, end_ms = range_ms(start, end)
        minutes = read_minutes(self._lake, subscription, cluster, start_ms, end_ms)
        low = int(minutes["minute_ms"].iloc[0]) if start_ms is None else start_ms
        high = int(minutes["minute_ms"].iloc[-1]) + MINUTE_MS if end_ms is None else end_ms
        figure = draw(minutes, start_ms=low, end_ms=high)
        if figure is None:
            raise InputError(
                "There is no data to plot: it was not measured, or did not happen in this range",
                got=subscription,
            )
        return on_white(figure)


def read_minutes(
    lake: OpenLake, subscription: str, cluster: str | None, start_ms: int | None, end_ms: int | None
) -> pd.DataFrame:
    """Minutes of one subscription partition, oldest first.

    Raises
    ------
    InputError
        There are none, or several partitions or clusters have this name.
    """
    name = SubscriptionName.of(subscription)
    where = (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
    if name.partition is not None:
        where &= pc.field("partition") == name.partition
    low = 0 if start_ms is None else start_ms
    high = _AFTER_ALL_MS if end_ms is None else end_ms
    where &= (pc.field("minute_ms") >= low) & (pc.field("minute_ms") < high)
    rows = lake.lake.read(
        "signals",
        where=where,
        partition=None if cluster is None else {"cluster": [cluster]},
        between={"minute_ms": (low, high - 1)},
    )
    if not rows.num_rows:
        raise InputError(
            "The lake has no minutes of this subscription in this range", got=subscription,
            fix="lake.subscriptions() lists all subscriptions",
        )  # fmt: skip
    for column, fix in (("cluster", "give cluster="), ("partition", "write topic-partition-N#subscription")):
        found = sorted(rows[column].unique().to_pylist())
        if len(found) > 1:
            raise InputError(
                f"Several {column}s have a subscription of this name",
                got=", ".join(map(str, found)),
                expected="one",
                fix=fix,
            )
    return rows.sort_by("minute_ms").to_pandas()


def on_white(figure: go.Figure) -> Chart:
    """The same figure with a ground and texts of its own."""
    chart = Chart(figure)
    return chart.update_layout(paper_bgcolor=_GROUND, plot_bgcolor=_GROUND, font_color=_TEXT)


def promql_chart(answer, title: str = "value") -> Chart:
    """A line per series; labels that differ name it, unless there are many."""
    from throttlescope.app.presentation.figures.series import Drawn, series_figure
    from throttlescope.ingest.core.selector import NAME_LABEL
    from throttlescope.transforms.promql.answer import rows_of

    rows = list(rows_of(answer))
    times_ms = answer.steps.times_ms
    lines = [Drawn(times_ms, _on_steps(times_ms, at_ms, values)) for _, at_ms, values in rows]
    figure, _ = series_figure(lines, start_ms=int(times_ms[0]), end_ms=int(times_ms[-1]))
    figure.update_layout(yaxis_title_text=escape(title))
    alike = [set(labels.items()) for labels, *_ in rows]
    shared = set.intersection(*alike) if len(alike) > 1 else set()
    for trace, (labels, *_) in zip(figure.data, rows, strict=False):
        own = [
            f"{'' if name == NAME_LABEL else f'{name}='}{value}"
            for name, value in labels.items()
            if (name, value) not in shared
        ]
        # A template of Plotly's in a name is not filled in.
        trace.name = escape(fmt.name(", ".join(own) or "value", 80), quote=False).replace("%{", "% {")
        trace.hovertemplate = "%{y:.6~g}<br>%{x|%Y-%m-%d %H:%M:%S}"
    if len(rows) <= _NAMED:
        height = figure.layout.height + _LEGEND_ROW_PX * len(rows)
        figure.update_layout(
            showlegend=True,
            height=height,
            margin_b=64 + _LEGEND_ROW_PX * len(rows),
            legend={
                "orientation": "v",
                "x": 0,
                "xanchor": "left",
                "y": -62 / (height - 90),
                "yanchor": "top",
            },
        )
    return on_white(figure)


def _on_steps(times_ms, at_ms, values):
    """Values of a series at all steps; NaN where it has none."""
    import numpy as np

    found = np.full(len(times_ms), np.nan)
    found[np.searchsorted(times_ms, at_ms)] = values
    return found


def _windows(lake: OpenLake, key: SubscriptionKey, start_ms: int, end_ms: int) -> list[dict]:
    """Verdicts whose window ends in (start_ms, end_ms], oldest first."""
    where = (pc.field("window_end_ms") > start_ms) & (pc.field("window_end_ms") <= end_ms)
    for name in ("topic", "subscription", "partition"):
        where &= pc.field(name) == getattr(key, name)
    columns = (
        "window_start_ms", "window_end_ms", "side", "cause", "limiter", "confidence", "naive_side", "backlog_entries",
    )  # fmt: skip
    rows = lake.lake.read(
        "verdicts",
        columns=list(columns),
        where=where,
        partition={"cluster": [key.cluster]},
        between={"window_end_ms": (start_ms, end_ms)},
    )
    return rows.sort_by([("window_end_ms", "ascending"), ("window_start_ms", "ascending")]).to_pylist()
