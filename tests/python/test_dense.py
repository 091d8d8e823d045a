# SPDX-License-Identifier: BSD-2-Clause
"""gpume.dense_flow: pixel by pixel as python/README.md defines it, and how close it comes to true flow."""
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import gpume
import numpy as np
from flow_scenes import scenes
from support import ENGINES, options, pictures, search


def clipped(frame, x, y):
    height, width = frame.shape
    return frame[min(max(y, 0), height - 1), min(max(x, 0), width - 1)]


def sample(frame, x, y, weights):
    """Between samples; weights: of those from one place on, by the fraction."""
    whole_x, whole_y = math.floor(x), math.floor(y)
    first = 1 - len(weights(0)) // 2
    return sum(wy * wx * clipped(frame, whole_x + first + i, whole_y + first + j)
               for j, wy in enumerate(weights(y - whole_y)) for i, wx in enumerate(weights(x - whole_x)))


def linear(t):
    return [1 - t, t]


def keys(t):
    """Keys' kernel at the distances of four samples, with a = -1/2."""
    def kernel(s):
        s = abs(s)
        return 1.5 * s ** 3 - 2.5 * s ** 2 + 1 if s <= 1 else -0.5 * s ** 3 + 2.5 * s ** 2 - 4 * s + 2
    return [kernel(t + 1), kernel(t), kernel(1 - t), kernel(2 - t)]


