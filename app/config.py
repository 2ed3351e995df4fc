"""The one configuration file, ``throttlescope.toml``.

In: a path (``--config``, then ``$THROTTLESCOPE_CONFIG``, then ``./throttlescope.toml``) and the flags
that override it. Out: a checked `Settings`; an unknown key is refused with the nearest known one.
Secrets are never written into the file: it names a file or an environment variable that holds them.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    SecretStr,
    ValidationError,
    model_validator,
)

from throttlescope.ingest.contracts.vocabulary import CAUSES, LIMITERS, SIDES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.lake_address import LakeAddress
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS, parse_duration

if TYPE_CHECKING:
    from throttlescope.ingest.sources.access import Access as HttpAccess

FILE_NAME = "throttlescope.toml"
# The cluster of series without a cluster label, where no name is configured.
UNNAMED = "pulsar"
ENVIRONMENT_VARIABLE = "THROTTLESCOPE_CONFIG"
_ZONE_NAME = re.compile(r"[\w+-]{1,32}(/[\w+-]{1,32}){0,3}", re.ASCII)
#: In one line of the file: no key and no address of ours has more.
_MOST_DOTS = 500


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected http://HOST[:PORT] or https://HOST[:PORT]")
    if parts.username or parts.password:
        raise ValueError("a URL must not carry a password; use username with password_file or password_env")
    if parts.query or parts.fragment:
        raise ValueError("a URL must end before ? and #")
    return text.rstrip("/")


def _duration_ms(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("expected a duration such as 90s, 5m or 1h")
    try:
        return parse_duration(value)
    except InputError as error:
        raise ValueError(str(error.what) + "; expected a duration such as 90s, 5m or 1h") from None


def _known(what: str, words: tuple[str, ...]) -> AfterValidator:
    """Refuse a word of a list that is none of ``words``."""

    def check(values: list[str]) -> list[str]:
        for value in values:
            if value not in words:
                near = difflib.get_close_matches(value, words, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; expected one of {', '.join(words)}"
                raise ValueError(f"there is no {what} {value[:100]!r}{hint}")
        return values

    return AfterValidator(check)


def _whole_minutes(value_ms: int) -> int:
    if value_ms % MINUTE_MS:
        raise ValueError("expected whole minutes, such as 5m")
    return value_ms


def _spark_names(values: object) -> object:
    """Dotted names, which TOML reads as tables of tables unless they are quoted; numbers and truths as Spark writes them."""
    if not isinstance(values, dict):
        return values
    flat: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": text for inner, text in _spark_names(value).items()}
        else:
            flat[name] = str(value).lower() if isinstance(value, bool) else value
    return {name: str(value) if isinstance(value, (int, float)) else value for name, value in flat.items()}


def _zone(name: str) -> str:
    try:
        # Python imports the part before each slash: a name with a thousand of them is not a zone.
        if not _ZONE_NAME.fullmatch(name):
            raise KeyError(name)
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("expected the IANA name of a time zone, such as Europe/Berlin or UTC") from None
    return name


Url = Annotated[str, AfterValidator(_url)]
Zone = Annotated[str, AfterValidator(_zone)]
DurationMs = Annotated[int, BeforeValidator(_duration_ms), Field(gt=0)]
#: As DurationMs, and 0s is a value.
WaitMs = Annotated[int, BeforeValidator(_duration_ms), Field(ge=0)]
MinutesMs = Annotated[DurationMs, AfterValidator(_whole_minutes)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class SourceAccess(_Section):
    """Authentication and TLS of a server: none, basic or bearer authentication, client certificate, extra headers."""

    username: str | None = Field(None, description="name for basic authentication")
    password_file: Path | None = Field(None, description="file that holds the password")
    password_env: str | None = Field(None, description="environment variable that holds the password")
    token_file: Path | None = Field(None, description="file that holds the bearer token")
    token_env: str | None = Field(None, description="environment variable that holds the bearer token")
    ca_file: Path | None = Field(
        None, description="PEM file with the authorities to trust instead of the system's"
    )
    cert_file: Path | None = Field(None, description="PEM file with our client certificate")
    key_file: Path | None = Field(None, description="PEM file with its key, when not in cert_file")
    verify: bool = Field(True, description="false: the server's certificate is not checked")
    headers: dict[str, SecretStr] = Field({}, description="more headers, such as X-Scope-OrgID; never shown")
    headers_env: dict[str, str] = Field(
        {}, description="header name to the environment variable with its value"
    )
    timeout: DurationMs = Field(60_000, description="longest wait for an answer")
    longest_answer: DurationMs = Field(
        900_000,
        description="longest time that an answer may take until its last byte",
    )
    max_answer_bytes: int = Field(
        1 << 28,
        gt=0,
        description="largest answer that is read into memory as a whole, in bytes (JSON takes ten times its size in memory while it is parsed); "
        "one that is read as it comes may have sixteen times as many",
    )

    @model_validator(mode="after")
    def _one_way_in(self) -> SourceAccess:
        passwords = sum(x is not None for x in (self.password_file, self.password_env))
        tokens = sum(x is not None for x in (self.token_file, self.token_env))
        if passwords > 1 or tokens > 1:
            raise ValueError("name a file or an environment variable, not both")
        if (self.username is None) != (passwords == 0):
            raise ValueError("basic authentication needs username and one of password_file, password_env")
        if passwords and tokens:
            raise ValueError("basic and bearer authentication exclude each other")
        if self.key_file and not self.cert_file:
            raise ValueError("key_file needs cert_file")
        if not self.verify and self.ca_file:
            raise ValueError("ca_file has no effect with verify = false; remove one of them")
        return self

    def password(self) -> SecretStr | None:
        return _secret(self.password_file, self.password_env, "password")

    def token(self) -> SecretStr | None:
        return _secret(self.token_file, self.token_env, "token")

    def access(self) -> HttpAccess:
        """The options with the secrets read, as the sources take them.

        Raises
        ------
        InputError
            A file or variable with a secret is missing or empty.
        """
        from throttlescope.ingest.sources.access import Access as HttpAccess

        password, token = self.password(), self.token()
        return HttpAccess(
            username=self.username,
            password=password.get_secret_value() if password else None,
            token=token.get_secret_value() if token else None,
            headers={name: value.get_secret_value() for name, value in self.all_headers().items()},
            verify=self.verify,
            **{
                name: str(path.expanduser()) if (path := getattr(self, name)) else None
                for name in ("ca_file", "cert_file", "key_file")
            },
            timeout_s=self.timeout / SECOND_MS,
            longest_answer_s=self.longest_answer / SECOND_MS,
            max_answer_bytes=self.max_answer_bytes,
        )

    def all_headers(self) -> dict[str, SecretStr]:
        """Headers with their values; those from the environment come last."""
        found = dict(self.headers)
        for name, variable in self.headers_env.items():
            value = _secret(None, variable, f"value of the header {name}")
            if value is not None:
                found[name] = value
        return found


class PrometheusSettings(SourceAccess):
    """A Prometheus, or anything that answers its HTTP API."""

    url: Url = Field(description="address without /api/v1, such as http://prometheus:9090")
    reader: Literal["auto", "remote_read", "api"] = Field(
        "auto",
        description="how samples are read; auto takes remote read where it is offered, else the JSON API",
    )
    retention: DurationMs | None = Field(
        None,
        description="how long it keeps samples, for a server that does not say; gaps are tried again so long",
    )
    max_series: int = Field(
        1_000_000, gt=0, description="most series that one read (a metric and some hours) may bring"
    )

    def access(self) -> HttpAccess:
        """The options of any server, and the size limit of an answer."""
        return replace(super().access(), max_series=self.max_series)


class PulsarAdminSource(SourceAccess):
    """The admin API of a cluster: one address for all brokers, or one per broker."""

    urls: list[Url] = Field(
        min_length=1, description="addresses without /admin/v2, such as http://broker:8080"
    )


class Labels(_Section):
    """Names of the labels in Prometheus, where ``honor_labels`` is off or relabelling changed them."""

    cluster: str = Field("cluster", description="label that holds the cluster")
    namespace: str = Field(
        "namespace", description="label that holds tenant/namespace, such as exported_namespace"
    )
    topic: str = Field("topic", description="label that holds the topic")
    partition: str = Field("partition", description="label that holds the partition, in the split shape")
    subscription: str = Field("subscription", description="label that holds the subscription")

    def renames(self) -> dict[str, str]:
        """Source label to our label; only those that differ."""
        return {value: name for name, value in self.model_dump().items() if value != name}


class RateSettings(_Section):
    """Rates that were sized or bought: production and consumption, messages and bandwidth."""

    publish_msg_rate: float | None = Field(None, gt=0, description="messages/s that may be published")
    publish_bytes_rate: float | None = Field(None, gt=0, description="bytes/s that may be published")
    dispatch_msg_rate: float | None = Field(None, gt=0, description="messages/s that may be dispatched")
    dispatch_bytes_rate: float | None = Field(None, gt=0, description="bytes/s that may be dispatched")


class Specification(RateSettings):
    """Capacity that a cluster is sized or sold for, all brokers together; alerts and ``doctor`` warn above 80 % of it."""

    topic_partition: RateSettings = RateSettings()


class Cluster(_Section):
    """One Pulsar cluster and its sources. Its name is used where the ``cluster`` label is missing."""

    prometheus: PrometheusSettings | None = None
    pulsar_admin: PulsarAdminSource | None = None
    match: list[str] = Field(
        [], description='selectors that narrow what is read, such as `{namespace="acme/shop"}`'
    )
    time_zone: Zone = Field(
        "UTC",
        description="IANA time zone of the cluster's users, such as Europe/Berlin; anomaly detection uses its days and weeks",
    )
    labels: Labels = Labels()
    specification: Specification = Specification()


class Gentleness(_Section):
    """Limits of the requests to a source."""

    max_concurrent_reads: int = Field(2, ge=1, le=64, description="reads of one Prometheus under way at once")
    admin_calls_per_s: float = Field(10.0, gt=0, le=10_000, description="calls of the admin API per second")


class Objectives(_Section):
    """Service level objectives; ``verdicts`` marks the subscriptions that violate them."""

    backlog_entries: int | None = Field(
        None, ge=0, description="largest ready backlog of a subscription partition"
    )
    backlog_age_s: float | None = Field(
        None,
        gt=0,
        description="greatest age in seconds of a subscription partition's oldest entry: by the broker, else estimated",
    )


class NotificationChannel(_Section):
    """Where changes of backlogs are sent, and which of them."""

    type: Literal["webhook", "slack", "dingtalk", "wecom"] = Field(
        description="how messages are written and signed"
    )
    url: Url | None = Field(
        None, description="address of a webhook whose address is no secret; of the other types it is one"
    )
    url_file: Path | None = Field(None, description="file that holds the address")
    url_env: str | None = Field(None, description="environment variable that holds the address")
    secret_file: Path | None = Field(
        None, description="file that holds the secret for signatures (webhook and dingtalk)"
    )
    secret_env: str | None = Field(None, description="environment variable that holds it")
    ca_file: Path | None = Field(
        None, description="PEM file with the authorities to trust instead of the system's"
    )
    timeout: DurationMs = Field(10_000, description="longest wait for an answer")
    clusters: list[str] = Field([], description="only these clusters; none: all")
    namespaces: list[str] = Field([], description="only these namespaces, such as `acme/*`; none: all")
    sides: Annotated[list[str], _known("side", SIDES)] = Field(
        [], description="only causes of these sides: throttle, consumer_capacity, both, neither, unknown; none: all"
    )  # fmt: skip
    causes: Annotated[list[str], _known("cause", CAUSES)] = Field(
        [], description="only these causes, as `verdicts` names them; none: all"
    )
    limiters: Annotated[list[str], _known("limiter", LIMITERS)] = Field(
        [], description="only these limiters, such as `subscription.msg`; none: all"
    )
    min_backlog_entries: int = Field(
        0, ge=0, description="only backlogs that were at least this large, in entries"
    )
    min_duration: WaitMs = Field(0, description="only backlogs that have lasted so long")

    @model_validator(mode="after")
    def _can_be_sent(self) -> NotificationChannel:
        if sum(x is not None for x in (self.url, self.url_file, self.url_env)) != 1:
            raise ValueError("name the address once: url, url_file or url_env")
        if self.url is not None and self.type != "webhook":
            raise ValueError(f"the address of a {self.type} channel is a secret; use url_file or url_env")
        if self.secret_file is not None and self.secret_env is not None:
            raise ValueError("name a file or an environment variable, not both")
        if (self.secret_file or self.secret_env) and self.type not in ("webhook", "dingtalk"):
            raise ValueError(f"a {self.type} channel has no signatures; leave the secret out")
        return self

    def address(self) -> str:
        """The address with what is secret in it.

        Raises
        ------
        InputError
            A file or variable with it is missing or empty, or it is no address.
        """
        if self.url is not None:
            return self.url
        text = _secret(self.url_file, self.url_env, "address").get_secret_value()
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise InputError(
                "The address of a channel cannot be used",
                got=f"what {self.url_file or f'${self.url_env}'} holds",
                expected="https://HOST/PATH without a user name",
            )
        return text

    def secret(self) -> SecretStr | None:
        """The secret for signatures; None where there is none."""
        return _secret(self.secret_file, self.secret_env, "secret for signatures")


class Notifications(_Section):
    """Messages about backlogs that began, changed their cause or are gone."""

    page_url: Url | None = Field(
        None, description="where people reach `throttlescope serve`; messages link to its pages"
    )
    max_age: DurationMs = Field(
        21_600_000,
        description="changes that are older are not sent, such as those that a backfill finds",
    )
    digest_above: int = Field(
        3, ge=1, le=20, description="more changes at once than this are sent as one message"
    )
    deadline: DurationMs = Field(30_000, description="longest time for one channel, with all attempts")
    advice_within: WaitMs = Field(
        20_000,
        description="longest time for finding what would change a backlog, for at most three of a channel; where it is not found in time, "
        "the cause's first step is sent instead",
    )
    channels: dict[str, NotificationChannel] = Field({}, description="one table per channel")

    @model_validator(mode="after")
    def _names_are_free(self) -> Notifications:
        taken = [name for name in self.channels if name == "all" or not re.fullmatch(r"[\w.-]{1,64}", name)]
        if taken:
            raise ValueError(
                f"a channel cannot be called {taken[0][:64]!r}; use letters, digits, - and _, not all"
            )
        return self


class Spark(_Section):
    """Where Spark runs; without it, on this machine."""

    master: str | None = Field(
        None, description="`local[N]`, `spark://HOST:PORT`, `yarn`, `k8s://URL`, or `sc://HOST:PORT` for Spark Connect"
    )  # fmt: skip
    package: str | None = Field(
        None, description="archive from `throttlescope spark package`, for executors that lack the package"
    )
    executor_wait: DurationMs = Field(
        180_000, description="how long a cluster may take to give the first executor"
    )
    conf: Annotated[dict[str, str], BeforeValidator(_spark_names)] = Field(
        {}, description="more of Spark's settings by their names; they win over ours"
    )

    def options(self) -> dict[str, Any]:
        """Arguments of :func:`throttlescope.ingest.spark.session.spark_session`."""
        return {
            "master": self.master,
            "package": self.package,
            "executor_wait_s": self.executor_wait / SECOND_MS,
            "conf": self.conf,
        }


class Settings(_Section):
    """The whole file, overridden by the flags."""

    lake: Annotated[InstanceOf[LakeAddress], BeforeValidator(LakeAddress.of)] = Field(
        LakeAddress("lake"), description="folder of the lake, or `s3://bucket/prefix`"
    )
    window: MinutesMs = Field(300_000, description="length of a verdict's window")
    every: MinutesMs = Field(300_000, description="distance of two windows' starts")
    forecast_every: MinutesMs = Field(900_000, description="distance of two forecasts")
    ingest: Gentleness = Gentleness()
    objectives: Objectives = Objectives()
    spark: Spark = Spark()
    notifications: Notifications = Notifications()
    clusters: dict[str, Cluster] = Field({}, description="one table per cluster, named as its cluster label")


def find_config(given: Path | None, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file to read: from the flag, else from the environment, else from the working folder if it exists."""
    for path, origin in (
        (given, "--config"),
        (environment.get(ENVIRONMENT_VARIABLE), f"${ENVIRONMENT_VARIABLE}"),
    ):
        if path:
            if not Path(path).is_file():
                raise InputError(
                    "The configuration file does not exist", got=f"{path} (from {origin})", expected="a file"
                )
            return Path(path)
    return Path(FILE_NAME) if Path(FILE_NAME).is_file() else None


