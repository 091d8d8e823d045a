#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Where the curves of picture sizes cross: what `gpume ladder` says, and what encodes say.

usage: crossings.py --clips CLIPS --cache CACHE --names A,B [--gpume GPUME [--probes N]] ...

Encodes each clip at four sizes and seven CRFs, without gpume: ffmpeg scales (bicubic), the encoder's
program encodes, ffmpeg decodes, scales back up and compares luma. CACHE keeps a JSON object for each
encode, NAME.WxH.crfN.json: bytes, those of slices alone, and the mean square errors `small`, against the scaled source, and
`full`, after scaling back up. NAME.WxH.json has that of scaling down and up alone.

With --gpume, prints a row for each clip and pair of neighbouring sizes: the bitrates of the crossings,
and by how many dB the two sizes differ, by the encodes, at the bitrate that gpume says; then how many
are within 15 %. Clips are short, so that what encoders write once, 0.7 kB (x264) or 2.4 kB (x265), would
move crossings: bitrates are those of slices alone; with --probes, whose encodes have it too, of files.
"""
import argparse
import concurrent.futures
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import bdrate

CRFS = (18, 23, 28, 33, 38, 43, 48)
PARTS = ((1, 1), (3, 4), (1, 2), (1, 3))  # of both sides


def size_of(path):
    with open(path, "rb") as clip:
        words = clip.readline().decode().split()
    found = {word[0]: word[1:] for word in words[1:]}
    return int(found["W"]), int(found["H"])


def sizes_of(path):
    """Even sides, rounded to the nearest."""
    width, height = size_of(path)
    return [tuple((side * a + b) // (2 * b) * 2 for side in (width, height)) for a, b in PARTS]


def slices_of(path):
    """Bytes of a raw stream without parameter sets and messages, from each start code to the next."""
    with open(path, "rb") as file:
        stream = file.read()
    starts = [found.start() for found in re.finditer(b"\0\0\1", stream)] + [len(stream)]
    kinds = [stream[at + 3] & 31 if path.endswith(".264") else stream[at + 3] >> 1 & 63
             for at in starts[:-1]]
    most = 5 if path.endswith(".264") else 31
    return sum(end - at for at, end, kind in zip(starts, starts[1:], kinds) if kind <= most)


def run(argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError("%s\n%s" % (" ".join(argv), done.stdout[-2000:]))
    return done.stdout


FFMPEG = ["ffmpeg", "-nostdin", "-hide_banner", "-y", "-threads", "1", "-filter_threads", "1",
          "-filter_complex_threads", "1"]


def scale(source, target, size, frames):
    run(FFMPEG + ["-v", "error", "-i", source, "-vf", "scale=%d:%d:flags=bicubic" % size,
                  "-frames:v", str(frames), "-strict", "-1", "-f", "yuv4mpegpipe", target])


def errors(encoded, small, source, full, frames):
    """Mean square errors of luma: against the small picture, and after scaling up to the source."""
    graph = ("[0:v]settb=1/25,setpts=N,split[a][b];[1:v]settb=1/25,setpts=N[s];"
             "[2:v]trim=end_frame=%d,settb=1/25,setpts=N[f];[a][s]psnr[x];"
             "[b]scale=%d:%d:flags=bicubic[u];[u][f]psnr[y]" % ((frames,) + full))
    text = run(FFMPEG + ["-i", encoded, "-i", small, "-i", source, "-filter_complex", graph,
                         "-map", "[x]", "-f", "null", "-", "-map", "[y]", "-f", "null", "-"])
    found = {int(name): psnr for name, psnr in
             re.findall(r"Parsed_psnr_(\d+) .*PSNR y:(\S+)", text)}
    values = [found[name] for name in sorted(found)]
    return [0 if value == "inf" else 255 ** 2 / 10 ** (float(value) / 10) for value in values]


def store(path, value):
    with open(path + ".part", "w") as out:
        json.dump(value, out)
    os.rename(path + ".part", path)


def encode(argv, options, small, source, full, size, crf, path):
    with tempfile.TemporaryDirectory(dir=options.temporary) as folder:
        coded = os.path.join(folder, "coded.264")
        if argv == "x265":
            coded = os.path.join(folder, "coded.265")
            run(["x265", "--preset", options.preset, "--pools", "none", "--no-wpp",
                 "--frame-threads", "1", "--crf", str(crf), "--input", small, "-o", coded])
        else:
            run(["x264", "--preset", options.preset, "--threads", "1", "--crf", str(crf), "-o",
                 coded, small])
        found = errors(coded, small, source, full, options.frames)
        store(path, {"crf": crf, "width": size[0], "height": size[1],
                     "bytes": os.path.getsize(coded), "slices": slices_of(coded), "small": found[0], "full": found[1]})


def one_size(options, name, size):
    source = os.path.join(options.clips, name + ".y4m")
    full = size_of(source)
    stem = os.path.join(options.cache, "%s.%dx%d" % (name, size[0], size[1]))
    ways = [(crf, "%s.crf%d.json" % (stem, crf)) for crf in options.crfs]
    ways = [(crf, path) for crf, path in ways if not os.path.exists(path)]
    if not ways and os.path.exists(stem + ".json"):
        return
    with tempfile.TemporaryDirectory(dir=options.temporary) as folder:
        small = os.path.join(folder, "small.y4m")
        scale(source, small, size, options.frames)
        if not os.path.exists(stem + ".json"):
            store(stem + ".json", {"full": errors(small, small, source, full, options.frames)[1]})
        for crf, path in ways:
            encode(options.encoder, options, small, source, full, size, crf, path)


# --- crossings


def curve_of(options, name, size):
    """Of encodes: points of the logarithm of the bitrate and PSNR, by rising bitrate."""
    seconds = frames_of(options, name) / 25
    points = []
    for crf in options.crfs:
        with open("%s/%s.%dx%d.crf%d.json" % ((options.cache, name) + size + (crf,))) as file:
            found = json.load(file)
        coded = found["bytes" if options.probes > 0 else "slices"]
        points.append((math.log2(coded * 8 / seconds),
                       10 * math.log10(255 ** 2 / max(found["full"], 1e-4))))
    points.sort()
    return [list(values) for values in zip(*points)]


def frames_of(options, name):
    path = os.path.join(options.clips, name + ".y4m")
    width, height = size_of(path)
    frame = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2) + len("FRAME\n")
    return min(options.frames, os.path.getsize(path) // frame)


def psnr_at(curve, rate):
    x, y = curve
    d = bdrate.slopes(x, y)
    i = max(k for k in range(len(x) - 1) if x[k] <= rate or k == 0)
    h = x[i + 1] - x[i]
    t = (rate - x[i]) / h
    return ((1 + 2 * t) * (1 - t) ** 2 * y[i] + t * (1 - t) ** 2 * h * d[i]
            + t * t * (3 - 2 * t) * y[i + 1] + t * t * (t - 1) * h * d[i + 1])


def crossing_of(larger, smaller, steps=4000):
    """The logarithm of the highest bitrate below which the smaller size is better; None: there is none."""
    low, high = max(larger[0][0], smaller[0][0]), min(larger[0][-1], smaller[0][-1])
    for step in range(steps, -1, -1):
        rate = low + (high - low) * step / steps
        if high > low and psnr_at(larger, rate) < psnr_at(smaller, rate):
            return rate if step < steps else None
    return None


def predict(options, name):
    """The crossings that gpume says, by the larger size, and how many encodes it took for that."""
    path = os.path.join(options.clips, name + ".y4m")
    argv = [options.gpume, "ladder", path, "--frames", str(options.frames), "--json", "--encoder",
            options.encoder, "--preset", options.preset, "--probes", str(options.probes),
            "--backend", "cpu"]
    for size in sizes_of(path):
        argv += ["--size", "%dx%d" % size]
    found = json.loads(run(argv))
    return {(row["width"], row["height"]): math.log2(row["bitrate"])
            for row in found["crossings"]}, found["encodes"]


def compare(options):
    within, off, encodes = 0, [], []
    print("clip,larger,smaller,kbps,said_kbps,ratio,differ_db")
    for name in options.names.split(","):
        said, made = predict(options, name)
        sizes = sizes_of(os.path.join(options.clips, name + ".y4m"))
        curves = [curve_of(options, name, size) for size in sizes]
        encodes.append(made)
        for i in range(len(sizes) - 1):
            measured = crossing_of(curves[i], curves[i + 1])
            if measured is None:
                continue
            row = [name, "%dx%d" % sizes[i], "%dx%d" % sizes[i + 1], "%.1f" % (2 ** measured / 1000)]
            if sizes[i] in said:
                rate = said[sizes[i]]
                ratio = 2 ** (rate - measured)
                row += ["%.1f" % (2 ** rate / 1000), "%.3f" % ratio,
                        "%.2f" % abs(psnr_at(curves[i], rate) - psnr_at(curves[i + 1], rate))]
                off.append(max(ratio, 1 / ratio) - 1)
                within += off[-1] <= 0.15
            else:
                off.append(math.inf)
                row += ["", "", ""]
            print(",".join(row))
    print("# %d of %d within 15 %%, median %.0f %%, worst %.0f %%; %.1f encodes per clip"
          % (within, len(off), 100 * statistics.median(off), 100 * max(off),
             statistics.mean(encodes)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--names", required=True)
    parser.add_argument("--encoder", default="x264", choices=("x264", "x265"))
    parser.add_argument("--preset", default="medium")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--crfs", default=",".join(map(str, CRFS)))
    parser.add_argument("--temporary", default=tempfile.gettempdir())
    parser.add_argument("--gpume")
    parser.add_argument("--probes", type=int, default=0)
    options = parser.parse_args()
    options.crfs = [int(crf) for crf in options.crfs.split(",")]
    os.makedirs(options.cache, exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(one_size, options, name, size) for name in options.names.split(",")
                for size in sizes_of(os.path.join(options.clips, name + ".y4m"))]
        for job in jobs:
            try:
                job.result()
            except RuntimeError as error:
                failed += 1
                print(error, file=sys.stderr)
    if failed:
        sys.exit(1)
    if options.gpume:
        compare(options)


if __name__ == "__main__":
    main()
