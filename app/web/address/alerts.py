"""The address of the alerts page. In: a query string. Out: a rule, a range, and what counts as real; and the link back."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.presentation.links.paths import ALERTS_PATH
from throttlescope.app.presentation.links.query import link, one, one_of, parts_of, range_of, times_of
from throttlescope.app.rules_export.preview.kinds import KINDS
from throttlescope.ingest.core.errors import InputError

#: A server reads an address of 8,190 bytes; a longer rule could be shown once and not be opened again.
LONGEST_HREF = 8_000


@dataclass(frozen=True)
class AlertsAddress:
    """What the page previews.

    Attributes
    ----------
    rule : str or None
        Name of an exported alert.
    text : str or None
        A rules file that was typed; one of both at most.
    start_ms, end_ms : int or None
        Nothing is evaluated without both.
    kind : str or None
        Which verdicts count as real; None: as the rule says.
    """

    rule: str | None = None
    text: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    kind: str | None = None

    @classmethod
    def parse(cls, query: str | None) -> AlertsAddress:
        values = parts_of(query)
        start_ms, end_ms = range_of(values)
        kind = one_of(values, "kind", KINDS, what="kind of trouble")
        rule, text = one(values, "rule"), one(values, "yaml")
        if rule is not None and text is not None:
            raise InputError(
                "The address names an exported alert and has a rule of its own", expected="one of them"
            )
        if query is not None and len(query) > LONGEST_HREF:
            raise InputError(
                "The rule is too long for an address",
                got=f"{len(query):,} characters",
                expected=f"at most {LONGEST_HREF:,}",
                fix="leave annotations out, or use throttlescope rules run",
            )
        return cls(rule, text, start_ms, end_ms, kind)

    def href(self) -> str:
        pairs = [("rule", self.rule)] if self.rule else []
        pairs += [("yaml", self.text)] if self.text else []
        pairs += times_of(("from", self.start_ms), ("to", self.end_ms))
        pairs += [("kind", self.kind)] if self.kind else []
        return link(ALERTS_PATH, pairs)
