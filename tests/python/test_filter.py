# SPDX-License-Identifier: BSD-2-Clause
"""gpume.filter against the command, sample for sample; which tests compare with an oracle."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import gpume
import numpy as np
from support import ENGINES, options, pictures

COMMAND = os.environ.get("GPUME_COMMAND")
SPACES = {(1, 1): "420", (1, 0): "422", (0, 0): "444"}


def clip(size, count, bits, shifts):
    """Frames: arrays, or tuples of planes if shifts of chroma are given; the third repeats the second."""
    height, width = size
    sizes = [size] if shifts is None else [
        size, *[((height + shifts[1]) >> shifts[1], (width + shifts[0]) >> shifts[0])] * 2]
    planes = [pictures(s, count, bits, seed) for seed, s in enumerate(sizes, 1)]
    for plane in planes:
        plane[2] = plane[1]
    return planes[0] if shifts is None else list(zip(*planes))


def planes_of(frame):
    return frame if isinstance(frame, tuple) else (frame,)


class Filtered(unittest.TestCase):
    def command(self, frames, bits, shifts, *words):
        """What the command makes of the frames: lists of planes."""
        if not COMMAND:
            self.skipTest("the command is not built")
        first = planes_of(frames[0])
        height, width = first[0].shape
        space = "mono" + (str(bits) if bits > 8 else "") if shifts is None else SPACES[shifts] + (
            f"p{bits}" if bits > 8 else "jpeg" if shifts == (1, 1) else "")
        with tempfile.TemporaryDirectory() as folder:
            source, out = pathlib.Path(folder, "in.y4m"), pathlib.Path(folder, "out.y4m")
            source.write_bytes(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{space}\n".encode() + b"".join(
                b"FRAME\n" + b"".join(plane.tobytes() for plane in planes_of(frame)) for frame in frames))
            subprocess.run([COMMAND, "filter", source, "-o", out, "--backend", "cpu", "-q", *words], check=True)
            data = out.read_bytes()
        at, found = data.index(b"\n") + 1, []
        for _ in frames:
            at += len(b"FRAME\n")
            planes = []
            for plane in first:
                planes.append(np.frombuffer(data, plane.dtype, plane.size, at).reshape(plane.shape))
                at += plane.nbytes
            found.append(planes)
        self.assertEqual(at, len(data))
        return found

    def check(self, size, bits, shifts, words, **keywords):
        frames = clip(size, 14, bits, shifts)
        wanted = self.command(frames, bits, shifts, *words)
        for engine in ENGINES:
            found = list(gpume.filter(iter(frames), bits=bits, **options(engine), **keywords))
            self.assertEqual(len(found), len(wanted))
            for frame, planes in zip(found, wanted):
                self.assertEqual(isinstance(frame, tuple), shifts is not None)
                for a, b in zip(planes_of(frame), planes, strict=True):
                    self.assertEqual(a.dtype, b.dtype)
                    np.testing.assert_array_equal(a, b)
        return frames, found

    def test_as_the_command(self):
        frames, found = self.check((44, 60), 8, (1, 1), ["--strength", "2", "--noise", "4"], strength=2, noise=4)
        self.assertFalse(np.array_equal(found[3][1], frames[3][1]))
        self.check((33, 35), 8, None, ["--radius", "2", "-w", "5x3"], radius=2, window=(5, 3))
        self.check((40, 50), 10, (1, 0), ["--noise", "3.5", "--metric", "ssd"], noise=3.5, metric="ssd")
        self.check((31, 33), 16, (0, 0), ["--noise", "3", "-w", "4", "--radius", "1"], noise=3, window=4, radius=1)
        self.check((33, 35), 8, None, ["--strength", "0", "--noise", "6", "--spatial", "0.5"], strength=0, noise=6, spatial=0.5)

    def test_spots(self):
        slope = np.add.outer(np.arange(64), 2 * np.arange(80)).astype(np.uint8)
        frames = [slope + np.uint8(i) for i in range(5)]
        dirty = [frame.copy() for frame in frames]
        dirty[2][30:34, 40:45] = 255
        wanted = self.command(dirty, 8, None, "--despot", "--strength", "0")
        for engine in ENGINES:
            found = list(gpume.filter(dirty, despot=True, strength=0, **options(engine)))
            for frame, planes in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(frame, planes[0])
            self.assertLess(found[2][30:34, 40:45].max(), 255)

    def test_few_frames(self):
        frames = clip((20, 24), 3, 8, None)
        for count in range(4):
            for strength in (0, 1):
                found = list(gpume.filter(frames[:count], strength=strength, backend="cpu"))
                self.assertEqual(len(found), count)
        np.testing.assert_array_equal(list(gpume.filter(frames, strength=0, backend="cpu")), frames)

    def test_own_memory(self):
        """Results belong to the caller, and need no contiguous frames."""
        frames = [np.asfortranarray(frame)[::-1] for frame in clip((20, 24), 6, 8, None)]
        kept = list(gpume.filter(frames, noise=5, backend="cpu"))
        again = [frame.copy() for frame in gpume.filter(frames, noise=5, backend="cpu")]
        for a, b in zip(kept, again, strict=True):
            np.testing.assert_array_equal(a, b)
            self.assertTrue(a.flags.writeable)

    def test_order_of_bytes(self):
        """Samples of either order of bytes are the same samples."""
        for shifts in (None, (1, 1)):
            frames = clip((20, 24), 6, 12, shifts)
            swapped = [tuple(p.astype(">u2") for p in f) if shifts else f.astype(">u2") for f in frames]
            found = list(gpume.filter(swapped, bits=12, noise=5, backend="cpu"))
            for a, b in zip(gpume.filter(frames, bits=12, noise=5, backend="cpu"), found, strict=True):
                for x, y in zip(planes_of(a), planes_of(b), strict=True):
                    np.testing.assert_array_equal(x, y)

    def test_left_early(self):
        results = gpume.filter(clip((20, 24), 40, 8, None), backend="cpu")
        next(results)
        results.close()

    def test_refusals(self):
        luma = np.zeros((16, 16), np.uint8)
        chroma = np.zeros((8, 8), np.uint8)
        for error, words, frames, keywords in (
                (ValueError, "strength 3: must be from 0 to 2", [luma], dict(strength=3)),
                (ValueError, "spatial -1: must be from 0 to 2", [luma], dict(spatial=-1)),
                (ValueError, "spatial: with strength 0 the noise is not measured; give noise a number",
                 [luma], dict(strength=0, spatial=1)),
                (ValueError, "strength: None is not a number", [luma], dict(strength=None)),
                (ValueError, "spatial: 'on' is not a number", [luma], dict(spatial="on")),
                (ValueError, r"noise: \[5\] is not a number", [luma], dict(noise=[5])),
                (ValueError, "noise: 51 is not from 0 to 50", [luma], dict(noise=51)),
                (ValueError, "noise: 'much' is neither", [luma], dict(noise="much")),
                (ValueError, "radius 5: must be from 1 to 4", [luma], dict(radius=5)),
                (ValueError, "window_x 129: must be from 1 to 128", [luma], dict(window=129)),
                (ValueError, "metric: 'mse' is not one of", [luma], dict(metric="mse")),
                (ValueError, "a frame has 2 planes", [(luma, chroma)], {}),
                (ValueError, "chroma of the shape", [(luma, chroma[:5], chroma[:5])], {}),
                (ValueError, "plane 2 of 8x7", [(luma, chroma, chroma[:7])], {}),
                (ValueError, "a frame has 1 planes, and the first one 3", [(luma, chroma, chroma), luma], {}),
                (TypeError, "different types", [(luma, chroma, chroma.astype("u2"))], {}),
                (TypeError, "frames of 8 bits have samples", [luma, luma.astype("u2")], {}),
                (TypeError, "frames of 16 bits have samples", [luma.astype("u2"), luma], {}),
                (ValueError, "of gpume.Frames", [(luma, 0.5)], {}),
                (ValueError, "plane 0 of 8x8", [luma, chroma], {})):
            with self.assertRaisesRegex(error, words):
                list(gpume.filter(frames, backend="cpu", **keywords))


if __name__ == "__main__":
    unittest.main()
