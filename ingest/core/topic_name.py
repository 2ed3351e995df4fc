"""Names of topics and of their parts. In: a name as a broker prints it or a user writes it. Out: the topic, and the number of the part.

A topic has partitions, a scalable topic (Pulsar 5) has segments. Both are parts with a number here, and ``partition`` is the column of both:

- ``persistent://t/n/orders-partition-3`` is partition 3 of ``persistent://t/n/orders``.
- ``segment://t/n/orders/0000-7fff-3`` is segment 3 of ``topic://t/n/orders``, with the keys whose hash is from 0000 to 7fff. The local name of a
  scalable topic may have slashes. A broker has no series of the scalable topic itself.

A segment keeps its number and its hash range for its life; a split or a merge ends it and makes new ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SCALABLE, SEGMENT = "topic://", "segment://"
MAX_PART = 2**31 - 1
#: The last part of a segment's name, as a regular expression that Prometheus (RE2) reads too; ``{}`` is its id.
RE2_DESCRIPTOR = "[0-9a-f]{{4}}-[0-9a-f]{{4}}-{}"
_SEGMENT = re.compile(r"segment://(?P<topic>[^/]+/[^/]+/.+)/(?P<descriptor>[^/]*)", re.DOTALL)
_DESCRIPTOR = re.compile(r"(?P<first>[0-9a-f]{4})-(?P<last>[0-9a-f]{4})-(?P<number>0|[1-9][0-9]{0,9})")


class SegmentNameError(ValueError):
    """A name that begins like a segment's and is none; the message says what is wrong."""


@dataclass(frozen=True)
class SegmentName:
    """A segment of a scalable topic.

    Attributes
    ----------
    topic : str
        ``topic://tenant/namespace/name``.
    hash_range : str
        First and last hash of its keys, four hexadecimal digits each: ``0000-7fff``.
    """

    topic: str
    number: int
    hash_range: str

    @classmethod
    def of(cls, text: str) -> SegmentName:
        """Read ``segment://tenant/namespace/name/0000-7fff-3``.

        Raises
        ------
        SegmentNameError
            It is not written so, its range is reversed, or its id has more than 31 bits.

        >>> SegmentName.of("segment://acme/shop/eu/orders/0000-7fff-3")
        SegmentName(topic='topic://acme/shop/eu/orders', number=3, hash_range='0000-7fff')
        """
        whole = _SEGMENT.fullmatch(text)
        found = _DESCRIPTOR.fullmatch(whole["descriptor"]) if whole else None
        if whole is None or found is None:
            shown = whole["descriptor"] if whole else text
            raise SegmentNameError(
                f"{shown[:80]!r} instead of a hash range of 4 hexadecimal digits each and an id, as in 0000-7fff-3"
            )
        if found["first"] > found["last"]:
            raise SegmentNameError(f"the hash range {found['first']}-{found['last']} ends before it begins")
        if int(found["number"]) > MAX_PART:
            raise SegmentNameError(f"the id {found['number']} has more than 31 bits")
        return cls(f"{SCALABLE}{whole['topic']}", int(found["number"]), f"{found['first']}-{found['last']}")

    def __str__(self) -> str:
        return segment_text(self.topic, self.number, self.hash_range)


def segment_text(topic: str, number: int, hash_range: str) -> str:
    """A segment's name, as a broker has it."""
    return f"{SEGMENT}{topic.removeprefix(SCALABLE)}/{hash_range}-{number}"


def is_scalable(topic: str) -> bool:
    """Whether a topic is divided into segments; its name begins with ``topic://``."""
    return topic.startswith(SCALABLE)


def part_word(topic: str) -> str:
    """What a part of the topic is called: ``segment`` or ``partition``."""
    return "segment" if is_scalable(topic) else "partition"


def part_text(topic: str, partition: int | None) -> str:
    """A topic's name with its part; ``partition`` -1 or None: without one.

    >>> part_text("persistent://acme/shop/orders", 2), part_text("topic://acme/shop/orders", 3)
    ('persistent://acme/shop/orders-partition-2', 'topic://acme/shop/orders-segment-3')
    """
    return topic if partition is None or partition < 0 else f"{topic}-{part_word(topic)}-{partition}"


#: The same in SQL, of the columns ``topic`` and ``partition``.
PART_TEXT_SQL = (
    "topic || CASE WHEN partition < 0 THEN '' "
    f"WHEN topic LIKE '{SCALABLE}%' THEN '-segment-' || partition ELSE '-partition-' || partition END"
)


def namespace_of(topic: str) -> str:
    """``tenant/namespace`` of a topic; with a cluster between them in names of Pulsar's first version.

    >>> namespace_of("persistent://acme/shop/orders"), namespace_of("topic://acme/shop/eu/orders")
    ('acme/shop', 'acme/shop')
    """
    rest = topic.split("://", 1)[-1]
    # Only a scalable topic's own name may have slashes here.
    return "/".join(rest.split("/")[:2]) if is_scalable(topic) else rest.rsplit("/", 1)[0]


def topic_pattern(topic: str, partition: int | None) -> str:
    """A regular expression (RE2) of the names that a source may have for a topic's series: of one part, or of all (None).

    A broker prints a partition inside the name or in a label of its own, and a segment by a name of its own; a lake has the topic.
    """
    escaped = _META.sub(r"\\\1", topic)
    number = "[0-9]+" if partition is None else str(partition)
    if is_scalable(topic):
        local = _META.sub(r"\\\1", topic.removeprefix(SCALABLE))
        return f"{escaped}|{SEGMENT}{local}/{RE2_DESCRIPTOR.format(number)}"
    return f"{escaped}(-partition-{number})?"


_META = re.compile(r"([\\.+*?()|\[\]{}^$])")
