"""Answers of a server that is not there. In: bytes. Out: what ``requests`` and ``urllib3`` would hand over, without a network."""

from __future__ import annotations

import io

import requests
from requests.adapters import BaseAdapter


class RawAnswer:
    """An answer as remote read takes it: itself its own stream.

    Parameters
    ----------
    body : bytes
    kind : str
        Its content type.
    """

    status_code, reason, url = 200, "OK", "http://fuzz:9090/api/v1/read"

    def __init__(self, body: bytes, kind: str) -> None:
        self.headers = {"Content-Type": kind}
        self.raw, self._stream = self, io.BytesIO(body)

    def read(self, size: int | None = None, decode_content: bool = False) -> bytes:
        return self._stream.read(size)

    def __enter__(self) -> RawAnswer:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class RawSession:
    """Gives the same answer to every question."""

    def __init__(self, answer: RawAnswer) -> None:
        self._answer = answer

    def post(self, *_: object, **__: object) -> RawAnswer:
        return self._answer


def http_answer(url: str, body: bytes, kind: str, status: int = 200) -> requests.Response:
    """A whole answer."""
    answer = requests.Response()
    answer.status_code, answer.reason, answer.url = status, "OK" if status == 200 else "No", url
    answer.headers["Content-Type"] = kind
    answer.raw = io.BytesIO(body)
    return answer


class FixedAdapter(BaseAdapter):
    """A transport whose every answer is the same one."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.kind, self.status = b"", "application/json", 200

    def send(self, request, **_: object) -> requests.Response:
        answer = http_answer(request.url, self.body, self.kind, self.status)
        answer.request = request
        return answer

    def close(self) -> None:
        pass
