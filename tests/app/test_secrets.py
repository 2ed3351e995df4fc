"""A secret goes to the server that it is for and nowhere else: every byte that a run leaves behind is searched for it."""

from __future__ import annotations

import base64
import json
import os
import zipfile
from pathlib import Path

import pytest
import requests

from tests.app.commands import throttlescope
from tests.app.http_server import answering
from tests.app.now.recorded import Recorded
from tests.app.now.recorded_admin import RecordedAdmin
from tests.ingest.proxy import Reply, proxy
from tests.lab.prometheus import running_prometheus, write_recording
from throttlescope.app.web.server import create_app
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.times import format_time

pytestmark = [pytest.mark.spark, pytest.mark.prometheus, pytest.mark.usefixtures("spark")]

#: One of each kind, none a part of another.
SECRETS = {
    "password": "pa55-of-basic-authentication",
    "token": "t0ken-of-the-admin-api",
    "header": "h3ader-of-a-tenant",
    "variable": "h3ader-from-the-environment",
}
FORMS = [
    form
    for secret in (*SECRETS.values(), f"reader:{SECRETS['password']}")
    for form in (secret.encode(), base64.b64encode(secret.encode()).rstrip(b"="))
]
RECORDED = Recorded("subscription-msg-limit-1-1")


def found_in(name: str, content: bytes) -> list[str]:
    return [f"{name}: {form!r}" for form in FORMS if form in content]


def searched(folder: Path) -> list[str]:
    """What of the secrets stands in the files of a folder, and in the rows of the lakes in it."""
    found = []
    for path in (one for one in folder.rglob("*") if one.is_file()):
        found += found_in(str(path), path.read_bytes())
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    found += found_in(f"{path}/{member}", archive.read(member))
    return found


@pytest.fixture(scope="module")
def left(_spark_session, tmp_path_factory):
    """Everything that a run and what is asked of it afterwards leave behind: a folder, and texts by name."""
    folder, texts, seen = tmp_path_factory.mktemp("secrets"), {}, []
    lake, outside = folder / "lake", tmp_path_factory.mktemp("outside")
    (outside / "password").write_text(SECRETS["password"] + "\n")
    (outside / "token").write_text(SECRETS["token"])
    recording = RECORDED.recording
    admin = RecordedAdmin(RECORDED, recording.end_ms)

    def answered(method, path, headers):
        seen.append(("admin", headers))
        return admin(method, path, headers)

    broken = []

    def spoil(path: str, reply: Reply) -> Reply | None:
        return (
            Reply(400, {"Content-Type": "text/plain"}, b"no")
            if broken and path.endswith("/read") and len(reply.body) > 100
            else None
        )

    def say(name, *arguments, log="text"):
        outcome = throttlescope("--log-format", log, *arguments)
        texts[name] = outcome.out + outcome.err
        return outcome

    with pytest.MonkeyPatch.context() as patch, running_prometheus() as server:
        patch.setenv("TENANT_KEY", SECRETS["variable"])
        patch.chdir(folder)
        write_recording(server.url, RECORDED.recording.folder)
        with proxy(server.url, spoil) as between, answering(answered) as admin_url:
            config = outside / "throttlescope.toml"
            config.write_text(f"""
lake = "{lake}"
[clusters.{RECORDED.name}.prometheus]
url = "{between.url}"
username = "reader"
password_file = "{outside}/password"
headers = {{ X-Scope-OrgID = "{SECRETS["header"]}" }}
headers_env = {{ X-Tenant-Key = "TENANT_KEY" }}
[clusters.{RECORDED.name}.pulsar_admin]
urls = ["{admin_url}"]
token_file = "{outside}/token"
""")
            span = ("--start", format_time(recording.start_ms), "--end", format_time(recording.end_ms))
            assert say("run", "run", "--config", config, *span, "--debug", log="json").code == 0, texts["run"]
            say("doctor", "doctor", "--config", config, "--debug")
            say("freshness", "freshness", "--source", "--config", config, "--max-age", "1h")
            subscription = f"persistent://lab/{RECORDED.name}/orders#billing"
            say("now", "now", subscription, "--config", config, "--format", "json", "--debug")
            say("incident", "incident", "--lake", lake, "--subscription", subscription, "--no-picture",
                "--advice-within", "0s", "--out", folder / "incident.zip")  # fmt: skip
            say("quality", "quality", "page", "--lake", lake, "--out", folder / "gates.html")
            broken.append(True)
            for log in ("text", "json"):
                refused = say(f"refused {log}", "ingest", "--config", config, *span, "--debug", log=log)
                assert refused.code == 4
            seen += [("prometheus", headers) for headers in between.headers]
        for log in ("text", "json"):
            gone = say(f"gone {log}", "run", "--config", config, *span, "--debug", log=log)
            assert gone.code == 4
    client = create_app(lake).server.test_client()
    for path in ("/", "/metrics", "/-/ready", "/export/table/ingest_runs.csv", "/api/v1/labels"):
        texts[path] = client.get(path).get_data(as_text=True)
    return folder, texts, seen


