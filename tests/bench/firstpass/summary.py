#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sums up results of ladder.py: one line of Markdown per encoder, tune and variant.

usage: summary.py [results.csv]
"""
import csv
import math
import os
import sys
from statistics import mean

LONG_FRAMES = 750  # 30 s, from which on the rate should be met


def psnrs(row):
    return [float(point.split(":")[2]) for point in row["points"].split()]


def gains(rows):
    """{(encoder, tune, clip, variant): PSNR above that of the reference, mean of all rungs}."""
    def key(row, variant):
        return row["encoder"], row["tune"], row["clip"], variant
    found = {key(row, row["variant"]): psnrs(row) for row in rows}
    return {key(row, row["variant"]): mean(ours - theirs for ours, theirs in zip(
                psnrs(row), found[key(row, row["reference"])]))
            for row in rows if key(row, row["reference"]) in found}


def lines(rows):
    groups, of_rungs = {}, gains(rows)
    for row in rows:
        groups.setdefault((row["encoder"], row["tune"], row["role"], row["variant"]), []).append(row)
    for key, group in groups.items():
        quality = "bd_psnr" if key[1] == "psnr" else "bd_ssim"
        deltas = sorted((float(row[quality]), row["clip"]) for row in group
                        if not math.isnan(float(row[quality])))
        if key[3].endswith("_five"):
            quality = "dB"
            deltas = sorted((of_rungs[key[:2] + (row["clip"], key[3])], row["clip"])
                            for row in group)[::-1]
        if not deltas:
            continue
        long = [row["miss_mean"] for row in group if int(row["frames"]) >= LONG_FRAMES]
        yield key + (
            str(len(deltas)), quality, "%+.2f" % mean(delta for delta, _ in deltas),
            "%+.2f %s" % deltas[0], "%+.2f %s" % deltas[-1],
            "%.1f" % mean(float(row["miss_mean"]) for row in group),
            ", ".join(long) or "-",
            "%.2f" % (sum(float(row["first_cpu"]) + float(row["second_cpu"]) for row in group)
                      / sum((float(row["first_cpu"]) + float(row["second_cpu"]))
                            / float(row["cpu_ratio"]) for row in group)))


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "results.csv")
    with open(path, newline="") as table:
        rows = list(csv.DictReader(table))
    head = ("encoder", "tune", "role", "variant", "clips", "measure", "mean", "best", "worst",
            "rate miss %", "of long clips", "CPU")
    for cells in [head, ["---"] * len(head)] + list(lines(rows)):
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
