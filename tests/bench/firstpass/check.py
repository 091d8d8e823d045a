#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the ladder's own parts: the corpus table, BD rates, the decoder's buffer, the fit, statistics
files, firstpass_probe, firstpass_distorted, and passes.py.

usage: check.py FIRSTPASS_PROBE [FIRSTPASS_DISTORTED]
"""
import csv
import math
import os
import queue
import shutil
import subprocess
import sys
import tempfile

from bdrate import bd_rate
from corpus import ROLES, rows
from encoders import frames_of
from fit import BINS, Frame, fit_type, predict
from ladder import VBV, options_at
from passes import PASSES, bitrate_of, ratio, work
from vbv import DELIMITER, lowest_fill, picture_bits

PASSES_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "passes.py")
WIDTH, HEIGHT, FRAMES = 96, 80, 12
BLOCKS = (WIDTH // 16) * (HEIGHT // 16)
TYPES = "IPbPBbbPPbPP"  # in display order, though not one that an encoder would choose


def check(holds, what):
    if not holds:
        sys.exit("check.py: " + what)


def check_corpus():
    clips = rows()
    held = [clip for clip in clips if clip["role"] == "held"]
    check(len({clip["name"] for clip in clips}) == len(clips) >= 30, "corpus: names, or too few clips")
    check(sum(clip["role"] == "fit" for clip in clips) >= 30, "corpus: too few clips for fitting")
    check(len(held) >= 10, "corpus: fewer than ten clips are held out")
    check(all(clip["role"] in ROLES and int(clip["kbps"]) > 0 for clip in clips),
          "corpus: a role or a rate")
    check(any(int(clip["frames"]) >= 1500 for clip in held), "corpus: no clip of a minute")


def check_bd_rate():
    curve = [(100, 30.0), (210, 33.5), (390, 36.0), (800, 38.5)]
    check(abs(bd_rate(curve, curve)) < 1e-9, "BD rate of a curve and itself")
    check(abs(bd_rate(curve, [(1.05 * r, q) for r, q in curve]) - 5) < 1e-9, "BD rate of 5 % more")
    line = [(2 ** i, 30 + 3.0 * i) for i in range(4)]  # doubling gives 3 dB
    worse = [(r, q - 0.3) for r, q in line]
    check(abs(bd_rate(line, worse) - 100 * (2 ** 0.1 - 1)) < 1e-9, "BD rate of 0.3 dB less")
    check(math.isnan(bd_rate(line, [(r, q + 20) for r, q in line])), "BD rate without overlap")


def check_buffer():
    for encoder, delimiter in DELIMITER.items():
        stream = b"".join(delimiter + bytes([7]) * size for size in (10, 300, 0))
        check(picture_bits(stream, encoder) == [8 * (4 + size) for size in (10, 300, 0)],
              "sizes of pictures")
    # 100 kbit, 90 of them at the start, and 40 more after each picture.
    check(abs(lowest_fill([50000, 70000, 10000], 25, 1000, 100) - 10) < 1e-9, "fill of a buffer")
    check(abs(lowest_fill([50000, 90000, 10000], 25, 1000, 100) + 10) < 1e-9, "a limit that is broken")
    check(abs(lowest_fill([0, 0, 100000, 41000], 25, 1000, 100) + 1) < 1e-9, "a buffer that is full")
    check(options_at(200, VBV) == ["--vbv-maxrate", "240", "--vbv-bufsize", "100"], "options of a rate")


def check_fit():
    """A model is found again in the sizes that it predicts."""
    model = (-2.2, 0.17, 3.6, 2.5, 0.4)
    frames = [[Frame("P", q, 0, 128, scale, [scale * (k * place % 7) for k in range(BINS)],
                     [k * place % 5 for k in range(BINS)], 100.0 * (place % 3))
               for place, scale in ((1, 1.0), (2, 2.5), (3, 1.0), (4, 1.5), (5, 4.0))] +
              [Frame("P", q, 0, 128, 1.0, [0] * BINS, [0] * BINS, 0.0)]  # nothing but a header
              for q in (20.0, 26.0, 31.0)]
    clips = [[frame._replace(bits=predict(model, frame)) for frame in clip] for clip in frames]
    found = fit_type(clips, "P")
    check(all(abs(a - b) < 1e-3 for a, b in zip(found, model)), "coefficients of the fit")


def write_clip(path):
    """A texture that moves right by two pixels a frame."""
    with open(path, "wb") as out:
        out.write(b"YUV4MPEG2 W%d H%d F25:1 C420jpeg\n" % (WIDTH, HEIGHT))
        for n in range(FRAMES):
            out.write(b"FRAME\n")
            for y in range(HEIGHT):
                out.write(bytes((((x - 2 * n) * 37 // 8) ^ (y * 11)) % 251 for x in range(WIDTH)))
            out.write(bytes([128]) * (WIDTH * HEIGHT // 2))


def coded_order():
    """Display positions: each run's end, its reference B frame, its other B frames."""
    order, run = [], []
    for display, kind in enumerate(TYPES):
        run.append(display)
        if kind in "IP":
            order += [display] + sorted(run[:-1], key=lambda i: TYPES[i] != "B")
            run = []
    return order


