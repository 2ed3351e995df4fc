"""``/-/ready`` tells the truth: of a lake that can be read, of one that cannot, and of one that was mended."""

from __future__ import annotations

import logging

import pytest
from flask import Flask

from tests.app.lake_of_verdicts import lake_with, verdict
from throttlescope.app.server.app import create_app
from throttlescope.app.server.health.ready import state_blueprint
from throttlescope.app.web.data.reader import LakeReader


def client_of(checks):
    server = Flask("test")
    server.register_blueprint(state_blueprint(checks))
    return server.test_client()


def test_ready_while_every_check_passes(caplog):
    faults = {}

    def check(name):
        if name in faults:
            raise OSError(faults[name])

    client = client_of({"the API": lambda: check("api"), "the pages": lambda: check("pages")})
    assert client.get("/-/ready").status_code == 200
    faults["pages"] = "disk\nof /secret/place is gone"
    for _ in range(3):
        answer = client.get("/-/ready")
        assert (answer.status_code, answer.text) == (503, "Service Unavailable: the pages\n")
    assert client.get("/-/healthy").status_code == 200
    faults["api"] = "also"
    assert client.get("/-/ready").text == "Service Unavailable: the API; the pages\n"
    faults.clear()
    assert client.get("/-/ready").status_code == 200
    # Told when it began and when it was over, not at each probe; the place only in the log.
    logged = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert logged[:2] == [
        (logging.ERROR, "not ready, the pages: OSError: disk of /secret/place is gone"),
        (logging.ERROR, "not ready, the API: OSError: also"),
    ]
    assert sorted(logged[2:]) == [
        (logging.WARNING, f"ready again: {name}") for name in ("the API", "the pages")
    ]


def test_only_read_methods_are_allowed():
    client = client_of({})
    assert client.post("/-/ready").status_code == 405
    assert client.head("/-/ready").status_code == 200
    assert client.options("/-/ready").headers["Allow"] == "GET, HEAD, OPTIONS"
    assert client.get("/-/reload").status_code == 404


@pytest.mark.long
def test_unreadable_page_table_is_not_ready(tmp_path):
    lake = lake_with(tmp_path / "lake", [verdict(2)])
    client = create_app(lake.root).server.test_client()
    assert client.get("/-/ready").status_code == 200
    log = tmp_path / "lake" / "verdicts" / "_delta_log" / f"{0:020d}.json"
    whole = log.read_bytes()
    log.write_text("not a log")
    fresh = create_app(lake.root).server.test_client()
    assert fresh.get("/-/ready").text == "Service Unavailable: the pages\n"
    log.write_bytes(whole)
    assert create_app(lake.root).server.test_client().get("/-/ready").status_code == 200


def test_page_check_repeats_the_last_fault(tmp_path):
    lake = lake_with(tmp_path / "lake", [verdict(2)])
    reader = LakeReader(lake.root)
    reader.check()
    reader._fault = OSError("gone")
    with pytest.raises(OSError, match="gone"):
        reader.check()
