"""The reader's time zone. In: a cookie of the request. Out: offsets and labels; UTC by default.

Everything stored and every link is UTC; only what is printed for this request moves.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from flask import g, has_request_context, request

COOKIE = "throttlescope-zone"
_LONGEST_NAME = 64


def current() -> tzinfo:
    """The zone of this request; UTC outside of one, and where the cookie names none that is known."""
    if not has_request_context():
        return UTC
    if "zone" not in g:
        # The browser's script writes it percent-encoded.
        g.zone = _chosen(unquote(request.cookies.get(COOKIE, "")))
    return g.zone


@contextmanager
def utc():
    """Use UTC in the block: downloads such as bundles and exports are always in UTC."""
    if not has_request_context():
        yield
        return
    before = current()
    g.zone = UTC
    try:
        yield
    finally:
        g.zone = before


def local(time_ms: float) -> datetime:
    """A moment with the zone's clock."""
    return datetime.fromtimestamp(time_ms / 1000, current())


def offset_ms(time_ms: float) -> int:
    """What the zone's clock is ahead of UTC at a moment; charts move their times by it."""
    offset = local(time_ms).utcoffset()
    return int(offset.total_seconds() * 1000) if offset else 0


def label(time_ms: float) -> str:
    """``UTC``, ``UTC+02:00``: the label after a time. Letters such as CST name several zones."""
    minutes = offset_ms(time_ms) // 60_000
    if current() is UTC:
        return "UTC"
    sign = "+" if minutes >= 0 else "\N{MINUS SIGN}"
    return f"UTC{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def name() -> str:
    """The zone's name, for a person: ``UTC``, ``Europe/Berlin``."""
    zone = current()
    return "UTC" if zone is UTC else str(zone)


def _chosen(zone: str) -> tzinfo:
    if not zone or zone == "UTC" or len(zone) > _LONGEST_NAME:
        return UTC
    try:
        return ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        # Unknown, a path, or a folder of zones: times fall back to UTC, which their labels show.
        return UTC
