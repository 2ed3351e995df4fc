"""The address of the What-if lab. In: a query string that anyone may have typed. Out: subscription, window, runs; and the link back.

A run is written as ``--set`` writes it: ``subscription.msg=800 consumers=4``, or ``nothing``. Runs are only counted here: the content of
each is checked where it is replayed, so that one invalid run does not affect the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    FROM,
    TO,
    AddressField,
    PageAddress,
    part,
    text,
    word,
)
from throttlescope.app.presentation.links.paths import WHAT_IF_PATH
from throttlescope.app.presentation.links.query import one
from throttlescope.app.presentation.links.subscription import SubscriptionPartition, named_subscription
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS

MOST_RUNS = 4
NOTHING = "nothing"
LETTERS = "ABCD"
#: From the window's end on, or as if it had been so from the window's beginning.
WHENS = ("end", "start")
#: How far ahead is looked, in seconds, by its word in the address.
AHEADS_S = {"1h": 3_600, "6h": 21_600, "24h": 86_400}
DEFAULT_AHEAD = "6h"
LONGEST_MS = 7 * DAY_MS
_LONGEST_RUN = 400
_LONGEST_SEARCH = 200
_JOB_CHARACTERS = frozenset("0123456789abcdef")
_JOB_LENGTH = 24


def _subscription(values: dict[str, list[str]]) -> SubscriptionPartition | None:
    is_named = any(one(values, key) for key in ("cluster", "topic", "subscription"))
    return named_subscription(values) if is_named else None


def _runs(values: dict[str, list[str]]) -> tuple[str, ...]:
    runs = tuple(values.get("run", ())) or (NOTHING,)
    if len(runs) > MOST_RUNS:
        raise InputError(
            "The address compares too many runs", got=f"{len(runs)}", expected=f"at most {MOST_RUNS}",
            fix="remove some of its run=... parts",
        )  # fmt: skip
    for run in runs:
        if len(run) > _LONGEST_RUN:
            raise InputError(
                "A run in the address is too long", got=f"{len(run)} characters",
                expected=f"at most {_LONGEST_RUN}, such as subscription.msg=800 consumers=4",
            )  # fmt: skip
    return runs


def _chosen(values: dict[str, list[str]]) -> int:
    number, runs = one(values, "chosen"), len(_runs(values))
    if number is None:
        return 0
    if not (len(number) == 1 and number.isascii() and number.isdigit() and 1 <= int(number) <= runs):
        raise InputError(
            "The address chooses a run that it does not have", got=number[:40], expected=f"1 to {runs}"
        )
    return int(number) - 1


def _job(values: dict[str, list[str]]) -> str | None:
    job = one(values, "job")
    if job is not None and not (len(job) == _JOB_LENGTH and set(job) <= _JOB_CHARACTERS):
        raise InputError(
            "The address names a search that cannot be one", got=job[:60],
            expected=f"{_JOB_LENGTH} of the characters 0-9 and a-f", fix="remove job=...",
        )  # fmt: skip
    return job


@dataclass(frozen=True)
class WhatIfAddress(PageAddress):
    """What the lab shows.

    Attributes
    ----------
    subscription : SubscriptionPartition or None
        None: the page offers a search; ``partition`` -1 means all of them together.
    search : str
        Words of the search box.
    start_ms, end_ms : int or None
        The window [start, end); None: the newest half hour.
    when : str
        One of :data:`WHENS`.
    ahead : str
        One of :data:`AHEADS_S`.
    runs : tuple of str
        One to four.
    chosen : int
        Which of them the controls change, from 0.
    job : str or None
        A search in the background.
    """

    PATH: ClassVar[str] = WHAT_IF_PATH

    subscription: SubscriptionPartition | None = part(
        AddressField("subscription", _subscription, SubscriptionPartition.pairs)
    )
    search: str = part(text("q", "", cut_at=_LONGEST_SEARCH))
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)
    when: str = part(word("when", WHENS, what="start of the change", default=WHENS[0]))
    ahead: str = part(word("ahead", tuple(AHEADS_S), what="forecast length", default=DEFAULT_AHEAD))
    runs: tuple[str, ...] = part(
        AddressField("run", _runs, lambda runs: [("run", run) for run in runs], (NOTHING,))
    )
    chosen: int = part(
        AddressField("chosen", _chosen, lambda number: [("chosen", str(number + 1))], default=0)
    )
    job: str | None = part(AddressField("job", _job, lambda job: [("job", job)]))

    def check(self) -> None:
        if self.start_ms is None or self.end_ms is None:
            return
        length_ms = self.end_ms - self.start_ms
        if not MINUTE_MS <= length_ms <= LONGEST_MS:
            raise InputError(
                "The window in the address cannot be replayed", got=f"{length_ms / 1000:,.0f} s",
                expected="from one minute to seven days", fix="choose other times for from and to",
            )  # fmt: skip

    @property
    def name(self) -> SubscriptionName:
        """The subscription as a replay names it: without a partition, all of them together."""
        key = self.subscription
        return SubscriptionName(key.topic, None if key.partition < 0 else key.partition, key.subscription)

    def with_run(self, number: int, text: str) -> WhatIfAddress:
        """The same with one run replaced, or added at the end; that run is selected."""
        runs = (*self.runs[:number], text, *self.runs[number + 1 :])
        return replace(self, runs=runs, chosen=number)

    def without_run(self, number: int) -> WhatIfAddress:
        """The same without one of its runs."""
        runs = (*self.runs[:number], *self.runs[number + 1 :]) or (NOTHING,)
        return replace(self, runs=runs, chosen=min(self.chosen, len(runs) - 1))
