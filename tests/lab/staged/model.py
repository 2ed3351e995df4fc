"""What scenarios of three states have in common: in, parts of a scenario; out, checked models that a family extends.

All topics of a scenario have the same timeline: ``well`` without a cause, ``cause``, ``relieved``. Each has steps of its own at the beginning of the
last two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import yaml
from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario.load import NAME
from throttlescope.models.throttling.scenario.model import Model

#: Every topic is alone in its namespace and is called so there.
TOPIC = "orders"


class StagedTopic(Model):
    """A topic in a namespace of its own, and what happens to it."""

    tenant: ClassVar[str]
    scheme: ClassVar[str] = "persistent"

    name: str = Field(pattern=NAME)
    family: str = Field(pattern=r"^[a-z0-9_]+$")
    about: str

    @property
    def namespace(self) -> str:
        """Its Pulsar namespace."""
        return f"{self.tenant}/{self.name}"

    @property
    def full_name(self) -> str:
        """The topic's name."""
        return f"{self.scheme}://{self.namespace}/{TOPIC}"


class StagedScenario(Model):
    """Servers of one profile, topics, and the length of each state. A family adds ``topics``, which have ``rate_msg``."""

    format: Literal[1]
    name: str = Field(pattern=NAME)
    about: str
    seed: int
    kept_aside: bool = False
    profile: Literal["helm", "default"] = "helm"
    scrape_interval_s: int = Field(15, ge=1)
    well_s: float = Field(gt=0)
    cause_s: float = Field(gt=0)
    relieved_s: float = Field(gt=0)

    @model_validator(mode="after")
    def _names_are_unique(self) -> StagedScenario:
        names = [topic.name for topic in self._topics]
        if len(set(names)) != len(names):
            raise ValueError("topics: names must be unique")
        return self

    @property
    def _topics(self) -> Sequence[Any]:
        return getattr(self, "topics", ())

    @property
    def duration_s(self) -> float:
        """Length of the whole timeline."""
        return self.well_s + self.cause_s + self.relieved_s

    @property
    def rate_msg(self) -> float:
        """Messages published per second."""
        return sum(topic.rate_msg for topic in self._topics)

    def to_yaml(self) -> str:
        """The text of its file."""
        body = self.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
        return yaml.safe_dump(
            {"format": self.format, **body}, sort_keys=False, width=130, default_flow_style=None
        )
