"""The name of a subscription as a user writes it. In: ``persistent://tenant/ns/topic[-partition-N]#sub``; out: its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from throttlescope.ingest.core.errors import InputError

_NAME = re.compile(
    r"(?P<topic>[a-z-]+://[^/]+/[^/]+/.+?)(?:-partition-(?P<partition>[0-9]{1,10}))?#(?P<subscription>.+)",
    re.DOTALL,
)


@dataclass(frozen=True)
class SubscriptionName:
    """A subscription as it is written: ``persistent://tenant/ns/topic[-partition-N]#sub``."""

    topic: str
    partition: int | None
    subscription: str

    @classmethod
    def of(cls, text: str) -> SubscriptionName:
        """Read it.

        Raises
        ------
        InputError
            It is not written so.
        """
        found = _NAME.fullmatch(text)
        if found is None:
            raise InputError(
                "A subscription cannot be read",
                got=text or "nothing",
                expected="persistent://tenant/ns/topic[-partition-N]#sub",
            )
        partition = None if found["partition"] is None else int(found["partition"])
        return cls(found["topic"], partition, found["subscription"])

    def __str__(self) -> str:
        suffix = "" if self.partition is None else f"-partition-{self.partition}"
        return f"{self.topic}{suffix}#{self.subscription}"
