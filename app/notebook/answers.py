"""Answers in words. In: a lake and a question. Out: objects that read well at the end of a cell and hold what they rest on.

The words are those of the command line: ``throttlescope incident``, ``whatif`` and ``recommend``.
"""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.notebook.charts import Chart
from throttlescope.app.notebook.times import Moment, moment_ms, moment_text
from throttlescope.app.services.whatif.replay import Question, ReplayInputs, answer, read

if TYPE_CHECKING:
    from throttlescope.app.incident.load import Incident
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.recommendation import AdviceAnswer as Advised
    from throttlescope.models.throttling.replay import ReplayAnswer

_WIDTH = 128
#: Lines of a table are as wide as they are, and what is there to be copied stays in one piece.
_WHOLE = re.compile(r"[┏┃┡│└╇┗]|\s+(run|undo|check): ")
#: A notebook passes for a terminal in colours, and its file would be full of them.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: A notebook is read long after it was run: how long ago the data was, then, says nothing.
_AGO = re.compile(r" \((?:[^()]* ago|ahead of this machine's clock)\)")


class Why:
    """Why a subscription partition has a backlog at a moment.

    Attributes
    ----------
    verdict : dict or None
        The row of ``verdicts``, with ``evidence`` and ``missing_evidence``; None: nothing was judged then.
    incident : Incident
        All that was read.
    markdown : str
    """

    def __init__(self, incident: Incident) -> None:
        self.incident = incident
        self.verdict: Mapping[str, Any] | None = incident.told

    @property
    def markdown(self) -> str:
        """The answer, the evidence for and against, what else stands, the limits, and what is missing."""
        from throttlescope.app.incident import evidence, markdown, summary
        from throttlescope.app.presentation.blocks import Bullets, Heading, Paragraph, text

        found = self.incident
        missing = [] if found.told is None else found.told["missing_evidence"] or ()
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
        from throttlescope.app.presentation.whatif_text import print_answer

        return _printed(print_answer, self._found, self._known)


class AdviceAnswer:
    """What would drain a backlog, what to do first, and what not to do. Nothing is executed.

    Attributes
    ----------
    document : dict
        Everything as ``throttlescope recommend --format json`` prints it.
    """

    def __init__(self, found: ReplayInputs, advised: Advised) -> None:
        self._found, self._advised = found, advised

    @property
    def document(self) -> dict[str, Any]:
        from throttlescope.app.presentation.advice import document

        return document(self._found, self._advised)

    def __repr__(self) -> str:
        from throttlescope.app.presentation.advice import print_advice

        return _printed(print_advice, self._found, self._advised, now_ms=_now_ms())


def read_why(lake: Lake, subscription: str, at: Moment | None, cluster: str | None) -> Why:
    """Read the verdict of a moment and what it was weighed against."""
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
    asked = Question(
        subscription,
        cluster,
        tuple(changes),
        moment_text(at),
        window,
        history,
        horizon,
        drained_below_entries,
    )
    found = read(lake, asked, now_ms=_now_ms())
    return WhatIf(found, answer(found))


def read_advice(
    lake: Lake,
    subscription: str,
    cluster: str | None,
    target: str,
    at: Moment | None,
    window: str,
    history: str,
) -> AdviceAnswer:
    """Look for the smallest changes that help."""
    from throttlescope.models.recommendation import advise

    asked = Question(subscription, cluster, (), moment_text(at), window, history, target, None)
    found = read(lake, asked, now_ms=_now_ms())
    return AdviceAnswer(found, advise(found.observed, history=found.history, target_s=found.horizon_s))


def _printed(show: Callable[..., None], *arguments: Any, **options: Any) -> str:
    """What a command prints, with long lines broken: a notebook does not break them."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        show(*arguments, **options)
    lines: list[str] = []
    for line in _AGO.sub("", _COLOURS.sub("", stream.getvalue().rstrip())).split("\n"):
        line = line.rstrip()
        if len(line) <= _WIDTH or _WHOLE.match(line):
            lines.append(line)
            continue
        indent = " " * (len(line) - len(line.lstrip()) + 3)
        lines += textwrap.wrap(
            line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
