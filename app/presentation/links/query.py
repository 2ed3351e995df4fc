"""The query string of an address. In: what anyone may have typed. Out: its parts checked, or a link that gives them back.

An unreadable part is an ``InputError`` that the page explains. Times are absolute, so that links can be shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, quote, urlencode

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import check_range, format_time, parse_time

_LONGEST_VALUE = 20_000
_MOST_PARTS = 200
_YEAR_10000_MS = 253_402_300_800_000


def link(path: str, pairs: list[tuple[str, str]]) -> str:
    """The address of a page with these parts."""
    # "surrogatepass" keeps a lone surrogate from turning a link into an error.
    query = urlencode(pairs, quote_via=quote, safe="", errors="surrogatepass")
    return f"{path}?{query}" if query else path


def parts_of(query: str | None) -> dict[str, list[str]]:
    """Every part by its name, repeated ones in their order."""
    # Half of a surrogate pair is no letter; as one, it would come back from a link as three.
    text = (query or "").removeprefix("?").encode(errors="replace").decode()
    try:
        return parse_qs(text, max_num_fields=_MOST_PARTS)
    except ValueError as error:
        raise InputError("The address has too many parts", expected=f"at most {_MOST_PARTS}") from error


def one(values: dict[str, list[str]], key: str) -> str | None:
    """The last value of a part; None where it is not there."""
    value = values.get(key, [None])[-1]
    if value is not None and len(value) > _LONGEST_VALUE:
        raise InputError(f"The {key} in the address is too long", got=f"{len(value)} characters")
    return value


def one_of(
    values: dict[str, list[str]], key: str, known: Sequence[str], *, what: str, default: str | None = None
) -> str | None:
    """A part that is one of the ``known`` words; ``what`` says in an error what the word names."""
    word = one(values, key) or default
    if word not in (None, *known):
        raise _strange(what, word, known)
    return word


def some_of(values: dict[str, list[str]], key: str, known: Sequence[str], *, what: str) -> tuple[str, ...]:
    """A part that may be repeated, each time one of the ``known`` words; each is given once."""
    words = every(values, key)
    for word in words:
        if word not in known:
            raise _strange(what, word, known)
    return words


def every(values: dict[str, list[str]], key: str) -> tuple[str, ...]:
    """All values of a part, each once, in their order."""
    return tuple(dict.fromkeys(values.get(key, [])))


def _strange(what: str, word: str, known: Sequence[str]) -> InputError:
    expected = " or ".join(known) if len(known) == 2 else ", ".join(known)
    return InputError(f"The address names a {what} that does not exist", got=word[:100], expected=expected)


def range_of(values: dict[str, list[str]]) -> tuple[int | None, int | None]:
    """The range [from, to) in epoch milliseconds; None where an end is not there."""
    start_ms, end_ms = time_of(values, "from"), time_of(values, "to")
    if start_ms is not None and end_ms is not None:
        check_range(start_ms, end_ms)
    return start_ms, end_ms


def times_of(*times: tuple[str, int | None]) -> list[tuple[str, str]]:
    """The parts that :func:`time_of` reads; what is None is left out."""
    return [(key, format_time(time_ms)) for key, time_ms in times if time_ms is not None]


def time_of(values: dict[str, list[str]], key: str) -> int | None:
    """An absolute time in epoch milliseconds; None where it is not there."""
    text = one(values, key)
    if text is None:
        return None
    if text.startswith("-") or text == "now":
        raise InputError(
            f"The time '{key}' in the address is relative", got=text, expected="an absolute time, RFC 3339"
        )
    time_ms = parse_time(text, now_ms=0) if len(text) <= 40 else -1
    if not 0 <= time_ms < _YEAR_10000_MS:
        raise InputError(
            f"The time '{key}' in the address is out of range", got=text, expected="1970 to 9999"
        )
    return time_ms


def page_of(values: dict[str, list[str]]) -> int:
    """Which page of a long table an address selects."""
    text = one(values, "page") or "1"
    if not (text.isascii() and text.isdigit() and int(text[:9]) >= 1 and len(text) <= 7):
        raise InputError("The page in the address is not a number", got=text[:40], expected="1, 2, 3 ...")
    return int(text)
