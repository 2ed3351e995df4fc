"""How long a source keeps samples. In: a Prometheus. Out: milliseconds, as it says or as is usual."""

from __future__ import annotations

import re

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import DAY_MS, parse_duration
from throttlescope.ingest.sources.prometheus_api import PrometheusApi

#: Prometheus' own default, for a server that does not say.
DEFAULT_RETENTION_MS = 15 * DAY_MS
_YEAR_MS = 365 * DAY_MS
_TIME = re.compile(r"^(?:(\d+)y)?((?:\d+(?:ms|[wdhms]))*)$")


def retention_ms(api: PrometheusApi, meter: Meter | None = None) -> int | None:
    """What ``storageRetention`` of ``/api/v1/status/runtimeinfo`` says of time; None where it says nothing of it.

    Examples are ``15d``, ``1y``, ``30d or 10GiB`` and ``10GiB``: a size alone is no time.
    """
    text = str(api.runtime_info(meter).get("storageRetention", ""))
    return _of(text)


def _of(text: str) -> int | None:
    for part in text.split(" or "):
        match = _TIME.match(part.strip())
        if match and match.group(0):
            years, rest = match.groups()
            try:
                return int(years or 0) * _YEAR_MS + (parse_duration(rest) if rest else 0) or None
            except InputError:
                return None
    return None
