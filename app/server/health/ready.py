"""``/-/healthy`` and ``/-/ready``. In: checks. Out: a Flask blueprint; 200, or 503 and the failed checks.

Healthy: this process answers. Ready: pages and API can answer from the lake; the data may be old.
The replies contain no details about the lake; those are in the log.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from flask import Blueprint, Response, request

from throttlescope.app.server.api.replies import METHODS, plain

_READ = ("GET", "HEAD", "OPTIONS")
_log = logging.getLogger(__name__)


def state_blueprint(checks: Mapping[str, Callable[[], object]]) -> Blueprint:
    """The addresses below ``/-/``.

    Parameters
    ----------
    checks : mapping of str to callable
        By the text of the reply if the check raises. They run for every request, so each must be fast.
    """
    blueprint = Blueprint("state", __name__)
    readiness = _Readiness(checks)

    @blueprint.route("/-/<path:path>", methods=METHODS, provide_automatic_options=False)
    def state(path: str) -> Response:
        if path not in ("ready", "healthy"):
            return plain(404, "404 page not found\n")
        if request.method not in _READ:
            return plain(405, "Method Not Allowed\n", allow=_READ)
        if request.method == "OPTIONS":
            return plain(200, "", allow=_READ)
        if path == "ready" and (faults := readiness.faults()):
            return plain(503, f"Service Unavailable: {'; '.join(faults)}\n")
        return plain(200, f"throttlescope is {path.capitalize()}.\n")

    return blueprint


class _Readiness:
    """Runs the checks; a failure is logged when it starts and when it ends, not for every probe."""

    def __init__(self, checks: Mapping[str, Callable[[], object]]) -> None:
        self._checks = dict(checks)
        self._logged: dict[str, str] = {}
        self._lock = threading.Lock()

    def faults(self) -> list[str]:
        found = {}
        for name, check in self._checks.items():
            try:
                check()
            except Exception as error:
                found[name] = f"{type(error).__name__}: {' '.join(str(error).split())}"
        with self._lock:
            for name, words in found.items():
                if self._logged.get(name) != words:
                    _log.error("not ready, %s: %s", name, words)
            for name in self._logged.keys() - found.keys():
                _log.warning("ready again: %s", name)
            self._logged = found
        return list(found)
