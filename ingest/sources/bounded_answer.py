"""Answers that come to an end. In: an answer on its way. Out: its bytes, or one line where there are too many or they take too long.

The time-out of a request is for each wait for bytes: a server that sends one byte a minute, or never stops, would hold a run for ever
and fill memory or disk. So every answer has a bound for its bytes, unpacked, and one for its time, whatever client reads it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import BaseHTTPResponse

from throttlescope.ingest.core.errors import SourceError

_PIECE_BYTES = 1 << 20
#: An answer that is streamed is never in memory as a whole: it may be so many times as long.
STREAMED_TIMES = 16


class EndlessAnswerError(SourceError):
    """An answer is larger than any should be, or does not come to its end: another try would bring the same."""


class BoundedAdapter(HTTPAdapter):
    """As ``requests``' own, but no answer is longer than allowed.

    Parameters
    ----------
    max_bytes : int
        Of an answer's body, unpacked; :data:`STREAMED_TIMES` as many where it is read as it comes.
    longest_s : float
        From an answer's head to its last byte.
    """

    def __init__(self, max_bytes: int, longest_s: float, **options: Any) -> None:
        self._max_bytes, self._longest_s = max_bytes, longest_s
        super().__init__(**options)

    def send(self, request: requests.PreparedRequest, stream: bool = False, **how: Any) -> requests.Response:
        answer = super().send(request, stream=stream, **how)
        max_bytes = self._max_bytes * (STREAMED_TIMES if stream else 1)
        # Nothing of the body has been read yet.
        answer.raw = _Bounded(answer.raw, public_url(request.url or ""), max_bytes, self._longest_s)
        return answer


class _Bounded:
    """One answer. Reads what has arrived instead of waiting for the requested size, and checks the time in between."""

    def __init__(self, answer: BaseHTTPResponse, url: str, max_bytes: int, longest_s: float) -> None:
        self._answer, self._url, self._max_bytes, self._longest_s = answer, url, max_bytes, longest_s
        self._begun_s, self._bytes = time.monotonic(), 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def read(self, amt: int | None = None, decode_content: bool | None = None, **_: Any) -> bytes:
        """As urllib3's: so many bytes, fewer only at the end."""
        pieces: list[bytes] = []
        wanted = amt
        while wanted is None or wanted > 0:
            piece = self._answer.read1(
                min(wanted or _PIECE_BYTES, _PIECE_BYTES), decode_content=decode_content
            )
            if not piece:
                break
            self._count(len(piece))
            pieces.append(piece)
            if wanted is not None:
                wanted -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def stream(self, amt: int | None = None, decode_content: bool | None = None) -> Iterator[bytes]:
        """As urllib3's."""
        while piece := self.read(amt or _PIECE_BYTES, decode_content):
            yield piece

    def _count(self, size: int) -> None:
        self._bytes += size
        took_s = time.monotonic() - self._begun_s
        if self._bytes > self._max_bytes:
            got, expected = f"{self._bytes:,} bytes and more", f"at most {self._max_bytes:,}"
            fix = "request fewer series (--match) or a shorter range; or raise max_answer_bytes of the source"
        elif took_s > self._longest_s:
            got, expected = (
                f"{self._bytes:,} bytes in {took_s:.0f} s, and no end",
                f"its end within {self._longest_s:g} s",
            )
            fix = "check the server and the network in between; or raise longest_answer of the source"
        else:
            return
        self._answer.close()
        raise EndlessAnswerError(f"An answer of {self._url} is endless", got=got, expected=expected, fix=fix)


def public_url(url: str) -> str:
    """The address as it may be shown: no user, password or query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
