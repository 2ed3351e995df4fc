"""Parameters of a request. In: query string and form body. Out: texts, times, durations and selectors, read as Go reads them."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote_to_bytes

from throttlescope.app.services.promql.errors import BAD_DATA, ApiError, bad_parameter, refusal
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import Selector, SelectorSyntaxError, parse_selector

_SECOND = timedelta(seconds=1)
_SECOND_NS = 1_000_000_000
#: Go keeps a time of a query, and every duration, as nanoseconds of 63 bits.
MAX_NS = 2**63 - 1
_MAX_MS = 2**63 - 1

_BAD_ESCAPE = re.compile(rb"%(?![0-9a-fA-F]{2})")
_FLOAT = re.compile(
    r"[+-]?(?:(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?|inf(?:inity)?)|nan",
    re.IGNORECASE,
)
_HEX_FLOAT = re.compile(r"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+", re.IGNORECASE)
_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_DURATION = re.compile(
    r"(?:(\d{1,19})y)?(?:(\d{1,19})w)?(?:(\d{1,19})d)?(?:(\d{1,19})h)?(?:(\d{1,19})m)?(?:(\d{1,19})s)?(?:(\d{1,19})ms)?",
    re.ASCII,
)
_UNITS_MS = (365 * 86_400_000, 7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000, 1)
_GO_ESCAPES = {
    "\\": "\\\\", '"': '\\"', "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
}  # fmt: skip
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


class Parameters:
    """The parameters of one request; those of the body come before those of the address.

    Parameters
    ----------
    pairs : list of (bytes, bytes)
    """

    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self._values: dict[bytes, list[bytes]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def text(self, name: str) -> str:
        """The first value; empty where there is none."""
        return next(iter(self.texts(name)), "")

    def texts(self, name: str) -> list[str]:
        """All values.

        Raises
        ------
        ApiError
            One is no UTF-8.
        """
        try:
            return [value.decode() for value in self._values.get(name.encode(), [])]
        except UnicodeDecodeError:
            raise bad_parameter(name, "invalid UTF-8 rune") from None

    def time_ns(self, name: str) -> int:
        """A time that has to be given, in epoch nanoseconds."""
        try:
            return parse_time(self.text(name))
        except ValueError as error:
            raise bad_parameter(name, str(error)) from None

    def time_or(self, name: str, default_ns: int) -> int:
        """A time in epoch nanoseconds, or the default."""
        text = self.text(name)
        if not text:
            return default_ns
        try:
            return parse_time(text)
        except ValueError as error:
            raise bad_parameter(name, f"invalid time value for '{name}': {error}") from None

    def bound_ms(self, name: str) -> int | None:
        """A bound of a search in the catalogue, in epoch milliseconds; None where it is not given."""
        if not self.text(name):
            return None
        return max(-_MAX_MS, min(_MAX_MS, self.time_or(name, 0) // 1_000_000))

    def duration_ns(self, name: str) -> int:
        """A duration that has to be given."""
        try:
            return parse_duration(self.text(name))
        except ValueError as error:
            raise bad_parameter(name, str(error)) from None

    def limit(self) -> int:
        """``limit``; 0 means none."""
        text = self.text("limit")
        try:
            limit = parse_integer(text) if text else 0
        except ValueError as error:
            raise bad_parameter("limit", str(error)) from None
        if limit < 0:
            raise bad_parameter("limit", "limit must be non-negative")
        return limit

    def selectors(self) -> list[Selector]:
        """``match[]``.

        Raises
        ------
        ApiError
            One is no selector, or has no matcher that an empty value does not satisfy.
        """
        return [_selector(text) for text in self.texts("match[]")]


def _selector(text: str) -> Selector:
    try:
        return parse_selector(text)
    except SelectorSyntaxError as error:
        if error.expected == "at least one matcher that does not match an empty value":
            raise ApiError(BAD_DATA, "match[] must contain at least one non-empty matcher") from None
        if not text.strip():
            raise ApiError(BAD_DATA, "unknown position: parse error: unexpected end of input") from None
        raise ApiError(BAD_DATA, refusal(error, text)) from None
    except InputError as error:
        raise ApiError(BAD_DATA, str(error)) from None


def parse_form(text: bytes) -> list[tuple[bytes, bytes]]:
    """Pairs of a query string or of a form body; what Go's ``net/url`` leaves out is left out."""
    pairs = []
    for part in text.split(b"&"):
        if not part or b";" in part or _BAD_ESCAPE.search(part):
            continue
        name, _, value = part.partition(b"=")
        pairs.append((_unescaped(name), _unescaped(value)))
    return pairs


