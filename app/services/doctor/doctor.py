"""Checks of all configured sources (``throttlescope doctor``): their data, missing evidence, and the fix for each.

In: settings. Out: a list of `DoctorCheck`, in the order in which to fix them, and an exit code.
Nothing is written, neither to the lake nor to the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.services.doctor.check import FAILED, OK, WARNING, DoctorCheck, refused
from throttlescope.ingest.core.errors import EXIT_INPUT, EXIT_UNREACHABLE, ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from pathlib import Path

    from throttlescope.app.config import Settings


def examine(settings: Settings, config_file: Path | None) -> list[DoctorCheck]:
    """Check every configured source."""
    from throttlescope.app.config import UNNAMED
    from throttlescope.app.services.doctor.admin_checks import examine_admin
    from throttlescope.app.services.doctor.prometheus_checks import examine_prometheus
    from throttlescope.app.services.doctor.spark_checks import examine_spark

    subscriptions = 0
    checks = list(_configuration(settings, config_file))
    for name, cluster in settings.clusters.items():
        seen: dict[str, Any] = {}
        if cluster.prometheus is not None:
            found, seen = examine_prometheus(name, cluster)
            checks += found
            subscriptions += seen.get("subscriptions", 0)
        if cluster.pulsar_admin is not None:
            checks += examine_admin(name, cluster, seen)
        else:
            checks.append(
                DoctorCheck(
                    name, "pulsar_admin", "given", WARNING, sentence("doctor.configuration.no_admin"),
                    sentence("doctor.configuration.no_admin.fix"),
                )
            )  # fmt: skip
    checks += examine_spark(settings, round(subscriptions))
    checks.append(_compiled_code())
    # A cluster without a configured name has none to show.
    return [replace(check, cluster="") if check.cluster == UNNAMED else check for check in checks]


def _compiled_code() -> DoctorCheck:
    from throttlescope.app.services.compile_ahead import functions_not_compiled
    from throttlescope.ingest.core.code_files import writable_folder

    folder, missing = writable_folder(), len(functions_not_compiled())
    if folder is None:
        return DoctorCheck(
            "", "machine", "compiled code", WARNING, sentence("doctor.machine.not_kept"),
            sentence("doctor.machine.not_kept.fix"),
        )  # fmt: skip
    if missing:
        # It compiles itself when it is needed, so nothing is wrong.
        return DoctorCheck(
            "", "machine", "compiled code", OK, sentence("doctor.machine.not_compiled", functions=missing, folder=folder),
            sentence("doctor.machine.not_compiled.fix"),
        )  # fmt: skip
    return DoctorCheck("", "machine", "compiled code", OK, sentence("doctor.machine.compiled", folder=folder))


def exit_code(checks: Iterable[DoctorCheck]) -> int:
    """4 if a source could not be reached or rejected the request, 2 if something else has to be fixed first, 0 otherwise."""
    failed = [check for check in checks if check.status == FAILED]
    if any(check.unreachable for check in failed):
        return EXIT_UNREACHABLE
    return EXIT_INPUT if failed else 0


def as_dict(check: DoctorCheck) -> dict[str, Any]:
    """A check as it is printed in JSON."""
    return {name: value for name, value in asdict(check).items() if name != "unreachable"}


def _configuration(settings: Settings, config_file: Path | None) -> Iterable[DoctorCheck]:
    if config_file:
        found = sentence("doctor.configuration.file", file=config_file)
    else:
        found = sentence("doctor.configuration.no_file")
    yield DoctorCheck("", "configuration", "file", OK, found)
    if not settings.clusters:
        yield DoctorCheck(
            "", "configuration", "sources", FAILED, sentence("doctor.configuration.no_source"),
            sentence("doctor.configuration.no_source.fix"),
        )  # fmt: skip
    for name, cluster in settings.clusters.items():
        for area in ("prometheus", "pulsar_admin"):
            access = getattr(cluster, area)
            if access is None:
                continue
            try:
                access.password(), access.token(), access.all_headers()
            except ThrottlescopeError as error:
                yield refused(name, "configuration", f"secrets of {area}", error)
            for key in ("ca_file", "cert_file", "key_file"):
                path = getattr(access, key)
                if path is not None and not path.expanduser().is_file():
                    yield DoctorCheck(
                        name,
                        "configuration",
                        f"{area}.{key}",
                        FAILED,
                        sentence("doctor.configuration.no_path", path=path),
                        sentence("doctor.configuration.no_path.fix"),
                    )
            if not access.verify:
                yield DoctorCheck(
                    name, "configuration", f"{area}.verify", WARNING, sentence("doctor.configuration.not_verified"),
                    sentence("doctor.configuration.not_verified.fix"),
                )  # fmt: skip
            urls = [access.url] if area == "prometheus" else access.urls
            secret = access.username or access.token_file or access.token_env
            if secret and any(url.startswith("http://") for url in urls) and not all(map(_is_loopback, urls)):
                yield DoctorCheck(
                    name, "configuration", f"{area}.url", WARNING, sentence("doctor.configuration.no_tls"),
                    sentence("doctor.configuration.no_tls.fix"),
                )  # fmt: skip


def _is_loopback(url: str) -> bool:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
