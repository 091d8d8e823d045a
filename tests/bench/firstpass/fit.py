#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Fits the bits model (src/encode/bits.h) to encodes of the corpus:

    x = exp(a + b ln(A / blocks + 1) + g q) - 0.01
    bits = header + blocks S ln(1 + x / S)

A is the weighted cost of gpume's analysis with the encoder's own frame types, and blocks are those
of which something is coded; bits and q (QP before tree and adaptive quantization) are those of a
second pass that used the offsets of that analysis, at the bitrates of the ladder. Least squares of
the logarithms of bits, for each type of frame, by the method of Gauss and Newton; a frame weighs as
its share of the clip's bits at that rate, so that all clips count alike. Errors beyond HUBER count
linearly (Huber 1964), so that noisy clips do not decide for all others.

usage: fit.py --clips DIR --probe PATH [options]

Prints how well the model does on each clip, and the rows of the table in src/encode/bits.c.
"""
import argparse
import collections
import concurrent.futures
import math
import os
import sys
from statistics import mean, median

from analysis import Analysis
from corpus import ROLES, rows as corpus_rows
from encoders import Cache, Failure, first_pass, frames_of, program_path, second_pass, version
from ladder import RATES

LEAST = 0.01
SATURATION = 300  # S: FINDINGS.md
HEADER = {"x264": 128, "x265": 24}
STREAM = {"x264": 5880, "x265": 0}  # of the first frame in addition
HUBER = 0.3  # of a natural logarithm
ROUNDS = 40
START = (0.0, 1.2, -0.12)
TYPES = ["I", "P", "B", "b"]
C_TYPES = [("GPUME_FRAME_IDR", "I"), ("GPUME_FRAME_I", "I"), ("GPUME_FRAME_P", "P"),
           ("GPUME_FRAME_B_REF", "B"), ("GPUME_FRAME_B", "b")]


# level: ln(A / blocks + 1)
Frame = collections.namedtuple("Frame", "kind level q bits blocks header")


def frame_of(encoder, line, coded):
    """A row of the analysis and the frame that was coded."""
    blocks = int(line["coded_blocks"])
    return Frame(kind=coded["type"].replace("i", "I"),
                 level=math.log(float(line["weighted_cost"]) / max(1, blocks) + 1), q=coded["q"],
                 bits=coded["bits"], blocks=blocks,
                 header=HEADER[encoder] + (STREAM[encoder] if coded["out"] == 0 else 0))


def samples_of(task):
    """For each rate a list of frames."""
    arguments, row = task
    cache, clip = Cache(arguments.cache), os.path.join(arguments.clips, row["name"] + ".y4m")
    analysis = Analysis(cache, arguments.encoder, arguments.tune, clip, None, arguments.probe)
    result = []
    for _, step in RATES:
        kbps = max(1, round(int(row["kbps"]) * step))
        stats, _ = first_pass(cache, arguments.encoder, clip, kbps, arguments.tune, [])
        files, _ = analysis.tree_under(stats)
        table = analysis.probe_run(stats)[1]
        coded, _ = second_pass(cache, arguments.encoder, clip, kbps, arguments.tune, [], files,
                               number="3")
        frames = frames_of(coded)
        if [int(line["display"]) for line in table] != [frame["in"] for frame in frames]:
            raise Failure(row["name"] + ": the analysis has other frames than the encoder")
        result.append([frame_of(arguments.encoder, *pair) for pair in zip(table, frames)])
    return row["name"], row["role"], result


def solve(matrix, vector):
    """Of a small system of linear equations: elimination with pivots."""
    n = len(vector)
    rows = [list(row) + [value] for row, value in zip(matrix, vector)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [x - factor * y for x, y in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def least_squares(rows):
    """rows: (weight, features, value)."""
    matrix, vector = [[0.0] * 3 for _ in range(3)], [0.0] * 3
    for weight, x, y in rows:
        for i in range(3):
            vector[i] += weight * x[i] * y
            for k in range(3):
                matrix[i][k] += weight * x[i] * x[k]
    return solve(matrix, vector)


def saturated(x):
    return SATURATION * math.log1p(x / SATURATION)


def predict(model, frame):
    """The bits of a frame, and how fast their logarithm grows with that of x."""
    a, b, g = model
    grown = math.exp(min(a + b * frame.level + g * frame.q, 50))
    x = grown - LEAST
    if x <= 0 or frame.blocks == 0:
        return frame.header, 0.0
    bits = frame.header + frame.blocks * saturated(x)
    return bits, frame.blocks * grown / (1 + x / SATURATION) / bits


def improved(model, rows):
    """The coefficients after one step: linear least squares about what the model predicts."""
    linear = []
    for weight, frame in rows:
        guess, slope = predict(model, frame)
        if slope < 0.01:  # frames of headers alone say nothing
            continue
        error = math.log(frame.bits / guess)
        x = (1.0, frame.level, frame.q)
        value = sum(m * v for m, v in zip(model, x)) + error / slope
        linear.append((weight * slope ** 2 / max(1, abs(error) / HUBER), x, value))
    return least_squares(linear)


def fit_type(samples, kind):
    """samples: lists of frames, one list per clip and rate."""
    rows = []
    for frames in samples:
        total = sum(frame.bits for frame in frames)
        rows += [(frame.bits / total, frame) for frame in frames if frame.kind == kind]
    model = START
    for _ in range(ROUNDS):
        before, model = model, improved(model, rows)
    if max(abs(a - b) for a, b in zip(before, model)) > 1e-4:
        raise Failure("the fit of %s frames does not settle" % kind)
    return model


def errors(model, frames):
    """The predicted size by the true one, and how far logarithms of frames scatter about it."""
    pairs = [(predict(model[frame.kind], frame)[0], frame.bits) for frame in frames]
    true = sum(bits for _, bits in pairs)
    ratio = sum(guess for guess, _ in pairs) / true
    square = sum(bits * math.log(guess / bits / ratio) ** 2 for guess, bits in pairs) / true
    return ratio, math.sqrt(square)


def report(model, clips):
    print("%-14s %-5s %s" % ("clip", "role", "predicted / true size at each rate, scatter of frames"))
    for role in ROLES:
        ratios, scatters = [], []
        for name, _, samples in (clip for clip in clips if clip[1] == role):
            found = [errors(model, frames) for frames in samples]
            print("%-14s %-5s %s   %.2f" % (name, role, " ".join("%.2f" % r for r, _ in found),
                                            mean(s for _, s in found)))
            ratios += [r for r, _ in found]
            scatters += [s for _, s in found]
        if ratios:
            logs = [abs(math.log(r)) for r in ratios]
            print("%s: size %.2f to %.2f, off by %.1f %% (median), %.1f %% (mean); scatter %.2f" % (
                role, min(ratios), max(ratios), 100 * math.expm1(median(logs)),
                100 * math.expm1(mean(logs)), mean(scatters)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clips", type=os.path.abspath, required=True)
    parser.add_argument("--probe", type=program_path, required=True)
    parser.add_argument("--encoder", default="x264", choices=["x264", "x265"])
    parser.add_argument("--tune", default="psnr", choices=["psnr", "default"])
    parser.add_argument("--cache", default="/tmp/ladder-cache")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        clips = list(pool.map(samples_of, [(arguments, row) for row in corpus_rows()]))
    samples = [frames for _, role, rates in clips if role == "fit" for frames in rates]
    model = {kind: fit_type(samples, kind) for kind in TYPES}
    report(model, clips)
    print("\n/* %s %s: %d clips at %d rates */" % (
        arguments.encoder, version(arguments.encoder), len(samples) // len(RATES), len(RATES)))
    for name, kind in C_TYPES:
        print("[%s] = FITTED(%.3f, %.3f, %.4f)," % ((name,) + tuple(model[kind])))


if __name__ == "__main__":
    sys.exit(main())
