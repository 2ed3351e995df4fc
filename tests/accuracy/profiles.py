"""The figures of one profile of metrics. In: a profile and sets of recordings. Out: one JSON object per set on standard output.

A profile is what a cluster shows as people run it:

``helm``
    The official chart's switches: consumer metrics are scraped, the admin API is read.
``defaults-with-admin``
    The broker's own defaults: no consumer metrics. The admin API is read: limits, and the stats that were requested in the meantime.
``defaults-without-admin``
    The broker's own defaults, and no admin API.

``python -m tests.accuracy.profiles helm`` judges the development set; ``--set`` names others, ``--misses`` lists what was not right.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from tests.accuracy.figures import profile_figures
from tests.accuracy.recorded import SETS

#: Name of a profile to the evidence that it leaves.
PROFILES: dict[str, str] = {
    "helm": "full",
    "defaults-with-admin": "no consumer metrics",
    "defaults-without-admin": "neither",
}


def summary(set_name: str, profile: str, *, misses: bool = False) -> dict[str, Any]:
    """What a target is compared with, of one set under one profile."""
    part = profile_figures(set_name, PROFILES[profile])
    ours = part["ours"]
    found = {
        "set": set_name,
        "profile": profile,
        "windows": part["windows"],
        "macro_f1": round(ours["cause"]["macro_f1"], 4),
        "side_right_when_answered": _share(ours["side"]["right_when_answered"]),
        "unknown": _share(ours["cause"]["unknown"]),
        "limiter_right": _share(part["limiter_right"]),
        "switch_named": _share(part["switch_named"]),
        "healthy_called_throttled": ours["healthy_called_throttled"]["count"],
        "after_change_median_s": part["after_change"]["median_s"],
        "f1": {
            cause: {"windows": one["windows"], "f1": round(one["f1"], 3)}
            for cause, one in ours["cause"]["classes"].items()
            if one["windows"]
        },
    }
    return found | ({"misses": part["misses"]} if misses else {})


def _share(share: dict[str, Any] | None) -> dict[str, Any] | None:
    if share is None or share["value"] is None:
        return None
    return {"value": round(share["value"], 4), "count": share["count"], "of": share["of"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("profile", choices=list(PROFILES))
    parser.add_argument("--set", dest="sets", action="append", choices=list(SETS))
    parser.add_argument("--misses", action="store_true", help="list the states that were not right")
    options = parser.parse_args()
    for name in options.sets or ["development"]:
        print(json.dumps(summary(name, options.profile, misses=options.misses), indent=1))


if __name__ == "__main__":
    main()
