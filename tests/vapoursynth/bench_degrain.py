# SPDX-License-Identifier: BSD-2-Clause
"""The PSNR of mv.Degrain2 with vectors of gpume.Analyse beside mv.Analyse, on noised clips: one row of a table per clip and noise.

Usage: sh tests/vapoursynth/run.sh tests/vapoursynth/bench_degrain.py CLIP...
With the environment of the tests: GPUME_VAPOURSYNTH_PLUGIN and, if VapourSynth is not the system's, GPUME_VAPOURSYNTH_PREFIX. Needs
NumPy, MVTools, and FFmpeg's commands.
"""
import os
import sys

import numpy as np
import vapoursynth as vs
from support import core

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from denoise import decode, psnr

FRAMES = 8
SIGMAS = {4: (700, 1600), 10: (1600, 4000)}  # of the noise: thsad and thscd1 that suit it


def clip_of(frames):
    blank = core.std.BlankClip(width=frames.shape[2], height=frames.shape[1], format=vs.GRAY8, length=len(frames), keep=True)

    def fill(n, f):
        copy = f.copy()
        np.asarray(copy[0])[:] = frames[n]
        return copy

    return core.std.ModifyFrame(blank, blank, fill)


def frames_of(clip):
    return np.stack([np.asarray(frame[0]) for frame in clip.frames()])


def degrained(noisy, analyse, thresholds, **options):
    prepared = core.mv.Super(noisy, hpad=32, vpad=32)
    vectors = [analyse(prepared, isb=isb, delta=delta, **options) for delta in (1, 2) for isb in (True, False)]
    return core.mv.Degrain2(noisy, prepared, *vectors, thsad=thresholds[0], thscd1=thresholds[1])


def main(names):
    for name in names:
        clean = decode(name, FRAMES)
        for sigma, thresholds in SIGMAS.items():
            noise = np.random.default_rng(1).normal(0, sigma, clean.shape)
            noisy = np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)
            numbers = [psnr(clean, noisy)]
            for block in (8, 16):
                for analyse, options in ((core.mv.Analyse, {}), (core.gpume.Analyse, {}),
                                         (core.gpume.Analyse, {"price": 3 * sigma, "predictor": "median"})):
                    found = degrained(clip_of(noisy), analyse, thresholds, blksize=block, overlap=block // 2, **options)
                    numbers.append(psnr(clean, frames_of(found)))
            print(f"| {os.path.basename(name)}, {clean.shape[2]}x{clean.shape[1]} | {sigma} | " +
                  " | ".join(f"{number:.2f}" for number in numbers) + " |", flush=True)


main(sys.argv[1:])
