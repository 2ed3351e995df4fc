"""Answers for a cell. In: a lake and a question. Out: objects that print as text and hold the data behind it.

The text is that of the commands ``throttlescope incident``, ``whatif`` and ``recommend``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.notebook.charts import Chart
from throttlescope.app.notebook.times import Moment, moment_ms, moment_text
from throttlescope.app.services.whatif.replay import Question, ReplayInputs, answer, read

if TYPE_CHECKING:
    from throttlescope.app.incident.load import Incident
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.recommendation import Advice
    from throttlescope.models.throttling.replay import ReplayAnswer

#: A notebook does not wrap long lines by itself.
_WIDTH = 128


class Why:
    """Why a subscription partition has a backlog at a given time.

    Attributes
    ----------
    verdict : dict or None
        The row of ``verdicts``, with ``evidence`` and ``missing_evidence``; None: there is no verdict.
    incident : Incident
        All that was read.
    markdown : str
    """

    def __init__(self, incident: Incident) -> None:
        self.incident = incident
        self.verdict: Mapping[str, Any] | None = incident.verdict

    @property
    def markdown(self) -> str:
        """The answer, the evidence for and against, other causes, the limits, and missing evidence."""
        from throttlescope.app.incident import evidence, markdown, summary
        from throttlescope.app.presentation.blocks import Bullets, Heading, Paragraph, text

        found = self.incident
        missing = (found.worded or {}).get("missing_evidence") or ()
        blocks = [
            Heading(1, summary.title(found)),
            Paragraph(summary.as_of(found)),
            Bullets(evidence.limiter(found)),
            *evidence.evidence(found),
            *evidence.other_findings(found),
            *evidence.limits(found),
            *([Heading(3, text("Missing"))] if missing else []),
            *([Bullets([text(f"{one['what']}. Fix: {one['fix']}") for one in missing])] if missing else []),
        ]
        # Below the notebook's own headings.
        below = [replace(one, level=one.level + 3) if isinstance(one, Heading) else one for one in blocks]
        return markdown.markdown(below, picture=None)

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown


class WhatIf:
    """What a change would do.

    Attributes
    ----------
    document : dict
        Everything as ``throttlescope whatif --format json`` prints it.
    figure : Chart
        The recorded backlog, its replay, and both futures with what the samples leave open.
    """

    def __init__(self, found: ReplayInputs, known: ReplayAnswer) -> None:
        self._found, self._known = found, known

    @property
    def document(self) -> dict[str, Any]:
        from throttlescope.app.presentation.whatif_document import document

        return document(self._found, self._known)

    @property
    def figure(self) -> Chart:
        from throttlescope.app.presentation.figures.replay import whatif_figure

        return Chart(whatif_figure(self._found, self._known))

    def __repr__(self) -> str:
        from throttlescope.app.presentation.text_report import report_text
        from throttlescope.app.presentation.whatif_text import whatif_report

        return report_text(whatif_report(self._found, self._known), _WIDTH)


class AdviceAnswer:
    """What drains a backlog, best first, and what does not help. Nothing is executed.

    Attributes
    ----------
    document : dict
        Everything as ``throttlescope recommend --format json`` prints it.
    """

    def __init__(self, found: ReplayInputs, advised: Advice) -> None:
        self._found, self._advised = found, advised

    @property
    def document(self) -> dict[str, Any]:
        from throttlescope.app.presentation.advice import document, facts

        return document(facts(self._found, self._advised))

    def __repr__(self) -> str:
        from throttlescope.app.presentation.advice import advice_report
        from throttlescope.app.presentation.text_report import report_text

        # Without its age: a notebook is read long after it was run.
        return report_text(advice_report(self._found, self._advised, now_ms=None), _WIDTH)


def read_why(lake: Lake, subscription: str, at: Moment | None, cluster: str | None) -> Why:
    """Read the verdict of a given time and the evidence against it."""
    from throttlescope.app.incident.load import read_incident
    from throttlescope.app.incident.selection import IncidentSelection

    return Why(read_incident(lake, IncidentSelection(subscription, cluster, moment_ms(at))))


def read_what_if(
    lake: Lake,
    subscription: str,
    cluster: str | None,
    changes: Sequence[str],
    at: Moment | None,
    window: str,
    history: str,
    horizon: str,
    drained_below_entries: int | None,
) -> WhatIf:
    """Replay with something changed."""
    request = Question(
        subscription,
        cluster,
        tuple(changes),
        moment_text(at),
        window,
        history,
        horizon,
        drained_below_entries,
    )
    found = read(lake, request, now_ms=_now_ms())
    return WhatIf(found, answer(found))


def read_advice(
    lake: Lake,
    subscription: str,
    cluster: str | None,
    target: str,
    at: Moment | None,
    window: str | None,
    history: str,
) -> AdviceAnswer:
    """Look for the smallest changes that help."""
    from throttlescope.app.services.recommend import recommend_drain

    request = Question(subscription, cluster, (), moment_text(at), window, history, target, None)
    known = recommend_drain(lake, request, _now_ms())
    return AdviceAnswer(known.found, known.advice)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