def test_they_reached_the_servers_that_they_are_for(left):
    _, _, seen = left
    basic = base64.b64encode(f"reader:{SECRETS['password']}".encode()).decode()
    theirs = [headers for kind, headers in seen if kind == "prometheus"]
    assert len(theirs) > 10
    for headers in theirs:
        assert headers["Authorization"] == f"Basic {basic}"
        assert headers["X-Scope-OrgID"] == SECRETS["header"]
        assert headers["X-Tenant-Key"] == SECRETS["variable"]
    others = [headers for kind, headers in seen if kind == "admin"]
    assert others
    assert {headers.get("Authorization") for headers in others} == {f"Bearer {SECRETS['token']}"}
    assert not any("X-Scope-OrgID" in headers for headers in others)


def test_no_output_and_no_file_holds_one(left):
    folder, texts, _ = left
    assert searched(folder) == []
    assert [one for name, text in texts.items() for one in found_in(name, text.encode())] == []
    # The search would find them.
    assert found_in("x", f"Authorization: Bearer {SECRETS['token']}".encode())
    assert len(texts["run"]) > 1000
    assert "Traceback" in texts["gone text"]


def test_no_row_of_the_lake_holds_one(left):
    folder, _, _ = left
    lake = Lake(folder / "lake")
    tables = [name for name in TABLES if lake.version(name) is not None]
    assert "ingest_runs" in tables
    for name in tables:
        assert found_in(name, repr(lake.read(name).to_pylist()).encode()) == []


def test_the_manifest_names_the_places_of_secrets_and_not_them(left):
    folder, _, _ = left
    rows = Lake(folder / "lake").read("ingest_runs").to_pylist()
    assert {row["status"] for row in rows} >= {"done", "failed"}
    assert all("@" not in row["source"] for row in rows)
    assert os.environ.get("TENANT_KEY") is None
    assert all(json.loads(row["details"]) for row in rows)
    # Rows are written by runs that failed, too.
    assert any("error" in json.loads(row["details"]) for row in rows)


def test_a_server_that_repeats_a_secret_in_its_answer_is_not_quoted(tmp_path):
    """Proxies echo headers in their pages of errors."""

    def echo(method, path, headers):
        return 400, "text/plain", f"bad header: {headers.get('Authorization')}".encode()

    token = tmp_path / "token"
    token.write_text(SECRETS["token"])
    with answering(echo) as url:
        outcome = throttlescope(
            "ingest", "--prometheus", url, "--token-file", token, "--start", "2026-11-20T10:00:00Z", "--end",
            "2026-11-20T11:00:00Z", "--lake", tmp_path / "lake", "--debug",
        )  # fmt: skip
        assert requests.get(url, timeout=10).status_code == 400
    assert outcome.code == 4
    assert found_in("echo", (outcome.out + outcome.err).encode()) == []
