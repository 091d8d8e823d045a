#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Fits the bits model (src/encode/bits.h) to encodes of the corpus:

    x = exp(a + b ln(A / blocks + 1) + g q) - 0.01
    bits of a block = S ln(1 + x / S)

A is the weighted cost of gpume's analysis with the encoder's own frame types; bits and q (QP before
tree and adaptive quantization) are those of a second pass that used the offsets of that analysis,
at the bitrates of the ladder. Least squares of the logarithms, for each type of frame; a frame
weighs as its share of the clip's bits at that rate, so that all clips count alike. Errors beyond
HUBER count linearly (Huber 1964), so that noisy clips do not decide for all others.

usage: fit.py --clips DIR --probe PATH [options]

Prints how well the model does on each clip, and the rows of the table in src/encode/bits.c.
"""
import argparse
import concurrent.futures
import math
import os
import sys
from statistics import mean, median

from analysis import Analysis
from corpus import ROLES, rows as corpus_rows
from encoders import Cache, Failure, first_pass, frames_of, second_pass, version
from ladder import RATES

LEAST = 0.01
SATURATION = 554  # S: 384 samples of a block / ln 2
HUBER = 0.3  # of a natural logarithm
ROUNDS = 30
TYPES = ["I", "P", "B", "b"]
C_TYPES = [("GPUME_FRAME_IDR", "I"), ("GPUME_FRAME_I", "I"), ("GPUME_FRAME_P", "P"),
           ("GPUME_FRAME_B_REF", "B"), ("GPUME_FRAME_B", "b")]


def samples_of(task):
    """For each rate a list of (type, ln(A / blocks + 1), q, bits of a block), of frames of which
    something is coded."""
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
        result.append([(
            frame["type"].replace("i", "I"),
            math.log(float(line["weighted_cost"]) / int(line["coded_blocks"]) + 1), frame["q"],
            frame["bits"] / int(line["coded_blocks"])) for line, frame in zip(table, frames) if int(line["coded_blocks"]) > 0])
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


def unsaturated(bits):
    return SATURATION * math.expm1(bits / SATURATION)


def fit_type(samples, kind):
    """samples: lists of frames, one list per clip and rate."""
    rows = []
    for frames in samples:
        total = sum(bits for _, _, _, bits in frames)
        rows += [(bits / total, (1.0, level, q), math.log(unsaturated(bits) + LEAST))
                 for frame_type, level, q, bits in frames if frame_type == kind]
    model = least_squares(rows)
    for _ in range(ROUNDS):
        model = least_squares([
            (weight / max(1, abs(y - sum(m * v for m, v in zip(model, x))) / HUBER), x, y)
            for weight, x, y in rows])
    return model


def predict(model, kind, level, q):
    a, b, g = model[kind]
    return saturated(max(math.exp(a + b * level + g * q) - LEAST, 0.0))


def errors(model, frames):
    """The predicted size by the true one, and how far logarithms of frames scatter about it."""
    pairs = [(predict(model, kind, level, q), bits) for kind, level, q, bits in frames]
    true = sum(bits for _, bits in pairs)
    ratio = sum(guess for guess, _ in pairs) / true
    square = sum(bits * math.log((guess + LEAST) / (bits + LEAST) / ratio) ** 2
                 for guess, bits in pairs) / true
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
    parser.add_argument("--clips", required=True)
    parser.add_argument("--probe", required=True)
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
