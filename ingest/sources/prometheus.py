"""One Prometheus. In: an address, its access and how its labels become ours. Out: a source that is ready to be read.

Remote read is taken where it is offered, the JSON API elsewhere; facts about the server come from the API either way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.series import PullSource
from throttlescope.ingest.sources.access import Access, clean_url
from throttlescope.ingest.sources.prometheus_api import PrometheusApi
from throttlescope.ingest.sources.remote_read import RemoteRead, RemoteReadMissing

Reader = Literal["auto", "remote_read", "api"]


@dataclass
class PrometheusSource:
    """A Prometheus that answered.

    Attributes
    ----------
    samples : PullSource
        What samples are read through.
    api : PrometheusApi
        Facts about the server.
    why_not_remote_read : str, optional
        What the server said where remote read is missing.
    """

    samples: PullSource
    api: PrometheusApi
    mapping: LabelMapping = field(default_factory=LabelMapping)
    version: str | None = None
    why_not_remote_read: str | None = None


def open_prometheus(
    url: str,
    access: Access | None = None,
    *,
    reader: Reader = "auto",
    mapping: LabelMapping | None = None,
) -> PrometheusSource:
    """Check that a server is a Prometheus, and choose how it is read.

    Raises
    ------
    InputError
        The address cannot be one.
    SourceError
        Unreachable, unauthorised, a web page, no Prometheus; or remote read is demanded and missing.
    """
    if reader not in ("auto", "remote_read", "api"):
        raise InputError("Unknown reader", got=repr(reader), expected="auto, remote_read or api")
    access, mapping = access or Access(), mapping or LabelMapping()
    url = clean_url(url)
    api, remote = PrometheusApi(url, access), RemoteRead(url, access)
    version = api.build_info().get("version")
    if version is None:
        # A server answers without saying what it is: it must at least answer a query.
        api.query("vector(1)", 0)
    mapping = replace(mapping, external=api.external_labels())
    if reader == "api":
        return PrometheusSource(api, api, mapping, version, "not wanted: reader is api")
    try:
        remote.probe()
    except RemoteReadMissing as missing:
        if reader == "remote_read":
            raise
        return PrometheusSource(api, api, mapping, version, str(missing.got))
    return PrometheusSource(remote, api, mapping, version)
