"""Limiters in a live Prometheus. In: the exported limits and the signals. Out: rules for use / limit, throttle events, and which limiter binds.

The PromQL of ``models/diagnosis/limiters.py`` and of the truth table's main rows. A limiter binds where its limit is used up and
its counter increases as fast as that of a limiting limiter; near the limit the counter has to be informative, or the consumers'
queues have to be empty.
"""

from __future__ import annotations

from throttlescope.app.rules_export.labels import KEY, TOPIC, normalized
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import ExportedRecording
from throttlescope.app.rules_export.signal_rules import ENTRY_MEMORY, column_rule
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.rules.load import PREFIX

LIMITER = f"{KEY}, level, unit"
_FACTS = f"{LIMITER}, period_s, events_informative"
_OUT = {"msg": "pulsar_out_messages_total", "bytes": "pulsar_out_bytes_total"}

USE, LIMIT, RHO = f"{PREFIX}dispatch_use", f"{PREFIX}dispatch_limit", f"{PREFIX}rho"
OWN_RHO, BINDS = f"{PREFIX}own_rho", f"{PREFIX}limiter_binds_rho"
_FULL, _EMPTY = f"{PREFIX}consumers_queue_full", f"{PREFIX}consumers_queue_empty"


def limiter_rules(options: ExportOptions) -> list[ExportedRecording]:
    """The rules, each after the rules that it reads."""
    return [*_limits(options), *_use(options), *_rho(options), *_events(options), *_binding(options)]


def events_rate(options: ExportOptions) -> str:
    """Name of the rule of throttled reads per second."""
    return f"{PREFIX}throttled_events_rate_{options.window}"


def _limits(options: ExportOptions) -> list[ExportedRecording]:
    as_set = f"{PREFIX}dispatch_limit_set"
    relative = [
        f'max by ({_FACTS}) (\n  {as_set}{{relative_to_publish="true", unit="{unit}"}}\n'
        f"    + on ({KEY}) group_left ()\n  {column_rule(f'in_{unit}_rate_5m', options)}\n)"
        for unit in UNITS
    ]
    return [
        ExportedRecording(
            as_set,
            f'max by ({_FACTS}, relative_to_publish) ({LIMIT_METRIC}{{counts=""}} < Inf)\n  or\n'
            f'max by ({_FACTS}, relative_to_publish) ({LIMIT_METRIC}{{counts="entries"}} < Inf)\n'
            f"  * on ({KEY}) group_left ()\nlast_over_time({PREFIX}messages_per_entry[{ENTRY_MEMORY}])",
            why=sentence("exported_rules.rule.dispatch_limit_set"),
        ),
        ExportedRecording(
            LIMIT,
            "\n  or\n".join([f'max by ({_FACTS}) ({as_set}{{relative_to_publish=""}})', *relative]),
            why=sentence("exported_rules.rule.dispatch_limit"),
        ),
    ]


def _use(options: ExportOptions) -> list[ExportedRecording]:
    found = []
    for unit in UNITS:
        own = column_rule(f"out_{unit}_rate_5m", options)
        topic = f"sum by ({TOPIC}) ({own})\n  * on ({TOPIC}) group_right ()\ngroup by ({KEY}) ({own})"
        broker = normalized(
            "max",
            KEY,
            f"group by ({KEY}, instance) (pulsar_subscription_back_log)\n"
            "  * on (cluster, instance) group_left ()\n"
            "sum by (cluster, instance) (\n"
            f'  rate({_OUT[unit]}{{subscription!="", consumer_name="", consumer_id=""}}[{options.window}])\n)',
            options,
        )
        for level, expr in (("subscription", own), ("topic", topic), ("broker", broker)):
            # Needed only where a limit is set.
            limited = f'{expr}\n  and on ({KEY})\n{LIMIT}{{level="{level}", unit="{unit}"}}'
            found.append(ExportedRecording(USE, limited, {"level": level, "unit": unit}))
    found[0] = ExportedRecording(
        USE,
        found[0].expr,
        found[0].labels,
        sentence("exported_rules.rule.dispatch_use"),
    )
    return found


