"""What Prometheus scrapes, and may change while it runs: in, addresses and their ``instance`` labels; out, a scrape job."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class ScrapeTargets:
    """The targets of one scrape job, in a file that Prometheus watches.

    Parameters
    ----------
    file
        Is written at once, and again by :meth:`write`; Prometheus takes a change in within 5 to 10 s.
    addresses
        The first targets: ``host:port``, as a mapping where the label ``instance`` shall read otherwise.
    job_name
        The label ``job``.
    metrics_path
        Pulsar's by default.
    """

    def __init__(
        self,
        file: Path,
        addresses: Mapping[str, str] | Iterable[str],
        *,
        job_name: str = "pulsar",
        metrics_path: str = "/metrics/",
    ) -> None:
        self.file, self.job_name, self.metrics_path = file.absolute(), job_name, metrics_path
        self.write(addresses)

    @property
    def scrape_config(self) -> dict[str, Any]:
        """The job's entry of ``scrape_configs``."""
        return {
            "job_name": self.job_name,
            "metrics_path": self.metrics_path,
            "file_sd_configs": [{"files": [str(self.file)], "refresh_interval": "5s"}],
        }

    def write(self, addresses: Mapping[str, str] | Iterable[str]) -> None:
        """Replace all targets. A target or label that goes leaves staleness markers, as in any Prometheus."""
        labels = addresses if isinstance(addresses, Mapping) else {address: address for address in addresses}
        entries = [
            {"targets": [address], "labels": {"instance": instance}} for address, instance in labels.items()
        ]
        staging = self.file.with_suffix(".part")
        staging.write_text(json.dumps(entries, indent=1) + "\n")
        staging.rename(self.file)
