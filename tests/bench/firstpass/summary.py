#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sums up results of ladder.py as Markdown. The first table has one line per variant and measure: mean,
median and worst of all clips, and how many of them lose. The second has rates and CPU times.

usage: summary.py results.csv
"""
import collections
import csv
import math
import sys
from statistics import mean, median

LONG_FRAMES = 750  # 30 s, from which on the rate should be met
KEY = ("encoder", "preset", "tune", "keyint", "rates", "role", "variant")
# sign: 1 where less is better. A clip loses if it is worse by more than `lost`.
Measure = collections.namedtuple("Measure", "label column unit sign lost")
MEASURES = (
    Measure("luma PSNR", "bd_rate_luma", "%", 1, 0.5),
    Measure("PSNR of all planes", "bd_rate_planes", "%", 1, 0.5),
    Measure("SSIM", "bd_rate_ssim", "%", 1, 0.5),
    Measure("VMAF", "bd_rate_vmaf", "%", 1, 0.5),
    Measure("(global)", "bd_rate_global", "%", 1, 0.5),
    Measure("luma PSNR, 1st percentile", "gain_luma_low", "dB", -1, 0.1),
    Measure("VMAF, 1st percentile", "gain_vmaf_low", "points", -1, 0.5),
    Measure("spread of luma PSNR", "gain_luma_spread", "dB", 1, 0.1),
)
# Of ladders of several sizes, whose points are no curve: means of differences at each rung.
AT_RUNGS = (
    Measure("luma PSNR at each rung", "luma", "dB", -1, 0.1),
    Measure("VMAF at each rung", "vmaf", "points", -1, 0.5),
)
HEADS = (KEY + ("measure", "clips", "mean", "median", "best", "worst", "lose"),
         KEY + ("clips", "rate missed by %", "signed", "most", "long clips", "CPU"))


def clip_of(row, variant):
    return tuple(row[name] for name in KEY[:-1]) + (row["clip"], variant)


def numbers(text):
    return [float(word) for word in text.split()]


def value_of(measure, row, found):
    """Of a row; NaN if there is none."""
    if not row[measure.column]:
        return math.nan
    if measure not in AT_RUNGS:
        return float(row[measure.column])
    base = found.get(clip_of(row, row["reference"]))
    return mean(ours - theirs for ours, theirs in zip(
        numbers(row[measure.column]), numbers(base[measure.column]))) if base else math.nan


def quality_lines(groups, found):
    for key, group in groups.items():
        if all(row["reference"] == row["variant"] for row in group):
            continue  # nothing but zeros
        for measure in AT_RUNGS if key[-1].endswith("_five") else MEASURES:
            values = [(value_of(measure, row, found), row["clip"]) for row in group]
            values = sorted(pair for pair in values if not math.isnan(pair[0]))[::measure.sign]
            if not values:
                continue
            all_values = [value for value, _ in values]
            lose = sum(measure.sign * value > measure.lost for value in all_values)
            cells = ["%+.2f" % mean(all_values), "%+.2f" % median(all_values),
                     "%+.2f %s" % values[0], "%+.2f %s" % values[-1],
                     "%.0f %%" % (100 * lose / len(values))]
            if measure.label.startswith("("):
                cells = ["(%s)" % cell for cell in cells]
            yield key + ("%s, %s" % (measure.label, measure.unit), str(len(values))) + tuple(cells)


def rate_lines(groups):
    for key, group in groups.items():
        def of_rates(name, combine, form="%.1f", group=group):
            values = [float(row[name]) for row in group if row[name]]
            return form % combine(values) if values else "-"
        cpu = [float(row["first_cpu"]) + float(row["second_cpu"]) for row in group]
        own_cpu = [used / float(row["cpu_ratio"]) for used, row in zip(cpu, group)]
        long = [row["miss_mean"] or "-" for row in group if int(row["frames"]) >= LONG_FRAMES]
        yield key + (str(len(group)), of_rates("miss_mean", mean),
                     of_rates("miss_signed", mean, "%+.1f"), of_rates("miss_max", max),
                     ", ".join(long) or "-", "%.2f" % (sum(cpu) / sum(own_cpu)))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], newline="") as table:
        rows = list(csv.DictReader(table))
    lacking = [name for name in KEY + tuple(measure.column for measure in MEASURES)
               if rows and name not in rows[0]]
    if lacking:
        sys.exit("summary.py: %s: not a table of ladder.py: it has no column %s" % (
            sys.argv[1], lacking[0]))
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in KEY), []).append(row)
    found = {clip_of(row, row["variant"]): row for row in rows}
    for number, lines in enumerate((quality_lines(groups, found), rate_lines(groups))):
        for cells in [HEADS[number], ["---"] * len(HEADS[number])] + list(lines):
            print("| " + " | ".join(cells) + " |")
        print()


if __name__ == "__main__":
    main()
