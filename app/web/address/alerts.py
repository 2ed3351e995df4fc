"""The address of the alerts page. In: a query string. Out: a rule, a range, and what counts as real; and the link back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from throttlescope.app.presentation.links.fields import FROM, TO, PageAddress, part, text, word
from throttlescope.app.presentation.links.paths import ALERTS_PATH
from throttlescope.app.rules_export.preview.kinds import KINDS
from throttlescope.ingest.core.errors import InputError

#: A server reads an address of 8,190 bytes; a longer rule could be shown once and not be opened again.
LONGEST_HREF = 8_000


@dataclass(frozen=True)
class AlertsAddress(PageAddress):
    """What the page previews.

    Attributes
    ----------
    rule : str or None
        Name of an exported alert.
    text : str or None
        A rules file that was typed; at most one of ``rule`` and ``text``.
    start_ms, end_ms : int or None
        Nothing is evaluated without both.
    kind : str or None
        Which verdicts count as real; None: as the rule says.
    """

    PATH: ClassVar[str] = ALERTS_PATH

    rule: str | None = part(text("rule"))
    text: str | None = part(text("yaml"))
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)
    kind: str | None = part(word("kind", KINDS, what="kind of problem"))

    @classmethod
    def parse(cls, query: str | None) -> AlertsAddress:
        address = super().parse(query)
        if query is not None and len(query) > LONGEST_HREF:
            raise InputError(
                "The rule is too long for an address",
                got=f"{len(query):,} characters",
                expected=f"at most {LONGEST_HREF:,}",
                fix="leave annotations out, or use throttlescope rules run",
            )
        return address

    def check(self) -> None:
        if self.rule is not None and self.text is not None:
            raise InputError(
                "The address names an exported alert and contains a rule too", expected="one of them"
            )
