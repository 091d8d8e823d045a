#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processor time of whole two-pass encodes through ffmpeg: the encoder's own two passes beside one
analysis by gpume and the second pass that it prints. Workers encode side by side; in turns a video
is encoded first by one or first by the other, so that both meet the same load. Every pass decodes
the video.

usage: passes.py --gpume PATH --encoder x264|x265 --bitrate RATE... [--threads N]
                 [--hwaccel TYPE] [--workers N] [--rounds N] VIDEO...

--bitrate may be repeated. A row for each video and rate, and one for all rates of a video: means of
user and system seconds of each pass, their ratio, and that of the user seconds alone. --threads:
how many threads the encoder uses (default: its own choice). --hwaccel: how gpume decodes; the
encoder's own passes always decode in software.
"""
import argparse
import csv
import json
import os
import queue
import sys
import tempfile
import threading
from statistics import mean

from encoders import Failure, resources_of

PASSES = ("own_first", "own_second", "analysis", "second")
NOWHERE = ["-v", "error", "-f", "null", "-"]
PASS_OPTIONS = {
    "x264": lambda number, stats: ["-pass", number, "-passlogfile", stats],
    "x265": lambda number, stats: ["-x265-params", "pass=%s:stats=%s" % (number, stats)],
}


def processor_seconds(argv, folder):
    """User seconds and system seconds."""
    used = resources_of(argv, None, os.path.join(folder, "log"))
    return used.ru_utime, used.ru_stime


def threads_of(arguments):
    return ["-threads", arguments.threads] if arguments.threads else []


def own_passes(arguments, video, bitrate, folder):
    stats = os.path.join(folder, "own")
    common = ["ffmpeg", "-nostdin", "-i", video, "-map", "0:v:0", "-c:v", "lib" + arguments.encoder,
              "-preset", "medium", "-b:v", bitrate] + threads_of(arguments)
    return [processor_seconds(common + PASS_OPTIONS[arguments.encoder](number, stats) + NOWHERE, folder)
            for number in ("1", "2")]


def passes_with_gpume(arguments, video, bitrate, folder):
    name = os.path.join(folder, "gpume")
    analysis = processor_seconds(
        [arguments.gpume, "firstpass", video, "--encoder", arguments.encoder, "--bitrate", bitrate,
         "--hwaccel", arguments.hwaccel, "-y", "-o", name], folder)
    with open(name + ".json") as stream:
        command = json.load(stream)["runs"][0]["commands"]["ffmpeg"]
    return [analysis, processor_seconds(command[:-1] + threads_of(arguments) + NOWHERE, folder)]


def work(arguments, tasks, rows, failures):
    halves = (own_passes, passes_with_gpume)
    with tempfile.TemporaryDirectory() as folder:
        while not failures:
            try:
                number, what = tasks.get_nowait()
                found = {half: half(arguments, *what, folder) for half in halves[::1 if number % 2 else -1]}
            except queue.Empty:
                return
            except (Failure, OSError) as failure:
                failures.append(failure)
                return
            rows[what].append(found[own_passes] + found[passes_with_gpume])


def ratio(row):
    return (row[2] + row[3]) / (row[0] + row[1])


def mean_of(encodes, seconds):
    """Of each pass; `seconds` of what it used."""
    return [mean(seconds(used) for used in column) for column in zip(*encodes)]


def row_of(arguments, video, bitrate, encodes):
    both = mean_of(encodes, sum)
    each = sorted(ratio([sum(used) for used in encode]) for encode in encodes)
    return ([arguments.encoder, os.path.basename(video), bitrate, arguments.hwaccel, len(encodes)]
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
        sys.exit("passes.py: %s" % failures[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpume", required=True)
    parser.add_argument("--encoder", required=True, choices=sorted(PASS_OPTIONS))
    parser.add_argument("--bitrate", action="append", required=True)
    parser.add_argument("--threads")
    parser.add_argument("--hwaccel", default="none")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("videos", nargs="+")
    arguments = parser.parse_args()
    rows = {(video, rate): [] for video in arguments.videos for rate in arguments.bitrate}
    run_all(arguments, rows)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("encoder", "video", "bitrate", "hwaccel", "encodes") + PASSES
                 + ("ratio", "lowest", "highest", "user_ratio"))
    for video in arguments.videos:
        for rate in arguments.bitrate:
            out.writerow(row_of(arguments, video, rate, rows[video, rate]))
        out.writerow(row_of(arguments, video, "all",
                            [encode for rate in arguments.bitrate for encode in rows[video, rate]]))


if __name__ == "__main__":
    main()
