"""The diagnosis of Pulsar's performance scenarios. In: a checkout of Pulsar. Out: a result for the page.

Six plays share one broker, each in a namespace of its own; a real Prometheus scrapes it. Every window of five minutes that begins after the
first minute of a play, or after the first minute of a consumer that joins later, is diagnosed and compared with the script by side. A play whose machinery
was not sound (late scrapes, producers behind their schedule) is not judged, nor is a subscription whose backlog contradicts the script: one
that did not grow under a limit (a topic's is not shared evenly) or with slow consumers, or one that grew without. Recordings stay in the cache of parts until all
are judged, so that a run that was interrupted goes on.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from tests.accuracy.recorded import read
from tests.accuracy.signals import signals_of
from tests.judges.checkouts import checkout, checkouts_dir
from tests.judges.scenarios.read import read_load
from tests.judges.scenarios.scale import (
    AS_IT_IS,
    DELIVERED_MSG,
    LIMITED,
    PLAY_S,
    SLOW,
    ScaledPlay,
    different,
    plays_of,
)
from tests.lab.group import Group, run_group
from tests.lab.judge import Outcome
from tests.lab.parts import PartMissing, broker_jars, java_binary, parts_dir, prometheus_binary
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.apply import WINDOW_MS
from throttlescope.models.diagnosis.verdict import Verdict, diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, by_subscription, windows

REPOSITORY, SCENARIOS = "apache/pulsar", Path("tests/performance/scenarios")
AT_ONCE = 6
#: Entries by which a backlog grows at least under a limit; and below what it stays without: so many entries, or seconds of what is published.
GROWS_LEAST, STAYS_BELOW, STAYS_BELOW_S = 200, 200, 10
_JUDGED = "judged"
WORDS = {AS_IT_IS: "as they are", LIMITED: "with a limit", SLOW: "with slow consumers"}


@dataclass(frozen=True)
class DiagnosedWindow:
    """What the diagnosis says of a window of a play."""

    play: ScaledPlay
    verdict: Verdict

    @property
    def word(self) -> str:
        """Right, unknown or wrong, by side."""
        if self.verdict.side == "unknown":
            return "unknown"
        return "right" if self.verdict.side == self.play.side else "wrong"


def run(loads: int | None = None) -> dict:
    """Judge the first ``loads`` different loads, by name, or all."""
    scenarios, version, sources = source()
    found = different([load for file in sorted(scenarios.glob("*.yaml")) if (load := read_load(file))])
    chosen = list(found)[:loads]
    java_binary(), prometheus_binary(), broker_jars()
    out_dir = parts_dir() / "pulsar-scenarios"
    if (out_dir / _JUDGED).exists():
        shutil.rmtree(out_dir)
    plays = [play for number, load in enumerate(chosen) for play in plays_of(load, number)]
    notes, busy = _record(plays, out_dir)
    answers: list[DiagnosedWindow] = []
    for play in plays:
        folder = out_dir / play.scenario.name
        if (folder / "recording.json").exists():
            found_in_play, contradicts = judged(play, folder)
            answers += found_in_play
            notes += contradicts
    result = result_of(plays, answers, notes, busy)
    result["details"] += [
        f"the same load when scaled: {load.name}: {', '.join(names)}"
        for load, names in found.items()
        if names
    ]
    (out_dir / _JUDGED).touch()
    return {"version": version, **result, "sources": sources}


def source() -> tuple[Path, str, list[str]]:
    """The folder of scenarios, its version, and where its files are from.

    Without a checkout it may be a folder with these files alone and a file ``VERSION``: a line for the whole, then one for each file.

    Raises
    ------
    PartMissing
        With the command that makes a checkout.
    """
    root = checkouts_dir() / REPOSITORY.rpartition("/")[2]
    alone = root / "VERSION"
    if alone.exists():
        version, *sources = alone.read_text().splitlines()
    else:
        version, sources = checkout(REPOSITORY).version, []
    if not (root / SCENARIOS).is_dir():
        raise PartMissing(f"{root} has no {SCENARIOS}: it is older than Pulsar's scenarios")
    return root / SCENARIOS, version, sources


def _record(plays: list[ScaledPlay], out_dir: Path) -> tuple[list[str], list[float]]:
    """Play what has no recording yet; why plays do not count, and the machine's load, minute by minute."""
    notes: list[str] = []
    busy_file = out_dir / "load_average.json"
    busy: list[float] = json.loads(busy_file.read_text()) if busy_file.exists() else []
    minutes: set[tuple[str, int]] = set()

    def done(outcome: Outcome) -> None:
        print(f"{outcome.scenario.name}: {outcome.status} {'; '.join(outcome.reasons)}", flush=True)
        if outcome.status != "kept":
            notes.append(f"{outcome.scenario.name} {outcome.status}: {'; '.join(outcome.reasons)}")

    files = out_dir / "scenarios"
    files.mkdir(parents=True, exist_ok=True)
    left = [play.scenario for play in plays if not (out_dir / play.scenario.name / "recording.json").exists()]
    for first in range(0, len(left), AT_ONCE):
        open_plays = left[first : first + AT_ONCE]
        texts = {}
        for scenario in open_plays:
            texts[scenario.name] = files / f"{scenario.name}.yaml"
            body = scenario.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
            texts[scenario.name].write_text(yaml.safe_dump({"format": 1, **body}, sort_keys=False))
        group = Group(f"pulsar-{first // AT_ONCE + 1}", tuple(open_plays))

        def tick(at_s: float, name: str = group.name) -> None:
            if at_s > 0 and (name, int(at_s // 60)) not in minutes:
                minutes.add((name, int(at_s // 60)))
                busy.append(round(os.getloadavg()[0], 2))
                busy_file.write_text(json.dumps(busy))

        # Servers get no priority over what else the machine does.
        run_group(
            group, texts, out_dir, out_dir / "servers" / group.name,
            say=lambda line: print(line, flush=True), tick=tick, done=done, count_cpu=False, priority=0,
        )  # fmt: skip
    return notes, busy


def judged(play: ScaledPlay, folder: Path) -> tuple[list[DiagnosedWindow], list[str]]:
    """Diagnose every settled window of a recorded play; and which subscriptions are left out."""
    recorded = read(folder)
    start_ms, end_ms = recorded.about["start_ms"], recorded.about["end_ms"]
    left_out = {}
    for one in recorded.series:
        name = one.labels.get("subscription")
        if one.labels["__name__"] != BACKLOG or name not in play.settled_s:
            continue
        since = one.timestamps_ms >= start_ms + 1000 * play.settled_s[name]
        if reason := contradicts(play, one.values[since]):
            left_out[one.labels["topic"], name] = (
                f"{play.scenario.name}: {one.labels['topic']}#{name} is not judged: {reason}"
            )
    answers = [
        answer
        for answer in answers_of(play, signals_of(recorded), start_ms, end_ms)
        if (answer.verdict.key.topic, answer.verdict.key.subscription) not in left_out
    ]
    return answers, list(left_out.values())


def contradicts(play: ScaledPlay, backlog: np.ndarray) -> str | None:
    """Why a settled subscription's backlog, scrape by scrape, is not what the script makes it; None where it is."""
    if not len(backlog):
        return "it has no backlog"
    if play.variant != AS_IT_IS:
        grew = backlog[-1] - backlog[0]
        return None if grew >= GROWS_LEAST else f"its backlog grew by {grew:,.0f} entries only"
    below = max(STAYS_BELOW, STAYS_BELOW_S * play.scenario.producers[0].rate_msg)
    return (
        None
        if backlog.max() < below
        else f"its backlog reached {backlog.max():,.0f} entries without a reason"
    )


def answers_of(play: ScaledPlay, signals: pa.Table, start_ms: int, end_ms: int) -> Iterator[DiagnosedWindow]:
    """Diagnose the windows that lie between a minute after a play's start, or a consumer's, and its end."""
    for key, mine in by_subscription(signals):
        if key.subscription not in play.settled_s:
            continue
        first_ms = start_ms + round(1000 * play.settled_s[key.subscription])
        for window in windows(
            key,
            MinuteColumns(mine),
            window_ms=WINDOW_MS,
            every_ms=MINUTE_MS,
            first_start_ms=first_ms,
            end_ms=end_ms,
        ):
            if window.start_ms >= first_ms and window.end_ms <= end_ms:
                yield DiagnosedWindow(play, diagnose(window))


def result_of(
    plays: list[ScaledPlay], answers: list[DiagnosedWindow], notes: list[str], busy: list[float]
) -> dict:
    """The figure and the details of a run."""
    parts = []
    for variant, words in WORDS.items():
        mine = [answer for answer in answers if answer.play.variant == variant]
        counts = Counter(answer.word for answer in mine)
        part = f"{words}: {counts['right']:,} of {len(mine):,} windows right, {counts['unknown']:,} unknown, {counts['wrong']:,} wrong"
        if variant == LIMITED:
            named = sum(answer.verdict.limiter == answer.play.limiter for answer in mine)
            part += f", the limiter right in {named:,}"
        named = sum(answer.verdict.cause == answer.play.cause for answer in mine)
        part += f", the cause right in {named:,}"
        parts.append(part)
    judged_plays = {answer.play.scenario.name for answer in answers}
    loads = {play.load.name for play in plays}
    return {
        "figure": f"{len(loads)} loads, {len(judged_plays)} of {len(plays)} plays judged; by side, {'; '.join(parts)}; on two cores that others used as "
        f"well, load average {min(busy, default=0):.1f} to {max(busy, default=0):.1f}",
        "rule": f"{DELIVERED_MSG} messages per second to all applications of a load, {PLAY_S} s each, {AT_ONCE} plays at once on one broker",
        "details": [*(line for play in plays for line in _lines(play, answers)), *notes],
    }


def _lines(play: ScaledPlay, answers: list[DiagnosedWindow]) -> Iterator[str]:
    mine = [answer for answer in answers if answer.play == play]
    if not mine:
        return
    counts = Counter(answer.word for answer in mine)
    causes = Counter((answer.verdict.cause, answer.verdict.limiter or "") for answer in mine)
    named = ", ".join(
        f"{cause} {limiter}".strip() + f" {count}" for (cause, limiter), count in causes.most_common()
    )
    backlog = max(answer.verdict.backlog_entries or 0 for answer in mine)
    yield (
        f"{play.scenario.name} (true: {play.cause} {play.limiter or ''}".strip()
        + f"): right {counts['right']}, unknown {counts['unknown']}, wrong {counts['wrong']}; {named}; largest backlog of a subscription {backlog:,.0f}"
    )
    told = Counter(
        f"{answer.word}, {answer.verdict.side}, {answer.verdict.cause}: {answer.verdict.because.stored}"
        for answer in mine
        if answer.word != "right"
    )
    for sentence, count in told.most_common():
        yield f"{play.scenario.name}: {count} {sentence}"
