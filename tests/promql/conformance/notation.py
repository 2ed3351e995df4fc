"""The notation of promqltest. In: the text of a ``.test`` file. Out: its commands, with the numbers of their lines.

The notation is described in ``promql/promqltest/README.md`` of Prometheus. Series with native histograms are kept by
name only: an eval that reads one of them is none of ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from throttlescope.transforms.promql.semantics import LOOKBACK_MS

NAME = "__name__"

_LOAD = re.compile(r"load(?:_(with_nhcb))?\s+(\S+)$", re.IGNORECASE)
_INSTANT = re.compile(
    r"eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(\S+)\s+)?(.+)$", re.IGNORECASE
)
_RANGE = re.compile(
    r"eval(?:_(fail|warn|info))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$", re.IGNORECASE
)
_EXPECT = re.compile(
    r"expect\s+(ordered|fail|warn|no_warn|info|no_info|string|range vector)(?:\s+(.+))?$", re.IGNORECASE
)
_SPAN = re.compile(r"from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)$")
_DURATION = re.compile(r"-?(?:\d+(?:ms|[smhdwy]))+|-?\d+(?:\.\d+)?$")
_DURATION_PART = re.compile(r"(\d+)(ms|[smhdwy])")
_UNITS_MS = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
    "y": 31_536_000_000,
}
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[Ii]nf|[Nn]a[Nn]"
_ITEM = re.compile(rf"(?:(_|stale)|([+-]?(?:{_NUMBER}))([+-](?:{_NUMBER}))?)(?:x(\d+))?$")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_HISTOGRAM_SERIES = ("_bucket", "_count", "_sum")


class NotationError(ValueError):
    """A line that the notation does not know."""


class Stale:
    """The type of :data:`STALE`."""


STALE = Stale()

#: One item of a sequence: a number, a staleness marker, or nothing.
Item = float | Stale | None


@dataclass(frozen=True)
class Native:
    """A sequence that holds native histograms."""


@dataclass(frozen=True)
class SeriesLine:
    """``metric{...} items``; ``items`` is :class:`Native` where a histogram is among them."""

    labels: dict[str, str]
    items: list[Item] | Native


@dataclass
class Load:
    """Samples from time 0 on, one every ``gap_ms``."""

    line: int
    gap_ms: int
    series: list[SeriesLine] = field(default_factory=list)
    #: Names of series that have native histograms, those converted from classic buckets included.
    native: list[dict[str, str]] = field(default_factory=list)
    start_timestamps: bool = False


@dataclass
class Clear:
    line: int


@dataclass
class Eval:
    """One query and what it has to give.

    Attributes
    ----------
    start_ms, end_ms, step_ms : int
        An instant query has ``step_ms`` 0 and one time.
    lookback_ms : int
        How far back a selector reads; a ``.test`` file leaves it at Prometheus' default.
    series : list of SeriesLine
        The expected rows in their order.
    number, string : float, str or None
        An expected scalar or string.
    vector_ms : (int, int, int) or None
        First and last time and step of an expected range vector.
    notes : dict of str to list of (str, str)
        Per ``fail``, ``warn``, ``info``, ``no_warn`` and ``no_info`` the expected texts: pairs of ``msg``, ``regex`` or
        ``any``, and the text.
    """

    line: int
    text: str
    start_ms: int
    end_ms: int
    step_ms: int
    ordered: bool = False
    series: list[SeriesLine] = field(default_factory=list)
    number: float | None = None
    string: str | None = None
    vector_ms: tuple[int, int, int] | None = None
    notes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    lookback_ms: int = LOOKBACK_MS

    @property
    def must_fail(self) -> bool:
        return "fail" in self.notes

    @property
    def expects_native(self) -> bool:
        return any(isinstance(one.items, Native) for one in self.series)


Command = Load | Clear | Eval


def read_file(text: str) -> list[Command]:
    """All commands of a file.

    Raises
    ------
    NotationError
        Naming the line.
    """
    lines = [_trimmed(line) for line in text.split("\n")]
    commands: list[Command] = []
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end]:
            end += 1
        word = lines[at].split()[0].lower()
        if word == "clear":
            # Stands on a line of its own, also directly before another command.
            commands.append(Clear(at + 1))
            at += 1
            continue
        try:
            if word.startswith("load"):
                commands.append(_load(lines[at:end], at + 1))
            elif word.startswith("eval"):
                commands.append(_eval(lines[at:end], at + 1))
            else:
                raise NotationError(f"unknown command {lines[at]!r}")
        except NotationError as error:
            raise NotationError(f"line {at + 1}: {error}") from None
        at = end
    return commands


def _trimmed(line: str) -> str:
    line = line.strip()
    return "" if line.startswith("#") else line


def _load(lines: list[str], number: int) -> Load:
    head = _LOAD.match(lines[0])
    if not head:
        raise NotationError(f"no load command: {lines[0]!r}")
    load = Load(number, duration_ms(head.group(2)))
    for line in lines[1:]:
        if re.search(r"@st(\s|$)", line):
            load.start_timestamps = True
            continue
        series = series_line(line)
        name = series.labels.get(NAME, "")
        if isinstance(series.items, Native):
            load.native.append(series.labels)
            continue
        load.series.append(series)
        suffix = next((s for s in _HISTOGRAM_SERIES if name.endswith(s)), None)
        if head.group(1) and suffix:
            base = {k: v for k, v in series.labels.items() if k != "le"}
            load.native.append(base | {NAME: name.removesuffix(suffix)})
    return load


def _eval(lines: list[str], number: int) -> Eval:
    if found := _RANGE.match(lines[0]):
        mode, start, end, step, text = found.groups()
        one = Eval(number, text, duration_ms(start), duration_ms(end), duration_ms(step))
    elif found := _INSTANT.match(lines[0]):
        mode, at, text = found.groups()
        time_ms = duration_ms(at or "0")
        one = Eval(number, text, time_ms, time_ms, 0)
    else:
        raise NotationError(f"no eval command: {lines[0]!r}")
    if mode == "ordered":
        one.ordered = True
    elif mode:
        one.notes[mode.lower()] = [("any", "")]
    for line in lines[1:]:
        if one.must_fail and (old := re.match(r"expected_fail_(message|regexp)\s+(.+)$", line)):
            one.notes["fail"] = [("msg" if old.group(1) == "message" else "regex", old.group(2).strip())]
        elif re.match(r"expect\s", line):
            _expect(one, line)
        elif (value := _plain_number(line)) is not None:
            one.number = value
        else:
            one.series.append(series_line(line))
    return one


def _expect(one: Eval, line: str) -> None:
    found = _EXPECT.match(line)
    if not found:
        raise NotationError(f"unknown expectation {line!r}")
    what, rest = found.group(1).lower(), (found.group(2) or "").strip()
    if what == "ordered":
        one.ordered = True
    elif what == "string":
        one.string = _string_at(rest, 0)[0]
    elif what == "range vector":
        span = _SPAN.match(rest)
        if not span:
            raise NotationError(f"unknown expectation {line!r}")
        one.vector_ms = tuple(duration_ms(part) for part in span.groups())
    else:
        kind, _, text = rest.partition(":")
        if rest and kind not in ("msg", "regex"):
            raise NotationError(f"unknown expectation {line!r}")
        one.notes.setdefault(what, []).append((kind, text.strip()) if rest else ("any", ""))


def duration_ms(text: str) -> int:
    """``1h30m``, ``-5s``, or a number of seconds such as ``0``."""
    if not _DURATION.match(text):
        raise NotationError(f"no duration: {text!r}")
    sign = -1 if text.startswith("-") else 1
    parts = _DURATION_PART.findall(text)
    if not parts:
        return round(float(text) * 1000)
    return sign * sum(int(count) * _UNITS_MS[unit] for count, unit in parts)


def _plain_number(line: str) -> float | None:
    try:
        if re.fullmatch(r"[+-]?0[0-7]+", line):
            return float(int(line, 8))
        return float(int(line, 0))
    except ValueError:
        pass
    try:
        return float(line)
    except ValueError:
        return None


def series_line(line: str) -> SeriesLine:
    """A series and its sequence."""
    labels, end = _labels_at(line)
    return SeriesLine(labels, sequence(line[end:]))


def sequence(text: str) -> list[Item] | Native:
    """``1 2+3x2 _ stale`` spelled out."""
    if "{{" in text:
        return Native()
    items: list[Item] = []
    for word in text.split("#", 1)[0].split():
        found = _ITEM.match(word)
        if not found:
            raise NotationError(f"no item of a sequence: {word!r}")
        named, value, step, times = found.groups()
        if named == "_":
            # A gap of N is N gaps; a value of N is N + 1 values, the first stands at the present time.
            items += [None] * int(times or 1)
        elif named:
            items += [STALE] * (int(times) + 1 if times else 1)
        else:
            items += _steps(float(value), float(step or 0), int(times) if times else 0, has_step=bool(step))
    return items


def _steps(value: float, step: float, times: int, *, has_step: bool) -> Iterator[float]:
    for _ in range(times + 1):
        yield value
        # Added again and again, not multiplied: the last digits are those of Prometheus.
        value = value + step if has_step else value


def _labels_at(line: str) -> tuple[dict[str, str], int]:
    labels: dict[str, str] = {}
    at = 0
    if found := _METRIC.match(line):
        labels[NAME] = found.group()
        at = found.end()
    if not line.startswith("{", at):
        if not labels:
            raise NotationError(f"no series: {line!r}")
        return labels, at
    at = _blank(line, at + 1)
    while not line.startswith("}", at):
        name, at = _word_at(line, at)
        at = _blank(line, at)
        if line.startswith("=", at):
            labels[name], at = _string_at(line, _blank(line, at + 1))
        else:
            labels[NAME] = name
        at = _blank(line, at)
        if line.startswith(",", at):
            at = _blank(line, at + 1)
        elif not line.startswith("}", at):
            raise NotationError(f"no series: {line!r}")
    return {k: v for k, v in labels.items() if v}, at + 1


def _blank(line: str, at: int) -> int:
    while line[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _word_at(line: str, at: int) -> tuple[str, int]:
    if line[at : at + 1] in ('"', "'", "`"):
        return _string_at(line, at)
    found = _METRIC.match(line, at)
    if not found:
        raise NotationError(f"no label name in {line!r} at {at}")
    return found.group(), found.end()


def _string_at(line: str, at: int) -> tuple[str, int]:
    mark = line[at : at + 1]
    if mark not in ('"', "'", "`") or not mark:
        raise NotationError(f"no string in {line!r} at {at}")
    out, at = [], at + 1
    while at < len(line) and line[at] != mark:
        if line[at] == "\\" and mark != "`":
            char, at = _escape_at(line, at + 1)
            out.append(char)
        else:
            out.append(line[at])
            at += 1
    if at >= len(line):
        raise NotationError(f"a string without end in {line!r}")
    return "".join(out), at + 1


def _escape_at(line: str, at: int) -> tuple[str, int]:
    char = line[at : at + 1]
    digits = {"x": 2, "u": 4, "U": 8}.get(char)
    if digits:
        return chr(int(line[at + 1 : at + 1 + digits], 16)), at + 1 + digits
    return _ESCAPES.get(char, char), at + 1


def almost_equal(a: float, b: float, share: float = 1e-6) -> bool:
    """Promqltest's own tolerance: the difference as a share of the sum of sizes; all NaN are equal."""
    if math.isnan(a) and math.isnan(b):
        return True
    if a == b:
        return True
    size = abs(a) + abs(b)
    smallest = 2.2250738585072014e-308
    if a == 0 or b == 0 or size < smallest:
        return abs(a - b) < share * smallest
    return abs(a - b) / min(size, 1.7976931348623157e308) < share
