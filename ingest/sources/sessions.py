"""Sessions that follow redirects with care. In: requests with our secrets. Out: answers; the secrets go only where they may.

``requests`` itself takes Authorization back where a redirect leads to another server. It does not know that a header of the
user's own may be a secret, too, and it looks into ``~/.netrc`` for the new server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import requests

#: Requests in a row that a host may leave unanswered.
PATIENCE = 3
_LEFT_BEHIND = "throttlescope_left_behind"


class SilentHostError(requests.ConnectionError):
    """A host that left several requests in a row unanswered gets no more."""


class CarefulSession(requests.Session):
    """Leaves everything secret behind when a redirect leads to another server.

    Parameters
    ----------
    headers : iterable of str
        Names of the user's own headers. They are removed together with Authorization.
    """

    def __init__(self, headers: Iterable[str] = ()) -> None:
        super().__init__()
        self._secret = {"authorization", *(name.lower() for name in headers)}

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        # In place of requests' own, which would also add what ~/.netrc has for the new server.
        before = response.request
        found = [name for name in prepared_request.headers if name.lower() in self._secret]
        taken = bool(found) and self.should_strip_auth(before.url, prepared_request.url)
        for name in found if taken else ():
            del prepared_request.headers[name]
        # Not carried over by itself from one redirect to the next.
        setattr(prepared_request, _LEFT_BEHIND, taken or getattr(before, _LEFT_BEHIND, False))

    def merge_environment_settings(
        self, url: str, proxies: Any, stream: bool | None, verify: Any, cert: Any
    ) -> dict[str, Any]:
        # REQUESTS_CA_BUNDLE would win over ca_file: requests looks at the environment before it looks at the session.
        verify = self.verify if verify is None else verify
        return super().merge_environment_settings(url, proxies, stream, verify, cert)


class InsideSession(CarefulSession):
    """Keeps credentials when it is sent on, but not from TLS to plain text; leaves hosts that are silent alone."""

    def __init__(self, headers: Iterable[str] = ()) -> None:
        super().__init__(headers)
        self._unanswered: Counter[str] = Counter()

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        # Each redirect comes through here, too.
        host = urlsplit(request.url or "").netloc
        if self._unanswered[host] >= PATIENCE:
            raise SilentHostError(request=request)
        try:
            answer = super().send(request, **options)
        except requests.RequestException as error:
            if error.request is request and not isinstance(error, SilentHostError):
                self._unanswered[host] += 1
            raise
        if not answer.history:
            self._unanswered[host] = 0
        return answer

    def should_strip_auth(self, old_url: str, new_url: str) -> bool:
        return urlsplit(old_url).scheme == "https" and urlsplit(new_url).scheme != "https"


def left_behind(answer: requests.Response) -> bool:
    """Whether a redirect has led to a server that our credentials were not sent to."""
    return getattr(answer.request, _LEFT_BEHIND, False)
