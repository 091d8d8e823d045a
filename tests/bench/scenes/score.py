#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Scores reported changes of scene against the truth.

usage: score.py [--truth FILE] [--corpus FILE] [--role fit|held] [--by coding|clip|all] [--misses]
                [--calibration] REPORT...

A report is a CSV file with the columns detector,clip,kind,first,last and perhaps confidence, which
--calibration needs: it prints which share of the changes of each confidence is true. clip is the name of a file of
the corpus without its suffix: NAME or NAME@CODING; a row of kind "none" says that a clip was searched.
A file that was not searched does not count. README.md explains the rules:

- A true cut is found by a reported cut within one frame of it.
- A true gradual change is found by a reported gradual change that overlaps it, or else by a cut in it
  or one frame beside it. Each report finds one change, each change is found once; but a cut in the
  even frames between a fade-out and the fade-in that follows it finds both.
- A report that finds nothing is false, except beside a change that is marked as doubtful, and except
  further reports whose middle is within a gradual change.
"""
import csv
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = 1
GAP = 75  # the most frames between a fade-out and the fade-in that belongs to it


def read(path):
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


class Change:
    """One true or reported change."""

    def __init__(self, row):
        self.kind, self.first, self.last = row["kind"], int(row["first"]), int(row["last"])
        self.doubt = bool((row.get("doubt") or "").strip())
        self.confidence = row.get("confidence")
        self.matched = False

    def is_cut(self):
        return self.kind == "cut"

    def overlaps(self, other, beside=0):
        return self.first <= other.last + beside and other.first <= self.last + beside


def match_cuts(truth, reports):
    """Pairs cuts, the nearest first."""
    pairs = sorted((abs(t.first - r.first), t.first, i, j) for i, t in enumerate(truth) for j, r in enumerate(reports)
                   if t.is_cut() and r.is_cut() and abs(t.first - r.first) <= BESIDE)
    for _, _, i, j in pairs:
        if not truth[i].matched and not reports[j].matched:
            truth[i].matched = reports[j].matched = True


def match_gradual(truth, reports):
    """Pairs gradual changes, the longest overlap first; then those that are left with cuts within them."""
    def overlap(t, r):
        return min(t.last, r.last) - max(t.first, r.first) + 1

    pairs = sorted((-overlap(t, r), t.first, i, j) for i, t in enumerate(truth) for j, r in enumerate(reports)
                   if not t.is_cut() and not r.is_cut() and overlap(t, r) > 0)
    for _, _, i, j in pairs:
        if not truth[i].matched and not reports[j].matched:
            truth[i].matched = reports[j].matched = True
    as_cut = 0
    for t in (t for t in truth if not t.is_cut()):
        within = [r for r in reports if r.is_cut() and not r.matched and t.overlaps(r, BESIDE)]
        if within and not t.matched:
            t.matched = True
            as_cut += 0 if t.doubt else 1
        for r in within:
            r.matched = True
        for r in reports:
            r.matched |= t.first <= (r.first + r.last) // 2 <= t.last
    return as_cut


def match_between(truth, reports):
    """A cut between a fade-out and the fade-in after it finds both."""
    ordered = sorted(truth, key=lambda t: t.first)
    as_cut = 0
    for out, back in zip(ordered, ordered[1:]):
        if out.kind != "fade-out" or back.kind != "fade-in" or back.first - out.last > GAP:
            continue
        within = [r for r in reports if r.is_cut() and not r.matched and out.last <= r.first <= back.first]
        for r in within:
            r.matched = True
        for t in (out, back) if within else ():
            as_cut += 0 if t.matched or t.doubt else 1
            t.matched = True
    return as_cut


def forgive(truth, reports):
    """Reports beside a doubtful change are neither right nor wrong."""
    return [r for r in reports if r.matched or not any(t.doubt and t.overlaps(r, BESIDE) for t in truth)]


def score_clip(truth, reports):
    """Counts of one file: a dictionary; and what was missed, and what was false."""
    match_cuts(truth, reports)
    as_cut = match_gradual(truth, reports)
    as_cut += match_between(truth, reports)
    reports = forgive(truth, reports)
    truth = [t for t in truth if not t.doubt]
    missed = [t for t in truth if not t.matched]
    false = [r for r in reports if not r.matched]
    counts = {
        "cuts": sum(t.is_cut() for t in truth), "cuts_missed": sum(t.is_cut() for t in missed),
        "cuts_false": sum(r.is_cut() for r in false),
        "gradual": sum(not t.is_cut() for t in truth), "gradual_missed": sum(not t.is_cut() for t in missed),
        "gradual_false": sum(not r.is_cut() for r in false), "gradual_as_cut": as_cut,
    }
    return counts, missed, false


def ratios(found, missed, false):
    recall = found / (found + missed) if found + missed else 1.0
    precision = found / (found + false) if found + false else 1.0
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def summary(counts, points):
    """Precision, recall and F1 of cuts, gradual changes and all changes. A detector that only gives
    points cannot say of which kind a false one is, so it counts against both."""
    cuts = ratios(counts["cuts"] - counts["cuts_missed"], counts["cuts_missed"], counts["cuts_false"])
    gradual_false = counts["cuts_false"] if points else counts["gradual_false"]
    gradual = ratios(counts["gradual"] - counts["gradual_missed"], counts["gradual_missed"], gradual_false)
    missed = counts["cuts_missed"] + counts["gradual_missed"]
    every = ratios(counts["cuts"] + counts["gradual"] - missed, missed, counts["cuts_false"] + counts["gradual_false"])
    return cuts, gradual, every


def add(total, counts):
    for name, value in counts.items():
        total[name] = total.get(name, 0) + value


def group_of(by, clip):
    name, _, coding = clip.partition("@")
    if by == "clip":
        return name
    if by == "coding":
        return "-".join(coding.split("-")[:2]) if coding else "original"
    return "all"


class Table:
    """What is to be found, by clip."""

    def __init__(self, truth, corpus, role):
        self.names = [row["name"] for row in read(corpus) if role in (None, row["role"])]
        self.rows = {}
        for row in read(truth):
            self.rows.setdefault(row["clip"], []).append(row)

    def has(self, clip):
        return clip.partition("@")[0] in self.names

    def changes(self, clip):
        return [Change(row) for row in self.rows.get(clip.partition("@")[0], [])]


def score(table, rows, by="all", misses=None, sure=None):
    """{detector: {group: counts}} of the reported rows, and the detectors that only give points. Adds
    to misses what was missed or false, and to sure (confidence, whether true) of each change."""
    found, only_points = {}, {}
    for row in rows:
        if table.has(row["clip"]):
            changes = found.setdefault(row["detector"], {}).setdefault(row["clip"], [])
            only_points.setdefault(row["detector"], True)
            if row["kind"] != "none":
                changes.append(Change(row))
                only_points[row["detector"]] &= changes[-1].is_cut()
    result = {}
    for detector, clips in found.items():
        for clip, reports in sorted(clips.items()):
            counts, missed, false = score_clip(table.changes(clip), reports)
            add(result.setdefault(detector, {}).setdefault(group_of(by, clip), {"clips": 0}), dict(counts, clips=1))
            if sure is not None:
                sure += [(float(r.confidence), r not in false) for r in reports if r.confidence]
            if misses is not None:
                misses += [(detector, clip, "missed", t) for t in missed] + [(detector, clip, "false", r) for r in false]
    return result, only_points


HEAD = ("detector,group,files,cuts,cut_precision,cut_recall,cut_f1,gradual,gradual_precision,gradual_recall,"
        "gradual_f1,gradual_found_as_cut,all_precision,all_recall,all_f1")


def lines(result, only_points):
    yield HEAD
    for detector, groups in result.items():
        for group, counts in groups.items():
            cuts, gradual, every = summary(counts, only_points[detector])
            numbers = [["%.4f" % number for number in kind] for kind in (cuts, gradual, every)]
            yield ",".join([detector, group, str(counts["clips"]), str(counts["cuts"])] + numbers[0]
                           + [str(counts["gradual"])] + numbers[1] + [str(counts["gradual_as_cut"])] + numbers[2])


def calibration(sure, parts=10):
    yield "confidence_from,confidence_to,changes,mean_confidence,true"
    for part in range(parts):
        inside = [one for one in sure if part <= min(one[0] * parts, parts - 0.5) < part + 1]
        if inside:
            means = [sum(one[side] for one in inside) / len(inside) for side in (0, 1)]
            yield "%.2f,%.2f,%d,%.3f,%.3f" % (part / parts, (part + 1) / parts, len(inside), means[0], means[1])


def main():
    options = {"--truth": os.path.join(HERE, "truth.csv"), "--corpus": os.path.join(HERE, "corpus.csv"),
               "--role": None, "--by": "all"}
    words, misses, sure = sys.argv[1:], None, None
    while words and words[0].startswith("--"):
        word = words.pop(0)
        if word == "--misses":
            misses = []
        elif word == "--calibration":
            sure = []
        elif word in options and words:
            options[word] = words.pop(0)
        else:
            sys.exit(__doc__)
    if not words:
        sys.exit(__doc__)
    table = Table(options["--truth"], options["--corpus"], options["--role"])
    result, only_points = score(table, [row for path in words for row in read(path)], options["--by"], misses, sure)
    for line in lines(result, only_points):
        print(line)
    for detector, clip, what, change in misses or ():
        print("%s,%s,%s,%s,%d,%d" % (detector, clip, what, change.kind, change.first, change.last))
    for line in calibration(sure) if sure is not None else ():
        print(line)


if __name__ == "__main__":
    main()
