"""The configuration file: what is taken, what is refused and how, and that no secret is shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throttlescope.app.config import describe, find_config, load_settings
from throttlescope.ingest.core.errors import InputError

WHOLE = """
lake = "data/lake"
window = "10m"
every = "1m"

[ingest]
max_concurrent_reads = 1
admin_calls_per_s = 2.5

[objectives]
backlog_entries = 5000
backlog_age_s = 60

[clusters.pulsar-prod]
match = ['{namespace="acme/shop"}']

[clusters.pulsar-prod.prometheus]
url = "https://prometheus.example:9090/"
reader = "api"
username = "reader"
password_env = "PROM_PASSWORD"
timeout = "90s"
headers = { X-Scope-OrgID = "tenant-7" }

[clusters.pulsar-prod.pulsar_admin]
urls = ["http://broker-0:8080", "http://broker-1:8080"]
token_file = "secrets/admin.token"

[clusters.pulsar-prod.labels]
namespace = "exported_namespace"

[clusters.pulsar-prod.specification]
dispatch_msg_rate = 20000

[clusters.other.prometheus]
url = "http://other:9090"
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "throttlescope.toml"
        path.write_text(text)
        return path

    return write


def test_object_store_lake_stays_an_address(file):
    assert load_settings(file('lake = "s3://bucket/lake/"')).lake == "s3://bucket/lake"
    assert load_settings(file('lake = "x"'), {"lake": "s3://bucket/other"}).lake == "s3://bucket/other"
    with pytest.raises(InputError, match="carries a user") as refused:
        load_settings(file('lake = "s3://key:hush@bucket/lake"'))
    assert "hush" not in str(refused.value)


def test_full_file_resolves_relative_paths(file, tmp_path):
    settings = load_settings(file(WHOLE))
    assert settings.lake == str(tmp_path / "data/lake")
    assert (settings.window, settings.every) == (600_000, 60_000)
    assert (settings.ingest.max_concurrent_reads, settings.ingest.admin_calls_per_s) == (1, 2.5)
    assert settings.objectives.backlog_age_s == 60
    cluster = settings.clusters["pulsar-prod"]
    assert cluster.prometheus.url == "https://prometheus.example:9090"
    assert (cluster.prometheus.reader, cluster.prometheus.timeout) == ("api", 90_000)
    assert cluster.pulsar_admin.token_file == tmp_path / "secrets/admin.token"
    assert cluster.labels.renames() == {"exported_namespace": "namespace"}
    assert settings.clusters["other"].pulsar_admin is None


def test_clusters_have_their_own_time_zone(file):
    settings = load_settings(
        file(
            WHOLE.replace("[clusters.pulsar-prod]\n", '[clusters.pulsar-prod]\ntime_zone = "Europe/Berlin"\n')
        )
    )
    assert settings.clusters["pulsar-prod"].time_zone == "Europe/Berlin"
    assert settings.clusters["other"].time_zone == "UTC"


@pytest.mark.parametrize("zone", ["", "Europe/Berlim", "+02:00", "../../etc/passwd", "CET-1CEST"])
def test_invalid_time_zone_is_refused(file, zone):
    with pytest.raises(InputError, match=r"clusters\.a\.time_zone.*Europe/Berlin"):
        load_settings(file(f'[clusters.a]\ntime_zone = "{zone}"'))


def test_max_series_reaches_the_source(file):
    settings = load_settings(file('[clusters.a.prometheus]\nurl = "http://p:9090"\nmax_series = 7'))
    assert settings.clusters["a"].prometheus.access().max_series == 7
    assert load_settings(file(WHOLE)).clusters["other"].prometheus.access().max_series == 1_000_000


def test_defaults_apply_without_a_file():
    settings = load_settings(None)
    assert (settings.ingest.max_concurrent_reads, settings.ingest.admin_calls_per_s) == (2, 10)
    assert (settings.window, settings.every, settings.clusters) == (300_000, 300_000, {})


def test_flags_override_the_file(file):
    """A flag that is not given changes nothing."""
    flags = {
        "every": "5m",
        "window": None,
        "clusters": {"other": {"prometheus": {"url": "http://new:9090", "reader": None}}},
    }
    settings = load_settings(file(WHOLE), flags)
    assert (settings.window, settings.every) == (600_000, 300_000)
    assert settings.clusters["other"].prometheus.url == "http://new:9090"
    assert settings.clusters["pulsar-prod"].prometheus.reader == "api"


def test_environment_variables_do_not_override_settings(file, monkeypatch):
    monkeypatch.setenv("LAKE", "/elsewhere")
    monkeypatch.setenv("WINDOW", "1m")
    assert load_settings(file('lake = "x"')).lake.endswith("/x")
    assert load_settings(None).window == 300_000


