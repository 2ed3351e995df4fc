"""One message to one channel. In: a notification. Out: nothing, or an error that says why it was not accepted and names no secret.

Redirects are not followed, certificates are checked, and all attempts together end at a deadline, whatever the other side does.
"""

from __future__ import annotations

import difflib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import requests
from pydantic import SecretStr, ValidationError

from throttlescope.app.config import NotificationChannel
from throttlescope.app.incident.notifications.channels import READERS, WRITERS, ChannelRequest
from throttlescope.app.incident.notifications.wording import Notification, trial
from throttlescope.app.services.diagnose_now.deadline import Deadline, Waited
from throttlescope.ingest.core.errors import InputError, SourceError, ThrottlescopeError
from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.ingest.sources.access import TRANSPORT_ERRORS, Access, hidden, timed_out

if TYPE_CHECKING:
    from throttlescope.app.config import Notifications

ATTEMPTS = 4
_FIRST_WAIT_S = 1.0
#: An answer is read no further: a yes is short.
_MOST_ANSWER_BYTES = 64 * 1024
#: A part of an address's path that may be a secret has at least so many.
_SECRET_CHARACTERS = 8
_TOO_MANY = 429


class DeliveryError(SourceError):
    """A channel did not accept a message, and would not accept it now."""


class TemporaryDeliveryError(DeliveryError):
    """A channel did not accept a message, and may accept it later; ``retry_after_s`` where it says when."""

    is_transient = True
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Channel:
    """A channel that is ready: its address and secret were read.

    Attributes
    ----------
    address : SecretStr
        Of most types it is a secret itself.
    """

    name: str
    settings: NotificationChannel
    address: SecretStr = field(repr=False)
    secret: SecretStr | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """The only part of the address that may be shown."""
        return urlsplit(self.address.get_secret_value()).netloc.rpartition("@")[2]

    def written(self, notification: Notification, now_ms: int) -> ChannelRequest:
        """The request that would be posted.

        Raises
        ------
        InputError
            The secret cannot be used.
        """
        secret = None if self.secret is None else self.secret.get_secret_value()
        return WRITERS[self.settings.type](notification, secret, now_ms)


def open_channels(settings: Notifications, wanted: Sequence[str]) -> list[Channel]:
    """Channels by their names in the configuration, ``all`` of them, or a webhook's address, each with its secrets read.

    Raises
    ------
    InputError
        There is no such channel, or its address or secret cannot be read.
    """
    found: dict[str, Channel] = {}
    for text in wanted:
        if "://" in text:
            one = _of_address(text)
            found[one.name] = one
            continue
        if text != "all" and text not in settings.channels:
            near = difflib.get_close_matches(text, settings.channels, n=1)
            raise InputError(
                "There is no such channel",
                got=text,
                expected=", ".join(["all", *settings.channels]) if settings.channels else None,
                fix=f"did you mean {near[0]}?"
                if near
                else "add [notifications.channels.NAME] to the configuration, or give a webhook's address",
            )
        if text == "all" and not settings.channels:
            raise InputError(
                "No channel is configured", fix="add [notifications.channels.NAME] to the configuration"
            )
        for name in settings.channels if text == "all" else (text,):
            one = settings.channels[name]
            found[name] = Channel(name, one, SecretStr(one.address()), one.secret())
    for channel in found.values():
        # A secret that cannot be used is said before the run, not after it.
        channel.written(trial(channel.name, 0), 0)
    return list(found.values())


def _of_address(text: str) -> Channel:
    try:
        settings = NotificationChannel(type="webhook", url=text)
    except ValidationError as error:
        why = str(error.errors(include_url=False, include_input=False)[0]["msg"]).removeprefix(
            "Value error, "
        )
        raise InputError(
            f"The address of a webhook cannot be used: {why}",
            fix="an address with a secret in it belongs into a file or variable: [notifications.channels.NAME] in the configuration",
        ) from None
    return Channel(urlsplit(text).netloc, settings, SecretStr(settings.address()))


