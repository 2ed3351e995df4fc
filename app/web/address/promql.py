"""The address of the PromQL console. In: a query string. Out: the query, its range, its step and how it is shown; and the link back."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.presentation.links.paths import PROMQL_PATH
from throttlescope.app.presentation.links.query import link, one, one_of, parts_of, range_of, times_of
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import parse_duration

TABLE, GRAPH, EXPLAIN = TABS = ("table", "graph", "explain")
_LONGEST_STEP_MS = 366 * 86_400_000


@dataclass(frozen=True)
class PromqlAddress:
    """What the console shows.

    Attributes
    ----------
    query : str
        PromQL as it was typed; empty: nothing is asked.
    start_ms, end_ms : int or None
        Of the graph; the table is evaluated at the end. None: the page's own choice, the newest hour.
    step_ms : int or None
        Distance of two steps of the graph; None: a 250th of the range.
    tab : str
        ``table``, ``graph`` or ``explain``.
    """

    query: str = ""
    start_ms: int | None = None
    end_ms: int | None = None
    step_ms: int | None = None
    tab: str = TABLE

    @classmethod
    def parse(cls, query: str | None) -> PromqlAddress:
        values = parts_of(query)
        start_ms, end_ms = range_of(values)
        tab = one_of(values, "tab", TABS, what="tab", default=TABLE)
        return cls(one(values, "query") or "", start_ms, end_ms, _step_of(one(values, "step")), tab)

    def href(self) -> str:
        pairs = [("query", self.query)] if self.query else []
        pairs += times_of(("from", self.start_ms), ("to", self.end_ms))
        pairs += [("step", step_text(self.step_ms))] if self.step_ms is not None else []
        pairs += [("tab", self.tab)] if self.tab != TABLE else []
        return link(PROMQL_PATH, pairs)


def step_text(step_ms: int) -> str:
    """A step as the address and the form write it: ``15s``."""
    return f"{step_ms}ms" if step_ms % 1000 else f"{step_ms // 1000}s"


def _step_of(text: str | None) -> int | None:
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        # As the HTTP API has it: seconds.
        text += "s"
    step_ms = parse_duration(text) if len(text) <= 40 else -1
    if not 0 < step_ms <= _LONGEST_STEP_MS:
        raise InputError(
            "The step in the address is out of range", got=text[:100], expected="above 0, such as 15s"
        )
    return step_ms
