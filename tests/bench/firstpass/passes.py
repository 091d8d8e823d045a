#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processor time of whole two-pass encodes through ffmpeg: the encoder's own two passes beside one
analysis by gpume and the second pass that it prints. Workers encode side by side; in turns a video
is encoded first by one or first by the other, so that with an even number of rounds both meet the
same load. Every pass decodes the video.

usage: passes.py --gpume PATH --encoder x264|x265 --bitrate RATE... | --rung WxH:RATE...
                 [--tune psnr] [--threads N] [--hwaccel TYPE] [--workers N] [--rounds N] VIDEO...

--bitrate and --rung may be repeated. Each rate has its own analysis; all rungs together, a
ladder, have one. A row for each video and rate, or ladder, and one for all rates of a video: means
of user and system seconds of each pass, their ratio, and that of the user seconds alone. --tune:
of the encoder; psnr has no adaptive quantization (default: the preset's). --threads: how many
threads the encoder uses (default: its own choice). --hwaccel: how gpume decodes; the encoder's own
passes always decode in software.
"""
import argparse
import csv
import json
import os
import queue
import re
import sys
import tempfile
import threading
from statistics import mean

from encoders import Failure, resources_of

PASSES = ("own_first", "own_second", "analysis", "second")
RATE = r"\d+(\.\d+)?[kM]"
NOWHERE = ["-v", "error", "-f", "null", "-"]
PASS_OPTIONS = {
    "x264": lambda number, stats: ["-pass", number, "-passlogfile", stats],
    "x265": lambda number, stats: ["-x265-params", "pass=%s:stats=%s" % (number, stats)],
}


def processor_seconds(argv, folder):
    """User seconds and system seconds."""
    used = resources_of(argv, None, os.path.join(folder, "log"))
    return used.ru_utime, used.ru_stime


def choices_of(arguments):
    """Of the encoder, for all passes."""
    return ((["-tune", arguments.tune] if arguments.tune else [])
            + (["-threads", arguments.threads] if arguments.threads else []))


def size_of(rung):
    return rung.rpartition(":")[0]


def rate_of(rung):
    return rung.rpartition(":")[2]


def bitrate_of(text):
    if not re.fullmatch(RATE, text):
        raise argparse.ArgumentTypeError("%s: give a number of k or M, such as 345k or 1.5M" % text)
    return text


def rung_of(text):
    if not re.fullmatch(r"\d+x\d+:" + RATE, text):
        raise argparse.ArgumentTypeError("%s: give WxH:RATE, such as 1280x720:2M" % text)
    return text


def add_up(passes):
    """User seconds and system seconds of all."""
    return tuple(sum(column) for column in zip(*passes))


def own_pass(arguments, video, rung, number, folder):
    stats = os.path.join(folder, "own-" + rung.replace(":", "-"))
    scaled = ["-vf", "scale=" + size_of(rung).replace("x", ":")] if size_of(rung) else []
    return processor_seconds(
        ["ffmpeg", "-nostdin", "-i", video, "-map", "0:v:0"] + scaled
        + ["-c:v", "lib" + arguments.encoder, "-preset", "medium", "-b:v", rate_of(rung)]
        + choices_of(arguments) + PASS_OPTIONS[arguments.encoder](number, stats) + NOWHERE, folder)


def own_passes(arguments, video, rungs, folder):
    both = [[own_pass(arguments, video, rung, number, folder) for number in ("1", "2")]
            for rung in rungs]
    return [add_up(passes) for passes in zip(*both)]


def bits_per_second(rate):
    return round(float(rate[:-1]) * {"k": 1000, "M": 1000000}[rate[-1]])


def is_run_of(run, rung):
    size = "%dx%d" % (run["width"], run["height"])
    return size_of(rung) in ("", size) and bits_per_second(rate_of(rung)) == run["bitrate"]


def second_passes(arguments, runs, rungs, folder):
    """Of an analysis, which has a run for each of them."""
    for rung in rungs:
        command = next(run for run in runs if is_run_of(run, rung))["commands"]["ffmpeg"]
        yield processor_seconds(command[:-1] + choices_of(arguments) + ["-an"] + NOWHERE, folder)


def passes_with_gpume(arguments, video, rungs, folder):
    name = os.path.join(folder, "gpume")
    wanted = [word for rung in rungs
              for word in (("--rung", rung) if size_of(rung) else ("--bitrate", rung))]
    analysis = processor_seconds(
        [arguments.gpume, "firstpass", video, "--encoder", arguments.encoder, "--hwaccel",
         arguments.hwaccel, "-y", "-o", name] + wanted
        + (["--tune", arguments.tune] if arguments.tune else []), folder)
    with open(name + ".json") as stream:
        runs = json.load(stream)["runs"]
    return [analysis, add_up(second_passes(arguments, runs, rungs, folder))]


def work(arguments, tasks, rows, failures):
    halves = (own_passes, passes_with_gpume)
    with tempfile.TemporaryDirectory() as folder:
        while not failures:
            try:
                number, what = tasks.get_nowait()
                found = {half: half(arguments, *what, folder)
                         for half in halves[::1 if number % 2 else -1]}
            except queue.Empty:
                return
            except Exception as failure:  # run_all reports it
                failures.append(failure)
                return
            rows[what].append(found[own_passes] + found[passes_with_gpume])


def ratio(row):
    return (row[2] + row[3]) / (row[0] + row[1])


def mean_of(encodes, seconds):
    """Of each pass; `seconds` of what it used."""
    return [mean(seconds(used) for used in column) for column in zip(*encodes)]


def row_of(arguments, video, what, encodes):
    both = mean_of(encodes, sum)
    each = sorted(ratio([sum(used) for used in encode]) for encode in encodes)
    return ([arguments.encoder, arguments.tune or "default", os.path.basename(video), what,
             arguments.hwaccel, len(encodes)]
            + ["%.2f" % value for value in both]
            + ["%.3f" % value for value in (
                ratio(both), each[0], each[-1], ratio(mean_of(encodes, lambda used: used[0])))])


def run_all(arguments, rows):
    tasks, failures = queue.Queue(), []
    for number in range(arguments.rounds):
        for turn, what in enumerate(rows):
            tasks.put((number + turn, what))
    threads = [threading.Thread(target=work, args=(arguments, tasks, rows, failures))
               for _ in range(arguments.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        if not isinstance(failures[0], (Failure, OSError)):
            raise failures[0]
        sys.exit("passes.py: %s" % failures[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpume", required=True)
    parser.add_argument("--encoder", required=True, choices=sorted(PASS_OPTIONS))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--bitrate", action="append", type=bitrate_of)
    what.add_argument("--rung", action="append", type=rung_of)
    parser.add_argument("--tune", choices=("psnr",))
    parser.add_argument("--threads")
    parser.add_argument("--hwaccel", default="none")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("videos", nargs="+")
    arguments = parser.parse_args()
    each = [tuple(arguments.rung)] if arguments.rung else [(rate,) for rate in arguments.bitrate]
    rows = {(video, rungs): [] for video in arguments.videos for rungs in each}
    run_all(arguments, rows)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("encoder", "tune", "video", "bitrate", "hwaccel", "encodes") + PASSES
                 + ("ratio", "lowest", "highest", "user_ratio"))
    for video in arguments.videos:
        for rungs in each:
            out.writerow(row_of(arguments, video, "+".join(rungs), rows[video, rungs]))
        if arguments.bitrate:
            out.writerow(row_of(arguments, video, "all",
                                [encode for rungs in each for encode in rows[video, rungs]]))


if __name__ == "__main__":
    main()