def deliver(
    channel: Channel,
    notification: Notification,
    *,
    deadline_s: float,
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Send a message, again with growing waits where it may be accepted later.

    Parameters
    ----------
    deadline_s : float
        Of all attempts together.

    Raises
    ------
    DeliveryError
        It was not accepted.
    """
    deadline = Deadline(deadline_s)

    def attempt() -> None:
        # Signed anew: a time stamp that is too old is refused.
        _post(channel, channel.written(notification, now_ms()), deadline)

    waits: list[float] = []

    def is_worth_it(error: BaseException) -> bool:
        """Whether the error may pass, and the wait before the next attempt ends before the deadline."""
        if not isinstance(error, TemporaryDeliveryError):
            return False
        wait_s = _FIRST_WAIT_S * 2 ** len(waits) * random.uniform(0.5, 1.5)  # noqa: S311
        waits.append(max(wait_s, error.retry_after_s or 0.0))
        return waits[-1] < deadline.left_s

    retry(attempt, attempts=ATTEMPTS, wait_s=lambda number: waits[-1], when=is_worth_it, sleep=sleep)


def _post(channel: Channel, request: ChannelRequest, deadline: Deadline) -> None:
    left_s = max(0.1, min(channel.settings.timeout / SECOND_MS, deadline.left_s))
    ca_file = channel.settings.ca_file
    access = Access(
        ca_file=None if ca_file is None else str(ca_file.expanduser()),
        timeout_s=left_s,
        longest_answer_s=left_s,
        max_answer_bytes=_MOST_ANSWER_BYTES,
    )
    what = f"Channel {channel.name} at {channel.host}"

    def send() -> requests.Response:
        with access.session(retries=0) as session:
            try:
                return session.post(
                    _with_query(channel.address.get_secret_value(), request.query),
                    data=request.body,
                    headers=dict(request.headers),
                    timeout=access.timeout,
                    allow_redirects=False,
                )
            except TRANSPORT_ERRORS as error:
                raise _unreachable(error, what, left_s) from None

    try:
        # In a thread that may be left behind: a time-out of the socket does not end headers that come byte by byte.
        answer = Waited(send).result(Deadline(left_s + 0.5), 1.0, what)
    except (DeliveryError, InputError):
        raise
    except ThrottlescopeError:
        # The time is up, or the answer does not come to its end.
        raise _late(what, left_s) from None
    _check(answer, channel, what)


def _check(answer: requests.Response, channel: Channel, what: str) -> None:
    status = f"{answer.status_code} {answer.reason}"
    if 300 <= answer.status_code < 400:
        raise DeliveryError(
            f"{what} redirects, and redirects are not followed",
            got=status,
            expected="2xx",
            fix="give the address that it redirects to, if you trust it",
        )
    if answer.status_code == _TOO_MANY or answer.status_code >= 500:
        error = TemporaryDeliveryError(
            f"{what} did not take a message", got=status, expected="2xx", fix="look at that server's log"
        )
        error.retry_after_s = _seconds(answer.headers.get("Retry-After"))
        raise error
    if not 200 <= answer.status_code < 300:
        raise DeliveryError(
            f"{what} refuses a message",
            got=f"{status}, {_quoted(answer, channel)}",
            expected="2xx",
            fix="check the address and the secret of the channel with throttlescope notify test",
        )
    refusal = READERS[channel.settings.type](answer.content)
    if refusal is not None:
        kind = TemporaryDeliveryError if refusal.is_transient else DeliveryError
        raise kind(
            f"{what} refuses a message",
            got=_without_secrets(refusal.why, channel),
            fix=None
            if refusal.is_transient
            else "check the address, the secret and the protection of the robot",
        )


def _unreachable(error: BaseException, what: str, limit_s: float) -> DeliveryError:
    """An error of the transport. Its own text has the address, which may be a secret: only its kind is shown."""
    if isinstance(error, requests.exceptions.SSLError):
        return DeliveryError(
            f"{what}: its certificate is not trusted, or TLS failed",
            fix="give ca_file with the authority that signed it",
        )
    if timed_out(error):
        return _late(what, limit_s)
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema):
        return DeliveryError(f"{what}: the address cannot be used", expected="https://HOST/PATH")
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError) or "TLS CA" in str(error):
        return DeliveryError(f"{what}: ca_file cannot be read", fix="check the path of ca_file")
    return TemporaryDeliveryError(
        f"{what} cannot be reached",
        got=type(error).__name__,
        fix="check the address, that the server runs, and that a firewall or proxy lets it through",
    )


def _late(what: str, limit_s: float) -> TemporaryDeliveryError:
    return TemporaryDeliveryError(
        f"{what} did not answer in time",
        got=f"no whole answer in {limit_s:.1f} s",
        fix="look at that server, or raise timeout of the channel",
    )


def _seconds(text: str | None) -> float | None:
    """``Retry-After`` in seconds; a date in it is left to the waits of our own."""
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 8 else None


def _with_query(address: str, query: Mapping[str, str]) -> str:
    parts = urlsplit(address)
    added = urlencode(query, quote_via=quote)
    return urlunsplit(parts._replace(query="&".join(part for part in (parts.query, added) if part)))


def _quoted(answer: requests.Response, channel: Channel) -> str:
    """The beginning of what it says, which may repeat what it was sent."""
    said = " ".join(answer.content[:200].decode("utf-8", "replace").split())
    return _without_secrets(said, channel) or "no text"


def _without_secrets(text: str, channel: Channel) -> str:
    parts = urlsplit(channel.address.get_secret_value())
    segments = (one for one in parts.path.split("/") if len(one) >= _SECRET_CHARACTERS)
    values = (part.partition("=")[2] for part in parts.query.split("&"))
    secret = () if channel.secret is None else (channel.secret.get_secret_value(),)
    return hidden([*segments, *values, *secret], text)
