"""The parts of a review put together. In: a lake and a range. Out: a :class:`Review`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.services.forecast.back_test import BackTest, back_test_lake
from throttlescope.app.services.review.agreement import Agreement, agreement_of
from throttlescope.app.services.review.flips import VerdictFlips, flips_of
from throttlescope.app.services.review.limits import LimitUses, limit_uses
from throttlescope.app.services.review.query import ReviewQuery
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import check_range

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

Note = Callable[[str], None]


@dataclass(frozen=True)
class Review:
    """How a range went.

    Attributes
    ----------
    clusters, rules_versions : list of str
        That its verdicts are of.
    forecasts : BackTest or None
        Stored forecasts compared with the outcome; None: none could be evaluated, and ``no_forecasts`` says why.
    """

    start_ms: int
    end_ms: int
    clusters: list[str]
    rules_versions: list[str]
    flips: VerdictFlips
    agreement: Agreement
    limits: LimitUses
    forecasts: BackTest | None
    no_forecasts: str | None

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, numbers and text."""
        return asdict(self)


def review_lake(
    lake: Lake,
    start_ms: int,
    end_ms: int,
    *,
    cluster: str | None = None,
    most: int = 10,
    note: Note = lambda text: None,
) -> Review:
    """Look back at [start_ms, end_ms).

    Parameters
    ----------
    cluster : str, optional
        Only this one.
    most : int
        Rows that each list has at most.

    Raises
    ------
    InputError
        The range runs backwards, or the lake holds no verdicts at all, or none of the cluster.
    """
    check_range(start_ms, end_ms)
    known = sorted({file.partition["cluster"] for file in lake.files("verdicts")})
    if not known or (cluster is not None and cluster not in known):
        raise InputError(
            "There are no verdicts of this cluster" if known else "There are no verdicts in this lake",
            got=cluster if known else lake.root,
            expected=", ".join(known) if known else None,
            fix=None if known else "make some with throttlescope run --lake DIR",
        )
    with lake.duckdb() as connection:
        query = ReviewQuery(connection, start_ms, end_ms, cluster, most)
        (verdicts,) = query.rows(
            "SELECT list(DISTINCT cluster ORDER BY cluster) AS clusters, "  # noqa: S608
            f"list(DISTINCT rules_version ORDER BY rules_version) AS versions FROM verdicts WHERE {query.windows()}"
        )
        note("flips")
        flips = flips_of(query)
        note("counterfactuals")
        agreement = agreement_of(query)
        note("limits")
        limits = limit_uses(query)
    forecasts, why = None, None
    try:
        forecasts = back_test_lake(
            lake,
            every_ms=None,
            cluster=cluster,
            start_ms=start_ms,
            end_ms=end_ms,
            note=lambda text: note(f"forecasts, {text}"),
        )
    except InputError as error:
        why = error.what
    return Review(
        start_ms=start_ms,
        end_ms=end_ms,
        clusters=verdicts["clusters"] or [],
        rules_versions=verdicts["versions"] or [],
        flips=flips,
        agreement=agreement,
        limits=limits,
        forecasts=forecasts,
        no_forecasts=why,
    )


def review_in_step(
    lake: Lake,
    start_ms: int,
    end_ms: int,
    *,
    cluster: str | None = None,
    most: int = 10,
    progress: Progress = SILENT,
) -> Review:
    """As :func:`review_lake`, as one step of a progress.

    Raises
    ------
    InputError
        As :func:`review_lake`.
    """
    with progress.step("Looking back"):
        found = review_lake(lake, start_ms, end_ms, cluster=cluster, most=most, note=progress.note)
        progress.note(f"{found.flips.windows:,} windows")
    return found
