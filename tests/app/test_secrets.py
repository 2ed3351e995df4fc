"""A secret goes to the server that it is for and nowhere else: every byte that a run leaves behind is searched for it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from tests.app.commands import throttlescope
from tests.app.http_server import answering
from tests.app.now.recorded import Recorded
from tests.app.now.recorded_admin import RecordedAdmin
from tests.ingest.proxy import Reply, proxy
from tests.lab.prometheus import running_prometheus, write_recording
from throttlescope.app.config import load_settings
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.server.app import create_app
from throttlescope.app.web import live as live_module
from throttlescope.app.web.components.shell import explained
from throttlescope.app.web.live import Live
from throttlescope.app.web.pages.subscription import now
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.prometheus_api import PrometheusApi
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin
from throttlescope.ingest.sources.remote_read import RemoteRead

pytestmark = [pytest.mark.prometheus, pytest.mark.long]

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
#: Of ``serve``: what pages, scrapers and other clients of a Prometheus ask for.
PATHS = (
    "/", "/metrics", "/-/ready", "/-/healthy", "/healthz", "/_dash-layout", "/_dash-dependencies",
    "/export/table/ingest_runs.csv", "/api/v1/labels", "/api/v1/status/buildinfo",
)  # fmt: skip
RECORDED = Recorded("subscription-msg-limit-1-1")


def found_in(name: str, content: bytes) -> list[str]:
    return [f"{name}: {form!r}" for form in FORMS if form in content]


def secrets_in(folder: Path) -> list[str]:
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
def leftovers(tmp_path_factory):
    """Everything that a run and later commands leave behind: a folder, and texts by name."""
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

    def run_and_record(name, *arguments, log="text"):
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
            assert run_and_record("run", "run", "--config", config, *span, "--debug", log="json").code == 0, (
                texts["run"]
            )
            run_and_record("doctor", "doctor", "--config", config, "--debug")
            run_and_record("freshness", "freshness", "--source", "--config", config, "--max-age", "1h")
            topic, name = f"persistent://lab/{RECORDED.name}/orders", "billing"
            now_outcome = run_and_record(
                "now", "now", "--subscription", f"{topic}#{name}", "--config", config,
                "--end", format_time(recording.end_ms), "--deadline", "5m", "--format", "json", "--debug",
            )  # fmt: skip
            assert now_outcome.code == 0, now_outcome.err
            run_and_record("incident", "incident", "--lake", lake, "--subscription", f"{topic}#{name}", "--no-picture",
                "--advice-within", "0s", "--out", folder / "incident.zip")  # fmt: skip
            run_and_record("backfill plan", "backfill", "--config", config, *span, "--dry-run", "--debug")
            texts["serve, now"] = diagnose_now_card(config, topic, name)
            run_and_record("quality", "quality", "page", "--lake", lake, "--out", folder / "gates.html")
            broken.append(True)
            texts["serve, now refused"] = diagnose_now_card(config, topic, name)
            for log in ("text", "json"):
                refused = run_and_record(
                    f"refused {log}", "ingest", "--config", config, *span, "--debug", log=log
                )
                assert refused.code == 4
            seen += [("prometheus", headers) for headers in between.headers]
        for log in ("text", "json"):
            gone = run_and_record(f"gone {log}", "run", "--config", config, *span, "--debug", log=log)
            assert gone.code == 4
        assert run_and_record("backfill gone", "backfill", "--config", config, *span, "--debug").code == 4
        spare = damaged_copy(lake, folder / "damaged")
        for log in ("text", "json"):
            plan = run_and_record(
                f"repair plan {log}", "lake", "repair", "--lake", spare, "--config", config, log=log
            )
            assert plan.code == 1
        repair = run_and_record(
            "repair gone", "lake", "repair", "--lake", spare, "--config", config, "--yes", "--debug"
        )
        assert repair.code in (1, 4)
    client = create_app(lake, live=Live.of(load_settings(config))).server.test_client()
    for path in PATHS:
        texts[path] = client.get(path).get_data(as_text=True)
    return folder, texts, seen


def diagnose_now_card(config: Path, topic: str, name: str) -> str:
    """What the button "Diagnose now" shows, or the fault that takes its place."""
    live = Live.of(load_settings(config))
    key = SubscriptionPartition(RECORDED.name, topic, -1, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_module, "time", SimpleNamespace(time=lambda: RECORDED.recording.end_ms / 1000))
        patch.setattr(live_module, "DEADLINE_S", 600.0)
        return str(explained(lambda: now.card(live.diagnose(key, cancelled=lambda: False)))())


def damaged_copy(lake: Path, copy: Path) -> Path:
    """A copy of the lake that has lost a file of samples."""
    shutil.copytree(lake, copy)
    Path(Lake(copy).files("samples")[0].path).unlink()
    return copy


def test_secrets_reach_their_servers(leftovers):
    _, _, seen = leftovers
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


def test_outputs_and_files_contain_no_secret(leftovers):
    folder, texts, _ = leftovers
    assert secrets_in(folder) == []
    assert [one for name, text in texts.items() for one in found_in(name, text.encode())] == []
    # The search would find them.
    assert found_in("x", f"Authorization: Bearer {SECRETS['token']}".encode())
    assert len(texts["run"]) > 1000
    assert "Traceback" in texts["gone text"]
    # They got as far as they should.
    assert "Nothing was stored." in texts["serve, now"]
    assert "Nothing was stored." not in texts["serve, now refused"]
    assert "read again from the source" in texts["repair plan text"]


def test_lake_rows_contain_no_secret(leftovers):
    folder, _, _ = leftovers
    lake = Lake(folder / "lake")
    tables = [name for name in TABLES if lake.version(name) is not None]
    assert "ingest_runs" in tables
    for name in tables:
        assert found_in(name, repr(lake.read(name).to_pylist()).encode()) == []


def test_manifest_sources_contain_no_credentials(leftovers):
    folder, _, _ = leftovers
    rows = Lake(folder / "lake").read("ingest_runs").to_pylist()
    assert {row["status"] for row in rows} >= {"done", "failed"}
    assert all("@" not in row["source"] for row in rows)
    assert os.environ.get("TENANT_KEY") is None
    assert all(json.loads(row["details"]) for row in rows)
    # Rows are written by runs that failed, too.
    assert any("error" in json.loads(row["details"]) for row in rows)


def echo(method, path, headers):
    """Proxies repeat headers in their pages of errors."""
    return 400, "text/plain", f"bad header: {headers.get('Authorization')}".encode()


def test_echoed_prometheus_secret_is_not_quoted(tmp_path):
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


def echo_as_a_broker(method, path, headers):
    return 500, "application/json", json.dumps({"reason": f"bad header: {headers['Authorization']}"}).encode()


@pytest.mark.parametrize("repeats", [echo, echo_as_a_broker])
def test_echoed_admin_secret_is_hidden(tmp_path, repeats):
    token, config = tmp_path / "token", tmp_path / "throttlescope.toml"
    token.write_text(SECRETS["token"])
    with answering(repeats) as url:
        config.write_text(f"""
