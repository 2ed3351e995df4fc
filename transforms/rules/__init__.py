"""Rules. In: a rules file of Prometheus' own format. Out: its rules, checked; their series over a range of a lake.

``throttlescope.rules.yml`` is the one shipped file: exported to Prometheus and evaluated over the lake unchanged.
"""

from throttlescope.transforms.rules.load import RULES_FILE, column_rules, load_rules
from throttlescope.transforms.rules.rule_file import (
    AlertingRule,
    Group,
    RecordingRule,
    Rule,
    RuleFile,
    read_rule_file,
)

__all__ = [
    "RULES_FILE",
    "AlertingRule",
    "Group",
    "RecordingRule",
    "Rule",
    "RuleFile",
    "column_rules",
    "load_rules",
    "read_rule_file",
]
