# SPDX-License-Identifier: BSD-2-Clause
"""gpume compare --truth: errors of random vectors against random flow, by the definitions in NumPy."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest
import zlib

import numpy as np

COMMAND = os.environ["GPUME_COMMAND"]
WIDTH, HEIGHT, BLOCK = 90, 52, 8  # blocks that the picture's edges cut


def write_vectors(path, fields):
    """fields: for each frame the vectors of its blocks, in quarter pixels. Each refers to the next frame."""
    rows = ["frame,ref,x,y,w,h,dx,dy"]
    for frame, vectors in enumerate(fields):
        for (row, column), _ in np.ndenumerate(vectors[..., 0]):
            x, y = column * BLOCK, row * BLOCK
            dx, dy = vectors[row, column] / 4
            rows.append(f"{frame},{frame + 1},{x},{y},{min(BLOCK, WIDTH - x)},{min(BLOCK, HEIGHT - y)},{dx:g},{dy:g}")
    path.write_text("\n".join(rows) + "\n")


def write_flo(path, flow):
    path.write_bytes(b"PIEH" + struct.pack("<ii", WIDTH, HEIGHT) + flow.astype("<f4").tobytes())


def write_kitti(path, units, valid):
    """units: 64 per pixel."""
    samples = np.dstack([units + 32768, valid]).astype(">u2")
    lines = b"".join(b"\0" + line.tobytes() for line in samples)
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) +
                     chunk(b"IEND", b""))


def errors(vectors, flow, known):
    """By the definitions, over the known pixels."""
    found = (vectors / 4).repeat(BLOCK, 0).repeat(BLOCK, 1)[:HEIGHT, :WIDTH][known]
    true = flow[known]
    distance = np.hypot(*(found - true).T)
    length = np.hypot(*true.T)
    space = [np.column_stack([v, np.ones(len(v))]) for v in (found, true)]
    cosine = (space[0] * space[1]).sum(1) / np.linalg.norm(space[0], axis=1) / np.linalg.norm(space[1], axis=1)
    return {"pixels": np.ones(len(distance)), "epe": distance, "angle": np.degrees(np.arccos(np.clip(cosine, -1, 1))),
            "above_1": distance > 1, "above_3": distance > 3, "above_5": distance > 5,
            "outliers": (distance > 3) & (distance > 0.05 * length)}


class Truth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = np.random.default_rng(7)
        rows, columns = -(-HEIGHT // BLOCK), -(-WIDTH // BLOCK)
        self.fields = [self.random.integers(-800, 801, (rows, columns, 2)) for _ in range(3)]
        write_vectors(self.folder / "run.csv", self.fields)

    def compare(self, pattern):
        done = subprocess.run([COMMAND, "compare", "run.csv", "--truth", pattern, "--json"], cwd=self.folder,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, said, expected, digits):
        for name, values in expected.items():
            if name in ("epe", "angle"):
                self.assertAlmostEqual(said[name], values.mean(), digits, name)
            else:
                self.assertEqual(said[name], values.sum(), name)
        self.assertAlmostEqual(said["epe_max"], expected["epe"].max(), digits)

    def flow(self, vectors):
        """Truth near the vectors, at every scale, so that all thresholds decide something."""
        near = (vectors / 4).repeat(BLOCK, 0).repeat(BLOCK, 1)[:HEIGHT, :WIDTH]
        far = self.random.choice([0.1, 1, 3, 60], (HEIGHT, WIDTH, 1))
        return near + self.random.normal(0, 1, (HEIGHT, WIDTH, 2)) * far

    def test_kitti(self):
        sums = []
        for frame, vectors in enumerate(self.fields):
            units = np.rint(self.flow(vectors) * 64).astype(np.int64)
            valid = self.random.integers(0, 2, (HEIGHT, WIDTH))
            write_kitti(self.folder / f"flow{frame}.png", units, valid)
            sums.append(errors(vectors, units / 64, valid > 0))
        expected = {name: np.concatenate([one[name] for one in sums]) for name in sums[0]}
        self.assertGreater(expected["above_3"].sum(), expected["outliers"].sum())
        self.check(self.compare("flow%d.png"), expected, 6)

    def test_middlebury(self):
        sums = []
        for frame, vectors in enumerate(self.fields):
            flow = self.flow(vectors).astype(np.float32)
            known = self.random.random((HEIGHT, WIDTH)) < 0.8
            written = flow.copy()
            written[~known, frame % 2] = [np.nan, 1e10, -np.inf][frame]
            write_flo(self.folder / f"flow{frame}.flo", written)
            sums.append(errors(vectors, flow.astype(np.float64), known))
        expected = {name: np.concatenate([one[name] for one in sums]) for name in sums[0]}
        self.check(self.compare("flow%d.flo"), expected, 4)  # rounded to 1/32768 pixel


if __name__ == "__main__":
    unittest.main()
