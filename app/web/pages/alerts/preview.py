"""What a preview shows, evaluated once. In: an address, a reader and the way to the lake's samples. Out: firings compared with verdicts."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from throttlescope.app.rules_export.preview.firings import JudgedFiring, judge, missed
from throttlescope.app.rules_export.preview.kinds import AlertKind, kind_of
from throttlescope.app.rules_export.preview.preview_rules import PreviewedRules, exported, typed
from throttlescope.app.services.promql.errors import UNAVAILABLE, ApiError
from throttlescope.app.web.address.alerts import AlertsAddress
from throttlescope.app.web.components.range_bar import chosen_range
from throttlescope.app.web.data import alerts as data
from throttlescope.app.web.data.promql import PromqlAccess
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.errors import TooManySamplesError
from throttlescope.transforms.promql.query import Options
from throttlescope.transforms.rules.preview import MOST_CELLS, PreviewPlan, plan_preview, run_preview

DEFAULT_MS = 6 * BLOCK_MS
_PATIENCE_S = 5.0
_RUNNING = threading.Lock()


@dataclass(frozen=True)
class AlertPreview:
    """One preview, or none yet.

    Attributes
    ----------
    newest_ms : int
        Time of the lake's newest sample.
    start_ms, end_ms : int
        As requested, or the page's own choice.
    requested : PreviewedRules or None
        The rule; None: none was named.
    plan : PreviewPlan or None
        None: nothing was evaluated, for want of a range.
    judged : tuple of JudgedFiring
    failures : tuple of (str, int, str)
        Rules whose evaluations failed: name, how often, and the first error.
    missed : list or None
        Rows of ``episodes`` without a firing; None: not known.
    real_total : int
        Backlogs of the rule's kind in the range.
    is_cut : bool
        There are more backlogs than were looked at.
    """

    address: AlertsAddress
    newest_ms: int
    start_ms: int
    end_ms: int
    requested: PreviewedRules | None = None
    plan: PreviewPlan | None = None
    judged: tuple[JudgedFiring, ...] = ()
    failures: tuple[tuple[str, int, str], ...] = ()
    missed: Sequence[dict] | None = None
    real_total: int = 0
    is_cut: bool = False
    took_s: float = 0.0
    kinds: tuple[AlertKind | None, ...] = field(default=())

    @property
    def kind(self) -> AlertKind | None:
        """What counts as real for any of the rules; None where verdicts are not about what they report."""
        return one_kind(self.kinds)


def requested_rules(address: AlertsAddress) -> PreviewedRules | None:
    """The rule that an address names; an InputError says what is wrong with it."""
    if address.rule is not None:
        return exported(address.rule)
    return None if address.text is None else typed(address.text)


def read_view(access: PromqlAccess, reader: LakeReader, address: AlertsAddress) -> AlertPreview | None:
    """Evaluate the rules of the address; None where the lake has no samples.

    Raises
    ------
    InputError, ApiError, QueryError
        The rule or the range cannot be previewed, too many queries run, or the time was up.
    """
    newest_ms = access.queries.catalogue().newest_ms
    if newest_ms is None:
        return None
    start_ms, end_ms = range_of(address, newest_ms)
    requested = requested_rules(address)
    kinds = (
        tuple(dict.fromkeys(kind_of(rule, address.kind) for rule in requested.alerts)) if requested else ()
    )
    view = AlertPreview(address, newest_ms, start_ms, end_ms, requested, kinds=kinds)
    if requested is None or address.start_ms is None or address.end_ms is None:
        return view
    started_s = time.monotonic()
    lake = access.queries.lake
    with _one_at_a_time(), access.slot() as options:
        plan = plan_preview(
            lake, requested.file, requested.library, start_ms, end_ms, lookback_ms=options.lookback_ms
        )
        found = run_preview(lake, plan, lookback_ms=options.lookback_ms, budget=_budget(options))
    since_ms = min([start_ms, *(min(one.active_ms, one.start_ms) for one in found.firings)])
    judged = judge(
        found.firings,
        data.stretches(reader, found.firings, since_ms, end_ms),
        lambda rule: kind_of(rule, address.kind),
        end_ms=end_ms,
    )
    missed_rows, total, is_cut = None, 0, False
    kind = one_kind(kinds)
    if kind is not None and (backlogs := data.episodes(reader, start_ms, end_ms)) is not None:
        rows, is_cut = backlogs
        missed_rows, total = missed(rows, found.firings, kind, start_ms=start_ms, end_ms=end_ms)
    failures = tuple(
        (rule.rule.name, outcome.failures, outcome.first_error or "")
        for rule, outcome in found.outcomes
        if outcome.failures
    )
    took_s = time.monotonic() - started_s
    return AlertPreview(
        address,
        newest_ms,
        start_ms,
        end_ms,
        requested,
        plan,
        tuple(judged),
        failures,
        missed_rows,
        total,
        is_cut,
        took_s,
        kinds,
    )


def _budget(options: Options) -> Budget:
    return Budget(min(options.max_samples, MOST_CELLS), options.timeout_s, options.is_cancelled)


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """One preview needs the memory of a dozen queries: a second one waits for a while and is then refused."""
    if not _RUNNING.acquire(timeout=_PATIENCE_S):
        raise ApiError(UNAVAILABLE, "another preview is running, try again later")
    try:
        yield
    except TooManySamplesError as error:
        raise InputError(
            "The rule has too many series for this range",
            got=f"{error.got}, as series times evaluations",
            expected=f"at most {MOST_CELLS:,}",
            fix="choose a shorter range or a rule of fewer series, or use throttlescope rules run",
        ) from error
    finally:
        _RUNNING.release()


def range_of(address: AlertsAddress, newest_ms: int) -> tuple[int, int]:
    """The range of an address, or the newest hours, in whole minutes."""
    newest_ms += -newest_ms % MINUTE_MS
    start_ms, end_ms, _ = chosen_range(
        address.start_ms, address.end_ms, newest_ms=newest_ms, default_ms=DEFAULT_MS
    )
    return start_ms, end_ms


def one_kind(kinds: Sequence[AlertKind | None]) -> AlertKind | None:
    """Several kinds as one: what fits any of them."""
    known = [kind for kind in kinds if kind is not None]
    if len(known) <= 1:
        return known[0] if known else None
    return AlertKind(
        tuple(message for kind in known for message in kind.says),
        frozenset().union(*(kind.sides for kind in known)),
        frozenset().union(*(kind.causes for kind in known)),
    )
