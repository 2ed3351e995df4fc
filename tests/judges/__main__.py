"""Runs judges. In: their keys, or none for all. Out: recorded results, the page, and a line for each that cannot be had."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime

from tests.judges import page
from tests.judges.registry import JUDGES
from tests.lab.parts import PartMissing


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.judges", description=__doc__)
    parser.add_argument("keys", nargs="*", metavar="JUDGE", help=", ".join(judge.key for judge in JUDGES))
    parser.add_argument(
        "--most",
        type=int,
        help="operations or files at most; what was cut short is not recorded unless --record",
    )
    parser.add_argument("--record", action="store_true", help="record what was cut short, too")
    parser.add_argument("--page", action="store_true", help="only write the page from the recorded results")
    options = parser.parse_args()
    known = {judge.key for judge in JUDGES}
    unknown = sorted(set(options.keys) - known)
    if unknown:
        parser.error(f"unknown judges: {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    if not options.page:
        for judge in JUDGES:
            if not options.keys or judge.key in options.keys:
                _judge(judge, options)
    page.write()


def _judge(judge, options) -> None:
    if judge.run is None:
        print(f"{judge.key}: {judge.missing}", flush=True)
        return
    try:
        result = judge.run(options.most)
    except PartMissing as error:
        print(f"{judge.key}: cannot be had: {error}", flush=True)
        return
    print(f"{judge.key}: {result['figure']}", flush=True)
    if options.most is None or options.record:
        page.RESULTS.mkdir(exist_ok=True)
        text = json.dumps({"date": str(datetime.now(UTC).date()), **result}, indent=1)
        (page.RESULTS / f"{judge.key}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
