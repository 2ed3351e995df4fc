"""What is unusual for a subscription. In: weeks of ``signals``. Out: ``anomalies``; pure functions but for :mod:`apply` and what it reads and keeps.

``calendar`` hours of the week in a zone -> ``levels`` what a series shows at each hour, and which change became a new level
-> ``spread`` how far it strays -> ``cusum`` when straying adds up; ``silence`` when samples stop. ``series`` judges one
series, ``subscription`` all of a subscription partition, ``grouping`` finds what many share, ``apply`` runs it over a lake,
by baselines that ``kept_baselines`` computes once a day.
"""

from throttlescope.models.anomaly.rules import RULES, AnomalyRules
from throttlescope.models.anomaly.subscription import Range, anomalies_of

__all__ = ["RULES", "AnomalyRules", "Range", "anomalies_of"]
