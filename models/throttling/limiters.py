"""The four limiter engines, one meter at a time, written to be read. In: charges and queries with their time; out: permits.

A meter is the message half or the byte half of one limiter. Times are whole microseconds, rates whole messages or bytes
per period. Nothing here is fast: the compiled forms are in ``kernel/meters.py``, and tests hold the two together.

Sources: Pulsar's code at the release tags named in ``docs/background/throttling-model.md``; its concept page describes ``A``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SECOND_US = 1_000_000
#: PIP-322's bucket adds tokens once per slot of 16 ms.
SLOT_US = 16_000


@dataclass
class WindowWithoutDebt:
    """Engine A0 (up to 2.7.3): a window that forgets at its end whatever was sent too much."""

    rate: int
    period_us: int
    used: int = 0
    next_tick_us: int | None = None
    #: The rate from the next tick on, of a limit that is relative to the publish rate; None: the same.
    next_rate: int | None = None

    def available(self, now_us: int) -> int:
        """Permits left in this window."""
        self._tick(now_us)
        return max(0, self.rate - self.used)

    def charge(self, amount: int, now_us: int) -> None:
        """Note what was sent; a charge larger than the rate fills the window and no more."""
        self._tick(now_us)
        if self.next_tick_us is None:
            self.next_tick_us = now_us + self.period_us
        if amount > self.rate:
            self.used = self.rate
        elif self.used < self.rate:
            self.used += amount

    def follow(self, rate: int, now_us: int) -> None:
        """A new publish rate: the rate that it gives holds from the next tick on."""
        self._tick(now_us)
        self.next_rate = rate

    def balance(self) -> int:
        """Tokens as they are, for a table."""
        return self.rate - self.used

    def _tick(self, now_us: int) -> None:
        while self.next_tick_us is not None and self.next_tick_us <= now_us:
            self.used = 0
            self.rate = self.rate if self.next_rate is None else self.next_rate
            self.next_tick_us += self.period_us


@dataclass
class WindowWithDebt:
    """Engine A (2.7.4 to 3.1, and today's classic factory): a window that carries the excess over into the next one."""

    rate: int
    period_us: int
    used: int = 0
    next_tick_us: int | None = None
    #: The rate from the next tick on, of a limit that is relative to the publish rate; None: the same.
    next_rate: int | None = None

    def available(self, now_us: int) -> int:
        """Permits left in this window; 0 while a debt is paid."""
        self._tick(now_us)
        return max(0, self.rate - self.used)

    def charge(self, amount: int, now_us: int) -> None:
        """Note what was sent. The first charge starts the timer, so the grid of windows begins there."""
        self._tick(now_us)
        if self.next_tick_us is None:
            self.next_tick_us = now_us + self.period_us
        self.used += amount

    def change(self, rate: int, period_us: int, now_us: int) -> None:
        """A policy update: a new rate and a timer that starts now, also before any charge; what was used stays used."""
        self._tick(now_us)
        self.rate, self.period_us = rate, period_us
        self.next_tick_us = now_us + period_us
        self.next_rate = None

    def follow(self, rate: int, now_us: int) -> None:
        """A new publish rate: the rate that it gives holds from the next tick on."""
        self._tick(now_us)
        self.next_rate = rate

    def balance(self) -> int:
        """Tokens as they are, for a table; negative is debt."""
        return self.rate - self.used

    def _tick(self, now_us: int) -> None:
        while self.next_tick_us is not None and self.next_tick_us <= now_us:
            self.used = max(0, self.used - self.rate)
            self.rate = self.rate if self.next_rate is None else self.next_rate
            self.next_tick_us += self.period_us


@dataclass
class SlotBucket:
    """Engine B (3.2 to 3.3.4, 4.0.0 to 4.0.2): a token bucket whose charges are seen in the next slot of 16 ms.

    Inside one slot every query sees the balance from the slot's beginning, so several reads can each take all of it.
    """

    rate: int
    period_us: int
    born_us: int = 0
    tokens: int = field(init=False)
    pending: int = 0
    last_us: int = field(init=False)
    remainder_us: int = 0
    slot: int = field(init=False)

    def __post_init__(self) -> None:
        self.tokens, self.last_us, self.slot = self.rate, self.born_us, -1

    def follow(self, rate: int, _now_us: int) -> None:
        """A new publish rate, which the next query sees."""
        self.rate = rate

    def available(self, now_us: int) -> int:
        """Permits as the slot's first call left them."""
        self._flush(0, now_us)
        return max(0, self.tokens)

    def charge(self, amount: int, now_us: int) -> None:
        """Note what was sent; only the first call of a slot is seen at once."""
        if not self._flush(amount, now_us):
            self.pending += amount

    def balance(self) -> int:
        """Tokens as they are, for a table; negative is debt."""
        return self.tokens - self.pending

    def _flush(self, amount: int, now_us: int) -> bool:
        if now_us // SLOT_US <= self.slot:
            return False
        self.slot = now_us // SLOT_US
        elapsed_us = now_us - self.last_us + self.remainder_us
        new = elapsed_us * self.rate // self.period_us
        self.remainder_us = elapsed_us - new * self.period_us // self.rate
        self.last_us = now_us
        self.tokens = min(self.tokens + new, self.rate) - (self.pending + amount)
        self.pending = 0
        return True


@dataclass
class PeriodBucket:
    """Engine C (3.3.5 and later, 4.0.3 and later): a token bucket that is refilled by the first query after a period.

    No timer: the refill waits for a query *later than* a period after the last refill, and the next period counts from
    that query.
    """

    rate: int
    period_us: int
    born_us: int = 0
    tokens: int = field(init=False)
    pending: int = 0
    anchor_us: int = field(init=False)
    remainder_us: int = 0

    def __post_init__(self) -> None:
        self.tokens, self.anchor_us = self.rate, self.born_us

    def follow(self, rate: int, _now_us: int) -> None:
        """A new publish rate, which the next query sees."""
        self.rate = rate

    def available(self, now_us: int) -> int:
        """Permits; refills first when a period has passed."""
        if now_us > self.anchor_us + self.period_us:
            elapsed_us = now_us - self.anchor_us + self.remainder_us
            new = elapsed_us * self.rate // self.period_us
            self.remainder_us = elapsed_us - new * self.period_us // self.rate
            self.anchor_us = now_us
            # What was sent is subtracted before the cap: a debt is paid from the surplus of a late refill. Where the two are equal nothing
            # happens, nor to tokens from before a relative limit fell.
            if new != self.pending:
                self.tokens = min(self.tokens + new - self.pending, self.rate)
            self.pending = 0
        return max(0, self.tokens - self.pending)

    def charge(self, amount: int, now_us: int) -> None:
        """Note what was sent; never refills."""
        self.pending += amount

    def balance(self) -> int:
        """Tokens as they are, for a table; negative is debt."""
        return self.tokens - self.pending


Meter = WindowWithoutDebt | WindowWithDebt | SlotBucket | PeriodBucket


def new_meter(engine: str, rate: int, period_us: int, now_us: int) -> Meter:
    """Make a full meter of an engine (``A0``, ``A``, ``B``, ``C``)."""
    if engine == "A0":
        return WindowWithoutDebt(rate, period_us)
    if engine == "A":
        return WindowWithDebt(rate, period_us)
    if engine == "B":
        return SlotBucket(rate, period_us, now_us)
    return PeriodBucket(rate, period_us, now_us)
