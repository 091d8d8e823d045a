#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the clips of corpus.csv from their sources, as y4m at 25 frames per second.

usage: corpus.py SOURCES CLIPS [NAME...]

SOURCES holds the source repositories, each at OWNER/REPOSITORY. Sources that start with "lavfi:"
are generators of FFmpeg and need no file. Names of sources with spaces are quoted as in a shell.
Clips that exist are kept.
"""
import csv
import os
import shlex
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.csv")


# Clips for fitting; those that generators of FFmpeg draw, of which no fit learns; those held out; those
# that were cut when all choices had been made; those of other sources by which choices are judged.
ROLES = ("fit", "drawn", "held", "later", "judge")
# Clips of sources of their own that no fit uses and no choice has seen: encoded once, at the end.
SEALED = "sealed"
# A clip without a rate gets this many bits for each pixel.
NOMINAL = 0.06


def rows(sealed=False):
    """All clips, or those that are sealed: nobody gets these without asking for them."""
    with open(TABLE, newline="") as table:
        found = [row for row in csv.DictReader(table) if (row["role"] == SEALED) == sealed]
    for row in found:
        row["kbps"] = row["kbps"] or str(round(
            int(row["width"]) * int(row["height"]) * 25 * NOMINAL / 1000))
    return found


def inputs_of(row, sources):
    if row["source"].startswith("lavfi:"):
        return ["-f", "lavfi", "-i", row["source"][len("lavfi:"):]]
    return [word for path in shlex.split(row["source"])
            for word in ("-i", os.path.join(sources, path))]


def make(row, sources, target):
    size = "%s:%s" % (row["width"], row["height"])
    graph = (row["filter"] + ",scale=%s:flags=bicubic+accurate_rnd+bitexact" % size
             + ",setsar=1,format=%s,setpts=N/25/TB,fps=25" % row["format"])
    partial = target + ".part"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y"] + inputs_of(row, sources)
                   + ["-filter_complex", graph, "-an", "-frames:v", row["frames"], "-strict", "-1",
                      "-f", "yuv4mpegpipe", partial], check=True)
    os.rename(partial, target)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sources, clips, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(clips, exist_ok=True)
    failed = []
    for row in rows() + rows(sealed=True):
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
