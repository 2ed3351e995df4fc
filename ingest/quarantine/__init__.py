"""The quarantine: in, a row that was refused and why; out, rows of the table ``quarantine``, and their way back.

One bad row does not fail a run: it is kept whole, with its reason, and counted (:mod:`refused`). Later it can be looked at
(:mod:`kept`), repaired (:mod:`repairs`) and taken back through the door that refused it (:mod:`doors`, :mod:`readmit`).
"""

from throttlescope.ingest.quarantine.refuse import REASONS, Quarantine

__all__ = ["REASONS", "Quarantine"]
