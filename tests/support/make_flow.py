#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_flow.py FILE.flo|FILE.png WIDTH HEIGHT KIND: writes true flow, in the format of Middlebury or of KITTI, without
gpume's code. The kinds have errors that are known in closed form."""
import struct
import sys
import zlib

NAN = float("nan")


def vector(kind, x, y, width):
    """(u, v), or None where the flow is unknown."""
    if kind == "half":
        return (3.0, 4.0) if x < width // 2 else None
    if kind == "steps":  # at each threshold, and one unit of KITTI above it
        return [(1.0, 0.0), (1.015625, 0.0), (3.015625, 0.0), (0.0, 5.015625)][x // 8 % 4]
    if kind == "lengths":  # 5 pixels more than (55,0) and (155,0)
        return (60.0, 0.0) if x < 8 else (160.0, 0.0)
    if kind == "unknown":
        return (NAN, 4.0) if y < 4 else (2e9, 4.0) if y < 8 else (3.0, 4.0)
    if kind == "none":
        return None
    if kind == "far":
        return (20000.0, 0.0)
    if kind == "dense":
        return (x / 1024 + 2.5, y / 2048)
    return (3.0, 4.0)


def flo(width, height, vectors):
    rows = (struct.pack("<ff", *(one or (1e10, 1e10))) for one in vectors)
    return b"PIEH" + struct.pack("<ii", width, height) + b"".join(rows)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def kitti(width, height, vectors):
    rows = b""
    for i, one in enumerate(vectors):
        samples = (round(one[0] * 64) + 32768, round(one[1] * 64) + 32768, 1) if one else (0, 0, 0)
        rows += (b"\0" if i % width == 0 else b"") + struct.pack(">HHH", *samples)
    head = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def main():
    name, width, height, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    vectors = [vector(kind, x, y, width) for y in range(height) for x in range(width)]
    make = flo if name.endswith(".flo") else kitti
    with open(name, "wb") as file:
        file.write(make(width, height, vectors))


main()
