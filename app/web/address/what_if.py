"""The address of the What-if lab. In: a query string that anyone may have typed. Out: subscription, window, runs; and the link back.

A run is written as ``--set`` writes it: ``subscription.msg=800 consumers=4``, or ``nothing``. Runs are only counted here: what one of
them says is checked where it is asked, so that a bad one does not take the others with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import WHAT_IF_PATH
from throttlescope.app.presentation.links.query import link, one, parts_of, range_of, times_of
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
_JOB_CHARACTERS = frozenset("0123456789abcdef")
_JOB_LENGTH = 24


@dataclass(frozen=True)
class WhatIfAddress:
    """What the lab shows.

    Attributes
    ----------
    subscription : SubscriptionPartition or None
        None: it is to be searched for; ``partition`` -1 means all of them together.
    start_ms, end_ms : int or None
        The window [start, end); None: the newest half hour.
    when : str
        One of :data:`WHENS`.
    ahead : str
        One of :data:`AHEADS_S`.
    runs : tuple of str
        One to four.
    chosen : int
        Which of them the controls move, from 0.
    job : str or None
        A search in the background.
    search : str
        Words of the search box.
    """

    subscription: SubscriptionPartition | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    when: str = WHENS[0]
    ahead: str = DEFAULT_AHEAD
    runs: tuple[str, ...] = (NOTHING,)
    chosen: int = 0
    job: str | None = None
    search: str = ""

    @classmethod
    def parse(cls, query: str | None) -> WhatIfAddress:
        values = parts_of(query)
        named = any(one(values, key) for key in ("cluster", "topic", "subscription"))
        start_ms, end_ms = range_of(values)
        if start_ms is not None and end_ms is not None:
            _check_length(end_ms - start_ms)
        runs = tuple(values.get("run", ())) or (NOTHING,)
        if len(runs) > MOST_RUNS:
            raise InputError(
                "The address compares too many runs", got=f"{len(runs)}", expected=f"at most {MOST_RUNS}",
                fix="take some of its run=... parts away",
            )  # fmt: skip
        for text in runs:
            if len(text) > _LONGEST_RUN:
                raise InputError(
                    "A run in the address is too long", got=f"{len(text)} characters",
                    expected=f"at most {_LONGEST_RUN}, such as subscription.msg=800 consumers=4",
                )  # fmt: skip
        return cls(
            named_subscription(values) if named else None,
            start_ms,
            end_ms,
            _word(values, "when", WHENS),
            _word(values, "ahead", tuple(AHEADS_S), DEFAULT_AHEAD),
            runs,
            _chosen(one(values, "chosen"), len(runs)),
            _job(one(values, "job")),
            (one(values, "q") or "")[:200],
        )

    def href(self) -> str:
        pairs = [] if self.subscription is None else self.subscription.pairs()
        pairs += [("q", self.search)] if self.search else []
        pairs += times_of(("from", self.start_ms), ("to", self.end_ms))
        if self.when != WHENS[0]:
            pairs.append(("when", self.when))
        if self.ahead != DEFAULT_AHEAD:
            pairs.append(("ahead", self.ahead))
        if self.runs != (NOTHING,):
            pairs += [("run", text) for text in self.runs]
        if self.chosen:
            pairs.append(("chosen", str(self.chosen + 1)))
        if self.job:
            pairs.append(("job", self.job))
        return link(WHAT_IF_PATH, pairs)

    @property
    def name(self) -> SubscriptionName:
        """The subscription as a replay is asked for it: without a partition, all of them together."""
        key = self.subscription
        return SubscriptionName(key.topic, None if key.partition < 0 else key.partition, key.subscription)

    def with_run(self, number: int, text: str) -> WhatIfAddress:
        """The same with another run in its place, which is chosen then; behind the last it is added."""
        runs = (*self.runs[:number], text, *self.runs[number + 1 :])
        return replace(self, runs=runs, chosen=number)

    def without_run(self, number: int) -> WhatIfAddress:
        """The same without one of its runs."""
        runs = (*self.runs[:number], *self.runs[number + 1 :]) or (NOTHING,)
        return replace(self, runs=runs, chosen=min(self.chosen, len(runs) - 1))


def _check_length(length_ms: int) -> None:
    if not MINUTE_MS <= length_ms <= LONGEST_MS:
        raise InputError(
            "The window in the address cannot be replayed", got=f"{length_ms / 1000:,.0f} s",
            expected="from one minute to seven days", fix="choose other times for from and to",
        )  # fmt: skip


def _word(values: dict[str, list[str]], key: str, known: tuple[str, ...], default: str | None = None) -> str:
    found = one(values, key) or default or known[0]
    if found not in known:
        raise InputError(f"The address says {key}={found[:40]}", expected=" or ".join(known))
    return found


def _chosen(text: str | None, runs: int) -> int:
    if text is None:
        return 0
    if not (len(text) == 1 and text.isascii() and text.isdigit() and 1 <= int(text) <= runs):
        raise InputError(
            "The address chooses a run that it does not have", got=text[:40], expected=f"1 to {runs}"
        )
    return int(text) - 1


def _job(text: str | None) -> str | None:
    if text is not None and not (len(text) == _JOB_LENGTH and set(text) <= _JOB_CHARACTERS):
        raise InputError(
            "The address names a search that cannot be one", got=text[:60],
            expected=f"{_JOB_LENGTH} of the characters 0-9 and a-f", fix="take job=... away",
        )  # fmt: skip
    return text
