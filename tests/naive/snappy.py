"""Slow twin of snappy's block format: one byte at a time.

In: a block. Out: what it unpacks to, or a ValueError; never more than its own header says.
"""

from __future__ import annotations


def unpacked(block: bytes) -> bytes:
    """What a block holds.

    Raises
    ------
    ValueError
        It is no such block.
    """
    size, at = _size(block)
    out = bytearray()
    while at < len(block):
        tag = block[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                width = length - 59
                length, at = _number(block, at, width)
            length += 1
            if at + length > len(block):
                raise ValueError("a literal runs past the end")
            out += block[at : at + length]
            at += length
        else:
            if tag & 3 == 1:
                low, at = _number(block, at, 1)
                length, offset = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | low
            else:
                length = (tag >> 2) + 1
                offset, at = _number(block, at, 2 if tag & 3 == 2 else 4)
            if not 0 < offset <= len(out):
                raise ValueError("a copy from nowhere")
            if len(out) + length > size:
                raise ValueError("more than the header says")
            for _ in range(length):
                out.append(out[-offset])
        if len(out) > size:
            raise ValueError("more than the header says")
    if len(out) != size:
        raise ValueError("less than the header says")
    return bytes(out)


def _size(block: bytes) -> tuple[int, int]:
    value = 0
    for i, byte in enumerate(block[:5]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            if value >= 1 << 32:
                break
            return value, i + 1
    raise ValueError("no length")


def _number(block: bytes, at: int, width: int) -> tuple[int, int]:
    if at + width > len(block):
        raise ValueError("a number runs past the end")
    return int.from_bytes(block[at : at + width], "little"), at + width
