"""The shipped rules. In: nothing. Out: its rules, and the rule of each column of ``signals``."""

from __future__ import annotations

import functools
from pathlib import Path

from throttlescope.ingest.contracts.results import RULE_COLUMNS
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.rules.rule_file import RecordingRule, Rule, read_rule_file

RULES_FILE = Path(__file__).with_name("throttlescope.rules.yml")

#: What a rule's name begins with where the rule is a column of ``signals``.
PREFIX = "throttlescope:"


def load_rules(path: Path = RULES_FILE) -> list[Rule]:
    """The rules of a file in their order; raises as :func:`rule_file.read_rule_file`."""
    return list(read_rule_file(path).rules)


@functools.cache
def column_rules() -> dict[str, RecordingRule]:
    """The shipped rule of each column of ``signals`` that comes from PromQL, in the contract's order.

    Raises
    ------
    InputError
        A rule of a column reads another rule's series: the columns of a minute are evaluated all at once.
    """
    by_name = {rule.name: rule for rule in load_rules() if isinstance(rule, RecordingRule)}
    found = {column: by_name[PREFIX + column] for column in RULE_COLUMNS}
    for rule in found.values():
        chained = sorted(selector.metric_name or str(selector) for selector in rule.selectors
                         if selector.metric_name is None or selector.metric_name in by_name)  # fmt: skip
        if chained:
            raise InputError(
                f"{rule.place}: the rule of a column reads a rule's series",
                got=chained[0],
                expected="metrics that are pulled",
            )
    return found
