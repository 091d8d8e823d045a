# SPDX-License-Identifier: BSD-2-Clause
"""The archives of --vectors x.npz: read by NumPy, and the same as gpume.open finds."""
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
import zipfile
import zlib

import gpume
import numpy as np

COMMAND = os.environ["GPUME_COMMAND"]
CLIP = pathlib.Path(os.environ["GPUME_GOLDEN"], "cut-blocks-8bit.y4m")


class Archives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *words, status=0):
        done = subprocess.run([COMMAND, *words], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def estimate(self, *words, status=0):
        return self.run_command(CLIP, "--backend", "cpu", "-q", "-y", *words, status=status)

    def check(self, words, more, extra):
        self.estimate("--vectors", "v.npz", *words.split())
        found = np.load(self.folder / "v.npz", allow_pickle=False)
        pairs = list(gpume.open(CLIP, backend="cpu", **more))
        layers = [pair.layers[0] for pair in pairs]
        wanted = {
            "vectors": [layer.vectors for layer in layers],
            "costs": [layer.costs for layer in layers],
            "ranks": [layer.ranks for layer in layers],
            "frames": [pair.frame for pair in pairs],
            "refs": [pair.ref for pair in pairs],
            "times": [pair.time for pair in pairs],
            "block": layers[0].block,
            "size": pairs[0].shape[::-1],
            "subpel": pairs[0].subpel,
            **{name: [getattr(layer, name) for layer in layers] for name in extra.split()}}
        self.assertEqual(set(found), set(wanted))
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], np.array(array), name)
        fine = "f4" if pairs[0].subpel > 1 else "i2"
        self.assertEqual(found["vectors"].dtype, np.dtype(fine))
        self.assertIsNone(zipfile.ZipFile(self.folder / "v.npz").testzip())
        return found

    def test_arrays(self):
        self.check("-b 8", dict(block=8), "")
        self.check("-b 16x4 --subpel 4 --qp 22", dict(block=(16, 4), subpel=4, qp=22), "bits")
        self.check(
            "-b 16 -w 0 --subpel 2 --direction both --confidence",
            dict(block=16, window=0, subpel=2, direction="both", confidence=True),
            "second ties texture returns")
        found = self.check(
            "-b 8 -w 0 --confidence", dict(block=8, window=0, confidence=True),
            "second ties texture")
        self.assertTrue((found["second"] == -1).all())

    def test_bytes(self):
        """Each member in turn, with its checksum, in both of its places; to a pipe, too."""
        data = self.estimate("--vectors", "-", "--format", "npz").stdout
        self.estimate("--vectors", "v.npz")
        self.assertEqual(data, (self.folder / "v.npz").read_bytes())
        archive = zipfile.ZipFile(io.BytesIO(data))
        at = 0
        for member in archive.infolist():
            name = member.filename.encode()
            self.assertEqual(member.header_offset, at)
            self.assertEqual(data[at:at + 4], b"PK\3\4")
            crc = int.from_bytes(data[at + 14:at + 18], "little")
            self.assertEqual(data[at + 30:at + 30 + len(name)], name)
            begin = at + 30 + len(name) + 20
            size = int.from_bytes(data[begin - 8:begin], "little")
            self.assertEqual(size, member.file_size)
            self.assertEqual(zlib.crc32(data[begin:begin + size]), crc)
            at = begin + size
        self.assertEqual(archive.start_dir, at)

    def test_converted(self):
        """From a table: without the times, which it has not."""
        self.estimate("--vectors", "v.csv", "--subpel", "2")
        self.estimate("--vectors", "v.npz", "--subpel", "2")
        self.run_command("convert", "v.csv", "w.npz", "-q")
        run, converted = (np.load(self.folder / name) for name in ("v.npz", "w.npz"))
        self.assertEqual(set(run) - set(converted), {"times"})
        for name in converted:
            np.testing.assert_array_equal(converted[name], run[name])
            self.assertEqual(converted[name].dtype, run[name].dtype)

    def test_refused(self):
        self.estimate("--vectors", "v.npz")
        for words, said, status in (
                (["-b", "16,8", "--vectors", "x.npz"], "npz holds blocks of one size", 2),
                (["--bidirectional", "--vectors", "x.npz"], "one reference for all blocks", 2),
                (["--candidates", "2", "--vectors", "x.npz"], "one match per block", 2),
                (["--resume", "--vectors", "x.npz"], "files of vectors but .npz", 2)):
            done = self.estimate(*words, status=status)
            self.assertIn(said, done.stderr.decode())
            self.assertFalse((self.folder / "x.npz").exists())
        done = self.run_command("convert", "v.npz", "x.csv", status=3)
        self.assertIn("only written", done.stderr.decode())
        done = self.run_command("convert", "--from", "npz", "v.npz", "x.csv", status=2)
        self.assertIn("--from npz: must be csv", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
