"""Upstream's corpus on a real Prometheus 3.5 and on ours. In: a checkout of prometheus/prometheus. Out: per eval, who answers it.

The denominator is what the server itself answers as written: the files of a later version hold what 3.5 does not know.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.promql.conformance import tricks
from tests.promql.conformance.notation import Command, Eval, read_file
from tests.promql.conformance.outcome import BAD_DATA, UNSUPPORTED, Outcome, difference, same_but_for_ties
from tests.promql.conformance.promqltest import Engine, OurEngine, ServerEngine, play
from tests.promql.conformance.through_lake import LakeEngine
from tests.promql.conformance.verdict import wrong

FOLDER = Path("promql/promqltest/testdata")
#: Ours compared with the server where both answer: across series Prometheus sums in storage order.
RELATIVE = 1e-12
_INFO = re.compile(r"\binfo\s*\(")


def run(
    folder: Path,
    *,
    only: str = "",
    most: int | None = None,
    laws: bool = True,
    through_lake: bool = False,
    say: Callable[[str], None] = print,
) -> dict:
    """Run the ``.test`` files of a folder, the first ``most`` of them or all; returns what the page and the table are made of."""
    started = time.monotonic()
    files = sorted(path for path in folder.glob("*.test") if only in path.stem)[:most]
    if not files:
        raise SystemExit(f"no .test files in {folder}")
    evals: list[dict] = []
    with ServerEngine() as theirs:
        version = theirs.version()
        for path in files:
            ours = LakeEngine() if through_lake else OurEngine()
            found = list(_file(path, theirs, ours, laws=laws))
            evals += found
            say(_line(path.stem, found))
    return {
        "server": version,
        "through": "lake" if through_lake else "memory",
        "files": len(files),
        "seconds": round(time.monotonic() - started, 1),
        "evals": evals,
    }


def _file(path: Path, theirs: ServerEngine, ours: Engine, *, laws: bool) -> Iterator[dict]:
    for played in play(read_file(path.read_text()), (theirs, ours)):
        one = played.eval
        row = {
            "file": path.stem,
            "line": one.line,
            "text": one.text,
            "kind": "range" if one.step_ms else "instant",
        }
        if played.skipped:
            yield row | {"skipped": played.skipped}
            continue
        real, mine = played.outcomes
        theirs_wrong = wrong(one, real, messages=True)
        if one.must_fail and real.error == BAD_DATA:
            # Every eval can be read by the version that it was written for.
            theirs_wrong = f"not read: {real.message}"
        if isinstance(ours, LakeEngine):
            row |= {"series": ours.series, "shards": ours.shards}
        row |= {
            "info": bool(_INFO.search(one.text)),
            "must_fail": one.must_fail,
            "server": theirs_wrong or "",
            "server_error": real.error,
            "ours": _ours_wrong(one, mine, real) or "",
            "ours_error": mine.error,
            "beside_server": difference(mine, real, RELATIVE) or "",
        }
        if laws and not row["server"]:
            row["laws"] = list(_laws(one, theirs, ours if not row["ours"] else None))
        yield row


def beside_server(
    name: str, commands: Sequence[Command], theirs: ServerEngine, ours: Engine
) -> Iterator[dict]:
    """Rows of evals that expect nothing by themselves: what the server gives is what is expected.

    An eval counts where the server can read its text; one that fails there while it is evaluated has to fail here.
    """
    for played in play(commands, (theirs, ours)):
        one = played.eval
        row = {
            "file": name,
            "line": one.line,
            "text": one.text,
            "kind": "range" if one.step_ms else "instant",
        }
        if played.skipped:
            yield row | {"skipped": played.skipped}
            continue
        real, mine = played.outcomes
        found = difference(mine, real, RELATIVE) or ""
        ties = bool(found) and same_but_for_ties(mine, real)
        yield row | {
            "info": bool(_INFO.search(one.text)),
            "must_fail": False,
            "server": f"not read: {real.message}" if real.error == BAD_DATA else "",
            "server_error": real.error,
            "ours": "" if ties else found,
            "ours_error": mine.error,
            "beside_server": "" if ties else found,
            "ties": ties,
        }


def _ours_wrong(one: Eval, mine: Outcome, real: Outcome) -> str | None:
    found = wrong(one, mine, messages=False)
    if found is None and one.must_fail and mine.error != real.error:
        return f"fails as {mine.error} ({mine.message}), the server as {real.error}"
    return found


def _laws(one: Eval, theirs: ServerEngine, ours: Engine | None) -> Iterator[dict]:
    for variant in tricks.variants(one):
        holds = tricks.broken_law(one, variant, theirs) is None
        broken = tricks.broken_law(one, variant, ours) if ours and holds else None
        yield {
            "law": variant.law,
            "text": variant.text,
            "time_ms": variant.time_ms,
            "server": holds,
            "asked": ours is not None,
            "ours": broken or "",
        }


def counts(evals: list[dict]) -> dict[str, int]:
    """The numbers of a table's line."""
    run_here = [one for one in evals if "skipped" not in one]
    as_written = [one for one in run_here if not one["server"]]
    counted = [one for one in as_written if not one["info"]]
    laws = [law for one in counted for law in one.get("laws", ()) if law["server"] and law["asked"]]
    return {
        "evals": len(evals),
        "skipped": len(evals) - len(run_here),
        "float": len(run_here),
        "server": len(as_written),
        "info": len(as_written) - len(counted),
        "counted": len(counted),
        "ours": sum(not one["ours"] for one in counted),
        "refused": sum(one["ours_error"] == UNSUPPORTED for one in counted),
        "same": sum(not one["beside_server"] for one in run_here if not one["info"]),
        "beside": sum(not one["info"] for one in run_here),
        "laws": len(laws),
        "laws_kept": sum(not law["ours"] for law in laws),
    }


