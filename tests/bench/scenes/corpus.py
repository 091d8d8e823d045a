#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the clips of corpus.csv from their sources, and re-encodes each.

usage: corpus.py [--role fit|held] [--codings N] SOURCES CLIPS [NAME...]

SOURCES holds the source repositories, each at OWNER/REPOSITORY. Sources that start with "lavfi:"
are generators of FFmpeg and need no file. A clip is CLIPS/NAME.mkv, without loss; its encodes are
CLIPS/NAME@CODING.mp4 (or .mpg); with --codings at most N of each clip, a different first one for
each. Files that exist are kept.
"""
import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "corpus.csv")
GOPS = (25, 40, 60, 33, 50)


def rows():
    with open(TABLE, newline="") as table:
        return list(csv.DictReader(table))


def inputs_of(row, sources):
    words = []
    for source in row["source"].split(";"):
        if source.startswith("lavfi:"):
            words += ["-f", "lavfi", "-i", source[len("lavfi:"):]]
        else:
            words += ["-i", os.path.join(sources, source)]
    return words


def run(words, target):
    """Runs ffmpeg so that target appears only when it is whole."""
    stem, suffix = os.path.splitext(target)
    partial = stem + ".part" + suffix
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y"] + words + [partial], check=True)
    os.rename(partial, target)


def make(row, sources, target):
    """The clip itself: every frame of the stretch, at an even rate, without loss."""
    rate, size = row["rate"], row["size"].replace("x", ":")
    scale = ",scale=%s:flags=bicubic+accurate_rnd+bitexact" % size if size else ""
    graph = "%s%s,setsar=1,format=yuv420p,setpts=N/(%s)/TB" % (row["filter"], scale, rate)
    run(inputs_of(row, sources) + ["-filter_complex", graph, "-an", "-frames:v", row["frames"],
        "-fps_mode", "passthrough", "-r", rate, "-c:v", "ffv1", "-level", "3", "-slices", "4", "-g", "1"],
        target)


def encodes(index, row):
    """The encodes of clip number index: (name, suffix, words of ffmpeg)."""
    interlaced = "tinterlace" in row["filter"]
    preset = "fast" if row["role"] == "fit" else "veryfast"
    flags = ":tff=1" if interlaced else ""
    found = []
    for step, crf in enumerate((23, 30, 36)):
        gop = GOPS[(index + 2 * step) % len(GOPS)]
        # Without the encoder's own decision, key frames fall anywhere.
        cut = 0 if (index + step) % 2 == 0 else 40
        found.append(("x264-crf%d-g%d%s" % (crf, gop, "" if cut else "-nosc"), ".mp4",
                      ["-c:v", "libx264", "-preset", preset, "-crf", str(crf), "-g", str(gop),
                       "-x264-params", "open-gop=0:scenecut=%d:keyint=%d:threads=1%s" % (cut, gop, flags)]))
    if index % 4 == 1:
        gop = GOPS[index % len(GOPS)]
        found.append(("x265-crf32-g%d" % gop, ".mp4",
                      ["-c:v", "libx265", "-preset", preset, "-crf", "32",
                       "-x265-params", "open-gop=0:keyint=%d:scenecut=0:log-level=error" % gop]))
    if index % 4 == 3 or interlaced:
        found.append(("mpeg2-q6-g15", ".mpg",
                      ["-c:v", "mpeg2video", "-q:v", "6", "-g", "15", "-bf", "2", "-flags",
                       "+cgop+ildct+ilme" if interlaced else "+cgop", "-sc_threshold", "1000000000"]
                      + (["-top", "1"] if interlaced else [])))
    return found


def make_all(row, index, sources, clips, most):
    original = os.path.join(clips, row["name"] + ".mkv")
    if not os.path.exists(original):
        make(row, sources, original)
    codings = encodes(index, row)
    turn = index % 3
    for name, suffix, words in (codings[turn:] + codings[:turn])[:most]:
        target = os.path.join(clips, row["name"] + "@" + name + suffix)
        if os.path.exists(target):
            continue
        # MPEG-2 knows a few rates only.
        rate = ["-vf", "setpts=N/25/TB", "-r", "25"] if suffix == ".mpg" else []
        run(["-i", original, "-an"] + rate + ["-fps_mode", "passthrough"] + words, target)


def main():
    words, role, most = sys.argv[1:], None, None
    while words and words[0].startswith("--"):
        word = words.pop(0)
        if word == "--role" and words:
            role = words.pop(0)
        elif word == "--codings" and words:
            most = int(words.pop(0))
        else:
            sys.exit(__doc__)
    if len(words) < 2:
        sys.exit(__doc__)
    sources, clips, names = words[0], words[1], words[2:]
    os.makedirs(clips, exist_ok=True)
    failed = []
    for index, row in enumerate(rows()):
        if (role and row["role"] != role) or (names and row["name"] not in names):
            continue
        try:
            make_all(row, index, sources, clips, most)
        except subprocess.CalledProcessError:
            failed.append(row["name"])
    if failed:
        sys.exit("corpus.py: not made: " + " ".join(failed))


if __name__ == "__main__":
    main()
