"""PromQL for pages. In: what a page wants evaluated. Out: its value, under the limits and the concurrency limit of the HTTP API.

An evaluation ends as soon as the browser closes the connection.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from dash import Dash

from throttlescope.app.services.promql.concurrency import ConcurrencyLimit, QueryLimits
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.app.web.client_disconnect import disconnect_check
from throttlescope.transforms.promql.query import Options

#: Key of the one object that all pages of a server share.
PROMQL_ACCESS = "throttlescope-promql-access"
#: A browser gives a page's request up after a minute; the evaluation ends before.
LONGEST_S = 50.0


class PromqlAccess:
    """Access of pages to a lake's samples. Threads may share it.

    Parameters
    ----------
    queries : LakeQueries
    limits : QueryLimits
        What a query may take; time is at most :data:`LONGEST_S` here.
    concurrency : ConcurrencyLimit
        Shared with the HTTP API.
    """

    def __init__(self, queries: LakeQueries, limits: QueryLimits, concurrency: ConcurrencyLimit) -> None:
        self.queries, self._concurrency = queries, concurrency
        self.limits = replace(
            limits, options=replace(limits.options, timeout_s=min(limits.options.timeout_s, LONGEST_S))
        )

    @contextlib.contextmanager
    def slot(self) -> Iterator[Options]:
        """Wait for a slot of the concurrency limit; yields the limits of the query that may then run.

        Raises
        ------
        ApiError
            Too many queries at once, or none of them ended in time.
        """
        options = self.limits.options
        is_cancelled = disconnect_check()
        with self._concurrency.slot(options.timeout_s) as left_s:
            yield replace(options, timeout_s=left_s, is_cancelled=is_cancelled)


def promql_access(app: Dash) -> PromqlAccess:
    """The object of the server that ``app`` runs in."""
    return app.server.extensions[PROMQL_ACCESS]
