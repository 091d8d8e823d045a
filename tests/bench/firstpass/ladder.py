#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ladder: two-pass encodes of the corpus at several bitrates, once by each encoder's own first pass
and once by that of gpume, judged by what viewers get and compared as BD rates.

usage: ladder.py --clips DIR [--gpume PATH] [--probe PATH] [--distorted PATH] [--vmaf PATH] [options]
       > results.csv

One row of output per clip and variant. See README.md for the variants and the measures.
"""
import argparse
import concurrent.futures
import csv
import datetime
import math
import os
import platform
import shutil
import sys

from bdrate import bd_rate, gain, ssim_db
from corpus import ROLES, rows as corpus_rows
from encoders import (DEMUXERS, KEYINT, PRESETS, TUNES, Cache, Failure, Settings,
                      changed_records, first_pass, pass_files, program_of, program_path,
                      quality_pass, scaled, second_pass, single_pass, version, words_of)
from analysis import Analysis
from quality import judge
from statistics import mean

SEALED = "sealed"  # clips that are run by this role alone
# Rates are those that the encoder takes at these constant qualities in one pass.
CRFS = {"x264": (20, 26, 32, 38), "x265": (20, 26, 32, 38), "svt-av1": (24, 34, 44, 54)}
# The rungs: parts of the clip's width and height, and of its rate in corpus.csv.
RATES = ((1, 0.4), (1, 0.8), (1, 1.6), (1, 3.2))
SIZES_AND_RATES = ((1, 3.2), (1, 1.6), (0.75, 1.2), (0.5, 0.8), (0.5, 0.4))
# Constant qualities that gpume's files are compared at.
QUALITIES = (20, 24, 28, 32, 36)
# Limits of the local rate: kbit/s and kbit as parts of the rate.
VBV = (("--vbv-maxrate", 1.2), ("--vbv-bufsize", 0.5))
# What is measured at each rate, with the digits of the table; how two curves of it are compared. Of
# SSIM, decibels make the curve.
MEASURES = {
    "luma": (3, bd_rate), "planes": (3, bd_rate), "ssim": (6, bd_rate), "vmaf": (3, bd_rate),
    "global": (3, bd_rate), "luma_low": (3, gain), "vmaf_low": (3, gain), "luma_spread": (3, gain),
}
COLUMNS = (["machine", "commit", "encoder", "version", "preset", "tune", "keyint", "rates", "clip",
            "role", "frames", "variant", "reference"]
           + ["%s_%s" % (compare.__name__, name) for name, (_, compare) in MEASURES.items()]
           + ["miss_mean", "miss_signed", "miss_max", "first_cpu", "second_cpu", "cpu_ratio",
              "target", "kbps"] + list(MEASURES) + ["fill"])

# Each variant: (encoder's options, how its files are made, the variant that is 0 %).
OWN, COPY, CRF, TREE, ALL, MEASURED, DISTORTED, CHANGED, OWN_CRF, ALL_CRF = range(10)
COMMON = {
    "own": ([], OWN, "own"),
    "copy": ([], COPY, "own"),
    "crf": ([], CRF, "own"),
    "tree": ([], TREE, "own"),
    "all": ([], ALL, "own"),
    "measured": ([], MEASURED, "own"),
    "zero": ([], TREE, "own"),
    "reversed": ([], TREE, "own"),
    "shuffled": ([], TREE, "own"),
    "all_zero": ([], DISTORTED, "own"),
    "all_reversed": ([], DISTORTED, "own"),
    "all_shuffled": ([], DISTORTED, "own"),
    "own_vbv": (VBV, OWN, "own_vbv"),
    "all_vbv": (VBV, ALL, "own_vbv"),
    "own_five": ([], OWN, "own_five"),
    "all_five": ([], ALL, "own_five"),
    "own_crf": ([], OWN_CRF, "own_crf"),
    "all_crf": ([], ALL_CRF, "own_crf"),
}
ADAPT2 = ["--b-adapt", "2"]
VARIANTS = {
    "x264": dict(COMMON, no_tree=(["--no-mbtree"], OWN, "own"),
                 own_adapt2=(ADAPT2, OWN, "own_adapt2"), all_adapt2=(ADAPT2, ALL, "own_adapt2")),
    "x265": dict(COMMON, no_tree=(["--no-cutree"], OWN, "own")),
    # It takes no offsets of gpume. The last ones are controls: its own sizes of frames, but all
    # equal, or those of other frames.
    "svt-av1": dict({name: COMMON[name] for name in ("own", "copy", "crf", "all")},
                    uniform=([], CHANGED, "own"), shuffled=([], CHANGED, "own")),
}


def options_at(kbps, options):
    """The options of one rate: values that are parts of it become whole numbers."""
    return [word for option in options
            for word in ([option] if isinstance(option, str)
                         else [option[0], str(max(1, round(option[1] * kbps)))])]


class Ladder:
    def __init__(self, arguments, row, name):
        self.arguments, self.row, self.encoder = arguments, row, arguments.encoder
        self.settings = Settings(arguments.preset, arguments.tune, arguments.keyint)
        self.words = words_of(self.settings)
        self.cache = Cache(arguments.cache)
        self.clip = os.path.join(arguments.clips, row["name"] + ".y4m")
        five, quality = name.endswith("_five"), name.endswith("_crf")
        steps = (SIZES_AND_RATES if five else [(1, None) for _ in QUALITIES] if quality else RATES)
        self.source = "quality" if quality else "corpus" if five else arguments.rates
        self.rates = [max(1, round(rate)) for rate in (
            [int(row["kbps"]) * step for _, step in steps] if self.source == "corpus"
            else [result["kbps"] for _, result in self.single_passes(QUALITIES if quality else None)])]
        self.sizes = [tuple(2 * round(int(row[side]) * part / 2) for side in ("width", "height"))
                      for part, _ in steps]
        self.clips = [self.clip if part == 1 else scaled(self.cache, self.clip, size)
                      for (part, _), size in zip(steps, self.sizes)]
        self.analysis = self.analysis_by([arguments.gpume])

    def analysis_by(self, command):
        """That of `gpume firstpass`, run as this list of words."""
        return Analysis(self.cache, self.encoder, self.settings, self.clip, command,
                        self.arguments.probe)

    def single_passes(self, crfs=None):
        return [single_pass(self.cache, self.encoder, self.clip, crf, self.words) 
                for crf in crfs or CRFS[self.encoder]]

    def quality_passes(self):
        runs, cpu = self.analysis.quality_files(QUALITIES)
        return [quality_pass(self.cache, self.encoder, self.clip, words, files)
                for files, words in runs], cpu

    def own_pass(self, kbps, options, clip=None):
        return first_pass(self.cache, self.encoder, clip or self.clip, kbps, self.words + options)

    def own_files(self, options):
        """Per rung: files and options of the second pass. With the CPU time of all first passes."""
        settings = [options_at(kbps, options) for kbps in self.rates]
        passes = [self.own_pass(*rung) for rung in zip(self.rates, settings, self.clips)]
        return ([(pass_files(self.encoder, stats), self.words + words)
                 for (stats, _), words in zip(passes, settings)], sum(cpu for _, cpu in passes))

    def all_files(self, options):
        """The same by gpume: one analysis, or one for each rate if options depend on it."""
        rungs = list(zip(self.rates, self.sizes))
        if options_at(1, options) == options:
            return self.analysis.all_files(rungs, options)
        found = [self.analysis.all_files([rung], options_at(rung[0], options)) for rung in rungs]
        return [runs[0] for runs, _ in found], sum(cpu for _, cpu in found)

    def tree_files(self, options, distortion):
        runs = [self.analysis.tree_under(self.own_pass(kbps, options)[0], distortion)
                for kbps in self.rates]
        return [(files, self.words + options) for files, _ in runs], runs[0][1]

    def measured_files(self, options):
        """Those of gpume, with the bits of an encode that used them."""
        runs, cpu = self.all_files(options)
        result = []
        for kbps, (files, extra) in zip(self.rates, runs):
            where, _ = second_pass(self.cache, self.encoder, self.clip, kbps, extra, files, number="3")
            result.append((dict(files, stats=os.path.join(where, "stats")), extra))
        return result, cpu

    def distorted_files(self, options, distortion):
        """Those of the command with distorted vectors, which works without a GPU alone."""
        command = ["env", "FIRSTPASS_DISTORT=" + distortion, self.arguments.distorted]
        return self.analysis_by(command).all_files(
            list(zip(self.rates, self.sizes)), options, ["--backend", "cpu"])

    def changed_files(self, options, name):
        passes = [self.own_pass(kbps, options) for kbps in self.rates]
        return ([({"stats": changed_records(self.cache, stats, name)}, self.words + options)
                 for stats, _ in passes], sum(cpu for _, cpu in passes))

    def files(self, options, kind, name):
        if kind in (OWN, COPY):
            return self.own_files(options)
        if kind == CHANGED:
            return self.changed_files(options, name)
        if kind == DISTORTED:
            return self.distorted_files(options, name[len("all_"):])
        if kind == TREE:
            return self.tree_files(options, "as_found" if name == "tree" else name)
        if kind == MEASURED:
            return self.measured_files(options)
        return self.all_files(options)

    def encodes(self, name):
        """The directory and the result of each rung's last pass, and the CPU time of what comes
        before."""
        options, kind, _ = VARIANTS[self.encoder][name]
        if kind in (CRF, OWN_CRF):
            return self.single_passes(None if kind == CRF else QUALITIES), 0.0
        if kind == ALL_CRF:
            return self.quality_passes()
        runs, cpu = self.files(options, kind, name)
        salt = "copy" if kind == COPY else ""  # encodes anew, which shows that they are repeatable
        return [second_pass(self.cache, self.encoder, clip, kbps, extra, files, salt)
                for kbps, clip, (files, extra) in zip(self.rates, self.clips, runs)], cpu

    def points(self, name):
        """Rate, measures and CPU time at each rung, and the CPU time of what comes before."""
        found, cpu = self.encodes(name)
        return [dict(result, **judge(self.cache, self.arguments.vmaf, DEMUXERS[self.encoder],
                                     os.path.join(where, "stream"), clip))
                for clip, (where, result) in zip(self.clips, found)], cpu

    def compared(self, name, base, points):
        if len(set(self.sizes)) > 1:
            return math.nan  # qualities of different sizes do not make a curve
        value = ssim_db if name == "ssim" else float
        return MEASURES[name][1](*[[(point["kbps"], value(point[name])) for point in side]
                                   for side in (base, points)])

    def of_measures(self, base, points):
        """The comparisons and the values; empty what is not measured."""
        row = {}
        for name, (digits, compare) in MEASURES.items():
            if points[0][name] is not None:
                row["%s_%s" % (compare.__name__, name)] = "%.3f" % self.compared(name, base, points)
                row[name] = " ".join("%.*f" % (digits, point[name]) for point in points)
        return row

    def variant(self, name):
        _, kind, reference = VARIANTS[self.encoder][name]
        points, first = self.points(name)
        base, base_first = self.points(reference)
        misses = [100 * (p["kbps"] / kbps - 1) for kbps, p in zip(self.rates, points)]
        second = sum(p["user"] for p in points)
        base_cpu = base_first + sum(p["user"] for p in base)
        row = {
            "machine": machine(), "commit": self.arguments.commit, "encoder": self.encoder,
            "version": version(program_of(self.encoder)), **self.settings._asdict(), "rates": self.source,
            "clip": self.row["name"], "role": self.row["role"], "frames": self.row["frames"],
            "variant": name, "reference": reference,
            "first_cpu": "%.2f" % first, "second_cpu": "%.2f" % second,
            "cpu_ratio": "%.3f" % ((first + second) / base_cpu),
            "target": " ".join(map(str, self.rates)),
            "kbps": " ".join("%.2f" % p["kbps"] for p in points),
            "fill": " ".join("%.1f" % p["fill"] for p in points if "fill" in p),
        }
        if kind not in (CRF, OWN_CRF):  # which have no rate to keep to
            row.update(miss_mean="%.2f" % mean(map(abs, misses)), miss_signed="%+.2f" % mean(misses),
                       miss_max="%.2f" % max(map(abs, misses)))
        return dict(row, **self.of_measures(base, points))


def machine():
    with open("/proc/cpuinfo") as stream:
        names = [line.split(":")[1].strip() for line in stream if line.startswith("model name")]
    return names[0] if names else platform.machine()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clips", type=os.path.abspath, required=True,
                        help="directory that corpus.py made")
    parser.add_argument("--gpume", type=program_path, default="gpume", help="the command")
    parser.add_argument("--probe", type=program_path, default="firstpass_probe",
                        help="the program of the tests")
    parser.add_argument("--distorted", type=program_path, default="firstpass_distorted",
                        help="the command with distorted vectors")
    parser.add_argument("--vmaf", type=program_path,
                        help="the command of libvmaf; default: the columns of VMAF stay empty")
    parser.add_argument("--encoder", default="x264", choices=sorted(VARIANTS))
    parser.add_argument("--preset", default="medium",
                        choices=sorted(set(sum(PRESETS.values(), []))))
    parser.add_argument("--tune", default="psnr", choices=sorted(TUNES))
    parser.add_argument("--keyint", type=int, default=KEYINT,
                        help="other than %d: segments of that many frames, without other key frames"
                        % KEYINT)
    parser.add_argument("--rates", default="crf", choices=["crf", "corpus"],
                        help="of the encoder at the CRFs of README.md, or parts of the clip's in "
                        "corpus.csv")
    parser.add_argument("--role", default="held", choices=list(ROLES) + ["all", SEALED])
    parser.add_argument("--variants", help="names, separated by commas; default: all")
    parser.add_argument("--names", help="clips, separated by commas; default: all of the role")
    parser.add_argument("--commit", default="", help="of gpume, for the table")
    parser.add_argument("--cache", type=os.path.abspath, default="/tmp/ladder-cache")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.preset not in PRESETS[arguments.encoder]:
        parser.error("--preset %s: %s takes %s here" % (
            arguments.preset, arguments.encoder, ", ".join(PRESETS[arguments.encoder])))
    if arguments.encoder == "svt-av1" and (arguments.keyint != KEYINT or arguments.tune != "default"):
        parser.error("--encoder svt-av1: takes --tune default and no --keyint here")
    if arguments.vmaf:
        found = shutil.which(arguments.vmaf)
        if not found:
            parser.error("--vmaf %s: there is no such program" % arguments.vmaf)
        arguments.vmaf = found
    return arguments


def chosen_rows(arguments):
    found = corpus_rows(sealed=True) if arguments.role == SEALED else corpus_rows()
    if not arguments.names:
        return [row for row in found if arguments.role in (row["role"], "all")]
    names = arguments.names.split(",")
    unknown = set(names) - {row["name"] for row in found}
    if unknown:
        sys.exit("ladder.py: --names: not in corpus.csv%s: %s" % (
            "" if arguments.role == SEALED else ", or sealed", ", ".join(sorted(unknown))))
    return [row for row in found if row["name"] in names]


def work(task):
    arguments, row, name = task
    try:
        return Ladder(arguments, row, name).variant(name)
    except (Failure, OSError) as error:
        return "ladder.py: %s, %s: %s" % (row["name"], name, error)


def main():
    arguments = parse()
    names = (arguments.variants.split(",") if arguments.variants
             else list(VARIANTS[arguments.encoder]))
    # All clips of a variant before the next one, so that workers seldom wait for the same encodes.
    tasks = [(arguments, row, name) for name in names for row in chosen_rows(arguments)]
    if not arguments.vmaf:
        print("ladder.py: without --vmaf the columns of VMAF stay empty", file=sys.stderr)
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    failed = False
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(work, tasks):
            if isinstance(result, str):
                print(datetime.datetime.now().strftime("%H:%M:%S"), result, file=sys.stderr)
                failed = True
            else:
                out.writerow(result)
                sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())
