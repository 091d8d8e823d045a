#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Finds changes of scene in the clips of the corpus by gpume and by other programs.

usage: rivals.py gpume GPUME OUT.csv CLIP...
       rivals.py measure FOLDER CLIP...
       rivals.py best [--role fit|held] FOLDER [RIVAL...]

"gpume" writes a report for score.py. "measure" writes what the rivals measure of each frame into
FOLDER; clips that have been measured are kept. "best" looks for the threshold at which each rival
has the best F1 over the whole table, for cuts, gradual changes and all changes each by itself, and
prints a line per rival. Needs ffmpeg with libx264, and numpy.

PySceneDetect's detectors are written anew from its documentation (docs/cli.rst of version 0.7).
"""
import csv
import glob
import os
import subprocess
import sys
import tempfile

import score

FIELDS = ("scdet", "select", "content", "hist", "hash", "mean", "x264")
# FFmpeg and x264 have no least length of a scene; PySceneDetect's default is 0.6 s.
MIN_LENGTHS = {"FFmpeg": (1,), "x264": (1,), "PySceneDetect": (15, 1)}
# PySceneDetect itself works on pictures 256 to 511 wide; the means differ little.
WIDTH = 160


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def gpume(path, program):
    run = subprocess.run([program, "scenes", path, "--format", "csv", "-q"], capture_output=True, text=True, check=True)
    for row in csv.DictReader(run.stdout.splitlines()):
        yield row["kind"], int(row["frame"]), int(row["last_frame"]), row["confidence"]


def run_gpume(program, target, clips):
    with open(target, "w", newline="") as out:
        print("detector,clip,kind,first,last,confidence", file=out)
        for path in clips:
            found = list(gpume(path, program)) or [("none", 0, 0, "")]
            for kind, first, last, confidence in found:
                print("gpume,%s,%s,%d,%d,%s" % (stem(path), kind, first, last, confidence), file=out)


def size_of(path):
    """The size of the small pictures that are measured."""
    run = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
                          "-of", "csv=p=0", path], capture_output=True, text=True, check=True)
    width, height = run.stdout.strip().split("\n")[0].strip(",").split(",")[:2]
    return WIDTH, int(height) * WIDTH // int(width)


def scores_of(path):
    """FFmpeg's scores of each frame, as metadata=print writes them."""
    scdet, select = [], []
    with open(path) as lines:
        for line in lines:
            if line.startswith("frame:"):
                scdet.append(0.0)
                select.append(0.0)
            elif line.startswith("lavfi.scd.score="):
                scdet[-1] = float(line.split("=")[1])
            elif line.startswith("lavfi.scene_score="):
                select[-1] = float(line.split("=")[1])
    return scdet, select


def intra_of(path, count):
    """Which frames x264 made intra frames, from the log of its first pass."""
    intra = [0] * count
    with open(path) as lines:
        for line in lines:
            words = dict(word.split(":", 1) for word in line.split() if ":" in word)
            if words.get("type", "").upper() == "I" and int(words["in"]) < count:
                intra[int(words["in"])] = 1
    return intra


def measure(path, target):
    import numpy as np
    import pictures
    small = size_of(path)
    with tempfile.TemporaryDirectory() as folder:
        names = {name: os.path.join(folder, name) for name in ("scores", "raw", "pass")}
        graph = ("[0:v]split[a][b];[a]scdet=threshold=0,select='gte(scene,0)',metadata=print:file=%s,"
                 "scale=%d:%d:flags=bilinear,format=bgr24[c]" % ((names["scores"],) + small))
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-i", path, "-filter_complex", graph,
                        "-map", "[c]", "-fps_mode", "passthrough", "-f", "rawvideo", names["raw"],
                        "-map", "[b]", "-fps_mode", "passthrough", "-c:v", "libx264", "-preset", "superfast",
                        "-x264-params", "keyint=infinite:threads=1", "-pass", "1",
                        "-passlogfile", names["pass"], "-f", "null", "-"], check=True)
        frames = np.memmap(names["raw"], np.uint8, "r").reshape(-1, small[1], small[0], 3)
        scdet, select = scores_of(names["scores"])
        columns = dict(pictures.measures(frames), scdet=scdet, select=select,
                       x264=intra_of(glob.glob(names["pass"] + "*.log")[0], len(frames)))
        assert len(scdet) == len(frames), path
        with open(target + ".part", "w") as out:
            print(",".join(FIELDS), file=out)
            for values in zip(*(columns[name] for name in FIELDS)):
                print(",".join("%.5g" % value for value in values), file=out)
    os.rename(target + ".part", target)


def thinned(cuts, least):
    """No cut less than this many frames after another."""
    kept = []
    for cut in cuts:
        if not kept or cut - kept[-1] >= least:
            kept.append(cut)
    return kept


def above(field):
    return lambda data, limit: [i for i, value in enumerate(data[field]) if i and value >= limit]


