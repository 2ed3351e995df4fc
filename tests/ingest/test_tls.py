"""Certificates are checked, for each kind of request to a source, against a real TLS server; and only a user turns that off."""

from __future__ import annotations

import ssl
import warnings
from urllib.parse import urlsplit

import pytest
from urllib3.exceptions import InsecureRequestWarning

from tests.app.http_server import answering
from tests.ingest.certificates import certificate
from tests.ingest.ways import WAYS, healthy
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.sources.access import Access

every_way = pytest.mark.parametrize("ask", WAYS.values(), ids=WAYS)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"), "localhost", "127.0.0.1")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"), "elsewhere.example")


@pytest.fixture(scope="module")
def server(ours):
    """Address by number, and by name."""
    with answering(healthy, tls=ours.tls()) as url:
        yield url, f"https://localhost:{urlsplit(url).port}"


@pytest.fixture(autouse=True)
def _no_bundles(monkeypatch):
    """Of whoever runs the tests."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def refusal(ask, url: str, access: Access) -> str:
    with pytest.raises(SourceError) as caught:
        ask(url, access)
    text = str(caught.value)
    assert "TLS failed" in text
    assert "\n" not in text
    return text


@every_way
def test_untrusted_authority_is_refused(server, ask) -> None:
    for url in server:
        text = refusal(ask, url, Access(timeout_s=10))
        assert "certificate verify failed" in text
        assert "ca_file" in text


@every_way
def test_it_is_accepted_with_its_authority(server, ours, ask) -> None:
    for url in server:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(url, Access(ca_file=ours.cert_file, timeout_s=10))


@every_way
def test_another_authority_does_not_help(server, elsewhere, ask) -> None:
    assert "certificate verify failed" in refusal(
        ask, server[0], Access(ca_file=elsewhere.cert_file, timeout_s=10)
    )


@every_way
def test_a_certificate_for_another_host_is_refused(elsewhere, ask) -> None:
    with answering(healthy, tls=elsewhere.tls()) as url:
        access = Access(ca_file=elsewhere.cert_file, timeout_s=10)
        for address, word in ((url, "127.0.0.1"), (f"https://localhost:{urlsplit(url).port}", "localhost")):
            text = refusal(ask, address, access)
            assert "mismatch" in text
            assert word in text


@every_way
def test_disabled_certificate_check_warns(server, elsewhere, ask) -> None:
    with answering(healthy, tls=elsewhere.tls()) as wrong:
        for url in (*server, wrong):
            with pytest.warns(InsecureRequestWarning, match="Unverified HTTPS request"):
                ask(url, Access(verify=False, timeout_s=10))


@every_way
def test_environment_bundle_replaces_no_setting(server, ours, elsewhere, ask, monkeypatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", elsewhere.cert_file)
    ask(server[0], Access(ca_file=ours.cert_file, timeout_s=10))
    with pytest.warns(InsecureRequestWarning):
        ask(server[0], Access(verify=False, timeout_s=10))
    # Where no authority is given, the environment's is taken.
    refusal(ask, server[0], Access(timeout_s=10))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", ours.cert_file)
    ask(server[0], Access(timeout_s=10))
    refusal(ask, server[0], Access(ca_file=elsewhere.cert_file, timeout_s=10))


@every_way
def test_client_certificate_is_sent(ours, elsewhere, ask) -> None:
    demanding = ours.tls()
    demanding.verify_mode = ssl.CERT_REQUIRED
    demanding.load_verify_locations(elsewhere.cert_file)
    with answering(healthy, tls=demanding) as url:
        trusting = {"ca_file": ours.cert_file, "timeout_s": 10}
        ask(url, Access(**trusting, cert_file=elsewhere.cert_file, key_file=elsewhere.key_file))
        with pytest.raises(SourceError):
            ask(url, Access(**trusting))
