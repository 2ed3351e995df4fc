"""Protocol Buffers by hand: in, numbers and bytes; out, the wire format of Prometheus' remote endpoints."""

from __future__ import annotations

from collections.abc import Iterator


def varint(value: int) -> bytes:
    """Encode a non-negative integer."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def length_delimited(number: int, payload: bytes) -> bytes:
    """Encode a field that holds bytes, a string or a message."""
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload


def fields(body: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and payload of every length-delimited field; other fields are passed over."""
    position = 0
    while position < len(body):
        tag, position = read_varint(body, position)
        if tag & 7 == 2:
            size, position = read_varint(body, position)
            yield tag >> 3, body[position : position + size]
            position += size
        elif tag & 7 == 0:
            _, position = read_varint(body, position)
        elif tag & 7 == 1:
            position += 8
        else:
            raise ValueError(f"unexpected wire type {tag & 7}")


def read_varint(body: bytes, position: int) -> tuple[int, int]:
    """Return the integer at a position and the position behind it."""
    value = shift = 0
    while True:
        byte = body[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
