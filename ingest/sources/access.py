"""Access to an HTTP source. In: credentials, TLS and headers. Out: a session that says clearly what refuses it.

Secrets live in this object and in the session's headers. They are in no message, no ``repr``, no manifest and no URL.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import requests
import urllib3
from urllib3.util.retry import Retry

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.sources.bounded_answer import BoundedAdapter, public_url
from throttlescope.ingest.sources.sessions import (
    PATIENCE,
    CarefulSession,
    InsideSession,
    SilentHostError,
    left_behind,
)

CONNECT_TIMEOUT_S = 10.0
#: Series of one read: each takes about a kilobyte until its samples are written.
MAX_SERIES = 1_000_000

#: What a message shows in place of a secret. Shorter secrets are not replaced: they would match parts of words.
_HIDDEN, _SHORTEST_SECRET = "(hidden)", 4

#: What a request or the reading of its answer can end with.
TRANSPORT_ERRORS = (requests.RequestException, urllib3.exceptions.HTTPError, OSError)


class BrokenStreamError(SourceError):
    """A response was cut off or damaged; a second read may be complete."""

    is_transient = True


class TooManySeriesError(SourceError):
    """A read brings more series than fit into memory; a smaller request may succeed."""


@dataclass(frozen=True, repr=False)
class Access:
    """Credentials and transport of one source.

    Attributes
    ----------
    username, password : str, optional
        Basic authentication.
    token : str, optional
        Bearer token.
    headers : mapping
        More headers, such as ``X-Scope-OrgID``.
    verify : bool
        False: the server's certificate is not checked.
    ca_file, cert_file, key_file : str, optional
        PEM files: authorities to trust, our certificate, its key.
    timeout_s : float
        Longest wait for the next bytes of an answer.
    longest_answer_s : float
        Longest time that an answer may take from its head to its last byte.
    max_answer_bytes : int
        Most bytes that an answer may have, unpacked; one that is read as it comes may have sixteen times as many.
    max_series : int
        Most series that one read may bring.
    """

    username: str | None = None
    password: str | None = None
    token: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    verify: bool = True
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    timeout_s: float = 60.0
    longest_answer_s: float = 900.0
    max_answer_bytes: int = 1 << 28
    max_series: int = MAX_SERIES

    def __repr__(self) -> str:
        if self.token:
            kind = "bearer token"
        elif self.username:
            kind = "basic authentication"
        else:
            kind = "no authentication"
        return f"Access({kind}, {len(self.headers)} more headers)"

    @property
    def timeout(self) -> tuple[float, float]:
        """Seconds for the connection and for each wait for bytes, as ``requests`` takes them."""
        return (min(CONNECT_TIMEOUT_S, self.timeout_s), self.timeout_s)

    @contextlib.contextmanager
    def hiding(self) -> Iterator[None]:
        """Leave our secrets out of what is said when something fails: a proxy's page of errors may repeat what it was sent."""
        try:
            yield
        except SourceError as error:
            secrets = self._secrets()
            parts = [
                None if part is None else str(part)
                for part in (error.what, error.got, error.expected, error.fix)
            ]
            what, got, expected, fix = (part and _without(secrets, part) for part in parts)
            # Answers are quoted there, up to some length, which may end inside a secret: tokens are long.
            got = got and _without_a_beginning(secrets, got)
            if [what, got, expected, fix] == parts:
                raise
            raise type(error)(what, got=got, expected=expected, fix=fix) from None

    def without_secrets(self, text: str) -> str:
        """A text of a server with our secrets hidden: it is kept and shown."""
        return _without(self._secrets(), text)

    def _secrets(self) -> list[str]:
        """What must not be shown, the longest first."""
        found = [*self.headers.values(), self.token, self.password]
        if self.username:
            basic = f"{self.username}:{self.password or ''}".encode()
            found.append(base64.b64encode(basic).decode())
        return sorted({one for one in found if one and len(one) >= _SHORTEST_SECRET}, key=len, reverse=True)

    def session(self, *, retries: int = 2, redirects_inside: bool = False) -> requests.Session:
        """A session that carries all of this.

        Only connections are retried, and 429 and 503 with ``Retry-After``; any other answer is returned.

        Parameters
        ----------
        redirects_inside : bool
            Redirects lead to servers of the same system, which need the same credentials: a broker redirects requests
            about a topic to the topic's owner. A host that answers none of three requests in a row gets no more:
            there are thousands of them, and each would wait for its whole timeout. Without this, credentials and
            the user's own headers stay with the server that they were given for.
        """
        session = (InsideSession if redirects_inside else CarefulSession)(self.headers)
        # Without this, requests reads ~/.netrc and proxies of the environment; proxies stay wanted.
        session.auth = (self.username, self.password or "") if self.username else _NoNetrc()
        # Unpacking costs more than a local network; a header of the user's own may request gzip for a slow one.
        session.headers["Accept-Encoding"] = "identity"
        if self.token:
            session.headers["Authorization"] = f"Bearer {self.token}"
        session.headers.update(self.headers)
        session.headers["User-Agent"] = "throttlescope"
        session.verify = (self.ca_file or True) if self.verify else False
        if self.cert_file:
            session.cert = (self.cert_file, self.key_file) if self.key_file else self.cert_file
        self.mount(session, retries)
        return session

    def mount(self, session: requests.Session, retries: int) -> None:
        """Put our adapter in front. Called again after a client that mounts its own."""
        retry = Retry(
            total=retries,
            connect=retries,
            read=0,
            status=retries,
            other=0,
            backoff_factor=0.5,
            backoff_max=5,
            status_forcelist=(429, 503),
            allowed_methods=None,
            raise_on_status=False,
            respect_retry_after_header=False,
        )
        for prefix in [*session.adapters, "http://", "https://"]:
            session.mount(
                prefix, BoundedAdapter(self.max_answer_bytes, self.longest_answer_s, max_retries=retry)
            )


