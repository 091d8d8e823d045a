#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processor time of whole two-pass encodes through ffmpeg: the encoder's own two passes beside one
analysis by gpume and the second pass that it prints. Workers encode side by side, half of them
beginning with gpume, so that both meet the same load; every pass decodes the video.

usage: passes.py --gpume PATH --encoder x264|x265 [--bitrate RATE] [--hwaccel TYPE] [--workers N]
                 [--seconds N] VIDEO...

One row per video: means of user and system seconds of each pass, and their ratio. For so many
seconds workers begin anew, with the next video each time.
"""
import argparse
import csv
import json
import os
import sys
import tempfile
import threading
import time
from statistics import mean

from encoders import Failure, resources_of

PASSES = ("own_first", "own_second", "analysis", "second")
NOWHERE = ["-v", "error", "-f", "null", "-"]
PASS_OPTIONS = {
    "x264": lambda number, stats: ["-pass", number, "-passlogfile", stats],
    "x265": lambda number, stats: ["-x265-params", "pass=%s:stats=%s" % (number, stats)],
}


def processor_seconds(argv, folder):
    used = resources_of(argv, None, os.path.join(folder, "log"))
    return used.ru_utime + used.ru_stime


def own_passes(arguments, video, folder):
    stats = os.path.join(folder, "own")
    common = ["ffmpeg", "-nostdin", "-i", video, "-map", "0:v:0", "-c:v", "lib" + arguments.encoder,
              "-preset", "medium", "-b:v", arguments.bitrate]
    return [processor_seconds(common + PASS_OPTIONS[arguments.encoder](number, stats) + NOWHERE, folder)
            for number in ("1", "2")]


def passes_with_gpume(arguments, video, folder):
    name = os.path.join(folder, "gpume")
    analysis = processor_seconds(
        [arguments.gpume, "firstpass", video, "--encoder", arguments.encoder, "--bitrate",
         arguments.bitrate, "--hwaccel", arguments.hwaccel, "-y", "-o", name], folder)
    with open(name + ".json") as stream:
        command = json.load(stream)["runs"][0]["commands"]["ffmpeg"]
    return [analysis, processor_seconds(command[:-1] + NOWHERE, folder)]


def work(arguments, number, end, rows, failures):
    turn = number
    with tempfile.TemporaryDirectory() as folder:
        while not failures:
            video = arguments.videos[turn // 2 % len(arguments.videos)]
            halves = (own_passes, passes_with_gpume)
            try:
                found = {half: half(arguments, video, folder) for half in halves[::1 if turn % 2 else -1]}
            except (Failure, OSError) as failure:
                failures.append(failure)
                return
            rows[video].append(found[own_passes] + found[passes_with_gpume])
            turn += 1
            if time.monotonic() >= end:
                return


def ratio(row):
    return (row[2] + row[3]) / (row[0] + row[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpume", required=True)
    parser.add_argument("--encoder", required=True, choices=sorted(PASS_OPTIONS))
    parser.add_argument("--bitrate", default="4M")
    parser.add_argument("--hwaccel", default="none")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("videos", nargs="+")
    arguments = parser.parse_args()
    rows = {video: [] for video in arguments.videos}
    failures, end = [], time.monotonic() + arguments.seconds
    threads = [threading.Thread(target=work, args=(arguments, number, end, rows, failures))
               for number in range(arguments.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit("passes.py: %s" % failures[0])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("video", "hwaccel", "encodes") + PASSES + ("ratio", "lowest", "highest"))
    for video, found in rows.items():
        if found:
            means = [mean(column) for column in zip(*found)]
            each = sorted(ratio(row) for row in found)
            out.writerow([os.path.basename(video), arguments.hwaccel, len(found)]
                         + ["%.2f" % value for value in means]
                         + ["%.3f" % value for value in (ratio(means), each[0], each[-1])])


if __name__ == "__main__":
    main()
