"""What a master's URL means, what a session sets there, and which Python its tasks run on. No Spark is started."""

import re
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.extras import MissingExtraError
from throttlescope.ingest.spark.connect import connect_session
from throttlescope.ingest.spark.master import MasterKind, SparkMaster, check_answers, place_of
from throttlescope.ingest.spark.settings import PACKAGE_PYTHON, executor_python, settings_of

ROOT = Path(__file__).parents[3]
SUBMITTED = {"PYSPARK_GATEWAY_PORT": "1"}


@pytest.mark.parametrize(
    ("master", "kind"),
    [
        (None, "local"),
        ("local", "local"),
        ("local[3]", "local"),
        ("local[*, 2]", "local"),
        ("spark://a:7077,b:7077", "cluster"),
        ("yarn", "cluster"),
        ("k8s://https://host:6443", "cluster"),
        ("sc://host:15002/;token=secret", "connect"),
    ],
)
def test_kinds(master, kind):
    assert place_of(master, environment={}).kind == MasterKind(kind)
    assert place_of(master, environment=SUBMITTED).kind == MasterKind.submitted


def test_local_master_uses_requested_cores():
    assert place_of(None, environment={}).master == "local[*]"
    assert place_of(None, cores=3, environment={}).master == "local[3]"


@pytest.mark.parametrize(
    "master", ["", "locale", "local[]", "local[x]", "spark://", "yarn-client", "http://a:1", "spark:7077"]
)
def test_no_such_master_is_one_line(master):
    with pytest.raises(InputError, match="Spark has no such master"):
        place_of(master, environment={})


def test_a_token_is_not_shown():
    place = place_of("sc://host:1/;token=secret", environment={})
    assert place.shown == "sc://host:1"
    with pytest.raises(InputError) as caught:
        place_of("sd://host:1/;token=secret", environment={})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("master", "addresses", "loopback"),
    [
        ("spark://a:1,b", [("a", 1), ("b", 7077)], False),
        ("spark://127.0.0.1:1", [("127.0.0.1", 1)], True),
        ("sc://[::1]:15", [("::1", 15)], True),
        ("sc://h/;x=1", [("h", 15002)], False),
        ("yarn", [], False),
        ("local[2]", [], True),
    ],
)
def test_addresses(master, addresses, loopback):
    place = place_of(master, environment={})
    assert (place.addresses(), place.on_loopback) == (addresses, loopback)


def test_invalid_port_is_reported():
    with pytest.raises(InputError, match="HOST:PORT"):
        place_of("spark://a:x", environment={}).addresses()


def test_unreachable_master_fails_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        with pytest.raises(SourceError, match=r"cannot be reached.*127\.0\.0\.1") as caught:
            check_answers(place_of(f"spark://127.0.0.1:{taken.getsockname()[1]}", environment={}))
        assert caught.value.exit_code == 4
        taken.listen()
        check_answers(place_of(f"spark://127.0.0.1:{taken.getsockname()[1]}", environment={}))


def _settings(place: SparkMaster, **given) -> dict[str, str]:
    asked = {"cores": None, "driver_memory": "2g", "java_options": (), "package": None} | given
    return settings_of(place, "name", **asked)


def test_only_local_and_loopback_bind_to_loopback():
    for master, host in (
        ("local[2]", "127.0.0.1"),
        ("spark://127.0.0.1:1", "127.0.0.1"),
        ("spark://host:1", None),
        ("yarn", None),
    ):
        assert _settings(place_of(master, environment={})).get("spark.driver.host") == host, master


def test_what_spark_submit_decides_is_not_set():
    found = _settings(place_of(None, environment=SUBMITTED), package="p.tar.gz")
    assert found["spark.sql.session.timeZone"] == "UTC"
    assert found["spark.archives"] == "p.tar.gz#environment"
    assert not {"spark.master", "spark.driver.memory", "spark.driver.extraJavaOptions"} & found.keys()


@pytest.mark.parametrize(
    ("master", "package", "environment", "python"),
    [
        (None, None, {"PYSPARK_PYTHON": "other"}, "here"),
        ("spark://a:1", None, {}, "here"),
        ("spark://a:1", "p.tar.gz", {}, PACKAGE_PYTHON),
        ("spark://a:1", "p.tar.gz", {"PYSPARK_PYTHON": "other"}, "other"),
        ("yarn", None, {"PYSPARK_PYTHON": "other"}, "other"),
    ],
)
def test_the_python_of_tasks(master, package, environment, python):
    place = place_of(master, environment={})
    assert executor_python(place, package, "here", environment) == python


def test_missing_extra_names_the_command_that_installs_it(monkeypatch):
    """Before anything is asked of the server, which may be well."""
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(MissingExtraError) as caught:
        connect_session(place_of("sc://127.0.0.1:1", environment={}), conf={}, package=None)
    assert str(caught.value) == (
        "Spark Connect needs packages that are not installed; got no grpc. Fix: pip install 'throttlescope[connect]'"
    )
    assert caught.value.exit_code == 2


def test_extras_that_the_code_requires_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        name
        for room in ("ingest", "transforms", "models", "app")
        for path in (ROOT / room).rglob("*.py")
        for name in re.findall(r"require_extra\(\s*\"(\w+)\"", path.read_text())
    }
    assert named == set(extras)
