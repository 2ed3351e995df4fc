"""How a cause looks and what it tells a person: its shape, colour, words, first step and what not to do.

In: the closed words of the contracts. Out: one ``Cause`` per word. Colours are those of Okabe and Ito
(told apart by colour-blind eyes), one per family; shape and text tell the members of a family apart,
so that no meaning hangs on colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.contracts.vocabulary import CAUSES as WORDS

LIMIT, CONSUMER, MIXED, STORAGE, FINE, OPEN = "#D55E00", "#0072B2", "#B5527F", "#9A7B00", "#008A65", "#7A7F87"


@dataclass(frozen=True)
class Cause:
    """One cause in words.

    Attributes
    ----------
    label : str
        Name on badges and in tables.
    mark : str
        Shape that stands beside the label wherever colour is used.
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


_NO_LIMIT_CHANGE = "Do not raise a limit: none is what holds this subscription back."

_ALL = (
    Cause(
        "throttled", "Throttled", "▲", LIMIT, "",
        "A dispatch limit holds this subscription back",
        "Find out whether the limit is meant: who set it, and what it protects.",
        "Do not add consumers: they would share the same limit.",
    ),
    Cause(
        "micro_burst_throttled", "Throttled in bursts", "△", LIMIT, "/",
        "Short bursts meet a dispatch limit although the mean stays below it",
        "Look at peaks shorter than a minute, and at the limit's period.",
        "Do not add consumers, and do not judge the limit by averages per minute.",
    ),
    Cause(
        "both", "Limit and consumers", "◆", MIXED, "",
        "A dispatch limit binds, and the consumers could not keep up without it either",
        "Plan both steps together: more consumer capacity and a higher limit.",
        "Do not change one side alone: the other one takes over at once.",
    ),
    Cause(
        "slow_consumers", "Slow consumers", "●", CONSUMER, "",
        "The consumers cannot keep up",
        "Look at the processing time per message and at the number of consumers.",
        _NO_LIMIT_CHANGE,
    ),
    Cause(
        "hung_consumers", "Hung consumers", "◉", CONSUMER, "x",
        "Consumers are connected but take nothing",
        "Look at what the consumer processes are doing: a thread dump, a dependency that hangs.",
        _NO_LIMIT_CHANGE,
    ),
    Cause(
        "no_consumers", "No consumers", "○", CONSUMER, "/",
        "No consumer is connected",
        "Find out whether the application runs and can connect; then whether anyone still wants this subscription.",
        "Do not change limits: nobody is there to receive. Message expiry and backlog quotas keep counting.",
    ),
    Cause(
        "blocked_on_unacked", "Blocked on unacked", "■", CONSUMER, "\\",
        "The broker stopped dispatching: too many messages are unacknowledged",
        "Find out why acknowledgements do not come back.",
        "Do not raise a dispatch limit: the cap on unacknowledged messages is what stops the broker.",
    ),
    Cause(
        "redelivery", "Redelivery", "↻", CONSUMER, "-",
        "The same messages are delivered again and again",
        "Find the messages that fail: negative acknowledgements, ack timeouts, the dead letter topic.",
        "Do not add consumers: they would receive the same failing messages.",
    ),
    Cause(
        "key_shared_blocked", "Key_Shared blocked", "▣", CONSUMER, "+",
        "The order by key holds messages back",
        "Find the consumer with the oldest unacknowledged messages, and the hashes that drain.",
        "Do not add or restart consumers in a hurry: every change moves keys and can block more of them.",
    ),
    Cause(
        "delayed_delivery", "Delayed on purpose", "◷", FINE, "/",
        "The messages are not due yet",
        "Compare the delayed entries with what the producers schedule.",
        "Do not scale consumers: these messages wait for their time.",
    ),
    Cause(
        "publish_burst", "Publish burst", "▮", MIXED, "/",
        "More is published than usual",
        "Find out which producer published more, and whether it lasts.",
        "Do not change limits or consumers for a burst that already drains.",
    ),
    Cause(
        "cold_reads", "Cold reads", "◇", STORAGE, "",
        "The backlog is read from storage, and that is the slow part",
        "Look at the bookies' read latency and the cache misses of this broker.",
        "Do not add consumers: they would wait for the same reads.",
    ),
    Cause(
        "read_limit", "Broker read limit", "▽", STORAGE, "/",
        "The broker's cap on reads in flight holds dispatch back",
        "Look at the broker's in-flight read usage and its direct memory.",
        "Do not raise a dispatch limit: this cap comes before it.",
    ),
    Cause(
        "topic_moved", "Topic moved", "⇄", STORAGE, "\\",
        "The topic moved or its broker restarted",
        "Wait for the topic to settle; see whether it moves again.",
        "Do not act on the minutes around the move: counters restarted in them.",
    ),
    Cause(
        "filter_rejects", "Filter rejects", "▤", STORAGE, "-",
        "An entry filter on the broker rejects or reschedules entries",
        "Look at the filter's rejected and rescheduled counts.",
        "Do not add consumers: the entries do not get as far as them.",
    ),
    Cause(
        "healed_by_loss", "Gone by expiry", "✖", MIXED, "x",
        "The backlog fell because messages expired, not because they were consumed",
        "Find out which messages were lost and whether they can be published again.",
        "Do not close this as recovered.",
    ),
    Cause(
        "phantom_backlog", "Phantom backlog", "◌", OPEN, "/",
        "The backlog figure is not real",
        "Compare it with the precise backlog of the admin API.",
        "Do not scale or unthrottle for it.",
    ),
    Cause(
        "unknown", "Unknown", "?", OPEN, ".",
        "The evidence does not decide",
        "Supply what is missing: it is listed below, each with its fix.",
        "Do not change limits or consumers on this alone.",
    ),
    Cause(
        "healthy", "Healthy", "✓", FINE, "",
        "Nothing holds this subscription back",
        "Nothing to do.",
        "Do not act on throttle events alone: under small limits they tick although nothing is wrong.",
    ),
)  # fmt: skip

CAUSES: dict[str, Cause] = {cause.word: cause for cause in _ALL}

#: Causes in the order in which a person wants to see them, worst first.
ORDER: tuple[str, ...] = tuple(CAUSES)

if set(CAUSES) != set(WORDS):
    raise AssertionError(f"causes without words: {set(CAUSES) ^ set(WORDS)}")


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
UNIT_WORDS = {"msg": "message", "bytes": "byte"}

SET_BY_WORDS = {
    "subscription_policy": "subscription policy",
    "topic_policy": "topic policy",
    "global_topic_policy": "global topic policy",
    "namespace_policy": "namespace policy",
    "broker_dynamic": "broker's dynamic configuration",
    "broker_file": "broker's configuration file",
    "none": "nobody: no limit is set",
}


def limiter_words(limiter: str | None) -> str:
    """``subscription.msg`` as ``subscription message limit``; empty where none binds."""
    if not limiter:
        return ""
    level, unit = limiter.split(".")
    return f"{LEVEL_WORDS[level]} {UNIT_WORDS[unit]} limit"
