"""Messages over a real socket: what is signed and sent, what is tried again, what is not, and how long it takes."""

from __future__ import annotations

import time

import pytest
from pydantic import SecretStr

from tests.app.notifications.receiver import YES, drips, hangs, receiving
from tests.app.notifications.test_channels import message
from tests.ingest.certificates import certificate
from throttlescope.app.config import NotificationChannel
from throttlescope.app.incident.notifications.channels import dingtalk, webhook
from throttlescope.app.incident.notifications.delivery import Channel, DeliveryError, deliver

pytestmark = pytest.mark.long

PATH = "/services/T0/token-in-the-path?access_token=token-in-the-query"


def channel(url, kind="webhook", secret=None, **settings):
    known = NotificationChannel(type=kind, url_env="X", timeout="1s", **settings)
    return Channel("room", known, SecretStr(url), None if secret is None else SecretStr(secret))


def sent(receiver, kind="webhook", secret=None, path="/hook", deadline_s=10.0, waits=None, **settings):
    """Deliver; the waits are only noted."""
    deliver(
        channel(receiver.url + path, kind, secret, **settings),
        message(),
        deadline_s=deadline_s,
        sleep=(waits if waits is not None else []).append,
    )


@pytest.mark.parametrize("kind", list(YES))
def test_accepted_message_is_sent_once(kind):
    with receiving(YES[kind]) as receiver:
        sent(receiver, kind)
    (request,) = receiver.requests
    assert request.headers["content-type"].startswith("application/json")
    assert request.document


def test_receiver_can_check_both_signatures():
    with receiving(YES["webhook"]) as receiver:
        sent(receiver, secret="whsec_c2VjcmV0LW9mLXRoZS1ob29r")  # noqa: S106
    (request,) = receiver.requests
    stamp = int(request.headers["webhook-timestamp"])
    assert abs(stamp - time.time()) < 60
    expected = webhook.signature(
        "whsec_c2VjcmV0LW9mLXRoZS1ob29r", request.headers["webhook-id"], stamp, request.body
    )
    assert request.headers["webhook-signature"] == expected
    with receiving(YES["dingtalk"]) as receiver:
        sent(receiver, "dingtalk", "SEC1", path="/robot/send?access_token=abc")
    query = receiver.requests[0].query
    assert query["access_token"] == "abc"  # noqa: S105
    assert query["sign"] == dingtalk.signature("SEC1", int(query["timestamp"]))


@pytest.mark.parametrize(
    ("kind", "no"),
    [
        ("webhook", (500, b"", {})),
        ("slack", (429, b"", {"Retry-After": "3"})),
        ("dingtalk", (200, b'{"errcode":130101,"errmsg":"send too fast"}', {})),
        ("wecom", (200, b'{"errcode":45009,"errmsg":"api freq out of limit"}', {})),
    ],
)
def test_passing_refusals_are_tried_again(kind, no):
    waits = []
    with receiving(no, no, YES[kind]) as receiver:
        sent(receiver, kind, waits=waits)
    assert len(receiver.requests) == 3
    assert len({request.body for request in receiver.requests}) == 1
    assert len(waits) == 2
    assert all(wait_s >= (3.0 if kind == "slack" else 0.5) for wait_s in waits)


def test_attempts_come_to_an_end():
    waits = []
    with receiving((500, b"", {})) as receiver, pytest.raises(DeliveryError, match="got 500 Internal"):
        sent(receiver, waits=waits, deadline_s=60)
    assert len(receiver.requests) == 4
    assert 0.5 <= waits[0] <= 1.5
    assert 2.0 <= waits[2] <= 6.0


def test_wait_beyond_deadline_is_not_begun():
    with (
        receiving((503, b"", {"Retry-After": "600"})) as receiver,
        pytest.raises(DeliveryError, match="503 Service"),
    ):
        sent(receiver)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("slow", [hangs, drips])
def test_silent_receiver_ends_at_the_deadline(slow):
    begun_s = time.monotonic()
    with receiving(slow) as receiver, pytest.raises(DeliveryError, match="did not answer in time"):
        sent(receiver, deadline_s=2.0)
    assert time.monotonic() - begun_s < 5


def test_redirect_is_not_followed():
    with receiving(YES["webhook"]) as other, receiving((307, b"", {"Location": f"{other.url}/"})) as receiver:
        with pytest.raises(DeliveryError, match="redirects are not followed; got 307"):
            sent(receiver)
        assert len(receiver.requests) == 1
        assert other.requests == []


@pytest.mark.parametrize(
    ("kind", "no", "says"),
    [
        ("webhook", (403, b"bad signature", {}), "403 Forbidden, bad signature"),
        ("slack", (404, b"no_service", {}), "404 Not Found, no_service"),
        ("slack", (200, b"<html>", {}), "instead of ok"),
        (
            "dingtalk",
            (200, b'{"errcode":310000,"errmsg":"sign not match"}', {}),
            "errcode 310000, sign not match",
        ),
        ("wecom", (200, b'{"errcode":93000,"errmsg":"invalid webhook url"}', {}), "errcode 93000"),
        ("wecom", (200, b"<html>login</html>", {}), "without errcode"),
    ],
)
def test_final_refusal_is_not_tried_again(kind, no, says):
    with receiving(no) as receiver, pytest.raises(DeliveryError, match=says):
        sent(receiver, kind)
    assert len(receiver.requests) == 1


def test_unknown_certificate_is_refused(tmp_path):
    ours = certificate(tmp_path, "127.0.0.1")
    with receiving(YES["webhook"], tls=ours.tls()) as receiver:
        with pytest.raises(DeliveryError, match="certificate is not trusted"):
            sent(receiver)
        assert receiver.requests == []
        sent(receiver, ca_file=ours.cert_file)
        assert len(receiver.requests) == 1


def test_errors_name_no_secret():
    """Addresses of robots are secrets, and a proxy's answer may repeat them."""
    secrets = ("token-in-the-path", "token-in-the-query", "SECret-of-the-robot")
    echo = " ".join([PATH, *secrets]).encode()
    errors = []
    for reply in ((500, b"", {}), (403, echo, {}), (200, echo, {}), (302, b"", {"Location": PATH}), hangs):
        with receiving(reply) as receiver, pytest.raises(DeliveryError) as caught:
            sent(receiver, "dingtalk", "SECret-of-the-robot", path=PATH, deadline_s=1.0)
        errors.append(str(caught.value))
    with pytest.raises(DeliveryError) as caught:
        deliver(channel(receiver.url + PATH, "slack"), message(), deadline_s=1.0, sleep=lambda s: None)
    errors.append(str(caught.value))
    assert len(errors) == 6
    assert "cannot be reached" in errors[-1]
    for error in errors:
        assert not any(secret in error for secret in secrets), error
    assert "SECret" not in repr(channel(PATH, "dingtalk", "SECret-of-the-robot"))
    assert "token" not in repr(channel(PATH, "dingtalk", "SECret-of-the-robot"))
