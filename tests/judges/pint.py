"""pint as a judge of the exported rules. In: a ``pint`` program. Out: a result for the page.

It reads the file that ``throttlescope rules export`` writes: first alone, then with a Prometheus 3.5 that has loaded the file and has
the series of recordings of a real broker, and what the rules make of them, as if they had just been scraped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from tests.app.live_rules import Recorded, recorded
from tests.judges.checkouts import checkout
from tests.lab.parts import PartMissing
from tests.lab.prometheus import running_prometheus, write_arrays
from tests.transforms.rules_in_memory import results_of, scheduled
from throttlescope.app.rules_export.export import export_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.promql.source import Series

#: One after another, so that equal series of two recordings do not meet. Between them they have limits of each level, slow consumers and
#: none, and replicators.
RECORDINGS = (
    "slow-limit-queue", "no-consumers-leave", "europe-west", "topic-bytes-large", "broker-msg-large",
    "geo/development/geo-limits-1", "sub-msg-1000",
)  # fmt: skip
_LINT_S = 600
#: What the console says of a series: that it was never there, or not always.
_OF_SERIES = re.compile(
    r"(?:(?:didn't have any series for the|has the) `[^`]+` metric[^.]*|The `[^`]+` metric (?:with label `[^`]+` )?is only sometimes present)"
)
_MARGIN = re.compile(r"(?m)^ *(?:\d+(?:-\d+)?)? *\|")


def run(recordings: int | None = None) -> dict:
    """Lint the exported rules alone, and next to a Prometheus with the first ``recordings`` recordings or all."""
    pint = pint_binary()
    with tempfile.TemporaryDirectory(prefix="throttlescope-pint-") as folder:
        root = Path(folder)
        (rules, _) = export_rules(root / "rules", ExportOptions(scrape_interval_ms=15_000))
        alone, _ = lint(pint, rules.path, root)
        with running_prometheus(rule_files=[rules.path], scrape_interval_s=15) as server:
            end_ms = int(time.time() * 1000) // MINUTE_MS * MINUTE_MS
            for name in RECORDINGS[::-1][:recordings]:
                found = recorded(name)
                _write(server.url, rules.path, found, end_ms - found.end_ms)
                end_ms -= found.end_ms + 10 * MINUTE_MS
            online, told = lint(pint, rules.path, root, server.url)
    return {
        "version": _version(pint),
        "figure": f"offline {_counted(alone)}; with a Prometheus that has {len(RECORDINGS[:recordings])} recordings {_counted(online)}",
        "details": [
            *(
                f"{where}: line {one['lines'][0]}: {one['severity']} of {one['reporter']}: {one['problem']}"
                for where, found in (("offline", alone), ("online", online))
                for one in found
            ),
            *(f"{count} {sentence}" for sentence, count in told.most_common()),
        ],
    }


def pint_binary() -> Path:
    """The program: what ``THROTTLESCOPE_PINT`` names, or ``pint`` in ``PATH``.

    Raises
    ------
    PartMissing
        There is none.
    """
    found = os.environ.get("THROTTLESCOPE_PINT") or shutil.which("pint")
    if not found or not Path(found).exists():
        raise PartMissing(
            "pint is neither in PATH nor named by THROTTLESCOPE_PINT: https://cloudflare.github.io/pint"
        )
    return Path(found)


def _version(pint: Path) -> str:
    said = subprocess.run([str(pint), "version"], capture_output=True, text=True, check=True).stdout.strip()
    # A program that was built from a checkout does not know its version.
    return f"source of {checkout('cloudflare/pint').version}" if "unknown" in said else said


def lint(pint: Path, rules: Path, folder: Path, url: str = "") -> tuple[list[dict], Counter[str]]:
    """What pint reports of a rules file, each one once for each rule; and what it prints of series, with how often.

    Parameters
    ----------
    folder : Path
        For its configuration and its report.
    url : str
        Of a Prometheus; without it only checks that need none.
    """
    config, report = folder / "pint.hcl", folder / "report.json"
    config.write_text(f'prometheus "lab" {{\n  uri = "{url}"\n  timeout = "60s"\n}}\n' if url else "")
    report.unlink(missing_ok=True)
    options = ["--no-color", "--show-duplicates", "--config", str(config), *([] if url else ["--offline"])]
    done = subprocess.run(
        [str(pint), *options, "lint", "--json", str(report), str(rules)],
        capture_output=True,
        text=True,
        timeout=_LINT_S,
        check=False,
    )
    if not report.exists():
        raise PartMissing(f"pint wrote no report: {done.stderr.strip()[-400:]}")
    text = " ".join(_MARGIN.sub("", done.stdout + done.stderr).split())
    return json.loads(report.read_text()) or [], Counter(_OF_SERIES.findall(text))


def _counted(found: list[dict]) -> str:
    kinds = Counter((one["severity"].lower(), one["reporter"]) for one in found)
    named = ", ".join(f"{count} {severity} of {check}" for (severity, check), count in sorted(kinds.items()))
    return f"{len(found)} problems" + (f" ({named})" if named else "")


def _write(url: str, rules: Path, found: Recorded, shift_ms: int) -> None:
    made, _ = results_of(scheduled(rules, MINUTE_MS), found.series, 0, found.end_ms)
    write_arrays(url, (_shifted(one, shift_ms) for one in [*found.series, *made]))


def _shifted(one: Series, shift_ms: int) -> tuple[dict[str, str], np.ndarray, np.ndarray]:
    return dict(one.labels), one.timestamps_ms + shift_ms, one.values
