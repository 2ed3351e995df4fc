"""How a cause looks and reads: its sign, colour, label, first step and what not to do.

In: the causes of the diagnosis and the catalogue of messages. Out: one ``CauseLook`` per cause. Colours are those of Okabe and Ito
(distinct to colour-blind eyes), one per family; sign and text distinguish the members of a family,
so that no meaning depends on colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.models.diagnosis.causes import CAUSES as RECORDS
from throttlescope.models.diagnosis.causes import Cause
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import limiter

LIMIT, CONSUMER, MIXED, STORAGE, FINE, OPEN = "#D55E00", "#0072B2", "#B5527F", "#9A7B00", "#008A65", "#7A7F87"
_COLOURS = {
    "limit": LIMIT,
    "consumer": CONSUMER,
    "mixed": MIXED,
    "storage": STORAGE,
    "fine": FINE,
    "open": OPEN,
}


@dataclass(frozen=True)
class CauseLook:
    """One cause as people see it; texts are in the current language.

    Attributes
    ----------
    label : str
        Name on badges and in tables.
    mark : str
        Sign next to the label wherever colour is used.
    colour : str
        Colour of its family, legible as a graphic on white and on dark grey.
    pattern : str
        Plotly's fill pattern, for areas too small for text.
    answer : str
        The heading of a subscription page.
    first, never : str
        What to look at first; what would not help.
    """

    record: Cause

    @property
    def word(self) -> str:
        return self.record.name

    @property
    def mark(self) -> str:
        return self.record.mark

    @property
    def colour(self) -> str:
        return _COLOURS[self.record.family]

    @property
    def pattern(self) -> str:
        return self.record.pattern

    @property
    def label(self) -> str:
        return self.record.text("label")

    @property
    def answer(self) -> str:
        return self.record.text("answer")

    @property
    def first(self) -> str:
        return self.record.text("first")

    @property
    def never(self) -> str:
        return self.record.text("never")


#: By stored word, in the order in which a person wants to see them, worst first.
CAUSES: dict[str, CauseLook] = {cause.name: CauseLook(cause) for cause in RECORDS}

#: The stored words in that order.
ORDER: tuple[str, ...] = tuple(CAUSES)

#: The answer to "a limit or the consumers?" in one word, and its causes; healthy ones are in none of them.
GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(cause.name for cause in RECORDS if cause.name != "healthy" and cause.side in sides)
    for group, sides in (
        ("limiter", ("throttle", "both")),
        ("consumers", ("consumer_capacity",)),
        ("other", ("neither",)),
        ("unknown", ("unknown",)),
    )
}


@dataclass(frozen=True)
class SideLook:
    """One side of the question, as the naive rule names it."""

    word: str
    mark: str
    colour: str

    @property
    def label(self) -> str:
        return sentence(f"label.side.{self.word}")


SIDES: dict[str, SideLook] = {
    side.word: side
    for side in (
        SideLook("throttle", "▲", LIMIT),
        SideLook("consumer_capacity", "●", CONSUMER),
        SideLook("both", "◆", MIXED),
        SideLook("neither", "✓", FINE),
        SideLook("unknown", "?", OPEN),
    )
}

#: Records that set a limit, with a name of their own.
_SET_BY = frozenset(
    (
        "subscription_policy",
        "topic_policy",
        "global_topic_policy",
        "namespace_policy",
        "broker_dynamic",
        "broker_file",
        "none",
    )
)


def set_by_words(set_by: str) -> str:
    """Which record set a limit: ``topic policy``; an unknown one is written as it is stored."""
    return sentence(f"label.set_by.{set_by}") if set_by in _SET_BY else set_by.replace("_", " ")


def cause_tip(word: str, limiter: str | None) -> str:
    """A cause's answer, with the limiter that binds."""
    answer = CAUSES[word].answer
    if not limiter:
        return answer
    return sentence("label.answer_and_limiter", answer=answer, limiter=limiter_words(limiter))


def limiter_words(name: str | None, subscription: str = "") -> str:
    """``subscription.msg`` as ``subscription message limit``, or a replicator's as ``replicator message limit``; empty where none binds."""
    return limiter(name, of_replicator=remote_cluster(subscription) is not None) if name else ""
