"""Recording rules. In: a rules file of Prometheus' own format. Out: its rules, planned and ready to evaluate.

``throttlescope.rules.yml`` is the one shipped file: exported to Prometheus and evaluated over the lake as it stands.
"""

from throttlescope.transforms.rules.load import RULES_FILE, RecordingRule, column_rules, load_rules

__all__ = ["RULES_FILE", "RecordingRule", "column_rules", "load_rules"]
