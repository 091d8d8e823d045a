# SPDX-License-Identifier: BSD-2-Clause
"""plugins/vapoursynth/denoise.vpy, as its text says: by vspipe, from a file to a stream, of 8 and of 10 bits."""
import array
import glob
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import vapoursynth as vs
from support import write_y4m

WIDTH, HEIGHT, FRAMES, SIGMA = 64, 48, 6, 6
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../plugins/vapoursynth/denoise.vpy")

for what, there in (("vspipe", shutil.which("vspipe")), ("MVTools", hasattr(vs.core, "mv")),
                    ("FFMS2 (libffms2-5)", hasattr(vs.core, "ffms2") or glob.glob("/usr/lib/*/libffms2.so.5"))):
    if not there:
        print(f"SKIPPED: {what} is not here")
        sys.exit(77)


def luma_of(stream, kind, bytes_per_frame):
    """The samples of each frame of a YUV4MPEG2 stream, without chroma."""
    head, _, rest = stream.partition(b"\n")
    assert b"W%d H%d" % (WIDTH, HEIGHT) in head, head
    frames = []
    while rest:
        line, _, rest = rest.partition(b"\n")
        assert line.startswith(b"FRAME"), line
        frames.append(array.array(kind, rest[:bytes_per_frame])[:WIDTH * HEIGHT].tolist())
        rest = rest[bytes_per_frame:]
    return frames


def error(frames, truth):
    return sum((a - b) ** 2 for one, other in zip(frames, truth) for a, b in zip(one, other)) / (FRAMES * WIDTH * HEIGHT)


source = random.Random(4)
with tempfile.TemporaryDirectory() as folder:
    for format, kind, bytes_per_frame, scale in ((vs.YUV420P8, "B", WIDTH * HEIGHT * 3 // 2, 1), (vs.YUV422P10, "H", WIDTH * HEIGHT * 4, 4)):
        clean = [[round(scale * (128 + 50 * math.sin((x + 3 * t) / 7) * math.cos((y - 2 * t) / 9)))
                  for y in range(HEIGHT) for x in range(WIDTH)] for t in range(FRAMES)]
        noisy = [[round(v + source.gauss(0, SIGMA * scale)) for v in frame] for frame in clean]
        write_y4m(os.path.join(folder, "noisy.y4m"), noisy, WIDTH, HEIGHT, format)
        stream = subprocess.run(["vspipe", "-a", "source=noisy.y4m", "-a", f"sigma={SIGMA}", "-a",
                                 "gpume=" + os.environ["GPUME_VAPOURSYNTH_PLUGIN"], "-c", "y4m", SCRIPT, "-"],
                                cwd=folder, env={**os.environ, "PWD": folder}, check=True, stdout=subprocess.PIPE).stdout
        found = luma_of(stream, kind, bytes_per_frame)
        assert len(found) == FRAMES
        gain = 10 * math.log10(error(noisy, clean) / error(found, clean))
        print(f"{8 if scale == 1 else 10} bits: {gain:+.2f} dB")
        assert gain > 4
