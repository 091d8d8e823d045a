# SPDX-License-Identifier: BSD-2-Clause
"""The decoder's buffer, modelled by nothing but the sizes of coded pictures: it fills at the highest
rate, and each picture leaves it at once when its time has come."""

INITIAL_FILL = 0.9  # the default of both encoders
# What begins each picture with --aud: a start code of four bytes and the delimiter.
DELIMITER = {"x264": b"\x00\x00\x00\x01\x09", "x265": b"\x00\x00\x00\x01\x46"}
DELIMITER_BYTES = {"x264": 6, "x265": 7}
START = b"\x00\x00\x01"


def is_picture(stream, start, encoder):
    """Whether the unit after this start code is part of a picture: neither parameters nor text."""
    kind = stream[start + len(START)]
    return (kind >> 1) & 63 < 32 if encoder == "x265" else kind & 31 in (1, 5)


def first_picture(stream, encoder):
    """Where the first picture begins. Encoders do not count what comes before it."""
    start = stream.find(START)
    while start >= 0 and not is_picture(stream, start, encoder):
        start = stream.find(START, start + 1)
    return start


def picture_bits(stream, encoder):
    """The bits of each picture of a stream of bytes, in coded order, without delimiters. x265 has
    none before the first picture, where its parameters are."""
    first, delimiter, size = first_picture(stream, encoder), DELIMITER[encoder], DELIMITER_BYTES[encoder]
    starts, ends = [first], []
    at = stream.find(delimiter, first)
    while at >= 0:
        ends.append(at)
        starts.append(at + size)
        at = stream.find(delimiter, at + 1)
    return [8 * (end - start) for start, end in zip(starts, ends + [len(stream)])]


def lowest_fill(bits, frame_rate, maxrate, bufsize):
    """How full the buffer of bufsize kbit is at the least, in per cent. Below 0, the limit is broken."""
    size = 1000 * bufsize
    fill = lowest = INITIAL_FILL * size
    for picture in bits:
        lowest = min(lowest, fill - picture)
        fill = min(max(fill - picture, 0) + 1000 * maxrate / frame_rate, size)
    return 100 * lowest / size