def _rho(options: ExportOptions) -> list[ExportedRecording]:
    own = [
        f"{column_rule(f'out_{unit}_rate_5m', options)}\n  / on ({KEY}) group_right ()\n"
        f'{LIMIT}{{level!="subscription", unit="{unit}"}}'
        for unit in UNITS
    ]
    return [
        ExportedRecording(
            RHO,
            f"{USE}\n  / on ({LIMITER}) group_right ()\n{LIMIT}",
            why=sentence("exported_rules.rule.rho"),
        ),
        ExportedRecording(
            OWN_RHO,
            "\n  or\n".join(own),
            why=sentence("exported_rules.rule.own_rho"),
        ),
    ]


def _events(options: ExportOptions) -> list[ExportedRecording]:
    return [
        ExportedRecording(
            events_rate(options),
            normalized(
                "sum",
                f"{KEY}, level",
                "label_replace(\n  sum by (cluster, namespace, topic, partition, subscription, reason) (\n"
                f"    rate(pulsar_subscription_dispatch_throttled_{unit}_events[{options.window}])\n  )\n"
                ', "level", "$1", "reason", "(.+)")',
                options,
            )
            + " > 0",
            {"unit": unit},
        )
        for unit in UNITS
    ]


def _binding(options: ExportOptions) -> list[ExportedRecording]:
    events = events_rate(options)
    often = f"{PREFIX}limiter_lowers_plans_rho"
    neighbours = f"({OWN_RHO} < {t.SHARED_USE_SHARE:g} and on ({KEY}) {_FULL})"
    at, near = f"{t.RHO_AT_LIMIT:g}", f"{t.RHO_NEAR_LIMIT:g}"
    return [
        ExportedRecording(
            often,
            f'(\n  {RHO}{{period_s="1"}}\n    and on ({LIMITER})\n'
            f"  ({events} >= on ({LIMITER}) {t.EVENTS_PER_PERIOD:g} * clamp_max({RHO}, 1))\n    or\n"
            f'  {RHO}{{period_s!="1", period_s=~"{_periods(options)}"}}\n    and on ({LIMITER})\n  {events}\n)\n'
            f"  < {t.RHO_NOT_IN_FORCE:g}",
            why=sentence("exported_rules.rule.throttling_limiters"),
        ),
        ExportedRecording(
            BINDS,
            f"(\n  {often} >= {at}\n    or\n"
            f'  ({often}{{events_informative="true"}} >= {near} unless on ({KEY}) {_FULL})\n    or\n'
            f"  ({often} >= {near} and on ({KEY}) {_EMPTY})\n)\n"
            f"  and on ({KEY})\n{PREFIX}backlog_held_entries\n"
            f"  unless on ({LIMITER})\n{neighbours}",
            why=sentence("exported_rules.rule.limiter_binds"),
        ),
        ExportedRecording(
            f"{PREFIX}limiter_open_rho",
            f"(\n  ({RHO} >= {at} and on ({LIMITER}) {events}) unless on ({KEY}) {_FULL}\n    or\n"
            f'  ({often}{{events_informative="true"}} >= {near})\n    or\n'
            f"  ({often} >= {near}) unless on ({KEY}) {_FULL}\n    or\n"
            f'  ({often}{{events_informative="true"}} >= {t.RHO_POSSIBLE:g}) unless on ({KEY}) {_FULL}\n)\n'
            f"  unless on ({LIMITER})\n{neighbours}",
            why=sentence("exported_rules.rule.limiter_open"),
        ),
        ExportedRecording(
            f"{PREFIX}limiters_known",
            f"count by ({KEY}) (group by ({LIMITER}) ({LIMIT_METRIC}))",
            why=sentence("exported_rules.rule.limiters_known", limiters=len(LEVELS) * len(UNITS)),
        ),
    ]


def _periods(options: ExportOptions) -> str:
    """Periods of at most half the window, as a regular expression."""
    longest = str(options.window_ms // 2000)
    head = [f"{longest[:n]}[0-{int(digit) - 1}]" + "[0-9]" * (len(longest) - n - 1)
            for n, digit in enumerate(longest) if int(digit) > (n == 0)]  # fmt: skip
    head = [one.replace("[0-", "[1-", 1) if one.startswith("[0-") else one for one in head]
    shorter = [f"[1-9]{'[0-9]' * n}" for n in range(len(longest) - 1)]
    return "|".join([*shorter, *head, longest])