[clusters.lab.prometheus]
url = "http://127.0.0.1:1"
[clusters.lab.pulsar_admin]
urls = ["{url}"]
token_file = "{token}"
""")
        outcomes = [
            throttlescope("--log-format", log, "doctor", "--config", config, "--debug")
            for log in ("text", "json")
        ]
        for outcome in outcomes:
            assert "bad header: Bearer (hidden)" in " ".join(outcome.out.split())
            assert found_in("doctor", (outcome.out + outcome.err).encode()) == []
        with pytest.raises(SourceError, match=re.escape("bad header: Bearer (hidden)")) as caught:
            PulsarAdmin([url], Access(token=SECRETS["token"])).collect("lab", [])
    assert found_in("collect", str(caught.value).encode()) == []


def test_echoed_secret_never_enters_lake_rows():
    admin = RecordedAdmin(RECORDED, RECORDED.recording.end_ms)

    def at_times(method, path, headers):
        return (echo_as_a_broker if "dispatchRate" in path else admin)(method, path, headers)

    with answering(at_times) as url:
        source = PulsarAdmin([url], Access(token=SECRETS["token"]), calls_per_s=1000)
        snapshot = source.collect("lab", [AdminTopic(RECORDED.topic)])
    reasons = [one.reason for one in snapshot.failures]
    assert any("bad header: Bearer (hidden)" in reason for reason in reasons)
    assert snapshot.policies.num_rows
    rows = [*reasons, repr(snapshot.policies.to_pylist()), repr(snapshot.topic_stats.to_pylist())]
    assert found_in("rows", repr(rows).encode()) == []


@pytest.mark.parametrize(
    "send",
    [
        lambda url, access: PulsarAdmin([url], access).get("/admin/v2/clusters"),
        lambda url, access: PrometheusApi(url, access).query("vector(1)", 0),
        lambda url, access: RemoteRead(url, access).probe(),
    ],
    ids=["admin API", "API", "remote read"],
)
def test_truncated_token_is_fully_hidden(send):
    """A token that is longer than the quoted part of an answer is not quoted in part."""
    token = "eyJhbGciOiJSUzI1NiJ9." + "s3cret" * 500
    with answering(echo) as url, pytest.raises(SourceError) as caught:
        send(url, Access(token=token))
    assert "bad header: Bearer (hidden)" in str(caught.value)
    assert "s3cret" not in str(caught.value)
