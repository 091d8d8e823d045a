# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the VapourSynth plugin share: clips, and what the command says about them."""
import array
import csv
import os
import subprocess
import sys

import vapoursynth as vs

core = vs.core
if hasattr(core, "gpume"):
    print("SKIPPED: VapourSynth has loaded an installed gpume plugin by itself, so that this build's cannot be loaded")
    sys.exit(77)
core.std.LoadPlugin(os.environ["GPUME_VAPOURSYNTH_PLUGIN"])

_Y4M = {vs.GRAY8: "mono", vs.GRAY10: "mono10", vs.GRAY16: "mono16", vs.YUV420P8: "420jpeg", vs.YUV422P10: "422p10",
        vs.YUV444P12: "444p12"}


def texture(x, y, peak):
    """A sample of an endless texture: a slow wave and a hash of the place."""
    bits = ((x + 1000) * 0x9E3779B1 + (y + 1000) * 0x85EBCA77) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
    wave = (x * 5 + y * 3) % 64
    return (wave * 2 + (bits >> 24) // 2) * peak // 256


def moving(width, height, frames, peak, step=(3, -2)):
    """Lists of samples: a texture that moves by more from frame to frame, each frame with its own noise."""
    return [[min(peak, texture(x + step[0] * t * (t + 1) // 2, y + step[1] * t, peak) + (x * y + t * t * 7) % 5)
             for y in range(height) for x in range(width)] for t in range(frames)]


def clip_of(samples, width, height, format):
    """A VapourSynth clip with that luma; its chroma is what BlankClip gives."""
    blank = core.std.BlankClip(width=width, height=height, format=format, length=len(samples), keep=True)

    def fill(n, f):
        copy = f.copy()
        row = memoryview(copy[0])
        for y in range(height):
            for x in range(width):
                row[y, x] = samples[n][y * width + x]
        copy.props["Number"] = n
        return copy

    return core.std.ModifyFrame(blank, blank, fill)


def write_y4m(path, samples, width, height, format):
    """The same clip as a file for the command; its chroma is grey."""
    details = core.get_video_format(format)
    kind = "B" if details.bits_per_sample == 8 else "H"
    across = (width + (1 << details.subsampling_w) - 1) >> details.subsampling_w
    down = (height + (1 << details.subsampling_h) - 1) >> details.subsampling_h
    grey = [1 << (details.bits_per_sample - 1)] * ((details.num_planes - 1) * across * down)
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{_Y4M[format]}\n".encode())
        for frame in samples:
            file.write(b"FRAME\n" + array.array(kind, frame + grey).tobytes())


def searched(path, options, subpel=1):
    """What the command finds: {frame: (reference, vectors, costs)}, the last two as the bytes of the properties."""
    out = path + ".vectors.csv"
    subprocess.run([os.environ["GPUME_COMMAND"], path, "--backend", "cpu", "-q", "--overwrite", "--vectors", out,
                    "-o", path + ".gpume", *options], check=True)
    fields = {}
    with open(out, newline="") as file:
        for row in csv.DictReader(file):
            _, vectors, costs = fields.setdefault(int(row["frame"]), (int(row["ref"]), array.array("h"), array.array("I")))
            vectors.extend(round(float(row[key]) * subpel) for key in ("dx", "dy"))
            costs.append(int(row["cost"]))
    return {frame: (ref, vectors.tobytes(), costs.tobytes()) for frame, (ref, vectors, costs) in fields.items()}


def error_of(function, *arguments, **keywords):
    """What VapourSynth says when it refuses."""
    try:
        function(*arguments, **keywords)
    except vs.Error as error:
        return str(error)
    raise AssertionError(f"not refused: {keywords}")
