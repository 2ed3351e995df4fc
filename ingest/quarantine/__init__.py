"""Quarantine of refused rows. In: a refused row and the reason. Out: rows of the table ``quarantine``, and their readmission.

One bad row does not fail a run: it is kept whole, with its reason, and counted (:mod:`refuse`). Later it can be read
(:mod:`rows`), repaired (:mod:`repairs`), validated again (:mod:`revalidate`) and readmitted (:mod:`readmit`).
"""

from throttlescope.ingest.quarantine.refuse import REASONS, Quarantine

__all__ = ["REASONS", "Quarantine"]