def parse_time(text: str) -> int:
    """Epoch nanoseconds of RFC 3339 or epoch seconds (whole milliseconds).

    Raises
    ------
    ValueError
        In Prometheus' words.
    """
    found = _RFC_3339.fullmatch(text)
    try:
        if found:
            return _of_date(found)
        seconds = _float(text)
    except (ValueError, OverflowError):
        seconds = math.nan
    # Beyond that, Prometheus' arithmetic wraps around to another time.
    if not abs(seconds) * 1000 < _MAX_MS:
        raise ValueError(f"cannot parse {_quoted(text)} to a valid timestamp")
    fraction, whole = math.modf(seconds)
    fraction = math.copysign(math.floor(abs(fraction) * 1000 + 0.5) / 1000, fraction)
    return int(whole) * _SECOND_NS + int(fraction * _SECOND_NS)


def parse_duration(text: str) -> int:
    """Nanoseconds of a number of seconds, or of a duration such as ``1h30m``.

    Raises
    ------
    ValueError
        In Prometheus' words.
    """
    try:
        duration_ns = _float(text) * 1e9
    except (ValueError, OverflowError):
        found = _DURATION.fullmatch(text)
        if not text or not found:
            raise ValueError(f"cannot parse {_quoted(text)} to a valid duration") from None
        total = (
            sum(int(count or 0) * unit for count, unit in zip(found.groups(), _UNITS_MS, strict=True))
            * 1_000_000
        )
        if total > MAX_NS:
            raise ValueError(f"cannot parse {_quoted(text)} to a valid duration") from None
        return total
    if math.isnan(duration_ns):
        return -1
    if abs(duration_ns) > MAX_NS:
        raise ValueError(f"cannot parse {_quoted(text)} to a valid duration. It overflows int64")
    return int(duration_ns)


def parse_integer(text: str) -> int:
    """A whole number of 64 bits."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"strconv.Atoi: parsing {_quoted(text)}: invalid syntax")
    # Python refuses to read thousands of digits, with an error of its own.
    if len(text.lstrip("+-0")) > 19 or abs(int(text)) >= 2**63:
        raise ValueError(f"strconv.Atoi: parsing {_quoted(text)}: value out of range")
    return int(text)


def _float(text: str) -> float:
    """A float as Go's ``strconv`` reads it; ValueError or OverflowError where it does not."""
    if _FLOAT.fullmatch(text) and text.isascii():
        value = float(text)
        if math.isinf(value) and "i" not in text.lower():
            raise OverflowError
        return value
    if _HEX_FLOAT.fullmatch(text) and text.isascii():
        return float.fromhex(text)
    raise ValueError


def _of_date(found: re.Match) -> int:
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, sign, zone_hours, zone_minutes = found.groups()[6:]
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    zone_s = (int(zone_hours) * 3600 + int(zone_minutes) * 60) if sign else 0
    if sign and (int(zone_hours) > 24 or int(zone_minutes) > 60):
        raise ValueError
    epoch_s = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // _SECOND - (-zone_s if sign == "-" else zone_s)
    return epoch_s * _SECOND_NS + int((fraction or "0")[:9].ljust(9, "0"))


def _unescaped(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))


def _quoted(text: str) -> str:
    shown = text if len(text) <= 200 else text[:199] + "…"
    return '"' + "".join(map(_go_quoted, shown)) + '"'


def _go_quoted(char: str) -> str:
    """A character as Go's ``%q`` writes it."""
    if char in _GO_ESCAPES:
        return _GO_ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
