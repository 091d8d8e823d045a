# SPDX-License-Identifier: BSD-2-Clause
"""Runs gpume's analysis for the ladder and the fit: the command `gpume firstpass`, and
firstpass_probe, which can take frame types from an encoder and distort vectors."""
import csv
import hashlib
import json
import os

from encoders import TREE_SUFFIX, TUNES, Failure, file_hash, types_of, words_of


class Analysis:
    """gpume: the words that begin the command's line, the program's path last."""

    def __init__(self, cache, encoder, settings, clip, gpume, probe):
        self.cache, self.encoder, self.settings, self.clip = cache, encoder, settings, clip
        self.gpume, self.probe = gpume, probe

    def probe_run(self, stats, distortion="as_found"):
        """The analysis with the frame types of an encoder's statistics. Returns the path of the
        offsets, rows of the table, and the CPU time."""
        inputs = {"clip.y4m": self.clip, "types": types_file(self.cache, stats)}
        tune = [option.replace("--tune", "-u") for option in TUNES[self.settings.tune]]
        argv = [self.probe, "-e", self.encoder, "-p", self.settings.preset] + tune + [
            "-t", "types", "-v", distortion, "clip.y4m", "out"]
        where, result = self.cache.run("probe " + file_hash(self.probe), argv, inputs)
        with open(os.path.join(where, "out.csv"), newline="") as table:
            rows = list(csv.DictReader(table))
        return os.path.join(where, "out.offsets"), rows, result["user"]

    def tree_under(self, stats, distortion="as_found"):
        """The encoder's own statistics with our offsets: the files of a second pass, and the
        analysis's CPU time."""
        offsets, _, user = self.probe_run(stats, distortion)
        return {"stats": stats, "stats" + TREE_SUFFIX[self.encoder]: offsets}, user

    def all_files(self, rungs, options, more=()):
        """One analysis for all rungs (rate, size), with `more` options of gpume alone. Returns the
        files and the options of each second pass, and the CPU time."""
        argv = self.gpume + ["firstpass", "clip.y4m", "--encoder", self.encoder]
        argv += words_of(self.settings) + options + list(more)
        for kbps in sorted({kbps for kbps, _ in rungs}):
            argv += ["--bitrate", "%dk" % kbps]
        for size in sorted({size for _, size in rungs}):
            argv += ["--size", "%dx%d" % size]
        where, result = self.cache.run("gpume " + file_hash(self.gpume[-1]), argv + ["-o", "out"],
                                       {"clip.y4m": self.clip})
        with open(os.path.join(where, "out.json")) as stream:
            runs = {(run["bitrate"] // 1000, (run["width"], run["height"])): run
                    for run in json.load(stream)["runs"]}
        if not runs.keys() >= set(rungs):
            raise Failure("gpume firstpass wrote %s, not %s" % (sorted(runs), sorted(rungs)))
        return [(self.run_files(where, runs[rung]), self.run_options(runs[rung]))
                for rung in rungs], result["user"]

    def quality_files(self, qualities):
        """The same for constant qualities, at the size of the clip; the options say the quality."""
        argv = self.gpume + ["firstpass", "clip.y4m", "--encoder", self.encoder]
        argv += words_of(self.settings)
        for crf in qualities:
            argv += ["--crf", str(crf)]
        where, result = self.cache.run("gpume " + file_hash(self.gpume[-1]), argv + ["-o", "out"],
                                       {"clip.y4m": self.clip})
        with open(os.path.join(where, "out.json")) as stream:
            runs = {run["crf"]: run for run in json.load(stream)["runs"]}
        return [(self.run_files(where, runs[crf]), self.run_options(runs[crf], []))
                for crf in qualities], result["user"]

    def run_files(self, where, run):
        """By their names in an encode: what follows the name of the statistics is kept."""
        stats = run["files"][0]
        return {"stats" + name[len(stats):]: os.path.join(where, name) for name in run["files"]}

    def run_options(self, run, ours=("--bitrate",)):
        """The options of the printed command line, without those that the ladder sets itself."""
        words, result = iter(run["commands"][self.encoder][1:]), []
        for word in words:
            if word in ("--pass", "--stats", "--input", "-o", "--output", "--rc", "--tbr", "-i", "-b",
                        *ours):
                next(words)
            elif word == "--qpfile":
                result += [word, "stats" + next(words)[len(run["files"][0]):]]
            elif word not in ("OUTPUT", "-") and not word.endswith("clip.y4m"):
                result.append(word)
        return result


def types_file(cache, stats):
    """The frame types alone, so that statistics of several rates share an analysis."""
    lines = ["in:%d out:%d type:%s" % frame for frame in types_of(stats)]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:24]
    path = os.path.join(cache.root, "types." + digest)
    if not os.path.exists(path):
        part = "%s.%d" % (path, os.getpid())  # workers of one ladder may write the same types
        with open(part, "w") as stream:
            stream.write("\n".join(lines) + "\n")
        os.rename(part, path)
    return path
