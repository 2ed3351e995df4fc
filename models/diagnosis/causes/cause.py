"""What is known of a cause, and what its rule answers. In: nothing. Out: the records that the modules of this package fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from throttlescope.models.messages.catalogue import Message, render

#: Evidence grades, best first. What they are worth is in :mod:`~throttlescope.models.diagnosis.verdict`.
GRADES = ("A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Standing:
    """A cause that applies in a window.

    Attributes
    ----------
    grade : str
        One of :data:`GRADES`; empty for ``unknown``.
    because : Message
        The rule that named it.
    limiter : str or None
        The limiter that binds.
    variant : str or None
        Which form of the cause, one of the closed list.
    """

    cause: str
    grade: str
    because: Message
    limiter: str | None = None
    variant: str | None = None

    @property
    def why(self) -> str:
        """The rule in words, in the current language."""
        return render(self.because)


@dataclass(frozen=True, eq=False)
class Cause:
    """One cause, as its own module states it; every other part of the product asks this record.

    Attributes
    ----------
    name : str
        The stored word, one of the closed list of the contracts.
    side : str
        The side it belongs to, one of the closed list.
    family : str
        What it has to do with: ``limit``, ``consumer``, ``mixed``, ``storage``, ``fine`` or ``open``. A family shares a colour.
    mark, pattern : str
        Its sign next to its name, and Plotly's fill pattern for areas too small for text.
    decisive : tuple of str
        Symptoms that decide for it, most telling first. Evidence begins with them.
    rests_on_limits : bool
        Whether its rule looks at limits, so that old or changed limits make it less sure.
    lever : str or None
        What removes it, as ``LEVERS`` of the contracts: a limiter, the consumers, or both. None: neither.
    is_incident : bool
        Whether something is wrong, and known.
    survives_restart : bool
        Whether restarted counters leave it as sure as it was.
    more_consumers_help : bool
        Whether more consumers would take more.
    is_of_broker : bool
        Whether it affects all topics of a broker alike.
    side_is_fixed : bool
        Whether the truth of a scenario has to name its side too.
    reasons : tuple of str
        Keys of its rule's messages, below ``cause.NAME.because``.
    """

    name: str
    side: str
    family: str
    mark: str
    pattern: str = ""
    decisive: tuple[str, ...] = ()
    rests_on_limits: bool = False
    lever: str | None = None
    is_incident: bool = True
    survives_restart: bool = False
    more_consumers_help: bool = False
    is_of_broker: bool = False
    side_is_fixed: bool = True
    reasons: tuple[str, ...] = ()
    _reasons: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        keys = {reason: f"cause.{self.name}.because.{reason}" for reason in self.reasons}
        object.__setattr__(self, "_reasons", keys)

    @property
    def names_limiter(self) -> bool:
        """Whether it is a limiter's doing, so that one has to be named."""
        return self.lever in ("limiter", "both")

    def text(self, part: str) -> str:
        """Its ``label``, its ``answer`` to why there is a backlog, what to do ``first``, and what not to do (``never``)."""
        return render(Message(f"cause.{self.name}.{part}"))

    def because(
        self,
        reason: str,
        grade: str = "",
        *,
        limiter: str | None = None,
        variant: str | None = None,
        **values: object,
    ) -> Standing:
        """This cause applies, for one of its reasons."""
        return Standing(self.name, grade, Message(self._reasons[reason], values), limiter, variant)


#: Parts of the text of every cause.
PARTS = ("label", "answer", "first", "never")