@pytest.mark.parametrize(
    ("text", "place", "near"),
    [
        ('lak = "x"', "lak", "lake"),
        ("[ingest]\nmax_concurent_reads = 1", "ingest.max_concurent_reads", "max_concurrent_reads"),
        (
            '[clusters.a.prometheus]\nurl = "http://x"\ntoken = "abc"',
            "clusters.a.prometheus.token",
            "token_env",
        ),
        ('[clusters.a]\nmatches = ["x"]', "clusters.a.matches", "match"),
        ('[clusters.a.labels]\nnamespaces = "x"', "clusters.a.labels.namespaces", "namespace"),
    ],
)
def test_unknown_key_suggests_the_nearest_key(file, text, place, near):
    with pytest.raises(InputError, match=f"unknown key {re.escape(place)};.*did you mean {near}") as caught:
        load_settings(file(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("window = 5", "window is not right: expected a duration"),
        ('window = "0s"', "window is not right: Input should be greater than 0"),
        ("lake =", "is not TOML"),
        ("[ingest]\nmax_concurrent_reads = 0", "ingest.max_concurrent_reads is not right"),
        ('[clusters.a.prometheus]\nurl = "prometheus:9090"', "expected http://HOST"),
        ('[clusters.a.prometheus]\nurl = "http://x/?a=b"', "must end before"),
        ('[clusters.a.prometheus]\nreader = "api"', "clusters.a.prometheus.url is not right: Field required"),
        ('[clusters.a.prometheus]\nurl = "http://x"\nusername = "u"', "needs username and one of"),
        ('[clusters.a.prometheus]\nurl = "http://x"\ntoken_env = "A"\ntoken_file = "b"', "not both"),
        (
            '[clusters.a.prometheus]\nurl = "http://x"\ntoken_env = "A"\nusername = "u"\npassword_env = "B"',
            "exclude each other",
        ),
        ('[clusters.a.prometheus]\nurl = "https://x"\nverify = false\nca_file = "ca.pem"', "has no effect"),
        ('[clusters.a.prometheus]\nurl = "https://x"\nkey_file = "k.pem"', "key_file needs cert_file"),
        ("[clusters.a.pulsar_admin]\nurls = []", "clusters.a.pulsar_admin.urls is not right"),
    ],
)
def test_invalid_value_is_named_on_one_line(file, text, words):
    with pytest.raises(InputError) as caught:
        load_settings(file(text))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_secrets_never_appear_in_text(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PROM_PASSWORD", "hunter2-password")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/admin.token").write_text("hunter2-token\n")
    settings = load_settings(file(WHOLE))
    cluster = settings.clusters["pulsar-prod"]
    assert cluster.prometheus.password().get_secret_value() == "hunter2-password"
    assert cluster.pulsar_admin.token().get_secret_value() == "hunter2-token"
    assert cluster.prometheus.all_headers()["X-Scope-OrgID"].get_secret_value() == "tenant-7"
    shown = repr(settings) + str(settings.model_dump()) + repr(cluster.prometheus.all_headers())
    assert "hunter2" not in shown
    assert "tenant-7" not in shown
    with pytest.raises(InputError) as caught:
        load_settings(file('[clusters.a.prometheus]\nurl = "http://reader:hunter2@x"'))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), ("", "is empty"), ("one\ntwo", "more than one line")]
)
def test_missing_or_multiline_secret_is_refused(file, tmp_path, content, words):
    path = file('[clusters.a.prometheus]\nurl = "http://x"\ntoken_file = "t"')
    if content is not None:
        (tmp_path / "t").write_text(content)
    with pytest.raises(InputError, match=words):
        load_settings(path).clusters["a"].prometheus.token()


def test_config_file_search_order(file, tmp_path, monkeypatch):
    """The flag comes first, then the environment, then the working directory."""
    here = file("")
    monkeypatch.chdir(tmp_path)
    other, third = tmp_path / "b.toml", tmp_path / "c.toml"
    other.touch()
    third.touch()
    assert find_config(third, {"THROTTLESCOPE_CONFIG": str(other)}) == third
    assert find_config(None, {"THROTTLESCOPE_CONFIG": str(other)}) == other
    assert find_config(None, {}).absolute() == here
    here.unlink()
    assert find_config(None, {}) is None
    with pytest.raises(InputError, match=r"nowhere.toml \(from \$THROTTLESCOPE_CONFIG\)"):
        find_config(None, {"THROTTLESCOPE_CONFIG": "nowhere.toml"})


def test_every_key_is_described():
    rows = describe()
    assert len({key for key, *_ in rows}) == len(rows) > 30
    assert all(meaning for *_, meaning in rows)


@given(st.text(max_size=200))
def test_arbitrary_text_loads_or_is_refused(text):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "throttlescope.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            load_settings(path)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
