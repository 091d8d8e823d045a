#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""PSNR of gpume filter or samples/gpume-denoise, and of FFmpeg's denoisers and MVTools, on clips with Gaussian noise.

    python3 denoise.py GPUME|GPUME_DENOISE CLIP... [--sigma 5,10,20] [--camera] [--frames N] [--options "-r 3"] [--mvtools]

The luma of each clip's first frames gets noise of a fixed seed, with --camera that of filter.py, rounded and clipped to 8 bits. The program is not told
how much (--options can tell it: SIGMA in them stands for it); each of FFmpeg's filters is run at several strengths around what suits the noise, and
its best one counts, chosen by the PSNR itself. Prints a table in Markdown: mean PSNR of the frames' luma, in dB, and then the
processor time per frame, each filter's at its best strength, start included. Needs ffmpeg and python3-numpy; with --mvtools, which adds
MDegrain3 at the best of six thSADs, blocks of 8 and 16, and searches of the noisy or of blurred frames, VapourSynth with MVTools
(tests/vapoursynth/build.sh; run.sh there runs this script with them).
"""
import argparse
import itertools
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy

from filter import camera_noise

FACTORS = (0.5, 0.75, 1, 1.5, 2, 3)

# For noise of this many steps, times a factor.
FILTERS = {
    "hqdn3d": lambda s: f"hqdn3d={0.5 * s}:0:{0.75 * s}:0",
    "nlmeans": lambda s: f"nlmeans=s={min(max(0.6 * s, 1), 30)}:p=5:r=9",
    "vaguedenoiser": lambda s: f"vaguedenoiser=threshold={s}:percent=100",
    "atadenoise": lambda s: "atadenoise=0a={0}:0b={1}:s=9".format(min(0.01 * s, 0.3), min(0.03 * s, 5)),
}


def decode(path, frames):
    """frames x height x width of luma, 8 bits."""
    size = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
                           "-of", "csv=p=0", path], check=True, capture_output=True, text=True).stdout
    width, height = (int(word) for word in size.strip().split("\n")[0].split(",")[:2])
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-frames:v", str(frames), "-vf",
                          "format=yuv420p,extractplanes=y", "-pix_fmt", "gray", "-f", "rawvideo", "-"],
                         check=True, capture_output=True).stdout
    return numpy.frombuffer(raw, numpy.uint8).reshape(-1, height, width)


def write_y4m(path, video):
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono\n" % (video.shape[2], video.shape[1]))
        for frame in video:
            file.write(b"FRAME\n" + frame.tobytes())


def read_y4m(path, shape):
    data = pathlib.Path(path).read_bytes()
    head = data.index(b"\n") + 1
    frames = numpy.frombuffer(data, numpy.uint8, offset=head).reshape(shape[0], -1)
    return frames[:, 6:].reshape(shape)


def psnr(clean, other):
    squares = (clean.astype(float) - other).reshape(clean.shape[0], -1) ** 2
    return float(numpy.mean(10 * numpy.log10(255 ** 2 / numpy.maximum(squares.mean(axis=1), 1e-9))))


def filtered(noisy_path, graph, shape):
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", noisy_path, "-vf", f"format=gray,{graph},format=gray",
                          "-f", "rawvideo", "-"], check=True, capture_output=True).stdout
    return numpy.frombuffer(raw, numpy.uint8).reshape(shape)


def degrain(noisy, block, blurred, thsad):
    """MDegrain3 of MVTools. thsad: in its own unit, of a block of 8x8."""
    import vapoursynth
    core = vapoursynth.core
    blank = core.std.BlankClip(width=noisy.shape[2], height=noisy.shape[1], format=vapoursynth.GRAY8, length=len(noisy), keep=True)

    def fill(n, f):
        copy = f.copy()
        numpy.asarray(copy[0])[:] = noisy[n]
        return copy

    clip = core.std.ModifyFrame(blank, blank, fill)
    searched = core.std.Convolution(clip, [1, 2, 1, 2, 4, 2, 1, 2, 1]) if blurred else clip
    prepared = core.mv.Super(searched)
    vectors = [core.mv.Analyse(prepared, isb=isb, delta=delta, blksize=block, overlap=block // 2) for delta in (1, 2, 3) for isb in (True, False)]
    done = core.mv.Degrain3(clip, core.mv.Super(clip), *vectors, thsad=thsad, thscd1=max(400, thsad))
    return numpy.stack([numpy.asarray(frame[0]) for frame in done.frames()])


def seconds():
    """Of processors so far: this program's and those of its children."""
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def timed(function, *arguments):
    begin = seconds()
    result = function(*arguments)
    return result, seconds() - begin


def best(clean, variants):
    """(PSNR, seconds) of the best of these functions."""
    found = []
    for variant in variants:
        video, spent = timed(variant)
        found.append((psnr(clean, video), spent))
    return max(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--sigma", default="5,10,20")
    parser.add_argument("--camera", action="store_true", help="noise as of a camera")
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--options", default="")
    parser.add_argument("--alone", action="store_true", help="leave FFmpeg's filters out")
    parser.add_argument("--mvtools", action="store_true", help="add MDegrain3")
    arguments = parser.parse_args()
    program = [arguments.program]
    named = pathlib.Path(arguments.program).name
    if named == "gpume":
        program, named = [*program, "filter", "-q"], "gpume filter"
    names = ["noisy", named] + ([] if arguments.alone else list(FILTERS)) + ["MDegrain3"] * arguments.mvtools
    times = []
    print("| clip | sigma | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 2) + "|")
    for clip in arguments.clips:
        clean = decode(clip, arguments.frames)
        for sigma in (float(word) for word in arguments.sigma.split(",")):
            random = numpy.random.default_rng(1)
            noise = camera_noise(clean, sigma, random) if arguments.camera else random.normal(0, sigma, clean.shape)
            noisy = numpy.clip(numpy.rint(clean + noise), 0, 255).astype(numpy.uint8)
            with tempfile.TemporaryDirectory() as folder:
                source, target = folder + "/noisy.y4m", folder + "/out.y4m"
                write_y4m(source, noisy)
                options = arguments.options.replace("SIGMA", f"{sigma:g}").split()
                target_option = [target] if len(program) == 1 else ["-o", target]
                _, spent = timed(subprocess.check_call, [*program, *options, source, *target_option])
                values = [(psnr(clean, noisy), 0), (psnr(clean, read_y4m(target, clean.shape)), spent)]
                for name in names[2:]:
                    if name == "MDegrain3": # noise alone gives a SAD of 72 sigma
                        settings = itertools.product((8, 16), (False, True), (50, 75, 100, 150, 250, 450))
                        variants = [lambda b=b, p=p, t=t: degrain(noisy, b, p, round(t * sigma)) for b, p, t in settings]
                    else:
                        variants = [lambda f=f: filtered(source, FILTERS[name](sigma * f), clean.shape) for f in FACTORS]
                    values.append(best(clean, variants))
            times.append([1000 * value[1] / len(clean) for value in values])
            print(f"| {pathlib.Path(clip).name} | {sigma:g} | " + " | ".join(f"{value[0]:.2f}" for value in values) + " |",
                  flush=True)
    print("| ms per frame | | " + " | ".join(f"{statistics.mean(column):.0f}" for column in zip(*times)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
