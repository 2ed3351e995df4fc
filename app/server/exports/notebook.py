"""A notebook that begins with the content of a page. In: a subscription and a range, or a query. Out: an ``.ipynb`` document.

Values of the address are written as Python literals: a name cannot become code.
"""

from __future__ import annotations

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def of_subscription(key: SubscriptionPartition, start_ms: int, end_ms: int) -> dict:
    """Its charts and verdict in a range, and their rows."""
    partition = None if key.partition < 0 else key.partition
    selector = str(SubscriptionName(key.topic, partition, key.subscription))
    return _notebook(
        sentence("server.notebook.subscription"),
        sentence("server.notebook.subscription_range", start=format_time(start_ms), end=format_time(end_ms)),
        [
            _lake(),
            f"subscription = {selector!r}\n"
            f"cluster = {key.cluster!r}\n"
            f'selected = {{"cluster": cluster, "start": {start_ms}, "end": {end_ms}}}',
            "lake.figures.causes(subscription, **selected)",
            "lake.figures.backlog(subscription, **selected)",
            "lake.figures.rates(subscription, **selected)",
            f"why = lake.why(subscription, {end_ms}, cluster=cluster)\nwhy",
            f"# {sentence('server.notebook.rows')}\n"
            'lake.verdicts(subscription, **selected).select("window_end_ms", "cause", "limiter", "confidence", "backlog_entries")',
            "lake.signals(subscription, **selected)",
        ],
    )


def of_query(query: str, start_ms: int, end_ms: int, step_ms: int) -> dict:
    """A range query over the lake, as a chart and as a table with one column per series."""
    return _notebook(
        sentence("server.notebook.query"),
        sentence(
            "server.notebook.query_range",
            start=format_time(start_ms),
            end=format_time(end_ms),
            step=step_ms / 1000,
        ),
        [
            _lake(),
            f"query = {query!r}\nstart_ms, end_ms, step_ms = {start_ms}, {end_ms}, {step_ms}",
            "from throttlescope.app.notebook.charts import promql_chart\n\n"
            "answer = lake.queries.range(query, start_ms, end_ms, step_ms)\n"
            "promql_chart(answer)",
            "import pandas as pd\n\n"
            "from throttlescope.transforms.promql.answer import rows_of\n\n"
            "pd.DataFrame(\n"
            "    {\n"
            '        str(labels): pd.Series(values, index=pd.to_datetime(times_ms, unit="ms", utc=True))\n'
            "        for labels, times_ms, values in rows_of(answer)\n"
            "    }\n"
            ")",
        ],
    )


def _lake() -> str:
    return (
        "from throttlescope.app.notebook import open_lake\n\n"
        f'lake = open_lake("lake")  # {sentence("server.notebook.lake")}'
    )


def _notebook(title: str, words: str, cells: list[str]) -> dict:
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": _KERNEL,
        "cells": [
            {"id": "words", "cell_type": "markdown", "metadata": {}, "source": f"# {title}\n\n{words}"},
            *(
                {
                    "id": f"cell-{number}",
                    "cell_type": "code",
                    "metadata": {},
                    "execution_count": None,
                    "outputs": [],
                    "source": text,
                }
                for number, text in enumerate(cells, 1)
            ),
        ],
    }
