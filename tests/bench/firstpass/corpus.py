#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the clips of corpus.csv from their sources, as 8-bit y4m at 25 frames per second.

usage: corpus.py SOURCES CLIPS [NAME...]

SOURCES holds the source repositories, each at OWNER/REPOSITORY. Sources that start with "lavfi:"
are generators of FFmpeg and need no file. Clips that exist are kept.
"""
import csv
import os
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.csv")


# Clips for fitting; those that generators of FFmpeg draw, of which no fit learns; those held out; those
# that were cut when all choices had been made.
ROLES = ("fit", "drawn", "held", "later")


def rows():
    with open(TABLE, newline="") as table:
        return list(csv.DictReader(table))


def inputs_of(row, sources):
    if row["source"].startswith("lavfi:"):
        return ["-f", "lavfi", "-i", row["source"][len("lavfi:"):]]
    return [word for path in row["source"].split()
            for word in ("-i", os.path.join(sources, path))]


def make(row, sources, target):
    size = "%s:%s" % (row["width"], row["height"])
    graph = (row["filter"] + ",scale=%s:flags=bicubic+accurate_rnd+bitexact" % size
             + ",setsar=1,format=yuv420p,setpts=N/25/TB,fps=25")
    partial = target + ".part"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y"] + inputs_of(row, sources)
                   + ["-filter_complex", graph, "-an", "-frames:v", row["frames"],
                      "-f", "yuv4mpegpipe", partial], check=True)
    os.rename(partial, target)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sources, clips, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(clips, exist_ok=True)
    failed = []
    for row in rows():
        target = os.path.join(clips, row["name"] + ".y4m")
        if (names and row["name"] not in names) or os.path.exists(target):
            continue
        try:
            make(row, sources, target)
        except subprocess.CalledProcessError:
            failed.append(row["name"])
    if failed:
        sys.exit("corpus.py: not made: " + " ".join(failed))


if __name__ == "__main__":
    main()
