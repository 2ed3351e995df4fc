"""What the console shows, evaluated once. In: an address and access to the lake's samples. Out: an answer, an explanation, or a fault."""

from __future__ import annotations

import time
from dataclasses import dataclass

from throttlescope.app.services.promql.answer_table import default_step_ms
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.app.web.address.promql import EXPLAIN, GRAPH, PromqlAddress
from throttlescope.app.web.components.range_bar import chosen_range
from throttlescope.app.web.data.promql import PromqlAccess
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.promql.query import QueryAnswer

DEFAULT_MS = BLOCK_MS


@dataclass(frozen=True)
class QueryView:
    """One query and its result.

    Attributes
    ----------
    newest_ms : int
        Time of the lake's newest sample.
    start_ms, end_ms, step_ms : int
        As requested, or the page's own choice.
    answer : QueryAnswer or None
    explained : str or None
    fault : ThrottlescopeError, ApiError or None
        Why there is neither; all three are None where no query was given.
    took_s : float
        Including the wait for the concurrency limit.
    """

    address: PromqlAddress
    newest_ms: int
    start_ms: int
    end_ms: int
    step_ms: int
    answer: QueryAnswer | None = None
    explained: str | None = None
    fault: ThrottlescopeError | ApiError | None = None
    took_s: float = 0.0


def read_view(access: PromqlAccess, address: PromqlAddress) -> QueryView | None:
    """Evaluate the query of the address; None where the lake has no samples."""
    newest_ms = access.queries.catalogue().newest_ms
    if newest_ms is None:
        return None
    start_ms, end_ms, _ = chosen_range(
        address.start_ms, address.end_ms, newest_ms=newest_ms, default_ms=DEFAULT_MS
    )
    step_ms = address.step_ms or default_step_ms(start_ms, end_ms)
    view = QueryView(address, newest_ms, start_ms, end_ms, step_ms)
    if not address.query.strip():
        return view
    begun_s = time.monotonic()
    found: dict = {}
    try:
        with access.slot() as options:
            queries, text = access.queries, address.query
            if address.tab == EXPLAIN:
                found["explained"] = queries.explain(text, start_ms, end_ms, step_ms, options)
            elif address.tab == GRAPH:
                found["answer"] = queries.range(text, start_ms, end_ms, step_ms, options)
            else:
                found["answer"] = queries.instant(text, end_ms, options)
    except (ThrottlescopeError, ApiError) as error:
        found["fault"] = error
    return QueryView(
        address, newest_ms, start_ms, end_ms, step_ms, took_s=time.monotonic() - begun_s, **found
    )