def hidden(secrets: Iterable[str], quoted: str) -> str:
    """The beginning of what a server says, which may repeat secrets of ours and may end inside one."""
    known = sorted({one for one in secrets if len(one) >= _SHORTEST_SECRET}, key=len, reverse=True)
    return _without_a_beginning(known, _without(known, quoted))


def _without(secrets: list[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text


def _without_a_beginning(secrets: list[str], text: str) -> str:
    """The text without the beginning of a secret at its end, or before the bracket that ends it."""
    end = text.rstrip(")")
    for secret in secrets:
        for size in range(min(len(secret), len(end)), _SHORTEST_SECRET - 1, -1):
            if end.endswith(secret[:size]):
                return end[:-size] + _HIDDEN + text[len(end) :]
    return text


class _NoNetrc(requests.auth.AuthBase):
    """Adds nothing: its presence keeps ``requests`` from looking for credentials elsewhere."""

    def __call__(self, request):
        return request


def clean_url(url: str) -> str:
    """The address without a trailing slash; refuses what cannot be one, and passwords inside.

    Raises
    ------
    InputError
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        # Not quoted: an address that cannot be parsed may contain a password.
        raise InputError(
            "An address cannot be read", got="brackets or letters that no host has", expected="such as http://prometheus:9090"
        ) from None  # fmt: skip
    if parts.username or parts.password:
        raise InputError(
            "An address carries a password",
            got=public_url(url),
            fix="give the user name and a file or environment variable with the password instead",
        )
    try:
        known_port = parts.port is None or parts.port > 0
    except ValueError:
        known_port = False
    if parts.scheme not in ("http", "https") or not parts.hostname or not known_port:
        raise InputError(
            "An address cannot be read", got=public_url(url), expected="such as http://prometheus:9090"
        )
    return url.split("?", 1)[0].split("#", 1)[0].rstrip("/")


def too_many_series(where: str, most: int) -> TooManySeriesError:
    """The error of a read that brings ever more series."""
    return TooManySeriesError(
        f"A read of {where} brings too many series",
        got=f"more than {most:,}",
        fix="narrow it with --match, or raise max_series of that Prometheus in the configuration",
    )


def explain(error: Exception, what: str, url: str, access: Access) -> SourceError:
    """Turn a failure of the transport into one line with its fix."""
    url = public_url(url)
    if isinstance(error, SilentHostError):
        host = public_url(error.request.url).removesuffix(urlsplit(error.request.url).path)
        return SourceError(
            f"{what} at {host} gets no more requests",
            got=f"no answer of {host} to {PATIENCE} requests in a row",
            fix="check that server's load, or raise timeout",
        )
    if isinstance(error, requests.exceptions.SSLError):
        return SourceError(
            f"{what} at {url}: TLS failed",
            got=_reason(error),
            fix="give ca_file with the authority that signed its certificate, or cert_file if it requires a client certificate",
        )
    if timed_out(error):
        return SourceError(
            f"{what} at {url} did not answer in time",
            got=f"nothing for {access.timeout_s:g} s",
            fix="request a shorter range, raise timeout, or check the server's load",
        )
    if isinstance(error, requests.exceptions.ChunkedEncodingError | urllib3.exceptions.ProtocolError):
        return BrokenStreamError(
            f"{what} at {url} broke off in the middle of an answer",
            got="the connection was closed before its end",
            fix="run the command again; it goes on where it stopped",
        )
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema):
        return SourceError(f"{what}: the address {url} cannot be used", fix="write it as http://host:port")
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError) or "TLS" in str(error):
        return SourceError(
            f"{what}: a TLS file cannot be used", got=str(error), fix="check ca_file and cert_file"
        )
    return SourceError(
        f"{what} at {url} cannot be reached",
        got=_reason(error),
        fix="check the address, that the server runs, and that a firewall or proxy lets it through",
    )


def timed_out(error: BaseException) -> bool:
    """Whether a failure of the transport, or what it wraps, is that nothing came in time."""
    timeouts = requests.Timeout | urllib3.exceptions.TimeoutError
    refused = urllib3.exceptions.NewConnectionError  # urllib3 calls it a timeout, too
    return any(isinstance(cause, timeouts) and not isinstance(cause, refused) for cause in _causes(error))


def check_answer(answer: requests.Response, what: str) -> None:
    """Refuse an answer that another try, or another format, would not improve.

    Raises
    ------
    SourceError
        401, 403, 407: refused. 429: after the retries of :meth:`Access.session`.
    """
    url = public_url(answer.url)
    if answer.status_code == 429:
        raise overloaded(answer, what)
    if answer.status_code in (401, 403) and left_behind(answer):
        raise SourceError(
            f"{what} at {url} refuses us",
            got=f"{answer.status_code} {answer.reason}; a redirect led there, and credentials and headers are not sent on",
            fix="if that server may have them, give its own address",
        )
    if answer.status_code == 401:
        raise SourceError(
            f"{what} at {url} wants authentication",
            got="401 Unauthorized",
            fix="give username and password_file, or token_file or token_env",
        )
    if answer.status_code in (403, 407):
        raise SourceError(
            f"{what} at {url} refuses us",
            got=f"{answer.status_code} {answer.reason}",
            fix="give credentials that may read it, and the tenant header if it needs one",
        )


def overloaded(answer: requests.Response, what: str) -> SourceError:
    """The error of a server that still answers 429 or 503 after all retries."""
    return SourceError(
        f"{what} at {public_url(answer.url)} is overloaded",
        got=f"{answer.status_code} {answer.reason}, several times",
        fix="try again later, or lower max_concurrent_reads",
    )


def refuse_html(answer: requests.Response, what: str) -> None:
    """Refuse a web page where data should be."""
    if is_html(answer):
        raise SourceError(
            f"{what} at {public_url(answer.url)} answers with a web page",
            got=f"{answer.status_code} {answer.headers.get('Content-Type', '')}",
            expected="data",
            fix="give the address of the server itself, without /graph or /targets; a login page needs credentials",
        )


def is_html(answer: requests.Response) -> bool:
    return "html" in answer.headers.get("Content-Type", "").lower()


def _reason(error: BaseException) -> str:
    """The innermost cause in few words, without the URL that outer layers repeat."""
    inner = _causes(error)[-1]
    text = str(inner.args[-1]) if inner.args else type(inner).__name__
    return text.rpartition("): ")[2] or type(inner).__name__


def _causes(error: BaseException) -> list[BaseException]:
    """An error and what it wraps, the innermost last."""
    causes = [error]
    while True:
        wrapped = getattr(causes[-1], "reason", None)
        if not isinstance(wrapped, BaseException):
            wrapped = next((a for a in causes[-1].args if isinstance(a, BaseException)), None)
        if wrapped is None:
            return causes
        causes.append(wrapped)
