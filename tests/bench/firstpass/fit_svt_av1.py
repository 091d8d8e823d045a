#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Finds the numbers in src/encode/encoders/svt_av1.c from the statistics of SVT-AV1's first pass, at
each of the qualities that follow from a bitrate. For each kind of frame:

    bits = header + (pixels / 230400)^-SHRINK (intra / cost)^reuse * what fit.py has

q is the index of the quantizer of the coarsest frames, divided by 5; intra and cost are sums of the costs
of those of the next 16 frames that are neither key frames nor ends of pyramids, and reuse is 0 for all
but these two kinds.

usage: fit_svt_av1.py --clips DIR --probe PATH [options]

Prints how well the model does on each clip, and the rows of the tables.
"""
import argparse
import collections
import concurrent.futures
import csv
import math
import os
import sys
from statistics import mean, median

import fit
from corpus import ROLES, rows as corpus_rows
from encoders import BITS, FRAME_RATE, RECORD, Cache, file_hash, first_pass, program_of, \
    program_path, version, y4m_shape

KINDS = ["KEY", "END", "OF_16", "OF_8", "OF_4", "OF_2"]
REUSING = KINDS[:2]
BANDS = (0.4, 1.4, 2.8, 4.8, 6.8, 9.5)  # bits of a bitrate, per pixel in 60 frames
KEYINT, GROUP, INDICES = 161, 16, 5
HEADER, STREAM = 144, 216
PIXELS, SHRINK = 640 * 360, 0.18
LEAST = 0.02  # of the costs, by the intra costs
WITHOUT = 0.3  # the same, where there are no such frames
# Clips for the fit: those of this role and, so that large pictures are among them, these.
ROLE, LARGE = "fit", {"flares", "red_tree", "palms", "horses", "strip"}
START = fit.START + (0.1,)
ROUNDS = 60

Frame = collections.namedtuple("Frame", "kind bits size reuse base")


def kinds_of(count):
    """Of frames in display order."""
    kinds = ["KEY"] * count

    def halve(past, future):
        if future - past > 1:
            middle = past + (future - past) // 2
            kinds[middle] = "OF_%d" % (future - past)
            halve(past, middle)
            halve(middle, future)
    for key in range(0, count, KEYINT):
        last, end = key, min(key + KEYINT, count) - 1
        while last < end:
            run = GROUP
            while run > end - last:
                run //= 2
            kinds[last + run] = "END" if run > 1 else "OF_2"
            halve(last, last + run)
            last += run
    return kinds


def reuse_of(table, kinds, frame):
    found = [row for row, kind in list(zip(table, kinds))[frame + 1:frame + 1 + GROUP]
             if kind not in REUSING]
    intra = sum(int(row["intra_cost"]) for row in found)
    part = sum(int(row["cost"]) for row in found) / intra if intra else WITHOUT
    return 1 / min(1, max(LEAST, part))


def probe_rows(cache, probe, clip):
    where, _ = cache.run("probe " + file_hash(probe), [probe, "-e", "svt-av1", "clip.y4m", "out"],
                         {"clip.y4m": clip})
    with open(os.path.join(where, "out.csv"), newline="") as table:
        return sorted(csv.DictReader(table), key=lambda row: int(row["display"]))


def frames_of_band(clip, table, records):
    """table, records: of all frames in display order."""
    with open(clip, "rb") as stream:
        fields = {word[:1]: word[1:] for word in stream.readline().decode().split()[1:]}
    size = (int(fields["W"]) * int(fields["H"]) / PIXELS) ** -SHRINK
    kinds = kinds_of(len(table))
    result = []
    for i, (row, record) in enumerate(zip(table, records)):
        coded = {"type": kinds[i], "q": record[7] / INDICES, "bits": record[BITS], "out": 1}
        base = fit.frame_of("x265", row, coded)._replace(header=0)
        result.append(Frame(kinds[i], record[BITS], size, reuse_of(table, kinds, i), base))
    return result


def samples_of(task):
    """For each band a list of frames."""
    arguments, row = task
    cache, clip = Cache(arguments.cache), os.path.join(arguments.clips, row["name"] + ".y4m")
    table, result = probe_rows(cache, arguments.probe, clip), []
    pixels = int(row["width"]) * int(row["height"])
    for band in BANDS:
        kbps = max(1, round(band * pixels * FRAME_RATE / 60 / 1000))
        stats, _ = first_pass(cache, "svt-av1", clip, kbps,
                              ["--preset", "6", "--keyint", str(KEYINT)])
        with open(stats, "rb") as stream:
            records = list(RECORD.iter_unpack(stream.read()))[:-1]
        assert len(records) == len(table) == y4m_shape(clip)[1], row["name"]
        result.append(frames_of_band(clip, table, records))
    return row["name"], row["role"], result


def predict(model, frame):
    header = HEADER + (STREAM if frame.kind == "KEY" else 0)
    return header + fit.predict(model[:-1], frame.base) * frame.size * frame.reuse ** model[-1]


def fit_kind(samples, kind):
    rows = []
    for frames in samples:
        total = sum(frame.bits for frame in frames)
        rows += [(frame.bits / total, frame if kind in REUSING else frame._replace(reuse=1))
                 for frame in frames if frame.kind == kind]
    model, damping = START, 1e-3
    for _ in range(ROUNDS):
        found = fit.improved(model, rows, damping, predict)
        fit.forget_prices()
        if not found or max(abs(a - b) for a, b in zip(found[0], model)) < 1e-4:
            break
        model, damping = found
    return model[:-1] + (model[-1] if kind in REUSING else 0.0,)


def report(model, clips):
    for role in ROLES:
        logs, scatters = [], []
        for name, _, samples in (clip for clip in clips if clip[1] == role):
            ratios = []
            for frames in samples:
                pairs = [(predict(model[frame.kind], frame), frame.bits) for frame in frames]
                true = sum(bits for _, bits in pairs)
                ratios.append(sum(guess for guess, _ in pairs) / true)
                scatters.append(math.sqrt(sum(
                    bits * math.log(guess / bits / ratios[-1]) ** 2 for guess, bits in pairs) / true))
            print("%-14s %-5s %s" % (name, role, " ".join("%.2f" % ratio for ratio in ratios)))
            logs += [abs(math.log(ratio)) for ratio in ratios]
        if logs:
            print("%s: size off by %.1f %% (median), %.1f %% (mean); scatter %.2f" % (
                role, 100 * math.expm1(median(logs)), 100 * math.expm1(mean(logs)), mean(scatters)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clips", type=os.path.abspath, required=True)
    parser.add_argument("--probe", type=program_path, required=True)
    parser.add_argument("--names", help="clips, separated by commas; default: all but sealed ones")
    parser.add_argument("--cache", type=os.path.abspath, default="/tmp/ladder-cache")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    rows = [row for row in corpus_rows()
            if not arguments.names or row["name"] in arguments.names.split(",")]
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        clips = list(pool.map(samples_of, [(arguments, row) for row in rows]))
    samples = [frames for name, role, bands in clips if role == ROLE or name in LARGE
               for frames in bands]
    model = {kind: fit_kind(samples, kind) for kind in KINDS}
    report(model, clips)
    print("\n/* SVT-AV1 %s: %d clips at %d qualities */" % (
        version(program_of("svt-av1")), len(samples) // len(BANDS), len(BANDS)))
    for kind in KINDS:
        values = model[kind][:-1]
        values = values[:4] + (0.0, 0.0) + values[6:] if kind == "KEY" else values
        print("[%s] = GPUME_FITTED(%.3f, %.4f, %.3f, %.3f, %.3f, %.3f, %.3f)," % ((kind,) + values))
    for kind in REUSING:
        print("[%s] = %d," % (kind, round(65536 * model[kind][-1])))


if __name__ == "__main__":
    sys.exit(main())
