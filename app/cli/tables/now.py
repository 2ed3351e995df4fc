"""A diagnosis of one topic. In: a `NowAnswer`. Out: the cause of each subscription partition and its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness, write_result
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.topic_name import is_scalable, part_word
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import verdict_in_language
from throttlescope.models.messages.units import count, duration_text, minute_text, number, percent, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.diagnose_now import NowAnswer
    from throttlescope.models.diagnosis.neighbours import QuotaUse

#: Subscription partitions with something to say that are shown whole; the others are in JSON.
_SHOWN = 10
_EVIDENCE = 6
_HEALTHY = 8


def print_now(answer: NowAnswer, *, now_ms: int) -> None:
    """Print the cause of each subscription partition, the largest backlog first; healthy ones on one line."""
    rows = sorted(
        answer.verdicts.to_pylist(), key=lambda row: (-(row["backlog_entries"] or 0), row["partition"])
    )
    shown = [row for row in rows if row["cause"] != "healthy" or answer.question.subscription is not None]
    lines = [f"{answer.question.topic} (cluster {answer.cluster})"]
    if not rows:
        lines.append(sentence("tables.now.no_window"))
    for rolled in answer.partitions:
        if rolled.worst["partition"] >= 0:
            lines.append(f"#{rolled.subscription}: {rolled.text}")
    lines += _per_segment(answer)
    for row in shown[:_SHOWN]:
        lines += ["", *_lines_of(row, answer)]
    if len(shown) > _SHOWN:
        lines += ["", sentence("tables.more_in_json", more=len(shown) - _SHOWN)]
    healthy = [row for row in rows if row not in shown]
    if healthy:
        named = ", ".join(_short(row) for row in healthy[:_HEALTHY])
        if len(healthy) > _HEALTHY:
            more = len(healthy) - _HEALTHY
            lines += ["", sentence("tables.now.healthy_more", subscriptions=named, more=more)]
        else:
            lines += ["", sentence("tables.now.healthy", subscriptions=named)]
    lines.append("")
    lines += [sentence("label.note_line", text=note) for note in answer.notes]
    versions = ", ".join(sorted({row["rules_version"] for row in rows})) or "-"
    lines.append(
        sentence(
            "tables.now.basis",
            freshness=freshness(answer.newest_ms, now_ms),
            samples=count(answer.samples),
            series=count(answer.series),
            requests=answer.source_requests,
            admin_requests=answer.admin_requests,
            took_s=answer.took_s,
            rules=versions,
        )
    )
    print("\n".join(visible(line) for line in lines))


def _per_segment(answer: NowAnswer) -> list[str]:
    """The limits of a scalable topic, which count in each of its segments."""
    if not is_scalable(answer.question.topic):
        return []
    segments = len({row["partition"] for row in answer.verdicts.to_pylist()})
    newest = {
        (row["subscription"], row["level"]): row
        for row in sorted(answer.limits.to_pylist(), key=lambda row: row["observed_ms"])
        if row["level"] != "broker"
    }
    found = dict.fromkeys(
        sentence("tables.now.per_segment", level=level, limit=_limit(row, unit), segments=segments)
        for (_, level), row in newest.items()
        for unit in UNITS
        if row[f"rate_{unit}"]
    )
    return list(found) or [sentence("tables.now.no_limit_per_segment", segments=segments)]


def _limit(row: Mapping[str, Any], unit: str) -> str:
    counted = "B" if unit == "bytes" else row["counts"]
    return f"{count(row[f'rate_{unit}'])} {counted} / {row['period_s']} s"


def _lines_of(row: Mapping[str, Any], answer: NowAnswer) -> list[str]:
    key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
    limiter = f" by {row['limiter']}" if row["limiter"] else ""
    variant = f", {row['variant']}" if row["variant"] else ""
    sure = sentence("label.sure_share", share=percent(row["confidence"])) if row["confidence"] else ""
    row = verdict_in_language(row)
    lines = [
        f"{subscription_text(row)}: {row['cause']}{limiter}{variant}{sure}",
        _line(sentence("label.window_line"), _window(row)),
    ]
    if row["why"]:
        lines.append(_line(sentence("label.why_line"), row["why"]))
    lines += [
        f"  also       {one['cause']} ({percent(one['confidence'])}): {one['why']}"
        for one in row["contributing"] or ()
    ]
    weighed = [one for one in row["evidence"] if one["weight"] != "neutral"] or row["evidence"]
    lines += [f"  {one['weight']:<10} {one['text']}" for one in weighed[:_EVIDENCE]]
    if key in answer.slowest:
        lines.append(_line(sentence("label.consumers_line"), answer.slowest[key].text))
    if key in answer.neighbours:
        lines.append(_line(sentence("label.shared_line"), _uses(answer.neighbours[key])))
    lines += [
        _line(
            sentence("label.missing_word"), sentence("label.missing_line", what=one["what"], fix=one["fix"])
        )
        for one in row["missing_evidence"] or ()
    ]
    earlier = _earlier(answer.windows.to_pylist(), key)
    if earlier:
        lines.append(_line(sentence("label.before_line"), earlier))
    return lines


def _line(word: str, text: str) -> str:
    return f"  {word:<10} {text}"


def _window(row: Mapping[str, Any]) -> str:
    start, end = minute_text(row["window_start_ms"]), minute_text(row["window_end_ms"])[11:]
    backlog, naive = count(row["backlog_entries"]), row["naive_side"]
    growth = row["backlog_growth_entries"]
    if growth is None:
        return sentence("tables.now.window", start=start, end=end, backlog=backlog, naive=naive)
    grown = f"{'+' if growth >= 0 else ''}{count(growth)}"
    return sentence(
        "tables.now.window_grown", start=start, end=end, backlog=backlog, grown=grown, naive=naive
    )


def _uses(uses: Sequence[QuotaUse]) -> str:
    shown = [
        f"#{use.key.subscription} {'-' if use.use_per_s is None else number(use.use_per_s)}/s ({percent(use.share)})"
        for use in uses[:5]
    ]
    return ", ".join(shown) + (f" and {len(uses) - 5} more" if len(uses) > 5 else "")


def _earlier(rows: Sequence[Mapping[str, Any]], key: SubscriptionKey) -> str:
    """Causes of the windows on the grid, oldest first, those that follow each other made one."""
    mine = [row for row in rows if all(row[name] == getattr(key, name) for name in SubscriptionKey._fields)]
    runs: list[list[Any]] = []
    for row in sorted(mine, key=lambda row: row["window_start_ms"]):
        cause = row["cause"] + (f" ({row['limiter']})" if row["limiter"] else "")
        if runs and runs[-1][0] == cause and row["window_start_ms"] <= runs[-1][2]:
            runs[-1][2] = row["window_end_ms"]
        else:
            runs.append([cause, row["window_start_ms"], row["window_end_ms"]])
    return " > ".join(f"{cause} {duration_text(end_ms - start_ms)}" for cause, start_ms, end_ms in runs)


def _short(row: Mapping[str, Any]) -> str:
    partition = "" if row["partition"] < 0 else f"{part_word(row['topic'])} {row['partition']} "
    return f"{partition}#{row['subscription']}"


def write_now(answer: NowAnswer, options: CommandOptions) -> None:
    """Write a diagnosis in the requested format."""
    from throttlescope.app.services.diagnose_now.now_document import document

    write_result(
        options.format,
        table=lambda: print_now(answer, now_ms=options.now_ms),
        document=lambda: document(answer),
    )
