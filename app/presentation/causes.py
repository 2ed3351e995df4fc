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
from throttlescope.models.diagnosis.causes.cause import PARTS
from throttlescope.models.messages.en.advice import LIMIT_KINDS
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
    """One cause as people see it.

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

    word: str
    label: str
    mark: str
    colour: str
    pattern: str
    answer: str
    first: str
    never: str


def _look(cause: Cause) -> CauseLook:
    texts = {part: cause.text(part) for part in PARTS}
    return CauseLook(
        word=cause.name, mark=cause.mark, colour=_COLOURS[cause.family], pattern=cause.pattern, **texts
    )


#: By stored word, in the order in which a person wants to see them, worst first.
CAUSES: dict[str, CauseLook] = {cause.name: _look(cause) for cause in RECORDS}

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

    label: str
    mark: str
    colour: str


SIDES: dict[str, SideLook] = {
    "throttle": SideLook("a limit", "▲", LIMIT),
    "consumer_capacity": SideLook("the consumers", "●", CONSUMER),
    "both": SideLook("a limit and the consumers", "◆", MIXED),
    "neither": SideLook("neither", "✓", FINE),
    "unknown": SideLook("nothing certain", "?", OPEN),
}

LEVEL_WORDS = {"broker": "broker", "topic": "topic", "subscription": "subscription"}
UNIT_WORDS = LIMIT_KINDS

SET_BY_WORDS = {
    "subscription_policy": "subscription policy",
    "topic_policy": "topic policy",
    "global_topic_policy": "global topic policy",
    "namespace_policy": "namespace policy",
    "broker_dynamic": "broker's dynamic configuration",
    "broker_file": "broker's configuration file",
    "none": "not set anywhere",
}


def limiter_words(name: str | None, subscription: str = "") -> str:
    """``subscription.msg`` as ``subscription message limit``, or a replicator's as ``replicator message limit``; empty where none binds."""
    return limiter(name, of_replicator=remote_cluster(subscription) is not None) if name else ""
