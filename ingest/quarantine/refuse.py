"""Refusal of rows. In: a row and why it is refused. Out: rows of the table ``quarantine``.

Reasons are a closed list, so that they can be counted over runs and looked up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import date_of

#: Reason code and what it says.
REASONS: dict[str, str] = {
    "missing_metric_name": "a series without __name__",
    "missing_key_label": "a series without a label that names its cluster, namespace, topic or subscription",
    "invalid_partition": "a partition label that is not a whole number from -1",
    "invalid_segment": "a segment whose name has no hash range of 4 hexadecimal digits each and no decimal id, or a range that ends before it begins",
    "label_not_utf8": "a label whose bytes are not UTF-8 text",
    "policy_unreadable": "an answer of the admin API that is not what its version documents",
    "stats_unreadable": "per-partition stats of the admin API without the fields that they must have",
    "samples_not_kept": "a series with too many samples to keep, or that an earlier version refused",
    "row_unreadable": "a row that is not JSON of the form that its table needs",
}


@dataclass
class Quarantine:
    """Collects what a run refuses.

    Attributes
    ----------
    run_id : str
        The run that refuses.
    """

    run_id: str
    _rows: dict[tuple[str, str, str], dict] = field(default_factory=dict)

    def refuse(
        self, table: str, reason: str, row: Mapping, *, cluster: str | None = None, stands_for: int = 1
    ) -> None:
        """Keep ``row``, which was meant for ``table``.

        Parameters
        ----------
        row : mapping
            The row as it came; what JSON does not know is kept as text.
        stands_for : int
            Samples or rows that are lost with it; added up where the same row is refused again.

        Raises
        ------
        InputError
            The table or the reason is none that exists.
        """
        if table not in TABLES:
            raise InputError("No such table", got=repr(table), expected=", ".join(TABLES))
        if reason not in REASONS:
            raise InputError("No such reason to refuse a row", got=repr(reason), expected=", ".join(REASONS))
        text = json.dumps(row, sort_keys=True, default=str)
        now_ms = time.time_ns() // 1_000_000
        kept = self._rows.setdefault(
            (table, reason, text),
            {
                "run_id": self.run_id, "cluster": cluster, "table": table, "reason": reason, "row": text, "rows": 0,
                "observed_ms": now_ms, "date": date_of(now_ms),
            },
        )  # fmt: skip
        kept["rows"] += stands_for

    @property
    def refused(self) -> int:
        """Samples or rows refused so far."""
        return sum(row["rows"] for row in self._rows.values())

    def counts(self) -> dict[str, int]:
        """The same by reason."""
        by_reason: dict[str, int] = {}
        for row in self._rows.values():
            by_reason[row["reason"]] = by_reason.get(row["reason"], 0) + row["rows"]
        return dict(sorted(by_reason.items()))

    def rows(self) -> pa.Table:
        """Rows of ``quarantine``, one per row refused."""
        contract = TABLES["quarantine"]
        return contract.conform(pa.Table.from_pylist(list(self._rows.values()), schema=contract.loose_schema))
