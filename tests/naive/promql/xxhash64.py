"""XXH64 with seed 0, as its description says. In: bytes. Out: a number below 2^64."""

from __future__ import annotations

_MASK = 2**64 - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxhash64(data: bytes) -> int:
    """The hash of some bytes."""
    rest, total = data, 0
    if len(data) >= 32:
        lanes = [(_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK]
        while len(rest) >= 32:
            lanes = [_round(lane, _word(rest, 8 * i, 8)) for i, lane in enumerate(lanes)]
            rest = rest[32:]
        total = sum(_turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            total = ((total ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        total = _P5
    total = (total + len(data)) & _MASK
    while len(rest) >= 8:
        total = (_turned(total ^ _round(0, _word(rest, 0, 8)), 27) * _P1 + _P4) & _MASK
        rest = rest[8:]
    if len(rest) >= 4:
        total = (_turned(total ^ (_word(rest, 0, 4) * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        rest = rest[4:]
    for byte in rest:
        total = _turned(total ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    total = (total ^ total >> 33) * _P2 & _MASK
    total = (total ^ total >> 29) * _P3 & _MASK
    return total ^ total >> 32


def _word(data: bytes, start: int, length: int) -> int:
    return int.from_bytes(data[start : start + length], "little")


def _turned(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _round(lane: int, word: int) -> int:
    return _turned((lane + word * _P2) & _MASK, 31) * _P1 & _MASK
