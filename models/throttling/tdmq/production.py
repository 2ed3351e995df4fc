"""Producers and their requests: in, send calls; out, requests that are accepted, processed and answered.

A request waits at its producer until the channel is open and the producer has fewer than ``in_flight_requests`` of them
without an answer. It is counted when it has been processed. What was in flight when the channel closed is processed all the
same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from throttlescope.models.throttling.tdmq.agenda import Agenda, Rank
from throttlescope.models.throttling.tdmq.records import Request
from throttlescope.models.throttling.tdmq.scenario import Producers, Scenario, Sends
from throttlescope.models.throttling.tdmq.throttle_gates import TdmqGate, Throttle


def sent_us(sends: Sends, random: Random) -> Iterator[int]:
    """The moments of the send calls, each repetition in rising order."""
    for repetition in range(sends.times):
        start_us = (sends.at_ms + repetition * (sends.every_ms or 0)) * 1000
        over_us = sends.over_ms * 1000
        if sends.spacing == "random" and over_us:
            yield from sorted(start_us + random.randrange(over_us) for _ in range(sends.requests))
        else:
            yield from (start_us + i * over_us // sends.requests for i in range(sends.requests))


@dataclass(slots=True)
class _Producer:
    number: int
    gate: TdmqGate
    in_flight_requests: int
    coming: Iterator[Request]
    waiting: deque[Request] = field(default_factory=deque)
    unanswered: int = 0


class Production:
    """All producers of a run.

    Parameters
    ----------
    gates : list of TdmqGate
        One for each node (partition).
    holds_answers : bool
        Answers to requests that were processed behind a closed channel are delayed until it opens ("packet response
        delay" of the cluster throttle).
    when_processed : callable
        Called with each request that was processed.
    requests : list of Request
        Filled with every request, in the order of their send calls.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        agenda: Agenda,
        gates: list[TdmqGate],
        throttle: Throttle,
        *,
        holds_answers: bool,
        when_processed: Callable[[Request], None],
        requests: list[Request],
    ) -> None:
        self._agenda = agenda
        self._throttle = throttle
        self._processing_us = scenario.processing_us
        self._holds_answers = holds_answers
        self._when_processed = when_processed
        self._requests = requests
        self._producers: list[_Producer] = []
        self._waiting: dict[int, list[Request]] = {gate.place: [] for gate in gates}
        for group in scenario.producers:
            for place in group.places(scenario.places):
                for _ in range(group.per_place):
                    number = len(self._producers)
                    coming = _requests(group, place, number, seed)
                    self._producers.append(_Producer(number, gates[place], group.in_flight_requests, coming))
        for gate in gates:
            gate.when_opened = self._opened

    def start(self) -> None:
        for producer in self._producers:
            self._expect_next(producer)

    def _expect_next(self, producer: _Producer) -> None:
        request = next(producer.coming, None)
        if request is not None:
            self._agenda.add(request.sent_us, Rank.SEND, self._send, producer, request)

    def _send(self, producer: _Producer, request: Request) -> None:
        self._requests.append(request)
        producer.waiting.append(request)
        self._accept(producer)
        self._expect_next(producer)

    def _accept(self, producer: _Producer) -> None:
        now_us, gate = self._agenda.now_us, producer.gate
        while gate.is_open and producer.waiting and producer.unanswered < producer.in_flight_requests:
            request = producer.waiting.popleft()
            request.accepted_us = now_us
            request.waited_for_channel = gate.was_closed_since(request.sent_us)
            producer.unanswered += 1
            self._agenda.add(now_us + self._processing_us, Rank.PROCESSED, self._processed, producer, request)

    def _processed(self, producer: _Producer, request: Request) -> None:
        gate = producer.gate
        request.processed_us = self._agenda.now_us
        request.after_close = not gate.is_open
        gate.count(request.quota, request.size_bytes)
        self._throttle.counted(gate, request.quota)
        self._when_processed(request)
        if request.after_close and self._holds_answers:
            self._waiting[gate.place].append(request)
        else:
            self._answer(request)
        self._accept(producer)

    def _answer(self, request: Request) -> None:
        request.answered_us = self._agenda.now_us
        self._producers[request.producer].unanswered -= 1

    def _opened(self, gate: TdmqGate) -> None:
        for request in self._waiting[gate.place]:
            self._answer(request)
        self._waiting[gate.place].clear()
        for producer in self._producers:
            if producer.gate is gate:
                self._accept(producer)


def _requests(group: Producers, place: int, producer: int, seed: int) -> Iterator[Request]:
    """The requests of one producer in the order of their send calls."""
    # Text seeds a generator the same way on every machine; each producer has its own, so that more of them change no other.
    random = Random(f"{seed} {group.name} {place} {producer}")  # noqa: S311
    moments_us = sorted(at_us for sends in group.sends for at_us in sent_us(sends, random))
    for number, at_us in enumerate(moments_us):
        yield Request(
            place=place,
            producer=producer,
            number=number,
            quota="production" if group.deliver_after_ms is None else "delayed",
            size_bytes=group.size_bytes,
            sent_us=at_us,
            available_us=at_us + (group.deliver_after_ms or 0) * 1000,
        )
