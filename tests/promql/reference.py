"""A real Prometheus 3.5 as the reference. In: a text and series that it holds too. Out: what differs from our answer.

Answers are compared with their annotations, and the order of an instant query where it has one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import requests

from tests.lab.prometheus import STALE, Prometheus, running_prometheus, write_series
from tests.naive.promql import NaiveSeries
from tests.promql.compare import Answer, answer_of, difference, source_of
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.query import instant_query, range_query
from throttlescope.transforms.promql.source import MemorySource

BASE_MS = 1_700_000_000_000
#: First and last moment of a range query.
SPAN_MS = (BASE_MS, BASE_MS + 10 * 60_000)
REFUSED, FAILED = "refused", "failed"


@dataclass
class Reply:
    """One answer, ours or theirs.

    Attributes
    ----------
    outcome : str
        ``answered``, ``refused`` (no PromQL) or ``failed`` (no answer).
    order : list of frozenset
        Label sets as they came.
    """

    outcome: str
    values: Answer
    order: list[frozenset]
    warnings: frozenset[str]
    infos: frozenset[str]

    @classmethod
    def without_answer(cls, outcome: str) -> Reply:
        return cls(outcome, {}, [], frozenset(), frozenset())


@dataclass
class Reference:
    """A server and the series that were written to it."""

    server: Prometheus
    series: list[NaiveSeries]
    source: MemorySource

    def theirs(self, text: str, at_ms: int | None, step_ms: int) -> Reply:
        """What Prometheus answers at one moment, or over the span where ``at_ms`` is None."""
        data = {"query": text}
        if at_ms is None:
            data |= {name: f"{ms / 1000:.3f}" for name, ms in zip(("start", "end"), SPAN_MS, strict=True)}
            data["step"] = f"{step_ms}ms"
        else:
            data["time"] = f"{at_ms / 1000:.3f}"
        kind = "query_range" if at_ms is None else "query"
        answer = requests.post(f"{self.server.url}/api/v1/{kind}", data=data, timeout=60)
        if answer.status_code in (400, 422):
            return Reply.without_answer(REFUSED if answer.status_code == 400 else FAILED)
        answer.raise_for_status()
        body = answer.json()
        result = body["data"]["result"]
        if body["data"]["resultType"] == "scalar":
            result = [{"metric": {}, "value": result}]
        values = {}
        for one in result:
            points = one.get("values") or [one["value"]]
            values[frozenset(one["metric"].items())] = {round(t * 1000): float(v) for t, v in points}
        notes = (frozenset(body.get(kind, ())) for kind in ("warnings", "infos"))
        return Reply("answered", values, list(values), *notes)

    def ours(self, text: str, at_ms: int | None, step_ms: int) -> Reply:
        """What we answer."""
        try:
            if at_ms is None:
                answer = range_query(text, self.source, *SPAN_MS, step_ms)
            else:
                answer = instant_query(text, self.source, at_ms)
        except InputError:
            return Reply.without_answer(REFUSED)
        except QueryError:
            return Reply.without_answer(FAILED)
        order = []
        if not isinstance(answer.value, np.ndarray):
            order = [frozenset(labels) for labels in answer.value.labels]
        values = answer_of(answer.value, answer.steps)
        return Reply("answered", values, order, frozenset(answer.warnings), frozenset(answer.infos))

    def trouble(
        self,
        text: str,
        at_ms: int | None = None,
        step_ms: int = 30_000,
        *,
        relative: float = 0.0,
        ordered: bool = False,
    ) -> str | None:
        """The first difference in words, None where there is none; ``relative`` 0 wants equal bits."""
        mine, real = self.ours(text, at_ms, step_ms), self.theirs(text, at_ms, step_ms)
        when = "range" if at_ms is None else f"at {at_ms}"
        if mine.outcome != real.outcome:
            return f"{text} ({when}): ours {mine.outcome}, theirs {real.outcome}"
        found = difference(mine.values, real.values, relative)
        if found is None and ordered and mine.order != real.order:
            found = f"order: ours {_shown(mine.order)}, theirs {_shown(real.order)}"
        for kind in ("warnings", "infos"):
            if found is None and not _same_notes(getattr(mine, kind), getattr(real, kind)):
                found = f"{kind}: ours {sorted(getattr(mine, kind))}, theirs {sorted(getattr(real, kind))}"
        return None if found is None else f"{text} ({when}): {found}"

    def check(self, texts: list[str], *, moments: bool = True, filled: bool = True, **how) -> None:
        """Fail with all differences of some texts, over the span and at two moments of it.

        ``filled`` wants most texts to have values: that neither side has any would prove little.
        """
        asked = [None, SPAN_MS[0] + 123_456, SPAN_MS[1]] if moments else [None]
        found = [trouble for text in texts for at in asked if (trouble := self.trouble(text, at, **how))]
        assert not found, f"{len(found)} differ:\n" + "\n".join(found[:30])
        if filled:
            empty = [text for text in texts if not any(self.theirs(text, None, 30_000).values.values())]
            assert len(empty) <= len(texts) / 3, f"nothing to compare in {empty}"


@contextlib.contextmanager
def running_reference(series: list[NaiveSeries], **options) -> Iterator[Reference]:
    """A server that holds ``series``, written in the order of their labels: its storage keeps that order."""
    series = sorted(series, key=lambda one: sorted(one.labels.items()))
    options.setdefault("extra_flags", ["--enable-feature=promql-experimental-functions"])
    with running_prometheus(**options) as server:
        write_series(
            server.url,
            [
                (one.labels, sorted([*one.samples, *((t, STALE) for t in one.stale_ms)], key=lambda s: s[0]))
                for one in series
            ],
        )
        yield Reference(server, series, source_of(series))


def _shown(order: list[frozenset]) -> list[dict]:
    return [dict(sorted(labels)) for labels in order]


def _same_notes(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether notes are equal; of more than ten the server shows any ten and counts the others."""
    omitted = [text for text in theirs if text.endswith("annotations omitted")]
    shown = theirs - set(omitted)
    more = int(omitted[0].split()[0]) if omitted else 0
    return shown <= ours and len(ours) == len(shown) + more
