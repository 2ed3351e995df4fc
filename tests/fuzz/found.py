"""What fuzzing has found: the smallest inputs, each with the target that reads it and what it did before.

In: nothing. Out: :data:`FOUND`. All of them are refused, or taken for what they are, in one line, in time, within the bound of memory.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa

from tests.fuzz.targets.admin_json import ANSWERS
from tests.fuzz.targets.messages import chunked_message, frame
from tests.fuzz.targets.recordings import RECORDING, with_sums
from tests.lab.wire import length_delimited, varint

_UP = {"__name__": "up"}


def _series(fields: bytes) -> bytes:
    return frame(length_delimited(1, fields))


def _block(message: bytes) -> bytes:
    return pa.compress(message, codec="snappy", asbytes=True)


def _json(asked: str, data: object) -> dict[str, str]:
    body = data if isinstance(data, str) else json.dumps({"status": "success", "data": data})
    return {"asked": asked, "status": "200", "kind": "application/json", "body": body}


def _admin(path: str, body: object) -> dict[str, str]:
    answers = {known: json.dumps(value) for known, value in ANSWERS.items()}
    return {"who": "run"} | answers | {path: body if isinstance(body, str) else json.dumps(body)}


def _matrix(**changes: object) -> dict:
    return {"resultType": "matrix", "result": [{"metric": _UP, "values": [[1_760_000_400, "1"]]} | changes]}


def _changed(content: bytes, at: int, byte: int) -> bytes:
    return content[:at] + bytes([byte]) + content[at + 1 :]


_BOMB = "global:\n  a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"  {name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
) + "  external_labels: {cluster: *i}\n"  # fmt: skip
_MERGES = "a: &a {k: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{','.join([f'*{before}'] * 9)}]}}\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)  # fmt: skip

FOUND: dict[str, tuple[str, Any]] = {
    # -- remote read
    "a label that ends behind its first byte: IndexError": ("frames", _series(b"\x0a\x01\x0a")),
    "a label's length without end: numbers of millions of bits": ("frames", _series(length_delimited(1, b"\x0a" + b"\xff" * 600_000 + b"\x01"))),
    "forty chunks of two bytes that say 65,535 samples each: 60 MB": ("frames", frame(chunked_message([(_UP, [b"\xff\xff"] * 40)]))),
    "a chunk whose first time has more than 64 bits: taken": ("chunks", b"\x00\x01" + b"\xff" * 9 + b"\x7f" + bytes(8)),
    "a value that comes twice in a sample: both mixed": (
        "messages",
        _block(length_delimited(1, length_delimited(1, length_delimited(2, b"\x09" + struct.pack("<d", 3.0) + b"\x09" + struct.pack("<d", 1.5) + b"\x10" + varint(1_760_000_400_001))))),
    ),
    "a snappy block of nothing with something behind: taken": ("snappy", b"\x00abc"),
    # -- Prometheus' JSON
    "values of two characters and one of a hundred thousand: 4 GB": (
        "prometheus-json",
        _json("read", _matrix(values=[[1_760_000_400 + i, "1"] for i in range(3_000)] + [[1_760_000_500, "1" * 100_000]])),
    ),
    "a number of five thousand digits": ("prometheus-json", _json("vector", '{"status":"success","data":{"result":[' + "9" * 5_000 + "]}}")),
    "lists in lists": ("prometheus-json", _json("vector", "[" * 20_000)),
    "a sample that is no pair": ("prometheus-json", _json("read", _matrix(values=[1]))),
    "a value that is no number": ("prometheus-json", _json("read", _matrix(values=[[1_760_000_400, "x"]]))),
    "a series without labels": ("prometheus-json", _json("read", _matrix(metric=5))),
    "a count that is not a number": ("prometheus-json", _json("measure", {"resultType": "vector", "result": [{"metric": _UP, "value": [1, "NaN"]}]})),
    "names of metrics that were not asked for": ("prometheus-json", _json("wanted", ["pulsar_rate_in", "plsar_rate_in"])),
    "facts that are a list": ("prometheus-json", _json("build", ["x"])),
    "external labels that are a bomb of aliases: 400 million words": ("prometheus-json", _json("external", {"yaml": _BOMB})),
    "a configuration with a day that no month has": ("prometheus-json", _json("external", {"yaml": "a: 2001-13-45"})),
    # -- the admin API
    "external labels that are a list: a label without a name": ("prometheus-json", _json("external", {"yaml": "global:\n  external_labels:\n  - c"})),
    "a setting that is empty where a number is counted with": ("admin-json", _admin("/runtime", ANSWERS["/runtime"] | {"dispatcherMaxReadBatchSize": ""})),
    "a setting of more than 32 bits": ("admin-json", _admin("/runtime", ANSWERS["/runtime"] | {"dispatcherMaxReadBatchSize": "2147483648"}) | {"who": "now"}),
    "a rate whose period has more than 32 bits": ("admin-json", _admin("/dispatchRate", ANSWERS["/dispatchRate"] | {"ratePeriodInSecond": 2**31}) | {"who": "now"}),
    "a topic of a billion partitions: asked for ever": ("admin-json", _admin("/partitions", {"partitions": 10**9})),
    "brokers that are an object": ("admin-json", _admin("/brokers", {"a": 1})),
    "a broker that is a number": ("admin-json", _admin("/brokers", [5, "a"])),
    "a subscription named by half of a surrogate pair": ("admin-json", _admin("/subscriptions", '["\\ud800"]')),
    "many brokers, one of them an object, asked about now": ("admin-json", _admin("/brokers", [*"abcdef", {}]) | {"who": "now"}),
    "stats of a subscription that are no object": ("admin-json", _admin("/stats", {"subscriptions": {"s": 5}})),
    "stats with a count beyond 64 bits": ("admin-json", _admin("/stats", {"subscriptions": {"s": ANSWERS["/stats"]["subscriptions"]["s"] | {"msgBacklog": 2**64}}})),
    "a broker's setting that is no number": ("admin-json", _admin("/runtime", ANSWERS["/runtime"] | {"dispatcherMaxReadBatchSize": "many"})),
    "a retention without its size": ("admin-json", _admin("/retention", {"retentionTimeInMinutes": 1})),
    "an owner whose address is none": ("admin-json", _admin("/topic/persistent/t/n/x", {"httpUrl": "http://["})),
    # -- labels
    "a partition of five thousand digits": (
        "labels",
        b"".join(length_delimited(1, length_delimited(1, name) + length_delimited(2, value)) for name, value in ((b"__name__", b"pulsar_rate_in"), (b"topic", b"x"), (b"partition", b"9" * 5_000))),
    ),
    # -- texts
    "a selector with a blank that is none of PromQL's: IndexError": ("selectors", "u\x85"),
    "a parameter with a line end: an answer of two lines": ("parameters", b"limit=%0A1"),
    "half of a surrogate pair in an address: another one in its link": ("addresses", {"page": "AlertsAddress", "query": "yaml=\ud800"}),
    "a line end in a word of an address: an answer of two lines": ("addresses", {"page": "WhatIfAddress", "query": "when=a%0Ab"}),
    "half of a surrogate pair in a rules file": ("rules", "groups: \udfff"),
    "a recording whose files are a number": ("recordings", RECORDING | {"recording.json": b'{"format": 1, "name": "a", "files": 5}'}),
    "a recording with a file whose name is too long": ("recordings", with_sums(RECORDING | {"n" * 300: b""})),
    "a recording whose truth is no object": (
        "recordings",
        with_sums(RECORDING | {"truth.json": b"true"}),
    ),
    # Byte 729 stands in the footer, where it says which levels of a column were counted.
    "a recording whose footer has a changed byte: the process ended": ("recordings", with_sums(RECORDING | {"samples.parquet": _changed(RECORDING["samples.parquet"], 729, 2)})),
    "a limit of five thousand digits": ("rules", "groups:\n- name: a\n  limit: " + "9" * 5_000),
    "a template with a number of five thousand digits": ("rules", "groups:\n- name: a\n  rules:\n  - alert: b\n    expr: up\n    annotations: {c: '{{ " + "9" * 5_000 + " }}'}"),
    "a scenario that is a bomb of merges: never read": ("scenarios", _MERGES),
    "a scenario with a day that no month has": ("scenarios", "a: 2001-13-45"),
    "a configuration of lists in lists": ("config", "a = " + "[" * 5_000),
    "a configuration with a number of five thousand digits": ("config", "a = " + "9" * 5_000),
    "a configuration with a key of five thousand parts: 100 MB": ("config", ".".join("a" * 5_000) + " = 1"),
    "a configuration with a time zone of many slashes: looked for in as many packages": ("config", '[clusters.a]\ntime_zone = "' + "a/" * 2_000 + 'a"'),
    "a configuration in a home that nobody has": ("config", 'lake = "~nobody-has-this-name/x"'),
    "a server in half a bracket": ("places", {"kind": "server", "text": "http://["}),
    "a lake in half a bracket": ("places", {"kind": "lake", "text": "s3://["}),
    "a partition of a subscription with five thousand digits": ("places", {"kind": "subscription", "text": "persistent://t/n/x-partition-" + "9" * 5_000 + "#s"}),
    "a duration of five thousand digits": ("places", {"kind": "duration", "text": "9" * 5_000 + "s"}),
    "a time of four hundred digits": ("places", {"kind": "time", "text": "9" * 400}),
    "a range that begins after all years": ("places", {"kind": "range", "text": "99999999999999|1"}),
}  # fmt: skip
