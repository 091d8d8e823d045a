#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares two first passes of the same encoder over the same clip: frame types, and the QP offsets
of every frame that has the same type in both, as correlation, means and standard deviations. Needs
Python 3.10.

Usage: compare_passes.py x264|x265 WIDTH HEIGHT STATS STATS

Beside each STATS lies STATS.mbtree or STATS.cutree. The first one is called "theirs", the second
"ours". For example:

    x264 --preset medium --pass 1 --slow-firstpass --bitrate 500 --stats own.stats -o /dev/null CLIP
    gpume firstpass CLIP --encoder x264 --bitrate 500k -o ours
    compare_passes.py x264 640 360 own.stats ours-640x360-500k-0.log
"""
import re
import struct
import sys
from statistics import correlation, fmean, pstdev

FRAME = re.compile(r"in:(\d+) out:(\d+) type:(\w)")


class Pass:
    """types: by position in display order. offsets: of frames that others refer to, in QP."""

    def __init__(self, encoder, blocks, stats):
        frames = []
        with open(stats, encoding="utf-8") as lines:
            for line in lines:
                match = FRAME.match(line)
                if match:
                    frames.append((int(match[2]), int(match[1]), match[3]))
        self.types = {display: letter for _, display, letter in frames}
        self.offsets = {}
        suffix, order = (".mbtree", ">") if encoder == "x264" else (".cutree", "<")
        with open(stats + suffix, "rb") as tree:
            for _, display, letter in sorted(frames):
                if letter != "b":
                    record = tree.read(1 + 2 * blocks)
                    values = struct.unpack(f"{order}{blocks}h", record[1:])
                    self.offsets[display] = [value / 256 for value in values]
            if tree.read(1):
                sys.exit(f"{stats}{suffix}: longer than its frames")

    def letters(self):
        return "".join(self.types[display] for display in sorted(self.types))


def moments(values):
    return fmean(values), pstdev(values)


def likeness(a, b):
    """Their correlation; where one has the same value everywhere, whether the other one has, too."""
    constant = [min(values) == max(values) for values in (a, b)]
    return float(all(constant)) if any(constant) else correlation(a, b)


def compare_offsets(theirs, ours, letters):
    frames = [
        display
        for display in theirs.offsets
        if theirs.types[display] in letters and ours.types.get(display, "") in letters
    ]
    if not frames:
        return
    pairs = [(theirs.offsets[display], ours.offsets[display]) for display in frames]
    found = sorted(likeness(a, b) for a, b in pairs)
    figures = [fmean(part) for part in zip(*(moments(a) + moments(b) for a, b in pairs))]
    print(
        f"{letters[0]}: {len(frames)} frames, correlation mean {fmean(found):.3f} "
        f"least {found[0]:.3f}; mean offset theirs {figures[0]:.2f} ours {figures[2]:.2f}; "
        f"deviation theirs {figures[1]:.2f} ours {figures[3]:.2f}"
    )


def main():
    if len(sys.argv) != 6 or sys.argv[1] not in ("x264", "x265"):
        sys.exit(__doc__)
    width, height = int(sys.argv[2]), int(sys.argv[3])
    blocks = ((width + 15) // 16) * ((height + 15) // 16)
    theirs, ours = (Pass(sys.argv[1], blocks, stats) for stats in sys.argv[4:])
    same = sum(theirs.types[display] == ours.types.get(display) for display in theirs.types)
    print(f"theirs {theirs.letters()}")
    print(f"ours   {ours.letters()}")
    print(f"types: {same} of {len(theirs.types)} frames have the same")
    for letters in ("Ii", "P", "B"):
        compare_offsets(theirs, ours, letters)


if __name__ == "__main__":
    main()