def load_settings(path: Path | None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Read and validate the file at ``path``, overridden by ``flags``.

    Parameters
    ----------
    path : Path or None
        None: only defaults and flags.
    flags : mapping, optional
        Nested like the file; None means "not given". A flag replaces the file's value, tables are merged.

    Raises
    ------
    InputError
        Not TOML, an unknown key, a wrong value: one line with the place and the nearest known key.
    """
    where = str(path) if path else "flags"
    try:
        values = _read_toml(path) if path else {}
        anchored = _anchored(values, path.absolute().parent) if path else {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where} cannot be read", got=str(error)) from None
    except ValueError as error:
        # In addition to decoding errors: numbers of thousands of digits.
        raise InputError(f"{where} is not TOML", got=str(error), fix="correct that line") from None
    except RecursionError:
        raise InputError(f"{where} is nested too deeply", fix="see docs/reference/configuration.md") from None

    try:
        # The environment names the file and holds secrets; it sets nothing else.
        return Settings.model_validate(_merged(anchored, _without_none(flags or {})))
    except ValidationError as error:
        raise _explained(error, where) from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Values of both; where both have one that is no table, that of ``over``."""
    found = {**under, **over}
    for name in under.keys() & over.keys():
        if isinstance(under[name], Mapping) and isinstance(over[name], Mapping):
            found[name] = _merged(under[name], over[name])
    return found


def _read_toml(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    # A key of n parts takes memory as n x n: ten thousand characters would be 100 MB.
    if any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
        raise RecursionError
    return tomllib.loads(text)


def describe() -> list[tuple[str, str, str, str]]:
    """Every key of the file as (key, type, default, meaning), for the reference page."""
    return _describe_model(Settings, "")


def _describe_model(model: type[BaseModel], prefix: str) -> list[tuple[str, str, str, str]]:
    rows = []
    for name, field in model.model_fields.items():
        inner = _inner_model(field.annotation)
        if inner is not None:
            rows += _describe_model(
                inner, f"{prefix}{name}." + ("NAME." if _is_table_of(field.annotation) else "")
            )
            continue
        type_name = _type_name(field)
        default = "required" if field.is_required() else _shown(type_name, field.default)
        rows.append((prefix + name, type_name, default, field.description or ""))
    return rows


def _type_name(field: Any) -> str:
    if _is_duration(field):
        return "duration"
    text = str(field.annotation)
    for name, word in (
        ("Literal", " or ".join(f'"{x}"' for x in getattr(field.annotation, "__args__", ()))),
        ("dict", "table of text"), ("list", "list of text"), ("LakeAddress", "folder or URI"), ("Path", "path"), ("bool", "true or false"),
        ("float", "number"), ("int", "integer"), ("str", "text"),
    ):  # fmt: skip
        if name in text:
            return word
    raise TypeError(f"no word for {text}")


def _is_duration(field: Any) -> bool:
    """Also one that may be left out: its validator is then inside the annotation."""
    inner = [
        part
        for choice in getattr(field.annotation, "__args__", ())
        for part in getattr(choice, "__metadata__", ())
    ]
    return any(isinstance(m, BeforeValidator) and m.func is _duration_ms for m in (*field.metadata, *inner))


def _shown(type_name: str, value: object) -> str:
    if value is None:
        return "not set"
    if type_name == "duration":
        value_ms = int(value)
        units = (("h", 3_600_000), ("m", 60_000), ("s", 1_000))
        unit, unit_ms = next(one for one in units if (value_ms and value_ms % one[1] == 0) or one[0] == "s")
        return f'"{value_ms // unit_ms}{unit}"'
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, (str, Path)) else str(value)


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _is_table_of(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is dict


def _secret(path: Path | None, variable: str | None, what: str) -> SecretStr | None:
    if path is not None:
        try:
            text = path.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The file with the {what} cannot be read", got=str(error)) from None
        origin = str(path)
    elif variable is not None:
        text, origin = os.environ.get(variable, "").strip(), f"${variable}"
    else:
        return None
    if not text:
        raise InputError(f"The {what} is empty", got=origin, fix=f"put the {what} there")
    # Header injection: a secret of several lines would start a header of its own.
    if any(character in text for character in "\r\n\0"):
        raise InputError(f"The {what} has more than one line", got=origin, expected="one line")
    return SecretStr(text)


def _anchored(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Paths in the file are relative to its folder, so that a run does not depend on the working folder."""
    anchored = {}
    for name, value in values.items():
        if isinstance(value, dict):
            value = _anchored(value, folder)
        elif isinstance(value, str) and name in ("lake", "package") and "://" in value:
            pass  # In an object store, or somewhere that Spark reads by itself.
        elif isinstance(value, str) and (name in ("lake", "package") or name.endswith("_file")):
            value = str(folder / _home_path(name, value))
        anchored[name] = value
    return anchored


def _home_path(name: str, text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise InputError(f"{name}: there is no such home folder", got=text) from None


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    kept = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            value = _without_none(value)
            if not value:
                continue
        if value is not None:
            kept[name] = value
    return kept


def _explained(error: ValidationError, where: str) -> InputError:
    faults = error.errors(include_url=False, include_input=False)
    first = faults[0]
    place = ".".join(str(part) for part in first["loc"]) or "the file"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _keys_at(first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1, cutoff=0.5)
        return InputError(
            f"{where}: unknown key {place}{more}",
            expected="one of " + ", ".join(sorted(known)),
            fix=f"did you mean {near[0]}?" if near else "remove it",
        )
    message = str(first["msg"]).removeprefix("Value error, ")
    return InputError(
        f"{where}: {place} is not right{more}: {message}", fix="see docs/reference/configuration.md"
    )


def _keys_at(place: tuple[Any, ...]) -> list[str]:
    model: type[BaseModel] = Settings
    skip = False
    for part in place:
        if skip:  # the name of a cluster
            skip = False
            continue
        annotation = model.model_fields[str(part)].annotation
        model, skip = _inner_model(annotation) or model, _is_table_of(annotation)
    return list(model.model_fields)
