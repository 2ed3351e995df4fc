"""The doctor's questions on the wire. In: an address and its access. Out: answers, or one line on what refuses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests

from throttlescope.ingest.errors import SourceError
from throttlescope.ingest.selector import parse_selector
from throttlescope.ingest.sources.access import check_answer, clean_url, explain, public_url, refuse_html
from throttlescope.ingest.sources.prometheus_api import PrometheusApi
from throttlescope.ingest.sources.remote_read import RemoteRead, RemoteReadMissing
from throttlescope.ingest.times import BLOCK_MS

if TYPE_CHECKING:
    from throttlescope.ingest.sources.access import Access

_ADMIN = "The admin API"


class PrometheusQuestions(PrometheusApi):
    """A Prometheus that is asked as of its own clock."""

    def __init__(self, url: str, access: Access) -> None:
        super().__init__(clean_url(url), access)

    def ask(self, promql: str) -> list[Any]:
        """Result of an instant query at the server's now."""
        with self._explained(None):
            return self._client.custom_query(promql)

    def now_s(self) -> float:
        """The server's clock."""
        return float(self.ask("time()")[1])

    def version(self) -> str | None:
        """Version of the server; None where it answers queries and does not tell.

        Raises
        ------
        SourceError
            It does not answer queries.
        """
        version = self.build_info().get("version")
        self.now_s()
        return version

    def names(self, pattern: str) -> set[str]:
        """Names of metrics that had a sample in the last hour and match a regular expression."""
        now_ms = round(self.now_s() * 1000)
        return set(
            self.metric_names([parse_selector(f'{{__name__=~"{pattern}"}}')], now_ms - BLOCK_MS, now_ms)
        )

    def offers_remote_read(self) -> bool:
        """Whether remote read answers a question for nothing.

        Raises
        ------
        SourceError
            It is there and fails.
        """
        try:
            RemoteRead(self.url, self.access).probe()
        except RemoteReadMissing:
            return False
        return True


class AdminQuestions:
    """Pulsar's admin API: GET requests only, the first address that answers."""

    def __init__(self, urls: list[str], access: Access) -> None:
        self.urls, self._access = [clean_url(url) for url in urls], access
        self._session = access.session()

    def get(self, path: str) -> Any:
        """Answer to ``/admin/v2/<path>`` as JSON, or as text where it is none.

        Raises
        ------
        SourceError
            Unreachable, refused, or not found.
        """
        failure: SourceError | None = None
        for url in self.urls:
            try:
                answer = self._session.get(f"{url}/admin/v2/{path}", timeout=self._access.timeout)
            except requests.RequestException as error:
                failure = explain(error, _ADMIN, url, self._access)
                continue
            check_answer(answer, _ADMIN)
            refuse_html(answer, _ADMIN)
            if answer.ok:
                try:
                    return answer.json()
                except ValueError:
                    return answer.text.strip()
            raise SourceError(
                f"{_ADMIN} at {public_url(url)} has no answer to {path}",
                got=f"{answer.status_code} {answer.reason}",
                fix="see that the address is a broker's web service (port 8080) and not its service URL (6650)",
            )
        raise failure
