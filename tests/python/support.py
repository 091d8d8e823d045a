# SPDX-License-Identifier: BSD-2-Clause
"""What the tests share: pictures, and the engines that are here."""
import os
import subprocess

import numpy as np

import gpume


def engines():
    """Names of the engines on this machine."""
    probe = os.environ.get("GPUME_VULKAN_PROBE")
    vulkan = bool(probe) and subprocess.run([probe], capture_output=True).returncode == 0
    if not vulkan:
        print("no Vulkan driver: tested on the CPU alone", flush=True)
    return ["cpu", "vulkan"] if vulkan else ["cpu"]


ENGINES = engines()
CACHE = os.environ.get("GPUME_TEST_CACHE")


def options(engine):
    """Of a context on that engine."""
    return {"backend": engine, "cache_dir": CACHE}


def pictures(size, count=2, bits=8, seed=1):
    """Pictures of a smooth texture that moves, with noise: many different vectors and some ties."""
    random = np.random.default_rng(seed)
    height, width = size
    coarse = random.integers(0, 1 << bits, (height // 4 + 12, width // 4 + 12))
    texture = coarse.repeat(4, 0).repeat(4, 1).astype(np.int64)
    texture = (texture + np.roll(texture, 2, 0) + np.roll(texture, 1, 1)) // 3
    frames = []
    for i in (n % 5 for n in range(count)):
        frame = texture[8 + i:8 + i + height, 10 - 2 * i:10 - 2 * i + width].copy()
        frame[height // 3:, width // 2:] = texture[4:4 + height, 6 + i:6 + i + width][
            height // 3:, width // 2:]
        frame += random.integers(-4, 5, size)
        frames.append(np.clip(frame, 0, (1 << bits) - 1).astype(np.uint8 if bits == 8 else "u2"))
    return frames


def search(engine, reference, target, **more):
    return gpume.search(reference, target, **options(engine), **more)
