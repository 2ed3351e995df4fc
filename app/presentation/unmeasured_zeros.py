"""Zeros that mean "not measured". In: minutes of ``signals``. Out: whether a column was really measured.

On Exclusive and Failover subscriptions the broker keeps no unacknowledged messages and, with cumulative
acknowledgements, counts no acks: the metrics are there and stay zero. Such a zero is not drawn.
"""

from __future__ import annotations

import pandas as pd

_ONE_CONSUMER_TYPES = ("Exclusive", "Failover")


def is_measured(minutes: pd.DataFrame, column: str) -> bool:
    """False where the column is missing all the time, or zero all the time on a type that does not count it."""
    values = minutes[column].astype(float)
    if values.isna().all():
        return False
    types = set(minutes["subscription_type"].dropna())
    return bool((values.fillna(0) != 0).any()) or not types or bool(types - set(_ONE_CONSUMER_TYPES))
