#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How well gpume filter --despot, and filters of FFmpeg, remove dirt from clips that got some.

    python3 spots.py GPUME CLIP... [--frames N] [--noise SIGMA] [--seed N]

The luma of each clip's first frames gets noise of SIGMA steps (default: none), and spots: blobs of 2 to 12 pixels
with soft edges, half of them bright and half dark, on 0.05 to 0.3 % of each frame. Prints a table in Markdown, over all frames but
the first and the last: of the samples that spots changed by 8 steps or more, the share that --despot replaced
(recall); of those that it replaced, the share that spots had changed (precision); the share of the clean clip that it replaces;
and PSNR in dB against the clip without spots, within spots and outside of them. FFmpeg's filters change samples everywhere,
so of them only PSNR is meaningful. Needs ffmpeg.
"""
import argparse
import math
import pathlib
import random
import subprocess
import sys
import tempfile

FILTERS = {
    "tmedian": "tmedian=radius=1",
    "median": "median=radius=2",
    "removegrain 4": "removegrain=m0=4",
    "removegrain 17": "removegrain=m0=17",
    "atadenoise": "atadenoise=0a=0.3:0b=5:s=5:a=s",
}
LEAST = 8


def decode(path, frames):
    """Frames of luma, 8 bits, and their sides."""
    size = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
                           "-of", "csv=p=0", path], check=True, capture_output=True, text=True).stdout
    width, height = (int(word) for word in size.strip().split("\n")[0].split(",")[:2])
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-frames:v", str(frames), "-vf",
                          "format=yuv420p,extractplanes=y", "-pix_fmt", "gray", "-f", "rawvideo", "-"],
                         check=True, capture_output=True).stdout
    step = width * height
    return [bytearray(raw[at:at + step]) for at in range(0, len(raw), step)], width, height


def add_noise(frames, sigma, chance):
    for frame in frames:
        for i, value in enumerate(frame):
            frame[i] = min(max(round(value + chance.gauss(0, sigma)), 0), 255)


def add_spots(frames, width, height, chance):
    """Dirty frames, and of each the samples that were changed."""
    dirty, places = [], []
    for frame in frames:
        frame, changed = bytearray(frame), set()
        wanted = (0.0005 + 0.0025 * chance.random()) * len(frame)
        while len(changed) < wanted:
            radius, length, turn = 1 + 5 * chance.random(), 1 + 0.8 * chance.random(), math.pi * chance.random()
            bend, dent = (2 * math.pi * chance.random() for _ in range(2))
            level = chance.choice((0, 200)) + 50 * chance.random()
            cover, cx, cy = 0.7 + 0.3 * chance.random(), chance.randrange(width), chance.randrange(height)
            for y in range(max(cy - 14, 0), min(cy + 15, height)):
                for x in range(max(cx - 14, 0), min(cx + 15, width)):
                    u = (x - cx) * math.cos(turn) + (y - cy) * math.sin(turn)
                    v = (y - cy) * math.cos(turn) - (x - cx) * math.sin(turn)
                    angle = math.atan2(v, u)
                    edge = radius * (1 + 0.25 * math.sin(3 * angle + bend) + 0.15 * math.sin(5 * angle + dent))
                    share = cover * min(max(edge + 0.5 - math.sqrt(u * u / length + v * v * length), 0), 1)
                    old = frame[y * width + x]
                    new = round(old + share * (level - old))
                    if abs(new - old) >= LEAST:
                        frame[y * width + x] = new
                        changed.add(y * width + x)
        dirty.append(frame)
        places.append(changed)
    return dirty, places


def write_y4m(path, frames, width, height):
    head = b"YUV4MPEG2 W%d H%d F25:1 Cmono\n" % (width, height)
    pathlib.Path(path).write_bytes(head + b"".join(b"FRAME\n" + bytes(frame) for frame in frames))


def despotted(gpume, frames, width, height, folder):
    source, target = folder + "/in.y4m", folder + "/out.y4m"
    write_y4m(source, frames, width, height)
    subprocess.run([gpume, "filter", source, "--despot", "--strength", "0", "-q", "-y", "-o", target], check=True)
    data, step = pathlib.Path(target).read_bytes(), width * height
    head = data.index(b"\n") + 1
    return [data[at + 6:at + 6 + step] for at in range(head, len(data), step + 6)]


def filtered(graph, folder, step):
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", folder + "/in.y4m", "-vf", f"format=gray,{graph},format=gray",
                          "-f", "rawvideo", "-"], check=True, capture_output=True).stdout
    return [raw[at:at + step] for at in range(0, len(raw), step)]


def psnrs(clean, other, places):
    """Within spots, and outside."""
    sums, counts = [0, 0], [0, 0]
    for a, b, spots in list(zip(clean, other, places))[1:-1]:
        within = sum((a[i] - b[i]) ** 2 for i in spots)
        sums[0] += within
        sums[1] += sum((x - y) ** 2 for x, y in zip(a, b)) - within
        counts[0] += len(spots)
        counts[1] += len(a) - len(spots)
    return " / ".join(f"{10 * math.log10(255 ** 2 * n / s):.1f}" if s else "inf" for s, n in zip(sums, counts))


def replaced(before, after):
    return [{i for i, (x, y) in enumerate(zip(a, b)) if x != y} if a != b else set() for a, b in zip(before, after)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gpume")
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--noise", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("| clip | recall | precision | replaced of the clean clip | dirty | gpume filter --despot | " + " | ".join(FILTERS) + " |")
    print("|---" * (6 + len(FILTERS)) + "|")
    for clip in arguments.clips:
        chance = random.Random(arguments.seed)
        clean, width, height = decode(clip, arguments.frames)
        if arguments.noise > 0:
            add_noise(clean, arguments.noise, chance)
        dirty, places = add_spots(clean, width, height, chance)
        with tempfile.TemporaryDirectory() as folder:
            of_clean = replaced(clean, despotted(arguments.gpume, clean, width, height, folder))
            found = despotted(arguments.gpume, dirty, width, height, folder)
            others = [filtered(graph, folder, width * height) for graph in FILTERS.values()]
        changes = replaced(dirty, found)[1:-1]
        hits = sum(len(a & b) for a, b in zip(changes, places[1:-1]))
        truth, all_changes = sum(map(len, places[1:-1])), sum(map(len, changes))
        share = sum(map(len, of_clean)) / (width * height * max(len(clean) - 2, 1))
        print(f"| {pathlib.Path(clip).name} | {hits / truth:.3f} | {hits / max(all_changes, 1):.3f} | {100 * share:.4f} % | "
              + " | ".join(psnrs(clean, other, places) for other in [dirty, found, *others]) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
