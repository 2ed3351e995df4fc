"""Files in an S3-compatible object store. In: ``s3://bucket/prefix`` and the environment. Out: whole objects, listed, read and deleted.

Only the environment says where the store is and with which credentials: ``AWS_ENDPOINT_URL`` (for anything but AWS), ``AWS_REGION``,
``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``, and ``AWS_ALLOW_HTTP`` for an endpoint without TLS.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import obstore
import pyarrow as pa
import pyarrow.fs
from obstore import exceptions as faults
from obstore.store import S3Store

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake.storage import Storage, StoredFile
from throttlescope.ingest.lake.store_errors import store_error

#: How long an answer may take, unless :data:`TIMEOUT_VARIABLE` says otherwise, and a connection at most, in seconds.
_ANSWER_S, _CONNECT_S = 30.0, 5.0
TIMEOUT_VARIABLE = "THROTTLESCOPE_STORE_TIMEOUT_S"
#: Further tries of a request that failed for a reason which may pass. No new one is begun after two times the above.
_RETRIES = 3
#: Ways to credentials that the libraries find by themselves.
_OTHER_CREDENTIALS = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True)
class StoreAccess:
    """Address and credentials of the store; its text never has the secrets.

    Attributes
    ----------
    endpoint : str, optional
        None: AWS itself.
    answer_s : float
        How long an answer may take.
    """

    region: str
    endpoint: str | None = None
    allow_http: bool = False
    answer_s: float = _ANSWER_S
    key_id: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> StoreAccess:
        """Read and check the environment.

        Raises
        ------
        InputError
            There are no credentials, half of them, or an endpoint without TLS that was not allowed.
        """
        endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or None
        allow_http = environment.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true", "yes")
        if endpoint is not None:
            endpoint = endpoint.rstrip("/")
            scheme, _, host = endpoint.partition("://")
            if scheme not in ("http", "https") or not host or "@" in host:
                raise InputError(
                    "AWS_ENDPOINT_URL is no address", got=endpoint if "@" not in endpoint else "one with a user",
                    expected="https://HOST[:PORT]",
                )  # fmt: skip
            if scheme == "http" and not allow_http:
                raise InputError(
                    "The object store's endpoint is plain HTTP", got=endpoint, expected="https://",
                    fix="set AWS_ALLOW_HTTP=true if the network in between is trusted",
                )  # fmt: skip
        key_id, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
        if bool(key_id) != bool(secret):
            raise InputError(
                "Half of the object store's credentials is missing",
                got="AWS_ACCESS_KEY_ID alone" if key_id else "AWS_SECRET_ACCESS_KEY alone",
                fix="set both",
            )
        if not key_id and not any(environment.get(name) for name in _OTHER_CREDENTIALS):
            raise InputError(
                "There are no credentials for the object store",
                expected="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
                fix="set them; for a profile: eval $(aws configure export-credentials --format env)",
            )
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or _DEFAULT_REGION
        token = environment.get("AWS_SESSION_TOKEN") or None
        return cls(
            region, endpoint, allow_http, _timeout_s(environment), key_id or None, secret or None, token
        )

    @property
    def connect_s(self) -> float:
        """How long a connection may take."""
        return min(_CONNECT_S, self.answer_s)

    def settings(self) -> dict[str, str]:
        """As ``obstore`` takes them."""
        given = {
            "region": self.region,
            "endpoint": self.endpoint,
            "access_key_id": self.key_id,
            "secret_access_key": self.secret,
            "session_token": self.session_token,
            # A host of its own per bucket is AWS' way; others are mostly reached by path.
            "virtual_hosted_style_request": "false" if self.endpoint else "true",
            "conditional_put": "etag",
        }
        return {name: value for name, value in given.items() if value is not None}


def _timeout_s(environment: Mapping[str, str]) -> float:
    text = environment.get(TIMEOUT_VARIABLE)
    if not text:
        return _ANSWER_S
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 3600:
        raise InputError(f"{TIMEOUT_VARIABLE} is no time", got=text, expected="seconds, from 0.1 to 3600")
    return value


class ObjectStorage(Storage):
    """Objects below a prefix of a bucket. A put is whole or not at all, and may be refused where the name is taken."""

    is_remote = True

    def __init__(self, root: str, access: StoreAccess) -> None:
        self.root, self.access = root, access
        self.bucket, _, self._prefix = root.removeprefix("s3://").partition("/")
        self._store = S3Store(
            self.bucket,
            config=access.settings(),
            client_options={
                "timeout": timedelta(seconds=access.answer_s),
                "connect_timeout": timedelta(seconds=access.connect_s),
                "allow_http": access.allow_http,
            },
            retry_config={
                "max_retries": _RETRIES,
                "retry_timeout": timedelta(seconds=2 * access.answer_s),
            },
        )

    def write(self, relative_path: str, content: bytes | pa.Buffer, *, if_absent: bool = False) -> bool:
        mode = "create" if if_absent else "overwrite"
        with self._reporting_errors(relative_path):
            try:
                # Parts are for what is larger than any file of ours: a conditional put has to be one request.
                obstore.put(
                    self._store,
                    self._key(relative_path),
                    memoryview(content).cast("B"),
                    mode=mode,
                    use_multipart=False,
                )
            except faults.AlreadyExistsError:
                return False
        return True

    def read(self, relative_path: str) -> bytes | None:
        with self._reporting_errors(relative_path):
            try:
                return bytes(obstore.get(self._store, self._key(relative_path)).bytes())
            except FileNotFoundError:
                return None

    def read_dated(self, relative_path: str) -> tuple[bytes, int] | None:
        with self._reporting_errors(relative_path):
            try:
                found = obstore.get(self._store, self._key(relative_path))
                return bytes(found.bytes()), self._stored(found.meta).modified_ms
            except FileNotFoundError:
                return None

    def look(self, relative_path: str) -> StoredFile | None:
        with self._reporting_errors(relative_path):
            try:
                return self._stored(obstore.head(self._store, self._key(relative_path)))
            except FileNotFoundError:
                return None

    def list(self, prefix: str = "") -> list[StoredFile]:
        with self._reporting_errors(prefix):
            found = [
                self._stored(one)
                for some in obstore.list(self._store, self._key(prefix) or None)
                for one in some
            ]
        return sorted(found, key=lambda file: file.relative_path)

    def delete(self, relative_paths: Iterable[str]) -> None:
        keys = [self._key(relative_path) for relative_path in relative_paths]
        with self._reporting_errors(""):
            if keys:
                obstore.delete(self._store, keys)

    def delta_options(self) -> dict[str, str]:
        # The same Rust library is below both, and takes the same names in capitals.
        settings = {f"AWS_{name.upper()}": value for name, value in self.access.settings().items()}
        return settings | {
            "AWS_ENDPOINT_URL": self.access.endpoint or "",
            "AWS_ALLOW_HTTP": str(self.access.allow_http).lower(),
            "timeout": f"{round(self.access.answer_s * 1000)}ms",
            "connect_timeout": f"{round(self.access.connect_s * 1000)}ms",
            "max_retries": str(_RETRIES),
            "retry_timeout": f"{round(2 * self.access.answer_s * 1000)}ms",
        }

    def _key(self, relative_path: str) -> str:
        return "/".join(part for part in (self._prefix, relative_path) if part)

    def _stored(self, found: Mapping) -> StoredFile:
        relative_path = found["path"][len(self._prefix) + 1 if self._prefix else 0 :]
        # Some stores list milliseconds, but a look has whole seconds everywhere: one object must have one time.
        return StoredFile(relative_path, found["size"], int(found["last_modified"].timestamp()) * 1000)

    @contextlib.contextmanager
    def _reporting_errors(self, relative_path: str) -> Iterator[None]:
        try:
            yield
        except (faults.BaseError, OSError) as error:
            raise store_error(error, self.address(relative_path)) from error


def object_storage(root: str) -> ObjectStorage:
    """The storage of an ``s3://`` address; one for all callers in this process."""
    return _object_storage(root, StoreAccess.of(), os.getpid())


@functools.lru_cache(maxsize=64)
def _object_storage(root: str, access: StoreAccess, pid: int) -> ObjectStorage:
    # By process: threads of the libraries do not survive a fork.
    return ObjectStorage(root, access)


def arrow_filesystem() -> pyarrow.fs.S3FileSystem:
    """The store as pyarrow's readers take it; paths in it begin with the bucket."""
    return _arrow_filesystem(StoreAccess.of(), os.getpid())


@functools.lru_cache(maxsize=8)
def _arrow_filesystem(access: StoreAccess, pid: int) -> pyarrow.fs.S3FileSystem:
    scheme, _, host = (access.endpoint or "https://").partition("://")
    return pyarrow.fs.S3FileSystem(
        access_key=access.key_id,
        secret_key=access.secret,
        session_token=access.session_token,
        region=access.region,
        scheme=scheme,
        endpoint_override=host or None,
        connect_timeout=access.connect_s,
        request_timeout=access.answer_s,
        retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=_RETRIES),
    )
