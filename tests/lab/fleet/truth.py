"""What was true of a fleet: in, what was done and what was scraped; out, rows of truth, and what is not known and why.

The script says what should be true, the scraped backlog decides whether it counts. A cause counts for a subscription partition where the
backlog grew as the fault must make it grow and drained after its end was applied; what shares a limit counts as throttled where both were
seen, as healthy where the backlog never came up, and not at all in between. Whatever no fault touches is healthy as
long as its backlog is no more than a few seconds of its traffic. What was seen of no side is left out, with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.lab.checks import SETTLE_MS
from tests.lab.fleet.model import Effect, Fault, Fleet
from tests.lab.fleet.play import Played
from tests.lab.readback import Series

BACKLOG = "pulsar_subscription_back_log"
UNACKED = "pulsar_subscription_unacked_messages"
#: A healthy backlog is below so many seconds of what is written, and below a floor for quiet topics: so many messages, or few entries.
HEALTHY_S, HEALTHY_MSG, HEALTHY_ENTRIES = 3.0, 30, 5
#: A shared limit bound a subscription whose backlog grew by so many times what a healthy one may have.
LIMITED_BACKLOGS = 4
#: Shorter ranges have no window.
LEAST_MS = 60_000
#: A counter of throttled reads has to rise this often for a limiter to count.
LEAST_EVENTS = 5


class Key(NamedTuple):
    """A subscription partition; the topic without its partition."""

    namespace: str
    topic: str
    partition: int
    subscription: str

    @property
    def physical(self) -> str:
        """``tenant/ns/topic[-partition-N]``."""
        name = self.topic.removeprefix("persistent://")
        return name if self.partition < 0 else f"{name}-partition-{self.partition}"


class Range(NamedTuple):
    """From, to, and what is true of it: (side, cause, limiter, fault), or why it is left out."""

    start_ms: int
    end_ms: int
    what: tuple[str, str, str | None, str] | None
    reason: str


@dataclass
class Found:
    """Truth and its confirmation."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    voided: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    shared: list[dict[str, Any]] = field(default_factory=list)


