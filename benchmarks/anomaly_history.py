"""What anomaly detection would do with less history than it asks for.

In: how many subscriptions per seed. Out: a table on standard output.

Generated traffic of the seeds that rules are chosen on (``benchmarks.anomalies.TUNED_ON``); its first event is on day 15. Days 15 to 21 are judged, with
the days before them cut off, by the rules as they are and by stricter ones.

    python -m benchmarks.anomaly_history --subscriptions 20
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from benchmarks.anomalies import TUNED_ON
from tests.models.anomaly import detectors
from tests.models.anomaly.scoring import Score
from tests.models.anomaly.traffic import DAY, FIRST_MS, Traffic, subscription
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS
from throttlescope.models.anomaly.calendar import calendar_of
from throttlescope.models.anomaly.rules import RULES, AnomalyRules
from throttlescope.models.anomaly.series import judge
from throttlescope.models.anomaly.subscription import SIDES

#: Days that are judged, the last one excluded.
FIRST_DAY, END_DAY = 15, 22
#: Days of history before the first judged day.
HISTORIES = (15, 11, 8, 7, 5, 3)
#: Stricter rules, tried with :data:`SHORT` days of history.
SHORT = 8
STRICTER = {
    "alarm level times 8": {"alarms": tuple(8 * level for level in RULES.alarms)},
    "6.5 spreads forgiven instead of 3.5": {"slacks": (6.5,)},
    "6.5 spreads, alarm level times 4": {"slacks": (6.5,), "alarms": tuple(4 * level for level in RULES.alarms)},
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, default=20, help="subscriptions per seed")
    options = parser.parse_args()
    tried = [(f"{days} days of history", days, RULES) for days in HISTORIES]
    tried += [(f"{SHORT} days, {name}", SHORT, replace(RULES, **more)) for name, more in STRICTER.items()]
    scores = {name: Score() for name, *_ in tried}
    for seed in TUNED_ON:
        for number in range(options.subscriptions):
            traffic = subscription(seed, number)
            truths = [truth for truth in traffic.truths if FIRST_DAY * DAY <= truth.start < END_DAY * DAY]
            for name, days, rules in tried:
                scores[name].add(alarms(traffic, days, rules), truths, (END_DAY - FIRST_DAY) * DAY)
    print("| rules | events found | false alarms a week | F1 |\n|---|---:|---:|---:|")
    for name, score in scores.items():
        print(f"| {name} | {score.found} of {score.events} | {score.false_per_week:.2f} | {score.f1:.2f} |")


def alarms(traffic: Traffic, history_days: int, rules: AnomalyRules) -> list[int]:
    """Alarms of the judged days, with so many days before them and the rules' learning time no longer than these."""
    start, end = (FIRST_DAY - history_days) * DAY, END_DAY * DAY
    rules = replace(rules, learning_ms=min(rules.learning_ms, history_days * DAY_MS))
    calendar = calendar_of(
        FIRST_MS + start * MINUTE_MS, FIRST_MS + end * MINUTE_MS, traffic.zone, rules.weeks
    )
    unjudged = detectors.after_marks(traffic.marks, rules.mark_minutes)[start:end]
    found = []
    for name, counts in traffic.counts.items():
        sides = SIDES[detectors.SERIES[name]]
        found += judge(counts[start:end], calendar, history_days, rules, sides=sides, unjudged=unjudged)[0]
    present, covered = traffic.present[start:end], traffic.covered[start:end]
    found += detectors.silences_of(present, covered, calendar, history_days, rules, unjudged=unjudged)
    spans = [(one.start + start, one.alarm + start, one.end + start) for one in found]
    return [at for at in detectors.incidents(spans) if FIRST_DAY * DAY <= at < end]


if __name__ == "__main__":
    main()
