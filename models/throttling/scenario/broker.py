"""The broker that a scenario runs on: in, its version and settings; out, the limiter engine and every setting's value.

Settings have the names of ``broker.conf``, so that the lab hands them to a real broker as they are written.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from throttlescope.models.throttling.scenario.model import Model

Engine = Literal["A0", "A", "B", "C"]

CLASSIC_FACTORY = "org.apache.pulsar.broker.service.persistent.DispatchRateLimiterFactoryClassic"

_MAX_RATE = 10**10
#: A release comes after its milestones.
_NO_MILESTONE = 1_000
#: apache/pulsar#26687 removed the classic dispatchers and their two settings.
_NO_CLASSIC_DISPATCHERS = (5, 0, 0, _NO_MILESTONE)


class BrokerSettings(Model):
    """Settings of ``broker.conf`` that change what is dispatched, with the defaults of Pulsar 4.2.

    Where the default differs by version it is None here, and :class:`Broker` knows the value.

    ``topicLevelPoliciesEnabled`` and the metric switches are not here: they change what is seen, not what happens.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True)

    dispatcher_max_read_batch_size: int | None = Field(None, ge=1, le=100_000)
    dispatcher_max_read_size_bytes: int = Field(5_242_880, ge=1)
    dispatcher_max_round_robin_batch_size: int = Field(20, ge=1)
    precise_dispatcher_flow_control: bool = False
    dispatch_throttling_on_batch_message_enabled: bool = False
    dispatch_throttling_on_non_backlog_consumer_enabled: bool = True
    dispatch_rate_limiter_factory_class_name: str | None = None
    subscription_shared_use_classic_persistent_implementation: bool = False
    subscription_key_shared_use_classic_persistent_implementation: bool = False
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
    broker_publisher_throttling_tick_time_millis: int = Field(50, ge=1)
    broker_publisher_throttling_max_message_rate: int = Field(0, ge=0, le=_MAX_RATE)
    broker_publisher_throttling_max_byte_rate: int = Field(0, ge=0, le=_MAX_RATE)

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

    version: str = Field("4.2.4", pattern=r"^\d+\.\d+\.\d+(-M[1-9]\d?)?$")
    engine: Engine | None = None
    settings: BrokerSettings = BrokerSettings()

    @model_validator(mode="after")
    def _has_dispatchers(self) -> Broker:
        for kind, wanted in (
            ("Shared", self.settings.subscription_shared_use_classic_persistent_implementation),
            ("KeyShared", self.settings.subscription_key_shared_use_classic_persistent_implementation),
        ):
            if wanted and not (4, 0, 0) <= self.release < _NO_CLASSIC_DISPATCHERS:
                raise ValueError(
                    f"settings.subscription{kind}UseClassicPersistentImplementation: Pulsar {self.version} has no such"
                    " setting; expected a version from 4.0.0 up to, not including, 5.0.0; leave it out"
                )
        return self

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
        """The version as numbers; a milestone counts as its release."""
        return _numbers(self.version)

    @property
    def release(self) -> tuple[int, ...]:
        """The version in the order of the releases: 5.0.0-M1 is before 5.0.0."""
        milestone = self.version.partition("-M")[2]
        return (*self.numbers, int(milestone)) if milestone else (*self.numbers, _NO_MILESTONE)

    @property
    def read_batch(self) -> int:
        """Most entries of one read: ``dispatcherMaxReadBatchSize``, whose default is 500 from 5.0.0 on and 100 before."""
        given = self.settings.dispatcher_max_read_batch_size
        if given is not None:
            return given
        return 500 if self.release >= (5, 0, 0, _NO_MILESTONE) else 100

    @property
    def look_ahead_entries(self) -> tuple[int, int]:
        """Entries in replay at which Key_Shared stops reading ahead: per consumer, and of the subscription at most."""
        return (4_000, 40_000) if self.numbers >= (5, 0, 0) else (2_000, 20_000)

    @property
    def merges_reads(self) -> bool:
        """Whether read requests during a running pass make one follow-up pass (apache/pulsar#26539); not on single-active."""
        major_minor, patch = self.numbers[:2], self.numbers[2]
        return (
            self.release >= (5, 0, 0, 2)
            or (major_minor == (4, 2) and patch >= 5)
            or (major_minor == (4, 0) and patch >= 14)
        )

    @property
    def redelivery_requests_flow(self) -> bool:
        """Whether a request for redelivery of single entries also requests no more messages, and so a second pass.

        Read in the sources of 4.0.8 and earlier (no) and of 4.2.4 and 5.0.0-M1 (yes); not read in 4.1 and before 4.2.4, which count as 4.2.4.
        """
        return self.numbers >= (4, 1, 0)

    @property
    def drains_hashes(self) -> bool:
        """Whether a moved hash of Key_Shared waits until its messages are acknowledged (PIP-379, 4.0.0)."""
        return self.numbers >= (4, 0, 0)

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
    token bucket of PIP-322, and from 3.3.5 and 4.0.3 on one refill per period, also in 5.0.
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
    major, minor, patch = version.partition("-")[0].split(".")
    return int(major), int(minor), int(patch)
