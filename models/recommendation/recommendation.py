"""One recommended change. In: what a search found. Out: a record of facts, and the same as plain values with its text.

Nothing here is a sentence: the catalogue words the messages, and each front end arranges them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.messages.units import duration


@dataclass(frozen=True)
class RecommendedCheck:
    """How to see that a change works.

    Attributes
    ----------
    query : str
        PromQL.
    expected : Message
        What it should show.
    """

    query: str
    expected: Message

    @property
    def text(self) -> str:
        """Query and expectation in one line."""
        return f"{self.query} {self.expected.text}"


@dataclass(frozen=True)
class Recommendation:
    """One change.

    Attributes
    ----------
    lever : str
        ``limit``, ``period``, ``consumers``, ``processing``, ``partitions`` or ``together``.
    limiter : str or None
        Which limit is changed, such as ``subscription.msg``.
    now, value : float or None
        Present and recommended value of the lever: a limit per period, seconds, milliseconds, consumers or partitions.
    actions : tuple of Message
        What to do, a message per step.
    change : str
        The same as ``--set`` writes it; empty where a replay cannot try it.
    next_limiting_factor : str
        What limits the drain then: a limiter, ``consumers`` or ``reads``.
    earliest_drain_s, likely_drain_s, latest_drain_s : float or None
        When the backlog is gone then; None: not known, or not within the target.
    p99_age_s : float or None
        What the p99 age would have been; None where no age is the objective.
    apply, roll_back : str or None
        Commands, not executed.
    risks : tuple of Message
        What it costs.
    checks : tuple of RecommendedCheck
        How to see that it works.
    """

    lever: str
    limiter: str | None
    now: float | None
    value: float | None
    actions: tuple[Message, ...]
    change: str
    next_limiting_factor: str
    earliest_drain_s: float | None = None
    likely_drain_s: float | None = None
    latest_drain_s: float | None = None
    p99_age_s: float | None = None
    apply: str | None = None
    roll_back: str | None = None
    risks: tuple[Message, ...] = ()
    checks: tuple[RecommendedCheck, ...] = ()

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Recommendation:
        """From the fields of ``dataclasses.asdict``, as they come out of JSON."""
        checks = [RecommendedCheck(one["query"], Message(**one["expected"])) for one in fields["checks"]]
        return cls(
            **{
                **fields,
                "actions": messages_of(fields["actions"]),
                "risks": messages_of(fields["risks"]),
                "checks": tuple(checks),
            }
        )

    @property
    def text(self) -> str:
        """What to do, and what the age would have been where that is the objective."""
        outcome = () if self.p99_age_s is None else (message("advice.age", p99_age_s=self.p99_age_s),)
        return " ".join(one.text for one in (*self.actions, *outcome))

    @property
    def gone_in(self) -> Message | None:
        """When the backlog is gone with this change; None where it never is."""
        return gone_in(self.earliest_drain_s, self.likely_drain_s, self.latest_drain_s)

    def document(self) -> dict[str, Any]:
        """The fields that programs get, with the text."""
        return {
            "lever": self.lever,
            "words": self.text,
            "change": self.change,
            "earliest_drain_s": self.earliest_drain_s,
            "likely_drain_s": self.likely_drain_s,
            "latest_drain_s": self.latest_drain_s,
            "next_brake": self.next_limiting_factor,
            "do": self.apply,
            "undo": self.roll_back,
            "risks": [one.text for one in self.risks],
            "verify": [one.text for one in self.checks],
        }


#: An earliest drain below this is that of consumers that need no time at all.
_SAYS_NOTHING_S = 60


def messages_of(fields: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages from the fields of ``dataclasses.asdict``."""
    return tuple(Message(**one) for one in fields)


def gone_in(earliest_s: float | None, likely_s: float | None, latest_s: float | None) -> Message | None:
    """When the backlog is gone with a change; None where it never is.

    Where the speed of the consumers was never observed, the earliest time is that of consumers without work of their own. Below a
    minute that says nothing about the real ones.
    """
    if earliest_s is None:
        return None
    if likely_s is None:
        if earliest_s < _SAYS_NOTHING_S:
            return message("advice.gone.open")
        return message("advice.gone.earliest", low_s=earliest_s)
    if latest_s is None:
        return message("advice.gone.likely_no_end", likely_s=likely_s, low_s=earliest_s)
    if duration(earliest_s) == duration(latest_s):
        return message("advice.gone.exact", likely_s=likely_s)
    return message("advice.gone.interval", likely_s=likely_s, low_s=earliest_s, high_s=latest_s)