class Seen:
    """What was scraped, by subscription partition; series of several brokers are one after the other."""

    def __init__(self, series: Iterable[Series]) -> None:
        self._backlog: dict[Key, list[tuple[int, float]]] = defaultdict(list)
        self._unacked: dict[Key, dict[int, float]] = defaultdict(dict)
        self._counters: dict[tuple[str, str, Key], list[Series]] = defaultdict(list)
        self._instances: dict[Key, list[tuple[int, str]]] = defaultdict(list)
        for one in series:
            key = key_of(one.labels)
            if key is None:
                continue
            name = one.labels["__name__"]
            if name == UNACKED:
                self._unacked[key].update(zip(one.timestamps_ms, one.values, strict=True))
            elif name == BACKLOG:
                self._backlog[key] += zip(one.timestamps_ms, one.values, strict=True)
                self._instances[key] += [(at_ms, one.labels["instance"]) for at_ms in one.timestamps_ms]
            elif name.startswith(("pulsar_out_", "pulsar_subscription_dispatch_throttled_")):
                self._counters[name, one.labels.get("reason", ""), key].append(one)
        for points in (*self._backlog.values(), *self._instances.values()):
            points.sort()

    @property
    def keys(self) -> list[Key]:
        """All subscription partitions that were scraped."""
        return sorted(self._backlog)

    def backlog(self, key: Key, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
        """Samples of a backlog in a range."""
        return [point for point in self._backlog.get(key, ()) if start_ms <= point[0] < end_ms]

    def undelivered(self, key: Key, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
        """Samples of a backlog in a range, less what consumers had not acknowledged at the same scrape."""
        unacked = self._unacked.get(key, {})
        return [
            (at_ms, value - unacked.get(at_ms, 0.0)) for at_ms, value in self.backlog(key, start_ms, end_ms)
        ]

    def instance(self, key: Key, at_ms: int) -> str | None:
        """Who served a subscription partition at a time, by its last sample before."""
        found = None
        for time_ms, instance in self._instances.get(key, ()):
            if time_ms > at_ms:
                break
            found = instance
        return found

    def rise(self, name: str, key: Key, start_ms: int, end_ms: int, reason: str = "") -> float:
        """How much a counter rose within a range, over restarts; one that begins within it began at 0."""
        total = 0.0
        for one in self._counters.get((name, reason, key), ()):
            before = None
            for at_ms, value in zip(one.timestamps_ms, one.values, strict=True):
                if start_ms <= at_ms < end_ms and before is not None:
                    total += value - before if value >= before else value
                before = value
        return total


def key_of(labels: dict[str, str]) -> Key | None:
    """Key of a subscription's series; None for a consumer's, a topic's or a broker's."""
    if "subscription" not in labels or "consumer_name" in labels or "consumer_id" in labels:
        return None
    topic, partition = labels["topic"], labels.get("partition")
    if partition is None:
        name, mark, number = topic.rpartition("-partition-")
        topic, partition = (name, number) if mark else (topic, "-1")
    return Key(labels["namespace"], topic, int(partition), labels["subscription"])


def find_truth(played: Played, series: Iterable[Series], scrape_ms: int) -> Found:
    """Say what was true of each subscription partition and when.

    Parameters
    ----------
    played
        What was done.
    series
        What Prometheus scraped.
    scrape_ms
        Its interval.
    """
    return _Finder(played, Seen(series), scrape_ms).find()


class _Finder:
    def __init__(self, played: Played, seen: Seen, scrape_ms: int) -> None:
        self.played, self.seen, self.scrape_ms = played, seen, scrape_ms
        self.fleet: Fleet = played.fleet
        self.found = Found()
        #: Ranges that a fault speaks of, its drain included.
        self.claimed: dict[Key, list[Range]] = defaultdict(list)
        wanted = set(self._scripted())
        self.keys = [key for key in seen.keys if key in wanted]
        self.missing = sorted(wanted - set(self.keys))

    def find(self) -> Found:
        for fault in self.fleet.faults:
            if fault.namespace is not None:
                self._fault(fault)
        for fault in self.fleet.faults:
            if fault.namespace is None:
                self._broker_fault(fault)
        for key in self.keys:
            self._write(key)
        for key in self.missing:
            self._void(key, self.played.start_ms, self.played.end_ms, "never scraped")
        return self.found

    def _scripted(self) -> Iterator[Key]:
        for scenario in self.fleet.namespaces:
            for one in scenario.subscriptions:
                for topic in one.reads:
                    for partition in scenario.partitions_of(topic):
                        name = f"persistent://{scenario.namespace}/{topic}"
                        yield Key(scenario.namespace, name, partition, one.name)

    def healthy_entries(self, key: Key) -> float:
        """The most entries that a healthy backlog has."""
        scenario = self.fleet.namespace(key.namespace)
        topic = key.topic.rsplit("/", 1)[-1]
        rate, most_in_entry = 0.0, 1.0
        for one in scenario.producers:
            if one.topic != topic:
                continue
            count = len(scenario.partitions_of(topic))
            entries = one.rate_msg
            if one.batching is not None:
                by_time = max(1.0, one.rate_msg * one.batching.max_delay_ms / 1000)
                in_entry = min(one.batching.max_messages, by_time)
                entries, most_in_entry = one.rate_msg / in_entry, max(most_in_entry, in_entry)
            rate += entries * (one.share_of(key.partition, count) if one.hot else 1 / count)
        return max(HEALTHY_ENTRIES, HEALTHY_MSG / most_in_entry, HEALTHY_S * rate)

    # -- faults --------------------------------------------------------------------------------

    def _fault(self, fault: Fault) -> None:
        logs = {row["stage"]: row for row in self.played.stages if row["fault"] == fault.name}
        ended = logs.get(None)
        errors = [row["error"] for row in logs.values() if row["error"]]
        if ended is None or errors or len(logs) != len(fault.stages) + 1:
            for key in self._keys_of(fault):
                begin_ms = min((row["begin_ms"] for row in logs.values()), default=self.played.start_ms)
                self._claim(
                    key,
                    begin_ms,
                    self.played.end_ms,
                    None,
                    f"{fault.name}: {'; '.join(errors) or 'not played'}",
                )
            return
        for number, stage in enumerate(fault.stages):
            log, after = logs[number], logs.get(number + 1, ended)
            is_last = number == len(fault.stages) - 1
            for effect in stage.effects:
                keys = self._keys_of_effect(fault, effect)
                if effect.grows_per_s is None:
                    for key in keys:
                        self._shared_key(fault, effect, key, log, after, ended, is_last)
                else:
                    self._grown(fault, effect, keys, log, after, ended, is_last)
            self._use(
                fault, [(e, k) for e in stage.effects for k in self._keys_of_effect(fault, e)], log, after
            )

    def _grown(
        self,
        fault: Fault,
        effect: Effect,
        keys: list[Key],
        log: dict,
        after: dict,
        ended: dict,
        is_last: bool,
    ) -> None:
        begin_ms, applied_ms, end_ms = log["begin_ms"], log["applied_ms"], after["begin_ms"]
        drained = [self._drained_ms(fault, key, ended) for key in keys]
        until_drained = effect.part == "until_drained"
        first = sum(self._first(key, applied_ms, end_ms) for key in keys)
        last = sum(self._last(key, applied_ms, end_ms) for key in keys)
        wanted = (effect.grows_per_s or 0) * (end_ms - applied_ms) / 1000
        if effect.grows_per_s == 0:
            low = min(
                (v for k in keys for _, v in self.seen.backlog(k, applied_ms + SETTLE_MS, end_ms)),
                default=0.0,
            )
            ok = all(low >= self.healthy_entries(key) for key in keys)
        else:
            ok = last - first >= wanted
        events = self._events(effect, keys, applied_ms, end_ms)
        ticks = events is None or events >= LEAST_EVENTS
        has_drained = all(at_ms is not None for at_ms in drained)
        self.found.confirmed.append(
            {
                "fault": fault.name, "kind": fault.kind, "subscription": effect.subscription, "cause": effect.cause,
                "grows_entries": round(wanted), "seen_entries": round(last - first), "throttled_events": events,
                "drained_s": [None if ms is None else round((ms - ended["applied_ms"]) / 1000, 1) for ms in drained],
                "ok": bool(ok and ticks and has_drained and keys),
            }
        )  # fmt: skip
        reason = None
        if not has_drained:
            reason = f"{fault.name}: the backlog did not drain"
        elif not ok:
            reason = f"{fault.name}: the backlog grew by {last - first:.0f} entries, not by {wanted:.0f}"
        elif not ticks:
            reason = f"{fault.name}: the limiter counted {events:.0f} reads"
        for key, drained_ms in zip(keys, drained, strict=True):
            claim_end = (drained_ms or self.played.end_ms) if is_last else end_ms
            if reason is not None:
                self._claim(key, begin_ms, claim_end, None, reason)
                continue
            what = (effect.side, effect.cause, effect.limiter, fault.name)
            true_end = end_ms
            if until_drained and drained_ms is not None:
                # What the consumers hold by then is no backlog that anybody waits for.
                true_end = self._delivered_ms(key, ended["applied_ms"], drained_ms)
            self._claim(key, begin_ms, applied_ms + SETTLE_MS, None, "a change")
            self._claim(key, applied_ms + SETTLE_MS, true_end, what, "")
            self._claim(key, true_end, claim_end, None, "draining")

    def _shared_key(
        self, fault: Fault, effect: Effect, key: Key, log: dict, after: dict, ended: dict, is_last: bool
    ) -> None:
        begin_ms, applied_ms, end_ms = log["begin_ms"], log["applied_ms"], after["begin_ms"]
        self._observed(
            fault,
            key,
            (effect.side, effect.cause, effect.limiter, fault.name),
            begin_ms,
            applied_ms,
            end_ms,
            ended,
            is_last,
        )

    def _observed(
        self,
        fault: Fault,
        key: Key,
        what: tuple,
        begin_ms: int,
        applied_ms: int,
        end_ms: int,
        ended: dict,
        is_last: bool,
    ) -> None:
        """A subscription that shares a limit: limited, healthy, or not known."""
        points = self.seen.backlog(key, applied_ms, end_ms)
        most = self.healthy_entries(key)
        if points and max(value for _, value in points) < most and not self._after_is_high(key, ended, most):
            return
        drained_ms = self._drained_ms(fault, key, ended)
        claim_end = (drained_ms or self.played.end_ms) if is_last else end_ms
        grown = points[-1][1] - points[0][1] if points else 0.0
        level, unit = str(what[2]).split(".")
        events = self.seen.rise(
            f"pulsar_subscription_dispatch_throttled_{unit}_events", key, applied_ms, end_ms, level
        )
        limited = grown >= LIMITED_BACKLOGS * most and drained_ms is not None and events >= LEAST_EVENTS
        low = [at_ms for at_ms, value in points if value < most]
        onset_ms = max([applied_ms, *low])
        self.found.confirmed.append(
            {
                "fault": fault.name, "kind": fault.kind, "subscription": key.subscription, "topic": key.topic,
                "partition": key.partition, "cause": what[1], "seen_entries": round(grown), "throttled_events": events,
                "drained_s": [None if drained_ms is None else round((drained_ms - ended["applied_ms"]) / 1000, 1)],
                "ok": limited,
            }
        )  # fmt: skip
        if not limited or end_ms - onset_ms - SETTLE_MS < LEAST_MS:
            self._claim(key, begin_ms, claim_end, None, f"{fault.name}: between limited and healthy")
            return
        self._claim(key, begin_ms, onset_ms + SETTLE_MS, None, "a change")
        self._claim(key, onset_ms + SETTLE_MS, end_ms, what, "")
        self._claim(key, end_ms, claim_end, None, "draining")

    def _after_is_high(self, key: Key, ended: dict, most: float) -> bool:
        points = self.seen.backlog(key, ended["begin_ms"], ended["begin_ms"] + 2 * self.scrape_ms)
        return bool(points) and points[0][1] >= most

    def _broker_fault(self, fault: Fault) -> None:
        logs = {row["stage"]: row for row in self.played.stages if row["fault"] == fault.name}
        if set(logs) != {0, None} or any(row["error"] for row in logs.values()):
            reason = f"{fault.name}: {'; '.join(str(row['error']) for row in logs.values()) or 'not played'}"
            for key in self.keys:
                begin_ms = min((row["begin_ms"] for row in logs.values()), default=self.played.start_ms)
                self._claim(key, begin_ms, self.played.end_ms, None, reason)
            return
        assert fault.broker_limit is not None
        log, ended = logs[0], logs[None]
        limiter = f"broker.{fault.broker_limit.unit}"
        name = f"pulsar_subscription_dispatch_throttled_{fault.broker_limit.unit}_events"
        by_instance: dict[str, list[Key]] = defaultdict(list)
        for key in self.keys:
            by_instance[self.seen.instance(key, log["applied_ms"]) or ""].append(key)
            touched = self.seen.rise(name, key, log["applied_ms"], ended["applied_ms"], "broker") > 0
            until_ms = self._drained_ms(fault, key, ended) or self.played.end_ms
            own = [
                one for one in self.claimed[key] if one.start_ms < until_ms and one.end_ms > log["begin_ms"]
            ]
            if own and touched:
                self.claimed[key] = [
                    cut for one in self.claimed[key] for cut in _without(one, log["begin_ms"], until_ms)
                ]
                self._claim(key, log["begin_ms"], until_ms, None, f"{fault.name}: two causes at once")
            elif not own:
                what = ("throttle", "throttled", limiter, fault.name)
                self._observed(
                    fault,
                    key,
                    what,
                    log["begin_ms"],
                    log["applied_ms"],
                    ended["begin_ms"],
                    ended,
                    is_last=True,
                )
        effect = Effect(subscription="any", side="throttle", cause="throttled", limiter=limiter)
        for keys in by_instance.values():
            self._use(fault, [(effect, key) for key in keys], log, ended)

    def _use(self, fault: Fault, pairs: list[tuple[Effect, Key]], log: dict, after: dict) -> None:
        """Who used a limit that several share, by what the brokers counted."""
        start_ms, end_ms = log["applied_ms"] + SETTLE_MS, after["begin_ms"]
        groups: dict[tuple[str, str], list[Key]] = defaultdict(list)
        for effect, key in pairs:
            level = (effect.limiter or "").split(".")[0]
            if level == "topic":
                siblings = [one for one in self.keys if one[:3] == key[:3]]
                groups[str(effect.limiter), key.physical] = siblings
            elif level == "broker":
                groups[str(effect.limiter), self.seen.instance(key, log["applied_ms"]) or ""].append(key)
        for (limiter, scope), keys in groups.items():
            seconds = (end_ms - start_ms) / 1000
            if len(keys) < 2 or seconds <= 0:
                continue
            self.found.shared.append(
                {
                    "fault": fault.name, "limiter": limiter, "scope": scope, "start_ms": start_ms, "end_ms": end_ms,
                    "use": [
                        {
                            **key._asdict(),
                            "msg_per_s": round(self.seen.rise("pulsar_out_messages_total", key, start_ms, end_ms) / seconds, 2),
                            "bytes_per_s": round(self.seen.rise("pulsar_out_bytes_total", key, start_ms, end_ms) / seconds),
                        }
                        for key in sorted(keys)
                    ],
                }
            )  # fmt: skip

    def _events(self, effect: Effect, keys: list[Key], start_ms: int, end_ms: int) -> float | None:
        if effect.limiter is None:
            return None
        level, unit = effect.limiter.split(".")
        name = f"pulsar_subscription_dispatch_throttled_{unit}_events"
        return sum(self.seen.rise(name, key, start_ms, end_ms, level) for key in keys)

    def _keys_of_effect(self, fault: Fault, effect: Effect) -> list[Key]:
        return [
            key
            for key in self.keys
            if key.namespace == fault.namespace
            and key.subscription == effect.subscription
            and (effect.partitions is None or key.partition in effect.partitions)
        ]

    def _keys_of(self, fault: Fault) -> set[Key]:
        return {
            key
            for stage in fault.stages
            for effect in stage.effects
            for key in self._keys_of_effect(fault, effect)
        }

    def _drained_ms(self, fault: Fault, key: Key, ended: dict) -> int | None:
        """First sample after the end from which on the backlog stays low, as long as the fault gives it or until a broker is limited."""
        most, applied_ms = self.healthy_entries(key), ended["applied_ms"]
        until_ms = applied_ms + round(1000 * fault.within_s)
        limited_ms = [at_ms for at_ms in self._broker_limits_ms() if at_ms > applied_ms]
        until_ms = min([until_ms, *(at_ms - 2 * self.scrape_ms for at_ms in limited_ms)])
        points = self.seen.backlog(key, applied_ms, until_ms + 2 * self.scrape_ms)
        high = [at_ms for at_ms, value in points if value >= most]
        low = [at_ms for at_ms, value in points if value < most and at_ms > max(high, default=0)]
        return low[0] if low else None

    def _delivered_ms(self, key: Key, start_ms: int, drained_ms: int) -> int:
        """When all of a backlog was with the consumers, at the latest when it was gone."""
        most = self.healthy_entries(key)
        waiting = self.seen.undelivered(key, start_ms, drained_ms)
        return next((at_ms for at_ms, value in waiting if value < most), drained_ms)

    def _broker_limits_ms(self) -> list[int]:
        """When a limit of the brokers was set: from then on any backlog can be its own."""
        names = {fault.name for fault in self.fleet.faults if fault.broker_limit is not None}
        return [row["begin_ms"] for row in self.played.stages if row["fault"] in names and row["stage"] == 0]

    def _first(self, key: Key, start_ms: int, end_ms: int) -> float:
        points = self.seen.backlog(key, start_ms, end_ms)
        return points[0][1] if points else 0.0

    def _last(self, key: Key, start_ms: int, end_ms: int) -> float:
        points = self.seen.backlog(key, start_ms, end_ms)
        return points[-1][1] if points else 0.0

    def _claim(self, key: Key, start_ms: int, end_ms: int, what: tuple | None, reason: str) -> None:
        if end_ms > start_ms:
            self.claimed[key].append(Range(start_ms, end_ms, what, reason))

    # -- rows ----------------------------------------------------------------------------------

    def _write(self, key: Key) -> None:
        claimed = sorted(self.claimed[key])
        ranges: list[Range] = []
        at_ms = self.played.start_ms
        for one in claimed:
            if one.start_ms > at_ms:
                ranges.append(self._healthy(at_ms, one.start_ms))
            if one.end_ms > max(at_ms, one.start_ms):
                ranges.append(one._replace(start_ms=max(at_ms, one.start_ms)))
            at_ms = max(at_ms, one.end_ms)
        if at_ms < self.played.end_ms:
            ranges.append(self._healthy(at_ms, self.played.end_ms))
        gaps = self._gaps(key)
        for one in ranges:
            if one.what is None:
                self._void(key, one.start_ms, one.end_ms, one.reason)
                continue
            high = self._high(key, one) if one.what[1] == "healthy" else []
            for part in _minus(one, [*gaps, *high], lambda a, b, why: self._void(key, a, b, why)):
                self._row(key, part)

    def _healthy(self, start_ms: int, end_ms: int) -> Range:
        # A minute later: what the broker computes once a minute has settled.
        return Range(min(start_ms + SETTLE_MS, end_ms), end_ms, ("neither", "healthy", None, ""), "")

    def _gaps(self, key: Key) -> list[tuple[int, int, str]]:
        """When a broker was away under a subscription, until it is seen again."""
        found = []
        for row in self.played.operations:
            if row["topics"] is None or key.physical not in row["topics"] or row["kind"] in ("touch_policy",):
                continue
            away = row.get("stopped_ms") is not None and row["kind"] == "kill"
            until_ms = row["done_ms"] if away else row.get("stopped_ms", row["done_ms"])
            later = self.seen.backlog(key, row["at_ms"] + 1000, self.played.end_ms)
            seen_ms = later[0][0] if later else self.played.end_ms
            if away and seen_ms - row["at_ms"] > 2 * self.scrape_ms:
                found.append(
                    (row["at_ms"], min(seen_ms, until_ms + SETTLE_MS), "operation: its broker was away")
                )
        return found

    def _high(self, key: Key, one: Range) -> list[tuple[int, int, str]]:
        """When a backlog that no fault explains was there."""
        most = self.healthy_entries(key)
        points = self.seen.backlog(key, one.start_ms - 2 * self.scrape_ms, one.end_ms)
        found: list[tuple[int, int, str]] = []
        for number, (at_ms, value) in enumerate(points):
            if value < most:
                continue
            start_ms = points[number - 1][0] if number else one.start_ms
            end_ms = points[number + 1][0] if number + 1 < len(points) else one.end_ms
            beside = any(
                row["at_ms"] - 5_000 <= at_ms <= row["done_ms"] + 2 * SETTLE_MS
                and (row["topics"] is None or key.physical in row["topics"])
                for row in self.played.operations
            )
            why = (
                "operation: a backlog came of it"
                if beside
                else f"a backlog of {value:.0f} entries that nothing explains"
            )
            found.append((start_ms, end_ms + (0 if value < 2 * most else SETTLE_MS), why))
        return found

    def _row(self, key: Key, one: Range) -> None:
        if one.end_ms - one.start_ms < LEAST_MS:
            return
        side, cause, limiter, fault = one.what or ("", "", None, "")
        kind = next((item.kind for item in self.fleet.faults if item.name == fault), "healthy")
        self.found.rows.append(
            {
                "cluster": self.fleet.name,
                "namespace": key.namespace,
                "topic": key.topic,
                "partition": key.partition,
                "subscription": key.subscription,
                "start_ms": one.start_ms,
                "end_ms": one.end_ms,
                "side": side,
                "cause": cause,
                "limiter": limiter,
                "family": kind,
                "recording": self.fleet.name,
                "kept_aside": self.fleet.kept_aside,
            }
        )

    def _void(self, key: Key, start_ms: int, end_ms: int, reason: str) -> None:
        if end_ms > start_ms:
            self.found.voided.append(
                {**key._asdict(), "start_ms": start_ms, "end_ms": end_ms, "reason": reason}
            )


def _without(one: Range, start_ms: int, end_ms: int) -> list[Range]:
    """A range without the part that another one covers."""
    parts = [
        one._replace(end_ms=min(one.end_ms, start_ms)),
        one._replace(start_ms=max(one.start_ms, end_ms)),
    ]
    return [part for part in parts if part.end_ms > part.start_ms]


def _minus(one: Range, cuts: list[tuple[int, int, str]], void: Any) -> list[Range]:
    parts = [one]
    for start_ms, end_ms, why in cuts:
        if start_ms < one.end_ms and end_ms > one.start_ms:
            void(max(start_ms, one.start_ms), min(end_ms, one.end_ms), why)
        parts = [part for whole in parts for part in _without(whole, start_ms, end_ms)]
    return parts
