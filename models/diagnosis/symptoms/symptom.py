"""What a symptom is. In: nothing. Out: the records that the modules of this package fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from throttlescope.models.messages.catalogue import Message, render


class Symptom(NamedTuple):
    """The answer to one question about a window. Forty are made of every window, so it is a tuple.

    Attributes
    ----------
    name : str
        One of :data:`~throttlescope.models.diagnosis.symptoms.SYMPTOMS`.
    holds : bool or None
        None where the window cannot tell.
    finding : Message
        What was measured: a key of the catalogue and numbers with their units. Rendered only where it is read.
    at_ms : int or None
        When it was strongest.
    limiter : str or None
        The limiter that it is about.
    """

    name: str
    holds: bool | None
    finding: Message
    value: float | None = None
    threshold: float | None = None
    unit: str | None = None
    at_ms: int | None = None
    promql: str | None = None
    limiter: str | None = None

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        return render(self.finding)


@dataclass(frozen=True, eq=False)
class SymptomKind:
    """One symptom, as the module that measures it states it; its function and what it measures follow it there.

    Attributes
    ----------
    name : str
        The stored word.
    situations : tuple of str
        Keys of its sentences, below ``symptom.NAME``.
    unit : str or None
        Of its value and threshold, unless an answer names another.
    """

    name: str
    situations: tuple[str, ...]
    unit: str | None = None
    _keys: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        keys = {situation: f"symptom.{self.name}.{situation}" for situation in self.situations}
        object.__setattr__(self, "_keys", keys)

    def says(self, situation: str, **values: object) -> Message:
        """What there is to say in one of its situations."""
        return Message(self._keys[situation], values)

    def answer(
        self,
        holds: bool | None,
        finding: Message,
        value: float | None = None,
        threshold: float | None = None,
        at_ms: int | None = None,
        promql: str | None = None,
        limiter: str | None = None,
        unit: str | None = None,
    ) -> Symptom:
        """Yes, no or unknown, with the finding and the numbers that decided."""
        if value is not None or threshold is not None:
            unit = unit or self.unit
        return Symptom(self.name, holds, finding, value, threshold, unit, at_ms, promql, limiter)

    def unknown(self, situation: str, promql: str | None = None, **values: object) -> Symptom:
        """The window cannot tell, for one of the reasons among its situations."""
        return Symptom(self.name, None, self.says(situation, **values), promql=promql)
