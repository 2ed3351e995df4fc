"""The accuracy page. In: what ``throttlescope evaluate --format json`` prints for the shipped recordings. Out: its table.

``python -m tests.accuracy DIR`` writes the table into docs/background/accuracy.md from the lake of a demo.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "background" / "accuracy.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PARTS = {"all": "all", "kept_aside": "kept aside", "not_kept_aside": "not kept aside"}


def evaluation(lake: Path) -> dict:
    """Judge the lake's verdicts with the product's own command."""
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "evaluate", "--lake", str(lake), "--format", "json"],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def table(found: dict) -> str:
    """The measured part of the page, as Markdown."""
    rows = [
        ("settled windows", lambda part: str(part["windows"])),
        ("recordings / families", lambda part: f"{part['recordings']} / {part['families']}"),
        ("cause right, ours", lambda part: _share(part["cause"]["right"])),
        ("cause right when answered, ours", lambda part: _share(part["cause"]["right_when_answered"])),
        ("unknown, ours", lambda part: _share(part["cause"]["unknown"])),
        ("limiter right where throttled, ours", lambda part: _share(part["limiter_right"])),
        ("side right, ours", lambda part: _share(part["side"]["right"])),
        ("side right, naive rule", lambda part: _share(part["naive_side"]["right"])),
        ("healthy called throttled, ours", lambda part: _share(part["healthy_called_throttled"])),
        (
            "healthy called throttled, naive rule",
            lambda part: _share(part["naive_healthy_called_throttled"]),
        ),
    ]
    lines = ["| figure | " + " | ".join(PARTS.values()) + " |", "|---|" + "---|" * len(PARTS)]
    lines += [f"| {name} | " + " | ".join(show(found[part]) for part in PARTS) + " |" for name, show in rows]
    lines += ["", "| cause, all | windows | recordings | precision | recall |", "|---|---|---|---|---|"]
    for cause, scores in found["all"]["cause"]["classes"].items():
        if scores["windows"]:
            lines.append(
                f"| {cause} | {scores['windows']} | {scores['recordings']} | "
                f"{_share(scores['precision'])} | {_share(scores['recall'])} |"
            )
    for score, name in (("cause", "cause, ours"), ("side", "side, ours"), ("naive_side", "side, naive rule")):
        lines += ["", *_confusion(name, found["all"][score]["confusion"])]
    return "\n".join(lines)


def page_with(text: str, measured: str) -> str:
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + measured + "\n" + END + rest.split(END)[1]


def _share(share: dict) -> str:
    if not share["of"]:
        return "-"
    low, high = (f"{100 * bound:.0f}" for bound in share["wilson"])
    cluster = ""
    if share["clustered"]:
        cluster = " [{:.0f}, {:.0f}]".format(*(100 * bound for bound in share["clustered"]))
    return f"{share['count']} of {share['of']} = {100 * share['value']:.1f} % [{low}, {high}]{cluster}"


def _confusion(name: str, confusion: dict) -> list[str]:
    columns = sorted({column for row in confusion.values() for column in row})
    lines = [f"| {name}: true, then named | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    lines += [
        f"| {true} | " + " | ".join(str(row.get(column, 0)) for column in columns) + " |"
        for true, row in confusion.items()
        if row
    ]
    return lines


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(), table(evaluation(Path(sys.argv[1])))))
