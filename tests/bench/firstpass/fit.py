#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Fits the bits model (src/encode/bits.h) to encodes of the corpus:

    x = u - threshold - step * q
    y = v - saving - q / 6
    bits = header + scale (details * sum of log2(1 + 2^(3 x)) / 3
                           + means * sum of log2(1 + 2^(2 x)) / 2
                           + vectors * sum of 1 / (1 + 2^(-1.5 y))
                           + block * differing * 2^((32 - q) / 6))

The first two sums are over the coefficients of gpume's analysis with the encoder's own frame types, u
is the size of a coefficient in octaves. The third is over the bits of vectors, and v is the logarithm
of what one of them saves; differing are the blocks that are not just what predicts them. scale is that of a part of the blocks; bits and q (QP before tree and
adaptive quantization) are those of a second pass that used the offsets of that analysis, at the
bitrates of the ladder. Least squares of the logarithms of bits, for each type of frame, by the
method of Levenberg and Marquardt; a frame weighs as its share of the clip's bits at that rate, so
that all clips count alike. Errors beyond HUBER count linearly (Huber 1964), so that noisy clips do
not decide for all others.

usage: fit.py --clips DIR --probe PATH [options]

Prints how well the model does on each clip, and the rows of the table in src/encode/encoders/ENCODER.c.
"""
import argparse
import collections
import concurrent.futures
import functools
import math
import operator
import os
import sys
from statistics import mean, median

from analysis import Analysis
from corpus import ROLES, rows as corpus_rows
from encoders import (KEYINT, Cache, Failure, Settings, first_pass, frames_of, program_path,
                      second_pass, version, words_of)
from ladder import RATES

FIRST_OCTAVE = -3  # of the bins, each of which is half an octave: src/encode/spectrum.h
FIRST_SAVED = -5  # the same of what bits of vectors save
SHARP_DETAILS, SHARP_MEANS, SHARP_SAVING = 3, 2, 1.5
BLOCK_Q = 32
HEADER = {"x264": 128, "x265": 24}
STREAM = {"x264": 5880, "x265": 0}  # of the first frame in addition
BINS = 24
DIFFERENCE = 1e-4  # for derivatives
HUBER = 0.3  # of a natural logarithm
ROUNDS = 200
START = (-2.5, 0.165, 4.0, 2.0, 0.6, -3.0, 1.0)  # threshold, step, details, means, vectors, saving, block
SIGNED = (0, 1, 5)  # those of them that may be below 0
TYPES = ["I", "P", "B", "b"]
C_TYPES = [("GPUME_FRAME_IDR", "I"), ("GPUME_FRAME_I", "I"), ("GPUME_FRAME_P", "P"),
           ("GPUME_FRAME_B_REF", "B"), ("GPUME_FRAME_B", "b")]


Frame = collections.namedtuple("Frame", "kind q bits header scale differing details means vectors")


def frame_of(encoder, line, coded):
    """A row of the analysis and the frame that was coded."""
    details, means, vectors = (
        [int(n) for n in line[name].split()] for name in ("details", "means", "vectors"))
    return Frame(kind=coded["type"].replace("i", "I"), q=coded["q"], bits=coded["bits"],
                 header=HEADER[encoder] + (STREAM[encoder] if coded["out"] == 0 else 0),
                 scale=int(line["blocks"]) / int(line["sampled"]), differing=int(line["differing"]),
                 details=details, means=means, vectors=vectors)


def samples_of(task):
    """For each rate a list of frames."""
    arguments, row = task
    cache, clip = Cache(arguments.cache), os.path.join(arguments.clips, row["name"] + ".y4m")
    settings = Settings("medium", arguments.tune, KEYINT)
    words = words_of(settings)
    analysis = Analysis(cache, arguments.encoder, settings, clip, None, arguments.probe)
    result = []
    for _, step in RATES:
        kbps = max(1, round(int(row["kbps"]) * step))
        stats, _ = first_pass(cache, arguments.encoder, clip, kbps, words)
        files, _ = analysis.tree_under(stats)
        table = analysis.probe_run(stats)[1]
        where, _ = second_pass(cache, arguments.encoder, clip, kbps, words, files, number="3")
        frames = frames_of(os.path.join(where, "stats"))
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


@functools.lru_cache(maxsize=None)
def prices(threshold, step, q):
    """Of each bin, before the slopes: details and means."""
    def bend(x, sharp):
        return x if sharp * x > 40 else math.log2(1 + 2 ** (sharp * x)) / sharp
    places = [FIRST_OCTAVE + 0.25 + k / 2 - threshold - step * q for k in range(BINS)]
    return [bend(x, SHARP_DETAILS) for x in places], [bend(x, SHARP_MEANS) for x in places]


@functools.lru_cache(maxsize=None)
def parts_spent(saving, q):
    """Of bits of vectors, by what they save."""
    places = [FIRST_SAVED + 0.25 + k / 2 - saving - q / 6 for k in range(BINS)]
    return [1 / (1 + 2 ** (-SHARP_SAVING * x)) for x in places]


def predict(model, frame):
    threshold, step, details, means, vectors, saving, block = model
    of_details, of_means = prices(threshold, step, frame.q)
    return frame.header + frame.scale * (
        details * sum(map(operator.mul, of_details, frame.details)) +
        means * sum(map(operator.mul, of_means, frame.means)) +
        vectors * sum(map(operator.mul, parts_spent(saving, frame.q), frame.vectors)) +
        block * frame.differing * 2 ** ((BLOCK_Q - frame.q) / 6))


def forget_prices():
    prices.cache_clear()
    parts_spent.cache_clear()


def huber(error):
    return error ** 2 if abs(error) < HUBER else (2 * abs(error) - HUBER) * HUBER


def loss(model, rows, predict=predict):
    return sum(weight * huber(math.log(frame.bits / predict(model, frame)))
               for weight, frame in rows)


def derivatives(model, frame, guess, predict=predict):
    """Of the logarithm of what the model predicts."""
    for i, value in enumerate(model):
        more = model[:i] + (value + DIFFERENCE,) + model[i + 1:]
        yield math.log(predict(more, frame) / guess) / DIFFERENCE


def equations(model, rows, predict=predict):
    """Of the step to the least squares of a linear model: matrix and vector."""
    n = len(model)
    matrix, vector = [[0.0] * n for _ in range(n)], [0.0] * n
    for weight, frame in rows:
        guess = predict(model, frame)
        error = math.log(frame.bits / guess)
        weight /= max(1, abs(error) / HUBER)
        slopes = list(derivatives(model, frame, guess, predict))
        for i in range(n):
            vector[i] += weight * slopes[i] * error
            for k in range(n):
                matrix[i][k] += weight * slopes[i] * slopes[k]
    return matrix, vector


def improved(model, rows, damping, predict=predict):
    """A better model and the damping that found it, or None: there is none nearby."""
    matrix, vector = equations(model, rows, predict)
    before = loss(model, rows, predict)
    while damping < 1e6:
        damped = [[value * (1 + damping * (i == k)) + 1e-12 * (i == k)
                   for k, value in enumerate(row)] for i, row in enumerate(matrix)]
        moved = [value + step for value, step in zip(model, solve(damped, vector))]
        new = tuple(value if i in SIGNED else max(0.0, value) for i, value in enumerate(moved))
        if loss(new, rows, predict) < before:
            return new, damping / 10
        damping *= 10
    return None


def fit_type(samples, kind):
    """samples: lists of frames, one list per clip and rate."""
    rows = []
    for frames in samples:
        total = sum(frame.bits for frame in frames)
        rows += [(frame.bits / total, frame) for frame in frames if frame.kind == kind]
    model, damping = START, 1e-3
    for _ in range(ROUNDS):
        found = improved(model, rows, damping)
        if not found or max(abs(a - b) for a, b in zip(found[0], model)) < 1e-5:
            forget_prices()
            return found[0] if found else model
        model, damping = found
        forget_prices()
    raise Failure("the fit of %s frames does not settle" % kind)


def errors(model, frames):
    """The predicted size by the true one, and how far logarithms of frames scatter about it."""
    pairs = [(predict(model[frame.kind], frame), frame.bits) for frame in frames]
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
    model["I"] = model["I"][:4] + (0.0, 0.0) + model["I"][6:]  # no vectors
    report(model, clips)
    print("\n/* %s %s: %d clips at %d rates */" % (
        arguments.encoder, version(arguments.encoder), len(samples) // len(RATES), len(RATES)))
    for name, kind in C_TYPES:
        print("[%s] = GPUME_FITTED(%.3f, %.4f, %.3f, %.3f, %.3f, %.3f, %.3f)," % ((name,) + model[kind]))


if __name__ == "__main__":
    sys.exit(main())
