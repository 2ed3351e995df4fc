"""The doctor's questions on the wire. In: an address and its access. Out: answers, or one line on what refuses them.

Nothing is tried again: a doctor says at once what is wrong.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import requests
from prometheus_api_client import PrometheusApiClientException, PrometheusConnect

from throttlescope.ingest.errors import SourceError
from throttlescope.ingest.sources.access import (
    check_answer,
    clean_url,
    explain,
    mount,
    public_url,
    refuse_html,
)

if TYPE_CHECKING:
    from throttlescope.ingest.sources.access import Access

_PROMETHEUS, _ADMIN = "Prometheus", "The admin API"


class PrometheusApi:
    """Prometheus' HTTP API through prometheus-api-client."""

    def __init__(self, url: str, access: Access) -> None:
        self.url, self._access = clean_url(url), access
        self._session = access.session(retries=0)
        # The client would parse a login page as JSON and hide a status in a sentence: both are caught before it.
        self._session.hooks["response"].append(_checked(_PROMETHEUS))
        self._client = PrometheusConnect(self.url, session=self._session, timeout=access.timeout)
        mount(self._session, 0)

    def __enter__(self) -> PrometheusApi:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def version(self) -> str | None:
        """Version of the server; None where it answers queries and does not tell."""
        with self._explained():
            answer = self._session.get(f"{self.url}/api/v1/status/buildinfo", timeout=self._access.timeout)
            if answer.ok:
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    return str(answer.json()["data"]["version"])
        self.query("vector(1)")
        return None

    def query(self, promql: str) -> list[Any]:
        """Result of an instant query at the server's now."""
        with self._explained():
            return self._client.custom_query(promql)

    def metric_names(self, pattern: str) -> set[str]:
        """Names of metrics that had a sample in the last hour and match a regular expression."""
        with self._explained():
            now_s = float(self._client.custom_query("time()")[1])
            params = {"match[]": f'{{__name__=~"{pattern}"}}', "start": now_s - 3600, "end": now_s}
            return set(self._client.get_label_values("__name__", params=params))

    def offers_remote_read(self) -> bool:
        """Whether an empty remote read request is understood."""
        empty = pa.compress(b"", codec="snappy", asbytes=True)
        headers = {
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "snappy",
            "X-Prometheus-Remote-Read-Version": "0.1.0",
        }
        try:
            with self._explained():
                answer = self._session.post(
                    f"{self.url}/api/v1/read", data=empty, headers=headers, timeout=self._access.timeout
                )
        except SourceError:
            # The queries were answered: what is refused is this one path.
            return False
        return answer.ok

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except requests.exceptions.JSONDecodeError:
            raise SourceError(
                f"{_PROMETHEUS} at {public_url(self.url)} does not answer with JSON",
                expected="Prometheus' HTTP API below this address",
                fix="give the address of the server itself, such as http://prometheus:9090",
            ) from None
        except requests.RequestException as error:
            raise explain(error, _PROMETHEUS, self.url, self._access) from None
        except PrometheusApiClientException as error:
            raise SourceError(
                f"{_PROMETHEUS} at {public_url(self.url)} refuses a question",
                got=str(error),
                fix="see that the address is Prometheus' own, and its log",
            ) from None
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise SourceError(
                f"{_PROMETHEUS} at {public_url(self.url)} answers in another form",
                got=f"{type(error).__name__} {error}",
                expected="Prometheus' HTTP API",
            ) from None


class PulsarAdmin:
    """Pulsar's admin API: GET requests only, the first address that answers."""

    def __init__(self, urls: list[str], access: Access) -> None:
        self.urls, self._access = [clean_url(url) for url in urls], access
        self._session = access.session(retries=0)
        self._session.hooks["response"].append(_checked(_ADMIN))

    def __enter__(self) -> PulsarAdmin:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

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


def _checked(what: str):
    def check(answer: requests.Response, **_: Any) -> None:
        check_answer(answer, what)
        refuse_html(answer, what)

    return check
