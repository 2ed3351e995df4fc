"""HTTP requests of the checks. In: an address and its credentials. Out: answers, or a one-line error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from throttlescope.ingest.core.selector import parse_selector
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.sources.access import clean_url
from throttlescope.ingest.sources.json_shapes import STRANGE_JSON
from throttlescope.ingest.sources.prometheus_api import PrometheusApi
from throttlescope.ingest.sources.pulsar_admin import PulsarAdmin
from throttlescope.ingest.sources.remote_read import RemoteRead, RemoteReadMissing

if TYPE_CHECKING:
    from throttlescope.ingest.sources.access import Access


class PrometheusQueries(PrometheusApi):
    """A client of a Prometheus; queries use the server's clock."""

    def __init__(self, url: str, access: Access) -> None:
        super().__init__(clean_url(url), access)

    def query_now(self, promql: str) -> list[Any]:
        """Result of an instant query at the server's now."""
        with self._explained(None):
            return self._client.custom_query(promql)

    def now_s(self) -> float:
        """The server's clock."""
        found = self.query_now("time()")
        try:
            return float(found[1])
        except STRANGE_JSON as error:
            raise self._strange(error) from error

    def version(self) -> str | None:
        """Version of the server; None if it answers queries but has no version.

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
        """Whether remote read answers an empty request.

        Raises
        ------
        SourceError
            It exists and fails.
        """
        try:
            RemoteRead(self.url, self.access).probe()
        except RemoteReadMissing:
            return False
        return True


class AdminReader(PulsarAdmin):
    """A client of an admin API."""

    def read(self, path: str) -> Any:
        """Answer to ``/admin/v2/<path>`` as JSON, or as text if it is not JSON.

        Raises
        ------
        SourceError
            Unreachable, rejected, or no answer.
        """
        text = self.get(f"/admin/v2/{path}")
        try:
            return json.loads(text)
        except ValueError:
            return text
