"""``throttlescope evaluate`` for eyes: hand-made figures, and what the package brings."""

from __future__ import annotations

import json

from tests.app.commands import throttlescope
from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, UNKNOWN, said, true, truth
from throttlescope.app.cli.tables.evaluation import print_evaluation
from throttlescope.models.evaluation import evaluate

TRUTH = [true("a", 1, 30, *THROTTLED), true("a", 31, 60, *HEALTHY, kept_aside=True), true("b", 1, 30, *SLOW)]
WINDOWS = [
    *(said("a", n, *THROTTLED, naive="throttle") for n in range(-4, 26)),
    *(said("a", n, *HEALTHY) for n in range(26, 56)),
    *(said("b", n, *UNKNOWN, naive="throttle") for n in range(-4, 26)),
]


def printed(capsys, monkeypatch, windows=WINDOWS):
    monkeypatch.setenv("COLUMNS", "250")
    print_evaluation(evaluate(windows, truth(TRUTH)))
    return capsys.readouterr().out


def line(text, words):
    (found,) = [row for row in text.splitlines() if words in row]
    return " ".join(found.replace("│", " ").split())


def test_every_figure_has_its_line(capsys, monkeypatch):
    text = printed(capsys, monkeypatch)
    assert "25/25" in line(text, "limiter right where throttled, ours")
    assert "0/25" in line(text, "healthy called throttled, ours")
    assert line(text, "side right, naive rule").count("/") >= 2
    assert "side right, majority" in text
    assert "never" in line(text, "time to a right verdict of a new subscription")
    assert line(text, "flips per hour in one state").endswith("0.00 0.00 0.00")
    assert "precision of throttled where 1 % are" in text
    assert "evidence of grade A" in text
    assert "Confusion: side, naive rule" in text


def test_no_column_without_held_out_recordings(capsys, monkeypatch):
    only = [one for one in WINDOWS if one.key.cluster == "b"]
    text = printed(capsys, monkeypatch, only)
    head = next(row for row in text.splitlines() if "figure" in row)
    assert "other recordings" in head
    assert "┃ held-out set" not in head


def test_shipped_figures_need_no_lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = throttlescope("evaluate", "--measured", "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["sets"]["shipped"]["windows"] > 100
    table = throttlescope("evaluate", "--measured").out
    assert "Measured on recordings of a real broker" in table
    assert str(found["sets"]["shipped"]["windows"]) in table
    assert list(tmp_path.iterdir()) == []
