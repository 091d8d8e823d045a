#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How well `gpume grain` finds film grain that is known.

usage: grain.py GPUME CLIP...

aomenc codes each clip (Y4M, 4:2:0, 8 or 10 bits; few frames suffice) with a known table of film grain, and dav1d decodes it without and
with grain. `gpume grain` makes a table, beside the decoded video without grain ("both") and of that with grain alone ("alone"), which
is applied in the same way. A row: the largest error of a coefficient of luma, Cb and Cr; the grain of the table found by that of the
known one, as ratios of standard deviations: of luma, median and worst of eight ranges of intensity, and of Cb and Cr.
Needs aomenc, dav1d and NumPy.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy

ZEROS = [0] * 25
FINE = [0, 0, 0, 0, 0, 0, 0, 0, 0, -2, 6, -3, 0, 0, 0, 2, -9, 22, -8, 3, 0, 1, -10, 50]
COARSE = [0, 0, 1, 2, 1, 0, 0, 0, 2, -5, 8, -4, 1, 0, 1, -8, -10, 60, -12, 2, 0, 2, -25, 88]
# Coefficients in 1/128; points of strength; the right shift of the grain.
TABLES = {
    "white": (ZEROS[:24], ZEROS, ZEROS, [(0, 40)], [(0, 30)], [(0, 50)], 0),
    "ramp": (FINE, [c // 2 for c in FINE] + [30], [c // 3 for c in FINE] + [-20], [(0, 20), (64, 60), (128, 90), (255, 30)],
             [(0, 20), (128, 60), (255, 20)], [(0, 40), (255, 10)], 0),
    "coarse": (COARSE, ZEROS[:17] + [40, 0, 0, 0, 0, 0, 50, 0], ZEROS, [(0, 40), (255, 60)], [(0, 40)], [(0, 40)], 1),
    "weak": (FINE, ZEROS, ZEROS, [(0, 10), (255, 12)], [(0, 10)], [(0, 8)], 0),
}


def write_table(path, luma, cb, cr, points_y, points_cb, points_cr, shift):
    rows = ["filmgrn1", "E 0 9223372036854775807 1 7391 1", f"\tp 3 7 {shift} 8 0 1 128 192 256 128 192 256"]
    for name, points in ("Y", points_y), ("Cb", points_cb), ("Cr", points_cr):
        rows.append(f"\ts{name} {len(points)} " + "".join(f" {x} {y}" for x, y in points))
    for name, row in ("Y", luma), ("Cb", cb), ("Cr", cr):
        rows.append(f"\tc{name} " + " ".join(map(str, row)))
    path.write_text("\n".join(rows) + "\n")


def read_coefficients(path):
    rows = {words[0]: [int(w) for w in words[1:]] for words in map(str.split, path.read_text().splitlines())
            if words and words[0] in ("p", "cY", "cCb", "cCr")}
    return [numpy.array(rows[name]) / 2 ** rows["p"][1] for name in ("cY", "cCb", "cCr")]


def read_planes(path):
    data = path.read_bytes()
    head = data[:data.index(b"\n")].split()
    width, height = (int(next(w for w in head if w.startswith(letter))[1:]) for letter in (b"W", b"H"))
    deep = any(w.startswith(b"C") and b"p10" in w for w in head)
    count = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    at, frames = data.index(b"\n") + 1, []
    while at < len(data):
        at = data.index(b"\n", at) + 1
        frames.append(numpy.frombuffer(data, "<u2" if deep else "u1", count, at) / (4 if deep else 1))
        at += count * (2 if deep else 1)
    frames = numpy.array(frames)
    luma, chroma = frames[:, :width * height], frames[:, width * height:]
    half = chroma.shape[1] // 2
    return luma, chroma[:, :half], chroma[:, half:], deep


def apply(folder, table, clip, name):
    deep = ["-b", "10", "--input-bit-depth=10"] if b"p10" in clip.open("rb").readline() else []
    stream = folder / "coded.ivf"
    subprocess.run(["aomenc", "--cpu-used=6", "--end-usage=q", "--cq-level=10", f"--film-grain-table={table}", "--ivf", "-o", stream, clip]
                   + deep, check=True, stderr=subprocess.DEVNULL)
    paths = [folder / f"{name}.clean.y4m", folder / f"{name}.grain.y4m"]
    for grain, path in enumerate(paths):
        subprocess.run(["dav1d", "-q", "-i", stream, "-o", path, "--filmgrain", str(grain)], check=True)
    return paths


def deviations(paths):
    clean, grain = map(read_planes, paths)
    luma = []
    for part in range(8):
        inside = (clean[0] >= 32 * part) & (clean[0] < 32 * part + 32)
        luma.append((grain[0] - clean[0])[inside].std() if inside.mean() > 0.01 else numpy.nan)
    return numpy.array(luma), (grain[1] - clean[1]).std(), (grain[2] - clean[2]).std()


def main():
    gpume, clips = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    print(f"{'clip':<14}{'table':<8}{'input':<7}{'coefficients':<20}{'luma: median, worst':<22}Cb, Cr")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        known, found = folder / "known.tbl", folder / "found.tbl"
        for clip in clips:
            for table, values in TABLES.items():
                write_table(known, *values)
                truth = apply(folder, known, clip, "known")
                wanted = deviations(truth)
                for kind, inputs in ("both", truth[::-1]), ("alone", truth[1:]):
                    subprocess.run([gpume, "grain", *inputs, "-o", found, "-y", "-q", "--single"], check=True)
                    again = deviations(apply(folder, found, clip, "found"))
                    errors = [abs(a - b).max() for a, b in zip(read_coefficients(known), read_coefficients(found))]
                    ratios = again[0] / wanted[0]
                    ratios = ratios[~numpy.isnan(ratios)]
                    worst = max(ratios, key=lambda r: abs(numpy.log(r)))
                    print(f"{clip.stem:<14}{table:<8}{kind:<7}{' '.join(f'{e:.3f}' for e in errors):<20}"
                          f"{numpy.median(ratios):<8.3f}{worst:<14.3f}{again[1] / wanted[1]:.3f} {again[2] / wanted[2]:.3f}", flush=True)


main()
