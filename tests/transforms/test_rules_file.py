"""Rules files: accepted and refused files, error messages, and agreement with promtool."""

from __future__ import annotations

import os
import random
import subprocess

import pytest

from tests.lab.parts import promtool_binary
from tests.transforms.rule_texts import BAD, GOOD, STRICTER, random_rules_file, random_template
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.errors import PromQLSyntaxError, UnsupportedPromQLError
from throttlescope.transforms.rules import AlertingRule, RecordingRule, read_rule_file
from throttlescope.transforms.rules.order import check_order
from throttlescope.transforms.rules.rule_file import parse_duration, promtool_accepts
from throttlescope.transforms.rules.template import TemplateError, check_template, filled_in, fills_in

CASES = int(os.environ.get("THROTTLESCOPE_RULES_CASES", "1500"))
SEED = int(os.environ.get("THROTTLESCOPE_RULES_SEED", "4"))


def read(tmp_path, text, name="some.yml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_rule_file(path)


def refusal(tmp_path, text):
    """The error that a text is refused with, order of the rules included; None where it is taken."""
    try:
        check_order(read(tmp_path, text))
    except InputError as error:
        return error
    return None


def test_all_fields_are_read(tmp_path):
    file = read(
        tmp_path,
        """
groups:
  - name: both
    interval: 1m30s
    query_offset: 5s
    limit: 10
    labels: {team: core, shared: group}
    rules:
      - record: a:b
        expr: sum(up)
        labels: {shared: rule, n: 1}
      - alert: Down
        expr: up == 0
        for: 5m
        keep_firing_for: 1h
        labels: {severity: '{{ $labels.tier }}'}
        annotations: {text: 'value {{ $value | humanize }}', n: 2}
  - name: empty
""",
    )
    first, second = file.groups
    assert (first.interval_ms, first.query_offset_ms, first.limit) == (90_000, 5_000, 10)
    assert (second.interval_ms, second.query_offset_ms, second.limit, second.rules) == (None, 0, 0, ())
    record, alert = first.rules
    assert isinstance(record, RecordingRule)
    assert (record.name, record.labels) == ("a:b", {"team": "core", "shared": "rule", "n": "1"})
    assert isinstance(alert, AlertingRule)
    assert (alert.name, alert.for_ms, alert.keep_firing_for_ms) == ("Down", 300_000, 3_600_000)
    assert alert.annotations == {"text": "value {{ $value | humanize }}", "n": "2"}
    assert alert.place == "some.yml, line 12, group 'both', rule 2 'Down'"


@pytest.mark.parametrize(("text", "words"), BAD, ids=range(len(BAD)))
def test_invalid_file_is_refused_in_one_line(tmp_path, text, words):
    error = refusal(tmp_path, text)
    assert error is not None
    assert all(word in str(error) for word in words), str(error)
    assert error.exit_code == 2
    assert "\n" not in str(error)
    assert not promtool_accepts(error)


@pytest.mark.parametrize(("text", "words"), STRICTER, ids=range(len(STRICTER)))
def test_what_prometheus_would_load_and_we_refuse(tmp_path, text, words):
    error = refusal(tmp_path, text)
    assert error is not None
    assert all(word in str(error) for word in words), str(error)
    assert promtool_accepts(error)


def test_query_error_keeps_its_kind(tmp_path):
    text = "groups: [{{name: g, rules: [{{record: a, expr: '{}'}}]}}]"
    with pytest.raises(PromQLSyntaxError, match=r"line 1, group 'g', rule 1 'a': .*end of the text"):
        read(tmp_path, text.format("1 +"))
    with pytest.raises(UnsupportedPromQLError, match="smoothed"):
        read(tmp_path, text.format("rate(x[5m] smoothed)"))


@pytest.mark.parametrize("text", GOOD)
def test_a_good_file_is_taken(tmp_path, text):
    assert refusal(tmp_path, text) is None


def promtool_verdicts(paths):
    """Whether promtool succeeds, file by file; what it only warns of (a rule that comes twice) is no success."""
    done = subprocess.run(
        [str(promtool_binary()), "check", "rules", *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts, name = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("Checking "):
            name = line.removeprefix("Checking ")
            verdicts[name] = False
        elif "SUCCESS" in line:
            verdicts[name] = True
    assert len(verdicts) == len(paths), done.stdout + done.stderr
    return [verdicts[str(path)] for path in paths]


@pytest.mark.prometheus
def test_promtool_agrees_on_the_written_files(tmp_path):
    texts = [*GOOD, *(text for text, _ in BAD), *(text for text, _ in STRICTER)]
    paths = [tmp_path / f"{number:03}.yml" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    expected = [True] * len(GOOD) + [False] * len(BAD) + [True] * len(STRICTER)
    assert promtool_verdicts(paths) == expected


@pytest.mark.prometheus
def test_promtool_agrees_on_random_files(tmp_path):
    numbers = random.Random(SEED)  # noqa: S311
    texts = [random_rules_file(numbers) for _ in range(CASES)]
    paths = [tmp_path / f"{number:06}.yml" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    taken = 0
    for first in range(0, len(paths), 300):
        some = paths[first : first + 300]
        for path, theirs in zip(some, promtool_verdicts(some), strict=True):
            try:
                ours = read_rule_file(path) is not None
            except InputError as error:
                # Behind what we alone refuse there may be a fault that promtool sees, too.
                ours = theirs if promtool_accepts(error) else False
            assert ours == theirs, (SEED, path.read_text())
            taken += theirs
    assert CASES // 50 < taken < CASES


@pytest.mark.prometheus
def test_promtool_agrees_on_random_templates(tmp_path):
    numbers = random.Random(SEED)  # noqa: S311
    texts = [random_template(numbers) for _ in range(CASES)]
    rules = "".join(f"  - {{alert: a, expr: up, labels: {{n: '{n}'}}, annotations: {{x: {_quoted(text)}}}}}\n"
                    for n, text in enumerate(texts))  # fmt: skip
    path = tmp_path / "templates.yml"
    path.write_text(f"groups:\n- name: g\n  rules:\n{rules}", encoding="utf-8")
    done = subprocess.run(
        [str(promtool_binary()), "check", "rules", str(path)], capture_output=True, text=True, check=False
    )
    refused = {int(line.split("rule ")[1].split(",")[0]) - 1 for line in done.stderr.splitlines()
               if 'annotation "x"' in line}  # fmt: skip
    assert CASES // 5 < len(refused) < CASES
    for number, text in enumerate(texts):
        try:
            check_template(text)
            ours = True
        except TemplateError:
            ours = False
        assert ours == (number not in refused), (SEED, text)


def _quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("0", 0), ("0s", 0), ("5m", 300_000), ("1h30m", 5_400_000), ("1y2w3d4h5m6s7ms", 33_019_506_007)],
)
def test_durations(text, milliseconds):
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "5", "-5m", "1.5h", "5m1h", "1m1m", " 5m", "5 m", "5M", "300y", "\u0665m"]
)
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        parse_duration(text)


def test_plain_label_templates_are_filled_in():
    """Templates that need Go are not."""
    assert fills_in("plain")
    assert fills_in("a {{ $labels.x }} b {{.Labels.y}}")
    assert not fills_in("{{ $value }}")
    assert not fills_in("{{ $labels.x | toUpper }}")
    assert filled_in("a {{ $labels.x }} {{.Labels.y}}", {"x": "1"}) == "a 1 "
