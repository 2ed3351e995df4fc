"""A fleet's script on standard output: ``python -m tests.lab.fleet SEED``; without a seed, one line per fleet of the sets."""

from __future__ import annotations

import sys

from tests.lab.fleet.draw import draw
from tests.lab.fleet.sets import FLEET_SETS


def main() -> None:
    """Print fleets."""
    for seed in sys.argv[1:]:
        sys.stdout.write(draw(int(seed)).to_yaml())
    if len(sys.argv) > 1:
        return
    for name, found in FLEET_SETS.items():
        for fleet in found.fleets:
            print(
                f"{name} {fleet.name}: Pulsar {fleet.version}, {fleet.brokers} brokers, {fleet.profile}, {fleet.scrape_interval_s} s,"
                f" {fleet.subscriptions} subscriptions, {fleet.rate_msg:.0f} msg/s, {len(fleet.faults)} faults"
            )


if __name__ == "__main__":
    main()
