"""What each type of channel is sent: signatures by hand, limits of size, and names that are no markup."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import subprocess

import jsonschema
import pytest

from tests.app.notifications.test_changes import changes, episode, told
from throttlescope.app.incident.notifications.channels import WRITERS, dingtalk, webhook
from throttlescope.app.incident.notifications.channels.webhook import NotificationBody
from throttlescope.app.incident.notifications.wording import WhatHelps, notification_of, trial, worded
from throttlescope.ingest.core.errors import InputError

HOSTILE = "<!channel>*b*[x](http://evil)`c`<@all>&#|~_\nnew line"
#: Bytes, or of Slack characters, that a vendor takes.
DINGTALK_BYTES, WECOM_BYTES, SLACK_SECTION, SLACK_BLOCKS = 20_000, 4_096, 3_000, 50


def message(*episodes, helps=None, **options):
    found = changes(list(episodes) or [episode()]).changes
    return notification_of([worded(one, "room", helps=helps, **options) for one in found], "room", 5_000)


def many(number, name="orders"):
    return [
        episode(peak=float(number - i))
        | {"episode_id": f"{i:016x}", "topic": f"persistent://acme/shop/{name}-{i}"}
        for i in range(number)
    ]


def body(kind, notification, secret=None):
    return json.loads(WRITERS[kind](notification, secret, 1_700_000_000_123).body)


def openssl_hmac(key, content):
    """The HMAC by another implementation, in base64."""
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}", "-binary"],
        input=content, capture_output=True, check=True,
    )  # fmt: skip
    return base64.b64encode(done.stdout).decode()


def test_webhook_is_signed_over_id_time_and_body():
    request = WRITERS["webhook"](message(), "a secret", 1_700_000_000_123)
    identity, stamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
    assert stamp == "1700000000"
    signed = f"{identity}.{stamp}.".encode() + request.body
    assert request.headers["webhook-signature"] == f"v1,{openssl_hmac(b'a secret', signed)}"
    assert request.headers["webhook-signature"] != webhook.signature("a secret", identity, 1, request.body)


def test_whsec_secret_is_base64():
    key = bytes(range(32))
    secret = f"whsec_{base64.b64encode(key).decode()}"
    assert webhook.signature(secret, "id", 5, b"{}") == f"v1,{openssl_hmac(key, b'id.5.{}')}"
    with pytest.raises(InputError, match="base64"):
        webhook.signature("whsec_not base64", "id", 5, b"{}")


def test_dingtalk_signs_time_and_secret_in_address():
    request = WRITERS["dingtalk"](message(), "SECabc", 1_700_000_000_123)
    assert request.query["timestamp"] == "1700000000123"
    assert request.query["sign"] == openssl_hmac(b"SECabc", b"1700000000123\nSECabc")
    assert WRITERS["dingtalk"](message(), None, 5).query == {}
    assert hmac.compare_digest(
        dingtalk.signature("s", 1), base64.b64encode(hmac.digest(b"s", b"1\ns", hashlib.sha256)).decode()
    )


def test_webhook_body_matches_its_schema():
    schema = NotificationBody.model_json_schema()
    helps = WhatHelps("Raise it.", "pulsar-admin ...", "5 min")
    sent = told(changes([episode()]))
    for one in (
        message(helps=helps, page_url="https://scope.example"),
        message(*many(5)),
        trial("room", 5),
        notification_of([worded(changes([], sent).changes[0], "room")], "room", 5),
    ):
        document = body("webhook", one)
        jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
        assert document["message_id"] == one.message_id
    (change,) = body("webhook", message(helps=helps))["changes"]
    assert (change["change"], change["side"], change["limiter"]) == ("opened", "throttle", "topic.msg")
    assert change["backlog_entries"] == 5000.0
    assert change["what_helps"] == {"text": "Raise it.", "command": "pulsar-admin ...", "gone_in": "5 min"}


@pytest.mark.parametrize("kind", ["slack", "dingtalk", "wecom"])
def test_message_names_cause_start_backlog_and_help(kind):
    one = message(helps=WhatHelps("Raise it to 100 msg/s."), page_url="https://scope.example")
    text = json.dumps(body(kind, one), ensure_ascii=False)
    for part in ("throttled", "topic message limit", "Since 2026-11-19 00:00 UTC", "5,000 entries", "Raise it to 100 msg/s",
                 "https://scope.example/subscription?", one.message_id):  # fmt: skip
        assert part in text, part


@pytest.mark.parametrize("name", ["orders", HOSTILE * 3], ids=["plain", "hostile"])
def test_digest_fits_every_vendor(name):
    digest = message(*many(300, name), page_url="https://scope.example")
    for secret in (None, "SECabc"):
        assert len(WRITERS["dingtalk"](digest, secret, 5).body) <= DINGTALK_BYTES
    content = body("wecom", digest)["markdown"]["content"]
    assert len(content.encode()) <= WECOM_BYTES
    blocks = body("slack", digest)["blocks"]
    assert len(blocks) <= SLACK_BLOCKS
    sections = [one["text"]["text"] for one in blocks if one["type"] == "section"]
    assert max(map(len, sections)) <= SLACK_SECTION
    assert len(json.dumps(blocks)) < 13_000
    shown = body("webhook", digest)
    assert len(shown["changes"]) + shown["changes_left_out"] == 300
    for text in (content, sections[-1], body("dingtalk", digest)["markdown"]["text"]):
        assert "more." in text


def test_names_of_others_are_no_markup():
    one = message(episode() | {"topic": f"persistent://acme/shop/{HOSTILE}"})
    document = body("slack", message(*many(2, HOSTILE)))
    # The header is plain text to Slack; everything else is markup.
    assert document["blocks"].pop(0)["text"]["type"] == "plain_text"
    assert "&lt;!channel&gt;" in json.dumps(document)
    assert "<!channel>" not in json.dumps(document)
    for text in (body("dingtalk", one)["markdown"]["text"], body("wecom", one)["markdown"]["content"]):
        assert "](http://evil)" not in text
        assert "*b*" not in text
        assert "<@all>" not in text
        # The name stays on its line.
        assert "\nnew line" not in text


def test_lone_surrogate_is_sent_all_the_same():
    one = message(episode() | {"subscription": "half \ud800"})
    for kind in WRITERS:
        assert WRITERS[kind](one, None, 5).body.decode("utf-8")


def test_digest_counts_what_changed():
    assert message(*many(4)).title == "4 backlogs changed: 4 opened, 0 with another cause, 0 gone"