def inside(height, width, x, y, side):
    return [(i, j) for j in range(y - side // 2, y + side // 2 + 1) for i in range(x - side // 2, x + side // 2 + 1)
            if 0 <= i < width and 0 <= j < height]


def three_boxes(values, side):
    """A dict of values by (x, y), summed three times over."""
    for _ in range(3):
        values = {(x, y): sum(values.get((x + i, y + j), 0.0) for j in range(-(side // 2), side // 2 + 1)
                              for i in range(-(side // 2), side // 2 + 1)) for x, y in values}
    return values


def defined(engine, reference, target, block, step, bits, **more):
    """The definition, in loops."""
    height, width = target.shape
    given, wanted = reference / 2 ** (bits - 8), target / 2 ** (bits - 8)
    pixels = [(x, y) for y in range(height) for x in range(width)]

    def leads_out(x, y, vector, margin):
        to_x, to_y = x + vector[0], y + vector[1]
        return not (margin <= to_x <= width - 1 - margin and margin <= to_y <= height - 1 - margin)

    found = {pixel: [] for pixel in pixels}
    for off_y in range(0, block, step):
        for off_x in range(0, block, step):
            padded = [np.pad(frame, ((off_y, block - off_y), (off_x, block - off_x)), "edge")
                      for frame in (reference, target)]
            pair = search(engine, *padded, bits=bits, block=block, **more)
            error = {(x, y): abs(wanted[y, x] - pair.predicted[y + off_y, x + off_x] / 2 ** (bits - 8))
                     for x, y in pixels}
            for x, y in pixels:
                vector = pair.vectors[(y + off_y) // block, (x + off_x) // block]
                near = [error[at] for at in inside(height, width, x, y, 5)]
                weight = max(math.exp(-sum(near) / len(near) / 2), 0.0001)
                for place in ((x + off_x) % block, (y + off_y) % block):
                    weight *= min(place, block - 1 - place) + 0.5
                found[x, y].append((weight * (0.01 if leads_out(x, y, vector, 0) else 1), vector))
    mean, trust = {}, {}
    for pixel, both in found.items():
        total = sum(weight for weight, _ in both)
        m = sum(weight * np.float64(vector) for weight, vector in both) / total
        spread = sum(weight * (np.float64(vector) ** 2).sum() for weight, vector in both) / total - (m ** 2).sum()
        mean[pixel], trust[pixel] = m, total / (0.2 + spread)
    weights = three_boxes(trust, 11)
    sums = three_boxes({pixel: mean[pixel] * trust[pixel] for pixel in pixels}, 11)
    smooth = {pixel: sums[pixel] / weights[pixel] for pixel in pixels}

    def error_of(vectors):
        error = {(x, y): abs(wanted[y, x] - sample(given, x + vectors[x, y][0], y + vectors[x, y][1], linear))
                 for x, y in pixels}
        return {(x, y): np.mean([error[at] for at in inside(height, width, x, y, 9)]) for x, y in pixels}

    of_mean, of_smooth = error_of(mean), error_of(smooth)
    flow = {at: smooth[at] if of_smooth[at] <= 1.1 * of_mean[at] + 0.5 or leads_out(*at, smooth[at], 4) else mean[at]
            for at in pixels}
    taken = sum(flow[at] is smooth[at] for at in pixels)
    for _ in range(2):
        q = np.array([[sample(given, x + flow[x, y][0], y + flow[x, y][1], keys) for x in range(width)]
                      for y in range(height)])
        both = (q + wanted) / 2
        products = {}
        for x, y in pixels:
            slope = np.array([clipped(both, x + 1, y) - clipped(both, x - 1, y),
                              clipped(both, x, y + 1) - clipped(both, x, y - 1)]) / 2
            products[x, y] = np.column_stack([np.outer(slope, slope), slope * (wanted[y, x] - q[y, x])])
        products = three_boxes(products, 9)
        step_of = {at: np.linalg.solve(products[at][:, :2] / 9 ** 6 + 20 * np.eye(2), products[at][:, 2] / 9 ** 6)
                   for at in pixels}
        flow = {at: flow[at] if leads_out(*at, flow[at], 4) else flow[at] + np.clip(step_of[at], -0.5, 0.5)
                for at in pixels}
    return np.array([[flow[x, y] for x in range(width)] for y in range(height)]), taken


class Dense(unittest.TestCase):
    def test_definition(self):
        for bits, block, step, more in ((8, 8, 4, {}), (10, 4, 4, dict(window=3, subpel=2))):
            reference, target = pictures((26, 34), bits=bits, seed=bits)
            wanted, taken = defined("cpu", reference, target, block, step, bits, **{"window": 16, "subpel": 4, **more})
            self.assertTrue(0 < taken < target.size)
            for engine in ENGINES:
                found = gpume.dense_flow(
                    reference, target, bits=bits, block=block, step=step, **options(engine), **more)
                self.assertEqual(found.dtype, np.float32)
                np.testing.assert_allclose(found, wanted, atol=1e-4)

    def test_accuracy(self):
        """Mean end-point errors, where the reference shows the pixel; and those of blocks, to compare."""
        limits = {"rotation by 2 degrees": 0.08, "zoom by 3 %": 0.08, "both, and a pan": 0.08,
                  "smooth, up to 6 pixels": 0.12, "the same with noise": 0.15, "disc before a background": 0.15}
        for name, (reference, target, true, shown) in scenes(240, 180, 5).items():
            true = np.where(shown[..., None], true, np.nan)
            found = gpume.endpoint_error(gpume.dense_flow(reference, target, backend="cpu"), true).epe
            blocks = search("cpu", reference, target, block=16, window=16, subpel=4).endpoint_error(true).epe
            print(f"{name}: {found:.3f}, of blocks {blocks:.3f}", flush=True)
            self.assertLess(found, limits[name], name)
            self.assertLess(found, blocks / 2, name)

    def test_still(self):
        """Exactly 0, down to one pixel, and where nothing can be known."""
        for size in ((1, 1), (1, 40), (40, 3), (30, 50)):
            frame = np.random.default_rng(1).integers(0, 256, size, np.uint8)
            for one in (frame, np.zeros(size, np.uint8)):
                flow = gpume.dense_flow(one, one, backend="cpu")
                np.testing.assert_allclose(flow, np.zeros((*size, 2)), atol=1e-6)

    def test_unlike(self):
        """Frames that have nothing in common give numbers within reach."""
        random = np.random.default_rng(2)
        dark, light = np.zeros((40, 56), np.uint8), np.full((40, 56), 255, np.uint8)
        noise = random.integers(0, 2, (40, 56)).astype(np.uint8) * 255
        for reference, target in ((dark, light), (noise, light), (dark, noise), (noise, noise[::-1])):
            flow = gpume.dense_flow(reference, target, backend="cpu")
            self.assertLessEqual(np.abs(flow).max(), 16 + 1)

    def test_several(self):
        """One engine for several pairs gives what one for each gives; a failure closes it."""
        frames = pictures((40, 56), count=4)
        with gpume.DenseFlow(56, 40, block=8, backend="cpu") as dense:
            for reference, target in zip(frames, frames[1:]):
                np.testing.assert_array_equal(
                    dense.flow(reference, target), gpume.dense_flow(reference, target, block=8, backend="cpu"))
            self.assertRaisesRegex(ValueError, "shape", dense.flow, frames[0][1:], frames[1])
            dense.flow(*frames[:2])
        self.assertRaisesRegex(ValueError, "closed", dense.flow, *frames[:2])

    @unittest.skipUnless(os.environ.get("GPUME_COMMAND"), "the command is not built")
    def test_command(self):
        """gpume flow computes the same, rounded to 1/1024 pixel."""
        with tempfile.TemporaryDirectory() as folder:
            for bits, block, step in ((8, 16, 8), (10, 8, 2), (8, 4, 4)):
                frames = pictures((46, 75), bits=bits, seed=bits + step, count=2)
                clip, flow = pathlib.Path(folder, "clip.y4m"), pathlib.Path(folder, "flow.flo")
                head = f"YUV4MPEG2 W75 H46 F25:1 Cmono{bits if bits > 8 else ''}\n"
                clip.write_bytes(head.encode() + b"".join(b"FRAME\n" + frame.tobytes() for frame in frames))
                subprocess.run(
                    [os.environ["GPUME_COMMAND"], "flow", clip, "-o", flow, "-y", "-q", "--backend", "cpu", "-w", "9",
                     "-b", str(block), "--step", str(step)], check=True)
                wanted = gpume.dense_flow(
                    *frames, bits=bits, block=block, step=step, window=9, backend="cpu")
                self.assertGreater(np.abs(wanted).max(), 1)
                np.testing.assert_allclose(gpume.from_flo(flow), wanted, rtol=0, atol=0.51 / 1024)

    def test_refused(self):
        frame = np.zeros((32, 32), np.uint8)
        for error, words, more in (
                (ValueError, "not one square", dict(block="16x8")), (ValueError, "not one square", dict(block=[16, 8])),
                (ValueError, "does not divide", dict(step=5)), (ValueError, "does not divide", dict(block=8, step=16)),
                (TypeError, "partition: a dense flow", dict(partition=True)),
                (TypeError, "direction: a dense flow", dict(direction="future")),
                (TypeError, "'blok' is not an option", dict(blok=8)), (gpume.InvalidError, "^block 9", dict(block=9))):
            with self.assertRaisesRegex(error, words):
                gpume.dense_flow(frame, frame, backend="cpu", **more)
        self.assertRaisesRegex(ValueError, "shape", gpume.dense_flow, frame, frame[1:])


if __name__ == "__main__":
    unittest.main()