def run_probe(probe, folder, distortion):
    out = os.path.join(folder, distortion)
    subprocess.run([probe, "-t", os.path.join(folder, "stats"), "-v", distortion,
                    os.path.join(folder, "clip.y4m"), out], check=True)
    with open(out + ".csv", newline="") as table:
        found = list(csv.DictReader(table))
    with open(out + ".offsets", "rb") as stream:
        return found, stream.read()


def check_probe(probe):
    with tempfile.TemporaryDirectory() as folder:
        write_clip(os.path.join(folder, "clip.y4m"))
        stats = os.path.join(folder, "stats")
        with open(stats, "w") as out:
            out.write("#options: 96x80\n")
            for coded, display in enumerate(coded_order()):
                out.write("in:%d out:%d type:%s q:30.25 tex:10 mv:20 misc:30 ;\n" % (
                    display, coded, TYPES[display]))
        frames = frames_of(stats)
        check([frame["bits"] for frame in frames] == [60] * FRAMES, "bits of statistics")
        rows_found, offsets = run_probe(probe, folder, "as_found")
        check([(int(row["display"]), row["type"]) for row in rows_found]
              == [(frame["in"], frame["type"]) for frame in frames], "frame types of the probe")
        kept = sum(kind != "b" for kind in TYPES)
        check(len(offsets) == kept * (1 + 2 * BLOCKS), "size of the offsets")
        shuffled = run_probe(probe, folder, "reversed")[0]
        check(sum(int(row["cost"]) for row in shuffled) > sum(int(row["cost"]) for row in rows_found),
              "reversed vectors cost no more")


def offsets_of_command(command, folder, distortion):
    out = os.path.join(folder, distortion)
    subprocess.run([command, "firstpass", os.path.join(folder, "clip.y4m"), "--encoder", "x264",
                    "--bitrate", "100k", "--backend", "cpu", "-q", "-o", out], check=True,
                   env=dict(os.environ, FIRSTPASS_DISTORT=distortion))
    with open("%s-%dx%d-100k-0.log.mbtree" % (out, WIDTH, HEIGHT), "rb") as stream:
        return stream.read()


def check_distorted(command):
    with tempfile.TemporaryDirectory() as folder:
        write_clip(os.path.join(folder, "clip.y4m"))
        found = [offsets_of_command(command, folder, name)
                 for name in ("as_found", "zero", "reversed")]
        check(len(set(found)) == 3, "distorted vectors give the same offsets")


def check_passes_failures():
    """Whatever passes.py cannot do is said, and at once."""
    tasks, failures = queue.Queue(), []
    tasks.put((0, ("clip.y4m", None)))  # no list of rates
    work(None, tasks, {}, failures)
    check([type(failure) for failure in failures] == [TypeError],
          "a worker of passes.py dies silently")
    for rate in ("345k", "1.5M"):
        check(bitrate_of(rate) == rate, "passes.py refuses a bitrate")
    for rate in ("345000", "1.5", "k", "1.2.3k", "345kb"):
        run = subprocess.run(
            [sys.executable, "-B", PASSES_PROGRAM, "--gpume", "none", "--encoder", "x264",
             "--bitrate", rate, "none"], stderr=subprocess.PIPE, text=True)
        check(run.returncode == 2 and rate + ": give" in run.stderr, "passes.py takes " + rate)


def check_passes(command):
    """A round of passes.py, by firstpass_distorted with vectors as they were found."""
    ffmpeg = shutil.which("ffmpeg")
    if not ffmpeg or b" libx264 " not in subprocess.run(
            [ffmpeg, "-hide_banner", "-encoders"], stdout=subprocess.PIPE, check=True).stdout:
        print("no ffmpeg with libx264: passes.py is not checked")
        return
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.y4m")
        write_clip(clip)
        found = []
        for what in (["--bitrate", "100k", "--bitrate", "200k"],
                     ["--rung", "96x64:100k", "--rung", "64x48:50k", "--tune", "psnr"]):
            run = subprocess.run(
                [sys.executable, "-B", PASSES_PROGRAM, "--gpume", command, "--encoder", "x264",
                 "--threads", "1", "--workers", "2", "--rounds", "2", clip] + what,
                stdout=subprocess.PIPE, text=True, check=True)
            found += csv.DictReader(run.stdout.splitlines())
    check([(row["bitrate"], row["encodes"]) for row in found]
          == [("100k", "2"), ("200k", "2"), ("all", "4"), ("96x64:100k+64x48:50k", "2")]
          and all(float(row[name]) >= 0 for row in found for name in PASSES), "rows of passes.py")
    check(abs(ratio([2.0, 6.0, 0.5, 5.9]) - 0.8) < 1e-9, "ratio of passes.py")


if __name__ == "__main__":
    check(len(sys.argv) in (2, 3), "usage: check.py FIRSTPASS_PROBE [FIRSTPASS_DISTORTED]")
    check_corpus()
    check_bd_rate()
    check_buffer()
    check_fit()
    check_passes_failures()
    check_probe(sys.argv[1])
    for program in sys.argv[2:]:
        check_distorted(program)
        check_passes(program)
