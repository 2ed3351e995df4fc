"""The broker that a scenario runs on: in, its version and settings; out, the limiter engine and every setting's value.

Settings have the names of ``broker.conf``, so that the lab hands them to a real broker as they are written.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from throttlescope.models.throttling.scenario.model import Model

Engine = Literal["A0", "A", "B", "C"]

CLASSIC_FACTORY = "org.apache.pulsar.broker.service.persistent.DispatchRateLimiterFactoryClassic"

_MAX_RATE = 10**10


class BrokerSettings(Model):
    """Settings of ``broker.conf`` that change what is dispatched, with the defaults of Pulsar 4.2.

    ``topicLevelPoliciesEnabled`` and the metric switches are not here: they change what is seen, not what happens.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True)

    dispatcher_max_read_batch_size: int = Field(100, ge=1, le=100_000)
    dispatcher_max_read_size_bytes: int = Field(5_242_880, ge=1)
    dispatcher_max_round_robin_batch_size: int = Field(20, ge=1)
    precise_dispatcher_flow_control: bool = False
    dispatch_throttling_on_batch_message_enabled: bool = False
    dispatch_throttling_on_non_backlog_consumer_enabled: bool = True
    dispatch_rate_limiter_factory_class_name: str | None = None
    dispatch_throttling_rate_per_topic_in_msg: int = Field(0, ge=-1, le=_MAX_RATE)
    dispatch_throttling_rate_per_topic_in_byte: int = Field(0, ge=-1, le=_MAX_RATE)
    dispatch_throttling_rate_per_subscription_in_msg: int = Field(0, ge=-1, le=_MAX_RATE)
    dispatch_throttling_rate_per_subscription_in_byte: int = Field(0, ge=-1, le=_MAX_RATE)
    max_unacked_messages_per_consumer: int = Field(50_000, ge=0)
    max_unacked_messages_per_subscription: int = Field(200_000, ge=0)
    max_unacked_messages_per_broker: int = Field(0, ge=0)
    acknowledgment_at_batch_index_level_enabled: bool | None = None
    delayed_delivery_tick_time_millis: int = Field(1_000, ge=1)
    message_expiry_check_interval_in_minutes: int = Field(5, ge=1)
    backlog_quota_check_interval_in_seconds: int = Field(60, ge=1)
    managed_ledger_cursor_backlogged_threshold: int = 1_000
    stats_update_frequency_in_secs: int = Field(60, ge=1)
    topic_publisher_throttling_tick_time_millis: int = Field(10, ge=1)

    @property
    def given(self) -> dict[str, str]:
        """The settings that the scenario names, as ``broker.conf`` writes them."""
        values = self.model_dump(by_alias=True, exclude_unset=True)
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in values.items()
            if value is not None
        }


class Broker(Model):
    """The broker: its version decides the limiter engine unless ``engine`` names one."""

    version: str = Field("4.2.4", pattern=r"^\d+\.\d+\.\d+$")
    engine: Engine | None = None
    settings: BrokerSettings = BrokerSettings()

    @property
    def limiter_engine(self) -> Engine:
        """The engine of this version and these settings."""
        if self.engine is not None:
            return self.engine
        found = engine_of(self.version)
        if self.settings.dispatch_rate_limiter_factory_class_name == CLASSIC_FACTORY:
            return "A"
        return found

    @property
    def numbers(self) -> tuple[int, int, int]:
        """The version as numbers."""
        return _numbers(self.version)

    @property
    def acknowledges_batch_indexes(self) -> bool:
        """Whether single messages of a batch are acknowledged; the default since 4.1."""
        given = self.settings.acknowledgment_at_batch_index_level_enabled
        return self.numbers >= (4, 1, 0) if given is None else given

    @property
    def counts_throttling(self) -> bool:
        """Whether the version has the six throttle counters (4.0.4 and later)."""
        return self.numbers >= (4, 0, 4)


def engine_of(version: str) -> Engine:
    """Return the default limiter engine of a Pulsar version.

    Parameters
    ----------
    version
        As ``4.0.3``.

    Notes
    -----
    Read at the release tags: up to 2.7.3 a window that forgets its debt, up to 3.1 a window that keeps it, then the 16 ms
    token bucket of PIP-322, and from 3.3.5 and 4.0.3 on one refill per period.
    """
    numbers = _numbers(version)
    if numbers <= (2, 7, 3):
        return "A0"
    if numbers < (3, 2, 0):
        return "A"
    if numbers < (3, 3, 5) or (4, 0, 0) <= numbers < (4, 0, 3):
        return "B"
    return "C"


def _numbers(version: str) -> tuple[int, int, int]:
    major, minor, patch = version.split(".")
    return int(major), int(minor), int(patch)
