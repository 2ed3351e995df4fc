"""The address of the PromQL console. In: a query string. Out: the query, its range, its step and how it is shown; and the link back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from throttlescope.app.presentation.links.fields import FROM, TO, AddressField, PageAddress, part, text, word
from throttlescope.app.presentation.links.paths import PROMQL_PATH
from throttlescope.app.presentation.links.query import one
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import parse_duration

TABLE, GRAPH, EXPLAIN = TABS = ("table", "graph", "explain")
_LONGEST_STEP_MS = 366 * 86_400_000


def step_text(step_ms: int) -> str:
    """A step as the address and the form write it: ``15s``."""
    return f"{step_ms}ms" if step_ms % 1000 else f"{step_ms // 1000}s"


def _step_of(values: dict[str, list[str]]) -> int | None:
    text = one(values, "step")
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


@dataclass(frozen=True)
class PromqlAddress(PageAddress):
    """What the console shows.

    Attributes
    ----------
    query : str
        PromQL as it was typed; empty: nothing is evaluated.
    start_ms, end_ms : int or None
        Of the graph; the table is evaluated at the end. None: the page's own choice, the newest hour.
    step_ms : int or None
        Distance of two steps of the graph; None: a 250th of the range.
    tab : str
        ``table``, ``graph`` or ``explain``.
    """

    PATH: ClassVar[str] = PROMQL_PATH

    query: str = part(text("query", ""))
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)
    step_ms: int | None = part(AddressField("step", _step_of, lambda step_ms: [("step", step_text(step_ms))]))
    tab: str = part(word("tab", TABS, what="tab", default=TABLE))
