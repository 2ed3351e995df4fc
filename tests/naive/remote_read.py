"""Twin of the remote-read messages: Google's protobuf reader, and the naive XOR chunks.

In: bytes of a message. Out: series as ``(labels, samples)``, samples as ``(time, value bits)``, markers among them; a ValueError where
it is no such message. Texts are bytes here, because a label need not be UTF-8.
"""

from __future__ import annotations

import struct

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from tests.naive.xor import crc32c, decode_chunk

_KINDS = descriptor_pb2.FieldDescriptorProto
_BYTES, _INT, _BITS, _MESSAGE = (
    _KINDS.TYPE_BYTES,
    _KINDS.TYPE_INT64,
    _KINDS.TYPE_FIXED64,
    _KINDS.TYPE_MESSAGE,
)
#: prompb/types.proto and prompb/remote.proto, as far as we read them: name, number, kind (a message by its name), repeated.
_MESSAGES = {
    "Label": (("name", 1, _BYTES, False), ("value", 2, _BYTES, False)),
    "Sample": (("value", 1, _BITS, False), ("timestamp", 2, _INT, False)),
    "Chunk": (
        ("min_time_ms", 1, _INT, False),
        ("max_time_ms", 2, _INT, False),
        ("type", 3, _INT, False),
        ("data", 4, _BYTES, False),
    ),
    "ChunkedSeries": (("labels", 1, "Label", True), ("chunks", 2, "Chunk", True)),
    "ChunkedReadResponse": (("chunked_series", 1, "ChunkedSeries", True), ("query_index", 2, _INT, False)),
    "TimeSeries": (("labels", 1, "Label", True), ("samples", 2, "Sample", True)),
    "QueryResult": (("timeseries", 1, "TimeSeries", True),),
    "ReadResponse": (("results", 1, "QueryResult", True),),
}


def _classes() -> dict[str, type]:
    file = descriptor_pb2.FileDescriptorProto(
        name="throttlescope_twin.proto", package="twin", syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            one = message.field.add(name=field, number=number)
            one.label = _KINDS.LABEL_REPEATED if repeated else _KINDS.LABEL_OPTIONAL
            one.type = _MESSAGE if isinstance(kind, str) else kind
            if isinstance(kind, str):
                one.type_name = f".twin.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"twin.{name}"))
        for name in _MESSAGES
    }


_CLASSES = _classes()
Series = tuple[tuple[tuple[bytes, bytes], ...], list[tuple[int, int]]]


def chunked_series(message: bytes) -> list[Series]:
    """The series of one message of a streamed answer, in their order."""
    found = []
    for series in _parsed("ChunkedReadResponse", message).chunked_series:
        samples: list[tuple[int, int]] = []
        for chunk in series.chunks:
            if chunk.type != 1:
                raise ValueError(f"chunk encoding {chunk.type}")
            samples += decode_chunk(chunk.data)
        found.append((_labels(series), samples))
    return found


def plain_series(message: bytes) -> list[Series]:
    """The series of a plain answer, in their order."""
    return [
        (_labels(series), [(sample.timestamp, sample.value) for sample in series.samples])
        for result in _parsed("ReadResponse", message).results
        for series in result.timeseries
    ]


def messages_of(stream: bytes) -> list[bytes]:
    """The messages of a streamed answer."""
    found, at = [], 0
    while at < len(stream):
        size = shift = 0
        while True:
            if at >= len(stream):
                raise ValueError("an unfinished frame")
            byte = stream[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if at + 4 + size > len(stream):
            raise ValueError("an unfinished frame")
        (expected,) = struct.unpack(">I", stream[at : at + 4])
        message = stream[at + 4 : at + 4 + size]
        if crc32c(message) != expected:
            raise ValueError("a wrong checksum")
        found.append(message)
        at += 4 + size
    return found


def _parsed(kind: str, message: bytes):
    try:
        return _CLASSES[kind].FromString(message)
    except DecodeError as error:
        raise ValueError(str(error)) from error


def _labels(series) -> tuple[tuple[bytes, bytes], ...]:
    return tuple(sorted((label.name, label.value) for label in series.labels))