def below(field):
    return lambda data, limit: [i for i, value in enumerate(data[field]) if i and value <= limit]


def adaptive(data, limit):
    """detect-adaptive: the content against the mean of two frames on either side."""
    ratio, least = limit
    content, cuts = data["content"], []
    for i in range(2, len(content) - 2):
        mean = (content[i - 2] + content[i - 1] + content[i + 1] + content[i + 2]) / 4
        if content[i] >= least and content[i] >= ratio * mean:
            cuts.append(i)
    return cuts


def threshold(data, limit):
    """detect-threshold: a cut halfway between a fade-out and the fade-in after it."""
    mean, cuts, left = data["mean"], [], None
    dark = mean[0] < limit
    if dark:
        left = 0
    for i, value in enumerate(mean):
        if not dark and value < limit:
            dark, left = True, i
        elif dark and value >= limit:
            dark = False
            if left:
                cuts.append((left + i) // 2)
    return cuts + [left] if dark and left else cuts


def steps(first, last, count):
    return [first * (last / first) ** (i / (count - 1)) for i in range(count)]


RIVALS = {
    "FFmpeg scdet": (above("scdet"), steps(4, 40, 24)),
    "FFmpeg select=gt(scene)": (above("select"), steps(0.05, 0.6, 24)),
    "x264 I frames": (above("x264"), [1]),
    "PySceneDetect detect-content": (above("content"), steps(10, 70, 24)),
    "PySceneDetect detect-adaptive": (adaptive, [(r, c) for r in steps(1.7, 7, 9) for c in (8, 11, 15, 20, 25, 30)]),
    "PySceneDetect detect-hist": (below("hist"), [1 - x for x in steps(0.02, 0.9, 20)]),
    "PySceneDetect detect-hash": (above("hash"), steps(0.2, 0.6, 16)),
    "PySceneDetect detect-threshold": (threshold, list(range(3, 49, 3))),
}
# What a user gets who sets nothing.
DEFAULTS = {"FFmpeg scdet": 10, "FFmpeg select=gt(scene)": 0.4, "x264 I frames": 1, "PySceneDetect detect-content": 27,
            "PySceneDetect detect-adaptive": (3, 15), "PySceneDetect detect-hist": 0.8,
            "PySceneDetect detect-hash": 0.35, "PySceneDetect detect-threshold": 12}


def counts_of(table, clips, find, limit, least):
    total = {}
    for name, data in clips.items():
        reports = [score.Change({"kind": "cut", "first": cut, "last": cut}) for cut in thinned(find(data, limit), least)]
        score.add(total, score.score_clip(table.changes(name), reports)[0])
    return total


def show(limit):
    return "+".join("%.3g" % x for x in limit) if isinstance(limit, tuple) else "%.3g" % limit


def line_of(rival, what, tried):
    limit, least, three = tried
    return "%s,%s,%s,%d," % (rival, what, show(limit), least) + ",".join("%.4f" % x for kind in three for x in kind)


def best(table, clips, rivals):
    print("detector,best_for,threshold,min_length,cut_precision,cut_recall,cut_f1,gradual_precision,gradual_recall,"
          "gradual_f1,all_precision,all_recall,all_f1")
    for rival in rivals:
        (find, limits), tried = RIVALS[rival], []
        for limit in limits:
            for least in MIN_LENGTHS[rival.split()[0]]:
                tried.append((limit, least, score.summary(counts_of(table, clips, find, limit, least), True)))
        for index, what in enumerate(("cuts", "gradual", "all")):
            print(line_of(rival, what, max(tried, key=lambda one: one[2][index][2])))
        least = MIN_LENGTHS[rival.split()[0]][0]
        three = score.summary(counts_of(table, clips, find, DEFAULTS[rival], least), True)
        print(line_of(rival, "default", (DEFAULTS[rival], least, three)))


def load(table, folder):
    clips = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".csv") and table.has(stem(name)):
            rows = score.read(os.path.join(folder, name))
            clips[stem(name)] = {field: [float(row[field]) for row in rows] for field in FIELDS}
    return clips


def main():
    words = sys.argv[1:]
    if len(words) >= 4 and words[0] == "gpume":
        run_gpume(words[1], words[2], words[3:])
    elif len(words) >= 3 and words[0] == "measure":
        os.makedirs(words[1], exist_ok=True)
        for path in words[2:]:
            target = os.path.join(words[1], stem(path) + ".csv")
            if not os.path.exists(target):
                measure(path, target)
    elif len(words) >= 2 and words[0] == "best":
        role = words[2] if words[1] == "--role" else None
        rest = words[3:] if role else words[1:]
        table = score.Table(os.path.join(score.HERE, "truth.csv"), os.path.join(score.HERE, "corpus.csv"), role)
        best(table, load(table, rest[0]), rest[1:] or RIVALS)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
