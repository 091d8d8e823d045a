#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the tables of the corpus, the rules of score.py on changes made by hand, and the rivals' rules on
measures made by hand.

usage: check.py
"""
import sys

import corpus
import rivals
import score

KINDS = ("cut", "dissolve", "fade-in", "fade-out", "wipe")


def check(holds, what):
    if not holds:
        sys.exit("check.py: " + what)


def changes(text):
    """Changes from words such as cut:30 or fade-in:3-20 or ?cut:9, which is doubtful."""
    found = []
    for word in text.split():
        kind, _, frames = word.lstrip("?").partition(":")
        first, _, last = frames.partition("-")
        found.append(score.Change({"kind": kind, "first": first, "last": last or first,
                                   "doubt": "why" if word[0] == "?" else ""}))
    return found


def counts(truth, reports):
    return score.score_clip(changes(truth), changes(reports))[0]


def expect(truth, reports, **numbers):
    found = counts(truth, reports)
    for name in ("cuts_missed", "cuts_false", "gradual_missed", "gradual_false", "gradual_as_cut"):
        check(found[name] == numbers.get(name, 0),
              "%s of [%s] with [%s]: %d" % (name, truth, reports, found[name]))
    return found


def check_cuts():
    check(expect("cut:30 cut:60", "cut:29 cut:61")["cuts"] == 2, "the number of cuts")
    expect("cut:30", "cut:32", cuts_missed=1, cuts_false=1)
    expect("cut:30", "cut:28", cuts_missed=1, cuts_false=1)
    expect("cut:30", "cut:30 cut:31", cuts_false=1)
    expect("cut:30 cut:31", "cut:30", cuts_missed=1)
    expect("cut:30 cut:32", "cut:31 cut:32")
    expect("cut:30", "dissolve:25-35", cuts_missed=1, gradual_false=1)
    expect("", "cut:1", cuts_false=1)


def check_gradual():
    check(expect("dissolve:20-40", "dissolve:40-60")["gradual"] == 1, "the number of gradual changes")
    expect("dissolve:20-40", "dissolve:41-60", gradual_missed=1, gradual_false=1)
    expect("wipe:20-40", "dissolve:10-20")
    expect("dissolve:20-40", "cut:30", gradual_as_cut=1)
    expect("dissolve:20-40", "cut:19 cut:41", gradual_as_cut=1)
    expect("dissolve:20-40", "cut:18 cut:42", gradual_missed=1, cuts_false=2)
    expect("dissolve:20-40", "dissolve:21-30 cut:35")
    expect("dissolve:20-40", "dissolve:21-30 dissolve:31-39")
    expect("dissolve:20-40", "dissolve:21-30 dissolve:38-46", gradual_false=1)
    # A report over two changes finds the one that it covers more of.
    expect("dissolve:20-40 dissolve:50-90", "dissolve:30-90", gradual_missed=1)
    # A cut beside a dissolve belongs to the cut.
    expect("cut:20 dissolve:21-40", "cut:20 dissolve:22-39")
    expect("cut:20 dissolve:21-40", "cut:21", gradual_missed=1)


def check_fades():
    expect("fade-out:20-40 fade-in:60-80", "cut:50", gradual_as_cut=2)
    expect("fade-out:20-40 fade-in:60-80", "fade-out:21-40 cut:50", gradual_as_cut=1)
    expect("fade-out:20-40 fade-in:60-80", "fade-out:21-40 fade-in:61-80")
    expect("fade-out:20-40 fade-in:160-180", "cut:100", gradual_missed=2, cuts_false=1)
    expect("fade-in:20-40 fade-out:60-80", "cut:50", gradual_missed=2, cuts_false=1)


def check_doubt():
    check(expect("?cut:30", "cut:31")["cuts"] == 0, "a doubtful cut counts")
    expect("?cut:30", "")
    expect("?cut:30", "dissolve:25-40")
    expect("?dissolve:30-40", "cut:35 dissolve:31-41")
    expect("?cut:30", "cut:33", cuts_false=1)


def check_sums():
    total = {}
    score.add(total, counts("cut:30 cut:60 cut:90 dissolve:100-120", "cut:30 cut:60 cut:70 dissolve:101-119"))
    score.add(total, counts("fade-in:1-20", "cut:50 wipe:60-70"))
    cuts, gradual, every = score.summary(total, False)
    close = lambda numbers, right: all(abs(a - b) < 1e-9 for a, b in zip(numbers, right))
    check(close(cuts, (2 / 4, 2 / 3, 4 / 7)), "precision, recall and F1 of cuts")
    check(close(gradual, (1 / 2, 1 / 2, 1 / 2)), "precision, recall and F1 of gradual changes")
    check(close(every, (3 / 6, 3 / 5, 6 / 11)), "precision, recall and F1 of all changes")
    check(close(score.summary(total, True)[1], (1 / 3, 1 / 2, 2 / 5)), "gradual changes of a detector of points")
    check(close(score.ratios(0, 0, 0), (1, 1, 1)), "nothing to find and nothing found")


def check_calibration():
    lines = list(score.calibration([(0.95, True), (1.0, False), (0.3, True), (0.31, True), (0.39, False)]))
    check(lines[1:] == ["0.30,0.40,3,0.333,0.667", "0.90,1.00,2,0.975,0.500"], "the calibration: %s" % lines)
    sure = []
    rows = [dict(zip(("detector", "clip", "kind", "first", "last", "confidence"), row))
            for row in (("a", "one", "cut", 30, 30, "0.9"), ("a", "two", "cut", 5, 5, "0.6"))]
    score.score(HandMade(), rows, sure=sure)
    check(sorted(sure) == [(0.6, False), (0.9, True)], "which changes are true")


class HandMade:
    """A table of two clips."""

    def has(self, clip):
        return clip.partition("@")[0] in ("one", "two")

    def changes(self, clip):
        return changes("cut:30" if clip.startswith("one") else "")


def check_reports():
    row = lambda detector, clip, kind, first: {"detector": detector, "clip": clip, "kind": kind, "first": first, "last": first}
    rows = [row("a", "one", "cut", 30), row("a", "one@x264-crf30-g25", "none", 0), row("a", "two", "cut", 5),
            row("a", "three", "cut", 1), row("b", "two", "none", 0)]
    misses = []
    result, points = score.score(HandMade(), rows, "coding", misses)
    check(result["a"]["original"]["clips"] == 2 and result["a"]["x264-crf30"]["clips"] == 1, "the groups by coding")
    check(result["a"]["original"]["cuts_false"] == 1 and result["a"]["x264-crf30"]["cuts_missed"] == 1, "the groups' counts")
    check(result["b"] == {"original": dict(counts("", ""), clips=1)}, "a clip without changes")
    check(points == {"a": True, "b": True}, "detectors of points")
    check([(d, c, w, x.first) for d, c, w, x in misses] == [("a", "one@x264-crf30-g25", "missed", 30), ("a", "two", "false", 5)],
          "the list of misses")
    head, *lines = score.lines(result, points)
    check(len(head.split(",")) == len(lines[0].split(",")) and len(lines) == 3, "the printed table")


def check_rivals():
    check(rivals.thinned([3, 5, 20, 30, 36], 15) == [3, 20, 36], "cuts that follow too soon")
    check(rivals.above("scdet")({"scdet": [9, 1, 8, 3]}, 3) == [2, 3], "above a threshold, but for the first frame")
    check(rivals.below("hist")({"hist": [0, 1, 0.5]}, 0.8) == [2], "below a threshold")
    content = {"content": [0, 5, 5, 5, 40, 5, 5, 5, 5, 20, 20, 20, 20, 0]}
    check(rivals.adaptive(content, (3, 15)) == [4], "detect-adaptive: one frame that stands out")
    check(rivals.adaptive(content, (3, 50)) == [], "detect-adaptive: the least content")
    fade = {"mean": [50, 30, 10, 5, 5, 5, 10, 30, 50, 8, 7, 6]}
    check(rivals.threshold(fade, 12) == [4, 9], "detect-threshold: between a fade-out and a fade-in, and at the end")
    check(rivals.threshold({"mean": [0, 0, 50, 50]}, 12) == [], "detect-threshold: a fade-in alone")
    check(set(rivals.DEFAULTS) == set(rivals.RIVALS), "a default for each rival")


def check_tables():
    clips = corpus.rows()
    names = {clip["name"] for clip in clips}
    held = [clip for clip in clips if clip["role"] == "held"]
    check(len(names) == len(clips) >= 60, "corpus: names, or fewer than 60 clips")
    check(len(held) >= 25 and 2 * len(held) >= len(clips), "corpus: too few clips are held out")
    check({clip["role"] for clip in clips} == {"fit", "held"}, "corpus: a role")
    made_of = {role: {source for clip in clips if clip["role"] == role for source in clip["source"].split(";")
                      if not source.startswith("lavfi:")} for role in ("fit", "held")}
    check(not made_of["fit"] & made_of["held"], "corpus: a source is in both roles")
    frames = {clip["name"]: int(clip["frames"]) for clip in clips}
    check(all(40 <= count <= 1000 for count in frames.values()), "corpus: a length")
    last = {}
    for row in score.read(score.HERE + "/truth.csv"):
        first, end = int(row["first"]), int(row["last"])
        check(row["clip"] in names and row["kind"] in KINDS, "truth: a clip or a kind: " + row["clip"])
        check(0 < first <= end < frames[row["clip"]] and (row["kind"] != "cut" or first == end),
              "truth: frames of " + row["clip"])
        check(first >= last.get(row["clip"], 0), "truth: the order in " + row["clip"])
        last[row["clip"]] = first
    codings = [corpus.encodes(index, clip) for index, clip in enumerate(clips)]
    check(all({"x264-crf23", "x264-crf30", "x264-crf36"} <= {"-".join(name.split("-")[:2]) for name, _, _ in each}
              for each in codings), "corpus: an encode is missing")
    check(all(any(name.startswith(other) for each in codings for name, _, _ in each) for other in ("x265", "mpeg2")),
          "corpus: no encode by x265 or in MPEG-2")


def main():
    check_cuts()
    check_gradual()
    check_fades()
    check_doubt()
    check_sums()
    check_reports()
    check_calibration()
    check_rivals()
    check_tables()


if __name__ == "__main__":
    main()