HEAD = f"{'file':<22}{'evals':>7}{'float':>7}{'server':>8}{'-info':>7}{'ours':>7}{'same as server':>17}{'laws kept':>15}"


def _line(name: str, evals: list[dict]) -> str:
    n = counts(evals)
    same, laws = f"{n['same']}/{n['beside']}", f"{n['laws_kept']}/{n['laws']}"
    return f"{name:<22}{n['evals']:>7}{n['float']:>7}{n['server']:>8}{n['counted']:>7}{n['ours']:>7}{same:>17}{laws:>15}"


def report(result: dict) -> Iterator[str]:
    """The table's last line, why evals were skipped, and every difference by file and line."""
    evals = result["evals"]
    yield _line("total", evals)
    reasons: dict[str, int] = {}
    for one in evals:
        if "skipped" in one:
            reasons[one["skipped"]] = reasons.get(one["skipped"], 0) + 1
    yield ""
    yield f"skipped: {', '.join(f'{count} {reason}' for reason, count in sorted(reasons.items()))}"
    yield f"server {result['server']}, {result['seconds']} s"
    run_here = [one for one in evals if "skipped" not in one and not one["info"]]
    missing = [one for one in run_here if not one["server"] and one["ours"]]
    yield f"\n== the server answers as written and we do not: {len(missing)} =="
    for one in (one for one in missing if one["ours_error"] != UNSUPPORTED):
        yield f"{one['file']}.test:{one['line']}  {one['text']}\n      {one['ours'][:400]}"
    others = [one for one in run_here if one["beside_server"] and one not in missing]
    yield f"\n== we differ from the server's own answer otherwise: {len(others)} =="
    for one in (one for one in others if one["ours_error"] != UNSUPPORTED):
        yield f"{one['file']}.test:{one['line']}  {one['text']}\n      {one['beside_server'][:400]}"
    yield "\n== refused by us and answered by the server =="
    yield from _refusals([*missing, *others])
    yield "\n== laws that the server keeps and we do not =="
    for one in run_here:
        for law in one.get("laws", ()):
            if law["ours"]:
                yield f"{one['file']}.test:{one['line']}  {law['law']} at {law['time_ms']}: {law['text']}\n      {law['ours'][:300]}"


def _refusals(evals: list[dict]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for one in evals:
        if one["ours_error"] == UNSUPPORTED:
            what = (one["ours"] or one["beside_server"]).split(" is not supported")[0]
            places.setdefault(what[-60:], []).append(f"{one['file']}:{one['line']}")
    for what, found in sorted(places.items(), key=lambda item: -len(item[1])):
        yield f"{len(found):>5} {what}: {' '.join(found[:8])}{' ...' if len(found) > 8 else ''}"
