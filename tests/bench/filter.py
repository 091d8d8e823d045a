#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `gpume filter` saves an encoder, measured against the unfiltered source.

    python3 filter.py GPUME CLIP... [--encoder x264,x265] [--crf 22,27,32,37] [--frames N] [--sigma 0,4]
                      [--vf GRAPH] [--aware] [--options "--strength 1"]

The first frames of each clip, with Gaussian noise of a fixed seed added to all planes if sigma is above 0, are encoded as
they are and filtered, at each CRF, with preset medium and tune psnr. --aware: the filter knows the encoder and the CRF. Prints, in Markdown, the difference of bitrates at
equal PSNR of luma and at equal SSIM of luma (Bjontegaard, both of the decoded video against the source before the filter,
noise included), and the bytes and the PSNR at the first CRF. Needs ffmpeg, the encoders' programs and python3-numpy.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "firstpass"))
from bdrate import bd_rate, ssim_db  # noqa: E402  (beside this folder)

ENCODERS = {
    "x264": ["x264", "--quiet", "--demuxer", "y4m", "--preset", "medium", "--tune", "psnr"],
    "x265": ["x265", "--log-level", "none", "--y4m", "--preset", "medium", "--tune", "psnr"],
}


def make_source(clip, frames, graph, sigma, path):
    """Y4M of 8 bits 4:2:0, with noise."""
    chain = ",".join(filter(None, [graph, "format=yuv420p"]))
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", clip, "-vf", chain, "-frames:v", str(frames), "-f",
                          "yuv4mpegpipe", "-"], check=True, capture_output=True).stdout
    lines = raw.split(b"\n", 1)
    width, height = (int(re.search(rb" %c(\d+)" % which, lines[0]).group(1)) for which in b"WH")
    bytes_ = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    video = numpy.frombuffer(lines[1], numpy.uint8).reshape(-1, bytes_ + 6)[:, 6:]
    noise = numpy.random.default_rng(1).normal(0, sigma, video.shape) if sigma > 0 else 0
    video = numpy.clip(numpy.rint(video + noise), 0, 255).astype(numpy.uint8)
    with open(path, "wb") as file:
        file.write(lines[0] + b"\n" + b"".join(b"FRAME\n" + frame.tobytes() for frame in video))


def quality(coded, source):
    """PSNR in dB, and SSIM in dB, of luma."""
    log = subprocess.run(["ffmpeg", "-nostdin", "-v", "info", "-r", "25", "-i", coded, "-r", "25", "-i", source, "-lavfi",
                          "[0:v][1:v]psnr;[0:v][1:v]ssim", "-f", "null", "-"], check=True, capture_output=True, text=True)
    psnr = float(re.search(r"PSNR y:([0-9.]+)", log.stderr).group(1))
    return psnr, ssim_db(float(re.search(r"SSIM Y:([0-9.]+)", log.stderr).group(1)))


def curve(encoder, crfs, folder, original, make):
    """(bytes, PSNR, SSIM) for each CRF, of the video that make(crf) names."""
    points = []
    for crf in crfs:
        source = make(crf)
        coded = f"{folder}/coded.{'264' if encoder == 'x264' else 'hevc'}"
        subprocess.run([*ENCODERS[encoder], "--crf", crf, "-o", coded, source], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        points.append((os.path.getsize(coded), *quality(coded, original)))
    return points


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gpume")
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--encoder", default="x264")
    parser.add_argument("--crf", default="22,27,32,37")
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--sigma", default="0")
    parser.add_argument("--vf", default="")
    parser.add_argument("--aware", action="store_true")
    parser.add_argument("--options", default="")
    arguments = parser.parse_args()
    print("| clip | sigma | encoder | PSNR-BD | SSIM-BD | bytes, PSNR at the first CRF |\n" + "|---" * 6 + "|")
    for clip in arguments.clips:
        for sigma in arguments.sigma.split(","):
            with tempfile.TemporaryDirectory() as folder:
                source, target = folder + "/source.y4m", folder + "/filtered.y4m"
                make_source(clip, arguments.frames, arguments.vf, float(sigma), source)

                def filtered(crf=None, encoder=None):
                    aware = ["--for", encoder, "--crf", crf] if crf else []
                    subprocess.run([arguments.gpume, "filter", source, "-o", target, "-q", "-y", *aware,
                                    *arguments.options.split()], check=True)
                    return target

                filtered()
                for encoder in arguments.encoder.split(","):
                    crfs = arguments.crf.split(",")
                    plain = curve(encoder, crfs, folder, source, lambda crf: source)
                    other = curve(encoder, crfs, folder, source,
                                  (lambda crf: filtered(crf, encoder)) if arguments.aware else lambda crf: target)
                    rates = [bd_rate([(p[0], p[i]) for p in plain], [(p[0], p[i]) for p in other]) for i in (1, 2)]
                    print(f"| {pathlib.Path(clip).name} | {sigma} | {encoder} | {rates[0]:+.2f} % | {rates[1]:+.2f} % | "
                          f"{100 * (other[0][0] / plain[0][0] - 1):+.1f} %, {other[0][1] - plain[0][1]:+.2f} dB |",
                          flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
