# SPDX-License-Identifier: BSD-2-Clause
"""The decoder's buffer, modelled by nothing but the sizes of coded pictures: it fills at the highest
rate, and each picture leaves it at once when its time has come."""

INITIAL_FILL = 0.9  # the default of both encoders
# A start code and the delimiter that begins each picture with --aud.
DELIMITER = {"x264": b"\x00\x00\x01\x09", "x265": b"\x00\x00\x01\x46"}


def picture_bits(stream, encoder):
    """The bits of each picture of a stream of bytes, in coded order."""
    starts, delimiter = [], DELIMITER[encoder]
    at = stream.find(delimiter)
    while at >= 0:
        starts.append(at)
        at = stream.find(delimiter, at + 1)
    return [8 * (end - start) for start, end in zip(starts, starts[1:] + [len(stream)])]


def lowest_fill(bits, frame_rate, maxrate, bufsize):
    """How full the buffer of bufsize kbit is at the least, in per cent. Below 0, the limit is broken."""
    size = 1000 * bufsize
    fill = lowest = INITIAL_FILL * size
    for picture in bits:
        lowest = min(lowest, fill - picture)
        fill = min(max(fill - picture, 0) + 1000 * maxrate / frame_rate, size)
    return 100 * lowest / size
