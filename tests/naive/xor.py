"""Slow twins of the remote-read decoder: bits as text, messages as dictionaries, one sample at a time."""

from __future__ import annotations

import struct

from tests.lab.wire import fields, read_varint

STALE_BITS = 0x7FF0000000000002


class Bits:
    """The bits of some bytes as a text of 0 and 1, read from the front."""

    def __init__(self, content: bytes) -> None:
        self.text = "".join(f"{byte:08b}" for byte in content)
        self.at = 0

    def take(self, count: int) -> int:
        piece = self.text[self.at : self.at + count]
        if len(piece) < count:
            raise ValueError("the chunk ends too early")
        self.at += count
        return int(piece, 2) if count else 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(8)
            value |= (byte & 0x7F) << shift
            if value >= 1 << 64 or shift > 63:
                raise ValueError("a number of more than 64 bits")
            if byte < 0x80:
                return value
            shift += 7


def decode_chunk(content: bytes) -> list[tuple[int, int]]:
    """Times in ms and value bits of one XOR chunk, markers included."""
    bits = Bits(content)
    samples: list[tuple[int, int]] = []
    time = delta = value = leading = trailing = 0
    for i in range(bits.take(16)):
        if i == 0:
            raw = bits.varint()
            time = raw // 2 if raw % 2 == 0 else -(raw + 1) // 2
            value = bits.take(64)
        else:
            delta = bits.varint() if i == 1 else delta + _delta_of_delta(bits)
            time = _signed(time + delta)
            if bits.take(1):
                if bits.take(1):
                    leading, wide = bits.take(5), bits.take(6) or 64
                    trailing = 64 - leading - wide
                value ^= bits.take(64 - leading - trailing) << trailing
        samples.append((time, value))
    return samples


def _delta_of_delta(bits: Bits) -> int:
    for width in (None, 14, 17, 20):
        if bits.take(1) == 0:
            if width is None:
                return 0
            raw = bits.take(width)
            return raw if raw <= 1 << (width - 1) else raw - (1 << width)
    return _signed(bits.take(64))


def _signed(number: int) -> int:
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def encode_chunk(samples: list[tuple[int, int]]) -> bytes:
    """The other way: an XOR chunk of times and value bits, as Prometheus' appender writes it."""
    out = f"{len(samples):016b}"
    time = delta = value = 0
    leading, trailing = 0xFF, 0
    for i, (t, v) in enumerate(samples):
        if i == 0:
            out += _varint_bits(t * 2 if t >= 0 else -t * 2 - 1) + f"{v:064b}"
        else:
            dod = _signed(t - time - delta)
            delta = _signed(t - time)
            if i == 1:
                out += _varint_bits(delta & (1 << 64) - 1)
            elif dod == 0:
                out += "0"
            else:
                for prefix, width in (("10", 14), ("110", 17), ("1110", 20), ("1111", 64)):
                    if -(1 << (width - 1)) + 1 <= dod <= 1 << (width - 1) or width == 64:
                        out += prefix + f"{dod & (1 << width) - 1:0{width}b}"
                        break
            xor = v ^ value
            if xor == 0:
                out += "0"
            else:
                new_leading = min(64 - xor.bit_length(), 31)
                new_trailing = (xor & -xor).bit_length() - 1
                if leading != 0xFF and new_leading >= leading and new_trailing >= trailing:
                    out += "10"
                else:
                    leading, trailing = new_leading, new_trailing
                    out += f"11{leading:05b}{(64 - leading - trailing) & 63:06b}"
                wide = 64 - leading - trailing
                out += f"{xor >> trailing:0{wide}b}"
        time, value = t, v
    out += "0" * (-len(out) % 8)
    return bytes(int(out[i : i + 8], 2) for i in range(0, len(out), 8))


def _varint_bits(number: int) -> str:
    out = ""
    while number >= 0x80:
        out += f"{number & 0x7F | 0x80:08b}"
        number >>= 7
    return out + f"{number:08b}"


def crc32c(content: bytes) -> int:
    """CRC-32 of the Castagnoli polynomial, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def read_stream(
    body: bytes, start_ms: int, end_ms: int
) -> list[tuple[dict[str, str], list[tuple[int, int]]]]:
    """Labels, and (time, value bits) in [start_ms, end_ms), of every series message of a streamed answer."""
    found = []
    at = 0
    while at < len(body):
        size, at = read_varint(body, at)
        expected = struct.unpack(">I", body[at : at + 4])[0]
        message = body[at + 4 : at + 4 + size]
        at += 4 + size
        if len(message) != size or crc32c(message) != expected:
            raise ValueError("a broken frame")
        for number, series in fields(message):
            if number != 1:
                continue
            labels: dict[str, str] = {}
            samples: list[tuple[int, int]] = []
            for part, payload in fields(series):
                if part == 1:
                    pair = dict(fields(payload))
                    labels[pair[1].decode()] = pair.get(2, b"").decode()
                elif part == 2:
                    samples += decode_chunk(dict(fields(payload))[4])
            found.append((labels, [(t, v) for t, v in samples if start_ms <= t < end_ms]))
    return found
